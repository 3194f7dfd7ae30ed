// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <zlib.h>

#include "emit/emit.h"
#include "scratch.h"
#include "timeline_fixture.h"
#include "trace_checker.h"

struct test {
	struct timeline_fixture fixture;
	struct emit_file_count count;
	char *dir;   /* owned */
	char *text;  /* owned: trace.json */
	cJSON *root; /* owned */
};

static int start_empty(void **state)
{
	struct test *test = calloc(1, sizeof(*test));

	timeline_fixture_init(&test->fixture);
	test->dir = scratch_dir();
	*state = test;
	return 0;
}

static int start_sample(void **state)
{
	struct test *test = calloc(1, sizeof(*test));

	timeline_fixture_sample(&test->fixture);
	test->dir = scratch_dir();
	*state = test;
	return 0;
}

static int stop(void **state)
{
	struct test *test = *state;

	timeline_fixture_release(&test->fixture);
	scratch_remove(test->dir);
	cJSON_Delete(test->root);
	free(test->text);
	free(test);
	return 0;
}

static int write_trace(struct test *test, bool gzip, struct flextrace_error *error)
{
	struct emit_options options = {.output_dir = test->dir, .gzip = gzip};
	struct emit_file_count counts[EMIT_MAX_FILES];
	uint32_t n = 0;
	int code = emit_chrome.write(&test->fixture.timeline, &options, counts, &n, error);

	assert_int_equal(n, 1);
	test->count = counts[0];
	return code;
}

/* Writes trace.json, has it checked and parses it. */
static void emit(struct test *test)
{
	size_t n;

	assert_int_equal(write_trace(test, false, NULL), 0);
	test->text = scratch_read(test->dir, "trace.json", &n);
	assert_non_null(test->text);
	assert_int_equal(trace_check(test->text, n, stderr), 0);
	test->root = cJSON_Parse(test->text);
	assert_non_null(test->root);
	assert_int_equal(test->count.rows + test->count.left_out, test->count.expected);
}

/* The `nth` event (from 0) of a phase with this name; NULL: none. */
static cJSON *find_nth(struct test *test, const char *ph, const char *name, int nth)
{
	cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
	{
		if (!strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph")), ph) &&
		    !strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "name")), name) &&
		    nth-- == 0)
			return event;
	}
	return NULL;
}

static cJSON *find(struct test *test, const char *ph, const char *name)
{
	return find_nth(test, ph, name, 0);
}

/* Compares a part of the trace with JSON text. */
static void assert_json(const cJSON *item, const char *expected)
{
	cJSON *json = cJSON_Parse(expected);
	char *text = cJSON_PrintUnformatted(item);

	assert_non_null(json);
	if (!cJSON_Compare(item, json, true))
		fail_msg("expected %s, got %s", expected, text);
	cJSON_Delete(json);
	free(text);
}

static int count_events(struct test *test, const char *ph)
{
	cJSON *event;
	int n = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
		n += !strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph")), ph);
	return n;
}

/* -- the sample --------------------------------------------------------------------------------------- */

static void test_chrome__opens_with_what_readers_look_for(void **state)
{
	struct test *test = *state;
	static const char *const keys[] = {
		"schemaVersion",   "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds",
		"distributedInfo", "flextrace",        "traceEvents",     "traceName",
	};
	cJSON *item;
	size_t i = 0;

	emit(test);
	cJSON_ArrayForEach(item, test->root) assert_string_equal(item->string, keys[i++]);
	assert_int_equal(i, 8);
	/* the first row is at 1 s + 123 ns behind a whole second */
	assert_non_null(strstr(test->text, "\"baseTimeNanoseconds\": 1787000001000000000,"));
	assert_json(cJSON_GetObjectItem(test->root, "distributedInfo"),
	            "{\"backend\":\"flextrace\",\"world_size\":2}");
	assert_json(cJSON_GetObjectItem(test->root, "deviceProperties"),
	            "[{\"id\":3,\"name\":\"emu,lator\",\"uuid\":\"0000:65:00.0\",\"numSms\":4,"
	            "\"coreHz\":560000000,\"pid\":2001},{\"id\":0,\"name\":\"emulator\","
	            "\"uuid\":\"0000:65:00.0\",\"numSms\":4,\"coreHz\":560000000,\"pid\":1001}]");
	assert_json(cJSON_GetObjectItem(test->root, "flextrace"),
	            "{\"version\":\"" FLEXTRACE_VERSION "\",\"totals\":{\"host_rows\":8,"
	            "\"device_rows\":9,\"instants\":3,\"counters\":2,\"memory\":2,\"flows\":2},"
	            "\"losses\":{\"lttng_discarded_events\":13,\"device_ring_dropped\":3},"
	            "\"clocks\":[{\"pid\":1001,\"domain\":0,\"segment\":0,\"events\":2,"
	            "\"certified\":1,\"freq_mhz\":560.001234,\"half_width_ns_p50\":10.25,"
	            "\"half_width_ns_p99\":12,\"half_width_ns_max\":12}]}");
}

static void test_chrome__writes_host_rows(void **state)
{
	struct test *test = *state;

	emit(test);
	assert_json(find(test, "X", "outer, \"quoted\""),
	            "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"outer, \\\"quoted\\\"\","
	            "\"pid\":1000,\"tid\":100,\"ts\":0.123,\"dur\":90,"
	            "\"args\":{\"kind\":\"User\",\"file\":\"src/main.c\",\"line\":12}}");
	assert_json(
		find(test, "X", "launch"),
		"{\"ph\":\"X\",\"cat\":\"privateuse1_runtime\",\"name\":\"launch\",\"pid\":1000,"
		"\"tid\":100,\"ts\":0.123,\"dur\":10,\"args\":{\"kind\":"
		"\"aiuLaunchControlBlocks\",\"correlation\":41,\"External id\":41,"
		"\"args\":\"{\\\"shape\\\":\\\"2x3\\\"}\"}}");
	assert_json(find(test, "X", "crossing"),
	            "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"crossing\",\"pid\":1000,"
	            "\"tid\":10000001,\"ts\":5.123,\"dur\":90,\"args\":{\"kind\":\"User\","
	            "\"status\":\"assumed\"}}");
	/* an id that a double cannot hold is text */
	assert_json(find(test, "X", "matmul"),
	            "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"matmul\",\"pid\":2000,\"tid\":200,"
	            "\"ts\":20.123,\"dur\":0,\"args\":{\"kind\":\"Op\","
	            "\"correlation\":\"1152921504606846977\","
	            "\"External id\":\"1152921504606846977\"}}");
	/* a row without a name is called by its kind */
	assert_json(find(test, "X", "aiuCompileGraph"),
	            "{\"ph\":\"X\",\"cat\":\"privateuse1_runtime\",\"name\":\"aiuCompileGraph\","
	            "\"pid\":3000,\"tid\":10000001,\"ts\":20.124,\"dur\":0.001,"
	            "\"args\":{\"kind\":\"aiuCompileGraph\"}}");
}

static void test_chrome__writes_device_rows(void **state)
{
	struct test *test = *state;

	emit(test);
	assert_json(
		find_nth(test, "X", "mm_0", 2),
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"mm_0\",\"pid\":1001,\"tid\":1,"
		"\"ts\":22.123,\"dur\":8,\"args\":{\"rank\":0,\"device\":0,\"kind\":\"Exec\","
		"\"stream\":1,\"correlation\":41,\"External id\":41,\"job\":1,"
		"\"raw\":[10,20,30,40,50],\"cycles\":[4294967306,4294967316,4294967326,"
		"4294967336,4294967346],\"power\":900,\"status\":\"certified\",\"err_ns\":12}}");
	assert_json(find_nth(test, "X", "mm_0", 5),
	            "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"mm_0\",\"pid\":2001,\"tid\":8,"
	            "\"ts\":50.123,\"dur\":2,\"args\":{\"rank\":1,\"device\":3,\"kind\":"
	            "\"Memcpy PtoP\",\"stream\":8,\"correlation\":43,\"External id\":43,\"job\":3,"
	            "\"raw\":[0,0,30,40,0],\"cycles\":[0,0,4294967326,4294967336,0],\"bytes\":4096,"
	            "\"peer\":0,\"group\":\"world\",\"type\":\"SingleCast\","
	            "\"status\":\"certified\",\"err_ns\":7}}");
	assert_json(find(test, "X", "load tile"),
	            "{\"ph\":\"X\",\"cat\":\"firmware\",\"name\":\"load tile\",\"pid\":1001,"
	            "\"tid\":10000005,\"ts\":22.123,\"dur\":7,\"args\":{\"rank\":0,\"device\":0,"
	            "\"kind\":\"FW\",\"core\":2,\"processor\":1,\"run\":5,\"job\":1,"
	            "\"raw\":[100,1],\"cycles\":[100,\"9007199254740993\"],"
	            "\"status\":\"certified\",\"err_ns\":15}}");
	/* an outlier has no bound */
	assert_json(cJSON_GetObjectItem(find_nth(test, "X", "mm_0", 3), "args"),
	            "{\"rank\":0,\"device\":0,\"kind\":\"Exec\",\"stream\":1,\"correlation\":42,"
	            "\"External id\":42,\"job\":2,\"raw\":[10,20,30,40,50],\"cycles\":[4294967306,"
	            "4294967316,4294967326,4294967336,4294967346],\"status\":\"outlier\"}");
}

static void test_chrome__writes_points(void **state)
{
	struct test *test = *state;

	emit(test);
	assert_json(find(test, "i", "model"),
	            "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"model\","
	            "\"pid\":1000,\"tid\":100,\"ts\":1.123,\"args\":{\"kind\":\"annotation\","
	            "\"value\":\"bert\",\"status\":\"certified\",\"err_ns\":0}}");
	assert_json(find(test, "i", "tile done"),
	            "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"firmware\",\"name\":\"tile done\","
	            "\"pid\":1001,\"tid\":10000005,\"ts\":23.623,\"args\":{\"kind\":\"mark\","
	            "\"status\":\"certified\",\"err_ns\":15}}");
	assert_json(find(test, "C", "free,cores"),
	            "{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"free,cores\",\"pid\":1000,"
	            "\"tid\":1000,\"ts\":3.123,\"args\":{\"value\":2.5}}");
	assert_json(find_nth(test, "C", "free,cores", 1),
	            "{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"free,cores\",\"pid\":1001,"
	            "\"tid\":1001,\"ts\":23.723,\"args\":{\"core 2\":7}}");
	assert_json(find_nth(test, "C", "allocated memory", 1),
	            "{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"allocated memory\",\"pid\":1001,"
	            "\"tid\":1001,\"ts\":60.123,\"args\":{\"bytes\":0}}");
}

static void test_chrome__draws_arrows_that_cross_in_time(void **state)
{
	struct test *test = *state;

	emit(test);
	assert_int_equal(test->count.arrows, 2);
	assert_json(find_nth(test, "s", "ac2g", 0),
	            "{\"ph\":\"s\",\"id\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":1000,"
	            "\"tid\":100,\"ts\":0.123,\"args\":{}}");
	assert_json(find_nth(test, "s", "ac2g", 1),
	            "{\"ph\":\"s\",\"id\":2,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":1000,"
	            "\"tid\":100,\"ts\":10.123,\"args\":{}}");
	assert_json(find_nth(test, "f", "ac2g", 0),
	            "{\"ph\":\"f\",\"id\":2,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\","
	            "\"pid\":1001,\"tid\":1,\"ts\":22.123,\"args\":{}}");
	assert_json(find_nth(test, "f", "ac2g", 1),
	            "{\"ph\":\"f\",\"id\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":\"e\","
	            "\"pid\":1001,\"tid\":10000001,\"ts\":25.123,\"args\":{}}");
}

static void test_chrome__shows_what_was_lost(void **state)
{
	struct test *test = *state;

	emit(test);
	assert_json(find(test, "X", "lttng_discarded_events"),
	            "{\"ph\":\"X\",\"cat\":\"loss\",\"name\":\"lttng_discarded_events\",\"pid\":1,"
	            "\"tid\":1,\"ts\":7.123,\"dur\":1,\"args\":{\"count\":13}}");
	/* its time is not known */
	assert_null(find(test, "X", "device_ring_dropped"));
}

/* Everything of phase M, as pid/tid: name. */
static void test_chrome__names_processes_and_rows(void **state)
{
	static const char expected[] = "1/1 process_name flextrace losses\n"
				       "1/1 thread_name lttng_discarded_events\n"
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
	struct test *test = *state;
	char *said = NULL;
	size_t n;
	FILE *out = open_memstream(&said, &n);
	cJSON *event;

	emit(test);
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
	{
		cJSON *value = cJSON_GetObjectItem(event, "args")->child;

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
	struct test *test = *state;

	emit(test);
	assert_int_equal(test->count.rows, 24);
	assert_int_equal(test->count.by_class[RECORD_SCOPE], 6);
	assert_int_equal(test->count.by_class[RECORD_STEP], 1);
	assert_int_equal(test->count.by_class[RECORD_COLLECTIVE], 1);
	assert_int_equal(test->count.by_class[RECORD_DEVICE_OP], 6);
	assert_int_equal(test->count.by_class[RECORD_MARKER_BATCH], 3 + 1 + 1);
	assert_int_equal(test->count.by_class[RECORD_INSTANT], 1);
	assert_int_equal(test->count.by_class[RECORD_ANNOTATION], 1);
	assert_int_equal(test->count.by_class[RECORD_COUNTER], 1);
	assert_int_equal(test->count.by_class[RECORD_MEMORY], 2);
	assert_int_equal(count_events(test, "X"), 8 + 9 + 1);
	assert_int_equal(count_events(test, "i") + count_events(test, "C"), 7);
}

static void test_chrome__is_the_same_inside_gzip(void **state)
{
	struct test *test = *state;
	char *path = NULL, *unpacked;
	gzFile file;
	size_t n;

	emit(test);
	n = strlen(test->text);
	unpacked = calloc(1, n + 2);
	assert_int_equal(write_trace(test, true, NULL), 0);
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
	struct test *test = *state;
	char *again;

	emit(test);
	assert_int_equal(write_trace(test, false, NULL), 0);
	again = scratch_read(test->dir, "trace.json", NULL);
	assert_string_equal(again, test->text);
	free(again);
}

static void test_chrome__leaves_nothing_where_it_cannot_write(void **state)
{
	struct test *test = *state;
	struct flextrace_error error = {0};
	char *path = NULL;

	assert_true(asprintf(&path, "%s/trace.json", test->dir) > 0);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(write_trace(test, false, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, path));
	assert_non_null(strstr(error.message, "cause=Is a directory"));
	assert_false(scratch_has(test->dir, "trace.json.tmp"));
	free(path);
}

/* -- single cases ------------------------------------------------------------------------------------- */

/* A process of a rank with one thread and one device with one queue: tracks 0 and 1. */
static void add_rank(struct test *test, int32_t rank)
{
	struct timeline_fixture *fixture = &test->fixture;
	uint32_t process = fixture_process(fixture, rank, 10, "app");
	uint32_t thread = fixture_thread(fixture, process, 10, "");
	uint32_t device = fixture_device(fixture, process, 0, "d");

	fixture_track(fixture, (struct track){.kind = TRACK_THREAD, .owner = thread});
	fixture_track(fixture,
	              (struct track){.kind = TRACK_QUEUE, .row_kind = ROW_EXEC, .owner = device});
}

static void test_chrome__writes_an_empty_timeline(void **state)
{
	struct test *test = *state;

	emit(test);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(test->root, "traceEvents")), 0);
	assert_null(cJSON_GetObjectItem(test->root, "distributedInfo"));
}

static void test_chrome__tells_the_rank_of_a_single_one(void **state)
{
	struct test *test = *state;

	add_rank(test, 5);
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "a", 0, 5));
	emit(test);
	assert_non_null(strstr(test->text, "\"distributedInfo\": {\"backend\": \"flextrace\", "
	                                   "\"rank\": 5, \"world_size\": 1}"));
	assert_json(cJSON_GetObjectItem(find(test, "X", "a"), "pid"), "6000");
}

static void test_chrome__keeps_processes_of_one_rank_apart(void **state)
{
	struct test *test = *state;

	add_rank(test, 5);
	add_rank(test, 5); /* a forked process */
	add_rank(test, 6);
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "a", 0, 5));
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 2, "b", 0, 5));
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 4, "c", 0, 5));
	emit(test);
	assert_json(cJSON_GetObjectItem(find(test, "X", "a"), "pid"), "6000");
	assert_json(cJSON_GetObjectItem(find(test, "X", "b"), "pid"), "7000");
	assert_json(cJSON_GetObjectItem(find(test, "X", "c"), "pid"), "8000");
}

static void test_chrome__leaves_excluded_processes_out(void **state)
{
	struct test *test = *state;

	add_rank(test, 0);
	add_rank(test, 1);
	test->fixture.processes[1].is_excluded = true;
	test->fixture.timeline.n_tracks = 2;
	emit(test);
	assert_null(strstr(test->text, "Rank 1"));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(test->root, "deviceProperties")),
	                 1);
}

static void test_chrome__keeps_hostile_names(void **state)
{
	static char long_name[1 << 20];
	static const char *const names[] = {
		"\"", "\\",   "</script>", "=cmd()", "\1\2\n\t", "{}", "\xf0\x9f\x9a\x80",
		"//", "%s%n",
	};
	struct test *test = *state;

	memset(long_name, 'x', sizeof(long_name) - 1);
	add_rank(test, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, names[i],
		                                           (int64_t)i * 10, (int64_t)i * 10 + 5));
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, long_name, 1000, 2000));
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "bad \xff", 3000, 4000));
	emit(test);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(find(test, "X", names[i]));
	assert_non_null(find(test, "X", long_name));
	assert_non_null(find(test, "X", "bad \xef\xbf\xbd"));
	assert_int_equal(test->count.replaced_bytes, 1);
}

static void test_chrome__leaves_out_counters_that_are_no_number(void **state)
{
	static const double values[] = {NAN, 1.5, INFINITY, -INFINITY};
	struct test *test = *state;

	add_rank(test, 0);
	for (size_t i = 0; i < 4; i++)
		fixture_counter(&test->fixture, (struct counter_row){.time_ns = (int64_t)i,
		                                                     .value = values[i],
		                                                     .core = FLEXTRACE_NONE});
	emit(test);
	assert_int_equal(test->count.rows, 1);
	assert_int_equal(test->count.left_out, 3);
	assert_int_equal(count_events(test, "C"), 1);
}

static void test_chrome__draws_no_arrow_back_in_time(void **state)
{
	struct test *test = *state;
	uint32_t op;

	add_rank(test, 0);
	op = fixture_op(&test->fixture, (struct tick_op){.class = RECORD_DEVICE_OP, .peer = -1});
	fixture_device_row(&test->fixture,
	                   (struct device_row){10, 20, 0, op, 1, ROW_EXEC, TIME_OUTLIER, 0});
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "launch", 30, 40));
	fixture_flow(&test->fixture, (struct flow){30, 10, 0, 1, 1});
	emit(test);
	assert_int_equal(test->count.arrows, 0);
	assert_int_equal(count_events(test, "s") + count_events(test, "f"), 0);
}

/* ts are never negative and stay small, wherever the timeline lies. */
static void test_chrome__starts_at_a_whole_second(void **state)
{
	static const struct {
		int64_t first_ns, epoch_offset_ns, base_ns;
		const char *ts;
	} cases[] = {
		{0, 0, 0, "0"},
		{1999999999, 0, 1000000000, "999999.999"},
		{-1, 0, -1000000000, "999999.999"},
		{-1000000000, 0, -1000000000, "0"},
		{500, 1787000000999999999, 1787000001000000000, "0.499"},
		{-5, 5, 0, "0"},
	};
	struct test *test = *state;

	add_rank(test, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char base[64];

		table_release(&test->fixture.timeline.host_rows);
		test->fixture.alignment.epoch_offset_ns = cases[i].epoch_offset_ns;
		fixture_host(&test->fixture,
		             fixture_scope(&test->fixture, 0, "a", cases[i].first_ns,
		                           cases[i].first_ns + 1));
		emit(test);
		snprintf(base, sizeof(base), "\"baseTimeNanoseconds\": %lld,",
		         (long long)cases[i].base_ns);
		assert_non_null(strstr(test->text, base));
		assert_json(cJSON_GetObjectItem(find(test, "X", "a"), "ts"), cases[i].ts);
		cJSON_Delete(test->root);
		free(test->text);
		test->root = NULL;
		test->text = NULL;
	}
}

static void test_chrome__makes_room_for_losses_before_the_first_row(void **state)
{
	const struct loss_place place = {0, FLEXTRACE_NONE, FLEXTRACE_NONE, FLEXTRACE_NONE};
	struct test *test = *state;

	add_rank(test, 0);
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "a", 5000000000, 5000000001));
	ledger_lose(&test->fixture.ledger, LOSS_TRUNCATED_STREAM, &place, 1, 3000000007);
	ledger_lose(&test->fixture.ledger, LOSS_UNUSED, &place, 1, 1); /* no loss */
	emit(test);
	assert_json(cJSON_GetObjectItem(find(test, "X", "truncated_stream"), "ts"), "0.007");
	assert_null(find(test, "X", "unused"));
}

static void test_chrome__gives_every_kind_its_category(void **state)
{
	static const char *const runtime[] = {
		"aiuLaunchControlBlocks",
		"aiuInitGraph",
		"aiuMalloc",
		"aiuResizeTensorAllocation",
		"aiuLaunchSuperNode",
		"aiuSuperNodeExecution",
		"aiuGraphExecution",
		"aiuNodeCompute",
		"aiuDataConvert",
		"aiuInitScheduler",
		"aiuCreateVirtualAddresses",
		"aiuLaunchScheduleCompute",
		"aiuScheduleWait",
		"aiuPrepareDMAs",
		"aiuPrepareAndSyncRDMA",
		"aiuClearCache",
		"aiuPreloadCache",
		"aiuLaunchComputeStream",
		"aiuRDMABarrier1",
		"aiuPostRDMAKeys",
		"aiuRDMABarrier2",
		"aiuFetchRDMAKeys",
		"aiuUpdateRDMACBs",
		"aiuRDMABarrier3",
		"aiuCheckRDMADeadlock",
		"aiuFileTransferDtoF",
		"aiuFileTransferMtoF",
		"aiuFileTransferFtoD",
		"aiuFileTransferFtoM",
		"aiuDataTransferDtoH",
		"aiuDataTransferHtoD",
		"aiuClockCalibration",
		"aiuCompileGraph",
	};
	static const struct {
		uint8_t kind;
		const char *label, *category;
	} others[] = {
		{FLEXTRACE_RUNTIME_USER, "User", "user_annotation"},
		{FLEXTRACE_RUNTIME_OP, "Op", "cpu_op"},
		{HOST_STEP, "Step", "user_annotation"},
		{HOST_WINDOW, "Window", "user_annotation"},
		{HOST_COLLECTIVE, "Collective", "collective_comm"},
		{HOST_ASYNC, "Async", "user_annotation"},
		{63, "Unknown", "privateuse1_runtime"},
		{255, "Unknown", "privateuse1_runtime"},
	};
	struct test *test = *state;
	int64_t time_ns = 0;

	add_rank(test, 0);
	for (uint8_t kind = 1; kind <= 33; kind++, time_ns += 10) {
		struct host_row row = fixture_scope(&test->fixture, 0, runtime[kind - 1], time_ns,
		                                    time_ns + 5);

		row.kind = kind;
		fixture_host(&test->fixture, row);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++, time_ns += 10) {
		struct host_row row = fixture_scope(&test->fixture, 0, "", time_ns, time_ns + 5);

		row.kind = others[i].kind;
		fixture_host(&test->fixture, row);
	}
	emit(test);
	for (size_t i = 0; i < 33; i++) {
		cJSON *event = find(test, "X", runtime[i]);
		cJSON *args = cJSON_GetObjectItem(event, "args");

		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat")),
		                    "privateuse1_runtime");
		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(args, "kind")),
		                    runtime[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		cJSON *event = find(test, "X", others[i].label);

		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat")),
		                    others[i].category);
	}
}

static void test_chrome__gives_every_device_kind_its_category(void **state)
{
	static const struct {
		uint8_t kind;
		const char *label, *category;
	} cases[] = {
		{ROW_DMA_IN, "DmaI", "device_dma"},
		{ROW_PREP, "Prep", "device_prep"},
		{ROW_EXEC, "Exec", "kernel"},
		{ROW_DMA_OUT, "DmaO", "device_dma"},
		{ROW_MEMCPY_HTOD, "Memcpy HtoD", "gpu_memcpy"},
		{ROW_MEMCPY_DTOH, "Memcpy DtoH", "gpu_memcpy"},
		{ROW_MEMCPY_DTOD, "Memcpy DtoD", "gpu_memcpy"},
		{ROW_MEMCPY_PTOP, "Memcpy PtoP", "gpu_memcpy"},
		{ROW_MEMSET, "Memset", "gpu_memset"},
		{ROW_RELEASE, "Release", "device_release"},
		{ROW_FIRMWARE, "FW", "firmware"},
		{ROW_KERNEL, "Kernel", "firmware"},
		{ROW_ZONE, "Zone", "firmware"},
	};
	const size_t n_cases = sizeof(cases) / sizeof(cases[0]);
	struct test *test = *state;

	assert_int_equal(n_cases, DEVICE_ROW_KIND_COUNT);
	add_rank(test, 0);
	fixture_op(&test->fixture, (struct tick_op){.class = RECORD_DEVICE_OP, .peer = -1});
	fixture_zone(&test->fixture, (struct zone){.core = 0});
	for (size_t i = 0; i < n_cases; i++)
		fixture_device_row(&test->fixture,
		                   (struct device_row){(int64_t)i * 10, (int64_t)i * 10 + 5, 0, 0,
		                                       1, cases[i].kind, TIME_CERTIFIED, 0});
	emit(test);
	for (size_t i = 0; i < n_cases; i++) {
		cJSON *event = find(test, "X", cases[i].label);

		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat")),
		                    cases[i].category);
	}
}

/* Many buffers full, of rows that nest at random, of which many have equal times; a lane takes what would cross. */
static void test_chrome__sorts_many_rows(void **state)
{
	struct test *test = *state;
	struct timeline_fixture *fixture = &test->fixture;
	uint32_t name, op;
	uint64_t seed = 1;

	add_rank(test, 0);
	name = fixture_string(fixture, "row");
	op = fixture_op(fixture, (struct tick_op){.class = RECORD_DEVICE_OP, .peer = -1});
	for (int64_t i = 0; i < 8000; i++) {
		struct host_row row = fixture_scope(fixture, 0, "", i / 3 * 10, i / 3 * 10 + 9);

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		row.name = name;
		row.end_time_ns -= i % 3 * 3; /* three that start together, the longest first */
		fixture_host(fixture, row);
		fixture_instant(fixture, (struct instant_row){.time_ns = i * 7 / 2,
		                                              .name = name,
		                                              .class = RECORD_INSTANT});
		fixture_counter(fixture, (struct counter_row){.time_ns = i / 2,
		                                              .name = name,
		                                              .core = FLEXTRACE_NONE});
		fixture_device_row(fixture, (struct device_row){i * 40, i * 40 + 40, 0, op, 1,
		                                                ROW_EXEC, TIME_CERTIFIED, 0});
		if (i % 3 == 0)
			fixture_flow(fixture,
			             (struct flow){row.start_time_ns,
			                           (i + (int64_t)(seed >> 60)) * 40, 0, 1, 1});
	}
	/* arrows to rows behind the last one would end nowhere */
	for (int64_t i = 8000; i < 8016; i++)
		fixture_device_row(fixture, (struct device_row){i * 40, i * 40 + 40, 0, op, 1,
		                                                ROW_EXEC, TIME_CERTIFIED, 0});
	emit(test);
	assert_int_equal(count_events(test, "X"), 16016);
	assert_int_equal(count_events(test, "i"), 8000);
	assert_int_equal(count_events(test, "C"), 8000);
	assert_int_equal(count_events(test, "s"), 2667);
	assert_int_equal(count_events(test, "f"), 2667);
}

#define SAMPLE(name) cmocka_unit_test_setup_teardown(name, start_sample, stop)
#define EMPTY(name)  cmocka_unit_test_setup_teardown(name, start_empty, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE(test_chrome__opens_with_what_readers_look_for),
		SAMPLE(test_chrome__writes_host_rows),
		SAMPLE(test_chrome__writes_device_rows),
		SAMPLE(test_chrome__writes_points),
		SAMPLE(test_chrome__draws_arrows_that_cross_in_time),
		SAMPLE(test_chrome__shows_what_was_lost),
		SAMPLE(test_chrome__names_processes_and_rows),
		SAMPLE(test_chrome__counts_each_row_by_its_class),
		SAMPLE(test_chrome__is_the_same_inside_gzip),
		SAMPLE(test_chrome__is_the_same_every_time),
		SAMPLE(test_chrome__leaves_nothing_where_it_cannot_write),
		EMPTY(test_chrome__writes_an_empty_timeline),
		EMPTY(test_chrome__tells_the_rank_of_a_single_one),
		EMPTY(test_chrome__keeps_processes_of_one_rank_apart),
		EMPTY(test_chrome__leaves_excluded_processes_out),
		EMPTY(test_chrome__keeps_hostile_names),
		EMPTY(test_chrome__leaves_out_counters_that_are_no_number),
		EMPTY(test_chrome__draws_no_arrow_back_in_time),
		EMPTY(test_chrome__starts_at_a_whole_second),
		EMPTY(test_chrome__makes_room_for_losses_before_the_first_row),
		EMPTY(test_chrome__gives_every_kind_its_category),
		EMPTY(test_chrome__gives_every_device_kind_its_category),
		EMPTY(test_chrome__sorts_many_rows),
	};

	return cmocka_run_group_tests_name("chrome", tests, NULL, NULL);
}
