/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <time.h>

#include <flextrace/marker.h>

#include "firmware.h"

#define TILE_ROWS    16u
#define MAX_PAUSE_NS 20000u

void firmware_boot(uint32_t core, uint32_t domain, uint32_t capacity, uint32_t policy)
{
	FLEXTRACE_FW_INIT(core, 0, domain, capacity, policy);
	FLEXTRACE_MARK("ready");
}

/* Stands for the latency of a bus; xorshift64. */
static void pause_a_little(struct firmware_core *core)
{
	struct timespec time = {0};

	if (core->random == 0)
		return;
	core->random ^= core->random << 13;
	core->random ^= core->random >> 7;
	core->random ^= core->random << 17;
	time.tv_nsec = (long)(core->random % MAX_PAUSE_NS);
	(void)nanosleep(&time, NULL);
}

static void dma(struct firmware_core *core, void *to, const void *from, size_t bytes)
{
	pause_a_little(core);
	if (bytes)
		memcpy(to, from, bytes);
}

static void dma_in(struct firmware_core *core, const struct flextrace_emulator_job *job)
{
	size_t matrix_bytes = (size_t)job->n * job->n * sizeof(uint32_t);

	FLEXTRACE_ZONE_BEGIN("dma in");
	switch (job->op) {
	case FLEXTRACE_EMULATOR_MATMUL:
		dma(core, core->local, job->a, matrix_bytes);
		dma(core, core->local + matrix_bytes, job->b, matrix_bytes);
		break;
	case FLEXTRACE_EMULATOR_COPY:
		dma(core, core->local, job->source, job->bytes);
		break;
	default:
		break;
	}
	FLEXTRACE_ZONE_END("dma in");
}

/* The second operand is transposed in place, so that compute reads both along rows. */
static void prep(struct firmware_core *core, const struct flextrace_emulator_job *job)
{
	uint32_t *b = (uint32_t *)(void *)core->local + (size_t)job->n * job->n;
	size_t n = job->n;
	size_t row, column;

	FLEXTRACE_ZONE_BEGIN("prep");
	if (job->op == FLEXTRACE_EMULATOR_MATMUL) {
		for (row = 0; row < n; row++) {
			for (column = row + 1; column < n; column++) {
				uint32_t kept = b[row * n + column];

				b[row * n + column] = b[column * n + row];
				b[column * n + row] = kept;
			}
		}
	} else if (job->op == FLEXTRACE_EMULATOR_FILL) {
		memset(core->local, job->fill, job->bytes);
	}
	FLEXTRACE_ZONE_END("prep");
}

/* Rows first..end of c = a * b modulo 2^32, b transposed. */
static void multiply_rows(uint32_t *local, size_t n, size_t first, size_t end)
{
	const uint32_t *a = local;
	const uint32_t *b = local + n * n;
	uint32_t *c = local + 2 * n * n;
	size_t row, column, i;

	for (row = first; row < end; row++) {
		for (column = 0; column < n; column++) {
			uint32_t sum = 0;

			for (i = 0; i < n; i++)
				sum += a[row * n + i] * b[column * n + i];
			c[row * n + column] = sum;
		}
	}
}

static void compute(struct firmware_core *core, const struct flextrace_emulator_job *job)
{
	uint32_t *local = (uint32_t *)(void *)core->local;
	uint32_t repeat = job->repeat ? job->repeat : 1;
	uint32_t row, end;

	FLEXTRACE_KERNEL_START();
	while (repeat--) {
		for (row = 0; row < job->n; row = end) {
			end = job->n - row > TILE_ROWS ? row + TILE_ROWS : job->n;
			FLEXTRACE_ZONE_BEGIN("tile");
			multiply_rows(local, job->n, row, end);
			FLEXTRACE_VALUE("rows done", end);
			FLEXTRACE_ZONE_END("tile");
		}
	}
	FLEXTRACE_KERNEL_END();
}

static void emit(const struct flextrace_emulator_job *job)
{
	uint32_t i;

	for (i = 0; i < job->n; i++) {
		if (job->kinds & 1u << FLEXTRACE_WIRE_ZONE_BEGIN)
			FLEXTRACE_ZONE_BEGIN("round");
		if (job->kinds & 1u << FLEXTRACE_WIRE_MARK)
			FLEXTRACE_MARK("tick");
		if (job->kinds & 1u << FLEXTRACE_WIRE_VALUE)
			FLEXTRACE_VALUE("round number", i);
		if (job->kinds & 1u << FLEXTRACE_WIRE_ZONE_BEGIN)
			FLEXTRACE_ZONE_END("round");
	}
}

static void dma_out(struct firmware_core *core, const struct flextrace_emulator_job *job)
{
	size_t matrix_bytes = (size_t)job->n * job->n * sizeof(uint32_t);

	FLEXTRACE_ZONE_BEGIN("dma out");
	if (job->op == FLEXTRACE_EMULATOR_MATMUL)
		dma(core, job->c, core->local + 2 * matrix_bytes, matrix_bytes);
	else
		dma(core, job->target, core->local, job->bytes);
	FLEXTRACE_ZONE_END("dma out");
}

/* One unit per 1024 multiply-adds, and one per job. */
static uint32_t spend_power(struct firmware_core *core, const struct flextrace_emulator_job *job)
{
	uint64_t work = 0;

	if (job->op == FLEXTRACE_EMULATOR_MATMUL)
		work = (uint64_t)job->n * job->n * job->n * (job->repeat ? job->repeat : 1) / 1024;
	return __atomic_add_fetch(core->device_power, (uint32_t)work + 1, __ATOMIC_RELAXED);
}

void firmware_serve(struct firmware_core *core, const struct flextrace_emulator_job *job,
                    struct flextrace_emulator_completion *ret_completion)
{
	const struct flextrace_wire_area *area = FLEXTRACE_AREA();
	const struct flextrace_wire_slot *slot;
	int i;

	FLEXTRACE_FW_START((uint32_t)job->job, job->queue);
	FLEXTRACE_TS(1);
	dma_in(core, job);
	FLEXTRACE_TS(2);
	prep(core, job);
	FLEXTRACE_TS(3);
	if (job->op == FLEXTRACE_EMULATOR_MATMUL)
		compute(core, job);
	if (job->op == FLEXTRACE_EMULATOR_EMIT)
		emit(job);
	FLEXTRACE_TS(4);
	ret_completion->power = spend_power(core, job);
	dma_out(core, job);
	FLEXTRACE_TS(5);
	FLEXTRACE_MARK("complete");
	FLEXTRACE_FW_END();

	/* The control block carries the very stamps of the marker slot. */
	slot = FLEXTRACE_PORT_LOAD(area->own.current.slot);
	ret_completion->run = FLEXTRACE_PORT_LOAD(slot->run);
	for (i = 0; i < FLEXTRACE_EMULATOR_N_STAMPS; i++)
		ret_completion->ts[i] = FLEXTRACE_PORT_LOAD(slot->ticks[FLEXTRACE_WIRE_TS1 + i]);
	ret_completion->status = 0;
}
