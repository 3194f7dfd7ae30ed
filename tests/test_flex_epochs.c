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

#define TEST(name) cmocka_unit_test_setup_teardown(test_flex_epochs__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_host_times_of_any_size),
		TEST(marks_work_that_trips_without_work_could_be_of),
		TEST(marks_work_beside_work_of_missing_trips),
	};

	return cmocka_run_group_tests_name("flex_epochs", tests, NULL, NULL);
}
