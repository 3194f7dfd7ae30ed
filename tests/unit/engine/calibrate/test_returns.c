/* SPDX-License-Identifier: Apache-2.0 */
/* Segments between two that are on one axis, and segments that overlap: maps written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/calibrate/calibrate_impl.h"
#include "model/identity/identity.h"

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

/* -- overlaps -------------------------------------------------------------------------------- */

/* Whether anything is doubted of two segments of one second with bounds of 200 us. */
static bool doubts(int64_t overlap_ns, bool is_after_gap, uint32_t half_ns)
{
	struct segment front, behind;
	struct clock_map maps[2];
	uint32_t first_map[2] = {0, 2};
	struct clocks clocks = {.first_map = first_map, .n_counters = 1, .maps = maps, .n_maps = 2};

	segment_init(&front, 1000, 0);
	segment_init(&behind, UINT64_C(5000000000), 1000000000 * NS - overlap_ns);
	for (int i = 0; i < 2; i++)
		front.knots[i].half_ns = behind.knots[i].half_ns = half_ns;
	maps[0] = front.map;
	maps[1] = behind.map;
	maps[1].is_after_gap = is_after_gap;
	overlaps_doubt(&clocks);
	assert_false(front.knots[0].is_doubtful || front.knots[1].is_doubtful);
	assert_false(behind.knots[1].is_doubtful);
	assert_int_equal(behind.knots[0].is_doubtful, maps[1].is_doubtful_before);
	return behind.knots[0].is_doubtful;
}

static void test_overlaps__doubts_what_would_be_shown_in_the_wrong_order(void **state)
{
	static const struct {
		const char *name;
		int64_t overlap_ns;
		bool is_after_gap, is_doubted;
		uint32_t half_ns;
	} cases[] = {
		{"behind a gap", 300000, true, true, 200000},
		{"behind a gap, by more than the bounds", 500000, true, true, 200000},
		{"behind a gap, in order", -1, true, false, 200000},
		{"at once", 0, true, false, 200000},
		{"behind a reset", 300000, false, true, 200000},
		{"behind a jump of the host's clock", 500000, false, false, 200000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (doubts(cases[i].overlap_ns, cases[i].is_after_gap, cases[i].half_ns) !=
		    cases[i].is_doubted)
			fail_msg("%s", cases[i].name);
	}
}

static void test_overlaps__doubts_fewer_knots_and_passes_segments_without_evidence(void **state)
{
	struct map_knot front[] = {
		{.ticks = 1000, .host_ns = 0},
		{.ticks = 999801000, .host_ns = 999800000 * NS},
		{.ticks = 1000001000, .host_ns = 1000000000 * NS},
	};
	struct map_knot behind[] = {
		{.ticks = UINT64_C(9000000000), .host_ns = 999900000 * NS},
		{.ticks = UINT64_C(9000010000), .host_ns = 999910000 * NS},
		{.ticks = UINT64_C(9000020000), .host_ns = 999920000 * NS},
	};
	struct clock_map maps[] = {
		{.knots = front, .n_knots = 3},
		{.is_after_gap = true},
		{.knots = behind, .n_knots = 3, .is_after_gap = true},
	};
	uint32_t first_map[2] = {0, 3};
	struct clocks clocks = {.first_map = first_map, .n_counters = 1, .maps = maps, .n_maps = 3};

	(void)state;
	overlaps_doubt(&clocks);
	assert_false(front[0].is_doubtful);
	assert_true(front[1].is_doubtful && front[2].is_doubtful);
	for (int i = 0; i < 3; i++)
		assert_false(behind[i].is_doubtful);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_returns__assumes_what_stands_between_two_on_one_axis),
		cmocka_unit_test(test_returns__believes_a_reset_behind_which_nothing_comes_back),
		cmocka_unit_test(test_returns__believes_what_is_of_one_rate_and_not_contradicted),
		cmocka_unit_test(test_overlaps__doubts_what_would_be_shown_in_the_wrong_order),
		cmocka_unit_test(
			test_overlaps__doubts_fewer_knots_and_passes_segments_without_evidence),
		cmocka_unit_test(test_returns__passes_segments_that_no_evidence_reached),
	};

	return cmocka_run_group_tests_name("returns", tests, NULL, NULL);
}
