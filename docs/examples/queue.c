/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c: a runtime that puts control blocks into a device's queue, and sees them complete. */
#include <string.h>

#include <flextrace/flextrace.h>

#include "device.h"

struct job {
	struct device_block block; /* what the device reads, and stamps */
	const char *name;
	enum flextrace_device_kind kind;
	uint64_t bytes;
	uint64_t id; /* joins the launch to the work of the device */
	uint64_t submit_ns;
};

static void runtime_open(void)
{
	struct flextrace_device device = FLEXTRACE_DEVICE_INIT;
	struct flextrace_clock_domain counter = FLEXTRACE_CLOCK_DOMAIN_INIT;

	FLEXTRACE_CALL(INIT, "open");
	flextrace_process("queue-runtime", "1.0");
	device.uuid = "0000:1a:00.0"; /* PCI address or serial: the same uuid is the same clock */
	flextrace_device(&device);
	counter.counter_bits = 32;
	counter.nominal_hz = DEVICE_HZ; /* a hint; the data decide */
	flextrace_clock_domain(&counter);
	FLEXTRACE_QUEUE_NAME(0, 0, "compute");
	device_open(NULL);
}

static void launch(struct job *job)
{
	job->id = flextrace_next_correlation();
	FLEXTRACE_CALL_WITH(LAUNCH, job->name, job->id, FLEXTRACE_ARG("bytes", job->bytes));
	job->submit_ns = flextrace_now_ns(); /* BEFORE the doorbell */
	device_ring(&job->block);
}

static void finish(struct job *job)
{
	struct flextrace_device_op op = FLEXTRACE_DEVICE_OP_INIT;

	FLEXTRACE_CALL(WAIT, job->name);
	device_wait(&job->block);
	op.complete_ns = flextrace_now_ns(); /* AFTER the completion was seen */
	op.submit_ns = job->submit_ns;
	op.job = job->block.job;
	op.correlation = job->id;
	op.kind = job->kind;
	op.name = job->name;
	op.bytes = job->bytes;
	memcpy(op.ts, job->block.ts, sizeof(op.ts));
	FLEXTRACE_DEVICE_OP(&op);
}

static void infer(uint32_t step)
{
	struct job jobs[] = {
		{.name = "input", .kind = FLEXTRACE_DEVICE_MEMCPY_HTOD, .block.input_us = 40},
		{.name = "matmul", .kind = FLEXTRACE_DEVICE_KERNEL, .block.work_us = 200},
		{.name = "result", .kind = FLEXTRACE_DEVICE_MEMCPY_DTOH, .block.output_us = 20},
	};
	uint32_t i;

	FLEXTRACE_STEP(step);
	FLEXTRACE_FUNCTION();
	FLEXTRACE_MEMORY_ALLOC(0, 0x10000, 65536);
	for (i = 0; i < 3; i++) {
		jobs[i].block.job = 3 * step + i;
		jobs[i].bytes = 65536;
		launch(&jobs[i]);
		FLEXTRACE_COUNTER_IN("in flight", "jobs", i + 1);
	}
	for (i = 0; i < 3; i++)
		finish(&jobs[i]);
	FLEXTRACE_MEMORY_FREE(0, 0x10000, 65536);
}

int main(void)
{
	uint32_t step;

	runtime_open();
	for (step = 0; step < 50; step++)
		infer(step);
	device_close();
	return 0;
}
