// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emit_fixture.h"
#include "output/column_text.h"
#include "scratch.h"

static void assert_text(struct emit_test *test, const char *expected)
{
	char *text;

	assert_int_equal(column_save(&emit_text, &test->fixture.findings,
	                             &(struct save_place){.dir = test->dir, .has_csv = true},
	                             test->counts, NULL),
	                 0);
	assert_int_equal(test->counts[0].rows, test->counts[0].expected);
	text = scratch_read(test->dir, "timeline.txt", NULL);
	assert_string_equal(text, expected);
	free(text);
}

static void test_text__writes_one_row_a_line(void **state)
{
	struct emit_test *test = *state;

	assert_text(
		test,
		"host 0 100000 rank=0 tid=100 async depth=0 kind=Step name=\"ProfilerStep#3\" "
		"status=certified source=0/1.0:0\n"
		"host 0 90000 rank=0 tid=100 depth=0 kind=User name=\"outer, \\\"quoted\\\"\" "
		"file=\"src/main.c\" line=12 status=certified source=0/1.0:0\n"
		"host 0 10000 rank=0 tid=100 depth=1 kind=aiuLaunchControlBlocks name=\"launch\" "
		"correlation=41 args=\"{\\\"shape\\\":\\\"2x3\\\"}\" status=certified "
		"source=0/1.0:0\n"
		"host 5000 95000 rank=0 tid=100 lane=1 depth=0 kind=User name=\"crossing\" "
		"status=assumed source=0/1.0:0\n"
		"host 10000 12000 rank=0 tid=100 depth=1 kind=aiuLaunchControlBlocks "
		"name=\"launch\" correlation=42 status=certified source=0/1.0:0\n"
		"host 20000 20000 rank=1 tid=200 depth=0 kind=Op name=\"matmul\" "
		"correlation=1152921504606846977 status=certified source=0/1.0:0\n"
		"host 20001 20002 process=2 tid=-1 depth=0 kind=aiuCompileGraph status=certified "
		"source=0/1.0:0\n"
		"host 30000 40000 rank=1 tid=200 depth=0 kind=Collective name=\"all_reduce\" "
		"status=certified source=0/1.0:0\n"
		"device 20000 21000 rank=0 device=0 queue=0 line=DmaI kind=\"DmaI\" name=\"mm_0\" "
		"job=1 correlation=41 ts=4294967306,4294967316,4294967326,4294967336,4294967346 "
		"power=900 status=certified err_ns=12 source=0/1.0:17\n"
		"device 21000 22000 rank=0 device=0 queue=0 line=Prep kind=\"Prep\" name=\"mm_0\" "
		"job=1 correlation=41 ts=4294967306,4294967316,4294967326,4294967336,4294967346 "
		"power=900 status=certified err_ns=12 source=0/1.0:17\n"
		"device 22000 30000 rank=0 device=0 queue=0 kind=\"Exec\" name=\"mm_0\" job=1 "
		"correlation=41 ts=4294967306,4294967316,4294967326,4294967336,4294967346 "
		"power=900 status=certified err_ns=12 source=0/1.0:17\n"
		"device 22000 29000 rank=0 device=0 core=2 processor=1 kind=\"FW\" "
		"name=\"load tile\" run=5 job=1 ts=100,9007199254740993 status=certified "
		"err_ns=15 source=0/1.0:0\n"
		"device 23000 28000 rank=0 device=0 core=2 processor=1 kind=\"Kernel\" "
		"name=\"load tile\" run=5 job=1 ts=100,9007199254740993 status=certified "
		"err_ns=15 source=0/1.0:0\n"
		"device 23000 24000 rank=0 device=0 core=2 processor=1 kind=\"Zone\" "
		"name=\"load tile\" run=5 job=1 ts=100,9007199254740993 status=certified "
		"err_ns=15 source=0/1.0:0\n"
		"device 25000 41000 rank=0 device=0 queue=0 lane=1 kind=\"Exec\" name=\"mm_0\" "
		"job=2 correlation=42 ts=4294967306,4294967316,4294967326,4294967336,4294967346 "
		"status=outlier source=0/1.0:17\n"
		"device 30000 31000 rank=0 device=0 queue=0 line=DmaO kind=\"DmaO\" name=\"mm_0\" "
		"job=1 correlation=41 ts=4294967306,4294967316,4294967326,4294967336,4294967346 "
		"power=900 status=certified err_ns=12 source=0/1.0:17\n"
		"device 50000 52000 rank=1 device=3 queue=7 kind=\"Memcpy PtoP\" name=\"mm_0\" "
		"job=3 correlation=43 ts=0,0,4294967326,4294967336,0 bytes=4096 peer=0 "
		"group=\"world\" type=\"SingleCast\" status=certified err_ns=7 source=0/1.0:17\n"
		"annotation 1000 rank=0 tid=100 name=\"model\" value=\"bert\" status=certified "
		"err_ns=0 source=0/1.0:0\n"
		"instant 2000 rank=0 tid=100 name=\"kicked\" correlation=41 status=certified "
		"err_ns=0 source=0/1.0:0\n"
		"mark 23500 rank=0 device=0 core=2 processor=1 name=\"tile done\" "
		"status=certified err_ns=15 source=0/1.0:0\n"
		"counter 3000 rank=0 name=\"free,cores\" value=2.5 status=certified err_ns=0 "
		"source=0/1.0:0\n"
		"counter 23600 rank=0 device=0 core=2 name=\"free,cores\" value=7 "
		"status=certified err_ns=15 source=0/1.0:0\n"
		"memory 4000 rank=0 tid=100 device=0 op=alloc address=18446744073441116160 "
		"bytes=4096 total_bytes=4096 source=0/1.0:0\n"
		"memory 60000 rank=0 tid=100 device=0 op=free address=18446744073441116160 "
		"bytes=4096 total_bytes=0 source=0/1.0:0\n"
		"flow 0 25000 rank=0 tid=100 -> rank=0 device=0 queue=0 lane=1 correlation=41\n"
		"flow 10000 22000 rank=0 tid=100 -> rank=0 device=0 queue=0 correlation=42\n"
		"loss cause=lttng_discarded_events count=13 stream=0/1.0\n"
		"loss cause=device_ring_dropped count=3 rank=0 device=0 core=2 stream=0/1.0\n");
	assert_int_equal(test->counts[0].rows, 24);
	assert_int_equal(test->counts[0].arrows, 2);
}

static void test_text__is_empty_for_an_empty_timeline(void **state)
{
	struct emit_test *test = *state;

	assert_text(test, "");
}

static void test_text__keeps_every_name_on_its_line(void **state)
{
	struct emit_test *test = *state;
	struct timeline_fixture *fixture = &test->fixture;

	fixture_thread(fixture, fixture_process(fixture, -1, 1, ""), 1, "");
	fixture_track(fixture, (struct track){.kind = TRACK_THREAD});
	fixture_host(fixture, fixture_scope(fixture, 0, "a\nhost \xff\"", -7, -5));
	fixture_counter(fixture,
	                (struct counter_row){.value = NAN, .core = FLEXTRACE_NONE, .time_ns = -7});
	assert_text(test, "host 0 2 process=0 tid=1 depth=0 kind=User "
	                  "name=\"a\\nhost \xef\xbf\xbd\\\"\" status=certified source=0/1.0:0\n"
	                  "counter 0 process=0 value=nan status=certified err_ns=0 "
	                  "source=0/1.0:0\n");
	assert_int_equal(test->counts[0].replaced_bytes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE(test_text__writes_one_row_a_line),
		EMPTY(test_text__is_empty_for_an_empty_timeline),
		EMPTY(test_text__keeps_every_name_on_its_line),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
