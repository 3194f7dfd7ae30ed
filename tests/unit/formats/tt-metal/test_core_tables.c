/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of cores from a recording of our own, whose device names its processors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "asked.h"
#include "flex_fixture.h"
#include "scratch.h"
#include "text_source.h"

#define DEFINITIONS(processors)                                                                  \
	"stream uuid=1 class=0 instance=0 offset=0 host=node0\n"                                 \
	"1000000000000 1 1 process rank=0 world_size=1 pid=1 start_ns=999999999000 "             \
	"time_ns=1000000000000 boot_id=a time_namespace=1 host=node0 program=app\n"              \
	"1000000000100 1 1 device device=0 uuid=u n_cores=4 core_hz=1000000000 " processors "\n" \
	"1000000000110 1 1 clock_domain device=0 domain=0 counter_bits=32 "                      \
	"nominal_hz=1000000000\n"                                                                \
	"1000000000216 1 1 marker_name device=0 id=16 name=load file=fw.c line=16\n"             \
	"stream uuid=1 class=1 instance=0 offset=0 host=node0\n"

/* Two control blocks on core 3, of which the second's kernel never ended, and a zone in each. */
#define RECORDS                                                                                    \
	"1000001150000 1 1 device_op device=0 domain=0 queue=0 job=1 correlation=1 kind=1 name=k " \
	"submit_ns=1000001000000 complete_ns=1000001140000 "                                       \
	"ts=201005000,201007000,201008000,201108000,201110000\n"                                   \
	"1000002150000 1 1 device_op device=0 domain=0 queue=0 job=2 correlation=2 kind=1 name=m " \
	"submit_ns=1000002000000 complete_ns=1000002140000 "                                       \
	"ts=202005000,202007000,202008000,202108000,202110000\n"                                   \
	"1000004000000 1 1 marker_batch device=0 core=3 processor=1 domain=0 first_index=1 "       \
	"dropped=0 words=slot:1:1,queue:1:0,anchor_lo:0:201002000,anchor_hi:0:0,"                  \
	"stamp:0:201002000,stamp:1:201008000,stamp:2:201108000,stamp:3:201120000,"                 \
	"slot:2:2,queue:1:0,anchor_lo:0:202002000,anchor_hi:0:0,stamp:0:202002000,"                \
	"stamp:1:202008000,stamp:3:202120000\n"                                                    \
	"1000004000100 1 1 marker_batch device=0 core=3 processor=1 domain=0 first_index=0 "       \
	"dropped=0 words=run:1:201002000,begin:16:201009000,end:16:201050000,run:2:202002000,"     \
	"begin:16:202009000,end:16:202051000\n"

static void convert(struct flex_run *run, const char *text)
{
	struct flextrace_error error = {0};
	struct pipeline_result result;
	struct text_source source;

	assert_int_equal(text_source_init(&source), 0);
	if (text_source_read(&source, text, &error) < 0 ||
	    pipeline_run(&source.set, source.strings, &source.decoder.ledger, &run->options,
	                 &result, &error) < 0)
		fail_msg("%s", error.message);
	text_source_release(&source);
}

static void expect_file(const struct flex_run *run, const char *file, const char *expected)
{
	char *text = scratch_read(run->out, file, NULL);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

#define OPS_HEAD                                                                      \
	"rank,host,pid,device,job,name,cores,first_cycle,last_cycle,fw_ns,kernel_ns," \
	"first_to_last_start_ns,op_to_op_ns,longest_ns,bound,notes\n"
#define ZONES_HEAD                                                                         \
	"rank,host,pid,device,processor,kind,name,calls,total,mean,median,min,max,stddev," \
	"mean_ns\n"

static void test_core_tables__are_made_of_our_own_firmware(void **state)
{
	struct flex_run *run = *state;

	convert(run, DEFINITIONS("processors=control,math") RECORDS);
	expect_file(run, "tables/device_ops.csv",
	            OPS_HEAD "0,node0,1,0,1,k,1,201008000,201108000,118000.000,100000.000,0.000,,"
	                     "100000.000,math,\n"
	                     "0,node0,1,0,2,m,1,,,118000.000,,,900000.000,,,\n");
	expect_file(run, "tables/zones.csv",
	            ZONES_HEAD
	            "0,node0,1,0,math,FW,firmware,2,236000,118000,118000,118000,118000,0,"
	            "118000.000\n"
	            "0,node0,1,0,math,Kernel,k,1,100000,100000,100000,100000,100000,0,"
	            "100000.000\n"
	            "0,node0,1,0,math,Zone,load,2,83000,41500,41500,41000,42000,707,"
	            "41500.000\n");
}

/* Tables in tt-metal's shape are for who asks. */
static void test_core_tables__have_tt_metals_shape_on_demand(void **state)
{
	static const char *const files[] = {"tables/device_stats.csv", "tables/device_stats.txt",
	                                    "tables/device_rearranged_timestamps.txt"};
	char names[] = "device_stats,device_stats_text,rearranged,ops,aie";
	const struct derivations asked = asked_for(names);
	struct flex_run *run = *state;

	convert(run, DEFINITIONS("processors=control,math") RECORDS);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_false(scratch_has(run->out, files[i]));

	run->options.derivations = &asked;
	convert(run, DEFINITIONS("processors=control,math") RECORDS);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_true(scratch_has(run->out, files[i]));
	expect_file(run, "tables/aggregate_perf.json",
	            "{\n\t\"note\":\t\"No common perf iterations across all cores.\"\n}\n");
	expect_file(run, "tables/device_rearranged_timestamps.txt",
	            "Clock Frequency [MHz],1000\nPCIe slot,0\n"
	            "core x,core y,control Firmware Start,control Kernel start,control Kernel End,"
	            "control Firmware End,math Firmware Start,math Kernel start,math Kernel End,"
	            "math Firmware End\n"
	            "3,0,,,,,201002000 202002000,201008000 202008000,201108000,"
	            "201120000 202120000\n");
}

static void test_core_tables__ask_for_names_of_processors(void **state)
{
	struct flex_run *run = *state;

	convert(run, DEFINITIONS("name=AIU") RECORDS);
	assert_false(scratch_has(run->out, "tables/device_ops.csv"));
	assert_false(scratch_has(run->out, "tables/zones.csv"));
	assert_false(scratch_has(run->out, "tables/device_rearranged_timestamps.txt"));
}

/* Nobody told the rate: times come by the one that reads of the counter gave. */
static void test_core_tables__have_times_by_the_fitted_rate(void **state)
{
	static const char definitions[] =
		"stream uuid=1 class=0 instance=0 offset=0 host=node0\n"
		"1000000000000 1 1 process rank=0 world_size=1 pid=1 start_ns=999999999000 "
		"time_ns=1000000000000 boot_id=a time_namespace=1 host=node0 program=app\n"
		"1000000000100 1 1 device device=0 uuid=u n_cores=4 processors=control,math\n"
		"1000000000110 1 1 clock_domain device=0 domain=0 counter_bits=32\n"
		"stream uuid=1 class=1 instance=0 offset=0 host=node0\n"
		"1000000900100 1 1 clock_sync device=0 domain=0 host_before_ns=1000000899900 "
		"ticks=200900000 host_after_ns=1000000900100\n";
	static const char end[] = "1000004900100 1 1 clock_sync device=0 domain=0 "
				  "host_before_ns=1000004899900 ticks=204900000 "
				  "host_after_ns=1000004900100\n";
	struct flex_run *run = *state;
	char text[4096], *zones;

	snprintf(text, sizeof(text), "%s" RECORDS "%s", definitions, end);
	convert(run, text);
	zones = scratch_read(run->out, "tables/zones.csv", NULL);
	assert_non_null(zones);
	assert_non_null(strstr(zones, "118000,118000,118000,118000,0,1"));
	free(zones);
	zones = scratch_read(run->out, "tables/device_ops.csv", NULL);
	assert_null(strstr(zones, ",0.000,0.000"));
	free(zones);
}

/* A counter that only marks stand on: how well it is known is told by the reads of it. */
static void test_core_tables__have_a_clock_that_is_told_how_good_it_is(void **state)
{
	static const char marks[] =
		"1000000900100 1 1 clock_sync device=0 domain=0 host_before_ns=1000000899900 "
		"ticks=200900000 host_after_ns=1000000900100\n"
		"1000001900100 1 1 marker_batch device=0 core=3 processor=1 domain=0 "
		"first_index=1 dropped=0 words=slot:1:1,queue:1:0,anchor_lo:0:201002000,"
		"anchor_hi:0:0,stamp:0:201002000,stamp:3:201120000\n"
		"1000004900100 1 1 clock_sync device=0 domain=0 host_before_ns=1000004899900 "
		"ticks=204900000 host_after_ns=1000004900100\n";
	struct flex_run *run = *state;
	struct csv_table clocks;
	char text[4096];

	snprintf(text, sizeof(text), DEFINITIONS("processors=control,math") "%s", marks);
	convert(run, text);
	clocks = flex_read_table(run, "tables/clocks.csv");
	assert_int_equal(flex_number(&clocks, 0, "events"), 1);
	assert_int_equal(flex_number(&clocks, 0, "certified"), 1);
	assert_in_range(flex_number(&clocks, 0, "half_width_ns_p50"), 90, 300);
	assert_in_range(flex_number(&clocks, 0, "half_width_ns_max"), 90, 300);
	csv_table_release(&clocks);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_core_tables__are_made_of_our_own_firmware),
		TEST(test_core_tables__have_tt_metals_shape_on_demand),
		TEST(test_core_tables__ask_for_names_of_processors),
		TEST(test_core_tables__have_times_by_the_fitted_rate),
		TEST(test_core_tables__have_a_clock_that_is_told_how_good_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
