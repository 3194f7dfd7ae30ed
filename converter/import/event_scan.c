// SPDX-License-Identifier: Apache-2.0
#include "import/event_scan.h"

#include <stdlib.h>

#include "array.h"

/* No known name is longer, even if each letter is written as an escape. */
#define KNOWN_NAME_BYTES 4
#define ESCAPED_BYTES    6

typedef enum scan_result member_taker(struct event_scan *event, struct json_scan *scan,
                                      const struct trace_text *key);

#define IS(name, literal) (!memcmp(name, literal, sizeof(literal) - 1))

/* Returns where the value of a known member goes; NULL: it is none. */
static inline struct trace_value *slot_of(struct event_scan *event, const char *name, size_t length)
{
	switch (length) {
	case 2:
		return IS(name, "ph")   ? &event->ph
		       : IS(name, "ts") ? &event->ts
		       : IS(name, "id") ? &event->id
		       : IS(name, "bp") ? &event->bp
		                        : NULL;
	case 3:
		return IS(name, "pid")   ? &event->pid
		       : IS(name, "tid") ? &event->tid
		       : IS(name, "dur") ? &event->dur
		       : IS(name, "cat") ? &event->cat
		                         : NULL;
	case 4:
		return IS(name, "name") ? &event->name : NULL;
	default:
		return NULL;
	}
}

static inline bool is_args(const char *name, size_t length)
{
	return length == 4 && (IS(name, "args") || IS(name, "attr"));
}

static enum scan_result add_arg(struct event_scan *event, struct json_scan *scan,
                                const struct trace_text *key, bool is_member)
{
	struct trace_arg *arg;

	if (event->n_args == TRACE_ARGS_LIMIT) {
		scan->is_over_limit = true;
		return json_bad(scan, "too many arguments");
	}
	if (event->n_args == event->n_allocated &&
	    ARRAY_RESERVE(event->args, event->n_allocated, (uint64_t)event->n_args + 1) < 0) {
		event->has_no_memory = true;
		return json_bad(scan, "no memory");
	}
	arg = &event->args[event->n_args++];
	arg->key = *key;
	arg->is_member = is_member;
	return json_value(scan, &arg->value);
}

static enum scan_result take_arg(struct event_scan *event, struct json_scan *scan,
                                 const struct trace_text *key)
{
	return add_arg(event, scan, key, false);
}

/* Takes the members of the object at the scan; a comma behind the last one is no harm. */
static inline enum scan_result scan_members(struct event_scan *event, struct json_scan *scan,
                                            member_taker *take)
{
	scan->at++;
	SCAN_TRY(json_space(scan));
	while (*scan->at != '}') {
		struct trace_text key;

		SCAN_TRY(json_key(scan, &key));
		SCAN_TRY(take(event, scan, &key));
		SCAN_TRY(json_space(scan));
		if (*scan->at == ',') {
			scan->at++;
			SCAN_TRY(json_space(scan));
		} else if (*scan->at != '}') {
			return json_bad(scan, "a comma or bracket is missing");
		}
	}
	scan->at++;
	return SCAN_OK;
}

static enum scan_result scan_args(struct event_scan *event, struct json_scan *scan,
                                  const struct trace_text *key)
{
	enum scan_result result;

	if (*scan->at == '{')
		return scan_members(event, scan, take_arg);
	result = add_arg(event, scan, key, true);
	if (result == SCAN_OK && event->args[event->n_args - 1].value.kind == TRACE_LITERAL)
		event->n_args--; /* null */
	return result;
}

static enum scan_result take_named(struct event_scan *event, struct json_scan *scan,
                                   const struct trace_text *key, const struct trace_text *name)
{
	struct trace_value *slot = slot_of(event, name->bytes, name->length);

	if (slot)
		return json_value(scan, slot);
	if (is_args(name->bytes, name->length))
		return scan_args(event, scan, key);
	return add_arg(event, scan, key, true);
}

static enum scan_result take_member(struct event_scan *event, struct json_scan *scan,
                                    const struct trace_text *key)
{
	char plain[KNOWN_NAME_BYTES * ESCAPED_BYTES];
	struct trace_text name = {plain, 0};

	if (!scan->has_escapes || scan->flaw || key->length > sizeof(plain))
		return take_named(event, scan, key, key);
	memcpy(plain, key->bytes, key->length);
	name.length = json_unescape(plain, key->length);
	return take_named(event, scan, key, &name);
}

enum scan_result event_scan(struct event_scan *event, struct json_scan *scan)
{
	static const struct event_scan none;
	struct trace_arg *args = event->args;
	uint32_t n_allocated = event->n_allocated;

	*event = none;
	event->args = args;
	event->n_allocated = n_allocated;
	return scan_members(event, scan, take_member);
}

void value_settle(struct trace_value *value, bool has_escapes)
{
	struct trace_text *text = &value->text;
	char *bytes = (char *)text->bytes; /* of the reader's own buffer */

	if (value->kind == TRACE_ABSENT)
		return;
	if (has_escapes && value->kind == TRACE_TEXT)
		text->length = json_unescape(bytes, text->length);
	bytes[text->length] = 0;
}

/* Makes a known member absent if it is null, and returns whether it is of the kinds it may be. */
static bool settle_known(struct trace_value *value, bool has_escapes, bool may_be_number)
{
	value_settle(value, has_escapes);
	if (value->kind == TRACE_LITERAL && IS(value->text.bytes, "null"))
		*value = (struct trace_value){TRACE_ABSENT, {NULL, 0}};
	return value->kind == TRACE_ABSENT || value->kind == TRACE_TEXT ||
	       (may_be_number && value->kind == TRACE_NUMBER);
}

static void settle_args(struct event_scan *event, bool has_escapes)
{
	for (uint32_t i = 0; i < event->n_args; i++) {
		struct trace_arg *arg = &event->args[i];
		struct trace_value key = {TRACE_TEXT, arg->key};

		value_settle(&key, has_escapes);
		arg->key = key.text;
		value_settle(&arg->value, has_escapes);
	}
}

static bool settle_time(struct trace_value *value, bool has_escapes, bool *ret_has, int64_t *ret_ns)
{
	*ret_ns = 0;
	if (!settle_known(value, has_escapes, true))
		return false;
	*ret_has = value->kind != TRACE_ABSENT;
	return !*ret_has || trace_value_us_as_ns(value, ret_ns);
}

const char *event_settle(struct event_scan *event, bool has_escapes, struct trace_event *ret_event)
{
	settle_args(event, has_escapes);
	if (!settle_known(&event->ph, has_escapes, false) || event->ph.text.length != 1)
		return "no ph of one byte";
	if (!settle_known(&event->name, has_escapes, false) ||
	    !settle_known(&event->cat, has_escapes, false) ||
	    !settle_known(&event->bp, has_escapes, false))
		return "name, cat or bp is no text";
	if (!settle_known(&event->pid, has_escapes, true) ||
	    !settle_known(&event->tid, has_escapes, true) ||
	    !settle_known(&event->id, has_escapes, true))
		return "pid, tid or id is neither text nor number";
	if (!settle_time(&event->ts, has_escapes, &ret_event->has_ts, &ret_event->ts_ns) ||
	    !settle_time(&event->dur, has_escapes, &ret_event->has_dur, &ret_event->dur_ns))
		return "ts or dur is no time";
	ret_event->ph = event->ph.text.bytes[0];
	ret_event->name = event->name.text;
	ret_event->cat = event->cat.text;
	ret_event->bp = event->bp.text;
	ret_event->pid = event->pid;
	ret_event->tid = event->tid;
	ret_event->id = event->id;
	ret_event->args = event->args;
	ret_event->n_args = event->n_args;
	return NULL;
}

void event_scan_release(struct event_scan *event)
{
	free(event->args);
}
