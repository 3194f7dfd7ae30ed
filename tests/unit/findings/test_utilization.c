/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "costs_fixture.h"
#include "findings/counters/counters.h"
#include "failing_malloc.h"

#define COMPILER                                                                        \
	"rank,source,table,phase,autopilot,rows,ideal_cycles,runs,kernels,times_taken," \
	"score_mean,score_min,uncertain\n"

static void expect_warning(const struct costs_fixture *fixture, enum warning warning,
                           uint64_t count)
{
	assert_int_equal(fixture->ledger.warnings[warning], count);
}

static void expect_no_warning(const struct costs_fixture *fixture)
{
	for (int i = 0; i < WARNING_COUNT; i++)
		expect_warning(fixture, i, 0);
}

/* -- one table --------------------------------------------------------------------------------- */

static void test_utilization__gives_each_kernel_its_row(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	costs_kernels(fixture, device, "conv add conv_1");
	costs_kernel(fixture, device, "mul Cmpt Exec", 100, 50);
	costs_kernel(fixture, device, " Cmpt Exec", 100, 50); /* that is its name */
	costs_source(fixture, "conv-opCatConv 30 add-opCatScalar 0 conv_1-opCatConv 20 mul-NA 10");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "Conv:30 Scalar:0 Conv:20 NotAvailable:10 -");
	expect_warning(fixture, WARNING_COMPILER_UNNAMED, 1);
	expect_warning(fixture, WARNING_COMPILER_UNCERTAIN, 0);
	costs_expect_file(fixture, "compiler.csv", COMPILER "0,0,0,,0,4,60,1,4,0,0.933,0.933,0\n");
}

static void test_utilization__begins_a_run_where_a_name_comes_again(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	costs_kernels(fixture, device, "a b c a b c a b c");
	costs_source(fixture, "a-opCatA 1 b-opCatB 2 c-opCatC 3");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "A:1 B:2 C:3 A:1 B:2 C:3 A:1 B:2 C:3");
	expect_no_warning(fixture);
	costs_expect_file(fixture, "compiler.csv", COMPILER "0,0,0,,0,3,6,3,9,0,1.000,1.000,0\n");
}

static void test_utilization__takes_a_kernel_that_is_there_twice(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	costs_kernels(fixture, device, "a b b c");
	costs_source(fixture, "a-opCatA 1 b-opCatB 2 c-opCatC 3");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "A:1 B:2 B:2 C:3");
	costs_expect_file(fixture, "compiler.csv", COMPILER "0,0,0,,0,3,6,1,4,0,1.000,1.000,0\n");
}

static void test_utilization__takes_rows_of_one_name_in_their_order(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	costs_kernels(fixture, device, "a b a a b a");
	costs_source(fixture, "a-opCatA 1 b-opCatB 2 a-opCatC 3");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "A:1 B:2 C:3 C:3 B:2 A:1");
}

static void test_utilization__shows_how_well_it_matched(void **state)
{
	static const struct {
		const char *kernels, *line;
	} cases[] = {
		{"a b c d", "4,0,1.000,1.000,0"},
		{"d c b a", "4,0,0.667,0.667,1"},         /* no pair in order */
		{"a b", "2,0,0.833,0.833,0"},             /* half of the rows */
		{"a", "1,0,0.750,0.750,1"},               /* a quarter */
		{"a x x b c d x x", "4,0,0.833,0.833,0"}, /* half of the kernels */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct costs_fixture *fixture;
		char expected[256];
		uint32_t device;

		costs_stop(state);
		costs_start(state);
		fixture = *state;
		device = costs_device(fixture, 0);
		costs_kernels(fixture, device, cases[i].kernels);
		costs_source(fixture, "a-opCatA 1 b-opCatB 2 c-opCatC 3 d-opCatD 4");
		costs_run(fixture, 1e9);
		snprintf(expected, sizeof(expected), COMPILER "0,0,0,,0,4,10,1,%s\n",
		         cases[i].line);
		costs_expect_file(fixture, "compiler.csv", expected);
		expect_warning(fixture, WARNING_COMPILER_UNCERTAIN,
		               (uint64_t)(cases[i].line[16] - '0'));
	}
}

/* -- several tables ---------------------------------------------------------------------------- */

static void test_utilization__tells_tables_by_their_names(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	costs_kernels(fixture, device, "x a b c d y d d e e d");
	costs_source(fixture, "PREFILL a-opCatA 1 b-opCatB 2 c-opCatC 3;"
	                      "DECODING d-opCatD 4 e-opCatE 5");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "-/prefill A:1/prefill B:2/prefill C:3/prefill D:4/decoding"
	                      " -/decoding D:4/decoding D:4/decoding E:5/decoding"
	                      " E:5/decoding D:4/decoding");
	expect_warning(fixture, WARNING_COMPILER_UNNAMED, 2);
}

static void test_utilization__tells_tables_of_equal_names_by_their_time(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	for (int i = 0; i < 3; i++) {
		costs_kernel(fixture, device, "a", i ? 50 : 2000, 0);
		costs_kernel(fixture, device, "b", i ? 60 : 1000, 0);
	}
	costs_source(fixture, "DECODING a-opCatA 10 b-opCatB 20;"
	                      "PREFILL a-opCatA 1000 b-opCatB 500");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "A:1000/prefill B:500/prefill A:10/decoding B:20/decoding"
	                      " A:10/decoding B:20/decoding");
	costs_expect_file(fixture, "compiler.csv",
	                  COMPILER "0,0,0,decoding,0,2,30,2,4,0,1.000,1.000,0\n"
	                           "0,0,1,prefill,0,2,1500,1,2,0,1.000,1.000,0\n");
	expect_no_warning(fixture);
}

static void test_utilization__is_uncertain_where_tables_of_equal_names_fit(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	for (int i = 0; i < 2; i++) {
		costs_kernel(fixture, device, "a", i ? 2000 : 4000, 0);
		costs_kernel(fixture, device, "b", 2000, 0);
	}
	costs_source(fixture, "DECODING a-opCatA 10 b-opCatB 20;"
	                      "PREFILL a-opCatA 1000 b-opCatB 1000");
	costs_run(fixture, 1e9);
	costs_expect_file(fixture, "compiler.csv",
	                  COMPILER "0,0,1,prefill,0,2,2000,2,4,0,1.000,1.000,1\n");
	expect_warning(fixture, WARNING_COMPILER_UNCERTAIN, 1); /* the slow one */
}

static void test_utilization__takes_the_table_that_ran_to_a_larger_part(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);

	costs_kernels(fixture, device, "a b a b");
	costs_source(fixture, "a-opCatBig 9 b-opCatBig 9 c-opCatBig 9 d-opCatBig 9 e-opCatBig 9;"
	                      "a-opCatA 1 b-opCatB 2");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "A:1 B:2 A:1 B:2");
}

/* -- ranks ------------------------------------------------------------------------------------- */

static void test_utilization__takes_sources_in_the_order_of_ranks(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t last = costs_device(fixture, 7), unknown = costs_device(fixture, -1);
	uint32_t first = costs_device(fixture, 2), again = costs_device(fixture, 2);

	costs_kernels(fixture, last, "a");
	costs_kernels(fixture, unknown, "a");
	costs_kernels(fixture, first, "a");
	costs_kernels(fixture, again, "a");
	costs_source(fixture, "a-opCatFirst 1");
	costs_source(fixture, "a-opCatSecond 2");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "Second:2 ? First:1 First:1");
	expect_warning(fixture, WARNING_COMPILER_RANKS, 1);
	expect_warning(fixture, WARNING_COMPILER_UNNAMED, 1);
	costs_expect_file(fixture, "compiler.csv",
	                  COMPILER "2,0,0,,0,1,1,2,2,0,1.000,1.000,0\n"
	                           "7,1,0,,0,1,2,1,1,0,1.000,1.000,0\n");
}

static void test_utilization__takes_one_source_for_all_ranks(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t second = costs_device(fixture, -1), first = costs_device(fixture, 2);

	costs_kernels(fixture, second, "a");
	costs_kernels(fixture, first, "a");
	costs_source(fixture, "a-opCatA 1");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "A:1 A:1");
	expect_no_warning(fixture);
	costs_expect_file(fixture, "compiler.csv",
	                  COMPILER "2,0,0,,0,1,1,1,1,0,1.000,1.000,0\n"
	                           ",0,0,,0,1,1,1,1,0,1.000,1.000,0\n");
}

/* -- what is missing --------------------------------------------------------------------------- */

static void test_utilization__knows_no_kernel_without_tables(void **state)
{
	struct costs_fixture *fixture = *state;

	costs_kernels(fixture, costs_device(fixture, 0), "a b");
	costs_source(fixture, "");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "? ?");
	expect_warning(fixture, WARNING_COMPILER_EMPTY, 1);
	expect_warning(fixture, WARNING_COMPILER_UNNAMED, 2);
	costs_expect_file(fixture, "compiler.csv", COMPILER);
}

static void test_utilization__of_no_kernels_is_nothing(void **state)
{
	struct costs_fixture *fixture = *state;

	costs_source(fixture, "a-opCatA 1");
	costs_run(fixture, 1e9);
	expect_no_warning(fixture);
	costs_expect_file(fixture, "compiler.csv", COMPILER);
}

/* -- the compute clock ------------------------------------------------------------------------- */

static void test_utilization__counts_kernels_that_are_too_fast(void **state)
{
	static const struct {
		double option_hz;
		uint64_t device_hz, too_fast;
	} cases[] = {
		{1e9, 0, 1},        {1e9, 2000000000, 1}, {0.5e9, 0, 2}, {2e9, 0, 0},
		{0, 2000000000, 0}, {0, 500000000, 2},    {0, 0, 0}, /* 1.1 GHz */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct costs_fixture *fixture;
		uint32_t device;

		costs_stop(state);
		costs_start(state);
		fixture = *state;
		device = costs_device(fixture, 0);
		fixture->devices[device].core_hz = cases[i].device_hz;
		costs_kernels(fixture, device, "a b c");
		costs_source(fixture, "a-opCatA 105 b-opCatB 100 c-opCatC 1");
		costs_run(fixture, cases[i].option_hz);
		expect_warning(fixture, WARNING_COMPILER_OVER, cases[i].too_fast);
	}
}

/* -- times of another run ---------------------------------------------------------------------- */

static void test_utilization__takes_times_of_another_run_for_the_autopilot(void **state)
{
	struct costs_fixture *fixture = *state;

	costs_kernels(fixture, costs_device(fixture, 0), "a b c a b c other d");
	costs_times(fixture, "0,Exec,a,2,800\n0,Exec,b,1,200\n0,Exec,d,1,7\n");
	costs_source(fixture, "d-opCatD 4; AUTOPILOT a-opCatA 100 b-opCatB 20 c-opCatC 3");
	costs_run(fixture, 1e9);
	costs_expect(fixture, "A:100 B:20 C:3 A:100 B:20 C:3 - D:4");
	expect_warning(fixture, WARNING_KERNEL_TIMES_MISSING, 3); /* c twice, other */
	expect_warning(fixture, WARNING_KERNEL_TIMES_UNUSED, 0);
	costs_expect_file(fixture, "compiler.csv",
	                  COMPILER "0,0,0,,0,1,4,1,1,0,1.000,1.000,0\n"
	                           "0,0,1,,1,3,123,2,6,4,0.958,0.917,0\n");
}

static void test_utilization__judges_the_autopilot_by_times_of_the_other_run(void **state)
{
	static const struct {
		const char *times, *table;
		uint64_t over, unused, missing;
	} cases[] = {
		{"0,Exec,a,1,1000\n", "AUTOPILOT a-opCatA 500", 0, 0, 0}, /* 100 were measured */
		{"0,Exec,a,1,40\n", "AUTOPILOT a-opCatA 50", 1, 0, 0},
		{"0,Exec,a,1,0\n", "AUTOPILOT a-opCatA 50", 0, 0, 1}, /* no time is no time */
		{"0,Exec,a,1,40\n", "a-opCatA 50", 0, 1, 0},
		{"", "AUTOPILOT a-opCatA 50", 0, 0, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct costs_fixture *fixture;

		costs_stop(state);
		costs_start(state);
		fixture = *state;
		costs_kernels(fixture, costs_device(fixture, 0), "a");
		costs_times(fixture, cases[i].times);
		costs_source(fixture, cases[i].table);
		costs_run(fixture, 1e9);
		expect_warning(fixture, WARNING_COMPILER_OVER, cases[i].over);
		expect_warning(fixture, WARNING_KERNEL_TIMES_UNUSED, cases[i].unused);
		expect_warning(fixture, WARNING_KERNEL_TIMES_MISSING, cases[i].missing);
	}
}

/* -- size -------------------------------------------------------------------------------------- */

static void test_utilization__matches_long_runs_of_one_name_in_linear_time(void **state)
{
	struct costs_fixture *fixture = *state;
	uint32_t device = costs_device(fixture, 0);
	char tables[32 * 400] = "";
	size_t n = 0;

	for (int i = 0; i < 400; i++)
		n += (size_t)snprintf(tables + n, sizeof(tables) - n, "a-opCatA %d ", i);
	snprintf(tables + n, sizeof(tables) - n, "; a-opCatB 1");
	for (int i = 0; i < 100000; i++) /* quadratic work would not end in time */
		costs_kernel(fixture, device, i % 1000 ? "a" : "other", 1000, 0);
	costs_source(fixture, tables);
	costs_run(fixture, 1e9);
	expect_warning(fixture, WARNING_COMPILER_UNNAMED, 100);
}

/* -- memory ------------------------------------------------------------------------------------ */

static int read_and_match(struct costs_fixture *fixture, const char *const *texts, uint32_t n_texts)
{
	const struct utilization_options options = {.core_hz = 1e9, .times = &fixture->times};
	const struct counters_input input = {.timeline = &fixture->timeline,
	                                     .costs = &fixture->costs,
	                                     .strings = &fixture->cache};

	FLEXTRACE_TRY(kernel_times_read(&fixture->times, fixture->dir, &fixture->cache, NULL));
	FLEXTRACE_TRY(compiler_info_read(&fixture->info, texts, n_texts, &fixture->cache, NULL));
	FLEXTRACE_TRY(utilization_run(&fixture->costs, &fixture->info, &options, &fixture->timeline,
	                              &fixture->cache, &fixture->ledger));
	return counters_find(&fixture->timeline.counters, &input);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void test_utilization__tells_every_allocation_that_fails(void **state)
{
	bool failed = true;

	for (uint64_t n = 1; failed; n++) {
		struct costs_fixture *fixture;
		char log[4096], cache[4096], path[8192];
		const char *const texts[] = {log, cache};
		int code;

		costs_stop(state);
		costs_start(state);
		fixture = *state;
		costs_kernel(fixture, costs_device(fixture, 0), "a Cmpt Exec", 100, 50);
		costs_kernels(fixture, costs_device(fixture, 1), "b c");
		snprintf(log, sizeof(log), "%s/log", fixture->dir);
		write_text(log, "DSM-AutoPilot BEGIN\nIdeal/Total Cycles\na-opCatA 10\n====== Perf "
		                "Summary End ======\n");
		snprintf(cache, sizeof(cache), "%s", fixture->dir);
		snprintf(path, sizeof(path), "%s/inductor-spyre", cache);
		assert_int_equal(mkdir(path, 0777), 0);
		strcat(path, "/b");
		assert_int_equal(mkdir(path, 0777), 0);
		strcat(path, "/perf");
		assert_int_equal(mkdir(path, 0777), 0);
		strcat(path, "/ideal_cycles.json");
		write_text(path, "[{\"ideal_cycles\": 5, \"op_category\": \"B\"}]");
		snprintf(path, sizeof(path), "%s/tables", fixture->dir);
		assert_int_equal(mkdir(path, 0777), 0);
		strcat(path, "/kernels.csv");
		write_text(path, "rank,kind,name,calls,total_ns\n0,Exec,a Cmpt Exec,1,9\n");
		failing_malloc_set(n);
		code = read_and_match(fixture, texts, 2);
		failed = failing_malloc_has_failed();
		failing_malloc_set(0);
		assert_int_equal(code, failed ? FLEXTRACE_E_MEMORY : FLEXTRACE_OK);
		assert_true(n < 1000);
	}
	costs_expect(*state, "A:10 B:5 -");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COSTS_TEST(test_utilization__gives_each_kernel_its_row),
		COSTS_TEST(test_utilization__begins_a_run_where_a_name_comes_again),
		COSTS_TEST(test_utilization__takes_a_kernel_that_is_there_twice),
		COSTS_TEST(test_utilization__takes_rows_of_one_name_in_their_order),
		COSTS_TEST(test_utilization__shows_how_well_it_matched),
		COSTS_TEST(test_utilization__tells_tables_by_their_names),
		COSTS_TEST(test_utilization__tells_tables_of_equal_names_by_their_time),
		COSTS_TEST(test_utilization__is_uncertain_where_tables_of_equal_names_fit),
		COSTS_TEST(test_utilization__takes_the_table_that_ran_to_a_larger_part),
		COSTS_TEST(test_utilization__takes_sources_in_the_order_of_ranks),
		COSTS_TEST(test_utilization__takes_one_source_for_all_ranks),
		COSTS_TEST(test_utilization__knows_no_kernel_without_tables),
		COSTS_TEST(test_utilization__of_no_kernels_is_nothing),
		COSTS_TEST(test_utilization__counts_kernels_that_are_too_fast),
		COSTS_TEST(test_utilization__takes_times_of_another_run_for_the_autopilot),
		COSTS_TEST(test_utilization__judges_the_autopilot_by_times_of_the_other_run),
		COSTS_TEST(test_utilization__tells_every_allocation_that_fails),
		COSTS_TEST(test_utilization__matches_long_runs_of_one_name_in_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
