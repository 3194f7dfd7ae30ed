/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "findings/kernel_times.h"
#include "scratch.h"

#define HEAD                                                                                     \
	"kind,name,calls,total_ns,mean_ns,median_ns,min_ns,max_ns,stddev_ns,share_percent,rank," \
	"host,pid\n"
#define LINE(kind, name, calls, total, rank) \
	kind "," name "," calls "," total ",,,,,,," rank ",h,1\n"

struct fixture {
	struct string_pool *strings; /* owned */
	struct string_cache cache;
	struct kernel_times times;
	struct flextrace_error error;
	char *dir; /* owned */
};

static int start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->strings = string_pool_new();
	assert_non_null(fixture->strings);
	string_cache_init(&fixture->cache, fixture->strings);
	fixture->dir = scratch_dir();
	*state = fixture;
	return 0;
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	kernel_times_release(&fixture->times);
	string_cache_release(&fixture->cache);
	string_pool_free(fixture->strings);
	scratch_remove(fixture->dir);
	free(fixture);
	return 0;
}

static void put(const struct fixture *fixture, const char *name, const char *text)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tables", fixture->dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/tables/%s", fixture->dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static uint64_t mean(struct fixture *fixture, int32_t rank, const char *name)
{
	uint32_t id;

	assert_int_equal(string_intern(&fixture->cache, name, &id), 0);
	return kernel_times_mean(&fixture->times, rank, id);
}

static int check_and_read(struct fixture *fixture)
{
	FLEXTRACE_TRY(kernel_times_check(fixture->dir, &fixture->error));
	return kernel_times_read(&fixture->times, fixture->dir, &fixture->cache, &fixture->error);
}

static void test_kernel_times__are_means_of_a_rank_or_else_of_all(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, "compiler.csv", "rank,source,table,phase,autopilot\n0,0,0,,0\n");
	put(fixture, "kernels.csv",
	    HEAD LINE("Exec", "a", "2", "301", "0") LINE("Exec", "a", "2", "99", "0")
	            LINE("Exec", "a", "1", "500", "1") LINE("Memcpy HtoD", "c", "1", "7", "0")
	                    LINE("Exec", "\"x, \"\"y\"\"\"", "1", "9", "")
	                            LINE("Exec", "b Cmpt Exec", "3", "8", "0"));
	assert_int_equal(check_and_read(fixture), 0);
	assert_int_equal(mean(fixture, 0, "a"), 100); /* of both programs, 1 behind the comma */
	assert_int_equal(mean(fixture, 1, "a"), 500);
	assert_int_equal(mean(fixture, 2, "a"), 180);
	assert_int_equal(mean(fixture, -1, "a"), 180);
	assert_int_equal(mean(fixture, 0, "b"), 3); /* rounded */
	assert_int_equal(mean(fixture, 0, "c"), 0); /* no kernel */
	assert_int_equal(mean(fixture, -1, "x, \"y\""), 9);
	assert_int_equal(mean(fixture, 0, "none"), 0);
}

static void test_kernel_times__are_refused_of_what_has_none(void **state)
{
	static const struct {
		const char *kernels, *compiler, *message;
	} cases[] = {
		{NULL, NULL, "it has no kernels.csv"},
		{"", NULL, "Column is missing: path="},
		{"kind,name,calls\nExec,a,1\n", NULL, "kernels.csv, column=total_ns"},
		{"\"kind", NULL, "a quote is not closed"},
		{HEAD, "rank,autopilot\n0,0\n0,1\n", "the autopilot was on in that run, too"},
		{HEAD, "rank,source\n0,0\n", "compiler.csv, column=autopilot"},
		{HEAD LINE("Exec", "a", "x", "1", "0"), NULL, "a number is none"},
		{HEAD LINE("Exec", "a", "1", "-1", "0"), NULL, "a number is none"},
		{HEAD LINE("Exec", "a", "1", "99999999999999999999", "0"), NULL,
	         "a number is none"},
		{HEAD LINE("Exec", "a", "1", "1", "4294967295"), NULL, "a number is none"},
		{HEAD "Exec\n", NULL, "line=2"},
		{HEAD "Exec,\"a\n", NULL, "a quote is not closed"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *fixture;

		stop(state);
		start(state);
		fixture = *state;
		if (cases[i].kernels)
			put(fixture, "kernels.csv", cases[i].kernels);
		if (cases[i].compiler)
			put(fixture, "compiler.csv", cases[i].compiler);
		assert_int_equal(check_and_read(fixture), FLEXTRACE_E_INPUT);
		assert_non_null(strstr(fixture->error.message, cases[i].message));
	}
}

static void test_kernel_times__name_a_directory_that_is_not_there(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(kernel_times_check("/nowhere/at/all", &fixture->error), FLEXTRACE_E_INPUT);
	assert_string_equal(fixture->error.message,
	                    "Cannot take kernel times: path=/nowhere/at/all, "
	                    "reason=No such file or directory");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(test_kernel_times__are_means_of_a_rank_or_else_of_all),
		TEST(test_kernel_times__are_refused_of_what_has_none),
		TEST(test_kernel_times__name_a_directory_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
