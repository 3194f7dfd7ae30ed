/* SPDX-License-Identifier: Apache-2.0 */
#include "drain_fixture.h"

#include "tracer/src/area/drain_words.h"

/* -- hostile areas ----------------------------------------------------------------------------- */

static void test_hostile__bad_headers_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} cases[] = {
		{offsetof(struct flextrace_wire_area, magic), 0},
		{offsetof(struct flextrace_wire_area, magic), 0x46585431},
		{offsetof(struct flextrace_wire_area, version), 2},
		{offsetof(struct flextrace_wire_area, capacity), 0},
		{offsetof(struct flextrace_wire_area, capacity), 2},
		{offsetof(struct flextrace_wire_area, capacity), 7},
		{offsetof(struct flextrace_wire_area, capacity), 16}, /* larger than the mapping */
		{offsetof(struct flextrace_wire_area, capacity), 0x80000000u},
		{offsetof(struct flextrace_wire_area, head), 9},
		{offsetof(struct flextrace_wire_area, head), 0xffffffffu},
		{offsetof(struct flextrace_wire_area, run), 0x90000000u},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		boot(8, FLEXTRACE_WIRE_STOP);
		SET(*(uint32_t *)(void *)(memory.bytes + cases[i].offset), cases[i].value);
		assert_int_equal(drain(0), 0);
		assert_int_equal(drain(0), 0);
		assert_int_equal(area.stats.refused, 2);
		assert_int_equal(got.n_batches, 0);
		FLEXTRACE_FW_INIT(2, 1, 9, 8, FLEXTRACE_WIRE_STOP);
		marks(2);
		assert_int_equal(drain(0), 2);
	}
}

static void test_hostile__capacity_must_be_a_power_of_two(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	SET(wire->capacity, 6);
	SET(wire->limit, 6);
	SET(wire->head, 3);
	assert_int_equal(drain(0), 0);
	assert_int_equal(area.stats.refused, 1);
}

static void test_hostile__short_or_crooked_mappings_are_refused(void **state)
{
	size_t bytes;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	marks(2);
	for (bytes = 0; bytes < FLEXTRACE_WIRE_AREA_BYTES(8); bytes += 4) {
		/* An exact copy on the heap, so that a sanitizer sees any byte read too far. */
		void *copy = malloc(bytes + 1);

		memcpy(copy, wire, bytes);
		flextrace_drain_area_init(&area, 4, copy, bytes);
		assert_int_equal(drain(0), 0);
		assert_int_equal(area.stats.refused, 1);
		free(copy);
	}
	flextrace_drain_area_init(&area, 4, memory.bytes + 4, sizeof(memory) - 4);
	assert_int_equal(drain(0), 0);
	flextrace_drain_area_init(&area, 4, NULL, sizeof(memory));
	assert_int_equal(drain(0), 0);
}

/* Any words at all: nothing is read out of bounds, no batch is larger than the ring. */
static void test_hostile__random_areas_do_no_harm(void **state)
{
	size_t bytes = FLEXTRACE_WIRE_AREA_BYTES(8);
	struct flextrace_wire_area *copy = malloc(bytes);
	uint64_t random = 12345;
	uint32_t round, i;

	(void)state;
	for (round = 0; round < 20000; round++) {
		boot(8, round % 2 ? FLEXTRACE_WIRE_OVERWRITE : FLEXTRACE_WIRE_STOP);
		memcpy(copy, wire, bytes);
		flextrace_drain_area_init(&area, 4, copy, bytes);
		for (i = 0; i < 6; i++) {
			uint32_t at, value;

			random = random * 6364136223846793005u + 1442695040888963407u;
			at = (uint32_t)(random >> 33) % (uint32_t)(bytes / 4);
			value = (uint32_t)(random >> 20) >> (random >> 59);
			memcpy((uint8_t *)copy + (size_t)at * 4, &value, 4);
			memset(&got, 0, sizeof(got));
			drain(round % 3 ? 0 : FLEXTRACE_DRAIN_LAST);
			assert_true(got.n_words <= 8);
		}
	}
	free(copy);
}

/* -- byte order -------------------------------------------------------------------------------- */

static void test_words__are_swapped_on_a_big_endian_host(void **state)
{
	(void)state;
	/* The bytes 2a 00 00 10 44 33 22 11 as such a host loads them. */
	assert_int_equal(drain_join(0x2a000010u, 0x44332211u, 1), UINT64_C(0x1000002a11223344));
	assert_int_equal(drain_join(0x1000002au, 0x11223344u, 0), UINT64_C(0x1000002a11223344));
	assert_int_equal(drain_swap(0x01020304u, 1), 0x04030201u);
	assert_int_equal(drain_swap(0x01020304u, 0), 0x01020304u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile__bad_headers_are_refused),
		cmocka_unit_test(test_hostile__capacity_must_be_a_power_of_two),
		cmocka_unit_test(test_hostile__short_or_crooked_mappings_are_refused),
		cmocka_unit_test(test_hostile__random_areas_do_no_harm),
		cmocka_unit_test(test_words__are_swapped_on_a_big_endian_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
