/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the torch profiler, from their JSON to the tables. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "formats/pairing/event_files.h"
#include "scratch.h"
#include "torch_events.h"

/* clang-format off */
static const char one_launch[] = FILE_OF(
	"\"deviceProperties\":[{\"id\":3,\"name\":\"AIU 9\",\"numSms\":32,\"more\":{\"a\":1}}],"
	"\"distributedInfo\":{\"backend\":\"gloo\",\"rank\":2,\"world_size\":4},",
	X("kernel", "k", DEVICE, AT(120.5, 3.25),
		"\"device\":3,\"stream\":7,\"correlation\":9,\"External id\":4") ","
	X("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", DEVICE, AT(110, 2),
		"\"correlation\":8,\"bytes\":4096") ","
	X("privateuse1_runtime", "aiuLaunchControlBlocks", HOST, AT(100, 9),
		"\"correlation\":9,\"num_cbs\":2") ","
	X("privateuse1_runtime", "aiuRdmaBarrier1", HOST, AT(130, 1), "\"correlation\":10") ","
	X("privateuse1_runtime", "aiuLaunchDMIControlBlocks", HOST, AT(140, 1),
		"\"correlation\":8") ","
	X("cpu_op", "aten::mm", HOST, AT(99, 50), "\"External id\":4,\"Input Dims\":[[2,3]]") ","
	"{\"ph\":\"s\",\"id\":9,\"pid\":500,\"tid\":501,\"ts\":100,"
		"\"cat\":\"ac2g\",\"name\":\"ac2g\"},"
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":500,\"tid\":0,\"ts\":99,"
		"\"args\":{\"name\":\"python\"}},"
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":500,\"tid\":501,\"ts\":99,"
		"\"args\":{\"name\":\"main\"}},"
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":3,\"tid\":7,\"ts\":99,"
		"\"args\":{\"name\":\"stream 7\"}},"
	"{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":3,\"tid\":0,"
		"\"args\":{\"sort_index\":5}}");
/* clang-format on */

static struct flex_run *convert(void **state, const char *text)
{
	struct flex_run *run = *state;

	flex_add_file(run, "a.json", text);
	flex_convert(run);
	return run;
}

static void assert_cell(const struct csv_table *table, uint64_t row, const char *column,
                        const char *value)
{
	assert_string_equal(flex_cell(table, row, column), value);
}

/* Whether a file of the output has a text. */
static bool has_text(const struct flex_run *run, const char *file, const char *text)
{
	char *all = scratch_read(run->out, file, NULL);
	bool is_there = all && strstr(all, text);

	free(all);
	return is_there;
}

/* -- device work ------------------------------------------------------------------------------ */

static void test_torch__places_device_work_where_the_profiler_did(void **state)
{
	struct flex_run *run = convert(state, one_launch);
	uint64_t kernel = flex_row(&run->events, "kind", "Exec", "name", "k");
	uint64_t copy = flex_row(&run->events, "kind", "Memcpy HtoD", "device", "3");

	assert_int_equal(run->events.n_rows, 2);
	assert_int_equal(flex_number(&run->events, kernel, "start_ns"), 120500);
	assert_int_equal(flex_number(&run->events, kernel, "dur_ns"), 3250);
	assert_cell(&run->events, kernel, "status", "given");
	assert_cell(&run->events, kernel, "err_ns", "");
	assert_cell(&run->events, kernel, "queue", "7");
	assert_cell(&run->events, kernel, "correlation", "9");
	assert_cell(&run->events, copy, "bytes", "4096");
	assert_cell(&run->events, copy, "name", "Memcpy HtoD (Pageable -> Device)");
	assert_int_equal(ledger_lost(&run->ledger), 0);
	assert_int_equal(run->ledger.warnings[WARNING_UNCALIBRATED], 0);
}

static void test_torch__draws_arrows_from_launches(void **state)
{
	struct flex_run *run = convert(state, one_launch);
	char *text = scratch_read(run->out, "timeline.txt", NULL);

	assert_non_null(text);
	assert_non_null(strstr(text, "correlation=9"));
	assert_non_null(strstr(text, "\nflow "));
	free(text);
}

static void test_torch__knows_who_the_process_is(void **state)
{
	struct flex_run *run = convert(state, one_launch);

	for (uint64_t i = 0; i < run->events.n_rows; i++) {
		assert_cell(&run->events, i, "rank", "2");
		assert_cell(&run->events, i, "pid", "500");
	}
	assert_true(has_text(run, "run.json", "\"world_size\":\t4") ||
	            has_text(run, "run.json", "\"world_size\": 4"));
	assert_true(has_text(run, "run.json", "python"));
	assert_true(has_text(run, "trace.json", "AIU 9"));
	assert_true(has_text(run, "trace.json", "stream 7"));
}

static void test_torch__keeps_what_stands_beside_the_events(void **state)
{
	struct flex_run *run = convert(state, one_launch);

	assert_true(has_text(
		run, "tables/instants.csv",
		"annotation,deviceProperties,\"[{\"\"id\"\":3,\"\"name\"\":\"\"AIU 9\"\""));
	assert_true(has_text(run, "tables/instants.csv", "annotation,distributedInfo,"));
	assert_false(has_text(run, "tables/instants.csv", "schemaVersion"));
}

/* clang-format off */
static const char stamped[] = FILE_OF("\"deviceProperties\":[],",
	X("kernel", "k", DEVICE, AT(1000, 4),
		"\"correlation\":1,\"cycles_ts\":[1000,2000,3000,7000,7006]") ","
	X("kernel", "k", DEVICE, AT(2000, 4),
		"\"correlation\":2,\"cycles_ts\":[1001000,1002000,1003000,1007000,1007006]") ","
	X("kernel", "failed", DEVICE, AT(3000, 4),
		"\"correlation\":3,\"cycles_ts\":[0,0,0,0,0]") ","
	X("kernel", "odd", DEVICE, AT(4000, 4), "\"correlation\":4,\"cycles_ts\":\"none\"") ","
	X("privateuse1_driver", "Memory (Release)", DEVICE, AT(5000, 1), "\"bytes\":64"));
/* clang-format on */

static void test_torch__takes_the_stamps_of_control_blocks(void **state)
{
	struct flex_run *run = convert(state, stamped);
	uint64_t first = flex_row(&run->events, "kind", "Exec", "ts1", "1000");

	assert_int_equal(flex_count(&run->events, "kind", "Exec"), 4);
	assert_int_equal(flex_count(&run->events, "kind", "Prep"), 2);
	assert_cell(&run->events, first, "status", "assumed");
	assert_cell(&run->events, first, "ts5", "7006");
	assert_in_range(flex_number(&run->events, first, "start_ns"), 999990, 1000010);
	assert_cell(&run->events, flex_row(&run->events, "name", "failed", NULL, NULL), "status",
	            "given");
	assert_cell(&run->events, flex_row(&run->events, "name", "odd", NULL, NULL), "status",
	            "given");
	flex_row(&run->events, "kind", "Release", "name", "Memory (Release)");
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

/* -- host work -------------------------------------------------------------------------------- */

static void test_torch__tells_the_kind_of_host_work_by_its_category(void **state)
{
	struct flex_run *run = convert(state, one_launch);
	uint64_t op = flex_row(&run->host, "name", "aten::mm", "kind", "Op");

	flex_row(&run->host, "name", "aiuLaunchControlBlocks", "kind", "aiuLaunchControlBlocks");
	flex_row(&run->host, "name", "aiuRdmaBarrier1", "kind", "aiuRDMABarrier1");
	flex_row(&run->host, "name", "aiuLaunchDMIControlBlocks", "kind", "Runtime");
	assert_cell(&run->host, op, "tid", "501");
	assert_cell(&run->host, op, "thread", "main");
	assert_cell(&run->host, op, "correlation", "");
	assert_cell(&run->host, op, "args",
	            "{\"cat\":\"cpu_op\",\"External id\":4,\"Input Dims\":[[2,3]]}");
	assert_int_equal(flex_number(&run->host, op, "start_ns"), 99000);
}

/* clang-format off */
static const char rows[] = FILE_OF("",
	X("Trace", "PyTorch Profiler (0)", "\"pid\":\"Spans\",\"tid\":\"PyTorch Profiler\"",
		AT(1, 99), "\"Op count\":0") ","
	X("gpu_user_annotation", "a", DEVICE, AT(10, 5), "\"External id\":1") ","
	X("cuda_sync", "Event Sync", "\"pid\":0,\"tid\":-1", AT(10, 5), "\"stream\":-1") ","
	X("cuda_profiler_range", "range", "\"pid\":0,\"tid\":0", AT(10, 5), "") ","
	X("mystery", "m", HOST, AT(11, 1), "\"a\":\"b\"") ","
	X("user_annotation", "ProfilerStep#8", HOST, AT(60, 30), "") ","
	X("user_annotation", "ProfilerStep#7", HOST, AT(20, 40), "") ","
	X("user_annotation", "ProfilerStep#x", HOST, AT(21, 1), "") ","
	X("Kernel", "k", "\"pid\":0,\"tid\":\"stream 7\"", AT(30, 1),
		"\"device\":0,\"stream\":7") ","
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":500,\"tid\":501,\"ts\":31,\"args\":"
		"{\"Device Type\":1,\"Device Id\":0,"
		"\"Bytes\":256,\"Addr\":4096,\"Total Allocated\":256}},"
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":500,\"tid\":501,\"ts\":32,\"args\":"
		"{\"Device Type\":1,\"Device Id\":0,"
		"\"Bytes\":-256,\"Addr\":4096,\"Total Allocated\":0}},"
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":500,\"tid\":501,\"ts\":33,\"args\":"
		"{\"Device Type\":0,\"Device Id\":-1,\"Bytes\":4}},"
	"{\"ph\":\"i\",\"name\":\"Record Window End\",\"pid\":\"\",\"tid\":\"\",\"ts\":99},"
	X("mtia_ccp_events", "dma_request", DEVICE, AT(36, 1),
		"\"direction\":\"DEVICE_TO_HOST\",\"size\":512") ","
	X("mtia_ccp_events", "dma_request", DEVICE, AT(38, 1), "\"direction\":\"UP\"") ","
	"{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":500,\"tid\":501,\"ts\":40},"
	"{\"ph\":\"E\",\"name\":\"b\",\"pid\":500,\"tid\":501,\"ts\":41}");
/* clang-format on */

static void test_torch__gives_foreign_rows_lines_of_their_own(void **state)
{
	struct flex_run *run = convert(state, rows);
	uint64_t window = flex_row(&run->host, "name", "PyTorch Profiler (0)", "kind", "Window");

	assert_cell(&run->host, window, "thread", "Spans PyTorch Profiler");
	assert_int_equal(flex_number(&run->host, window, "dur_ns"), 99000);
	assert_cell(&run->host, flex_row(&run->host, "name", "m", NULL, NULL), "args",
	            "{\"cat\":\"mystery\",\"a\":\"b\"}");
	flex_row(&run->host, "name", "b", "kind", "Op");
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

/* Annotations and synchronisation are no work, and stand around it on its row. */
static void test_torch__gives_rows_of_devices_to_them(void **state)
{
	struct flex_run *run = convert(state, rows);

	assert_int_equal(run->events.n_rows, 6);
	assert_cell(&run->events, flex_row(&run->events, "kind", "Memcpy DtoH", NULL, NULL),
	            "bytes", "512");
	flex_row(&run->events, "name", "dma_request", "kind", "kernel"); /* whereto is not known */
	assert_cell(&run->events, flex_row(&run->events, "name", "k", "kind", "kernel"), "queue",
	            "7");
	assert_cell(&run->events, flex_row(&run->events, "name", "a", "kind", "state"), "queue",
	            "7");
	assert_cell(&run->events, flex_row(&run->events, "name", "range", "kind", "state"),
	            "device", "0");
	flex_row(&run->events, "name", "Event Sync", "kind", "state");
	assert_false(has_text(run, "tables/kernels.csv", "Event Sync"));
	assert_true(has_text(run, "trace.json", "\"name\":\"a\",\"pid\":1002,\"tid\":7,"));
	assert_true(has_text(run, "trace.json", "\"name\":\"k\",\"pid\":1001,\"tid\":7,"));
}

static void test_torch__knows_steps_in_any_order(void **state)
{
	struct flex_run *run = convert(state, rows);
	uint64_t first = flex_row(&run->host, "name", "ProfilerStep#7", "kind", "Step");

	assert_int_equal(flex_number(&run->host,
	                             flex_row(&run->host, "name", "ProfilerStep#8", "kind", "Step"),
	                             "end_ns"),
	                 90000); /* though other things end later */
	flex_row(&run->host, "name", "ProfilerStep#x", "kind", "User");
	assert_int_equal(flex_number(&run->host, first, "start_ns"), 20000);
	assert_int_equal(flex_number(&run->host, first, "end_ns"), 60000);
	assert_true(has_text(run, "tables/loops.csv", "steps,2,"));
}

/* clang-format off */
static const char odd_args[] = FILE_OF("\"distributedInfo\":{\"rank\":1},",
	X("cpu_op", "o", HOST, AT(10, 20),
		"\"kind\":[1,{\"<a>\":null}],\"status\":\"x\\n\\\"\"") ","
	X("kernel", "k", "\"pid\":0,\"tid\":7", AT(14, 1), "\"kind\":\"Dispatch\",\"job\":1.50") ","
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":500,\"tid\":501,\"ts\":31,\"args\":"
		"{\"Device Type\":1,\"Device Id\":0,\"Bytes\":256,\"Addr\":4096}}");
/* clang-format on */

/* No member of ours takes the place of one of the file's. */
static void test_torch__lets_the_file_have_the_word(void **state)
{
	static const char *const all[] = {
		"\"args\":{\"kind\":[1,{\"\\u003ca>\":null}],\"status\":\"x\\n\\\"\"}",
		("\"args\":{\"kind\":\"Dispatch\",\"job\":1.50,\"rank\":1,\"device\":0,"
	         "\"stream\":7,\"status\":\"given\"}"),
		"\"Device Type\":1,\"Device Id\":0,\"Bytes\":256,\"Addr\":4096,"
		"\"kind\":\"annotation\",",
	};
	struct flex_run *run = convert(state, odd_args);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!has_text(run, "trace.json", all[i]))
			fail_msg("Not in the file: %s", all[i]);
	}
	assert_true(has_text(run, "tables/memory.csv", ",alloc,4096,256,256,"));
}

static void test_torch__knows_what_devices_allocate(void **state)
{
	struct flex_run *run = convert(state, rows);

	assert_true(has_text(run, "tables/memory.csv", ",alloc,4096,256,256,"));
	assert_true(has_text(run, "tables/memory.csv", ",free,4096,256,0,"));
	assert_true(has_text(run, "tables/instants.csv", "annotation,[memory],"));
	assert_true(has_text(run, "tables/instants.csv", "instant,Record Window End,"));
}

/* -- files ------------------------------------------------------------------------------------ */

static void test_torch__is_known_by_its_content(void **state)
{
	static const struct {
		const char *text;
		enum import_dialect dialect;
	} cases[] = {
		{FILE_OF("", X("x", "n", HOST, AT(1, 1), "")), IMPORT_TORCH},
		{"[" X("cpu_op", "n", HOST, AT(1, 1), "") "]", IMPORT_TORCH},
		{"{\"deviceProperties\":[],\"traceEvents\":[]}", IMPORT_TORCH},
		{"[{\"ph\":\"M\",\"pid\":1}," X("kernel", "n", HOST, AT(1, 1), "") "]",
	         IMPORT_TORCH},
		{"[" X("x", "n", HOST, AT(1, 1), "") "]", IMPORT_FLEX},
		{"[" X("kernel", "n", HOST, AT(1, 1), "\"TS1\":\"1\"") "]", IMPORT_FLEX},
		{"{\"traceEvents\":[]}", IMPORT_FLEX},
		{"[]", IMPORT_FLEX},
	};
	struct flex_run *run = *state;
	char path[4096];

	snprintf(path, sizeof(path), "%s/a.json", run->in);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum import_dialect dialect;

		flex_add_file(run, "a.json", cases[i].text);
		assert_int_equal(dialect_of_file(path, &dialect, NULL), 0);
		assert_int_equal(dialect, cases[i].dialect);
	}
	flex_add_file(run, "a.json", "7");
	assert_int_equal(dialect_of_file(path, &(enum import_dialect){0}, NULL), FLEXTRACE_E_INPUT);
}

static void test_torch__obeys_who_says_what_a_file_is(void **state)
{
	struct flex_run *run = *state;

	run->dialect = IMPORT_FLEX;
	convert(state, one_launch);
	assert_int_equal(run->events.n_rows, 0);
	assert_cell(&run->host, flex_row(&run->host, "name", "k", NULL, NULL), "rank", "3");
}

static void test_torch__takes_ranks_for_files_that_tell_none(void **state)
{
	static const char *const good[] = {NULL, "0", "0,7", "2147483647"};
	static const char *const bad[] = {
		"", ",", "1,", "-1", "x", "1 ", "2147483648", "1;2", "99999999999999999999"};
	struct flex_run *run = *state;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(dialect_check_ranks(good[i], NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(dialect_check_ranks(bad[i], NULL), FLEXTRACE_E_USAGE);
	run->torch_ranks = "5,3";
	flex_add_file(run, "a.json", stamped);
	flex_add_file(run, "b.json", one_launch);
	flex_add_file(run, "c.json", stamped);
	flex_add_file(run, "d.json", rows);
	flex_convert(run);
	assert_int_equal(flex_count(&run->events, "rank", "5"),
	                 flex_count(&run->events, "rank", "3"));
	assert_int_equal(flex_count(&run->events, "rank", "2"), 2);
	assert_int_equal(flex_count(&run->events, "rank", ""), 6);
}

#define BASED(base, rank, pid)                                                                 \
	FILE_OF("\"distributedInfo\":{\"rank\":" #rank "},\"baseTimeNanoseconds\":" #base ",", \
	        X("cpu_op", "o", "\"pid\":" #pid ",\"tid\":1", AT(1712195495519.047, 2),       \
	          "") "," X("kernel", "k", "\"pid\":0,\"tid\":7", AT(1712195495520.001, 1), ""))

static void test_torch__puts_files_of_other_bases_on_one_time(void **state)
{
	struct flex_run *run = *state;

	flex_add_file(run, "a.json", BASED(1000000000000000, 0, 7));
	flex_add_file(run, "b.json", BASED(1000000000005000, 0, 7));
	flex_add_file(run, "c.json", BASED(1000000000000000, 1, 8));
	flex_convert(run);
	assert_int_equal(flex_number(&run->host, 0, "start_ns"), INT64_C(2712195495519047));
	assert_int_equal(flex_number(&run->host, 2, "start_ns"), INT64_C(2712195495524047));
	assert_int_equal(flex_number(&run->events, 0, "start_ns"), INT64_C(2712195495520001));
	assert_int_equal(flex_count(&run->events, "rank", "0"), 2);
	assert_int_equal(flex_count(&run->events, "rank", "1"), 1);
	assert_int_equal(run->ledger.warnings[WARNING_DUPLICATE_RANK], 0);
}

/* clang-format off */
static const char late[] = "{\"traceEvents\":["
	X("cpu_op", "o", HOST, AT(5, 2), "")
	"],\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{\"rank\":5}}";
/* clang-format on */

static void test_torch__reads_what_stands_behind_the_events(void **state)
{
	struct flex_run *run = convert(state, late);

	assert_cell(&run->host, 0, "rank", "5");
	assert_int_equal(flex_number(&run->host, 0, "start_ns"), INT64_C(1700000000000005000));
}

static void test_torch__survives_lies(void **state)
{
	static const char *const heads[] = {
		"\"distributedInfo\":{\"rank\":-3,\"world_size\":1e99},",
		"\"distributedInfo\":{\"rank\":\"x\"},\"deviceProperties\":[1,[],{\"id\":\"a\"}],",
		"\"distributedInfo\":7,\"deviceProperties\":{},\"baseTimeNanoseconds\":-1,",
		("\"baseTimeNanoseconds\":9223372036854775807,\"deviceProperties\":[{\"id\":1e300}]"
	         ","),
	};
	static const char list[] = X("kernel", "", "\"pid\":-1,\"tid\":-1", AT(-5, 1), "") ",";
	struct flex_run *run = *state;
	char text[4000], name[16];

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		snprintf(text, sizeof(text), "{\"schemaVersion\":1,%s\"traceEvents\":[%s%s,%s]}",
		         heads[i], list,
		         X("kernel", "k", "\"pid\":1e30,\"tid\":\"\"", AT(9, 1),
		           "\"device\":-4,\"stream\":[],\"correlation\":-1,\"bytes\":\"\""),
		         "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1}");
		snprintf(name, sizeof(name), "%zu.json", i);
		flex_add_file(run, name, text);
	}
	flex_convert(run);
	assert_int_equal(run->events.n_rows, 4);
	assert_int_equal(ledger_total(&run->ledger, LOSS_MALFORMED), 8);
	assert_int_equal(flex_count(&run->events, "rank", ""), 4);
	assert_non_null(strstr(run->warnings, "its time is negative"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_torch__##name, flex_start, flex_stop)
		TEST(places_device_work_where_the_profiler_did),
		TEST(draws_arrows_from_launches),
		TEST(knows_who_the_process_is),
		TEST(keeps_what_stands_beside_the_events),
		TEST(takes_the_stamps_of_control_blocks),
		TEST(tells_the_kind_of_host_work_by_its_category),
		TEST(gives_foreign_rows_lines_of_their_own),
		TEST(gives_rows_of_devices_to_them),
		TEST(knows_steps_in_any_order),
		TEST(lets_the_file_have_the_word),
		TEST(knows_what_devices_allocate),
		TEST(is_known_by_its_content),
		TEST(obeys_who_says_what_a_file_is),
		TEST(takes_ranks_for_files_that_tell_none),
		TEST(puts_files_of_other_bases_on_one_time),
		TEST(reads_what_stands_behind_the_events),
		TEST(survives_lies),
	};

	return cmocka_run_group_tests_name("torch", tests, NULL, NULL);
}
