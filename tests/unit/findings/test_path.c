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

struct path_case {
	const char *what;
	struct call_made calls[7];
	struct work_made works[4];
	const char *expected;
	const char *op; /* of a collective of both ranks; NULL: there is none */
	int64_t enter[2], exit[2];
};

static void add_case(const struct path_case *of)
{
	struct work_made works[4];
	int n_calls = 0, n_works = 0;

	memcpy(works, of->works, sizeof(works));
	while (n_calls < 7 && of->calls[n_calls].name)
		n_calls++;
	while (n_works < 4 && works[n_works].name)
		n_works++;
	for (uint32_t rank = 0; rank < 2 && of->op; rank++)
		path_add_point(rank, of->op, of->enter[rank], of->exit[rank]);
	path_add(of->calls, n_calls, works, n_works);
}

/* -- what bounds what -------------------------------------------------------------------------- */

#define SYNC "cudaDeviceSynchronize"

static const struct path_case cases[] = {
	{.what = "a launch that is waited for",
         .calls = {{0, 0, "op", 10, 60, 0},
                   {0, 0, "launch", 20, 30, 0},
                   {0, 0, SYNC, 70, 150, 0},
                   {0, 0, "end", 150, 160, 0}},
         .works = {{0, 0, 1, "k", 34, 140}},
         .expected = "run: host op 10, host launch 10, launch_delay k 4, compute k 106, wait " SYNC
                     " 10, host end 10\n"},
	{.what = "a wait for what had ended when it began",
         .calls = {{0, 0, "launch", 0, 10, 0}, {0, 0, SYNC, 70, 75, 0}},
         .works = {{0, 0, 0, "k", 14, 70}},
         .expected = "run: host launch 10, host - 60, host " SYNC " 5\n"},
	{.what = "a queue that is never empty",
         .calls = {{0, 0, "launch", 0, 10, 0},
                   {0, 0, "launch", 10, 20, 0},
                   {0, 0, "launch", 20, 30, 0},
                   {0, 0, "aclrtSynchronizeStream", 30, 170, 0}},
         .works = {{0, 0, 0, "a", 12, 60}, {0, 0, 1, "b", 61, 100}, {0, 0, 2, "c copy", 100, 165}},
         .expected = "run: host launch 10, launch_delay a 2, compute a 48, queue_delay b 1, "
                     "compute b 39, "
                     "memory c copy 65, "
                     "wait aclrtSynchronizeStream 5\n"},
	{.what = "queues that wait for each other",
         .calls = {{0, 0, "launch", 0, 10, 0},
                   {0, 0, "cudaStreamWaitEvent", 10, 12, 0},
                   {0, 0, "launch", 12, 20, 0},
                   {0, 0, SYNC, 20, 100, 0}},
         .works = {{0, 1, 0, "a", 11, 60}, {0, 2, 2, "b", 63, 97}},
         .expected = "run: host launch 10, launch_delay a 1, compute a 49, queue_delay b 3, "
                     "compute b 34, "
                     "wait " SYNC " 3\n"},
	{.what = "queues that do not",
         .calls = {{0, 0, "launch", 0, 10, 0},
                   {0, 0, "launch", 12, 20, 0},
                   {0, 0, SYNC, 20, 100, 0}},
         .works = {{0, 1, 0, "a", 11, 60}, {0, 2, 1, "b", 63, 97}},
         .expected = "run: host launch 10, host - 2, host launch 8, launch_delay b 43, compute b "
                     "34, wait " SYNC " 3\n"},
	{.what = "waits by the names of MTIA",
         .calls = {{0, 0, "launch", 0, 10, 0},
                   {0, 0, "enqueueCommand waitOnEvent", 10, 12, 0},
                   {0, 0, "launch", 12, 20, 0},
                   {0, 0, "synchronizeStream", 20, 100, 0}},
         .works = {{0, 1, 0, "a", 11, 60}, {0, 2, 2, "b", 63, 97}},
         .expected = "run: host launch 10, launch_delay a 1, compute a 49, queue_delay b 3, "
                     "compute b 34, wait "
                     "synchronizeStream 3\n"},
	{.what = "a wait by its kind",
         .calls = {{0, 0, "launch", 0, 10, 0}, {0, 0, "fence", 20, 100, FLEXTRACE_RUNTIME_WAIT}},
         .works = {{0, 1, 0, "a", 11, 60}},
         .expected = "run: host launch 10, launch_delay a 1, compute a 49, wait fence 40\n"},
	{.what = "a function that has a name like a wait",
         .calls = {{0, 0, "launch", 0, 10, 0}, {0, 0, "cuda.py(9): synchronize", 10, 100, 0}},
         .works = {{0, 1, 0, "a", 11, 60}},
         .expected = "run: host launch 10, host cuda.py(9): synchronize 90\n"},
	{.what = "a copy that blocks: nothing but its launch tells that",
         .calls = {{0, 0, "copy", 10, 60, 0}, {0, 0, "x", 60, 70, 0}},
         .works = {{0, 0, 0, "c", 15, 55}},
         .expected = "run: host copy 5, memory c 40, wait copy 5, host x 10\n"},
	{.what = "a copy that blocks behind a kernel",
         .calls = {{0, 0, "launch", 0, 10, 0}, {0, 0, "copy", 10, 60, 0}},
         .works = {{0, 0, 0, "k", 12, 40}, {0, 0, 1, "c", 42, 55}},
         .expected = "run: host launch 10, launch_delay k 2, compute k 28, queue_delay c 2, memory "
                     "c 13, wait "
                     "copy 5\n"},
	{.what = "work that begins before its launch: its stamp is wrong, and the time stays as it "
                 "is",
         .calls = {{0, 0, "before", 0, 20, 0},
                   {0, 0, "launch", 20, 30, 0},
                   {0, 0, SYNC, 30, 50, 0}},
         .works = {{0, 0, 1, "k", 15, 45}},
         .expected = "run: host before 15, compute k 30, wait " SYNC " 5\n"},
	{.what = "the launch of a thread that began with nothing before: that of the step had it "
                 "begin",
         .calls = {{0, 0, "forward", 0, 20, 0},
                   {0, 0, "backward", 20, 100, 0},
                   {0, 1, "grad", 30, 60, 0},
                   {0, 1, "launch", 40, 50, 0},
                   {0, 0, SYNC, 60, 90, 0}},
         .works = {{0, 0, 3, "k", 52, 85}},
         .expected = "run: host forward 20, host backward 10, host grad 10, host launch 10, "
                     "launch_delay k 2, "
                     "compute k 33, wait " SYNC " 5, "
                     "host backward 10\n"},
	{.what = "a thread that ends last, but has nothing to do with devices",
         .calls = {{0, 0, "launch", 0, 10, 0},
                   {0, 0, SYNC, 10, 50, 0},
                   {0, 1, "profiler", 90, 100, 0}},
         .works = {{0, 0, 0, "k", 12, 45}},
         .expected = "run: host launch 10, launch_delay k 2, compute k 33, wait " SYNC
                     " 5, host - 50\n"},
	{.what = "intervals that may cross others, which hide no thread",
         .calls = {{0, 2, "async", 0, 90, HOST_ASYNC}, {0, 0, "call", 10, 80, 0}},
         .works = {{1, 0, -1, "a", 20, 85}},
         .expected = "run: host - 10, host call 70, host - 10\nrun: compute a 65\n"
                     "all run: host - 10@0, host call 70@0, host - 10@0\n"},
	{.what = "devices alone",

         .works = {{0, 0, -1, "a", 10, 20}, {0, 1, -1, "b", 25, 40}},
         .expected = "run: compute a 10, queue_delay b 5, compute b 15\n"},
	{.what = "nothing", .expected = ""},
	{.what = "steps: one goes on until what it launched has ended, the next begins when its "
                 "program "
                 "says",
         .calls = {{0, 0, "step 1", 0, 50, HOST_STEP},
                   {0, 0, "launch", 10, 20, 0},
                   {0, 0, "step 2", 50, 100, HOST_STEP},
                   {0, 0, "launch", 60, 70, 0},
                   {0, 0, "inner", 72, 80, HOST_STEP},
                   {0, 0, "window", 0, 90, HOST_WINDOW}},
         .works = {{0, 0, 1, "a", 20, 85}, {0, 0, 3, "b", 85, 95}},
         .expected = "step 1: host - 10, host launch 10, compute a 65\n"
                     "step 2: host - 10, host launch 10, host - 30\n"},
	{.what = "windows, where there are no steps",
         .calls = {{0, 0, "outside", 0, 10, 0},
                   {0, 0, "window", 20, 50, HOST_WINDOW},
                   {0, 0, "call", 30, 50, 0},
                   {0, 0, "outside", 50, 60, 0}},
         .works = {{1, 0, -1, "a", 20, 85}},
         .expected = "window: host - 10, host call 20\nrun: compute a 65\n"},
	{.what = "a collective: alone, rank 0 waited for rank 1; over all, rank 1 worked",
         .calls = {{0, 0, "work", 0, 40, 0},
                   {0, 0, "allreduce", 40, 110, HOST_COLLECTIVE},
                   {0, 0, "rest", 110, 150, 0},
                   {1, 0, "work", 5, 90, 0},
                   {1, 0, "allreduce", 100, 112, HOST_COLLECTIVE}},
         .expected =
                 "run: host work 40, wait allreduce 60, communication allreduce 10, host rest 40\n"
                 "run: host work 85, host - 10, host allreduce 12\n"
                 "all run: host - 5@1, host work 85@1, host - 10@1, communication allreduce 10@0, "
                 "host "
                 "rest 40@0\n",
         .op = "all_reduce",
         .enter = {40, 100},
         .exit = {110, 112}},
	{.what = "a collective with a root, where others do not wait for each other",
         .calls = {{0, 0, "bcast", 40, 110, HOST_COLLECTIVE},
                   {1, 0, "bcast", 100, 105, HOST_COLLECTIVE}},
         .expected = "run: host bcast 70\nrun: host bcast 5\nall run: host bcast 70@0\n",
         .op = "broadcast",
         .enter = {40, 100},
         .exit = {110, 105}},
};

static void test_path__of_each_case(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		path_stop(state);
		path_start(state);
		add_case(&cases[i]);
		print_message("of %s\n", cases[i].what);
		assert_string_equal(path_text(), cases[i].expected);
	}
}

static void test_path__is_written_as_tables(void **state)
{
	static const struct path_case step = {
		.calls = {{0, 0, "ProfilerStep#7", 1000, 1200, HOST_STEP},
	                  {0, 0, "launch", 1020, 1030, FLEXTRACE_RUNTIME_CALL},
	                  {0, 0, SYNC, 1070, 1150, FLEXTRACE_RUNTIME_CALL}},
		.works = {{0, 0, 1, "k", 1034, 1140}},
	};

	(void)state;
	add_case(&step);
	analysis_test_expect(
		&path_test, "critical_path_summary",
		"rank,host,pid,step,start_ns,end_ns,wall_ns,bound_by,share_percent,most_kind,"
		"most_name,most_ns,host_ns,"
		"launch_delay_ns,queue_delay_ns,compute_ns,communication_ns,memory_ns,prepare_ns,"
		"wait_ns,host_outside_ns,wait_return_ns\n"
		"0,\"node,1\",100,ProfilerStep#7,1000,1200,200,compute,53.00,compute,k,"
		"106,80,4,0,106,0,"
		"0,0,10,70,10\n");
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

static void expect_summary(const char *line)
{
	char *text = analysis_test_write(&path_test, "critical_path_summary");

	assert_string_equal(strchr(text, '\n') + 1, line);
	free(text);
}

/* Of the host's time and of waits, what Holistic Trace Analysis counts as nothing. */
static void test_path__tells_apart_what_waits_for_nothing(void **state)
{
	static const struct path_case step = {
		.calls = {{0, 0, "step", 1000, 1300, HOST_STEP},
	                  {0, 0, "op", 1010, 1100, FLEXTRACE_RUNTIME_OP},
	                  {0, 0, "note", 1020, 1030, FLEXTRACE_RUNTIME_USER},
	                  {0, 0, "launch", 1040, 1050, FLEXTRACE_RUNTIME_CALL},
	                  {0, 0, "check", 1110, 1130, FLEXTRACE_RUNTIME_USER},
	                  {0, 0, SYNC, 1150, 1220, FLEXTRACE_RUNTIME_CALL},
	                  {0, 0, SYNC, 1230, 1260, FLEXTRACE_RUNTIME_CALL}},
		.works = {{0, 0, 3, "k", 1054, 1200}},
	};
	static const struct path_case copy = {
		/* it waits for its own work, but its name does not say so */
		.calls = {{0, 0, "copy", 0, 100, FLEXTRACE_RUNTIME_CALL},
	                  {0, 0, "check", 100, 110, FLEXTRACE_RUNTIME_USER}},
		.works = {{0, 0, 0, "c", 20, 80}},
	};

	add_case(&step);
	expect_summary("0,\"node,1\",100,step,1000,1300,300,compute,48.67,compute,k,146,"
	               "130,4,0,146,0,0,0,20,90,20\n");
	path_stop(state);
	path_start(state);
	add_case(&copy);
	expect_summary("0,\"node,1\",100,,0,110,110,memory,54.55,memory,c,60,"
	               "30,0,0,0,0,60,0,20,10,0\n");
}

/* -- arrows ---------------------------------------------------------------------------------- */

/* Tracks 0 and 1 are threads of rank 0, 3 and 4 of rank 1. */
static void test_path__is_drawn_from_row_to_row(void **state)
{
	(void)state;
	add_case(&cases[0]);
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
	static const struct path_case ranks = {
		.calls = {{0, 0, "work", 0, 40, 0},
	                  {0, 0, "allreduce", 40, 110, HOST_COLLECTIVE},
	                  {1, 0, "work", 0, 100, 0},
	                  {1, 0, "allreduce", 100, 105, HOST_COLLECTIVE}},
		.op = "all_reduce",
		.enter = {40, 100},
		.exit = {110, 105},
	};

	(void)state;
	add_case(&ranks);
	assert_string_equal(path_arrows(), "99 thread3 -> 100 thread0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, path_start, path_stop)
		TEST(test_path__of_each_case),
		TEST(test_path__is_written_as_tables),
		TEST(test_path__tells_apart_what_waits_for_nothing),
		TEST(test_path__is_drawn_from_row_to_row),
		TEST(test_path__is_drawn_over_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
