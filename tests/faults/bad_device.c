/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device of four cores whose areas are drained, of which three go wrong in different ways:
 *
 *	core 0  as it should be: 100 beats, then 100 more
 *	core 1  resets: sets its area up again after 100 beats, then 100 more
 *	core 2  writes garbage over its whole area after 100 beats
 *	core 3  says after 100 beats that it wrote a million more than there is room for
 *
 * What was read before is as good as ever. Prints what the drain refused, by core.
 */
#include <inttypes.h>
#include <stdio.h>

#include "posix_device.h"

#define N_CORES  4u
#define CAPACITY 256u
#define N_BEATS  100

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(CAPACITY)];
} areas[N_CORES];

static void boot(uint32_t core)
{
	flextrace_posix_core = (struct flextrace_posix_core){.area = &areas[core].wire};
	FLEXTRACE_FW_INIT(core, 0, 0, CAPACITY, FLEXTRACE_WIRE_STOP);
}

static void run(uint32_t core, uint32_t job)
{
	flextrace_posix_core = (struct flextrace_posix_core){.area = &areas[core].wire};
	FLEXTRACE_FW_START(job, 0);
	for (int i = 0; i < N_BEATS; i++)
		FLEXTRACE_MARK("beat");
	FLEXTRACE_FW_END();
}

static void go_wrong(void)
{
	uint64_t random = 12345;

	run(0, 2);
	boot(1);
	run(1, 2);
	for (size_t i = 0; i < sizeof(areas[2].bytes); i++) {
		random = random * UINT64_C(6364136223846793005) + 1;
		areas[2].bytes[i] = (uint8_t)(random >> 56);
	}
	areas[3].wire.head += 1000000;
}

int main(void)
{
	struct flextrace_drain_area drained[N_CORES];

	posix_device_define("bad", N_CORES);
	posix_device_sync();
	for (uint32_t i = 0; i < N_CORES; i++) {
		boot(i);
		flextrace_drain_area_init(&drained[i], 0, &areas[i], sizeof(areas[i]));
		run(i, 1);
	}
	flextrace_drain(drained, N_CORES, 0);
	go_wrong();
	flextrace_drain(drained, N_CORES, FLEXTRACE_DRAIN_LAST);
	posix_device_sync();
	for (uint32_t i = 0; i < N_CORES; i++)
		printf("core %u refused %" PRIu64 " resets %" PRIu64 "\n", i,
		       drained[i].stats.refused, drained[i].stats.resets);
	return 0;
}
