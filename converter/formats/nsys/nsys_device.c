/* SPDX-License-Identifier: Apache-2.0 */
/* What devices did, each an operation of its own with the time that nsys gave it. */
#include "nsys_impl.h"

/* Arrays count as memory of the device. */
static uint8_t kind_of_copy(const struct nsys_rows *cells)
{
	static const uint8_t kinds[] = {
		[1] = FLEXTRACE_DEVICE_MEMCPY_HTOD,  [2] = FLEXTRACE_DEVICE_MEMCPY_DTOH,
		[3] = FLEXTRACE_DEVICE_MEMCPY_HTOD,  [4] = FLEXTRACE_DEVICE_MEMCPY_DTOH,
		[10] = FLEXTRACE_DEVICE_MEMCPY_PTOP, [11] = FLEXTRACE_DEVICE_MEMCPY_HTOD,
		[12] = FLEXTRACE_DEVICE_MEMCPY_DTOH};
	int64_t copy = 0;

	nsys_integer(cells, NSYS_COPY_KIND, &copy);
	return copy > 0 && copy < (int64_t)sizeof(kinds) && kinds[copy]
	               ? kinds[copy]
	               : FLEXTRACE_DEVICE_MEMCPY_DTOD;
}

/* Which part of an operation has the time; the whole one, if none stands here. */
static const uint8_t parts[FLEXTRACE_DEVICE_KIND_COUNT_FULL] = {
	[FLEXTRACE_DEVICE_KERNEL] = FLEXTRACE_ESTIMATE_EXEC,
	[FLEXTRACE_DEVICE_MEMCPY_HTOD] = FLEXTRACE_ESTIMATE_DMA_IN,
	[FLEXTRACE_DEVICE_MEMCPY_DTOH] = FLEXTRACE_ESTIMATE_DMA_OUT,
};

static bool read_number(const struct nsys_rows *cells, int cell, uint32_t *ret)
{
	int64_t number;

	if (!nsys_integer(cells, cell, &number) || number < 0 || number >= UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

static int write_work(struct nsys *nsys, const struct nsys_row *row,
                      const struct flextrace_device_op *op)
{
	struct event event = nsys_event(nsys, row, RECORD_DEVICE_OP);

	event.vtid = -1;
	event.payload.device_op = *op;
	FLEXTRACE_TRY(nsys_write(nsys, &event));
	event.class = RECORD_HOST_ESTIMATE;
	event.payload.host_estimate = (struct flextrace_host_estimate){
		.device = op->device,
		.queue = op->queue,
		.job = op->job,
		.kind = parts[op->kind],
		.begin_ns = row->begin_ns,
		.end_ns = row->end_ns,
		.source = "nsys",
	};
	return nsys_write(nsys, &event);
}

int nsys_take_work(struct nsys *nsys, const struct nsys_row *row)
{
	struct flextrace_device_op op = {.kind = nsys->table->kind, .name = row->name, .peer = -1};
	int64_t bytes;

	if (!read_number(row->cells, NSYS_DEVICE, &op.device))
		return nsys_reject(nsys, row->cells, LOSS_MALFORMED, "its device is no number");
	read_number(row->cells, NSYS_STREAM, &op.queue); /* else of none, or of all: 0 */
	if (op.kind == FLEXTRACE_DEVICE_MEMCPY_DTOD)
		op.kind = kind_of_copy(row->cells);
	op.correlation = row->correlation;
	op.group = row->group;
	if (nsys_integer(row->cells, NSYS_BYTES, &bytes) && bytes > 0)
		op.bytes = (uint64_t)bytes;
	op.job = ++nsys->n_jobs;
	FLEXTRACE_TRY(map_put(&nsys->devices, row->process, op.device, 0));
	FLEXTRACE_TRY(nsys_args(nsys, row, &op.type));
	return write_work(nsys, row, &op);
}

int nsys_take_memory(struct nsys *nsys, const struct nsys_row *row)
{
	struct event event = nsys_event(nsys, row, RECORD_MEMORY);
	struct flextrace_memory *memory = &event.payload.memory;
	int64_t address, bytes = 0, op;

	if (!read_number(row->cells, NSYS_DEVICE, &memory->device) ||
	    !nsys_integer(row->cells, NSYS_ADDRESS, &address) ||
	    !nsys_integer(row->cells, NSYS_MEMORY_OP, &op) || op < 0 || op > 1)
		return nsys_reject(nsys, row->cells, LOSS_MALFORMED,
		                   "its device, address or operation is not known");
	nsys_integer(row->cells, NSYS_BYTES, &bytes);
	memory->address = (uint64_t)address;
	memory->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	memory->op = op ? FLEXTRACE_MEMORY_FREE : FLEXTRACE_MEMORY_ALLOC;
	FLEXTRACE_TRY(map_put(&nsys->devices, row->process, memory->device, 0));
	return nsys_write(nsys, &event);
}
