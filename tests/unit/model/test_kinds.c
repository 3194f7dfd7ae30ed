/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds and their names in each dialect, both ways. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/words/kinds.h"

#define HOST(id) FLEXTRACE_RUNTIME_##id

static void test_kinds__knows_the_dialects_by_name(void **state)
{
	(void)state;
	assert_int_equal(dialect_find(""), DIALECT_AIU); /* of 0.1 */
	assert_int_equal(dialect_find("kineto"), DIALECT_CUDA);
	assert_int_equal(dialect_find("AIU"), DIALECT_COUNT);
	assert_int_equal(dialect_find("coda"), DIALECT_COUNT);
	for (uint8_t dialect = 0; dialect < DIALECT_COUNT; dialect++)
		assert_int_equal(dialect_find(dialect_name(dialect)), dialect);
}

static void test_kinds__calls_each_as_the_tool_does(void **state)
{
	static const struct {
		uint8_t dialect, kind;
		const char *label, *category;
	} cases[] = {
		{DIALECT_AIU, HOST(MALLOC), "aiuMalloc", "privateuse1_runtime"},
		{DIALECT_AIU, HOST(WAIT), "aiuScheduleWait", "privateuse1_runtime"},
		{DIALECT_AIU, HOST(CALL), "Runtime", "privateuse1_runtime"},
		{DIALECT_NEUTRAL, HOST(MALLOC), "alloc", "runtime"},
		{DIALECT_NEUTRAL, HOST(RDMA_BARRIER2), "collective", "runtime"},
		{DIALECT_NEUTRAL, HOST(WAIT), "wait", "runtime"},
		{DIALECT_NEUTRAL, HOST(CALL), "call", "runtime"},
		{DIALECT_CUDA, HOST(SCHEDULE_WAIT), "cudaDeviceSynchronize", "cuda_runtime"},
		{DIALECT_CUDA, HOST(LAUNCH), "cudaLaunchKernel", "cuda_runtime"},
		{DIALECT_TT_METAL, HOST(COPY_IN), "EnqueueWriteBuffer", "runtime"},
		{DIALECT_TT_METAL, HOST(DATA_TRANSFER_HTOD), "EnqueueWriteBuffer", "runtime"},
		{DIALECT_CUDA, HOST(OP), "Op", "cpu_op"},
		{DIALECT_NEUTRAL, HOST_STEP, "Step", "user_annotation"},
		{DIALECT_NEUTRAL, HOST(KIND_COUNT), "Unknown 50", "runtime"},
		{DIALECT_CUDA, FLEXTRACE_KIND_LIMIT - 1, "Unknown 127", "runtime"},
	};
	static const struct {
		uint8_t dialect, kind;
		const char *label, *category;
	} works[] = {
		{DIALECT_AIU, ROW_EXEC, "Exec", "kernel"},
		{DIALECT_CUDA, ROW_EXEC, "kernel", "kernel"},
		{DIALECT_NEUTRAL, ROW_EXEC, "compute", "kernel"},
		{DIALECT_NEUTRAL, ROW_MEMCPY_PTOP, "copy_peer", "gpu_memcpy"},
		{DIALECT_CUDA, ROW_MEMCPY_HTOD, "Memcpy HtoD", "gpu_memcpy"},
		{DIALECT_TT_METAL, ROW_ZONE, "Zone", "firmware"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct row_kind *kind = kind_of_host(cases[i].dialect, cases[i].kind);

		assert_string_equal(kind->label, cases[i].label);
		assert_string_equal(kind->category, cases[i].category);
	}
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		const struct row_kind *kind = kind_of_device(works[i].dialect, works[i].kind);

		assert_string_equal(kind->label, works[i].label);
		assert_string_equal(kind->category, works[i].category);
	}
}

/* A name leads back to what has it: to the kind itself, or where several share it to one of the
 * same meaning; and whatever the dialect it means the same. */
static void test_kinds__are_found_by_their_names(void **state)
{
	(void)state;
	for (uint32_t key = 0; key < KIND_KEY(DIALECT_COUNT, 0); key++) {
		uint8_t kind = (uint8_t)key;
		const char *label = kind_host_label(key);
		uint32_t found;

		if (kind <= HOST_FLOW) {
			found = kind_find_host(label, strlen(label), false);
			assert_string_equal(kind_host_label(KIND_KEY(key >> 8, found)), label);
			assert_int_equal(strcmp(kind_of_host(0, (uint8_t)found)->category,
			                        kind_of_host(0, kind)->category),
			                 0);
		}
		if (kind >= DEVICE_ROW_KIND_COUNT)
			continue;
		label = kind_device_label(key);
		assert_int_not_equal(strlen(label), 0);
		assert_int_equal(kind_read_device(label), kind);
	}
}

static void test_kinds__tell_their_dialect_where_only_one_calls_them_so(void **state)
{
	(void)state;
	assert_int_equal(kind_find_host("aiuMalloc", 9, false),
	                 KIND_KEY(DIALECT_AIU, HOST(MALLOC)));
	assert_int_equal(kind_find_host("wait", 4, false), KIND_KEY(DIALECT_NEUTRAL, HOST(WAIT)));
	assert_int_equal(kind_find_host("cudaMalloc", 10, false),
	                 KIND_KEY(DIALECT_CUDA, HOST(ALLOC)));
	assert_int_equal(kind_find_host("Finish", 6, false),
	                 KIND_KEY(DIALECT_TT_METAL, HOST(WAIT)));
	assert_int_equal(kind_find_host("Op", 2, false), KIND_KEY(DIALECT_COUNT, HOST(OP)));
	assert_int_equal(kind_find_device("Exec", 4, false), KIND_KEY(DIALECT_AIU, ROW_EXEC));
	assert_int_equal(kind_find_device("Memset", 6, false), KIND_KEY(DIALECT_COUNT, ROW_MEMSET));
	assert_int_equal(kind_find_host("Wait", 4, false), KIND_NONE);
	assert_int_equal(kind_find_host("", 0, false), KIND_NONE);
	assert_int_equal(kind_find_host("Unknown", 7, false), KIND_NONE);
	assert_int_equal(kind_find_host("Unknown 128", 11, false), KIND_NONE);
	assert_int_equal(kind_read_device("wait"), DEVICE_ROW_KIND_COUNT);
}

static void test_kinds__are_the_usual_ones_of_their_category(void **state)
{
	(void)state;
	assert_int_equal(kind_find_host("cuda_runtime", 12, true),
	                 KIND_KEY(DIALECT_CUDA, HOST(CALL)));
	assert_int_equal((uint8_t)kind_find_host("runtime", 7, true), HOST(CALL));
	assert_int_equal((uint8_t)kind_find_host("cpu_op", 6, true), HOST(OP));
	assert_int_equal((uint8_t)kind_find_device("kernel", 6, true), ROW_EXEC);
	assert_int_equal(kind_find_device("gpu_memcpy", 10, true), KIND_NONE);
}

static void test_kinds__have_a_meaning_of_no_vendor(void **state)
{
	(void)state;
	for (uint8_t kind = HOST(LAUNCH_CONTROL_BLOCKS); kind <= HOST(COMPILE_GRAPH); kind++) {
		uint8_t means = kind_meaning(kind);

		assert_true(means == HOST(CALL) ||
		            (means >= HOST(INIT) && means <= HOST(COLLECTIVE)));
		assert_true(kind_is_call(kind));
	}
	for (uint8_t kind = HOST(INIT); kind <= HOST(COLLECTIVE); kind++) {
		assert_int_equal(kind_meaning(kind), kind);
		assert_true(kind_is_call(kind));
	}
	assert_int_equal(kind_meaning(HOST(SCHEDULE_WAIT)), HOST(WAIT));
	assert_int_equal(kind_meaning(HOST_STEP), HOST_STEP);
	assert_false(kind_is_call(HOST(USER)));
	assert_false(kind_is_call(HOST(OP)));
	assert_false(kind_is_call(HOST_COLLECTIVE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds__knows_the_dialects_by_name),
		cmocka_unit_test(test_kinds__calls_each_as_the_tool_does),
		cmocka_unit_test(test_kinds__are_found_by_their_names),
		cmocka_unit_test(test_kinds__tell_their_dialect_where_only_one_calls_them_so),
		cmocka_unit_test(test_kinds__are_the_usual_ones_of_their_category),
		cmocka_unit_test(test_kinds__have_a_meaning_of_no_vendor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
