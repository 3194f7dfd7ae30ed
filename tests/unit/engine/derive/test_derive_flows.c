/* SPDX-License-Identifier: Apache-2.0 */
/* Flows that programs tell, and queues that wait for each other. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "derive_fixture.h"

struct flow_case {
	const char *text, *expected;
	uint64_t n_unmatched_begins, n_unmatched_ends;
};

static const struct flow_case flow_cases[] = {
	/* each point has an arrow from the one before, on any thread; ids come again */
	{"10 1 7 flow phase=0 id=5 name=a\n"
         "20 1 8 flow phase=1 id=5 name=a\n"
         "25 1 7 flow phase=0 id=6 name=b\n"
         "30 1 9 flow phase=2 id=5 name=a\n"
         "40 1 7 flow phase=0 id=5 name=a\n"
         "50 1 9 flow phase=2 id=5 name=a\n"
         "60 1 9 flow phase=2 id=6 name=b\n",
         "10@t7>20@t8 a\n20@t8>30@t9 a\n25@t7>60@t9 b\n40@t7>50@t9 a\n", 0, 0},
	/* the ids of processes, and those of events, are their own */
	{"10 1 7 flow phase=0 id=5 name=a\n"
         "20 2 8 flow phase=2 id=5 name=a\n"
         "30 1 7 flow phase=4 id=5 name=wait\n",
         "", 1, 2},
	/* what begins twice was never seen again the first time */
	{"10 1 7 flow phase=0 id=5 name=a\n"
         "20 1 7 flow phase=0 id=5 name=a\n"
         "30 1 8 flow phase=1 id=5 name=a\n",
         "20@t7>30@t8 a\n", 1, 0},
	/* one without a name is no arrow of a gradient */
	{"10 1 7 flow phase=0 id=5\n"
         "20 1 8 flow phase=2 id=5\n",
         "10@t7>20@t8 \n", 0, 0},
	/* the place of one that ended is for the next, and only open ones are counted */
	{"10 1 7 flow phase=0 id=1 name=a\n"
         "20 1 7 flow phase=0 id=2 name=b\n"
         "30 1 8 flow phase=2 id=1 name=a\n"
         "40 1 7 flow phase=0 id=3 name=c\n"
         "50 1 8 flow phase=2 id=2 name=b\n"
         "60 1 7 flow phase=0 id=4 name=d\n"
         "70 1 8 flow phase=1 id=3 name=c\n",
         "10@t7>30@t8 a\n20@t7>50@t8 b\n40@t7>70@t8 c\n", 1, 0},
};

static void test_flows__join_points_by_their_id(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(flow_cases) / sizeof(flow_cases[0]); i++) {
		struct derive_fixture fixture;

		fixture_open(&fixture, flow_cases[i].text);
		fixture_run(&fixture);
		expect_flows(&fixture, flow_cases[i].expected);
		assert_int_equal(ledger_total(&fixture.ledger, LOSS_UNMATCHED_BEGIN),
		                 flow_cases[i].n_unmatched_begins);
		assert_int_equal(ledger_total(&fixture.ledger, LOSS_UNMATCHED_END),
		                 flow_cases[i].n_unmatched_ends);
		fixture_close(&fixture);
	}
}

static void test_flows__are_rows_of_no_length(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "10 1 7 flow phase=0 id=5 name=a\n"
	                       "20 1 7 flow phase=3 id=6 name=record device=2 queue=3\n");
	fixture_run(&fixture);
	expect_host(&fixture,
	            "10-10 a t7 d0 certified {\"flow\":5}\n"
	            "20-20 record t7 d0 certified {\"event\":6,\"device\":2,\"queue\":3}\n");
	fixture_close(&fixture);
}

/* At 1 GHz, from 2 ns behind its submission on. */
static void add_op(struct derive_fixture *fixture, uint32_t queue, int64_t submit_ns)
{
	const uint64_t from = (uint64_t)submit_ns + 2;
	const uint64_t ticks[FLEXTRACE_N_STAMPS] = {from, from, from, from + 3, from + 3};
	struct tick_op *op = fixture_op(fixture, "k", FLEXTRACE_DEVICE_KERNEL, ticks);

	op->queue = queue;
	op->submit_host_ns = submit_ns;
}

/* Behind the event queue 1 has work at 140; in front of its wait queue 2 has that at 125. */
static void test_flows__lead_from_the_work_before_an_event_to_that_behind_a_wait(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "130 1 7 flow phase=3 id=9 name=record queue=1\n"
	                       "150 1 7 flow phase=4 id=9 name=wait queue=2\n"
	                       "180 1 7 flow phase=4 id=9 name=wait queue=2\n"
	                       "181 1 7 flow phase=3 id=10 name=record queue=5\n"
	                       "182 1 7 flow phase=4 id=10 name=wait queue=1\n");
	add_op(&fixture, 1, 110);
	add_op(&fixture, 1, 120);
	add_op(&fixture, 2, 125);
	add_op(&fixture, 1, 140);
	add_op(&fixture, 2, 160);
	add_op(&fixture, 2, 170);
	fixture_run(&fixture);
	expect_flows(&fixture, "122@q1/exec>162@q2/exec wait\n");
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flows__join_points_by_their_id),
		cmocka_unit_test(test_flows__are_rows_of_no_length),
		cmocka_unit_test(
			test_flows__lead_from_the_work_before_an_event_to_that_behind_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
