/* SPDX-License-Identifier: Apache-2.0 */
/* Made Flex traces of which something is lost, twice, out of order or wrong. */
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
#include "scratch.h"

#define N_SEEDS 3u

static uint64_t last_seed; /* no fixed one */

static uint64_t seed_of(unsigned i)
{
	return i < N_SEEDS ? i + 1 : last_seed;
}

/* A scene of one file, each rank to be compared with its own clock. */
static struct flex_scene scene_of(uint64_t seed)
{
	struct flex_scene scene = flex_scene_of(seed);

	scene.n_ranks = 1 + (uint32_t)(seed % 3);
	scene.n_kernels = 6;
	scene.form.is_complete = true;
	return scene;
}

static struct flex_run *convert(void **state, const struct flex_scene *scene,
                                const struct flex_damage *damage, struct flex_truth *truth)
{
	struct flex_run *run;

	flex_stop(state);
	flex_start(state);
	run = *state;
	run->options.align.is_off = true;
	assert_true(flex_truth_init(truth, scene));
	if (damage)
		flex_damage(truth, damage);
	flex_add_truth(run, truth);
	flex_convert(run);
	return run;
}

/* How far Flex's undamaged times are off, and what its neighbours hide of that behind a gap; or
 * what round trips leave, which place the work where Flex contradicts them. */
static double flex_error_ns(const struct flex_truth *truth, const struct flex_op *op)
{
	double since_ns = (double)(op->host_ns[0] - truth->ranks[op->rank].origin_ns);

	return fmax(truth->scene.estimate_ns + since_ns * truth->scene.estimate_ppm * 1e-6 + 3000,
	            50000);
}

/* How far a row is off the truth, and whether what it says of that holds. */
static double check_row(const struct csv_table *events, uint64_t row, const struct flex_op *op)
{
	int stamp = flex_first_stamp(flex_cell(events, row, "kind"));
	double off_ns = fabs((double)(flex_number(events, row, "start_ns") - op->host_ns[stamp]));

	if (strcmp(flex_cell(events, row, "status"), "certified") == 0)
		assert_true(off_ns <= (double)flex_number(events, row, "err_ns"));
	return off_ns;
}

struct tally {
	uint64_t n_rows, n_outliers, n_far; /* far: more than Flex was off, and not an outlier */
};

/* Rows of control blocks whose stamps are true. */
static struct tally check_rows(const struct flex_run *run, const struct flex_truth *truth)
{
	struct tally tally = {0};

	for (uint64_t i = 0; i < run->events.n_rows; i++) {
		const struct flex_op *op = flex_find_op(truth, &run->events, i);
		double off_ns = check_row(&run->events, i, op);
		bool is_outlier = strcmp(flex_cell(&run->events, i, "status"), "outlier") == 0;

		if (op->is_garbage)
			continue;
		tally.n_rows++;
		tally.n_outliers += is_outlier;
		tally.n_far += !is_outlier && off_ns > flex_error_ns(truth, op);
	}
	return tally;
}

/* -- what is missing, or twice --------------------------------------------------------------- */

static void test_flex_damage__bears_loss_and_duplicates(void **state)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		const struct flex_damage damage = {.seed = seed_of(i),
		                                   .lost = 0.05,
		                                   .burst_every = 150,
		                                   .burst = 20,
		                                   .duplicated = 0.04};
		struct flex_scene scene = scene_of(seed_of(i));
		struct flex_truth truth;
		struct flex_run *run;
		struct tally tally;

		scene.form.is_shuffled = i & 1;
		run = convert(state, &scene, &damage, &truth);
		assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], flex_count_blocks(&truth));
		assert_int_equal(ledger_lost(&run->ledger), 0);
		assert_string_equal(run->warnings, "");
		tally = check_rows(run, &truth);
		assert_int_equal(tally.n_outliers, 0);
		assert_int_equal(tally.n_far, 0);
		flex_truth_release(&truth);
	}
}

static void test_flex_damage__counts_begins_and_ends_without_each_other(void **state)
{
	for (unsigned i = 0; i < 2 * (N_SEEDS + 1); i++) {
		const struct flex_damage damage = {.seed = seed_of(i / 2),
		                                   .lost_begins = i & 1 ? 0.05 : 0,
		                                   .lost_ends = i & 1 ? 0 : 0.05};
		struct flex_scene scene = scene_of(seed_of(i / 2));
		struct flex_truth truth;
		struct flex_run *run;

		scene.form.is_complete = false;
		scene.form.is_nested = i & 2;
		run = convert(state, &scene, &damage, &truth);
		assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_END),
		                 flex_count_fates(&truth, FLEX_NO_BEGIN));
		assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_BEGIN),
		                 flex_count_fates(&truth, FLEX_NO_END));
		assert_true(flex_count_fates(&truth, FLEX_NO_BEGIN | FLEX_NO_END) > 0);
		assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], flex_count_blocks(&truth));
		assert_int_equal(check_rows(run, &truth).n_far, 0);
		flex_truth_release(&truth);
	}
}

static void test_flex_damage__reads_nested_events_like_adjacent_ones(void **state)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		char *texts[2];

		for (int k = 0; k < 2; k++) {
			struct flex_scene scene = scene_of(seed_of(i));
			struct flex_truth truth;
			struct flex_run *run;

			scene.form.is_complete = false;
			scene.form.is_shuffled = false;
			scene.form.is_nested = k;
			run = convert(state, &scene, NULL, &truth);
			assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], truth.n_ops);
			assert_int_equal(ledger_lost(&run->ledger), 0);
			texts[k] = flex_read_rows(run, "tables/events.csv");
			flex_truth_release(&truth);
		}
		assert_string_equal(texts[0], texts[1]);
		free(texts[0]);
		free(texts[1]);
	}
}

/* -- what is wrong --------------------------------------------------------------------------- */

static void test_flex_damage__marks_garbage_stamps(void **state)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		const struct flex_damage damage = {.seed = seed_of(i), .garbage = 0.03};
		struct flex_scene scene = scene_of(seed_of(i));
		struct flex_truth truth;
		struct flex_run *run = convert(state, &scene, &damage, &truth);
		struct tally tally = check_rows(run, &truth);
		uint64_t n_garbage = 0;

		for (uint32_t k = 0; k < truth.n_ops; k++)
			n_garbage += truth.ops[k].is_garbage;
		assert_true(ledger_total(&run->ledger, LOSS_OUTLIER) <= n_garbage);
		assert_int_equal(tally.n_outliers, 0);
		assert_int_equal(tally.n_far, 0);
		if (i < N_SEEDS) /* a few fit by chance */
			assert_true(ledger_total(&run->ledger, LOSS_OUTLIER) >=
			            n_garbage - n_garbage / 10);
		flex_truth_release(&truth);
	}
}

/* The resets that clocks.csv tells. */
static uint64_t count_resets(const struct flex_run *run)
{
	const struct csv_table_query all = {NULL, NULL, 0};
	struct flextrace_error error = {0};
	struct csv_table clocks;
	char path[512];
	uint64_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tables/clocks.csv", run->out);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(csv_table_read(file, path, &all, &clocks, &error) >= 0);
	fclose(file);
	for (uint64_t i = 0; i < clocks.n_rows; i++)
		n += (uint64_t)flex_number(&clocks, i, "resets");
	csv_table_release(&clocks);
	return n;
}

static void test_flex_damage__finds_resets_of_counters(void **state)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		struct flex_scene scene = scene_of(seed_of(i));
		struct flex_truth truth;
		struct flex_run *run;
		struct tally tally;

		scene.reset_every = 7;
		run = convert(state, &scene, NULL, &truth);
		assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], truth.n_ops);
		tally = check_rows(run, &truth);
		assert_int_equal(tally.n_outliers, 0);
		if (i < N_SEEDS) { /* one may happen to leave a counter where it would have been */
			assert_int_equal(count_resets(run), 4 * scene.n_ranks);
			assert_int_equal(tally.n_far, 0);
		}
		flex_truth_release(&truth);
	}
}

/* -- little ---------------------------------------------------------------------------------- */

static void test_flex_damage__takes_one_event_and_ranks_without(void **state)
{
	for (unsigned i = 0; i <= N_SEEDS; i++) {
		/* Of all kernels and trips only the last kernel's compute phase is there. */
		const struct flex_damage damage = {.seed = 1, .burst_every = 12, .burst = 11};
		struct flex_scene scene = scene_of(seed_of(i));
		struct flex_truth truth;
		struct flex_run *run;

		scene.n_ranks = scene.n_iterations = 1;
		scene.n_empty_ranks = 2;
		run = convert(state, &scene, &damage, &truth);
		assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], 1);
		assert_int_equal(run->events.n_rows, 1);
		assert_int_equal(check_rows(run, &truth).n_far, 0);
		assert_int_equal(ledger_lost(&run->ledger), 0);
		flex_truth_release(&truth);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_flex_damage__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bears_loss_and_duplicates),
		TEST(counts_begins_and_ends_without_each_other),
		TEST(reads_nested_events_like_adjacent_ones),
		TEST(marks_garbage_stamps),
		TEST(finds_resets_of_counters),
		TEST(takes_one_event_and_ranks_without),
	};

	last_seed = fresh_seed();
	return cmocka_run_group_tests_name("flex_damage", tests, NULL, NULL);
}
