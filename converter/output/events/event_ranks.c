// SPDX-License-Identifier: Apache-2.0
/*
 * event_ranks.c: the file of a single rank, for TensorBoard's torch plug-in and Holistic Trace
 * Analysis. Their rules, as far as they are not Kineto's conventions anyway (docs/formats.md):
 *
 * - a kernel's pid is its args.device, below 64; nothing else has such a pid
 * - what has args.stream is a kernel, and what has args.correlation without it is a launch
 * - a copy is called "Memcpy HtoD (...)", a setting of memory "Memset (...)"
 * - a collective is an operation `gloo:<op>` with one of five names, an External id that no other
 *   row has (they are told apart by it), and its size as the dims of a tensor
 * - everything belongs to a ProfilerStep#N
 */
#include "events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/ascii.h"

#define MAX_DEVICES 64

/* External ids of collectives; those of rows are correlations, which count up from 1. */
#define COLLECTIVE_ID ((uint64_t)1 << 52)

/* -- numbers ----------------------------------------------------------------------------------- */

static void number_devices(const struct identity *identity, uint32_t process, uint32_t *numbers)
{
	bool is_taken[MAX_DEVICES] = {false};
	uint32_t next = 0;

	for (uint32_t i = 0; i < identity->n_devices; i++) {
		const struct device *device = &identity->devices[i];

		if (device->process == process && device->device < MAX_DEVICES)
			is_taken[device->device] = true;
	}
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		const struct device *device = &identity->devices[i];

		if (device->process != process || device->device < MAX_DEVICES)
			continue;
		while (next < MAX_DEVICES && is_taken[next])
			next++;
		if (next < MAX_DEVICES)
			numbers[i] = next++;
	}
}

int event_number_devices(struct events *events)
{
	const struct identity *identity = events->view.identity;

	FLEXTRACE_TRY(ARRAY_NEW(events->device_number, identity->n_devices + 1));
	for (uint32_t i = 0; i < identity->n_devices; i++)
		events->device_number[i] = identity->devices[i].device;
	if (events_are_kineto(events))
		number_devices(identity, events->process, events->device_number);
	return FLEXTRACE_OK;
}

/* -- copies ------------------------------------------------------------------------------------ */

void event_name_copy(const struct events *events, const struct device_row *row,
                     struct file_event *event)
{
	const struct tick_op *op = &events->view.timeline->ops[row->source];
	const char *name = string_get(events->view.strings, op->name);
	uint64_t ns = (uint64_t)row->end_time_ns - (uint64_t)row->start_time_ns;

	if (row->kind < ROW_MEMCPY_HTOD || row->kind > ROW_MEMSET)
		return;
	if (*name && strncmp(name, "Memcpy", 6) != 0 && strncmp(name, "Memset", 6) != 0)
		event->around = kind_of_device(DIALECT_CUDA, row->kind)->label;
	if (op->bytes && ns)
		event_add_double(event, EVENT_KEY_BANDWIDTH, (double)op->bytes / (double)ns);
}

/* -- rows -------------------------------------------------------------------------------------- */

/* Equal but for case and underscores: "AllReduce" is "all_reduce". */
static bool is_same_op(const char *name, const char *op)
{
	for (;; name++, op++) {
		while (*name == '_' || *name == '-')
			name++;
		while (*op == '_')
			op++;
		if (ascii_lower(*name) != *op)
			return false;
		if (!*op)
			return true;
	}
}

/* What TensorBoard calls the operation; NULL: it does not know it. */
static const char *known_op(const char *name)
{
	static const char *const ops[] = {"gloo:all_reduce", "gloo:all_gather",
	                                  "gloo:reduce_scatter", "gloo:broadcast", "gloo:reduce"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (is_same_op(name, ops[i] + strlen("gloo:")))
			return ops[i];
	}
	return NULL;
}

/* Of the text that derive made of a collective: quotes in its strings have a backslash. */
static uint64_t bytes_of(const char *args)
{
	static const char key[] = ",\"bytes\":";
	const char *at = strstr(args, key);

	return at ? strtoull(at + sizeof(key) - 1, NULL, 10) : 0;
}

static void begin_collective(struct events *events, uint64_t n_bytes, struct file_event *event)
{
	char *dims = events->dims;

	event->category = EVENT_TEXT("cpu_op");
	event_add_word(event, EVENT_KEY_KIND, "Collective");
	event_add_u64(event, EVENT_KEY_EXTERNAL_ID, COLLECTIVE_ID + events->n_collectives++);
	snprintf(dims, sizeof(events->dims), "[[%" PRIu64 "]]", n_bytes);
	event_add_text(event, EVENT_KEY_INPUT_DIMS, ARG_JSON, dims, strlen(dims));
	event_add_text(event, EVENT_KEY_INPUT_TYPE, ARG_JSON, "[\"unsigned char\"]", 17);
	event_add_u64(event, EVENT_KEY_BYTES, n_bytes);
}

void event_of_collective(struct events *events, const struct host_row *row,
                         struct file_event *event)
{
	const struct string_pool *strings = events->view.strings;
	const char *op = known_op(string_get(strings, row->name));

	event_begin(event, EVENT_INTERVAL, ON_TRACK, row->track);
	event->start_time_ns = row->start_time_ns;
	event->end_time_ns = row->end_time_ns;
	if (op)
		event->label = (struct trace_text){op, strlen(op)};
	else
		event->name = row->name;
	begin_collective(events, bytes_of(string_get(strings, row->args)), event);
	event_add_string(event, EVENT_KEY_ARGS, row->args);
}

void event_of_rank_row(struct events *events, const struct found_row *row, struct file_event *event)
{
	if (row->op) {
		const char *op = known_op(row->op);

		if (op)
			event->label = (struct trace_text){op, strlen(op)};
		begin_collective(events, row->bytes, event);
		event_add_word(event, EVENT_KEY_FOUND, EVENT_FOUND_IN_WORK);
		return;
	}
	snprintf(events->step, sizeof(events->step), "ProfilerStep#%u", row->number);
	event->label = (struct trace_text){events->step, strlen(events->step)};
	event->category = EVENT_TEXT("user_annotation");
	event_add_word(event, EVENT_KEY_KIND, "Step");
	event_add_word(event, EVENT_KEY_FOUND,
	               row->is_turn ? "turn of the loop in its kernels" : "all of the rank");
}
