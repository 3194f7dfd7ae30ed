/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nsys_fixture.h"
#include "scratch.h"

static void again(void **state)
{
	flex_stop(state);
	flex_start(state);
}

/* -- what both generations have -------------------------------------------------------------- */

static void expect_all(const struct flex_run *run, const char *path)
{
	nsys_expect_rows(
		path,
		"SELECT value name, start + 1700000000000000000 start_ns,"
		" end + 1700000000000000000 end_ns, end - start dur_ns, streamId queue,"
		" iif(correlationId, correlationId, NULL) correlation, 70 pid, 'given' status"
		" FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName",
		&run->events, "kind", "kernel");
	nsys_expect_rows(path,
	                 "SELECT start + 1700000000000000000 start_ns, bytes, end - start dur_ns,"
	                 " iif(copyKind = 1, 'Memcpy HtoD', 'Memcpy DtoH') kind"
	                 " FROM CUPTI_ACTIVITY_KIND_MEMCPY",
	                 &run->events, "kind", "Memcpy HtoD,Memcpy DtoH");
	nsys_expect_rows(
		path,
		"SELECT value name, start + 1700000000000000000 start_ns, end - start dur_ns,"
		" globalTid & 0xffffff tid, correlationId correlation"
		" FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId"
		" UNION ALL SELECT value, start + 1700000000000000000, end - start,"
		" globalTid & 0xffffff, NULL FROM OSRT_API JOIN StringIds ON id = nameId",
		&run->host, "kind", "call");
	nsys_expect_rows(path,
	                 "SELECT coalesce(text, value) name, start + 1700000000000000000 start_ns,"
	                 " end - start dur_ns, globalTid & 0xffffff tid"
	                 " FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId",
	                 &run->host, "kind", "User");
}

static void test_nsys__reads_both_generations(void **state)
{
	static const struct {
		const char *schema, *version;
	} generations[] = {{nsys_schema_2022, "2022.2.1.31"}, {nsys_schema_2024, "2024.5.1.113"}};

	for (size_t i = 0; i < sizeof(generations) / sizeof(*generations); i++) {
		char *path = nsys_convert_sql(state, generations[i].schema, NSYS_STRINGS NSYS_ROWS);
		struct flex_run *run = *state;
		char *json;

		expect_all(run, path);
		assert_string_equal(flex_cell(&run->host, 0, "host"), "node7");
		assert_string_equal(flex_cell(&run->host, 0, "thread"), "worker");
		assert_string_equal(run->warnings, "");
		assert_int_equal(ledger_lost(&run->ledger), 0);
		json = scratch_read(run->out, "run.json", NULL);
		assert_non_null(strstr(json, generations[i].version));
		assert_non_null(strstr(json, "./app"));
		free(json);
		free(path);
		again(state);
	}
}

/* What Chrome shows of a kernel, and one arrow for each that has a call, whoever shares its id. */
static void test_nsys__tells_how_a_kernel_was_launched(void **state)
{
	char *path = nsys_convert_sql(state, nsys_schema_2024, NSYS_STRINGS NSYS_ROWS);
	struct flex_run *run = *state;
	char *json = scratch_read(run->out, "trace.json", NULL);
	uint32_t n = 0;

	assert_non_null(strstr(json,
	                       "\"demangled\":\"void add\\u003cfloat>(int)\",\"grid\":[4,2,1],"
	                       "\"block\":[256,1,1],\"context\":1,"
	                       "\"registers per thread\":32"));
	assert_non_null(strstr(json, "\"cat\":\"cuda_driver\",\"name\":\"cuLaunch\""));
	assert_non_null(strstr(json, "\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> "
	                             "Device)\""));
	assert_non_null(strstr(json, "\"return value\":700"));
	assert_non_null(strstr(json, "GPU A"));
	for (const char *at = json; (at = strstr(at, "\"ph\":\"s\"")); at++)
		n++;
	assert_int_equal(n, 3);
	free(json);
	free(path);
}

/* -- devices --------------------------------------------------------------------------------- */

static void test_nsys__tells_every_kind_of_work(void **state)
{
	char *path = nsys_convert_sql(
		state, nsys_schema_2024,
		NSYS_STRINGS
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId,"
		" globalPid, bytes, copyKind) VALUES (10, 20, 0, 7, PID(70), 1, 8),"
		" (20, 30, 0, 7, PID(70), 2, 10), (30, 40, 0, 7, PID(70), 3, 11),"
		" (40, 50, 0, 7, PID(70), 4, 99);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (50, 60, 0, 1, 7, 5,"
		" PID(70), 0, 77);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
		" (60, 70, 0, 1, 4294967295, 6, PID(70), 4, 0),"
		" (60, 70, 0, 1, 7, 6, PID(70), 42, 0);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (70, 80, 0, 1, 7, 7,"
		" PID(70), 3, 5);"
		"INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES"
		" (90, PID(70), 0, 1, 4096, 512, 2, 0), (95, PID(70), 0, 1, 4096, 512, 2, 1);");
	static const struct {
		const char *name, *kind;
	} rows[] = {
		{"Memcpy DtoD", "Memcpy DtoD"},     {"Memcpy PtoP", "Memcpy PtoP"},
		{"Memcpy UVM HtoD", "Memcpy HtoD"}, {"Memcpy of kind 99", "Memcpy DtoD"},
		{"Memset (Device)", "Memset"},      {"Context Sync", "state"},
		{"Sync of type 42", "state"},       {"Graph Exec 5", "kernel"},
	};
	struct flex_run *run = *state;
	struct csv_table memory = flex_read_table(run, "tables/memory.csv");

	assert_int_equal(run->events.n_rows, 8);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		flex_row(&run->events, "name", rows[i].name, "kind", rows[i].kind);
	assert_int_equal(flex_number(&run->events,
	                             flex_row(&run->events, "kind", "Memset", NULL, NULL), "bytes"),
	                 77);
	assert_int_equal(memory.n_rows, 2);
	assert_string_equal(flex_cell(&memory, 1, "op"), "free");
	csv_table_release(&memory);
	free(path);
}

/* -- NVTX ------------------------------------------------------------------------------------ */

static void test_nsys__nvtx_ranges_nest_cross_and_stay_open(void **state)
{
	char *path = nsys_convert_sql(
		state, nsys_schema_2024,
		NSYS_STRINGS
		"INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid,"
		" endGlobalTid, domainId, category, uint64Value, doubleValue, jsonText)"
		" VALUES (5, NULL, 75, 'Solver', TID(70, 70), NULL, 3, NULL, NULL, NULL, NULL),"
		" (6, NULL, 33, 'halo', TID(70, 70), NULL, 3, 9, NULL, NULL, NULL),"
		" (10, 90, 59, 'outer', TID(70, 70), NULL, 3, 9, -1, NULL, NULL),"
		" (20, 80, 59, 'inner', TID(70, 70), NULL, 4, 8, NULL, 0.5, NULL),"
		" (30, 95, 60, 'crossing', TID(70, 70), TID(70, 71), 0, NULL, NULL, NULL,"
		" NULL), (40, NULL, 34, 'mark', TID(70, 70), NULL, 0, NULL, NULL, NULL, NULL),"
		" (50, NULL, 59, 'open', TID(70, 72), NULL, 0, NULL, NULL, NULL, NULL),"
		" (60, 70, 59, 'told', TID(70, 73), NULL, 0, NULL, NULL, NULL, '{\"a\":[1]}'),"
		" (61, 62, 59, 'text', TID(70, 73), NULL, 0, NULL, NULL, NULL, 'a\"b'),"
		" (63, 64, 1234, 'odd', TID(70, 73), NULL, 0, NULL, NULL, NULL, NULL),"
		" (65, 66, 59, 'far', TID(70, 73), NULL, 9223372036854775807, 9223372036854775807, "
		"NULL,"
		" NULL, NULL);");
	static const struct {
		const char *name, *kind, *depth, *args;
	} rows[] = {
		{"outer", "User", "0",
	         "{\"cat\":\"user_annotation\",\"domain\":\"Solver\",\"category\":\"halo\","
	         "\"payload\":18446744073709551615}"},
		{"inner", "User", "1",
	         "{\"cat\":\"user_annotation\",\"domain\":4,\"category\":8,\"payload\":0.5}"},
		{"crossing", "Async", "0", ""},
		{"open", "User", "0", ""},
		{"told", "User", "0", "{\"cat\":\"user_annotation\",\"payload\":{\"a\":[1]}}"},
		{"far", "User", "1",
	         "{\"cat\":\"user_annotation\",\"domain\":9223372036854775807,"
	         "\"category\":9223372036854775807}"},
		{"text", "User", "1", "{\"cat\":\"user_annotation\",\"payload\":\"a\\\"b\"}"},
	};
	struct flex_run *run = *state;
	struct csv_table instants = flex_read_table(run, "tables/instants.csv");

	assert_int_equal(run->host.n_rows, sizeof(rows) / sizeof(*rows));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t row = flex_row(&run->host, "name", rows[i].name, "kind", rows[i].kind);

		assert_string_equal(flex_cell(&run->host, row, "depth"), rows[i].depth);
		assert_string_equal(flex_cell(&run->host, row, "args"), rows[i].args);
	}
	flex_row(&run->host, "name", "open", "status", "assumed");
	assert_int_equal(flex_number(&run->host,
	                             flex_row(&run->host, "name", "crossing", NULL, NULL),
	                             "dur_ns"),
	                 65);
	assert_string_equal(flex_cell(&instants, 0, "name"), "mark");
	assert_non_null(strstr(run->warnings, "its type is not known"));
	csv_table_release(&instants);
	free(path);
}

/* A payload by its schema: numbers of every width, and what is cut or not of the schema. */
static void test_nsys__reads_payloads_by_their_schemas(void **state)
{
	char *path = nsys_convert_sql(
		state, nsys_schema_2024,
		NSYS_STRINGS
		"INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name,"
		" offset) VALUES (1, 258, 0, 18, 'big', NULL), (1, 258, 1, 5, 'int', 8),"
		" (1, 258, 2, 6, 'uint', 8), (1, 258, 3, 14, 'short', 12),"
		" (1, 258, 4, 18, 'behind', 15), (1, 258, 5, 19, 'real', 0),"
		" (1, 258, 6, 18, 'far', 9223372036854775807), (2, 258, 0, 18, 'else', 0);"
		"INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId,"
		" binaryData) VALUES (10, 20, 59, 'whole', TID(70, 70), 1,"
		" x'0100000000000000020100000000000010000000000000003000000000000000"
		"0807060504030201feffffff0102'),"
		" (30, 40, 59, 'cut', TID(70, 70), 1, x'0100000000000000020100000000');");
	struct flex_run *run = *state;

	assert_string_equal(
		flex_cell(&run->host, flex_row(&run->host, "name", "whole", NULL, NULL), "args"),
		"{\"cat\":\"user_annotation\",\"domain\":1,\"payload\":"
		"{\"big\":72623859790382856,\"int\":-2,\"uint\":4294967294,"
		"\"short\":513}}");
	assert_string_equal(
		flex_cell(&run->host, flex_row(&run->host, "name", "cut", NULL, NULL), "args"),
		"{\"cat\":\"user_annotation\",\"domain\":1}");
	free(path);
}

/* -- time ------------------------------------------------------------------------------------ */

#define ONE_RANGE(start, end)                                                                      \
	"INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (" start ", " end \
	", 59, 'r', TID(70, 70));"

static void test_nsys__times_are_those_of_the_session(void **state)
{
	static const struct {
		const char *sql;
		int64_t start_ns;
	} cases[] = {
		{ONE_RANGE("5", "9"), NSYS_EPOCH_NS + 5},
		{ONE_RANGE("0", "9"), NSYS_EPOCH_NS},
		{ONE_RANGE("-5000000", "9"), NSYS_EPOCH_NS - 5000000},
		{"DELETE FROM TARGET_INFO_SESSION_START_TIME;" ONE_RANGE("5", "9"), 5},
		{"INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_TIME_NORMALIZE', "
	         "'true');" ONE_RANGE("1700000000000000005", "1700000000000000009"),
	         NSYS_EPOCH_NS + 5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *path = nsys_convert_sql(state, nsys_schema_2024, cases[i].sql);
		struct flex_run *run = *state;

		assert_int_equal(flex_number(&run->host, 0, "start_ns"), cases[i].start_ns);
		free(path);
		again(state);
	}
}

/* -- who ------------------------------------------------------------------------------------- */

static void test_nsys__ranks_are_found_wherever_they_are_told(void **state)
{
	static const struct {
		const char *sql, *ranks, *rank;
	} cases[] = {
		{"", NULL, ""},
		{"", "6", "6"},
		{"INSERT INTO MPI_RANKS VALUES (TID(70, 70), 3);", "6", "3"},
		{"INSERT INTO StringIds VALUES (20, 'MPI Rank 12');"
	         "INSERT INTO ThreadNames VALUES (20, 0, TID(70, 70));",
	         NULL, "12"},
		{"INSERT INTO StringIds VALUES (20, 'MPI Rank 12a');"
	         "INSERT INTO ThreadNames VALUES (20, 0, TID(70, 70));",
	         NULL, ""},
		{"INSERT INTO META_DATA_CAPTURE VALUES"
	         " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SLURM_PROCID=\"0\"'),"
	         " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'OMPI_COMM_WORLD_RANK=\"5\"'),"
	         " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'PMI_RANK=\"1\"');",
	         NULL, "5"},
		/* the environment of who launched two is neither's */
		{"INSERT INTO META_DATA_CAPTURE VALUES"
	         " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=\"5\"');" /* */
	         "INSERT INTO OSRT_API VALUES (1, 2, 27, TID(90, 90), 6, 0);",
	         NULL, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char sql[2048], *path;
		struct flex_run *run = *state;

		run->torch_ranks = cases[i].ranks;
		snprintf(sql, sizeof(sql), NSYS_STRINGS ONE_RANGE("5", "9") "%s", cases[i].sql);
		path = nsys_convert_sql(state, nsys_schema_2024, sql);
		run = *state;
		assert_string_equal(flex_cell(&run->host,
		                              flex_row(&run->host, "name", "r", NULL, NULL),
		                              "rank"),
		                    cases[i].rank);
		free(path);
		again(state);
	}
}

/* Processes of one session share its clock; sessions each have their own. */
static void test_nsys__processes_and_files_are_ranks(void **state)
{
	struct flex_run *run = *state;
	char *paths[2];

	for (int i = 0; i < 2; i++) {
		char name[32], sql[8192];

		snprintf(name, sizeof(name), "rank%d.sqlite", i);
		snprintf(sql, sizeof(sql),
		         "%sUPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + %d;"
		         "INSERT INTO MPI_RANKS VALUES (TID(70, 70), %d), (TID(80, 80), %d);"
		         "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES"
		         " (5, 9, 59, 'r', TID(70, 70)), (6, 9, 59, 'r', TID(80, 80));",
		         nsys_schema_2024, i * 1000, 2 * i, 2 * i + 1);
		paths[i] = nsys_make(run, name, sql);
	}
	flex_convert_files(run, (const char *const *)paths, 2);
	for (int i = 0; i < 4; i++) {
		char rank[8];
		uint64_t row;

		snprintf(rank, sizeof(rank), "%d", i);
		row = flex_row(&run->host, "rank", rank, NULL, NULL);
		assert_int_equal(flex_number(&run->host, row, "start_ns"),
		                 NSYS_EPOCH_NS + 5 + i % 2 + i / 2 * 1000);
		assert_string_equal(flex_cell(&run->host, row, "status"),
		                    i < 2 ? "certified" : "assumed");
	}
	free(paths[0]);
	free(paths[1]);
}

/* -- holes ----------------------------------------------------------------------------------- */

static void test_nsys__a_bad_row_costs_that_row(void **state)
{
	static const struct {
		const char *row, *fault;
	} cases[] = {
		{"('five', 9, 59, 'x', TID(70, 70))", "row 1: its start is no number"},
		{"(5.5, 9, 59, 'x', TID(70, 70))", "its start is no number"},
		{"(9, 5, 59, 'x', TID(70, 70))", "its end is before its start"},
		{"(9223372036854775807, 9223372036854775807, 59, 'x', TID(70, 70))",
	         "its time is out of range"},
		{"(-9223372036854775807, 5, 59, 'x', TID(70, 70))", "its time is out of range"},
		{"(5, 9, 'odd', 'x', TID(70, 70))", "its type is not known"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char sql[1024], *path;
		struct flex_run *run;

		snprintf(sql, sizeof(sql),
		         NSYS_STRINGS
		         "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid)"
		         " VALUES %s;" ONE_RANGE("5", "9"),
		         cases[i].row);
		path = nsys_convert_sql(state, nsys_schema_2024, sql);
		run = *state;
		assert_int_equal(run->host.n_rows, 1);
		assert_int_equal(ledger_lost(&run->ledger), 1);
		if (!strstr(run->warnings, cases[i].fault))
			fail_msg("%s", run->warnings);
		free(path);
		again(state);
	}
}

static void test_nsys__a_name_that_is_missing_is_a_number(void **state)
{
	char *path = nsys_convert_sql(state, nsys_schema_2024,
	                              NSYS_STRINGS
	                              "INSERT INTO OSRT_API VALUES (1, 2, 27, TID(70, 70), 999, 0),"
	                              " (3, 4, 27, NULL, 6, 0);");
	struct flex_run *run = *state;

	assert_string_equal(flex_cell(&run->host, 0, "name"), "string 999");
	assert_string_equal(flex_cell(&run->host, 1, "pid"), "70"); /* the only process there is */
	assert_non_null(strstr(run->warnings, "Names are missing"));
	free(path);
}

static void test_nsys__says_what_is_missing_and_what_is_not_read(void **state)
{
	static const char sql[] =
		"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
		"INSERT INTO StringIds VALUES (1, 'k');"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, shortName "
		"INTEGER,"
		" deviceId INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 1, 0);"
		"CREATE TABLE GPU_METRICS (timestamp INTEGER); INSERT INTO GPU_METRICS VALUES (1);"
		"CREATE TABLE VULKAN_API (start INTEGER);"
		"CREATE TABLE ENUM_X (id INTEGER); INSERT INTO ENUM_X VALUES (1);";
	struct flex_run *run = *state;
	char *path = nsys_convert_sql(state, "", sql);

	assert_string_equal(flex_cell(&run->events, 0, "name"), "k");
	assert_non_null(strstr(run->warnings, "what=NVTX ranges, CUDA calls, calls of the system, "
	                                      "copies, the time when its session began\n"));
	assert_non_null(strstr(run->warnings, "tables=GPU_METRICS\n"));
	assert_int_equal(run->ledger.warnings[WARNING_TABLES_NOT_READ], 1);
	free(path);
}

static void test_nsys__refuses_other_files(void **state)
{
	struct flex_run *run = *state;
	char *path = nsys_make(run, "other.sqlite",
	                       "CREATE TABLE t (a); INSERT INTO t VALUES (1);");

	nsys_expect_error(run, path, "There is no row of a report of nsys");
	flex_add_file(run, "other.sqlite", "SQLite format 3");
	nsys_expect_error(run, path, "file is not a database");
	free(path);
}

static void test_nsys__says_how_a_report_is_exported(void **state)
{
	struct flex_run *run = *state;
	char *path;

	flex_add_file(run, "report.nsys-rep", "what nsys keeps");
	assert_true(asprintf(&path, "%s/report.nsys-rep", run->in) > 0);
	nsys_expect_error(run, path, "nsys export --type sqlite");
	free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nsys__reads_both_generations),
		TEST(test_nsys__tells_how_a_kernel_was_launched),
		TEST(test_nsys__tells_every_kind_of_work),
		TEST(test_nsys__nvtx_ranges_nest_cross_and_stay_open),
		TEST(test_nsys__reads_payloads_by_their_schemas),
		TEST(test_nsys__times_are_those_of_the_session),
		TEST(test_nsys__ranks_are_found_wherever_they_are_told),
		TEST(test_nsys__processes_and_files_are_ranks),
		TEST(test_nsys__a_bad_row_costs_that_row),
		TEST(test_nsys__a_name_that_is_missing_is_a_number),
		TEST(test_nsys__says_what_is_missing_and_what_is_not_read),
		TEST(test_nsys__refuses_other_files),
		TEST(test_nsys__says_how_a_report_is_exported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
