// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <zlib.h>

#include "chrome_fixture.h"
#include "scratch.h"

static void test_chrome__opens_with_what_readers_look_for(void **state)
{
	struct emit_test *test = *state;
	static const char *const keys[] = {
		"schemaVersion",   "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds",
		"distributedInfo", "flextrace",        "traceEvents",     "sites",
		"traceName",
	};
	cJSON *item;
	size_t i = 0;

	chrome_emit(test);
	cJSON_ArrayForEach(item, test->root) assert_string_equal(item->string, keys[i++]);
	assert_int_equal(i, 9);
	emit_assert_json(cJSON_GetObjectItem(test->root, "sites"),
	                 "[{\"cat\":\"user_annotation\",\"name\":\"outer, \\\"quoted\\\"\","
	                 "\"file\":\"src/main.c\",\"line\":12}]");
	/* the first row is at 1 s + 123 ns behind a whole second */
	assert_non_null(strstr(test->text, "\"baseTimeNanoseconds\": 1787000001000000000,"));
	emit_assert_json(cJSON_GetObjectItem(test->root, "distributedInfo"),
	                 "{\"backend\":\"flextrace\",\"world_size\":2}");
	emit_assert_json(
		cJSON_GetObjectItem(test->root, "deviceProperties"),
		"[{\"id\":3,\"name\":\"emu,lator\",\"uuid\":\"0000:65:00.0\",\"numSms\":4,"
		"\"coreHz\":560000000,\"pid\":2001},{\"id\":0,\"name\":\"emulator\","
		"\"uuid\":\"0000:65:00.0\",\"numSms\":4,\"coreHz\":560000000,\"pid\":1001}]");
	emit_assert_json(
		cJSON_GetObjectItem(test->root, "flextrace"),
		"{\"version\":\"" FLEXTRACE_VERSION "\",\"totals\":{\"host_rows\":8,"
		"\"device_rows\":9,\"instants\":3,\"counters\":2,\"memory\":2,\"flows\":2},"
		"\"losses\":{\"lttng_discarded_events\":13,\"device_ring_dropped\":3},"
		"\"clocks\":[{\"pid\":1001,\"domain\":0,\"segment\":0,\"events\":2,\"certified\":1,"
		"\"assumed\":0,"
		"\"outliers\":1,\"resets\":0,\"freq_mhz\":560.001234,"
		"\"ppm_vs_nominal\":2.2044,\"ci_ppm\":null,\"offset_ns\":-123456.789,"
		"\"half_width_ns_p50\":10.25,\"half_width_ns_p99\":12,"
		"\"half_width_ns_max\":12,\"residual_ns_p50\":0,\"residual_ns_p99\":0,"
		"\"residual_ns_max\":0,\"violations_before\":0,\"violations_after\":0,"
		"\"inversions_before\":0,\"inversions_after\":0,\"rho_ppm\":10,"
		"\"rho_source\":\"default\"}],"
		"\"alignment\":[{\"pid\":1000,\"offset_ns\":0,\"drift_ppm\":null,"
		"\"half_width_ns_p50\":0,\"half_width_ns_p99\":0,\"half_width_ns_max\":0,"
		"\"sync_points_used\":0,\"sync_points_dropped\":0,"
		"\"residual_ns_p50\":null,\"residual_ns_p90\":null,"
		"\"residual_ns_p99\":null,\"residual_ns_max\":null,\"component\":0,"
		"\"one_sided\":0},"
		"{\"pid\":2000,\"offset_ns\":-1234.5,\"drift_ppm\":0.5,"
		"\"half_width_ns_p50\":100,\"half_width_ns_p99\":190,"
		"\"half_width_ns_max\":199.5,\"sync_points_used\":10,"
		"\"sync_points_dropped\":1,\"residual_ns_p50\":0,\"residual_ns_p90\":0,"
		"\"residual_ns_p99\":0,\"residual_ns_max\":80,\"component\":0,"
		"\"one_sided\":1}]}");
}

static void test_chrome__writes_host_rows(void **state)
{
	struct emit_test *test = *state;

	chrome_emit(test);
	emit_assert_json(
		chrome_find(test, "X", "outer, \"quoted\"", 0),
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"outer, \\\"quoted\\\"\","
		"\"pid\":1000,\"tid\":100,\"ts\":0.123,\"dur\":90,"
		"\"ts\":0.123,\"dur\":90}");
	emit_assert_json(
		chrome_find(test, "X", "launch", 0),
		"{\"ph\":\"X\",\"cat\":\"privateuse1_runtime\",\"name\":\"launch\",\"pid\":1000,"
		"\"tid\":100,\"ts\":0.123,\"dur\":10,\"args\":{\"kind\":"
		"\"aiuLaunchControlBlocks\",\"correlation\":41,\"args\":{\"shape\":\"2x3\"}}}");
	emit_assert_json(
		chrome_find(test, "X", "crossing", 0),
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"crossing\",\"pid\":1000,"
		"\"tid\":10000001,\"ts\":5.123,\"dur\":90,\"args\":{\"status\":\"assumed\"}}");
	/* an id that a double cannot hold is text */
	emit_assert_json(
		chrome_find(test, "X", "matmul", 0),
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"matmul\",\"pid\":2000,\"tid\":200,"
		"\"ts\":20.123,\"dur\":0,\"args\":{\"correlation\":\"1152921504606846977\"}}");
	/* a row without a name is called by its kind */
	emit_assert_json(
		chrome_find(test, "X", "aiuCompileGraph", 0),
		"{\"ph\":\"X\",\"cat\":\"privateuse1_runtime\",\"name\":\"aiuCompileGraph\","
		"\"pid\":3000,\"tid\":10000001,\"ts\":20.124,\"dur\":0.001,"
		"\"args\":{\"kind\":\"aiuCompileGraph\"}}");
}

static void test_chrome__writes_device_rows(void **state)
{
	struct emit_test *test = *state;

	chrome_emit(test);
	emit_assert_json(
		chrome_find(test, "X", "mm_0", 0),
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"mm_0\",\"pid\":1001,\"tid\":1,"
		"\"ts\":22.123,\"dur\":8,\"args\":{\"device\":0,\"stream\":0,\"correlation\":41,"
		"\"job\":1,\"raw_cycles\":{\"TS1\":10}"
		",\"cycles\":{\"TS1\":4294967306,\"TS2\":4294967316,"
		"\"TS3\":4294967326,\"TS4\":4294967336,\"TS5\":4294967346}"
		",\"power\":900,\"err_ns\":12}}");
	emit_assert_json(
		chrome_find(test, "X", "mm_0", 2),
		"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"mm_0\",\"pid\":2001,\"tid\":8,"
		"\"ts\":50.123,\"dur\":2,\"args\":{\"device\":3,\"kind\":\"Memcpy PtoP\","
		"\"stream\":7,\"correlation\":43,\"job\":3,"
		"\"raw_cycles\":{\"TS3\":30},"
		"\"cycles\":{\"TS3\":4294967326,\"TS4\":4294967336},\"bytes\":4096,"
		"\"peer\":0,\"group\":\"world\",\"type\":\"SingleCast\",\"err_ns\":7}}");
	emit_assert_json(
		chrome_find(test, "X", "load tile", 0),
		"{\"ph\":\"X\",\"cat\":\"firmware\",\"name\":\"load tile\",\"pid\":1001,"
		"\"tid\":10000005,\"ts\":22.123,\"dur\":7,\"args\":{\"kind\":\"FW\",\"run\":5,"
		"\"job\":1,\"cycles\":{\"begin\":100,\"end\":\"9007199254740993\"},"
		"\"err_ns\":15}}");
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "load tile", 2), "args"),
	                 "{\"run\":5,\"job\":1,"
	                 "\"cycles\":{\"begin\":100,\"end\":\"9007199254740993\"},"
	                 "\"err_ns\":15}");
	/* an outlier has no bound */
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "mm_0", 1), "args"),
	                 "{\"device\":0,\"stream\":0,\"correlation\":42,\"job\":2,"
	                 "\"raw_cycles\":{\"TS1\":10}"
	                 ",\"cycles\":{\"TS1\":4294967306,\"TS2\":4294967316,"
	                 "\"TS3\":4294967326,\"TS4\":4294967336,\"TS5\":4294967346}"
	                 ",\"status\":\"outlier\"}");
}

static void test_chrome__names_parts_of_control_blocks(void **state)
{
	struct emit_test *test = *state;

	chrome_emit(test);
	emit_assert_json(chrome_find(test, "X", "mm_0 \u00b7 DMA in", 0),
	                 "{\"ph\":\"X\",\"cat\":\"device_dma\",\"name\":\"mm_0 \u00b7 DMA in\","
	                 "\"pid\":1001,\"tid\":10000002,\"ts\":20.123,\"dur\":1,\"args\":{"
	                 "\"kind\":\"DmaI\",\"device\":0,\"stream\":0,\"job\":1,"
	                 "\"correlation\":41,\"err_ns\":12}}");
}

static void test_chrome__writes_points(void **state)
{
	struct emit_test *test = *state;

	chrome_emit(test);
	emit_assert_json(
		chrome_find(test, "i", "model", 0),
		"{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"model\","
		"\"pid\":1000,\"tid\":100,\"ts\":1.123,\"args\":{\"kind\":\"annotation\","
		"\"value\":\"bert\",\"err_ns\":0}}");
	emit_assert_json(chrome_find(test, "i", "tile done", 0),
	                 "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"firmware\",\"name\":\"tile done\","
	                 "\"pid\":1001,\"tid\":10000005,\"ts\":23.623,\"args\":{\"err_ns\":15}}");
	emit_assert_json(chrome_find(test, "C", "free,cores", 0),
	                 "{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"free,cores\",\"pid\":1000,"
	                 "\"tid\":1000,\"ts\":3.123,\"args\":{\"value\":2.5}}");
	emit_assert_json(chrome_find(test, "C", "free,cores core 2", 0),
	                 "{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"free,cores core 2\","
	                 "\"pid\":1001,\"tid\":1001,\"ts\":23.723,\"args\":{\"value\":7}}");
	emit_assert_json(
		chrome_find(test, "C", "allocated memory", 1),
		"{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"allocated memory\",\"pid\":1001,"
		"\"tid\":1001,\"ts\":60.123,\"args\":{\"bytes\":0}}");
}

static void test_chrome__draws_arrows_that_cross_in_time(void **state)
{
	struct emit_test *test = *state;

	chrome_emit(test);
	assert_int_equal(test->counts[0].arrows, 2);
	emit_assert_json(chrome_find(test, "s", "ac2g", 0),
	                 "{\"ph\":\"s\",\"id\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":1000,"
	                 "\"tid\":100,\"ts\":0.123}");
	emit_assert_json(chrome_find(test, "s", "ac2g", 1),
	                 "{\"ph\":\"s\",\"id\":2,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":1000,"
	                 "\"tid\":100,\"ts\":10.123}");
	emit_assert_json(chrome_find(test, "f", "ac2g", 0),
	                 "{\"ph\":\"f\",\"id\":2,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\","
	                 "\"pid\":1001,\"tid\":1,\"ts\":22.123}");
	emit_assert_json(chrome_find(test, "f", "ac2g", 1),
	                 "{\"ph\":\"f\",\"id\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\","
	                 "\"pid\":1001,\"tid\":10000001,\"ts\":25.123}");
}

static void test_chrome__shows_what_was_lost(void **state)
{
	struct emit_test *test = *state;

	chrome_emit(test);
	emit_assert_json(
		chrome_find(test, "X", "lttng_discarded_events", 0),
		"{\"ph\":\"X\",\"cat\":\"loss\",\"name\":\"lttng_discarded_events\",\"pid\":1,"
		"\"tid\":1,\"ts\":7.123,\"dur\":0,\"args\":{\"count\":11,\"place\":\"stream "
		"0/1.0\"}}");
	emit_assert_json(
		chrome_find(test, "X", "lttng_discarded_events", 1),
		"{\"ph\":\"X\",\"cat\":\"loss\",\"name\":\"lttng_discarded_events\",\"pid\":1,"
		"\"tid\":1,\"ts\":8.123,\"dur\":0,\"args\":{\"count\":2,\"place\":\"stream "
		"0/1.0\"}}");
	/* its time is not known: anywhere */
	emit_assert_json(
		chrome_find(test, "X", "device_ring_dropped", 0),
		"{\"ph\":\"X\",\"cat\":\"loss\",\"name\":\"device_ring_dropped\",\"pid\":1,"
		"\"tid\":2,\"ts\":0.123,\"dur\":100,\"args\":{\"count\":3,"
		"\"place\":\"Rank 0, device 0, core 2, stream 0/1.0\",\"time\":\"unknown\"}}");
}

/* Everything of phase M, as pid/tid: name. */
static void test_chrome__names_processes_and_rows(void **state)
{
	static const char expected[] =
		"1/1 process_name flextrace losses\n"
		"1/1 thread_name lttng_discarded_events: 13, stream 0/1.0\n"
		"1/2 thread_name device_ring_dropped: 3, Rank 0, device 0, core 2, "
		"stream 0/1.0\n"
		"1000/1000 process_name Rank 0 host app\n"
		"1000/1000 process_labels pid 100 on node,1\n"
		"2000/2000 process_name Rank 1 host app \"one\"\n"
		"2000/2000 process_labels pid 200 on node,1\n"
		"3000/3000 process_name pid unknown host\n"
		"3000/3000 process_labels pid unknown on node,1\n"
		"2001/2001 process_name Rank 1 device 3 emu,lator\n"
		"2001/2001 process_labels device 3 0000:65:00.0 of pid 200\n"
		"1001/1001 process_name Rank 0 device 0 emulator\n"
		"1001/1001 process_labels device 0 0000:65:00.0 of pid 100\n"
		"2000/200 thread_name thread 200\n"
		"1000/100 thread_name main\n"
		"1000/10000001 thread_name main lane 2\n"
		"1000/10000002 thread_name main async\n"
		"3000/10000001 thread_name thread unknown\n"
		"1001/1 thread_name queue 0\n"
		"1001/10000001 thread_name queue 0 lane 2\n"
		"1001/10000002 thread_name queue 0 DMA in\n"
		"1001/10000003 thread_name queue 0 prep\n"
		"1001/10000004 thread_name queue 0 DMA out\n"
		"1001/10000005 thread_name core 2 processor 1\n"
		"2001/8 thread_name queue 7 (copies)\n";
	struct emit_test *test = *state;
	char *said = NULL;
	size_t n;
	FILE *out = open_memstream(&said, &n);
	cJSON *event;

	chrome_emit(test);
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
	{
		cJSON *args = cJSON_GetObjectItem(event, "args"),
		      *value = args ? args->child : NULL;

		if (*cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph")) == 'M' &&
		    cJSON_IsString(value))
			fprintf(out, "%d/%d %s %s\n", cJSON_GetObjectItem(event, "pid")->valueint,
			        cJSON_GetObjectItem(event, "tid")->valueint,
			        cJSON_GetStringValue(cJSON_GetObjectItem(event, "name")),
			        cJSON_GetStringValue(value));
	}
	fclose(out);
	assert_string_equal(said, expected);
	free(said);
}

static void test_chrome__counts_each_row_by_its_class(void **state)
{
	struct emit_test *test = *state;

	chrome_emit(test);
	assert_int_equal(test->counts[0].rows, 24);
	assert_int_equal(test->counts[0].by_class[RECORD_SCOPE], 6);
	assert_int_equal(test->counts[0].by_class[RECORD_STEP], 1);
	assert_int_equal(test->counts[0].by_class[RECORD_COLLECTIVE], 1);
	assert_int_equal(test->counts[0].by_class[RECORD_DEVICE_OP], 6);
	assert_int_equal(test->counts[0].by_class[RECORD_MARKER_BATCH], 3 + 1 + 1);
	assert_int_equal(test->counts[0].by_class[RECORD_INSTANT], 1);
	assert_int_equal(test->counts[0].by_class[RECORD_ANNOTATION], 1);
	assert_int_equal(test->counts[0].by_class[RECORD_COUNTER], 1);
	assert_int_equal(test->counts[0].by_class[RECORD_MEMORY], 2);
	assert_int_equal(chrome_count(test, "X"), 8 + 9 + 3);
	assert_int_equal(chrome_count(test, "i") + chrome_count(test, "C"), 7);
}

static void test_chrome__is_the_same_inside_gzip(void **state)
{
	struct emit_test *test = *state;
	char *path = NULL, *unpacked;
	gzFile file;
	size_t n;

	chrome_emit(test);
	n = strlen(test->text);
	unpacked = calloc(1, n + 2);
	assert_int_equal(chrome_write_trace(test, true, NULL), 0);
	assert_true(asprintf(&path, "%s/trace.json.gz", test->dir) > 0);
	file = gzopen(path, "rb");
	assert_int_equal(gzread(file, unpacked, (unsigned int)n + 1), n);
	assert_int_equal(gzclose(file), Z_OK);
	assert_string_equal(unpacked, test->text);
	free(unpacked);
	free(path);
}

static void test_chrome__is_the_same_every_time(void **state)
{
	struct emit_test *test = *state;
	char *again;

	chrome_emit(test);
	assert_int_equal(chrome_write_trace(test, false, NULL), 0);
	again = scratch_read(test->dir, "trace.json", NULL);
	assert_string_equal(again, test->text);
	free(again);
}

static void test_chrome__leaves_nothing_where_it_cannot_write(void **state)
{
	struct emit_test *test = *state;
	struct flextrace_error error = {0};
	char *path = NULL;

	assert_true(asprintf(&path, "%s/trace.json", test->dir) > 0);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(chrome_write_trace(test, false, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, path));
	assert_non_null(strstr(error.message, "reason=Is a directory"));
	assert_false(scratch_has(test->dir, "trace.json.tmp"));
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE(test_chrome__opens_with_what_readers_look_for),
		SAMPLE(test_chrome__writes_host_rows),
		SAMPLE(test_chrome__writes_device_rows),
		SAMPLE(test_chrome__names_parts_of_control_blocks),
		SAMPLE(test_chrome__writes_points),
		SAMPLE(test_chrome__draws_arrows_that_cross_in_time),
		SAMPLE(test_chrome__shows_what_was_lost),
		SAMPLE(test_chrome__names_processes_and_rows),
		SAMPLE(test_chrome__counts_each_row_by_its_class),
		SAMPLE(test_chrome__is_the_same_inside_gzip),
		SAMPLE(test_chrome__is_the_same_every_time),
		SAMPLE(test_chrome__leaves_nothing_where_it_cannot_write),
	};

	return cmocka_run_group_tests_name("chrome", tests, NULL, NULL);
}
