/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that files of the torch profiler call collectives: their table, and what they say of the
 * clocks of ranks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "import/told_collective.h"
#include "scratch.h"

#define N_ROUNDS  40
#define PERIOD_NS 2000000
#define LATE_NS   INT64_C(5000000) /* the clock of rank 1 */

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

static size_t put_kernel(char *at, int64_t begin_ns, int64_t end_ns, const char *seq)
{
	return (size_t)sprintf(
		at,
		",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\",\"pid\":0,\"tid\":20,"
		"\"ts\":%lld.%03lld,\"dur\":%lld.%03lld,\"args\":{\"device\":0,\"stream\":20,"
		"\"Collective name\":\"allreduce\",\"In msg nelems\":1024,\"Out msg nelems\":1024,"
		"\"Group size\":2,\"dtype\":\"Float\",\"Process Group Name\":\"7\","
		"\"Process Group Ranks\":\"[0, 1]\"%s}}",
		(long long)(begin_ns / 1000), (long long)(begin_ns % 1000),
		(long long)((end_ns - begin_ns) / 1000), (long long)((end_ns - begin_ns) % 1000),
		seq);
}

/* All-reduces of two ranks: who comes first waits; the end comes to both within 1 us. */
static void add_files(struct flex_run *run, bool has_seq)
{
	char *texts[2], *at[2];
	uint64_t random = 7;

	for (int rank = 0; rank < 2; rank++) {
		texts[rank] = malloc(1 << 16);
		assert_non_null(texts[rank]);
		at[rank] =
			texts[rank] +
			sprintf(texts[rank],
		                "{\"distributedInfo\":{\"rank\":%d,\"world_size\":2},"
		                "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"o\","
		                "\"pid\":%d,\"tid\":%d,\"ts\":900000,\"dur\":1,\"args\":{}}",
		                rank, 100 + rank, 100 + rank);
	}
	for (int round = 0; round < N_ROUNDS; round++) {
		int64_t begin_ns[2], end_ns = 0;
		char seq[32] = "";

		if (has_seq)
			snprintf(seq, sizeof(seq), ",\"Seq\":%d", 3 + round);
		for (int rank = 0; rank < 2; rank++) {
			begin_ns[rank] = INT64_C(1000000000) + round * PERIOD_NS +
			                 (int64_t)(next_random(&random) % 30000);
			end_ns = begin_ns[rank] > end_ns ? begin_ns[rank] : end_ns;
		}
		end_ns += 10000;
		for (int rank = 0; rank < 2; rank++)
			at[rank] += put_kernel(at[rank], begin_ns[rank] + rank * LATE_NS,
			                       end_ns + rank * LATE_NS +
			                               (int64_t)(next_random(&random) % 1000),
			                       seq);
	}
	for (int rank = 0; rank < 2; rank++) {
		strcpy(at[rank], "]}");
		flex_add_file(run, rank ? "b.json" : "a.json", texts[rank]);
		free(texts[rank]);
	}
}

static void test_torch_collectives__fill_their_table(void **state)
{
	struct flex_run *run = *state;
	struct csv_table table;

	add_files(run, true);
	flex_convert(run);
	table = flex_read_table(run, "collectives.csv");
	assert_int_equal(table.n_rows, 2 * N_ROUNDS);
	for (uint64_t i = 0; i < table.n_rows; i++) {
		assert_string_equal(flex_cell(&table, i, "op"), "all_reduce");
		assert_string_equal(flex_cell(&table, i, "group"), "7");
		assert_string_equal(flex_cell(&table, i, "device"), "0");
		assert_int_equal(flex_number(&table, i, "ranks"), 2);
		assert_int_equal(flex_number(&table, i, "bytes"), 4096);
		assert_int_equal(flex_number(&table, i, "number"), 3 + i / 2);
		assert_in_range(flex_number(&table, i, "wait_ns"), 0, 31000);
	}
	csv_table_release(&table);
	assert_int_equal(flex_number(&run->events, 0, "bytes"), 4096);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

/* The clock of a rank is where its kernels say it is; but nothing that rests on them is certain. */
static void test_torch_collectives__align_ranks_by_assumption(void **state)
{
	struct flex_run *run = *state;
	struct csv_table table;

	add_files(run, true);
	flex_convert(run);
	table = flex_read_table(run, "alignment.csv");
	assert_int_equal(flex_number(&table, 1, "sync_points_used"), N_ROUNDS);
	assert_in_range(-flex_number(&table, 1, "offset_ns"), LATE_NS - 5000, LATE_NS + 5000);
	csv_table_release(&table);
	assert_string_equal(
		flex_cell(&run->host, flex_row(&run->host, "rank", "1", "kind", "Op"), "status"),
		"assumed");
}

/* Files begin where they like: without a number nobody can say which kernels belong together. */
static void test_torch_collectives__are_not_joined_without_a_number(void **state)
{
	struct flex_run *run = *state;
	struct csv_table table;

	add_files(run, false);
	flex_convert(run);
	table = flex_read_table(run, "collectives.csv");
	assert_int_equal(table.n_rows, 2 * N_ROUNDS);
	for (uint64_t i = 0; i < table.n_rows; i++) {
		assert_string_equal(flex_cell(&table, i, "wait_ns"), "");
		assert_int_equal(flex_number(&table, i, "ranks"), 2);
	}
	csv_table_release(&table);
	table = flex_read_table(run, "alignment.csv");
	assert_int_equal(flex_number(&table, 1, "sync_points_used"), 0);
	csv_table_release(&table);
}

static void test_torch_collectives__read_what_is_told(void **state)
{
	static const struct {
		const char *list, *ranks;
	} cases[] = {
		{"[0, 1, 12]", "0,1,12"},
		{"[]", ""},
		{"[0, 1, ..., 7]", ""},
		{"[0, -1]", ""},
		{"[0, 1", ""},
		{"0,1", ""},
		{"[3]", "3"},
		{"", ""},
	};
	struct told_collective told;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n = snprintf(text, sizeof(text),
		                 "{\"cat\":\"kernel\",\"Collective name\":\"barrier\","
		                 "\"Process Group Ranks\":\"%s\",\"Seq\":5,\"Group size\":3}",
		                 cases[i].list);

		assert_true(told_collective_read(text, (size_t)n, &told));
		assert_string_equal(told.op, "barrier");
		assert_string_equal(told.ranks, cases[i].ranks);
		assert_true(told.has_seq && told.seq == 5 && told.n_ranks == 3);
	}
	assert_false(told_collective_read("{\"cat\":\"kernel\"}", 16, &told));
	assert_int_equal(told_collective_element(&(struct trace_text){"BFloat16", 8}), 2);
	assert_int_equal(told_collective_element(&(struct trace_text){"Quux", 4}), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_torch_collectives__##name, flex_start, flex_stop)
		TEST(fill_their_table),
		TEST(align_ranks_by_assumption),
		TEST(are_not_joined_without_a_number),
		TEST(read_what_is_told),
	};

	return cmocka_run_group_tests_name("torch_collectives", tests, NULL, NULL);
}
