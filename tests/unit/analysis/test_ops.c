/* SPDX-License-Identifier: Apache-2.0 */
/* ops.csv, through the whole pipeline. A cycle is 1 ns; counters read the host clock. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "asked.h"
#include "cli/report/csv_table.h"
#include "pipeline.h"
#include "scratch.h"
#include "text_source.h"

#define PROCESS                                                                            \
	"1 5 5 process rank=2 pid=77 start_ns=1 boot_id=b host=node program=app\n"         \
	"1 5 5 device device=3 n_cores=4 name=AIU\n"                                       \
	"1 5 5 clock_domain device=3 counter_bits=64 nominal_hz=1000000000\n"              \
	"1000 5 5 clock_sync device=3 host_before_ns=1000 ticks=1000 host_after_ns=1000\n" \
	"9000 5 5 clock_sync device=3 host_before_ns=9000 ticks=9000 host_after_ns=9000\n"

static struct csv_table table;

static int stop(void **state)
{
	(void)state;
	csv_table_release(&table);
	return 0;
}

/* Converts, and reads ops.csv. NULL: nobody asks for it. */
static void convert_with(const char *text, const struct derivations *derivations)
{
	char *dir = scratch_dir(), path[256];
	struct pipeline_options options = {
		.emit = {.output_dir = dir, .formats = "text", .n_threads = 1},
		.calibrate = CALIBRATE_OPTIONS_INIT,
		.align = ALIGN_OPTIONS_INIT,
		.derivations = derivations,
	};
	struct pipeline_result result;
	struct flextrace_error error = {0};
	struct text_source source;
	FILE *file;

	assert_int_equal(text_source_init(&source), 0);
	if (text_source_read(&source, PROCESS, &error) < 0 ||
	    text_source_read(&source, text, &error) < 0 ||
	    pipeline_run(&source.set, source.strings, &source.decoder.ledger, &options, &result,
	                 &error) < 0)
		fail_msg("%s", error.message);
	text_source_release(&source);
	snprintf(path, sizeof(path), "%s/tables/ops.csv", dir);
	file = fopen(path, "r");
	table = (struct csv_table){.n_rows = 0};
	if (file &&
	    csv_table_read(file, path, &(struct csv_table_query){.limit = 0}, &table, &error) < 0)
		fail_msg("%s", error.message);
	if (file)
		fclose(file);
	scratch_remove(dir);
}

static void convert(const char *text)
{
	char names[] = "ops";
	const struct derivations asked = asked_for(names);

	convert_with(text, &asked);
}

static int find_column(const char *column)
{
	for (uint32_t i = 0; i < table.n_columns; i++) {
		if (strcmp(table.columns[i], column) == 0)
			return (int)i;
	}
	return -1;
}

static void expect(uint64_t row, const char *column, const char *expected)
{
	int at = find_column(column);

	if (at < 0)
		fail_msg("There is no column %s", column);
	assert_true(row < table.n_rows);
	if (strcmp(table.rows[row].cells[at], expected) != 0)
		fail_msg("%s of row %d is %s, not %s", column, (int)row, table.rows[row].cells[at],
		         expected);
}

/* -- on the host ----------------------------------------------------------------------------- */

static void test_ops__tells_what_an_operation_is(void **state)
{
	(void)state;
	convert("2000 5 5 op correlation=4 type=MatMul attributes=\"fidelity=HiFi2, a\" n_cores=2 "
	        "depth=1\n"
	        "2000 5 5 tensor correlation=4 dims=2x3 layout=TILE dtype=BF16 memory=L1\n"
	        "2000 5 5 tensor correlation=4 dims=5x2x3x4x6 layout=ROW dtype=FP8 memory=DRAM\n"
	        "2000 5 5 tensor correlation=4 is_output=1 dims=?\n"
	        "2000 5 5 tensor correlation=4 is_output=1 dims=32[19]x64[64]\n"
	        "2000 5 5 op_info correlation=4 op_name=jit/mm module=m opcode=dot "
	        "frames=\"a.py:1\"\n"
	        "2600 5 5 scope begin_ns=2000 name=\"mm, 1\" kind=34 correlation=4\n"
	        "2700 5 5 scope begin_ns=2650 name=unknown kind=34 correlation=5\n");
	assert_int_equal(table.n_rows, 1);
	expect(0, "OP CODE", "mm, 1");
	expect(0, "OP TYPE", "MatMul");
	expect(0, "GLOBAL CALL COUNT", "4");
	expect(0, "number", "1");
	expect(0, "ATTRIBUTES", "fidelity=HiFi2, a");
	expect(0, "MATH FIDELITY", "HiFi2");
	expect(0, "CORE COUNT", "2");
	expect(0, "CALL DEPTH", "1");
	expect(0, "HOST START TS", "2000");
	expect(0, "HOST END TS", "2600");
	expect(0, "HOST DURATION [ns]", "600");
	expect(0, "DEVICE ID", "");
	expect(0, "DEVICE KERNEL DURATION [ns]", "");
	expect(0, "rank", "2");
	expect(0, "correlation", "4");
	expect(0, "op_name", "jit/mm");
	expect(0, "frames", "a.py:1");
	expect(0, "INPUT_0_W_PAD[LOGICAL]", "1[1]");
	expect(0, "INPUT_0_Y_PAD[LOGICAL]", "2[2]");
	expect(0, "INPUT_0_X_PAD[LOGICAL]", "3[3]");
	expect(0, "INPUT_0_LAYOUT", "TILE");
	expect(0, "INPUT_0_DATATYPE", "BF16");
	expect(0, "INPUT_0_MEMORY", "L1");
	expect(0, "INPUT_1_W", "10");
	expect(0, "INPUT_1_X", "6");
	expect(0, "INPUT_1_DATA TYPE", "FP8");
	expect(0, "OUTPUT_0_X", "");
	expect(0, "OUTPUT_1_Y_PAD[LOGICAL]", "32[19]");
	expect(0, "OUTPUT_1_Y", "32");
	assert_int_equal(find_column("INPUT_2_X"), -1);
}

static void test_ops__counts_what_was_called_inside(void **state)
{
	(void)state;
	convert("2000 5 5 op correlation=4 type=outer\n"
	        "2100 5 5 op correlation=5 type=inner depth=1\n"
	        "2150 5 5 scope begin_ns=2120 name=alloc kind=3\n"
	        "2300 5 5 scope begin_ns=2100 name=in kind=34 correlation=5\n"
	        "2420 5 5 scope begin_ns=2400 name=alloc kind=3\n"
	        "2470 5 5 scope begin_ns=2430 name=alloc kind=3\n"
	        "2480 5 6 scope begin_ns=2470 name=\"of another thread\" kind=3\n"
	        "2490 5 5 step number=1\n"
	        "2600 5 5 scope begin_ns=2000 name=out kind=34 correlation=4\n"
	        "2800 5 5 scope begin_ns=2700 name=alloc kind=3\n");
	assert_int_equal(table.n_rows, 2);
	expect(0, "OP CODE", "out");
	expect(0, "alloc Count", "2");
	expect(0, "alloc Average", "30");
	expect(0, "alloc_TT_HOST_FUNC [ns]", "60");
	expect(1, "OP CODE", "in");
	expect(1, "number", "2");
	expect(1, "alloc Count", "1");
	expect(1, "alloc Average", "30");
	assert_int_equal(find_column("in Count"), -1);
	assert_int_equal(find_column("of another thread Count"), -1);
}

/* -- on devices ------------------------------------------------------------------------------ */

#define BLOCK(job, correlation, t1, t2, t3, t4, t5)                                              \
	"5000 5 5 device_op device=3 job=" #job " correlation=" #correlation                     \
	" kind=1 name=k submit_ns=1500 complete_ns=8000 ts=" #t1 "," #t2 "," #t3 "," #t4 "," #t5 \
	" peer=-1\n"

static void test_ops__joins_device_work_by_what_launched_it(void **state)
{
	(void)state;
	convert("2000 5 5 op correlation=4 type=a\n"
	        "2050 5 5 scope begin_ns=2010 name=launch kind=1 correlation=9\n"
	        "2090 5 5 scope begin_ns=2060 name=launch kind=1 correlation=10\n"
	        "2100 5 5 scope begin_ns=2000 name=first kind=34 correlation=4\n"
	        "2200 5 5 op correlation=11 type=b\n"
	        "2300 5 5 scope begin_ns=2200 name=second kind=34 correlation=11\n"
	        "2300 5 5 scope begin_ns=2250 name=other kind=1 correlation=12\n" BLOCK(
			1, 9, 3000, 3010, 3020, 3100, 3110)
	                BLOCK(2, 10, 3110, 3120, 3130, 3200, 3210)
	                        BLOCK(3, 11, 3300, 3310, 3320, 3400, 3410));
	assert_int_equal(table.n_rows, 2);
	expect(0, "DEVICE ID", "3");
	expect(0, "DEVICE ARCH", "AIU");
	expect(0, "AVAILABLE WORKER CORE COUNT", "4");
	expect(0, "DEVICE FW START CYCLE", "3000");
	expect(0, "DEVICE FW END CYCLE", "3210");
	expect(0, "DEVICE FW DURATION [ns]", "210");
	expect(0, "DEVICE KERNEL DURATION [ns]", "180");
	expect(0, "OP TO OP LATENCY [ns]", "");
	expect(0, "DEVICE BRISC KERNEL DURATION [ns]", "");
	expect(1, "OP TO OP LATENCY [ns]", "120");
	expect(1, "DEVICE KERNEL DURATION [ns]", "80");
}

#define SLOT(core, processor, run, job, start, kernel, kernel_end, end)                            \
	"5100 5 5 marker_batch device=3 core=" #core " processor=" #processor " first_index=" #run \
	" words=slot:" #run ":" #job ",queue:1:0,anchor_lo:0:" #start                              \
	",anchor_hi:0:0,stamp:0:" #start ",stamp:1:" #kernel ",stamp:2:" #kernel_end               \
	",stamp:3:" #end "\n"

static void test_ops__takes_times_of_cores_from_the_firmware(void **state)
{
	(void)state;
	convert("2000 5 5 op correlation=4 type=a\n"
	        "2100 5 5 scope begin_ns=2000 name=first kind=34 correlation=4\n"
	        "2100 5 5 op correlation=5 type=b\n"
	        "2200 5 5 scope begin_ns=2100 name=second kind=34 correlation=5\n" BLOCK(
			7, 4, 3000, 3010, 3020, 3100, 3110)
	                BLOCK(7, 5, 4000, 4010, 4020, 4100, 4110)
	                        SLOT(0, 0, 1, 7, 2990, 3020, 3100, 3120)
	                                SLOT(0, 1, 1, 7, 2995, 3040, 3090, 3115)
	                                        SLOT(1, 2, 1, 7, 2992, 3030, 3060, 3070)
	                                                SLOT(0, 0, 2, 7, 3990, 4030, 4090, 4120));
	assert_int_equal(table.n_rows, 2);
	expect(0, "DEVICE FW START CYCLE", "2990");
	expect(0, "DEVICE FW END CYCLE", "3120");
	expect(0, "DEVICE FW DURATION [ns]", "130");
	expect(0, "DEVICE KERNEL DURATION [ns]", "80");
	expect(0, "DEVICE KERNEL DURATION DM START [ns]", "80");
	expect(0, "DEVICE KERNEL DURATION PER CORE MIN [ns]", "30");
	expect(0, "DEVICE KERNEL DURATION PER CORE MAX [ns]", "80");
	expect(0, "DEVICE KERNEL DURATION PER CORE AVG [ns]", "55");
	expect(0, "DEVICE KERNEL FIRST TO LAST START [ns]", "10");
	expect(0, "DEVICE BRISC KERNEL DURATION [ns]", "80");
	expect(0, "DEVICE NCRISC KERNEL DURATION [ns]", "50");
	expect(0, "DEVICE TRISC0 KERNEL DURATION [ns]", "30");
	expect(0, "DEVICE TRISC1 KERNEL DURATION [ns]", "");
	expect(0, "CORE COUNT", "2");
	expect(1, "DEVICE FW DURATION [ns]", "130");
	expect(1, "DEVICE KERNEL DURATION [ns]", "60");
	expect(1, "OP TO OP LATENCY [ns]", "930");
	expect(1, "OP TO OP LATENCY BR/NRISC START [ns]", "930");
}

/* As in logs of firmware alone: no control block, but a job that is the operation's number. */
static void test_ops__joins_runs_by_their_job(void **state)
{
	(void)state;
	convert("2000 5 5 op correlation=1027 type=a\n"
	        "2100 5 5 scope begin_ns=2000 name=first kind=34 correlation=1027\n" SLOT(
			0, 0, 1, 1027, 2990, 3020, 3100, 3120)
	                SLOT(0, 0, 2, 9, 3990, 4020, 4100, 4120));
	assert_int_equal(table.n_rows, 1);
	expect(0, "DEVICE KERNEL DURATION [ns]", "80");
	expect(0, "DEVICE FW DURATION [ns]", "130");
}

static void test_ops__an_operation_on_two_devices_has_two_lines(void **state)
{
	(void)state;
	convert("1 5 5 device device=8 name=other\n"
	        "2000 5 5 op correlation=4 type=a\n"
	        "2100 5 5 scope begin_ns=2000 name=first kind=34 correlation=4\n"
	        "8000 5 5 device_op device=8 job=1 correlation=4 kind=1 name=k submit_ns=1500 "
	        "complete_ns=8000 ts=3000,3010,3020,3100,3110 peer=-1\n" BLOCK(2, 4, 3000, 3010,
	                                                                       3020, 3120, 3130));
	assert_int_equal(table.n_rows, 2);
	expect(0, "DEVICE ID", "3");
	expect(0, "DEVICE KERNEL DURATION [ns]", "100");
	expect(1, "DEVICE ID", "8");
	expect(1, "OP CODE", "first");
	expect(1, "number", "1");
}

static void test_ops__is_a_heading_without_operations(void **state)
{
	(void)state;
	convert("2100 5 5 scope begin_ns=2000 name=first kind=34 correlation=4\n" BLOCK(
		1, 4, 3000, 3010, 3020, 3100, 3110));
	assert_int_equal(table.n_rows, 0);
	assert_true(table.n_columns > 0);
}

/* It has the shape of tt-metal's report. */
static void test_ops__is_no_file_where_nobody_asks(void **state)
{
	(void)state;
	convert_with("2100 5 5 scope begin_ns=2000 name=first kind=34 correlation=4\n"
	             "2050 5 5 op_info correlation=4 module=m opcode=dot\n",
	             NULL);
	assert_int_equal(table.n_columns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_ops__tells_what_an_operation_is, stop),
		cmocka_unit_test_teardown(test_ops__counts_what_was_called_inside, stop),
		cmocka_unit_test_teardown(test_ops__joins_device_work_by_what_launched_it, stop),
		cmocka_unit_test_teardown(test_ops__takes_times_of_cores_from_the_firmware, stop),
		cmocka_unit_test_teardown(test_ops__joins_runs_by_their_job, stop),
		cmocka_unit_test_teardown(test_ops__an_operation_on_two_devices_has_two_lines,
	                                  stop),
		cmocka_unit_test_teardown(test_ops__is_a_heading_without_operations, stop),
		cmocka_unit_test_teardown(test_ops__is_no_file_where_nobody_asks, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
