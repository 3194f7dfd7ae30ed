/* SPDX-License-Identifier: Apache-2.0 */
/* Device work of programs that XLA compiled: modules, instructions, opcodes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "calls_fixture.h"

#define MODULES                                                                         \
	"part,module,program_id,phase,executions,mean_kernels,stddev_kernels,total_ns," \
	"mean_ns,stddev_ns,share_percent,active_ns,idle_ns,rank,host,pid\n"
#define OPS                                                                       \
	"name,opcode,module,program_id,phase,kernels,total_ns,mean_ns,stddev_ns," \
	"variation_percent,share_percent,op_name,source_line,rank,host,pid\n"
#define OPCODES "opcode,phase,kernels,total_ns,mean_ns,stddev_ns,share_percent,rank,host,pid\n"

static void begin(struct calls_test *test)
{
	calls_test_init(test);
	for (int i = 0; i < 2; i++)
		test->test.fixture.processes[i].runtime = fixture_string(&test->test.fixture,
		                                                         "XLA");
}

#define TOLD(op, opcode, rest)                                                                 \
	"{\"cat\":\"kernel\",\"hlo_op\":\"" op "\",\"hlo_module\":\"jit_f\",\"program_id\":7," \
	"\"opcode\":\"" opcode "\"" rest "}"
#define DOT                  \
	TOLD("dot.1", "dot", \
	     ",\"op_name\":\"jit(f)/dot\",\"source_file\":\"f.py\",\"source_line\":3")
#define ADD TOLD("add.2", "fusion", "")

static void add(struct calls_test *test, const char *told, int64_t start_ns, int64_t end_ns,
                uint32_t launch)
{
	calls_test_kernel(test, 0, "k", (const int64_t[]){start_ns, end_ns}, launch);
	test->test.ops[test->test.n_ops - 1].type = fixture_string(&test->test.fixture, told);
}

static uint32_t range(struct calls_test *test, const char *name, int64_t start_ns)
{
	return calls_test_call(
		test, 0, (struct host_row){.start_time_ns = start_ns, .end_time_ns = start_ns + 10},
		name);
}

/* (1) 20 + 15, (2) 30 + 20, (3) 120: idle inside 15, between 70. Pieces at once are one in (1). */
static void test_hlo__tells_modules_with_what_is_idle(void **state)
{
	struct calls_test test;
	uint32_t first, second;

	(void)state;
	begin(&test);
	first = range(&test, "jit_f:XLA GPU module", 0);
	second = range(&test, "jit_f:XLA GPU module", 20);
	add(&test, DOT, 100, 110, first);
	add(&test, ADD, 105, 115, first);
	add(&test, ADD, 125, 130, first);
	add(&test, "{\"cat\":\"gpu_memcpy\"}", 140, 150, FLEXTRACE_NONE);
	add(&test, DOT, 200, 210, second);
	add(&test, ADD, 215, 220, second);
	analysis_test_expect(&test.test, "hlo_modules",
	                     MODULES "module,jit_f,7,steady,2,3,1,50,25,7,100.00,35,15" OF_0
	                             "between,,,,,,,70,,,,,70" OF_0);
	analysis_test_expect(
		&test.test, "hlo_ops",
		OPS "add.2,fusion,jit_f,7,steady,3,20,7,3,45.00,50.00,," OF_0
		    "dot.1,dot,jit_f,7,steady,2,20,10,0,0.00,50.00,jit(f)/dot,f.py:3" OF_0);
	analysis_test_expect(&test.test, "hlo_opcodes",
	                     OPCODES "dot,steady,2,20,10,0,50.00" OF_0
	                             "fusion,steady,3,20,7,3,50.00" OF_0);
	calls_test_release(&test);
}

/* Without ranges an execution ends where a kernel of an instruction comes again. */
static void test_hlo__tells_executions_without_ranges(void **state)
{
	struct calls_test test;
	char *text;

	(void)state;
	begin(&test);
	for (int64_t i = 0; i < 3; i++) {
		add(&test, DOT, 100 * i, 100 * i + 10, FLEXTRACE_NONE);
		add(&test, ADD, 100 * i + 20, 100 * i + 30, FLEXTRACE_NONE);
	}
	text = analysis_test_write(&test.test, "hlo_modules");
	assert_string_equal(text, MODULES "module,jit_f,7,steady,3,2,0,90,30,0,100.00,60,30" OF_0
	                                  "between,,,,,,,140,,,,,140" OF_0);
	free(text);
	calls_test_release(&test);
}

/* The first execution of what was compiled here, and one more for collectives. */
static void test_hlo__tells_warm_up_and_autotuning_apart(void **state)
{
	struct calls_test test;
	uint32_t tuning;
	char *text;

	(void)state;
	begin(&test);
	range(&test, "XlaCompile:#module=jit_f#", 0);
	tuning = range(&test, "Autotuner", 20);
	add(&test, DOT, 50, 57, tuning);
	for (int64_t i = 1; i < 4; i++)
		add(&test, TOLD("all-reduce.1", "all-reduce", ""), 100 * i, 100 * i + 10 * i,
		    FLEXTRACE_NONE);
	test.test.ops[1].group = fixture_string(&test.test.fixture, "g");
	text = analysis_test_write(&test.test, "hlo_opcodes");
	assert_string_equal(text, OPCODES "all-reduce,steady,1,30,30,0,44.78" OF_0
	                                  "all-reduce,warm_up,2,30,15,7,44.78" OF_0
	                                  ",autotuning,1,7,7,0,10.45" OF_0);
	free(text);
	calls_test_release(&test);
}

/* What a recorded operation tells is the same. */
static void test_hlo__reads_recorded_operations(void **state)
{
	struct op_call call = {.index = 3};
	struct calls_test test;
	char *text;

	(void)state;
	calls_test_init(&test);
	call.module = fixture_string(&test.test.fixture, "m");
	call.opcode = fixture_string(&test.test.fixture, "dot");
	test.test.fixture.timeline.op_calls = (struct op_calls){.calls = &call, .n_calls = 1};
	calls_test_call(&test, 0, (struct host_row){.end_time_ns = 9, .index = 3}, "op");
	calls_test_kernel(&test, 0, "k", (const int64_t[]){10, 20}, 0);
	text = analysis_test_write(&test.test, "hlo_ops");
	assert_string_equal(text, OPS "k,dot,m,,steady,1,10,10,0,0.00,100.00,," OF_0);
	free(text);
	calls_test_release(&test);
}

/* A path of names for flame graphs, and what is idle as roots. */
static void test_hlo__tells_paths_of_names(void **state)
{
	struct calls_test test;
	char *text;

	(void)state;
	begin(&test);
	add(&test, DOT, 0, 10, FLEXTRACE_NONE);
	add(&test, ADD, 12, 20, FLEXTRACE_NONE);
	add(&test, DOT, 50, 61, FLEXTRACE_NONE);
	text = analysis_test_write(&test.test, "stacks");
	assert_string_equal(strstr(text, "op_name,"),
	                    "op_name,idle between modules,,30" OF_0
	                    "op_name,jit_f;jit(f);dot;dot.1,,21" OF_0 "op_name,jit_f;add.2,,8" OF_0
	                    "op_name,idle in modules,,2" OF_0);
	free(text);
	calls_test_release(&test);
}

/* A fusion of several things: each has its share, to the nanosecond in all. */
static void test_hlo__splits_fusions_over_what_they_are_of(void **state)
{
	struct calls_test test;
	char *text;

	(void)state;
	begin(&test);
	add(&test, TOLD("add.2", "fusion", ",\"op_name\":\"f/b\",\"op_names\":[\"f/a\",\"f/b\"]"),
	    0, 11, FLEXTRACE_NONE);
	text = analysis_test_write(&test.test, "stacks");
	assert_string_equal(strstr(text, "op_name,"),
	                    "op_name,jit_f;f;a;add.2,,6" OF_0 "op_name,jit_f;f;b;add.2,,5" OF_0);
	free(text);
	calls_test_release(&test);
}

#define COMPILE "name,ranges,worker_ranges,total_ns,self_ns,share_percent,rank,host,pid\n"

static void add_range(struct calls_test *test, uint32_t track, uint16_t depth, const char *name,
                      const int64_t times_ns[2])
{
	calls_test_call(test, track,
	                (struct host_row){.depth = depth,
	                                  .start_time_ns = times_ns[0],
	                                  .end_time_ns = times_ns[1]},
	                name);
}

/* Another thread works for XlaPass from 20 to 60: 40 ns by its own times, 30, 6 and 2. What is not
 * of the compiler, or is there at another time, is not counted. */
static void test_hlo_compile__shares_the_time_of_threads(void **state)
{
	struct calls_test test;

	(void)state;
	calls_test_init(&test);
	add_range(&test, 0, 0, "XlaCompile:#module=f#", (const int64_t[]){0, 100});
	add_range(&test, 0, 1, "XlaPass", (const int64_t[]){10, 90});
	add_range(&test, 1, 0, "LLVM a", (const int64_t[]){20, 50});
	add_range(&test, 1, 0, "other", (const int64_t[]){50, 51});
	add_range(&test, 1, 0, "LLVM b", (const int64_t[]){52, 60});
	add_range(&test, 1, 1, "inner", (const int64_t[]){52, 54});
	add_range(&test, 1, 0, "LLVM a", (const int64_t[]){95, 105});
	add_range(&test, 3, 0, "LLVM a", (const int64_t[]){96, 97}); /* of another process */
	analysis_test_expect(&test.test, "hlo_compile",
	                     COMPILE "XlaPass,1,0,80,41,41.00" OF_0 "LLVM a,1,1,30,31,31.00" OF_0
	                             "XlaCompile:#module=f#,1,0,100,20,20.00" OF_0
	                             "LLVM b,1,1,8,6,6.00" OF_0 "inner,1,1,2,2,2.00" OF_0);
	calls_test_release(&test);
}

/* What is cut, lies, or says nothing of a module, is of none. */
static void test_hlo__survives_damage(void **state)
{
	static const char *const told[] = {
		"{\"cat\":\"kernel\",\"hlo_module\":\"m\"",
		"{\"cat\":\"kernel\",\"hlo_module\":7}",
		"{\"cat\":\"kernel\",\"hlo_op\":\"x\",\"program_id\":99}",
		"\"hlo_module\":",
		"",
	};
	struct calls_test test;

	(void)state;
	begin(&test);
	for (int64_t i = 0; i < 5; i++)
		add(&test, told[i], i, i + 1, FLEXTRACE_NONE);
	analysis_test_expect(&test.test, "hlo_modules", MODULES);
	analysis_test_expect(&test.test, "hlo_ops", OPS);
	analysis_test_expect(&test.test, "hlo_opcodes", OPCODES);
	analysis_test_expect(&test.test, "hlo_compile", COMPILE);
	calls_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hlo__tells_modules_with_what_is_idle),
		cmocka_unit_test(test_hlo__tells_executions_without_ranges),
		cmocka_unit_test(test_hlo__tells_warm_up_and_autotuning_apart),
		cmocka_unit_test(test_hlo__reads_recorded_operations),
		cmocka_unit_test(test_hlo__tells_paths_of_names),
		cmocka_unit_test(test_hlo__splits_fusions_over_what_they_are_of),
		cmocka_unit_test(test_hlo_compile__shares_the_time_of_threads),
		cmocka_unit_test(test_hlo__survives_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
