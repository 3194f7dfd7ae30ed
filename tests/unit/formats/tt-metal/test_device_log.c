/* SPDX-License-Identifier: Apache-2.0 */
/* The marks of the firmware as a device log of tt-metal: of our own trace, and there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "scratch.h"
#include "text_source.h"

#define LOG   "profile_log_device.csv"
#define LOG_6 "profile_log_device_6.csv"
#define SIX   "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]"
#define REST                                                                                     \
	", data, run host ID, trace id, trace id counter, zone name, type, source line, source " \
	"file, meta data\n"
#define CHIP_6  "ARCH: blackhole, CHIP_FREQ[MHz]: 1000\n" SIX "\n"
#define CHIP_15 "ARCH: blackhole, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 140\n" SIX REST

static void expect_file(const struct flex_run *run, const char *file, const char *expected)
{
	char *text = scratch_read(run->out, file, NULL);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void convert(struct flex_run *run, const char *text)
{
	flex_add_file(run, LOG, text);
	run->options.emit.formats = "csv,tt-log,tt-log-6";
	flex_convert(run);
}

/* -- there and back -------------------------------------------------------------------------- */

/* Two cores, two runs, zones in each other that begin and end at one cycle, and one that begins
 * where another ends. */
#define LINES                                                             \
	"0,1,1,BRISC,1,100,0,7,,,BRISC-FW,ZONE_START,0,,\n"               \
	"0,1,1,BRISC,2,110,0,7,,,BRISC-KERNEL,ZONE_START,0,,\n"           \
	"0,1,1,BRISC,3,110,0,7,,,READ,ZONE_START,12,r.cpp,\n"             \
	"0,1,1,BRISC,4,112,0,7,,,PAGE,ZONE_START,14,r.cpp,\n"             \
	"0,1,1,BRISC,5,120,0,7,,,PAGE,ZONE_END,14,r.cpp,\n"               \
	"0,1,1,BRISC,6,120,0,7,,,READ,ZONE_END,12,r.cpp,\n"               \
	"0,1,1,BRISC,7,120,0,7,,,BRISC-KERNEL,ZONE_END,0,,\n"             \
	"0,1,1,BRISC,8,130,0,7,,,BRISC-FW,ZONE_END,0,,\n"                 \
	"0,1,1,BRISC,1,200,0,8,,,BRISC-FW,ZONE_START,0,,\n"               \
	"0,1,1,BRISC,3,210,0,8,,,READ,ZONE_START,12,r.cpp,\n"             \
	"0,1,1,BRISC,6,220,0,8,,,READ,ZONE_END,12,r.cpp,\n"               \
	"0,1,1,BRISC,4,220,0,8,,,PAGE,ZONE_START,14,r.cpp,\n"             \
	"0,1,1,BRISC,5,225,0,8,,,PAGE,ZONE_END,14,r.cpp,\n"               \
	"0,1,1,BRISC,8,230,0,8,,,BRISC-FW,ZONE_END,0,,\n"                 \
	"0,2,1,TRISC_1,1,5000000000101,0,7,,,TRISC_1-FW,ZONE_START,0,,\n" \
	"0,2,1,TRISC_1,8,5000000000131,0,7,,,TRISC_1-FW,ZONE_END,0,,\n"

/* Without timer ids, which are ours. */
static char *without_ids(char *text)
{
	char *to = text;

	for (char *at = text; *at;) {
		size_t n = strcspn(at, "\n") + 1;
		char *id = at;

		for (int i = 0; i < 4 && at[0] >= '0' && at[0] <= '9'; i++)
			id = strchr(id, ',') + 1;
		if (id > at) {
			size_t n_head = (size_t)(id - at), n_id = strcspn(id, ",");

			memmove(to, at, n_head);
			memmove(to + n_head, id + n_id, n - n_head - n_id);
			to += n - n_id;
		} else {
			memmove(to, at, n);
			to += n;
		}
		at += n;
	}
	*to = '\0';
	return text;
}

static void test_device_log__a_log_comes_back_as_it_was(void **state)
{
	struct flex_run *run = *state;
	char text[4096], *written;

	snprintf(text, sizeof(text), "%s", CHIP_15 LINES);
	convert(run, text);
	written = scratch_read(run->out, LOG, NULL);
	assert_non_null(written);
	assert_string_equal(without_ids(written), without_ids(text));
	free(written);
}

static void test_device_log__what_it_wrote_it_writes_again(void **state)
{
	struct flex_run *run = *state;
	char *first, *first_6;

	convert(run, CHIP_15 LINES "0,2,1,TRISC_1,9,5000000000200,0,7,,,x,TS_EVENT,3,r.cpp,\n");
	first = scratch_read(run->out, LOG, NULL);
	first_6 = scratch_read(run->out, LOG_6, NULL);
	flex_stop(state);
	flex_start(state);
	run = *state;
	convert(run, first);
	expect_file(run, LOG, first);
	expect_file(run, LOG_6, first_6);
	free(first);
	free(first_6);
}

static void test_device_log__the_first_form_has_the_four_stamps(void **state)
{
	struct flex_run *run = *state;

	convert(run, CHIP_15 "0,1,2,NCRISC,9,1000,0,7,,,NCRISC-FW,ZONE_START,1,f,\n"
	                     "0,1,2,NCRISC,9,1100,0,7,,,NCRISC-KERNEL,ZONE_START,1,f,\n"
	                     "0,1,2,NCRISC,9,1900,0,7,,,NCRISC-KERNEL,ZONE_END,1,f,\n"
	                     "0,1,2,NCRISC,9,2000,0,7,,,NCRISC-FW,ZONE_END,1,f,\n");
	expect_file(run, LOG_6,
	            CHIP_6 "0,1,2,NCRISC,1,1000\n0,1,2,NCRISC,2,1100\n"
	                   "0,1,2,NCRISC,3,1900\n0,1,2,NCRISC,4,2000\n");
}

static void test_device_log__values_are_left_out_and_counted(void **state)
{
	struct flex_run *run = *state;
	char *json;

	convert(run, CHIP_15 "0,1,1,BRISC,1,100,0,7,,,BRISC-FW,ZONE_START,1,fw.cc,\n"
	                     "0,1,1,BRISC,6,114,42,7,,,small,TS_DATA,3,r.cpp,\n"
	                     "0,1,1,BRISC,1,200,0,7,,,BRISC-FW,ZONE_END,1,fw.cc,\n");
	json = scratch_read(run->out, "run.json", NULL);
	assert_non_null(json);
	assert_non_null(strstr(json, "\"profile_log_device.csv\""));
	assert_non_null(strstr(json, "\"left_out\":\t1"));
	free(json);
}

/* -- of our own ------------------------------------------------------------------------------ */

/* A name with a comma, processors without names, devices of two ranks with one number. */
static void test_device_log__shows_our_own_firmware(void **state)
{
	struct flex_run *run = *state;
	struct pipeline_result result;
	struct flextrace_error error = {0};
	struct text_source source;
	const char *text =
		"1 5 5 process rank=0 pid=77 start_ns=1 boot_id=b program=app\n"
		"1 5 5 device device=0 n_cores=4 name=AIU\n"
		"1 5 5 clock_domain device=0 counter_bits=32 nominal_hz=500000000\n"
		"1 5 5 marker_name device=0 id=3 name=\"a, b\" file=k.c line=9\n"
		"1 6 6 process rank=1 pid=78 start_ns=1 boot_id=b program=app\n"
		"1 6 6 device device=0 name=AIU\n"
		"1000 5 5 clock_sync device=0 host_before_ns=1000 ticks=500 host_after_ns=1000\n"
		"9000 5 5 clock_sync device=0 host_before_ns=9000 ticks=4500 host_after_ns=9000\n"
		"8000 5 5 marker_batch device=0 core=2 processor=7 first_index=1 "
		"words=slot:1:40,queue:1:0,anchor_lo:0:600,anchor_hi:0:0,stamp:0:600,stamp:3:700\n"
		"8000 5 5 marker_batch device=0 core=2 processor=7 first_index=0 "
		"words=run:1:600,begin:3:610,mark:3:620,end:3:630\n"
		"8000 5 5 marker_batch device=0 core=0 processor=0 first_index=1 "
		"words=slot:1:41,queue:1:0,anchor_lo:0:650,anchor_hi:0:0,stamp:0:650,stamp:3:660\n";

	run->options.emit.formats = "csv,tt-log";
	run->options.emit.output_dir = run->out;
	assert_int_equal(text_source_init(&source), 0);
	if (text_source_read(&source, text, &error) < 0 ||
	    pipeline_run(&source.set, source.strings, &source.decoder.ledger, &run->options,
	                 &result, &error) < 0)
		fail_msg("%s", error.message);
	text_source_release(&source);
	expect_file(run, LOG,
	            "ARCH: AIU, CHIP_FREQ[MHz]: 500, Max Compute Cores: 4\n" SIX REST
	            "0,0,0,BRISC,0,650,0,41,,,BRISC-FW,ZONE_START,0,,\n"
	            "0,0,0,BRISC,65536,660,0,41,,,BRISC-FW,ZONE_END,0,,\n"
	            "0,2,0,RISC_7,0,600,0,40,,,RISC_7-FW,ZONE_START,0,,\n"
	            "0,2,0,RISC_7,1,610,0,40,,,a; b,ZONE_START,9,k.c,\n"
	            "0,2,0,RISC_7,262146,620,0,0,,,a; b,TS_EVENT,0,,\n"
	            "0,2,0,RISC_7,65537,630,0,40,,,a; b,ZONE_END,9,k.c,\n"
	            "0,2,0,RISC_7,65536,700,0,40,,,RISC_7-FW,ZONE_END,0,,\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)
		TEST(test_device_log__a_log_comes_back_as_it_was),
		TEST(test_device_log__what_it_wrote_it_writes_again),
		TEST(test_device_log__the_first_form_has_the_four_stamps),
		TEST(test_device_log__values_are_left_out_and_counted),
		TEST(test_device_log__shows_our_own_firmware),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
