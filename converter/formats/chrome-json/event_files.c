/* SPDX-License-Identifier: Apache-2.0 */
/* The event files of Flex and of torch: which there are, what is wrong with them. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/kit/faults.h"
#include "formats/flex/flex_impl.h"
#include "formats/format.h"
#include "formats/pairing/pairing.h"
#include "processed.h"
#include "trace_file.h"

/* -- which files ----------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), n = strlen(end);

	return length > n && strcmp(name + length - n, end) == 0;
}

static bool is_event_name(const char *name)
{
	return ends_with(name, ".json") || ends_with(name, ".json.gz");
}

static int is_event_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && is_event_name(entry->d_name);
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static void free_entries(struct dirent **entries, int n)
{
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
}

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Whether a file begins as JSON, or as gzip. */
static bool has_events(const char *path)
{
	unsigned char bytes[256];
	size_t n, at = 0;
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	if (n > 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	while (at < n && strchr(" \t\r\n", bytes[at]))
		at++;
	return (at < n && (bytes[at] == '[' || bytes[at] == '{')) ||
	       (n > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b);
}

static int is_event_path(const char *path)
{
	struct dirent **entries = NULL;
	struct stat status;
	int n;

	if (stat(path, &status) < 0)
		return 0;
	if (!S_ISDIR(status.st_mode))
		return is_event_name(path) || has_events(path);
	n = scandir(path, &entries, is_event_file, NULL);
	free_entries(entries, n);
	return n > 0;
}

/* -- one file -------------------------------------------------------------------------------- */

struct importer {
	const struct import_options *options; /* weak */
	struct flex *flex;                    /* weak; NULL: files are only counted */
	uint32_t n_read;                      /* files */
	bool is_survey;                       /* the files are read again */
	const char *processed_by;             /* a tool that wrote the file; NULL: none did */
	enum import_dialect only;             /* IMPORT_BY_CONTENT: all */
	uint32_t *n_files;                    /* by dialect: only count them; NULL: read them */
};

static struct import *import_of(const struct importer *importer)
{
	return (struct import *)importer->flex;
}

static int read_events(struct importer *importer, const char *path, struct trace_events *events,
                       struct flextrace_error *error)
{
	struct trace_event event;
	const char *fault;
	int code;

	while ((code = trace_events_next(events, &event, error)) > 0) {
		FLEXTRACE_TRY(flex_push(importer->flex, &event, &fault));
		if (fault)
			import_note_fault(import_of(importer), fault, event.offset_bytes);
	}
	FLEXTRACE_TRY(flex_end_file(importer->flex));
	FLEXTRACE_TRY(code);
	importer->n_read++;
	return import_end_events(import_of(importer), path, trace_events_damage(events));
}

/* Stops at the first member that tells of a tool. */
static int take_member(void *context, const struct trace_text *key, const struct trace_value *value)
{
	struct importer *importer = context;

	importer->processed_by = processed_by(key, value);
	if (importer->processed_by)
		return FLEXTRACE_E_INPUT;
	return flex_take_member(importer->flex, key, value);
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
	code = flex_begin_file(importer->flex, dialect, path);
	if (code >= 0)
		code = read_events(importer, path, events, error);
	trace_events_close(events);
	return importer->processed_by ? refuse_processed(importer, path, error) : code;
}

/* -- all files ------------------------------------------------------------------------------- */

static int read_entry(struct importer *importer, const char *directory, const char *name,
                      struct flextrace_error *error)
{
	char *path;
	int code;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	code = trace_file_is_special(path) ? FLEXTRACE_OK : read_file(importer, path, error);
	free(path);
	return code;
}

/* Of a directory what cannot be read costs that file. */
static int skip_file(struct importer *importer, const char *why)
{
	if (!importer->flex)
		return FLEXTRACE_OK;
	import_warn(import_of(importer), "%s", why);
	return import_lose(import_of(importer), LOSS_TRUNCATED_STREAM, 1);
}

static int read_directory(struct importer *importer, const char *path,
                          struct flextrace_error *error)
{
	struct flextrace_error local = {.message = "There is no file of events in the directory"};
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_event_file, by_name), code = FLEXTRACE_OK;
	uint32_t n_before = importer->n_read;

	for (int i = 0; i < n && code >= 0; i++) {
		code = read_entry(importer, path, entries[i]->d_name, &local);
		if (code == FLEXTRACE_E_INPUT)
			code = skip_file(importer, local.message);
	}
	free_entries(entries, n);
	if (code < 0 || importer->n_read == n_before)
		return error_set(error, code < 0 ? code : FLEXTRACE_E_INPUT, "%s", local.message);
	return FLEXTRACE_OK;
}

static int read_all(struct importer *importer, struct flextrace_error *error)
{
	const struct import_options *options = importer->options;

	for (uint32_t i = 0; i < options->n_paths; i++) {
		const char *path = options->paths[i];

		FLEXTRACE_TRY(is_directory(path) ? read_directory(importer, path, error)
		                                 : read_file(importer, path, error));
	}
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
		const char *path = options->paths[i];
		int code = is_directory(path) ? read_directory(importer, path, &error)
		                              : read_file(importer, path, &error);

		if (code < 0 && code != FLEXTRACE_E_INPUT)
			return code;
	}
	return FLEXTRACE_OK;
}

static int count_dialects(const struct import_options *options, uint32_t *n_files)
{
	struct importer importer = {.options = options, .is_survey = true, .n_files = n_files};
	bool is_one = options->n_paths == 1 && !is_directory(options->paths[0]);

	return is_one ? FLEXTRACE_OK : survey_all(&importer, IMPORT_BY_CONTENT);
}

static int survey(const struct import_options *options, struct pairing *pairing)
{
	struct import_options quiet = *options;
	struct importer importer = {.options = options, .is_survey = true};
	struct import *import;
	int code;

	quiet.warn = NULL;
	import = import_new(&import_event_files, &quiet);
	if (!import)
		return FLEXTRACE_E_MEMORY;
	importer.flex = (struct flex *)import;
	flex_pair(importer.flex, pairing);
	code = survey_all(&importer, IMPORT_FLEX);
	if (code >= 0)
		code = survey_all(&importer, IMPORT_TORCH);
	if (code >= 0)
		code = flex_pair_end(importer.flex);
	import_close(import);
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

static int tell_pairs(struct import *import)
{
	const struct import_options *options = import->options;
	const struct pairing *pairing = flex_pairing((struct flex *)import);
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
	struct importer importer = {.options = import->options, .flex = (struct flex *)import};
	struct pairing *pairing;

	FLEXTRACE_TRY(pair_files(import->options, &pairing));
	if (pairing)
		flex_pair(importer.flex, pairing);
	FLEXTRACE_TRY(read_all(&importer, error));
	FLEXTRACE_TRY(flex_end_files(importer.flex));
	return tell_pairs(import);
}

const struct import_format import_event_files = {
	.dialect = IMPORT_BY_CONTENT,
	.is_of = is_event_path,
	.n_bytes = sizeof(struct flex),
	.read = read_files,
	.next = flex_next,
	.release = flex_release,
};
