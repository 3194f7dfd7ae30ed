/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"

#define LOG "profile_log_device.csv"
#define FORM_15                                                                              \
	"ARCH: blackhole, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 140\nPCIe slot, core_x, " \
	"core_y, RISC processor type, timer_id, time[cycles since reset]"                    \
	", data, run host ID, trace id, trace id counter, zone name, type, source line, "    \
	"source file, meta data\n"

#define REPORT "ops_perf_results_1.csv"
#define HEADINGS                                                                                   \
	"OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,CORE COUNT,HOST "      \
	"START "                                                                                   \
	"TS,HOST END TS,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],DEVICE " \
	"KERNEL DURATION [ns],INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_LAYOUT,"             \
	"INPUT_0_DATATYPE,INPUT_0_MEMORY\n"

static struct flex_run *convert_report(void **state, const char *text)
{
	struct flex_run *run = *state;

	flex_add_file(run, REPORT, text);
	flex_convert(run);
	return run;
}

/* The second operation waits least for its call: its device is put where it begins with it. */
static void test_tt_report__tells_host_and_device_of_operations(void **state)
{
	struct flex_run *run = convert_report(
		state, HEADINGS "begin,signpost,,,,,,900,,,,,,,,,,,,\n"
				"Matmul,dev,1024,0,wh,{'a': 1; 'b'},64,1000,1500,2000000,2040000,"
				"20000,18000,1[1],1[1],32[30],64,TILE,BF16,DRAM\n"
				"Softmax,dev,2048,0,wh,,8,20000,21000,2030000,2070000,20000,20000,"
				",,,,,,\n");
	uint64_t matmul = flex_row(&run->events, "name", "Matmul", "job", "1024");
	uint64_t softmax = flex_row(&run->events, "name", "Softmax", "job", "2048");

	assert_int_equal(run->host.n_rows, 2);
	assert_int_equal(flex_number(&run->events, softmax, "start_ns"), 20000);
	assert_int_equal(flex_number(&run->events, matmul, "start_ns"), 5000 + 1000);
	assert_int_equal(flex_number(&run->events, matmul, "dur_ns"), 18000);
	assert_string_equal(flex_cell(&run->events, matmul, "status"), "given");
	assert_string_equal(flex_cell(&run->events, matmul, "correlation"), "1024");
	assert_non_null(strstr(flex_cell(&run->host, 0, "args"), "\"dims\":\"1x1x32[30]x64\""));
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

/* With the log beside it the log tells the work, the report whose it is. */
static void test_tt_report__goes_with_a_log(void **state)
{
	struct flex_run *run = *state;
	struct csv_table ops;

	flex_add_file(run, LOG,
	              FORM_15 "0,1,1,BRISC,1,5000,0,1024,,,BRISC-FW,ZONE_START,1,f,\n"
	                      "0,1,1,BRISC,2,5100,0,1024,,,BRISC-KERNEL,ZONE_START,1,f,\n"
	                      "0,1,1,BRISC,2,5900,0,1024,,,BRISC-KERNEL,ZONE_END,1,f,\n"
	                      "0,1,1,BRISC,1,6000,0,1024,,,BRISC-FW,ZONE_END,1,f,\n");
	run = convert_report(state, HEADINGS "Matmul,dev,1024,0,wh,,1,100000,150000,5000,6000,"
	                                     "1000,800,,,,,,,\n");
	assert_int_equal(run->events.n_rows, 2);
	assert_int_equal(flex_number(&run->events, 0, "start_ns"), 100000);
	assert_int_equal(flex_number(&run->events, 0, "ts1"), 5000);
	assert_int_equal(run->host.n_rows, 1);
	ops = flex_read_table(run, "tables/device_ops.csv");
	assert_string_equal(flex_cell(&ops, 0, "name"), "Matmul");
	csv_table_release(&ops);
}

/* Chips with resets of their own; the last meeting is a lie. What the others leave has its middle
 * where both began the first one together. */
static void test_tt_report__ties_chips_by_what_they_did_together(void **state)
{
	struct flex_run *run =
		convert_report(state, HEADINGS
	                       "AllGather,d,1024,0,wh,,1,1000,1100,1000,2000,1000,1000,,,,,,,\n"
	                       "AllGather,d,1025,1,wh,,1,900,910,996000,997000,1000,1000,,,,,,,\n"
	                       "AllReduce,d,2048,0,wh,,1,5000,5100,5000,6000,1000,1000,,,,,,,\n"
	                       "AllReduce,d,2049,1,wh,,1,5000,5001,1000000,1001000,1000,1000,"
	                       ",,,,,,\n"
	                       "Barrier,d,3072,0,wh,,1,9000,9001,9000,9100,100,100,,,,,,,\n"
	                       "Barrier,d,3073,1,wh,,1,9000,9001,2000000,2000100,100,100,,,,,,,\n");
	uint64_t here = flex_row(&run->events, "device", "0", "job", "1024");
	uint64_t there = flex_row(&run->events, "device", "1", "job", "1025");

	assert_int_equal(flex_number(&run->events, there, "start_ns") -
	                         flex_number(&run->events, here, "start_ns"),
	                 0);
	assert_non_null(
		strstr(run->warnings, "devices=2, within ns=1000, meetings=3, contradictions=1"));
}

/* -- what passes through --------------------------------------------------------------------- */

#define WIDE_HEADINGS                                                                              \
	"OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,MATH FIDELITY,PARALLELIZATION STRATEGY,HOST " \
	"START TS,HOST END TS,DEVICE FW START CYCLE,DEVICE FW END CYCLE,OP TO OP LATENCY [ns],"    \
	"DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],DEVICE BRISC KERNEL DURATION [ns],"   \
	"INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,"  \
	"PM IDEAL [ns],MY OWN COLUMN\n"

static const char wide_lines[] =
	"A,dev,1024,0,HiFi4,\"x, y\",1000,1500,2000,2200,0,200.5,180,90,1[1],1,32[30],8,T,B,D,7,\n"
	"A,dev,1024,1,HiFi2,,1001,1500,2000,2200,0,200,180,,1[1],1,32[30],8,T,B,D,8,mine\n"
	"B,dev,2048,0,,,3000,3500,12000,12300,-12,300,250,,,,,,,,,,-3\n";

/* Cells are those of the report, byte for byte, for each of its lines; so are its columns. */
static void test_tt_report__keeps_every_cell(void **state)
{
	static const struct {
		uint64_t line;
		const char *column, *cell;
	} cells[] = {
		{0, "MATH FIDELITY", "HiFi4"},
		{0, "PARALLELIZATION STRATEGY", "x, y"},
		{0, "DEVICE FW START CYCLE", "2000"},
		{0, "DEVICE FW END CYCLE", "2200"},
		{0, "DEVICE FW DURATION [ns]", "200.5"},
		{0, "DEVICE KERNEL DURATION [ns]", "180"},
		{0, "DEVICE BRISC KERNEL DURATION [ns]", "90"},
		{0, "INPUT_0_Y", "32[30]"},
		{0, "INPUT_0_Y_PAD[LOGICAL]", "32[30]"},
		{0, "MY OWN COLUMN", ""},
		{1, "MATH FIDELITY", "HiFi2"},
		{1, "HOST START TS", "1001"},
		{1, "DEVICE ID", "1"},
		{1, "PM IDEAL [ns]", "8"},
		{1, "MY OWN COLUMN", "mine"},
		{2, "GLOBAL CALL COUNT", "2048"},
		{2, "OP TO OP LATENCY [ns]", "-12"},
		{2, "INPUT_0_W", ""},
		{2, "MY OWN COLUMN", "-3"},
	};
	char text[2048];
	struct flex_run *run;
	struct csv_table ops;

	snprintf(text, sizeof(text), WIDE_HEADINGS "%s", wide_lines);
	run = convert_report(state, text);
	ops = flex_read_table(run, "tables/ops.csv");
	assert_int_equal(ops.n_rows, 3);
	for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++)
		assert_string_equal(flex_cell(&ops, cells[i].line, cells[i].column), cells[i].cell);
	csv_table_release(&ops);
}

/* A replayed trace has the calls of the trace again. */
static void test_tt_report__has_a_line_for_each_replay(void **state)
{
	struct flex_run *run = convert_report(
		state, HEADINGS "A,dev,1024,0,wh,,1,1000,1500,2000,2200,200,200,,,,,,,\n"
				"A,dev,1024,0,wh,,1,1000,1500,9000,9300,300,300,,,,,,,\n");
	struct csv_table ops = flex_read_table(run, "tables/ops.csv");

	assert_int_equal(run->host.n_rows, 1);
	assert_int_equal(run->events.n_rows, 2);
	assert_int_equal(ops.n_rows, 2);
	assert_string_equal(flex_cell(&ops, 0, "DEVICE FW DURATION [ns]"), "200");
	assert_string_equal(flex_cell(&ops, 1, "DEVICE FW DURATION [ns]"), "300");
	csv_table_release(&ops);
}

/* Reports of device work alone, as cpp_device_perf_report.csv: lines of no call have theirs. */
static void test_tt_report__keeps_every_cell_without_host_times(void **state)
{
	struct flex_run *run = convert_report(
		state, "GLOBAL CALL COUNT,DEVICE ID,OP NAME,OP TYPE,DEVICE FW START CYCLE,DEVICE "
		       "FW END CYCLE,DEVICE FW DURATION [ns],DEVICE KERNEL START CYCLE,DEVICE "
		       "KERNEL DURATION [ns],MY OWN COLUMN\n"
		       "1024,0,A,dev,2000,3000,1000,2100,800,\"x, y\"\n"
		       "1024,1,A,dev,2010,3510,1500,2110,900,\n"
		       "2048,0,B,dev,4000,5000,1000,4050,900,z\n");
	static const struct {
		uint64_t line;
		const char *column, *cell;
	} cells[] = {
		{0, "OP CODE", "A"},
		{0, "GLOBAL CALL COUNT", "1024"},
		{0, "DEVICE ID", "0"},
		{0, "DEVICE KERNEL START CYCLE", "2100"},
		{0, "HOST START TS", ""},
		{0, "HOST DURATION [ns]", ""},
		{0, "MY OWN COLUMN", "x, y"},
		{1, "DEVICE ID", "1"},
		{1, "DEVICE KERNEL DURATION [ns]", "900"},
		{1, "MY OWN COLUMN", ""},
		{2, "OP CODE", "B"},
		{2, "OP TYPE", "dev"},
		{2, "status", "given"},
	};
	struct csv_table ops = flex_read_table(run, "tables/ops.csv");

	assert_int_equal(run->host.n_rows, 0);
	assert_int_equal(run->events.n_rows, 3);
	assert_int_equal(ops.n_rows, 3);
	for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++)
		assert_string_equal(flex_cell(&ops, cells[i].line, cells[i].column), cells[i].cell);
	csv_table_release(&ops);
}

/* The distance to the kernel before says where in the firmware's interval a kernel began. */
static void test_tt_report__places_kernels_as_far_apart_as_it_tells(void **state)
{
	struct flex_run *run = convert_report(
		state, WIDE_HEADINGS "A,dev,1024,0,,,1000,1500,2000,3000,0,1000,800,,,,,,,,,,\n"
				     "B,dev,2048,0,,,1001,1501,3500,4500,650,1000,700,,,,,,,,,,\n"
				     "C,dev,3072,0,,,1002,1502,6000,7000,9,1000,800,,,,,,,,,,\n");

	assert_int_equal(run->events.n_rows, 3);
	assert_int_equal(flex_number(&run->events, 1, "start_ns") -
	                         flex_number(&run->events, 0, "end_ns"),
	                 650);
	assert_int_equal(flex_number(&run->events, 2, "start_ns") -
	                         flex_number(&run->events, 0, "start_ns"),
	                 4000); /* 9 ns would be before its firmware */
}

/* -- wraps ----------------------------------------------------------------------------------- */

#define WRAP (UINT64_C(1) << 44)

static void add_op_line(char *text, size_t n_bytes, int call, uint64_t start)
{
	size_t n = strlen(text);

	snprintf(text + n, n_bytes - n,
	         "A,dev,%d,0,wh,,1,%d,%d,%" PRIu64 ",%" PRIu64 ",1000,900,,,,,,,\n", call,
	         1000 + call * 10000, 1500 + call * 10000, start & (WRAP - 1),
	         (start + 1000) & (WRAP - 1));
}

/* The same report with all cycles moved by a constant: the counter passes its 44 bits between two
 * operations, within one, and before the first one where lines are out of order. */
static void test_tt_report__does_not_depend_on_where_the_counter_wraps(void **state)
{
	static const uint64_t places[] = {0, 2000, 2500, 4500, 6000, 9500, 60000, 100000};
	static const uint64_t starts[] = {5000, 2000, 9000, 60000};
	int64_t expected[4];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char text[4096] = HEADINGS;
		struct flex_run *run;

		for (int j = 0; j < 4; j++)
			add_op_line(text, sizeof(text), j + 1,
			            starts[j] + (i ? WRAP - places[i] : 0));
		run = convert_report(state, text);
		assert_int_equal(run->events.n_rows, 4);
		assert_int_equal(ledger_lost(&run->ledger), 0);
		for (uint64_t j = 0; j < 4; j++) {
			int64_t start_ns = flex_number(&run->events, j, "start_ns");

			expected[j] = i ? expected[j] : start_ns;
			assert_int_equal(start_ns, expected[j]);
			assert_int_equal(flex_number(&run->events, j, "dur_ns"), 900);
		}
		flex_stop(state);
		flex_start(state);
	}
}

#define PAUSE_HEADINGS                                                                           \
	"GLOBAL CALL COUNT,DEVICE ID,HOST START TS,HOST END TS,DEVICE FW START CYCLE,DEVICE FW " \
	"END CYCLE,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],OP TO OP LATENCY [ns],"   \
	"METAL TRACE REPLAY SESSION ID\n"

/* A line at a cycle; `call`: when its host call was, as text. */
static size_t put_line(char *at, int number, const char *call, uint64_t start, uint64_t latency_ns,
                       const char *replay)
{
	return (size_t)sprintf(at, "%d,0,%s,%" PRIu64 ",%" PRIu64 ",1000,1000,%" PRIu64 ",%s\n",
	                       number, call, start % WRAP, (start + 1000) % WRAP, latency_ns,
	                       replay);
}

/* A pause of more than half a turn of the counter (2.4 h at 1 GHz): its calls say how long it was,
 * or, where there are none, the distance to the kernel before. A replay has the host times of the
 * recording of its trace. */
static void test_tt_report__knows_how_long_a_pause_was(void **state)
{
	static const uint64_t hours[] = {1, 2, 3, 4, 30};

	for (size_t i = 0; i < 2 * sizeof(hours) / sizeof(*hours); i++) {
		const uint64_t pause = hours[i / 2] * UINT64_C(3600000000000);
		const uint64_t start = UINT64_C(9000000000000), behind = start + 1000 + pause;
		char text[2048] = PAUSE_HEADINGS, *at = text + strlen(text), call[64] = ",";
		bool has_calls = i % 2;
		struct flex_run *run;

		at += put_line(at, 1, has_calls ? "5000,5500" : ",", start, 0, "");
		if (has_calls)
			snprintf(call, sizeof(call), "%" PRIu64 ",%" PRIu64, pause, pause + 9);
		at += put_line(at, 2, call, behind, has_calls ? 0 : pause, "");
		put_line(at, 3, has_calls ? "6000,6500" : ",", behind + 6000, 5000, "1");
		run = convert_report(state, text);
		assert_int_equal(run->events.n_rows, 3);
		assert_int_equal(flex_number(&run->events, 1, "start_ns") -
		                         flex_number(&run->events, 0, "start_ns"),
		                 pause + 1000);
		assert_int_equal(flex_number(&run->events, 2, "start_ns") -
		                         flex_number(&run->events, 1, "start_ns"),
		                 6000);
		flex_stop(state);
		flex_start(state);
	}
}

static void test_tt_report__survives_bad_lines(void **state)
{
	struct flex_run *run = convert_report(
		state, HEADINGS "Matmul,dev,1024,0,wh,,1,100,150,17592186044000,17592186044400,400,"
				"400,,,,,,,\n"
				"nothing\n"
				"A,dev,,0,wh,,1,100,150,1,2,1,1,,,,,,,\n"
				"B,dev,7,0,wh,,1,,,9,2,1,1,,,,,,,\n"
				"Add,dev,2048,0,wh,,1,600,650,84,184,100,100,,,,,,,\n"
				"C,dev,8,0,wh,{\"x,1,100\n");

	assert_int_equal(run->events.n_rows, 2);
	assert_int_equal(flex_number(&run->events, 1, "start_ns") -
	                         flex_number(&run->events, 0, "start_ns"),
	                 500); /* over a wrap */
	assert_int_equal(ledger_total(&run->ledger, LOSS_MALFORMED), 4);
	assert_int_equal(ledger_total(&run->ledger, LOSS_TRUNCATED_STREAM), 1);
	assert_non_null(strstr(run->warnings, "rows=4, first at line 3"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tt_report__tells_host_and_device_of_operations),
		TEST(test_tt_report__goes_with_a_log),
		TEST(test_tt_report__ties_chips_by_what_they_did_together),
		TEST(test_tt_report__keeps_every_cell),
		TEST(test_tt_report__keeps_every_cell_without_host_times),
		TEST(test_tt_report__has_a_line_for_each_replay),
		TEST(test_tt_report__places_kernels_as_far_apart_as_it_tells),
		TEST(test_tt_report__does_not_depend_on_where_the_counter_wraps),
		TEST(test_tt_report__knows_how_long_a_pause_was),
		TEST(test_tt_report__survives_bad_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
