/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives and messages that reports tell of, and what ties their clocks. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nsys_fixture.h"

#define AHEAD_NS 250000 /* that the clock of rank 1 is */
#define WORLD    "7777"

/* -- MPI ------------------------------------------------------------------------------------- */

#define NAMES                                                                                 \
	"INSERT INTO StringIds VALUES (1, 'MPI_Init'), (2, 'MPI_Barrier'), (3, 'MPI_Bcast')," \
	" (4, 'MPI_Send'), (5, 'MPI_Recv'), (6, 'MPI_Allreduce'), (7, 'MPI_Iallreduce'),"     \
	" (8, 'MPI_Irecv'), (9, 'MPI_Sendrecv'), (10, 'MPI_Reduce');"                         \
	"INSERT INTO PROCESSES VALUES (PID(70), 70, './app');"

/* The reports of two ranks: each is given the same SQL, with RANK, OTHER and the times T(ns) in its
 * own clock. */
static void convert_ranks(struct flex_run *run, const char *schema, const char *sql)
{
	char *paths[2];

	for (int rank = 0; rank < 2; rank++) {
		char name[32], *text;

		snprintf(name, sizeof(name), "rank%d.sqlite", rank);
		assert_true(asprintf(&text,
		                     "%sCREATE TABLE me (rank, other, ahead); INSERT INTO me VALUES"
		                     " (%d, %d, %d);" NAMES
		                     "INSERT INTO MPI_RANKS VALUES (TID(70, 70), %d); %s"
		                     "DROP TABLE me;",
		                     schema, rank, !rank, rank * AHEAD_NS, rank, sql) > 0);
		paths[rank] = nsys_make(run, name, text);
		free(text);
	}
	flex_convert_files(run, (const char *const *)paths, 2);
	free(paths[0]);
	free(paths[1]);
}

#define INIT \
	"INSERT INTO MPI_OTHER_EVENTS SELECT 1000 + ahead, 2000 + ahead, TID(70, 70), 1 FROM me;"
#define COMM                                                                                      \
	"INSERT INTO MPI_COMMUNICATORS SELECT rank, 0, " WORLD " + rank, NULL, rank, 2, 0, 4096," \
	" '' FROM me;"
/* 200 barriers, 1 ms apart: rank 1 enters 3 us late, both leave within a us. */
#define BARRIERS                                                                                  \
	"INSERT INTO MPI_COLLECTIVES_EVENTS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"           \
	" SELECT i + 1 FROM n WHERE i < 200) SELECT i * 1000000 + 3000 * (rank = i % 2) + ahead," \
	" i * 1000000 + 4000 + ahead, TID(70, 70), 2, " WORLD " + rank, NULL, 0, 0, NULL"         \
	" FROM n, me;"

/* A call that not all ranks of the communicator make, and one that returns at once. */
#define OTHERS                                                                          \
	"INSERT INTO StringIds VALUES (30, 'MPI_Comm_create_group');"                   \
	"INSERT INTO MPI_COLLECTIVES_EVENTS SELECT 50000000 + ahead, 50000500 + ahead," \
	" TID(70, 70), 30, " WORLD " + rank, NULL, 8, 8, NULL FROM me WHERE rank = 1;"  \
	"INSERT INTO MPI_COLLECTIVES_EVENTS SELECT 50000600 + ahead, 50000700 + ahead," \
	" TID(70, 70), 7, " WORLD " + rank, NULL, 8, 8, NULL FROM me WHERE rank = 0;"

static uint64_t count_told(const struct flex_run *run)
{
	return flex_count(&run->host, "kind", "Collective");
}

static void test_nsys_ranks__barriers_tie_the_clocks_of_files(void **state)
{
	struct flex_run *run = *state;
	struct csv_table alignment, collectives;
	int64_t offset_ns, half_ns;
	uint64_t row;

	convert_ranks(run, nsys_schema_2024, INIT COMM BARRIERS OTHERS);
	alignment = flex_read_table(run, "tables/alignment.csv");
	collectives = flex_read_table(run, "tables/collectives.csv");
	assert_int_equal(count_told(run), 400);
	row = flex_row(&alignment, "rank", "1", NULL, NULL);
	offset_ns = flex_number(&alignment, row, "offset_ns");
	half_ns = flex_number(&alignment, row, "half_width_ns_max");
	assert_true(llabs(offset_ns + AHEAD_NS) <= half_ns);
	assert_true(half_ns > 0 && half_ns < 4000);
	assert_int_equal(flex_number(&alignment, row, "sync_points_dropped"), 0);
	assert_int_equal(collectives.n_rows, 400);
	assert_int_equal(flex_count(&collectives, "ranks", "2"), 400);
	csv_table_release(&alignment);
	csv_table_release(&collectives);
}

/* What is not told is not invented: calls stay what they are. */
static void test_nsys_ranks__tells_nothing_without_proof(void **state)
{
	static const struct {
		const char *sql;
		uint64_t n_told, n_rows; /* of both ranks, but MPI_Init */
	} cases[] = {
		{COMM BARRIERS, 0, 400}, /* it may have begun in the middle */
		{INIT BARRIERS, 0, 400}, /* nobody knows the communicator */
		{INIT COMM "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, text TEXT);"
	                   "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'Not all NVTX events might"
	                   " have been collected.');" BARRIERS,
	         0, 400}, /* some are missing */
		{INIT COMM COMM BARRIERS, 400, 400},
		{INIT COMM "INSERT INTO MPI_COMMUNICATORS SELECT rank, 9, " WORLD
	                   " + rank, 1, rank, 2, 0, 8192, '' FROM me;" BARRIERS,
	         0, 400}, /* a handle that was used again */
		{INIT COMM "INSERT INTO MPI_COLLECTIVES_EVENTS SELECT 5000 + ahead, 6000 + ahead,"
	                   " TID(70, 70), 7, " WORLD " + rank, NULL, 8, 8, NULL FROM me;",
	         0, 2}, /* it returns at once */
		{INIT COMM "INSERT INTO MPI_COLLECTIVES_EVENTS SELECT 5000 + ahead, 6000 + ahead,"
	                   " TID(70, 70), 6, " WORLD " + rank, NULL, 0, 0, NULL FROM me;",
	         0, 2}, /* of nothing */
		{INIT COMM "INSERT INTO MPI_COLLECTIVES_EVENTS SELECT 5000 + ahead, 6000 + ahead,"
	                   " TID(70, 70), 10, " WORLD " + rank, NULL, 8, 8, NULL FROM me;",
	         0, 2}, /* without its root */
		{INIT "INSERT INTO MPI_COMMUNICATORS SELECT rank, 0, " WORLD
	              " + rank, 1, 1 - rank, 2, 1, 4096, '' FROM me;"
	              "INSERT INTO MPI_COLLECTIVES_EVENTS SELECT 5000 + ahead, 6000 + ahead,"
	              " TID(70, 70), 3, " WORLD " + rank, 1, 8, 8, NULL FROM me;",
	         0, 2}, /* who rank 1 of it is */
		{INIT COMM "INSERT INTO MPI_COLLECTIVES_EVENTS SELECT 5000 + ahead, NULL,"
	                   " TID(70, 70), 6, " WORLD " + rank, NULL, 8, 8, NULL FROM me;",
	         0, 2}, /* it never ended */
		{INIT COMM BARRIERS "DELETE FROM StringIds WHERE id = 2;", 0, 400}, /* no names */
		{INIT COMM BARRIERS
	         "UPDATE MPI_COLLECTIVES_EVENTS SET start = 'x' WHERE rowid = 9;",
	         0, 398}, /* nobody knows which is the ninth */
		{COMM BARRIERS "INSERT INTO MPI_OTHER_EVENTS VALUES (1000, 2000, NULL, 1);", 0,
	         400}, /* nobody knows who began */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct flex_run *run = *state;

		convert_ranks(run, nsys_schema_2024, cases[i].sql);
		assert_int_equal(count_told(run), cases[i].n_told);
		assert_int_equal(run->host.n_rows - flex_count(&run->host, "name", "MPI_Init"),
		                 cases[i].n_rows);
		flex_stop(state);
		flex_start(state);
	}
}

static void test_nsys_ranks__a_root_is_named_by_the_others(void **state)
{
	struct flex_run *run = *state;

	convert_ranks(run, nsys_schema_2024,
	              INIT COMM
	              "INSERT INTO MPI_COLLECTIVES_EVENTS SELECT 5000 + ahead, 6000 + ahead,"
	              " TID(70, 70), 3, " WORLD " + rank, 1, 8, 8, NULL FROM me;");
	assert_string_equal(flex_cell(&run->host,
	                              flex_row(&run->host, "rank", "0", "name", "MPI_Bcast"),
	                              "args"),
	                    "{\"group\":\"MPI 0.1000\",\"seq\":0,\"bytes\":8,\"peers\":\"1\"}");
	assert_string_equal(flex_cell(&run->host,
	                              flex_row(&run->host, "rank", "1", "name", "MPI_Bcast"),
	                              "args"),
	                    "{\"group\":\"MPI 0.1000\",\"seq\":0,\"bytes\":8}");
}

/* A call of messages: where, which, tag, peer. */
#define MESSAGE(at, name, tag, peer)                                              \
	"INSERT INTO MPI_P2P_EVENTS SELECT " at " + ahead, " at                   \
	" + 500 + ahead, TID(70, 70), " name ", " WORLD " + rank, " tag ", " peer \
	", 64, NULL FROM me;"

static void test_nsys_ranks__messages_are_counted_while_their_order_is_sure(void **state)
{
	static const struct {
		const char *sql;
		uint64_t n_told;
	} cases[] = {
		/* rank 0 sends, rank 1 receives */
		{MESSAGE("5000", "4 + rank", "1", "other")
	                 MESSAGE("6000", "4 + rank", "1", "other"),
	         4},
		{MESSAGE("5000", "4 + rank", "1", "other")
	                 MESSAGE("6000", "4 + rank", "2", "other"),
	         4},
		{MESSAGE("5000", "4 + rank", "1", "iif(rank, -1, other)")
	                 MESSAGE("6000", "4 + rank", "1", "other"),
	         2}, /* from anybody */
		{MESSAGE("5000", "4", "1", "-1") MESSAGE("6000", "4 + rank", "1", "other"),
	         2}, /* to nobody */
		{MESSAGE("5000", "9", "1", "other") MESSAGE("6000", "4 + rank", "1", "other"), 0},
		{MESSAGE("5000", "4 + 4 * rank", "1", "other")
	                 MESSAGE("6000", "4 + rank", "1", "other"),
	         2}, /* it may be given up */
		{"UPDATE MPI_COMMUNICATORS SET parentHandle = 1, groupRoot = 0;" MESSAGE(
			 "5000", "4 + rank", "1", "other"),
	         1}, /* who rank 1 of it is */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct flex_run *run = *state;
		char sql[4096];

		snprintf(sql, sizeof(sql), INIT COMM "%s", cases[i].sql);
		convert_ranks(run, nsys_schema_2024, sql);
		if (count_told(run) != cases[i].n_told)
			fail_msg("case %zu: %" PRIu64, i, count_told(run));
		flex_stop(state);
		flex_start(state);
	}
}

/* -- NCCL ------------------------------------------------------------------------------------ */

/* Two of NCCL's schemas: of making a communicator, and of an operation. */
#define SCHEMAS                                                                                 \
	"INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset)" \
	" VALUES (1, 1, 0, 18, 'NCCL communicator ID', NULL), (1, 1, 1, 5, 'No. of ranks', 8)," \
	" (1, 2, 0, 18, 'NCCL communicator ID', NULL), (1, 2, 1, 22, 'Message size [bytes]', 8);"
#define RANGE(from, to, name, payload)                                                           \
	"INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, binaryData)" \
	" SELECT " from " + ahead, " to " + ahead, 59, '" name "', TID(70, 70), 1, " payload     \
	" FROM me;"
#define HEAD(schema)                                                                 \
	"x'0100000000000000" schema "0000000000000010000000000000003000000000000000" \
	"efbeadde00000000"
#define MADE(from, to)        RANGE(from, to, "ncclCommInitRank", HEAD("01") "0200000000000000'")
#define DONE(name, from, to)  RANGE(from, to, name, HEAD("02") "0010000000000000'")
#define GROUP(name, from, to) RANGE(from, to, name, "NULL")
#define KERNEL(id, call, from, to)                                                                \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid,"             \
	" correlationId, nameId) SELECT " call " + ahead, " call " + 10 + ahead, 0, TID(70, 70)," \
	" " id ", 20 FROM me;"                                                                    \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId,"  \
	" globalPid, shortName) SELECT " from " + ahead, " to " + ahead, 0, 7, " id ", PID(70),"  \
	" 21 FROM me;"
#define KERNEL_NAMES \
	"INSERT INTO StringIds VALUES (20, 'cudaLaunchKernel'), (21, 'ncclDevKernel_X');"

static void test_nsys_ranks__kernels_of_nccl_are_collectives(void **state)
{
	static const struct {
		const char *sql, *group;
		uint64_t n_known; /* lines of which all ranks are known */
	} cases[] = {
		{MADE("100", "200") DONE("ncclAllReduce", "1000", "2000")
	                 KERNEL("5", "1500", "3000", "4000"),
	         "NCCL deadbeef", 2},
		{MADE("100", "200") GROUP("ncclGroupStart", "900", "910")
	                 DONE("ncclAllReduce", "1000", "1100") GROUP("ncclGroupEnd", "1200", "1300")
	                         KERNEL("5", "1250", "3000", "4000"),
	         "NCCL deadbeef", 2},
		/* several in one group; a call behind its range; one of another thread's time */
		{MADE("100", "200") GROUP("ncclGroupStart", "900", "910") DONE(
			 "ncclAllReduce", "1000", "1100") DONE("ncclAllGather", "1110", "1120")
	                 GROUP("ncclGroupEnd", "1200", "1300") KERNEL("5", "1250", "3000", "4000"),
	         "", 0},
		{MADE("100", "200") DONE("ncclAllReduce", "1000", "2000")
	                 KERNEL("5", "1995", "3000", "4000"),
	         "", 0},
		/* nobody saw the communicator made: who was with whom is not known */
		{DONE("ncclAllReduce", "1000", "2000") KERNEL("5", "1500", "3000", "4000"),
	         "NCCL deadbeef", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct flex_run *run = *state;
		struct csv_table collectives;
		char sql[8192];

		snprintf(sql, sizeof(sql), KERNEL_NAMES SCHEMAS "%s", cases[i].sql);
		convert_ranks(run, nsys_schema_2024, sql);
		assert_string_equal(flex_cell(&run->events, 0, "group"), cases[i].group);
		collectives = flex_read_table(run, "tables/collectives.csv");
		assert_int_equal(collectives.n_rows, *cases[i].group ? 2 : 0);
		if (*cases[i].group) {
			assert_int_equal(flex_number(&run->events, 0, "bytes"), 4096);
			assert_string_equal(flex_cell(&collectives, 0, "op"), "all_reduce");
			assert_int_equal(flex_count(&collectives, "ranks", "2"), cases[i].n_known);
		}
		csv_table_release(&collectives);
		flex_stop(state);
		flex_start(state);
	}
}

/* A process with two ranks of a communicator counts for neither. */
static void test_nsys_ranks__two_ranks_of_a_process_are_not_counted(void **state)
{
	struct flex_run *run = *state;
	struct csv_table collectives;

	convert_ranks(run, nsys_schema_2024,
	              KERNEL_NAMES SCHEMAS MADE("100", "200") MADE("300", "400")
	                      DONE("ncclAllReduce", "1000", "2000")
	                              KERNEL("5", "1500", "3000", "4000"));
	collectives = flex_read_table(run, "tables/collectives.csv");
	assert_int_equal(collectives.n_rows, 2);
	assert_int_equal(flex_count(&collectives, "ranks", "2"), 0);
	csv_table_release(&collectives);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nsys_ranks__barriers_tie_the_clocks_of_files),
		TEST(test_nsys_ranks__tells_nothing_without_proof),
		TEST(test_nsys_ranks__a_root_is_named_by_the_others),
		TEST(test_nsys_ranks__messages_are_counted_while_their_order_is_sure),
		TEST(test_nsys_ranks__kernels_of_nccl_are_collectives),
		TEST(test_nsys_ranks__two_ranks_of_a_process_are_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
