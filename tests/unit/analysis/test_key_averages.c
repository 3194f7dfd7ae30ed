/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and device work by name, by shapes and by who called. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "calls_fixture.h"

#define FIGURES                                                                               \
	"calls,host_self_ns,host_self_percent,host_total_ns,host_total_percent,host_mean_ns," \
	"device_self_ns,device_self_percent,device_total_ns,device_total_percent,"            \
	"device_mean_ns,memory_self_bytes,memory_total_bytes,window,rank,host,pid\n"

/* What an operation launched by a runtime's call is its own; in the call's total it is, too. */
static void test_key_averages__give_work_to_the_operation(void **state)
{
	struct calls_test test;
	uint32_t call;

	(void)state;
	calls_test_init(&test);
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 0, 0, 100), "linear");
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 1, 10, 90), "mm");
	call = calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_CALL, 2, 20, 50), "launch");
	calls_test_kernel(&test, 0, "k", (const int64_t[]){60, 80}, call);
	calls_test_kernel(&test, 0, "k", (const int64_t[]){100, 120}, call);
	calls_test_kernel(&test, 0, "m", (const int64_t[]){200, 210}, FLEXTRACE_NONE);
	analysis_test_expect(&test.test, "key_averages",
	                     "side,kind,name," FIGURES
	                     "host,Op,mm,1,50,50.00,80,80.00,80,40,80.00,40,80.00,40,,," OF_0
	                     "host,Runtime,launch,1,30,30.00,30,30.00,30,0,0.00,40,80.00,40,,," OF_0
	                     "host,Op,linear,1,20,20.00,100,100.00,100,0,0.00,40,80.00,40,,," OF_0
	                     "host,No launch,,1,,,,,,10,20.00,10,20.00,10,,," OF_0
	                     "device,Exec,k,2,,,,,,40,80.00,40,80.00,20,,," OF_0
	                     "device,Exec,m,1,,,,,,10,20.00,10,20.00,10,,," OF_0);
	calls_test_release(&test);
}

/* Of a collective, torch tells record_param_comms, around the scope that has the name. */
static void test_key_averages__give_no_work_to_a_scope_in_an_operation(void **state)
{
	struct calls_test test;
	uint32_t call;
	char *text;

	(void)state;
	calls_test_init(&test);
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 0, 0, 100), "record_param_comms");
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_USER, 1, 10, 90), "nccl:all_reduce");
	call = calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_CALL, 2, 20, 50), "launch");
	calls_test_kernel(&test, 0, "k", (const int64_t[]){60, 80}, call);
	text = analysis_test_write(&test.test, "key_averages");
	assert_string_equal(
		strchr(text, '\n') + 1,
		"host,User,nccl:all_reduce,1,50,50.00,80,80.00,80,0,0.00,20,100.00,20,,," OF_0
		"host,Runtime,launch,1,30,30.00,30,30.00,30,0,0.00,20,100.00,20,,," OF_0
		"host,Op,record_param_comms,1,20,20.00,100,100.00,100,20,100.00,20,100.00,20,,"
		"," OF_0 "device,Exec,k,1,,,,,,20,100.00,20,100.00,20,,," OF_0);
	free(text);
	calls_test_release(&test);
}

/* Without an operation it is the launch's own; Python's functions are no calls, nor are steps. */
static void test_key_averages__have_no_frames_and_no_marks(void **state)
{
	struct calls_test test;
	struct host_row frame = row_of(FLEXTRACE_RUNTIME_USER, 1, 0, 90);
	uint32_t call;

	(void)state;
	calls_test_init(&test);
	frame.args = fixture_string(&test.test.fixture,
	                            "{\"cat\":\"python_function\",\"Python id\":1}");
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_USER, 0, 0, 100), "outer");
	calls_test_call(&test, 0, frame, "f.py(1): f");
	calls_test_call(&test, 0, row_of(HOST_STEP, 2, 10, 80), "ProfilerStep#1");
	call = calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_CALL, 3, 20, 50), "launch");
	calls_test_kernel(&test, 0, "k", (const int64_t[]){60, 80}, call);
	analysis_test_expect(
		&test.test, "key_averages",
		"side,kind,name," FIGURES
		"host,User,outer,1,70,70.00,100,100.00,100,0,0.00,20,100.00,20,,," OF_0
		"host,Runtime,launch,1,30,30.00,30,30.00,30,20,100.00,20,100.00,20,,," OF_0
		"device,Exec,k,1,,,,,,20,100.00,20,100.00,20,,," OF_0
		"host,Runtime,launch,1,30,100.00,30,100.00,30,20,100.00,20,100.00,20,,,"
		"ProfilerStep#1" OF_0
		"device,Exec,k,1,,,,,,20,100.00,20,100.00,20,,,ProfilerStep#1" OF_0);
	calls_test_release(&test);
}

/*
 * A scope of Python begins within the frames that open it, which end behind its begin, so that it
 * stands on a row for what crosses: it is around the operations that begin in it nevertheless. A
 * call that crosses another call is in none and has none.
 */
static void test_key_averages__have_calls_in_scopes_that_cross_frames(void **state)
{
	struct calls_test test;
	struct host_row frame = row_of(FLEXTRACE_RUNTIME_USER, 0, 0, 10);
	uint32_t call, lane;

	(void)state;
	calls_test_init(&test);
	lane = fixture_track(&test.test.fixture, (struct track){.kind = TRACK_THREAD, .lane = 1});
	frame.args = fixture_string(&test.test.fixture, "{\"cat\":\"python_function\"}");
	calls_test_call(&test, 0, frame, "enter");
	calls_test_call(&test, lane, row_of(FLEXTRACE_RUNTIME_USER, 0, 5, 105), "forward");
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 0, 20, 60), "mm");
	call = calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_CALL, 1, 20, 30), "launch");
	calls_test_call(&test, lane, row_of(FLEXTRACE_RUNTIME_CALL, 1, 50, 80), "crossing");
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 0, 60, 70), "add");
	calls_test_kernel(&test, 0, "k", (const int64_t[]){60, 80}, call);
	analysis_test_expect(
		&test.test, "key_averages",
		"side,kind,name," FIGURES
		"host,User,forward,1,50,38.46,100,76.92,100,0,0.00,20,100.00,20,,," OF_0
		"host,Op,mm,1,30,23.08,40,30.77,40,20,100.00,20,100.00,20,,," OF_0
		"host,Runtime,crossing,1,30,23.08,30,23.08,30,0,0.00,0,0.00,0,,," OF_0
		"host,Runtime,launch,1,10,7.69,10,7.69,10,0,0.00,20,100.00,20,,," OF_0
		"host,Op,add,1,10,7.69,10,7.69,10,0,0.00,0,0.00,0,,," OF_0
		"device,Exec,k,1,,,,,,20,100.00,20,100.00,20,,," OF_0);
	calls_test_release(&test);
}

/* A window around all calls is no window; steps of one name are one. */
static void test_key_averages__are_told_by_window(void **state)
{
	struct calls_test test;
	char *text;

	(void)state;
	calls_test_init(&test);
	calls_test_call(&test, 0, row_of(HOST_WINDOW, 0, 0, 400), "all");
	calls_test_call(&test, 0, row_of(HOST_WINDOW, 1, 0, 100), "w");
	calls_test_call(&test, 1, row_of(FLEXTRACE_RUNTIME_OP, 0, 99, 120), "a");
	calls_test_call(&test, 1, row_of(FLEXTRACE_RUNTIME_OP, 1, 100, 110), "b");
	calls_test_call(&test, 0, row_of(HOST_WINDOW, 1, 200, 300), "w");
	calls_test_call(&test, 1, row_of(FLEXTRACE_RUNTIME_OP, 0, 200, 220), "a");
	calls_test_call(&test, 1, row_of(FLEXTRACE_RUNTIME_OP, 0, 300, 305), "a");
	text = analysis_test_write(&test.test, "key_averages");
	assert_string_equal(strchr(text, '\n') + 1,
	                    "host,Op,a,3,36,78.26,46,100.00,15,0,,0,,0,,," OF_0
	                    "host,Op,b,1,10,21.74,10,21.74,10,0,,0,,0,,," OF_0
	                    "host,Op,a,2,31,100.00,41,132.26,21,0,,0,,0,,,w" OF_0);
	free(text);
	calls_test_release(&test);
}

static void test_key_averages__tell_memory_by_the_innermost_call(void **state)
{
	struct calls_test test;
	char *text;

	(void)state;
	calls_test_init(&test);
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 0, 0, 100), "outer");
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 1, 10, 20), "inner");
	fixture_memory(&test.test.fixture, (struct memory_row){.time_ns = 10, .bytes = 64});
	fixture_memory(&test.test.fixture, (struct memory_row){.time_ns = 20, .bytes = 8});
	fixture_memory(
		&test.test.fixture,
		(struct memory_row){.time_ns = 30, .bytes = 64, .op = FLEXTRACE_MEMORY_FREE});
	fixture_memory(&test.test.fixture, (struct memory_row){.time_ns = 100, .bytes = 1});
	text = analysis_test_write(&test.test, "key_averages");
	assert_string_equal(strchr(text, '\n') + 1,
	                    "host,Op,outer,1,90,90.00,100,100.00,100,0,,0,,0,-56,8," OF_0
	                    "host,Op,inner,1,10,10.00,10,10.00,10,0,,0,,0,64,64," OF_0);
	free(text);
	calls_test_release(&test);
}

static void test_key_averages__are_summed_over_ranks(void **state)
{
	struct calls_test test;
	char *text;

	(void)state;
	calls_test_init(&test);
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 0, 0, 100), "a");
	calls_test_call(&test, 2, row_of(FLEXTRACE_RUNTIME_OP, 0, 0, 20), "a");
	text = analysis_test_write(&test.test, "key_averages");
	assert_string_equal(strchr(text, '\n') + 1,
	                    "host,Op,a,1,100,100.00,100,100.00,100,0,,0,,0,,," OF_0
	                    "host,Op,a,1,20,100.00,20,100.00,20,0,,0,,0,,," OF_1
	                    "host,Op,a,2,120,100.00,120,100.00,60,0,,0,,0,,,,,,\n");
	free(text);
	calls_test_release(&test);
}

/* -- shapes and stacks ------------------------------------------------------------------------- */

static void add_told(struct calls_test *test, const char *name, const char *args, int64_t start_ns)
{
	struct host_row row = row_of(FLEXTRACE_RUNTIME_OP, 0, start_ns, start_ns + 10);

	row.args = fixture_string(&test->test.fixture, args);
	calls_test_call(test, 0, row, name);
}

/* The table of a file has the shapes as the file has them, but for spaces. */
static void test_key_averages__tell_calls_apart_by_shapes(void **state)
{
	struct calls_test test;
	char *text;

	(void)state;
	calls_test_init(&test);
	add_told(&test, "mm", "{\"cat\":\"cpu_op\",\"Input Dims\":[[2, 3],\n[]],\"x\":[1]}", 0);
	add_told(&test, "mm", "{\"cat\":\"cpu_op\",\"Input Dims\":[[4]]}", 10);
	add_told(&test, "mm", "{\"cat\":\"cpu_op\",\"Input Dims\": [[2,3],[]]}", 20);
	add_told(&test, "mm", "{\"cat\":\"cpu_op\"}", 30);
	add_told(&test, "mm", "{\"cat\":\"cpu_op\",\"Input Dims\":\"[1]\"}", 40);
	add_told(&test, "mm", "{\"cat\":\"cpu_op\",\"Input Dims\":[[1", 50); /* cut */
	text = analysis_test_write(&test.test, "key_averages_shapes");
	assert_string_equal(text, "side,kind,name,input_shapes," FIGURES
	                          "host,Op,mm,\"[[2,3],[]]\",2,20,33.33,20,33.33,10,0,,0,,0,,," OF_0
	                          "host,Op,mm,,2,20,33.33,20,33.33,10,0,,0,,0,,," OF_0
	                          "host,Op,mm,[[4]],1,10,16.67,10,16.67,10,0,,0,,0,,," OF_0
	                          "host,Op,mm,[[1,1,10,16.67,10,16.67,10,0,,0,,0,,," OF_0);
	free(text);
	calls_test_release(&test);
}

static void test_key_averages__tell_recorded_shapes(void **state)
{
	struct calls_test test;
	struct op_tensor tensors[3] = {{.is_output = 1}};
	struct op_call call = {.index = 5, .n_tensors = 3};
	struct host_row row = row_of(FLEXTRACE_RUNTIME_OP, 0, 0, 10);
	char *text;

	(void)state;
	calls_test_init(&test);
	tensors[0].dims = fixture_string(&test.test.fixture, "[9]");
	tensors[1].dims = fixture_string(&test.test.fixture, "[2,3]");
	tensors[2].dims = fixture_string(&test.test.fixture, "[3]");
	test.test.fixture.timeline.op_calls = (struct op_calls){&call, tensors, 1, 3};
	row.index = 5;
	calls_test_call(&test, 0, row, "mm");
	text = analysis_test_write(&test.test, "key_averages_shapes");
	assert_non_null(strstr(text, "host,Op,mm,\"[[2,3],[3]]\",1,10,"));
	free(text);
	calls_test_release(&test);
}

/* The five innermost frames, the innermost one first. */
static void test_key_averages__tell_calls_apart_by_who_called(void **state)
{
	static const char *const frames[] = {"$a.py:1 a", "$a.py:2 b", "$a.py:3 c;d",
	                                     "$a.py:4 e", "$a.py:5 f", "$a.py:6 g"};
	struct host_row placed = row_of(FLEXTRACE_RUNTIME_USER, 7, 20, 30);
	struct calls_test test;
	char *text;

	(void)state;
	calls_test_init(&test);
	placed.file = fixture_string(&test.test.fixture, "x.c");
	placed.line = 12;
	for (uint16_t i = 0; i < 6; i++)
		calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_USER, i, i, 100), frames[i]);
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 6, 10, 50), "mm");
	calls_test_call(&test, 0, placed, "scope");
	calls_test_call(&test, 0, row_of(FLEXTRACE_RUNTIME_OP, 0, 200, 201), "mm");
	text = analysis_test_write(&test.test, "key_averages_stack");
	assert_string_equal(
		text,
		"side,kind,name,stack," FIGURES
		"host,Op,mm,$a.py:6 g;$a.py:5 f;$a.py:4 e;$a.py:3 c%3Bd;$a.py:2 b,1,30,73.17,40,"
		"97.56,40,0,,0,,0,,," OF_0
		"host,User,scope,x.c(12): scope;$a.py:6 g;$a.py:5 f;$a.py:4 e;$a.py:3 c%3Bd,1,10,"
		"24.39,10,24.39,10,0,,0,,0,,," OF_0
		"host,Op,mm,,1,1,2.44,1,2.44,1,0,,0,,0,,," OF_0);
	free(text);
	calls_test_release(&test);
}

/* -- properties -------------------------------------------------------------------------------- */

#define N_RANDOM 60

#define SUM(text, column, ...) csv_sum(text, column, (const char *const[]){__VA_ARGS__, NULL})

/* Own times add up to the time of calls that no other call is around, and to all device work, from
 * either side; so they do in each window, as far as devices go. */
static void expect_sums(const char *text, const struct call_oracle *oracle)
{
	static const char *const ranks[] = {"0", "1"};
	static const char *const windows[] = {"", "a", "b", "c", "d"};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(SUM(text, "host_self_ns", "rank", ranks[i], "window", ""),
		                 oracle->root_ns[i]);
		assert_int_equal(SUM(text, "device_self_ns", "rank", ranks[i], "side", "device",
		                     "window", ""),
		                 oracle->device_ns[i]);
	}
	assert_int_equal(SUM(text, "host_self_ns", "rank", "", "window", ""),
	                 oracle->root_ns[0] + oracle->root_ns[1]);
	for (int i = 0; i < 5; i++)
		assert_int_equal(
			SUM(text, "device_self_ns", "side", "host", "window", windows[i]),
			SUM(text, "device_self_ns", "side", "device", "window", windows[i]));
}

static void test_key_averages__add_up(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= N_RANDOM; seed++) {
		struct call_oracle oracle;
		struct calls_test test;
		char *text;

		calls_test_init(&test);
		calls_test_random(&test, seed, &oracle);
		text = analysis_test_write(&test.test, "key_averages");
		expect_sums(text, &oracle);
		free(text);
		calls_test_release(&test);
	}
}

static void test_key_averages__of_nothing_are_a_header(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	analysis_test_expect(&test.test, "key_averages", "side,kind,name," FIGURES);
	analysis_test_expect(&test.test, "key_averages_shapes",
	                     "side,kind,name,input_shapes," FIGURES);
	analysis_test_expect(&test.test, "key_averages_stack", "side,kind,name,stack," FIGURES);
	calls_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_averages__give_work_to_the_operation),
		cmocka_unit_test(test_key_averages__give_no_work_to_a_scope_in_an_operation),
		cmocka_unit_test(test_key_averages__have_no_frames_and_no_marks),
		cmocka_unit_test(test_key_averages__have_calls_in_scopes_that_cross_frames),
		cmocka_unit_test(test_key_averages__are_told_by_window),
		cmocka_unit_test(test_key_averages__tell_memory_by_the_innermost_call),
		cmocka_unit_test(test_key_averages__are_summed_over_ranks),
		cmocka_unit_test(test_key_averages__tell_calls_apart_by_shapes),
		cmocka_unit_test(test_key_averages__tell_recorded_shapes),
		cmocka_unit_test(test_key_averages__tell_calls_apart_by_who_called),
		cmocka_unit_test(test_key_averages__add_up),
		cmocka_unit_test(test_key_averages__of_nothing_are_a_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
