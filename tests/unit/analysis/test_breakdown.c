/* SPDX-License-Identifier: Apache-2.0 */
/* What the time of devices went to, in all and over time: breakdown.csv and overview.csv. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "findings/work/work.h"
#include "table_cells.h"
#include "work_world.h"

#define N_WORLDS 300

/* -- literals ---------------------------------------------------------------------------------- */

#define HEAD                                                                                  \
	"rank,host,pid,device,wall_ns,compute_ns,exposed_communication_ns,exposed_memory_ns," \
	"exposed_prepare_ns,host_wait_ns,kernel_wait_ns,other_idle_ns,busy_ns,idle_ns,"       \
	"unsure_idle_ns,communication_ns,memory_ns,prepare_ns,compute_communication_ns,"      \
	"compute_memory_ns,communication_memory_ns,compute_communication_memory_ns,"          \
	"compute_percent,exposed_communication_percent,idle_percent,first_ns,last_ns\n"

static void start(struct analysis_test *test)
{
	uint32_t rank_1, rank_0;

	analysis_test_init(test);
	rank_1 = fixture_process(&test->fixture, 1, 200, "app");
	rank_0 = fixture_process(&test->fixture, 0, 100, "app");
	fixture_device(&test->fixture, rank_1, 0, "");
	fixture_device(&test->fixture, rank_0, 1, "");
	fixture_device(&test->fixture, rank_0, 0, "");
	fixture_device(&test->fixture, rank_0, 2, ""); /* which does nothing */
	fixture_thread(&test->fixture, rank_0, 100, "main");
}

static void test_breakdown__adds_up_devices_and_ranks(void **state)
{
	struct analysis_test test;

	(void)state;
	start(&test);
	analysis_test_row(&test, 1, ROW_EXEC, "k", 0, 100);
	analysis_test_row(&test, 2, ROW_PREP, "k", 10, 30);
	analysis_test_row(&test, 2, ROW_EXEC, "k", 20, 60);
	analysis_test_row(&test, 2, ROW_EXEC, "ncclKernel", 50, 90);
	analysis_test_row(&test, 2, ROW_MEMCPY_HTOD, "k", 55, 70);
	analysis_test_row(&test, 0, ROW_MEMSET, "k", 55, 70);
	analysis_test_row(&test, 2, ROW_MEMCPY_DTOH, "k", 85, 95);
	analysis_test_expect(
		&test, "breakdown",
		HEAD "0,\"node,1\",100,0,85,40,30,5,10,0,0,0,85,0,0,40,25,20,5,0,15,5,47.06,35.29,"
		     "0.00,10,95\n"
		     "0,\"node,1\",100,1,100,100,0,0,0,0,0,0,100,0,0,0,0,0,0,0,0,0,100.00,0.00,"
		     "0.00,0,100\n"
		     "0,\"node,1\",100,,185,140,30,5,10,0,0,0,185,0,0,40,25,20,5,0,15,5,75.68,"
		     "16.22,0.00,0,100\n"
		     "1,\"node,1\",200,0,15,0,0,15,0,0,0,0,15,0,0,0,15,0,0,0,0,0,0.00,0.00,0.00,"
		     "55,70\n"
		     ",,,,200,140,30,20,10,0,0,0,200,0,0,40,40,20,5,0,15,5,70.00,15.00,0.00,0,"
		     "100\n");
	analysis_test_release(&test);
}

/* A kernel ends at 1000 us; the next one begins after a pause. */
static const struct idle_case {
	const char *what;
	int64_t pause_us;
	int64_t launched_us; /* behind 1000; -1: not known */
	uint32_t err_ns;     /* of the first kernel */
	uint8_t status;
	const char *cause;
	bool is_unsure;
} idle_cases[] = {
	{"nobody launched it", 10, INT64_MIN, 5, TIME_CERTIFIED, "other_idle_ns", false},
	{"launched while the first ran", 29, -50, 5, TIME_CERTIFIED, "kernel_wait_ns", false},
	{"when it ended", 29, 0, UINT32_MAX, TIME_GIVEN, "kernel_wait_ns", false},
	{"the host came late", 29, 1, UINT32_MAX, TIME_GIVEN, "host_wait_ns", false},
	{"after the kernel seems to begin", 29, 40, 5, TIME_CERTIFIED, "host_wait_ns", false},
	{"launched in time, and the pause is long", 30, 0, UINT32_MAX, TIME_GIVEN, "other_idle_ns",
         false},
	{"nearer than the clock's error", 29, 1, 1000, TIME_CERTIFIED, "host_wait_ns", true},
	{"farther than the clock's error", 29, 1, 999, TIME_CERTIFIED, "host_wait_ns", false},
	{"just before the end", 29, -1, 1000, TIME_CERTIFIED, "kernel_wait_ns", true},
	{"no bound", 29, -50, UINT32_MAX, TIME_ASSUMED, "kernel_wait_ns", true},
};

static void test_breakdown__tells_why_a_device_is_idle(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(idle_cases) / sizeof(idle_cases[0]); i++) {
		const struct idle_case *at = &idle_cases[i];
		uint32_t launch_of_op[2] = {FLEXTRACE_NONE, FLEXTRACE_NONE};
		int64_t begin_ns = (1000 + at->pause_us) * 1000;
		struct analysis_test test;
		struct device_row *row;
		uint32_t track;
		char *text;

		start(&test);
		track = fixture_track(&test.fixture, (struct track){.kind = TRACK_THREAD});
		if (at->launched_us != INT64_MIN) {
			launch_of_op[1] = 0;
			fixture_host(&test.fixture,
			             fixture_scope(&test.fixture, track, "launch",
			                           (1000 + at->launched_us) * 1000, 2000000));
		}
		analysis_test_row(&test, 1, ROW_EXEC, "k", 900000, 1000000);
		row = (struct device_row *)test.fixture.timeline.device_rows.first->rows;
		row->err_ns = at->err_ns;
		row->status = at->status;
		analysis_test_row(&test, 1, ROW_EXEC, "k", begin_ns, begin_ns + 100);
		test.fixture.timeline.launch_of_op = launch_of_op;
		text = analysis_test_write(&test, "breakdown");
		if (table_number(text, 0, at->cause) != at->pause_us * 1000 ||
		    table_number(text, 0, "idle_ns") != at->pause_us * 1000)
			fail_msg("%s: %s", at->what, text);
		assert_int_equal(table_number(text, 0, "unsure_idle_ns"),
		                 at->is_unsure ? at->pause_us * 1000 : 0);
		free(text);
		test.fixture.timeline.launch_of_op = NULL;
		analysis_test_release(&test);
	}
}

static void test_breakdown__of_nothing_is_a_header(void **state)
{
	struct analysis_test test;
	char *text;

	(void)state;
	start(&test);
	analysis_test_expect(&test, "breakdown", HEAD);
	text = analysis_test_write(&test, "overview");
	assert_int_equal(table_n_rows(text), 0);
	free(text);
	analysis_test_row(&test, 0, ROW_EXEC, "k", 7, 7); /* of no time */
	analysis_test_expect(&test, "breakdown", HEAD);
	analysis_test_release(&test);
}

/* -- random worlds ----------------------------------------------------------------------------- */

static bool has_class(const struct work_world *world, int device, int ns, int class)
{
	return world->masks[device][ns] & 1 << class;
}

/* How many ns of a device a class was at work, and was what counted. */
static int count(const struct work_world *world, int device, int class, bool is_exposed)
{
	int n = 0;

	for (int ns = 0; ns < WORLD_NS; ns++) {
		bool is_hidden = false;

		for (int other = 0; other < class; other++)
			is_hidden |= has_class(world, device, ns, other);
		n += has_class(world, device, ns, class) && !(is_exposed && is_hidden);
	}
	return n;
}

static int idle(const struct work_world *world, int device)
{
	int n = 0;

	for (int ns = world->first[device]; ns >= 0 && ns < world->last[device]; ns++)
		n += !world->masks[device][ns];
	return n;
}

static int64_t sum(const char *text, uint32_t row, const char *const *columns)
{
	int64_t sum_ns = 0;

	for (; *columns; columns++)
		sum_ns += table_number(text, row, *columns);
	return sum_ns;
}

static const char *const parts[] = {
	"compute_ns",   "exposed_communication_ns", "exposed_memory_ns", "exposed_prepare_ns",
	"host_wait_ns", "kernel_wait_ns",           "other_idle_ns",     NULL};
static const char *const shown[] = {"compute_ns",        "exposed_communication_ns",
                                    "exposed_memory_ns", "exposed_prepare_ns",
                                    "idle_ns",           NULL};

static void expect_device(const struct work_world *world, const char *text, uint32_t row,
                          int device)
{
	static const char *const classes[] = {"compute_ns", "communication_ns", "memory_ns",
	                                      "prepare_ns"};

	assert_int_equal(table_number(text, row, "rank"), world_rank(device));
	assert_int_equal(table_number(text, row, "wall_ns"),
	                 world->last[device] - world->first[device]);
	assert_int_equal(table_number(text, row, "idle_ns"), idle(world, device));
	for (int class = 0; class < WORK_CLASS_COUNT; class ++) {
		assert_int_equal(table_number(text, row, shown[class]),
		                 count(world, device, class, true));
		assert_int_equal(table_number(text, row, classes[class]),
		                 count(world, device, class, false));
	}
}

static void test_breakdown__adds_up_to_the_wall_time(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < N_WORLDS; seed++) {
		struct work_world world;
		uint32_t row = 0, n = 0;
		char *text;

		work_world_init(&world, seed, 1);
		text = analysis_test_write(&world.test, "breakdown");
		for (uint32_t i = 0; i < table_n_rows(text); i++)
			assert_int_equal(sum(text, i, parts), table_number(text, i, "wall_ns"));
		for (int device = 0; device < WORLD_DEVICES; device++) {
			if (device == 2 && n > 1)
				row++; /* rank 0 in all */
			if (world.first[device] < 0 || world.first[device] == world.last[device])
				continue;
			expect_device(&world, text, row++, device);
			n++;
		}
		free(text);
		work_world_release(&world);
	}
}

/* -- over time --------------------------------------------------------------------------------- */

static void test_overview__adds_up_to_the_breakdown(void **state)
{
	static const int64_t scales[] = {1, 3, 1000, 123456789};

	(void)state;
	for (unsigned seed = 0; seed < N_WORLDS; seed++) {
		struct work_world world;
		char *all, *overview;
		uint32_t last;

		work_world_init(&world, seed, scales[seed % 4]);
		all = analysis_test_write(&world.test, "breakdown");
		overview = analysis_test_write(&world.test, "overview");
		last = table_n_rows(all) - 1;
		for (const char *const *column = shown; *column; column++) {
			int64_t sum_ns = 0;

			for (uint32_t i = 0; i < table_n_rows(overview); i++) {
				if (strcmp(table_cell(overview, i, "rank"), "") == 0)
					sum_ns += table_number(overview, i, *column);
			}
			assert_int_equal(sum_ns, table_number(all, last, *column));
		}
		free(all);
		free(overview);
		work_world_release(&world);
	}
}

/* One bucket is one ns of the world; those of all ranks come first. */
static void test_overview__tells_each_time_what_ran_then(void **state)
{
	struct work_world world;
	int64_t first_ns, host_ns = 0, expected_host_ns = 0;
	uint32_t n;
	char *text;

	(void)state;
	work_world_init(&world, 7, 1);
	text = analysis_test_write(&world.test, "overview");
	first_ns = world.test.fixture.timeline.first_time_ns;
	n = (uint32_t)(world.test.fixture.timeline.last_time_ns - first_ns);
	assert_int_equal(table_n_rows(text), 3 * n);
	for (uint32_t row = 0; row < 3 * n; row++) {
		int64_t now_ns = first_ns + row % n, computing = 0;
		int rank = (int)(row / n) - 1; /* -1: all */

		if (rank < 0)
			assert_string_equal(table_cell(text, row, "rank"), "");
		else
			assert_int_equal(table_number(text, row, "rank"), rank);
		assert_int_equal(table_number(text, row, "start_ns"), now_ns);
		assert_int_equal(table_number(text, row, "end_ns"), now_ns + 1);
		for (int device = 0; device < WORLD_DEVICES && now_ns < WORLD_NS; device++) {
			if (rank < 0 || world_rank(device) == rank)
				computing += has_class(&world, device, (int)now_ns, WORK_COMPUTE);
		}
		assert_int_equal(table_number(text, row, "compute_ns"), computing);
		host_ns += rank < 0 ? table_number(text, row, "host_ns") : 0;
	}
	for (int i = 0; i < WORLD_CALLS; i++)
		expected_host_ns += world.call_end[i] - world.call_start[i];
	assert_int_equal(host_ns, expected_host_ns);
	free(text);
	work_world_release(&world);
}

/* Two threads, calls within calls, and a step, which is none. */
static void test_overview__counts_time_in_any_host_call_once(void **state)
{
	struct analysis_test test;
	struct host_row step;
	uint32_t tracks[3];
	char *text;

	(void)state;
	start(&test);
	fixture_thread(&test.fixture, 1, 101, "other");
	tracks[0] = fixture_track(&test.fixture, (struct track){.kind = TRACK_THREAD});
	tracks[1] = fixture_track(&test.fixture, (struct track){.kind = TRACK_THREAD, .owner = 1});
	tracks[2] = fixture_track(&test.fixture, (struct track){.kind = TRACK_ASYNC});
	step = fixture_scope(&test.fixture, tracks[0], "step", 0, 100);
	step.kind = HOST_STEP;
	fixture_host(&test.fixture, step);
	fixture_host(&test.fixture, fixture_scope(&test.fixture, tracks[2], "async", 0, 100));
	fixture_host(&test.fixture, fixture_scope(&test.fixture, tracks[0], "outer", 10, 50));
	fixture_host(&test.fixture, fixture_scope(&test.fixture, tracks[0], "inner", 20, 30));
	fixture_host(&test.fixture, fixture_scope(&test.fixture, tracks[1], "other", 40, 60));
	fixture_host(&test.fixture, fixture_scope(&test.fixture, tracks[0], "last", 70, 80));
	text = analysis_test_write(&test, "overview");
	assert_int_equal(table_n_rows(text), 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(table_number(text, i, "host_ns"),
		                 (i >= 10 && i < 60) || (i >= 70 && i < 80));
	free(text);
	analysis_test_release(&test);
}

static void expect_width(int64_t run_ns, int64_t width_ns)
{
	struct analysis_test test;
	uint32_t n;
	char *text;

	start(&test);
	analysis_test_row(&test, 1, ROW_EXEC, "k", 1000, 1000 + run_ns);
	text = analysis_test_write(&test, "overview");
	n = table_n_rows(text);
	assert_int_equal(n, (run_ns - 1) / width_ns + 1);
	for (uint32_t i = 0; i + 1 < n; i++)
		assert_int_equal(table_number(text, i, "compute_ns"), width_ns);
	assert_int_equal(table_number(text, n - 1, "end_ns"), 1000 + run_ns);
	assert_int_equal(table_number(text, n - 1, "compute_ns"),
	                 run_ns - (int64_t)(n - 1) * width_ns);
	free(text);
	analysis_test_release(&test);
}

static void test_overview__has_at_most_400_buckets(void **state)
{
	(void)state;
	expect_width(1, 1);
	expect_width(400, 1);
	expect_width(401, 2);
	expect_width(800, 2);
	expect_width(801, 5);
	expect_width(2001, 10);
	expect_width(INT64_MAX - 1000, 50000000000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breakdown__adds_up_devices_and_ranks),
		cmocka_unit_test(test_breakdown__tells_why_a_device_is_idle),
		cmocka_unit_test(test_breakdown__of_nothing_is_a_header),
		cmocka_unit_test(test_breakdown__adds_up_to_the_wall_time),
		cmocka_unit_test(test_overview__adds_up_to_the_breakdown),
		cmocka_unit_test(test_overview__tells_each_time_what_ran_then),
		cmocka_unit_test(test_overview__counts_time_in_any_host_call_once),
		cmocka_unit_test(test_overview__has_at_most_400_buckets),
	};

	return cmocka_run_group_tests_name("breakdown", tests, NULL, NULL);
}
