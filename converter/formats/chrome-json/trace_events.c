// SPDX-License-Identifier: Apache-2.0
/*
 * trace_events.c: from the first byte to the last: what the text is, its members, its events.
 */
#include "trace_events_impl.h"

#include <stdlib.h>

#define BUFFER_BYTES    ((size_t)256 << 10)
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static struct trace_events *no_memory(struct trace_events *events, struct flextrace_error *error)
{
	error_set(error, FLEXTRACE_E_MEMORY, "No memory for a reader");
	trace_events_close(events);
	return NULL;
}

struct trace_events *trace_events_open_source(const struct trace_source *source, const char *name,
                                              size_t buffer_bytes, struct flextrace_error *error)
{
	struct trace_events *events = calloc(1, sizeof(*events));

	if (!events)
		return no_memory(events, error);
	events->name = strdup(name);
	if (!events->name || text_window_init(&events->window, source,
	                                      buffer_bytes ? buffer_bytes : BUFFER_BYTES) < 0)
		return no_memory(events, error);
	return events;
}

struct trace_events *trace_events_open(const char *path, struct flextrace_error *error)
{
	struct trace_file *file = trace_file_open(path, error);
	const struct trace_source source = {trace_file_read, file};
	struct trace_events *events;

	if (!file)
		return NULL;
	events = trace_events_open_source(&source, path, 0, error);
	if (events)
		events->file = file;
	else
		trace_file_close(file);
	return events;
}

void trace_events_close(struct trace_events *events)
{
	if (!events)
		return;
	trace_file_close(events->file);
	text_window_release(&events->window);
	event_scan_release(&events->event);
	free(events->name);
	free(events);
}

void trace_events_take_members(struct trace_events *events, trace_member_taker *taker,
                               void *context)
{
	events->taker = taker;
	events->taker_context = context;
}

const struct trace_damage *trace_events_damage(const struct trace_events *events)
{
	return &events->damage;
}

void events_note_damage(struct trace_events *events, uint64_t *n, uint64_t offset_bytes,
                        const char *cause)
{
	++*n;
	if (events->damage.first_cause)
		return;
	events->damage.first_cause = cause;
	events->damage.first_bytes = offset_bytes;
}

int events_scan(struct trace_events *events, whole_scanner *scanner, struct json_scan *ret_scan,
                struct flextrace_error *error)
{
	struct text_window *window = &events->window;

	for (;;) {
		enum scan_result result;
		int state;

		*ret_scan = (struct json_scan){.at = window->bytes + window->begin,
		                               .end = window->bytes + window->end};
		result = scanner(events, ret_scan);
		if (events->event.has_no_memory)
			return error_set(error, FLEXTRACE_E_MEMORY, "No memory for an event: %s",
			                 events->name);
		if (result != SCAN_MORE)
			return result;
		state = text_window_fill(window, error);
		if (state == WINDOW_FULL) {
			ret_scan->is_over_limit = true;
			return json_bad(ret_scan, "longer than 16 MiB");
		}
		if (state != WINDOW_GREW)
			return state < 0 ? state : SCAN_MORE;
	}
}

int events_peek(struct trace_events *events, struct flextrace_error *error)
{
	struct text_window *window = &events->window;

	for (;;) {
		int state;

		while (window->begin < window->end) {
			char byte = window->bytes[window->begin];

			if (byte != ',' && !json_is_space(byte))
				return (unsigned char)byte;
			window->begin++;
		}
		state = text_window_fill(window, error);
		if (state < 0)
			return state;
		if (state == WINDOW_ENDED)
			return PEEK_END;
	}
}

/* -- top-level members ---------------------------------------------------------------------- */

static enum scan_result scan_member(struct trace_events *events, struct json_scan *scan)
{
	events->opens_list = false;
	SCAN_TRY(json_key(scan, &events->key));
	if (*scan->at == '[' && trace_text_is(&events->key, "traceEvents")) {
		events->opens_list = true;
		scan->at++;
		return SCAN_OK;
	}
	SCAN_TRY(json_value(scan, &events->member));
	SCAN_TRY(json_space(scan));
	return *scan->at == ',' || *scan->at == '}'
	               ? SCAN_OK
	               : json_bad(scan, "a comma or bracket is missing");
}

/* The byte behind a number may be the comma or `}` that is read next: it is put back. */
static int give_member(struct trace_events *events, const struct json_scan *scan)
{
	struct trace_value key = {TRACE_TEXT, events->key};
	const struct trace_text *text = &events->member.text;
	char *behind = events->window.bytes + (text->bytes - events->window.bytes) + text->length;
	char byte = *behind;
	int code;

	if (!events->taker)
		return FLEXTRACE_OK;
	value_settle(&key, scan->has_escapes);
	value_settle(&events->member, scan->has_escapes);
	code = events->taker(events->taker_context, &key.text, &events->member);
	*behind = byte;
	return code;
}

static int read_member(struct trace_events *events, struct flextrace_error *error)
{
	uint64_t offset_bytes = text_window_offset(&events->window);
	struct json_scan scan;
	int result = events_scan(events, scan_member, &scan, error);
	int code = FLEXTRACE_OK;

	if (result < 0)
		return result;
	if (result != SCAN_OK || scan.flaw)
		events_note_damage(events, &events->damage.n_members, offset_bytes,
		                   result == SCAN_MORE ? "cut"
		                   : scan.flaw         ? scan.flaw
		                                       : scan.cause);
	if (result != SCAN_OK)
		return events_skip(events, error);
	if (events->opens_list) {
		events->has_list = true;
		events->phase = PHASE_EVENTS;
	} else if (!scan.flaw) {
		code = give_member(events, &scan);
	}
	events->window.begin = (size_t)(scan.at - events->window.bytes);
	return code;
}

/* A list that ended too early, or another one behind it. */
static void return_to_events(struct trace_events *events)
{
	events_note_damage(events, &events->damage.n_members, text_window_offset(&events->window),
	                   "the events go on behind their end");
	events->phase = PHASE_EVENTS;
}

static int step_members(struct trace_events *events, struct flextrace_error *error)
{
	int byte = events_peek(events, error);

	if (byte < 0 && byte != PEEK_END)
		return byte;
	if (byte == PEEK_END) {
		events->damage.is_cut = true;
		events->phase = PHASE_DONE;
	} else if (byte == '}') {
		events->window.begin++;
		events->has_ended = true;
		events->phase = PHASE_TAIL;
	} else if (byte == '{' && events->has_list) {
		return_to_events(events);
	} else {
		return read_member(events, error);
	}
	return FLEXTRACE_OK;
}

/* -- begin and end -------------------------------------------------------------------------- */

static int start_text(struct trace_events *events, struct flextrace_error *error)
{
	struct text_window *window = &events->window;
	int state = WINDOW_GREW, byte;

	while (state == WINDOW_GREW && window->end < sizeof(BYTE_ORDER_MARK) - 1)
		state = text_window_fill(window, error);
	if (state < 0)
		return state;
	if (window->end >= sizeof(BYTE_ORDER_MARK) - 1 &&
	    !memcmp(window->bytes, BYTE_ORDER_MARK, sizeof(BYTE_ORDER_MARK) - 1))
		window->begin = sizeof(BYTE_ORDER_MARK) - 1;
	byte = events_peek(events, error);
	if (byte == PEEK_END)
		return error_set(error, FLEXTRACE_E_INPUT, "No trace, it is %s: file=%s",
		                 window->is_damaged ? "a damaged gzip file" : "empty",
		                 events->name);
	if (byte < 0)
		return byte;
	if (byte != '[' && byte != '{')
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "No trace, it is no JSON array or object: file=%s, byte=0x%02x",
		                 events->name, (unsigned int)byte);
	window->begin++;
	events->is_array = events->has_list = byte == '[';
	events->phase = events->is_array ? PHASE_EVENTS : PHASE_MEMBERS;
	return FLEXTRACE_OK;
}

static int step_tail(struct trace_events *events, struct flextrace_error *error)
{
	int byte = events_peek(events, error);

	if (byte < 0 && byte != PEEK_END)
		return byte;
	if (byte == PEEK_END) {
		events->phase = PHASE_DONE;
	} else if (events->is_array || (events->has_list && byte == '{')) {
		return_to_events(events);
		events->window.begin += byte == '[' || byte == ']';
	} else {
		events_note_damage(events, &events->damage.n_members,
		                   text_window_offset(&events->window), "text behind the end");
		events->phase = PHASE_DONE;
	}
	return FLEXTRACE_OK;
}

/* Tells a trace that holds nothing from what is no trace. */
static int check_end(struct trace_events *events, struct flextrace_error *error)
{
	if (events->window.is_damaged)
		events->damage.is_cut = true;
	if (!events->has_list)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "No trace, it has no array traceEvents: file=%s", events->name);
	if (events->damage.n_events && !events->has_seen_event)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "No trace, nothing in it is an event: file=%s, elements=%llu, "
		                 "first=%s",
		                 events->name, (unsigned long long)events->damage.n_events,
		                 events->damage.first_cause);
	return FLEXTRACE_OK;
}

static int step(struct trace_events *events, struct trace_event *ret_event,
                struct flextrace_error *error)
{
	switch (events->phase) {
	case PHASE_START:
		return start_text(events, error);
	case PHASE_MEMBERS:
		return step_members(events, error);
	case PHASE_EVENTS:
		return events_step(events, ret_event, error);
	default:
		return step_tail(events, error);
	}
}

int trace_events_next(struct trace_events *events, struct trace_event *ret_event,
                      struct flextrace_error *error)
{
	int code = FLEXTRACE_OK;

	if (events->phase == PHASE_FAILED)
		return events->failure;
	while (code == FLEXTRACE_OK && events->phase != PHASE_DONE)
		code = step(events, ret_event, error);
	if (code > 0)
		return code;
	if (code == FLEXTRACE_OK)
		code = check_end(events, error);
	if (code < 0) {
		events->phase = PHASE_FAILED;
		events->failure = code;
	}
	return code;
}
