/* SPDX-License-Identifier: Apache-2.0 */
/* Two drains of one area, and two writers in one: what can be seen of them is told. */
#include "drain_fixture.h"

#define CAPACITY 64u

/* -- two drains -------------------------------------------------------------------------------- */

static struct flextrace_drain_area other;

static void boot_both(void)
{
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	flextrace_drain_area_init(&other, 4, wire, FLEXTRACE_WIRE_AREA_BYTES((size_t)CAPACITY));
}

/* The fixture checks that indices go on: no record comes twice. */
static void test_twice__each_takes_what_the_other_has_not_taken(void **state)
{
	uint32_t i;

	(void)state;
	boot_both();
	drain(0);
	for (i = 0; i < 200; i++) {
		one_run(i + 1);
		marks(5 + i % 50);
		flextrace_drain(i % 3 ? &area : &other, 1, 0);
	}
	drain(0);
	assert_int_equal(got.gaps, 0);
	assert_int_equal(got.n_words, GET(wire->head));
	assert_int_equal(got.n_slots, 200);
	assert_int_equal(got.lost_runs, 0);
	assert_int_equal(area.stats.recorded + other.stats.recorded, GET(wire->head));
	assert_int_equal(area.stats.recorded + area.stats.elsewhere, GET(wire->head));
	assert_int_equal(area.stats.resets + other.stats.resets, 0);
	assert_int_equal(area.stats.refused + other.stats.refused, 0);
	assert_true(area.stats.shared > 0);
	assert_true(other.stats.shared > 0);
	assert_int_equal(got.n_boots, 2); /* told by each, once */
	assert_int_equal(got.boot, FLEXTRACE_WIRE_BOOT_SHARED);
}

/* Who looks first after the core began anew reads from the start, the other one goes on behind. */
static void test_twice__each_sees_a_reset(void **state)
{
	(void)state;
	boot_both();
	marks(10);
	drain(0);
	flextrace_drain(&other, 1, 0);
	FLEXTRACE_FW_INIT(2, 1, 9, CAPACITY, FLEXTRACE_WIRE_STOP);
	memset(&got, 0, sizeof(got));
	marks(10);
	drain(0);
	marks(7);
	flextrace_drain(&other, 1, 0);
	drain(0);
	assert_int_equal(got.n_words, 17);
	assert_int_equal(got.gaps, 0);
	assert_int_equal(area.stats.resets, 1);
	assert_int_equal(other.stats.resets, 1);
}

/* One that only looks, to save the memory when something hangs, takes nothing over. */
static void test_twice__a_look_disturbs_no_drain(void **state)
{
	(void)state;
	boot_both();
	marks(10);
	drain(0);
	flextrace_drain_area_init(&other, 4, wire, FLEXTRACE_WIRE_AREA_BYTES((size_t)CAPACITY));
	marks(10);
	drain(0);
	assert_int_equal(area.stats.shared, 0);
	assert_int_equal(got.n_words, 20);
	assert_int_equal(got.n_boots, 0);
}

static uint64_t n_inner;

static void drain_within(uint64_t index, uint64_t word)
{
	(void)index, (void)word;
	n_inner += drain(0); /* as another thread would, in the middle of this call */
}

static void test_twice__a_call_that_finds_another_one_leaves(void **state)
{
	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	marks(10);
	on_record = drain_within;
	assert_int_equal(drain(0), 10);
	assert_int_equal(n_inner, 0);
	on_record = NULL;
	marks(10);
	assert_int_equal(drain(0), 10);
	assert_int_equal(area.stats.recorded, 20);
	assert_int_equal(area.stats.shared, 10);
	assert_int_equal(got.boot, FLEXTRACE_WIRE_BOOT_SHARED);
}

/* -- two writers ------------------------------------------------------------------------------- */

static int is_in_handler, drains_in_handler;

/* An interrupt in the middle of a marker: its record stands there, and does not count yet. */
static void interrupt(void *context, uint32_t kind, uint32_t id)
{
	(void)context, (void)kind, (void)id;
	if (is_in_handler)
		return;
	is_in_handler = 1;
	marks(3);
	if (drains_in_handler)
		drain(0);
	is_in_handler = 0;
}

static void test_writers__are_told_where_head_goes_back(void **state)
{
	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_STOP);
	marks(10);
	drain(0);
	drains_in_handler = 1;
	flextrace_posix_core.note = interrupt;
	marks(1); /* head is 13, then 11 */
	flextrace_posix_core.note = NULL;
	drain(0);
	assert_int_equal(area.stats.contested, 1);
	assert_int_equal(area.stats.refused, 0);
	assert_int_equal(got.n_boots, 1);
	assert_int_equal(got.boot, FLEXTRACE_WIRE_BOOT_CONTESTED);
	marks(20); /* it reads on */
	assert_int_equal(drain(0), 31 - 13);
	assert_int_equal(area.stats.refused, 0);
	assert_int_equal(got.n_boots, 1);
}

static void test_writers__under_overwrite_count_no_billions(void **state)
{
	(void)state;
	boot(CAPACITY, FLEXTRACE_WIRE_OVERWRITE);
	marks(10);
	drain(0);
	drains_in_handler = 1;
	flextrace_posix_core.note = interrupt;
	marks(1);
	flextrace_posix_core.note = NULL;
	drain(0);
	assert_int_equal(area.stats.contested, 1);
	assert_int_equal(area.stats.overwritten, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twice__each_takes_what_the_other_has_not_taken),
		cmocka_unit_test(test_twice__each_sees_a_reset),
		cmocka_unit_test(test_twice__a_look_disturbs_no_drain),
		cmocka_unit_test(test_twice__a_call_that_finds_another_one_leaves),
		cmocka_unit_test(test_writers__are_told_where_head_goes_back),
		cmocka_unit_test(test_writers__under_overwrite_count_no_billions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
