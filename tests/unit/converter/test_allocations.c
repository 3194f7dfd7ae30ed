/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole conversions in which one allocation fails: each must say so, and leave nothing that looks
 * like a result. Every place is tried that allocates, told by its calls; with
 * an argument every single allocation.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <unistd.h>
#include <errno.h>
#include <execinfo.h>
#include <cmocka.h>
#include <cJSON.h>

#include "conversion.h"
#include "failing_malloc.h"
#include "imports.h"
#include "profile.h"
#include "base/hash.h"
#include "scratch.h"
#include "text_source.h"

#define N_CALLS  24
#define N_PLACES (1u << 16)

#define GOLDEN(name) FLEXTRACE_SOURCE_DIR "/tests/golden/" name
#define CORPUS(name) FLEXTRACE_SOURCE_DIR "/tests/fuzz/corpus/" name

/* -- conversions ------------------------------------------------------------------------------- */

struct job {
	const char *name;
	const char *golden;     /* a case, its input is read; or */
	const char *path;       /* a file of another tool */
	const char *options[7]; /* name, value, name, value, ... NULL */
};

static const struct job jobs[] = {
	{.name = "two ranks", .golden = GOLDEN("two_ranks")},
	{.name = "marks",
         .golden = GOLDEN("device_marks"),
         .options = {"overlap", "async", "keep", "name:.*"}},
	{.name = "kinds", .golden = GOLDEN("every_kind"), .options = {"jobs", "1-99"}},
	{.name = "bad input", .golden = GOLDEN("bad_input")},
	{.name = "crossing",
         .golden = GOLDEN("crossing_scopes"),
         .options = {"drop", "kind:^Prep$", "freq", "1000:1100", "types", "XM"}},
	{.name = "clocks",
         .golden = GOLDEN("missing_stamps"),
         .options = {"clocks", CORPUS("config/clocks.json")}},
	{.name = "profile",
         .golden = GOLDEN("two_ranks"),
         .options = {"profile", CORPUS("config/profile.json")}},
	{.name = "costs",
         .golden = GOLDEN("one_rank"),
         .options = {"compiler-info", CORPUS("compiler_log/log.txt")}},
	{.name = "flex", .path = CORPUS("flex/blocks.json")},
	{.name = "torch", .path = CORPUS("torch/kineto.json")},
	{.name = "tt-metal", .path = CORPUS("tt_csv/fifteen.csv")},
	{.name = "AI engines", .path = CORPUS("aie/core.json")},
#ifdef FLEXTRACE_MINIZIP
	{.name = "archive",
         .path = CORPUS("aie/core.json"),
         .options = {"archive", "all", "formats", "chrome,pftrace,json"}},
	{.name = "archive of ranks",
         .golden = GOLDEN("two_ranks"),
         .options = {"archive", "ranks"}},
#endif
#ifdef FLEXTRACE_SQLITE
	{.name = "nsys", .path = CORPUS("nsys/of_2024")},
#endif
};

struct run {
	const char *dir; /* weak: what it wrote, each run the same */
	struct flextrace_error error;
	int code;
	uint64_t lost;
	bool has_failed;
};

/* What a caller does before it reads. */
static int set_options(const struct job *job, const char *dir, struct conversion_options *options,
                       struct flextrace_error *error)
{
	const char *const *pair = job->options;
	const struct option_spec *spec;

	*options = (struct conversion_options)CONVERSION_OPTIONS_INIT;
	options->output_dir = dir;
	options->formats = "text,chrome,csv";
	options->findings.per_rank = options->summarize_comm = true;
	for (; *pair; pair += 2) {
		spec = option_find(conversion_option_table, pair[0]);
		assert_non_null(spec);
		profile_note_given(spec, options);
		FLEXTRACE_TRY(option_parse(spec, pair[1], options, error));
	}
	FLEXTRACE_TRY(profile_read(options, error));
	return conversion_check(options, error);
}

static int read_input(const struct job *job, const char *text, struct string_pool *strings,
                      struct text_source *source, struct flextrace_error *error)
{
	struct import_options files = {.paths = &job->path, .n_paths = 1};

	if (job->path)
		return import_run(&files, strings, &source->set, &source->decoder.ledger, error);
	return text_source_read(source, text, error);
}

static int read_and_run(const struct job *job, const char *text,
                        const struct conversion_options *options, struct pipeline_result *result,
                        struct flextrace_error *error)
{
	struct string_pool *strings = string_pool_new();
	struct text_source source = {.strings = NULL};
	int code;

	if (!strings || text_source_init_part(&source, strings, 0, 1) < 0) {
		string_pool_free(strings);
		return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	}
	code = read_input(job, text, strings, &source, error);
	if (code >= 0)
		code = conversion_run(options, &source.set, strings, &source.decoder.ledger, result,
		                      error);
	text_source_release(&source);
	string_pool_free(strings);
	return code;
}

/* Converts while the n-th allocation fails, 0 = none. */
static void convert(struct run *run, const char *dir, const struct job *job, uint64_t n)
{
	char *text = job->golden ? scratch_read(job->golden, "input.txt", NULL) : NULL;
	struct pipeline_result result = {.lost = 0};
	struct conversion_options options;

	*run = (struct run){.dir = dir};
	failing_malloc_set_once(n);
	run->code = set_options(job, run->dir, &options, &run->error);
	if (run->code >= 0)
		run->code = read_and_run(job, text, &options, &result, &run->error);
	run->lost = result.lost;
	conversion_options_release(&options);
	run->has_failed = failing_malloc_has_failed();
	failing_malloc_set(0);
	free(text);
}

/* One number for all files of a directory, by name. */
static uint64_t digest(const char *dir)
{
	uint64_t hash = HASH_NO_BYTES;
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		size_t n_bytes = 0;
		bool is_file = entries[i]->d_type == DT_REG;
		char *bytes = is_file ? scratch_read(dir, entries[i]->d_name, &n_bytes) : NULL;

		hash = hash_bytes(hash, entries[i]->d_name, strlen(entries[i]->d_name));
		hash = hash_bytes(hash, bytes, n_bytes);
		free(bytes);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return hash;
}

static uint64_t digest_all(const struct run *run)
{
	char tables[4096];

	snprintf(tables, sizeof(tables), "%s/tables", run->dir);
	return digest(run->dir) ^ digest(tables);
}

static void finish(const struct run *run)
{
	if (access(run->dir, F_OK) == 0)
		scratch_remove(strdup(run->dir));
}

static bool tries_all;

/* -- places that allocate ---------------------------------------------------------------------- */

/* What was seen over all jobs: hashes of the calls that lead to an allocation. */
static uint64_t seen[N_PLACES];

struct walk {
	const char *dir;       /* weak */
	uint64_t digest, lost; /* of what is right */
	uint64_t *tries;       /* owned: allocations to let fail */
	size_t n_tries, n_allocations;
	bool tries_all;
};

static bool is_new(uint64_t hash)
{
	for (uint64_t i = hash % N_PLACES;; i = (i + 1) % N_PLACES) {
		if (seen[i] == hash)
			return false;
		if (!seen[i]) {
			seen[i] = hash;
			return true;
		}
	}
}

static void note(void *context, uint64_t n)
{
	struct walk *walk = context;
	void *calls[N_CALLS];
	int n_calls = backtrace(calls, N_CALLS);

	walk->n_allocations = n;
	if (is_new(hash_bytes(HASH_NO_BYTES, calls, (size_t)n_calls * sizeof(*calls)) | 1) ||
	    walk->tries_all)
		walk->tries[walk->n_tries++] = n;
}

/* Converts without a failure and notes what there is to let fail. */
static void walk_job(struct walk *walk, const struct job *job)
{
	struct run run;

	convert(&run, walk->dir, job, 0); /* fills pools that outlive a conversion */
	finish(&run);
	failing_malloc_watch(note, walk);
	convert(&run, walk->dir, job, 0);
	failing_malloc_watch(NULL, NULL);
	if (run.code < 0)
		fail_msg("%s: %s", job->name, run.error.message);
	assert_true(walk->n_allocations > 50);
	walk->digest = digest_all(&run);
	walk->lost = run.lost;
	finish(&run);
}

/* A run may do without what it did not get, or count a record less; else it has to say that memory
 * was short (cJSON, that a file of options is no JSON), and leave nothing that looks like a
 * result. */
static bool is_right(const struct run *run, const struct walk *walk)
{
	if (!run->has_failed)
		return false;
	if (run->code >= 0)
		return run->lost > walk->lost || digest_all(run) == walk->digest;
	return !scratch_has(run->dir, "run.json") && run->error.message[0] &&
	       (run->code == FLEXTRACE_E_MEMORY || run->code == FLEXTRACE_E_USAGE ||
	        strstr(run->error.message, strerror(ENOMEM)));
}

/* Tells which calls led to the n-th allocation; `addr2line -fe` knows their lines. */
static void show_calls(void *context, uint64_t n)
{
	void *calls[N_CALLS];

	if (n == *(const uint64_t *)context)
		backtrace_symbols_fd(calls, backtrace(calls, N_CALLS), STDERR_FILENO);
}

/* Returns how many of the runs were wrong. */
static int try_job(const struct walk *walk, const struct job *job)
{
	int n_wrong = 0;
	struct run run;

	for (size_t i = 0; i < walk->n_tries; i++) {
		convert(&run, walk->dir, job, walk->tries[i]);
		if (!is_right(&run, walk)) {
			print_error("%s: allocation %d failed: code=%d, message=%s\n", job->name,
			            (int)walk->tries[i], run.code, run.error.message);
			n_wrong++;
			finish(&run);
			failing_malloc_watch(show_calls, &walk->tries[i]);
			convert(&run, walk->dir, job, walk->tries[i]);
			failing_malloc_watch(NULL, NULL);
		}
		finish(&run);
	}
	return n_wrong;
}

static void test_allocations__that_fail_once_end_a_conversion(void **state)
{
	char *base = scratch_dir(), *dir = NULL;
	struct walk walk = {.tries = calloc(1u << 20, sizeof(*walk.tries)), .tries_all = tries_all};
	int n_wrong = 0;

	(void)state;
	assert_true(asprintf(&dir, "%s/out", base) > 0);
	walk.dir = dir;
	for (size_t j = 0; j < sizeof(jobs) / sizeof(jobs[0]); j++) {
		walk.n_tries = 0;
		walk_job(&walk, &jobs[j]);
		print_message("%s: tried=%zu, allocations=%zu\n", jobs[j].name, walk.n_tries,
		              walk.n_allocations);
		n_wrong += try_job(&walk, &jobs[j]);
	}
	free(walk.tries);
	free(dir);
	scratch_remove(base);
	assert_int_equal(n_wrong, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocations__that_fail_once_end_a_conversion),
	};
	cJSON_Hooks hooks = {failing_malloc, free};

	(void)argv;
	tries_all = argc > 1;
	cJSON_InitHooks(&hooks);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
