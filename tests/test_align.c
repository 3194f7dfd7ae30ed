/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "align/align.h"

#define UNKNOWN FLEXTRACE_RANK_UNKNOWN

/* Processes (rank, host clock) on clocks with the given epoch offsets. */
struct scene {
	struct process processes[4];
	struct host_clock clocks[3];
	struct identity identity;
	struct ledger ledger;
	struct alignment *alignment;
};

static void align(struct scene *scene, uint32_t n_processes)
{
	struct table points = TABLE_INIT;
	struct align_options options = ALIGN_OPTIONS_INIT;
	struct flextrace_error error;

	ledger_init(&scene->ledger);
	scene->identity.processes = scene->processes;
	scene->identity.n_processes = n_processes;
	scene->identity.host_clocks = scene->clocks;
	scene->identity.n_host_clocks = 3;
	assert_int_equal(align_run(&options, &scene->identity, &points, &scene->ledger,
	                           &scene->alignment, &error),
	                 0);
}

static void release(struct scene *scene)
{
	alignment_free(scene->alignment);
	ledger_release(&scene->ledger);
}

static void test_align__keeps_one_host_clock_as_it_is(void **state)
{
	struct scene scene = {
		.processes = {{.rank = 1, .host_clock = 0}, {.rank = 0, .host_clock = 0}},
		.clocks = {{.epoch_offset_ns = 1700}},
	};
	const struct alignment_report *report;
	struct aligned aligned;
	uint32_t n;

	(void)state;
	align(&scene, 2);
	for (uint32_t process = 0; process < 2; process++) {
		aligned = alignment_place(scene.alignment, process, 12345);
		assert_int_equal(aligned.time_ns, 12345);
		assert_int_equal(aligned.err_ns, 0);
		assert_int_equal(aligned.status, TIME_CERTIFIED);
	}
	assert_int_equal(alignment_epoch_offset_ns(scene.alignment), 1700);
	assert_int_equal(scene.ledger.warnings[WARNING_UNALIGNED], 0);
	report = alignment_report(scene.alignment, &n);
	assert_int_equal(n, 2);
	assert_int_equal(report[0].process, 1); /* by rank */
	assert_int_equal(report[1].process, 0);
	assert_true(report[0].half_width_ns_max == 0);
	assert_int_equal(report[0].component, 0);
	release(&scene);
}

static void test_align__shifts_other_clocks_by_their_epoch_and_says_so(void **state)
{
	struct scene scene = {
		.processes = {{.rank = 2, .host_clock = 1},
	                      {.rank = 0, .host_clock = 2},
	                      {.rank = 1, .host_clock = 1}},
		.clocks = {{0}, {.epoch_offset_ns = 5000}, {.epoch_offset_ns = 3000}},
	};
	const struct alignment_report *report;
	struct aligned aligned;
	uint32_t n;

	(void)state;
	align(&scene, 3);
	aligned = alignment_place(scene.alignment, 0, 100);
	assert_int_equal(aligned.time_ns, 100 + 5000 - 3000);
	assert_int_equal(aligned.err_ns, UINT32_MAX);
	assert_int_equal(aligned.status, TIME_ASSUMED);
	assert_int_equal(alignment_place(scene.alignment, 1, 100).time_ns, 100);
	assert_int_equal(alignment_epoch_offset_ns(scene.alignment), 3000);
	assert_int_equal(scene.ledger.warnings[WARNING_UNALIGNED], 1);
	report = alignment_report(scene.alignment, &n);
	assert_int_equal(report[0].process, 1);
	assert_int_equal(report[0].component, 0);
	assert_int_equal(report[1].component, 1);
	assert_int_equal(report[2].component, 1);
	assert_true(isnan(report[1].half_width_ns_p50));
	release(&scene);
}

static void test_align__takes_the_first_process_where_no_rank_is_known(void **state)
{
	struct scene scene = {
		.processes = {{.rank = UNKNOWN, .host_clock = 0, .is_excluded = true},
	                      {.rank = UNKNOWN, .host_clock = 1},
	                      {.rank = UNKNOWN, .host_clock = 0}},
		.clocks = {{.epoch_offset_ns = 7}, {.epoch_offset_ns = 9}},
	};
	uint32_t n;

	(void)state;
	align(&scene, 3);
	assert_int_equal(alignment_place(scene.alignment, 1, 50).err_ns, 0);
	assert_int_equal(alignment_place(scene.alignment, 2, 50).time_ns, 48);
	alignment_report(scene.alignment, &n);
	assert_int_equal(n, 2); /* not the one that was left out */
	release(&scene);
}

static void test_align__prefers_a_known_rank(void **state)
{
	struct scene scene = {
		.processes = {{.rank = UNKNOWN, .host_clock = 0}, {.rank = 5, .host_clock = 1}},
		.clocks = {{.epoch_offset_ns = 7}, {.epoch_offset_ns = 9}},
	};

	(void)state;
	align(&scene, 2);
	assert_int_equal(alignment_place(scene.alignment, 1, 50).err_ns, 0);
	assert_int_equal(alignment_place(scene.alignment, 0, 50).err_ns, UINT32_MAX);
	release(&scene);
}

static void test_align__places_processes_met_later(void **state)
{
	struct scene scene = {.clocks = {{.epoch_offset_ns = 11}}};
	uint32_t n;

	(void)state;
	align(&scene, 0);
	alignment_report(scene.alignment, &n);
	assert_int_equal(n, 0);
	scene.identity.n_processes = 1;
	scene.processes[0] = (struct process){.rank = UNKNOWN, .host_clock = 0};
	assert_int_equal(alignment_place(scene.alignment, 0, 50).time_ns, 50);
	assert_int_equal(alignment_epoch_offset_ns(scene.alignment), 11);
	release(&scene);
}

static void test_align__survives_extremes(void **state)
{
	struct scene scene = {
		.processes = {{.rank = 0, .host_clock = 0}, {.rank = 1, .host_clock = 1}},
		.clocks = {{.epoch_offset_ns = INT64_MIN}, {.epoch_offset_ns = INT64_MAX}},
	};

	(void)state;
	align(&scene, 2);
	assert_int_equal(alignment_place(scene.alignment, 1, 5).time_ns, 5);
	release(&scene);
	scene.clocks[0].epoch_offset_ns = 0;
	align(&scene, 2);
	assert_int_equal(alignment_place(scene.alignment, 1, 5).time_ns, INT64_MAX);
	release(&scene);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_align__##name)
	const struct CMUnitTest tests[] = {
		TEST(keeps_one_host_clock_as_it_is),
		TEST(shifts_other_clocks_by_their_epoch_and_says_so),
		TEST(takes_the_first_process_where_no_rank_is_known),
		TEST(prefers_a_known_rank),
		TEST(places_processes_met_later),
		TEST(survives_extremes),
	};

	return cmocka_run_group_tests_name("align", tests, NULL, NULL);
}
