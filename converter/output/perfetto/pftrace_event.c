// SPDX-License-Identifier: Apache-2.0
/*
 * pftrace_event.c: one TrackEvent each.
 */
#include "pftrace.h"

#include <math.h>

#include "base/text/json_scan.h"

#define NULL_TEXT "null"

/* -- JSON as annotations ----------------------------------------------------------------------- */

static void write_json_value(struct pftrace *trace, struct writer *writer,
                             const struct trace_value *value);

/* A text without its escapes: weak, as it is or in `plain`. */
static struct trace_text unescape(const struct trace_text *text, struct writer *plain)
{
	if (!memchr(text->bytes, '\\', text->length))
		return *text;
	plain->at = plain->buffer;
	writer_append(plain, text->bytes, text->length);
	if (writer_failed(plain))
		return (struct trace_text){"", 0};
	return (struct trace_text){plain->buffer, json_unescape(plain->buffer, text->length)};
}

/* Members of an object as annotations, each a field of this number. */
static void write_members(struct pftrace *trace, struct writer *writer, uint32_t field,
                          struct trace_text rest)
{
	struct trace_text key;
	struct trace_value value;

	while (told_next(&rest, &key, &value)) {
		size_t opened = protobuf_open(writer, field);

		key = unescape(&key, &trace->plain);
		protobuf_write_u64(writer, ANNOTATION_NAME_IID,
		                   pftrace_key(trace, key.bytes, key.length));
		write_json_value(trace, writer, &value);
		protobuf_close(writer, opened);
	}
}

/* What has a point or an exponent is no integer, be it whole: keys keep their types. */
static void write_json_number(struct writer *writer, const struct trace_value *value)
{
	bool is_whole = true;
	uint64_t u64;
	int64_t i64;
	double number;

	for (size_t i = 0; i < value->text.length; i++)
		is_whole = is_whole && !memchr(".eE", value->text.bytes[i], 3);
	if (is_whole && trace_value_u64(value, &u64))
		protobuf_write_u64(writer, ANNOTATION_UINT, u64);
	else if (is_whole && trace_value_i64(value, &i64))
		protobuf_write_u64(writer, ANNOTATION_INT, (uint64_t)i64);
	else if (trace_value_double(value, &number))
		protobuf_write_double(writer, ANNOTATION_DOUBLE, number);
}

static void write_array(struct pftrace *trace, struct writer *writer, struct trace_text rest)
{
	struct trace_value element;

	while (trace_array_next(&rest, &element)) {
		size_t opened = protobuf_open(writer, ANNOTATION_ARRAY);

		write_json_value(trace, writer, &element);
		protobuf_close(writer, opened);
	}
}

/* As it is, where it stands for the first time as far as that is known; not so the text `null`, for
 * that is how null is written. */
static void write_told_text(struct pftrace *trace, struct writer *writer, struct trace_text text)
{
	if (pftrace_is_again(trace, text) || trace_text_is(&text, NULL_TEXT))
		protobuf_write_u64(writer, ANNOTATION_STRING_IID,
		                   pftrace_word(trace, text.bytes, text.length));
	else
		pftrace_write_text(trace, writer, ANNOTATION_STRING, text.bytes, text.length);
}

/* Perfetto takes an element of a list in which it finds nothing for none: those behind it would
 * have other indices. */
static bool is_empty(const struct trace_text *json)
{
	size_t i = 1;

	while (memchr(" \t\r\n", json->bytes[i], 4))
		i++;
	return json->bytes[i] == '}' || json->bytes[i] == ']';
}

static void write_json_value(struct pftrace *trace, struct writer *writer,
                             const struct trace_value *value)
{
	switch (value->kind) {
	case TRACE_NUMBER:
		write_json_number(writer, value);
		break;
	case TRACE_LITERAL:
		if (trace_text_is(&value->text, "null"))
			protobuf_write_bytes(writer, ANNOTATION_STRING, NULL_TEXT,
			                     strlen(NULL_TEXT));
		else
			protobuf_write_u64(writer, ANNOTATION_BOOL,
			                   trace_text_is(&value->text, "true"));
		break;
	case TRACE_JSON:
		if (is_empty(&value->text))
			protobuf_write_bytes(writer, ANNOTATION_LEGACY_JSON,
			                     value->text.bytes[0] == '{' ? "{}" : "[]", 2);
		else if (value->text.bytes[0] == '{')
			write_members(trace, writer, ANNOTATION_DICT, value->text);
		else
			write_array(trace, writer, value->text);
		break;
	default:
		write_told_text(trace, writer, unescape(&value->text, &trace->plain));
		break;
	}
}

/* -- arguments --------------------------------------------------------------------------------- */

/* An annotation that is a number, as a field below 16: its length is one byte. */
static inline void write_number(struct writer *writer, uint32_t field, uint64_t key, uint32_t type,
                                uint64_t value)
{
	char *at = writer_room(writer, 6 * PROTOBUF_VARINT_BYTES), *end;

	if (!at)
		return;
	end = put_tagged(at + 2, ANNOTATION_NAME_IID, PROTOBUF_VARINT, key);
	end = put_tagged(end, type, PROTOBUF_VARINT, value);
	at[0] = (char)(field << 3 | PROTOBUF_BYTES);
	at[1] = (char)(end - at - 2);
	writer->at = end;
}

static void write_cycles(struct pftrace *trace, struct writer *writer, const struct event_arg *arg)
{
	for (uint32_t i = 0; i < arg->n_cycles; i++) {
		uint32_t stamp = arg->first_stamp + i;
		uint64_t ticks = arg->u.ticks[i], key;

		if (!ticks)
			continue;
		key = pftrace_known_key(trace, &trace->sequence->interned.stamp_iids[stamp],
		                        event_stamp_names[stamp]);
		write_number(writer, ANNOTATION_DICT, key, ANNOTATION_UINT,
		             arg->type == ARG_RAW ? (uint32_t)ticks : ticks);
	}
}

/* What few rows share is not worth an iid. */
static void write_string(struct pftrace *trace, struct writer *writer, const struct event_arg *arg)
{
	struct string_text text = string_text(trace->events.view.strings, arg->u.string);

	if ((arg->key == EVENT_KEY_ARGS || arg->key == EVENT_KEY_VALUE) &&
	    strcmp(text.bytes, NULL_TEXT) != 0)
		pftrace_write_text(trace, writer, ANNOTATION_STRING, text.bytes, text.length);
	else
		protobuf_write_u64(writer, ANNOTATION_STRING_IID,
		                   pftrace_string(trace, arg->u.string));
}

static void write_value(struct pftrace *trace, struct writer *writer, const struct event_arg *arg)
{
	struct trace_value json = {TRACE_JSON, {arg->u.text, arg->n_bytes}};

	switch (arg->type) {
	case ARG_DOUBLE:
		protobuf_write_double(writer, ANNOTATION_DOUBLE, arg->u.number);
		break;
	case ARG_STRING:
		write_string(trace, writer, arg);
		break;
	case ARG_JSON:
		write_json_value(trace, writer, &json);
		break;
	default:
		write_cycles(trace, writer, arg);
		break;
	}
}

static uint64_t word_iid(struct pftrace *trace, const struct event_arg *arg)
{
	/* the only words that are not where they were for the next event */
	if (arg->key == EVENT_KEY_PLACE)
		return pftrace_word(trace, arg->u.text, arg->n_bytes);
	return pftrace_our_word(trace, arg->u.text, arg->n_bytes);
}

static void write_arg(struct pftrace *trace, struct writer *writer, const struct event_arg *arg)
{
	uint64_t key = pftrace_event_key(trace, arg->key);
	size_t opened;

	if (arg->type == ARG_U64 || arg->type == ARG_I64) {
		write_number(writer, TRACK_EVENT_ANNOTATIONS, key,
		             arg->type == ARG_U64 ? ANNOTATION_UINT : ANNOTATION_INT, arg->u.u64);
		return;
	}
	if (arg->type == ARG_WORD) {
		write_number(writer, TRACK_EVENT_ANNOTATIONS, key, ANNOTATION_STRING_IID,
		             word_iid(trace, arg));
		return;
	}
	opened = protobuf_open(writer, TRACK_EVENT_ANNOTATIONS);
	protobuf_write_u64(writer, ANNOTATION_NAME_IID, key);
	write_value(trace, writer, arg);
	protobuf_close(writer, opened);
}

/* A row that is shown by its kind. */
static bool is_unnamed(const struct file_event *event)
{
	return !event->name && event->type == EVENT_INTERVAL && event->on == ON_TRACK;
}

static void write_args(struct pftrace *trace, struct writer *writer, const struct file_event *event)
{
	bool is_of_device = event->err_ns != UINT32_MAX || event->status != TIME_CERTIFIED;

	if (event->told.length)
		write_members(trace, writer, TRACK_EVENT_ANNOTATIONS, event->told);
	for (uint32_t i = 0; i < event->n_args; i++)
		write_arg(trace, writer, &event->args[i]);
	if (event->has_status && is_of_device) {
		const char *status = time_status_name(event->status);

		write_number(writer, TRACK_EVENT_ANNOTATIONS,
		             pftrace_event_key(trace, EVENT_KEY_STATUS), ANNOTATION_STRING_IID,
		             pftrace_our_word(trace, status, strlen(status)));
	}
	if (event->err_ns != UINT32_MAX)
		write_number(writer, TRACK_EVENT_ANNOTATIONS,
		             pftrace_event_key(trace, EVENT_KEY_ERR), ANNOTATION_UINT,
		             event->err_ns);
	if (is_unnamed(event)) /* so that it has no name when it is read again */
		write_number(writer, TRACK_EVENT_ANNOTATIONS,
		             pftrace_event_key(trace, EVENT_KEY_UNNAMED), ANNOTATION_UINT, 1);
}

/* -- events ------------------------------------------------------------------------------------ */

static void write_counter(struct writer *writer, double value)
{
	if (value == rint(value) && fabs(value) < 9e15)
		protobuf_write_u64(writer, TRACK_EVENT_COUNTER_VALUE, (uint64_t)(int64_t)value);
	else
		protobuf_write_double(writer, TRACK_EVENT_DOUBLE_COUNTER_VALUE, value);
}

/* Puts the fields that do not depend on the time, the track or arguments. */
static char *put_head(struct pftrace *trace, char *at, const struct file_event *event,
                      uint64_t type)
{
	at = put_tagged(at, TRACK_EVENT_TYPE, PROTOBUF_VARINT, type);
	if (type == TYPE_COUNTER)
		return at;
	if (event->category.length)
		at = put_tagged(at, TRACK_EVENT_CATEGORY_IIDS, PROTOBUF_VARINT,
		                pftrace_category(trace, unescape(&event->category, &trace->plain)));
	at = put_tagged(at, TRACK_EVENT_NAME_IID, PROTOBUF_VARINT, pftrace_name(trace, event));
	if (event->file && type == TYPE_SLICE_BEGIN)
		at = put_tagged(at, TRACK_EVENT_LOCATION_IID, PROTOBUF_VARINT,
		                pftrace_location(trace, event->file, event->line));
	return at;
}

/* The same of an event whose category and label stay where they are. */
static char *put_known_head(struct pftrace *trace, char *at, const struct file_event *event,
                            uint64_t type)
{
	uint64_t text = event->name ? event->name : (uintptr_t)event->label.bytes;
	uint64_t part = (uintptr_t)(event->part ? event->part : event->around);
	uint64_t hash = (text ^ part * 31) * 0x9e3779b97f4a7c15;
	struct pftrace_head *head = &trace->sequence->interned.heads[hash >> 56];

	if (!head->n || head->text != text || head->part != part || head->file != event->file ||
	    head->line != event->line || head->category != event->category.bytes ||
	    head->type != type) {
		*head = (struct pftrace_head){.text = text,
		                              .part = part,
		                              .category = event->category.bytes,
		                              .file = event->file,
		                              .line = event->line,
		                              .type = (uint8_t)type};
		head->n = (uint8_t)(put_head(trace, head->bytes, event, type) - head->bytes);
	}
	memcpy(at, head->bytes, sizeof(head->bytes));
	return at + head->n;
}

void pftrace_write_event(struct pftrace *trace, struct writer *writer,
                         const struct file_event *event, uint64_t uuid, uint64_t type)
{
	char *at = writer_room(writer, 8 * PROTOBUF_VARINT_BYTES);

	if (!at)
		return;
	if (event->told.bytes)
		at = put_head(trace, at, event, type);
	else
		at = put_known_head(trace, at, event, type);
	writer->at = put_tagged(at, TRACK_EVENT_TRACK_UUID, PROTOBUF_VARINT, uuid);
	if (type == TYPE_COUNTER)
		write_counter(writer, event->value);
	write_args(trace, writer, event);
}
