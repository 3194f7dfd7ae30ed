/* SPDX-License-Identifier: Apache-2.0 */
/* bandwidth.csv and the counter TransferBW, from transfers whose bytes are known. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "findings/dma.h"
#include "analysis_fixture.h"
#include "counters_only.h"

#define HEADER                                                                               \
	"rank,host,pid,device,direction,transfers,duplicates,timeless,bytes,sum_ns,busy_ns," \
	"gbps,mean_gbps,median_gbps,min_gbps,max_gbps\n"

struct transfer {
	uint8_t kind;
	int64_t start_ns, end_ns;
	uint64_t bytes;
	const char *name;
	bool is_second_device;
};

struct bandwidth_case {
	const char *title;
	struct transfer transfers[6]; /* in output order, ended by no name */
	const char *lines;            /* behind rank, host and pid of device 0 */
	const char *counter;          /* "time device=value; " */
};

/* clang-format off */
static const struct bandwidth_case cases[] = {
	{"one", {{ROW_MEMCPY_HTOD, 100, 200, 500, "a", false}},
	 "0,in,1,0,0,500,100,100,5.0000,5.0000,5.0000,5.0000,5.0000\n",
	 "100 0=5; 200 0=0; "},
	{"both ways", {{ROW_MEMCPY_DTOH, 100, 200, 500, "a", false},
	               {ROW_MEMCPY_HTOD, 100, 200, 100, "b", false}},
	 "0,in,1,0,0,100,100,100,1.0000,1.0000,1.0000,1.0000,1.0000\n"
	 "0,out,1,0,0,500,100,100,5.0000,5.0000,5.0000,5.0000,5.0000\n",
	 "100 0=6; 200 0=0; "},
	{"side by side", {{ROW_MEMCPY_HTOD, 0, 200, 600, "a", false},
	                  {ROW_MEMCPY_HTOD, 100, 300, 400, "b", false},
	                  {ROW_MEMCPY_HTOD, 500, 600, 100, "c", false}},
	 "0,in,3,0,0,1100,500,400,2.7500,2.0000,2.0000,1.0000,3.0000\n",
	 "0 0=3; 100 0=5; 200 0=2; 300 0=0; 500 0=1; 600 0=0; "},
	{"within and between devices", {{ROW_MEMCPY_DTOD, 0, 10, 10, "a", false},
	                                {ROW_MEMCPY_PTOP, 20, 30, 20, "b", false}},
	 "0,within,1,0,0,10,10,10,1.0000,1.0000,1.0000,1.0000,1.0000\n"
	 "0,peer,1,0,0,20,10,10,2.0000,2.0000,2.0000,2.0000,2.0000\n",
	 "0 0=1; 10 0=0; 20 0=2; 30 0=0; "},
	{"no time at all", {{ROW_MEMCPY_HTOD, 100, 100, 500, "a", false}},
	 "0,in,1,0,1,500,0,0,,,,,\n", ""},
	{"no bytes", {{ROW_MEMCPY_HTOD, 100, 200, 0, "a", false},
	              {ROW_EXEC, 300, 400, 100, "a", false}}, "", ""},
	/* DmaI and Memcpy HtoD; two tools; another direction; other bytes; the same name twice */
	{"told as two kinds", {{ROW_DMA_IN, 100, 200, 500, "a", false},
	                       {ROW_MEMCPY_HTOD, 100, 200, 500, "a", false}},
	 "0,in,1,1,0,500,100,100,5.0000,5.0000,5.0000,5.0000,5.0000\n",
	 "100 0=5; 200 0=0; "},
	{"told by two devices of one process", {{ROW_MEMCPY_HTOD, 100, 200, 500, "a", false},
	                                        {ROW_MEMCPY_HTOD, 100, 200, 500, "b", true}},
	 "0,in,1,0,0,500,100,100,5.0000,5.0000,5.0000,5.0000,5.0000\n",
	 "100 0=5; 200 0=0; "},
	{"two of one name, told again", {{ROW_MEMCPY_HTOD, 100, 200, 500, "b", false},
	                                 {ROW_MEMCPY_HTOD, 100, 200, 500, "a", false},
	                                 {ROW_MEMCPY_HTOD, 100, 200, 500, "b", false}},
	 "0,in,2,1,0,1000,200,100,10.0000,5.0000,5.0000,5.0000,5.0000\n",
	 "100 0=10; 200 0=0; "},
	{"not the same", {{ROW_MEMCPY_HTOD, 100, 250, 500, "a", false},
	                  {ROW_MEMCPY_HTOD, 100, 200, 100, "b", false},
	                  {ROW_MEMCPY_HTOD, 100, 200, 500, "c", false}},
	 "0,in,3,0,0,1100,350,150,7.3333,3.1111,3.3333,1.0000,5.0000\n",
	 "100 0=9.33333; 200 0=3.33333; 250 0=0; "},
};
/* clang-format on */

static void add(struct analysis_test *test, const struct transfer *transfer)
{
	struct tick_op *op = analysis_test_row(test, transfer->is_second_device, transfer->kind,
	                                       transfer->name, transfer->start_ns,
	                                       transfer->end_ns);

	op->bytes = transfer->bytes;
	op->ticks[0] = 1000;
	op->ticks[1] = transfer->kind == ROW_DMA_OUT ? 1001 : 1100;
	op->ticks[3] = 2000;
	op->ticks[4] = 2010;
}

static void start(struct analysis_test *test)
{
	uint32_t process;

	analysis_test_init(test);
	process = fixture_process(&test->fixture, 3, 77, "app");
	fixture_device(&test->fixture, process, 0, "AIU");
	fixture_device(&test->fixture, process, 1, "AIU");
	test->fixture.timeline.has.bytes = true;
}

static void expect_lines(struct analysis_test *test, const char *title, const char *lines)
{
	char expected[1024] = HEADER, *copy = strdup(lines), *rest;
	size_t n = strlen(expected);

	assert_non_null(copy);
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		n += (size_t)snprintf(expected + n, sizeof(expected) - n, "3,\"node,1\",77,%s\n",
		                      line);
	free(copy);
	copy = analysis_test_write(test, "bandwidth");
	if (strcmp(copy, expected) != 0)
		fail_msg("%s: %s", title, copy);
	free(copy);
}

static void expect_counter(struct analysis_test *test, const char *title, const char *expected)
{
	const struct timeline *timeline = &test->fixture.timeline;
	const struct counters_input input = {.timeline = timeline, .strings = &test->fixture.cache};
	struct table counters = TABLE_INIT;
	char text[512] = "";
	struct table_cursor cursor;
	const struct counter_row *row;
	size_t n = 0;

	assert_int_equal(counters_find_only(input, COUNTER_TRANSFER_BW, &counters), 0);
	table_read(&cursor, &counters, false);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		assert_string_equal(string_get(timeline->strings, row->name), "TransferBW");
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%lld %u=%g; ",
		                      (long long)row->time_ns, row->owner, row->value);
	}
	if (strcmp(text, expected) != 0)
		fail_msg("%s: %s", title, text);
	table_release(&counters);
}

static void test_bandwidth__counts_each_transfer_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis_test test;

		start(&test);
		for (const struct transfer *at = cases[i].transfers; at->name; at++)
			add(&test, at);
		expect_lines(&test, cases[i].title, cases[i].lines);
		expect_counter(&test, cases[i].title, cases[i].counter);
		analysis_test_release(&test);
	}
}

/* Both DMAs of a kernel stand there, its bytes count for the longer one. */
static void test_bandwidth__counts_the_bytes_of_a_kernel_once(void **state)
{
	static const struct transfer in = {ROW_DMA_IN, 100, 200, 500, "k", false};
	static const struct transfer out = {ROW_DMA_OUT, 100, 110, 500, "k", false};
	struct analysis_test test;

	(void)state;
	start(&test);
	add(&test, &in);
	analysis_test_part(&test, ROW_EXEC, 300, 390);
	analysis_test_part(&test, ROW_DMA_OUT, 390, 400);
	expect_lines(&test, "in", "0,in,1,0,0,500,100,100,5.0000,5.0000,5.0000,5.0000,5.0000\n");
	analysis_test_release(&test);
	start(&test);
	add(&test, &out);
	analysis_test_part(&test, ROW_DMA_IN, 110, 111);
	expect_lines(&test, "out",
	             "0,out,1,0,0,500,10,10,50.0000,50.0000,50.0000,50.0000,50.0000\n");
	analysis_test_release(&test);
}

static void test_bandwidth__looks_at_nothing_without_bytes(void **state)
{
	static const struct transfer one = {ROW_DMA_IN, 100, 200, 500, "k", false};
	struct analysis_test test;

	(void)state;
	start(&test);
	add(&test, &one);
	test.fixture.timeline.has.bytes = false; /* says derive */
	expect_lines(&test, "nothing", "");
	expect_counter(&test, "nothing", "");
	analysis_test_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bandwidth__counts_each_transfer_once),
		cmocka_unit_test(test_bandwidth__counts_the_bytes_of_a_kernel_once),
		cmocka_unit_test(test_bandwidth__looks_at_nothing_without_bytes),
	};

	return cmocka_run_group_tests_name("bandwidth", tests, NULL, NULL);
}
