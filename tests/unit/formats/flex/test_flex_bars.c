/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made Flex traces of one rank: how far rows are off the truth, as figures. The suite tries few
 * seeds; `ctest -C soak -L soak` tries N_SOAK_SEEDS from a fresh one on.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "flex_judge.h"
#include "flex_truth.h"
#include "fresh_seed.h"

#define N_SEEDS      3u
#define N_SOAK_SEEDS 20u
#define FAR_NS       1000000000.0
#define ODD_SEED     86000020u /* its short kernels fit between others by chance */

static uint64_t first_seed;
static uint32_t n_seeds;

struct figures {
	double p50_ns, p99_ns; /* of begins and ends of rows that are no outliers */
	uint64_t n_rows, n_far, n_marked, n_segments;
};

static int compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static double off_ns(const struct csv_table *events, uint64_t row, const char *column,
                     int64_t true_ns)
{
	return (double)llabs(flex_number(events, row, column) - true_ns);
}

static void check_certified(const struct csv_table *events, uint64_t row, double off)
{
	if (strcmp(flex_cell(events, row, "status"), "certified") == 0)
		assert_true(off <= (double)flex_number(events, row, "err_ns"));
}

static struct figures judge(const struct flex_run *run, const struct flex_truth *truth)
{
	const struct csv_table *events = &run->events;
	struct csv_table clocks = flex_read_table(run, "tables/clocks.csv");
	double *offs = calloc(2 * events->n_rows + 1, sizeof(*offs));
	struct figures figures = {.n_segments = clocks.n_rows};
	uint64_t n = 0;

	assert_non_null(offs);
	for (uint64_t row = 0; row < events->n_rows; row++) {
		const struct flex_op *op = flex_find_op(truth, events, row);
		int stamp = flex_first_stamp(flex_cell(events, row, "kind"));
		double begin = off_ns(events, row, "start_ns", op->host_ns[stamp]);
		double end = off_ns(events, row, "end_ns", op->host_ns[stamp + 1]);

		check_certified(events, row, begin > end ? begin : end);
		if (strcmp(flex_cell(events, row, "status"), "outlier") == 0) {
			figures.n_marked++;
			continue;
		}
		figures.n_far += begin > FAR_NS || end > FAR_NS;
		offs[n++] = begin;
		offs[n++] = end;
	}
	qsort(offs, n, sizeof(*offs), compare_doubles);
	figures.n_rows = events->n_rows;
	figures.p50_ns = n ? offs[n / 2] : 0;
	figures.p99_ns = n ? offs[n * 99 / 100] : 0;
	free(offs);
	csv_table_release(&clocks);
	return figures;
}

static struct figures convert(void **state, const struct flex_scene *scene,
                              const struct flex_damage *damage)
{
	struct figures figures;
	struct flex_truth truth;
	struct flex_run *run;

	flex_stop(state);
	flex_start(state);
	run = *state;
	assert_true(flex_truth_init(&truth, scene));
	if (damage)
		flex_damage(&truth, damage);
	flex_add_truth(run, &truth);
	flex_convert(run);
	assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], truth.n_ops);
	figures = judge(run, &truth);
	flex_truth_release(&truth);
	return figures;
}

/* Flex's times are true but for what is done to them. */
static struct flex_scene scene_of(uint64_t seed)
{
	struct flex_scene scene = flex_scene_of(seed);

	scene.n_ranks = 1;
	scene.estimate_ns = scene.estimate_ppm = 0;
	scene.form.is_shuffled = false;
	return scene;
}

/* Figures of a soak. */
static void tell(uint64_t seed, const struct figures *figures)
{
	if (n_seeds > N_SEEDS)
		print_message("seed %" PRIu64 ": p50 %.0f p99 %.0f ns, %" PRIu64 " of %" PRIu64
		              " rows far, %" PRIu64 " marked\n",
		              seed, figures->p50_ns, figures->p99_ns, figures->n_far,
		              figures->n_rows, figures->n_marked);
}

/* -- work longer than a wrap ----------------------------------------------------------------- */

struct shape {
	uint32_t n_kernels;
	double longs;
};

/* Twelve jobs; a counter at 557 MHz wraps every 7.7 s. */
static void test_flex_bars__places_work_longer_than_a_wrap(void **state)
{
	static const struct shape shapes[] = {{3, 0.5}, {6, 1}, {20, 0.2}, {60, 0.05}};

	for (uint32_t i = 0; i < 4 * n_seeds; i++) {
		struct flex_scene scene = scene_of(first_seed + i / 4);
		struct figures figures;

		scene.n_iterations = 12;
		scene.n_kernels = shapes[i % 4].n_kernels;
		scene.longs = shapes[i % 4].longs;
		scene.long_ns = 8e9;
		figures = convert(state, &scene, NULL);
		tell(first_seed + i / 4, &figures);
		assert_int_equal(figures.n_segments, 1);
		assert_int_equal(figures.n_far, 0);
		assert_int_equal(figures.n_marked, 0);
		assert_true(figures.p99_ns <= 20000);
	}
}

/* -- wrong epochs ---------------------------------------------------------------------------- */

/* Forty jobs of sixty kernels, some of whose work is a whole wrap off: into round trips of other
 * jobs, where there is other work, or beside all of them. */
static struct figures convert_gaps(void **state, uint64_t seed, double period_ns,
                                   struct flex_damage damage)
{
	struct flex_scene scene = scene_of(seed);
	struct figures figures;

	damage.seed = seed;
	scene.n_iterations = 40;
	scene.n_kernels = 60;
	scene.exec_ns = 3e6;
	scene.gap_every = 0;
	scene.period_ns = period_ns;
	figures = convert(state, &scene, &damage);
	tell(seed, &figures);
	assert_int_equal(figures.n_segments, 1);
	return figures;
}

/* They take long: the suite has a few of them below. */
static uint32_t n_gap_seeds(void)
{
	return n_seeds > N_SEEDS ? n_seeds : 1;
}

/* Nothing that is not marked is a wrap off; hardly anything has to be marked. */
static void test_flex_bars__puts_half_jobs_behind_what_they_followed(void **state)
{
	static const double periods_ns[] = {250e6, 1e9};
	static const uint64_t seeds[] = {1795407517, 1795407523, 1795407526};
	uint64_t n_marked = 0, n_rows = 0;

	for (uint32_t i = 0; i < 4 * n_gap_seeds() + 3; i++) {
		uint64_t seed = i < 4 * n_gap_seeds() ? first_seed + i / 4 : seeds[i % 3];
		const struct flex_damage damage = {.half_gaps = 0.3, .gap_wraps = i % 2 ? 1 : -1};
		const struct flex_damage before = {.half_gaps = 0.3, .gap_wraps = -1};
		struct figures figures = i < 4 * n_gap_seeds()
		                                 ? convert_gaps(state, seed, periods_ns[i / 2 % 2],
		                                                damage)
		                                 : convert_gaps(state, seed, periods_ns[0], before);

		assert_int_equal(figures.n_far, 0);
		n_marked += figures.n_marked;
		n_rows += figures.n_rows;
	}
	assert_true(n_marked <= n_rows / 50);
}

/* The same of nearly all jobs, of every other kernel, of whole jobs, where all is late, and where
 * times scatter. */
static void test_flex_bars__leaves_no_wrong_epoch_unmarked(void **state)
{
	static const struct flex_damage damages[] = {
		{.half_gaps = 0.8, .gap_wraps = -1},
		{.odd_gaps = 0.3, .gap_wraps = -1},
		{.gaps = 0.15, .gap_wraps = 1},
		{.half_gaps = 0.3, .gap_wraps = 1, .shift_ns = 3000000},
		{.half_gaps = 0.3, .gap_wraps = 1, .noise_ns = 300e3},
	};

	for (uint32_t i = 0; i < 5 * n_gap_seeds() + 1; i++) {
		uint64_t seed = i < 5 * n_gap_seeds() ? first_seed + i / 5 : ODD_SEED;
		struct figures figures = convert_gaps(state, seed, 250e6,
		                                      damages[seed == ODD_SEED ? 1 : i % 5]);

		assert_int_equal(figures.n_far, 0);
		assert_true(figures.n_marked <= figures.n_rows / 10);
	}
}

/* -- times that are off ---------------------------------------------------------------------- */

/* Forty jobs of sixty kernels. Returns the median of their p99. */
static double median_p99(void **state, struct flex_damage damage)
{
	double p99s[N_SOAK_SEEDS];

	for (uint32_t i = 0; i < n_seeds; i++) {
		struct flex_scene scene = scene_of(first_seed + i);
		struct figures figures;

		scene.n_iterations = 40;
		scene.n_kernels = 60;
		damage.seed = first_seed + i;
		figures = convert(state, &scene, &damage);
		tell(damage.seed, &figures);
		assert_int_equal(figures.n_segments, 1);
		assert_int_equal(figures.n_far, 0);
		assert_true(figures.n_marked <= figures.n_rows / 500);
		p99s[i] = figures.p99_ns;
	}
	qsort(p99s, n_seeds, sizeof(*p99s), compare_doubles);
	return p99s[n_seeds / 2];
}

static void test_flex_bars__places_shifted_work_within_5_us(void **state)
{
	static const double shifts_ns[] = {-3e6, 1.5e5};

	for (int i = 0; i < 2; i++) {
		const struct flex_damage same = {.shift_ns = (int64_t)shifts_ns[i]};
		const struct flex_damage each = {.scatter_ns = fabs(shifts_ns[i])};

		assert_true(median_p99(state, same) <= 5000);
		assert_true(median_p99(state, each) <= 5000);
	}
}

/* Round trips of 2.5 ms follow each other closely, and estimates put all work into later ones. */
static void test_flex_bars__places_work_that_is_several_round_trips_late(void **state)
{
	for (uint32_t i = 0; i < n_seeds; i++) {
		const struct flex_damage damage = {.seed = first_seed + i, .shift_ns = 3000000};
		struct flex_scene scene = scene_of(first_seed + i);
		struct figures figures;

		scene.n_iterations = 40;
		scene.n_kernels = 60;
		scene.exec_ns = 40e3;
		scene.period_ns = 0;
		scene.gap_every = 0;
		figures = convert(state, &scene, &damage);
		tell(first_seed + i, &figures);
		assert_true(figures.p99_ns <= 5000);
	}
}

static void test_flex_bars__places_stretched_work_within_9_us(void **state)
{
	static const double stretches_ppm[] = {-8000, 5300};

	for (int i = 0; i < 2; i++) {
		const struct flex_damage damage = {.stretch_ppm = stretches_ppm[i]};

		assert_true(median_p99(state, damage) <= 9000);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_flex_bars__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(places_work_longer_than_a_wrap),
		TEST(puts_half_jobs_behind_what_they_followed),
		TEST(leaves_no_wrong_epoch_unmarked),
		TEST(places_shifted_work_within_5_us),
		TEST(places_work_that_is_several_round_trips_late),
		TEST(places_stretched_work_within_9_us),
	};

	first_seed = getenv("FLEXTRACE_TEST_SEED") ? fresh_seed() : 1;
	n_seeds = getenv("FLEXTRACE_TEST_SEED") ? N_SOAK_SEEDS : N_SEEDS;
	return cmocka_run_group_tests_name("flex_bars", tests, NULL, NULL);
}
