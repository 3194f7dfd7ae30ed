/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plausible input that ends other readers of Flex's JSON: each is converted whole, and nothing is
 * lost that is not told.
 */
#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flex_checks.h"
#include "imports.h"
#include "scratch.h"
#include "texts.h"

#define N_MANY  500
#define N_TURNS 3

/* -- events ------------------------------------------------------------------------------------ */

/* Times in us. */
static void scope(FILE *to, int pid, int tid, const char *name, int at, int length)
{
	fprintf(to, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"ts\":%d,\"dur\":%d},\n",
	        pid, tid, name, at, length);
}

/* Of a device of 500 MHz. */
static void kernel(FILE *to, int pid, const char *name, int at, int length)
{
	int ticks = 500 * at;

	fprintf(to,
	        "{\"ph\":\"X\",\"pid\":%d,\"tid\":9,\"name\":\"%s Cmpt Exec\",\"ts\":%d,\"dur\":%d,"
	        "\"args\":{\"TS1\":%d,\"TS2\":%d,\"TS3\":%d,\"TS4\":%d,\"TS5\":%d}},\n",
	        pid, name, at, length, ticks - 100, ticks - 100, ticks, ticks + 500 * length,
	        ticks + 500 * length);
}

static void write_many_threads(FILE *to)
{
	for (int i = 0; i < N_MANY; i++)
		scope(to, 0, i, "a", 10 + i % 7, 100);
}

static void write_many_overlaps(FILE *to)
{
	for (int i = 0; i < N_MANY; i++) {
		scope(to, 0, 1, "a", 10 + i, 2 * N_MANY);
		kernel(to, 0, "k", 1000 + i, 2 * N_MANY);
	}
}

static void write_no_length(FILE *to)
{
	for (int i = 0; i < 20; i++) {
		scope(to, 0, 1, "a", 10 * i, 0);
		kernel(to, 0, "k", 1000 + 10 * i, 0);
	}
}

/* Each stamp in a form of its own. */
static void write_numbers(FILE *to)
{
	fputs("{\"ph\":\"X\",\"pid\":0,\"tid\":1,\"name\":\"k Cmpt Exec\",\"ts\":\"10.5\","
	      "\"dur\":1e1,\"attr\":{\"TS1\":5000,\"TS2\":\"5000\",\"TS3\":5250.0,"
	      "\"TS4\":\"0x2852\",\"TS5\":10322}},\n",
	      to);
}

static void write_no_ts5(FILE *to)
{
	kernel(to, 0, "whole", 10, 1);
	fputs("{\"ph\":\"X\",\"pid\":0,\"tid\":9,\"name\":\"cut Cmpt Exec\",\"ts\":20,"
	      "\"dur\":1,\"attr\":{\"TS1\":\"9900\",\"TS2\":\"9900\",\"TS3\":\"10000\","
	      "\"TS4\":\"10500\"}},\n",
	      to);
	kernel(to, 0, "whole", 30, 1);
}

static void mark(FILE *to, char ph, const char *name, int at)
{
	fprintf(to, "{\"ph\":\"%c\",\"pid\":0,\"tid\":1,\"name\":\"%s\",\"ts\":%d},\n", ph, name,
	        at);
}

/* Deeper than what is kept open. */
static void write_nested(FILE *to)
{
	mark(to, 'B', "outer", 1);
	mark(to, 'B', "middle", 2);
	mark(to, 'B', "outer", 3);
	mark(to, 'E', "outer", 4);
	mark(to, 'E', "middle", 5);
	mark(to, 'E', "outer", 6);
	mark(to, 'E', "outer", 7); /* one too many */
}

static void write_text_pids(FILE *to)
{
	static const char *const pids[] = {"\"AIU\"", "\"0\"", "\"\"", "null", "-3", "1e3"};

	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
		fprintf(to,
		        "{\"ph\":\"X\",\"pid\":%s,\"tid\":1,\"name\":\"a\",\"ts\":%zu,\"dur\":1},"
		        "\n",
		        pids[i], i);
}

/* Neither a rank 0, nor one behind the other. */
static void write_missing_ranks(FILE *to)
{
	static const int ranks[] = {1, 2, 5};

	for (size_t i = 0; i < 3; i++) {
		scope(to, ranks[i], 1, "a", 10, 100);
		kernel(to, ranks[i], "k", 20, 10);
	}
}

static void send(FILE *to, int pid, const char *name, int peer, int at)
{
	fprintf(to,
	        "{\"ph\":\"X\",\"pid\":%d,\"tid\":9,\"name\":\"%s DmaO\",\"ts\":%d,\"dur\":10,"
	        "\"args\":{\"TS1\":%d,\"TS2\":%d,\"TS3\":%d,\"TS4\":%d,\"TS5\":%d,"
	        "\"Bytes\":\"4096\",\"CollGroup\":\"g\",\"Peer\":\"%d\",\"Type\":\"SingleCast\"}},"
	        "\n",
	        pid, name, at, 500 * at, 500 * at, 500 * at, 500 * at, 500 * at + 5000, peer);
}

/* One message, and nothing else. */
static void write_one_collective(FILE *to)
{
	send(to, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, 100);
	send(to, 1, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0, 100);
}

static void write_rank_counters(FILE *to)
{
	write_one_collective(to);
	for (int rank = 0; rank < 2; rank++)
		fprintf(to,
		        "{\"ph\":\"C\",\"pid\":%d,\"name\":\"Watts\",\"ts\":%d,\"args\":{\"W\":5}},"
		        "\n"
		        "{\"ph\":\"C\",\"pid\":%d,\"name\":\"empty\",\"ts\":7,\"args\":{}},\n",
		        rank, 50 + rank, rank);
}

static void write_bare_metadata(FILE *to)
{
	fputs("{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}},\n"
	      "{\"ph\":\"M\",\"name\":\"thread_name\"},\n"
	      "{\"ph\":\"M\",\"pid\":7,\"tid\":1,\"name\":\"thread_name\",\"args\":{}},\n",
	      to);
	scope(to, 0, 1, "a", 1, 1);
}

static void write_backwards(FILE *to)
{
	for (int i = 20; i > 0; i--) {
		kernel(to, 0, "k", 1000 * i, 10);
		scope(to, 0, 1, "a", 1000 * i, 10);
	}
	fputs("{\"ph\":\"X\",\"pid\":0,\"tid\":9,\"name\":\"wrong Cmpt Exec\",\"ts\":5000,"
	      "\"dur\":1,\"args\":{\"TS1\":9,\"TS2\":8,\"TS3\":7,\"TS4\":6,\"TS5\":5}},\n",
	      to);
}

/* -- each of them ------------------------------------------------------------------------------ */

/* Threads take turns in the file: between a begin and its end there is only what other threads do.
 * Intervals of one name overlap the next ones. */
static void write_turns(FILE *to)
{
	for (int i = 0; i < N_MANY; i++) {
		for (int k = 0; k < 2 * N_TURNS; k++)
			fprintf(to, "{\"ph\":\"%c\",\"tid\":%d,\"name\":\"a\",\"ts\":%d},\n",
			        k < N_TURNS ? 'B' : 'E', k % N_TURNS,
			        10 + 100 * i + (k < N_TURNS ? 0 : 250));
	}
}

static const struct hard_case {
	const char *name;
	void (*write)(FILE *to);
	uint64_t n_device, n_host, n_lost; /* rows */
	enum loss_cause cause;
} cases[] = {
	{"more than 30 threads", write_many_threads, 0, N_MANY, 0, 0},
	{"any number of overlaps", write_many_overlaps, N_MANY, N_MANY, 0, 0},
	{"no length", write_no_length, 20, 20, 0, 0},
	{"stamps as numbers", write_numbers, 1, 0, 0, 0},
	{"no TS5", write_no_ts5, 3, 0, 0, 0},
	{"nested B and E", write_nested, 0, 3, 1, LOSS_UNMATCHED_END},
	{"B and E by turns", write_turns, 0, N_TURNS *N_MANY, 0, 0},
	{"pids of text", write_text_pids, 0, 6, 0, 0},
	{"ranks 1, 2 and 5", write_missing_ranks, 3, 3, 0, 0},
	{"counters of ranks", write_rank_counters, 2, 0, 2, LOSS_MALFORMED},
	{"one collective", write_one_collective, 2, 0, 0, 0},
	{"metadata without a time", write_bare_metadata, 0, 1, 0, 0},
	{"backwards", write_backwards, 21, 20, 1, LOSS_OUTLIER},
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

/* Of a run with this input, still to be converted. */
static struct flex_run *begin(void **state, void write(FILE *to))
{
	struct flex_run *run;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	flex_stop(state);
	flex_start(state);
	run = *state;
	assert_non_null(to);
	fputc('[', to);
	write(to);
	fputs("{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":0,\"args\":{}}]", to);
	assert_int_equal(fclose(to), 0);
	flex_add_file(run, "a.json", text);
	free(text);
	run->options.findings.per_rank = true;
	return run;
}

static struct flex_run *convert(void **state, void write(FILE *to), enum emit_overlap overlap)
{
	struct flex_run *run = begin(state, write);

	run->options.emit.views.overlap = overlap;
	flex_convert(run);
	return run;
}

static void test_flex_hard__is_converted_whole(void **state)
{
	for (size_t i = 0; i < N_CASES; i++) {
		const struct hard_case *hard = &cases[i];
		struct flex_run *run = convert(state, hard->write, OVERLAP_LANES);

		print_message("%s\n", hard->name);
		assert_int_equal(run->events.n_rows, hard->n_device);
		assert_int_equal(run->host.n_rows, hard->n_host);
		assert_int_equal(ledger_lost(&run->ledger), hard->n_lost);
		if (hard->n_lost)
			assert_int_equal(ledger_total(&run->ledger, hard->cause), hard->n_lost);
		free(flex_check_files(run));
	}
}

static void test_flex_hard__is_shown_in_every_mode_of_overlaps(void **state)
{
	for (size_t i = 0; i < N_CASES; i++) {
		for (int mode = OVERLAP_ASYNC; mode <= OVERLAP_DROP; mode++) {
			struct flex_run *run = convert(state, cases[i].write, mode);

			assert_int_equal(run->events.n_rows, cases[i].n_device);
			assert_int_equal(run->host.n_rows, cases[i].n_host);
			free(flex_check_files(run));
		}
	}
}

/* -- what comes out ---------------------------------------------------------------------------- */

static void test_flex_hard__gives_each_thread_its_line(void **state)
{
	struct flex_run *run = convert(state, write_many_threads, OVERLAP_LANES);

	for (int i = 0; i < N_MANY; i++) {
		char tid[16];

		snprintf(tid, sizeof(tid), "%d", i);
		assert_int_equal(flex_count(&run->host, "tid", tid), 1);
	}
}

static void test_flex_hard__keeps_times_of_what_overlaps(void **state)
{
	struct flex_run *run = convert(state, write_many_overlaps, OVERLAP_LANES);

	for (uint64_t i = 0; i < N_MANY; i++) {
		assert_int_equal(flex_number(&run->host, i, "start_ns"), 1000 * (10 + i));
		assert_int_equal(flex_number(&run->host, i, "dur_ns"), 2000 * N_MANY);
		assert_in_range(flex_number(&run->events, i, "dur_ns"), 2000 * N_MANY - 2,
		                2000 * N_MANY + 2);
	}
}

static void test_flex_hard__keeps_what_has_no_length(void **state)
{
	struct flex_run *run = convert(state, write_no_length, OVERLAP_LANES);

	assert_int_equal(flex_count(&run->events, "dur_ns", "0"), 20);
	assert_int_equal(flex_count(&run->host, "dur_ns", "0"), 20);
}

/* Utilization divides by time, and by cycles. */
static void test_flex_hard__rates_kernels_without_length(void **state)
{
	struct flex_run *run = begin(state, write_no_length);
	char path[4096];
	const char *text = path;
	FILE *log;

	snprintf(path, sizeof(path), "%s/log", run->dir);
	log = fopen(path, "we");
	assert_non_null(log);
	fputs("Ideal/Total Cycles\nk-opCatA 10\n====== Perf Summary End ======\n", log);
	assert_int_equal(fclose(log), 0);
	run->options.findings.compiler_info = TEXTS(&text, 1);
	flex_convert(run);
	free(flex_check_files(run));
	assert_int_equal(flex_count(&run->events, "ideal_cycles", "10"), 20);
	assert_int_equal(flex_count(&run->events, "pt_util", ""), 20);
	assert_int_equal(run->ledger.warnings[WARNING_COMPILER_OVER], 20);
}

static void test_flex_hard__knows_a_kernel_by_the_stamps_it_has(void **state)
{
	struct flex_run *run = convert(state, write_no_ts5, OVERLAP_LANES);
	uint64_t row = flex_row(&run->events, "kind", "Exec", "name", "cut");

	assert_in_range(flex_number(&run->events, row, "start_ns"), 19998, 20002);
	assert_in_range(flex_number(&run->events, row, "dur_ns"), 998, 1002);
	assert_string_equal(flex_cell(&run->events, row, "ts4"), "10500");
	assert_string_equal(flex_cell(&run->events, row, "ts5"), "");
}

static void test_flex_hard__shows_processes_without_a_rank(void **state)
{
	struct flex_run *run = convert(state, write_text_pids, OVERLAP_LANES);

	assert_int_equal(flex_count(&run->host, "rank", "0"), 2); /* null: not told */
	assert_int_equal(flex_count(&run->host, "rank", "1000"), 1);
	assert_int_equal(flex_count(&run->host, "rank", ""), 3);
}

static void test_flex_hard__takes_ranks_as_they_are(void **state)
{
	struct flex_run *run = convert(state, write_missing_ranks, OVERLAP_LANES);
	static const char *const ranks[] = {"1", "2", "5"};

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(flex_count(&run->host, "rank", ranks[i]), 1);
		assert_int_equal(flex_count(&run->events, "rank", ranks[i]), 1);
	}
}

static void test_flex_hard__pairs_what_is_nested(void **state)
{
	static const struct {
		const char *name, *start_ns, *end_ns;
	} rows[] = {
		{"outer", "1000", "6000"}, {"middle", "2000", "5000"}, {"outer", "3000", "4000"}};
	struct flex_run *run = convert(state, write_nested, OVERLAP_LANES);

	for (size_t i = 0; i < 3; i++) {
		uint64_t row = flex_row(&run->host, "start_ns", rows[i].start_ns, "name",
		                        rows[i].name);

		assert_string_equal(flex_cell(&run->host, row, "end_ns"), rows[i].end_ns);
	}
}

static void test_flex_hard__pairs_what_is_adjacent_of_its_thread(void **state)
{
	struct flex_run *run = convert(state, write_turns, OVERLAP_LANES);

	assert_int_equal(flex_count(&run->host, "dur_ns", "250000"), N_TURNS * N_MANY);
}

static void test_flex_hard__tells_a_single_collective(void **state)
{
	struct flex_run *run = convert(state, write_one_collective, OVERLAP_LANES);
	char *text = scratch_read(run->out, "tables/collectives.csv", NULL);
	int n_lines = 0;

	assert_non_null(text);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		n_lines++;
	free(text);
	assert_int_equal(n_lines, 1 + 2); /* for each of its ranks */
}

/* -- what was made of a recording -------------------------------------------------------------- */

static void expect_refused(struct flex_run *run, const char *path, const char *who)
{
	const struct import_options options = {.paths = &path, .n_paths = 1};
	struct stream_set set = {NULL, 0, 0};
	struct string_pool *strings = string_pool_new();
	struct flextrace_error error = {0};

	assert_int_equal(import_run(&options, strings, &set, &run->ledger, &error),
	                 FLEXTRACE_E_USAGE);
	assert_non_null(strstr(error.message, who));
	stream_set_release(&set);
	string_pool_free(strings);
}

static void test_flex_hard__refuses_what_was_processed(void **state)
{
	struct flex_run *run = convert(state, write_no_length, OVERLAP_LANES);
	char path[4096];

	snprintf(path, sizeof(path), "%s/trace.json", run->out);
	expect_refused(run, path, "flextrace made it");
	flex_add_file(run, "b.json",
	              "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1000,\"tid\":1000,\"name\":\"a\","
	              "\"ts\":1,\"dur\":1}],\"otherData\":{\"Application\":\"Acelyzer: Trace "
	              "Post-Processing Tool\"}}");
	snprintf(path, sizeof(path), "%s/b.json", run->in);
	expect_refused(run, path, "the AIU Trace Analyzer made it");
}

/* A call at 0 is there, and certain; what a tracer did not know it tells as 0. */
static void test_flex_hard__keeps_the_time_0(void **state)
{
	struct flex_run *run = *state;

	flex_add_file(run, "a.json",
	              "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"a\",\"ts\":0,"
	              "\"dur\":2},{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"b\",\"ts\":0,"
	              "\"dur\":0}]}");
	flex_convert(run);
	assert_int_equal(run->host.n_rows, 2);
	assert_int_equal(flex_number(&run->host, 0, "start_ns"), 0);
	assert_int_equal(flex_number(&run->host, 0, "dur_ns"), 2000);
	assert_int_equal(flex_number(&run->host, 1, "start_ns"), 0);
	assert_int_equal(flex_number(&run->host, 1, "end_ns"), 0);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_flex_hard__##name, flex_start, flex_stop)
	const struct CMUnitTest tests[] = {
		TEST(is_converted_whole),
		TEST(rates_kernels_without_length),
		TEST(is_shown_in_every_mode_of_overlaps),
		TEST(gives_each_thread_its_line),
		TEST(keeps_times_of_what_overlaps),
		TEST(keeps_what_has_no_length),
		TEST(knows_a_kernel_by_the_stamps_it_has),
		TEST(shows_processes_without_a_rank),
		TEST(takes_ranks_as_they_are),
		TEST(pairs_what_is_nested),
		TEST(pairs_what_is_adjacent_of_its_thread),
		TEST(tells_a_single_collective),
		TEST(refuses_what_was_processed),
		TEST(keeps_the_time_0),
	};

	return cmocka_run_group_tests_name("flex_hard", tests, NULL, NULL);
}
