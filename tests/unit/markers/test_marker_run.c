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

/* -- zones that a run leaves open -------------------------------------------------------------- */

static void test_run__gives_back_what_zones_without_an_end_kept(void **state)
{
	uint32_t run;

	(void)state;
	boot(16, FLEXTRACE_WIRE_STOP);
	for (run = 1; run <= 200; run++) {
		SET(area->limit, GET(area->head) + 16);
		FLEXTRACE_FW_START(run, 0);
		FLEXTRACE_ZONE_BEGIN("returns early");
		FLEXTRACE_ZONE_BEGIN("this one too");
		marks(11); /* two are kept */
		assert_int_equal(GET(area->head), 14 * run);
		marks(1);
		assert_int_equal(GET(area->head), 14 * run);
		assert_int_equal(GET(area->dropped), run);
	}
	FLEXTRACE_FW_START(run, 0);
	SET(area->limit, GET(area->head) + 16);
	marks(20);
	assert_int_equal(GET(area->head), 14 * 200 + 1 + 16);
	assert_int_equal(GET(area->dropped), 200 + 4);
}

static void test_run__forgets_dropped_zones_without_an_end(void **state)
{
	uint32_t i;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_START(1, 0);
	marks(7);
	for (i = 0; i < 40; i++)
		FLEXTRACE_ZONE_BEGIN("dropped, and returns early");
	SET(area->limit, GET(area->limit) + 8);
	FLEXTRACE_FW_START(2, 0);
	FLEXTRACE_ZONE_BEGIN("zone");
	FLEXTRACE_ZONE_END("zone");
	assert_int_equal(GET(area->head), 11);
	assert_int_equal(kind_of(10), FLEXTRACE_WIRE_ZONE_END);
	assert_int_equal(GET(area->dropped), 40);
}

/* An end that comes late after all has no promise, but whatever room there is. */
static void test_run__records_the_late_end_of_a_zone_that_it_gave_back(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_ZONE_BEGIN("around all");
	FLEXTRACE_FW_START(1, 0);
	FLEXTRACE_ZONE_BEGIN("zone");
	FLEXTRACE_ZONE_END("zone");
	FLEXTRACE_ZONE_END("around all");
	assert_int_equal(GET(area->head), 5);
	assert_int_equal(kind_of(4), FLEXTRACE_WIRE_ZONE_END);
	FLEXTRACE_ZONE_END("nothing");
	assert_int_equal(GET(area->head), 5);
	assert_int_equal(GET(area->dropped), 1);

	FLEXTRACE_ZONE_BEGIN("without room");
	FLEXTRACE_FW_START(2, 0);
	marks(1);
	FLEXTRACE_ZONE_END("without room");
	assert_int_equal(GET(area->head), 8);
	assert_int_equal(GET(area->dropped), 2);
}

/* -- areas that are named ---------------------------------------------------------------------- */

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(8)];
} handler;

/* An interrupt at the worst moment: when the marker that it interrupts has read the counter. */
static void interrupt(void *context, uint32_t kind, uint32_t id)
{
	static int is_inside;

	(void)context, (void)kind, (void)id;
	if (is_inside)
		return;
	is_inside = 1;
	FLEXTRACE_ZONE_BEGIN_IN(&handler.wire, "handler");
	FLEXTRACE_MARK_IN(&handler.wire, "tick");
	FLEXTRACE_VALUE_IN(&handler.wire, "level", 7);
	FLEXTRACE_ZONE_END_IN(&handler.wire, "handler");
	is_inside = 0;
}

static void test_in__keeps_a_handler_out_of_the_area_of_what_it_interrupts(void **state)
{
	uint32_t i, n = 0;

	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_INIT_IN(&handler.wire, 3, 2, 7, 8, FLEXTRACE_WIRE_STOP);
	flextrace_posix_core.note = interrupt;
	FLEXTRACE_FW_START(1, 0);
	for (i = 0; i < 12; i++) {
		FLEXTRACE_ZONE_BEGIN("main");
		FLEXTRACE_VALUE("main's", i);
		FLEXTRACE_MARK("main");
		FLEXTRACE_ZONE_END("main");
	}
	assert_int_equal(GET(area->head), 1 + 12 * 5);
	assert_int_equal(GET(area->dropped), 0);
	for (i = 0; i < 12; i++)
		n += kind_of(1 + 5 * i) == FLEXTRACE_WIRE_ZONE_BEGIN &&
		     kind_of(3 + 5 * i) == FLEXTRACE_WIRE_VALUE_DATA && ticks_of(3 + 5 * i) == i &&
		     kind_of(5 + 5 * i) == FLEXTRACE_WIRE_ZONE_END;
	assert_int_equal(n, 12);
	assert_int_equal(GET(handler.wire.processor), 2);
	assert_int_equal(GET(handler.wire.config), GET(handler.wire.init_config));
	assert_int_equal(GET(handler.wire.head), 8); /* full: it drops in its own area */
	assert_int_equal(GET(handler.wire.head) + GET(handler.wire.dropped), 5 * (1 + 12 * 4));
}

static void test_in__takes_runs_and_stamps(void **state)
{
	const struct flextrace_wire_slot *slot = &handler.wire.slot[1];

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_INIT_IN(&handler.wire, 3, 2, 7, 8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_START_IN(&handler.wire, 77, 5);
	FLEXTRACE_TS_IN(&handler.wire, 5);
	FLEXTRACE_KERNEL_START_IN(&handler.wire);
	FLEXTRACE_KERNEL_END_IN(&handler.wire);
	FLEXTRACE_FW_END_IN(&handler.wire);
	assert_int_equal(GET(slot->job), 77);
	assert_int_equal(GET(slot->done), 1);
	assert_true(GET(slot->ticks[FLEXTRACE_WIRE_TS5]) > 0);
	assert_true(GET(slot->ticks[FLEXTRACE_WIRE_KERNEL_END]) >
	            GET(slot->ticks[FLEXTRACE_WIRE_KERNEL_START]));
	assert_int_equal(GET(area->run), 0);
	assert_int_equal(GET(area->head), 0);
}

/* -- capacities that no ring has --------------------------------------------------------------- */

static void test_init__rounds_down_a_capacity_that_is_known_only_at_run_time(void **state)
{
	static const uint32_t cases[][2] = {{4, 4},   {5, 4},   {7, 4}, {15, 8},
	                                    {48, 32}, {64, 64}, {0, 0}, {3, 0}};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		boot(cases[i][0], FLEXTRACE_WIRE_OVERWRITE);
		assert_int_equal(GET(area->capacity), cases[i][1]);
		FLEXTRACE_FW_START(1, 0);
		FLEXTRACE_ZONE_BEGIN("zone");
		FLEXTRACE_VALUE("value", 1);
		FLEXTRACE_ZONE_END("zone");
		marks(100);
		assert_int_equal(memory.bytes[FLEXTRACE_WIRE_AREA_BYTES(cases[i][1])], 0xa5);
		if (cases[i][1])
			assert_int_equal(GET(area->head), 105);
		else
			assert_int_equal(GET(area->head), 0);
	}
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
		cmocka_unit_test(test_run__gives_back_what_zones_without_an_end_kept),
		cmocka_unit_test(test_run__forgets_dropped_zones_without_an_end),
		cmocka_unit_test(test_run__records_the_late_end_of_a_zone_that_it_gave_back),
		cmocka_unit_test(test_in__keeps_a_handler_out_of_the_area_of_what_it_interrupts),
		cmocka_unit_test(test_in__takes_runs_and_stamps),
		cmocka_unit_test(test_init__rounds_down_a_capacity_that_is_known_only_at_run_time),
		cmocka_unit_test(test_name__stands_at_its_id_with_file_and_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
