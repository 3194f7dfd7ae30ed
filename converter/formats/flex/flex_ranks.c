/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pid that is a small number is a rank; of others only the text is known. Thread ids of more
 * than 30 bits get numbers behind those, in order of appearance, and keep their text as a name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "flex_impl.h"

/* -- ids ------------------------------------------------------------------------------------- */

int flex_intern_id(struct flex *flex, const struct trace_value *id, uint32_t *ret_text,
                   uint64_t *ret_number)
{
	char text[24];

	if (id->kind == TRACE_ABSENT || trace_value_u64(id, ret_number)) {
		*ret_number = id->kind == TRACE_ABSENT ? 0 : *ret_number;
		snprintf(text, sizeof(text), "%" PRIu64, *ret_number);
		return string_intern(&flex->import.cache, text, ret_text);
	}
	*ret_number = UINT64_MAX;
	return string_intern(&flex->import.cache, id->text.bytes, ret_text);
}

/* Traces of ranks are in order of their numbers, those of other texts behind them. */
void flex_make_uuid(uint8_t uuid[16], const char *text, uint64_t number)
{
	static const uint8_t tag[4] = {'f', 'l', 'e', 'x'};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	memcpy(uuid, tag, sizeof(tag));
	if (number > INT32_MAX) {
		uuid[4] = 1;
		for (; *text; text++)
			hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
		number = hash;
	}
	for (int i = 0; i < 8; i++)
		uuid[8 + i] = (uint8_t)(number >> (56 - 8 * i));
}

int flex_add_rank(struct flex *flex, const struct flex_rank *rank, struct import_stream stream,
                  uint32_t *ret_rank)
{
	struct flex_rank added = *rank;

	added.reader = flex->reader;
	added.own = flex->own;
	added.boot = flex->reader->boot;
	if (flex->filter)
		flex->filter->add_rank(flex->filter, &added, &stream);
	FLEXTRACE_TRY(ARRAY_RESERVE(flex->ranks, flex->n_ranks_allocated, flex->n_ranks + 1));
	FLEXTRACE_TRY(import_add_stream(&flex->import, &stream));
	*ret_rank = flex->n_ranks++;
	flex->ranks[*ret_rank] = added;
	return FLEXTRACE_OK;
}

static int add_rank(struct flex *flex, uint32_t pid, uint64_t number, uint32_t *ret_rank)
{
	struct flex_rank rank = {.pid = pid, .rank = FLEXTRACE_RANK_UNKNOWN};
	struct import_stream stream = {.instance = 0};

	if (number < FLEX_MAPPED_ID)
		rank.rank = (int32_t)number;
	else
		rank.program = pid;
	rank.vpid = number < FLEX_MAPPED_ID ? (int32_t)number
	                                    : FLEX_MAPPED_ID + (int32_t)flex->n_ranks;
	rank.os_pid = (uint32_t)rank.vpid;
	flex_make_uuid(stream.uuid, string_get(flex->import.strings, pid), number);
	FLEXTRACE_TRY(flex_add_rank(flex, &rank, stream, ret_rank));
	return map_put(&flex->rank_index, pid, 0, *ret_rank);
}

int flex_note_file(struct flex *flex, uint32_t index)
{
	struct flex_rank *rank = &flex->ranks[index];

	if (rank->last_file == flex->n_files)
		return FLEXTRACE_OK;
	rank->last_file = flex->n_files;
	flex->is_file_used = true;
	return import_add_file(&flex->import, index, flex->reader->tool, flex->path);
}

struct origin flex_origin(const struct flex *flex, uint32_t rank, uint32_t record)
{
	return (struct origin){flex->import.streams[rank].files.n - 1, record, false};
}

int flex_find_own_rank(struct flex *flex, const struct trace_event *event, uint32_t *ret_rank)
{
	uint64_t number;
	uint32_t pid;

	FLEXTRACE_TRY(flex_intern_id(flex, &event->pid, &pid, &number));
	*ret_rank = map_find(&flex->rank_index, pid, 0);
	if (*ret_rank == MAP_NONE)
		FLEXTRACE_TRY(add_rank(flex, pid, number, ret_rank));
	return flex_note_file(flex, *ret_rank);
}

int flex_intern_own_thread(struct flex *flex, const struct trace_event *event, uint32_t *ret_text,
                           uint64_t *ret_number)
{
	return flex_intern_id(flex, &event->tid, ret_text, ret_number);
}

static int add_thread(struct flex *flex, uint32_t rank, uint32_t tid, uint64_t number)
{
	struct flex_thread *thread;

	FLEXTRACE_TRY(ARRAY_RESERVE(flex->threads, flex->n_threads_allocated, flex->n_threads + 1));
	thread = &flex->threads[flex->n_threads];
	*thread = (struct flex_thread){.rank = rank, .tid = tid};
	thread->vtid = number < FLEX_MAPPED_ID
	                       ? (int32_t)number
	                       : FLEX_MAPPED_ID + (int32_t)flex->ranks[rank].n_mapped_tids++;
	return map_put(&flex->thread_index, rank, tid, flex->n_threads++);
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

static int look_up_thread(struct flex *flex, const struct trace_event *event, uint32_t *ret_thread)
{
	uint32_t rank, tid;
	uint64_t number;

	FLEXTRACE_TRY(flex_find_rank(flex, event, &rank));
	FLEXTRACE_TRY(flex->reader->intern_thread(flex, event, &tid, &number));
	*ret_thread = map_find(&flex->thread_index, rank, tid);
	if (*ret_thread != MAP_NONE)
		return FLEXTRACE_OK;
	*ret_thread = flex->n_threads;
	return add_thread(flex, rank, tid, number);
}

int flex_find_thread(struct flex *flex, const struct trace_event *event, uint32_t *ret_thread)
{
	*ret_thread = flex->last_thread;
	if (*ret_thread != MAP_NONE && is_last(&event->pid, &flex->last_pid, flex->last_ids[0]) &&
	    is_last(&event->tid, &flex->last_tid, flex->last_ids[1]))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(look_up_thread(flex, event, ret_thread));
	flex->last_thread = MAP_NONE;
	if (keep_last(&event->pid, &flex->last_pid, flex->last_ids[0]) &&
	    keep_last(&event->tid, &flex->last_tid, flex->last_ids[1]))
		flex->last_thread = *ret_thread;
	return FLEXTRACE_OK;
}

/* -- what goes out --------------------------------------------------------------------------- */

struct event flex_event(const struct flex *flex, uint32_t rank, enum record_class class,
                        int64_t clock_ns)
{
	struct event event = {.class = class, .clock_ns = (uint64_t)clock_ns};

	event.vpid = flex->ranks[rank].vpid;
	event.vtid = -1;
	return event;
}

struct event flex_event_of(const struct flex *flex, uint32_t rank, enum record_class class,
                           const struct flex_call *call)
{
	struct event event = flex_event(flex, rank, class, call->end_ns);

	event.n_origins = 1;
	event.origins[0] = flex_origin(flex, rank, call->record);
	return event;
}

int flex_write(struct flex *flex, uint32_t rank, const struct event *event)
{
	if (flex->is_quiet)
		return FLEXTRACE_OK;
	if ((int64_t)event->clock_ns > flex->ranks[rank].last_ns)
		flex->ranks[rank].last_ns = (int64_t)event->clock_ns;
	return import_write(&flex->import, rank, event);
}

/* Nobody tells which hosts the ranks ran on: each has a clock of its own. */
static int define_process(struct flex *flex, uint32_t rank)
{
	const struct flex_rank *of = &flex->ranks[rank];
	struct event event = flex_event(flex, rank, RECORD_PROCESS, 0);
	char boot_id[96];

	snprintf(boot_id, sizeof(boot_id), "%s%.40s", of->boot,
	         string_get(flex->import.strings, of->pid));
	event.payload.process = (struct flextrace_process){
		.rank = of->rank,
		.world_size = of->world_size,
		.pid = of->os_pid,
		.boot_id = boot_id,
		.host = IMPORT_HOST,
		.program = string_get(flex->import.strings, of->program),
		.runtime = of->reader->runtime,
	};
	return flex_write(flex, rank, &event);
}

int flex_define_own(struct flex *flex, uint32_t rank)
{
	struct event device = flex_event(flex, rank, RECORD_DEVICE, 0);
	struct event domain = flex_event(flex, rank, RECORD_CLOCK_DOMAIN, 0);

	if (!flex->ranks[rank].has_device)
		return FLEXTRACE_OK;
	device.payload.device = (struct flextrace_device){.name = "AIU"};
	domain.payload.clock_domain = (struct flextrace_clock_domain){.counter_bits = 32};
	FLEXTRACE_TRY(flex_write(flex, rank, &device));
	return flex_write(flex, rank, &domain);
}

static int define_thread(struct flex *flex, const struct flex_thread *thread)
{
	struct event event = flex_event(flex, thread->rank, RECORD_THREAD_NAME, 0);
	const char *name = string_get(flex->import.strings,
	                              thread->name ? thread->name : thread->tid);

	if (!thread->name && thread->vtid < FLEX_MAPPED_ID)
		return FLEXTRACE_OK;
	event.vtid = thread->vtid;
	event.payload.name = (struct flextrace_name){.id = (uint32_t)thread->vtid, .name = name};
	return flex_write(flex, thread->rank, &event);
}

int flex_define(struct flex *flex)
{
	for (uint32_t i = 0; i < flex->n_ranks; i++) {
		if (flex->ranks[i].is_other_defined)
			continue;
		FLEXTRACE_TRY(define_process(flex, i));
		FLEXTRACE_TRY(flex->ranks[i].reader->define(flex, i));
	}
	for (uint32_t i = 0; i < flex->n_threads; i++)
		FLEXTRACE_TRY(define_thread(flex, &flex->threads[i]));
	return FLEXTRACE_OK;
}
