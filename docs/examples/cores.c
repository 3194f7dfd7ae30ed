/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores.c: what docs/guides/porting.md, marker.h and drain.h show: two cores with a marker area
 * each, an interrupt handler with one of its own, and the host that drains them. Here one thread
 * plays them all.
 */
#include <flextrace/flextrace.h>
#include <flextrace/marker.h>

#include "device.h"

#define N_CORES 2

static const uint32_t device, domain;

/* -- the firmware ---------------------------------------------------------------------------- */

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(64)];
} handler_area;

static void boot_core(uint32_t core, uint32_t processor)
{
	FLEXTRACE_FW_INIT(core, processor, domain, 1024, FLEXTRACE_WIRE_STOP); /* once, at boot */
}

static void boot_handler(uint32_t core)
{
	/* at boot, beside FLEXTRACE_FW_INIT(core, 0, ...) */
	FLEXTRACE_FW_INIT_IN(&handler_area.wire, core, 1, domain, 64, FLEXTRACE_WIRE_STOP);
}

static void timer_handler(void)
{
	FLEXTRACE_ZONE_BEGIN_IN(&handler_area.wire, "timer");
	device_spend(1);
	FLEXTRACE_ZONE_END_IN(&handler_area.wire, "timer");
}

static void kernel(void)
{
	device_spend(10);
}

static void mark(uint32_t layer, uint32_t n)
{
	FLEXTRACE_ZONE_BEGIN_ID(layer);
	FLEXTRACE_MARK("semaphore taken");
	FLEXTRACE_VALUE("queue depth", n);
	FLEXTRACE_ZONE_END_ID(layer);
}

struct block {
	uint32_t job, queue;
};

static void run(const struct block *block)
{
	FLEXTRACE_FW_START(block->job, block->queue);
	FLEXTRACE_TS(1);
	FLEXTRACE_ZONE_BEGIN("dma in");
	mark(block->job % 2, block->job);
	FLEXTRACE_ZONE_END("dma in");
	FLEXTRACE_KERNEL_START();
	kernel();
	FLEXTRACE_KERNEL_END();
	FLEXTRACE_FW_END();
}

/* -- the host -------------------------------------------------------------------------------- */

/* On hardware: the device's memory, mapped. */
#define AREA_BYTES FLEXTRACE_WIRE_AREA_BYTES(1024)
static _Alignas(8) uint8_t bar[N_CORES * AREA_BYTES];
static struct flextrace_drain_area areas[N_CORES], handler;

static void open_cores(void)
{
	struct flextrace_clock_domain counter = FLEXTRACE_CLOCK_DOMAIN_INIT;
	struct flextrace_name layer = FLEXTRACE_NAME_INIT;
	uint32_t core;

	layer.id = FLEXTRACE_MARKER_ID(0);
	layer.name = "attention";
	flextrace_marker_name(&layer);
	layer.id = FLEXTRACE_MARKER_ID(1);
	layer.name = "feed forward";
	flextrace_marker_name(&layer);
	counter.nominal_hz = 1000000000;
	flextrace_clock_domain(&counter);                       /* rate, bits, rate group */
	(void)flextrace_device_names(device, "/proc/self/exe"); /* the firmware's ELF file */
	for (core = 0; core < N_CORES; core++)
		flextrace_drain_area_init(&areas[core], device, bar + core * AREA_BYTES,
		                          AREA_BYTES);
	flextrace_drain_area_init(&handler, device, &handler_area, sizeof(handler_area));
	flextrace_drain_set_policy(&areas[0],
	                           FLEXTRACE_POLICY_OVERWRITE); /* or what FW_INIT said */
}

static void sync_clock(void)
{
	const uint64_t before_ns = flextrace_now_ns();
	const uint64_t ticks = flextrace_posix_clock();

	FLEXTRACE_CLOCK_SYNC(device, domain, before_ns, ticks, flextrace_now_ns());
}

static void play(uint32_t core, uint32_t job)
{
	const struct block block = {.job = job, .queue = core};

	flextrace_posix_core.area = (struct flextrace_wire_area *)(bar + core * AREA_BYTES);
	if (job == 1)
		boot_core(core, 0);
	if (job == 1 && core == 0)
		boot_handler(core);
	run(&block);
	if (core == 0)
		timer_handler();
}

int main(void)
{
	uint32_t job;

	open_cores();
	sync_clock();
	for (job = 1; job <= 20; job++) {
		play(0, job);
		play(1, job);
		if (job == 20)
			(void)flextrace_drain_save(areas, N_CORES,
			                           "hang.bin"); /* for flextrace decode */
		flextrace_drain(areas, N_CORES, 0); /* while they run; or flextrace_drain_some() */
		flextrace_drain(&handler, 1, 0);
	}
	flextrace_drain(areas, N_CORES, FLEXTRACE_DRAIN_LAST); /* they have stopped, or crashed */
	flextrace_drain(&handler, 1, FLEXTRACE_DRAIN_LAST);
	sync_clock();
	return 0;
}
