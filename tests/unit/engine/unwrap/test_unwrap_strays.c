/* SPDX-License-Identifier: Apache-2.0 */
/* False evidence in a row, as where operations are paired with the host times of the next ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "unwrap_fixture.h"

#define BYTES    65536
#define BEGIN_NS UINT64_C(5000000000)
#define N_FRONT  40u
#define N_FALSE  16u
#define N_BEHIND 40u
#define N_OPS    (N_FRONT + N_FALSE + N_BEHIND)

#define MS 1000000u

/* How late the host times of false evidence are, in units that tests choose. */
static const uint32_t off[N_FALSE] = {63, 95, 71,  102, 80, 120, 90, 66,
                                      99, 76, 109, 84,  61, 101, 73, 112};

/* Operations so far from each other; those in the middle have host times that are `off_ns` late
 * times `off`, or by one time. */
static struct fixture *unwrap_ops(void **state, uint64_t every_ns, uint32_t off_ns, bool is_one)
{
	static char text[BYTES];

	text[0] = 0;
	for (uint32_t i = 0; i < N_OPS; i++) {
		uint64_t ns = every_ns * i, late_ns = 0;

		if (i >= N_FRONT && i < N_FRONT + N_FALSE)
			late_ns = (uint64_t)off_ns * (is_one ? 100 : off[i - N_FRONT]);
		add_op(text, sizeof(text), BEGIN_NS + ns + late_ns, 777 + ns, i + 1);
	}
	return unwrap_text(state, text);
}

static uint32_t count_evidence(struct fixture *fixture, uint64_t from_ticks, uint64_t to_ticks)
{
	struct table_cursor cursor;
	const struct bracket *bracket;
	uint32_t n = 0;

	table_read(&cursor, &fixture->out.brackets, false);
	while ((bracket = table_next(&cursor, sizeof(*bracket))))
		n += bracket->first_ticks >= from_ticks && bracket->first_ticks < to_ticks;
	return n;
}

/* The stamps of all are those of one counter that was never reset, and no false one is evidence. */
static void assert_one_axis(struct fixture *fixture, uint64_t every_ns)
{
	for (uint32_t i = 0; i < N_OPS; i++) {
		const struct tick_op *op = op_at(fixture, i);
		bool is_right = i < N_FRONT - 8 || i >= N_FRONT + N_FALSE + 8;

		assert_int_equal(op->segment, 0);
		if (is_right)
			assert_int_equal(op->status, TIME_CERTIFIED);
		if (i >= N_FRONT && i < N_FRONT + N_FALSE)
			assert_int_not_equal(op->status, TIME_CERTIFIED);
	}
	assert_int_equal(count_evidence(fixture, 777 + N_FRONT * every_ns,
	                                777 + (N_FRONT + N_FALSE) * every_ns),
	                 0);
}

/* Five a second, 60 to 120 ms late: more than the tolerance, and they differ by less. */
static void test_unwrap_strays__are_no_reset(void **state)
{
	assert_one_axis(unwrap_ops(state, 200 * MS, MS, false), 200 * MS);
}

/* Fifty a second, 6 to 12 ms late: by the tolerance alone, all would be certified. */
static void test_unwrap_strays__are_no_evidence(void **state)
{
	struct fixture *fixture = unwrap_ops(state, 20 * MS, MS / 10, false);

	assert_one_axis(fixture, 20 * MS);
	assert_int_equal(op_at(fixture, N_FRONT + 3)->status, TIME_ASSUMED);
	assert_int_equal(op_at(fixture, N_FRONT + 3)->ticks[0],
	                 777 + 3000 + (uint64_t)(N_FRONT + 3) * 20 * MS);
}

/* All late by the same time: the host's clock jumped, or the counter stood still. */
static void test_unwrap_strays__are_evidence_if_they_agree(void **state)
{
	struct fixture *fixture = unwrap_ops(state, 10 * MS, MS / 10, true);

	for (uint32_t i = 0; i < N_OPS; i++)
		assert_int_equal(op_at(fixture, i)->status, TIME_CERTIFIED);
	assert_int_equal(fixture->out.brackets.n_rows, N_OPS);
}

/* Every other operation is of another counter: what is right outnumbers no lie, and yet stands. */
static void test_unwrap_strays__leave_what_is_right_among_many(void **state)
{
	static char text[BYTES];
	struct fixture *fixture;

	text[0] = 0;
	for (uint32_t i = 0; i < N_OPS; i++)
		add_op(text, sizeof(text), BEGIN_NS + (uint64_t)MS * i,
		       777 + (uint64_t)MS * i + (i % 2 ? UINT64_C(2000000000) : 0), i + 1);
	fixture = unwrap_text(state, text);
	for (uint32_t i = 0; i < N_OPS; i++)
		assert_int_equal(op_at(fixture, i)->status, i % 2 ? TIME_OUTLIER : TIME_CERTIFIED);
	assert_int_equal(fixture->out.brackets.n_rows, N_OPS / 2);
}

/* A long queue whose operations have the completions of others: all say that they were over 1 ms
 * before they were, and none how long before they had begun. */
static void test_unwrap_strays__are_no_shift_if_they_are_loose(void **state)
{
	static char text[BYTES];
	struct fixture *fixture;
	size_t used = 0;

	for (uint32_t i = 0; i < 160; i++) {
		uint64_t ns = BEGIN_NS + (uint64_t)MS * i;
		bool is_false = i >= 48 && i < 112;
		uint32_t ticks = 777 + MS * i;

		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"%llu 1 1 device_op device=0 domain=0 queue=0 job=%u correlation=0 kind=1 "
			"name=k submit_ns=%llu complete_ns=%llu ts=%u,%u,%u,%u,%u\n",
			(unsigned long long)ns + 10000, i + 1,
			(unsigned long long)ns - (is_false ? 10 * MS : 0),
			(unsigned long long)ns + 9000 - (is_false ? MS : 0), ticks + 3000,
			ticks + 4000, ticks + 5000, ticks + 6000, ticks + 7000);
	}
	fixture = unwrap_text(state, text);
	for (uint32_t i = 0; i < 160; i++)
		assert_int_equal(op_at(fixture, i)->segment, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_unwrap_strays__are_no_reset, fixture_start,
	                                        fixture_stop),
		cmocka_unit_test_setup_teardown(test_unwrap_strays__are_no_evidence, fixture_start,
	                                        fixture_stop),
		cmocka_unit_test_setup_teardown(test_unwrap_strays__are_evidence_if_they_agree,
	                                        fixture_start, fixture_stop),
		cmocka_unit_test_setup_teardown(test_unwrap_strays__are_no_shift_if_they_are_loose,
	                                        fixture_start, fixture_stop),
		cmocka_unit_test_setup_teardown(test_unwrap_strays__leave_what_is_right_among_many,
	                                        fixture_start, fixture_stop),
	};

	return cmocka_run_group_tests_name("unwrap_strays", tests, NULL, NULL);
}
