/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "path_fixture.h"

#define N(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define EXPECT(calls, works, expected)                      \
	do {                                                \
		path_add(calls, N(calls), works, N(works)); \
		assert_string_equal(path_text(), expected); \
	} while (0)

/* -- single edges ------------------------------------------------------------------------------ */

static void test_path__of_a_launch_that_is_waited_for(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "op", 10, 60, 0},
		{0, 0, "launch", 20, 30, 0},
		{0, 0, "cudaDeviceSynchronize", 70, 150, 0},
		{0, 0, "end", 150, 160, 0},
	};
	struct work_made works[] = {{0, 0, 1, "k", 34, 140}};

	(void)state;
	EXPECT(calls, works,
	       "run: host op 10, host launch 10, launch_delay k 4, compute k 106, "
	       "wait cudaDeviceSynchronize 10, host end 10\n");
}

/* Work that had ended when the wait began held nobody up. */
static void test_path__of_a_wait_without_something_to_wait_for(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "launch", 0, 10, 0},
		{0, 0, "cudaDeviceSynchronize", 70, 75, 0},
	};
	struct work_made works[] = {{0, 0, 0, "k", 14, 70}};

	(void)state;
	EXPECT(calls, works, "run: host launch 10, host - 60, host cudaDeviceSynchronize 5\n");
}

static void test_path__of_a_queue_that_is_never_empty(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "launch", 0, 10, 0},
		{0, 0, "launch", 10, 20, 0},
		{0, 0, "launch", 20, 30, 0},
		{0, 0, "aclrtSynchronizeStream", 30, 170, 0},
	};
	struct work_made works[] = {
		{0, 0, 0, "a", 12, 60}, {0, 0, 1, "b", 61, 100}, {0, 0, 2, "c copy", 100, 165}};

	(void)state;
	EXPECT(calls, works,
	       "run: host launch 10, launch_delay a 2, compute a 48, queue_delay b 1, compute b "
	       "39, "
	       "memory c copy 65, wait aclrtSynchronizeStream 5\n");
}

/* Other queues matter where the host made this one wait for them. */
static void test_path__of_queues_that_wait_for_each_other(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "launch", 0, 10, 0},
		{0, 0, "cudaStreamWaitEvent", 10, 12, 0},
		{0, 0, "launch", 12, 20, 0},
		{0, 0, "cudaDeviceSynchronize", 20, 100, 0},
	};
	struct work_made works[] = {{0, 1, 0, "a", 11, 60}, {0, 2, 2, "b", 63, 97}};

	(void)state;
	EXPECT(calls, works,
	       "run: host launch 10, launch_delay a 1, compute a 49, queue_delay b 3, compute b "
	       "34, "
	       "wait cudaDeviceSynchronize 3\n");
}

static void test_path__of_queues_that_do_not(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "launch", 0, 10, 0},
		{0, 0, "launch", 12, 20, 0},
		{0, 0, "cudaDeviceSynchronize", 20, 100, 0},
	};
	struct work_made works[] = {{0, 1, 0, "a", 11, 60}, {0, 2, 1, "b", 63, 97}};

	(void)state;
	EXPECT(calls, works,
	       "run: host launch 10, host - 2, host launch 8, launch_delay b 43, compute b 34, "
	       "wait cudaDeviceSynchronize 3\n");
}

/* Nothing but its launch tells that a call waits: the work ended before it returned. */
static void test_path__of_a_copy_that_blocks(void **state)
{
	static const struct call_made calls[] = {{0, 0, "copy", 10, 60, 0}, {0, 0, "x", 60, 70, 0}};
	struct work_made works[] = {{0, 0, 0, "c", 15, 55}};

	(void)state;
	EXPECT(calls, works, "run: host copy 5, memory c 40, wait copy 5, host x 10\n");
}

/* Its stamp is wrong: the time stays as it is. */
static void test_path__of_work_that_begins_before_its_launch(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "before", 0, 20, 0},
		{0, 0, "launch", 20, 30, 0},
		{0, 0, "cudaDeviceSynchronize", 30, 50, 0},
	};
	struct work_made works[] = {{0, 0, 1, "k", 15, 45}};

	(void)state;
	EXPECT(calls, works, "run: host before 15, compute k 30, wait cudaDeviceSynchronize 5\n");
}

/* The other thread began with nothing before: the step's thread had it begin. */
static void test_path__of_another_threads_launch(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "forward", 0, 20, 0},
		{0, 0, "backward", 20, 100, 0},
		{0, 1, "grad", 30, 60, 0},
		{0, 1, "launch", 40, 50, 0},
		{0, 0, "cudaDeviceSynchronize", 60, 90, 0},
	};
	struct work_made works[] = {{0, 0, 3, "k", 52, 85}};

	(void)state;
	EXPECT(calls, works,
	       "run: host forward 20, host backward 10, host grad 10, host launch 10, "
	       "launch_delay k 2, compute k 33, wait cudaDeviceSynchronize 5, host backward 10\n");
}

/* Intervals that may cross others hide no thread. */
static void test_path__is_not_of_async_intervals(void **state)
{
	static const struct call_made calls[] = {{0, 2, "async", 0, 90, HOST_ASYNC},
	                                         {0, 0, "call", 10, 80, 0}};
	struct work_made works[] = {{1, 0, -1, "a", 20, 85}};

	(void)state;
	EXPECT(calls, works,
	       "run: host - 10, host call 70, host - 10\nrun: compute a 65\n"
	       "all run: host - 10@0, host call 70@0, host - 10@0\n");
}

static void test_path__without_a_host(void **state)
{
	struct work_made works[] = {{0, 0, -1, "a", 10, 20}, {0, 1, -1, "b", 25, 40}};

	(void)state;
	path_add(NULL, 0, works, N(works));
	assert_string_equal(path_text(), "run: compute a 10, queue_delay b 5, compute b 15\n");
}

static void test_path__of_nothing(void **state)
{
	(void)state;
	assert_string_equal(path_text(), "");
}

/* -- steps ------------------------------------------------------------------------------------- */

/* A step goes on until what it launched has ended; the next one begins when its program says. */
static void test_path__of_steps_has_the_work_launched_in_them(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "step 1", 0, 50, HOST_STEP},   {0, 0, "launch", 10, 20, 0},
		{0, 0, "step 2", 50, 100, HOST_STEP}, {0, 0, "launch", 60, 70, 0},
		{0, 0, "inner", 72, 80, HOST_STEP},   {0, 0, "window", 0, 90, HOST_WINDOW},
	};
	struct work_made works[] = {{0, 0, 1, "a", 20, 85}, {0, 0, 3, "b", 85, 95}};

	(void)state;
	EXPECT(calls, works,
	       "step 1: host - 10, host launch 10, compute a 65\n"
	       "step 2: host - 10, host launch 10, host - 30\n");
}

static void test_path__of_windows_where_there_are_no_steps(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "outside", 0, 10, 0},
		{0, 0, "window", 20, 50, HOST_WINDOW},
		{0, 0, "call", 30, 50, 0},
		{0, 0, "outside", 50, 60, 0},
	};
	struct work_made works[] = {{1, 0, -1, "a", 20, 85}};

	(void)state;
	EXPECT(calls, works, "window: host - 10, host call 20\nrun: compute a 65\n");
}

/* -- ranks ------------------------------------------------------------------------------------- */

/* Rank 1 comes last: alone, rank 0 waited; over all, rank 1 worked. */
static void test_path__over_ranks_follows_who_came_last(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "work", 0, 40, 0},
		{0, 0, "allreduce", 40, 110, HOST_COLLECTIVE},
		{0, 0, "rest", 110, 150, 0},
		{1, 0, "work", 5, 90, 0},
		{1, 0, "allreduce", 100, 112, HOST_COLLECTIVE},
	};

	(void)state;
	path_add_point(0, "all_reduce", 40, 110);
	path_add_point(1, "all_reduce", 100, 112);
	path_add(calls, N(calls), NULL, 0);
	assert_string_equal(path_text(),
	                    "run: host work 40, wait allreduce 60, communication allreduce 10, "
	                    "host rest 40\n"
	                    "run: host work 85, host - 10, host allreduce 12\n"
	                    "all run: host - 5@1, host work 85@1, host - 10@1, "
	                    "communication allreduce 10@0, host rest 40@0\n");
}

/* Where one rank is the root, the others do not wait for each other. */
static void test_path__over_ranks_not_of_a_broadcast(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "bcast", 40, 110, HOST_COLLECTIVE},
		{1, 0, "bcast", 100, 105, HOST_COLLECTIVE},
	};

	(void)state;
	path_add_point(0, "broadcast", 40, 110);
	path_add_point(1, "broadcast", 100, 105);
	path_add(calls, N(calls), NULL, 0);
	assert_string_equal(path_text(),
	                    "run: host bcast 70\nrun: host bcast 5\nall run: host bcast 70@0\n");
}

static void test_path__is_written_as_tables(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "ProfilerStep#7", 1000, 1200, HOST_STEP},
		{0, 0, "launch", 1020, 1030, 0},
		{0, 0, "cudaDeviceSynchronize", 1070, 1150, 0},
	};
	struct work_made works[] = {{0, 0, 1, "k", 1034, 1140}};

	(void)state;
	path_add(calls, N(calls), works, N(works));

	analysis_test_expect(
		&path_test, "critical_path_summary",
		"rank,host,pid,step,start_ns,end_ns,wall_ns,bound_by,share_percent,most_kind,"
		"most_name,most_ns,host_ns,"
		"launch_delay_ns,queue_delay_ns,compute_ns,communication_ns,memory_ns,prepare_ns,"
		"wait_ns\n0,\"node,1\",100,ProfilerStep#7,1000,1200,200,compute,53.00,compute,k,"
		"106,80,4,0,106,0,"
		"0,0,10\n");
	analysis_test_expect(
		&path_test, "critical_path",
		"rank,host,pid,step,on_rank,kind,name,start_ns,end_ns,dur_ns,share_percent\n"
		"0,\"node,1\",100,ProfilerStep#7,0,host,,1000,1020,20,10.00\n"
		"0,\"node,1\",100,ProfilerStep#7,0,host,launch,1020,1030,10,5.00\n"
		"0,\"node,1\",100,ProfilerStep#7,0,launch_delay,k,1030,1034,4,2.00\n"
		"0,\"node,1\",100,ProfilerStep#7,0,compute,k,1034,1140,106,53.00\n"
		"0,\"node,1\",100,ProfilerStep#7,0,wait,cudaDeviceSynchronize,1140,1150,10,5.00\n"
		"0,\"node,1\",100,ProfilerStep#7,0,host,,1150,1200,50,25.00\n");
}

/* -- arrows ---------------------------------------------------------------------------------- */

/* Tracks 0 and 1 are threads of rank 0, 3 and 4 of rank 1. */
static void test_path__is_drawn_from_row_to_row(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "op", 10, 60, 0},
		{0, 0, "launch", 20, 30, 0},
		{0, 0, "cudaDeviceSynchronize", 70, 150, 0},
		{0, 0, "end", 150, 160, 0},
	};
	struct work_made works[] = {{0, 0, 1, "k", 34, 140}};

	(void)state;
	path_add(calls, N(calls), works, N(works));
	fixture_flow(&path_test.fixture, (struct flow){.from_time_ns = 20,
	                                               .to_time_ns = 34,
	                                               .from_track = 0,
	                                               .to_track = 6,
	                                               .correlation = UINT64_MAX});
	assert_string_equal(path_arrows(), "other 20 thread0 -> 34 device6\n"
	                                   "29 thread0 -> 34 device6\n"
	                                   "139 device6 -> 140 thread0\n");
}

/* Where there is a path over all ranks, it alone is drawn. */
static void test_path__is_drawn_over_ranks(void **state)
{
	static const struct call_made calls[] = {
		{0, 0, "work", 0, 40, 0},
		{0, 0, "allreduce", 40, 110, HOST_COLLECTIVE},
		{1, 0, "work", 0, 100, 0},
		{1, 0, "allreduce", 100, 105, HOST_COLLECTIVE},
	};

	(void)state;
	path_add_point(0, "all_reduce", 40, 110);
	path_add_point(1, "all_reduce", 100, 105);
	path_add(calls, N(calls), NULL, 0);
	assert_string_equal(path_arrows(), "99 thread3 -> 100 thread0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, path_start, path_stop)
		TEST(test_path__of_a_launch_that_is_waited_for),
		TEST(test_path__of_a_wait_without_something_to_wait_for),
		TEST(test_path__of_a_queue_that_is_never_empty),
		TEST(test_path__of_queues_that_wait_for_each_other),
		TEST(test_path__of_queues_that_do_not),
		TEST(test_path__of_a_copy_that_blocks),
		TEST(test_path__of_work_that_begins_before_its_launch),
		TEST(test_path__of_another_threads_launch),
		TEST(test_path__is_not_of_async_intervals),
		TEST(test_path__without_a_host),
		TEST(test_path__of_nothing),
		TEST(test_path__of_steps_has_the_work_launched_in_them),
		TEST(test_path__of_windows_where_there_are_no_steps),
		TEST(test_path__over_ranks_follows_who_came_last),
		TEST(test_path__over_ranks_not_of_a_broadcast),
		TEST(test_path__is_written_as_tables),
		TEST(test_path__is_drawn_from_row_to_row),
		TEST(test_path__is_drawn_over_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
