// SPDX-License-Identifier: Apache-2.0
#include "emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "emit_work.h"
#include "model/found_rows.h"
#include "output_dir.h"
#include "output/report/page.h"
#include "output/report_data.h"
#include "output/run_json.h"

#define DEFAULT_FORMATS "chrome,csv"
#define MAX_THREADS     8
#define PFTRACE_OF_JSON 0.42 /* of its size, from 0.3 to 0.6 as measured */

/* Formats of traces. */
static const struct trace_format {
	const char *format;
	const char *suffix, *rank_suffix; /* of "trace", of the file of a single rank */
	trace_writer *write;
} trace_formats[] = {
	{"chrome", "json", "pt.trace.json.gz", emit_chrome},
	{"pftrace", "pftrace", "pftrace", emit_pftrace},
};
#define N_TRACE_FORMATS (sizeof(trace_formats) / sizeof(trace_formats[0]))

/* Files of formats, the longest first. */
static const struct {
	const char *format;
	const struct result_file *file;
} formats[] = {
	{"csv", &emit_csv_host},  {"csv", &emit_csv_device}, {"text", &emit_text},
	{"csv", &csv_rows[0]},    {"csv", &csv_rows[1]},     {"csv", &csv_rows[2]},
	{"csv", &csv_reports[0]}, {"csv", &csv_reports[1]},  {"csv", &csv_reports[2]},
	{"csv", &csv_reports[3]}, {"tt-log", &emit_tt_log},  {"tt-log-6", &emit_tt_log_6},
};
#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

/* Tables of "csv" are those of "json", too, in another form. */
static const char *const format_names[] = {"chrome", "csv",  "json",   "pftrace",
                                           "report", "text", "tt-log", "tt-log-6"};
#define N_FORMAT_NAMES (sizeof(format_names) / sizeof(format_names[0]))

/* -- formats ----------------------------------------------------------------------------------- */

/* True if `names` has `format`. */
static bool is_chosen(const char *names, const char *format)
{
	size_t n = strlen(format);

	for (const char *at = names; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, format, n) && (at[n] == ',' || at[n] == '\0'))
			return true;
	}
	return false;
}

static bool is_known(const char *name, size_t n)
{
	for (size_t i = 0; i < N_FORMAT_NAMES; i++) {
		if (strlen(format_names[i]) == n && !memcmp(format_names[i], name, n))
			return true;
	}
	return false;
}

int emit_check_formats(const char *names, struct flextrace_error *error)
{
	for (const char *at = names; at;) {
		size_t n = strcspn(at, ",");

		if (!is_known(at, n)) {
			error_set(error, FLEXTRACE_E_USAGE,
			          "Unknown format: name=%.*s, known=", (int)(n < 100 ? n : 100),
			          at);
			for (size_t i = 0; i < N_FORMAT_NAMES; i++)
				error_list(error, format_names[i]);
			return FLEXTRACE_E_USAGE;
		}
		at = at[n] ? at + n + 1 : NULL;
	}
	return 0;
}

/* -- views ------------------------------------------------------------------------------------- */

static int find_word(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], word) == 0)
			return i;
	}
	return -1;
}

int emit_read_views(struct emit_views *views, const struct view_options *options,
                    struct flextrace_error *error)
{
	static const char *const overlaps[] = {"lanes", "async", "drop", "warn", NULL};
	static const char *const units[] = {"ms", "ns", NULL};
	static const char *const ranks[] = {"no", "yes", "auto", "kineto", NULL};
	static const char known[] =
		EMIT_TYPES_INTERVAL EMIT_TYPES_INSTANT EMIT_TYPES_COUNTER EMIT_TYPES_FLOW "M";
	const char *types = options->types;
	int mode = options->overlap ? find_word(overlaps, options->overlap) : 0;
	int unit = options->time_unit ? find_word(units, options->time_unit) : 0;

	int per_rank = options->per_rank ? find_word(ranks, options->per_rank) : 0;

	if (mode < 0)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `overlap` takes lanes, async, drop or warn: value=%s",
		                 options->overlap);
	if (unit < 0)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `time-unit` takes ms or ns: value=%s", options->time_unit);
	if (types && strspn(types, known) != strlen(types))
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `types` takes phases of the Trace Event format, out of "
		                 "%s: value=%s",
		                 known, types);
	if (per_rank < 0)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `per-rank` takes kineto, yes or no: value=%s",
		                 options->per_rank);
	if (options->compat && strcmp(options->compat, "hta") != 0)
		return error_set(error, FLEXTRACE_E_USAGE, "Option `compat` takes hta: value=%s",
		                 options->compat);
	*views = (struct emit_views){.overlap = (enum emit_overlap)mode,
	                             .types = types,
	                             .shows_ns = unit == 1,
	                             .has_ranks = per_rank > 0 || options->compat,
	                             .is_hta = options->compat,
	                             .has_bands = options->error_bands,
	                             .packs = options->packs_packets};
	return FLEXTRACE_OK;
}

int emit_read_archive(enum emit_archive *ret_archive, const char *text,
                      struct flextrace_error *error)
{
	static const char *const words[] = {"auto", "all", "ranks", NULL};
	int word = text ? find_word(words, text) : 0;

	*ret_archive = ARCHIVE_NONE;
	if (word < 0)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `archive` takes all or ranks: value=%s", text);
	if (text && !archive_is_built())
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `archive` needs libminizip, which was not there when "
		                 "this flextrace was built");
	if (text)
		*ret_archive = word == 2 ? ARCHIVE_RANKS : ARCHIVE_ALL;
	return FLEXTRACE_OK;
}

uint64_t emit_count_overlaps(const struct timeline *timeline)
{
	uint64_t n = 0;

	TABLE_EACH(struct host_row, row, &timeline->host_rows)
		n += timeline->tracks[row->track].lane > 0;
	TABLE_EACH(struct device_row, row, &timeline->device_rows)
		n += timeline->tracks[row->track].lane > 0;
	return n;
}

int emit_find_sizes(const struct findings *findings, const struct emit_options *options,
                    double *ret_json_bytes, double *ret_pftrace_bytes)
{
	const char *names = options->formats ? options->formats : DEFAULT_FORMATS;
	bool has_json = is_chosen(names, "chrome"), has_pftrace = is_chosen(names, "pftrace");
	struct emit_sizes sizes = {.all = 0};

	if (has_json || has_pftrace || options->views.has_ranks)
		FLEXTRACE_TRY(emit_estimate_sizes(findings, options->views.types, &sizes));
	/* see add_ranks() */
	*ret_json_bytes = has_json ? sizes.all : has_pftrace ? 0 : sizes.rank;
	*ret_pftrace_bytes = has_pftrace ? sizes.all * PFTRACE_OF_JSON : 0;
	return FLEXTRACE_OK;
}

/* -- jobs -------------------------------------------------------------------------------------- */

/* Analyses one after the other: each may need memory for every name there is. */
static int run_job(struct work *work, struct job *job)
{
	struct file_count *count = &work->counts[job - work->jobs];
	struct save_place place = work->place;
	int code;

	if (!job->file)
		return job->write(work->findings, work->options, job->process, job->name, count,
		                  &job->error);
	if (job->is_analysis)
		pthread_mutex_lock(&work->analysis_lock);
	place.keeps_empty = job->is_asked;
	place.dir = job->file->is_on_top ? work->options->output_dir : work->tables_dir;
	code = column_save(job->file, work->findings, &place, count, &job->error);
	count->file = work->place.has_csv || !count->has_lines ? job->name : job->other;
	count->other = work->place.has_csv && count->has_lines ? job->other : NULL;
	if (job->is_analysis)
		pthread_mutex_unlock(&work->analysis_lock);
	return code;
}

static void *run_jobs(void *context)
{
	struct work *work = context;

	if (work->options->archive && !atomic_exchange(&work->has_members, true))
		members_write(work);
	for (;;) {
		uint32_t i = atomic_fetch_add(&work->next, 1);
		struct job *job;

		if (i >= work->n_jobs || atomic_load(&work->has_failed))
			return NULL;
		job = &work->jobs[i];
		if (job->is_member)
			continue;
		job->code = run_job(work, job);
		if (job->code < 0)
			atomic_store(&work->has_failed, true);
	}
}

/* Runs all jobs on up to `n_threads` threads, the caller's among them. A thread that cannot be
 * had is done without. */
static void run_on_threads(struct work *work, uint32_t n_threads)
{
	pthread_t threads[MAX_THREADS];
	uint32_t n = 0;

	while (n + 1 < n_threads && n + 1 < work->n_jobs && n < MAX_THREADS &&
	       pthread_create(&threads[n], NULL, run_jobs, work) == 0)
		n++;
	run_jobs(work);
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

/* Its count stands behind those of the jobs. */
static int write_page(const struct work *work, struct flextrace_error *error)
{
	struct writer writer;

	work->counts[work->n_jobs].file = "report.html";
	FLEXTRACE_TRY(writer_open(&writer, work->options->output_dir, "report.html", false, error));
	writer_raw(&writer, report_page_head);
	report_data_write(&writer, work->findings, work->options, work->counts, work->n_jobs);
	writer_raw(&writer, report_page_tail);
	return writer_close(&writer, error);
}

/* run.json tells the files in the order of the jobs. */
static int finish(struct work *work, struct flextrace_error *error)
{
	uint32_t n_counts = work->n_jobs + (work->place.n_captured > 0);

	for (uint32_t i = 0; i < work->n_jobs; i++) {
		const struct job *job = &work->jobs[i];

		if (job->code < 0)
			return error_set(error, job->code, "%s", job->error.message);
	}
	if (work->archive_code < 0)
		return error_set(error, work->archive_code, "%s", work->archive_error.message);
	if (work->place.n_captured)
		FLEXTRACE_TRY(write_page(work, error));
	if (work->options->archive)
		FLEXTRACE_TRY(members_finish(work, n_counts, error));
	return run_json_write(work->findings, work->options, work->counts, n_counts, error);
}

/* -- files of single processes ----------------------------------------------------------------- */

/* How many processes before this one have its rank. */
static uint32_t count_same(const struct identity *identity, uint32_t process)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < process; i++) {
		if (!identity->processes[i].is_excluded &&
		    identity->processes[i].rank == identity->processes[process].rank)
			n++;
	}
	return n;
}

/* Not with a dot and digits before the end: to TensorBoard that would be a time. */
static void name_file(struct work *work, struct job *job, const char *suffix)
{
	const struct identity *identity = work->findings->timeline->identity;
	const struct process *process = &identity->processes[job->process];
	uint32_t n_same = count_same(identity, job->process);
	char which[32];

	if (process->rank >= 0)
		snprintf(which, sizeof(which), "rank%d", process->rank);
	else
		snprintf(which, sizeof(which), "unknown");
	if (n_same)
		snprintf(which + strlen(which), sizeof(which) - strlen(which), "-%u", n_same + 1);
	snprintf(job->name, sizeof(job->name), "trace.%s.%s%s", which, suffix,
	         work->options->gzip && !name_is_gzip(suffix) ? ".gz" : "");
}

/* Perfetto reads no member that is gzipped. */
static void name_rank_member(struct job *job)
{
	char name[sizeof(job->name)]; /* a copy: gcc takes the two members for one object */

	if (name_is_gzip(job->name))
		job->name[strlen(job->name) - strlen(".gz")] = '\0';
	memcpy(name, job->name, sizeof(name));
	snprintf(job->other, sizeof(job->other), ARCHIVE_RANKS_FILE "/%s", name);
}

static bool is_some_rank_known(const struct identity *identity)
{
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		if (!identity->processes[i].is_excluded && identity->processes[i].rank >= 0)
			return true;
	}
	return false;
}

/* Beside ranks, a process that is none (a launcher) would spoil what readers compare. */
static void add_processes(struct work *work, const struct trace_format *format, bool is_rank_member)
{
	const struct identity *identity = work->findings->timeline->identity;
	bool takes_ranks = is_some_rank_known(identity);

	for (uint32_t i = 0; i < identity->n_processes; i++) {
		struct job *job = &work->jobs[work->n_jobs];

		if (identity->processes[i].is_excluded ||
		    (takes_ranks && identity->processes[i].rank < 0))
			continue;
		job->process = i;
		job->write = format->write;
		job->is_member = is_rank_member || work->options->archive == ARCHIVE_ALL;
		name_file(work, job, format->rank_suffix);
		if (is_rank_member)
			name_rank_member(job);
		work->n_jobs++;
	}
}

/* Of each format of traces that is chosen, or else as torch's readers have them. Those of one
 * format go into the archive of ranks: both would be there twice. */
static void add_ranks(struct work *work, const char *names)
{
	bool has_pftrace = is_chosen(names, "pftrace");
	bool has_archive = work->options->archive == ARCHIVE_RANKS;

	if (is_chosen(names, "chrome") || !has_pftrace)
		add_processes(work, &trace_formats[0], has_archive && !has_pftrace);
	if (has_pftrace)
		add_processes(work, &trace_formats[1], has_archive);
}

static void name_forms(struct job *job, const struct result_file *file)
{
	char lines[64];

	column_lines_name(lines, file->name);
	snprintf(job->name, sizeof(job->name), "%s%s", file->is_on_top ? "" : TABLES_DIR "/",
	         file->name);
	snprintf(job->other, sizeof(job->other), TABLES_DIR "/%s", lines);
}

static void add_file(struct work *work, const struct result_file *file, bool is_analysis)
{
	struct job *job = &work->jobs[work->n_jobs++];

	job->file = file;
	job->is_analysis = is_analysis;
	job->process = FLEXTRACE_NONE;
	name_forms(job, file);
}

static void add_trace(struct work *work, const struct trace_format *format)
{
	struct job *job = &work->jobs[work->n_jobs++];

	job->process = FLEXTRACE_NONE;
	job->write = format->write;
	job->is_member = work->options->archive == ARCHIVE_ALL;
	snprintf(job->name, sizeof(job->name), "trace.%s%s", format->suffix,
	         work->options->gzip ? ".gz" : "");
}

static void add_formats(struct work *work, const char *names)
{
	for (size_t i = 0; i < N_TRACE_FORMATS; i++) {
		if (is_chosen(names, trace_formats[i].format))
			add_trace(work, &trace_formats[i]);
	}
	for (size_t i = 0; i < N_FORMATS; i++) {
		bool is_csv = strcmp(formats[i].format, "csv") == 0;

		if (is_chosen(names, formats[i].format) || (is_csv && is_chosen(names, "json")))
			add_file(work, formats[i].file, false);
	}
}

static void remove_table(const struct work *work, const struct result_file *file)
{
	char lines[64];

	if (file->is_on_top)
		return;
	column_lines_name(lines, file->name);
	path_remove(work->tables_dir, file->name);
	path_remove(work->tables_dir, lines);
}

/* An output directory has the tables of one conversion. Files that we do not know stay. */
static void remove_earlier_tables(const struct work *work)
{
	const struct emit_run *run = work->options->run;

	path_remove(work->options->output_dir, ARCHIVE_ALL_FILE);
	for (size_t i = 0; i < N_FORMATS; i++)
		remove_table(work, formats[i].file);
	for (uint32_t i = 0; run && i < run->n_files; i++)
		remove_table(work, run->files[i]);
	for (uint32_t i = 0; run && i < run->n_others; i++)
		remove_table(work, run->others[i]);
}

static void work_free(struct work *work)
{
	pthread_mutex_destroy(&work->analysis_lock);
	archive_abandon(&work->archive);
	for (uint32_t i = 0; i < work->n_jobs; i++) {
		free(work->counts[i].columns);
		free(work->counts[i].captured);
		text_list_release(&work->counts[i].beside);
	}
	free(work->counts);
	free(work->tables_dir);
	free(work);
}

/* Owned by the caller; NULL: no memory. */
static struct work *work_new(const struct findings *findings, const struct emit_options *options,
                             const char *names)
{
	uint32_t n_files = options->run ? options->run->n_files : 0;
	const struct found_rows *found = findings->found_rows;
	uint32_t n_ranks = found && found->has_ranks ? findings->timeline->identity->n_processes
	                                             : 0;
	size_t n = N_FORMATS + n_files + N_TRACE_FORMATS * (1 + (size_t)n_ranks);
	struct work *work = calloc(1, sizeof(*work) + n * sizeof(work->jobs[0]));

	if (!work)
		return NULL;
	work->findings = findings;
	work->options = options;
	work->place.has_lines = is_chosen(names, "json");
	work->place.has_csv = !work->place.has_lines || is_chosen(names, "csv");
	work->place.n_captured = is_chosen(names, "report") ? options->report_rows : 0;
	work->counts = calloc(n + 1, sizeof(*work->counts));
	pthread_mutex_init(&work->analysis_lock, NULL);
	if (asprintf(&work->tables_dir, "%s/" TABLES_DIR, options->output_dir) < 0)
		work->tables_dir = NULL;
	if (!work->counts || !work->tables_dir) {
		work_free(work);
		return NULL;
	}
	add_formats(work, names);
	if (n_ranks)
		add_ranks(work, names);
	for (uint32_t i = 0; i < n_files; i++) {
		work->jobs[work->n_jobs].is_asked = options->run->is_asked &&
		                                    options->run->is_asked[i];
		add_file(work, options->run->files[i], true);
	}
	return work;
}

/* The folder of the tables is gone again where there is none. */
static int write_all(struct work *work, struct flextrace_error *error)
{
	int code;

	FLEXTRACE_TRY(output_dir_create(work->tables_dir, error));
	remove_earlier_tables(work);
	run_on_threads(work, work->options->n_threads);
	code = finish(work, error);
	rmdir(work->tables_dir);
	return code;
}

int emit_run(const struct findings *findings, const struct emit_options *options,
             struct flextrace_error *error)
{
	const char *names = options->formats ? options->formats : DEFAULT_FORMATS;
	struct work *work;
	int lock, code;

	FLEXTRACE_TRY(emit_check_formats(names, error));
	FLEXTRACE_TRY(output_dir_open(options->output_dir, &lock, error));
	work = work_new(findings, options, names);
	if (work) {
		code = write_all(work, error);
		work_free(work);
	} else {
		code = error_set(error, FLEXTRACE_E_MEMORY, "Cannot write output: cause=no memory");
	}
	output_dir_close(lock);
	return code;
}
