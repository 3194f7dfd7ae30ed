/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of processes and threads become ranks and threads. Thread ids of more than 30 bits get
 * numbers behind those, in order of appearance, and keep their text as a name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "event_reader.h"

/* -- ids ------------------------------------------------------------------------------------- */

int event_intern_id(struct event_import *events, const struct trace_value *id, uint32_t *ret_text,
                    uint64_t *ret_number)
{
	char text[24];

	if (id->kind == TRACE_ABSENT || trace_value_u64(id, ret_number)) {
		*ret_number = id->kind == TRACE_ABSENT ? 0 : *ret_number;
		snprintf(text, sizeof(text), "%" PRIu64, *ret_number);
		return string_intern(&events->import.cache, text, ret_text);
	}
	*ret_number = UINT64_MAX;
	return string_intern(&events->import.cache, id->text.bytes, ret_text);
}

/* Traces of ranks are in order of their numbers, those of other texts behind them. */
void event_make_uuid(uint8_t uuid[16], const char *text, uint64_t number)
{
	static const uint8_t tag[4] = {'f', 'l', 'e', 'x'};

	memcpy(uuid, tag, sizeof(tag));
	if (number > INT32_MAX) {
		uuid[4] = 1;
		number = hash_bytes(HASH_NO_BYTES, text, strlen(text));
	}
	for (int i = 0; i < 8; i++)
		uuid[8 + i] = (uint8_t)(number >> (56 - 8 * i));
}

int event_add_rank(struct event_import *events, const struct event_rank *rank,
                   struct import_stream stream, uint32_t *ret_rank)
{
	struct event_rank added = *rank;

	added.reader = events->reader;
	added.own = events->own;
	added.boot = events->reader->boot;
	added.dialect = events->reader->dialect;
	if (events->filter && events->filter->add_rank)
		events->filter->add_rank(events->filter, &added, &stream);
	FLEXTRACE_TRY(import_add_stream(&events->import, &stream));
	*ret_rank = events->n_ranks;
	return ARRAY_PUSH(events->ranks, events->n_ranks, added);
}

int event_note_file(struct event_import *events, uint32_t index)
{
	struct event_rank *rank = &events->ranks[index];

	if (rank->last_file == events->n_files)
		return FLEXTRACE_OK;
	rank->last_file = events->n_files;
	events->is_file_used = true;
	return import_add_file(&events->import, index, events->reader->tool, events->path);
}

struct origin event_origin(const struct event_import *events, uint32_t rank, uint32_t record)
{
	return (struct origin){events->import.streams[rank].files.n - 1, record, false};
}

static int add_thread(struct event_import *events, uint32_t rank, uint32_t tid, uint64_t number)
{
	const struct event_thread thread = {
		.rank = rank,
		.tid = tid,
		.vtid = number < EVENT_MAPPED_ID
	                        ? (int32_t)number
	                        : EVENT_MAPPED_ID + (int32_t)events->ranks[rank].n_mapped_tids++,
	};

	FLEXTRACE_TRY(ARRAY_PUSH(events->threads, events->n_threads, thread));
	return map_put(&events->thread_index, rank, tid, events->n_threads - 1);
}

/* Whether an id is what `last` was; its text is kept in `bytes`. */
static bool is_last(const struct trace_value *id, const struct trace_value *last, const char *bytes)
{
	return id->kind == last->kind && id->text.length == last->text.length &&
	       (id->kind == TRACE_ABSENT || memcmp(id->text.bytes, bytes, id->text.length) == 0);
}

static bool keep_last(const struct trace_value *id, struct trace_value *last, char bytes[24])
{
	*last = *id;
	if (id->kind == TRACE_ABSENT)
		return true;
	if (id->text.length > 24)
		return false;
	memcpy(bytes, id->text.bytes, id->text.length);
	return true;
}

static int look_up_thread(struct event_import *events, const struct trace_event *event,
                          uint32_t *ret_thread)
{
	const struct event_reader *reader = events->reader;
	uint32_t rank, tid;
	uint64_t number;

	FLEXTRACE_TRY(reader->find_rank(events, event, &rank));
	FLEXTRACE_TRY(reader->intern_thread ? reader->intern_thread(events, event, &tid, &number)
	                                    : event_intern_id(events, &event->tid, &tid, &number));
	*ret_thread = map_find(&events->thread_index, rank, tid);
	if (*ret_thread != MAP_NONE)
		return FLEXTRACE_OK;
	*ret_thread = events->n_threads;
	return add_thread(events, rank, tid, number);
}

int event_find_thread(struct event_import *events, const struct trace_event *event,
                      uint32_t *ret_thread)
{
	*ret_thread = events->last.thread;
	if (*ret_thread != MAP_NONE &&
	    is_last(&event->pid, &events->last.pid, events->last.ids[0]) &&
	    is_last(&event->tid, &events->last.tid, events->last.ids[1]))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(look_up_thread(events, event, ret_thread));
	events->last.thread = MAP_NONE;
	if (keep_last(&event->pid, &events->last.pid, events->last.ids[0]) &&
	    keep_last(&event->tid, &events->last.tid, events->last.ids[1]))
		events->last.thread = *ret_thread;
	return FLEXTRACE_OK;
}

/* -- what goes out --------------------------------------------------------------------------- */

struct event event_of_rank(const struct event_import *events, uint32_t rank,
                           enum record_class class, int64_t clock_ns)
{
	struct event event = {.class = class, .clock_ns = (uint64_t)clock_ns};

	event.vpid = events->ranks[rank].vpid;
	event.vtid = -1;
	return event;
}

struct event event_of_thread(const struct event_import *events, const struct event_thread *thread,
                             enum record_class class, const struct event_call *call)
{
	struct event event = event_of_call(events, thread->rank, class, call);

	event.vtid = thread->vtid;
	return event;
}

struct event event_of_call(const struct event_import *events, uint32_t rank,
                           enum record_class class, const struct event_call *call)
{
	struct event event = event_of_rank(events, rank, class, call->end_ns);

	event.n_origins = 1;
	event.origins[0] = event_origin(events, rank, call->record);
	return event;
}

int event_write(struct event_import *events, uint32_t rank, const struct event *event)
{
	if (events->is_quiet)
		return FLEXTRACE_OK;
	if ((int64_t)event->clock_ns > events->ranks[rank].last_ns)
		events->ranks[rank].last_ns = (int64_t)event->clock_ns;
	return import_write(&events->import, rank, event);
}

int event_define(struct event_import *events, uint32_t rank, enum record_class class,
                 const void *payload)
{
	if (events->is_quiet)
		return FLEXTRACE_OK;
	return import_define(&events->import, rank, events->ranks[rank].vpid, class, payload);
}

/* Nobody tells which hosts the ranks ran on: each has a clock of its own. */
static int define_process(struct event_import *events, uint32_t rank)
{
	const struct event_rank *of = &events->ranks[rank];
	char boot_id[96];
	const struct flextrace_process process = {
		.rank = of->rank,
		.world_size = of->world_size,
		.pid = of->os_pid,
		.boot_id = boot_id,
		.host = IMPORT_HOST,
		.program = string_get(events->import.strings, of->program),
		.runtime = of->reader->runtime,
		.dialect = of->pair ? "aiu" : of->dialect,
	};

	snprintf(boot_id, sizeof(boot_id), "%s%.40s", of->boot,
	         string_get(events->import.strings, of->pid));
	return event_define(events, rank, RECORD_PROCESS, &process);
}

static int define_thread(struct event_import *events, const struct event_thread *thread)
{
	struct event event = event_of_rank(events, thread->rank, RECORD_THREAD_NAME, 0);
	const char *name = string_get(events->import.strings,
	                              thread->name ? thread->name : thread->tid);

	if (!thread->name && thread->vtid < EVENT_MAPPED_ID)
		return FLEXTRACE_OK;
	event.vtid = thread->vtid;
	event.payload.name = (struct flextrace_name){.id = (uint32_t)thread->vtid, .name = name};
	return event_write(events, thread->rank, &event);
}

int event_define_all(struct event_import *events)
{
	for (uint32_t i = 0; i < events->n_ranks; i++) {
		if (events->ranks[i].is_other_defined)
			continue;
		FLEXTRACE_TRY(define_process(events, i));
		FLEXTRACE_TRY(events->ranks[i].reader->define(events, i));
	}
	for (uint32_t i = 0; i < events->n_threads; i++)
		FLEXTRACE_TRY(define_thread(events, &events->threads[i]));
	return FLEXTRACE_OK;
}
