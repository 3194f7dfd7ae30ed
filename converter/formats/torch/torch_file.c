/* SPDX-License-Identifier: Apache-2.0 */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "torch_impl.h"

/* -- files ----------------------------------------------------------------------------------- */

struct torch *torch_new(const char *ranks)
{
	struct torch *torch = calloc(1, sizeof(*torch));

	if (torch)
		torch->ranks = ranks;
	return torch;
}

int64_t torch_epoch_ns(const struct torch *torch)
{
	return torch->epoch_ns;
}

int torch_begin_file(struct event_import *events)
{
	struct torch *torch = events->own;

	torch->rank = FLEXTRACE_NONE;
	torch->n_files++;
	torch->host_pid = 0;
	torch->host_pid_number = 0;
	torch->base_ns = torch->late_base_ns = torch->first_ns = 0;
	torch->has_time = false;
	torch->told_rank = FLEXTRACE_RANK_UNKNOWN;
	torch->world_size = 0;
	torch->n_unread_members = 0;
	torch->n_names = torch->n_queues = torch->n_notes = 0;
	free(torch->properties);
	torch->properties = NULL;
	return FLEXTRACE_OK;
}

void torch_free(struct torch *torch)
{
	if (!torch)
		return;
	free(torch->devices);
	map_release(&torch->device_index);
	map_release(&torch->queue_index);
	free(torch->names);
	free(torch->queues);
	free(torch->notes);
	free(torch->properties);
	free(torch);
}

/* -- devices --------------------------------------------------------------------------------- */

int torch_find_device(struct torch *torch, uint32_t rank, uint32_t device,
                      struct torch_device **ret_device)
{
	uint32_t place;
	int code = MAP_PLACE(&torch->device_index, rank, device, torch->devices, torch->n_devices,
	                     &place);

	FLEXTRACE_TRY(code);
	*ret_device = &torch->devices[place];
	if (code)
		**ret_device = (struct torch_device){.rank = rank, .device = device};
	return FLEXTRACE_OK;
}

int torch_add_device(struct torch *torch, uint32_t rank, uint32_t number)
{
	struct torch_device *device;

	FLEXTRACE_TRY(torch_find_device(torch, rank, number, &device));
	device->has_stamps = true;
	return FLEXTRACE_OK;
}

static uint64_t number_of(const cJSON *object, const char *key)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble < 0x1p53
	               ? (uint64_t)value->valuedouble
	               : 0;
}

/* A description of a device that did nothing is of no use here: it stands in the annotation. */
static int describe_device(struct event_import *events, const cJSON *properties)
{
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(properties, "name");
	struct torch *torch = events->own;
	uint32_t place = map_find(&torch->device_index, torch->rank, number_of(properties, "id"));
	struct torch_device *device;

	if (place == MAP_NONE)
		return FLEXTRACE_OK;
	device = &torch->devices[place];
	device->n_cores = (uint32_t)(number_of(properties, "numSms") & UINT32_MAX);
	device->core_hz = number_of(properties, "coreHz");
	return string_intern(&events->import.cache, cJSON_IsString(name) ? name->valuestring : "",
	                     &device->name);
}

static int describe_devices(struct event_import *events)
{
	struct torch *torch = events->own;
	cJSON *list = torch->properties ? cJSON_Parse(torch->properties) : NULL;
	const cJSON *properties;
	int code = FLEXTRACE_OK;

	torch->n_unread_members += torch->properties && !list;
	cJSON_ArrayForEach(properties, list)
	{
		if (code == FLEXTRACE_OK)
			code = describe_device(events, properties);
	}
	cJSON_Delete(list);
	return code;
}

static int define_device(struct event_import *events, const struct torch_device *device)
{
	const struct flextrace_clock_domain domain = {.device = device->device, .counter_bits = 32};
	const struct flextrace_device described = {
		.device = device->device,
		.name = string_get(events->import.strings, device->name),
		.n_cores = device->n_cores,
		.core_hz = device->core_hz,
	};

	FLEXTRACE_TRY(event_define(events, device->rank, RECORD_DEVICE, &described));
	return device->has_stamps ? event_define(events, device->rank, RECORD_CLOCK_DOMAIN, &domain)
	                          : FLEXTRACE_OK;
}

int torch_define(struct event_import *events, uint32_t rank)
{
	const struct torch *torch = events->ranks[rank].own;

	for (uint32_t i = 0; i < torch->n_devices; i++) {
		if (torch->devices[i].rank == rank)
			FLEXTRACE_TRY(define_device(events, &torch->devices[i]));
	}
	return FLEXTRACE_OK;
}

/* -- members --------------------------------------------------------------------------------- */

static void read_distributed(struct torch *torch, const char *text)
{
	cJSON *info = cJSON_Parse(text);
	const cJSON *rank = cJSON_GetObjectItemCaseSensitive(info, "rank");

	if (cJSON_IsNumber(rank) && rank->valuedouble >= 0 && rank->valuedouble < INT32_MAX)
		torch->told_rank = rank->valueint;
	torch->world_size = (int32_t)(number_of(info, "world_size") & INT32_MAX);
	torch->n_unread_members += !info;
	cJSON_Delete(info);
}

static void read_base(struct torch *torch, const struct trace_value *value)
{
	int64_t base_ns;

	if (!trace_value_i64(value, &base_ns) || base_ns < 0 || base_ns >= (int64_t)1 << 62)
		return;
	if (torch->has_time)
		torch->late_base_ns = base_ns;
	else
		torch->base_ns = base_ns;
}

static int keep_note(struct event_import *events, const struct trace_text *key,
                     const struct trace_value *value)
{
	struct torch *torch = events->own;
	struct torch_note note;

	FLEXTRACE_TRY(string_intern(&events->import.cache, key->bytes, &note.key));
	FLEXTRACE_TRY(string_intern(&events->import.cache, value->text.bytes, &note.value));
	return ARRAY_PUSH(torch->notes, torch->n_notes, note);
}

static bool is_one_of(const struct trace_text *key, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (trace_text_is(key, names[i]))
			return true;
	}
	return false;
}

bool torch_knows_member(const struct trace_text *key)
{
	static const char *const names[] = {"schemaVersion", "deviceProperties", "distributedInfo",
	                                    "baseTimeNanoseconds"};

	return is_one_of(key, names, sizeof(names) / sizeof(*names));
}

int torch_take_member(struct event_import *events, const struct trace_text *key,
                      const struct trace_value *value)
{
	/* How the file is written, and what it is called. */
	static const char *const of_the_file[] = {"schemaVersion", "displayTimeUnit", "traceName"};
	struct torch *torch = events->own;

	if (is_one_of(key, of_the_file, sizeof(of_the_file) / sizeof(*of_the_file)))
		return FLEXTRACE_OK;
	if (trace_text_is(key, "baseTimeNanoseconds")) {
		read_base(torch, value);
		return FLEXTRACE_OK;
	}
	if (value->kind == TRACE_JSON && trace_text_is(key, "distributedInfo"))
		read_distributed(torch, value->text.bytes);
	if (value->kind == TRACE_JSON && trace_text_is(key, "deviceProperties")) {
		free(torch->properties);
		torch->properties = strdup(value->text.bytes);
		if (!torch->properties)
			return FLEXTRACE_E_MEMORY;
	}
	return keep_note(events, key, value);
}

/* -- the end of a file ----------------------------------------------------------------------- */

static int write_notes(struct event_import *events)
{
	const struct torch *torch = events->own;
	struct event event = event_of_rank(events, torch->rank, RECORD_ANNOTATION, torch->first_ns);

	event.vtid = (int32_t)torch->host_pid_number;
	event.n_origins = 1;
	event.origins[0] = event_origin(events, torch->rank, ORIGIN_NO_RECORD);
	for (uint32_t i = 0; i < torch->n_notes; i++) {
		event.payload.annotation.key = string_get(events->import.strings,
		                                          torch->notes[i].key);
		event.payload.annotation.value = string_get(events->import.strings,
		                                            torch->notes[i].value);
		FLEXTRACE_TRY(event_write(events, torch->rank, &event));
	}
	return FLEXTRACE_OK;
}

static int name_queue(struct event_import *events, const struct torch_name *name)
{
	const struct torch *torch = events->own;
	uint32_t place = map_find(&torch->queue_index, map_pair(name->pid, name->tid), torch->rank);
	struct flextrace_name queue;

	if (place == MAP_NONE)
		return FLEXTRACE_OK;
	queue = (struct flextrace_name){
		.device = torch->queues[place].device,
		.id = torch->queues[place].queue,
		.name = string_get(events->import.strings, name->name),
	};
	return event_define(events, torch->rank, RECORD_QUEUE_NAME, &queue);
}

static int give_name(struct event_import *events, const struct torch_name *name)
{
	const struct torch *torch = events->own;
	uint32_t thread;

	if (!name->is_process && name->pid != torch->host_pid)
		return name_queue(events, name);
	if (name->pid != torch->host_pid)
		return FLEXTRACE_OK;
	if (name->is_process) {
		events->ranks[torch->rank].program = name->name;
		return FLEXTRACE_OK;
	}
	thread = map_find(&events->thread_index, torch->rank, name->tid);
	if (thread != MAP_NONE)
		events->threads[thread].name = name->name;
	return FLEXTRACE_OK;
}

/* Traces of one rank and process are one. */
static void settle_stream(const struct torch *torch, struct import_stream *stream)
{
	bool is_known = torch->told_rank >= 0;
	uint32_t rank = is_known ? (uint32_t)torch->told_rank : torch->n_files;
	uint32_t pid = (uint32_t)torch->host_pid_number;

	stream->instance = torch->n_files - 1;
	stream->clock_offset_ns = torch->epoch_ns + torch->late_base_ns;
	memcpy(stream->uuid, "trch", 4);
	stream->uuid[4] = !is_known;
	import_number_stream(stream, rank, pid);
}

static int settle_rank(struct event_import *events)
{
	struct torch *torch = events->own;
	struct event_rank *rank = &events->ranks[torch->rank];
	char text[32];

	rank->rank = torch->told_rank;
	rank->world_size = torch->world_size;
	rank->os_pid = (uint32_t)torch->host_pid_number;
	settle_stream(torch, &events->import.streams[torch->rank]);
	if (torch->told_rank >= 0)
		snprintf(text, sizeof(text), "%" PRId32, torch->told_rank);
	else
		snprintf(text, sizeof(text), "of file %" PRIu32, torch->n_files);
	return string_intern(&events->import.cache, text, &rank->pid);
}

/* JSON, but too deep for who reads it, or there was no memory. */
static int lose_unread(struct event_import *events)
{
	const struct torch *torch = events->own;

	for (uint32_t i = 0; i < torch->n_unread_members; i++)
		FLEXTRACE_TRY(import_reject(&events->import, LOSS_MALFORMED,
		                            "distributedInfo or deviceProperties cannot be read",
		                            0));
	return FLEXTRACE_OK;
}

int torch_end_file(struct event_import *events)
{
	struct torch *torch = events->own;

	if (torch->told_rank < 0)
		torch->told_rank = dialect_next_rank(&torch->ranks);
	if (torch->rank == FLEXTRACE_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(settle_rank(events));
	FLEXTRACE_TRY(describe_devices(events));
	FLEXTRACE_TRY(lose_unread(events));
	for (uint32_t i = 0; i < torch->n_names; i++)
		FLEXTRACE_TRY(give_name(events, &torch->names[i]));
	return write_notes(events);
}
