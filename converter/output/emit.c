// SPDX-License-Identifier: Apache-2.0
#include "emit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column_text.h"
#include "output_dir.h"
#include "output/run_json.h"

#define DEFAULT_FORMATS "chrome,csv"
#define MAX_FORMATS     8
#define MAX_THREADS     MAX_FORMATS

const struct emitter *const emit_formats[] = {
	&emit_chrome,   &emit_csv_host, &emit_csv_device, &emit_text,
	&emit_csv_rest, &emit_tt_log,   &emit_tt_log_6,   NULL,
};

/* -- formats ----------------------------------------------------------------------------------- */

/* True if `formats` names `format`. */
static bool is_chosen(const char *formats, const char *format)
{
	size_t n = strlen(format);

	for (const char *at = formats; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, format, n) && (at[n] == ',' || at[n] == '\0'))
			return true;
	}
	return false;
}

static bool is_known(const char *name, size_t n)
{
	for (uint32_t i = 0; emit_formats[i]; i++) {
		if (strlen(emit_formats[i]->format) == n &&
		    !memcmp(emit_formats[i]->format, name, n))
			return true;
	}
	return false;
}

/* Appends the names of all formats, each once, to `text`. */
static void list_formats(char *text, size_t n)
{
	for (uint32_t i = 0; emit_formats[i]; i++) {
		const char *format = emit_formats[i]->format;
		size_t used = strlen(text);

		if (!strstr(text, format))
			snprintf(text + used, n - used, "%s%s", used ? ", " : "", format);
	}
}

int emit_check_formats(const char *formats, struct flextrace_error *error)
{
	char known[128] = "";

	list_formats(known, sizeof(known));
	for (const char *at = formats; at;) {
		size_t n = strcspn(at, ",");

		if (!is_known(at, n))
			return error_set(error, FLEXTRACE_E_USAGE,
			                 "Unknown format: name=%.*s, known=%s",
			                 (int)(n < 100 ? n : 100), at, known);
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

int emit_read_views(struct emit_views *views, const char *overlap, const char *types,
                    const char *time_unit, struct flextrace_error *error)
{
	static const char *const overlaps[] = {"lanes", "async", "drop", "warn", NULL};
	static const char *const units[] = {"ms", "ns", NULL};
	static const char known[] =
		EMIT_TYPES_INTERVAL EMIT_TYPES_INSTANT EMIT_TYPES_COUNTER EMIT_TYPES_FLOW "M";
	int mode = overlap ? find_word(overlaps, overlap) : 0;
	int unit = time_unit ? find_word(units, time_unit) : 0;

	if (mode < 0)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `overlap` takes lanes, async, drop or warn: value=%s",
		                 overlap);
	if (unit < 0)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `time-unit` takes ms or ns: value=%s", time_unit);
	if (types && strspn(types, known) != strlen(types))
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "Option `types` takes phases of the Trace Event format, out of "
		                 "%s: value=%s",
		                 known, types);
	*views = (struct emit_views){(enum emit_overlap)mode, types, unit == 1};
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

/* -- jobs -------------------------------------------------------------------------------------- */

struct job {
	const struct emitter *emitter;      /* weak; NULL = writes a file of an analysis */
	const struct result_file *analysis; /* weak; NULL, too = writes the file of `process` */
	uint32_t process;                   /* index */
	char file[64];                      /* of the process */
	struct emit_file_count counts[EMIT_MAX_FILES];
	uint32_t n_counts;
	struct flextrace_error error;
	int code;
};

struct work {
	const struct findings *findings; /* weak, both */
	const struct emit_options *options;
	uint32_t n_jobs;
	atomic_uint next; /* first job that nobody took */
	atomic_bool has_failed;
	pthread_mutex_t analysis_lock;
	struct job jobs[]; /* the longest first */
};

/* One after the other: each may need memory for every name there is. */
static int run_analysis(struct work *work, struct job *job)
{
	int code;

	pthread_mutex_lock(&work->analysis_lock);
	code = column_save(job->analysis, work->findings, work->options->output_dir,
	                   &job->counts[job->n_counts++], &job->error);
	pthread_mutex_unlock(&work->analysis_lock);
	return code;
}

static int run_job(struct work *work, struct job *job)
{
	if (job->emitter)
		return job->emitter->write(job->emitter->what, work->findings, work->options,
		                           job->counts, &job->n_counts, &job->error);
	if (job->analysis)
		return run_analysis(work, job);
	job->n_counts = 1;
	return emit_chrome_rank(work->findings, work->options, job->process, job->file, job->counts,
	                        &job->error);
}

static void *run_jobs(void *context)
{
	struct work *work = context;

	for (;;) {
		uint32_t i = atomic_fetch_add(&work->next, 1);
		struct job *job;

		if (i >= work->n_jobs || atomic_load(&work->has_failed))
			return NULL;
		job = &work->jobs[i];
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

/* run.json tells the files in the order of the jobs. */
static int write_run(const struct work *work, struct emit_file_count *counts,
                     struct flextrace_error *error)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < work->n_jobs; i++) {
		const struct job *job = &work->jobs[i];

		if (job->code < 0)
			return error_set(error, job->code, "%s", job->error.message);
		memcpy(counts + n, job->counts, job->n_counts * sizeof(counts[0]));
		n += job->n_counts;
	}
	return run_json_write(work->findings, work->options, counts, n, error);
}

static int finish(const struct work *work, struct flextrace_error *error)
{
	struct emit_file_count *counts = calloc(work->n_jobs + 1ull,
	                                        EMIT_MAX_FILES * sizeof(*counts));
	int code;

	if (!counts)
		return error_set(error, FLEXTRACE_E_MEMORY, "Cannot write output: cause=no memory");
	code = write_run(work, counts, error);
	free(counts);
	return code;
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
static void name_file(struct job *job, const struct identity *identity)
{
	const struct process *process = &identity->processes[job->process];
	uint32_t n_same = count_same(identity, job->process);
	char which[32];

	if (process->rank >= 0)
		snprintf(which, sizeof(which), "rank%d", process->rank);
	else
		snprintf(which, sizeof(which), "unknown");
	if (n_same)
		snprintf(job->file, sizeof(job->file), "trace.%s-%u.pt.trace.json.gz", which,
		         n_same + 1);
	else
		snprintf(job->file, sizeof(job->file), "trace.%s.pt.trace.json.gz", which);
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
static void add_processes(struct work *work)
{
	const struct identity *identity = work->findings->timeline->identity;
	bool takes_ranks = is_some_rank_known(identity);

	for (uint32_t i = 0; i < identity->n_processes; i++) {
		struct job *job = &work->jobs[work->n_jobs];

		if (identity->processes[i].is_excluded ||
		    (takes_ranks && identity->processes[i].rank < 0))
			continue;
		job->process = i;
		name_file(job, identity);
		work->n_jobs++;
	}
}

/* Owned by the caller; NULL: no memory. */
static struct work *work_new(const struct findings *findings, const struct emit_options *options,
                             const char *formats)
{
	uint32_t n_files = options->run ? options->run->n_files : 0;
	uint32_t n_ranks = findings->rank_rows ? findings->timeline->identity->n_processes : 0;
	struct work *work = calloc(1, sizeof(*work) + (MAX_FORMATS + n_files + (size_t)n_ranks) *
	                                                      sizeof(work->jobs[0]));

	if (!work)
		return NULL;
	work->findings = findings;
	work->options = options;
	pthread_mutex_init(&work->analysis_lock, NULL);
	for (uint32_t i = 0; emit_formats[i]; i++) {
		if (is_chosen(formats, emit_formats[i]->format))
			work->jobs[work->n_jobs++].emitter = emit_formats[i];
	}
	if (n_ranks)
		add_processes(work);
	for (uint32_t i = 0; i < n_files; i++)
		work->jobs[work->n_jobs++].analysis = options->run->files[i];
	return work;
}

int emit_run(const struct findings *findings, const struct emit_options *options,
             struct flextrace_error *error)
{
	const char *formats = options->formats ? options->formats : DEFAULT_FORMATS;
	struct work *work;
	int lock, code;

	FLEXTRACE_TRY(emit_check_formats(formats, error));
	FLEXTRACE_TRY(output_dir_open(options->output_dir, &lock, error));
	work = work_new(findings, options, formats);
	if (work) {
		run_on_threads(work, options->n_threads);
		code = finish(work, error);
		pthread_mutex_destroy(&work->analysis_lock);
		free(work);
	} else {
		code = error_set(error, FLEXTRACE_E_MEMORY, "Cannot write output: cause=no memory");
	}
	output_dir_close(lock);
	return code;
}
