/* SPDX-License-Identifier: Apache-2.0 */
/* What MPI programs and devices send each other: communication_matrix.csv, and collectives.csv of
 * those with a root. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/analysis_impl.h"
#include "findings/transfers.h"
#include "analysis_files.h"
#include "analysis_fixture.h"

struct matrix_test {
	struct analysis_test analysis;
	struct transfers transfers;
	struct table points;
	uint32_t devices[3];
};

static int start(void **state)
{
	struct matrix_test *test = calloc(1, sizeof(*test));

	*state = test;
	analysis_test_init(&test->analysis);
	return 0;
}

static int stop(void **state)
{
	struct matrix_test *test = *state;

	transfers_release(&test->transfers);
	table_release(&test->points);
	analysis_test_release(&test->analysis);
	free(test);
	return 0;
}

static void add_ranks(struct matrix_test *test, uint32_t n)
{
	struct timeline_fixture *fixture = &test->analysis.fixture;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t process = fixture_process(fixture, (int32_t)i, 100 + i, "p");

		test->devices[i] = fixture_device(fixture, process, 0, "AIU");
		fixture_track(fixture, (struct track){.kind = TRACK_QUEUE,
		                                      .row_kind = ROW_EXEC,
		                                      .owner = test->devices[i]});
	}
}

static void add_point(struct matrix_test *test, uint32_t process, uint64_t seq, const char *op,
                      const char *peers, int64_t enter_ns)
{
	struct timeline_fixture *fixture = &test->analysis.fixture;
	struct sync_point *point = table_append(&test->points, sizeof(*point));

	assert_non_null(point);
	*point = (struct sync_point){.enter_host_ns = enter_ns,
	                             .exit_host_ns = 1000,
	                             .seq = seq,
	                             .bytes = 300,
	                             .process = process,
	                             .group = fixture_string(fixture, "world"),
	                             .op = fixture_string(fixture, op),
	                             .peers = fixture_string(fixture, peers)};
}

static void add_message(struct matrix_test *test, uint32_t rank, uint8_t kind, const char *name,
                        int32_t peer)
{
	struct tick_op *op = analysis_test_row(&test->analysis, test->devices[rank], kind, name,
	                                       100, 200);

	op->peer = peer;
	op->bytes = 1000;
	op->group = fixture_string(&test->analysis.fixture, "AllReduce_4");
	test->analysis.fixture.timeline.has.groups = true;
}

#define HEADER "window,rank,host,pid,peer,of,sent,sent_bytes,received,received_bytes,matched\n"

static void expect(struct matrix_test *test, const char *lines)
{
	struct timeline *timeline = &test->analysis.fixture.timeline;
	char expected[4096];

	timeline->sync_points = &test->points;
	assert_int_equal(transfers_find(&test->transfers, timeline, &test->analysis.fixture.cache),
	                 0);
	test->analysis.fixture.findings.transfers = &test->transfers;
	snprintf(expected, sizeof(expected), "%s%s", HEADER, lines);
	analysis_test_expect(&test->analysis, "communication_matrix", expected);
}

static void add_window(struct matrix_test *test, uint32_t process, const char *name,
                       int64_t start_ns, int64_t end_ns)
{
	struct timeline_fixture *fixture = &test->analysis.fixture;
	uint32_t thread = fixture_thread(fixture, process, 1, "t");
	uint32_t track = fixture_track(fixture,
	                               (struct track){.kind = TRACK_ASYNC, .owner = thread});
	struct host_row row = fixture_scope(fixture, track, name, start_ns, end_ns);

	row.kind = HOST_WINDOW;
	fixture_host(fixture, row);
}

static void test_matrix__matches_sends_and_receives(void **state)
{
	struct matrix_test *test = *state;

	add_ranks(test, 3);
	add_point(test, 0, 0, "MPI_Isend", "1", 100);
	add_point(test, 1, 0, "recv", "0", 110);
	add_point(test, 0, 1, "send", "1", 120); /* its receive is not known */
	add_point(test, 0, 0, "send", "2", 130);
	add_point(test, 2, 0, "recv", "0", 140);
	add_point(test, 2, 0, "recv", "0", 150); /* twice, and sent once */
	add_point(test, 1, 0, "recv", "2", 160); /* nobody sent it */
	add_point(test, 1, 5, "barrier", "", 170);
	add_point(test, 1, 0, "send", "", 180); /* to nobody knows whom */
	expect(test, ",0,\"node,1\",100,1,program,2,600,0,0,1\n"
	             ",0,\"node,1\",100,2,program,1,300,0,0,1\n"
	             ",1,\"node,1\",101,0,program,0,0,1,300,1\n"
	             ",1,\"node,1\",101,2,program,0,0,1,300,0\n"
	             ",2,\"node,1\",102,0,program,0,0,2,600,1\n");
}

static void test_matrix__counts_in_the_windows_that_are_open(void **state)
{
	struct matrix_test *test = *state;

	add_ranks(test, 2);
	add_window(test, 0, "solve", 90, 105);
	add_window(test, 1, "other rank", 90, 500);
	add_window(test, 0, "inner", 100, 100);
	add_window(test, 0, "solve", 300, 400);
	add_point(test, 0, 0, "send", "1", 100);
	add_point(test, 0, 1, "send", "1", 200);
	add_point(test, 0, 2, "send", "1", 300);
	expect(test, ",0,\"node,1\",100,1,program,3,900,0,0,0\n"
	             "inner,0,\"node,1\",100,1,program,1,300,0,0,0\n"
	             "solve,0,\"node,1\",100,1,program,2,600,0,0,0\n");
}

static void test_matrix__has_what_devices_moved(void **state)
{
	struct matrix_test *test = *state;

	add_ranks(test, 2);
	add_message(test, 0, ROW_MEMCPY_DTOH, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1);
	add_message(test, 1, ROW_MEMCPY_HTOD, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0);
	expect(test, ",0,\"node,1\",100,1,device,1,1000,0,0,\n"
	             ",1,\"node,1\",101,0,device,0,0,1,1000,\n");
}

static void test_matrix__of_nothing_is_nothing(void **state)
{
	add_ranks(*state, 1);
	expect(*state, "");
}

/* The others name the root, and it names nobody. */
static void test_matrix__a_collective_with_a_root_is_one(void **state)
{
	struct matrix_test *test = *state;

	add_ranks(test, 3);
	add_point(test, 0, 1, "MPI_Bcast", "1", 100);
	add_point(test, 1, 1, "MPI_Bcast", "", 200);
	add_point(test, 2, 1, "MPI_Bcast", "1", 1000);
	test->analysis.fixture.timeline.sync_points = &test->points;
	analysis_test_expect(
		&test->analysis, "collectives",
		"rank,host,pid,device,group,number,op,algorithm,ranks,bytes,sent,received,start_ns,"
		"end_ns,dur_ns,wait_ns,err_ns,status,alg_gbps,bus_gbps\n"
		"0,\"node,1\",100,,world,1,broadcast,,3,300,,,100,1000,900,900,0,certified,"
		"0.3333,0.3333\n"
		"1,\"node,1\",101,,world,1,broadcast,,3,300,,,200,1000,800,800,0,certified,"
		"0.3750,0.3750\n"
		"2,\"node,1\",102,,world,1,broadcast,,3,300,,,1000,1000,0,0,0,certified,,\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_matrix__##name, start, stop)
		TEST(matches_sends_and_receives),      TEST(counts_in_the_windows_that_are_open),
		TEST(has_what_devices_moved),          TEST(of_nothing_is_nothing),
		TEST(a_collective_with_a_root_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
