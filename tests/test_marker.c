/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <flextrace/marker.h>

#define MAX_CAPACITY 64u

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(MAX_CAPACITY)];
} memory;
static struct flextrace_wire_area *const area = &memory.wire;

/* The clock counts its readings in steps of 16. */
static uint64_t now;
static uint32_t n_waits;

static uint64_t fake_clock(void *context)
{
	(void)context;
	now += 16;
	return now;
}

/* A host that makes room for one record while a blocked core waits. */
static void make_room(void *context)
{
	(void)context;
	n_waits++;
	area->limit++;
}

static void boot(uint32_t capacity, uint32_t policy)
{
	memset(&memory, 0xa5, sizeof(memory));
	now = 0;
	n_waits = 0;
	flextrace_posix_core = (struct flextrace_posix_core){
		.area = area,
		.clock = fake_clock,
		.wait = make_room,
	};
	FLEXTRACE_FW_INIT(3, 1, 7, capacity, policy);
}

static uint32_t kind_of(uint32_t index)
{
	return area->ring[index & (area->capacity - 1)].kind_id >> FLEXTRACE_WIRE_ID_BITS;
}

static uint32_t id_of(uint32_t index)
{
	return area->ring[index & (area->capacity - 1)].kind_id & FLEXTRACE_WIRE_ID_MASK;
}

static uint32_t ticks_of(uint32_t index)
{
	return area->ring[index & (area->capacity - 1)].ticks;
}

static void marks(uint32_t n)
{
	while (n--)
		FLEXTRACE_MARK("mark");
}

/* Moves all counters of an idle ring as if `count` records had come and gone. */
static void start_at(uint32_t count)
{
	area->head = count;
	area->limit = count + area->capacity;
	area->own.seen = area->limit;
	area->own.stop = area->limit;
}

/* -- the area ----------------------------------------------------------------------------------- */

static void test_init__fills_the_header(void **state)
{
	(void)state;
	boot(16, FLEXTRACE_WIRE_BLOCK);
	assert_int_equal(area->magic, FLEXTRACE_WIRE_MAGIC);
	assert_int_equal(area->version, 1);
	assert_int_equal(area->core, 3);
	assert_int_equal(area->processor, 1);
	assert_int_equal(area->domain, 7);
	assert_int_equal(area->counter_bits, 64);
	assert_int_equal(area->capacity, 16);
	assert_int_equal(area->resets, 0xa5a5a5a6);
	assert_int_equal(area->head, 0);
	assert_int_equal(area->dropped, 0);
	assert_int_equal(area->run, 0);
	assert_int_equal(area->limit, 16);
	assert_int_equal(area->policy, FLEXTRACE_WIRE_BLOCK);
	assert_int_equal(area->read_run, 0);
}

static void test_wire__has_the_documented_layout(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct flextrace_wire_area, capacity), 0x18);
	assert_int_equal(offsetof(struct flextrace_wire_area, resets), 0x1c);
	assert_int_equal(offsetof(struct flextrace_wire_area, run), 0x20);
	assert_int_equal(offsetof(struct flextrace_wire_area, head), 0x24);
	assert_int_equal(offsetof(struct flextrace_wire_area, dropped), 0x28);
	assert_int_equal(offsetof(struct flextrace_wire_area, limit), 0x40);
	assert_int_equal(offsetof(struct flextrace_wire_area, policy), 0x44);
	assert_int_equal(offsetof(struct flextrace_wire_area, read_run), 0x48);
	assert_int_equal(offsetof(struct flextrace_wire_area, own), 0x80);
	assert_int_equal(offsetof(struct flextrace_wire_area, slot), 0xc0);
	assert_int_equal(sizeof(struct flextrace_wire_slot), 0x50);
	assert_int_equal(offsetof(struct flextrace_wire_area, ring), FLEXTRACE_WIRE_RING_OFFSET);
}

/* -- the ring under policy stop ------------------------------------------------------------------- */

static void test_stop__records_up_to_the_limit_and_counts_the_rest(void **state)
{
	uint32_t capacity, extra;

	(void)state;
	for (capacity = 4; capacity <= MAX_CAPACITY; capacity *= 2) {
		for (extra = 0; extra < 3; extra++) {
			boot(capacity, FLEXTRACE_WIRE_STOP);
			marks(capacity + extra);
			assert_int_equal(area->head, capacity);
			assert_int_equal(area->dropped, extra);
			area->limit += 2;
			marks(3);
			assert_int_equal(area->head, capacity + 2);
			assert_int_equal(area->dropped, extra + 1);
		}
	}
}

static void test_stop__survives_a_wrap_of_head(void **state)
{
	uint32_t start;

	(void)state;
	for (start = 0xfffffff0u; start != 8; start++) {
		boot(8, FLEXTRACE_WIRE_STOP);
		start_at(start);
		FLEXTRACE_ZONE_BEGIN("zone");
		FLEXTRACE_VALUE("value", 5);
		marks(9);
		FLEXTRACE_ZONE_END("zone");
		assert_int_equal(area->head, start + 8);
		assert_int_equal(area->dropped, 5);
		assert_int_equal(kind_of(start + 7), FLEXTRACE_WIRE_ZONE_END);
	}
}

static void test_zone__begin_keeps_room_for_its_end(void **state)
{
	uint32_t free_records;

	(void)state;
	for (free_records = 0; free_records <= 8; free_records++) {
		boot(8, FLEXTRACE_WIRE_STOP);
		marks(8 - free_records);
		FLEXTRACE_ZONE_BEGIN("zone");
		marks(8);
		FLEXTRACE_ZONE_END("zone");
		assert_int_equal(area->head, 8);
		assert_int_equal(area->head + area->dropped, 8 - free_records + 10);
		if (free_records >= 2) {
			assert_int_equal(kind_of(8 - free_records), FLEXTRACE_WIRE_ZONE_BEGIN);
			assert_int_equal(kind_of(7), FLEXTRACE_WIRE_ZONE_END);
		} else {
			assert_int_equal(kind_of(7), FLEXTRACE_WIRE_MARK);
		}
	}
}

static void test_zone__gives_its_room_back_when_nothing_was_dropped(void **state)
{
	int i;

	(void)state;
	boot(16, FLEXTRACE_WIRE_STOP);
	for (i = 0; i < 8; i++) {
		FLEXTRACE_ZONE_BEGIN("zone");
		FLEXTRACE_ZONE_END("zone");
	}
	assert_int_equal(area->head, 16);
	assert_int_equal(area->dropped, 0);
	assert_int_equal(area->own.stop, area->own.seen);
}

static void test_zone__end_of_a_dropped_begin_is_dropped_even_when_room_came_back(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	marks(8);
	FLEXTRACE_ZONE_BEGIN("outer"); /* dropped */
	area->limit += 8;
	FLEXTRACE_ZONE_BEGIN("inner"); /* recorded */
	FLEXTRACE_MARK("inside");
	FLEXTRACE_ZONE_END("inner");
	FLEXTRACE_ZONE_END("outer"); /* dropped */
	FLEXTRACE_ZONE_BEGIN("next");
	FLEXTRACE_ZONE_END("next");
	assert_int_equal(area->head, 13);
	assert_int_equal(area->dropped, 2);
	assert_int_equal(kind_of(8), FLEXTRACE_WIRE_ZONE_BEGIN);
	assert_int_equal(kind_of(9), FLEXTRACE_WIRE_MARK);
	assert_int_equal(kind_of(10), FLEXTRACE_WIRE_ZONE_END);
	assert_int_equal(kind_of(11), FLEXTRACE_WIRE_ZONE_BEGIN);
	assert_int_equal(kind_of(12), FLEXTRACE_WIRE_ZONE_END);
}

static void test_zone__end_without_begin_is_dropped(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_ZONE_END("nothing");
	marks(8);
	assert_int_equal(area->head, 8);
	assert_int_equal(area->dropped, 1);
}

static void test_zone__counts_dropped_zones_of_any_depth(void **state)
{
	uint32_t depth, i;

	(void)state;
	for (depth = 1; depth < 70; depth++) {
		boot(8, FLEXTRACE_WIRE_STOP);
		marks(8);
		for (i = 0; i < depth; i++)
			FLEXTRACE_ZONE_BEGIN("zone");
		area->limit += 8;
		for (i = 0; i < depth; i++)
			FLEXTRACE_ZONE_END("zone");
		assert_int_equal(area->dropped, 2 * depth);
		marks(8);
		assert_int_equal(area->head, 16);
		assert_int_equal(area->own.seen, area->limit);
	}
}

static void test_value__takes_two_records_or_none(void **state)
{
	uint32_t free_records;

	(void)state;
	for (free_records = 0; free_records <= 4; free_records++) {
		boot(4, FLEXTRACE_WIRE_STOP);
		marks(4 - free_records);
		FLEXTRACE_VALUE("depth", 0xdeadbeef);
		assert_int_equal(area->head + area->dropped, 4 - free_records + 2);
		assert_int_equal(area->dropped, free_records < 2 ? 2 : 0);
		if (free_records < 2)
			continue;
		assert_int_equal(kind_of(4 - free_records), FLEXTRACE_WIRE_VALUE);
		assert_int_equal(kind_of(5 - free_records), FLEXTRACE_WIRE_VALUE_DATA);
		assert_int_equal(id_of(4 - free_records), id_of(5 - free_records));
		assert_int_equal(ticks_of(5 - free_records), 0xdeadbeef);
	}
}

static void test_limit__taken_back_by_the_host_does_no_harm(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_ZONE_BEGIN("zone");
	marks(6);
	area->limit = 2;
	marks(3);
	FLEXTRACE_ZONE_END("zone");
	marks(1);
	assert_int_equal(area->head, 8);
	assert_int_equal(area->dropped, 4);
}

/* -- the other policies ---------------------------------------------------------------------------- */

static void test_overwrite__never_drops(void **state)
{
	uint32_t i;

	(void)state;
	boot(8, FLEXTRACE_WIRE_OVERWRITE);
	for (i = 0; i < 100; i++) {
		FLEXTRACE_ZONE_BEGIN("zone");
		FLEXTRACE_MARK("mark");
		FLEXTRACE_ZONE_END("zone");
	}
	assert_int_equal(area->head, 300);
	assert_int_equal(area->dropped, 0);
	assert_int_equal(ticks_of(299), 300 * 16);
	assert_int_equal(ticks_of(292), 293 * 16);
}

static void test_block__waits_for_the_host(void **state)
{
	(void)state;
	boot(4, FLEXTRACE_WIRE_BLOCK);
	marks(4);
	assert_int_equal(n_waits, 0);
	marks(3);
	assert_int_equal(n_waits, 3);
	FLEXTRACE_VALUE("value", 1);
	assert_int_equal(n_waits, 5);
	assert_int_equal(area->head, 9);
	assert_int_equal(area->dropped, 0);
}

static void test_block__does_not_wait_for_room_that_can_never_be(void **state)
{
	int i;

	(void)state;
	boot(4, FLEXTRACE_WIRE_BLOCK);
	for (i = 0; i < 6; i++)
		FLEXTRACE_ZONE_BEGIN("zone");
	for (i = 0; i < 6; i++)
		FLEXTRACE_ZONE_END("zone");
	assert_int_equal(area->head + area->dropped, 12);
	assert_int_equal(area->head, 6);
}

/* -- runs and slots ---------------------------------------------------------------------------------- */

static void test_slot__holds_all_stamps_of_its_run(void **state)
{
	const struct flextrace_wire_slot *slot = &area->slot[1];
	uint32_t i;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	now = 0x5ffffff00u;
	FLEXTRACE_FW_START(77, 5);
	assert_int_equal(slot->run, 1);
	assert_int_not_equal(slot->done, 1);
	assert_int_equal(slot->job, 77);
	assert_int_equal(slot->queue, 5);
	assert_int_equal(slot->anchor_hi, 5);
	assert_int_equal(slot->anchor_lo, 0xffffff20u);
	assert_int_equal(slot->ticks[FLEXTRACE_WIRE_FW_START], 0xffffff20u);
	for (i = FLEXTRACE_WIRE_KERNEL_START; i < FLEXTRACE_WIRE_N_STAMPS; i++)
		assert_int_equal(slot->ticks[i], 0);
	now = 1000;
	FLEXTRACE_TS(1);
	FLEXTRACE_TS(2);
	FLEXTRACE_TS(3);
	FLEXTRACE_KERNEL_START();
	FLEXTRACE_KERNEL_END();
	FLEXTRACE_TS(4);
	FLEXTRACE_TS(5);
	FLEXTRACE_FW_END();
	assert_int_equal(slot->ticks[FLEXTRACE_WIRE_TS1], 1016);
	assert_int_equal(slot->ticks[FLEXTRACE_WIRE_TS2], 1032);
	assert_int_equal(slot->ticks[FLEXTRACE_WIRE_TS3], 1048);
	assert_int_equal(slot->ticks[FLEXTRACE_WIRE_KERNEL_START], 1064);
	assert_int_equal(slot->ticks[FLEXTRACE_WIRE_KERNEL_END], 1080);
	assert_int_equal(slot->ticks[FLEXTRACE_WIRE_TS4], 1096);
	assert_int_equal(slot->ticks[FLEXTRACE_WIRE_TS5], 1112);
	assert_int_equal(slot->ticks[FLEXTRACE_WIRE_FW_END], 1128);
	assert_int_equal(slot->done, 1);
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
	assert_int_equal(area->slot[1].job, 10);
	assert_int_equal(area->slot[0].job, 11);
	FLEXTRACE_FW_START(12, 0);
	assert_int_equal(area->run, 3);
	assert_int_equal(area->slot[1].job, 12);
	assert_int_equal(area->slot[1].run, 3);
	assert_int_not_equal(area->slot[1].done, 3);
	assert_int_equal(area->slot[1].ticks[FLEXTRACE_WIRE_TS5], 0);
	assert_int_equal(area->slot[0].done, 2);
}

static void test_slot__run_number_wraps(void **state)
{
	int i;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	area->run = 0xfffffffeu;
	area->own.ring_run = area->run;
	for (i = 0; i < 3; i++) {
		uint32_t run = 0xffffffffu + (uint32_t)i;

		FLEXTRACE_FW_START(1, 0);
		assert_int_equal(area->slot[run & 1].run, run);
		assert_int_not_equal(area->slot[run & 1].done, run);
		FLEXTRACE_FW_END();
		assert_int_equal(area->slot[run & 1].done, run);
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
		anchor = (uint64_t)area->slot[1].anchor_hi << 32 | area->slot[1].anchor_lo;
		assert_true(anchor > start && anchor <= now);
		assert_int_equal(area->slot[1].ticks[FLEXTRACE_WIRE_FW_START],
		                 area->slot[1].anchor_lo);
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
	assert_int_equal(ticks_of(0), area->slot[1].ticks[FLEXTRACE_WIRE_FW_START]);
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
	assert_int_equal(area->dropped, 1);
	marks(1);
	assert_int_equal(area->dropped, 2);
	area->limit += 8;
	marks(1);
	assert_int_equal(area->dropped, 2);
	assert_int_equal(area->head, 10);
	assert_int_equal(kind_of(8), FLEXTRACE_WIRE_RUN);
	assert_int_equal(id_of(8), 2);
	assert_true(ticks_of(8) > area->slot[0].ticks[FLEXTRACE_WIRE_FW_START]);
	assert_int_equal(kind_of(9), FLEXTRACE_WIRE_MARK);
	marks(6);
	assert_int_equal(area->head, 16);
}

/* -- names --------------------------------------------------------------------------------------------- */

static void test_name__stands_at_its_id_with_file_and_line(void **state)
{
	const char *entry;
	char *end;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_MARK("a mark with spaces"); /* clang-format off */ int line = __LINE__; /* clang-format on */
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

/* -- everything at once ---------------------------------------------------------------------------------- */

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* What a host sees: every record once, ends after their begins, values whole. */
struct reader {
	uint32_t next;
	uint32_t depth;
	int wants_data;
	uint32_t n_run_records;
	uint32_t last_ticks;
};

static void read_records(struct reader *reader, uint32_t n)
{
	for (; n && reader->next != area->head; n--, reader->next++) {
		uint32_t kind = kind_of(reader->next);

		assert_int_equal(kind == FLEXTRACE_WIRE_VALUE_DATA, reader->wants_data);
		reader->wants_data = kind == FLEXTRACE_WIRE_VALUE;
		if (kind == FLEXTRACE_WIRE_VALUE_DATA)
			continue;
		assert_true(ticks_of(reader->next) > reader->last_ticks);
		reader->last_ticks = ticks_of(reader->next);
		reader->depth += kind == FLEXTRACE_WIRE_ZONE_BEGIN;
		if (kind == FLEXTRACE_WIRE_ZONE_END)
			assert_true(reader->depth-- > 0);
		reader->n_run_records += kind == FLEXTRACE_WIRE_RUN;
	}
	area->limit = reader->next + area->capacity;
}

/* Does something at random; returns the number of records it sends. */
static uint32_t act(uint32_t dice, uint32_t *depth)
{
	if (dice < 30) {
		FLEXTRACE_MARK("mark");
		return 1;
	}
	if (dice < 40) {
		FLEXTRACE_VALUE("value", dice);
		return 2;
	}
	if (dice < 60) {
		FLEXTRACE_ZONE_BEGIN("zone");
		++*depth;
		return 1;
	}
	if (dice < 80 && *depth > 0) {
		FLEXTRACE_ZONE_END("zone");
		--*depth;
		return 1;
	}
	if (dice < 85) {
		FLEXTRACE_FW_START(dice, 0);
		return 1;
	}
	return 0;
}

static void test_stop__accounts_for_every_record_in_any_interleaving(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		uint64_t random = seed;
		uint32_t capacity = 4u << (seed % 5);
		uint32_t start = (uint32_t)seed * 7u - 1000u; /* most cross the wrap */
		struct reader reader = {.next = start};
		uint32_t sent = 0, depth = 0, pending, i;

		boot(capacity, FLEXTRACE_WIRE_STOP);
		start_at(start);
		for (i = 0; i < 2000; i++) {
			uint32_t dice = next_random(&random) % 100;

			if (dice >= 85)
				read_records(&reader, next_random(&random) % capacity);
			sent += act(dice, &depth);
			assert_true(area->head - reader.next <= capacity);
			pending = area->own.ring_run != area->run;
			assert_int_equal(sent, area->head - start + area->dropped + pending);
		}
		while (depth--)
			FLEXTRACE_ZONE_END("zone");
		read_records(&reader, UINT32_MAX);
		assert_int_equal(reader.depth, 0);
		assert_true(reader.n_run_records > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init__fills_the_header),
		cmocka_unit_test(test_wire__has_the_documented_layout),
		cmocka_unit_test(test_stop__records_up_to_the_limit_and_counts_the_rest),
		cmocka_unit_test(test_stop__survives_a_wrap_of_head),
		cmocka_unit_test(test_zone__begin_keeps_room_for_its_end),
		cmocka_unit_test(test_zone__gives_its_room_back_when_nothing_was_dropped),
		cmocka_unit_test(
			test_zone__end_of_a_dropped_begin_is_dropped_even_when_room_came_back),
		cmocka_unit_test(test_zone__end_without_begin_is_dropped),
		cmocka_unit_test(test_zone__counts_dropped_zones_of_any_depth),
		cmocka_unit_test(test_value__takes_two_records_or_none),
		cmocka_unit_test(test_limit__taken_back_by_the_host_does_no_harm),
		cmocka_unit_test(test_overwrite__never_drops),
		cmocka_unit_test(test_block__waits_for_the_host),
		cmocka_unit_test(test_block__does_not_wait_for_room_that_can_never_be),
		cmocka_unit_test(test_slot__holds_all_stamps_of_its_run),
		cmocka_unit_test(test_slot__alternates_and_forgets_the_run_before_last),
		cmocka_unit_test(test_slot__run_number_wraps),
		cmocka_unit_test(test_anchor__survives_a_carry_between_its_halves),
		cmocka_unit_test(test_run__opens_in_the_ring_before_its_records),
		cmocka_unit_test(test_run__record_without_room_comes_before_the_next_one_with_room),
		cmocka_unit_test(test_name__stands_at_its_id_with_file_and_line),
		cmocka_unit_test(test_stop__accounts_for_every_record_in_any_interleaving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
