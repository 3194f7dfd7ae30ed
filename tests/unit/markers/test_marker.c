/* SPDX-License-Identifier: Apache-2.0 */
#include "marker_fixture.h"

/* Moves all counters of an idle ring as if `count` records had come and gone. */
static void start_at(uint32_t count)
{
	SET(area->head, count);
	SET(area->limit, count + GET(area->capacity));
	SET(area->own.seen, GET(area->limit));
	SET(area->own.stop, GET(area->limit));
}

/* -- the area ---------------------------------------------------------------------------------- */

static void test_init__fills_the_header(void **state)
{
	(void)state;
	boot(16, FLEXTRACE_WIRE_BLOCK);
	assert_int_equal(GET(area->magic), FLEXTRACE_WIRE_MAGIC);
	assert_int_equal(GET(area->version), 1);
	assert_int_equal(GET(area->core), 3);
	assert_int_equal(GET(area->processor), 1);
	assert_int_equal(GET(area->domain), 7);
	assert_int_equal(GET(area->counter_bits), 64);
	assert_int_equal(GET(area->capacity), 16);
	assert_int_equal(GET(area->resets), 0xa5a5a5a6);
	assert_int_equal(GET(area->head), 0);
	assert_int_equal(GET(area->dropped), 0);
	assert_int_equal(GET(area->run), 0);
	assert_int_equal(GET(area->limit), 16);
	assert_int_equal(GET(area->policy), FLEXTRACE_WIRE_BLOCK);
	assert_int_equal(GET(area->read_run), 0);
	assert_int_equal(GET(area->strict_from), 0);
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
	assert_int_equal(offsetof(struct flextrace_wire_area, strict_from), 0x4c);
	assert_int_equal(offsetof(struct flextrace_wire_area, own), 0x80);
	assert_int_equal(offsetof(struct flextrace_wire_area, slot), 0xc0);
	assert_int_equal(sizeof(struct flextrace_wire_slot), 0x50);
	assert_int_equal(offsetof(struct flextrace_wire_area, ring), FLEXTRACE_WIRE_RING_OFFSET);
}

/* -- the ring under policy stop ---------------------------------------------------------------- */

static void test_stop__records_up_to_the_limit_and_counts_the_rest(void **state)
{
	uint32_t capacity, extra;

	(void)state;
	for (capacity = 4; capacity <= MAX_CAPACITY; capacity *= 2) {
		for (extra = 0; extra < 3; extra++) {
			boot(capacity, FLEXTRACE_WIRE_STOP);
			marks(capacity + extra);
			assert_int_equal(GET(area->head), capacity);
			assert_int_equal(GET(area->dropped), extra);
			SET(area->limit, GET(area->limit) + 2);
			marks(3);
			assert_int_equal(GET(area->head), capacity + 2);
			assert_int_equal(GET(area->dropped), extra + 1);
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
		assert_int_equal(GET(area->head), start + 8);
		assert_int_equal(GET(area->dropped), 5);
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
		assert_int_equal(GET(area->head), 8);
		assert_int_equal(GET(area->head) + GET(area->dropped), 8 - free_records + 10);
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
	assert_int_equal(GET(area->head), 16);
	assert_int_equal(GET(area->dropped), 0);
	assert_int_equal(GET(area->own.stop), GET(area->own.seen));
}

static void test_zone__end_of_a_dropped_begin_is_dropped_even_when_room_came_back(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	marks(8);
	FLEXTRACE_ZONE_BEGIN("outer"); /* dropped */
	SET(area->limit, GET(area->limit) + 8);
	FLEXTRACE_ZONE_BEGIN("inner"); /* recorded */
	FLEXTRACE_MARK("inside");
	FLEXTRACE_ZONE_END("inner");
	FLEXTRACE_ZONE_END("outer"); /* dropped */
	FLEXTRACE_ZONE_BEGIN("next");
	FLEXTRACE_ZONE_END("next");
	assert_int_equal(GET(area->head), 13);
	assert_int_equal(GET(area->dropped), 2);
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
	assert_int_equal(GET(area->head), 8);
	assert_int_equal(GET(area->dropped), 1);
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
		SET(area->limit, GET(area->limit) + 8);
		for (i = 0; i < depth; i++)
			FLEXTRACE_ZONE_END("zone");
		assert_int_equal(GET(area->dropped), 2 * depth);
		marks(8);
		assert_int_equal(GET(area->head), 16);
		assert_int_equal(GET(area->own.seen), GET(area->limit));
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
		assert_int_equal(GET(area->head) + GET(area->dropped), 4 - free_records + 2);
		assert_int_equal(GET(area->dropped), free_records < 2 ? 2 : 0);
		if (free_records < 2)
			continue;
		assert_int_equal(kind_of(4 - free_records), FLEXTRACE_WIRE_VALUE);
		assert_int_equal(kind_of(5 - free_records), FLEXTRACE_WIRE_VALUE_DATA);
		assert_int_equal(id_of(4 - free_records), id_of(5 - free_records));
		assert_int_equal(ticks_of(5 - free_records), 0xdeadbeef);
	}
}

/* A number too large is cut; it becomes no other name's id, and no other kind of record. */
static void test_numbered__markers_have_ids_apart_from_names(void **state)
{
	static const uint32_t kinds[] = {FLEXTRACE_WIRE_ZONE_BEGIN, FLEXTRACE_WIRE_VALUE,
	                                 FLEXTRACE_WIRE_VALUE_DATA, FLEXTRACE_WIRE_MARK,
	                                 FLEXTRACE_WIRE_ZONE_END};
	static const uint32_t numbers[] = {0, 1, 0x1a4, 0x07ffffff, 0x08000000, 0xffffffff};
	uint32_t n, i;

	(void)state;
	for (n = 0; n < 2 * sizeof(numbers) / sizeof(numbers[0]); n++) {
		uint32_t number = numbers[n / 2];

		boot(8, FLEXTRACE_WIRE_STOP);
		if (n % 2) {
			FLEXTRACE_ZONE_BEGIN_ID(number);
			FLEXTRACE_VALUE_ID(number, 7);
			FLEXTRACE_MARK_ID(number);
			FLEXTRACE_ZONE_END_ID(number);
		} else {
			FLEXTRACE_ZONE_BEGIN_ID_IN(area, number);
			FLEXTRACE_VALUE_ID_IN(area, number, 7);
			FLEXTRACE_MARK_ID_IN(area, number);
			FLEXTRACE_ZONE_END_ID_IN(area, number);
		}
		assert_int_equal(GET(area->head), 5);
		for (i = 0; i < 5; i++) {
			assert_int_equal(kind_of(i), kinds[i]);
			assert_int_equal(id_of(i), 0x08000000 + number % 0x08000000);
			assert_int_equal(id_of(i), FLEXTRACE_MARKER_ID(number));
		}
	}
}

static void test_limit__taken_back_by_the_host_does_no_harm(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_ZONE_BEGIN("zone");
	marks(6);
	SET(area->limit, 2);
	marks(3);
	FLEXTRACE_ZONE_END("zone");
	marks(1);
	assert_int_equal(GET(area->head), 8);
	assert_int_equal(GET(area->dropped), 4);
}

/* -- the other policies ------------------------------------------------------------------------ */

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
	assert_int_equal(GET(area->head), 300);
	assert_int_equal(GET(area->dropped), 0);
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
	assert_int_equal(GET(area->head), 9);
	assert_int_equal(GET(area->dropped), 0);
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
	assert_int_equal(GET(area->head) + GET(area->dropped), 12);
	assert_int_equal(GET(area->head), 6);
}

/* A host that is away: a quarter of FLEXTRACE_BLOCK_TICKS goes by in each wait. */
static void wait_in_vain(void *context)
{
	(void)context;
	n_waits++;
	now += FLEXTRACE_BLOCK_TICKS / 4;
}

static void test_block__drops_when_the_host_is_away_until_it_comes_back(void **state)
{
	(void)state;
	boot(4, FLEXTRACE_WIRE_BLOCK);
	flextrace_posix_core.wait = wait_in_vain;
	marks(5);
	assert_in_range(n_waits, 3, 4);
	assert_int_equal(GET(area->dropped), 1);
	n_waits = 0;
	marks(100); /* none waits for it again */
	assert_int_equal(n_waits, 0);
	assert_int_equal(GET(area->dropped), 101);
	assert_int_equal(GET(area->head), 4);

	SET(area->limit, GET(area->limit) + 2);
	marks(2);
	assert_int_equal(GET(area->head), 6);
	assert_int_equal(n_waits, 0);
	flextrace_posix_core.wait = make_room;
	marks(3);
	assert_int_equal(n_waits, 3);
	assert_int_equal(GET(area->head), 9);
	assert_int_equal(GET(area->dropped), 101);
}

static void take_policy_back(void *context)
{
	(void)context;
	SET(area->policy, n_waits++ ? FLEXTRACE_WIRE_STOP : FLEXTRACE_WIRE_BLOCK);
}

static void test_block__ends_when_the_host_wants_another_policy(void **state)
{
	(void)state;
	boot(4, FLEXTRACE_WIRE_BLOCK);
	flextrace_posix_core.wait = take_policy_back;
	marks(6);
	assert_int_equal(n_waits, 2);
	assert_int_equal(GET(area->head), 4);
	assert_int_equal(GET(area->dropped), 2);
}

/* -- everything at once ------------------------------------------------------------------------ */

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
	for (; n && reader->next != GET(area->head); n--, reader->next++) {
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
	SET(area->limit, reader->next + GET(area->capacity));
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
		uint32_t n_ends = *depth; /* a run keeps room for ends of its own zones only */

		for (; *depth > 0; --*depth)
			FLEXTRACE_ZONE_END("zone");
		FLEXTRACE_FW_START(dice, 0);
		return n_ends + 1;
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
			assert_true(GET(area->head) - reader.next <= capacity);
			pending = GET(area->own.ring_run) != GET(area->run);
			assert_int_equal(sent,
			                 GET(area->head) - start + GET(area->dropped) + pending);
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
		cmocka_unit_test(test_numbered__markers_have_ids_apart_from_names),
		cmocka_unit_test(test_limit__taken_back_by_the_host_does_no_harm),
		cmocka_unit_test(test_overwrite__never_drops),
		cmocka_unit_test(test_block__waits_for_the_host),
		cmocka_unit_test(test_block__does_not_wait_for_room_that_can_never_be),
		cmocka_unit_test(test_block__drops_when_the_host_is_away_until_it_comes_back),
		cmocka_unit_test(test_block__ends_when_the_host_wants_another_policy),
		cmocka_unit_test(test_stop__accounts_for_every_record_in_any_interleaving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
