/* SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format.h"
#include "model/schema.h"

#define SPOOL_BYTES ((size_t)8 << 20)

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
