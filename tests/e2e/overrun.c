/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overrun: cores that send more than their rings hold before the host looks at them once: under
 * stop, overwrite and block, under block with a host that drains whenever a core waits, and one
 * that runs five times. Prints, per core, how many records and runs are lost.
 */
#include <stdio.h>
#include <time.h>

#include "posix_device.h"

#define CAPACITY 64u
#define N_BEATS  109u /* and a record of the run */
#define N_RUNS   5u   /* of which the slots hold two */

enum { STOP, OVERWRITE, BLOCK, DRAINED, RUNS, N_CORES };

static const uint32_t policies[N_CORES] = {FLEXTRACE_WIRE_STOP, FLEXTRACE_WIRE_OVERWRITE,
                                           FLEXTRACE_WIRE_BLOCK, FLEXTRACE_WIRE_BLOCK,
                                           FLEXTRACE_WIRE_STOP};

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(CAPACITY)];
} areas[N_CORES];
static struct flextrace_drain_area drained[N_CORES];
static uint64_t cycles = 1000;

static uint64_t fake_clock(void *context)
{
	(void)context;
	return cycles += 100;
}

/* What a core that waits does: time goes by, and the host of one drains it. */
static void idle(void *context)
{
	const struct timespec pause = {.tv_nsec = 1 << 26};

	(void)nanosleep(&pause, NULL); /* no device is ahead of its host */
	cycles += UINT64_C(1) << 26;
	if (context)
		flextrace_drain(context, 1, 0);
}

static void run_core(uint32_t core)
{
	uint32_t n_runs = core == RUNS ? N_RUNS : 1, n_beats = core == RUNS ? 1 : N_BEATS;

	flextrace_drain_area_init(&drained[core], 0, &areas[core], sizeof(areas[core]));
	flextrace_posix_core = (struct flextrace_posix_core){
		.area = &areas[core].wire,
		.clock = fake_clock,
		.wait = idle,
		.context = core == DRAINED ? &drained[core] : NULL,
	};
	FLEXTRACE_FW_INIT(core, 0, 0, CAPACITY, policies[core]);
	for (uint32_t run = 1; run <= n_runs; run++) {
		FLEXTRACE_FW_START(run, 0);
		for (uint32_t i = 0; i < n_beats; i++)
			FLEXTRACE_MARK("beat");
		FLEXTRACE_FW_END();
	}
}

int main(void)
{
	uint64_t now_ns = flextrace_now_ns();

	posix_device_define("overrun", N_CORES);
	FLEXTRACE_CLOCK_SYNC(0, 0, now_ns, cycles, flextrace_now_ns());
	for (uint32_t core = 0; core < N_CORES; core++)
		run_core(core);
	flextrace_drain(drained, N_CORES, FLEXTRACE_DRAIN_LAST);
	for (uint32_t core = 0; core < N_CORES; core++)
		printf("core %u %u %u\n", core,
		       core == RUNS || core == DRAINED ? 0 : N_BEATS + 1 - CAPACITY,
		       core == RUNS ? N_RUNS - 2 : 0);
	return 0;
}
