/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "findings/statistics/stats.h"
#include "analysis_files.h"
#include "derive_fixture.h"
#include "scratch.h"

/* -- files ---------------------------------------------------------------------------------- */

/* Writes the table of a fixture and compares the file. */
static void expect_file(const struct derive_fixture *fixture, const char *name, uint64_t n_rows,
                        const char *expected)
{
	char *dir = scratch_dir(), file[64], *text;
	const struct findings findings = {.timeline = &fixture->timeline};
	uint64_t rows;

	snprintf(file, sizeof(file), "%s.csv", name);
	assert_int_equal(analysis_files_save(&findings, file, dir, &rows, NULL), 0);
	assert_int_equal(rows, n_rows);
	text = analysis_files_read(file, dir);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	scratch_remove(dir);
}

#define KERNELS                                                                             \
	"kind,name,calls,total_ns,mean_ns,median_ns,min_ns,max_ns,stddev_ns,share_percent," \
	"rank,host,pid\n"
#define RUNTIME                                                                            \
	"kind,name,calls,total_ns,self_ns,mean_ns,median_ns,min_ns,max_ns,stddev_ns,rank," \
	"host,pid\n"

static void add_work(struct derive_fixture *fixture, const char *name, uint8_t kind, uint64_t from,
                     uint64_t to)
{
	const uint64_t ticks[FLEXTRACE_N_STAMPS] = {from - 1, from, from, to, to + 1};

	if (kind == FLEXTRACE_DEVICE_MEMSET)
		fixture_op(fixture, name, kind, (const uint64_t[]){from, 0, 0, 0, to});
	else
		fixture_op(fixture, name, kind, ticks);
}

static void test_analysis__tells_kernels_by_kind_and_name(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "1 1 7 process start_ns=1 pid=7\n");
	add_work(&fixture, "a,b", FLEXTRACE_DEVICE_KERNEL, 1000, 1010);
	add_work(&fixture, "a,b", FLEXTRACE_DEVICE_KERNEL, 2000, 2020);
	add_work(&fixture, "a,b", FLEXTRACE_DEVICE_KERNEL, 3000, 3060);
	add_work(&fixture, "a,b", FLEXTRACE_DEVICE_KERNEL, 4000, 4031);
	add_work(&fixture, "a,b", FLEXTRACE_DEVICE_MEMSET, 5000, 5100);
	add_work(&fixture, "Z", FLEXTRACE_DEVICE_MEMSET, 6000, 6100);
	fixture_run(&fixture);
	expect_file(&fixture, "kernels", 3,
	            KERNELS "Exec,\"a,b\",4,121,30,26,10,60,22,37.69,,,7\n"
	                    "Memset,Z,1,100,100,100,100,100,0,31.15,,,7\n"
	                    "Memset,\"a,b\",1,100,100,100,100,100,0,31.15,,,7\n");
	fixture_close(&fixture);
}

static void test_analysis__takes_the_time_of_direct_children_off(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "200 1 7 scope begin_ns=100 name=outer kind=7\n"
	                       "150 1 7 scope begin_ns=110 name=middle\n"
	                       "130 1 7 scope begin_ns=120 name=inner\n"
	                       "170 1 7 scope begin_ns=150 name=middle\n"
	                       "170 1 7 scope begin_ns=170 name=point\n"
	                       "190 1 8 scope begin_ns=110 name=inner\n" /* another thread */
	                       "260 1 7 scope begin_ns=180 name=cross\n" /* on a lane of its own */
	                       "300 1 7 step number=1\n"
	                       "310 1 7 scope begin_ns=300 name=outer kind=7\n"
	                       "310 1 7 scope begin_ns=305 name=outer kind=7\n"); /* recursion */
	fixture_run(&fixture);
	expect_file(&fixture, "runtime", 5,
	            RUNTIME "aiuGraphExecution,outer,3,115,50,38,10,5,100,53,,,1\n"
	                    "User,inner,2,90,90,45,45,10,80,49,,,1\n"
	                    "User,cross,1,80,80,80,80,80,80,0,,,1\n"
	                    "User,middle,2,60,50,30,30,20,40,14,,,1\n"
	                    "User,point,1,0,0,0,0,0,0,0,,,1\n");
	fixture_close(&fixture);
}

/* The largest of a rank first, rank by rank. */
static void test_analysis__tells_host_functions_rank_by_rank(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "1 1 7 process start_ns=1 pid=7 rank=1\n"
	                       "1 2 8 process start_ns=1 pid=8 rank=0\n"
	                       "200 1 7 scope begin_ns=100 name=a\n"
	                       "260 1 7 scope begin_ns=200 name=b\n"
	                       "210 2 8 scope begin_ns=200 name=a\n");
	fixture_run(&fixture);
	expect_file(&fixture, "runtime", 3,
	            RUNTIME "User,a,1,10,10,10,10,10,10,0,0,,8\n"
	                    "User,a,1,100,100,100,100,100,100,0,1,,7\n"
	                    "User,b,1,60,60,60,60,60,60,0,1,,7\n");
	fixture_close(&fixture);
}

static void test_analysis__of_nothing_is_no_file(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "");
	fixture_run(&fixture);
	expect_file(&fixture, "kernels", 0, KERNELS);
	expect_file(&fixture, "runtime", 0, RUNTIME);
	fixture_close(&fixture);
}

static void test_analysis__tells_why_it_cannot_write(void **state)
{
	struct flextrace_error error = {0};
	struct derive_fixture fixture;
	const struct findings findings = {.timeline = &fixture.timeline};
	uint64_t rows;

	(void)state;
	fixture_open(&fixture, "");
	fixture_run(&fixture);
	assert_int_equal(analysis_files_save(&findings, "kernels.csv", "/dev/null", &rows, &error),
	                 FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, "kernels.csv"));
	fixture_close(&fixture);
}

/* -- figures -------------------------------------------------------------------------------- */

static const char *no_label(uint32_t kind)
{
	(void)kind;
	return "";
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* One group of these durations. */
static void make_group(struct stats *stats, const uint64_t *values, uint32_t n)
{
	const struct group_key key = {0};
	uint32_t group;

	stats_init(stats, NULL, no_label, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(stats_count(stats, &key, values[i], &group), 0);
	assert_int_equal(stats_finish(stats), 0);
}

static struct spread spread_of_group(struct stats *stats)
{
	struct spread spread;

	stats_spread(stats, stats_line(stats, 0), &spread);
	return spread;
}

static void test_stats__find_the_exact_median(void **state)
{
	const uint64_t modulos[] = {1, 2, 10, 1000000, UINT64_MAX};
	static uint64_t values[20000];

	(void)state;
	for (uint32_t n = 1; n < 20000; n = n < 20 ? n + 1 : n < 300 ? n + 37 : 2 * n + 1) {
		for (size_t k = 0; k < sizeof(modulos) / sizeof(modulos[0]); k++) {
			uint64_t random = n, expected;
			struct stats stats;

			for (uint32_t i = 0; i < n; i++) {
				random = random * 6364136223846793005u + 1442695040888963407u;
				values[i] = (random >> 1) % modulos[k];
			}
			make_group(&stats, values, n);
			qsort(values, n, sizeof(*values), compare_numbers);
			expected = values[n / 2];
			if (n % 2 == 0)
				expected = values[n / 2 - 1] +
				           (expected - values[n / 2 - 1] + 1) / 2;
			assert_int_equal(spread_of_group(&stats).median, expected);
			assert_int_equal(spread_of_group(&stats).min, values[0]);
			assert_int_equal(spread_of_group(&stats).max, values[n - 1]);
			stats_release(&stats);
		}
	}
}

static void test_stats__find_the_median_of_sorted_durations_as_fast(void **state)
{
	const uint32_t n = 1000000; /* quadratic work would not end in time */
	uint64_t *values = malloc(n * sizeof(*values));
	struct stats stats;

	(void)state;
	assert_non_null(values);
	for (uint32_t i = 0; i < n; i++)
		values[i] = i;
	make_group(&stats, values, n);
	assert_int_equal(spread_of_group(&stats).median, n / 2);
	stats_release(&stats);
	for (uint32_t i = 0; i < n; i++)
		values[i] = 7;
	make_group(&stats, values, n);
	assert_int_equal(spread_of_group(&stats).median, 7);
	assert_int_equal(spread_of_group(&stats).deviation, 0);
	stats_release(&stats);
	free(values);
}

static void test_stats__do_not_overflow(void **state)
{
	const uint64_t values[] = {UINT64_MAX, UINT64_MAX - 1, 3};
	struct stats stats;

	(void)state;
	make_group(&stats, values, 3);
	assert_true(stats_line(&stats, 0)->total_ns == UINT64_MAX);
	assert_true(spread_of_group(&stats).median == UINT64_MAX - 1);
	stats_release(&stats);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_analysis__tells_kernels_by_kind_and_name),
		cmocka_unit_test(test_analysis__takes_the_time_of_direct_children_off),
		cmocka_unit_test(test_analysis__tells_host_functions_rank_by_rank),
		cmocka_unit_test(test_analysis__of_nothing_is_no_file),
		cmocka_unit_test(test_analysis__tells_why_it_cannot_write),
		cmocka_unit_test(test_stats__find_the_exact_median),
		cmocka_unit_test(test_stats__find_the_median_of_sorted_durations_as_fast),
		cmocka_unit_test(test_stats__do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
