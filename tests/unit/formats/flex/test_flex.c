/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "imports.h"
#include "scratch.h"

#define STAMPS(a, b, c, d, e)                                                              \
	"\"attr\":{\"TS1\":\"" #a "\",\"TS2\":\"" #b "\",\"TS3\":\"" #c "\",\"TS4\":\"" #d \
	"\",\"TS5\":\"" #e "\"}"
#define KERNEL              STAMPS(1000, 2000, 3000, 7000, 7006)
#define X(name, at, stamps) "{\"name\":\"" name "\",\"ph\":\"X\"," at "," stamps "}"
#define AT(ts, dur)         "\"pid\":0,\"tid\":7,\"ts\":" #ts ",\"dur\":" #dur

static struct flex_run *convert(void **state, const char *text)
{
	struct flex_run *run = *state;

	flex_add_file(run, "a.json", text);
	flex_convert(run);
	return run;
}

/* -- control blocks -------------------------------------------------------------------------- */

/* clang-format off */
static const char one_block[] = "["
	X("k Cmpt Exec", AT(13, 4), KERNEL) ","
	X("k Cmpt Prep", AT(12, 1), KERNEL) ","
	X("k DmaI", AT(11, 1), KERNEL) "]";

static const char four_blocks[] = "["
	X("k Cmpt Exec", AT(13, 4), KERNEL) ","
	X("k Cmpt Exec", AT(13, 4), KERNEL) ","
	X("k Cmpt Prep", AT(12, 1), KERNEL) ","
	X("k Cmpt Prep", AT(12, 1), KERNEL) ","
	X("l Cmpt Prep", AT(12, 1), KERNEL) ","
	X("k Cmpt Exec", AT(13, 4), STAMPS(1000, 2000, 3000, 7000, 7007)) "]";
/* clang-format on */

static void test_flex__joins_the_events_of_a_control_block(void **state)
{
	struct flex_run *run = convert(state, one_block);
	uint64_t exec = flex_row(&run->events, "kind", "Exec", "name", "k");

	assert_int_equal(run->events.n_rows, 3);
	assert_int_equal(flex_count(&run->events, "job", "1"), 3);
	assert_int_equal(flex_count(&run->events, "name", "k"), 3);
	assert_int_equal(flex_count(&run->events, "ts5", "7006"), 3);
	assert_in_range(flex_number(&run->events, exec, "start_ns"), 12998, 13002);
	assert_in_range(flex_number(&run->events, exec, "dur_ns"), 3998, 4002);
	assert_string_equal(flex_cell(&run->events, exec, "status"), "assumed");
	assert_int_equal(run->ledger.evidence[RECORD_HOST_ESTIMATE], 1);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

static void test_flex__begins_another_block_with_the_second_event_of_a_phase(void **state)
{
	struct flex_run *run = convert(state, four_blocks);

	assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], 4);
	assert_int_equal(run->events.n_rows, 6);
	assert_int_equal(flex_count(&run->events, "kind", "Exec"), 3);
	assert_int_equal(flex_count(&run->events, "kind", "Prep"), 3);
	assert_int_equal(flex_count(&run->events, "name", "l"), 1);
}

static void test_flex__reads_stamps_in_every_form(void **state)
{
	static const char *const forms[] = {
		("\"attr\":{\"TS1\":\"0x3e8\",\"TS2\":\"0x7D0\",\"TS3\":\"0xbb8\",\"TS4\":"
	         "\"0x1b58\",\"TS5\":\"0x1b5e\"}"),
		"\"args\":{\"TS1\":1000,\"TS2\":2000,\"TS3\":3000,\"TS4\":7000,\"TS5\":7006}",
		"\"args\":{\"cycles_ts\":[1000,2000,3000,7000,7006]}",
		"\"attr\":{\"cycles_ts\":[\"1000\",\"2000\",\"0xbb8\",\"7000\",\"7006\"]}",
		"\"args\":{\"TS1\":4294968296,\"TS2\":2000,\"TS3\":3000,\"TS4\":7000,\"TS5\":7006}",
	};
	char text[2000] = "[", event[400];

	for (size_t i = 0; i < 5; i++) {
		snprintf(event, sizeof(event),
		         "%s{\"name\":\"k%zu DmaI\",\"ph\":\"X\"," AT(11, 1) ",%s}", i ? "," : "",
		         i, forms[i]);
		strcat(text, event);
	}
	strcat(text, "]");
	convert(state, text);
	for (uint64_t i = 0; i < 5; i++) {
		const struct csv_table *events = &((struct flex_run *)*state)->events;

		assert_int_equal(flex_number(events, i, "ts1"), 1000);
		assert_int_equal(flex_number(events, i, "ts5"), 7006);
		assert_string_equal(flex_cell(events, i, "kind"), "Memcpy HtoD");
	}
}

static void test_flex__keeps_what_a_transfer_says_of_itself(void **state)
{
	struct flex_run *run = convert(
		state, "[{\"name\":\"SenRdmaSend_1 [sync=g_s0_r1_0] DmaO\",\"ph\":\"X\","
		       "\"pid\":3,\"ts\":5,\"dur\":1,\"attr\":{\"TS1\":\"10\",\"TS2\":\"10\","
		       "\"TS3\":\"20\",\"TS4\":\"20\",\"TS5\":\"1020\",\"Bytes\":\"524288\","
		       "\"CollGroup\":\"g\",\"Peer\":\"1\",\"Type\":\"SingleCast\","
		       "\"Power\":\"0x10\"}}]");

	assert_int_equal(run->events.n_rows, 1);
	assert_string_equal(flex_cell(&run->events, 0, "kind"), "Memcpy DtoH");
	assert_string_equal(flex_cell(&run->events, 0, "name"), "SenRdmaSend_1 [sync=g_s0_r1_0]");
	assert_string_equal(flex_cell(&run->events, 0, "rank"), "3");
	assert_string_equal(flex_cell(&run->events, 0, "bytes"), "524288");
	assert_string_equal(flex_cell(&run->events, 0, "group"), "g");
	assert_string_equal(flex_cell(&run->events, 0, "peer"), "1");
	assert_string_equal(flex_cell(&run->events, 0, "power"), "16");
}

static void test_flex__rejects_stamps_that_are_none(void **state)
{
	struct flex_run *run = convert(
		state,
		"[{\"name\":\"k DmaI\",\"ph\":\"X\"," AT(
			1, 1) ",\"attr\":{\"TS1\":\"soon\"}},"
			      "{\"name\":\"k DmaI\",\"ph\":\"X\"," AT(
				      1,
				      1) ",\"attr\":{\"cycles_ts\":[1,2,3,4]}},"
					 "{\"name\":\"k DmaI\",\"ph\":\"B\"," AT(
						 1,
						 1) ",\"attr\":{\"TS1\":{}}},"
						    "{\"name\":\"s\",\"ph\":\"X\"," AT(
							    1,
							    1) ",\"args\":{\"Peer\":\"none\"}}]");

	assert_int_equal(run->events.n_rows, 0);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(ledger_total(&run->ledger, LOSS_MALFORMED), 3);
	assert_non_null(strstr(run->warnings, "events=3, first at byte 1: an attribute"));
}

/* -- estimates ------------------------------------------------------------------------------- */

/* Appends a kernel of a device of 500 MHz, and where Flex takes it to be. */
static void add_kernel(char *text, const char *name, int64_t at_us, int64_t dur_us, int64_t off_us)
{
	uint32_t ts3 = (uint32_t)(at_us * 500), ts4 = (uint32_t)((at_us + dur_us) * 500);

	sprintf(text + strlen(text),
	        "%s{\"name\":\"%s Cmpt Exec\",\"ph\":\"X\",\"ts\":%lld,\"dur\":%lld,"
	        "\"attr\":{\"cycles_ts\":[%u,%u,%u,%u,%u]}}",
	        *text ? "," : "[", name, (long long)at_us + off_us, (long long)dur_us, ts3 - 500,
	        ts3 - 500, ts3, ts4, ts4);
}

static void add_kernels(char *text, int64_t from_us)
{
	for (int i = 0; i < 20; i++)
		add_kernel(text, "k", from_us + 10000 * i, 1000, 0);
}

static void check_kernel(const struct csv_table *events, const char *name, int64_t start_ns,
                         int64_t dur_ns, const char *status)
{
	uint64_t row = flex_row(events, "name", name, "kind", "Exec");

	assert_in_range(flex_number(events, row, "start_ns"), start_ns - 3, start_ns + 3);
	assert_in_range(flex_number(events, row, "dur_ns"), dur_ns - 3, dur_ns + 3);
	assert_string_equal(flex_cell(events, row, "status"), status);
}

/* The counter wraps every 8.6 s. */
static void test_flex__places_kernels_longer_than_a_wrap(void **state)
{
	char text[20000] = "";
	struct flex_run *run;

	add_kernels(text, 1000000);
	add_kernel(text, "long", 2000000, 20000000, 0);
	add_kernels(text, 23000000);
	strcat(text, "]");
	run = convert(state, text);
	check_kernel(&run->events, "long", INT64_C(2000000000), INT64_C(20000000000), "assumed");
	assert_int_equal(flex_number(&run->events, run->events.n_rows - 1, "start_ns"),
	                 INT64_C(23190000000));
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

static void test_flex__moves_what_flex_put_in_a_wrong_place(void **state)
{
	char text[20000] = "";
	struct flex_run *run;

	add_kernels(text, 1000000);
	add_kernel(text, "late", 1500000, 1000, 1000);
	add_kernel(text, "far", 1600000, 1000, 500000);
	add_kernels(text, 2000000);
	strcat(text, "]");
	run = convert(state, text);
	check_kernel(&run->events, "late", 1500000000, 1000000, "assumed");
	check_kernel(&run->events, "far", 2100000000, 1000000, "outlier");
	check_kernel(&run->events, "k", 1000000000, 1000000, "assumed");
	assert_int_equal(ledger_total(&run->ledger, LOSS_OUTLIER), 1);
}

/* -- intervals of the host ------------------------------------------------------------------- */

static void test_flex__pairs_begins_and_ends(void **state)
{
	static const struct {
		const char *text;
		uint64_t n_rows, n_lost;
		const char *name;
		int64_t begin_ns, end_ns;
	} cases[] = {
		{"B a 1,E a 3", 1, 0, "a", 1000, 3000},
		{"B a 1,B b 2,E b 3,E a 9", 2, 0, "a", 1000, 9000},
		{"B a 1,B b 2,E a 3,E b 9", 2, 0, "b", 2000, 9000},
		{"B a 1,B a 2,E a 3,E a 9", 2, 0, "a", 1000, 9000},
		{"B a 5,E a 3,B a 6,E a 7", 1, 1, "a", 6000, 7000},
		{"E a 3,B a 6,E a 7", 1, 1, "a", 6000, 7000},
		{"B a 1,E ? 3", 1, 0, "a", 1000, 3000},
		{"E a 3,B a 1", 1, 0, "a", 1000, 3000},
		{"E ? 9,B b 2,E ? 3,B a 1", 2, 0, "a", 1000, 9000},
		{"B a 5,E a 3,B a 1,E a 7", 2, 0, "a", 1000, 3000},
		/* beside each other, and overlapping the next ones */
		{"B a 10,E a 20,B a 15,E a 25,B a 22,E a 32", 3, 0, "a", 10000, 20000},
		{"B a 10,E ? 20,B a 15,E ? 25,B a 22,E ? 32", 3, 0, "a", 10000, 20000},
		{"B b 10,E b 20,B b 15,E b 18,B a 9,E a 19", 3, 0, "a", 9000, 19000},
		{"B a 10,E a 20,E a 13,B a 15,E a 25,B b 1,E b 2", 3, 1, "a", 10000, 20000},
		{"B a 10,E a 20,B a 15,B a 12,E a 25,B b 1,E b 2", 4, 1, "b", 1000, 2000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[2000] = "[", copy[200], *line, *rest;
		struct flex_run *run;
		uint64_t row;

		flex_stop(state);
		flex_start(state);
		strcpy(copy, cases[i].text);
		for (line = strtok_r(copy, ",", &rest); line; line = strtok_r(NULL, ",", &rest))
			sprintf(text + strlen(text),
			        "{\"ph\":\"%c\",%s%.*s%s\"pid\":0,\"tid\":1,\"ts\":%s},", line[0],
			        line[2] == '?' ? "" : "\"name\":\"", line[2] != '?', line + 2,
			        line[2] == '?' ? "" : "\",", line + 4);
		text[strlen(text) - 1] = ']';
		run = convert(state, text);
		row = flex_row(&run->host, "name", cases[i].name, NULL, NULL);
		assert_int_equal(run->host.n_rows, cases[i].n_rows);
		assert_int_equal(flex_number(&run->host, row, "start_ns"), cases[i].begin_ns);
		assert_int_equal(flex_number(&run->host, row, "end_ns"), cases[i].end_ns);
		assert_int_equal(ledger_lost(&run->ledger), cases[i].n_lost);
	}
}

#define N_PAIRS 300u

/* Three of a name, nested, again and again: edge i of 6 * N_PAIRS / 3. */
static void write_edge(char *to, uint32_t i)
{
	uint32_t group = i / 6, level = i % 6 < 3 ? i % 6 : 5 - i % 6;

	sprintf(to, "{\"ph\":\"%c\",\"name\":\"n%u\",\"pid\":0,\"tid\":1,\"ts\":%u}",
	        i % 6 < 3 ? 'B' : 'E', (group + level) % 2, group * 100 + i % 6 * 7 + 1);
}

static void convert_edges(void **state, const uint32_t *order)
{
	char *text = malloc(N_PAIRS * 2 * 80 + 8);

	assert_non_null(text);
	strcpy(text, "[");
	for (uint32_t i = 0; i < 2 * N_PAIRS; i++) {
		write_edge(text + strlen(text), order[i]);
		strcat(text, i + 1 < 2 * N_PAIRS ? "," : "]");
	}
	flex_stop(state);
	flex_start(state);
	convert(state, text);
	free(text);
}

static void test_flex__pairs_begins_and_ends_in_any_order(void **state)
{
	int64_t expected_ns[N_PAIRS][2];
	uint32_t order[2 * N_PAIRS];
	uint32_t random = 1;

	for (uint32_t i = 0; i < 2 * N_PAIRS; i++)
		order[i] = i;
	for (int pass = 0; pass < 4; pass++) {
		const struct flex_run *run;

		convert_edges(state, order);
		run = *state;
		assert_int_equal(run->host.n_rows, N_PAIRS);
		assert_int_equal(ledger_lost(&run->ledger), 0);
		for (uint64_t i = 0; i < N_PAIRS; i++) {
			int64_t begin_ns = flex_number(&run->host, i, "start_ns");
			int64_t end_ns = flex_number(&run->host, i, "end_ns");

			if (pass) {
				assert_int_equal(begin_ns, expected_ns[i][0]);
				assert_int_equal(end_ns, expected_ns[i][1]);
			}
			expected_ns[i][0] = begin_ns;
			expected_ns[i][1] = end_ns;
		}
		for (uint32_t i = 2 * N_PAIRS - 1; i > 0; i--) {
			uint32_t other, held = order[i];

			random = random * 1664525 + 1013904223;
			other = (random >> 8) % (i + 1);
			order[i] = order[other];
			order[other] = held;
		}
	}
}

static void test_flex__believes_the_begin_rather_than_the_end(void **state)
{
	struct flex_run *run = convert(
		state, "[{\"name\":\"k DmaI\",\"ph\":\"B\",\"ts\":1," STAMPS(
			       10, 20, 30, 40,
			       50) "},"
				   "{\"name\":\"k DmaI\",\"ph\":\"E\",\"ts\":2," STAMPS(
					   10, 20, 30, 40,
					   60) "},"
					       "{\"name\":\"l DmaI\",\"ph\":\"B\",\"ts\":3},"
					       "{\"name\":\"l DmaI\",\"ph\":\"E\",\"ts\":4," STAMPS(
						       11, 20, 30, 40, 60) "}]");

	assert_int_equal(run->events.n_rows, 2);
	assert_string_equal(flex_cell(&run->events, 0, "ts5"), "50");
	assert_string_equal(flex_cell(&run->events, 1, "ts5"), "60");
}

static void test_flex__shows_what_never_ended(void **state)
{
	struct flex_run *run = convert(
		state,
		"[{\"name\":\"k DmaI\",\"ph\":\"B\",\"ts\":1," STAMPS(
			10, 20, 30, 40, 50) "},"
					    "{\"name\":\"a\",\"ph\":\"B\",\"ts\":2},"
					    "{\"name\":\"b\",\"ph\":\"X\",\"ts\":2,\"dur\":5}]");

	assert_int_equal(run->ledger.read[RECORD_DEVICE_OP], 1);
	assert_int_equal(run->host.n_rows, 2);
	assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_BEGIN), 2);
}

static void test_flex__tells_runtime_calls_by_name(void **state)
{
	static const char *const names[][2] = {
		{"AIU Roundtrip", "aiuSuperNodeExecution"},
		{"Flex RoundTrip", "aiuLaunchSuperNode"},
		{"Compute of conv", "aiuNodeCompute"},
		{"Compute of conv-HostPrep", "aiuDataConvert"},
		{"AllocateFrame of graph 7", "aiuResizeTensorAllocation"},
		{"Barrier2", "aiuRDMABarrier2"},
		{"weights DtoF", "aiuFileTransferDtoF"},
		{"Callback", "User"},
	};
	char text[2000] = "[";
	struct flex_run *run;

	for (size_t i = 0; i < 8; i++)
		sprintf(text + strlen(text),
		        "%s{\"name\":\"%s\",\"ph\":\"X\",\"ts\":%zu,\"dur\":1}", i ? "," : "",
		        names[i][0], 10 * i);
	strcat(text, "]");
	run = convert(state, text);
	for (size_t i = 0; i < 8; i++)
		flex_row(&run->host, "name", names[i][0], "kind", names[i][1]);
}

/* -- everything else ------------------------------------------------------------------------- */

static void test_flex__keeps_the_ids_of_threads(void **state)
{
	struct flex_run *run = convert(
		state,
		"[{\"name\":\"a\",\"ph\":\"X\",\"pid\":0,\"tid\":15514734831341844875,\"ts\":1,"
		"\"dur\":1},"
		"{\"name\":\"b\",\"ph\":\"X\",\"pid\":0,\"tid\":42,\"ts\":1,\"dur\":1},"
		"{\"name\":\"c\",\"ph\":\"X\",\"pid\":\"two\",\"tid\":\"main\",\"ts\":1,\"dur\":1},"
		"{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":42,\"args\":{\"name\":"
		"\"Stream\"}},"
		"{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":\"AIU 0\"}},"
		"{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":0,\"args\":{\"sort_index\":"
		"5}}]");

	flex_row(&run->host, "name", "a", "thread", "15514734831341844875");
	flex_row(&run->host, "name", "b", "thread", "Stream");
	flex_row(&run->host, "name", "b", "tid", "42");
	flex_row(&run->host, "name", "c", "thread", "main");
	flex_row(&run->host, "name", "c", "rank", "");
	assert_int_equal(ledger_total(&run->ledger, LOSS_UNUSED), 1);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

static void test_flex__takes_counters_instants_and_async_intervals(void **state)
{
	struct flex_run *run = convert(
		state, "[{\"name\":\"Power\",\"ph\":\"C\",\"ts\":1,\"args\":{\"Watts\":3.5}},"
		       "{\"name\":\"q\",\"ph\":\"C\",\"ts\":1,\"args\":{\"a\":1,\"b\":\"2\"}},"
		       "{\"name\":\"q\",\"ph\":\"C\",\"ts\":1},"
		       "{\"name\":\"now\",\"ph\":\"i\",\"ts\":2},"
		       "{\"name\":\"w\",\"ph\":\"b\",\"ts\":2,\"id\":\"0x7\"},"
		       "{\"name\":\"w\",\"ph\":\"n\",\"ts\":3,\"id\":\"0x7\"},"
		       "{\"name\":\"w\",\"ph\":\"e\",\"ts\":4,\"id\":7},"
		       "{\"name\":\"f\",\"ph\":\"s\",\"ts\":4,\"id\":7},"
		       "{\"name\":\"?\",\"ph\":\"?\",\"ts\":4},"
		       "{\"name\":\"i\",\"ph\":\"i\",\"ts\":-4},"
		       "{\"name\":\"i\",\"ph\":\"i\"}]");

	assert_int_equal(run->ledger.rows[RECORD_COUNTER], 3);
	assert_int_equal(run->ledger.rows[RECORD_INSTANT], 2);
	flex_row(&run->host, "kind", "Async", "name", "w");
	assert_int_equal(ledger_total(&run->ledger, LOSS_UNUSED), 1);
	assert_int_equal(ledger_total(&run->ledger, LOSS_UNKNOWN_EVENT), 1);
	assert_int_equal(ledger_total(&run->ledger, LOSS_MALFORMED), 3);
}

/* Ranks are what they are whatever file they stand in. */
static void test_flex__gives_the_same_for_one_file_and_for_many(void **state)
{
	static const char of_0[] =
		"{\"name\":\"k DmaI\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":11,"
		"\"dur\":1," STAMPS(1000, 2000, 3000, 7000,
	                            7006) "},"
					  "{\"name\":\"s\",\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":"
					  "2,\"dur\":9}";
	static const char of_1[] =
		"{\"name\":\"k DmaI\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":21,"
		"\"dur\":1," KERNEL "}";
	char text[1000], *outputs[2];

	for (int i = 0; i < 2; i++) {
		struct flex_run *run;

		flex_stop(state);
		flex_start(state);
		run = *state;
		snprintf(text, sizeof(text), i ? "[%s]" : "{\"traceEvents\":[%s,%s]}", of_1, of_0);
		flex_add_file(run, "a.json", text);
		snprintf(text, sizeof(text), "[%s]", of_0);
		if (i)
			flex_add_file(run, "b.json", text);
		flex_convert(run);
		outputs[i] = flex_read_rows(run, "timeline.txt");
	}
	assert_string_equal(outputs[0], outputs[1]);
	free(outputs[0]);
	free(outputs[1]);
}

/* A kernel of two events, with a call around it. */
static void write_work(FILE *file, uint32_t i)
{
	uint32_t at_us = 1000000 + 1000 * i, ts = at_us * 500;

	fprintf(file,
	        "%s{\"name\":\"call\",\"ph\":\"X\",\"pid\":%u,\"tid\":9,\"ts\":%u,\"dur\":900}",
	        ftell(file) > 1 ? "," : "", i % 3, at_us);
	for (int k = 0; k < 2; k++)
		fprintf(file,
		        ",{\"name\":\"kernel_%u Cmpt %s\",\"ph\":\"X\",\"pid\":%u,\"tid\":%d,"
		        "\"ts\":%u,\"dur\":%d,\"args\":{\"cycles_ts\":[%u,%u,%u,%u,%u]}}",
		        i % 50, k ? "Exec" : "Prep", i % 3, k, at_us + 200 * k, 200 + 200 * k, ts,
		        ts, ts + 100000, ts + 300000, ts + 300000);
}

#define N_MANY 26000 /* more than is held in memory */

/* As many as go to a file, forwards, backwards, and from both ends. */
static void test_flex__gives_the_same_whatever_the_order(void **state)
{
	const uint32_t n = N_MANY;
	char *outputs[3], path[512];

	for (int order = 0; order < 3; order++) {
		struct flex_run *run;
		FILE *file;

		flex_stop(state);
		flex_start(state);
		run = *state;
		snprintf(path, sizeof(path), "%s/a.json", run->in);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs("[", file);
		for (uint32_t i = 0; i < n; i++)
			write_work(file, order == 1 ? n - 1 - i : order == 2 && i % 2 ? n - i : i);
		fputs("]", file);
		assert_int_equal(fclose(file), 0);
		flex_convert(run);
		assert_int_equal(run->events.n_rows, 2 * n);
		assert_int_equal(run->host.n_rows, n);
		assert_int_equal(run->ledger.rows[RECORD_DEVICE_OP], n);
		outputs[order] = flex_read_rows(run, "timeline.txt");
	}
	assert_string_equal(outputs[0], outputs[1]);
	assert_string_equal(outputs[0], outputs[2]);
	for (int order = 0; order < 3; order++)
		free(outputs[order]);
}

static void test_flex__says_where_it_cannot_sort(void **state)
{
	struct flex_run *run = *state;
	const struct import_options options = {.paths = (const char *const *)&run->in,
	                                       .n_paths = 1};
	struct flextrace_error error = {0};
	char path[512];
	struct import *import;
	FILE *file;

	snprintf(path, sizeof(path), "%s/a.json", run->in);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("[", file);
	for (uint32_t i = 0; i < N_MANY; i++)
		write_work(file, i);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(setenv("TMPDIR", "/no/such/directory", 1), 0);
	assert_int_equal(import_open(&options, &import, &error), FLEXTRACE_E_OUTPUT);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_string_equal(error.message, "Cannot sort events in a temporary file: "
	                                   "directory=/no/such/directory");
}

static void test_flex__says_what_is_no_trace(void **state)
{
	struct flex_run *run = *state;
	const struct import_options options = {.paths = (const char *const *)&run->in,
	                                       .n_paths = 1};
	struct stream_set set = {NULL, 0, 0};
	struct string_pool *strings = string_pool_new();
	struct flextrace_error error = {0};

	assert_false(import_is_foreign(run->in));
	flex_add_file(run, "a.json", "{\"a\":1}");
	assert_true(import_is_foreign(run->in));
	assert_int_equal(import_run(&options, strings, &set, &run->ledger, &error),
	                 FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, "a.json"));
	flex_add_file(run, "b.json", "[{\"name\":\"s\",\"ph\":\"X\",\"ts\":1,\"dur\":1},{\"na");
	flex_convert(run);
	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(ledger_total(&run->ledger, LOSS_TRUNCATED_STREAM), 1 + 1);
	assert_non_null(strstr(run->warnings, "a.json"));
	stream_set_release(&set);
	string_pool_free(strings);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_flex__##name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(joins_the_events_of_a_control_block),
		TEST(begins_another_block_with_the_second_event_of_a_phase),
		TEST(reads_stamps_in_every_form),
		TEST(keeps_what_a_transfer_says_of_itself),
		TEST(rejects_stamps_that_are_none),
		TEST(places_kernels_longer_than_a_wrap),
		TEST(moves_what_flex_put_in_a_wrong_place),
		TEST(pairs_begins_and_ends),
		TEST(pairs_begins_and_ends_in_any_order),
		TEST(believes_the_begin_rather_than_the_end),
		TEST(shows_what_never_ended),
		TEST(tells_runtime_calls_by_name),
		TEST(keeps_the_ids_of_threads),
		TEST(takes_counters_instants_and_async_intervals),
		TEST(gives_the_same_for_one_file_and_for_many),
		TEST(gives_the_same_whatever_the_order),
		TEST(says_where_it_cannot_sort),
		TEST(says_what_is_no_trace),
	};

	return cmocka_run_group_tests_name("flex", tests, NULL, NULL);
}
