/* SPDX-License-Identifier: Apache-2.0 */
/* Made Flex traces whose host times are far from 0, or far from where they should be. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "flex_judge.h"
#include "flex_truth.h"

#define YEAR_2025_NS INT64_C(1735689600000000000)
#define LAST_NS      (INT64_C(1) << 62)
#define SECOND_NS    INT64_C(1000000000)
#define HOUR_NS      INT64_C(3600000000000)

static struct flex_run *convert_damaged(void **state, const struct flex_scene *scene,
                                        const struct flex_damage *damage, struct flex_truth *truth)
{
	struct flex_run *run;

	flex_stop(state);
	flex_start(state);
	run = *state;
	assert_true(flex_truth_init(truth, scene));
	flex_damage(truth, damage);
	flex_add_truth(run, truth);
	flex_convert(run);
	assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], truth->n_ops);
	return run;
}

static struct flex_run *convert(void **state, const struct flex_scene *scene)
{
	const struct flex_damage damage = {.seed = 0};
	struct flex_truth truth;
	struct flex_run *run = convert_damaged(state, scene, &damage, &truth);

	assert_int_equal(ledger_lost(&run->ledger), 0);
	assert_int_equal(run->ledger.warnings[WARNING_NO_DEVICE_CLOCK], 0);
	flex_truth_release(&truth);
	return run;
}

/* All times of all rows are `by_ns` later, all else is as it was. */
static void check_moved(const struct csv_table *of, const struct csv_table *moved, int64_t by_ns)
{
	assert_int_equal(of->n_rows, moved->n_rows);
	for (uint64_t row = 0; row < of->n_rows; row++) {
		for (uint32_t i = 0; i < of->n_columns; i++) {
			const char *column = of->columns[i];

			if (strcmp(column, "start_ns") == 0 || strcmp(column, "end_ns") == 0)
				assert_int_equal(flex_number(moved, row, column) -
				                         flex_number(of, row, column),
				                 by_ns);
			else
				assert_string_equal(flex_cell(moved, row, column),
				                    flex_cell(of, row, column));
		}
	}
}

static void test_flex_epochs__takes_host_times_of_any_size(void **state)
{
	static const int64_t starts_ns[] = {YEAR_2025_NS, LAST_NS - HOUR_NS};
	struct flex_scene scene = flex_scene_of(3);
	struct csv_table events, host;
	struct flex_run *run;

	scene.n_ranks = 2;
	run = convert(state, &scene);
	events = run->events;
	host = run->host;
	memset(&run->events, 0, sizeof(run->events));
	memset(&run->host, 0, sizeof(run->host));
	for (int i = 0; i < 2; i++) {
		struct flex_scene later = scene;

		later.start_ns = starts_ns[i];
		run = convert(state, &later);
		check_moved(&events, &run->events, later.start_ns - scene.start_ns);
		check_moved(&host, &run->host, later.start_ns - scene.start_ns);
	}
	csv_table_release(&events);
	csv_table_release(&host);
}

struct tally {                        /* of rows */
	uint64_t n_wrong, n_unmarked; /* of the wrong ones */
	uint64_t n_right;             /* that are marked all the same */
};

static struct tally count(const struct flex_run *run, const struct flex_truth *truth)
{
	struct tally tally = {0};

	for (uint64_t row = 0; row < run->events.n_rows; row++) {
		const struct flex_op *op = flex_find_op(truth, &run->events, row);
		int stamp = flex_first_stamp(flex_cell(&run->events, row, "kind"));
		int64_t off_ns = flex_number(&run->events, row, "start_ns") - op->host_ns[stamp];
		bool is_marked = !strcmp(flex_cell(&run->events, row, "status"), "outlier");
		bool is_wrong = llabs(off_ns) > SECOND_NS;

		tally.n_wrong += is_wrong;
		tally.n_unmarked += is_wrong && !is_marked;
		tally.n_right += !is_wrong && is_marked;
	}
	return tally;
}

/* A tool that does not count the wraps of long work puts all later work too early: into trips of
 * other work, or the last ones have none. Then only what these could not have been is unmarked. */
static void test_flex_epochs__marks_work_that_trips_without_work_could_be_of(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		const struct flex_damage damage = {
			.seed = seed, .loses_wraps = true, .keeps_early = true};
		struct flex_scene scene = flex_scene_of(seed);
		struct flex_truth truth;
		struct flex_run *run;
		struct tally tally;

		scene.n_ranks = 1;
		scene.n_iterations = 12;
		scene.longs = 0.05;
		scene.long_ns = 8e9;
		scene.estimate_ns = scene.estimate_ppm = 0;
		run = convert_damaged(state, &scene, &damage, &truth);
		tally = count(run, &truth);
		assert_true(tally.n_wrong > 0);
		assert_true(tally.n_unmarked <= tally.n_wrong / 8);
		flex_truth_release(&truth);
	}
}

/* Whatever a tool that lost wraps in long work moves, no row of it is wrong without a mark. */
static void expect_marked(void **state, const struct flex_damage *damage)
{
	struct flex_scene scene = flex_scene_of(damage->seed);
	struct flex_truth truth;
	struct flex_run *run;
	struct tally tally;

	scene.n_ranks = 1;
	scene.n_iterations = 12;
	scene.n_kernels = 20;
	scene.longs = 0.2;
	scene.long_ns = 8e9;
	scene.period_ns = 0;
	scene.gap_every = 0;
	scene.estimate_ns = scene.estimate_ppm = 0;
	run = convert_damaged(state, &scene, damage, &truth);
	tally = count(run, &truth);
	assert_true(tally.n_wrong > 0);
	assert_int_equal(tally.n_unmarked, 0);
	flex_truth_release(&truth);
}

/* Long work that seems shorter by whole wraps leaves a pause of these in its round trip, be it that
 * the next one begins right behind, or that the round trip holds the early work of later ones. */
static void test_flex_epochs__marks_work_of_trips_that_lack_wraps(void **state)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		expect_marked(state, &(struct flex_damage){.seed = seed,
		                                           .loses_wraps = true,
		                                           .keeps_early = seed % 2});
}

/* Work that waits from the beginning of its round trip on then seems to run at once, and the last
 * to end is not the one that was last. (Seed 5 has a trip in which nothing ends whole wraps
 * early.) */
static void test_flex_epochs__marks_work_whose_wait_lacks_wraps(void **state)
{
	static const uint64_t seeds[] = {1, 2, 3, 4, 6, 7, 8};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		expect_marked(state,
		              &(struct flex_damage){.seed = seeds[i], .is_counted_low = true});
}

/* The second half of each round trip is a wrap off, and every other round trip is missing: then
 * work that is in none is marked where it would be right behind other work, a wrap away. */
static void test_flex_epochs__marks_work_beside_work_of_missing_trips(void **state)
{
	for (uint64_t seed = 19; seed <= 21; seed++) {
		const struct flex_damage damage = {
			.seed = seed, .half_gaps = 1, .lost_trips = 0.5, .gap_wraps = -1};
		struct flex_scene scene = flex_scene_of(seed);
		struct flex_truth truth;
		struct flex_run *run;
		struct tally tally;

		scene.n_ranks = 1;
		scene.n_iterations = 40;
		scene.n_kernels = 60;
		scene.exec_ns = 300e3;
		scene.period_ns = 80e6;
		scene.gap_every = 0;
		scene.estimate_ns = scene.estimate_ppm = 0;
		run = convert_damaged(state, &scene, &damage, &truth);
		tally = count(run, &truth);
		assert_true(tally.n_wrong > 1000);
		assert_int_equal(tally.n_unmarked, 0);
		assert_true(tally.n_right < run->events.n_rows / 2);
		flex_truth_release(&truth);
	}
}

/* Takes out a round trip and the middle of its work, and puts the last of that a wrap early. */
static void tear_trip(struct flex_truth *truth, uint32_t trip)
{
	int64_t wrap_ns = (int64_t)(0x1p32 / truth->ranks[0].hz * 1e9);
	uint32_t n = 0;

	truth->trips[trip].fate = FLEX_LOST;
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		struct flex_op *op = &truth->ops[i];

		if (op->iteration != trip)
			continue;
		if (n > 15 && n < 24)
			op->fates[0] = op->fates[1] = FLEX_LOST;
		for (int k = 0; k < FLEX_STAMPS && n >= 24; k++)
			op->flex_ns[k] -= wrap_ns;
		n++;
	}
}

/* The device paused in that round trip. So no work ends right where other work begins, but it is
 * near enough to be of one round trip with that. */
static void test_flex_epochs__marks_work_that_paused_in_a_missing_trip(void **state)
{
	struct flex_scene scene = flex_scene_of(7);
	struct flex_truth truth;
	struct flex_run *run;
	struct tally tally;

	scene.n_ranks = 1;
	scene.n_kernels = 40;
	scene.period_ns = 5e6;
	scene.exec_ns = 30e3;
	scene.gap_every = 0;
	scene.estimate_ns = scene.estimate_ppm = 0;
	flex_stop(state);
	flex_start(state);
	run = *state;
	assert_true(flex_truth_init(&truth, &scene));
	tear_trip(&truth, 5);
	tear_trip(&truth, 21);
	truth.trips[21].fate = 0;
	flex_add_truth(run, &truth);
	flex_convert(run);
	tally = count(run, &truth);
	assert_true(run->ledger.warnings[WARNING_WRONG_EPOCHS] > 0);
	assert_true(tally.n_wrong > 0);
	assert_int_equal(tally.n_unmarked, 0);
	assert_true(tally.n_right <= tally.n_wrong);
	flex_truth_release(&truth);
}

/* Times that are 0.8 % too short put work over other work, and no work elsewhere: not where stamps
 * of work a minute apart meet by chance (seed 16), nor where messages are awaited together (1004).
 */
static void test_flex_epochs__leaves_stretched_work_unmarked(void **state)
{
	static const uint64_t seeds[] = {16, 1004};

	for (size_t i = 0; i < 2; i++) {
		const struct flex_damage damage = {.seed = seeds[i], .stretch_ppm = -8000};
		struct flex_scene scene = flex_scene_of(seeds[i]);
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = 1 + (uint32_t)(seeds[i] % 3);
		scene.n_kernels = 6;
		scene.exec_ns = 5e6;
		scene.estimate_ns = scene.estimate_ppm = 0;
		run = convert_damaged(state, &scene, &damage, &truth);
		assert_int_equal(ledger_total(&run->ledger, LOSS_OUTLIER), 0);
		assert_int_equal(run->ledger.warnings[WARNING_OUTSIDE_TRIP], 0);
		flex_truth_release(&truth);
	}
}

/* How far rows that are not marked are off, at most. */
static int64_t most_off_ns(const struct flex_run *run, const struct flex_truth *truth)
{
	int64_t most_ns = 0;

	for (uint64_t row = 0; row < run->events.n_rows; row++) {
		const struct flex_op *op = flex_find_op(truth, &run->events, row);
		int stamp = flex_first_stamp(flex_cell(&run->events, row, "kind"));
		int64_t off_ns =
			llabs(flex_number(&run->events, row, "start_ns") - op->host_ns[stamp]);

		if (strcmp(flex_cell(&run->events, row, "status"), "outlier") && off_ns > most_ns)
			most_ns = off_ns;
	}
	return most_ns;
}

/* Round trips are over each other, and times are up to 3 ms off: a quarter of what round trips seem
 * to say is false, and what is left of it has a rate of its own (seed 1003) or none. */
static void test_flex_epochs__stays_near_times_where_round_trips_contradict(void **state)
{
	static const struct {
		uint64_t seed;
		double half_gaps;
	} cases[] = {{1003, 0.5}, {2003, 0}};

	for (size_t i = 0; i < 2; i++) {
		const struct flex_damage damage = {.seed = cases[i].seed,
		                                   .half_gaps = cases[i].half_gaps,
		                                   .gap_wraps = -1,
		                                   .scatter_ns = 3e6};
		struct flex_scene scene = flex_scene_of(cases[i].seed);
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = 1;
		scene.n_kernels = 40;
		scene.period_ns = 20e6;
		scene.exec_ns = 1e6;
		scene.gap_every = 0;
		scene.estimate_ns = scene.estimate_ppm = 0;
		run = convert_damaged(state, &scene, &damage, &truth);
		assert_true(most_off_ns(run, &truth) < 4000000);
		flex_truth_release(&truth);
	}
}

/* Times of a little work every nine seconds show how the rate wanders, right ones and those that
 * are all late by the same. Round trips of some tens of us do not. */
static void test_flex_epochs__follows_the_shape_of_times(void **state)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		const struct flex_damage damage = {.seed = seed,
		                                   .shift_ns = seed % 2 ? 1000000 : 0};
		struct flex_scene scene = flex_scene_of(seed);
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = 1;
		scene.n_iterations = 40;
		scene.n_kernels = 12;
		scene.counter.drift_ppm = 1;
		scene.counter.drift_period_ns = 27e9;
		scene.gap_every = 1;
		scene.gap_ns = 9e9;
		scene.floor_submit_ns = scene.floor_complete_ns = 3000;
		scene.estimate_ns = scene.estimate_ppm = 0;
		run = convert_damaged(state, &scene, &damage, &truth);
		assert_true(most_off_ns(run, &truth) < 1000);
		flex_truth_release(&truth);
	}
}

/* Round trips follow each other at once, and all times are late, or early: work at the ends of
 * round trips seems to be of the ones beside them. */
static void test_flex_epochs__finds_the_round_trips_of_shifted_work(void **state)
{
	static const int64_t shifts_ns[] = {-8000000, -1000000, 1000000, 8000000};

	for (unsigned i = 0; i < 8; i++) {
		const struct flex_damage damage = {.seed = i + 1, .shift_ns = shifts_ns[i % 4]};
		struct flex_scene scene = flex_scene_of(i + 1);
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = 1;
		scene.n_kernels = 60;
		scene.exec_ns = i < 4 ? 300e3 : 3e6;
		scene.period_ns = 0;
		scene.gap_every = 0;
		scene.estimate_ns = scene.estimate_ppm = 0;
		run = convert_damaged(state, &scene, &damage, &truth);
		assert_true(most_off_ns(run, &truth) < 5000);
		assert_int_equal(ledger_total(&run->ledger, LOSS_OUTLIER), 0);
		flex_truth_release(&truth);
	}
}

static const struct flex_op *first_op(const struct flex_truth *truth, uint32_t iteration)
{
	const struct flex_op *op = truth->ops;

	while (op->iteration < iteration)
		op++;
	return op;
}

/* Delays all from an iteration on, until its work begins a wrap behind an earlier one. */
static void meet_over_a_wrap(struct flex_truth *truth, uint32_t iteration)
{
	double wrap_ns = 0x1p32 / truth->ranks[0].hz * 1e9, by_ns = -1;
	const struct flex_op *first = first_op(truth, iteration);

	for (uint32_t i = 0; by_ns < 0 && i + 1 < iteration; i++)
		by_ns = first_op(truth, i + 1)[-1].true_ns[3] + wrap_ns + 500 - first->true_ns[2];
	assert_true(by_ns >= 0);
	for (uint32_t i = (uint32_t)(first - truth->ops); i < truth->n_ops; i++) {
		for (int k = 0; k < FLEX_STAMPS; k++) {
			truth->ops[i].true_ns[k] += by_ns;
			truth->ops[i].host_ns[k] += (int64_t)by_ns;
			truth->ops[i].ticks[k] += (uint64_t)(by_ns * truth->ranks[0].hz / 1e9);
		}
	}
	for (uint32_t i = iteration; i < truth->n_trips; i++) {
		truth->trips[i].begin_ns += (int64_t)by_ns;
		truth->trips[i].end_ns += (int64_t)by_ns;
	}
	flex_truth_tell(truth);
}

/* Times that are too short and too early are over each other, and beside their round trips. That
 * work seems to follow other work over a wrap is chance, if nothing else says that any is
 * elsewhere. */
static void test_flex_epochs__moves_nothing_for_a_chance(void **state)
{
	const struct flex_damage damage = {.stretch_ppm = -20000, .shift_ns = -200000};
	struct flex_scene scene = flex_scene_of(5);
	struct flex_truth truth;
	struct flex_run *run;

	scene.n_ranks = 1;
	scene.n_kernels = 6;
	scene.counter.drift_ppm = 0;
	scene.exec_ns = 1e6;
	scene.gap_every = 0;
	scene.estimate_ns = scene.estimate_ppm = 0;
	flex_stop(state);
	flex_start(state);
	run = *state;
	assert_true(flex_truth_init(&truth, &scene));
	meet_over_a_wrap(&truth, 22);
	flex_damage(&truth, &damage);
	flex_add_truth(run, &truth);
	flex_convert(run);
	assert_true(most_off_ns(run, &truth) < 100000);
	assert_int_equal(run->ledger.warnings[WARNING_OUTSIDE_TRIP], 0);
	flex_truth_release(&truth);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_flex_epochs__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_host_times_of_any_size),
		TEST(marks_work_that_trips_without_work_could_be_of),
		TEST(marks_work_of_trips_that_lack_wraps),
		TEST(marks_work_whose_wait_lacks_wraps),
		TEST(marks_work_beside_work_of_missing_trips),
		TEST(marks_work_that_paused_in_a_missing_trip),
		TEST(leaves_stretched_work_unmarked),
		TEST(stays_near_times_where_round_trips_contradict),
		TEST(follows_the_shape_of_times),
		TEST(finds_the_round_trips_of_shifted_work),
		TEST(moves_nothing_for_a_chance),
	};

	return cmocka_run_group_tests_name("flex_epochs", tests, NULL, NULL);
}
