// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chrome_fixture.h"

static void test_chrome__writes_an_empty_timeline(void **state)
{
	struct emit_test *test = *state;

	chrome_emit(test);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(test->root, "traceEvents")), 0);
	assert_null(cJSON_GetObjectItem(test->root, "distributedInfo"));
}

static void test_chrome__tells_the_rank_of_a_single_one(void **state)
{
	struct emit_test *test = *state;

	chrome_add_rank(test, 5);
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "a", 0, 5));
	chrome_emit(test);
	assert_non_null(strstr(test->text, "\"distributedInfo\": {\"backend\": \"flextrace\", "
	                                   "\"rank\": 5, \"world_size\": 1}"));
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "a", 0), "pid"), "6000");
}

static void test_chrome__keeps_processes_of_one_rank_apart(void **state)
{
	struct emit_test *test = *state;

	chrome_add_rank(test, 5);
	chrome_add_rank(test, 5); /* a forked process */
	chrome_add_rank(test, 6);
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "a", 0, 5));
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 2, "b", 0, 5));
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 4, "c", 0, 5));
	chrome_emit(test);
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "a", 0), "pid"), "6000");
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "b", 0), "pid"), "7000");
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "c", 0), "pid"), "8000");
}

static void test_chrome__leaves_excluded_processes_out(void **state)
{
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	chrome_add_rank(test, 1);
	test->fixture.processes[1].is_excluded = true;
	test->fixture.timeline.n_tracks = 2;
	chrome_emit(test);
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
	struct emit_test *test = *state;

	memset(long_name, 'x', sizeof(long_name) - 1);
	chrome_add_rank(test, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, names[i],
		                                           (int64_t)i * 10, (int64_t)i * 10 + 5));
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, long_name, 1000, 2000));
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "bad \xff", 3000, 4000));
	chrome_emit(test);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(chrome_find(test, "X", names[i], 0));
	assert_non_null(chrome_find(test, "X", long_name, 0));
	assert_non_null(chrome_find(test, "X", "bad \xef\xbf\xbd", 0));
	assert_int_equal(test->counts[0].replaced_bytes, 1);
}

static void test_chrome__leaves_out_counters_that_are_no_number(void **state)
{
	static const double values[] = {NAN, 1.5, INFINITY, -INFINITY};
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	for (size_t i = 0; i < 4; i++)
		fixture_counter(&test->fixture, (struct counter_row){.time_ns = (int64_t)i,
		                                                     .value = values[i],
		                                                     .core = FLEXTRACE_NONE});
	chrome_emit(test);
	assert_int_equal(test->counts[0].rows, 1);
	assert_int_equal(test->counts[0].left_out, 3);
	assert_int_equal(chrome_count(test, "C"), 1);
}

static void test_chrome__draws_a_counter_where_it_changes(void **state)
{
	static const struct counter_row rows[] = {
		{.time_ns = 1, .value = 2, .core = FLEXTRACE_NONE},
		{.time_ns = 2, .value = 2, .core = FLEXTRACE_NONE, .is_device = 1},
		{.time_ns = 3, .value = 2, .core = 0},
		{.time_ns = 4, .value = 2, .core = FLEXTRACE_NONE, .owner = 1},
		{.time_ns = 5, .value = 2, .core = FLEXTRACE_NONE}, /* as it is */
		{.time_ns = 6, .value = 3, .core = 0},
		{.time_ns = 7, .value = 0, .core = FLEXTRACE_NONE},
		{.time_ns = 8, .value = NAN, .core = FLEXTRACE_NONE},
		{.time_ns = 9, .value = 0, .core = FLEXTRACE_NONE}, /* as it is */
		{.time_ns = 10, .value = 2, .core = FLEXTRACE_NONE},
	};
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	chrome_add_rank(test, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fixture_counter(&test->fixture, rows[i]);
	chrome_emit(test);
	assert_int_equal(test->counts[0].rows, 7);
	assert_int_equal(test->counts[0].left_out, 3);
	assert_int_equal(chrome_count(test, "C"), 7);
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "C", "counter", 4), "ts"), "0.01");
}

static void test_chrome__draws_no_arrow_back_in_time(void **state)
{
	struct emit_test *test = *state;
	uint32_t op;

	chrome_add_rank(test, 0);
	op = fixture_op(&test->fixture, (struct tick_op){.class = RECORD_DEVICE_OP, .peer = -1});
	fixture_device_row(&test->fixture,
	                   (struct device_row){10, 20, 0, op, 1, ROW_EXEC, TIME_OUTLIER, 0});
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "launch", 30, 40));
	fixture_flow(&test->fixture, (struct flow){30, 10, 0, 1, 0, 0, {1}});
	chrome_emit(test);
	assert_int_equal(test->counts[0].arrows, 0);
	assert_int_equal(test->counts[0].arrows_left_out[ARROW_BACK_IN_TIME], 1);
	assert_int_equal(chrome_count(test, "s") + chrome_count(test, "f"), 0);
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
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char base[64];

		table_release(&test->fixture.timeline.host_rows);
		test->fixture.alignment.epoch_offset_ns = cases[i].epoch_offset_ns;
		fixture_host(&test->fixture,
		             fixture_scope(&test->fixture, 0, "a", cases[i].first_ns,
		                           cases[i].first_ns + 1));
		chrome_emit(test);
		snprintf(base, sizeof(base), "\"baseTimeNanoseconds\": %lld,",
		         (long long)cases[i].base_ns);
		assert_non_null(strstr(test->text, base));
		emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "a", 0), "ts"),
		                 cases[i].ts);
	}
}

static void test_chrome__makes_room_for_losses_before_the_first_row(void **state)
{
	const struct loss_place place = {0, FLEXTRACE_NONE, FLEXTRACE_NONE, FLEXTRACE_NONE};
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "a", 5000000000, 5000000001));
	ledger_lose(&test->fixture.ledger, LOSS_TRUNCATED_STREAM, &place, 1, 3000000007);
	ledger_lose(&test->fixture.ledger, LOSS_UNUSED, &place, 1, 3000000009); /* no loss */
	chrome_emit(test);
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "truncated_stream", 0), "ts"),
	                 "0.007");
	emit_assert_json(cJSON_GetObjectItem(chrome_find(test, "X", "unused", 0), "cat"),
	                 "\"left_out\"");
}

/* Rank 1 and its device have no track. */
static void test_chrome__names_no_process_without_anything(void **state)
{
	struct emit_test *test = *state;
	const struct loss_span span = {1, 2, 3};
	struct loss_place place = {1, 0, FLEXTRACE_NONE, FLEXTRACE_NONE};
	struct losses *losses = &test->fixture.ledger.losses;

	chrome_add_rank(test, 0);
	chrome_add_rank(test, 1);
	test->fixture.timeline.n_tracks = 2;
	chrome_emit(test);
	assert_non_null(strstr(test->text, "Rank 0 host"));
	assert_non_null(strstr(test->text, "Rank 0 device 0"));
	assert_null(strstr(test->text, "Rank 1"));
	assert_int_equal(losses_add(losses, LOSS_RING_DROPPED, &place, &span), 0);
	chrome_emit(test);
	assert_null(strstr(test->text, "Rank 1 host"));
	assert_non_null(strstr(test->text, "Rank 1 device 0"));
	fixture_counter(&test->fixture,
	                (struct counter_row){.time_ns = 5, .owner = 1, .core = FLEXTRACE_NONE});
	chrome_emit(test);
	assert_non_null(strstr(test->text, "Rank 1 host"));
}

static void lose(struct emit_test *test, const struct loss_place *place, int64_t first_ns,
                 int64_t last_ns, uint64_t count)
{
	const struct loss_span span = {first_ns, last_ns, count};

	assert_int_equal(
		losses_add(&test->fixture.ledger.losses, LOSS_DISCARDED_EVENTS, place, &span), 0);
}

/* What has no time is around what has, and intervals do not cross. */
static void test_chrome__shows_losses_where_they_were(void **state)
{
	const struct loss_place place = {0, FLEXTRACE_NONE, FLEXTRACE_NONE, FLEXTRACE_NONE};
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	fixture_host(&test->fixture, fixture_scope(&test->fixture, 0, "a", 5000000000, 5000000100));
	lose(test, &place, 5000000200, 5000000290, 3);
	lose(test, &place, 5000000250, 5000000270, 4);
	lose(test, &place, INT64_MIN, INT64_MIN, 5);
	chrome_emit(test);
	emit_assert_json(chrome_find(test, "X", "lttng_discarded_events", 0),
	                 "{\"ph\":\"X\",\"cat\":\"loss\",\"name\":\"lttng_discarded_events\","
	                 "\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":0.29,\"args\":{\"count\":5,"
	                 "\"place\":\"Rank 0\",\"time\":\"unknown\"}}");
	emit_assert_json(chrome_find(test, "X", "lttng_discarded_events", 1),
	                 "{\"ph\":\"X\",\"cat\":\"loss\",\"name\":\"lttng_discarded_events\","
	                 "\"pid\":1,\"tid\":1,\"ts\":0.2,\"dur\":0.05,\"args\":{\"count\":3,"
	                 "\"place\":\"Rank 0\"}}");
	emit_assert_json(
		cJSON_GetObjectItem(chrome_find(test, "X", "lttng_discarded_events", 2), "ts"),
		"0.25");
}

/* LTTng's count fell in between: only the sum is right. */
static void test_chrome__shows_a_count_that_fell_as_one(void **state)
{
	const struct loss_place place = {0, FLEXTRACE_NONE, FLEXTRACE_NONE, FLEXTRACE_NONE};
	struct emit_test *test = *state;

	chrome_add_rank(test, 0);
	lose(test, &place, 1000, 2000, 12);
	lose(test, &place, INT64_MIN, INT64_MIN, (uint64_t)-7);
	lose(test, &place, 3000, 4000, 1);
	chrome_emit(test);
	emit_assert_json(chrome_find(test, "X", "lttng_discarded_events", 0),
	                 "{\"ph\":\"X\",\"cat\":\"loss\",\"name\":\"lttng_discarded_events\","
	                 "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":3,\"args\":{\"count\":6,"
	                 "\"place\":\"Rank 0\"}}");
	assert_null(chrome_find(test, "X", "lttng_discarded_events", 1));
}

/* A hostile trace has as many places as records. */
static void test_chrome__gives_very_many_places_one_line(void **state)
{
	struct emit_test *test = *state;
	uint64_t count = 0;
	cJSON *event;

	chrome_add_rank(test, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct loss_place place = {0, i, FLEXTRACE_NONE, FLEXTRACE_NONE};

		lose(test, &place, 1000 + i, 1000 + i, 2);
	}
	chrome_emit(test);
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
	{
		if (cJSON_GetObjectItem(event, "dur"))
			count += (uint64_t)cJSON_GetObjectItem(cJSON_GetObjectItem(event, "args"),
			                                       "count")
			                 ->valuedouble;
	}
	assert_int_equal(count, 2000);
	assert_in_range(chrome_count(test, "X"), 8, LOSS_MAX_SPANS);
	assert_non_null(strstr(test->text, "\"lttng_discarded_events: 2000\""));
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
		{FLEXTRACE_RUNTIME_CALL, "Runtime", "privateuse1_runtime"},
		{HOST_STEP, "Step", "user_annotation"},
		{HOST_WINDOW, "Window", "user_annotation"},
		{HOST_COLLECTIVE, "Collective", "collective_comm"},
		{HOST_ASYNC, "Async", "user_annotation"},
		{63, "Unknown 63", "runtime"},
		{127, "Unknown 127", "runtime"},
	};
	struct emit_test *test = *state;
	int64_t time_ns = 0;

	chrome_add_rank(test, 0);
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
	chrome_emit(test);
	for (size_t i = 0; i < 33; i++) {
		cJSON *event = chrome_find(test, "X", runtime[i], 0);
		cJSON *args = cJSON_GetObjectItem(event, "args");

		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat")),
		                    "privateuse1_runtime");
		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(args, "kind")),
		                    runtime[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		cJSON *event = chrome_find(test, "X", others[i].label, 0);

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
		{ROW_STATE, "State", "device_state"},
		{ROW_UNKNOWN, "Unknown", "device_unknown"},
		{ROW_FIRMWARE, "FW", "firmware"},
		{ROW_KERNEL, "Kernel", "firmware"},
		{ROW_ZONE, "Zone", "firmware"},
	};
	const size_t n_cases = sizeof(cases) / sizeof(cases[0]);
	struct emit_test *test = *state;

	assert_int_equal(n_cases, DEVICE_ROW_KIND_COUNT);
	chrome_add_rank(test, 0);
	fixture_op(&test->fixture, (struct tick_op){.class = RECORD_DEVICE_OP, .peer = -1});
	for (uint8_t kind = ROW_FIRMWARE; kind < DEVICE_ROW_KIND_COUNT; kind++)
		fixture_zone(
			&test->fixture, (struct zone){0}, (struct mark_run){0},
			(struct marker){.name = fixture_string(&test->fixture, cases[kind].label),
		                        .kind = kind});
	for (size_t i = 0; i < n_cases; i++)
		fixture_device_row(&test->fixture,
		                   (struct device_row){(int64_t)i * 10, (int64_t)i * 10 + 5, 0,
		                                       i < ROW_FIRMWARE ? 0 : i - ROW_FIRMWARE, 1,
		                                       cases[i].kind, TIME_CERTIFIED, 0});
	chrome_emit(test);
	for (size_t i = 0; i < n_cases; i++) {
		cJSON *event = chrome_find(test, "X", cases[i].label, 0);

		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat")),
		                    cases[i].category);
	}
}

static void test_chrome__tells_raw_ticks_once_the_counter_wrapped(void **state)
{
	struct emit_test *test = *state;
	struct tick_op op = {
		.ticks = {1, 2, 3, 4, UINT32_MAX}, .class = RECORD_DEVICE_OP, .peer = -1};
	cJSON *args;

	chrome_add_rank(test, 0);
	fixture_op(&test->fixture, op);
	op.ticks[4] = (uint64_t)UINT32_MAX + 6;
	fixture_op(&test->fixture, op);
	for (uint32_t i = 0; i < 2; i++)
		fixture_device_row(&test->fixture,
		                   (struct device_row){i * 10, i * 10 + 5, 0, i, 1, ROW_EXEC,
		                                       TIME_CERTIFIED, 0});
	chrome_emit(test);
	args = cJSON_GetObjectItem(chrome_find(test, "X", "Exec", 0), "args");
	assert_null(cJSON_GetObjectItem(args, "raw_cycles"));
	emit_assert_json(cJSON_GetObjectItem(args, "cycles"),
	                 "{\"TS1\":1,\"TS2\":2,\"TS3\":3,\"TS4\":4,\"TS5\":4294967295}");
	args = cJSON_GetObjectItem(chrome_find(test, "X", "Exec", 1), "args");
	emit_assert_json(cJSON_GetObjectItem(args, "raw_cycles"), "{\"TS1\":1}");
	emit_assert_json(cJSON_GetObjectItem(args, "cycles"),
	                 "{\"TS1\":1,\"TS2\":2,\"TS3\":3,\"TS4\":4,\"TS5\":4294967301}");
}

static void test_chrome__tells_what_the_compiler_says(void **state)
{
	struct emit_test *test = *state;
	struct timeline_fixture *fixture = &test->fixture;
	struct kernel_cost rows[] = {{.ideal_cycles = 12, .phase = PHASE_PREFILL}, {.phase = 0}};
	uint32_t of_op[] = {0, 1, FLEXTRACE_NONE};
	double core_hz[] = {2e9};
	struct kernel_costs costs = {.costs = rows, .of_op = of_op, .core_hz = core_hz};
	cJSON *args;

	chrome_add_rank(test, 0);
	rows[0].category = fixture_string(fixture, "Conv \"16\"");
	for (uint32_t i = 0; i < 3; i++) {
		fixture_op(fixture, (struct tick_op){.class = RECORD_DEVICE_OP, .peer = -1});
		fixture_device_row(fixture, (struct device_row){i * 20, i * 20 + 15, 0, i, 1,
		                                                ROW_EXEC, TIME_CERTIFIED, 0});
	}
	fixture->findings.costs = &costs;
	chrome_emit(test);
	args = cJSON_GetObjectItem(chrome_find(test, "X", "Exec", 0), "args");
	emit_assert_json(cJSON_GetObjectItem(args, "category"), "\"Conv \\\"16\\\"\"");
	emit_assert_json(cJSON_GetObjectItem(args, "phase"), "\"prefill\"");
	emit_assert_json(cJSON_GetObjectItem(args, "ideal_cycles"), "12");
	emit_assert_json(cJSON_GetObjectItem(args, "pt_util"), "0.4");
	for (uint32_t i = 1; i < 3; i++) {
		args = cJSON_GetObjectItem(chrome_find(test, "X", "Exec", i), "args");
		assert_null(cJSON_GetObjectItem(args, "category"));
		assert_null(cJSON_GetObjectItem(args, "pt_util"));
	}
}

/* Held against what was written, of all and of some kinds of rows. */
static void assert_estimate(struct emit_test *test, const char *types)
{
	struct emit_sizes sizes;

	test->views.types = types;
	chrome_emit(test);
	assert_int_equal(emit_estimate_sizes(&test->fixture.findings, types, &sizes), 0);
	assert_true(sizes.all > (double)strlen(test->text) / 1.5);
	assert_true(sizes.all < (double)strlen(test->text) * 1.5);
}

static void assert_sizes_are_known_before(struct emit_test *test)
{
	const struct findings *findings = &test->fixture.findings;
	struct emit_options options = {.formats = "csv,chrome"};
	struct emit_sizes sizes;
	double json, pftrace;

	assert_estimate(test, "X");
	assert_estimate(test, "C");
	assert_estimate(test, "i");
	assert_estimate(test, NULL);
	assert_int_equal(emit_estimate_sizes(findings, NULL, &sizes), 0);
	assert_true(sizes.rank > 0 && sizes.rank <= sizes.all);
	assert_int_equal(emit_find_sizes(findings, &options, &json, &pftrace), 0);
	assert_true(json == sizes.all && pftrace == 0);
	options.formats = "csv,pftrace";
	options.views.has_ranks = true; /* in that format */
	assert_int_equal(emit_find_sizes(findings, &options, &json, &pftrace), 0);
	assert_true(json == 0 && pftrace > sizes.all / 4 && pftrace < sizes.all / 2);
	options.formats = "csv";
	assert_int_equal(emit_find_sizes(findings, &options, &json, &pftrace), 0);
	assert_true(json == sizes.rank && pftrace == 0);
}

/* Many buffers full, of rows that nest at random, of which many have equal times; a lane takes
 * what would cross. */
static void test_chrome__sorts_many_rows(void **state)
{
	struct emit_test *test = *state;
	struct timeline_fixture *fixture = &test->fixture;
	uint32_t name, op;
	uint64_t seed = 1;

	chrome_add_rank(test, 0);
	name = fixture_string(fixture, "row");
	op = fixture_op(fixture, (struct tick_op){.class = RECORD_DEVICE_OP, .peer = -1});
	for (int64_t i = 0; i < 3000; i++) {
		struct host_row row = fixture_scope(fixture, 0, "", i / 3 * 10, i / 3 * 10 + 9);

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		row.name = name;
		row.end_time_ns -= i % 3 * 3; /* three that start together, the longest first */
		fixture_host(fixture, row);
		fixture_instant(fixture, (struct instant_row){.time_ns = i * 7 / 2,
		                                              .name = name,
		                                              .class = RECORD_INSTANT});
		fixture_counter(fixture, (struct counter_row){.time_ns = i / 2,
		                                              .value = (double)i,
		                                              .name = name,
		                                              .core = FLEXTRACE_NONE});
		fixture_device_row(fixture, (struct device_row){i * 40, i * 40 + 40, 0, op, 1,
		                                                ROW_EXEC, TIME_CERTIFIED, 0});
		if (i % 3 == 0)
			fixture_flow(fixture,
			             (struct flow){.from_time_ns = row.start_time_ns,
			                           .to_time_ns = (i + (int64_t)(seed >> 60)) * 40,
			                           .to_track = 1,
			                           .correlation = 1});
	}
	/* arrows to rows behind the last one would end nowhere */
	for (int64_t i = 3000; i < 3016; i++)
		fixture_device_row(fixture, (struct device_row){i * 40, i * 40 + 40, 0, op, 1,
		                                                ROW_EXEC, TIME_CERTIFIED, 0});
	chrome_emit(test);
	assert_sizes_are_known_before(test);
	assert_int_equal(chrome_count(test, "X"), 6016);
	assert_int_equal(chrome_count(test, "i"), 3000);
	assert_int_equal(chrome_count(test, "C"), 3000);
	assert_int_equal(chrome_count(test, "s"), 1000);
	assert_int_equal(chrome_count(test, "f"), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EMPTY(test_chrome__writes_an_empty_timeline),
		EMPTY(test_chrome__tells_the_rank_of_a_single_one),
		EMPTY(test_chrome__keeps_processes_of_one_rank_apart),
		EMPTY(test_chrome__leaves_excluded_processes_out),
		EMPTY(test_chrome__keeps_hostile_names),
		EMPTY(test_chrome__leaves_out_counters_that_are_no_number),
		EMPTY(test_chrome__draws_a_counter_where_it_changes),
		EMPTY(test_chrome__draws_no_arrow_back_in_time),
		EMPTY(test_chrome__names_no_process_without_anything),
		EMPTY(test_chrome__starts_at_a_whole_second),
		EMPTY(test_chrome__makes_room_for_losses_before_the_first_row),
		EMPTY(test_chrome__shows_losses_where_they_were),
		EMPTY(test_chrome__shows_a_count_that_fell_as_one),
		EMPTY(test_chrome__gives_very_many_places_one_line),
		EMPTY(test_chrome__gives_every_kind_its_category),
		EMPTY(test_chrome__gives_every_device_kind_its_category),
		EMPTY(test_chrome__tells_raw_ticks_once_the_counter_wrapped),
		EMPTY(test_chrome__tells_what_the_compiler_says),
		EMPTY(test_chrome__sorts_many_rows),
	};

	return cmocka_run_group_tests_name("chrome_cases", tests, NULL, NULL);
}
