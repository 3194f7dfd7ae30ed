/* SPDX-License-Identifier: Apache-2.0 */
/* How long work waited behind its launch, and how much of it at once: launches.csv and
 * queue_length.csv. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "table_cells.h"
#include "work_world.h"

#define HEAD                                                                            \
	"rank,host,pid,name,calls,launches,without_work,works,without_launch,total_ns," \
	"mean_ns,median_ns,min_ns,max_ns,mean_queue_ns,before_return,early,early_beyond_err\n"
#define QUEUES                                                                        \
	"rank,host,pid,device,queue,works,wall_ns,mean_length,max_length,min_length," \
	"empty_ns,full_ns,first_ns,last_ns\n"

struct launch_test {
	struct analysis_test test;
	uint32_t launch_of_op[8];
	uint32_t track[2]; /* of a thread of each rank */
};

static void start(struct launch_test *test)
{
	struct timeline_fixture *fixture = &test->test.fixture;
	uint32_t rank_1, rank_0;

	memset(test, 0, sizeof(*test));
	analysis_test_init(&test->test);
	rank_1 = fixture_process(fixture, 1, 200, "app");
	rank_0 = fixture_process(fixture, 0, 100, "app");
	fixture_device(fixture, rank_1, 0, "");
	fixture_device(fixture, rank_0, 3, "");
	fixture_thread(fixture, rank_1, 200, "main");
	fixture_thread(fixture, rank_0, 100, "main");
	for (uint32_t i = 0; i < 2; i++)
		test->track[i] = fixture_track(
			fixture, (struct track){.kind = TRACK_THREAD, .owner = 1 - i});
	fixture->timeline.launch_of_op = test->launch_of_op;
}

static void call(struct launch_test *test, int rank, const char *name, int64_t start_ns,
                 int64_t end_ns)
{
	fixture_host(&test->test.fixture,
	             fixture_scope(&test->test.fixture, test->track[rank], name, start_ns, end_ns));
}

/* `launch`: place of its call, or -1. */
static struct tick_op *work(struct launch_test *test, int rank, int launch, int64_t start_ns,
                            uint32_t err_ns)
{
	struct tick_op *op = analysis_test_row(&test->test, (uint32_t)(1 - rank), ROW_EXEC, "k",
	                                       start_ns, start_ns + 5);
	struct table *rows = &test->test.fixture.timeline.device_rows;

	((struct device_row *)rows->last->rows)[rows->n_rows - 1].err_ns = err_ns;
	test->launch_of_op[test->test.n_ops - 1] = launch < 0 ? FLEXTRACE_NONE : (uint32_t)launch;
	return op;
}

static void stop(struct launch_test *test)
{
	analysis_test_release(&test->test);
}

static void test_launches__tells_how_long_work_waited(void **state)
{
	struct launch_test test;

	(void)state;
	start(&test);
	call(&test, 0, "launch", 10, 20);
	call(&test, 0, "launch", 20, 30);
	call(&test, 1, "launch", 30, 40); /* launches nothing */
	call(&test, 0, "copy", 40, 60);
	call(&test, 0, "wait", 60, 70); /* as no other of its name does */
	work(&test, 0, -1, 5, 0);
	work(&test, 0, 0, 15, 0); /* before its call returned */
	analysis_test_part(&test.test, ROW_DMA_OUT, 15, 16);
	work(&test, 0, 0, 21, 0);
	work(&test, 1, -1, 33, 0);
	work(&test, 0, 3, 37, 2); /* before its call */
	work(&test, 0, 3, 37, 3);
	work(&test, 0, 1, 50, UINT32_MAX);
	analysis_test_expect(&test.test, "launches",
	                     HEAD "0,\"node,1\",100,,3,3,0,5,1,40,8,5,-3,30,-6,3,2,1\n"
	                          "0,\"node,1\",100,launch,2,2,0,3,0,46,15,11,5,30,5,1,0,0\n"
	                          "0,\"node,1\",100,copy,1,1,0,2,0,-6,-3,-3,-3,-3,-23,2,2,1\n"
	                          "1,\"node,1\",200,,1,0,1,0,1,0,,,,,,0,0,0\n"
	                          "1,\"node,1\",200,launch,1,0,1,0,0,0,,,,,,0,0,0\n"
	                          ",,,,4,3,1,5,2,40,8,5,-3,30,-6,3,2,1\n"
	                          ",,,launch,3,2,1,3,0,46,15,11,5,30,5,1,0,0\n"
	                          ",,,copy,1,1,0,2,0,-6,-3,-3,-3,-3,-23,2,2,1\n");
	stop(&test);
}

/* The largest total first, also where a wrong clock gives each launch less than nothing: one that
 * waited is in front of many that did not. */
static void test_launches__are_in_order_of_their_totals(void **state)
{
	struct launch_test test;
	char *text;

	(void)state;
	start(&test);
	call(&test, 0, "many", 10, 20);
	call(&test, 0, "one", 20, 30);
	call(&test, 0, "early", 900, 910);
	for (int i = 0; i < 5; i++)
		work(&test, 0, 0, 11, 0);
	work(&test, 0, 1, 90, 0);
	work(&test, 0, 2, 100, 0);
	text = analysis_test_write(&test.test, "launches");
	assert_string_equal(table_cell(text, 1, "name"), "one");
	assert_string_equal(table_cell(text, 2, "name"), "many");
	assert_string_equal(table_cell(text, 3, "name"), "early");
	assert_int_equal(table_number(text, 3, "total_ns"), -800);
	assert_int_equal(table_number(text, 0, "total_ns"), 5 + 70 - 800);
	assert_int_equal(table_number(text, 0, "mean_ns"), -104);
	free(text);
	stop(&test);
}

/* 1 and 2, -1 and -2, -1 twice and 1: as all means are, not cut off. */
static void test_launches__rounds_the_mean_from_the_end_of_calls(void **state)
{
	static const struct {
		int64_t starts_ns[3];
		int64_t mean_ns;
	} cases[] = {{{21, 22, 22}, 2}, {{19, 18, 18}, -2}, {{19, 19, 21}, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct launch_test test;
		char *text;

		start(&test);
		call(&test, 0, "launch", 10, 20);
		for (int j = 0; j < 3; j++)
			work(&test, 0, 0, cases[i].starts_ns[j], 0);
		text = analysis_test_write(&test.test, "launches");
		assert_int_equal(table_number(text, 1, "mean_queue_ns"), cases[i].mean_ns);
		free(text);
		stop(&test);
	}
}

static void test_queue_length__counts_what_was_launched_and_has_not_begun(void **state)
{
	struct launch_test test;

	(void)state;
	start(&test);
	call(&test, 0, "launch", 10, 20);
	call(&test, 0, "launch", 20, 30);
	call(&test, 1, "launch", 30, 40);
	work(&test, 0, -1, 5, 0)->queue = 2; /* waited nobody knows how long */
	work(&test, 0, 0, 15, 0)->queue = 2;
	work(&test, 0, 1, 18, 0)->queue = 2; /* seems to begin before its launch */
	work(&test, 0, 0, 40, 0)->queue = 2;
	work(&test, 0, 0, 44, 0)->queue = 1;
	work(&test, 1, 2, 30, 0);
	analysis_test_expect(&test.test, "queue_length",
	                     QUEUES "0,\"node,1\",100,3,1,1,34,1.000,1,0,0,0,10,44\n"
	                            "0,\"node,1\",100,3,2,3,30,1.100,2,0,2,0,10,40\n"
	                            "1,\"node,1\",200,0,0,1,0,,1,0,0,0,30,30\n");
	stop(&test);
}

static void test_queue_length__is_below_zero_where_clocks_are_wrong(void **state)
{
	struct launch_test test;

	(void)state;
	start(&test);
	call(&test, 0, "launch", 20, 30);
	work(&test, 0, 0, 10, 0);
	analysis_test_expect(&test.test, "queue_length",
	                     QUEUES "0,\"node,1\",100,3,0,1,10,-1.000,0,-1,10,0,10,20\n");
	stop(&test);
}

static void test_launches__of_nothing_is_a_header(void **state)
{
	struct launch_test test;

	(void)state;
	start(&test);
	analysis_test_expect(&test.test, "launches", HEAD);
	analysis_test_expect(&test.test, "queue_length", QUEUES);
	call(&test, 0, "launch", 10, 20);
	analysis_test_expect(&test.test, "launches", HEAD);
	test.test.fixture.timeline.launch_of_op = NULL; /* nothing was launched by any */
	work(&test, 0, -1, 15, 0);
	analysis_test_expect(&test.test, "launches",
	                     HEAD "0,\"node,1\",100,,0,0,0,0,1,0,,,,,,0,0,0\n");
	analysis_test_expect(&test.test, "queue_length", QUEUES);
	stop(&test);
}

/* -- random worlds ----------------------------------------------------------------------------- */

struct delays {
	int64_t ns[WORLD_WORKS];
	int n, early, without_launch;
};

static int compare_ns(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Of the works of a device, or all (-1). */
static struct delays delays_of(const struct work_world *world, int device)
{
	struct delays delays = {.n = 0};

	for (int i = 0; i < WORLD_WORKS; i++) {
		const struct world_work *work = &world->works[i];
		int64_t ns = work->start - (work->launch < 0 ? 0 : world->call_start[work->launch]);

		if (device >= 0 && work->device != device)
			continue;
		if (work->launch < 0)
			delays.without_launch++;
		else
			delays.ns[delays.n++] = ns;
		delays.early += work->launch >= 0 && ns < 0;
	}
	qsort(delays.ns, (size_t)delays.n, sizeof(int64_t), compare_ns);
	return delays;
}

static void test_launches__agree_with_the_works_of_random_worlds(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 300; seed++) {
		struct work_world world;
		struct delays all;
		uint32_t row = 0;
		char *text;

		work_world_init(&world, seed, 1);
		text = analysis_test_write(&world.test, "launches");
		all = delays_of(&world, -1);
		while (row < table_n_rows(text) &&
		       (*table_cell(text, row, "rank") || *table_cell(text, row, "name")))
			row++;
		row = row < table_n_rows(text) ? row : 0; /* one rank is all */
		assert_int_equal(table_number(text, row, "works"), all.n);
		assert_int_equal(table_number(text, row, "without_launch"), all.without_launch);
		assert_int_equal(table_number(text, row, "early"), all.early);
		assert_int_equal(table_number(text, row, "min_ns"), all.ns[0]);
		assert_int_equal(table_number(text, row, "max_ns"), all.ns[all.n - 1]);
		if (all.n % 2)
			assert_int_equal(table_number(text, row, "median_ns"), all.ns[all.n / 2]);
		free(text);
		work_world_release(&world);
	}
}

static void test_queue_length__is_what_counting_each_ns_gives(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 300; seed++) {
		struct work_world world;
		char *text;

		work_world_init(&world, seed, 1);
		text = analysis_test_write(&world.test, "queue_length");
		for (uint32_t row = 0; row < table_n_rows(text); row++) {
			int device = (int)table_number(text, row, "rank") * 2 +
			             (int)table_number(text, row, "device");
			int64_t first_ns = table_number(text, row, "first_ns");
			int64_t last_ns = table_number(text, row, "last_ns");
			int64_t empty_ns = 0;

			for (int64_t ns = first_ns; ns < last_ns; ns++) {
				int length = 0;

				for (int i = 0; i < WORLD_WORKS; i++) {
					const struct world_work *work = &world.works[i];

					if (work->device != device || work->launch < 0)
						continue;
					length += world.call_start[work->launch] <= ns;
					length -= work->start <= ns;
				}
				assert_true(length <= table_number(text, row, "max_length"));
				assert_true(length >= table_number(text, row, "min_length"));
				empty_ns += length <= 0;
			}
			assert_int_equal(table_number(text, row, "empty_ns"), empty_ns);
			assert_int_equal(table_number(text, row, "works"),
			                 delays_of(&world, device).n);
		}
		free(text);
		work_world_release(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launches__tells_how_long_work_waited),
		cmocka_unit_test(test_launches__are_in_order_of_their_totals),
		cmocka_unit_test(test_launches__rounds_the_mean_from_the_end_of_calls),
		cmocka_unit_test(test_launches__of_nothing_is_a_header),
		cmocka_unit_test(test_launches__agree_with_the_works_of_random_worlds),
		cmocka_unit_test(test_queue_length__counts_what_was_launched_and_has_not_begun),
		cmocka_unit_test(test_queue_length__is_below_zero_where_clocks_are_wrong),
		cmocka_unit_test(test_queue_length__is_what_counting_each_ns_gives),
	};

	return cmocka_run_group_tests_name("launches", tests, NULL, NULL);
}
