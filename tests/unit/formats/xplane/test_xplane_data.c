/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that JAX wrote, and what another analyser said of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "flex_fixture.h"

#define DATA FLEXTRACE_SHARED_DATA "/jax/"

struct device_sums {
	const char *file, *device;
	int64_t n, sum_ns, span_ns, n_queues; /* 0: not told */
};

static const struct device_sums sums[] = {
	{"conv_minimal_legacy", "0", 53, 889028, 27867728, 4},
	{"conv_minimal_legacy", "7", 25, 3586493, 15761301, 1},
	{"conv_minimal_08", "0", 60, 4000165, 0, 4},
	{"conv_minimal_08", "1", 25, 3345845, 0, 1},
	{"conv_minimal_08", "2", 25, 3524285, 0, 1},
	{"conv_minimal_08", "3", 25, 3403364, 0, 1},
	{"conv_minimal_08", "4", 25, 3493365, 0, 1},
	{"conv_minimal_08", "5", 25, 3464884, 0, 1},
	{"conv_minimal_08", "6", 25, 3403004, 0, 1},
	{"conv_minimal_08", "7", 25, 3502165, 0, 1},
};

static struct flex_run *convert(void **state, const char *name)
{
	struct flex_run *run = *state;
	char path[4096];
	const char *paths[] = {path};

	snprintf(path, sizeof(path), DATA "%s.xplane.pb", name);
	if (access(path, R_OK) < 0)
		skip();
	flex_convert_files(run, paths, 1);
	return run;
}

static struct device_sums sum_device(const struct csv_table *events, const char *device)
{
	struct device_sums sum = {.n = 0};
	int64_t first_ns = INT64_MAX, last_ns = 0;
	uint32_t queues = 0;

	for (uint64_t i = 0; i < events->n_rows; i++) {
		int64_t start_ns = flex_number(events, i, "start_ns");

		if (strcmp(flex_cell(events, i, "device"), device) != 0)
			continue;
		sum.n++;
		sum.sum_ns += flex_number(events, i, "dur_ns");
		first_ns = start_ns < first_ns ? start_ns : first_ns;
		last_ns = flex_number(events, i, "end_ns") > last_ns
		                  ? flex_number(events, i, "end_ns")
		                  : last_ns;
		queues |= 1u << flex_number(events, i, "queue") % 32;
	}
	sum.span_ns = last_ns - first_ns;
	sum.n_queues = __builtin_popcount(queues);
	return sum;
}

static void test_xplane_data__sums_are_those_of_another_analyser(void **state)
{
	const struct flex_run *run = NULL;

	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		struct device_sums sum;

		if (!i || strcmp(sums[i].file, sums[i - 1].file) != 0) {
			flex_stop(state);
			flex_start(state);
			run = convert(state, sums[i].file);
		}
		sum = sum_device(&run->events, sums[i].device);
		assert_int_equal(sum.n, sums[i].n);
		assert_int_equal(sum.sum_ns, sums[i].sum_ns);
		assert_int_equal(sum.n_queues, sums[i].n_queues);
		if (sums[i].span_ns)
			assert_int_equal(sum.span_ns, sums[i].span_ns);
		assert_int_equal(ledger_lost(&run->ledger), 0);
	}
}

static void test_xplane_data__launches_have_their_kernels(void **state)
{
	const struct flex_run *run = convert(state, "conv_minimal_08");
	uint64_t n = 0;

	for (uint64_t i = 0; i < run->events.n_rows; i++)
		n += flex_count(&run->host, "correlation",
		                flex_cell(&run->events, i, "correlation")) == 1;
	assert_int_equal(n, run->events.n_rows);
}

/* Of GPU 7 alone something ran: its sum is (1), its span (1) with what is idle in modules and
 * between them. */
static void test_xplane_data__modules_are_those_of_another_analyser(void **state)
{
	const struct flex_run *run = convert(state, "conv_minimal_legacy");
	struct csv_table modules = flex_read_table(run, "tables/hlo_modules.csv");
	struct csv_table ops = flex_read_table(run, "tables/hlo_ops.csv");
	uint64_t module = flex_row(&modules, "part", "module", "phase", "steady");
	uint64_t between = flex_row(&modules, "part", "between", "phase", "");
	uint64_t op = flex_row(&ops, "name", "input_transpose_fusion", "opcode", "fusion");

	assert_int_equal(modules.n_rows, 2);
	assert_int_equal(flex_number(&modules, module, "executions"), 5);
	assert_int_equal(flex_number(&modules, module, "mean_kernels"), 5);
	assert_int_equal(flex_number(&modules, module, "active_ns"), 3586493);
	assert_int_equal(flex_number(&modules, module, "active_ns") +
	                         flex_number(&modules, module, "idle_ns") +
	                         flex_number(&modules, between, "idle_ns"),
	                 15761301);
	assert_int_equal(flex_number(&ops, op, "kernels"), 5);
	assert_int_equal(flex_number(&ops, op, "total_ns"), 1950960);
	csv_table_release(&modules);
	csv_table_release(&ops);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_xplane_data__sums_are_those_of_another_analyser),
		TEST(test_xplane_data__launches_have_their_kernels),
		TEST(test_xplane_data__modules_are_those_of_another_analyser),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
