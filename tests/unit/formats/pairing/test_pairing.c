/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of Flex and of torch of one run whose truth is known. What torch would write is made from
 * the same operations as what Flex does: a call that launches each and waits for it, the trips, the
 * work of the device where Flex says it was, all on a clock that counts from 1970.
 */
#include <inttypes.h>
#include <math.h>
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

#define BASE_NS    INT64_C(1700000000000000000)
#define LAUNCH     "aiuLaunchComputeStream"
#define MAX_LAUNCH 2000 /* of a rank */

struct torch_writer {
	const struct flex_truth *truth;
	FILE *file;
	uint32_t rank, first, last; /* iterations */
	uint64_t state;
	bool has_one;
};

/* A host's monotonic clock -> ns since 1970, less BASE_NS. */
static int64_t wall_ns(uint32_t rank, int64_t host_ns)
{
	return host_ns - INT64_C(2000000000000000) + 1000000007 * (int64_t)rank;
}

/* Another tool tells a call a little otherwise. */
static int64_t noise_ns(struct torch_writer *writer)
{
	return (int64_t)(model_random(&writer->state) % 601) - 300;
}

static void write_us(FILE *file, const char *key, int64_t ns)
{
	fprintf(file, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void write_event(struct torch_writer *writer, const char *cat, const char *name,
                        const char *place, int64_t begin_ns, int64_t end_ns)
{
	fprintf(writer->file, "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",%s",
	        writer->has_one ? ",\n" : "\n", cat, name, place);
	writer->has_one = true;
	write_us(writer->file, "ts", wall_ns(writer->rank, begin_ns));
	write_us(writer->file, "dur", end_ns - begin_ns);
}

static void write_call(struct torch_writer *writer, const char *name, uint32_t tid,
                       int64_t begin_ns, int64_t end_ns, uint64_t correlation)
{
	char place[64];

	snprintf(place, sizeof(place), "\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, 900 + writer->rank,
	         tid);
	write_event(writer, "privateuse1_runtime", name, place, begin_ns, end_ns);
	fprintf(writer->file, ",\"args\":{\"correlation\":%" PRIu64 "}}", correlation);
}

static void write_work(struct torch_writer *writer, const struct flex_op *op, uint64_t correlation)
{
	static const struct {
		const char *cat, *name;
		int from, to;
	} kinds[] = {
		[FLEX_KERNEL] = {"kernel", NULL, 2, 3},
		[FLEX_SEND] = {"gpu_memcpy", "Memcpy (DtoH)", 3, 4},
		[FLEX_RECEIVE] = {"gpu_memcpy", "Memcpy (HtoD)", 0, 1},
		[FLEX_PROTOCOL] = {"gpu_memcpy", "Memcpy (DtoH)", 3, 4},
	};
	const char *name = kinds[op->kind].name ? kinds[op->kind].name : op->name;
	int64_t off_ns = (int64_t)writer->truth->scene.estimate_ns;

	write_event(writer, kinds[op->kind].cat, name, "\"pid\":3,\"tid\":100",
	            op->host_ns[kinds[op->kind].from] + off_ns,
	            op->host_ns[kinds[op->kind].to] + off_ns);
	fprintf(writer->file,
	        ",\"args\":{\"device\":3,\"bytes\":4096,\"correlation\":%" PRIu64 "}}",
	        correlation);
}

static void write_torch(struct torch_writer *writer)
{
	const struct flex_truth *truth = writer->truth;

	fprintf(writer->file,
	        "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":3,\"name\":\"AIU\"}],"
	        "\"distributedInfo\":{\"rank\":%" PRIu32 "},\"baseTimeNanoseconds\":%" PRId64
	        ",\"traceEvents\":[",
	        writer->rank, BASE_NS);
	for (uint32_t i = 0; i < truth->n_trips; i++) {
		const struct flex_trip *trip = &truth->trips[i];

		if (trip->rank == writer->rank && trip->iteration >= writer->first &&
		    trip->iteration < writer->last)
			write_call(writer, "aiuSuperNodeExecution", 1,
			           trip->begin_ns + noise_ns(writer),
			           trip->end_ns + noise_ns(writer), 0);
	}
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct flex_op *op = &truth->ops[i];

		if (op->rank != writer->rank || op->iteration < writer->first ||
		    op->iteration >= writer->last)
			continue;
		write_call(writer, LAUNCH, 10 + i % 16, op->submit_ns, op->complete_ns, i + 1);
		write_work(writer, op, i + 1);
	}
	fprintf(writer->file, "\n]}\n");
}

/* -- files ------------------------------------------------------------------------------------ */

static FILE *open_file(const struct flex_run *run, const char *format, uint32_t rank)
{
	char path[4096], name[64];
	FILE *file;

	snprintf(name, sizeof(name), format, rank);
	snprintf(path, sizeof(path), "%s/%s", run->in, name);
	file = fopen(path, "w");
	assert_non_null(file);
	return file;
}

static void add_torch(const struct flex_run *run, const struct flex_truth *truth, uint32_t rank,
                      uint32_t first, uint32_t last)
{
	struct torch_writer writer = {
		.truth = truth, .rank = rank, .first = first, .last = last, .state = 5};

	writer.file = open_file(run, "torch%" PRIu32 ".json", rank);
	write_torch(&writer);
	assert_int_equal(fclose(writer.file), 0);
}

/* Writes what Flex tells of some iterations. */
static void add_flex(const struct flex_run *run, const struct flex_truth *truth, uint32_t rank,
                     uint32_t first, uint32_t last)
{
	struct flex_truth part = *truth;
	FILE *file = open_file(run, "flex%" PRIu32 ".json", rank);

	part.ops = calloc(truth->n_ops, sizeof(*part.ops));
	part.trips = calloc(truth->n_trips, sizeof(*part.trips));
	part.n_ops = part.n_trips = 0;
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		if (truth->ops[i].iteration >= first && truth->ops[i].iteration < last)
			part.ops[part.n_ops++] = truth->ops[i];
	}
	for (uint32_t i = 0; i < truth->n_trips; i++) {
		if (truth->trips[i].iteration >= first && truth->trips[i].iteration < last)
			part.trips[part.n_trips++] = truth->trips[i];
	}
	assert_true(flex_truth_write_json(&part, (int32_t)rank, file));
	assert_int_equal(fclose(file), 0);
	free(part.ops);
	free(part.trips);
}

static struct flex_scene scene_of(uint64_t seed)
{
	struct flex_scene scene = flex_scene_of(seed);

	scene.n_ranks = 2;
	scene.estimate_ppm = 0;
	return scene;
}

/* -- what is true ----------------------------------------------------------------------------- */

struct span {
	int64_t start_ns, end_ns;
};

/* The launch of a rank by correlation; fails if there is none. */
static struct span launch_of(const struct flex_run *run, const char *rank, int64_t correlation)
{
	for (uint64_t i = 0; i < run->host.n_rows; i++) {
		if (strcmp(flex_cell(&run->host, i, "kind"), LAUNCH) == 0 &&
		    strcmp(flex_cell(&run->host, i, "rank"), rank) == 0 &&
		    flex_number(&run->host, i, "correlation") == correlation)
			return (struct span){flex_number(&run->host, i, "start_ns"),
			                     flex_number(&run->host, i, "end_ns")};
	}
	fail_msg("No launch has correlation %lld", (long long)correlation);
	return (struct span){0, 0};
}

/* Every row of the device that torch saw too stands within the call that launched it. */
static uint64_t check_launches(const struct flex_run *run)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < run->events.n_rows; i++) {
		int64_t correlation = flex_number(&run->events, i, "correlation");
		struct span launch;

		assert_string_not_equal(flex_cell(&run->events, i, "status"), "given");
		if (!correlation)
			continue;
		launch = launch_of(run, flex_cell(&run->events, i, "rank"), correlation);
		assert_true(flex_number(&run->events, i, "start_ns") >= launch.start_ns);
		assert_true(flex_number(&run->events, i, "end_ns") <= launch.end_ns);
		n++;
	}
	return n;
}

/* Arrows lead from launches to the work of the device. */
static uint64_t count_arrows(const struct flex_run *run)
{
	char *text = scratch_read(run->out, "timeline.txt", NULL);
	uint64_t n = 0;

	assert_non_null(text);
	for (char *at = text; (at = strstr(at, "\nflow ")); at++) {
		char *end = strchr(at + 1, '\n'), *thread = strstr(at, " tid=");

		n += thread && end && thread < end;
	}
	free(text);
	return n;
}

/* How many operations (kernels only) of iterations there are. */
static uint64_t count_ops(const struct flex_truth *truth, uint32_t first, uint32_t last,
                          bool only_kernels)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < truth->n_ops; i++)
		n += truth->ops[i].iteration >= first && truth->ops[i].iteration < last &&
		     (!only_kernels || truth->ops[i].kind == FLEX_KERNEL);
	return n;
}

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Kernels are told alike by both, calls by up to 300 ns otherwise. */
static void check_reports(const struct flex_run *run, uint32_t n_ranks)
{
	assert_int_equal(run->n_pairs, n_ranks);
	for (uint32_t rank = 0; rank < n_ranks; rank++) {
		const struct pair_report *report = &run->pairs[rank];

		assert_int_equal(report->rank, rank);
		assert_int_equal(report->n_torch_files, 1);
		assert_true(llabs(report->offset_ns - BASE_NS - wall_ns(rank, 0)) <= 2);
		assert_true(fabs(report->drift_ppm) < 0.001);
		assert_true(report->residual_ns_p50 <= 2);
		assert_true(report->residual_ns_max > 2 && report->residual_ns_max <= 302);
		assert_false(report->is_uncertain);
	}
}

static void check_iterations(void **state, uint64_t seed, const uint32_t flex[2],
                             const uint32_t torch[2])
{
	const struct flex_scene scene = scene_of(seed);
	uint32_t first = most(flex[0], torch[0]), last = least(flex[1], torch[1]);
	struct flex_run *run;
	struct flex_truth truth;
	uint64_t n_kernels, n_ops;

	flex_stop(state);
	flex_start(state);
	run = *state;
	assert_true(flex_truth_init(&truth, &scene));
	for (uint32_t rank = 0; rank < scene.n_ranks; rank++) {
		add_flex(run, &truth, rank, flex[0], flex[1]);
		add_torch(run, &truth, rank, torch[0], torch[1]);
	}
	flex_convert(run);
	check_reports(run, scene.n_ranks);
	n_ops = count_ops(&truth, first, last, false);
	n_kernels = count_ops(&truth, first, last, true);
	assert_int_equal(count_arrows(run), count_ops(&truth, torch[0], torch[1], false));
	assert_int_equal(ledger_total(&run->ledger, LOSS_DUPLICATE),
	                 n_ops + (last - first) * scene.n_ranks);
	assert_int_equal(flex_count(&run->events, "kind", "Exec"),
	                 count_ops(&truth, flex[0], flex[1], true) +
	                         count_ops(&truth, torch[0], torch[1], true) - n_kernels);
	flex_truth_release(&truth);
}

static void test_pairing__puts_every_row_into_its_launch(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		static const uint32_t all[] = {0, 30};
		struct flex_run *run;

		check_iterations(state, seed, all, all);
		run = *state;
		assert_true(check_launches(run) > 300);
		assert_int_equal(run->ledger.warnings[WARNING_DUPLICATE_RANK], 0);
		assert_int_equal(run->ledger.warnings[WARNING_PAIR_UNCERTAIN], 0);
		assert_int_equal(ledger_lost(&run->ledger), 0);
		for (uint64_t i = 0; i < run->events.n_rows; i++)
			assert_string_equal(flex_cell(&run->events, i, "device"), "3");
	}
}

static void test_pairing__matches_unequal_counts_as_far_as_they_go(void **state)
{
	static const uint32_t turns[][4] = {
		{0, 30, 12, 15}, {12, 15, 0, 30}, {0, 20, 14, 30}, {14, 30, 0, 20}, {7, 8, 7, 8},
	};

	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		struct flex_run *run;

		check_iterations(state, 2, turns[i], &turns[i][2]);
		run = *state;
		assert_int_equal(run->ledger.warnings[WARNING_PAIR_UNCERTAIN], 0);
		assert_int_equal(ledger_lost(&run->ledger), 0);
	}
}

/* Writes some turns of both tools; `torch_name` says which files are read first. */
static char *convert_windows(void **state, const char *torch_name)
{
	static const uint32_t windows[][2] = {{2, 6}, {20, 22}};
	const struct flex_scene scene = scene_of(3);
	struct flex_run *run;
	struct flex_truth truth;

	flex_stop(state);
	flex_start(state);
	run = *state;
	assert_true(flex_truth_init(&truth, &scene));
	add_flex(run, &truth, 0, 0, 30);
	for (uint32_t i = 0; i < 2; i++) {
		struct torch_writer writer = {
			.truth = &truth, .first = windows[i][0], .last = windows[i][1]};

		writer.file = open_file(run, torch_name, i);
		write_torch(&writer);
		assert_int_equal(fclose(writer.file), 0);
	}
	flex_truth_release(&truth);
	flex_convert(run);
	return scratch_read(run->out, "timeline.txt", NULL);
}

static void test_pairing__takes_several_files_in_any_order(void **state)
{
	char *before = convert_windows(state, "a%" PRIu32 ".json");
	char *behind = convert_windows(state, "z%" PRIu32 ".json");
	const struct flex_run *run = *state;

	assert_non_null(before);
	assert_non_null(behind);
	assert_string_equal(before, behind);
	free(before);
	free(behind);
	assert_int_equal(run->n_pairs, 1);
	assert_int_equal(run->pairs[0].n_torch_files, 2);
	assert_true(check_launches(run) > 20);
	assert_int_equal(run->ledger.warnings[WARNING_DUPLICATE_RANK], 0);
	assert_int_equal(flex_count(&run->events, "rank", "0"), run->events.n_rows);
}

/* clang-format off */
#define STAMPS(n) "\"TS1\":\"" #n "1000\",\"TS2\":\"" #n "1000\",\"TS3\":\"" #n "2000\"," \
	"\"TS4\":\"" #n "6000\",\"TS5\":\"" #n "6006\""
static const char flex[] = "["
	"{\"name\":\"AIU Roundtrip\",\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":50},"
	"{\"name\":\"k Cmpt Exec\",\"ph\":\"X\",\"pid\":0,\"tid\":8,\"ts\":110,\"dur\":4,"
		"\"attr\":{" STAMPS(1) "}},"
	"{\"name\":\"l Cmpt Exec\",\"ph\":\"X\",\"pid\":0,\"tid\":8,\"ts\":120,\"dur\":4,"
		"\"attr\":{" STAMPS(2) "}}]";
#define CALL(name, ts, dur) "{\"ph\":\"X\",\"cat\":\"privateuse1_runtime\",\"name\":\"" name \
	"\",\"pid\":50,\"tid\":50,\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"External id\":1}}"
#define KERNEL(name, ts) "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name \
	"\",\"pid\":0,\"tid\":0,\"ts\":" #ts ",\"dur\":4,\"args\":{\"correlation\":9}}"
#define TORCH(list) "{\"schemaVersion\":1,\"traceEvents\":[" list "]}"
/* clang-format on */

static void test_pairing__joins_a_torch_file_that_tells_no_rank(void **state)
{
	struct flex_run *run = *state;
	uint64_t row;

	flex_add_file(run, "a.json", flex);
	flex_add_file(run, "b.json",
	              TORCH(CALL("aiuSuperNodeExecution", 5100,
	                         50) "," KERNEL("k Cmpt Exec", 5110) "," KERNEL("other", 5140)));
	flex_convert(run);
	assert_int_equal(flex_count(&run->events, "kind", "Exec"), 3);
	assert_int_equal(flex_count(&run->events, "rank", "0"), run->events.n_rows);
	assert_int_equal(run->host.n_rows, 1);
	assert_string_equal(flex_cell(&run->host, 0, "name"), "aiuSuperNodeExecution");
	row = flex_row(&run->events, "name", "k", "kind", "Exec");
	assert_string_equal(flex_cell(&run->events, row, "correlation"), "9");
	assert_in_range(flex_number(&run->events, row, "start_ns"), 5109990, 5110010);
	row = flex_row(&run->events, "name", "l", "kind", "Exec");
	assert_in_range(flex_number(&run->events, row, "start_ns"), 5119990, 5120010);
	assert_string_equal(flex_cell(&run->events, row, "correlation"), "");
	row = flex_row(&run->events, "name", "other", "kind", "Exec");
	assert_string_equal(flex_cell(&run->events, row, "status"), "given");
	assert_int_equal(flex_count(&run->events, "job", flex_cell(&run->events, row, "job")), 1);
	assert_int_equal(ledger_total(&run->ledger, LOSS_DUPLICATE), 2);
}

#define FLEX_X(name, tid, ts, dur, more)                                                 \
	"{\"name\":\"" name "\",\"ph\":\"X\",\"pid\":0,\"tid\":" #tid ",\"ts\":" #ts "," \
	"\"dur\":" #dur more "}"
#define ATTR(n) ",\"attr\":{" STAMPS(n) "}"

/* What Flex tells twice, torch tells once; a copy whose size only torch tells; rows that neither
 * process has a number for. */
static void test_pairing__takes_each_partner_once(void **state)
{
	struct flex_run *run = *state;
	uint64_t row;

	flex_add_file(run, "a.json",
	              "[" FLEX_X("k Cmpt Exec", 8, 110, 4, ATTR(1)) "," FLEX_X(
			      "k Cmpt Exec", 8, 110, 4,
			      ATTR(1)) "," FLEX_X("c DmaI", 9, 130, 2,
	                                          ATTR(3)) "," FLEX_X("HostPrep",
	                                                              15514734831341844875, 100, 60,
	                                                              "") "]");
	flex_add_file(
		run, "b.json",
		TORCH(KERNEL(
			"k",
			5110) ","
	                      "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy (HtoD)\","
	                      "\"pid\":0,\"tid\":100,\"ts\":5130,\"dur\":2,\"args\":{"
	                      "\"correlation\":8,\"bytes\":4096}},"
	                      "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"all\",\"pid\":\"Spans\","
	                      "\"tid\":\"P\",\"ts\":5000,\"dur\":900}," CALL("aiuMalloc", 5001,
	                                                                     1)));
	flex_convert(run);
	assert_int_equal(ledger_total(&run->ledger, LOSS_DUPLICATE), 2);
	assert_int_equal(flex_count(&run->events, "kind", "Exec"), 2);
	assert_int_equal(flex_count(&run->events, "correlation", "9"), 1);
	row = flex_row(&run->events, "kind", "Memcpy HtoD", "name", "c");
	assert_string_equal(flex_cell(&run->events, row, "bytes"), "4096");
	assert_string_equal(flex_cell(&run->events, row, "correlation"), "8");
	row = flex_row(&run->host, "name", "HostPrep", NULL, NULL);
	assert_string_equal(flex_cell(&run->host, row, "thread"), "15514734831341844875");
	row = flex_row(&run->host, "name", "all", NULL, NULL);
	assert_string_equal(flex_cell(&run->host, row, "thread"), "Spans P");
}

static void test_pairing__leaves_alone_what_has_nothing_in_common(void **state)
{
	struct flex_run *run = *state;

	flex_add_file(run, "a.json", flex);
	flex_add_file(run, "b.json", TORCH(CALL("aiuMalloc", 5100, 50)));
	flex_convert(run);
	assert_int_equal(run->host.n_rows, 2);
	assert_int_equal(flex_count(&run->host, "kind", "aiuMalloc"), 1);
	assert_int_equal(flex_number(&run->host, 0, "start_ns"),
	                 flex_number(&run->host, 1, "start_ns"));
	assert_int_equal(ledger_total(&run->ledger, LOSS_DUPLICATE), 0);
	assert_int_equal(run->ledger.warnings[WARNING_PAIR_UNMATCHED], 1);
	assert_int_equal(run->n_pairs, 1);
	assert_int_equal(run->pairs[0].n_pairs, 0);
}

static void test_pairing__is_not_sure_of_a_single_event(void **state)
{
	struct flex_run *run = *state;

	flex_add_file(run, "a.json", flex);
	flex_add_file(run, "b.json", TORCH(CALL("aiuSuperNodeExecution", 5100, 50)));
	flex_convert(run);
	assert_int_equal(ledger_total(&run->ledger, LOSS_DUPLICATE), 1);
	assert_int_equal(run->ledger.warnings[WARNING_PAIR_UNCERTAIN], 1);
}

/* Nothing of this is a time that could be moved, or an event that could have a partner. */
static void test_pairing__survives_times_at_the_limits(void **state)
{
	static const char *const times[] = {"0",
	                                    "9223372036854775.807",
	                                    "4611686018427387.904",
	                                    "4611686018427387.903",
	                                    "2305843009213693.952",
	                                    "-5"};
	char list[2000] = "", torch[4000], event[300];
	struct flex_run *run = *state;

	for (size_t i = 0; i < 6; i++) {
		snprintf(
			event, sizeof(event),
			"%s{\"name\":\"AIU Roundtrip\",\"ph\":\"X\",\"pid\":0,\"ts\":%s,\"dur\":0},"
			"{\"name\":\"c\",\"ph\":\"i\",\"pid\":0,\"ts\":%s}",
			i ? "," : "", times[i], times[i]);
		strcat(list, event);
	}
	snprintf(torch, sizeof(torch), "[%s]", list);
	flex_add_file(run, "a.json", torch);
	for (char *at = list; (at = strstr(at, "AIU Roundtrip")); at++)
		memcpy(at, "k Cmpt Exec  ", 13);
	snprintf(torch, sizeof(torch), "{\"schemaVersion\":1,\"traceEvents\":[%s,%s]}", list,
	         CALL("aiuSuperNodeExecution", 2000000000000000, 0));
	flex_add_file(run, "b.json", torch);
	flex_convert(run);
	assert_int_equal(run->n_pairs, 1);
	assert_true(run->host.n_rows > 0);
}

static void test_pairing__does_not_touch_files_said_to_be_of_one_tool(void **state)
{
	struct flex_run *run = *state;

	run->dialect = IMPORT_TORCH;
	flex_add_file(run, "a.json", flex);
	flex_add_file(run, "b.json", TORCH(CALL("aiuSuperNodeExecution", 5100, 50)));
	flex_convert(run);
	assert_int_equal(ledger_total(&run->ledger, LOSS_DUPLICATE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_pairing__##name, flex_start, flex_stop)
		TEST(puts_every_row_into_its_launch),
		TEST(matches_unequal_counts_as_far_as_they_go),
		TEST(takes_several_files_in_any_order),
		TEST(joins_a_torch_file_that_tells_no_rank),
		TEST(takes_each_partner_once),
		TEST(leaves_alone_what_has_nothing_in_common),
		TEST(is_not_sure_of_a_single_event),
		TEST(survives_times_at_the_limits),
		TEST(does_not_touch_files_said_to_be_of_one_tool),
	};

	return cmocka_run_group_tests_name("pairing", tests, NULL, NULL);
}
