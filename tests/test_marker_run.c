/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "marker_fixture.h"

/* -- runs and slots ---------------------------------------------------------------------------- */

static void test_slot__holds_all_stamps_of_its_run(void **state)
{
	const struct flextrace_wire_slot *slot = &area->slot[1];
	uint32_t i;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	now = 0x5ffffff00u;
	FLEXTRACE_FW_START(77, 5);
	assert_int_equal(GET(slot->run), 1);
	assert_int_not_equal(GET(slot->done), 1);
	assert_int_equal(GET(slot->job), 77);
	assert_int_equal(GET(slot->queue), 5);
	assert_int_equal(GET(slot->anchor_hi), 5);
	assert_int_equal(GET(slot->anchor_lo), 0xffffff20u);
	assert_int_equal(GET(slot->ticks[FLEXTRACE_WIRE_FW_START]), 0xffffff20u);
	for (i = FLEXTRACE_WIRE_KERNEL_START; i < FLEXTRACE_WIRE_N_STAMPS; i++)
		assert_int_equal(GET(slot->ticks[i]), 0);
	now = 1000;
	FLEXTRACE_TS(1);
	FLEXTRACE_TS(2);
	FLEXTRACE_TS(3);
	FLEXTRACE_KERNEL_START();
	FLEXTRACE_KERNEL_END();
	FLEXTRACE_TS(4);
	FLEXTRACE_TS(5);
	FLEXTRACE_FW_END();
	assert_int_equal(GET(slot->ticks[FLEXTRACE_WIRE_TS1]), 1016);
	assert_int_equal(GET(slot->ticks[FLEXTRACE_WIRE_TS2]), 1032);
	assert_int_equal(GET(slot->ticks[FLEXTRACE_WIRE_TS3]), 1048);
	assert_int_equal(GET(slot->ticks[FLEXTRACE_WIRE_KERNEL_START]), 1064);
	assert_int_equal(GET(slot->ticks[FLEXTRACE_WIRE_KERNEL_END]), 1080);
	assert_int_equal(GET(slot->ticks[FLEXTRACE_WIRE_TS4]), 1096);
	assert_int_equal(GET(slot->ticks[FLEXTRACE_WIRE_TS5]), 1112);
	assert_int_equal(GET(slot->ticks[FLEXTRACE_WIRE_FW_END]), 1128);
	assert_int_equal(GET(slot->done), 1);
}

static void test_slot__alternates_and_forgets_the_run_before_last(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_START(10, 0);
	FLEXTRACE_TS(5);
	FLEXTRACE_FW_END();
	FLEXTRACE_FW_START(11, 0);
	FLEXTRACE_FW_END();
	assert_int_equal(GET(area->slot[1].job), 10);
	assert_int_equal(GET(area->slot[0].job), 11);
	FLEXTRACE_FW_START(12, 0);
	assert_int_equal(GET(area->run), 3);
	assert_int_equal(GET(area->slot[1].job), 12);
	assert_int_equal(GET(area->slot[1].run), 3);
	assert_int_not_equal(GET(area->slot[1].done), 3);
	assert_int_equal(GET(area->slot[1].ticks[FLEXTRACE_WIRE_TS5]), 0);
	assert_int_equal(GET(area->slot[0].done), 2);
}

static void test_slot__run_number_wraps(void **state)
{
	int i;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	SET(area->run, 0xfffffffeu);
	SET(area->own.ring_run, GET(area->run));
	for (i = 0; i < 3; i++) {
		uint32_t run = 0xffffffffu + (uint32_t)i;

		FLEXTRACE_FW_START(1, 0);
		assert_int_equal(GET(area->slot[run & 1].run), run);
		assert_int_not_equal(GET(area->slot[run & 1].done), run);
		FLEXTRACE_FW_END();
		assert_int_equal(GET(area->slot[run & 1].done), run);
	}
}

/* The high word turns over between its first reading and the low word's. */
static void test_anchor__survives_a_carry_between_its_halves(void **state)
{
	uint64_t start, anchor;

	(void)state;
	for (start = 0x1ffffffc0u; start < 0x200000020u; start++) {
		boot(8, FLEXTRACE_WIRE_STOP);
		now = start;
		FLEXTRACE_FW_START(1, 0);
		anchor = (uint64_t)GET(area->slot[1].anchor_hi) << 32 |
		         GET(area->slot[1].anchor_lo);
		assert_true(anchor > start && anchor <= now);
		assert_int_equal(GET(area->slot[1].ticks[FLEXTRACE_WIRE_FW_START]),
		                 GET(area->slot[1].anchor_lo));
	}
}

static void test_run__opens_in_the_ring_before_its_records(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_START(1, 0);
	marks(1);
	assert_int_equal(kind_of(0), FLEXTRACE_WIRE_RUN);
	assert_int_equal(id_of(0), 1);
	assert_int_equal(ticks_of(0), GET(area->slot[1].ticks[FLEXTRACE_WIRE_FW_START]));
	assert_int_equal(kind_of(1), FLEXTRACE_WIRE_MARK);
}

static void test_run__record_without_room_comes_before_the_next_one_with_room(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	marks(8);
	FLEXTRACE_FW_START(1, 0); /* its record is dropped when the next run starts */
	FLEXTRACE_FW_END();
	FLEXTRACE_FW_START(2, 0);
	assert_int_equal(GET(area->dropped), 1);
	marks(1);
	assert_int_equal(GET(area->dropped), 2);
	SET(area->limit, GET(area->limit) + 8);
	marks(1);
	assert_int_equal(GET(area->dropped), 2);
	assert_int_equal(GET(area->head), 10);
	assert_int_equal(kind_of(8), FLEXTRACE_WIRE_RUN);
	assert_int_equal(id_of(8), 2);
	assert_true(ticks_of(8) > GET(area->slot[0].ticks[FLEXTRACE_WIRE_FW_START]));
	assert_int_equal(kind_of(9), FLEXTRACE_WIRE_MARK);
	marks(6);
	assert_int_equal(GET(area->head), 16);
}

/* -- names ------------------------------------------------------------------------------------- */

static void test_name__stands_at_its_id_with_file_and_line(void **state)
{
	const char *entry;
	int line;
	char *end;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_MARK("a mark with spaces");
	line = __LINE__ - 1;
	FLEXTRACE_MARK("another");
	entry = flextrace_posix_names + id_of(0);
	assert_string_equal(entry, "a mark with spaces");
	entry += strlen(entry) + 1;
	assert_string_equal(entry, __FILE__);
	entry += strlen(entry) + 1;
	assert_int_equal(strtol(entry, &end, 10), line);
	assert_int_equal(*end, '\0');
	assert_string_equal(flextrace_posix_names + id_of(1), "another");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slot__holds_all_stamps_of_its_run),
		cmocka_unit_test(test_slot__alternates_and_forgets_the_run_before_last),
		cmocka_unit_test(test_slot__run_number_wraps),
		cmocka_unit_test(test_anchor__survives_a_carry_between_its_halves),
		cmocka_unit_test(test_run__opens_in_the_ring_before_its_records),
		cmocka_unit_test(test_run__record_without_room_comes_before_the_next_one_with_room),
		cmocka_unit_test(test_name__stands_at_its_id_with_file_and_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
