/* SPDX-License-Identifier: Apache-2.0 */
/* Job numbers that come again, record by record: which completion and which operation is whose. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unwrap_fixture.h"

#define MS       INT64_C(1000000)
#define MAX_TEXT 524288

static void add_edge(char *text, const char *class, uint64_t host_ns, uint32_t job, uint32_t call)
{
	size_t used = strlen(text);

	snprintf(text + used, MAX_TEXT - used,
	         "%" PRIu64 " 1 1 %s device=0 queue=0 job=%u correlation=%u name=k host_ns=%" PRIu64
	         "\n",
	         host_ns, class, job, call, host_ns);
}

static void submit(char *text, uint64_t host_ns, uint32_t job, uint32_t call)
{
	add_edge(text, "submit", host_ns, job, call);
}

static void complete(char *text, uint64_t host_ns, uint32_t job, uint32_t call)
{
	add_edge(text, "complete", host_ns, job, call);
}

/* The stamps of an operation, recorded at `host_ns`; the counter ticks at 1 GHz. */
static void stamps(char *text, uint64_t host_ns, uint32_t job, uint32_t call, uint64_t ran_ns)
{
	size_t used = strlen(text);

	snprintf(text + used, MAX_TEXT - used,
	         "%" PRIu64 " 1 1 device_op device=0 domain=0 queue=0 job=%u correlation=%u kind=1 "
	         "name=k submit_ns=0 complete_ns=0 ts=%u,0,0,0,0\n",
	         host_ns, job, call, (uint32_t)ran_ns);
}

/* An operation of another queue that knows its own bracket. */
static void known(char *text, uint64_t submit_ns, uint64_t ran_ns, uint64_t complete_ns)
{
	size_t used = strlen(text);

	snprintf(text + used, MAX_TEXT - used,
	         "%" PRIu64 " 1 1 device_op device=0 domain=0 queue=1 job=%u correlation=0 kind=1 "
	         "name=k submit_ns=%" PRIu64 " complete_ns=%" PRIu64 " ts=%u,0,0,0,0\n",
	         complete_ns, 1000 + (uint32_t)(complete_ns / MS), submit_ns, complete_ns,
	         (uint32_t)ran_ns);
}

/* Calls one behind the other, whose stamps are recorded at once. */
static void calls(char *text, uint64_t from_ns, uint32_t first_job, uint32_t n, bool has_numbers)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = from_ns + i * 5 * MS;
		uint32_t job = first_job + i, call = has_numbers ? job : 0;

		submit(text, ns, job, call);
		complete(text, ns + 9000, job, call);
		stamps(text, ns + 10000, job, call, ns + 3000);
	}
}

static const struct tick_op *op_of(struct fixture *fixture, uint32_t job, uint32_t at)
{
	uint32_t n = 0;

	while (op_at(fixture, n)->job != job || at-- > 0)
		n++;
	return op_at(fixture, n);
}

/* It comes when nothing has shown yet that correlations tell which is whose. */
static void test_unwrap_reuse__gives_a_late_completion_to_its_call(void **state)
{
	char *text = calloc(1, MAX_TEXT);
	struct fixture *fixture;

	submit(text, 1 * MS, 1, 5);
	submit(text, 2 * MS, 2, 6);
	complete(text, 3 * MS, 2, 6); /* seen before that of the work in front of it */
	submit(text, 4 * MS, 1, 7);
	complete(text, 5 * MS, 1, 5);
	stamps(text, 6 * MS, 1, 5, 2 * MS);
	calls(text, 100 * MS, 100, 10, true);
	complete(text, 200 * MS, 1, 7);
	stamps(text, 201 * MS, 1, 7, 199 * MS);
	fixture = unwrap_text(state, text);
	free(text);
	assert_int_equal(op_of(fixture, 1, 0)->complete_host_ns, 5 * MS);
	assert_int_equal(op_of(fixture, 1, 1)->submit_host_ns, 4 * MS);
	assert_int_equal(op_of(fixture, 1, 1)->complete_host_ns, 200 * MS);
}

/* Completions are seen late, behind those of later work, and at last a number is used again and
 * again before they are. All work of a queue is in order, so that they still tell whose they
 * are. */
static void test_unwrap_reuse__knows_that_completions_come_late(void **state)
{
	char *text = calloc(1, MAX_TEXT);
	struct fixture *fixture;

	for (uint32_t i = 0; i < 40; i++) {
		uint64_t ns = (100 + i * UINT64_C(20)) * MS;

		submit(text, ns, 1 + 2 * i, 0);
		submit(text, ns + MS, 2 + 2 * i, 0);
		complete(text, ns + 3 * MS, 2 + 2 * i, 0);
		complete(text, ns + 12 * MS, 1 + 2 * i, 0);
	}
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t ns = (1000 + i * 4) * MS;

		submit(text, ns, 500, 0);
		submit(text, ns + MS, 501 + (uint32_t)i, 0);
		known(text, ns + MS, ns + MS + 3000, ns + MS + 9000);
		if (i > 0) {
			complete(text, ns + MS + 20000, 500, 0);
			stamps(text, ns + MS + 30000, 500, 0, ns - 2 * MS);
		}
		complete(text, ns + 3 * MS, 501 + (uint32_t)i, 0);
	}
	fixture = unwrap_text(state, text);
	free(text);
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(op_of(fixture, 500, i)->submit_host_ns, (1000 + i * 4) * MS);
		assert_int_equal(op_of(fixture, 500, i)->complete_host_ns,
		                 (1005 + i * 4) * MS + 20000);
	}
}

/* Work that waited for nearly a wrap leaves two places for what was recorded behind it, but one is
 * behind that record. */
static void test_unwrap_reuse__places_no_operation_behind_its_record(void **state)
{
	char *text = calloc(1, MAX_TEXT);
	struct fixture *fixture;
	uint32_t waited = 0;

	calls(text, 100 * MS, 100, 360, false);
	submit(text, 5900 * MS, 1, 0);
	complete(text, 5950 * MS, 1, 0);
	submit(text, 6040 * MS, 1, 0);
	known(text, 1900 * MS, 6000 * MS, 6050 * MS);
	stamps(text, 6100 * MS, 1, 0, 5930 * MS);
	complete(text, 10250 * MS, 1, 0);
	fixture = unwrap_text(state, text);
	free(text);
	while (op_at(fixture, waited)->queue == 0)
		waited++;
	assert_int_equal(op_at(fixture, waited)->status, TIME_CERTIFIED);
	assert_true(op_of(fixture, 1, 0)->ticks[0] + 70 * MS == op_at(fixture, waited)->ticks[0]);
}

/* The rate of what came half an hour later leaves several places. */
static void test_unwrap_reuse__asks_no_counter_that_is_too_far(void **state)
{
	char *text = calloc(1, MAX_TEXT);
	struct fixture *fixture;

	for (uint32_t i = 0; i < 300; i++) {
		uint64_t ns = (1000 + 1000 * i) * MS;

		submit(text, ns, 1 + i, 0);
		submit(text, ns + MS, 1 + i, 0);
		complete(text, ns + 3 * MS, 1 + i, 0);
		complete(text, ns + 4 * MS, 1 + i, 0);
		stamps(text, ns + 5 * MS, 1 + i, 0, ns + 2 * MS);
		stamps(text, ns + 6 * MS, 1 + i, 0, ns + 3 * MS);
	}
	calls(text, 2000000 * MS, 1000, 40, false);
	fixture = unwrap_text(state, text);
	free(text);
	assert_int_not_equal(op_of(fixture, 1, 0)->status, TIME_CERTIFIED);
	assert_int_not_equal(op_of(fixture, 1, 1)->status, TIME_CERTIFIED);
}

/* Its completion was seen half a wrap and more behind it, after its number was used again. So the
 * last time at which the counter had its stamp was not when it ran. */
static void test_unwrap_reuse__asks_every_wrap_since_the_first_submission(void **state)
{
	char *text = calloc(1, MAX_TEXT);
	struct fixture *fixture;

	calls(text, 100 * MS, 100, 360, false);
	submit(text, 2000 * MS, 1, 0);
	for (uint64_t ns = 2100 * MS; ns < 8500 * MS; ns += 10 * MS)
		known(text, ns, ns + 3000, ns + 9000);
	submit(text, 8500 * MS, 1, 0);
	complete(text, 8600 * MS, 1, 0);
	stamps(text, 8600 * MS + 1000, 1, 0, 8550 * MS);
	complete(text, 9000 * MS, 1, 0);
	stamps(text, 9000 * MS + 1000, 1, 0, 4500 * MS);
	for (uint64_t ns = 9100 * MS; ns < 9500 * MS; ns += 10 * MS)
		known(text, ns, ns + 3000, ns + 9000);
	fixture = unwrap_text(state, text);
	free(text);
	assert_int_equal(op_of(fixture, 1, 1)->status, TIME_ASSUMED);
}

/* Of one number, each completion is seen when the next work was submitted, and behind the
 * completion of other work that was submitted later. Each has one. */
static void test_unwrap_reuse__takes_no_completion_for_lost_where_none_lacks(void **state)
{
	char *text = calloc(1, MAX_TEXT);
	struct fixture *fixture;

	calls(text, 100 * MS, 100, 40, false);
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t ns = (1000 + i * UINT64_C(10)) * MS;

		if (i < 9)
			submit(text, ns, 1, 0);
		if (i > 0) {
			complete(text, ns + 1 * MS, 1, 0);
			stamps(text, ns + 1 * MS + 1000, 1, 0, ns - 9 * MS);
		}
		submit(text, ns + 2 * MS, 2 + i, 0);
		complete(text, ns + 3 * MS, 2 + i, 0);
		stamps(text, ns + 3 * MS + 1000, 2 + i, 0, ns + 2 * MS + 3000);
	}
	fixture = unwrap_text(state, text);
	free(text);
	for (uint32_t i = 0; i < 9; i++) {
		assert_int_equal(op_of(fixture, 1, i)->submit_host_ns,
		                 (1000 + i * INT64_C(10)) * MS);
		assert_int_equal(op_of(fixture, 1, i)->complete_host_ns,
		                 (1011 + i * INT64_C(10)) * MS);
	}
}

#define N_USES 54u

/* Now and then a number is submitted twice before its work is complete. Of all submissions and
 * completions, `lost` is not recorded. */
static struct fixture *use_early(void **state, uint32_t lost)
{
	char *text = calloc(1, MAX_TEXT);
	struct fixture *fixture;

	for (uint32_t i = 0; i < 40; i++) {
		uint64_t ns = (1000 + i * UINT64_C(20)) * MS;
		uint32_t job = 1 + i % 8;

		submit(text, ns, job, 0);
		if (i % 3 == 0) {
			submit(text, ns + 1 * MS, job, 0);
			complete(text, ns + 2 * MS, job, 0);
			stamps(text, ns + 2 * MS + 1000, job, 0, ns + 3000);
		}
		if (i != lost)
			complete(text, ns + 4 * MS, job, 0);
		stamps(text, ns + 4 * MS + 1000, job, 0, ns + 1 * MS + 3000);
	}
	fixture = unwrap_text(state, text);
	free(text);
	return fixture;
}

static uint32_t count_certified(struct fixture *fixture)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < N_USES; i++)
		n += op_at(fixture, i)->status == TIME_CERTIFIED;
	return n;
}

static void test_unwrap_reuse__counts_early_uses_where_nothing_is_lost(void **state)
{
	assert_int_equal(count_certified(use_early(state, UINT32_MAX)), N_USES);
}

/* No completion is surely of the submission in front of it. */
static void test_unwrap_reuse__counts_no_early_uses_where_records_are_lost(void **state)
{
	assert_int_equal(count_certified(use_early(state, 20)), 0);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_unwrap_reuse__##name, fixture_start, fixture_stop)
	const struct CMUnitTest tests[] = {
		TEST(gives_a_late_completion_to_its_call),
		TEST(knows_that_completions_come_late),
		TEST(places_no_operation_behind_its_record),
		TEST(asks_no_counter_that_is_too_far),
		TEST(asks_every_wrap_since_the_first_submission),
		TEST(takes_no_completion_for_lost_where_none_lacks),
		TEST(counts_early_uses_where_nothing_is_lost),
		TEST(counts_no_early_uses_where_records_are_lost),
	};

	return cmocka_run_group_tests_name("unwrap_reuse", tests, NULL, NULL);
}
