/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/identity/identity.h"
#include "model/words/told_collective.h"
#include "torch_impl.h"

/* Where larger times begin: the clock of a machine that is up for years is below. */
#define MAX_UPTIME_NS ((int64_t)1 << 53)
#define SECOND_NS     INT64_C(1000000000)
#define FILE_TID_BITS \
	12 /* numbers for threads without one, of each file: files may be of one process */

static const char *text_of(const struct trace_text *text)
{
	return text->bytes ? text->bytes : "";
}

/* -- clocks ---------------------------------------------------------------------------------- */

/* Times since the Unix epoch lose their ns in doubles: all count from a day before the first. */
static void choose_epoch(struct torch *torch, int64_t unix_ns)
{
	torch->has_epoch = true;
	if (unix_ns > MAX_UPTIME_NS)
		torch->epoch_ns = (unix_ns / SECOND_NS - 86400) * SECOND_NS;
}

static bool move_time(struct torch *torch, struct trace_event *event)
{
	int64_t unix_ns;

	if (__builtin_add_overflow(event->ts_ns, torch->base_ns, &unix_ns))
		return false;
	if (!torch->has_epoch)
		choose_epoch(torch, unix_ns);
	event->ts_ns = unix_ns - torch->epoch_ns;
	if (!torch->has_time && event->ts_ns >= 0) {
		torch->has_time = true;
		torch->first_ns = event->ts_ns;
	}
	return true;
}

/* -- who ------------------------------------------------------------------------------------- */

static int find_rank(struct event_import *events, const struct trace_event *event,
                     uint32_t *ret_rank)
{
	struct torch *torch = events->own;
	struct event_rank rank = {.rank = FLEXTRACE_RANK_UNKNOWN, .file = torch->n_files};

	(void)event;
	rank.n_mapped_tids = torch->n_files << FILE_TID_BITS;
	if (torch->rank == FLEXTRACE_NONE)
		FLEXTRACE_TRY(event_add_rank(events, &rank, (struct import_stream){.instance = 0},
		                             &torch->rank));
	*ret_rank = torch->rank;
	return event_note_file(events, *ret_rank);
}

/* The process is who does what runs on a host. */
static int note_host(struct event_import *events, const struct trace_event *event,
                     enum torch_side side)
{
	struct torch *torch = events->own;
	uint64_t number;
	uint32_t pid;

	if (torch->host_pid || (side != TORCH_HOST && side != TORCH_UNKNOWN))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(event_intern_id(events, &event->pid, &pid, &number));
	if (number > INT32_MAX)
		return FLEXTRACE_OK;
	torch->host_pid = pid;
	events->last.thread =
		MAP_NONE; /* what belongs to the process is told otherwise from here on */
	torch->host_pid_number = number;
	return FLEXTRACE_OK;
}

/* Rows of others than the process have no numbers. */
static int intern_thread(struct event_import *events, const struct trace_event *event,
                         uint32_t *ret_text, uint64_t *ret_number)
{
	uint64_t pid_number;
	uint32_t pid;
	char *text;
	int code;

	FLEXTRACE_TRY(event_intern_id(events, &event->pid, &pid, &pid_number));
	FLEXTRACE_TRY(event_intern_id(events, &event->tid, ret_text, ret_number));
	if (pid == ((struct torch *)events->own)->host_pid)
		return FLEXTRACE_OK;
	if (asprintf(&text, "%s %s", string_get(events->import.strings, pid),
	             string_get(events->import.strings, *ret_text)) < 0)
		return FLEXTRACE_E_MEMORY;
	*ret_number = UINT64_MAX;
	code = string_intern(&events->import.cache, text, ret_text);
	free(text);
	return code;
}

/* -- device work ----------------------------------------------------------------------------- */

/* Reads a number of 32 bits from an argument, or else from an id. */
static bool read_number(const struct trace_value *value, uint32_t *ret)
{
	uint64_t number;

	if (!trace_value_u64(value, &number) || number > INT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

static void read_place(const struct trace_event *event, struct event_call *call)
{
	const struct trace_arg *device = trace_event_arg(event, "device");
	const struct trace_arg *stream = trace_event_arg(event, "stream");

	if (!device || !read_number(&device->value, &call->device))
		read_number(&event->pid, &call->device);
	if (!read_number(&event->tid, &call->queue) && stream)
		read_number(&stream->value, &call->queue);
}

/* A kernel of a collective belongs to a group of ranks. Its bytes are those of one rank: of what
 * all of them get together, or have together before, one share. */
static void read_collective(const struct trace_event *event, struct event_call *call)
{
	const struct trace_arg *op = trace_event_arg(event, "Collective name");
	const struct trace_arg *group = trace_event_arg(event, "Process Group Name");
	const struct trace_arg *type = trace_event_arg(event, "dtype");
	uint64_t in = 0, out = 0;

	trace_event_number(event, "In msg nelems", &in);
	trace_event_number(event, "Out msg nelems", &out);
	if (!op || op->value.kind != TRACE_TEXT || call->kind != FLEXTRACE_DEVICE_KERNEL)
		return;
	call->group = (struct trace_text){"default", strlen("default")};
	if (group && group->value.text.length)
		call->group = group->value.text;
	if (strstr(op->value.text.bytes, "reduce_scatter") && out)
		in = out;
	if (type &&
	    __builtin_mul_overflow(in, told_collective_element(&type->value.text), &call->bytes))
		call->bytes = 0;
}

/* A copy by the engine of MTIA tells its direction, and how many bytes, in arguments. */
static void read_dma_request(const struct trace_event *event, struct event_call *call)
{
	static const struct {
		const char *direction;
		uint8_t kind;
	} copies[] = {
		{"HOST_TO_DEVICE", FLEXTRACE_DEVICE_MEMCPY_HTOD},
		{"DEVICE_TO_HOST", FLEXTRACE_DEVICE_MEMCPY_DTOH},
		{"DEVICE_TO_DEVICE", FLEXTRACE_DEVICE_MEMCPY_DTOD},
	};
	const struct trace_arg *direction = trace_event_arg(event, "direction");

	if (!direction || !trace_text_is(&event->name, "dma_request"))
		return;
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
		if (!trace_text_is(&direction->value.text, copies[i].direction))
			continue;
		call->kind = copies[i].kind;
		trace_event_number(event, "size", &call->bytes);
	}
}

static void classify(const struct trace_event *event, struct event_call *call)
{
	struct torch_class class = torch_class_of(text_of(&event->cat), text_of(&event->name));

	call->kind = class.kind;
	call->is_device = class.side == TORCH_DEVICE;
	call->is_window = class.side == TORCH_WINDOW;
	if (!call->is_device)
		return;
	read_place(event, call);
	read_collective(event, call);
	if (class.kind == FLEXTRACE_DEVICE_KERNEL)
		read_dma_request(event, call);
}

static int read_call(struct event_import *events, const struct trace_event *event,
                     struct event_call *ret_call, const char **ret_fault)
{
	const char *fault, *category = text_of(&event->cat);

	*ret_fault = NULL;
	event_call_begin(event, ret_call);
	classify(event, ret_call);
	fault = event_call_attributes(event, ret_call);
	if (ret_call->is_device) {
		ret_call->has_stamps &= !fault;
		return event_read_args(events, event, category,
		                       &ret_call->type); /* with its type */
	}
	if (!ret_call->has_stamps)
		return event_read_args(events, event, category, &ret_call->args);
	*ret_fault = fault;
	block_cut_name(ret_call);
	return FLEXTRACE_OK;
}

/* Which stamps the profiler's time of an operation is about. */
static uint32_t part_of(uint8_t kind)
{
	switch (kind) {
	case FLEXTRACE_DEVICE_KERNEL:
		return FLEXTRACE_ESTIMATE_EXEC;
	case FLEXTRACE_DEVICE_MEMCPY_HTOD:
		return FLEXTRACE_ESTIMATE_DMA_IN;
	case FLEXTRACE_DEVICE_MEMCPY_DTOH:
		return FLEXTRACE_ESTIMATE_DMA_OUT;
	default:
		return FLEXTRACE_ESTIMATE_WHOLE;
	}
}

static int write_op(struct event_import *events, uint32_t rank, const struct event_call *call)
{
	struct event op = event_of_call(events, rank, RECORD_DEVICE_OP, call);
	struct event estimate = event_of_rank(events, rank, RECORD_HOST_ESTIMATE, call->end_ns);
	uint64_t job = ++events->ranks[rank].n_jobs;

	op.payload.device_op = (struct flextrace_device_op){
		.device = call->device,
		.queue = call->queue,
		.job = job,
		.correlation = call->correlation,
		.kind = call->kind,
		.name = call->full_name.bytes,
		.power = call->power,
		.bytes = call->bytes,
		.peer = call->peer,
		.group = call->group.bytes,
		.type = call->type.bytes,
	};
	estimate.payload.host_estimate = (struct flextrace_host_estimate){
		.device = call->device,
		.queue = call->queue,
		.job = job,
		.kind = part_of(call->kind),
		.begin_ns = (uint64_t)call->begin_ns,
		.end_ns = (uint64_t)call->end_ns,
		.source = "torch",
	};
	memcpy(op.payload.device_op.ts, call->ts, sizeof(call->ts));
	FLEXTRACE_TRY(event_write(events, rank, &op));
	return event_write(events, rank, &estimate);
}

static int take_device_work(struct event_import *events, uint32_t rank,
                            const struct event_call *call)
{
	struct torch_device *device;

	FLEXTRACE_TRY(torch_find_device(events->own, rank, call->device, &device));
	device->has_stamps |= call->has_stamps;
	if (call->has_stamps)
		events->ranks[rank].dialect = "aiu";
	return write_op(events, rank, call);
}

/* Remembers which row of the file a queue is, for its name. */
static int note_queue(struct event_import *events, const struct trace_event *event)
{
	struct torch *torch = events->own;
	struct event_call call = {.device = 0};
	uint32_t pid, tid, place;
	uint64_t number;
	int code;

	read_place(event, &call);
	FLEXTRACE_TRY(event_intern_id(events, &event->pid, &pid, &number));
	FLEXTRACE_TRY(event_intern_id(events, &event->tid, &tid, &number));
	code = MAP_PLACE(&torch->queue_index, map_pair(pid, tid), torch->rank, torch->queues,
	                 torch->n_queues, &place);
	if (code > 0)
		torch->queues[place] = (struct torch_queue){call.device, call.queue};
	return code < 0 ? code : FLEXTRACE_OK;
}

/* -- windows -------------------------------------------------------------------------------- */

static int write_window(struct event_import *events, const struct event_thread *thread,
                        const struct event_call *call)
{
	struct event event = event_of_thread(events, thread, RECORD_WINDOW, call);

	event.clock_ns = (uint64_t)call->begin_ns;
	event.payload.window = (struct flextrace_window){
		.edge = FLEXTRACE_EDGE_BEGIN,
		.name = call->full_name.bytes,
	};
	FLEXTRACE_TRY(event_write(events, thread->rank, &event));
	event.clock_ns = (uint64_t)call->end_ns;
	event.payload.window.edge = FLEXTRACE_EDGE_END;
	return event_write(events, thread->rank, &event);
}

static int take_call(struct event_import *events, const struct event_thread *thread,
                     const struct event_call *call, bool *ret_is_taken)
{
	*ret_is_taken = true;
	if (call->is_device)
		return take_device_work(events, thread->rank, call);
	if (call->is_window)
		return write_window(events, thread, call);
	*ret_is_taken = false;
	return FLEXTRACE_OK;
}

/* -- points ---------------------------------------------------------------------------------- */

/* Reads what was allocated or freed on a device; false: it says nothing of one. */
static bool read_memory(const struct trace_event *event, struct flextrace_memory *ret_memory)
{
	const struct trace_arg *bytes = trace_event_arg(event, "Bytes");
	const struct trace_arg *device = trace_event_arg(event, "Device Id");
	uint64_t type;
	int64_t n_bytes;

	if (!trace_text_is(&event->name, "[memory]") || !bytes || !device ||
	    !trace_event_number(event, "Device Type", &type) || !type ||
	    !trace_value_i64(&bytes->value, &n_bytes) ||
	    !read_number(&device->value, &ret_memory->device) ||
	    !trace_event_number(event, "Addr", &ret_memory->address))
		return false;
	ret_memory->op = n_bytes < 0 ? FLEXTRACE_MEMORY_FREE : FLEXTRACE_MEMORY_ALLOC;
	ret_memory->bytes = n_bytes < 0 ? -(uint64_t)n_bytes : (uint64_t)n_bytes;
	return true;
}

static int write_note(struct event_import *events, const struct trace_event *event)
{
	struct event out = {.class = RECORD_ANNOTATION};
	struct trace_text args;

	FLEXTRACE_TRY(event_read_args(events, event, text_of(&event->cat), &args));
	out.payload.annotation.key = text_of(&event->name);
	out.payload.annotation.value = args.bytes;
	return event_write_point(events, event, &out);
}

/* An instant that says more than its name keeps it as an annotation, also where it is understood.
 */
static int take_instant(struct event_import *events, const struct trace_event *event,
                        const char **ret_fault)
{
	struct event out = {.class = RECORD_MEMORY};
	struct torch *torch = events->own;
	struct torch_device *device;

	if (event->ts_ns < 0 || !event->n_args)
		return event_push_timed(events, event, ret_fault);
	FLEXTRACE_TRY(write_note(events, event));
	if (!read_memory(event, &out.payload.memory))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(torch_find_device(torch, torch->rank, out.payload.memory.device, &device));
	return event_write_point(events, event, &out);
}

/* -- metadata -------------------------------------------------------------------------------- */

/* Names stand before what they name: they are given at the end of the file. */
static int take_metadata(struct event_import *events, const struct trace_event *event)
{
	const struct trace_arg *arg = trace_event_arg(event, "name");
	struct torch *torch = events->own;
	struct torch_name name = {.pid = 0};
	uint64_t number;

	if (!event->name.bytes || !arg || arg->value.kind != TRACE_TEXT)
		return import_lose(&events->import, LOSS_UNUSED, 1);
	name.is_process = trace_text_is(&event->name, "process_name");
	if (!name.is_process && !trace_text_is(&event->name, "thread_name"))
		return import_lose(&events->import, LOSS_UNUSED, 1);
	FLEXTRACE_TRY(event_intern_id(events, &event->pid, &name.pid, &number));
	FLEXTRACE_TRY(event_intern_id(events, &event->tid, &name.tid, &number));
	FLEXTRACE_TRY(string_intern(&events->import.cache, arg->value.text.bytes, &name.name));
	return ARRAY_PUSH(torch->names, torch->n_names, name);
}

/* -- one event ------------------------------------------------------------------------------- */

/* An end of an arrow from an operation to the one of its gradient. */
static bool is_gradient(const struct trace_event *event)
{
	return (event->ph == 's' || event->ph == 'f') && event->has_ts && event->cat.bytes &&
	       trace_text_is(&event->cat, "fwdbwd");
}

/* An arrow is what leads from one row to another: derive finds these. */
static int take_arrow(struct event_import *events, struct trace_event *event,
                      const char **ret_fault)
{
	event->ph = event->ph == 's' ? 'b' : 'e';
	event->name = event->cat;
	return event_push_timed(events, event, ret_fault);
}

/* Whose words a file has. */
static void note_dialect(struct event_rank *rank, const char *category)
{
	if (*category == 'p' && strncmp(category, "privateuse1", 11) == 0)
		rank->dialect = "aiu";
	else if (*category == 'r' && strcmp(category, "runtime") == 0)
		rank->dialect = "neutral";
}

static int take_event(struct event_import *events, const struct trace_event *event,
                      const char **ret_fault)
{
	struct trace_event moved = *event;
	struct torch_class class;
	uint32_t rank;

	if (event_is_arrow(event) && !is_gradient(event))
		return import_lose(&events->import, LOSS_UNUSED, 1); /* ours are drawn anew */
	FLEXTRACE_TRY(find_rank(events, event, &rank));
	if (event->ph == 'M')
		return take_metadata(events, event);
	if (event->has_ts && (!move_time(events->own, &moved) || moved.ts_ns >= EVENT_END_NS))
		return event_reject(events, LOSS_MALFORMED, "its time is out of range", ret_fault);
	if (is_gradient(event)) {
		FLEXTRACE_TRY(note_host(events, event, TORCH_HOST)); /* it may come first */
		return take_arrow(events, &moved, ret_fault);
	}
	class = torch_class_of(text_of(&event->cat), text_of(&event->name));
	note_dialect(&events->ranks[rank], text_of(&event->cat));
	FLEXTRACE_TRY(note_host(events, event, class.side));
	if (class.side == TORCH_DEVICE)
		FLEXTRACE_TRY(note_queue(events, event));
	if (event->has_ts && (event->ph == 'i' || event->ph == 'I'))
		return take_instant(events, &moved, ret_fault);
	return event_push_timed(events, &moved, ret_fault);
}

static bool has_category(const struct trace_event *event)
{
	return event->cat.bytes && torch_knows_category(event->cat.bytes);
}

const struct event_reader torch_events = {
	.tool = "torch",
	.runtime = "torch",
	.dialect = "cuda",
	.boot = IDENTITY_TORCH_FILE,
	.knows_member = torch_knows_member,
	.knows_event = has_category,
	.begin = torch_begin_file,
	.member = torch_take_member,
	.end = torch_end_file,
	.event = take_event,
	.read_call = read_call,
	.find_rank = find_rank,
	.intern_thread = intern_thread,
	.take_call = take_call,
	.define = torch_define,
};
