/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "event_reader.h"

enum attribute {
	IS_STAMP,
	IS_STAMPS,
	IS_POWER,
	IS_BYTES,
	IS_GROUP,
	IS_PEER,
	IS_TYPE,
	IS_CORRELATION,
	IS_OTHER
};

static enum attribute attribute_of(const struct trace_text *key)
{
	static const struct {
		const char *text;
		enum attribute is;
	} names[] = {
		{"cycles_ts", IS_STAMPS}, {"Power", IS_POWER},
		{"Bytes", IS_BYTES},      {"bytes", IS_BYTES},
		{"CollGroup", IS_GROUP},  {"Peer", IS_PEER},
		{"Type", IS_TYPE},        {"correlation", IS_CORRELATION},
	};

	if (key->length == 3 && memcmp(key->bytes, "TS", 2) == 0 && key->bytes[2] >= '1' &&
	    key->bytes[2] <= '0' + FLEXTRACE_N_STAMPS)
		return IS_STAMP;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (trace_text_is(key, names[i].text))
			return names[i].is;
	}
	return IS_OTHER;
}

/* Reads a number, of one of more than 32 bits its low ones. */
static bool read_u32(const struct trace_value *value, uint32_t *ret)
{
	uint64_t number;

	if (!trace_value_u64(value, &number))
		return false;
	*ret = (uint32_t)number;
	return true;
}

static bool read_stamps(const struct trace_value *value, uint32_t *ret_ts)
{
	struct trace_text rest = value->text;
	struct trace_value element;
	int n = 0;

	if (value->kind != TRACE_JSON)
		return false;
	for (; trace_array_next(&rest, &element); n++) {
		if (n == FLEXTRACE_N_STAMPS || !read_u32(&element, &ret_ts[n]))
			return false;
	}
	return n == FLEXTRACE_N_STAMPS;
}

static bool read_peer(const struct trace_value *value, int32_t *ret_peer)
{
	int64_t peer;

	if (!trace_value_i64(value, &peer) || peer < -1 || peer > INT32_MAX)
		return false;
	*ret_peer = (int32_t)peer;
	return true;
}

static bool read_text(const struct trace_value *value, struct trace_text *ret_text)
{
	if (value->kind != TRACE_TEXT && value->kind != TRACE_NUMBER)
		return false;
	*ret_text = value->text;
	return true;
}

/* Takes an attribute. False: it has no such value. */
static bool read_attribute(const struct trace_arg *arg, struct event_call *call)
{
	switch (attribute_of(&arg->key)) {
	case IS_STAMP:
		call->has_stamps = true;
		return read_u32(&arg->value, &call->ts[arg->key.bytes[2] - '1']);
	case IS_STAMPS:
		call->has_stamps = true;
		return read_stamps(&arg->value, call->ts);
	case IS_POWER:
		return read_u32(&arg->value, &call->power);
	case IS_BYTES:
		return trace_value_u64(&arg->value, &call->bytes);
	case IS_GROUP:
		return read_text(&arg->value, &call->group);
	case IS_PEER:
		return read_peer(&arg->value, &call->peer);
	case IS_TYPE:
		return read_text(&arg->value, &call->type);
	case IS_CORRELATION:
		return trace_value_u64(&arg->value, &call->correlation);
	case IS_OTHER:
		break;
	}
	return true;
}

int event_read_args(struct event_import *events, const struct trace_event *event,
                    const char *category, struct trace_text *ret_args)
{
	struct json_text *text = &events->args;

	json_text_clear(text);
	json_text_open(text, '{');
	if (category)
		json_text_string(text, "cat", category);
	for (uint32_t i = 0; i < event->n_args; i++) {
		const struct trace_arg *arg = &event->args[i];

		if (arg->value.kind == TRACE_TEXT)
			json_text_string(text, arg->key.bytes, arg->value.text.bytes);
		else
			json_text_raw(text, arg->key.bytes, arg->value.text.bytes);
	}
	json_text_close(text, '}');
	return json_text_get(text, &ret_args->bytes, &ret_args->length);
}

void event_call_begin(const struct trace_event *event, struct event_call *ret_call)
{
	static const struct trace_text none = {"", 0};

	*ret_call = (struct event_call){
		.begin_ns = event->ts_ns,
		.end_ns = event->ts_ns,
		.offset_bytes = event->offset_bytes,
		.record = origin_make(0, event->number).record,
		.full_name = event->name.bytes ? event->name : none,
		.args = none,
		.group = none,
		.type = none,
		.peer = -1,
	};
	ret_call->name = ret_call->full_name;
}

const char *event_call_attributes(const struct trace_event *event, struct event_call *call)
{
	const char *fault = NULL;

	for (uint32_t i = 0; i < event->n_args; i++) {
		if (!read_attribute(&event->args[i], call) && call->has_stamps)
			fault = "an attribute is no such number or text";
	}
	return fault;
}
