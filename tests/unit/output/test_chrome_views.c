// SPDX-License-Identifier: Apache-2.0
/* What --overlap, --types, --error-bands and --time-unit make of trace.json. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/found_rows.h"
#include "chrome_fixture.h"
#include "trace_checker.h"

static uint64_t n_left_out(const struct emit_test *test)
{
	uint64_t sum = 0;

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		sum += test->counts[0].left_out_by_class[class];
	assert_int_equal(sum, test->counts[0].left_out);
	return sum;
}

/* -- rows that cross ------------------------------------------------------------------------ */

static void test_views__pair_what_crosses_as_async(void **state)
{
	struct emit_test *test = *state;
	uint64_t n_lanes = emit_count_overlaps(&test->fixture.timeline);
	int n_intervals;

	assert_true(n_lanes >= 2);
	chrome_emit(test);
	n_intervals = chrome_count(test, "X");
	test->views.overlap = OVERLAP_ASYNC;
	chrome_emit(test);
	assert_int_equal(chrome_count(test, "b"), n_lanes);
	assert_int_equal(chrome_count(test, "e"), n_lanes);
	assert_int_equal(chrome_count(test, "X"), n_intervals - (int)n_lanes);
	assert_int_equal(n_left_out(test), 0);
	assert_null(strstr(test->text, "lane 2"));
}

/* The arrow to a row that is no interval goes with it. */
static void test_views__drop_what_crosses(void **state)
{
	struct emit_test *test = *state;
	uint64_t n_lanes = emit_count_overlaps(&test->fixture.timeline);

	chrome_emit(test);
	assert_int_equal(test->counts[0].arrows, 2);
	test->views.overlap = OVERLAP_DROP;
	chrome_emit(test);
	assert_int_equal(n_left_out(test), n_lanes);
	assert_int_equal(test->counts[0].arrows, 1);
	assert_int_equal(test->counts[0].arrows_left_out[ARROW_END_NOT_SHOWN], 1);
	assert_int_equal(chrome_count(test, "b"), 0);
	assert_null(strstr(test->text, "lane 2"));
}

/* On their own line they are what the checker is there to find. */
static void test_views__leave_what_crosses_on_its_line(void **state)
{
	struct emit_test *test = *state;
	FILE *nowhere = fopen("/dev/null", "w");
	int n_intervals;

	chrome_emit(test);
	n_intervals = chrome_count(test, "X");
	test->views.overlap = OVERLAP_WARN;
	assert_int_equal(chrome_write_trace(test, false, NULL), 0);
	emit_test_read(test, "trace.json");
	assert_int_equal(chrome_count(test, "X"), n_intervals);
	assert_int_equal(chrome_count(test, "s"), 2);
	assert_int_equal(n_left_out(test), 0);
	assert_null(strstr(test->text, "lane 2"));
	assert_true(trace_check(test->text, strlen(test->text), nowhere) > 0);
	fclose(nowhere);
}

/* -- kinds of events ------------------------------------------------------------------------ */

static const struct {
	const char *types;
	bool intervals, instants, counters, arrows;
} type_cases[] = {
	{"X", true, false, false, false},  {"Xs", true, false, false, true},
	{"BE", true, false, false, false}, {"C", false, false, true, false},
	{"i", false, true, false, false},  {"sf", false, false, false, false},
	{"M", false, false, false, false}, {"XCisf", true, true, true, true},
};

static void test_views__write_the_types_that_were_asked_for(void **state)
{
	struct emit_test *test = *state;
	int intervals, instants, counters, n_losses = 0;
	cJSON *event;

	chrome_emit(test);
	intervals = chrome_count(test, "X");
	instants = chrome_count(test, "i");
	counters = chrome_count(test, "C");
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
	{
		const char *cat = cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat"));

		n_losses += cat && !strcmp(cat, "loss");
	}
	assert_true(intervals > n_losses && instants && counters && n_losses);
	for (size_t i = 0; i < sizeof(type_cases) / sizeof(type_cases[0]); i++) {
		test->views.types = type_cases[i].types;
		chrome_emit(test);
		assert_int_equal(chrome_count(test, "X"),
		                 type_cases[i].intervals ? intervals : n_losses);
		assert_int_equal(chrome_count(test, "i"), type_cases[i].instants ? instants : 0);
		assert_int_equal(chrome_count(test, "C"), type_cases[i].counters ? counters : 0);
		assert_int_equal(chrome_count(test, "s"), type_cases[i].arrows ? 2 : 0);
		assert_int_equal(test->counts[0].arrows_left_out[ARROW_NOT_IN_TYPES],
		                 type_cases[i].arrows ? 0 : 2);
		n_left_out(test);
	}
}

/* Neither they nor their lines. */
static void test_views__do_not_name_what_has_nothing_of_the_types_asked_for(void **state)
{
	static const struct {
		const char *types;
		bool has_host, has_counter, has_device;
	} cases[] = {{NULL, true, true, true},
	             {"X", true, false, true},
	             {"C", false, true, false},
	             {"i", false, false, true},
	             {"M", false, false, false}};
	struct emit_test *test = *state;
	struct timeline_fixture *f = &test->fixture;
	uint32_t host = fixture_process(f, 0, 7, "p"), counting = fixture_process(f, 1, 8, "p");
	uint32_t device = fixture_device(f, fixture_process(f, 2, 9, "p"), 0, "d");
	uint32_t thread = fixture_track(
		f, (struct track){.kind = TRACK_THREAD, .owner = fixture_thread(f, host, 8, "t")});
	uint32_t core = fixture_track(f, (struct track){.kind = TRACK_CORE, .owner = device});
	uint32_t queue = fixture_track(f, (struct track){.kind = TRACK_QUEUE, .owner = device});

	fixture_host(f, fixture_scope(f, thread, "a", 5000, 6000));
	fixture_counter(f, (struct counter_row){.time_ns = 5000,
	                                        .owner = counting,
	                                        .name = fixture_string(f, "load"),
	                                        .value = 1,
	                                        .core = FLEXTRACE_NONE,
	                                        .class = RECORD_COUNTER});
	fixture_instant(f, (struct instant_row){.time_ns = 5000,
	                                        .track = core,
	                                        .name = fixture_string(f, "mark"),
	                                        .class = RECORD_INSTANT});
	fixture_device_row(
		f, (struct device_row){.start_time_ns = 5000,
	                               .end_time_ns = 6000,
	                               .track = queue,
	                               .source = fixture_op(f, (struct tick_op){.peer = -1})});
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		test->views.types = cases[i].types;
		chrome_emit(test);
		assert_true(cases[i].has_host == !!strstr(test->text, "\"Rank 0 host"));
		assert_true(cases[i].has_host == !!strstr(test->text, "\"tid\":8,"));
		assert_true(cases[i].has_counter == !!strstr(test->text, "\"Rank 1 host"));
		assert_true(cases[i].has_device == !!strstr(test->text, "\"Rank 2 device"));
		assert_true(cases[i].has_device == !!strstr(test->text, "\"core 0\""));
		assert_null(strstr(test->text, "\"Rank 2 host")); /* it has nothing */
	}
	test->views.types = NULL;
}

/* One sample for each row of a device with another error bar than the one before, at its start. */
static void test_views__show_how_far_times_of_devices_may_be_off(void **state)
{
	struct emit_test *test = *state;
	int64_t last[64];
	int n = 0, n_shown = 0;
	cJSON *event;

	memset(last, -1, sizeof(last));
	TABLE_EACH(struct device_row, row, &test->fixture.timeline.device_rows) {
		uint32_t device = test->fixture.timeline.tracks[row->track].owner;

		assert_in_range(device, 0, 63);
		n += last[device] != row->err_ns;
		last[device] = row->err_ns;
	}
	assert_true(n >= 2);
	chrome_emit(test);
	assert_null(strstr(test->text, "error bar"));
	test->views.has_bands = true;
	chrome_emit(test);
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
	{
		const cJSON *args = cJSON_GetObjectItem(event, "args");

		if (strcmp(cJSON_GetObjectItem(event, "name")->valuestring, "error bar") != 0)
			continue;
		assert_string_equal(cJSON_GetObjectItem(event, "ph")->valuestring, "C");
		assert_non_null(cJSON_GetObjectItem(args, "ns"));
		n_shown++;
	}
	assert_int_equal(n_shown, n);
}

static void test_views__tell_viewers_the_unit(void **state)
{
	struct emit_test *test = *state;

	test->views.shows_ns = true;
	chrome_emit(test);
	assert_non_null(strstr(test->text, "\"displayTimeUnit\": \"ns\""));
}

/* -- words ---------------------------------------------------------------------------------- */

static void test_views__are_read_from_words(void **state)
{
	static const struct {
		struct view_options options;
		const char *complaint; /* NULL = none */
	} cases[] = {
		{{0}, NULL},
		{{.overlap = "lanes", .types = "XBECbenistfM", .time_unit = "ms"}, NULL},
		{{.overlap = "async", .time_unit = "ns"}, NULL},
		{{.overlap = "drop", .types = ""}, NULL},
		{{.overlap = "warn"}, NULL},
		{{.overlap = "tid"}, "`overlap`"},
		{{.overlap = ""}, "`overlap`"},
		{{.types = "XQ"}, "`types`"},
		{{.types = "X,C"}, "`types`"},
		{{.time_unit = "us"}, "`time-unit`"},
		{{.per_rank = "kineto"}, NULL},
		{{.per_rank = "no"}, NULL},
		{{.per_rank = "hta"}, "`per-rank`"},
		{{.compat = "hta"}, NULL},
		{{.compat = "kineto"}, "`compat`"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct flextrace_error error = {0};
		struct emit_views views;
		int code = emit_read_views(&views, &cases[i].options, &error);

		assert_int_equal(code, cases[i].complaint ? FLEXTRACE_E_USAGE : 0);
		assert_true(!cases[i].complaint || strstr(error.message, cases[i].complaint));
		assert_true(code < 0 || views.is_hta == !!cases[i].options.compat);
	}
}

/* -- files of single ranks ------------------------------------------------------------------ */

/* Or of all processes. */
static void write_rank(struct emit_test *test, uint32_t process, const char *name)
{
	uint32_t group = fixture_string(&test->fixture, "Sync_4");
	struct found_row rows[] = {
		{.start_time_ns = 1000000100, .end_time_ns = 1000000900, .process = 1, .number = 4},
		{.start_time_ns = 1000000200,
	         .end_time_ns = 1000000300,
	         .process = 1,
	         .op = "all_gather",
	         .bytes = 77,
	         .lane = 1},
		{.start_time_ns = 1000000200, .end_time_ns = 1000000300, .process = 0},
		{.start_time_ns = 1000000250,
	         .end_time_ns = 1000000260,
	         .process = 1,
	         .op = "all_to_all",
	         .bytes = 78,
	         .status = TIME_ASSUMED,
	         .err_ns = 12},
		{.start_time_ns = 1000000255,
	         .end_time_ns = 1000000265,
	         .process = 1,
	         .op = "",
	         .group = group,
	         .err_ns = UINT32_MAX,
	         .lane = 2},
	};
	const struct found_rows found_rows = {rows, 5, true};
	const struct emit_options options = {.output_dir = test->dir, .views = test->views};
	struct findings findings = test->fixture.findings;

	findings.found_rows = &found_rows;
	assert_int_equal(emit_chrome(&findings, &options, process, name, test->counts, NULL), 0);
	assert_int_equal(test->counts[0].rows + test->counts[0].left_out, test->counts[0].expected);
	assert_string_equal(test->counts[0].file, name);
	emit_test_read_gzip(test, name);
}

/* Every row of the timeline stands in one file, but those of processes without one. */
static void test_views__give_each_rank_its_rows(void **state)
{
	struct emit_test *test = *state;
	uint64_t n = 0, n_all;

	chrome_emit(test);
	n_all = test->counts[0].rows + test->counts[0].left_out;
	for (uint32_t i = 0; i < test->fixture.identity.n_processes; i++) {
		write_rank(test, i, "a.pt.trace.json.gz");
		n += test->counts[0].rows + test->counts[0].left_out;
	}
	assert_int_equal(n, n_all);
}

static void test_views__name_what_tensorboard_looks_for(void **state)
{
	struct emit_test *test = *state;
	struct host_row row = fixture_scope(&test->fixture, 0, "AllReduce", 1000000400, 1000000500);
	const cJSON *event, *info;

	row.kind = HOST_COLLECTIVE;
	row.args = fixture_string(&test->fixture,
	                          "{\"group\":\"\\\",\\\"bytes\\\":1\",\"seq\":1,\"bytes\":4096}");
	fixture_host(&test->fixture, row);
	write_rank(test, 1, "trace.rank0.pt.trace.json.gz");
	assert_non_null(strstr(test->text, "\"traceName\": \"trace.rank0.pt.trace.json\""));
	info = cJSON_GetObjectItem(test->root, "distributedInfo");
	assert_int_equal(cJSON_GetObjectItem(info, "rank")->valueint, 0);
	event = chrome_find(test, "X", "ProfilerStep#4", 0);
	assert_non_null(event);
	event = cJSON_GetObjectItem(chrome_find(test, "X", "gloo:all_reduce", 0), "args");
	emit_assert_json(cJSON_GetObjectItem(event, "Input Dims"), "[[4096]]");
	assert_int_equal(cJSON_GetObjectItem(event, "bytes")->valueint, 4096);
	event = cJSON_GetObjectItem(chrome_find(test, "X", "gloo:all_gather", 0), "args");
	emit_assert_json(cJSON_GetObjectItem(event, "Input Dims"), "[[77]]");
	/* what TensorBoard does not know has its own name */
	assert_non_null(chrome_find(test, "X", "all_to_all", 0));
	assert_non_null(chrome_find(test, "X", "Sync_4", 0));
	assert_null(chrome_find(test, "X", "ProfilerStep#0", 0)); /* of the other rank */
	assert_null(strstr(test->text, "Rank 1"));
}

/* Beside what programs recorded; steps are for readers of single ranks. */
static void test_views__show_collectives_that_devices_were_seen_at(void **state)
{
	struct emit_test *test = *state;
	const cJSON *event;

	write_rank(test, FLEXTRACE_NONE, "trace.json.gz");
	event = chrome_find(test, "X", "all_gather", 0);
	assert_string_equal(cJSON_GetObjectItem(event, "cat")->valuestring, "collective_comm");
	assert_int_equal(cJSON_GetObjectItem(event, "tid")->valueint, 9999998);
	assert_int_equal(cJSON_GetObjectItem(event, "pid")->valueint, 1000);
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "all_to_all", 0), "args"),
	                 "{\"device\":0,\"bytes\":78,\"found\":\"in the work of its devices\","
	                 "\"status\":\"assumed\",\"err_ns\":12}");
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "Sync_4", 0), "args"),
	                 "{\"device\":0,\"group\":\"Sync_4\","
	                 "\"found\":\"in the work of its devices\"}");
	assert_null(strstr(test->text, "steps (found)"));
	test->views.types = "C";
	write_rank(test, FLEXTRACE_NONE, "trace.json.gz");
	assert_null(chrome_find(test, "X", "all_gather", 0));
	assert_null(strstr(test->text, "(found)"));
	test->views.types = NULL;
}

/* A control block of the first device of the first rank, on a queue of its own. */
static void add_device_row(struct emit_test *test, uint8_t kind, uint8_t track_kind,
                           const char *name, int64_t ns)
{
	struct device_row row = {
		.start_time_ns = 1000000000,
		.end_time_ns = 1000000000 + ns,
		.err_ns = UINT32_MAX,
		.kind = kind,
	};
	struct track track = {.kind = TRACK_QUEUE, .row_kind = track_kind};
	const struct tick_op op = {
		.name = fixture_string(&test->fixture, name),
		.job = 1,
		.correlation = 9,
		.bytes = 500,
		.ticks = {1, 2, 3, 4, 5},
		.peer = -1,
	};

	row.source = track.id = fixture_op(&test->fixture, op);
	track.id++;
	row.track = fixture_track(&test->fixture, track);
	fixture_device_row(&test->fixture, row);
}

static const cJSON *args_of(struct emit_test *test, const char *name)
{
	const cJSON *event = chrome_find(test, "X", name, 0);

	if (!event)
		fail_msg("No event: %s", name);
	return cJSON_GetObjectItem(event, "args");
}

/* Their readers know copies by name, and take what has a correlation but no stream for launches. */
static void test_views__call_copies_what_readers_of_a_rank_know(void **state)
{
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	add_device_row(test, ROW_MEMCPY_HTOD, ROW_EXEC, "in\"put", 100);
	add_device_row(test, ROW_MEMCPY_DTOH, ROW_EXEC, "Memcpy DtoH (Device -> Pinned)", 0);
	add_device_row(test, ROW_MEMSET, ROW_EXEC, "", 100);
	add_device_row(test, ROW_EXEC, ROW_EXEC, "kernel", 100);
	add_device_row(test, ROW_PREP, ROW_PREP, "prep", 100);
	write_rank(test, 0, "a.pt.trace.json.gz");
	assert_true(cJSON_GetObjectItem(args_of(test, "Memcpy HtoD (in\"put)"),
	                                "memory bandwidth (GB/s)")
	                    ->valuedouble == 5);
	assert_null(cJSON_GetObjectItem(args_of(test, "Memcpy DtoH (Device -> Pinned)"),
	                                "memory bandwidth (GB/s)"));
	assert_non_null(args_of(test, "Memset"));
	assert_int_equal(cJSON_GetObjectItem(args_of(test, "kernel"), "correlation")->valueint, 9);
	assert_null(cJSON_GetObjectItem(args_of(test, "kernel"), "memory bandwidth (GB/s)"));
	assert_null(cJSON_GetObjectItem(args_of(test, "prep \u00b7 prep"), "correlation"));
	chrome_emit(test);
	assert_non_null(args_of(test, "in\"put"));
	assert_int_equal(
		cJSON_GetObjectItem(args_of(test, "prep \u00b7 prep"), "correlation")->valueint, 9);
}

/* Some readers look at ts alone. */
static void test_views__give_all_ranks_one_base(void **state)
{
	struct emit_test *test = *state;
	double bases[2];

	for (uint32_t i = 0; i < 2; i++)
		chrome_add_rank(test, (int32_t)i);
	fixture_host(&test->fixture,
	             fixture_scope(&test->fixture, 0, "early", 500000000, 500000001));
	fixture_host(&test->fixture,
	             fixture_scope(&test->fixture, 2, "late", 7500000000, 7500000001));
	for (uint32_t i = 0; i < 2; i++) {
		write_rank(test, i, "a.pt.trace.json.gz");
		bases[i] = cJSON_GetObjectItem(test->root, "baseTimeNanoseconds")->valuedouble;
	}
	assert_true(bases[0] == bases[1] && bases[0] == -17e9); /* 2^24 us before the first */
}

/* Each scope ends where the next one begins, to a reader that adds doubles: however long they are,
 * and however near to where the file begins. */
static void test_views__have_rank_times_that_add_up_as_doubles(void **state)
{
	struct emit_test *test = *state;
	int64_t time_ns = 1000000001;
	uint64_t random = 3;
	double end_us = 0;
	uint32_t n = 0;
	cJSON *event;

	chrome_add_rank(test, 0);
	for (uint32_t i = 0; i < 33; i++) {
		int64_t next_ns;

		random = random * 6364136223846793005u + 1442695040888963407u;
		next_ns = time_ns + 1 + (int64_t)((random >> 16) % (16ull << i));
		fixture_host(&test->fixture,
		             fixture_scope(&test->fixture, 0, "next", time_ns, next_ns));
		time_ns = next_ns;
	}
	write_rank(test, 0, "a.pt.trace.json.gz");
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
	{
		double start_us;

		if (strcmp(cJSON_GetObjectItem(event, "name")->valuestring, "next") != 0)
			continue;
		start_us = cJSON_GetObjectItem(event, "ts")->valuedouble;
		assert_true(n++ == 0 || start_us == end_us);
		end_us = start_us + cJSON_GetObjectItem(event, "dur")->valuedouble;
	}
	assert_int_equal(n, 33);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE(test_views__pair_what_crosses_as_async),
		SAMPLE(test_views__drop_what_crosses),
		SAMPLE(test_views__leave_what_crosses_on_its_line),
		SAMPLE(test_views__write_the_types_that_were_asked_for),
		EMPTY(test_views__do_not_name_what_has_nothing_of_the_types_asked_for),
		SAMPLE(test_views__show_how_far_times_of_devices_may_be_off),
		SAMPLE(test_views__tell_viewers_the_unit),
		SAMPLE(test_views__give_each_rank_its_rows),
		SAMPLE(test_views__name_what_tensorboard_looks_for),
		SAMPLE(test_views__show_collectives_that_devices_were_seen_at),
		EMPTY(test_views__call_copies_what_readers_of_a_rank_know),
		EMPTY(test_views__give_all_ranks_one_base),
		EMPTY(test_views__have_rank_times_that_add_up_as_doubles),
		cmocka_unit_test(test_views__are_read_from_words),
	};

	return cmocka_run_group_tests_name("chrome_views", tests, NULL, NULL);
}
