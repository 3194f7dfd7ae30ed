/* SPDX-License-Identifier: Apache-2.0 */
/* Real files of Flex, whose values are known, and made ones, whose truth is. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "flex_judge.h"
#include "flex_truth.h"
#include "scratch.h"

#define ROUNDTRIP_NS 10000 /* how far off what they leave may be */

#define DATA FLEXTRACE_SHARED_DATA "/flex-json/"

static struct flex_run *convert(void **state, const char *path)
{
	struct flex_run *run = *state;

	if (access(path, R_OK) < 0)
		skip();
	flex_convert_files(run, &path, 1);
	return run;
}

/* -- real files ------------------------------------------------------------------------------ */

static void test_flex_data__knows_17_kernels(void **state)
{
	static const struct {
		const char *name;
		double us;
	} kernels[] = {{"convolution", 353.5},
	               {"add", 281.0},
	               {"max_pool2d_with_indices", 191.7},
	               {"addmm_MatMul", 66.9},
	               {"mean", 2.06},
	               {"add_1", 281.0},
	               {"view-VirtualReshape-Output-LxRelayout", 0.47}};
	struct flex_run *run = convert(state, DATA "sample_flex_3062_job_4.json");
	int64_t first_ns = INT64_MAX, last_ns = 0;
	double sum_us = 0;

	assert_int_equal(flex_count(&run->events, "kind", "Exec"), 17);
	assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], 17);
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		uint64_t row = flex_row(&run->events, "name", kernels[i].name, "kind", "Exec");
		double us = (double)flex_number(&run->events, row, "dur_ns") / 1e3;

		assert_true(fabs(us - kernels[i].us) <= 0.051);
		assert_string_equal(flex_cell(&run->events, row, "status"), "assumed");
	}
	for (uint64_t i = 0; i < run->events.n_rows; i++) {
		int64_t start_ns = flex_number(&run->events, i, "start_ns");

		if (strcmp(flex_cell(&run->events, i, "kind"), "Exec") != 0)
			continue;
		sum_us += (double)flex_number(&run->events, i, "dur_ns") / 1e3;
		first_ns = start_ns < first_ns ? start_ns : first_ns;
		last_ns = start_ns + flex_number(&run->events, i, "dur_ns");
	}
	assert_true(fabs(sum_us - 2702.364) <= 0.02);
	assert_in_range(first_ns, INT64_C(1475000719617230), INT64_C(1475000719617234));
	assert_in_range(last_ns, INT64_C(1475000731380487), INT64_C(1475000731380491));
	assert_int_equal(flex_number(&run->events, 0, "ts1"), 3228353039);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

static double rate_mhz(const struct flex_run *run, const char *rank)
{
	char *text = scratch_read(run->out, "tables/clocks.csv", NULL), *line, *rest, *cell;
	double mhz = 0;
	int column;

	assert_non_null(text);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, rank, strlen(rank)) != 0)
			continue;
		for (cell = line, column = 0; cell && column < 11; column++)
			cell = strchr(cell, ',') + 1;
		mhz = strtod(cell, NULL);
	}
	free(text);
	return mhz;
}

static void test_flex_data__finds_the_rate_of_the_device(void **state)
{
	struct flex_run *run = convert(state, DATA "sample_flex_3062_job_4.json");

	assert_true(fabs(rate_mhz(run, "0,") - 557.05) < 0.005);
}

static void check_ring(const struct flex_run *run)
{
	static const char *const peers[][2] = {{"1", "0"}, {"2", "1"}, {"3", "2"},
	                                       {"0", "3"}, {"1", "3"}, {"2", "3"}};
	static const uint64_t n_blocks[] = {3, 5, 5, 8};

	assert_int_equal(flex_count(&run->events, "kind", "Exec"), 7);
	assert_int_equal(flex_count(&run->events, "kind", "Prep"), 7);
	assert_int_equal(flex_count(&run->events, "kind", "Memcpy HtoD"), 6);
	assert_int_equal(flex_count(&run->events, "kind", "Memcpy DtoH"), 8);
	assert_int_equal(run->events.n_rows, 28);
	for (size_t i = 0; i < 6; i++) {
		bool is_found = false;

		for (uint64_t row = 0; row < run->events.n_rows; row++)
			is_found |= !strcmp(flex_cell(&run->events, row, "kind"), "Memcpy HtoD") &&
			            !strcmp(flex_cell(&run->events, row, "rank"), peers[i][0]) &&
			            !strcmp(flex_cell(&run->events, row, "peer"), peers[i][1]) &&
			            !strcmp(flex_cell(&run->events, row, "bytes"), "524288") &&
			            !strcmp(flex_cell(&run->events, row, "group"),
			                    "AllReduce_all_reduce_4");
		assert_true(is_found);
	}
	for (int rank = 0; rank < 4; rank++) {
		char text[4], job[4];

		snprintf(text, sizeof(text), "%d", rank);
		snprintf(job, sizeof(job), "%d", (int)n_blocks[rank]);
		flex_row(&run->events, "rank", text, "job", job);
		snprintf(text, sizeof(text), "%d,", rank);
		assert_true(fabs(rate_mhz(run, text) - (rank ? 557.22 : 557.08)) < 0.025);
	}
}

/* When a rank's transfer ended that has this value of this stamp. */
static int64_t end_of(const struct flex_run *run, int rank, const char *stamp, uint32_t ticks32)
{
	const char *kind = strcmp(stamp, "ts2") == 0 ? "Memcpy HtoD" : "Memcpy DtoH";

	for (uint64_t row = 0; row < run->events.n_rows; row++) {
		if (flex_number(&run->events, row, "rank") == rank &&
		    !strcmp(flex_cell(&run->events, row, "kind"), kind) &&
		    (uint32_t)flex_number(&run->events, row, stamp) == ticks32)
			return flex_number(&run->events, row, "end_ns");
	}
	fail_msg("Rank %d has no %s %s of %u", rank, kind, stamp, ticks32);
	return 0;
}

/* Nothing is received before it was sent; the counter of each rank is off rank 0's by what the
 * transfers allow, to within the rates of the counters (250 ppm of the 160 us of the ring). */
static void check_ring_order(const struct flex_run *run)
{
	static const struct {
		int from, to;
		uint32_t sent, received; /* TS5, TS2 */
	} transfers[] = {{0, 1, 2553438341u, 1073253555}, {1, 2, 1073275457, 115679381},
	                 {2, 3, 115703166, 780915994},    {3, 0, 780957511, 2553526431u},
	                 {3, 1, 780957511, 1073341436},   {3, 2, 780957511, 115745185}};
	static const struct {
		int rank;
		const char *stamp;
		uint32_t ticks;
		int64_t min, max; /* cycles to add */
	} offsets[] = {{1, "ts2", 1073341436, 1480184786, 1480185672},
	               {2, "ts2", 115745185, 2437780862, 2437781748},
	               {3, "ts5", 780957511, 1772568034, 1772568920}};
	int64_t zero_ns = end_of(run, 0, "ts2", 2553526431u);

	for (size_t i = 0; i < sizeof(transfers) / sizeof(*transfers); i++)
		assert_true(end_of(run, transfers[i].from, "ts5", transfers[i].sent) <=
		            end_of(run, transfers[i].to, "ts2", transfers[i].received));
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		int64_t ns = end_of(run, offsets[i].rank, offsets[i].stamp, offsets[i].ticks);
		double off = 2553526431u + (double)(ns - zero_ns) * 0.55715 - offsets[i].ticks;

		assert_true(off >= (double)offsets[i].min - 25);
		assert_true(off <= (double)offsets[i].max + 25);
	}
}

static void test_flex_data__knows_the_ring_in_one_file_and_in_four(void **state)
{
	static const char *const files[] = {DATA "allreduce_tp4.json",
	                                    DATA "allreduce_tp4_by_rank"};
	char *texts[2];

	for (int i = 0; i < 2; i++) {
		struct flex_run *run;

		flex_stop(state);
		flex_start(state);
		run = convert(state, files[i]);
		check_ring(run);
		check_ring_order(run);
		assert_int_equal(run->ledger.warnings[WARNING_UNALIGNED], 0);
		assert_int_equal(ledger_lost(&run->ledger), 0);
		texts[i] = flex_read_rows(run, "timeline.txt");
	}
	assert_string_equal(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
}

static void test_flex_data__rejects_what_runs_backwards(void **state)
{
	struct flex_run *run = convert(state, DATA "basic_event_test_cases.json");

	assert_int_equal(run->host.n_rows + run->ledger.rows[RECORD_DEVICE_OP], 23);
	assert_int_equal(flex_count(&run->host, "dur_ns", "0"), 2);
	assert_int_equal(ledger_total(&run->ledger, LOSS_BACKWARDS), 1);
	assert_int_equal(ledger_lost(&run->ledger), 1);
	assert_non_null(strstr(run->warnings, "basic_event_test_cases.json, events=1, first at "
	                                      "byte 585: its end is before its begin"));
}

static void test_flex_data__takes_a_file_of_metadata(void **state)
{
	struct flex_run *run = convert(state, DATA "meta_events_only.json");

	assert_int_equal(run->host.n_rows + run->events.n_rows, 0);
	assert_int_equal(ledger_lost(&run->ledger), 0);
	assert_string_equal(run->warnings, "");
}

/* -- made files ------------------------------------------------------------------------------ */

/* As near to the truth as it says, and where it says nothing as near as Flex was. */
static void check_row(const struct flex_truth *truth, const struct csv_table *events, uint64_t row)
{
	const struct flex_op *op = flex_find_op(truth, events, row);
	int stamp = flex_first_stamp(flex_cell(events, row, "kind"));
	double off_ns = fabs((double)(flex_number(events, row, "start_ns") - op->host_ns[stamp]));
	double since_ns = (double)(op->host_ns[stamp] - truth->ranks[op->rank].origin_ns);
	const struct flex_scene *scene = &truth->scene;

	if (strcmp(flex_cell(events, row, "status"), "certified") == 0)
		assert_true(off_ns <= (double)flex_number(events, row, "err_ns"));
	else
		assert_string_equal(flex_cell(events, row, "status"), "assumed");
	/* Where Flex contradicts its round trips, these place the work. */
	assert_true(off_ns <= fmax(scene->estimate_ns + since_ns * scene->estimate_ppm * 1e-6 + 20,
	                           ROUNDTRIP_NS));
}

static void test_flex_data__places_work_where_it_was(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct flex_scene scene = flex_scene_of(seed);
		struct flex_truth truth;
		struct flex_run *run;

		flex_stop(state);
		flex_start(state);
		run = *state;
		run->options.align.is_off = true; /* each rank is compared with its own clock */
		scene.n_kernels = 4;
		assert_true(flex_truth_init(&truth, &scene));
		flex_add_truth(run, &truth);
		flex_convert(run);
		assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], truth.n_ops);
		assert_int_equal(run->host.n_rows, truth.n_trips);
		assert_int_equal(ledger_lost(&run->ledger), 0);
		for (uint64_t i = 0; i < run->events.n_rows; i++)
			check_row(&truth, &run->events, i);
		flex_truth_release(&truth);
	}
}

/* -- ranks on one clock ---------------------------------------------------------------------- */

struct message { /* one end of a transfer */
	const struct flex_op *op;
	int64_t end_ns;
};

/* The row of a receive, or of what it received. */
static struct message find_end(const struct flex_truth *truth, const struct csv_table *events,
                               const char *sync, enum flex_kind kind, uint64_t *row)
{
	for (; *row < events->n_rows; ++*row) {
		const char *name = flex_cell(events, *row, "name");
		const struct flex_op *op;

		if (!strstr(name, sync) || strstr(name, " - "))
			continue;
		op = flex_find_op(truth, events, *row);
		if (op->kind == kind)
			return (struct message){op, flex_number(events, (*row)++, "end_ns")};
	}
	return (struct message){NULL, 0};
}

/* How far alignment.csv says a rank may be off at most. */
static double most_off_ns(const struct flex_run *run, uint32_t rank)
{
	char *text = scratch_read(run->out, "tables/alignment.csv", NULL), *line = text, *cell;
	double ns;

	assert_non_null(text);
	for (uint32_t i = 0; i <= rank; i++)
		line = strchr(line, '\n') + 1;
	assert_int_equal(strtoul(line, NULL, 10), rank);
	cell = line;
	for (int column = 0; column < 7; column++)
		cell = strchr(cell, ',') + 1;
	ns = strtod(cell, NULL);
	free(text);
	return ns;
}

static void check_message(const struct flex_run *run, const struct flex_scene *scene,
                          const struct message *sent, const struct message *received)
{
	double took_ns = received->op->true_ns[1] - sent->op->true_ns[4];
	double off_ns = fabs((double)(received->end_ns - sent->end_ns) - took_ns);

	assert_true(received->end_ns >= sent->end_ns);
	assert_true(off_ns <= most_off_ns(run, sent->op->rank) +
	                              most_off_ns(run, received->op->rank) +
	                              2 * scene->estimate_ns);
}

static uint32_t check_messages(const struct flex_run *run, const struct flex_truth *truth)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const char *sync = strstr(truth->ops[i].name, "[sync=");
		uint64_t row = 0;
		struct message sent, received;

		if (truth->ops[i].kind != FLEX_SEND)
			continue;
		sent = find_end(truth, &run->events, sync, FLEX_SEND, &row);
		assert_non_null(sent.op);
		row = 0;
		while ((received = find_end(truth, &run->events, sync, FLEX_RECEIVE, &row)).op) {
			check_message(run, &truth->scene, &sent, &received);
			n++;
		}
	}
	return n;
}

/* Their hosts' clocks are 20 minutes apart, one after the other. */
static void test_flex_data__aligns_ranks_by_what_they_send(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct flex_scene scene = flex_scene_of(seed);
		struct flex_truth truth;
		struct flex_run *run;

		flex_stop(state);
		flex_start(state);
		run = *state;
		scene.n_ranks = 2 + (uint32_t)seed % 3;
		scene.n_kernels = 2;
		scene.n_iterations = 3;
		assert_true(flex_truth_init(&truth, &scene));
		flex_add_truth(run, &truth);
		flex_convert(run);
		assert_int_equal(run->ledger.warnings[WARNING_UNALIGNED], 0);
		assert_int_equal(check_messages(run, &truth), 3 * 2 * (scene.n_ranks - 1));
		flex_truth_release(&truth);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_flex_data__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(knows_17_kernels),
		TEST(finds_the_rate_of_the_device),
		TEST(knows_the_ring_in_one_file_and_in_four),
		TEST(rejects_what_runs_backwards),
		TEST(takes_a_file_of_metadata),
		TEST(places_work_where_it_was),
		TEST(aligns_ranks_by_what_they_send),
	};

	return cmocka_run_group_tests_name("flex_data", tests, NULL, NULL);
}
