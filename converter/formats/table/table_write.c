/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row -> events. Who wrote the table placed its device work: that is what it estimates, and
 * nobody stamped it. A row of the host is a scope, or what its kind says that it was.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/words/kinds.h"
#include "table_impl.h"

static int32_t vpid_of(const struct table_file *table, uint32_t process)
{
	return (int32_t)table->processes[process].pid;
}

static struct event event_of(const struct table_file *table, const struct table_row *row,
                             enum record_class class)
{
	return (struct event){
		.class = class,
		.clock_ns = (uint64_t)row->end_ns,
		.vpid = vpid_of(table, row->process),
		.vtid = row->tid,
		.n_origins = 1,
		.origins[0] = row->origin,
	};
}

static int write_at(struct table_file *table, const struct table_row *row, struct event *event,
                    int64_t ns)
{
	event->clock_ns = (uint64_t)ns;
	return import_write(&table->import, row->process, event);
}

/* -- arguments -------------------------------------------------------------------------------- */

/* Columns that are none of ours. True: there is one. */
static bool add_columns(struct table_file *table)
{
	bool has_one = false;

	for (size_t i = 0; i < table->n_fields; i++) {
		const char *text = csv_reader_text(&table->csv, i);

		if (!table->is_other[i] || !*text)
			continue;
		json_text_string(&table->args, table->headings.texts[i], text);
		has_one = true;
	}
	return has_one;
}

static void add_collective(struct table_file *table, const struct table_row *row)
{
	json_text_string(&table->args, "Collective name", row->op);
	json_text_number(&table->args, "Seq", row->seq);
	if (*row->peers)
		json_text_string(&table->args, "Process Group Ranks", row->peers);
}

/* What no payload says, as an object that told.h knows; "" where there is nothing. */
static int tell(struct table_file *table, const struct table_row *row, const char *category,
                const char **ret_told)
{
	bool has_some;
	size_t n;

	json_text_clear(&table->args);
	json_text_open(&table->args, '{');
	json_text_string(&table->args, "cat", category);
	if (row->correlation)
		json_text_number(&table->args, "correlation", row->correlation);
	if (row->has_seq)
		add_collective(table, row);
	has_some = add_columns(table) || row->has_seq;
	json_text_close(&table->args, '}');
	FLEXTRACE_TRY(json_text_get(&table->args, ret_told, &n));
	if (!has_some)
		*ret_told = table_text(table, FIELD_ARGS);
	return FLEXTRACE_OK;
}

/* -- device work ------------------------------------------------------------------------------ */

struct device_kind {
	uint32_t kind; /* of the control block */
	uint32_t part; /* enum flextrace_estimate */
};

#define PART(part)                                                                       \
	{                                                                                \
		FLEXTRACE_DEVICE_PARTS(FLEXTRACE_PART_##part), FLEXTRACE_ESTIMATE_##part \
	}
#define WHOLE(kind)                                               \
	{                                                         \
		FLEXTRACE_DEVICE_##kind, FLEXTRACE_ESTIMATE_WHOLE \
	}

/* Rows of the firmware's markers are what the device was in; what has no kind is a kernel. */
static struct device_kind device_kind_of(const char *label)
{
	static const struct device_kind kinds[DEVICE_ROW_KIND_COUNT] = {
		[ROW_DMA_IN] = PART(DMA_IN),
		[ROW_PREP] = PART(PREP),
		[ROW_EXEC] = {FLEXTRACE_DEVICE_KERNEL, FLEXTRACE_ESTIMATE_EXEC},
		[ROW_DMA_OUT] = PART(DMA_OUT),
		[ROW_MEMCPY_HTOD] = WHOLE(MEMCPY_HTOD),
		[ROW_MEMCPY_DTOH] = WHOLE(MEMCPY_DTOH),
		[ROW_MEMCPY_DTOD] = WHOLE(MEMCPY_DTOD),
		[ROW_MEMCPY_PTOP] = WHOLE(MEMCPY_PTOP),
		[ROW_MEMSET] = WHOLE(MEMSET),
		[ROW_RELEASE] = WHOLE(RELEASE),
		[ROW_STATE] = WHOLE(STATE),
		[ROW_FIRMWARE] = WHOLE(STATE),
		[ROW_KERNEL] = WHOLE(STATE),
		[ROW_ZONE] = WHOLE(STATE),
	};

	for (uint8_t i = 0; i < DEVICE_ROW_KIND_COUNT; i++) {
		if (strcmp(kind_of_device(i)->label, label) == 0)
			return kinds[i];
	}
	return kinds[ROW_EXEC];
}

static const char *category_of(const struct device_kind *kind)
{
	switch (kind->kind) {
	case FLEXTRACE_DEVICE_STATE:
		return "gpu_user_annotation";
	case FLEXTRACE_DEVICE_MEMSET:
		return "gpu_memset";
	case FLEXTRACE_DEVICE_KERNEL:
		return "kernel";
	default:
		return "gpu_memcpy";
	}
}

static int write_estimate(struct table_file *table, const struct table_row *row,
                          const struct flextrace_device_op *op, uint32_t part)
{
	struct event event = event_of(table, row, RECORD_HOST_ESTIMATE);

	event.payload.host_estimate = (struct flextrace_host_estimate){
		.device = op->device,
		.queue = op->queue,
		.job = op->job,
		.kind = part,
		.begin_ns = (uint64_t)row->begin_ns,
		.end_ns = (uint64_t)row->end_ns,
		.source = "table",
	};
	return import_write(&table->import, row->process, &event);
}

static int write_work(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(table, row, RECORD_DEVICE_OP);
	struct flextrace_device_op *op = &event.payload.device_op;
	struct device_kind kind = device_kind_of(row->kind);
	uint64_t queue = 0, peer = 0, power = 0;

	if (!table_number(table, FIELD_QUEUE, UINT32_MAX, &queue) ||
	    !table_number(table, FIELD_PEER, INT32_MAX, &peer) ||
	    !table_number(table, FIELD_POWER, UINT32_MAX, &power))
		return import_reject(&table->import, LOSS_MALFORMED,
		                     "a queue, peer or power is no such number", table->csv.line);
	*op = (struct flextrace_device_op){
		.device = row->device,
		.queue = (uint32_t)queue,
		.job = *table_text(table, FIELD_JOB) ? row->job : table->csv.line,
		.correlation = row->correlation,
		.kind = kind.kind,
		.name = row->name,
		.power = (uint32_t)power,
		.bytes = row->bytes,
		.peer = *table_text(table, FIELD_PEER) ? (int32_t)peer : -1,
		.group = row->group,
	};
	FLEXTRACE_TRY(tell(table, row, category_of(&kind), &op->type));
	FLEXTRACE_TRY(import_write(&table->import, row->process, &event));
	return write_estimate(table, row, op, kind.part);
}

/* -- the host --------------------------------------------------------------------------------- */

/* FLEXTRACE_RUNTIME_USER, if there is none of that name. */
static uint8_t host_kind_of(const char *label)
{
	for (int i = 0; i <= HOST_ASYNC; i++) {
		if (strcmp(kind_of_host((uint8_t)i)->label, label) == 0)
			return (uint8_t)i;
	}
	return FLEXTRACE_RUNTIME_USER;
}

static int write_collective(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(table, row, RECORD_COLLECTIVE);

	event.payload.collective = (struct flextrace_collective){
		.group = row->group,
		.seq = row->seq,
		.op = row->op,
		.bytes = row->bytes,
		.peers = row->peers,
		.phase = FLEXTRACE_PHASE_EXIT,
	};
	FLEXTRACE_TRY(write_at(table, row, &event, row->end_ns));
	event.payload.collective.phase = FLEXTRACE_PHASE_ENTER;
	return write_at(table, row, &event, row->begin_ns);
}

static uint64_t whole_of(const cJSON *told, const char *key)
{
	double value = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(told, key));

	return value >= 0 && value < 0x1p63 ? (uint64_t)value : 0;
}

static const char *text_of(const cJSON *told, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(told, key));

	return text ? text : "";
}

/* What host.csv says of a collective stands in its arguments. */
static int write_told_collective(struct table_file *table, const struct table_row *row)
{
	cJSON *told = cJSON_Parse(table_text(table, FIELD_ARGS));
	struct table_row of = *row;
	int code;

	of.group = text_of(told, "group");
	of.seq = whole_of(told, "seq");
	of.bytes = whole_of(told, "bytes");
	of.peers = text_of(told, "peers");
	code = write_collective(table, &of);
	cJSON_Delete(told);
	return code;
}

static int write_window(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(table, row, RECORD_WINDOW);

	event.payload.window = (struct flextrace_window){FLEXTRACE_EDGE_BEGIN, row->name};
	FLEXTRACE_TRY(write_at(table, row, &event, row->begin_ns));
	event.payload.window.edge = FLEXTRACE_EDGE_END;
	return write_at(table, row, &event, row->end_ns);
}

static int write_async(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(table, row, RECORD_ASYNC_BEGIN);

	event.payload.edge = (struct flextrace_span_edge){.name = row->name,
	                                                  .correlation = ++table->n_async};
	FLEXTRACE_TRY(write_at(table, row, &event, row->begin_ns));
	event.class = RECORD_ASYNC_END;
	return write_at(table, row, &event, row->end_ns);
}

static int write_scope(struct table_file *table, const struct table_row *row, uint8_t kind)
{
	struct event event = event_of(table, row, RECORD_SCOPE_ARGS);

	event.payload.scope_args.correlation = row->correlation;
	FLEXTRACE_TRY(
		tell(table, row, kind_of_host(kind)->category, &event.payload.scope_args.args));
	if (*event.payload.scope_args.args)
		FLEXTRACE_TRY(import_write(&table->import, row->process, &event));
	event.class = RECORD_SCOPE;
	event.payload.scope = (struct flextrace_scope){
		.begin_ns = (uint64_t)row->begin_ns,
		.kind = kind,
		.name = row->name,
		.correlation = row->correlation,
	};
	return import_write(&table->import, row->process, &event);
}

static int write_interval(struct table_file *table, const struct table_row *row)
{
	uint8_t kind = host_kind_of(row->kind);

	if (row->device != FLEXTRACE_NONE)
		return write_work(table, row);
	if (row->has_seq)
		return write_collective(table, row);
	switch (kind) {
	case HOST_COLLECTIVE:
		return write_told_collective(table, row);
	case HOST_WINDOW:
		return write_window(table, row);
	case HOST_ASYNC:
		return write_async(table, row);
	default:
		return write_scope(table, row, kind);
	}
}

/* -- points ----------------------------------------------------------------------------------- */

static int write_memory(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(table, row, RECORD_MEMORY);
	struct flextrace_memory *memory = &event.payload.memory;

	*memory = (struct flextrace_memory){.device = row->device, .bytes = row->bytes};
	while (memory->op <= FLEXTRACE_MEMORY_RESIZE &&
	       strcmp(memory_op_name((uint8_t)memory->op), row->op) != 0)
		memory->op++;
	if (row->device == FLEXTRACE_NONE || memory->op > FLEXTRACE_MEMORY_RESIZE ||
	    !table_number(table, FIELD_ADDRESS, UINT64_MAX, &memory->address))
		return import_reject(&table->import, LOSS_MALFORMED,
		                     "memory has no device, no known op or no address",
		                     table->csv.line);
	return import_write(&table->import, row->process, &event);
}

/* Those of devices are derived from their rows. */
static int write_counter(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(table, row, RECORD_COUNTER);
	const char *text = table_text(table, FIELD_VALUE);
	char *end;

	if (row->device != FLEXTRACE_NONE)
		return import_lose(&table->import, LOSS_UNUSED, 1);
	event.payload.counter = (struct flextrace_counter){row->name, strtod(text, &end)};
	if (end == text || *end)
		return import_reject(&table->import, LOSS_MALFORMED, "a value is no number",
		                     table->csv.line);
	return import_write(&table->import, row->process, &event);
}

static int write_instant(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(table, row, RECORD_INSTANT);

	if (row->device != FLEXTRACE_NONE) /* a mark of the firmware */
		return import_lose(&table->import, LOSS_UNUSED, 1);
	if (strcmp(row->kind, instant_kind_name(RECORD_ANNOTATION)) == 0) {
		event.class = RECORD_ANNOTATION;
		event.payload.annotation =
			(struct flextrace_annotation){row->name, table_text(table, FIELD_VALUE)};
	} else {
		event.payload.instant = (struct flextrace_instant){.name = row->name,
		                                                   .correlation = row->correlation};
	}
	return import_write(&table->import, row->process, &event);
}

int table_write_row(struct table_file *table, const struct table_row *row)
{
	if (!table_has(table, FIELD_TIME))
		return write_interval(table, row);
	if (table_has(table, FIELD_ADDRESS))
		return write_memory(table, row);
	if (table_has(table, FIELD_VALUE) && !table_has(table, FIELD_KIND))
		return write_counter(table, row);
	return write_instant(table, row);
}

/* -- definitions ------------------------------------------------------------------------------ */

/* What somebody placed counts on one clock; else each rank has one of its own. */
static int define_process(struct table_file *table, uint32_t index)
{
	const struct table_process *of = &table->processes[index];
	const char *host = string_get(table->import.strings, of->host);
	char boot_id[64] = "imported table";
	const struct flextrace_process process = {
		.rank = of->rank,
		.pid = (uint32_t)vpid_of(table, index),
		.boot_id = boot_id,
		.host = *host ? host : IMPORT_HOST,
		.program = "table",
		.runtime = "table",
	};

	if (!table->import.streams[index].is_given)
		snprintf(boot_id, sizeof(boot_id), "imported table %u", index);
	return import_define(&table->import, index, vpid_of(table, index), RECORD_PROCESS,
	                     &process);
}

static int define_thread(struct table_file *table, const struct table_thread *thread)
{
	struct event event = {
		.class = RECORD_THREAD_NAME,
		.vpid = vpid_of(table, thread->process),
		.vtid = thread->tid,
		.payload.name = {.id = (uint32_t)thread->tid,
	                         .name = string_get(table->import.strings, thread->name)},
	};

	return thread->name ? import_write(&table->import, thread->process, &event) : FLEXTRACE_OK;
}

int table_define(struct table_file *table)
{
	for (uint32_t i = 0; i < table->n_processes; i++)
		FLEXTRACE_TRY(define_process(table, i));
	for (uint32_t i = 0; i < table->n_devices; i++) {
		const struct flextrace_device device = {.device = table->devices[i].number};

		FLEXTRACE_TRY(import_define(&table->import, table->devices[i].process,
		                            vpid_of(table, table->devices[i].process),
		                            RECORD_DEVICE, &device));
	}
	for (uint32_t i = 0; i < table->n_threads; i++)
		FLEXTRACE_TRY(define_thread(table, &table->threads[i]));
	return FLEXTRACE_OK;
}
