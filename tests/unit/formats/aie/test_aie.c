/* SPDX-License-Identifier: Apache-2.0 */
/* AIE traces as JSON: states, kernels, and every kind of loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "aie_fixture.h"
#include "scratch.h"
#include "imports.h"

struct pair_case {
	const char *edges, *rows;
	uint64_t n_begins, n_ends, n_duplicates;
};

#define KERNEL_1 "0B100 0E101 1B172 1E173 "
#define KERNEL_2 "0B300 0E301 1B372 1E373 "
#define KERNEL_3 "0B500 0E501 1B572 1E573 "

static const struct pair_case pair_cases[] = {
	{"7B1 7E90", "LOCK_STALL 1-90; ", 0, 0, 0},
	{KERNEL_1, "kernel 100-173; INSTR_EVENT_0 100-101; INSTR_EVENT_1 172-173; ", 0, 0, 0},
	/* the fall of a state was lost: nothing of it is known, and the next one is not longer */
	{"7B1 7B50 7E90", "LOCK_STALL 50-90; ", 1, 0, 0},
	/* its rise was */
	{"7E20 7B50 7E90", "LOCK_STALL 50-90; ", 0, 1, 0},
	/* a state is open at the end of the file, up to the last that is known of the unit */
	{"7B50 2B90 2E91", "LOCK_STALL 50-91 open; INSTR_VECTOR 90-91; ", 1, 0, 0},
	/* falls and rises at once */
	{"7B50 7E60 7B60 7E70", "LOCK_STALL 50-60; LOCK_STALL 60-70; ", 0, 0, 0},
	/* cycle 0 cannot be told from a stamp that was not taken */
	{"7B0 7E60", "LOCK_STALL 1-60; ", 0, 0, 0},
};

static struct flex_run *convert(void **state, const char *edges, const char *others)
{
	struct flex_run *run = *state;
	char *text = aie_json_of_two(edges, others);

	flex_add_file(run, "trace.json", text);
	flex_convert(run);
	free(text);
	return run;
}

static void check_rows(const struct flex_run *run, const char *expected)
{
	char *rows = aie_rows(run, "0");

	assert_string_equal(rows, expected);
	free(rows);
}

static void test_aie__pairs_states_and_counts_what_lost_its_other_end(void **state)
{
	for (size_t i = 0; i < sizeof(pair_cases) / sizeof(*pair_cases); i++) {
		const struct pair_case *of = &pair_cases[i];
		struct flex_run *run;

		flex_stop(state);
		assert_int_equal(flex_start(state), 0);
		run = convert(state, of->edges, NULL);
		check_rows(run, of->rows);
		assert_int_equal(aie_lost(run, LOSS_UNMATCHED_BEGIN), of->n_begins);
		assert_int_equal(aie_lost(run, LOSS_UNMATCHED_END), of->n_ends);
	}
}

/* -- kernels --------------------------------------------------------------------------------- */

/* Of the rows only kernels. */
static char *kernels_of(const struct flex_run *run)
{
	char *rows = aie_rows(run, "0"), *kernels = calloc(1, strlen(rows) + 1);

	assert_non_null(kernels);
	for (char *at = rows, *end; (end = strstr(at, "; ")); at = end + 2) {
		if (strncmp(at, "kernel ", 7) == 0)
			strncat(kernels, at + 7, (size_t)(end - at - 6));
	}
	free(rows);
	return kernels;
}

static const struct pair_case kernel_cases[] = {
	{KERNEL_1 KERNEL_2 KERNEL_3, "100-173;300-373;500-573;", 0, 0, 0},
	/* the end of a kernel was lost: the others keep theirs */
	{KERNEL_1 "0B300 0E301 " KERNEL_3, "100-173;500-573;", 1, 0, 0},
	/* its start was */
	{KERNEL_1 "1B372 1E373 " KERNEL_3, "100-173;500-573;", 0, 1, 0},
	/* only the fall of its end was: that state and the kernel lack one */
	{KERNEL_1 "0B300 0E301 1B372 " KERNEL_3, "100-173;500-573;", 2, 0, 0},
	/* a start comes twice within a quarter of the median kernel */
	{KERNEL_1 "0B300 0E301 0B310 0E311 1B372 1E373 " KERNEL_3, "100-173;300-373;500-573;", 0, 0,
         1},
	/* an end does */
	{KERNEL_1 KERNEL_2 "1B380 1E381 " KERNEL_3, "100-173;300-373;500-573;", 0, 0, 1},
	/* a kernel that is not over */
	{KERNEL_1 "0B300 0E301", "100-173;300-301 open;", 1, 0, 0},
	/* one that was begun before the trace */
	{"1B72 1E73 " KERNEL_2, "300-373;", 0, 1, 0},
	/* one ends in the cycle in which the next starts */
	{"0B100 0E101 1B199 1E200 0B200 0E201 1B299 1E300", "100-200;200-300;", 0, 0, 0},
	{"1B72 1E73 1B172 1E173", "", 0, 2, 0},
	{"0B72 0E73", "72-73 open;", 1, 0, 0},
};

static void test_aie__pairs_kernels_and_counts_what_lost_its_other_end(void **state)
{
	for (size_t i = 0; i < sizeof(kernel_cases) / sizeof(*kernel_cases); i++) {
		const struct pair_case *of = &kernel_cases[i];
		struct flex_run *run;
		char *kernels;

		flex_stop(state);
		assert_int_equal(flex_start(state), 0);
		run = convert(state, of->edges, NULL);
		kernels = kernels_of(run);
		assert_string_equal(kernels, of->rows);
		free(kernels);
		assert_int_equal(aie_lost(run, LOSS_UNMATCHED_BEGIN), of->n_begins);
		assert_int_equal(aie_lost(run, LOSS_UNMATCHED_END), of->n_ends);
		assert_int_equal(aie_lost(run, LOSS_DUPLICATE), of->n_duplicates);
	}
}

static void test_aie__tells_which_unit_lost_something(void **state)
{
	struct flex_run *run = convert(state, KERNEL_1 "0B300 0E301", "1B72 1E73 " KERNEL_2);
	const struct losses *losses = &run->ledger.losses;

	assert_int_equal(losses->n, 2);
	for (uint32_t i = 0; i < losses->n; i++)
		assert_int_equal(losses->all[i].place.device,
		                 losses->all[i].cause == LOSS_UNMATCHED_END);
}

static void test_aie__takes_the_gap_of_duplicates_that_it_is_told(void **state)
{
	struct flex_run *run = *state;
	char *kernels;

	run->options.findings.aie.duplicate_gap = 0.1;
	convert(state, KERNEL_1 "0B300 0E301 0B310 0E311 1B372 1E373 " KERNEL_3, NULL);
	kernels = kernels_of(run);
	assert_string_equal(kernels, "100-173;310-373;500-573;");
	free(kernels);
	assert_int_equal(aie_lost(run, LOSS_UNMATCHED_BEGIN), 1);
	assert_int_equal(aie_lost(run, LOSS_DUPLICATE), 0);
}

/* -- places ---------------------------------------------------------------------------------- */

static void test_aie__places_cycles_by_the_clock_that_it_is_told(void **state)
{
	struct flex_run *run = *state;
	uint64_t row;

	run->options.findings.aie.clock_ghz = 2;
	convert(state, "7B1000 7E3000 7B4000 7E6000", NULL);
	for (row = 0; row < 2; row++) {
		assert_in_range(flex_number(&run->events, row, "start_ns"), 499 + 1500 * row,
		                501 + 1500 * row);
		assert_in_range(flex_number(&run->events, row, "dur_ns"), 999, 1001);
		assert_string_equal(flex_cell(&run->events, row, "err_ns"), "");
	}
}

/* A counter of 32 bits is no bound for a trace of an hour. */
static void test_aie__widens_cycles_beyond_32_bits(void **state)
{
	struct flex_run *run = convert(
		state, "7B1000 7E2000 7B6000000000 7E6000001000 7B9000000000 7E9000001000", NULL);

	check_rows(run, "LOCK_STALL 1000-2000; LOCK_STALL 6000000000-6000001000; "
	                "LOCK_STALL 9000000000-9000001000; ");
}

static void test_aie__keeps_cores_apart(void **state)
{
	struct flex_run *run = convert(state, "7B10 2B20 2E21 7E30", "7B15 7E40");
	char *rows = aie_rows(run, "1");

	check_rows(run, "LOCK_STALL 10-30; INSTR_VECTOR 20-21; ");
	assert_string_equal(rows, "LOCK_STALL 15-40; ");
	free(rows);
	assert_int_equal(aie_lost(run, LOSS_UNMATCHED_BEGIN), 0);
}

static void test_aie__reads_events_in_any_order(void **state)
{
	struct flex_run *run = convert(state, "1E173 0E101 1B172 0B100", NULL);

	check_rows(run, "kernel 100-173; INSTR_EVENT_0 100-101; INSTR_EVENT_1 172-173; ");
	assert_int_equal(aie_lost(run, LOSS_UNMATCHED_BEGIN), 0);
}

/* -- damage ---------------------------------------------------------------------------------- */

#define UNIT                                                           \
	"{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{" \
	"\"name\":\"core_trace for tile2,1\"}}"
#define EDGE(phase, ts) \
	"{\"name\":\"LOCK_STALL\",\"ph\":\"" phase "\",\"ts\":" ts ",\"pid\":0,\"tid\":7}"

static const struct {
	const char *event;
	enum loss_cause cause;
	const char *warning;
} damages[] = {
	{EDGE("B", "-1"), LOSS_MALFORMED, "its time is negative"},
	{EDGE("B", "1.5"), LOSS_MALFORMED, "its time is no whole cycle"},
	{EDGE("B", "\"x\""), LOSS_MALFORMED, "ts or dur is no time"},
	{"{\"name\":\"LOCK_STALL\",\"ph\":\"B\",\"pid\":0}", LOSS_MALFORMED, "it has no time"},
	{"{\"ph\":\"B\",\"ts\":5,\"pid\":0}", LOSS_MALFORMED, "it has no name"},
	{EDGE("X", "5"), LOSS_UNKNOWN_EVENT, "its phase is not known"},
	{"{\"name\":", LOSS_MALFORMED, ""},
	{"17", LOSS_MALFORMED, ""},
	{"{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":0}", LOSS_UNUSED, ""},
};

static void test_aie__loses_no_more_than_the_bad_event(void **state)
{
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		struct flex_run *run;
		char text[1024];

		flex_stop(state);
		assert_int_equal(flex_start(state), 0);
		run = *state;
		snprintf(text, sizeof(text),
		         "[" UNIT ",\n%s,\n" EDGE("B", "10") "," EDGE("E", "20") "]",
		         damages[i].event);
		flex_add_file(run, "trace.json", text);
		flex_convert(run);
		check_rows(run, "LOCK_STALL 10-20; ");
		assert_int_equal(aie_lost(run, damages[i].cause), 1);
		assert_non_null(strstr(run->warnings, damages[i].warning));
	}
}

/* Without the tables, which take longer. */
static void read_only(struct flex_run *run)
{
	const char *path = run->in;
	const struct import_options options = {.paths = &path, .n_paths = 1};
	struct string_pool *strings = string_pool_new();
	struct stream_set set = {NULL, 0, 0};
	struct flextrace_error error = {0};

	assert_int_equal(import_run(&options, strings, &set, &run->ledger, &error), 0);
	assert_in_range(run->ledger.read[RECORD_DEVICE_OP], 0, 8);
	stream_set_release(&set);
	string_pool_free(strings);
}

static void test_aie__reads_a_file_cut_anywhere(void **state)
{
	char *whole = aie_json("7B180 7E190");
	size_t first = strlen(UNIT) + 3, n_told = 0, n_between = 0;

	for (size_t n = first; n < strlen(whole); n++) {
		char *cut = strndup(whole, n);
		struct flex_run *run;

		flex_stop(state);
		assert_int_equal(flex_start(state), 0);
		run = *state;
		flex_add_file(run, "trace.json", cut);
		free(cut);
		read_only(run);
		n_told += aie_lost(run, LOSS_TRUNCATED_STREAM);
		n_between += whole[n - 1] == '}' || whole[n] == '{' || whole[n] == ']';
	}
	/* a file that stops between two events may be whole */
	assert_in_range(n_told, strlen(whole) - first - 4 * n_between, strlen(whole) - first);
	free(whole);
}

/* -- folders --------------------------------------------------------------------------------- */

static void test_aie__reads_the_traces_in_the_folder_of_a_run(void **state)
{
	struct flex_run *run = *state;
	char *text = aie_json(KERNEL_1);
	char *kernels, path[1024];

	/* what the original wrote beside it */
	flex_add_file(run, "index.json", "{\"hwid\":\"npu\",\"warmup\":0}");
	flex_add_file(run, "tile2,1.json", "{\"pid\":0,\"iterations\":[]}");
	snprintf(path, sizeof(path), "mkdir %s/traces", run->in);
	assert_int_equal(system(path), 0);
	flex_add_file(run, "traces/trace_mm_1_2_3.json", text);
	free(text);
	flex_convert(run);
	kernels = kernels_of(run);
	assert_string_equal(kernels, "100-173;");
	free(kernels);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

/* It says that it did not read them; what the original wrote is no trace. */
static void test_aie__tells_of_traces_of_others_in_the_folder(void **state)
{
	struct flex_run *run = *state;
	char *text = aie_json(KERNEL_1);

	flex_add_file(run, "a.json", text);
	flex_add_file(run, "flex.json",
	              "[{\"name\":\"Compute\",\"ph\":\"X\",\"ts\":1,\"dur\":2,"
	              "\"pid\":0,\"tid\":1}]");
	flex_add_file(run, "index.json", "{\"hwid\":\"npu\",\"warmup\":0}");
	free(text);
	flex_convert(run);
	assert_int_equal(run->events.n_rows, 3);
	assert_int_equal(aie_lost(run, LOSS_UNUSED), 1);
	assert_non_null(strstr(run->warnings, "passed over"));
	assert_non_null(strstr(run->warnings, "flex.json"));
}

static void test_aie__is_not_taken_for_a_file_of_flex(void **state)
{
	struct flex_run *run = *state;
	char *text = aie_json(KERNEL_1), path[1024];

	flex_add_file(run, "a.json", text);
	flex_add_file(run, "b.json",
	              "[{\"name\":\"Compute\",\"ph\":\"X\",\"ts\":1,\"dur\":2,"
	              "\"pid\":0,\"tid\":1,\"args\":{\"TS1\":\"1\"}}]");
	snprintf(path, sizeof(path), "%s/a.json", run->in);
	assert_int_equal(import_dialect_of(path), IMPORT_AIE);
	snprintf(path, sizeof(path), "%s/b.json", run->in);
	assert_int_equal(import_dialect_of(path), IMPORT_FLEX);
	free(text);
}

/* Parsers of before named the events otherwise. */
static void test_aie__knows_the_names_of_old_events(void **state)
{
	static const char text[] =
		"[{\"name\":\"Event0\",\"ts\":100,\"ph\":\"B\",\"pid\":0,\"tid\":1,\"args\":{}},"
		"{\"name\":\"Event0\",\"ts\":101,\"ph\":\"E\",\"pid\":0,\"tid\":1,\"args\":{}},"
		"{\"name\":\"LockStall\",\"ts\":120,\"ph\":\"B\",\"pid\":0,\"tid\":5,\"args\":{}},"
		"{\"name\":\"LockStall\",\"ts\":150,\"ph\":\"E\",\"pid\":0,\"tid\":5,\"args\":{}},"
		"{\"name\":\"Event1\",\"ts\":172,\"ph\":\"B\",\"pid\":0,\"tid\":2,\"args\":{}},"
		"{\"name\":\"Event1\",\"ts\":173,\"ph\":\"E\",\"pid\":0,\"tid\":2,\"args\":{}}]";
	struct flex_run *run = *state;
	char *kernels, *run_json, path[1024];

	flex_add_file(run, "trace.json", text);
	snprintf(path, sizeof(path), "%s/trace.json", run->in);
	assert_int_equal(import_dialect_of(path), IMPORT_AIE);
	flex_convert(run);
	kernels = kernels_of(run);
	assert_string_equal(kernels, "100-173;");
	free(kernels);
	run_json = scratch_read(run->out, "run.json", NULL);
	assert_non_null(strstr(run_json, "\"program\":\t\"trace.json\""));
	free(run_json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_aie__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pairs_states_and_counts_what_lost_its_other_end),
		TEST(pairs_kernels_and_counts_what_lost_its_other_end),
		TEST(tells_which_unit_lost_something),
		TEST(takes_the_gap_of_duplicates_that_it_is_told),
		TEST(places_cycles_by_the_clock_that_it_is_told),
		TEST(widens_cycles_beyond_32_bits),
		TEST(keeps_cores_apart),
		TEST(reads_events_in_any_order),
		TEST(loses_no_more_than_the_bad_event),
		TEST(reads_a_file_cut_anywhere),
		TEST(reads_the_traces_in_the_folder_of_a_run),
		TEST(tells_of_traces_of_others_in_the_folder),
		TEST(is_not_taken_for_a_file_of_flex),
		TEST(knows_the_names_of_old_events),
	};

	return cmocka_run_group_tests_name("aie", tests, NULL, NULL);
}
