/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row -> events. Who wrote the table placed its device work: that is what it estimates, and
 * nobody stamped it. A row of the host is a scope, or what its kind says that it was.
 */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "formats/kit/row_blocks.h"
#include "model/words/kinds.h"
#include "table_impl.h"

static struct event event_of(const struct table_row *row, enum record_class class)
{
	return (struct event){
		.class = class,
		.clock_ns = (uint64_t)row->end_ns,
		.vpid = row->pid,
		.vtid = row->tid,
		.n_origins = 1,
		.origins[0] = row->origin,
	};
}

static int write(struct table_file *table, const struct table_row *row, const struct event *event)
{
	return import_write(&table->import, row->process, event);
}

static int reject(struct table_file *table, const char *fault)
{
	return import_reject(&table->import, LOSS_MALFORMED, fault, table->csv.line);
}

/* -- arguments -------------------------------------------------------------------------------- */

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
	bool has_some = row->has_seq;
	size_t n;

	json_text_clear(&table->args);
	json_text_open(&table->args, '{');
	json_text_string(&table->args, "cat", category);
	if (row->correlation)
		json_text_number(&table->args, "correlation", row->correlation);
	if (row->has_seq)
		add_collective(table, row);
	for (uint32_t i = 0; i < table->others.n; i++) {
		const char *text = csv_reader_text(&table->csv, i);

		if (!*table->others.texts[i] || !*text)
			continue;
		json_text_string(&table->args, table->others.texts[i], text);
		has_some = true;
	}
	json_text_close(&table->args, '}');
	FLEXTRACE_TRY(json_text_get(&table->args, ret_told, &n));
	if (!has_some)
		*ret_told = table_text(table, FIELD_ARGS);
	return FLEXTRACE_OK;
}

/* -- device work ------------------------------------------------------------------------------ */

/* A field as a text that is looked up. */
static struct trace_text word_of(const char *text)
{
	return (struct trace_text){text, strlen(text)};
}

static int write_work(struct table_file *table, const struct table_row *row)
{
	uint8_t kind = row->kind_key == KIND_NONE ? ROW_EXEC : (uint8_t)row->kind_key;
	const struct import_placed placed = {row->begin_ns, row->end_ns, block_of_row(kind)->part,
	                                     "table"};
	struct event event = event_of(row, RECORD_DEVICE_OP);
	struct flextrace_device_op *op = &event.payload.device_op;
	uint64_t queue, peer, power;

	if (!table_number(table, FIELD_QUEUE, UINT32_MAX, &queue) ||
	    !table_number(table, FIELD_PEER, INT32_MAX, &peer) ||
	    !table_number(table, FIELD_POWER, UINT32_MAX, &power))
		return reject(table, "a queue, peer or power is no such number");
	*op = (struct flextrace_device_op){
		.device = row->device,
		.queue = (uint32_t)queue,
		.job = *table_text(table, FIELD_JOB) ? row->job : table->csv.line,
		.correlation = row->correlation,
		.kind = block_of_row(kind)->kind,
		.name = row->name,
		.power = (uint32_t)power,
		.bytes = row->bytes,
		.peer = *table_text(table, FIELD_PEER) ? (int32_t)peer : -1,
		.group = row->group,
	};
	FLEXTRACE_TRY(tell(table, row, kind_of_device(row->dialect, kind)->category, &op->type));
	return import_write_placed(&table->import, row->process, &event, &placed);
}

/* -- the host --------------------------------------------------------------------------------- */

static int write_edges(struct table_file *table, const struct table_row *row,
                       const struct event *event)
{
	return import_write_edges(&table->import, row->process, event, row->begin_ns);
}

static int write_collective(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(row, RECORD_COLLECTIVE);

	event.payload.collective = (struct flextrace_collective){
		.group = row->group,
		.seq = row->seq,
		.op = row->op,
		.bytes = row->bytes,
		.peers = row->peers,
	};
	return write_edges(table, row, &event);
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
	struct event event = event_of(row, RECORD_WINDOW);

	event.payload.window.name = row->name;
	return write_edges(table, row, &event);
}

static int write_async(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(row, RECORD_ASYNC_SPAN);

	event.payload.span = (struct flextrace_span){
		.begin_ns = (uint64_t)row->begin_ns,
		.end_ns = (uint64_t)row->end_ns,
		.name = row->name,
		.correlation = ++table->n_async,
	};
	return write(table, row, &event);
}

static int write_scope(struct table_file *table, const struct table_row *row, uint8_t kind)
{
	struct event event = event_of(row, RECORD_SCOPE);
	const char *args;

	event.payload.scope = (struct flextrace_scope){
		.begin_ns = (uint64_t)row->begin_ns,
		.kind = kind,
		.name = row->name,
		.correlation = row->correlation,
	};
	FLEXTRACE_TRY(tell(table, row, kind_of_host(row->dialect, kind)->category, &args));
	return import_write_scope(&table->import, row->process, &event, args);
}

static int write_interval(struct table_file *table, const struct table_row *row)
{
	uint8_t kind = row->kind_key == KIND_NONE ? FLEXTRACE_RUNTIME_USER : (uint8_t)row->kind_key;

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
	struct event event = event_of(row, RECORD_MEMORY);
	struct flextrace_memory *memory = &event.payload.memory;
	const struct trace_text op = word_of(row->op);

	*memory = (struct flextrace_memory){.device = row->device, .bytes = row->bytes};
	memory->op = word_find(memory_op_name, FLEXTRACE_MEMORY_RESIZE + 1, &op);
	if (row->device == FLEXTRACE_NONE || memory->op > FLEXTRACE_MEMORY_RESIZE ||
	    !table_number(table, FIELD_ADDRESS, UINT64_MAX, &memory->address))
		return reject(table, "memory has no device, no known op or no address");
	return write(table, row, &event);
}

/* Those of devices are derived from their rows. */
static int write_counter(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(row, RECORD_COUNTER);
	const char *text = table_text(table, FIELD_VALUE);
	char *end;

	if (row->device != FLEXTRACE_NONE)
		return import_lose(&table->import, LOSS_UNUSED, 1);
	event.payload.counter = (struct flextrace_counter){
		.name = row->name, .value = strtod(text, &end), .device = -1};
	if (end == text || *end)
		return reject(table, "a value is no number");
	return write(table, row, &event);
}

static int write_instant(struct table_file *table, const struct table_row *row)
{
	struct event event = event_of(row, RECORD_INSTANT);

	if (row->device != FLEXTRACE_NONE) /* a mark of the firmware */
		return import_lose(&table->import, LOSS_UNUSED, 1);
	if (strcmp(row->kind, instant_kind_name(RECORD_ANNOTATION)) == 0) {
		event.class = RECORD_ANNOTATION;
		event.payload.annotation = (struct flextrace_annotation){
			.key = row->name, .value = table_text(table, FIELD_VALUE)};
	} else {
		event.payload.instant = (struct flextrace_instant){.name = row->name,
		                                                   .correlation = row->correlation};
	}
	return write(table, row, &event);
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
