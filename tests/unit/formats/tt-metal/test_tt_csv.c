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

#define LOG     "profile_log_device.csv"
#define CHIP    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
#define SIX     "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]"
#define FORM_6  CHIP SIX "\n"
#define FORM_12 CHIP SIX ", stat value, Run ID, zone name, zone phase, source line, source file\n"
#define FORM_13 \
	CHIP SIX ", data, run host ID,  zone name, type, source line, source file, meta data\n"
#define FORM_14                                                                                  \
	CHIP SIX ", data, run ID, run host ID, zone name, type, source line, source file, meta " \
		 "data\n"
#define FORM_15                                                                           \
	"ARCH: blackhole, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 140\n" SIX             \
	", data, run host ID, trace id, trace id counter, zone name, type, source line, " \
	"source file, meta data\n"
#define WRAP (UINT64_C(1) << 44)

static struct flex_run *convert(void **state, const char *text)
{
	struct flex_run *run = *state;

	flex_add_file(run, LOG, text);
	flex_convert(run);
	return run;
}

/* Adds lines of numbers: each %-format takes a cycle. */
static void expect_row(const struct flex_run *run, uint64_t row, const char *kind, uint64_t from,
                       uint64_t to)
{
	assert_string_equal(flex_cell(&run->events, row, "kind"), kind);
	assert_int_equal(flex_number(&run->events, row, "ts1"), from);
	assert_int_equal(flex_number(&run->events, row, "ts5"), to);
}

/* -- column forms ---------------------------------------------------------------------------- */

static const char *const forms[] = {
	FORM_6 "0, 1, 2, NCRISC, 1, 1000\n"
	       "0, 1, 2, NCRISC, 2, 1100\n"
	       "0, 1, 2, NCRISC, 3, 1900\n"
	       "0, 1, 2, NCRISC, 4, 2000\n",
	FORM_12 "0,1,2,NCRISC,53427 ,1000,0,7,NCRISC-FW    ,begin,315,fw.cc\n"
		"0,1,2,NCRISC,25255 ,1100,0,7,NCRISC-KERNEL,begin,40 ,k.cc\n"
		"0,1,2,NCRISC,90791 ,1900,0,7,NCRISC-KERNEL,end  ,40 ,k.cc\n"
		"0,1,2,NCRISC,118963,2000,0,7,NCRISC-FW    ,end  ,315,fw.cc\n",
	FORM_13 "0,1,2,NCRISC,1,1000,0,7,NCRISC-FW,ZONE_START,1,fw.cc,\n"
		"0,1,2,NCRISC,2,1100,0,7,NCRISC-KERNEL,ZONE_START,1,k.cc,\n"
		"0,1,2,NCRISC,2,1900,0,7,NCRISC-KERNEL,ZONE_END,1,k.cc,\n"
		"0,1,2,NCRISC,1,2000,0,7,NCRISC-FW,ZONE_END,1,fw.cc,\n",
	FORM_14 "0,1,2,NCRISC,1,1000,0,3,7,NCRISC-FW,ZONE_START,1,fw.cc,\n"
		"0,1,2,NCRISC,2,1100,0,3,7,NCRISC-KERNEL,ZONE_START,1,k.cc,\n"
		"0,1,2,NCRISC,2,1900,0,3,7,NCRISC-KERNEL,ZONE_END,1,k.cc,\n"
		"0,1,2,NCRISC,1,2000,0,3,7,NCRISC-FW,ZONE_END,1,fw.cc,\n",
	FORM_15 "0,1,2,NCRISC,1,1000,0,7,,,NCRISC-FW,ZONE_START,1,fw.cc,\n"
		"0,1,2,NCRISC,2,1100,0,7,,,NCRISC-KERNEL,ZONE_START,1,k.cc,\n"
		"0,1,2,NCRISC,2,1900,0,7,,,NCRISC-KERNEL,ZONE_END,1,k.cc,{\"a\":1;\"b\":2}\n"
		"0,1,2,NCRISC,1,2000,0,7,,,NCRISC-FW,ZONE_END,1,fw.cc,\n",
};

static void test_tt_csv__reads_every_form_of_columns(void **state)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct flex_run *run = convert(state, forms[i]);

		assert_int_equal(run->events.n_rows, 2);
		expect_row(run, 0, "FW", 1000, 2000);
		expect_row(run, 1, "Kernel", 1100, 1900);
		assert_int_equal(flex_number(&run->events, 1, "core"), 2001);
		assert_string_equal(flex_cell(&run->events, 1, "job"), i ? "7" : "");
		assert_string_equal(flex_cell(&run->events, 1, "status"), "assumed");
		assert_int_equal(flex_number(&run->events, 1, "start_ns"), 1100);
		assert_int_equal(ledger_lost(&run->ledger), 0);
		flex_stop(state);
		flex_start(state);
	}
}

static const struct {
	const char *chip;
	int64_t start_ns;
} clocks[] = {
	{"Chip clock is at 1.25 GHz\n", 1000000},
	{"Chip clock is at 1250 Mhz\n", 1000000},
	{"Chip clock is at 1250 MHz; ARCH: grayskull, CHIP_FREQ[MHz]: 1250;\n", 1000000},
	{"ARCH: grayskull, CHIP_FREQ[MHz]: 625\n", 2000000},
};

static void test_tt_csv__takes_every_word_for_the_clock(void **state)
{
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		char text[512];
		struct flex_run *run;

		snprintf(text, sizeof(text),
		         "%s" SIX "\n0, 0, 0, BRISC, 1, 1250000\n0, 0, 0, BRISC, 4, 2500000\n",
		         clocks[i].chip);
		run = convert(state, text);
		assert_int_equal(flex_number(&run->events, 0, "start_ns"), clocks[i].start_ns);
		assert_int_equal(flex_number(&run->events, 0, "dur_ns"), clocks[i].start_ns);
		flex_stop(state);
		flex_start(state);
	}
}

static void test_tt_csv__says_that_it_has_no_frequency(void **state)
{
	struct flex_run *run = convert(state, SIX "\n"
	                                          "0, 0, 0, BRISC, 1, 10\n"
	                                          "0, 0, 0, BRISC, 4, 20\n");

	assert_int_equal(run->events.n_rows, 1);
	assert_int_equal(flex_number(&run->events, 0, "dur_ns"), 10);
	assert_non_null(strstr(run->warnings, "does not tell the chip's frequency"));
}

static void test_tt_csv__shows_zones_values_and_events(void **state)
{
	struct flex_run *run = convert(state, FORM_15
	                               "0,1,1,BRISC,1,100,0,7,,,BRISC-FW,ZONE_START,1,fw.cc,\n"
	                               "0,1,1,BRISC,9,110,0,7,,,READ,ZONE_START,12,r.cpp,\n"
	                               "0,1,1,BRISC,8,112,0,7,,,PAGE,ZONE_START,14,r.cpp,\n"
	                               "0,1,1,BRISC,5,113,0,7,,,here,TS_EVENT,3,r.cpp,\n"
	                               "0,1,1,BRISC,6,114,42,7,,,small,TS_DATA,3,r.cpp,\n"
	                               "0,1,1,BRISC,6,115,4294967299,7,,,large,TS_DATA,3,r.cpp,\n"
	                               "0,1,1,BRISC,8,116,0,7,,,PAGE,ZONE_END,14,r.cpp,\n"
	                               "0,1,1,BRISC,9,120,0,7,,,READ,ZONE_END,12,r.cpp,\n"
	                               "0,1,1,BRISC,7,130,55,7,,,WAIT,ZONE_TOTAL,3,r.cpp,\n"
	                               "0,1,1,BRISC,1,200,0,7,,,BRISC-FW,ZONE_END,1,fw.cc,\n");

	assert_int_equal(run->events.n_rows, 3);
	assert_string_equal(flex_cell(&run->events, 1, "name"), "READ");
	expect_row(run, 1, "Zone", 110, 120);
	assert_string_equal(flex_cell(&run->events, 2, "name"), "PAGE");
	expect_row(run, 2, "Zone", 112, 116);
	assert_int_equal(run->ledger.warnings[WARNING_UNNAMED_MARKER], 0);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

/* -- the counter ----------------------------------------------------------------------------- */

static void test_tt_csv__counts_on_behind_a_wrap(void **state)
{
	char text[1024];
	struct flex_run *run;

	snprintf(text, sizeof(text),
	         FORM_15 "0,1,1,BRISC,1,%" PRIu64 ",0,7,,,BRISC-FW,ZONE_START,1,f,\n"
	                 "0,1,1,BRISC,2,%" PRIu64 ",0,7,,,BRISC-KERNEL,ZONE_START,1,f,\n"
	                 "0,1,1,BRISC,2,3000,0,7,,,BRISC-KERNEL,ZONE_END,1,f,\n"
	                 "0,1,1,BRISC,1,4000,0,7,,,BRISC-FW,ZONE_END,1,f,\n"
	                 "0,1,1,BRISC,1,5000,0,8,,,BRISC-FW,ZONE_START,1,f,\n"
	                 "0,1,1,BRISC,1,6000,0,8,,,BRISC-FW,ZONE_END,1,f,\n"
	                 "0,1,1,NCRISC,1,%" PRIu64 ",0,7,,,NCRISC-FW,ZONE_START,1,f,\n"
	                 "0,1,1,NCRISC,1,3500,0,7,,,NCRISC-FW,ZONE_END,1,f,\n",
	         WRAP - 1000, WRAP - 500, WRAP - 900);
	run = convert(state, text);
	assert_int_equal(run->events.n_rows, 4);
	expect_row(run, 0, "FW", WRAP - 1000, WRAP + 4000);
	expect_row(run, 1, "FW", WRAP - 900, WRAP + 3500);
	expect_row(run, 2, "Kernel", WRAP - 500, WRAP + 3000);
	expect_row(run, 3, "FW", WRAP + 5000, WRAP + 6000);
	assert_int_equal(flex_number(&run->events, 3, "start_ns") -
	                         flex_number(&run->events, 0, "start_ns"),
	                 6000);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

static void test_tt_csv__counts_many_wraps_of_a_long_log(void **state)
{
	const uint64_t step = WRAP / 3;
	char text[4096] = FORM_6;
	struct flex_run *run;

	for (uint64_t i = 0; i < 20; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
		         "0,0,0,BRISC,1,%" PRIu64 "\n0,0,0,BRISC,4,%" PRIu64 "\n",
		         (5 + i * step) % WRAP, (105 + i * step) % WRAP);
	run = convert(state, text);
	assert_int_equal(run->events.n_rows, 20);
	for (uint64_t i = 0; i < 20; i++)
		expect_row(run, i, "FW", 5 + i * step, 105 + i * step);
}

static void test_tt_csv__keeps_counters_of_more_bits(void **state)
{
	struct flex_run *run = convert(state, FORM_6 "0, 0, 0, BRISC, 1, 17592186044400\n"
	                                             "0, 0, 0, BRISC, 4, 619831471164341\n"
	                                             "0, 0, 0, BRISC, 1, 619831471629046\n"
	                                             "0, 0, 0, BRISC, 4, 619831471629546\n");

	assert_int_equal(run->events.n_rows, 2);
	expect_row(run, 0, "FW", UINT64_C(17592186044400), UINT64_C(619831471164341));
	expect_row(run, 1, "FW", UINT64_C(619831471629046), UINT64_C(619831471629546));
}

/* A run longer than its stamps' 32 bits, a stamp whose low bits are 0, and pauses inside zones. */
static void test_tt_csv__is_exact_over_long_pauses(void **state)
{
	struct flex_run *run = convert(
		state, FORM_15 "0,1,1,BRISC,1,4294967296,0,7,,,BRISC-FW,ZONE_START,1,f,\n"
			       "0,1,1,BRISC,2,8589934592,0,7,,,BRISC-KERNEL,ZONE_START,1,f,\n"
			       "0,1,1,BRISC,9,8589934600,0,7,,,A,ZONE_START,1,f,\n"
			       "0,1,1,BRISC,9,48589934600,0,7,,,A,ZONE_END,1,f,\n"
			       "0,1,1,BRISC,9,68589934600,0,7,,,A,ZONE_START,1,f,\n"
			       "0,1,1,BRISC,9,68589934601,0,7,,,A,ZONE_END,1,f,\n"
			       "0,1,1,BRISC,2,88589934592,0,7,,,BRISC-KERNEL,ZONE_END,1,f,\n"
			       "0,1,1,BRISC,1,90194313216,0,7,,,BRISC-FW,ZONE_END,1,f,\n");

	assert_int_equal(run->events.n_rows, 4);
	expect_row(run, 0, "FW", UINT64_C(4294967296), UINT64_C(90194313216));
	expect_row(run, 1, "Kernel", UINT64_C(8589934592), UINT64_C(88589934592));
	expect_row(run, 2, "Zone", UINT64_C(8589934600), UINT64_C(48589934600));
	expect_row(run, 3, "Zone", UINT64_C(68589934600), UINT64_C(68589934601));
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

/* -- damage ---------------------------------------------------------------------------------- */

static void test_tt_csv__sorts_rows_and_says_so(void **state)
{
	struct flex_run *run = convert(state, FORM_6 "0, 0, 0, BRISC, 4, 2000\n"
	                                             "0, 0, 0, BRISC, 3, 1900\n"
	                                             "0, 0, 0, BRISC, 1, 1000\n"
	                                             "0, 0, 0, BRISC, 2, 1100\n");

	assert_int_equal(run->events.n_rows, 2);
	expect_row(run, 0, "FW", 1000, 2000);
	expect_row(run, 1, "Kernel", 1100, 1900);
	assert_int_equal(run->ledger.warnings[WARNING_UNSORTED_ROWS], 2);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

#define GOOD "0, 0, 0, BRISC, 1, 1000\n0, 0, 0, BRISC, 4, 2000\n"

static const struct {
	const char *text, *told;
	uint64_t n_malformed, n_cut;
} damaged[] = {
	{FORM_6 "0, 0, 0, BRISC, 1\n" GOOD, "too few fields", 1, 0},
	{FORM_6 "0, 0, 0, BRISC, x, 5\n" GOOD, "timer id", 1, 0},
	{FORM_6 "0, 0, 0, BRISC, 2, -5\n0,0,0,BRISC,2,1e3\n" GOOD, "no number of cycles", 2, 0},
	{FORM_6 "0, 0, 0, BRISC, 2, 1152921504606846976\n" GOOD, "no number of cycles", 1, 0},
	{FORM_6 "0, -1, 0, BRISC, 2, 5\n0,0,1000,BRISC,2,5\n" GOOD, "core is no number", 2, 0},
	{FORM_6 "0, 0, 0, , 2, 5\n" GOOD, "no RISC", 1, 0},
	{FORM_6 GOOD "0, 0, 0, BRISC, 2", "too few fields", 1, 1},
	{FORM_6 GOOD "\n" FORM_6 "\r\n\n", NULL, 0, 0},
	{"noise\n" FORM_6 GOOD "more \"noise\n", "names the columns", 2, 0},
	{FORM_15 "0,0,0,BRISC,9,1,0,7,,,Z,SOMETHING,1,f,\n"
                 "0,0,0,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,f,\n"
                 "0,0,0,BRISC,1,2000,0,7,,,BRISC-FW,ZONE_END,1,f,\n",
         "type is not known", 1, 0},
};

static void test_tt_csv__a_bad_row_costs_that_row(void **state)
{
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		struct flex_run *run = convert(state, damaged[i].text);

		assert_int_equal(run->events.n_rows, 1);
		expect_row(run, 0, "FW", 1000, 2000);
		assert_int_equal(ledger_total(&run->ledger, LOSS_MALFORMED),
		                 damaged[i].n_malformed);
		assert_int_equal(ledger_total(&run->ledger, LOSS_TRUNCATED_STREAM),
		                 damaged[i].n_cut);
		if (damaged[i].told)
			assert_non_null(strstr(run->warnings, damaged[i].told));
		else
			assert_string_equal(run->warnings, "");
		flex_stop(state);
		flex_start(state);
	}
}

static const struct {
	const char *text;
	uint64_t n_rows, n_begins, n_ends;
} incomplete[] = {
	/* a full buffer: ends are lost */
	{FORM_6 "0,0,0,NCRISC,1,10\n0,0,0,NCRISC,2,20\n0,0,0,NCRISC,6,30\n", 0, 2, 0},
	/* the kernel's end alone is lost, as behind the buffer's end */
	{FORM_6 "0,0,0,BRISC,1,10\n0,0,0,BRISC,2,20\n0,0,0,BRISC,4,30\n", 1, 1, 0},
	/* kernels only */
	{FORM_6 "0,0,0,TRISC_0,2,10\n0,0,0,TRISC_0,3,20\n"
                "0,0,0,TRISC_0,2,30\n0,0,0,TRISC_0,3,40\n",
         2, 0, 0},
	/* begins are lost */
	{FORM_6 "0,0,0,BRISC,3,10\n0,0,0,BRISC,4,20\n", 0, 0, 2},
	/* a run without an end, then a whole one */
	{FORM_6 "0,0,0,BRISC,1,10\n0,0,0,BRISC,2,20\n"
                "0,0,0,BRISC,1,30\n0,0,0,BRISC,4,40\n",
         1, 2, 0},
	/* one launch begins on a core before another one is over elsewhere */
	{FORM_6 "0,0,0,BRISC,1,10\n0,0,0,BRISC,4,50\n0,0,0,BRISC,1,60\n0,0,0,BRISC,4,90\n"
                "0,1,0,BRISC,1,20\n0,1,0,BRISC,4,70\n0,1,0,BRISC,1,80\n0,1,0,BRISC,4,95\n",
         4, 0, 0},
	/* user markers only */
	{FORM_6 "0,0,0,BRISC,5,10\n0,0,0,BRISC,345,20\n", 0, 0, 0},
	/* zones that lost an end and a begin */
	{FORM_15 "0,0,0,BRISC,1,10,0,7,,,BRISC-FW,ZONE_START,1,f,\n"
                 "0,0,0,BRISC,2,20,0,7,,,A,ZONE_START,1,f,\n"
                 "0,0,0,BRISC,2,30,0,7,,,B,ZONE_END,1,f,\n"
                 "0,0,0,BRISC,1,40,0,7,,,BRISC-FW,ZONE_END,1,f,\n",
         1, 1, 1},
};

static void test_tt_csv__counts_what_is_missing(void **state)
{
	for (size_t i = 0; i < sizeof(incomplete) / sizeof(*incomplete); i++) {
		struct flex_run *run = convert(state, incomplete[i].text);

		assert_int_equal(run->events.n_rows, incomplete[i].n_rows);
		assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_BEGIN),
		                 incomplete[i].n_begins);
		assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_END),
		                 incomplete[i].n_ends);
		flex_stop(state);
		flex_start(state);
	}
}

static void test_tt_csv__survives_a_cut_at_every_byte(void **state)
{
	const char *whole = forms[4];
	size_t n = strlen(whole);
	char *text = strdup(whole);

	/* Up to the first row there is nothing to convert. */
	for (size_t i = n;
	     i > strlen(FORM_15) + sizeof("0,1,2,NCRISC,1,1000,0,7,,,NCRISC-FW,ZONE_START"); i--) {
		struct flex_run *run;

		text[i] = '\0';
		run = convert(state, text);
		assert_true(run->events.n_rows <= 2);
		flex_stop(state);
		flex_start(state);
	}
	free(text);
}

/* -- devices --------------------------------------------------------------------------------- */

/* Two chips reset at different times run the same two programs together, one only the first. */
static void test_tt_csv__puts_devices_on_one_time(void **state)
{
	struct flex_run *run = convert(state, FORM_15
	                               "0,1,1,BRISC,1,5000,0,1024,,,BRISC-FW,ZONE_START,1,f,\n"
	                               "0,1,1,BRISC,1,5100,0,1024,,,BRISC-FW,ZONE_END,1,f,\n"
	                               "0,1,1,BRISC,1,6000,0,2048,,,BRISC-FW,ZONE_START,1,f,\n"
	                               "0,1,1,BRISC,1,6100,0,2048,,,BRISC-FW,ZONE_END,1,f,\n"
	                               "0,1,1,BRISC,1,7000,0,3072,,,BRISC-FW,ZONE_START,1,f,\n"
	                               "0,1,1,BRISC,1,7100,0,3072,,,BRISC-FW,ZONE_END,1,f,\n"
	                               "1,1,1,BRISC,1,916000,0,2049,,,BRISC-FW,ZONE_START,1,f,\n"
	                               "1,1,1,BRISC,1,916100,0,2049,,,BRISC-FW,ZONE_END,1,f,\n"
	                               "1,1,1,BRISC,1,917000,0,3073,,,BRISC-FW,ZONE_START,1,f,\n"
	                               "1,1,1,BRISC,1,917100,0,3073,,,BRISC-FW,ZONE_END,1,f,\n");
	uint64_t first = flex_row(&run->events, "device", "1", "job", "2049");
	uint64_t second = flex_row(&run->events, "device", "1", "job", "3073");

	assert_int_equal(flex_number(&run->events, first, "start_ns"), 6000);
	assert_int_equal(flex_number(&run->events, second, "start_ns"), 7000);
	assert_int_equal(flex_number(&run->events, first, "ts1"), 916000);
}

/* -- tables of cores ------------------------------------------------------------------------- */

#define ZONE(core, risc, zone, from, to)                                      \
	"0," core "," risc ",9," #from ",0,1024,,," zone ",ZONE_START,1,f,\n" \
	"0," core "," risc ",9," #to ",0,1024,,," zone ",ZONE_END,1,f,\n"

/* Two operations of one program on two cores; the second after a pause, its second core late. */
static const char two_ops[] = FORM_15 ZONE("1,1", "BRISC", "BRISC-FW", 1000, 2000) ZONE(
	"1,1", "BRISC", "BRISC-KERNEL", 1100, 1900) ZONE("2,1", "BRISC", "BRISC-FW", 1010, 2010)
	ZONE("2,1", "BRISC", "BRISC-KERNEL", 1150, 1800) ZONE("2,1", "TRISC_0", "TRISC-KERNEL",
                                                              1120, 1950)
		ZONE("1,1", "BRISC", "READ", 1200, 1250) ZONE("2,1", "BRISC", "READ", 1200, 1270)
			ZONE("1,1", "BRISC", "READ", 1300, 1380) ZONE("1,1", "BRISC", "BRISC-FW",
                                                                      10000, 12000)
				ZONE("1,1", "BRISC", "BRISC-KERNEL", 10100, 11000)
					ZONE("2,1", "BRISC", "BRISC-FW", 10000, 12010)
						ZONE("2,1", "BRISC", "BRISC-KERNEL", 11100, 11950);

static void test_tt_tables__tell_what_bounds_operations(void **state)
{
	struct flex_run *run = convert(state, two_ops);
	struct csv_table ops = flex_read_table(run, "tables/device_ops.csv");

	assert_int_equal(ops.n_rows, 2);
	assert_string_equal(flex_cell(&ops, 0, "job"), "1024");
	assert_string_equal(flex_cell(&ops, 0, "cores"), "2");
	assert_string_equal(flex_cell(&ops, 0, "kernel_ns"), "850.000");
	assert_string_equal(flex_cell(&ops, 0, "fw_ns"), "1010.000");
	assert_string_equal(flex_cell(&ops, 0, "first_to_last_start_ns"), "20.000");
	assert_string_equal(flex_cell(&ops, 0, "op_to_op_ns"), "");
	assert_string_equal(flex_cell(&ops, 0, "bound"), "TRISC_0");
	assert_string_equal(flex_cell(&ops, 1, "op_to_op_ns"), "8150.000");
	assert_string_equal(flex_cell(&ops, 1, "bound"), "gap");
	assert_string_equal(flex_cell(&ops, 1, "notes"), "gap late_cores");
	csv_table_release(&ops);
}

/* Several kernels in one firmware interval, some without an end: one operation. */
static void test_tt_tables__count_an_operation_of_many_kernels_once(void **state)
{
	struct flex_run *run = convert(
		state,
		FORM_15 ZONE("1,1", "BRISC", "BRISC-FW", 1000,
	                     2000) ZONE("1,1", "BRISC", "BRISC-KERNEL", 1100, 1200)
			ZONE("1,1", "BRISC", "BRISC-KERNEL", 1300,
	                     1650) "0,1,1,BRISC,9,1700,0,1024,,,BRISC-KERNEL,ZONE_START,1,f,"
				   "\n" ZONE("1,1", "BRISC", "BRISC-KERNEL", 1800,
	                                     1900) ZONE("2,1", "BRISC", "BRISC-FW", 1010, 2010)
					   ZONE("2,1", "BRISC", "BRISC-KERNEL", 1150, 1800)
						   ZONE("1,1", "BRISC", "BRISC-FW", 5000, 6000)
							   ZONE("1,1", "BRISC", "BRISC-KERNEL",
	                                                        5100, 5900));
	struct csv_table ops = flex_read_table(run, "tables/device_ops.csv");

	assert_int_equal(ops.n_rows, 2);
	assert_string_equal(flex_cell(&ops, 0, "fw_ns"), "1010.000");
	assert_string_equal(flex_cell(&ops, 0, "kernel_ns"), "800.000");
	assert_string_equal(flex_cell(&ops, 0, "first_to_last_start_ns"), "50.000");
	assert_string_equal(flex_cell(&ops, 1, "op_to_op_ns"), "3200.000");
	csv_table_release(&ops);
}

static void test_tt_tables__count_zones_over_all_cores(void **state)
{
	struct flex_run *run = convert(state, two_ops);
	struct csv_table zones = flex_read_table(run, "tables/zones.csv");
	uint64_t row = flex_row(&zones, "name", "READ", "processor", "BRISC");

	assert_string_equal(flex_cell(&zones, row, "calls"), "3");
	assert_string_equal(flex_cell(&zones, row, "total"), "200");
	assert_string_equal(flex_cell(&zones, row, "median"), "70");
	assert_string_equal(flex_cell(&zones, row, "min"), "50");
	assert_string_equal(flex_cell(&zones, row, "mean_ns"), "66.667");
	csv_table_release(&zones);
}

static void test_tt_csv__takes_marks_before_the_firmware_began(void **state)
{
	struct flex_run *run = convert(state, FORM_6
	                               "0,0,0,BRISC,5,9000000050\n0,0,0,BRISC,1,9000000100\n"
	                               "0,0,0,BRISC,6,9000000150\n0,0,0,BRISC,4,9000000200\n");
	struct csv_table instants = flex_read_table(run, "tables/instants.csv");

	expect_row(run, 0, "FW", UINT64_C(9000000100), UINT64_C(9000000200));
	assert_int_equal(instants.n_rows, 2);
	assert_int_equal(flex_number(&instants, 0, "time_ns"), UINT64_C(9000000050));
	assert_int_equal(flex_number(&instants, 1, "time_ns"), UINT64_C(9000000150));
	csv_table_release(&instants);
}

static uint32_t count_kind(const struct flex_run *run, const char *kind)
{
	return (uint32_t)flex_count(&run->events, "kind", kind);
}

/* A kernel that begins anew has no end; the firmware around them has both of its own. */
static void test_tt_csv__kernels_do_not_end_the_firmware_around_them(void **state)
{
	struct flex_run *run = convert(state, FORM_6
	                               "0,0,0,BRISC,1,10\n0,0,0,BRISC,2,20\n0,0,0,BRISC,2,30\n"
	                               "0,0,0,BRISC,3,40\n0,0,0,BRISC,2,50\n0,0,0,BRISC,3,60\n"
	                               "0,0,0,BRISC,3,70\n0,0,0,BRISC,2,80\n0,0,0,BRISC,4,90\n"
	                               "0,0,0,BRISC,1,110\n0,0,0,BRISC,4,120\n");
	struct csv_table stats = flex_read_table(run, "tables/device_stats.csv");
	uint64_t firmware = flex_row(&stats, "analysis", "ANY RISC FW start -> ANY RISC FW end",
	                             "core_x", "");

	assert_int_equal(count_kind(run, "FW"), 2);
	expect_row(run, 0, "FW", 10, 90);
	expect_row(run, 1, "Kernel", 30, 40);
	expect_row(run, 2, "Kernel", 50, 60);
	assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_BEGIN), 2);
	assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_END), 1);
	assert_string_equal(flex_cell(&stats, firmware, "max"), "80");
	csv_table_release(&stats);
}

static void test_tt_csv__many_kernels_without_ends_leave_the_firmware(void **state)
{
	char text[8192];
	int n = snprintf(text, sizeof(text), FORM_6 "0,0,0,BRISC,1,1000\n");
	struct flex_run *run;

	for (int i = 0; i < 100; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "0,0,0,BRISC,2,%d\n",
		              1100 + 100 * i);
	snprintf(text + n, sizeof(text) - (size_t)n, "0,0,0,BRISC,4,99000\n");
	run = convert(state, text);
	assert_int_equal(run->events.n_rows, 1);
	expect_row(run, 0, "FW", 1000, 99000);
	assert_int_equal(ledger_total(&run->ledger, LOSS_UNMATCHED_BEGIN), 100);
}

static void test_tt_csv__lists_cores_whose_stamps_are_in_odd_order(void **state)
{
	struct flex_run *run = convert(state, FORM_6 "0,0,1,NCRISC,3,100\n0,0,1,NCRISC,4,110\n"
	                                             "0,0,1,NCRISC,1,120\n0,0,1,NCRISC,2,130\n");
	char path[4096], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/tables/device_rearranged_timestamps.txt", run->out);
	file = fopen(path, "r");
	assert_non_null(file);
	for (int i = 0; i < 4; i++)
		assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "0,1,,,,,120,130,100,110\n");
	fclose(file);
}

/* The ends of what they measured have numbers that follow each other, within a kernel. */
static void test_tt_csv__pairs_user_markers_of_six_columns(void **state)
{
	struct flex_run *run =
		convert(state, FORM_6
	                "0,0,0,TRISC_0,2,495\n0,0,0,TRISC_0,9997,540\n0,0,0,TRISC_0,9998,5911\n"
	                "0,0,0,TRISC_0,9999,5912\n0,0,0,TRISC_0,6,5920\n0,0,0,TRISC_0,6,5930\n"
	                "0,0,0,TRISC_0,3,5962\n0,0,0,TRISC_0,7,5970\n0,0,0,TRISC_0,8,5980\n");
	struct csv_table instants = flex_read_table(run, "tables/instants.csv");

	assert_int_equal(run->events.n_rows, 2);
	expect_row(run, 0, "Kernel", 495, 5962);
	expect_row(run, 1, "Zone", 540, 5911);
	assert_string_equal(flex_cell(&run->events, 1, "name"), "marker 9997 to marker 9998");
	assert_int_equal(instants.n_rows, 7);
	assert_int_equal(ledger_lost(&run->ledger), 0);
	csv_table_release(&instants);
}

static void test_tt_csv__reads_logs_that_name_no_columns(void **state)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const char *rows = strchr(strchr(forms[i], '\n') + 1, '\n') + 1;
		struct flex_run *run = convert(state, rows);

		assert_int_equal(run->events.n_rows, 2);
		expect_row(run, 0, "FW", 1000, 2000);
		expect_row(run, 1, "Kernel", 1100, 1900);
		assert_int_equal(ledger_lost(&run->ledger), 0);
		flex_stop(state);
		flex_start(state);
	}
}

static void test_tt_csv__of_no_row_is_empty(void **state)
{
	struct flex_run *run = convert(state, FORM_15);

	assert_int_equal(run->events.n_rows, 0);
	assert_int_equal(ledger_lost(&run->ledger), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tt_csv__reads_every_form_of_columns),
		TEST(test_tt_csv__takes_every_word_for_the_clock),
		TEST(test_tt_csv__says_that_it_has_no_frequency),
		TEST(test_tt_csv__shows_zones_values_and_events),
		TEST(test_tt_csv__counts_on_behind_a_wrap),
		TEST(test_tt_csv__counts_many_wraps_of_a_long_log),
		TEST(test_tt_csv__keeps_counters_of_more_bits),
		TEST(test_tt_csv__is_exact_over_long_pauses),
		TEST(test_tt_csv__sorts_rows_and_says_so),
		TEST(test_tt_csv__a_bad_row_costs_that_row),
		TEST(test_tt_csv__counts_what_is_missing),
		TEST(test_tt_csv__survives_a_cut_at_every_byte),
		TEST(test_tt_csv__puts_devices_on_one_time),
		TEST(test_tt_tables__tell_what_bounds_operations),
		TEST(test_tt_tables__count_an_operation_of_many_kernels_once),
		TEST(test_tt_tables__count_zones_over_all_cores),
		TEST(test_tt_csv__takes_marks_before_the_firmware_began),
		TEST(test_tt_csv__kernels_do_not_end_the_firmware_around_them),
		TEST(test_tt_csv__many_kernels_without_ends_leave_the_firmware),
		TEST(test_tt_csv__lists_cores_whose_stamps_are_in_odd_order),
		TEST(test_tt_csv__pairs_user_markers_of_six_columns),
		TEST(test_tt_csv__reads_logs_that_name_no_columns),
		TEST(test_tt_csv__of_no_row_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
