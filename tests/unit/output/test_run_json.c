// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/report/page.h"
#include "output/run_json.h"
#include "emit_fixture.h"
#include "scratch.h"

static int start(void **state)
{
	struct emit_test *test;

	emit_test_sample(state);
	test = *state;
	test->counts[0] = (struct file_count){
		.file = "host.csv", .rows = 8, .expected = 8, .has_classes = true};
	test->counts[0].by_class[RECORD_SCOPE] = 6;
	test->counts[0].by_class[RECORD_STEP] = 1;
	test->counts[0].by_class[RECORD_COLLECTIVE] = 1;
	test->counts[1] = (struct file_count){.file = "clocks.csv", .rows = 1, .expected = 1};
	return 0;
}

static int write_run(struct emit_test *test, const struct emit_run *run,
                     struct flextrace_error *error)
{
	struct emit_options options = {.output_dir = test->dir, .run = run, .n_threads = 7};
	int code = run_json_write(&test->fixture.findings, &options, test->counts, 2, error);

	emit_test_read(test, "run.json");
	return code;
}

static void test_run_json__tells_how_files_of_two_tools_go_together(void **state)
{
	static const struct pair_report pairs[] = {
		{0, 2, 30, 20, 19, INT64_C(1699999999000000001), -1.25, 7, 80, 900, true},
		{3, 1, 0, 0, 0, 0, 0, 0, 0, 0, true},
	};
	static const struct emit_run run = {.pairs = pairs, .n_pairs = 2};
	struct emit_test *test = *state;

	assert_int_equal(write_run(test, &run, NULL), 0);
	assert_non_null(strstr(test->text, "1699999999000000001"));
	emit_assert_json(cJSON_GetObjectItem(test->root, "pairings"),
	                 "[{\"rank\":0,\"torch_files\":2,\"flex_events\":30,\"torch_events\":20,"
	                 "\"pairs\":19,\"offset_ns\":\"1699999999000000001\",\"drift_ppm\":-1.250,"
	                 "\"residual_ns_p50\":7,\"residual_ns_p99\":80,"
	                 "\"residual_ns_max\":900,\"uncertain\":true},"
	                 "{\"rank\":3,\"torch_files\":1,\"flex_events\":0,\"torch_events\":0,"
	                 "\"pairs\":0}]");
}

/* Which library draws charts depends on what was installed when this was built. */
static void take_charts(struct emit_test *test)
{
	cJSON *versions = cJSON_GetObjectItem(test->root, "versions");
	const char *charts = cJSON_GetStringValue(cJSON_GetObjectItem(versions, "charts"));

	assert_true(report_page_charts ? charts && !strcmp(charts, report_page_charts) : !charts);
	cJSON_DeleteItemFromObject(versions, "charts");
}

static void test_run_json__tells_what_was_read_and_written(void **state)
{
	static const char *const inputs[] = {"trace \"1\"", "bad \xff"};
	static const char *const options[] = {"rho-ppm=10", "names=a=b", "gzip"};
	static const struct emit_run run = {
		.inputs = inputs, .n_inputs = 2, .options = options, .n_options = 3};
	struct emit_test *test = *state;

	test->counts[0].arrows = 4;
	test->counts[0].arrows_left_out[ARROW_BACK_IN_TIME] = 1;
	test->counts[0].arrows_left_out[ARROW_END_NOT_SHOWN] = 2;
	test->counts[0].arrows_left_out[ARROW_OTHER_RANK] = 3;
	test->counts[0].arrows_left_out[ARROW_NOT_IN_TYPES] = 4;
	test->counts[0].arrows_expected = 14;
	test->counts[0].replaced_bytes = 5;
	assert_int_equal(write_run(test, &run, NULL), 0);
	take_charts(test);
	emit_assert_json(
		test->root,
		"{\"versions\":{\"flextrace\":\"" FLEXTRACE_VERSION
		"\",\"run_json\":2,\"marker_area\":1},"
		"\"inputs\":[\"trace \\\"1\\\"\",\"bad \\ufffd\"],"
		"\"options\":{\"rho-ppm\":\"10\",\"names\":\"a=b\",\"gzip\":\"\"},"
		"\"traces\":[{\"trace\":0,\"uuid\":\"00000000-0000-0000-0000-000000000000\","
		"\"host\":\"\",\"streams\":1,\"events\":0}],"
		"\"processes\":["
		"{\"rank\":1,\"world_size\":2,\"host\":\"node,1\",\"pid\":200,\"trace\":0,"
		"\"program\":\"app \\\"one\\\"\",\"runtime\":\"miniflex\",\"version\":\"1.2\"},"
		"{\"rank\":0,\"world_size\":2,\"host\":\"node,1\",\"pid\":100,\"trace\":0,"
		"\"program\":\"app\",\"runtime\":\"miniflex\",\"version\":\"1.2\"},"
		"{\"rank\":-1,\"world_size\":0,\"host\":\"node,1\",\"pid\":-1,\"trace\":0,"
		"\"program\":\"\",\"runtime\":\"miniflex\",\"version\":\"1.2\"}],"
		"\"totals\":{\"records\":27,\"foreign_events\":0,\"lost\":16,\"host_rows\":8,"
		"\"device_rows\":9,\"instants\":3,\"counters\":2,\"memory\":2,\"flows\":2,"
		"\"crossing\":0,\"first_ns\":\"1787000001000000123\","
		"\"last_ns\":\"1787000001000100123\","
		"\"length_ns\":100000},"
		"\"clocks\":[{\"rank\":0,\"host\":\"node,1\",\"pid\":100,"
		"\"device\":0,\"domain\":0,\"segment\":0,\"events\":2,\"certified\":1,\"assumed\":"
		"0,"
		"\"outliers\":1,\"resets\":0,\"freq_mhz\":560.001234,"
		"\"ppm_vs_nominal\":2.2044,\"ci_ppm\":null,\"offset_ns\":-123456.789,"
		"\"half_width_ns_p50\":10.25,\"half_width_ns_p99\":12,"
		"\"half_width_ns_max\":12,\"residual_ns_p50\":0,\"residual_ns_p99\":0,"
		"\"residual_ns_max\":0,\"violations_before\":0,\"violations_after\":0,"
		"\"inversions_before\":0,\"inversions_after\":0,\"rho_ppm\":10,"
		"\"rho_source\":\"default\"}],"
		"\"alignment\":[{\"rank\":0,\"host\":\"node,1\",\"pid\":100,\"offset_ns\":0,"
		"\"drift_ppm\":null,"
		"\"half_width_ns_p50\":0,\"half_width_ns_p99\":0,\"half_width_ns_max\":0,"
		"\"sync_points_used\":0,\"sync_points_dropped\":0,"
		"\"residual_ns_p50\":null,\"residual_ns_p90\":null,"
		"\"residual_ns_p99\":null,\"residual_ns_max\":null,\"component\":0,"
		"\"one_sided\":0},"
		"{\"rank\":1,\"host\":\"node,1\",\"pid\":200,\"offset_ns\":-1234.5,\"drift_ppm\":0."
		"5,"
		"\"half_width_ns_p50\":100,\"half_width_ns_p99\":190,"
		"\"half_width_ns_max\":199.5,\"sync_points_used\":10,"
		"\"sync_points_dropped\":1,\"residual_ns_p50\":0,\"residual_ns_p90\":0,"
		"\"residual_ns_p99\":0,\"residual_ns_max\":80,\"component\":0,"
		"\"one_sided\":1}],"
		"\"warnings\":[{\"id\":\"lost_events\",\"count\":13,\"remedy\":\"LTTng's "
		"buffers were full, losses.csv says when: use larger or more sub-buffers "
		"(--subbuf-size, --num-subbuf), or record less\"}],"
		"\"losses\":{\"lttng_discarded_events\":13,\"device_ring_dropped\":3},"
		"\"balance\":{"
		"\"scope\":{\"read\":6,\"rows\":6,\"evidence\":0,\"discarded\":{}},"
		"\"end\":{\"read\":3,\"rows\":0,\"evidence\":1,\"discarded\":{\"unmatched_end\":2}}"
		","
		"\"instant\":{\"read\":1,\"rows\":1,\"evidence\":0,\"discarded\":{}},"
		"\"counter\":{\"read\":1,\"rows\":1,\"evidence\":0,\"discarded\":{}},"
		"\"annotation\":{\"read\":1,\"rows\":1,\"evidence\":0,\"discarded\":{}},"
		"\"step\":{\"read\":1,\"rows\":1,\"evidence\":0,\"discarded\":{}},"
		"\"memory\":{\"read\":2,\"rows\":2,\"evidence\":0,\"discarded\":{}},"
		"\"device_op\":{\"read\":6,\"rows\":6,\"evidence\":0,\"discarded\":{}},"
		"\"marker_batch\":{\"read\":5,\"rows\":5,\"evidence\":0,\"discarded\":{}},"
		"\"collective\":{\"read\":1,\"rows\":1,\"evidence\":0,\"discarded\":{}}},"
		"\"emitted\":null,"
		"\"files\":[{\"file\":\"host.csv\",\"rows\":8,\"arrows\":4,"
		"\"arrows_left_out\":{\"back_in_time\":1,\"end_not_shown\":2,\"other_rank\":3,"
		"\"not_in_types\":4},\"replaced_bytes\":5,"
		"\"by_class\":{\"scope\":6,\"step\":1,\"collective\":1}},"
		"{\"file\":\"clocks.csv\",\"rows\":1}],"
		"\"closes\":true}");
}

static void test_run_json__does_without_what_the_run_says(void **state)
{
	struct emit_test *test = *state;

	assert_int_equal(write_run(test, NULL, NULL), 0);
	emit_assert_json(cJSON_GetObjectItem(test->root, "inputs"), "[]");
	emit_assert_json(cJSON_GetObjectItem(test->root, "options"), "{}");
}

/* A document for numbers that doubles cannot hold: they stand in the text. */
static void test_run_json__keeps_64_bits(void **state)
{
	const struct loss_place place = LOSS_NOWHERE;
	struct emit_test *test = *state;

	ledger_lose(&test->fixture.ledger, LOSS_DISCARDED_PACKETS, &place, UINT64_MAX - 1,
	            INT64_MIN);
	assert_int_equal(write_run(test, NULL, NULL), 0);
	assert_non_null(
		strstr(test->text, "\"lttng_discarded_packets\":\t\"18446744073709551614\","));
	assert_non_null(strstr(test->text, "\"first_ns\":\t\"1787000001000000123\","));
}

static void test_run_json__leaves_excluded_processes_out(void **state)
{
	struct emit_test *test = *state;

	test->fixture.processes[0].is_excluded = true;
	assert_int_equal(write_run(test, NULL, NULL), 0);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(test->root, "processes")), 2);
}

static void test_run_json__lists_traces_with_their_streams(void **state)
{
	struct emit_test *test = *state;
	struct timeline_fixture *fixture = &test->fixture;

	for (uint32_t i = 0; i < 3; i++) {
		fixture->stream_list[i] = &fixture->streams[i];
		fixture->streams[i].n_events = 10 + i;
		fixture->streams[i].trace = i / 2;
		fixture->streams[i].host = fixture_string(fixture, i / 2 ? "b" : "a");
		memset(fixture->streams[i].trace_uuid, 0xa0 + (int)(i / 2), 16);
	}
	fixture->stream_set.n_streams = 3;
	assert_int_equal(write_run(test, NULL, NULL), 0);
	emit_assert_json(
		cJSON_GetObjectItem(test->root, "traces"),
		"[{\"trace\":0,\"uuid\":\"a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0\",\"host\":\"a\","
		"\"streams\":2,\"events\":21},"
		"{\"trace\":1,\"uuid\":\"a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1\",\"host\":\"b\","
		"\"streams\":1,\"events\":12}]");
}

/* -- books that do not close ------------------------------------------------------------------- */

static void assert_open(struct emit_test *test, const char *where)
{
	struct flextrace_error error = {0};

	assert_int_equal(write_run(test, NULL, &error), FLEXTRACE_E_OUTPUT);
	assert_int_equal(error.code, FLEXTRACE_E_OUTPUT);
	if (!strstr(error.message, where))
		fail_msg("expected \"%s\" in \"%s\"", where, error.message);
	emit_assert_json(cJSON_GetObjectItem(test->root, "closes"), "false");
}

static void test_run_json__fails_when_records_are_not_booked(void **state)
{
	struct emit_test *test = *state;

	test->fixture.ledger.read[RECORD_SUBMIT]++;
	assert_open(test, "class=submit");
}

static void test_run_json__fails_when_rows_are_not_written(void **state)
{
	struct emit_test *test = *state;

	test->counts[0].expected++;
	assert_open(test, "host.csv do not close: rows=8, left_out=0, expected=9");
	test->counts[0].left_out = 1; /* told why */
	assert_int_equal(write_run(test, NULL, NULL), 0);
	test->counts[1].rows = 0;
	assert_open(test, "clocks.csv do not close: rows=0");
	test->counts[1].rows = 1;
	test->counts[0].arrows_expected = 1;
	assert_open(test, "host.csv do not close: arrows=0, expected=1");
}

static void test_run_json__fails_when_classes_do_not_add_up(void **state)
{
	struct emit_test *test = *state;

	test->counts[0].by_class[RECORD_COLLECTIVE]++;
	assert_open(test, "host.csv do not close: rows=8, rows_by_class=9");
}

static void test_run_json__fails_when_a_record_has_two_rows(void **state)
{
	struct emit_test *test = *state;

	test->counts[0].by_class[RECORD_SCOPE]++;
	test->counts[0].rows++;
	test->counts[0].expected++;
	assert_open(test, "host.csv do not close: class=scope, rows=7, records=6");
}

static void test_run_json__names_what_cannot_be_written(void **state)
{
	struct emit_test *test = *state;
	struct flextrace_error error = {0};
	struct emit_options options = {.output_dir = "/nonexistent"};

	assert_int_equal(run_json_write(&test->fixture.findings, &options, test->counts, 2, &error),
	                 FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, "/nonexistent/run.json.tmp"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, emit_test_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_run_json__tells_what_was_read_and_written),
		TEST(test_run_json__tells_how_files_of_two_tools_go_together),
		TEST(test_run_json__does_without_what_the_run_says),
		TEST(test_run_json__keeps_64_bits),
		TEST(test_run_json__leaves_excluded_processes_out),
		TEST(test_run_json__lists_traces_with_their_streams),
		TEST(test_run_json__fails_when_records_are_not_booked),
		TEST(test_run_json__fails_when_rows_are_not_written),
		TEST(test_run_json__fails_when_classes_do_not_add_up),
		TEST(test_run_json__fails_when_a_record_has_two_rows),
		TEST(test_run_json__names_what_cannot_be_written),
	};

	return cmocka_run_group_tests_name("run_json", tests, NULL, NULL);
}
