/* SPDX-License-Identifier: Apache-2.0 */
/* What devices did, each an operation of its own with the time that nsys gave it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nsys_impl.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* What Kineto has a word for has that. */
static const struct nsys_member told[] = {
	{NSYS_CONTEXT, "context"},
	{NSYS_REGISTERS, "registers per thread"},
	{NSYS_STATIC_SHARED, "static shared memory"},
	{NSYS_DYNAMIC_SHARED, "dynamic shared memory"},
	{NSYS_GRAPH, "graph id"},
	{NSYS_GRAPH_EXEC, "graph exec id"},
	{NSYS_GRAPH_NODE, "graph node id"},
	{NSYS_SRC_DEVICE, "src device"},
	{NSYS_DST_DEVICE, "dst device"},
	{NSYS_MIGRATION, "migration cause"},
	{NSYS_COPY_COUNT, "copy count"},
	{NSYS_VALUE, "value"},
	{NSYS_MEM_KIND, "memory kind"},
};

/* -- any work -------------------------------------------------------------------------------- */

struct work {
	uint8_t kind;  /* enum flextrace_device_kind */
	uint32_t part; /* enum flextrace_estimate */
	const char *name, *demangled;
	const struct nsys_nccl_range *collective; /* it is the kernel of; NULL: of none */
};

static bool read_number(const struct nsys_rows *rows, enum nsys_column column, uint32_t *ret)
{
	int64_t number;

	if (!nsys_integer(rows, column, &number) || number < 0 || number >= UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

static void add_size(struct nsys *nsys, const struct nsys_rows *rows, const char *key,
                     enum nsys_column x)
{
	char text[80];
	int64_t sizes[3];

	for (int i = 0; i < 3; i++) {
		if (!nsys_integer(rows, x + (enum nsys_column)i, &sizes[i]))
			return;
	}
	snprintf(text, sizeof(text), "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", sizes[0], sizes[1],
	         sizes[2]);
	json_text_raw(&nsys->args, key, text);
}

/* Says of the kernel of a collective what the torch profiler says, so that it is taken for one. */
static void add_collective(struct nsys *nsys, const struct nsys_nccl_range *of,
                           struct flextrace_device_op *op)
{
	const char *name = string_get(nsys->import.strings, of->name);

	json_text_string(&nsys->args, "Collective name", name);
	if (of->told.n_ranks)
		json_text_number(&nsys->args, "Group size", of->told.n_ranks);
	if (of->has_seq)
		json_text_number(&nsys->args, "Seq", of->seq);
	op->bytes = of->told.bytes;
}

static int args_of(struct nsys *nsys, const struct nsys_rows *rows, const struct work *work,
                   struct flextrace_device_op *op)
{
	nsys_args_begin(nsys, nsys->table->category);
	if (work->demangled && strcmp(work->demangled, work->name) != 0)
		json_text_string(&nsys->args, "demangled", work->demangled);
	add_size(nsys, rows, "grid", NSYS_GRID_X);
	add_size(nsys, rows, "block", NSYS_BLOCK_X);
	nsys_args_columns(nsys, rows, told, COUNT(told));
	if (work->collective)
		add_collective(nsys, work->collective, op);
	return nsys_args_end(nsys, &op->type);
}

static int write_work(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span,
                      const struct work *work)
{
	struct flextrace_device_op op = {.kind = work->kind, .name = work->name, .peer = -1};
	struct event event = nsys_event(nsys, rows, span, RECORD_DEVICE_OP);
	char group[32];
	int64_t number;

	if (!read_number(rows, NSYS_DEVICE, &op.device))
		return nsys_reject(nsys, rows, LOSS_MALFORMED, "its device is no number");
	read_number(rows, NSYS_STREAM, &op.queue); /* else of none, or of all: 0 */
	if (nsys_integer(rows, NSYS_CORRELATION, &number) && number > 0)
		op.correlation = (uint64_t)number;
	if (nsys_integer(rows, NSYS_BYTES, &number) && number > 0)
		op.bytes = (uint64_t)number;
	op.job = ++nsys->n_jobs;
	FLEXTRACE_TRY(nsys_find_device(nsys, span->process, op.device));
	if (work->collective) {
		snprintf(group, sizeof(group), "NCCL %" PRIx64, work->collective->told.comm);
		op.group = group;
	}
	FLEXTRACE_TRY(args_of(nsys, rows, work, &op));
	event.vtid = -1;
	event.payload.device_op = op;
	FLEXTRACE_TRY(nsys_write(nsys, &event));
	event.class = RECORD_HOST_ESTIMATE;
	event.payload.host_estimate = (struct flextrace_host_estimate){
		.device = op.device,
		.queue = op.queue,
		.job = op.job,
		.kind = work->part,
		.begin_ns = span->begin_ns,
		.end_ns = span->end_ns,
		.source = "nsys",
	};
	return nsys_write(nsys, &event);
}

/* -- kernels --------------------------------------------------------------------------------- */

int nsys_take_kernel(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	struct work work = {.kind = FLEXTRACE_DEVICE_KERNEL, .part = FLEXTRACE_ESTIMATE_EXEC};
	int64_t number;

	FLEXTRACE_TRY(nsys_name(nsys, rows, NSYS_DEMANGLED, &work.demangled));
	FLEXTRACE_TRY(nsys_name(nsys, rows, NSYS_SHORT_NAME, &work.name));
	if (!*work.name)
		work.name = work.demangled;
	if (strncmp(work.name, "nccl", 4) == 0 && nsys_integer(rows, NSYS_CORRELATION, &number))
		work.collective = nsys_nccl_of(nsys, span->process, (uint64_t)number);
	return write_work(nsys, rows, span, &work);
}

/* The kernels of a graph that was recorded as one. */
int nsys_take_graph(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	struct work work = {.kind = FLEXTRACE_DEVICE_KERNEL, .part = FLEXTRACE_ESTIMATE_EXEC};
	char name[40];
	int64_t number = 0;

	nsys_integer(rows, NSYS_GRAPH_EXEC, &number);
	snprintf(name, sizeof(name), "Graph Exec %" PRId64, number); /* as nsys calls it */
	work.name = name;
	return write_work(nsys, rows, span, &work);
}

/* -- copies and sets ------------------------------------------------------------------------- */

static const struct {
	const char *text;
	uint8_t kind;
	uint32_t part;
} copies[] = {
	[1] = {"HtoD", FLEXTRACE_DEVICE_MEMCPY_HTOD, FLEXTRACE_ESTIMATE_DMA_IN},
	[2] = {"DtoH", FLEXTRACE_DEVICE_MEMCPY_DTOH, FLEXTRACE_ESTIMATE_DMA_OUT},
	[3] = {"HtoA", FLEXTRACE_DEVICE_MEMCPY_HTOD, FLEXTRACE_ESTIMATE_DMA_IN},
	[4] = {"AtoH", FLEXTRACE_DEVICE_MEMCPY_DTOH, FLEXTRACE_ESTIMATE_DMA_OUT},
	[5] = {"AtoA", FLEXTRACE_DEVICE_MEMCPY_DTOD, FLEXTRACE_ESTIMATE_WHOLE},
	[6] = {"AtoD", FLEXTRACE_DEVICE_MEMCPY_DTOD, FLEXTRACE_ESTIMATE_WHOLE},
	[7] = {"DtoA", FLEXTRACE_DEVICE_MEMCPY_DTOD, FLEXTRACE_ESTIMATE_WHOLE},
	[8] = {"DtoD", FLEXTRACE_DEVICE_MEMCPY_DTOD, FLEXTRACE_ESTIMATE_WHOLE},
	[9] = {"HtoH", FLEXTRACE_DEVICE_MEMCPY_DTOD, FLEXTRACE_ESTIMATE_WHOLE},
	[10] = {"PtoP", FLEXTRACE_DEVICE_MEMCPY_PTOP, FLEXTRACE_ESTIMATE_WHOLE},
	[11] = {"UVM HtoD", FLEXTRACE_DEVICE_MEMCPY_HTOD, FLEXTRACE_ESTIMATE_DMA_IN},
	[12] = {"UVM DtoH", FLEXTRACE_DEVICE_MEMCPY_DTOH, FLEXTRACE_ESTIMATE_DMA_OUT},
	[13] = {"UVM DtoD", FLEXTRACE_DEVICE_MEMCPY_DTOD, FLEXTRACE_ESTIMATE_WHOLE},
};

static const char *memory_name(const struct nsys_rows *rows, enum nsys_column column)
{
	static const char *const kinds[] = {"Pageable", "Pinned",        "Device",        "Array",
	                                    "Managed",  "Device Static", "Managed Static"};
	int64_t kind;

	return nsys_integer(rows, column, &kind) && kind >= 0 && kind < (int64_t)COUNT(kinds)
	               ? kinds[kind]
	               : NULL;
}

int nsys_take_copy(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	struct work work = {.kind = FLEXTRACE_DEVICE_MEMCPY_DTOD};
	const char *from = memory_name(rows, NSYS_SRC_KIND), *to = memory_name(rows, NSYS_DST_KIND);
	char name[96];
	int64_t kind = 0;
	int n;

	nsys_integer(rows, NSYS_COPY_KIND, &kind);
	if (kind > 0 && kind < (int64_t)COUNT(copies)) {
		n = snprintf(name, sizeof(name), "Memcpy %s", copies[kind].text);
		work.kind = copies[kind].kind;
		work.part = copies[kind].part;
	} else {
		n = snprintf(name, sizeof(name), "Memcpy of kind %" PRId64, kind);
	}
	if (from && to)
		snprintf(name + n, sizeof(name) - (size_t)n, " (%s -> %s)", from, to);
	work.name = name;
	return write_work(nsys, rows, span, &work);
}

int nsys_take_set(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	const struct work work = {.kind = FLEXTRACE_DEVICE_MEMSET, .name = "Memset (Device)"};

	return write_work(nsys, rows, span, &work);
}

/* -- what is no work ------------------------------------------------------------------------- */

int nsys_take_sync(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	static const char *const types[] = {"Sync", "Event Sync", "Stream Wait Event",
	                                    "Stream Sync", "Context Sync"};
	struct work work = {.kind = FLEXTRACE_DEVICE_STATE};
	char name[40];
	int64_t type = 0;

	nsys_integer(rows, NSYS_SYNC_TYPE, &type);
	if (type >= 0 && type < (int64_t)COUNT(types))
		snprintf(name, sizeof(name), "%s", types[type]);
	else
		snprintf(name, sizeof(name), "Sync of type %" PRId64, type);
	work.name = name;
	return write_work(nsys, rows, span, &work);
}

int nsys_take_memory(struct nsys *nsys, const struct nsys_rows *rows, const struct nsys_span *span)
{
	struct event event = nsys_event(nsys, rows, span, RECORD_MEMORY);
	struct flextrace_memory *memory = &event.payload.memory;
	int64_t address, bytes = 0, op;

	if (!read_number(rows, NSYS_DEVICE, &memory->device) ||
	    !nsys_integer(rows, NSYS_ADDRESS, &address) ||
	    !nsys_integer(rows, NSYS_MEMORY_OP, &op) || op < 0 || op > 1)
		return nsys_reject(nsys, rows, LOSS_MALFORMED,
		                   "its device, address or operation is not known");
	nsys_integer(rows, NSYS_BYTES, &bytes);
	memory->address = (uint64_t)address;
	memory->bytes = (uint64_t)bytes;
	memory->op = op ? FLEXTRACE_MEMORY_FREE : FLEXTRACE_MEMORY_ALLOC;
	FLEXTRACE_TRY(nsys_find_device(nsys, span->process, memory->device));
	return nsys_write(nsys, &event);
}
