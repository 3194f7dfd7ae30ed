/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/ring/buffers.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static const struct buffer_wish no_wish;

static void test_buffers__default_where_there_is_room(void **state)
{
	struct buffer_plan plan;

	(void)state;
	assert_int_equal(buffers_plan(&no_wish, 4, 8 * GIB, &plan, NULL), 0);
	assert_int_equal(plan.events.subbuf_bytes, 8 * MIB);
	assert_int_equal(plan.events.n_subbufs, 8);
	assert_int_equal(plan.definitions.n_subbufs, 64);
	assert_false(plan.is_scaled);
}

/* Every machine and every size of /dev/shm: half of it is never exceeded, and sizes stay powers of
 * two. */
static void test_buffers__all_channels_take_at_most_half(void **state)
{
	(void)state;
	for (uint32_t n_cpus = 1; n_cpus <= 1024; n_cpus += n_cpus < 8 ? 1 : 37)
		for (uint64_t free_bytes = 256 * KIB; free_bytes < 64 * GIB;
		     free_bytes += free_bytes / 3) {
			struct buffer_plan plan;
			uint64_t bytes, size, n;

			if (buffers_plan(&no_wish, n_cpus, free_bytes, &plan, NULL) < 0)
				continue;
			size = plan.events.subbuf_bytes;
			n = plan.events.n_subbufs;
			bytes = (size * n +
			         plan.definitions.subbuf_bytes * plan.definitions.n_subbufs) *
			        n_cpus;
			assert_true(bytes < plan.total_bytes);
			assert_true(plan.total_bytes <= free_bytes / 2);
			assert_true((size & (size - 1)) == 0 && size >= 64 * KIB);
			assert_true((n & (n - 1)) == 0 && n >= 4);
			assert_int_equal(plan.definitions.n_subbufs, 64);
		}
}

static void test_buffers__a_default_container_still_works(void **state)
{
	static const uint32_t n_cpus[] = {1, 2, 4, 16, 32};
	struct buffer_plan plan;

	(void)state;
	for (size_t i = 0; i < sizeof(n_cpus) / sizeof(n_cpus[0]); i++) {
		assert_int_equal(buffers_plan(&no_wish, n_cpus[i], 64 * MIB, &plan, NULL), 0);
		assert_true(plan.is_scaled);
	}
}

static void test_buffers__says_what_to_do_where_there_is_too_little(void **state)
{
	struct flextrace_error error = {0};
	struct buffer_plan plan;

	(void)state;
	assert_int_equal(buffers_plan(&no_wish, 64, 4 * MIB, &plan, &error), FLEXTRACE_E_SYSTEM);
	assert_non_null(strstr(error.message, "--shm-size="));
	assert_non_null(strstr(error.message, "free=4 MiB"));
	assert_int_equal(buffers_plan(&no_wish, 1, 0, &plan, &error), FLEXTRACE_E_SYSTEM);
}

/* What the message tells to type is enough. */
static void test_buffers__the_size_it_asks_for_is_enough(void **state)
{
	(void)state;
	for (uint32_t n_cpus = 1; n_cpus < 512; n_cpus += 17) {
		struct flextrace_error error = {0};
		struct buffer_plan plan;
		uint64_t mib = 0;
		const char *advice;

		assert_true(buffers_plan(&no_wish, n_cpus, 64 * KIB, &plan, &error) < 0);
		advice = strstr(error.message, "--shm-size=");
		assert_non_null(advice);
		assert_int_equal(sscanf(advice, "--shm-size=%" SCNu64 "m", &mib), 1);
		assert_int_equal(buffers_plan(&no_wish, n_cpus, mib * MIB, &plan, &error), 0);
	}
}

static void test_buffers__a_total_is_shared_out_and_rounded_down(void **state)
{
	static const struct {
		uint64_t total_bytes;
		uint32_t n_cpus;
		uint64_t subbuf_bytes; /* 0 = refused */
	} cases[] = {
		{64 * MIB, 2, 2 * MIB},
		{64 * MIB - 1, 2, MIB},
		{64 * MIB, 3, MIB},
		{16 * 4 * KIB, 1, 4 * KIB},
		{16 * 4 * KIB - 1, 1, 0},
		{16 * 4 * KIB * 300 - 1, 300, 0},
		{1, 1, 0},
		{GIB, 1, 64 * MIB},
		{3 * GIB, 1, 128 * MIB},
		{16 * 4 * KIB * 300, 300, 4 * KIB},
	};
	struct flextrace_error error;
	struct buffer_plan plan;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buffer_wish wish = {.total_bytes = cases[i].total_bytes};
		int code = buffers_plan(&wish, cases[i].n_cpus, 64 * GIB, &plan, &error);

		assert_int_equal(code, cases[i].subbuf_bytes ? 0 : FLEXTRACE_E_USAGE);
		if (code == 0) {
			assert_int_equal(plan.events.subbuf_bytes, cases[i].subbuf_bytes);
			assert_int_equal(plan.events.n_subbufs, 16);
		}
	}
	assert_int_equal(buffers_plan(&(struct buffer_wish){.total_bytes = GIB}, 2, 512 * MIB,
	                              &plan, &error),
	                 FLEXTRACE_E_SYSTEM);
}

static void test_buffers__wishes_are_kept_or_refused(void **state)
{
	struct buffer_wish wish = {.subbuf_bytes = 16 * MIB, .n_subbufs = 4};
	struct flextrace_error error = {0};
	struct buffer_plan plan;

	(void)state;
	assert_int_equal(buffers_plan(&wish, 2, 200 * MIB, &plan, &error), 0);
	assert_int_equal(plan.events.subbuf_bytes, 16 * MIB);
	assert_int_equal(plan.events.n_subbufs, 4);
	assert_int_equal(buffers_plan(&wish, 2, 100 * MIB, &plan, &error), FLEXTRACE_E_SYSTEM);
	assert_non_null(strstr(error.message, "--subbuf-size"));
	wish.subbuf_bytes = UINT64_C(1) << 62;
	assert_int_equal(buffers_plan(&wish, 2, 100 * MIB, &plan, &error), FLEXTRACE_E_USAGE);
}

static void test_buffers__parses_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0 = refused */
	} cases[] = {
		{"4096", 4096},
		{"64K", 64 * KIB},
		{"8M", 8 * MIB},
		{"1g", GIB},
		{"8m", 8 * MIB},
		{"", 0},
		{"M", 0},
		{"3M", 0},
		{"-8M", 0},
		{" 8M", 0},
		{"8MB", 0},
		{"2048", 0},
		{"0", 0},
		{"8T", UINT64_C(8) << 40},
		{"8M8", 0},
		{"99999999999999999999", 0},
		{"1099511627776G", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct flextrace_error error = {0};
		uint64_t bytes = 0;
		int code = buffers_parse_size(cases[i].text, &bytes, &error);

		assert_int_equal(code, cases[i].bytes ? FLEXTRACE_OK : FLEXTRACE_E_USAGE);
		assert_int_equal(bytes, cases[i].bytes);
	}
}

static void test_buffers__parses_the_kernels_list_of_cpus(void **state)
{
	static const struct {
		const char *text;
		uint32_t n;
	} cases[] = {{"0\n", 1},     {"0-3\n", 4}, {"0,2-5\n", 6}, {"0-127,256-383\n", 384},
	             {"7", 8},       {"", 1},      {"0-x", 0},     {"x", 0},
	             {"0-99999", 0}, {"0 3", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(buffers_parse_cpus(cases[i].text), cases[i].n);
	assert_true(buffers_possible_cpus() >= 1);
}

static void test_buffers__writes_sizes_for_people(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {{0, "0 bytes"},       {1023, "1023 bytes"}, {1024, "1 KiB"},
	             {1536, "1.5 KiB"},    {8 * MIB, "8 MiB"},   {130 * MIB, "130 MiB"},
	             {24 * GIB, "24 GiB"}, {2048 * GIB, "2 TiB"}};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(buffers_format_size(cases[i].bytes, text), cases[i].text);
}

static void test_buffers__no_shared_memory_is_told(void **state)
{
	struct flextrace_error error = {0};
	uint64_t bytes;

	(void)state;
	assert_int_equal(buffers_free_bytes("/nonexistent/shm", &bytes, &error),
	                 FLEXTRACE_E_SYSTEM);
	assert_non_null(strstr(error.message, "/nonexistent/shm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buffers__default_where_there_is_room),
		cmocka_unit_test(test_buffers__all_channels_take_at_most_half),
		cmocka_unit_test(test_buffers__a_default_container_still_works),
		cmocka_unit_test(test_buffers__says_what_to_do_where_there_is_too_little),
		cmocka_unit_test(test_buffers__the_size_it_asks_for_is_enough),
		cmocka_unit_test(test_buffers__a_total_is_shared_out_and_rounded_down),
		cmocka_unit_test(test_buffers__wishes_are_kept_or_refused),
		cmocka_unit_test(test_buffers__parses_sizes),
		cmocka_unit_test(test_buffers__parses_the_kernels_list_of_cpus),
		cmocka_unit_test(test_buffers__writes_sizes_for_people),
		cmocka_unit_test(test_buffers__no_shared_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
