/* SPDX-License-Identifier: Apache-2.0 */
/* Real files of the torch profiler, whose values are known. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "flex_fixture.h"

#define DATA FLEXTRACE_SHARED_DATA "/kineto/"

/* What expected.json says of a file. */
struct known {
	const char *path;
	uint64_t n_device_events, n_lanes, n_with_launch;
	int64_t sum_dur_ns, first_device_ns, last_end_ns;
};

static const struct known files[] = {
	{DATA "cuda_event_sync_multi_stream.json.gz", 6, 3, 6, 372000, INT64_C(1712867402348667000),
         INT64_C(1712867402368173000)},
	{DATA "mtia_inference_rank_0.json.gz", 1313, 12, 991, 812125170,
         INT64_C(1767891117074372596), INT64_C(1767891117517648300)},
	{DATA "ns_resolution_rank-0.json.gz", 6095, 1, 6095, 472454441,
         INT64_C(1712195495505582988), INT64_C(1712195495985612167)},
	{DATA "resnet50_num_workers_4_worker0.pt.trace.json.gz", 9258, 1, 9258, 614413000,
         INT64_C(1623212388471988000), INT64_C(1623212389273538000)},
	{DATA "sampled_rank-0.json.gz", 1204, 5, 1204, 607844000, INT64_C(1682725898082228000),
         INT64_C(1682725899305075000)},
	{DATA "sampled_rank-1.json.gz", 1154, 5, 1154, 667530000, INT64_C(1682725898082381000),
         INT64_C(1682725899313567000)},
};

static struct flex_run *convert(void **state, const char *const *paths, uint32_t n)
{
	struct flex_run *run = *state;

	if (access(paths[0], R_OK) < 0)
		skip();
	flex_convert_files(run, paths, n);
	return run;
}

/* Annotations, synchronisation: on the rows of a device, but no work. */
static bool is_state(const struct flex_run *run, uint64_t row)
{
	return strcmp(flex_cell(&run->events, row, "kind"), "state") == 0;
}

/* How many rows differ from all before them in their device or queue. */
static uint64_t count_lanes(const struct flex_run *run)
{
	const struct csv_table *events = &run->events;
	uint64_t n = 0;

	for (uint64_t i = 0; i < events->n_rows; i++) {
		bool is_new = !is_state(run, i);

		for (uint64_t j = 0; j < i && is_new; j++)
			is_new = is_state(run, j) ||
			         strcmp(flex_cell(events, i, "queue"),
			                flex_cell(events, j, "queue")) != 0 ||
			         strcmp(flex_cell(events, i, "device"),
			                flex_cell(events, j, "device")) != 0;
		n += is_new;
	}
	return n;
}

static int compare_numbers(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* How many device rows have the correlation of a call. */
static uint64_t count_launched(const struct flex_run *run)
{
	int64_t *calls = malloc((run->host.n_rows + 1) * sizeof(*calls));
	uint64_t n = 0;

	assert_non_null(calls);
	for (uint64_t i = 0; i < run->host.n_rows; i++)
		calls[i] = flex_number(&run->host, i, "correlation");
	qsort(calls, run->host.n_rows, sizeof(*calls), compare_numbers);
	for (uint64_t i = 0; i < run->events.n_rows; i++) {
		int64_t correlation = flex_number(&run->events, i, "correlation");

		n += correlation && !is_state(run, i) &&
		     bsearch(&correlation, calls, run->host.n_rows, sizeof(*calls),
		             compare_numbers);
	}
	free(calls);
	return n;
}

/* Both sides of key_averages.csv have all device work. */
static void check_averages(const struct flex_run *run, int64_t sum_ns)
{
	struct csv_table table = flex_read_table(run, "tables/key_averages.csv");
	int64_t host_ns = 0, device_ns = 0;

	for (uint64_t i = 0; i < table.n_rows; i++) {
		int64_t self_ns = flex_number(&table, i, "device_self_ns");

		if (*flex_cell(&table, i, "window"))
			continue;
		if (strcmp(flex_cell(&table, i, "side"), "device") == 0)
			device_ns += self_ns;
		else
			host_ns += self_ns;
	}
	csv_table_release(&table);
	assert_int_equal(host_ns, sum_ns);
	assert_int_equal(device_ns, sum_ns);
}

static void check_file(void **state, const struct known *known)
{
	struct flex_run *run = convert(state, &known->path, 1);
	int64_t sum_ns = 0, first_ns = INT64_MAX, last_ns = 0;

	assert_int_equal(run->events.n_rows - flex_count(&run->events, "kind", "state"),
	                 known->n_device_events);
	for (uint64_t i = 0; i < run->events.n_rows; i++) {
		int64_t start_ns = flex_number(&run->events, i, "start_ns");
		int64_t end_ns = flex_number(&run->events, i, "end_ns");

		if (is_state(run, i))
			continue;
		sum_ns += end_ns - start_ns;
		first_ns = start_ns < first_ns ? start_ns : first_ns;
		last_ns = end_ns > last_ns ? end_ns : last_ns;
		assert_string_equal(flex_cell(&run->events, i, "status"), "given");
	}
	assert_int_equal(sum_ns, known->sum_dur_ns);
	check_averages(run, known->sum_dur_ns);
	assert_int_equal(first_ns, known->first_device_ns);
	assert_int_equal(last_ns, known->last_end_ns);
	assert_int_equal(count_lanes(run), known->n_lanes);
	assert_int_equal(count_launched(run), known->n_with_launch);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

#define FILE_TEST(name, i)                                      \
	static void test_torch_data__knows_##name(void **state) \
	{                                                       \
		check_file(state, &files[i]);                   \
	}
FILE_TEST(streams_of_cuda, 0)
FILE_TEST(an_accelerator, 1)
FILE_TEST(nanoseconds, 2)
FILE_TEST(files_of_2021, 3)
FILE_TEST(rank_0, 4)
FILE_TEST(rank_1, 5)

static void test_torch_data__knows_two_ranks_together(void **state)
{
	static const char *const paths[] = {DATA "sampled_rank-1.json.gz",
	                                    DATA "sampled_rank-0.json.gz"};
	struct flex_run *run = convert(state, paths, 2);

	assert_int_equal(flex_count(&run->events, "rank", "0"), 1204);
	assert_int_equal(flex_count(&run->events, "rank", "1"), 1154);
	assert_int_equal(flex_number(&run->events, 0, "start_ns"), INT64_C(1682725898082228000));
	assert_int_equal(count_launched(run), 1204 + 1154);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_torch_data__##name, flex_start, flex_stop)
		TEST(knows_streams_of_cuda),    TEST(knows_an_accelerator), TEST(knows_nanoseconds),
		TEST(knows_files_of_2021),      TEST(knows_rank_0),         TEST(knows_rank_1),
		TEST(knows_two_ranks_together),
	};

	return cmocka_run_group_tests_name("torch_data", tests, NULL, NULL);
}
