/* SPDX-License-Identifier: Apache-2.0 */
/* firmware_host.c: the host of firmware.c: it names, brackets and drains what the core marks. */
#include <string.h>

#include <flextrace/flextrace.h>
#include <flextrace/marker.h>

#include "firmware.h"

static const char *const layers[] = {"attention", "feed forward"};

/* On hardware: the device's memory, mapped. */
static union {
	struct flextrace_wire_area area;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(FIRMWARE_CAPACITY)];
} memory;
struct flextrace_wire_area *const firmware_area = &memory.area;
static struct flextrace_drain_area drained;

static void open_core(void)
{
	struct flextrace_device device = FLEXTRACE_DEVICE_INIT;
	struct flextrace_clock_domain counter = FLEXTRACE_CLOCK_DOMAIN_INIT;
	struct flextrace_name name = FLEXTRACE_NAME_INIT;
	uint32_t i;

	device.uuid = "core";
	device.n_cores = 1;
	flextrace_device(&device);
	counter.counter_bits = 64;
	counter.nominal_hz = 1000000000;
	flextrace_clock_domain(&counter);
	(void)flextrace_device_names(0,
	                             "/proc/self/exe"); /* on hardware: the firmware's ELF file */
	for (i = 0; i < 2; i++) {
		name.id = FLEXTRACE_MARKER_ID(i);
		name.name = layers[i];
		flextrace_marker_name(&name);
	}
	flextrace_drain_area_init(&drained, 0, &memory, sizeof(memory));
	device_open(&firmware_program);
}

/* The core's counter between two reads of the host's clock; once a second is plenty. */
static void sync_clock(void)
{
	const uint64_t before_ns = flextrace_now_ns();
	const uint64_t ticks = flextrace_posix_clock(); /* on hardware: a mapped register */

	FLEXTRACE_CLOCK_SYNC(0, 0, before_ns, ticks, flextrace_now_ns());
}

static void run_layer(uint32_t job, uint32_t layer)
{
	struct device_block block = {.job = job, .layer = layer, .input_us = 20, .work_us = 100};
	struct flextrace_device_op op = FLEXTRACE_DEVICE_OP_INIT;

	FLEXTRACE_CALL(EXECUTE, layers[layer]);
	op.submit_ns = flextrace_now_ns(); /* BEFORE the doorbell */
	device_ring(&block);
	device_wait(&block);
	op.complete_ns = flextrace_now_ns(); /* AFTER the completion was seen */
	op.job = job;                        /* as in FLEXTRACE_FW_START() */
	op.kind = FLEXTRACE_DEVICE_KERNEL;
	op.name = layers[layer];
	memcpy(op.ts, block.ts, sizeof(op.ts));
	FLEXTRACE_DEVICE_OP(&op);
	flextrace_drain(&drained, 1, 0);
}

int main(void)
{
	uint32_t job;

	open_core();
	sync_clock();
	for (job = 1; job <= 50; job++)
		run_layer(job, job % 2);
	device_close();
	flextrace_drain(&drained, 1, FLEXTRACE_DRAIN_LAST);
	sync_clock();
	return 0;
}
