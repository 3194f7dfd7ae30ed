/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks exchanged, and for whom they waited: communication.csv and stragglers.csv. */
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

#define HEAD                                                                                    \
	"rank,host,pid,of,op,size_bytes,collectives,count,bytes,total_ns,hidden_ns,exposed_ns," \
	"hidden_percent,wait_ns,skew_ns,max_skew_ns,unsure,err_ns,alg_gbps,alg_stderr_gbps,"    \
	"bus_gbps,bus_stderr_gbps\n"
#define STRAGGLERS                                                                        \
	"rank,host,pid,of,collectives,first,last,last_percent,unsure_last,total_wait_ns," \
	"mean_wait_ns,caused_wait_ns,steps,steps_last,err_ns\n"

struct exchange_test {
	struct analysis_test test;
	struct table points;
};

static void start(struct exchange_test *test, uint32_t n_ranks)
{
	struct timeline_fixture *fixture = &test->test.fixture;

	*test = (struct exchange_test){.points = TABLE_INIT};
	analysis_test_init(&test->test);
	for (uint32_t i = 0; i < n_ranks; i++) {
		uint32_t process = fixture_process(fixture, (int32_t)i, 100 + i, "app");

		fixture_device(fixture, process, 0, "");
		fixture_thread(fixture, process, (int32_t)(100 + i), "main");
	}
	fixture->timeline.sync_points = &test->points;
}

static void stop(struct exchange_test *test)
{
	table_release(&test->points);
	analysis_test_release(&test->test);
}

/* What a program of a rank recorded. */
static void record(struct exchange_test *test, uint32_t rank, const char *op, uint64_t number,
                   int64_t enter_ns, int64_t exit_ns)
{
	struct timeline_fixture *fixture = &test->test.fixture;
	const struct sync_point point = {
		.enter_host_ns = enter_ns,
		.exit_host_ns = exit_ns,
		.seq = number,
		.bytes = 1000,
		.process = rank,
		.group = fixture_string(fixture, "world"),
		.op = fixture_string(fixture, op),
	};

	assert_int_equal(table_put(&test->points, &point, sizeof(point)), 0);
}

static void test_communication__is_hidden_by_the_union_of_computation(void **state)
{
	struct exchange_test test;

	(void)state;
	start(&test, 1);
	analysis_test_row(&test.test, 0, ROW_EXEC, "k", 0, 30);
	analysis_test_row(&test.test, 0, ROW_EXEC, "ncclDevKernel_AllReduce_Sum", 20, 120);
	analysis_test_row(&test.test, 0, ROW_EXEC, "k", 40, 80); /* another stream: */
	analysis_test_row(&test.test, 0, ROW_EXEC, "k", 50, 90);
	analysis_test_row(&test.test, 0, ROW_MEMCPY_HTOD, "c", 100, 110);
	analysis_test_row(&test.test, 0, ROW_MEMCPY_PTOP, "c", 110, 130)->bytes = 64;
	analysis_test_row(&test.test, 0, ROW_MEMCPY_PTOP, "c", 140, 150)->bytes = 65;
	analysis_test_expect(
		&test.test, "communication",
		HEAD "0,\"node,1\",100,device,,,3,3,129,130,60,70,46.15,,,,,0,,,,\n"
		     "0,\"node,1\",100,device,all_reduce,,1,1,0,100,60,40,60.00,,,,,0,,,,\n"
		     "0,\"node,1\",100,device,all_reduce,0,1,1,0,100,60,40,60.00,,,,,0,,,,\n"
		     "0,\"node,1\",100,device,peer_copy,,2,2,129,30,0,30,0.00,,,,,0,4.8500,"
		     "1.6500,4.8500,1.6500\n"
		     "0,\"node,1\",100,device,peer_copy,64,2,2,129,30,0,30,0.00,,,,,0,4.8500,"
		     "1.6500,4.8500,1.6500\n");
	analysis_test_expect(&test.test, "stragglers", STRAGGLERS);
	stop(&test);
}

/* Rank 1 comes last to the first one, rank 0 to the second; all come to the third at once. */
static void add_collectives(struct exchange_test *test)
{
	record(test, 0, "all_reduce", 0, 100, 200);
	record(test, 1, "all_reduce", 0, 150, 200);
	record(test, 0, "all_reduce", 1, 300, 340);
	record(test, 1, "all_reduce", 1, 290, 340);
	record(test, 0, "barrier", 2, 400, 410);
	record(test, 1, "barrier", 2, 400, 420);
	analysis_test_row(&test->test, 0, ROW_EXEC, "k", 110, 130);
}

static void test_communication__takes_the_best_rank_of_each_collective(void **state)
{
	struct exchange_test test;

	(void)state;
	start(&test, 2);
	add_collectives(&test);
	analysis_test_expect(
		&test.test, "communication",
		HEAD
		"0,\"node,1\",100,program,,,3,3,3000,150,20,130,13.33,50,20,50,1,0,,,,\n"
		"0,\"node,1\",100,program,all_reduce,,2,2,2000,140,20,120,14.29,50,30,50,0,0,"
		"17.5000,7.5000,17.5000,7.5000\n"
		"0,\"node,1\",100,program,all_reduce,512,2,2,2000,140,20,120,14.29,50,30,50,0,0,"
		"17.5000,7.5000,17.5000,7.5000\n"
		"0,\"node,1\",100,program,barrier,,1,1,1000,10,0,10,0.00,0,0,0,1,0,100.0000,,,\n"
		"0,\"node,1\",100,program,barrier,512,1,1,1000,10,0,10,0.00,0,0,0,1,0,100.0000,,,"
		"\n"
		"1,\"node,1\",101,program,,,3,3,3000,120,0,120,0.00,10,20,50,1,0,,,,\n"
		"1,\"node,1\",101,program,all_reduce,,2,2,2000,100,0,100,0.00,10,30,50,0,0,"
		"20.0000,0.0000,20.0000,0.0000\n"
		"1,\"node,1\",101,program,all_reduce,512,2,2,2000,100,0,100,0.00,10,30,50,0,0,"
		"20.0000,0.0000,20.0000,0.0000\n"
		"1,\"node,1\",101,program,barrier,,1,1,1000,20,0,20,0.00,0,0,0,1,0,50.0000,,,\n"
		"1,\"node,1\",101,program,barrier,512,1,1,1000,20,0,20,0.00,0,0,0,1,0,50.0000,,,\n"
		",,,program,,,3,6,6000,270,20,250,7.41,60,20,50,1,0,,,,\n"
		",,,program,all_reduce,,2,4,4000,240,20,220,8.33,60,30,50,0,0,22.5000,2.5000,"
		"22.5000,2.5000\n"
		",,,program,all_reduce,512,2,4,4000,240,20,220,8.33,60,30,50,0,0,22.5000,2.5000,"
		"22.5000,2.5000\n"
		",,,program,barrier,,1,2,2000,30,0,30,0.00,0,0,0,1,0,100.0000,,,\n"
		",,,program,barrier,512,1,2,2000,30,0,30,0.00,0,0,0,1,0,100.0000,,,\n");
	stop(&test);
}

static void add_step(struct exchange_test *test, uint32_t rank, int64_t start_ns, int64_t end_ns)
{
	struct timeline_fixture *fixture = &test->test.fixture;
	uint32_t track = fixture_track(fixture, (struct track){.kind = TRACK_ASYNC, .owner = rank});
	struct host_row row = fixture_scope(fixture, track, "step", start_ns, end_ns);

	row.kind = HOST_STEP;
	fixture->timeline.has.steps = true;
	fixture_host(fixture, row);
}

static void test_stragglers__tell_who_came_last_and_how_often(void **state)
{
	struct exchange_test test;

	(void)state;
	start(&test, 2);
	add_collectives(&test);
	record(&test, 0, "all_reduce", 3, 500, 560);
	record(&test, 1, "all_reduce", 3, 550, 560);
	add_step(&test, 0, 0, 250);
	add_step(&test, 1, 0, 250);
	add_step(&test, 0, 250, 540);
	add_step(&test, 1, 250, 600); /* first once, last once */
	analysis_test_expect(&test.test, "stragglers",
	                     STRAGGLERS "0,\"node,1\",100,program,4,2,1,25.00,0,100,25,10,2,1,0\n"
	                                "1,\"node,1\",101,program,4,1,2,50.00,0,10,3,100,2,2,0\n"
	                                ",,,program,8,3,3,37.50,0,110,14,110,4,3,0\n");
	stop(&test);
}

/* -- random worlds ----------------------------------------------------------------------------- */

/* How much of a work its device computed meanwhile. */
static int64_t hidden_ns(const struct work_world *world, const struct world_work *work)
{
	int64_t n = 0;

	for (int ns = work->start; ns < work->end; ns++)
		n += world->masks[work->device][ns] >> WORK_COMPUTE & 1;
	return n;
}

static void test_communication__hidden_and_exposed_are_all_of_it(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 300; seed++) {
		int64_t total[2] = {0}, hidden[2] = {0}, count[2] = {0};
		struct work_world world;
		char *text;

		work_world_init(&world, seed, 1);
		text = analysis_test_write(&world.test, "communication");
		for (int i = 0; i < WORLD_WORKS; i++) {
			const struct world_work *work = &world.works[i];
			int rank = world_rank(work->device);

			if (work->class != WORK_COMMUNICATION)
				continue;
			count[rank]++;
			total[rank] += work->end - work->start;
			hidden[rank] += hidden_ns(&world, work);
		}
		for (uint32_t row = 0; row < table_n_rows(text); row++) {
			int rank = (int)table_number(text, row, "rank");
			bool is_all = !*table_cell(text, row, "rank");

			assert_int_equal(table_number(text, row, "count"),
			                 is_all ? count[0] + count[1] : count[rank]);
			assert_int_equal(table_number(text, row, "total_ns"),
			                 is_all ? total[0] + total[1] : total[rank]);
			assert_int_equal(table_number(text, row, "hidden_ns"),
			                 is_all ? hidden[0] + hidden[1] : hidden[rank]);
			assert_int_equal(table_number(text, row, "hidden_ns") +
			                         table_number(text, row, "exposed_ns"),
			                 table_number(text, row, "total_ns"));
		}
		free(text);
		work_world_release(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_communication__is_hidden_by_the_union_of_computation),
		cmocka_unit_test(test_communication__takes_the_best_rank_of_each_collective),
		cmocka_unit_test(test_communication__hidden_and_exposed_are_all_of_it),
		cmocka_unit_test(test_stragglers__tell_who_came_last_and_how_often),
	};

	return cmocka_run_group_tests_name("communication", tests, NULL, NULL);
}
