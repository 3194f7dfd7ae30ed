/* SPDX-License-Identifier: Apache-2.0 */
/* A core that does nothing but short runs, drained as they go: no slot may come torn. */
#include <pthread.h>
#include <sched.h>

#include "drain_fixture.h"

#define ENOUGH   5000u /* slots */
#define MAX_RUNS 2000000u

static int is_done, is_enough;
static uint32_t n_runs;

static void *run_all(void *context)
{
	uint32_t run;

	(void)context;
	flextrace_posix_core = (struct flextrace_posix_core){.area = wire, .clock = fake_clock};
	for (run = 1; run <= MAX_RUNS && !__atomic_load_n(&is_enough, __ATOMIC_RELAXED); run++) {
		FLEXTRACE_FW_START(run, ~run);
		FLEXTRACE_TS(1);
		FLEXTRACE_KERNEL_START();
		FLEXTRACE_KERNEL_END();
		FLEXTRACE_TS(5);
		FLEXTRACE_FW_END();
		if (run % 64 == 0)
			(void)sched_yield(); /* where the host has no processor of its own */
	}
	n_runs = run - 1;
	__atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* One slot: its numbers belong together, its stamps are of one run. Returns its words. */
static uint32_t check_slot(const uint64_t *words, uint32_t n_words, int *ret_closed)
{
	static const uint32_t order[] = {FLEXTRACE_WIRE_FW_START,     FLEXTRACE_WIRE_TS1,
	                                 FLEXTRACE_WIRE_KERNEL_START, FLEXTRACE_WIRE_KERNEL_END,
	                                 FLEXTRACE_WIRE_TS5,          FLEXTRACE_WIRE_FW_END};
	uint32_t stamps[FLEXTRACE_WIRE_N_STAMPS] = {0};
	uint32_t run = words[0] >> 32 & FLEXTRACE_WIRE_ID_MASK;
	uint32_t last, n = 4, i;

	assert_true(n_words >= 4);
	assert_int_equal((uint32_t)words[0], run);
	assert_int_equal((uint32_t)words[1], ~run);
	*ret_closed = words[1] >> 32 & 1;
	for (; n < n_words && words[n] >> 60 == FLEXTRACE_WIRE_SLOT_STAMP; n++)
		stamps[words[n] >> 32 & 15] = (uint32_t)words[n];
	last = (uint32_t)words[2];
	assert_int_equal(stamps[FLEXTRACE_WIRE_FW_START], last);
	for (i = 1; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!*ret_closed && !stamps[order[i]])
			break;
		/* The clock counts its readings; FW start reads it once more. */
		assert_int_equal(stamps[order[i]], last + (i == 1 ? 32 : 16));
		last = stamps[order[i]];
	}
	return n;
}

static uint64_t n_open;

static void check_slots(const struct flextrace_marker_batch *batch)
{
	uint32_t i = 0;

	while (i < batch->n_words) {
		int is_closed;

		i += check_slot(batch->words + i, batch->n_words - i, &is_closed);
		n_open += !is_closed;
	}
}

static void test_runs__come_whole_while_the_next_ones_are_under_way(void **state)
{
	pthread_t core;

	(void)state;
	boot(4, FLEXTRACE_WIRE_STOP);
	on_slots = check_slots;
	is_done = is_enough = 0;
	n_open = 0;
	assert_int_equal(pthread_create(&core, NULL, run_all, NULL), 0);
	while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE)) {
		drain(0);
		__atomic_store_n(&is_enough, got.n_slots >= ENOUGH, __ATOMIC_RELAXED);
	}
	assert_int_equal(pthread_join(core, NULL), 0);
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(area.stats.recorded_runs + area.stats.overwritten_runs, n_runs);
	assert_int_equal(got.n_slots, area.stats.recorded_runs);
	assert_int_equal(n_open, 0); /* all ended before the next one */
	assert_int_equal(area.stats.refused, 0);
	print_message("%llu of %u runs drained\n", (unsigned long long)area.stats.recorded_runs,
	              n_runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs__come_whole_while_the_next_ones_are_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
