// SPDX-License-Identifier: Apache-2.0
/* Files of single ranks as Holistic Trace Analysis needs them: what its analyses look for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chrome_fixture.h"

#define START_NS 1000000000

static struct timeline *timeline_of(struct emit_test *test)
{
	return &test->fixture.timeline;
}

static void write_rank(struct emit_test *test)
{
	const struct emit_options options = {.output_dir = test->dir, .views = {.is_hta = true}};
	uint32_t launches[16];

	if (timeline_of(test)->n_ops && !timeline_of(test)->launch_of_op) {
		memset(launches, 0xff, sizeof(launches)); /* none is known */
		timeline_of(test)->launch_of_op = launches;
	}
	assert_int_equal(emit_chrome(&test->fixture.findings, &options, 0, "a.pt.trace.json.gz",
	                             test->counts, NULL),
	                 0);
	assert_int_equal(test->counts[0].rows, test->counts[0].expected);
	timeline_of(test)->launch_of_op = NULL;
	emit_test_read_gzip(test, "a.pt.trace.json.gz");
}

static const cJSON *find(struct emit_test *test, const char *name)
{
	const cJSON *event = chrome_find(test, "X", name, 0);

	if (!event)
		fail_msg("No event: %s\n%s", name, test->text);
	return event;
}

static const char *text_of(struct emit_test *test, const char *name, const char *member)
{
	const cJSON *event = find(test, name), *item = cJSON_GetObjectItem(event, member);

	if (!item)
		item = cJSON_GetObjectItem(cJSON_GetObjectItem(event, "args"), member);
	return item ? cJSON_GetStringValue(item) : NULL;
}

/* -1: there is none. */
static double arg_of(struct emit_test *test, const char *name, const char *key)
{
	const cJSON *args = cJSON_GetObjectItem(find(test, name), "args");
	const cJSON *item = cJSON_GetObjectItem(args, key);

	return item ? item->valuedouble : -1;
}

static uint32_t add_op(struct emit_test *test, const char *name, const char *group)
{
	const struct tick_op op = {.name = fixture_string(&test->fixture, name),
	                           .group = fixture_string(&test->fixture, group),
	                           .job = 1,
	                           .correlation = 9,
	                           .ticks = {1, 2, 3, 4, 5},
	                           .peer = -1};

	return fixture_op(&test->fixture, op);
}

static void add_row(struct emit_test *test, uint32_t op, uint8_t kind, int64_t start_ns)
{
	struct track track = {.kind = TRACK_QUEUE, .row_kind = kind, .id = 4};
	struct device_row row = {.start_time_ns = start_ns,
	                         .end_time_ns = start_ns + 100,
	                         .err_ns = UINT32_MAX,
	                         .kind = kind,
	                         .source = op};

	track.lane = timeline_of(test)->n_tracks; /* of its own */
	row.track = fixture_track(&test->fixture, track);
	fixture_device_row(&test->fixture, row);
}

static void add_call(struct emit_test *test, const char *name, uint8_t kind, int64_t start_ns)
{
	struct host_row row = fixture_scope(&test->fixture, 0, name, start_ns, start_ns + 50);

	row.kind = kind;
	row.correlation = 9;
	fixture_host(&test->fixture, row);
}

/* Launch statistics and queue lengths go by the names of calls, and count each correlation. */
static void test_hta__knows_launches_and_where_their_work_begins(void **state)
{
	struct emit_test *test = *state;
	uint32_t launches[] = {2}, op;

	chrome_add_rank(test, 0);
	add_call(test, "around it", FLEXTRACE_RUNTIME_CALL, START_NS);
	add_call(test, "cudaLaunchKernelExC", FLEXTRACE_RUNTIME_CALL,
	         START_NS + 5); /* of nothing */
	add_call(test, "launch blocks", FLEXTRACE_RUNTIME_LAUNCH_CONTROL_BLOCKS, START_NS + 10);
	op = add_op(test, "softmax", "");
	add_row(test, op, ROW_DMA_IN, START_NS + 100);
	add_row(test, op, ROW_PREP, START_NS + 200);
	add_row(test, op, ROW_EXEC, START_NS + 300);
	add_row(test, op, ROW_DMA_OUT, START_NS + 400);
	timeline_of(test)->launch_of_op = launches;
	write_rank(test);
	assert_string_equal(text_of(test, "cudaLaunchKernel", "cat"), "cuda_runtime");
	assert_non_null(strstr(test->text, "\"name\":\"launch blocks\""));
	assert_true(arg_of(test, "cudaLaunchKernel", "correlation") == 9);
	assert_string_equal(text_of(test, "around it", "cat"), "cuda_runtime");
	assert_true(arg_of(test, "around it", "correlation") == -1);
	assert_true(arg_of(test, "cudaLaunchKernelExC", "correlation") > 9);
	assert_true(arg_of(test, "dma in (softmax)", "correlation") == 9);
	assert_true(arg_of(test, "dma out (softmax)", "stream") == 5);
	assert_string_equal(text_of(test, "softmax", "cat"), "kernel");
	assert_string_equal(text_of(test, "dma in (softmax)", "cat"), "gpu_memcpy");
}

/* The critical path takes a piece of work for each row of the host that stands for it. */
static void test_hta__has_a_launch_for_each_row_of_a_control_block(void **state)
{
	static const char *const rows[] = {"packet prep (softmax)", "softmax", "dma out (softmax)"};
	static const uint8_t kinds[] = {ROW_PREP, ROW_EXEC, ROW_DMA_OUT};
	struct emit_test *test = *state;
	uint32_t launches[] = {0, FLEXTRACE_NONE}, op;

	chrome_add_rank(test, 0);
	add_call(test, "launch blocks", FLEXTRACE_RUNTIME_LAUNCH_CONTROL_BLOCKS, START_NS);
	op = add_op(test, "softmax", "");
	add_row(test, op, ROW_DMA_IN, START_NS + 100);
	for (int64_t i = 0; i < 3; i++)
		add_row(test, op, kinds[i], START_NS + 200 + 100 * i);
	op = add_op(test, "of nobody", "");
	add_row(test, op, ROW_DMA_IN, START_NS + 600);
	add_row(test, op, ROW_EXEC, START_NS + 700);
	timeline_of(test)->launch_of_op = launches;
	write_rank(test);
	for (int i = 0; i < 3; i++) {
		const cJSON *launch = chrome_find(test, "X", "launch of a phase", i);
		const cJSON *args = cJSON_GetObjectItem(launch, "args");
		double first_us =
			cJSON_GetObjectItem(find(test, "cudaLaunchKernel"), "ts")->valuedouble;

		assert_true(arg_of(test, rows[i], "correlation") == (double)((1ll << 50) + 1 + i));
		assert_true(cJSON_GetObjectItem(args, "correlation")->valuedouble ==
		            arg_of(test, rows[i], "correlation"));
		assert_true(cJSON_GetObjectItem(args, "stream")->valuedouble == -1);
		assert_int_equal(
			(int)((cJSON_GetObjectItem(launch, "ts")->valuedouble - first_us) * 1000 +
		              0.5),
			i);
	}
	assert_null(chrome_find(test, "X", "launch of a phase", 3));
	assert_true(arg_of(test, "of nobody", "correlation") == -1);
}

/* The critical path goes from work to the call that waits for it by way of such a row. */
static void test_hta__shows_waits_as_the_device_has_them(void **state)
{
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	add_call(test, "wait", FLEXTRACE_RUNTIME_SCHEDULE_WAIT, START_NS);
	add_call(test, "streamSynchronize", FLEXTRACE_RUNTIME_CALL, START_NS + 100);
	add_call(test, "fence", FLEXTRACE_RUNTIME_WAIT, START_NS + 200);
	write_rank(test);
	assert_non_null(chrome_find(test, "X", "Context Sync", 2));
	assert_null(chrome_find(test, "X", "Context Sync", 3));
	assert_string_equal(text_of(test, "Context Sync", "cat"), "cuda_sync");
	assert_true(arg_of(test, "Context Sync", "stream") == -1);
	assert_true(arg_of(test, "Context Sync", "correlation") ==
	            arg_of(test, "cudaDeviceSynchronize", "correlation"));
	assert_true(cJSON_GetObjectItem(find(test, "Context Sync"), "ts")->valuedouble ==
	            cJSON_GetObjectItem(find(test, "cudaDeviceSynchronize"), "ts")->valuedouble);
}

/* What work is for, its analyses tell by the name alone. */
static void test_hta__names_work_by_what_it_is_for(void **state)
{
	static const struct {
		uint8_t kind;
		const char *name, *group, *shown;
	} cases[] = {
		{ROW_EXEC, "matmul", "", "matmul"},
		{ROW_EXEC, "fused_dma", "", "FUSED_DMA"},   /* neither, to the reader */
		{ROW_EXEC, "hipblas<x>", "", "HIPBLAS<X>"}, /* communication */
		{ROW_EXEC, "ncclDevKernel_Sum(a b)", "", "ncclDevKernel_Sum(a b)"},
		{ROW_EXEC, "rccl_f<8>(a b)", "", "ncclDevKernel_rccl_f_8__a_b_"},
		{ROW_EXEC, "send", "world", "ncclDevKernel_send"},
		{ROW_MEMCPY_PTOP, "give", "", "ncclDevKernel_give"},
		{ROW_MEMCPY_HTOD, "Memcpy in", "", "Memcpy HtoD (Memcpy in)"},
		{ROW_MEMCPY_DTOH, "Memcpy DtoH (x)", "", "Memcpy DtoH (x)"},
		{ROW_MEMSET, "zero", "", "Memset (zero)"},
		{ROW_RELEASE, "free", "", "dma release (free)"},
	};
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		add_row(test, add_op(test, cases[i].name, cases[i].group), cases[i].kind,
		        START_NS + (int64_t)i);
	write_rank(test);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name = text_of(test, cases[i].shown, "cat");

		assert_true(strcmp(name, "kernel") == 0 || strncmp(name, "gpu_mem", 7) == 0);
		assert_true(arg_of(test, cases[i].shown, "stream") == 5);
		assert_true(arg_of(test, cases[i].shown, "correlation") == -1);
		if (strcmp(cases[i].shown, cases[i].name) != 0)
			assert_string_equal(
				cJSON_GetStringValue(cJSON_GetObjectItem(
					cJSON_GetObjectItem(find(test, cases[i].shown), "args"),
					"name")),
				cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EMPTY(test_hta__knows_launches_and_where_their_work_begins),
		EMPTY(test_hta__has_a_launch_for_each_row_of_a_control_block),
		EMPTY(test_hta__shows_waits_as_the_device_has_them),
		EMPTY(test_hta__names_work_by_what_it_is_for),
	};

	return cmocka_run_group_tests_name("chrome_hta", tests, NULL, NULL);
}
