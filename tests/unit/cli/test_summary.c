/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cli/report/summary.h"
#include "scratch.h"

#define CLOCKS                                                                                    \
	"rank,host,pid,device,domain,segment,events,certified,freq_mhz,ci_ppm,half_width_ns_p50," \
	"half_width_ns_max\n"
#define ALIGNMENT                                                                                 \
	"rank,host,pid,offset_ns,drift_ppm,half_width_ns_p50,half_width_ns_max,sync_points_used," \
	"component\n"
#define REFERENCE "0,alpha,10,0.000,0.000000,0.000,0.000,7,0\n"

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tables", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The summary of run.json and these tables; NULL = not written. Owned. */
static char *summary_with(const char *run, const char *clocks, const char *alignment)
{
	char *dir = scratch_dir(), *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	write_file(dir, "run.json", run);
	if (clocks)
		write_file(dir, "tables/clocks.csv", clocks);
	if (alignment)
		write_file(dir, "tables/alignment.csv", alignment);
	assert_int_equal(summary_print(dir, to, NULL), 0);
	assert_int_equal(fclose(to), 0);
	scratch_remove(dir);
	return text;
}

static char *summary_of(const char *clocks, const char *alignment)
{
	return summary_with("{}", clocks, alignment);
}

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("there is no \"%s\" in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("there is a \"%s\" in:\n%s", part, text);
}

/* Also of a directory that somebody else wrote. */
static void test_summary__lets_no_text_drive_the_terminal(void **state)
{
	static const char run[] =
		"{\"processes\":[{\"program\":\"p\\u001b[1m\","
		"\"host\":\"h\\u001b]0;x\\u0007\\n\\u009b3m\"}],"
		"\"warnings\":[{\"id\":\"w\\u001bc\",\"count\":1,\"remedy\":\"r\\u007f\"}]}";
	char *text = summary_with(run, CLOCKS "0,a,1,\033[2J,0,0,7,7,1,1,1,1\n", NULL);

	(void)state;
	for (const char *at = text; *at; at++)
		assert_true((*at >= ' ' && *at < 0x7f) || *at == '\n');
	assert_contains(text, " on h?]0;x????3m\n");
	assert_contains(text, "w?c (1): r?\n");
	assert_contains(text, "p?[1m");
	free(text);
}

#define CORE                                                                        \
	"{\"tile_name\":\"tile2,1\\u001b\",\"median_kernel_duration_cycles\":73.5," \
	"\"iterations\":[{\"num_kernels\":3},{\"num_kernels\":1}],"                 \
	"\"coverage\":{\"kernel_share\":0.25,\"stall_share\":null}}"

/* What else lies in the directory is not of this conversion unless run.json says so. */
static void test_cores__are_shown_where_the_run_has_some(void **state)
{
	static const char *const runs[] = {"{\"files\":[{\"file\":\"tables/index.json\"}]}", "{}"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *dir = scratch_dir(), *text = NULL;
		size_t size;
		FILE *to = open_memstream(&text, &size);

		assert_non_null(to);
		write_file(dir, "run.json", runs[i]);
		write_file(dir, "tables/index.json",
		           "{\"cores\":[\"tile2,1.json\",\"../run.json\",5,\"none.json\"]}");
		write_file(dir, "tables/tile2,1.json", CORE);
		write_file(dir, "tables/aggregate_perf.json",
		           "{\"count\":2,\"average\":{\"runtime_cycles\":584,"
		           "\"gmacs_per_second\":561.09}}");
		assert_int_equal(summary_print(dir, to, NULL), 0);
		assert_int_equal(fclose(to), 0);
		if (i == 0) {
			assert_contains(text, "AI engines\n");
			assert_contains(text,
			                "  iterations that count: 2, of 584 cycles on average: "
			                "561.1 GMAC/s\n");
			assert_contains(text,
			                "  tile2,1?                      2         4      73.5"
			                "      25.0%          -\n");
		} else {
			assert_lacks(text, "AI engines");
		}
		scratch_remove(dir);
		free(text);
	}
}

static void test_clocks__show_rate_bounds_and_certified_share(void **state)
{
	char *text = summary_of(CLOCKS "0,alpha,10,0,0,0,200,199,560.003920,1.4996,571.0,1183.0\n"
	                               "1,alpha,11,2,3,1,8,0,,,,\n",
	                        NULL);

	(void)state;
	assert_contains(text, "Clock quality\n");
	assert_contains(text, "  rank 0 device 0 domain 0       560.003920    1.500    571 ns"
	                      "   1.18 us     99.5%\n");
	assert_contains(text, "  rank 1 device 2 domain 3.1              -        -         -"
	                      "         -      0.0%\n");
	free(text);
}

static void test_host_clocks__are_not_shown_where_there_is_one(void **state)
{
	char *text = summary_of(CLOCKS,
	                        ALIGNMENT REFERENCE "1,alpha,11,0.000,0.000000,0.000,0.000,7,0\n");

	(void)state;
	assert_lacks(text, "Host clocks");
	free(text);
}

static void test_host_clocks__are_shown_once_each(void **state)
{
	char *text = summary_of(NULL, ALIGNMENT REFERENCE
	                        "1,beta,20,-5000000002600.000,1.5,12146.0,19549.0,60,0\n"
	                        "2,alpha,11,0.000,0.000000,0.000,0.000,7,0\n"
	                        "3,beta,21,-5000000002600.000,1.5,12146.0,19549.0,60,0\n"
	                        "4,gamma,30,1000000000.000,,,,0,1\n");

	(void)state;
	assert_contains(text, "Host clocks\n");
	assert_contains(text, "  rank 1 on beta                  -5000.000003   12.1 us   19.5 us"
	                      "           60\n");
	assert_contains(text, "  rank 4 on gamma                     1.000000         -         -"
	                      "  not aligned\n");
	assert_lacks(text, "rank 0 on");
	assert_lacks(text, "rank 2 on");
	assert_lacks(text, "rank 3 on");
	free(text);
}

static void test_host_clocks__say_that_there_are_more(void **state)
{
	char table[4096] = ALIGNMENT REFERENCE, line[128];
	char *text;

	(void)state;
	for (int rank = 1; rank <= 17; rank++) {
		snprintf(line, sizeof(line), "%d,host%d,1,%d.000,0,1.0,1.0,60,0\n", rank, rank,
		         rank);
		strcat(table, line);
	}
	text = summary_of(NULL, table);
	assert_contains(text, "rank 16 on host16");
	assert_lacks(text, "rank 17 on host17");
	assert_contains(text, "more, see tables/alignment.csv");
	free(text);
}

static void test_host_clocks__let_no_name_move_the_cursor(void **state)
{
	char *text = summary_of(NULL, ALIGNMENT REFERENCE
	                        "1,\033[2Jevil\rhost,20,5000.000,1.5,12146.0,19549.0,60,0\n");

	(void)state;
	assert_contains(text, "rank 1 on ?[2Jevil?host");
	assert_lacks(text, "\033");
	free(text);
}

#define PROCESS(rank, pid) \
	"{\"rank\":" #rank ",\"program\":\"app\",\"pid\":" #pid ",\"host\":\"alpha\"}"

static void test_pairings__show_how_far_events_are_off(void **state)
{
	char *text = summary_with("{\"pairings\":[{\"rank\":0,\"pairs\":510,\"residual_ns_p50\":12,"
	                          "\"residual_ns_max\":3100,\"uncertain\":false},"
	                          "{\"rank\":1,\"pairs\":1,\"residual_ns_p50\":7,"
	                          "\"residual_ns_max\":7,\"uncertain\":true},"
	                          "{\"rank\":2,\"pairs\":0}]}",
	                          NULL, NULL);

	(void)state;
	assert_contains(text, "Flex on torch's clock\n");
	assert_contains(text, "  rank 0                             510     12 ns   3.10 us\n");
	assert_contains(text, "  rank 1                               1      7 ns      7 ns"
	                      "  uncertain\n");
	assert_contains(text, "  rank 2                               0         -         -\n");
	free(text);
	text = summary_with("{}", NULL, NULL);
	assert_lacks(text, "torch");
	free(text);
}

static void test_processes__are_listed_by_rank(void **state)
{
	static const char run[] = "{\"processes\":[" PROCESS(-1, 5) "," PROCESS(11, 6) "," PROCESS(
		2, 9) "," PROCESS(2, 8) "," PROCESS(0, 7) "]}";
	char *text = summary_with(run, NULL, NULL);

	(void)state;
	assert_contains(text, "  rank 0: app                          pid 7 on alpha\n"
	                      "  rank 2: app                          pid 8 on alpha\n"
	                      "  rank 2: app                          pid 9 on alpha\n"
	                      "  rank 11: app                         pid 6 on alpha\n"
	                      "  no rank: app                         pid 5 on alpha\n");
	free(text);
}

static void test_processes__say_that_there_are_more(void **state)
{
	char run[1024] = "{\"processes\":[";
	char *text;

	(void)state;
	for (int rank = 9; rank >= 0; rank--)
		snprintf(run + strlen(run), sizeof(run) - strlen(run), "{\"rank\":%d}%s", rank,
		         rank ? "," : "]}");
	text = summary_with(run, NULL, NULL);
	assert_contains(text, "What ran\n  rank 0: ");
	assert_contains(text, "  rank 7: ");
	assert_lacks(text, "  rank 8: ");
	assert_contains(text, "  and 2 more, see run.json\n");
	free(text);
}

static void test_times__are_of_all_ranks(void **state)
{
	char *dir = scratch_dir(), *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	assert_non_null(to);
	write_file(dir, "run.json", "{}");
	write_file(dir, "tables/kernels.csv",
	           "kind,name,calls,total_ns,rank\n"
	           "Exec,a,2,3000,0\n"
	           "Exec,b,1,1000,0\n"
	           "Exec,b,3,6000,1\n");
	assert_int_equal(summary_print(dir, to, NULL), 0);
	assert_int_equal(fclose(to), 0);
	scratch_remove(dir);
	assert_contains(text, "Exec: b");
	assert_contains(text, "Exec: b                                    4   7.00 us"
	                      "   1.75 us  70.0%\n");
	assert_true(strstr(text, "Exec: b") < strstr(text, "Exec: a"));
	assert_null(strstr(strstr(text, "Exec: b") + 1, "Exec: b"));
	free(text);
}

/* As those of templates are. */
static void test_times__of_long_names_are_not_mixed_up(void **state)
{
	char *dir = scratch_dir(), *text = NULL, kernels[1024];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	assert_non_null(to);
	write_file(dir, "run.json", "{}");
	snprintf(kernels, sizeof(kernels),
	         "kind,name,calls,total_ns,rank\nExec,%0300da,2,3000,0\nExec,%0300db,1,1000,0\n", 0,
	         0);
	write_file(dir, "tables/kernels.csv", kernels);
	assert_int_equal(summary_print(dir, to, NULL), 0);
	assert_int_equal(fclose(to), 0);
	scratch_remove(dir);
	assert_contains(text, " 2   3.00 us   1.50 us  75.0%\n");
	assert_contains(text, " 1   1.00 us   1.00 us  25.0%\n");
	free(text);
}

static void test_summary__of_nothing_is_an_error(void **state)
{
	char *dir = scratch_dir();
	struct flextrace_error error = {0};

	(void)state;
	assert_int_equal(summary_print(dir, stdout, &error), FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, dir));
	scratch_remove(dir);
}

static void test_summary__tells_of_kernels_that_overlap(void **state)
{
	char *text = summary_with("{\"totals\":{\"overlapping_kernels\":3,\"overlap_ns\":4500,"
	                          "\"largest_overlap_ns\":2000}}",
	                          CLOCKS, ALIGNMENT);

	(void)state;
	assert_contains(text, "3 kernels began before the one before them had ended: in all");
	assert_contains(text, "4.50 us, at most");
	free(text);
	text = summary_of(CLOCKS, ALIGNMENT);
	assert_null(strstr(text, "kernels began"));
	free(text);
}

/* -- operations ------------------------------------------------------------------------------ */

#define DEVICE_OPS "job,name,kernel_ns,op_to_op_ns,bound,notes\n"

static char *summary_of_table(const char *name, const char *table)
{
	char *dir = scratch_dir(), *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	write_file(dir, "run.json", "{}");
	write_file(dir, name, table);
	assert_int_equal(summary_print(dir, to, NULL), 0);
	assert_int_equal(fclose(to), 0);
	scratch_remove(dir);
	return text;
}

static void test_ops__are_told_with_what_bounds_them(void **state)
{
	char *text = summary_of_table("tables/device_ops.csv", DEVICE_OPS
	                              "7,kernel,1000.000,,BRISC,\n"
	                              "8,Mat\033[2Jmul,2000.000,10.000,TRISC_1,late_cores\n"
	                              "8,Mat\033[2Jmul,3000.000,20000.000,TRISC_1,gap\n"
	                              "9,Add,4000.000,6500.000,start,few_cores\n");

	(void)state;
	assert_contains(text, "    Mat?[2Jmul                                 2   0.005 ms  50.0%"
	                      "  TRISC_1\n"
	                      "    Add                                        1   0.004 ms  40.0%"
	                      "  start\n"
	                      "    job 7                                      1   0.001 ms  10.0%"
	                      "  BRISC\n");
	assert_contains(text,
	                "  gaps: 1 pauses of more than 6.5 us, 0.020 ms or 66.7% of the time; "
	                "the longest, 0.020 ms, before Mat?[2Jmul.");
	assert_contains(text, "late cores: 1 operations");
	assert_contains(text, "few cores: 1 operations");
	free(text);
}

static void test_ops__are_those_of_a_report_where_no_core_tells_of_any(void **state)
{
	char *text = summary_of_table("tables/ops.csv",
	                              "OP CODE,CORE COUNT,DEVICE KERNEL DURATION [ns],OP TO OP "
	                              "LATENCY [ns]\nA,64,1000,\nB,64,1000,6500\nC,,,\n");

	(void)state;
	assert_contains(text,
	                "    A                                          1   0.001 ms  50.0%  \n"
	                "    B                                          1   0.001 ms  50.0%"
	                "  gap\n");
	assert_lacks(text, "pauses");
	assert_lacks(text, "few cores");
	free(text);
	text = summary_of_table("tables/ops.csv", "OP CODE,DEVICE KERNEL DURATION [ns]\nA,\n");
	assert_lacks(text, "operations of devices");
	free(text);
}

/* Whatever bounds them: an operation has one line. */
static void test_ops__count_an_operation_once(void **state)
{
	char *text = summary_of_table("tables/device_ops.csv",
	                              "job,name,kernel_ns,op_to_op_ns,bound,notes\n"
	                              "1,add_3,1000.000,9000.000,gap,\n"
	                              "2,add_3,1000.000,,NCRISC,\n"
	                              "3,add_3,1000.000,9000.000,gap,\n"
	                              "4,mul,500.000,,,\n");

	(void)state;
	assert_contains(text, "    add_3                                      3   0.003 ms"
	                      "  85.7%  gap (2)\n");
	assert_contains(text, "    mul                                        1   0.001 ms"
	                      "  14.3%  \n");
	assert_lacks(text, "add_3                                      1");
	free(text);
}

/* The firmware's kernels are in its runs, and these are the control blocks' work. */
static void test_times__do_not_count_nested_work_twice(void **state)
{
	char *text = summary_of_table("tables/kernels.csv", "kind,name,calls,total_ns\n"
	                                                    "Exec,a,1,600\nDmaI,a,1,200\n"
	                                                    "FW,firmware,1,1000\nKernel,k,1,500\n"
	                                                    "Zone,z,2,250\n");

	(void)state;
	assert_contains(text, " 75.0%\n");  /* Exec, of the blocks' 800 */
	assert_contains(text, " 25.0%\n");  /* DmaI, and the zone of the firmware's 1000 */
	assert_contains(text, " 100.0%\n"); /* FW */
	assert_contains(text, "  50.0%\n"); /* Kernel */
	free(text);
}

#define LONG_NAME "a_name_that_is_much_longer_than_the_column_that_it_stands_in"

static void test_times__leave_names_whole_in_a_pipe(void **state)
{
	char *text = summary_of_table("tables/kernels.csv",
	                              "kind,name,calls,total_ns\nExec," LONG_NAME ",1,600\n");

	(void)state;
	assert_contains(text, "Exec: " LONG_NAME);
	free(text);
}

static void test_clocks__name_the_process_that_has_no_rank(void **state)
{
	char *text = summary_of(CLOCKS ",alpha,77,0,0,0,200,199,560.003920,1.4996,571.0,1183.0\n",
	                        NULL);

	(void)state;
	assert_contains(text, "  pid 77 device 0 domain 0 ");
	free(text);
}

#define EMITTED_BY(least, most, read) \
	"{\"pid\":7,\"program\":\"p\",\"scope\":{\"emitted\":" least most ",\"read\":" read "}}"

/* Of a program that ran on it is not known to the record what belongs to the recording. */
#define BREAKDOWN                                                                             \
	"rank,host,pid,device,wall_ns,compute_ns,exposed_communication_ns,exposed_memory_ns," \
	"exposed_prepare_ns,host_wait_ns,idle_ns\n"

static void test_devices__are_told_with_what_their_time_went_to(void **state)
{
	char *text = summary_of_table("tables/breakdown.csv",
	                              BREAKDOWN "0,a,1,2,2000,1000,500,0,0,100,500\n"
	                                        ",a,7,0,0,0,0,0,0,0,0\n"
	                                        "0,a,1,,2000,1000,500,0,0,100,500\n"
	                                        ",,,,2000,1000,500,0,0,100,500\n");

	(void)state;
	assert_contains(text,
	                "    rank 0 device 2                        2.00 us    50.0%    25.0% "
	                "    0.0%     0.0%    25.0%      5.0%\n");
	assert_contains(text, "    pid 7 device 0                            0 ns     0.0%");
	assert_contains(text, "    rank 0                                 2.00 us    50.0%");
	assert_contains(text, "    all                                    2.00 us    50.0%");
	free(text);
}

static void test_devices__beyond_the_first_are_summed(void **state)
{
	char table[4096] = BREAKDOWN, *text;

	(void)state;
	for (int i = 0; i < 12; i++)
		snprintf(table + strlen(table), sizeof(table) - strlen(table),
		         "%d,a,1,0,100,100,0,0,0,0,0\n", i);
	strcat(table, ",,,,1200,600,0,0,0,0,600\n");
	text = summary_of_table("tables/breakdown.csv", table);
	assert_contains(text, "rank 7 device 0");
	assert_lacks(text, "rank 8 device 0");
	assert_contains(text, "and 5 more, see tables/breakdown.csv");
	assert_contains(text, "    all                                    1.20 us    50.0%");
	free(text);
}

static void test_emitted__is_between_two_numbers_where_programs_ran_on(void **state)
{
	char *text = summary_with("{\"emitted\":{\"processes\":[" EMITTED_BY(
					  "100", ",\"emitted_at_most\":120",
					  "110") "," EMITTED_BY("50", "", "50") "]}}",
	                          NULL, NULL);

	(void)state;
	assert_contains(text, "  150 to 170 records of 2 programs, 160 were read, 0 are missing\n");
	free(text);
	text = summary_with("{\"emitted\":{\"processes\":[" EMITTED_BY("50", "", "49") "]}}", NULL,
	                    NULL);
	assert_contains(text, "  50 records of 1 programs, 49 were read, 1 are missing\n");
	assert_contains(text, " pid 7: 50 emitted, 49 read\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices__are_told_with_what_their_time_went_to),
		cmocka_unit_test(test_devices__beyond_the_first_are_summed),
		cmocka_unit_test(test_emitted__is_between_two_numbers_where_programs_ran_on),
		cmocka_unit_test(test_summary__lets_no_text_drive_the_terminal),
		cmocka_unit_test(test_cores__are_shown_where_the_run_has_some),
		cmocka_unit_test(test_summary__tells_of_kernels_that_overlap),
		cmocka_unit_test(test_clocks__show_rate_bounds_and_certified_share),
		cmocka_unit_test(test_host_clocks__are_not_shown_where_there_is_one),
		cmocka_unit_test(test_host_clocks__are_shown_once_each),
		cmocka_unit_test(test_host_clocks__say_that_there_are_more),
		cmocka_unit_test(test_host_clocks__let_no_name_move_the_cursor),
		cmocka_unit_test(test_pairings__show_how_far_events_are_off),
		cmocka_unit_test(test_processes__are_listed_by_rank),
		cmocka_unit_test(test_processes__say_that_there_are_more),
		cmocka_unit_test(test_times__are_of_all_ranks),
		cmocka_unit_test(test_times__of_long_names_are_not_mixed_up),
		cmocka_unit_test(test_ops__are_told_with_what_bounds_them),
		cmocka_unit_test(test_ops__are_those_of_a_report_where_no_core_tells_of_any),
		cmocka_unit_test(test_summary__of_nothing_is_an_error),
		cmocka_unit_test(test_ops__count_an_operation_once),
		cmocka_unit_test(test_times__do_not_count_nested_work_twice),
		cmocka_unit_test(test_times__leave_names_whole_in_a_pipe),
		cmocka_unit_test(test_clocks__name_the_process_that_has_no_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
