/* SPDX-License-Identifier: Apache-2.0 */
/* Made traces of several ranks, whole and with parts missing, from their JSON to the tables. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "flex_truth.h"
#include "scratch.h"

#define N_RANKS 4

/* Writes a file of each rank but one (-1: of all). */
static void write_ranks(const struct flex_run *run, const struct flex_scene *scene, int32_t missing)
{
	struct flex_truth truth;

	assert_true(flex_truth_init(&truth, scene));
	for (int32_t rank = 0; rank < (int32_t)scene->n_ranks; rank++) {
		char path[512];
		FILE *file;

		if (rank == missing)
			continue;
		snprintf(path, sizeof(path), "%s/%d.json", run->in, rank);
		file = fopen(path, "w");
		assert_non_null(file);
		assert_true(flex_truth_write_json(&truth, rank, file));
		assert_int_equal(fclose(file), 0);
	}
	flex_truth_release(&truth);
}

static struct flex_scene scene_of(uint32_t n_iterations)
{
	struct flex_scene scene = flex_scene_of(3);

	scene.n_ranks = N_RANKS;
	scene.n_iterations = n_iterations;
	scene.n_kernels = 3;
	return scene;
}

/* Cells of a line of a table, without quotes. */
static uint32_t split(char *line, const char **cells, uint32_t n)
{
	uint32_t i = 0;

	for (char *at = line; at && i < n; i++) {
		cells[i] = at;
		at = strchr(at, ',');
		if (at)
			*at++ = '\0';
	}
	return i;
}

struct sums {
	uint32_t lines, ranks_seen, sent, received, waits;
};

/* Checks what all lines of collectives.csv have in common, and adds them up. */
static struct sums check_collectives(const struct flex_run *run, const char *n_ranks)
{
	char *text = scratch_read(run->out, "tables/collectives.csv", NULL), *line, *rest;
	struct sums sums = {0};

	assert_non_null(text);
	strtok_r(text, "\n", &rest);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		const char *cells[20] = {NULL};

		assert_int_equal(split(line, cells, 20), 20);
		assert_string_equal(cells[6], "all_reduce");
		assert_string_equal(cells[8], n_ranks);
		assert_string_equal(cells[9], "524288");
		assert_true(strtoll(cells[13], NULL, 10) >= strtoll(cells[12], NULL, 10));
		sums.lines++;
		sums.ranks_seen |= 1u << strtoul(cells[0], NULL, 10);
		sums.sent += (uint32_t)strtoul(cells[10], NULL, 10);
		sums.received += (uint32_t)strtoul(cells[11], NULL, 10);
		sums.waits += *cells[15] != '\0';
	}
	free(text);
	return sums;
}

static uint32_t count_arrows(const struct flex_run *run)
{
	char *text = scratch_read(run->out, "timeline.txt", NULL);
	uint32_t n = 0;

	assert_non_null(text);
	for (const char *at = text; (at = strstr(at, "\nflow ")); at++)
		n++;
	free(text);
	return n;
}

/* Each of n ranks sends once and receives what it is sent: n - 1 messages to one, one to n - 1. */
static void test_flex_messages__make_collectives(void **state)
{
	static const uint32_t iterations[] = {1, 2, 12}; /* one alone, too */

	for (size_t i = 0; i < sizeof(iterations) / sizeof(iterations[0]); i++) {
		const struct flex_scene scene = scene_of(iterations[i]);
		struct flex_run *run;
		struct sums sums;

		flex_stop(state);
		flex_start(state);
		run = *state;
		write_ranks(run, &scene, -1);
		flex_convert(run);
		sums = check_collectives(run, "4");
		assert_int_equal(sums.lines, N_RANKS * iterations[i]);
		assert_int_equal(sums.ranks_seen, 15);
		assert_int_equal(sums.sent, N_RANKS * iterations[i]);
		assert_int_equal(sums.received, 2 * (N_RANKS - 1) * iterations[i]);
		assert_int_equal(sums.waits, sums.lines);
		assert_int_equal(count_arrows(run), 2 * (N_RANKS - 1) * iterations[i]);
		assert_int_equal(run->ledger.warnings[WARNING_UNALIGNED], 0);
		assert_int_equal(ledger_lost(&run->ledger), 0);
	}
}

/* Of rank 0's messages 1 goes to rank 1; of rank 1's one to rank 2; the last rank sends to all. */
static void test_flex_messages__do_without_a_rank(void **state)
{
	static const uint32_t arrows[N_RANKS] = {4, 3, 3, 2}; /* of an iteration that are left */

	for (int32_t missing = 0; missing < N_RANKS; missing++) {
		const struct flex_scene scene = scene_of(5);
		struct flex_run *run;
		struct sums sums;

		flex_stop(state);
		flex_start(state);
		run = *state;
		write_ranks(run, &scene, missing);
		flex_convert(run);
		sums = check_collectives(run, "3");
		assert_int_equal(sums.lines, (N_RANKS - 1) * 5);
		assert_int_equal(sums.ranks_seen, 15 & ~(1u << missing));
		assert_int_equal(count_arrows(run), arrows[missing] * 5);
		assert_int_equal(ledger_lost(&run->ledger), 0);
	}
}

/* Counters and metadata in a file of several ranks, messages without any time, and one whose sync
 * text is hostile. */
static void test_flex_messages__stand_beside_anything(void **state)
{
	static const char text[] =
		"[{\"ph\":\"C\",\"name\":\"mem\",\"pid\":0,\"ts\":5,\"args\":{\"used\":3}},"
		"{\"ph\":\"C\",\"name\":\"mem\",\"pid\":1,\"ts\":6,\"args\":{\"used\":4}},"
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"x\"}},"
		"{\"ph\":\"X\",\"name\":\"SenRdmaSend_1 [sync=g_s0_r1_0] "
		"DmaO\",\"pid\":0,\"tid\":1,"
		"\"ts\":10,\"dur\":0,\"attr\":{\"TS1\":\"5\",\"TS2\":\"5\",\"TS3\":\"5\",\"TS4\":"
		"\"5\",\"TS5\":\"5\",\"Peer\":\"1\",\"CollGroup\":\"g\",\"Bytes\":\"8\"}},"
		"{\"ph\":\"X\",\"name\":\"SenRdmaReceive_1 [sync=g_s0_r1_0] "
		"DmaI\",\"pid\":1,\"tid\":"
		"1,\"ts\":10,\"dur\":0,\"attr\":{\"TS1\":\"7\",\"TS2\":\"7\",\"TS3\":\"7\",\"TS4\":"
		"\"7\",\"TS5\":\"7\",\"Peer\":\"0\",\"CollGroup\":\"g\",\"Bytes\":\"8\"}},"
		"{\"ph\":\"X\",\"name\":\"SenRdmaSend_2 [sync=\\\"\\n</script>_s9_r0x_] "
		"DmaO\",\"pid\":"
		"0,\"tid\":1,\"ts\":20,\"dur\":1,\"attr\":{\"TS1\":\"9\",\"TS2\":\"9\",\"TS3\":"
		"\"9\","
		"\"TS4\":\"9\",\"TS5\":\"19\",\"CollGroup\":\"\\\"h,\\n\"}}]";
	struct flex_run *run = *state;

	flex_add_file(run, "a.json", text);
	flex_convert(run);
	assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], 3);
	assert_int_equal(run->ledger.rows[RECORD_COUNTER], 2);
	assert_int_equal(count_arrows(run), 1);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_flex_messages__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(make_collectives),
		TEST(do_without_a_rank),
		TEST(stand_beside_anything),
	};

	return cmocka_run_group_tests_name("flex_messages", tests, NULL, NULL);
}
