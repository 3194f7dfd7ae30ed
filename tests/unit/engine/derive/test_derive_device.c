/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "derive_fixture.h"

#define PROCESS "1 1 7 process start_ns=1 rank=0\n"
#define STAMPS(...)         \
	(const uint64_t[])  \
	{                   \
		__VA_ARGS__ \
	}

/* -- control blocks ------------------------------------------------------------------------- */

struct op_case {
	uint8_t kind;
	uint64_t ticks[FLEXTRACE_N_STAMPS];
	int64_t submit_ns, complete_ns;
	const char *expected;
	enum loss_cause cause;
	uint64_t lost;
};

static const struct op_case op_cases[] = {
	{FLEXTRACE_DEVICE_KERNEL,
         {10, 20, 30, 40, 50},
         0,
         0,
         "10-20 dma_in x q0/dma_in certified +-0\n"
         "20-30 prep x q0/prep certified +-0\n"
         "30-40 exec x q0/exec certified +-0\n"
         "40-50 dma_out x q0/dma_out certified +-0\n",
         0,
         0},
	/* what takes no time is not shown, but for the work itself */
	{FLEXTRACE_DEVICE_KERNEL,
         {10, 10, 10, 10, 10},
         0,
         0,
         "10-10 exec x q0/exec certified +-0\n",
         0,
         0},
	/* of a kernel that names its parts those alone are shown, whatever time they took */
	{FLEXTRACE_DEVICE_PARTS(FLEXTRACE_PART_PREP | FLEXTRACE_PART_EXEC),
         {10, 20, 30, 40, 50},
         0,
         0,
         "20-30 prep x q0/prep certified +-0\n"
         "30-40 exec x q0/exec certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_PARTS(FLEXTRACE_PART_DMA_IN | FLEXTRACE_PART_DMA_OUT),
         {10, 10, 0, 40, 50},
         0,
         0,
         "10-10 dma_in x q0/dma_in certified +-0\n"
         "40-50 dma_out x q0/dma_out certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_PARTS(FLEXTRACE_PART_PREP),
         {10, 20, 0, 40, 50},
         0,
         60,
         "",
         LOSS_MISSING_STAMP,
         1},
	{FLEXTRACE_DEVICE_KERNEL,
         {10, 0, 30, 40, 50},
         0,
         0,
         "30-40 exec x q0/exec certified +-0\n"
         "40-50 dma_out x q0/dma_out certified +-0\n",
         LOSS_MISSING_STAMP,
         1},
	/* a state has no parts, and is shown however short it was */
	{FLEXTRACE_DEVICE_STATE,
         {10, 0, 0, 0, 50},
         0,
         0,
         "10-50 state x q0/state certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_STATE,
         {10, 0, 0, 0, 10},
         0,
         0,
         "10-10 state x q0/state certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_STATE, {10, 0, 0, 0, 0}, 0, 60, "", LOSS_MISSING_STAMP, 1},
	{FLEXTRACE_DEVICE_MEMCPY_HTOD,
         {10, 20, 20, 20, 25},
         0,
         0,
         "10-25 htod x q0/exec certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_MEMCPY_HTOD,
         {10, 10, 10, 10, 25},
         0,
         0,
         "10-25 htod x q0/exec certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_MEMCPY_DTOH,
         {10, 10, 12, 13, 25},
         0,
         0,
         "10-25 dtoh x q0/exec certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_MEMCPY_DTOH,
         {10, 0, 0, 0, 25},
         0,
         0,
         "10-25 dtoh x q0/exec certified +-0\n",
         0,
         0},
	/* of the stamps that were taken the first and the last */
	{FLEXTRACE_DEVICE_MEMCPY_HTOD,
         {10, 20, 0, 0, 0},
         0,
         0,
         "10-20 htod x q0/exec certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_MEMCPY_DTOH,
         {0, 0, 12, 13, 25},
         0,
         0,
         "12-25 dtoh x q0/exec certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_MEMCPY_DTOH, {0, 0, 12, 0, 0}, 0, 60, "", LOSS_MISSING_STAMP, 1},
	{FLEXTRACE_DEVICE_MEMCPY_DTOD,
         {10, 10, 12, 13, 25},
         0,
         0,
         "10-25 dtod x q0/exec certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_MEMCPY_PTOP,
         {10, 10, 12, 13, 25},
         0,
         0,
         "10-25 ptop x q0/exec certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_MEMSET,
         {10, 10, 12, 13, 25},
         0,
         0,
         "10-25 memset x q0/exec certified +-0\n",
         0,
         0},
	{FLEXTRACE_DEVICE_RELEASE,
         {10, 10, 12, 13, 25},
         0,
         0,
         "10-25 release x q0/exec certified +-0\n",
         0,
         0},
	/* without stamps the host's bracket is all that is known */
	{FLEXTRACE_DEVICE_KERNEL,
         {0},
         5,
         60,
         "5-60 exec x q0/exec unmatched\n",
         LOSS_MISSING_STAMP,
         1},
	{FLEXTRACE_DEVICE_KERNEL, {0}, 0, 60, "", LOSS_MISSING_STAMP, 1},
	{FLEXTRACE_DEVICE_KERNEL, {0}, 61, 60, "", LOSS_MISSING_STAMP, 1},
	{FLEXTRACE_DEVICE_MEMSET, {10, 0, 0, 0, 9}, 0, 0, "", LOSS_BACKWARDS, 1},
};

static void test_derive__makes_device_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(op_cases) / sizeof(*op_cases); i++) {
		const struct op_case *test = &op_cases[i];
		struct derive_fixture fixture;
		struct tick_op *op;

		fixture_open(&fixture, PROCESS);
		op = fixture_op(&fixture, "x", test->kind, test->ticks);
		op->submit_host_ns = test->submit_ns;
		op->complete_host_ns = test->complete_ns;
		fixture_run(&fixture);
		expect_device(&fixture, test->expected);
		assert_int_equal(ledger_lost(&fixture.ledger), test->lost);
		if (test->lost)
			expect_lost(&fixture, test->cause, test->lost);
		assert_int_equal(fixture.ledger.rows[RECORD_DEVICE_OP], *test->expected != 0);
		fixture_close(&fixture);
	}
}

/* Flex's events of a copy are about one DMA of its control block. */
static void test_derive__shows_the_dma_that_another_tool_told_of(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS);
	fixture_op(&fixture, "in", FLEXTRACE_DEVICE_MEMCPY_HTOD, STAMPS(10, 20, 20, 20, 25))
		->estimate = 1 + FLEXTRACE_ESTIMATE_DMA_IN;
	fixture_op(&fixture, "none", FLEXTRACE_DEVICE_MEMCPY_HTOD, STAMPS(30, 30, 30, 30, 45))
		->estimate = 1 + FLEXTRACE_ESTIMATE_DMA_IN;
	fixture_op(&fixture, "out", FLEXTRACE_DEVICE_MEMCPY_DTOH, STAMPS(50, 50, 52, 53, 65))
		->estimate = 1 + FLEXTRACE_ESTIMATE_DMA_OUT;
	fixture_op(&fixture, "all", FLEXTRACE_DEVICE_MEMCPY_DTOH, STAMPS(70, 70, 72, 73, 85))
		->estimate = 1 + FLEXTRACE_ESTIMATE_WHOLE;
	fixture_run(&fixture);
	expect_device(&fixture, "10-20 htod in q0/exec certified +-0\n"
	                        "30-45 htod none q0/exec certified +-0\n"
	                        "53-65 dtoh out q0/exec certified +-0\n"
	                        "70-85 dtoh all q0/exec certified +-0\n");
	fixture_close(&fixture);
}

static void test_derive__says_how_far_a_device_row_can_be_trusted(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS);
	fixture_op(&fixture, "a", FLEXTRACE_DEVICE_MEMSET, STAMPS(10, 0, 0, 0, 20));
	fixture_op(&fixture, "b", FLEXTRACE_DEVICE_MEMSET, STAMPS(30, 0, 0, 0, 40))->status =
		TIME_OUTLIER;
	fake_clocks.offset_ns = 1000;
	fake_clocks.process_ns[0] = 100;
	fake_clocks.err_ns = 7;
	fake_clocks.process_err_ns = 3;
	fake_clocks.process_status = TIME_ASSUMED;
	fixture_run(&fixture);
	expect_device(&fixture, "1110-1120 memset a q0/exec assumed +-10\n"
	                        "1130-1140 memset b q0/exec outlier +-10\n");
	fixture_close(&fixture);
}

static void test_derive__knows_no_bound_where_one_part_has_none(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS);
	fixture_op(&fixture, "a", FLEXTRACE_DEVICE_MEMSET, STAMPS(10, 0, 0, 0, 20));
	fake_clocks.err_ns = UINT32_MAX;
	fake_clocks.process_err_ns = 3;
	fake_clocks.status = TIME_ASSUMED;
	fixture_run(&fixture);
	expect_device(&fixture, "10-20 memset a q0/exec assumed\n");
	fixture_close(&fixture);
}

static void test_derive__shows_work_without_clock_at_its_bracket(void **state)
{
	struct derive_fixture fixture;
	struct tick_op *op;

	(void)state;
	fixture_open(&fixture, PROCESS);
	fixture_op(&fixture, "a", FLEXTRACE_DEVICE_KERNEL, STAMPS(10, 20, 30, 40, 50));
	op = fixture_op(&fixture, "b", FLEXTRACE_DEVICE_KERNEL, STAMPS(10, 20, 30, 40, 50));
	op->submit_host_ns = 1000;
	op->complete_host_ns = 2000;
	op = fixture_op(&fixture, "c", FLEXTRACE_DEVICE_KERNEL, STAMPS(0, 0, 0, 0, 0));
	op->submit_host_ns = 1000;
	op->class = RECORD_SUBMIT;
	fixture.ledger.read[RECORD_DEVICE_OP]--;
	fixture.ledger.read[RECORD_SUBMIT]++;
	fake_clocks.status = TIME_UNMATCHED;
	fixture_run(&fixture);
	expect_device(&fixture, "1000-2000 exec b q0/exec unmatched\n");
	assert_int_equal(fixture.ledger.warnings[WARNING_NO_DEVICE_CLOCK], 2);
	expect_lost(&fixture, LOSS_NO_CLOCK, 2);
	expect_lost(&fixture, LOSS_UNMATCHED_SUBMIT, 1);
	fixture_close(&fixture);
}

/* Their stamps may name any time; without a bracket they are all there is. */
static void test_derive__shows_outliers_at_their_bracket(void **state)
{
	struct derive_fixture fixture;
	struct tick_op *op;

	(void)state;
	fixture_open(&fixture, PROCESS);
	op = fixture_op(&fixture, "a", FLEXTRACE_DEVICE_KERNEL, STAMPS(10, 20, 30, 40, 50));
	op->status = TIME_OUTLIER;
	op->submit_host_ns = 1000;
	op->complete_host_ns = 2000;
	op = fixture_op(&fixture, "b", FLEXTRACE_DEVICE_MEMSET, STAMPS(60, 0, 0, 0, 70));
	op->status = TIME_OUTLIER;
	op->submit_host_ns = 3000;
	fixture_run(&fixture);
	expect_device(&fixture, "60-70 memset b q0/exec outlier +-0\n"
	                        "1000-2000 exec a q0/exec outlier\n");
	assert_int_equal(ledger_lost(&fixture.ledger), 0);
	fixture_close(&fixture);
}

static void test_derive__shows_what_its_clock_refuses_as_an_outlier(void **state)
{
	struct derive_fixture fixture;
	struct tick_op *op;

	(void)state;
	fixture_open(&fixture, PROCESS);
	fixture_op(&fixture, "a", FLEXTRACE_DEVICE_MEMSET, STAMPS(10, 0, 0, 0, 20));
	op = fixture_op(&fixture, "b", FLEXTRACE_DEVICE_MEMSET, STAMPS(30, 0, 0, 0, 40));
	op->submit_host_ns = 1000;
	op->complete_host_ns = 2000;
	fake_clocks.refused = 2;
	fixture_run(&fixture);
	expect_device(&fixture, "10-20 memset a q0/exec certified +-0\n"
	                        "1000-2000 memset b q0/exec outlier\n");
	fixture_close(&fixture);
}

static void test_derive__places_no_stamp_where_time_ends(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS);
	fixture_op(&fixture, "a", FLEXTRACE_DEVICE_MEMSET, STAMPS(10, 0, 0, 0, INT64_MAX));
	fixture_op(&fixture, "b", FLEXTRACE_DEVICE_MEMSET, STAMPS(10, 0, 0, 0, INT64_MAX / 2));
	fixture_op(&fixture, "c", FLEXTRACE_DEVICE_MEMSET, STAMPS((uint64_t)INT64_MIN, 0, 0, 0, 5));
	fixture_run(&fixture);
	expect_device(&fixture, "10-4611686018427387903 memset b q0/exec certified +-0\n");
	assert_int_equal(fixture.ledger.warnings[WARNING_NO_DEVICE_CLOCK], 0);
	expect_lost(&fixture, LOSS_NO_CLOCK, 2);
	fixture_close(&fixture);
}

static void test_derive__puts_overlapping_work_on_lanes(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS);
	fixture_op(&fixture, "a", FLEXTRACE_DEVICE_KERNEL, STAMPS(10, 20, 20, 40, 40));
	fixture_op(&fixture, "b", FLEXTRACE_DEVICE_KERNEL, STAMPS(15, 30, 30, 50, 50));
	fixture_op(&fixture, "c", FLEXTRACE_DEVICE_MEMSET, STAMPS(35, 35, 35, 35, 38));
	fixture_op(&fixture, "d", FLEXTRACE_DEVICE_MEMSET, STAMPS(38, 38, 38, 38, 60));
	fixture_op(&fixture, "e", FLEXTRACE_DEVICE_KERNEL, STAMPS(40, 40, 40, 45, 45));
	fixture_op(&fixture, "f", FLEXTRACE_DEVICE_KERNEL, STAMPS(40, 40, 40, 45, 45))->queue = 1;
	fixture_run(&fixture);
	expect_device(&fixture, "10-20 dma_in a q0/dma_in certified +-0\n"
	                        "15-30 dma_in b q0/dma_in.1 certified +-0\n"
	                        "20-40 exec a q0/exec certified +-0\n"
	                        "30-50 exec b q0/exec.1 certified +-0\n"
	                        "35-38 memset c q0/exec.2 certified +-0\n"
	                        "38-60 memset d q0/exec.2 certified +-0\n"
	                        "40-45 exec e q0/exec certified +-0\n"
	                        "40-45 exec f q1/exec certified +-0\n");
	fixture_close(&fixture);
}

/* -- flows ---------------------------------------------------------------------------------- */

static struct tick_op *launched(struct derive_fixture *fixture, uint64_t correlation,
                                int64_t submit_ns, uint64_t from, uint64_t to)
{
	struct tick_op *op = fixture_op(fixture, "k", FLEXTRACE_DEVICE_KERNEL,
	                                STAMPS(from, from, from, to, to));

	op->correlation = correlation;
	op->submit_host_ns = submit_ns;
	return op;
}

/* `expected`: when the host row begins that launched each control block, as "10 - 20 ". */
static void expect_launches(const struct derive_fixture *fixture, const char *expected)
{
	const struct timeline *timeline = &fixture->timeline;
	char text[256] = "";

	for (uint64_t i = 0; i < timeline->n_ops; i++) {
		size_t used = strlen(text);
		uint32_t place = 0;

		snprintf(text + used, sizeof(text) - used, "- ");
		TABLE_EACH(struct host_row, row, &timeline->host_rows) {
			if (place++ == timeline->launch_of_op[i])
				snprintf(text + used, sizeof(text) - used, "%lld ",
				         (long long)row->start_time_ns);
		}
	}
	assert_string_equal(text, expected);
}

static void test_derive__links_the_innermost_scope_around_the_submission(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS "1 2 8 process start_ns=1 rank=1\n"
	                               "12 1 7 scope begin_ns=11 name=earlier correlation=4\n"
	                               "30 1 7 scope begin_ns=20 name=inner correlation=4\n"
	                               "34 1 7 scope begin_ns=32 name=later correlation=4\n"
	                               "40 1 7 scope begin_ns=10 name=outer correlation=4\n"
	                               "50 1 7 scope begin_ns=20 name=other correlation=5\n"
	                               "50 2 8 scope begin_ns=22 name=foreign correlation=4\n");
	launched(&fixture, 4, 25, 26, 70);
	launched(&fixture, 4, 31, 80, 90);
	launched(&fixture, 0, 25, 91, 92);
	launched(&fixture, 6, 25, 93, 94);
	fixture_run(&fixture);
	expect_flows(&fixture, "10@t7>80@q0/exec 4\n"
	                       "20@t7>26@q0/exec 4\n");
	expect_launches(&fixture, "20 10 - - ");
	fixture_close(&fixture);
}

static void test_derive__links_the_first_scope_where_none_encloses(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS "30 1 7 scope begin_ns=20 correlation=4\n"
	                               "50 1 7 scope begin_ns=40 correlation=4\n"
	                               "50 1 8 scope begin_ns=45 correlation=5\n");
	launched(&fixture, 4, 35, 60, 70);
	launched(&fixture, 4, 0, 80, 90);
	launched(&fixture, 5, 0, 44, 46); /* an arrow never points back in time */
	fixture_run(&fixture);
	expect_flows(&fixture, "20@t7>60@q0/exec 4\n"
	                       "20@t7>80@q0/exec 4\n");
	expect_launches(&fixture, "20 20 45 ");
	fixture_close(&fixture);
}

static void test_derive__links_one_launch_to_many_and_many_to_their_own(void **state)
{
	struct derive_fixture fixture;
	char text[8192] = PROCESS, expected[8192] = "";

	(void)state;
	for (int i = 0; i < 50; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
		         "%d 1 7 scope begin_ns=%d correlation=%d\n", 100 * i + 60, 100 * i + 10,
		         i + 1);
		for (int k = 0; k < 2; k++)
			snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
			         "%d@t7>%d@q0/exec %d\n", 100 * i + 10, 100 * i + 20 + 10 * k,
			         i + 1);
	}
	fixture_open(&fixture, text);
	for (int i = 49; i >= 0; i--) {
		launched(&fixture, (uint64_t)i + 1, 100 * i + 15, (uint64_t)i * 100 + 30,
		         (uint64_t)i * 100 + 40);
		launched(&fixture, (uint64_t)i + 1, 100 * i + 15, (uint64_t)i * 100 + 20,
		         (uint64_t)i * 100 + 30);
	}
	fixture_run(&fixture);
	expect_flows(&fixture, expected);
	fixture_close(&fixture);
}

/* Only the first and the last stamp are known where wraps hide. */
static void test_derive__assumes_what_ends_at_a_stamp_in_an_open_middle(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS);
	fixture_op(&fixture, "x", FLEXTRACE_DEVICE_KERNEL, STAMPS(10, 20, 30, 40, 50))
		->has_open_middle = true;
	fixture_op(&fixture, "y", FLEXTRACE_DEVICE_MEMSET, STAMPS(60, 70, 80, 90, 99))
		->has_open_middle = true;
	fixture_run(&fixture);
	expect_device(&fixture, "10-20 dma_in x q0/dma_in assumed +-0\n"
	                        "20-30 prep x q0/prep assumed +-0\n"
	                        "30-40 exec x q0/exec assumed +-0\n"
	                        "40-50 dma_out x q0/dma_out assumed +-0\n"
	                        "60-99 memset y q0/exec certified +-0\n");
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derive__assumes_what_ends_at_a_stamp_in_an_open_middle),
		cmocka_unit_test(test_derive__makes_device_rows),
		cmocka_unit_test(test_derive__shows_the_dma_that_another_tool_told_of),
		cmocka_unit_test(test_derive__says_how_far_a_device_row_can_be_trusted),
		cmocka_unit_test(test_derive__knows_no_bound_where_one_part_has_none),
		cmocka_unit_test(test_derive__shows_work_without_clock_at_its_bracket),
		cmocka_unit_test(test_derive__shows_outliers_at_their_bracket),
		cmocka_unit_test(test_derive__shows_what_its_clock_refuses_as_an_outlier),
		cmocka_unit_test(test_derive__places_no_stamp_where_time_ends),
		cmocka_unit_test(test_derive__puts_overlapping_work_on_lanes),
		cmocka_unit_test(test_derive__links_the_innermost_scope_around_the_submission),
		cmocka_unit_test(test_derive__links_the_first_scope_where_none_encloses),
		cmocka_unit_test(test_derive__links_one_launch_to_many_and_many_to_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
