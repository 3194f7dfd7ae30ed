/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_drain BEATS: a device of two cores (threads) that is drained as it runs. Core 0 beats so
 * many times, and what finds the ring full is dropped or overwritten as the host changes its
 * mind; core 1 hangs in a zone. Prints what was sent.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flextrace/flextrace.h>
#include <flextrace/marker.h>

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

static void define(void)
{
	struct flextrace_device device;
	struct flextrace_clock_domain domain;

	memset(&device, 0, sizeof(device));
	device.uuid = "live";
	device.n_cores = N_CORES;
	device.core_hz = UINT64_C(1000000000);
	device.name = "threads";
	flextrace_device(&device);
	memset(&domain, 0, sizeof(domain));
	domain.counter_bits = 64;
	domain.nominal_hz = UINT64_C(1000000000);
	flextrace_clock_domain(&domain);
	(void)flextrace_device_names(0, "/proc/self/exe");
}

static void sync_clocks(void)
{
	uint64_t before_ns = flextrace_now_ns();
	uint64_t ticks = flextrace_posix_clock();

	FLEXTRACE_CLOCK_SYNC(0, 0, before_ns, ticks, flextrace_now_ns());
}

int main(int argc, char **argv)
{
	struct flextrace_drain_area drained[N_CORES];
	struct flextrace_drain_set set = {.areas = drained, .n_areas = N_CORES};
	pthread_t threads[N_CORES];
	uint32_t i, turn;

	n_beats = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
	define();
	sync_clocks();
	for (i = 0; i < N_CORES; i++) {
		flextrace_drain_area_init(&drained[i], 0, &areas[i], sizeof(areas[i]));
		if (pthread_create(&threads[i], NULL, i ? hang : beat, NULL) != 0)
			return 1;
	}
	for (turn = 0; !__atomic_load_n(&is_done, __ATOMIC_ACQUIRE); turn++) {
		flextrace_drain_set_policy(&drained[0], turn / 16 % 2 ? FLEXTRACE_POLICY_OVERWRITE
		                                                      : FLEXTRACE_POLICY_STOP);
		flextrace_drain_some(&set, 500);
	}
	for (i = 0; i < N_CORES; i++)
		(void)pthread_join(threads[i], NULL);
	flextrace_drain(drained, N_CORES, FLEXTRACE_DRAIN_LAST);
	sync_clocks();
	printf("sent %u drained %llu dropped %llu overwritten %llu\n", n_beats + 1,
	       (unsigned long long)drained[0].stats.recorded,
	       (unsigned long long)drained[0].stats.dropped,
	       (unsigned long long)drained[0].stats.overwritten);
	return 0;
}
