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
#include "model/words/told_collective.h"
#include "scratch.h"

#define N_ROUNDS  40
#define PERIOD_NS 2000000
#define LATE_NS   INT64_C(5000000) /* the clock of rank 1 */

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

struct kernel {
	const char *op;
	int n_elements;
	const char *ranks, *seq;
};

static size_t put_kernel(char *at, int64_t begin_ns, int64_t end_ns, const struct kernel *kernel)
{
	return (size_t)sprintf(
		at,
		",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\",\"pid\":0,\"tid\":20,"
		"\"ts\":%lld.%03lld,\"dur\":%lld.%03lld,\"args\":{\"device\":0,\"stream\":20,"
		"\"Collective name\":\"%s\",\"In msg nelems\":%d,\"Out msg nelems\":%d,"
		"\"Group size\":2,\"dtype\":\"Float\",\"Process Group Name\":\"7\","
		"\"Process Group Ranks\":\"%s\"%s}}",
		(long long)(begin_ns / 1000), (long long)(begin_ns % 1000),
		(long long)((end_ns - begin_ns) / 1000), (long long)((end_ns - begin_ns) % 1000),
		kernel->op, kernel->n_elements, kernel->n_elements, kernel->ranks, kernel->seq);
}

static char *begin_file(int rank, char **ret_at)
{
	char *text = malloc(1 << 16);

	assert_non_null(text);
	*ret_at = text + sprintf(text,
	                         "{\"distributedInfo\":{\"rank\":%d,\"world_size\":2},"
	                         "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"o\","
	                         "\"pid\":%d,\"tid\":%d,\"ts\":900000,\"dur\":1,\"args\":{}}",
	                         rank, 100 + rank, 100 + rank);
	return text;
}

static void end_file(struct flex_run *run, int rank, char *text, char *at)
{
	static const char *const names[] = {"a.json", "b.json", "c.json", "d.json"};

	strcpy(at, "]}");
	flex_add_file(run, names[rank], text);
	free(text);
}

/* All-reduces of two ranks: who comes first waits; the end comes to both within 1 us. */
static void add_files(struct flex_run *run, bool has_seq)
{
	char *texts[2], *at[2];
	uint64_t random = 7;

	for (int rank = 0; rank < 2; rank++)
		texts[rank] = begin_file(rank, &at[rank]);
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
			                       &(struct kernel){"allreduce", 1024, "[0, 1]", seq});
	}
	for (int rank = 0; rank < 2; rank++)
		end_file(run, rank, texts[rank], at[rank]);
}

static void test_torch_collectives__fill_their_table(void **state)
{
	struct flex_run *run = *state;
	struct csv_table table;

	add_files(run, true);
	flex_convert(run);
	table = flex_read_table(run, "tables/collectives.csv");
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
	table = flex_read_table(run, "tables/alignment.csv");
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
	table = flex_read_table(run, "tables/collectives.csv");
	assert_int_equal(table.n_rows, 2 * N_ROUNDS);
	for (uint64_t i = 0; i < table.n_rows; i++) {
		assert_string_equal(flex_cell(&table, i, "wait_ns"), "");
		assert_int_equal(flex_number(&table, i, "ranks"), 2);
	}
	csv_table_release(&table);
	table = flex_read_table(run, "tables/alignment.csv");
	assert_int_equal(flex_number(&table, 1, "sync_points_used"), 0);
	csv_table_release(&table);
}

/* Messages have the number of the collective that comes next; and bytes that differ between ranks
 * are each rank's own. */
static void test_torch_collectives__of_one_number_keep_apart(void **state)
{
	struct flex_run *run = *state;
	struct csv_table table;
	char *at, *text;

	for (int rank = 0; rank < 2; rank++) {
		int64_t ns = 1000000000 + rank * 1000;

		text = begin_file(rank, &at);
		at += put_kernel(
			at, ns, ns + 9000,
			&(struct kernel){rank ? "recv" : "send", 5000000, "[0, 1]", ",\"Seq\":7"});
		at += put_kernel(
			at, ns + 20000, 1000090000,
			&(struct kernel){"all_to_all", 100 + rank, "[0, 1]", ",\"Seq\":7"});
		/* Twice of one rank is not both ranks. */
		for (int i = 0; i < 2 && rank == 0; i++)
			at += put_kernel(at, ns + 200000 + 10000 * i, ns + 209000 + 10000 * i,
			                 &(struct kernel){"allgather", 8, "[0, 1]", ",\"Seq\":8"});
		end_file(run, rank, text, at);
	}
	run->options.align.is_off = true;
	flex_convert(run);
	table = flex_read_table(run, "tables/collectives.csv");
	assert_int_equal(table.n_rows, 6);
	for (uint64_t i = 0; i < 2; i++) {
		assert_string_equal(flex_cell(&table, i, "op"), i ? "recv" : "send");
		assert_int_equal(flex_number(&table, i, "bytes"), 20000000);
		assert_string_equal(flex_cell(&table, i, "wait_ns"), "");
		assert_string_equal(flex_cell(&table, i + 2, "op"), "all_to_all");
		assert_int_equal(flex_number(&table, i + 2, "bytes"), 400 + 4 * i);
		assert_int_equal(flex_number(&table, i + 2, "wait_ns"), i ? 0 : 1000);
		assert_string_equal(flex_cell(&table, i + 4, "op"), "all_gather");
		assert_string_equal(flex_cell(&table, i + 4, "wait_ns"), "");
	}
	csv_table_release(&table);
}

/* The n-th message of a number on one rank need not be the n-th on the other. */
static void test_torch_collectives__take_messages_by_their_number_alone(void **state)
{
	for (int is_numbered = 0; is_numbered < 2; is_numbered++) {
		struct flex_run *run = *state;
		struct csv_table table;
		char *at, *text;

		for (int rank = 0; rank < 2; rank++) {
			text = begin_file(rank, &at);
			for (int i = rank; i < N_ROUNDS + rank; i++) {
				int64_t ns = 1000000000 + i * INT64_C(2000000) + i % 7 * 90000;
				char seq[32];

				snprintf(seq, sizeof(seq), ",\"Seq\":%d", is_numbered ? i : 3);
				at += put_kernel(
					at, ns + rank * LATE_NS, ns + rank * LATE_NS + 9000,
					&(struct kernel){rank ? "recv" : "send", 5, "[0, 1]", seq});
			}
			end_file(run, rank, text, at);
		}
		flex_convert(run);
		table = flex_read_table(run, "tables/alignment.csv");
		assert_int_equal(flex_number(&table, 1, "sync_points_used"),
		                 is_numbered ? N_ROUNDS - 1 : 0);
		csv_table_release(&table);
		flex_stop(state);
		flex_start(state);
	}
}

/* Lists of many ranks are told in part, and names of groups may come again. */
static void test_torch_collectives__tell_groups_apart_by_their_ranks(void **state)
{
	struct flex_run *run = *state;
	struct csv_table table;
	char *at, *text;

	for (int rank = 0; rank < 4; rank++) {
		text = begin_file(rank, &at);
		for (int i = 0; i < N_ROUNDS; i++) {
			int64_t ns = 1000000000 + i * INT64_C(2000000) + rank / 2 * 700000;
			char seq[32];

			snprintf(seq, sizeof(seq), ",\"Seq\":%d", i);
			at += put_kernel(at, ns, ns + 9000,
			                 &(struct kernel){"allreduce", 5,
			                                  rank / 2 ? "[2, ..., 9]" : "[0, ..., 9]",
			                                  seq});
		}
		end_file(run, rank, text, at);
	}
	flex_convert(run);
	table = flex_read_table(run, "tables/alignment.csv");
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(flex_number(&table, i, "component"), i / 2);
		assert_int_equal(flex_number(&table, i, "sync_points_used"), N_ROUNDS);
	}
	csv_table_release(&table);
	table = flex_read_table(run, "tables/collectives.csv");
	for (uint64_t i = 0; i < table.n_rows; i++)
		assert_string_not_equal(flex_cell(&table, i, "wait_ns"), "");
	csv_table_release(&table);
}

static void test_torch_collectives__read_what_is_told(void **state)
{
	static const char *const lists[] = {"[0, 1, 12]", "[0, 1, ..., 12]", "[0, 2, ..., 12]", ""};
	struct told_collective told[4];
	char text[256];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		int n = snprintf(text, sizeof(text),
		                 "{\"cat\":\"kernel\",\"Collective name\":\"barrier\","
		                 "\"Process Group Ranks\":\"%s\",\"Seq\":5,\"Group size\":3}",
		                 lists[i]);

		assert_true(told_collective_read(text, (size_t)n, &told[i]));
		assert_string_equal(told[i].op, "barrier");
		assert_true(told[i].has_seq && told[i].seq == 5 && told[i].n_ranks == 3);
		for (size_t j = 0; j < i; j++)
			assert_true(told[j].who != told[i].who);
	}
	assert_false(told_collective_read("{\"cat\":\"kernel\"}", 16, told));
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
		TEST(of_one_number_keep_apart),
		TEST(take_messages_by_their_number_alone),
		TEST(tell_groups_apart_by_their_ranks),
		TEST(read_what_is_told),
	};

	return cmocka_run_group_tests_name("torch_collectives", tests, NULL, NULL);
}
