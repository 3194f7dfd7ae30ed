/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of threads that were killed in a record: nothing is read that nobody wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/ring/layout.h"
#include "cli/ring/salvage.h"

#define FIRST       84
#define PAIR_BYTES  24
#define N_RECORDS   60
#define ROOM        (FIRST + N_RECORDS * PAIR_BYTES)
#define MAX_THREADS 4

static const char description[] =
	"/* CTF 1.8 */\n"
	"\nevent {\n\tname = \"f:a\";\n\tid = 0;\n\tstream_id = 1;\n\tfields := struct {\n"
	"\t\tinteger { size = 64; align = 8; signed = 0; encoding = none; base = 10; } "
	"_n;\n\t};\n};\n"
	"\nevent {\n\tname = \"f:pair\";\n\tid = 13;\n\tstream_id = 1;\n\tfields := struct {\n"
	"\t\tstring _name;\n"
	"\t\tfloating_point { exp_dig = 11; mant_dig = 53; align = 8; } _value;\n\t};\n};\n";

struct pair {
	uint16_t id;
	uint32_t time_ns;
	int32_t pid, tid;
	char name[2];
	double value;
} __attribute__((packed));

struct trial {
	unsigned char memory[ROOM], before[ROOM];
	struct pair emitted[N_RECORDS]; /* whole ones */
	bool is_whole[N_RECORDS];
	uint32_t random;
	uint64_t time_ns, begin_ns;
	uint32_t n_torn, pid;
};

static uint32_t draw(struct trial *trial, uint32_t n)
{
	trial->random = trial->random * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(trial->random >> 8) * n >> 24);
}

/* Threads write in turns of some records; who dies leaves a record with so many of its bytes. */
static void write_all(struct trial *trial, uint32_t n_threads, uint32_t n_dying)
{
	uint32_t pid = trial->pid;
	uint32_t thread = 0, left = 0;
	bool is_dead[MAX_THREADS] = {false};

	for (uint32_t i = 0; i < N_RECORDS; i++) {
		struct pair pair = {.id = 13, .pid = (int32_t)pid, .name = "a"};
		unsigned char *at = trial->memory + FIRST + i * PAIR_BYTES;
		uint32_t n = PAIR_BYTES;

		while (!left || is_dead[thread]) {
			thread = draw(trial, n_threads);
			left = 1 + draw(trial, 15);
		}
		left--;
		trial->time_ns += 90 + draw(trial, 60);
		pair.time_ns = (uint32_t)trial->time_ns;
		pair.tid = (int32_t)(pid + 1 + thread);
		pair.value = 100000 + i + 1;
		if (trial->n_torn < n_dying && i > 5 && (!left || i + 2 > N_RECORDS)) {
			n = draw(trial, PAIR_BYTES);
			n = n < 2 ? 0 : n < 6 ? 2 : n < 10 ? 6 : n < 14 ? 10 : n < 16 ? n : 16;
			is_dead[thread] = true;
			trial->n_torn++;
		}
		memcpy(at, &pair, n);
		trial->emitted[i] = pair;
		trial->is_whole[i] = n == PAIR_BYTES;
	}
}

/* Returns how many whole ones are missing. */
static uint32_t expect_emitted(const struct trial *trial, uint64_t end)
{
	uint32_t i = 0, n_missing = 0;

	for (uint64_t at = FIRST; at < end; at += PAIR_BYTES, i++) {
		while (i < N_RECORDS &&
		       memcmp(trial->memory + at, &trial->emitted[i], PAIR_BYTES) != 0)
			n_missing += trial->is_whole[i++];
		assert_true(i < N_RECORDS && trial->is_whole[i]);
	}
	for (; i < N_RECORDS; i++)
		n_missing += trial->is_whole[i];
	return n_missing;
}

enum { ZEROS, KNOWN, SAME_VALUES, UNKNOWN };

/* What the same threads wrote there a round before, some of it of the same values. */
static void write_before(struct trial *trial, uint32_t n_threads, int kind)
{
	uint32_t n_shift = kind == SAME_VALUES ? 0 : draw(trial, 2) * draw(trial, PAIR_BYTES);

	for (uint32_t i = 0, thread = 0; i < N_RECORDS; i++) {
		struct pair pair = {.id = 13, .pid = (int32_t)trial->pid, .name = "a"};
		uint64_t at = FIRST + n_shift + i * PAIR_BYTES;

		if (!draw(trial, 8))
			thread = draw(trial, n_threads);
		pair.time_ns = (uint32_t)(trial->time_ns - 1500000000 + i * 100);
		pair.tid = (int32_t)(trial->pid + 1 + thread);
		pair.value = kind == SAME_VALUES && i % 2 ? 100000 + i + 1 : 50000 + i;
		if (at + PAIR_BYTES <= ROOM)
			memcpy(trial->memory + at, &pair, PAIR_BYTES);
	}
	memcpy(trial->before, trial->memory, ROOM);
}

static uint32_t run_trial(const struct layout *layout, uint32_t seed, int kind)
{
	static struct trial trial;
	uint32_t n_threads = 2 + seed % 3;

	memset(&trial, 0, sizeof(trial));
	trial.random = seed;
	trial.time_ns = UINT64_C(1000000000000) + (uint64_t)draw(&trial, 1 << 24) * 1000;
	trial.begin_ns = trial.time_ns;
	trial.pid = draw(&trial, 2) ? 5 + draw(&trial, 60) : 1 + draw(&trial, 4000000);
	if (kind != ZEROS)
		write_before(&trial, n_threads, kind);
	write_all(&trial, n_threads, 1 + seed % (n_threads - 1));
	return expect_emitted(
		&trial, salvage_records(&(struct salvage){
				.memory = trial.memory,
				.layout = layout,
				.stream_id = 1,
				.begin_ns = trial.begin_ns,
				.end_ns = trial.time_ns + draw(&trial, 3) * UINT64_C(1500000000),
				.first = FIRST,
				.n_sure = FIRST,
				.n_bytes = ROOM,
				.n_room = ROOM,
				.n_missing = (uint64_t)trial.n_torn * PAIR_BYTES,
				.was_zero = kind == ZEROS,
				.before = trial.before,
				.n_before = kind == UNKNOWN ? 0 : ROOM}));
}

/* Returns how many records that were written are not read. */
static uint32_t run_all(int kind)
{
	struct layout layout;
	uint32_t n_missing = 0;

	assert_true(layout_read(description, &layout));
	for (uint32_t seed = 0; seed < 20000; seed++)
		n_missing += run_trial(&layout, seed, kind);
	layout_release(&layout);
	return n_missing;
}

static void test_salvage__reads_all_that_was_written_where_zeros_were(void **state)
{
	(void)state;
	assert_int_equal(run_all(ZEROS), 0);
}

static void test_salvage__reads_nothing_old_where_other_records_were(void **state)
{
	(void)state;
	/* As many as stand between two holes, where nothing tells where they begin. */
	assert_in_range(run_all(KNOWN), 0, 1200);
}

/* Every other record says what stood there a round before: some of these are given up. */
static void test_salvage__reads_nothing_old_where_the_same_values_were(void **state)
{
	(void)state;
	assert_in_range(run_all(SAME_VALUES), 0, 250000);
}

static void test_salvage__reads_nothing_old_where_nobody_knows_what_was_there(void **state)
{
	(void)state;
	run_all(UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_salvage__reads_all_that_was_written_where_zeros_were),
		cmocka_unit_test(test_salvage__reads_nothing_old_where_other_records_were),
		cmocka_unit_test(test_salvage__reads_nothing_old_where_the_same_values_were),
		cmocka_unit_test(test_salvage__reads_nothing_old_where_nobody_knows_what_was_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
