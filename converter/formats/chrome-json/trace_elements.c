// SPDX-License-Identifier: Apache-2.0
/*
 * trace_elements.c: the elements of traceEvents, good and bad, and the way back to the next one.
 *
 * Behind a broken element there are two ways to go on, and the one that comes first is taken:
 * where its brackets close, quotes respected; or where, not before the broken place, something
 * that could begin an event is a whole event with a `ph`. The first cannot be led astray by what
 * is nested in the element, the second not by a quote or bracket that is missing.
 */
#include "trace_events_impl.h"

struct skip {
	uint64_t n_open; /* brackets */
	uint64_t n_bytes;
	bool is_in_text, is_escaped;
	bool may_begin; /* a comma, a `}` or the end of a line stands before */
};

enum skip_state { SKIP_ON, SKIP_BEFORE, SKIP_BEHIND };

/* Whether the skip ends at this byte, before or behind it. */
static enum skip_state skip_byte(struct skip *skip, char byte)
{
	if (skip->is_in_text) {
		bool is_escaped = skip->is_escaped;

		skip->is_escaped = !is_escaped && byte == '\\';
		skip->is_in_text = is_escaped || byte != '"';
		return SKIP_ON;
	}
	switch (byte) {
	case '"':
		skip->is_in_text = true;
		return SKIP_ON;
	case '{':
	case '[':
		skip->n_open++;
		return SKIP_ON;
	case ',':
		return skip->n_open ? SKIP_ON : SKIP_BEFORE;
	case '}':
	case ']':
		if (!skip->n_open)
			return SKIP_BEFORE;
		return --skip->n_open ? SKIP_ON : SKIP_BEHIND;
	default:
		return SKIP_ON;
	}
}

/* Steps over one byte of what is broken; true: that was the last. The first one always goes. */
static bool step_skip(struct skip *skip, struct text_window *window)
{
	char byte = window->bytes[window->begin];
	enum skip_state state = skip_byte(skip, byte);

	if (byte == '\n')
		skip->may_begin = true;
	else if (!json_is_space(byte))
		skip->may_begin = byte == ',' || byte == '}';
	if (state != SKIP_BEFORE || !skip->n_bytes)
		window->begin++;
	skip->n_bytes++;
	return state != SKIP_ON;
}

/* Makes sure of a byte. 1, 0: the text ends, negative. */
static int need_byte(struct trace_events *events, struct flextrace_error *error)
{
	int state = WINDOW_GREW;

	if (events->window.begin == events->window.end)
		state = text_window_fill(&events->window, error);
	if (state == WINDOW_ENDED) {
		events->damage.is_cut |= !events->has_ended;
		events->phase = PHASE_DONE;
	}
	return state < 0 ? state : state == WINDOW_GREW;
}

static enum scan_result scan_list_name(struct trace_events *events, struct json_scan *scan)
{
	static const char name[] = "\"traceEvents\"";
	struct trace_text key;

	(void)events;
	if ((size_t)(scan->end - scan->at) < sizeof(name) - 1)
		return SCAN_MORE;
	if (memcmp(scan->at, name, sizeof(name) - 1) != 0)
		return json_bad(scan, "another name");
	SCAN_TRY(json_key(scan, &key));
	return *scan->at == '[' ? SCAN_OK : json_bad(scan, "no list");
}

int events_skip(struct trace_events *events, struct flextrace_error *error)
{
	struct text_window *window = &events->window;
	struct skip skip = {0};
	int code;

	while ((code = need_byte(events, error)) > 0) {
		if (window->bytes[window->begin] == '"' && skip.n_bytes) {
			struct json_scan scan;

			code = events_scan(events, scan_list_name, &scan, error);
			FLEXTRACE_TRY(code);
			if (code == SCAN_OK)
				return FLEXTRACE_OK;
		}
		if (step_skip(&skip, window))
			return FLEXTRACE_OK;
	}
	return code;
}

static enum scan_result scan_event(struct trace_events *events, struct json_scan *scan)
{
	return event_scan(&events->event, scan);
}

/* What follows and is no object either is of the same element. */
static void note_bad(struct trace_events *events, uint64_t offset_bytes,
                     const struct json_scan *scan, const char *cause)
{
	events->is_in_bad = true;
	events_note_damage(events, &events->damage.n_events, offset_bytes, cause);
	events->damage.n_over_limit += scan && scan->is_over_limit;
}

/* Takes the event that was scanned, or counts it as bad. 1 or 0. */
static int take_event(struct trace_events *events, const struct json_scan *scan,
                      struct trace_event *ret_event)
{
	uint64_t offset_bytes = text_window_offset(&events->window);
	const char *flaw = scan->flaw;

	events->window.begin = (size_t)(scan->at - events->window.bytes);
	events->has_seen_event |= events->event.ph.kind == TRACE_TEXT;
	if (!flaw)
		flaw = event_settle(&events->event, scan->has_escapes, ret_event);
	if (flaw) {
		note_bad(events, offset_bytes, scan, flaw);
		return FLEXTRACE_OK;
	}
	ret_event->offset_bytes = offset_bytes;
	ret_event->number = events->n_elements - 1;
	events->is_in_bad = false;
	return 1;
}

/* Goes on behind a broken element; from `from_bytes` on an event may begin. 1, 0 or negative. */
static int recover(struct trace_events *events, uint64_t from_bytes, struct trace_event *ret_event,
                   struct flextrace_error *error)
{
	struct text_window *window = &events->window;
	struct skip skip = {0};
	int code;

	while ((code = need_byte(events, error)) > 0) {
		if (window->bytes[window->begin] == '{' && (skip.may_begin || !skip.n_open) &&
		    text_window_offset(window) >= from_bytes) {
			struct json_scan scan;

			code = events_scan(events, scan_event, &scan, error);
			FLEXTRACE_TRY(code);
			if (code == SCAN_OK && events->event.ph.kind == TRACE_TEXT) {
				events->n_elements++;
				return take_event(events, &scan, ret_event);
			}
		}
		if (step_skip(&skip, window))
			return FLEXTRACE_OK;
	}
	return code;
}

/* Returns where the next event may begin at the earliest: where the grammar broke, or in the text
 * before, which may have lost its quote. */
static uint64_t broken_bytes(const struct trace_events *events, const struct json_scan *scan)
{
	const char *broken = scan->text ? scan->text : scan->at;

	if (scan->is_over_limit)
		return UINT64_MAX;
	return events->window.first_bytes + (uint64_t)(broken - events->window.bytes);
}

static int read_object(struct trace_events *events, struct trace_event *ret_event,
                       struct flextrace_error *error)
{
	uint64_t offset_bytes = text_window_offset(&events->window);
	struct json_scan scan;
	int result = events_scan(events, scan_event, &scan, error);

	if (result < 0)
		return result;
	if (result == SCAN_OK)
		return take_event(events, &scan, ret_event);
	events->has_seen_event |= events->event.ph.kind == TRACE_TEXT;
	if (result == SCAN_BAD) {
		note_bad(events, offset_bytes, &scan, scan.cause);
		return recover(events, broken_bytes(events, &scan), ret_event, error);
	}
	note_bad(events, offset_bytes, &scan, "cut");
	events->damage.is_cut = true;
	events->phase = PHASE_DONE;
	return FLEXTRACE_OK;
}

int events_step(struct trace_events *events, struct trace_event *ret_event,
                struct flextrace_error *error)
{
	int byte = events_peek(events, error);

	if (byte == ']') {
		events->window.begin++;
		events->has_ended = events->is_array;
		events->phase = events->is_array ? PHASE_TAIL : PHASE_MEMBERS;
		return FLEXTRACE_OK;
	}
	if (byte == PEEK_END) {
		events->damage.is_cut |= !events->is_array && !events->has_ended;
		events->phase = PHASE_DONE;
		return FLEXTRACE_OK;
	}
	if (byte < 0)
		return byte;
	events->n_elements++;
	if (byte == '{')
		return read_object(events, ret_event, error);
	if (!events->is_in_bad)
		note_bad(events, text_window_offset(&events->window), NULL, "no object");
	return recover(events, 0, ret_event, error);
}

const struct trace_arg *trace_event_arg(const struct trace_event *event, const char *key)
{
	for (uint32_t i = event->n_args; i > 0; i--) {
		const struct trace_arg *arg = &event->args[i - 1];

		if (!arg->is_member && trace_text_is(&arg->key, key))
			return arg;
	}
	return NULL;
}

bool trace_event_number(const struct trace_event *event, const char *key, uint64_t *ret_number)
{
	const struct trace_arg *arg = trace_event_arg(event, key);

	return arg && trace_value_u64(&arg->value, ret_number);
}
