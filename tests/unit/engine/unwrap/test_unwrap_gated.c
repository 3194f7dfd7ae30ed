/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that do not run from one operation to the next, which their stamps show. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unwrap_fixture.h"

#define US       UINT64_C(1000)
#define N_OPS    40u
#define MAX_TEXT 16384

/* How far a 1 GHz counter of 32 bits is where operations begin. */
struct stamps {
	uint64_t ticks;   /* of the first one */
	bool restarts;    /* with each operation */
	bool stands;      /* between operations */
	uint64_t wait_ns; /* from a completion to the next submission */
	uint64_t work_ns; /* of every other operation; else a hundredth of that */
};

static enum counter_habit habit_of(void **state, const struct stamps *stamps)
{
	char *text = calloc(1, MAX_TEXT);
	uint64_t host_ns = 1000000 * US, ticks = stamps->ticks;
	const struct counted_rate *rate;
	struct table_cursor cursor;
	struct fixture *fixture;

	for (uint32_t i = 0; i < N_OPS; i++) {
		uint64_t work_ns = i % 2 ? stamps->work_ns / 100 : stamps->work_ns;
		uint64_t begin = stamps->restarts ? stamps->ticks + 10 * (i % 7) : ticks;
		uint64_t end_ns = host_ns + 2 * US + work_ns + 4 * US;
		size_t used = strlen(text);

		snprintf(text + used, MAX_TEXT - used,
		         "%" PRIu64 " 1 1 device_op device=0 domain=0 queue=0 job=%u correlation=0 "
		         "kind=1 name=k submit_ns=%" PRIu64 " complete_ns=%" PRIu64
		         " ts=%u,0,0,0,%u\n",
		         end_ns + US, i + 1, host_ns, end_ns, (uint32_t)begin,
		         (uint32_t)(begin + work_ns));
		ticks += work_ns + (stamps->stands ? 200 : end_ns - host_ns - work_ns);
		ticks += stamps->stands ? 0 : stamps->wait_ns;
		host_ns = end_ns + stamps->wait_ns;
	}
	fixture = unwrap_text(state, text);
	free(text);
	table_read(&cursor, &fixture->out.rates, false);
	rate = table_next(&cursor, sizeof(*rate));
	assert_non_null(rate);
	return rate->habit;
}

static void test_unwrap_gated__knows_a_counter_that_begins_anew(void **state)
{
	const struct stamps stamps = {
		.ticks = 5000, .restarts = true, .wait_ns = 3000 * US, .work_ns = 600 * US};

	assert_int_equal(habit_of(state, &stamps), COUNTER_RESTARTS);
}

static void test_unwrap_gated__knows_a_counter_that_stands_still(void **state)
{
	const struct stamps stamps = {
		.ticks = 5000, .stands = true, .wait_ns = 3000 * US, .work_ns = 600 * US};

	assert_int_equal(habit_of(state, &stamps), COUNTER_IS_GATED);
}

static void test_unwrap_gated__lets_a_counter_run(void **state)
{
	const struct stamps stamps = {.ticks = 5000, .wait_ns = 3000 * US, .work_ns = 600 * US};

	assert_int_equal(habit_of(state, &stamps), COUNTER_RUNS);
}

static void test_unwrap_gated__lets_a_counter_run_where_nobody_waits(void **state)
{
	const struct stamps stamps = {.ticks = 5000, .wait_ns = 1, .work_ns = 600 * US};

	assert_int_equal(habit_of(state, &stamps), COUNTER_RUNS);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_unwrap_gated__##name, fixture_start, fixture_stop)
	const struct CMUnitTest tests[] = {
		TEST(knows_a_counter_that_begins_anew),
		TEST(knows_a_counter_that_stands_still),
		TEST(lets_a_counter_run),
		TEST(lets_a_counter_run_where_nobody_waits),
	};

	return cmocka_run_group_tests_name("unwrap_gated", tests, NULL, NULL);
}
