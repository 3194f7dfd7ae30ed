/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of calibrate on literals: lines, bands and what they drop. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/calibrate/calibrate_impl.h"
#include "base/marzullo.h"

static void test_band__agrees_with_most_intervals(void **state)
{
	const struct interval all[] = {{0, 10}, {8, 20}, {9, 9}, {100, 200}, {12, 13}};
	struct interval hull;
	int64_t spare[10];

	(void)state;
	assert_int_equal(marzullo_hull(all, 5, 1.0, spare, &hull), 3);
	assert_int_equal(hull.lo, 9);
	assert_int_equal(hull.hi, 9);
	assert_int_equal(marzullo_hull(all, 5, 0.6, spare, &hull), 3); /* two of them are enough */
	assert_int_equal(hull.lo, 8);
	assert_int_equal(hull.hi, 13);
	assert_int_equal(marzullo_hull(all, 0, 1.0, spare, &hull), 0);
}

static void test_band__agrees_across_the_whole_range(void **state)
{
	const struct interval all[] = {{INT64_MIN, INT64_MAX}, {-5, INT64_MAX}, {INT64_MIN, -5}};
	struct interval hull;
	int64_t spare[6];

	(void)state;
	assert_int_equal(marzullo_hull(all, 3, 1.0, spare, &hull), 3);
	assert_int_equal(hull.lo, -5);
	assert_int_equal(hull.hi, -5);
}

static void test_band__closes_a_band_exactly(void **state)
{
	/* One piece: 1 ns per tick; phi may rise by 10 and fall by 5 of its units per tick. */
	struct piece piece = {
		0,     0,    UINT64_C(1) << 40, UINT64_C(10) << 24, UINT64_C(5) << 24, false,
		false, false};
	const struct reference reference = {.pieces = &piece, .n_pieces = 1};
	struct knot knots[] = {
		{0, -PHI_UNBOUNDED, 5000},
		{100, 0, PHI_UNBOUNDED},
		{200, -PHI_UNBOUNDED, 100},
		{1000, -20000, 20000},
	};

	(void)state;
	/* A place of 501 units between -501 and 100 is its narrowest. */
	assert_int_equal(band_close(knots, 4, &reference), 100 + 501);
	/* A step of n ticks is 10 n + 1 up and 5 n + 1 down, rounded up. */
	assert_int_equal(knots[0].lo, 0 - 1001);
	assert_int_equal(knots[0].hi, 100 + 501 + 501);
	assert_int_equal(knots[1].lo, 0);
	assert_int_equal(knots[1].hi, 100 + 501);
	assert_int_equal(knots[2].lo, 0 - 501);
	assert_int_equal(knots[2].hi, 100);
	assert_int_equal(knots[3].lo, 0 - 501 - 4001);
	assert_int_equal(knots[3].hi, 100 + 8001);
}

static void test_band__that_contradicts_itself_has_no_width(void **state)
{
	struct piece piece = {0, 0, UINT64_C(1) << 40, 1, 1, false, false, false};
	const struct reference reference = {.pieces = &piece, .n_pieces = 1};
	struct knot knots[] = {
		{0, -PHI_UNBOUNDED, 100},
		{10, 900, PHI_UNBOUNDED},
		{20, -PHI_UNBOUNDED, 100},
	};

	(void)state;
	assert_true(band_close(knots, 3, &reference) < 0);
	assert_true(band_close(knots, 0, &reference) > 0);
}

static void test_band__fits_the_line_of_largest_margin(void **state)
{
	/* Lower points on h = 2x + 100, upper points on h = 2x + 300: the middle is 2x + 200. */
	struct claim all[200];
	uint8_t is_false[200] = {0};
	struct evidence evidence = {all, is_false, 200, 0, 0};
	struct line line = {1, 0.1, 10, 0, 0};
	struct hulls hulls;

	(void)state;
	for (int i = 0; i < 200; i++) {
		all[i] = (struct claim){1000u * (unsigned)i, 1000u * (unsigned)i, 2000 * i + 100,
		                        2000 * i + 300};
	}
	is_false[150] = 1;
	all[150].before = 310000;
	assert_int_equal(hulls_init(&hulls, &evidence), 0);
	assert_true(hulls.n_blocks > 2);
	assert_int_equal(line_fit(&hulls, 0, hulls.n_blocks, &line), 0);
	assert_true(fabs(line.slope - 2) < 1e-6);
	assert_true(fabs(line.margin_ns - 100) < 0.01);
	assert_true(fabs(line.offset_ns - 200) < 0.1);
	/* From one end's lower to the other's upper point: 200 ns over 199000 ticks. */
	assert_true(fabs(line.slope_lo - (2 - 200 / 199e3)) < 1e-6);
	assert_true(fabs(line.slope_hi - (2 + 200 / 199e3)) < 1e-6);
	hulls_release(&hulls);
}

static void test_band__turns_away_what_its_neighbours_contradict(void **state)
{
	struct claim all[100];
	uint8_t is_false[100] = {0};
	struct evidence evidence = {all, is_false, 100, 0, 0};
	struct reference reference;

	(void)state;
	for (int i = 0; i < 100; i++) {
		int64_t lie = i == 40 ? 5000 : i == 99 ? -5000 : 0;

		all[i] = (struct claim){
			.first = 1000u * (unsigned)i,
			.last = 1000u * (unsigned)i + 10,
			.before = 1000 * i - 500 + lie,
			.after = i == 70 ? INT64_MAX : 1000 * i + 500 + lie,
		};
	}
	all[60].after += 1000000; /* only wide */
	assert_int_equal(reference_init_straight(&reference, 1, 1e-5), 0);
	assert_int_equal(reject_false(&evidence, &reference), 2);
	assert_true(is_false[40] && is_false[99]);
	assert_false(is_false[60] || is_false[70]);
	reference_release(&reference);
	/* If the slope may be anything, nothing is a contradiction. */
	memset(is_false, 0, sizeof(is_false));
	assert_int_equal(reference_init_straight(&reference, 1, 1), 0);
	assert_int_equal(reject_false(&evidence, &reference), 0);
	reference_release(&reference);
}

/* Upper bounds of 0 at both ends of 1000 ticks, nothing else. Rates that differ by 2 rho leave
 * 2 rho * 500 * 500 / 1000 in the middle, where a rate without a mean may rise all the way. */
static void test_band__narrows_to_what_one_mean_rate_leaves(void **state)
{
	const double rho = 0x1p-10;
	struct piece piece = {
		.slope = UINT64_C(1) << 40, .rise = UINT64_C(1) << 36, .fall = UINT64_C(1) << 36};
	struct knot knots[] = {
		{0, -1000000000, 0},
		{500, -1000000000, 100000000},
		{1000, -1000000000, 0},
	};
	struct attempt band = {.reference = {.pieces = &piece, .n_pieces = 1},
	                       .knots = knots,
	                       .n_knots = 3,
	                       .rho = rho};
	double spread = piece_spread(&piece, rho) * 0x1p20;

	(void)state;
	assert_true(band_close(knots, 3, &band.reference) >= 0);
	assert_true((double)knots[1].hi > 900 * spread);
	assert_int_equal(band_bridge(&band), 0);
	assert_true(fabs((double)knots[1].hi - 250 * spread) < 4);
	assert_int_equal(knots[0].hi, 0);
	assert_int_equal(knots[2].hi, 0);
}

static void test_band__leaves_out_only_what_follows(void **state)
{
	struct piece piece = {.slope = UINT64_C(1) << 40};
	struct knot knots[] = {
		{0, -100, 100}, {10, -100, 500}, {20, -100, 100}, {20, -100, 100},
		{30, -900, 50}, {40, -10, 100},  {50, -100, 100},
	};
	struct attempt band = {
		.reference = {.pieces = &piece, .n_pieces = 1}, .knots = knots, .n_knots = 7};

	(void)state;
	piece.rise = piece.fall = UINT64_C(1) << 24; /* 1 of phi per tick, and 1 of rounding */
	assert_true(band_close(knots, 7, &band.reference) >= 0);
	assert_int_equal(band_thin(&band), 4);
	assert_int_equal(knots[1].x, 30);
	assert_int_equal(knots[1].hi, 50);
	assert_int_equal(knots[2].x, 40);
	assert_int_equal(knots[2].lo, -10);
	assert_int_equal(knots[3].x, 50);
}

/* What pairs leave of the mean slopes, one pair after the other. */
static void pair_means(const struct knot *knots, uint32_t n, double slope, double rho, double *lo,
                       double *hi)
{
	double unit = ldexp(1, PHI_BITS);

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = i + 1; j < n; j++) {
			double dx = (double)(knots[j].x - knots[i].x);
			double least = (double)(knots[j].lo - knots[i].hi) / unit / dx + slope;
			double most = (double)(knots[j].hi - knots[i].lo) / unit / dx + slope;

			*lo = fmax(*lo, least / (1 + rho));
			*hi = fmin(*hi, most / (1 - rho));
		}
	}
}

static void test_band__finds_the_means_that_all_pairs_leave(void **state)
{
	const double slope = 1.8, rho = 1e-5;
	struct knot knots[200];
	uint32_t random = 1, n_met = 0;

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t n = 2 + round, n_knots = n < 200 ? n : 200;
		double lo = 1, hi = 3, pair_lo = 1, pair_hi = 3;

		for (uint32_t i = 0; i < n_knots; i++) {
			int64_t late = (random = random * 1664525 + 1013904223) >> 8;
			int64_t early = (random = random * 1664525 + 1013904223) >> 8;
			/* In every second round there may be a mean, in the others hardly. */
			int64_t off = round % 2 ? late - early : 0;

			knots[i] = (struct knot){(i + 1ull) * 1000003, off - early, off + late};
		}
		pair_means(knots, n_knots, slope, rho, &pair_lo, &pair_hi);
		slope_means(knots, n_knots, slope, rho, &lo, &hi);
		assert_int_equal(lo <= hi, pair_lo <= pair_hi);
		if (lo > hi)
			continue;
		n_met++;
		assert_true(fabs(lo - pair_lo) < 1e-12);
		assert_true(fabs(hi - pair_hi) < 1e-12);
	}
	assert_in_range(n_met, 100, 199);
}

static void test_band__finds_no_mean_where_one_place_contradicts_itself(void **state)
{
	const struct knot knots[] = {{5, -PHI_UNBOUNDED, 10}, {5, 11, PHI_UNBOUNDED}, {9, 0, 30}};
	double lo = 1, hi = 3;

	(void)state;
	slope_means(knots, 3, 1.8, 1e-5, &lo, &hi);
	assert_true(lo > hi);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_band__##name)
	const struct CMUnitTest tests[] = {
		TEST(agrees_with_most_intervals),
		TEST(agrees_across_the_whole_range),
		TEST(turns_away_what_its_neighbours_contradict),
		TEST(closes_a_band_exactly),
		TEST(that_contradicts_itself_has_no_width),
		TEST(fits_the_line_of_largest_margin),
		TEST(narrows_to_what_one_mean_rate_leaves),
		TEST(leaves_out_only_what_follows),
		TEST(finds_the_means_that_all_pairs_leave),
		TEST(finds_no_mean_where_one_place_contradicts_itself),
	};

	return cmocka_run_group_tests_name("band", tests, NULL, NULL);
}
