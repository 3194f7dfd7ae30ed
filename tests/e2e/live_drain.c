/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_drain BEATS: a device of two cores (threads) that is drained as it runs. Core 0 beats so
 * many times, more often than its ring holds, and what finds that full is dropped or overwritten
 * as the host changes its mind; core 1 hangs in a zone. Prints what was sent.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix_device.h"

#define N_CORES  2u
#define CAPACITY 1024u

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(CAPACITY)];
} areas[N_CORES];
static uint32_t n_beats;
static int is_done;

static void boot(uint32_t core)
{
	flextrace_posix_core = (struct flextrace_posix_core){.area = &areas[core].wire};
	FLEXTRACE_FW_INIT(core, 0, 0, CAPACITY, FLEXTRACE_WIRE_STOP);
}

static void *beat(void *context)
{
	uint32_t i;

	(void)context;
	boot(0);
	FLEXTRACE_FW_START(1, 0);
	for (i = 0; i < n_beats; i++)
		FLEXTRACE_MARK("beat");
	FLEXTRACE_FW_END();
	__atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *hang(void *context)
{
	(void)context;
	boot(1);
	FLEXTRACE_FW_START(2, 1);
	FLEXTRACE_TS(1);
	FLEXTRACE_KERNEL_START();
	FLEXTRACE_ZONE_BEGIN("stuck");
	FLEXTRACE_MARK("last sign of life");
	return NULL; /* the rest never comes */
}

int main(int argc, char **argv)
{
	struct flextrace_drain_area drained[N_CORES];
	struct flextrace_drain_set set = {.areas = drained, .n_areas = N_CORES};
	pthread_t threads[N_CORES];
	uint32_t i, turn;

	n_beats = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10 * CAPACITY;
	posix_device_define("live", N_CORES);
	posix_device_sync();
	for (i = 0; i < N_CORES; i++) {
		flextrace_drain_area_init(&drained[i], 0, &areas[i], sizeof(areas[i]));
		if (pthread_create(&threads[i], NULL, i ? hang : beat, NULL) != 0)
			return 1;
	}
	/* So that something is lost however fast the host is. */
	while (!__atomic_load_n(&areas[0].wire.dropped, __ATOMIC_ACQUIRE))
		sched_yield();
	for (turn = 0; !__atomic_load_n(&is_done, __ATOMIC_ACQUIRE); turn++) {
		flextrace_drain_set_policy(&drained[0], turn / 16 % 2 ? FLEXTRACE_POLICY_OVERWRITE
		                                                      : FLEXTRACE_POLICY_STOP);
		flextrace_drain_some(&set, 500);
	}
	for (i = 0; i < N_CORES; i++)
		(void)pthread_join(threads[i], NULL);
	flextrace_drain(drained, N_CORES, FLEXTRACE_DRAIN_LAST);
	posix_device_sync();
	printf("sent %u drained %llu dropped %llu overwritten %llu\n", n_beats + 1,
	       (unsigned long long)drained[0].stats.recorded,
	       (unsigned long long)drained[0].stats.dropped,
	       (unsigned long long)drained[0].stats.overwritten);
	return 0;
}
