/* SPDX-License-Identifier: Apache-2.0 */
#include <flextrace/marker.h>

#include "firmware.h"

#define TILE_ROWS 16u

void firmware_boot(uint32_t core, uint32_t domain, uint32_t capacity, uint32_t policy)
{
	FLEXTRACE_FW_INIT(core, 0, domain, capacity, policy);
	FLEXTRACE_MARK("ready");
}

static void dma_in(struct firmware_core *core, const struct flextrace_emulator_job *job)
{
	size_t matrix_bytes = (size_t)job->n * job->n * sizeof(uint32_t);

	FLEXTRACE_ZONE_BEGIN("dma in");
	switch (job->op) {
	case FLEXTRACE_EMULATOR_MATMUL:
	case FLEXTRACE_EMULATOR_ADD:
		firmware_dma(core, core->local, job->a, matrix_bytes);
		firmware_dma(core, core->local + matrix_bytes, job->b, matrix_bytes);
		break;
	case FLEXTRACE_EMULATOR_REDUCE:
		firmware_dma(core, core->local, job->a, matrix_bytes);
		break;
	case FLEXTRACE_EMULATOR_COPY:
		firmware_dma(core, core->local, job->source, job->bytes);
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
		__builtin_memset(core->local, job->fill, job->bytes);
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

static void multiply(uint32_t *local, uint32_t n)
{
	uint32_t row, end;

	for (row = 0; row < n; row = end) {
		end = n - row > TILE_ROWS ? row + TILE_ROWS : n;
		FLEXTRACE_ZONE_BEGIN("tile");
		multiply_rows(local, n, row, end);
		FLEXTRACE_VALUE("rows done", end);
		FLEXTRACE_ZONE_END("tile");
	}
}

static void add(uint32_t *local, size_t words)
{
	size_t i;

	FLEXTRACE_ZONE_BEGIN("add");
	for (i = 0; i < words; i++)
		local[2 * words + i] = local[i] + local[words + i];
	FLEXTRACE_ZONE_END("add");
}

static void reduce(uint32_t *local, size_t words)
{
	uint32_t sum = 0;
	size_t i;

	FLEXTRACE_ZONE_BEGIN("reduce");
	for (i = 0; i < words; i++)
		sum += local[i];
	local[2 * words] = sum;
	FLEXTRACE_ZONE_END("reduce");
}

static void print_round(struct firmware_core *core, uint32_t number)
{
	char text[] = "round           \n";
	char *digit = text + sizeof(text) - 3;

	do
		*digit-- = (char)('0' + number % 10);
	while (number /= 10);
	firmware_print(core, text);
}

static void emit(struct firmware_core *core, const struct flextrace_emulator_job *job)
{
	uint32_t i;

	for (i = 0; i < job->n; i++) {
		if (job->kinds & 1u << FLEXTRACE_WIRE_ZONE_BEGIN)
			FLEXTRACE_ZONE_BEGIN("round");
		if (job->kinds & FLEXTRACE_EMULATOR_PRINT)
			print_round(core, i);
		if (job->kinds & 1u << FLEXTRACE_WIRE_MARK)
			FLEXTRACE_MARK("tick");
		if (job->kinds & 1u << FLEXTRACE_WIRE_VALUE)
			FLEXTRACE_VALUE("round number", i);
		if (job->kinds & 1u << FLEXTRACE_WIRE_ZONE_BEGIN)
			FLEXTRACE_ZONE_END("round");
	}
}

static void hang(void)
{
	FLEXTRACE_ZONE_BEGIN("stuck");
	for (;;)
		FLEXTRACE_PORT_WAIT();
}

static void compute_once(uint32_t *local, const struct flextrace_emulator_job *job)
{
	size_t words = (size_t)job->n * job->n;

	switch (job->op) {
	case FLEXTRACE_EMULATOR_MATMUL:
		multiply(local, job->n);
		break;
	case FLEXTRACE_EMULATOR_ADD:
		add(local, words);
		break;
	case FLEXTRACE_EMULATOR_REDUCE:
		reduce(local, words);
		break;
	default:
		hang();
	}
}

static void compute(struct firmware_core *core, const struct flextrace_emulator_job *job)
{
	uint32_t repeat = job->repeat ? job->repeat : 1;

	switch (job->op) {
	case FLEXTRACE_EMULATOR_COPY:
	case FLEXTRACE_EMULATOR_FILL:
		break;
	case FLEXTRACE_EMULATOR_EMIT:
		emit(core, job);
		break;
	default:
		FLEXTRACE_KERNEL_START();
		while (repeat--)
			compute_once((uint32_t *)(void *)core->local, job);
		FLEXTRACE_KERNEL_END();
	}
}

static void dma_out(struct firmware_core *core, const struct flextrace_emulator_job *job)
{
	size_t matrix_bytes = (size_t)job->n * job->n * sizeof(uint32_t);

	FLEXTRACE_ZONE_BEGIN("dma out");
	switch (job->op) {
	case FLEXTRACE_EMULATOR_MATMUL:
	case FLEXTRACE_EMULATOR_ADD:
		firmware_dma(core, job->c, core->local + 2 * matrix_bytes, matrix_bytes);
		break;
	case FLEXTRACE_EMULATOR_REDUCE:
		firmware_dma(core, job->c, core->local + 2 * matrix_bytes, sizeof(uint32_t));
		break;
	case FLEXTRACE_EMULATOR_COPY:
	case FLEXTRACE_EMULATOR_FILL:
		firmware_dma(core, job->target, core->local, job->bytes);
		break;
	default:
		break;
	}
	FLEXTRACE_ZONE_END("dma out");
}

/* One unit per 1024 multiply-adds, and one per job. */
static uint32_t power_of(const struct flextrace_emulator_job *job)
{
	uint64_t work = 0;

	if (job->op == FLEXTRACE_EMULATOR_MATMUL)
		work = (uint64_t)job->n * job->n * job->n * (job->repeat ? job->repeat : 1) / 1024;
	return (uint32_t)work + 1;
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
	compute(core, job);
	FLEXTRACE_TS(4);
	ret_completion->power = firmware_spend_power(core, power_of(job));
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
