/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "findings/statistics/difference.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void assert_near(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.12g instead of %.12g", value, expected);
}

/* Tables of Student's t, and Simpson's rule for degrees that are not whole. */
static void test_difference__knows_students_t(void **state)
{
	static const struct {
		double degrees, t;
	} cases[] = {
		{1, 12.706204736},  {1.5, 6.016663104},  {2, 4.302652730},    {2.5, 3.574654842},
		{5, 2.570581836},   {7.3, 2.345066737},  {30, 2.042272456},   {100, 1.983971519},
		{999, 1.962341461}, {1000, 1.962339081}, {1001, 1.962336705}, {1e12, 1.959963985},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++)
		assert_near(student_quantile(cases[i].degrees), cases[i].t, 2e-8);
}

/* Beyond this, the expansion takes over: there is no step. */
static void test_difference__t_falls_with_degrees(void **state)
{
	double before = INFINITY;

	(void)state;
	for (double degrees = 0.5; degrees < 3000; degrees *= 1.01) {
		double t = student_quantile(degrees);

		assert_true(t < before && t > 1.9599);
		before = t;
	}
}

/* Published examples of Welch's test; intervals by Simpson's rule. */
static void test_difference__of_unequal_variances_and_numbers(void **state)
{
	const struct sample a = sample_of(15, 20.8, sqrt(7.9)), b = sample_of(15, 23.0, sqrt(3.8));
	const struct sample c = sample_of(10, 20.6, 3), d = sample_of(20, 22.1, sqrt(0.9));
	struct difference first = difference_of(&a, &b), second = difference_of(&c, &d);

	(void)state;
	assert_near(first.value, 2.2, 1e-12);
	assert_near(first.error, 1.819166, 1e-6);
	assert_true(difference_is_certain(&first));
	assert_near(second.value, 1.5, 1e-12);
	assert_near(second.error, 2.168645, 1e-6);
	assert_false(difference_is_certain(&second));
	second = difference_of(&d, &c);
	assert_near(second.value, -1.5, 1e-12);
	assert_near(second.error, 2.168645, 1e-6);
}

static void test_difference__of_single_values_is_not_known(void **state)
{
	const struct sample none = {.n = 0}, one = sample_of(1, 5, 0), two = sample_of(2, 9, 1);
	const struct sample *const pairs[][2] = {{&one, &one}, {&one, &two}, {&two, &one}};
	struct difference difference;

	(void)state;
	for (size_t i = 0; i < N(pairs); i++) {
		difference = difference_of(pairs[i][0], pairs[i][1]);
		assert_false(isnan(difference.value));
		assert_true(isnan(difference.error));
		assert_false(difference_is_certain(&difference));
	}
	difference = difference_of(&none, &two);
	assert_true(isnan(difference.value));
	assert_false(difference_is_certain(&difference));
	difference = difference_from_zero(&one);
	assert_near(difference.value, 5, 0);
	assert_true(isnan(difference.error));
}

static void test_difference__of_values_that_never_vary_is_exact(void **state)
{
	const struct sample a = sample_of(3, 7, 0), b = sample_of(2, 8, 0), c = sample_of(9, 8, 1);
	struct difference difference = difference_of(&a, &b);

	(void)state;
	assert_near(difference.error, 0, 0);
	assert_true(difference_is_certain(&difference));
	difference = difference_of(&a, &a);
	assert_near(difference.value, 0, 0);
	assert_false(difference_is_certain(&difference));
	/* One side varies: its degrees alone count. */
	difference = difference_of(&a, &c);
	assert_near(difference.error, student_quantile(8) / 3, 1e-12);
}

static void test_difference__samples_add_up(void **state)
{
	static const double values[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
	struct sample all = {.n = 0}, halves[2] = {{.n = 0}, {.n = 0}};
	struct difference difference;

	(void)state;
	for (size_t i = 0; i < N(values); i++) {
		sample_add(&all, values[i]);
		sample_add(&halves[i / 2], values[i]);
	}
	sample_merge(&halves[0], &halves[1]);
	sample_merge(&halves[0], &(struct sample){.n = 0});
	assert_near(all.mean, 1e9 + 10, 0);
	assert_near(all.squares, 90, 1e-9);
	assert_near(halves[0].n, 4, 0);
	assert_near(halves[0].mean, 1e9 + 10, 0);
	assert_near(halves[0].squares, 90, 1e-9);
	difference = difference_from_zero(&all);
	assert_near(difference.error, 3.182446305 * sqrt(30.0 / 4), 1e-6);
}

/* Irwin and Hall: nearly normal, mean 0. */
static double scatter(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(*seed >> 40) / (1 << 24);
	}
	return sum;
}

/* What the interval promises: of worlds without a difference, 5 % look as if there was one. */
static void test_difference__is_wrong_as_often_as_it_says(void **state)
{
	static const struct {
		int n_a, n_b;
		double spread_b;
	} cases[] = {{5, 5, 1}, {4, 12, 1}, {20, 6, 3}, {6, 20, 3}, {200, 300, 2}};
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		int n_certain = 0;

		for (int trial = 0; trial < 4000; trial++) {
			struct sample a = {.n = 0}, b = {.n = 0};
			struct difference difference;

			for (int k = 0; k < cases[i].n_a; k++)
				sample_add(&a, scatter(&seed));
			for (int k = 0; k < cases[i].n_b; k++)
				sample_add(&b, scatter(&seed) * cases[i].spread_b);
			difference = difference_of(&a, &b);
			n_certain += difference_is_certain(&difference);
		}
		if (n_certain < 160 || n_certain > 240)
			fail_msg("case %zu: %d of 4000", i, n_certain);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_difference__knows_students_t),
		cmocka_unit_test(test_difference__t_falls_with_degrees),
		cmocka_unit_test(test_difference__of_unequal_variances_and_numbers),
		cmocka_unit_test(test_difference__of_single_values_is_not_known),
		cmocka_unit_test(test_difference__of_values_that_never_vary_is_exact),
		cmocka_unit_test(test_difference__samples_add_up),
		cmocka_unit_test(test_difference__is_wrong_as_often_as_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
