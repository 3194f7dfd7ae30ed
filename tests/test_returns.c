/* SPDX-License-Identifier: Apache-2.0 */
/* Segments between two that are on one axis, with maps written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/calibrate_impl.h"
#include "identity.h"

#define NS    INT64_C(1)
#define SLOPE 1.0 /* ns per tick */

/* A segment of one second at 1 GHz from a stamp and its host time on. */
struct segment {
	struct map_knot knots[2];
	struct clock_map map;
};

static void segment_init(struct segment *segment, uint64_t ticks, int64_t host_ns)
{
	*segment = (struct segment){
		.knots = {{.ticks = ticks, .host_ns = host_ns},
	                  {.ticks = ticks + 1000000000, .host_ns = host_ns + 1000000000 * NS}},
		.map = {.n_knots = 2,
	                .rho = 1e-5,
	                .slope_lo = SLOPE * (1 - 1e-5),
	                .slope_hi = SLOPE * (1 + 1e-5)},
	};
	segment->map.knots = segment->knots;
}

/* Judges segments of one counter of 32 bits; stores which are assumed then. */
static void judge(const struct clock_map *given, uint32_t n, bool *ret_is_assumed)
{
	struct counter counter = {.counter_bits = 32};
	const struct identity identity = {.counters = &counter, .n_counters = 1};
	struct clock_map maps[4];
	uint32_t first_map[2] = {0, n};
	struct clocks clocks = {.first_map = first_map, .n_counters = 1, .maps = maps, .n_maps = n};

	for (uint32_t i = 0; i < n; i++)
		maps[i] = given[i];
	returns_doubt(&clocks, &identity);
	for (uint32_t i = 0; i < n; i++)
		ret_is_assumed[i] = maps[i].quality.is_assumed;
}

static void test_returns__assumes_what_stands_between_two_on_one_axis(void **state)
{
	struct segment first, between, last;
	bool is_assumed[3];

	(void)state;
	segment_init(&first, 1000, 0);
	segment_init(&between, 500000, 2000000000 * NS); /* on an axis of its own, ... */
	between.map.slope_lo = 0.9;                      /* with a rate that is hardly known */
	between.map.slope_hi = 0.9005;
	segment_init(&last, 1000 + UINT64_C(4000000000), 4000000000 * NS);
	judge((struct clock_map[]){first.map, between.map, last.map}, 3, is_assumed);
	assert_false(is_assumed[0]);
	assert_true(is_assumed[1]);
	assert_false(is_assumed[2]);
}

static void test_returns__believes_a_reset_behind_which_nothing_comes_back(void **state)
{
	struct segment first, second, third;
	bool is_assumed[3];

	(void)state;
	segment_init(&first, 1000, 0);
	segment_init(&second, 500000, 2000000000 * NS);
	segment_init(&third, 500000 + UINT64_C(2000000000), 4000000000 * NS);
	judge((struct clock_map[]){first.map, second.map, third.map}, 3, is_assumed);
	for (int i = 0; i < 3; i++)
		assert_false(is_assumed[i]);
}

/* Of the same rate: the host's clock jumped, and back. Unless the evidence contradicts itself. */
static void test_returns__believes_what_is_of_one_rate_and_not_contradicted(void **state)
{
	struct segment first, between, last;
	bool is_assumed[3];

	(void)state;
	segment_init(&first, 1000, 0);
	segment_init(&between, 500000, 2000000000 * NS);
	segment_init(&last, 1000 + UINT64_C(4000000000), 4000000000 * NS);
	judge((struct clock_map[]){first.map, between.map, last.map}, 3, is_assumed);
	assert_false(is_assumed[1]);
	between.map.is_contradicted = true;
	judge((struct clock_map[]){first.map, between.map, last.map}, 3, is_assumed);
	assert_true(is_assumed[1]);
	assert_false(is_assumed[0]);
	assert_false(is_assumed[2]);
}

static void test_returns__passes_segments_that_no_evidence_reached(void **state)
{
	const struct clock_map nothing = {.n_knots = 0};
	struct segment first, last;
	bool is_assumed[3];

	(void)state;
	segment_init(&first, 1000, 0);
	segment_init(&last, 1000 + UINT64_C(4000000000), 4000000000 * NS);
	judge((struct clock_map[]){first.map, nothing, last.map}, 3, is_assumed);
	assert_false(is_assumed[0]);
	assert_false(is_assumed[2]);
	judge((struct clock_map[]){nothing, nothing, nothing}, 3, is_assumed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_returns__assumes_what_stands_between_two_on_one_axis),
		cmocka_unit_test(test_returns__believes_a_reset_behind_which_nothing_comes_back),
		cmocka_unit_test(test_returns__believes_what_is_of_one_rate_and_not_contradicted),
		cmocka_unit_test(test_returns__passes_segments_that_no_evidence_reached),
	};

	return cmocka_run_group_tests_name("returns", tests, NULL, NULL);
}
