/* SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format.h"
#include "model/schema.h"

#define SPOOL_BYTES   ((size_t)8 << 20)
#define MAX_UPTIME_NS ((int64_t)1 << 53) /* larger times count from the Unix epoch */
#define SECOND_NS     INT64_C(1000000000)
#define EARLIER_S     (30 * INT64_C(86400)) /* what is not in order may be before the first */

struct import *import_new(const struct import_format *format, const struct import_options *options)
{
	struct import *import = calloc(1, format->n_bytes);

	if (!import)
		return NULL;
	import->format = format;
	import->options = options;
	ledger_init(&import->ledger);
	import->strings = string_pool_new();
	import->events = spool_new(SPOOL_BYTES);
	string_cache_init(&import->cache, import->strings);
	if (import->strings && import->events)
		return import;
	import_close(import);
	return NULL;
}

void import_close(struct import *import)
{
	if (!import)
		return;
	if (import->format->release)
		import->format->release(import);
	for (uint32_t i = 0; i < import->n_streams; i++)
		text_list_release(&import->streams[i].files);
	free(import->streams);
	ledger_release(&import->ledger);
	string_cache_release(&import->cache);
	string_pool_free(import->strings);
	spool_free(import->events);
	free(import->texts.bytes);
	free(import);
}

int import_add_stream(struct import *import, const struct import_stream *stream)
{
	return ARRAY_PUSH(import->streams, import->n_streams, *stream);
}

int import_add_file(struct import *import, uint32_t stream, const char *tool, const char *path)
{
	return text_list_add(&import->streams[stream].files, "%s %s", tool, path);
}

int import_write(struct import *import, uint32_t stream, const struct event *event)
{
	return event_item_add(import->events, stream, event);
}

int import_define(struct import *import, uint32_t stream, int32_t vpid, enum record_class class,
                  const void *payload)
{
	struct event event = {.class = class, .vpid = vpid, .vtid = -1};

	memcpy(&event.payload, payload, schema_of(class)->payload_bytes);
	return import_write(import, stream, &event);
}

int import_write_placed(struct import *import, uint32_t stream, const struct event *device_op,
                        const struct import_placed *placed)
{
	const struct flextrace_device_op *op = &device_op->payload.device_op;
	struct event estimate = *device_op;

	FLEXTRACE_TRY(import_write(import, stream, device_op));
	estimate.class = RECORD_HOST_ESTIMATE;
	estimate.payload.host_estimate = (struct flextrace_host_estimate){
		.device = op->device,
		.queue = op->queue,
		.job = op->job,
		.kind = placed->part,
		.begin_ns = (uint64_t)placed->begin_ns,
		.end_ns = (uint64_t)placed->end_ns,
		.source = placed->source,
	};
	return import_write(import, stream, &estimate);
}

int import_write_scope(struct import *import, uint32_t stream, const struct event *scope,
                       const char *args)
{
	struct event event = *scope;

	event.class = RECORD_SCOPE_ARGS;
	event.payload.scope_args = (struct flextrace_scope_args){
		.correlation = scope->payload.scope.correlation, .args = args};
	if (*args)
		FLEXTRACE_TRY(import_write(import, stream, &event));
	return import_write(import, stream, scope);
}

int import_write_edges(struct import *import, uint32_t stream, const struct event *of,
                       int64_t begin_ns)
{
	bool is_window = of->class == RECORD_WINDOW;
	struct event edge = *of;

	for (uint32_t i = 0; i < 2; i++) {
		edge.clock_ns = i ? of->clock_ns : (uint64_t)begin_ns;
		if (is_window)
			edge.payload.window.edge = i ? FLEXTRACE_EDGE_END : FLEXTRACE_EDGE_BEGIN;
		else
			edge.payload.collective.phase = i ? FLEXTRACE_PHASE_EXIT
			                                  : FLEXTRACE_PHASE_ENTER;
		FLEXTRACE_TRY(import_write(import, stream, &edge));
	}
	return FLEXTRACE_OK;
}

void import_number_stream(struct import_stream *stream, uint32_t first, uint32_t second)
{
	for (int i = 0; i < 4; i++) {
		stream->uuid[8 + i] = (uint8_t)(first >> (24 - 8 * i));
		stream->uuid[12 + i] = (uint8_t)(second >> (24 - 8 * i));
	}
}

int64_t import_epoch_of(int64_t first_ns)
{
	return first_ns > MAX_UPTIME_NS ? (first_ns / SECOND_NS - EARLIER_S) * SECOND_NS : 0;
}

static int next_written(struct import *import, uint32_t *ret_stream, struct event *ret_event)
{
	struct spool_item item;
	int code = spool_next(import->events, &item);

	if (code > 0)
		FLEXTRACE_TRY(event_item_read(import->events, item.bytes, &import->texts,
		                              ret_stream, ret_event));
	return code;
}

int import_next(struct import *import, uint32_t *ret_stream, struct event *ret_event)
{
	return (import->format->next ? import->format->next : next_written)(import, ret_stream,
	                                                                    ret_event);
}
