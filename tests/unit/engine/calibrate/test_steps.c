/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the rate, from literal evidence: wherever a step stands among the blocks and parts, the
 * true rate must be one of those that the reference leaves at its place.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/calibrate/calibrate_impl.h"

#define MAX_N   2000
#define SPACING 10000000 /* ticks of 1 ns */
#define HALF_NS 5000
#define RHO     1e-5

/* A clock read every SPACING ticks. */
struct scene {
	struct claim claims[MAX_N];
	uint8_t is_false[MAX_N];
	uint32_t n;
	int64_t step_x[2];
	double rate[3]; /* ns per tick up to the first step, between, and behind */
};

static double rate_at(const struct scene *scene, int64_t x)
{
	return scene->rate[(x >= scene->step_x[0]) + (x >= scene->step_x[1])];
}

static double host_at(const struct scene *scene, int64_t x)
{
	double ns = 0;
	int64_t from = 0;

	for (int i = 0; i < 2; i++) {
		int64_t to = x < scene->step_x[i] ? x : scene->step_x[i];

		ns += (double)(to - from) * scene->rate[i];
		from = to;
	}
	return ns + (double)(x - from) * scene->rate[2];
}

static struct evidence make(struct scene *scene, uint32_t n)
{
	scene->n = n;
	for (uint32_t i = 0; i < n; i++) {
		int64_t x = (int64_t)i * SPACING;
		/* Now and then a read takes long, on either side. */
		int64_t before = i % 7 == 3 ? 60000 : HALF_NS, after = i % 5 == 2 ? 90000 : HALF_NS;

		scene->claims[i] = (struct claim){
			.first = (uint64_t)x,
			.last = (uint64_t)x,
			.before = (int64_t)floor(host_at(scene, x)) - before,
			.after = (int64_t)ceil(host_at(scene, x)) + after,
		};
		scene->is_false[i] = 0;
	}
	return (struct evidence){scene->claims, scene->is_false, n, 0, 0};
}

static void fit(const struct evidence *evidence, struct hulls *hulls, struct line *whole)
{
	*whole = (struct line){.slope = 1, .slope_lo = 0.99, .slope_hi = 1.01};
	assert_int_equal(hulls_init(hulls, evidence), 0);
	assert_int_equal(line_fit(hulls, 0, hulls->n_blocks, whole), 0);
}

/* What the reference leaves of the rate at x: the truth, and no more than `span` far from steps. */
static void expect_rate(const struct scene *scene, const struct reference *reference, int64_t x,
                        int64_t zone, double span)
{
	const struct piece *piece = reference_piece(reference, (uint64_t)x);
	double slope = ldexp((double)piece->slope, -SLOPE_BITS);
	double lo = slope - ldexp((double)piece->fall, -WANDER_BITS);
	double hi = slope + ldexp((double)piece->rise, -WANDER_BITS);
	double rate = rate_at(scene, x);

	assert_true(lo <= rate * (1 - 1.9 * RHO) && hi >= rate * (1 + 1.9 * RHO));
	if (llabs(x - scene->step_x[0]) > zone && llabs(x - scene->step_x[1]) > zone)
		assert_true(hi - lo <= span);
}

static void expect_rates(struct scene *scene, uint32_t n, int64_t zone, double span)
{
	struct evidence evidence = make(scene, n);
	struct reference reference;
	struct hulls hulls;
	struct line whole;

	fit(&evidence, &hulls, &whole);
	assert_int_equal(reference_init(&reference, &hulls, &whole, RHO), 0);
	for (int64_t x = 0; x < (int64_t)n * SPACING; x += SPACING / 4)
		expect_rate(scene, &reference, x, zone, span);
	reference_release(&reference);
	hulls_release(&hulls);
}

static void test_steps__are_none_of_a_steady_rate(void **state)
{
	static struct scene scene;
	struct evidence evidence;
	struct reference reference;
	struct hulls hulls;
	struct line whole;

	(void)state;
	scene.step_x[0] = scene.step_x[1] = INT64_MAX;
	scene.rate[0] = 1;
	evidence = make(&scene, 1000);
	fit(&evidence, &hulls, &whole);
	assert_int_equal(reference_init(&reference, &hulls, &whole, RHO), 0);
	assert_int_equal(reference.n_pieces, 1);
	assert_int_equal(reference_steps(&reference), 0);
	reference_release(&reference);
	hulls_release(&hulls);
}

/* Blocks are of 16 brackets. */
static void test_steps__leave_both_rates_around_them(void **state)
{
	static const struct {
		double at; /* in brackets */
		double ppm;
	} cases[] = {
		{500, 300},   {500.5, -300}, {511.5, 300}, {512.5, 300},  {514.2, 300},
		{509.7, 500}, {40.3, 300},   {31.9, -500}, {960.5, 300},  {975.5, -300},
		{768, 40},    {771.3, 40},   {255.5, 100}, {250.1, 1000},
	};
	static struct scene scene;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double ppm = cases[i].ppm;

		scene.step_x[0] = (int64_t)(cases[i].at * SPACING);
		scene.step_x[1] = INT64_MAX;
		scene.rate[0] = 1;
		scene.rate[1] = 1 + ppm * 1e-6;
		double told = fmax(fabs(ppm) * 1e-6 - 4 * RHO, 1e-6);
		int64_t zone = (int64_t)(4 * HALF_NS / told) + 48 * SPACING;
		bool has_room = cases[i].at > 200 && cases[i].at < 800; /* to know both rates */

		expect_rates(&scene, 1000, zone, has_room ? 6 * RHO : 1e-3);
	}
}

static void test_steps__may_follow_each_other(void **state)
{
	static const double lengths[] = {64, 100.5, 200.3};
	static struct scene scene;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int at = 400; at < 416; at += 3) {
			scene.step_x[0] = (int64_t)at * SPACING;
			scene.step_x[1] = scene.step_x[0] + (int64_t)(lengths[i] * SPACING);
			scene.rate[0] = scene.rate[2] = 1;
			scene.rate[1] = 1 + 300e-6;
			expect_rates(&scene, 1000, INT64_MAX, 0);
		}
	}
}

/* A part takes slopes only from where no other rate can have been: of either rate alone, all its
 * evidence leaves the true slope. */
static void test_steps__do_not_bend_the_slopes_of_their_neighbours(void **state)
{
	static struct scene scene;

	(void)state;
	scene.step_x[1] = INT64_MAX;
	scene.rate[0] = 1;
	scene.rate[1] = 1 + 300e-6;
	for (int at = 0; at < 32; at++) {
		struct evidence evidence;
		struct parts parts;
		struct hulls hulls;
		struct line whole;

		scene.step_x[0] = (128 + at) * INT64_C(10000000) / 2 + 64 * INT64_C(10000000);
		evidence = make(&scene, 256);
		fit(&evidence, &hulls, &whole);
		assert_int_equal(parts_init(&parts, &hulls, &whole, RHO), 0);
		assert_int_equal(parts_reach(&parts), 0);
		for (uint32_t i = 0; i < parts.n; i++) {
			const struct part *part = &parts.parts[i];
			double rate = rate_at(&scene, (int64_t)block_x(&hulls, part->core_from));

			if (!part->has_rate || !part->has_core)
				continue;
			assert_true(part->line.slope_lo <= rate + 1e-9);
			assert_true(part->line.slope_hi >= rate - 1e-9);
		}
		parts_release(&parts);
		hulls_release(&hulls);
	}
}

static void test_steps__in_a_gap_do_not_hide_lies_beside_it(void **state)
{
	static struct scene scene;
	struct evidence evidence;
	struct reference reference;

	(void)state;
	scene.step_x[0] = scene.step_x[1] = INT64_MAX;
	scene.rate[0] = 1;
	evidence = make(&scene, 64);
	for (int i = 32; i < 64; i++) { /* a gap of 100 s, over which 300 ppm are 30 ms */
		scene.claims[i].first += UINT64_C(100000000000);
		scene.claims[i].last += UINT64_C(100000000000);
		scene.claims[i].before += INT64_C(100000000000);
		scene.claims[i].after += INT64_C(100000000000);
	}
	scene.claims[30].before += 1000000;
	scene.claims[30].after += 1000000;
	scene.claims[40].before -= 1000000;
	scene.claims[40].after -= 1000000;
	assert_int_equal(reference_init_straight(&reference, 1, 300e-6), 0);
	assert_int_equal(reject_false(&evidence, &reference), 2);
	assert_true(scene.is_false[30] && scene.is_false[40]);
	reference_release(&reference);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_steps__##name)
	const struct CMUnitTest tests[] = {
		TEST(are_none_of_a_steady_rate),
		TEST(leave_both_rates_around_them),
		TEST(may_follow_each_other),
		TEST(do_not_bend_the_slopes_of_their_neighbours),
		TEST(in_a_gap_do_not_hide_lies_beside_it),
	};

	return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
