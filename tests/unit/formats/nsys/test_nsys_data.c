/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of real programs, and what is known of them by plain SQL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "nsys_fixture.h"

#define DATA FLEXTRACE_SHARED_DATA "/nsys/"

static struct flex_run *convert(void **state, const char *path)
{
	if (access(path, R_OK) < 0)
		skip();
	nsys_convert(*state, path);
	return *state;
}

/* -- sums ------------------------------------------------------------------------------------ */

struct sums {
	int64_t n, sum_ns, bytes;
};

/* Of the rows whose column begins so; NULL: of all. */
static struct sums add_up(const struct csv_table *table, const char *column, const char *value)
{
	bool has_bytes = strcmp(table->columns[4], "core") == 0;
	struct sums sums = {0};

	for (uint64_t i = 0; i < table->n_rows; i++) {
		if (value && strncmp(flex_cell(table, i, column), value, strlen(value)) != 0)
			continue;
		sums.n++;
		sums.sum_ns += flex_number(table, i, "dur_ns");
		sums.bytes += has_bytes ? flex_number(table, i, "bytes") : 0;
	}
	return sums;
}

static void expect_sums(const struct csv_table *table, const char *column, const char *value,
                        const struct sums *known)
{
	struct sums sums = add_up(table, column, value);

	assert_int_equal(sums.n, known->n);
	assert_int_equal(sums.sum_ns, known->sum_ns);
	assert_int_equal(sums.bytes, known->bytes);
}

/* How long kernels, and copies where these count, ran; rows are in order of time. */
static int64_t union_ns(const struct csv_table *events, bool with_copies)
{
	int64_t reach_ns = INT64_MIN, sum_ns = 0;

	for (uint64_t i = 0; i < events->n_rows; i++) {
		const char *kind = flex_cell(events, i, "kind");
		int64_t start_ns = flex_number(events, i, "start_ns");
		int64_t end_ns = flex_number(events, i, "end_ns");

		if (strcmp(kind, "kernel") != 0 &&
		    (!with_copies || strncmp(kind, "Memcpy", 6) != 0))
			continue;
		start_ns = start_ns < reach_ns ? reach_ns : start_ns;
		sum_ns += end_ns > start_ns ? end_ns - start_ns : 0;
		reach_ns = end_ns > reach_ns ? end_ns : reach_ns;
	}
	return sum_ns;
}

/* From the start of a call to that of its kernel. */
struct delays {
	int64_t n, sum_ns, min_ns, max_ns, n_before;
};

static void add_delays(const struct flex_run *run, uint64_t kernel, struct delays *delays)
{
	const char *correlation = flex_cell(&run->events, kernel, "correlation");
	int64_t start_ns = flex_number(&run->events, kernel, "start_ns"), ns;

	for (uint64_t i = 0; i < run->host.n_rows; i++) {
		if (strcmp(flex_cell(&run->host, i, "correlation"), correlation) != 0)
			continue;
		ns = start_ns - flex_number(&run->host, i, "start_ns");
		delays->min_ns = !delays->n || ns < delays->min_ns ? ns : delays->min_ns;
		delays->max_ns = !delays->n || ns > delays->max_ns ? ns : delays->max_ns;
		delays->n_before += start_ns < flex_number(&run->host, i, "end_ns");
		delays->n++;
		delays->sum_ns += ns;
	}
}

static void expect_delays(const struct flex_run *run, const struct delays *known)
{
	struct delays delays = {0};

	for (uint64_t i = 0; i < run->events.n_rows; i++) {
		if (strcmp(flex_cell(&run->events, i, "kind"), "kernel") == 0)
			add_delays(run, i, &delays);
	}
	assert_int_equal(delays.n, known->n);
	assert_int_equal(delays.n_before, known->n_before);
	assert_int_equal(delays.sum_ns, known->sum_ns);
	assert_int_equal(delays.min_ns, known->min_ns);
	assert_int_equal(delays.max_ns, known->max_ns);
}

/* -- what is told row by row ----------------------------------------------------------------- */

static void expect_rows(const struct flex_run *run, const char *path)
{
	nsys_expect_rows(path,
	                 "SELECT value name, start + utcEpochNs start_ns, end + utcEpochNs end_ns,"
	                 " streamId queue, correlationId correlation, deviceId device,"
	                 " 'given' status FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds"
	                 " ON id = shortName JOIN TARGET_INFO_SESSION_START_TIME",
	                 &run->events, "kind", "kernel");
	nsys_expect_rows(path,
	                 "SELECT start + utcEpochNs start_ns, end + utcEpochNs end_ns, bytes,"
	                 " iif(copyKind = 1, 'Memcpy HtoD', 'Memcpy DtoH') kind, streamId queue,"
	                 " correlationId correlation FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN"
	                 " TARGET_INFO_SESSION_START_TIME",
	                 &run->events, "kind", "Memcpy HtoD,Memcpy DtoH");
	nsys_expect_rows(path,
	                 "SELECT value name, start + utcEpochNs start_ns, end + utcEpochNs end_ns,"
	                 " correlationId correlation, globalTid & 0xffffff tid,"
	                 " globalTid >> 24 & 0xffffff pid FROM CUPTI_ACTIVITY_KIND_RUNTIME"
	                 " JOIN StringIds ON id = nameId JOIN TARGET_INFO_SESSION_START_TIME"
	                 " UNION ALL SELECT value, start + utcEpochNs, end + utcEpochNs, NULL,"
	                 " globalTid & 0xffffff, globalTid >> 24 & 0xffffff FROM OSRT_API"
	                 " JOIN StringIds ON id = nameId JOIN TARGET_INFO_SESSION_START_TIME"
	                 " UNION ALL SELECT value, start + utcEpochNs, end + utcEpochNs, NULL,"
	                 " globalTid & 0xffffff, globalTid >> 24 & 0xffffff FROM PROFILER_OVERHEAD"
	                 " JOIN StringIds ON id = nameId JOIN TARGET_INFO_SESSION_START_TIME",
	                 &run->host, "kind", "call");
}

static void expect_device(const struct flex_run *run, const char *name, const char *n_cores)
{
	char *json = flex_read_rows(run, "trace.json");

	assert_non_null(strstr(json, name));
	assert_non_null(strstr(json, n_cores));
	free(json);
}

static void test_nsys_data__cloverleaf(void **state)
{
	const struct flex_run *run = convert(state, DATA "cloverleaf.sqlite");

	expect_sums(&run->events, "kind", "kernel", &(struct sums){1312, 294404540, 0});
	assert_int_equal(union_ns(&run->events, false), 294404540);
	expect_sums(&run->events, "kind", "Memcpy HtoD", &(struct sums){254, 9346285, 225065752});
	expect_sums(&run->events, "kind", "Memcpy DtoH", &(struct sums){25, 44638, 51200});
	assert_int_equal(union_ns(&run->events, true), 303795463);
	expect_sums(&run->events, "queue", "7",
	            &(struct sums){1591, 294404540 + 9346285 + 44638, 225065752 + 51200});
	expect_sums(&run->host, "name", "cu", &(struct sums){3048, 571656984, 0});
	expect_delays(run, &(struct delays){1312, 10091522, 4812, 53807, 5});
	expect_sums(&run->events, "name", "par_ranged2d_kernel", &(struct sums){331, 267056876, 0});
	expect_sums(&run->events, "name", "par_reduce_kernel", &(struct sums){13, 22654310, 0});
	expect_sums(&run->events, "name", "par_ranged1d_kernel", &(struct sums){968, 4693354, 0});
	expect_sums(&run->host, "name", "cudaDeviceSynchronize",
	            &(struct sums){1312, 301652956, 0});
	assert_int_equal(flex_count(&run->host, "rank", "0"), run->host.n_rows);
	assert_int_equal(ledger_lost(&run->ledger), 0);
	expect_device(run, "A100-SXM4-80GB", "0000:c1:00.0");
	expect_rows(run, DATA "cloverleaf.sqlite");
}

static void test_nsys_data__saxpy(void **state)
{
	static const struct {
		const char *name;
		struct sums sums;
	} ranges[] = {
		{"MPI_Init", {1, 645678983, 0}}, {"MPI_Send", {10, 136342959, 0}},
		{"MPI_Recv", {5, 107721088, 0}}, {"MPI_Finalize", {1, 6351480, 0}},
		{"saxpy", {5, 231248, 0}},
	};
	const struct flex_run *run = convert(state, DATA "saxpy-mpi.sqlite");

	expect_sums(&run->events, "kind", "kernel", &(struct sums){5, 88573480, 0});
	assert_int_equal(union_ns(&run->events, false), 88573480);
	expect_sums(&run->events, "kind", "Memcpy HtoD", &(struct sums){10, 186001123, 2621440000});
	expect_sums(&run->events, "kind", "Memcpy DtoH", &(struct sums){5, 98698477, 1310720000});
	assert_int_equal(union_ns(&run->events, true), 373273080);
	assert_int_equal(flex_count(&run->events, "queue", "7"), 20);
	expect_sums(&run->host, "name", "cu", &(struct sums){95, 1087784268, 0});
	expect_delays(run, &(struct delays){10, 325902, 32013, 33220, 4});
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		expect_sums(&run->host, "name", ranges[i].name, &ranges[i].sums);
	assert_int_equal(flex_count(&run->host, "rank", "0"), run->host.n_rows);
	assert_int_equal(ledger_lost(&run->ledger), 0);
	expect_device(run, "A100-SXM4-40GB", "0000:03:00.0");
	expect_rows(run, DATA "saxpy-mpi.sqlite");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nsys_data__cloverleaf),
		TEST(test_nsys_data__saxpy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
