/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of Flex and of torch there are, and what is wrong with them. */
#include "event_files.h"

#include <inttypes.h>
#include <string.h>

#include "formats/flex/flex.h"
#include "formats/kit/faults.h"
#include "formats/pairing/pair_filter.h"
#include "formats/torch/torch.h"

#define MAX_LOOK 4096 /* events without a word about their dialect */

/* -- which files ----------------------------------------------------------------------------- */

static const struct path_filter event_names = {.fits = path_is_json};

/* By its name, or as it begins as JSON. */
static int probe_events(const struct probe *probe)
{
	const char *at = probe->bytes;

	if (path_is_json(probe->path) || probe->is_packed)
		return 1;
	if (strncmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	at += strspn(at, " \t\r\n");
	return *at == '[' || *at == '{';
}

/* -- whose events ---------------------------------------------------------------------------- */

static int note_member(void *context, const struct trace_text *key, const struct trace_value *value)
{
	enum import_dialect *dialect = context;

	(void)value;
	if (torch_events.knows_member(key))
		*dialect = IMPORT_TORCH;
	return FLEXTRACE_OK;
}

static enum import_dialect dialect_of_event(const struct trace_event *event)
{
	if (flex_events.knows_event(event))
		return IMPORT_FLEX;
	return torch_events.knows_event(event) ? IMPORT_TORCH : IMPORT_BY_CONTENT;
}

int dialect_of_file(const char *path, enum import_dialect *ret_dialect,
                    struct flextrace_error *error)
{
	struct trace_events *events = trace_events_open(path, error);
	enum import_dialect dialect = IMPORT_BY_CONTENT;
	struct trace_event event;
	int code = 1;

	if (!events)
		return error->code;
	trace_events_take_members(events, note_member, &dialect);
	for (int i = 0; i < MAX_LOOK && code > 0 && dialect == IMPORT_BY_CONTENT; i++) {
		code = trace_events_next(events, &event, error);
		if (code > 0 && dialect == IMPORT_BY_CONTENT)
			dialect = dialect_of_event(&event);
	}
	trace_events_close(events);
	*ret_dialect = dialect == IMPORT_BY_CONTENT ? IMPORT_FLEX : dialect;
	return code < 0 ? code : FLEXTRACE_OK;
}

/* -- one file -------------------------------------------------------------------------------- */

/* The state of the format. */
struct event_files {
	struct event_import events; /* first */
	struct torch *torch;        /* owned */
	struct pair_filter filter;
	struct pairing *pairing; /* owned; NULL: all files are of one tool */
};

struct importer {
	const struct import_options *options; /* weak */
	struct event_files *files;            /* weak; NULL: files are only counted */
	uint32_t n_read;                      /* files */
	bool is_survey;                       /* the files are read again */
	const char *processed_by;             /* a tool that wrote the file; NULL: none did */
	enum import_dialect only;             /* IMPORT_BY_CONTENT: all */
	uint32_t *n_files;                    /* by dialect: only count them; NULL: read them */
};

static struct import *import_of(const struct importer *importer)
{
	return (struct import *)importer->files;
}

static int read_events(struct importer *importer, const char *path, struct trace_events *events,
                       struct flextrace_error *error)
{
	struct trace_event event;
	const char *fault;
	int code;

	while ((code = trace_events_next(events, &event, error)) > 0) {
		FLEXTRACE_TRY(event_push(&importer->files->events, &event, &fault));
		if (fault)
			import_note_fault(import_of(importer), fault, event.offset_bytes);
	}
	FLEXTRACE_TRY(event_end_file(&importer->files->events));
	FLEXTRACE_TRY(code);
	importer->n_read++;
	return trace_events_end(events, import_of(importer), path);
}

/* Who wrote a file with this top-level member, whose times were moved and names changed, so that it
 * is no recording any more; NULL: nobody that it tells of. Static. */
static const char *processed_by(const struct trace_text *key, const struct trace_value *value)
{
	static const char analyzer[] = "Acelyzer";

	if (trace_text_is(key, "flextrace") && value->kind == TRACE_JSON)
		return "flextrace";
	if (trace_text_is(key, "otherData") && value->kind == TRACE_JSON &&
	    memmem(value->text.bytes, value->text.length, analyzer, sizeof(analyzer) - 1))
		return "the AIU Trace Analyzer";
	return NULL;
}

/* Stops at the first member that tells of a tool. */
static int take_member(void *context, const struct trace_text *key, const struct trace_value *value)
{
	struct importer *importer = context;
	struct event_import *events = &importer->files->events;

	importer->processed_by = processed_by(key, value);
	if (importer->processed_by)
		return FLEXTRACE_E_INPUT;
	return events->reader->member ? events->reader->member(events, key, value) : FLEXTRACE_OK;
}

/* Its events may be read already: that costs the run, also in a directory. */
static int refuse_processed(const struct importer *importer, const char *path,
                            struct flextrace_error *error)
{
	return error_set(error, importer->is_survey ? FLEXTRACE_E_INPUT : FLEXTRACE_E_USAGE,
	                 "The file is no recording, %s made it of one; give what that read: "
	                 "file=%s",
	                 importer->processed_by, path);
}

static int begin_file(struct event_files *files, enum import_dialect dialect, const char *path)
{
	const struct event_reader *reader = dialect == IMPORT_TORCH ? &torch_events : &flex_events;

	if (reader == &torch_events && !files->torch)
		files->torch = torch_new(files->events.import.options->torch_ranks);
	if (reader == &torch_events && !files->torch)
		return FLEXTRACE_E_MEMORY;
	return event_begin_file(&files->events, reader,
	                        reader == &torch_events ? files->torch : NULL, path);
}

static int read_file(struct importer *importer, const char *path, struct flextrace_error *error)
{
	enum import_dialect dialect = importer->options->dialect;
	struct trace_events *events;
	int code;

	if (dialect == IMPORT_BY_CONTENT)
		FLEXTRACE_TRY(dialect_of_file(path, &dialect, error));
	if (importer->n_files)
		importer->n_files[dialect]++;
	if (importer->n_files || (importer->only && importer->only != dialect))
		return FLEXTRACE_OK;
	events = trace_events_open(path, error);
	if (!events)
		return error->code;
	importer->processed_by = NULL;
	trace_events_take_members(events, take_member, importer);
	code = begin_file(importer->files, dialect, path);
	if (code >= 0)
		code = read_events(importer, path, events, error);
	trace_events_close(events);
	return importer->processed_by ? refuse_processed(importer, path, error) : code;
}

/* -- all files ------------------------------------------------------------------------------- */

struct folder {
	struct importer *importer;
	struct flextrace_error error; /* of the last file that could not be read */
};

/* Of a folder what cannot be read costs that file. */
static int read_entry(void *context, const char *path)
{
	struct folder *folder = context;
	struct import *import = import_of(folder->importer);
	int code = read_file(folder->importer, path, &folder->error);

	if (code != FLEXTRACE_E_INPUT || !import)
		return code == FLEXTRACE_E_INPUT ? FLEXTRACE_OK : code;
	import_warn(import, "%s", folder->error.message);
	return import_lose(import, LOSS_TRUNCATED_STREAM, 1);
}

static int read_path(struct importer *importer, const char *path, struct flextrace_error *error)
{
	struct folder folder = {importer,
	                        {.message = "There is no file of events in the directory"}};
	uint32_t n_before = importer->n_read;
	int code;

	if (!path_is_folder(path))
		return read_file(importer, path, error);
	code = path_each(path, &event_names, read_entry, &folder);
	if (code >= 0 && importer->n_read == n_before)
		code = FLEXTRACE_E_INPUT;
	return code < 0 ? error_set(error, code, "%s", folder.error.message) : FLEXTRACE_OK;
}

static int read_all(struct importer *importer, struct flextrace_error *error)
{
	const struct import_options *options = importer->options;

	for (uint32_t i = 0; i < options->n_paths; i++)
		FLEXTRACE_TRY(read_path(importer, options->paths[i], error));
	if (!import_of(importer)->n_streams)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no event: files=%" PRIu32,
		                 importer->n_read);
	return FLEXTRACE_OK;
}

/* -- files of two tools ---------------------------------------------------------------------- */

/* Reads what can be read; what cannot is told the next time. */
static int survey_all(struct importer *importer, enum import_dialect only)
{
	const struct import_options *options = importer->options;
	struct flextrace_error error = {0};

	importer->only = only;
	for (uint32_t i = 0; i < options->n_paths; i++) {
		int code = read_path(importer, options->paths[i], &error);

		if (code < 0 && code != FLEXTRACE_E_INPUT)
			return code;
	}
	return FLEXTRACE_OK;
}

static int count_dialects(const struct import_options *options, uint32_t *n_files)
{
	struct importer importer = {.options = options, .is_survey = true, .n_files = n_files};
	bool is_one = options->n_paths == 1 && !path_is_folder(options->paths[0]);

	return is_one ? FLEXTRACE_OK : survey_all(&importer, IMPORT_BY_CONTENT);
}

static void set_filter(struct event_files *files, struct pairing *pairing, bool is_survey)
{
	pair_filter_init(&files->filter, pairing, is_survey);
	files->events.filter = &files->filter.filter;
}

static int survey(const struct import_options *options, struct pairing *pairing)
{
	struct import_options quiet = *options;
	struct importer importer = {.options = options, .is_survey = true};
	struct event_files *files;
	int code;

	quiet.warn = NULL;
	importer.files = files = (struct event_files *)import_new(&import_event_files, &quiet);
	if (!files)
		return FLEXTRACE_E_MEMORY;
	files->events.is_quiet = true;
	set_filter(files, pairing, true);
	code = survey_all(&importer, IMPORT_FLEX);
	if (code >= 0)
		code = survey_all(&importer, IMPORT_TORCH);
	if (code >= 0)
		code = pair_filter_solve(&files->filter, &files->events,
		                         files->torch ? torch_epoch_ns(files->torch) : 0);
	import_close(&files->events.import);
	return code;
}

/* Stores NULL where there are not files of both. */
static int pair_files(const struct import_options *options, struct pairing **ret_pairing)
{
	uint32_t n_files[IMPORT_TORCH + 1] = {0};
	int code;

	*ret_pairing = NULL;
	FLEXTRACE_TRY(count_dialects(options, n_files));
	if (!n_files[IMPORT_FLEX] || !n_files[IMPORT_TORCH])
		return FLEXTRACE_OK;
	*ret_pairing = pairing_new();
	code = *ret_pairing ? survey(options, *ret_pairing) : FLEXTRACE_E_MEMORY;
	if (code >= 0)
		return FLEXTRACE_OK;
	pairing_free(*ret_pairing);
	*ret_pairing = NULL;
	return code;
}

static struct pair_report report_of(const struct pair_rank *rank, int64_t epoch_ns)
{
	const struct pair_result *result = &rank->result;

	return (struct pair_report){
		.rank = rank->rank,
		.n_torch_files = rank->n_files,
		.n_flex = result->n_from,
		.n_torch = result->n_to,
		.n_pairs = result->n_pairs,
		.offset_ns = result->fit.offset_ns + epoch_ns,
		.drift_ppm = result->fit.slope * 1e6,
		.residual_ns_p50 = result->residual_ns_p50,
		.residual_ns_p99 = result->residual_ns_p99,
		.residual_ns_max = result->residual_ns_max,
		.is_uncertain = result->is_uncertain,
	};
}

static int report_pairs(struct event_files *files)
{
	struct import *import = &files->events.import;
	const struct import_options *options = import->options;
	const struct pairing *pairing = files->pairing;
	const struct pair_rank *rank;

	for (uint32_t i = 0; pairing && (rank = pairing_rank(pairing, i)); i++) {
		const struct pair_report report = report_of(rank, pairing_epoch_ns(pairing));

		if (!rank->n_files)
			continue;
		if (!report.n_pairs)
			import->ledger.warnings[WARNING_PAIR_UNMATCHED]++;
		else
			import->ledger.warnings[WARNING_PAIR_UNCERTAIN] += report.is_uncertain;
		if (options->pair)
			FLEXTRACE_TRY(options->pair(options->context, &report));
	}
	return FLEXTRACE_OK;
}

/* -- the format ------------------------------------------------------------------------------ */

static int read_files(struct import *import, struct flextrace_error *error)
{
	struct event_files *files = (struct event_files *)import;
	struct importer importer = {.options = import->options, .files = files};

	FLEXTRACE_TRY(pair_files(import->options, &files->pairing));
	if (files->pairing)
		set_filter(files, files->pairing, false);
	FLEXTRACE_TRY(read_all(&importer, error));
	FLEXTRACE_TRY(pair_filter_end(&files->events));
	FLEXTRACE_TRY(event_end_files(&files->events));
	return report_pairs(files);
}

static void release(struct import *import)
{
	struct event_files *files = (struct event_files *)import;

	event_import_release(&files->events);
	torch_free(files->torch);
	pairing_free(files->pairing);
}

const struct import_format import_event_files = {
	.dialect = IMPORT_BY_CONTENT,
	.filter = &event_names,
	.probe = probe_events,
	.n_bytes = sizeof(struct event_files),
	.read = read_files,
	.next = event_next,
	.release = release,
};
