/* SPDX-License-Identifier: Apache-2.0 */
/* Unions and sweeps of intervals, against counting each ns. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/intervals/cover.h"
#include "base/intervals/sweep.h"

#define LENGTH      64
#define N_WORLDS    2000
#define N_INTERVALS 12
#define N_CLASSES   3

struct world {
	int start[N_INTERVALS], end[N_INTERVALS], class[N_INTERVALS]; /* by start */
	uint32_t masks[LENGTH];                                       /* of each ns */
};

static void make_world(struct world *world)
{
	int start = 0;

	memset(world->masks, 0, sizeof(world->masks));
	for (int i = 0; i < N_INTERVALS; i++) {
		start += rand() % 7;
		world->start[i] = start < LENGTH ? start : LENGTH - 1;
		world->end[i] = world->start[i] + rand() % 12;
		if (world->end[i] > LENGTH)
			world->end[i] = LENGTH;
		world->class[i] = rand() % N_CLASSES;
		for (int ns = world->start[i]; ns < world->end[i]; ns++)
			world->masks[ns] |= 1u << world->class[i];
	}
}

static void test_cover__is_the_union_of_all_that_was_added(void **state)
{
	(void)state;
	srand(1);
	for (int n = 0; n < N_WORLDS; n++) {
		struct cover cover = {0};
		struct world world;

		make_world(&world);
		for (int i = 0; i < N_INTERVALS; i++)
			assert_int_equal(cover_add(&cover, world.start[i], world.end[i]), 0);
		for (int from = 0; from < LENGTH; from += 3) {
			uint64_t expected = 0;

			for (int to = from; to < LENGTH; to++) {
				assert_int_equal(cover_ns(&cover, from, to), expected);
				expected += world.masks[to] != 0;
			}
		}
		assert_int_equal(cover_total_ns(&cover), cover_ns(&cover, -5, LENGTH + 5));
		cover_release(&cover);
	}
}

static void test_cover__holds_all_there_is_of_time(void **state)
{
	struct cover cover = {0};

	(void)state;
	assert_int_equal(cover_ns(&cover, INT64_MIN, INT64_MAX), 0);
	assert_int_equal(cover_add(&cover, 5, 5), 0);
	assert_int_equal(cover_total_ns(&cover), 0);
	assert_int_equal(cover_add(&cover, INT64_MIN, INT64_MAX), 0);
	assert_int_equal(cover_ns(&cover, INT64_MIN, INT64_MAX), UINT64_MAX);
	assert_int_equal(cover_ns(&cover, -1, 1), 2);
	assert_int_equal(cover_ns(&cover, 1, -1), 0);
	cover_release(&cover);
}

static void count_ns(void *context, int64_t start_ns, int64_t end_ns, uint32_t mask)
{
	uint32_t *masks = context;

	assert_true(start_ns < end_ns);
	for (int64_t ns = start_ns; ns < end_ns; ns++) {
		assert_int_equal(masks[ns], UINT32_MAX);
		masks[ns] = mask;
	}
}

static void test_sweep__tells_each_ns_once_with_its_classes(void **state)
{
	(void)state;
	srand(2);
	for (int n = 0; n < N_WORLDS; n++) {
		uint32_t masks[LENGTH];
		struct sweep sweep;
		struct world world;

		memset(masks, 0xff, sizeof(masks));
		make_world(&world);
		sweep_begin(&sweep, 0, count_ns, masks);
		for (int i = 0; i < N_INTERVALS; i++)
			sweep_add(&sweep, world.start[i], world.end[i], (uint32_t)world.class[i]);
		sweep_end(&sweep, LENGTH);
		assert_memory_equal(masks, world.masks, sizeof(masks));
	}
}

static void test_sweep__cuts_what_is_under_way_at_its_end(void **state)
{
	uint32_t masks[LENGTH];
	struct sweep sweep;

	(void)state;
	memset(masks, 0xff, sizeof(masks));
	sweep_begin(&sweep, 0, count_ns, masks);
	sweep_end(&sweep, 0);
	sweep_add(&sweep, 1, 40, 7);
	sweep_end(&sweep, 3);
	assert_int_equal(masks[0], 0);
	assert_int_equal(masks[2], 128);
	assert_int_equal(masks[3], UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cover__is_the_union_of_all_that_was_added),
		cmocka_unit_test(test_cover__holds_all_there_is_of_time),
		cmocka_unit_test(test_sweep__tells_each_ns_once_with_its_classes),
		cmocka_unit_test(test_sweep__cuts_what_is_under_way_at_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
