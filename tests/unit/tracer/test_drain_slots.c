/* SPDX-License-Identifier: Apache-2.0 */
#include "drain_fixture.h"

static uint32_t kind_at(uint32_t i)
{
	return (uint32_t)(got.first[i] >> 60);
}

/* -- slots ------------------------------------------------------------------------------------- */

static void test_slot__becomes_words(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	now = UINT64_C(0x700000000);
	one_run(1234);
	drain(0);
	assert_int_equal(got.n_first, 9); /* eight of the slot, one RUN of the ring */
	assert_int_equal(got.first[0], UINT64_C(0x80000001000004d2));
	assert_int_equal(got.first[1], UINT64_C(0x9000000100000003));
	assert_int_equal(got.first[2], UINT64_C(0xa000000000000020));
	assert_int_equal(got.first[3], UINT64_C(0xb000000000000007));
	assert_int_equal(got.first[4], UINT64_C(0xc000000000000020)); /* FW start */
	assert_int_equal(got.first[5], UINT64_C(0xc000000300000060)); /* FW end */
	assert_int_equal(got.first[6], UINT64_C(0xc000000400000040)); /* TS1 */
	assert_int_equal(got.first[7], UINT64_C(0xc000000800000050)); /* TS5 */
	assert_int_equal(got.first[8], UINT64_C(0x6000000100000020));
	assert_int_equal(got.last_run, 1);
	assert_int_equal(GET(wire->read_run), 1);
}

static void test_slot__two_finished_runs_go_together(void **state)
{
	uint32_t first;

	(void)state;
	for (first = 1; first < 4; first++) { /* either parity first */
		boot(64, FLEXTRACE_WIRE_STOP);
		for (uint32_t i = 1; i < first; i++) {
			one_run(i);
			drain(0);
		}
		one_run(10);
		one_run(11);
		drain(0);
		assert_int_equal(got.n_slots, first + 1);
		assert_int_equal(got.lost_runs, 0);
		assert_int_equal(got.last_run, first);
	}
}

static void test_slot__overwritten_runs_are_counted(void **state)
{
	uint32_t n;

	(void)state;
	for (n = 1; n < 9; n++) {
		boot(64, FLEXTRACE_WIRE_STOP);
		one_run(1);
		drain(0);
		for (uint32_t i = 0; i < n; i++)
			one_run(i);
		drain(0);
		assert_int_equal(got.n_slots, 1 + (n < 2 ? n : 2));
		assert_int_equal(got.lost_runs, n < 2 ? 0 : n - 2);
		assert_int_equal(area.stats.recorded_runs + area.stats.overwritten_runs, n + 1);
	}
}

static void test_slot__open_run_waits_for_its_end(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	one_run(1);
	FLEXTRACE_FW_START(2, 0);
	drain(0);
	assert_int_equal(got.n_slots, 1);
	drain(0);
	assert_int_equal(got.n_slots, 1);
	FLEXTRACE_FW_END();
	drain(0);
	assert_int_equal(got.n_slots, 2);
	assert_int_equal(got.lost_runs, 0);
}

static void test_slot__open_run_is_taken_at_the_end(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_START(1, 0);
	FLEXTRACE_TS(1);
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.n_slots, 1);
	assert_int_equal(kind_at(1), FLEXTRACE_WIRE_SLOT_QUEUE);
	assert_int_equal(got.first[1] >> 32 & FLEXTRACE_WIRE_ID_MASK, 0);
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.n_slots, 1);
}

static void test_slot__run_that_never_ended_is_taken_once_another_follows(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_START(1, 0);
	one_run(2);
	drain(0);
	assert_int_equal(got.n_slots, 2);
	assert_int_equal(got.lost_runs, 0);
	assert_int_equal(got.first[1] >> 32 & FLEXTRACE_WIRE_ID_MASK, 0);
}

/* Between the store of the area's run and that of the slot's. */
static void test_slot__in_the_making_is_left_alone(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	one_run(1);
	SET(wire->run, 2);
	SET(wire->slot[0].done, 1);
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.n_slots, 1);
	SET(wire->slot[0].run, 2);
	SET(wire->slot[0].done, 2);
	drain(0);
	assert_int_equal(got.n_slots, 2);
	assert_int_equal(got.last_run, 2);
}

/* Run 3 has begun to take the slot of run 1. */
static void test_slot__that_the_next_run_takes_is_lost(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	one_run(1);
	one_run(2);
	SET(wire->run, 3);
	SET(wire->slot[1].done, 2);
	SET(wire->slot[1].job, 3);
	drain(0);
	assert_int_equal(got.n_slots, 1);
	assert_int_equal(got.last_run, 2);
	assert_int_equal(got.lost_runs, 1);
}

static void test_slot__run_numbers_count_on_over_a_wrap(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	SET(wire->run, 0xfffffffeu);
	SET(wire->own.ring_run, 0xfffffffeu);
	SET(wire->read_run, 0xfffffffeu);
	one_run(1);
	drain(0);
	one_run(2);
	one_run(3);
	drain(0);
	assert_int_equal(got.n_slots, 3);
	assert_int_equal(got.last_run, UINT64_C(0x100000000));
	assert_int_equal(area.stats.overwritten_runs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slot__becomes_words),
		cmocka_unit_test(test_slot__two_finished_runs_go_together),
		cmocka_unit_test(test_slot__overwritten_runs_are_counted),
		cmocka_unit_test(test_slot__open_run_waits_for_its_end),
		cmocka_unit_test(test_slot__open_run_is_taken_at_the_end),
		cmocka_unit_test(test_slot__run_that_never_ended_is_taken_once_another_follows),
		cmocka_unit_test(test_slot__in_the_making_is_left_alone),
		cmocka_unit_test(test_slot__that_the_next_run_takes_is_lost),
		cmocka_unit_test(test_slot__run_numbers_count_on_over_a_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
