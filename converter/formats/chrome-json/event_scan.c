// SPDX-License-Identifier: Apache-2.0
#include "event_scan.h"

#include <stdlib.h>

_Static_assert(offsetof(struct event_scan, args) == 9 * sizeof(struct trace_value), "see KEY_ARG");

/* No known name is longer, even if each letter is written as an escape. */
#define KNOWN_NAME_BYTES 4
#define ESCAPED_BYTES    6

#define IS(name, literal) (!memcmp(name, literal, sizeof(literal) - 1))

/* What a key is: a known member by its place in struct event_scan, or one of these. */
enum key_kind { KEY_ARG = 9, KEY_MEMBER, KEY_ARGS };

static struct trace_value *known_member(struct event_scan *event, unsigned int kind)
{
	return &event->ph + kind;
}

#define MEMBER(name) (offsetof(struct event_scan, name) / sizeof(struct trace_value))

static unsigned int kind_of_member(const char *name, size_t length)
{
	switch (length) {
	case 2:
		return IS(name, "ph")   ? MEMBER(ph)
		       : IS(name, "ts") ? MEMBER(ts)
		       : IS(name, "id") ? MEMBER(id)
		       : IS(name, "bp") ? MEMBER(bp)
		                        : KEY_MEMBER;
	case 3:
		return IS(name, "pid")   ? MEMBER(pid)
		       : IS(name, "tid") ? MEMBER(tid)
		       : IS(name, "dur") ? MEMBER(dur)
		       : IS(name, "cat") ? MEMBER(cat)
		                         : KEY_MEMBER;
	case 4:
		return IS(name, "name")                       ? MEMBER(name)
		       : IS(name, "args") || IS(name, "attr") ? KEY_ARGS
		                                              : KEY_MEMBER;
	default:
		return KEY_MEMBER;
	}
}

static unsigned int kind_of_key(const struct json_scan *scan, const struct trace_text *key)
{
	char plain[KNOWN_NAME_BYTES * ESCAPED_BYTES];

	if (!scan->has_escapes || scan->flaw || key->length > sizeof(plain))
		return kind_of_member(key->bytes, key->length);
	memcpy(plain, key->bytes, key->length);
	return kind_of_member(plain, json_unescape(plain, key->length));
}

/* -- steps from value to value --------------------------------------------------------------- */

/* Where a scan is: behind a value, or the bracket that opened the event. */
struct event_place {
	uint32_t n_steps; /* from there to here */
	bool is_in_args;
	bool is_first; /* a bracket was opened, and no more */
	bool has_ended;
	struct trace_text key; /* of the value that is found */
	unsigned int kind;     /* what the key is */
};

#ifdef __SSE2__
static inline uint32_t compare_bytes(const char *left, const char *right)
{
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)left),
	                                                  _mm_loadu_si128((const __m128i *)right)));
}

static inline bool are_bytes(const struct event_step *step, const char *at)
{
	if (step->mask & ~compare_bytes(at, step->bytes) & 0xffff)
		return false;
	return step->n_bytes <= 16 ||
	       !(step->mask >> 16 & ~compare_bytes(at + 16, step->bytes + 16));
}
#else
static inline bool are_bytes(const struct event_step *step, const char *at)
{
	return !memcmp(at, step->bytes, step->n_bytes);
}
#endif

/* Takes a text or number as most are; NULL: it is another, or the bytes end. */
static inline const char *take_plain(const char *at, const char *end, struct trace_value *value)
{
	const char *start = at;

	if (*at == '"') {
		at = json_find_special(++start, end);
		if (at == end || *at != '"')
			return NULL;
		value->kind = TRACE_TEXT;
		value->text = (struct trace_text){start, (size_t)(at - start)};
		return at + 1;
	}
	at = json_plain_number(start, end);
	if (!at)
		return NULL;
	value->kind = TRACE_NUMBER;
	value->text = (struct trace_text){start, (size_t)(at - start)};
	return at;
}

/* Takes values for as long as the steps to them are those of the last events; for their arguments
 * there is room. */
static void take_known_steps(struct event_scan *event, struct json_scan *scan,
                             struct event_place *place)
{
	const char *at = scan->at, *end = scan->end, *text = scan->text;
	const struct event_step *step = event->steps + place->n_steps;
	struct trace_arg *arg = event->args + event->n_args;
	bool is_in_args = place->is_in_args;

	for (; step < event->steps + EVENT_STEPS; step++) {
		struct trace_value *value = step->kind < KEY_ARG ? known_member(event, step->kind)
		                                                 : &arg->value;
		const char *behind;

		if (step->was_in_args != is_in_args || end - at <= EVENT_STEP_BYTES ||
		    !are_bytes(step, at))
			break;
		behind = take_plain(at + step->n_bytes, end, value);
		if (!behind)
			break;
		text = at + step->key_at;
		at = behind;
		is_in_args = step->is_in_args;
		if (value == &arg->value) {
			arg->key = (struct trace_text){text, step->key_length};
			arg->is_member = !is_in_args;
			arg++;
		}
	}
	if (at > scan->at)
		place->is_first = false;
	place->n_steps = (uint32_t)(step - event->steps);
	place->is_in_args = is_in_args;
	event->n_args = (uint32_t)(arg - event->args);
	scan->at = at;
	scan->text = text;
}

/* Remembers what stands from `from` to the scan, of which `place` tells the key. */
static void keep_step(struct event_step *step, const struct json_scan *scan, const char *from,
                      bool was_in_args, const struct event_place *place)
{
	size_t n_bytes = (size_t)(scan->at - from);

	step->was_in_args = EVENT_NO_STEP;
	if (n_bytes > sizeof(step->bytes) || scan->flaw ||
	    memchr(place->key.bytes, '\\', place->key.length))
		return;
	memcpy(step->bytes, from, n_bytes);
	step->mask = (uint32_t)((UINT64_C(1) << n_bytes) - 1);
	step->n_bytes = (uint8_t)n_bytes;
	step->key_at = (uint8_t)(place->key.bytes - from);
	step->key_length = (uint8_t)place->key.length;
	step->kind = (uint8_t)place->kind;
	step->was_in_args = was_in_args;
	step->is_in_args = place->is_in_args;
}

/* Steps to the next member, or to the bracket behind the last one. */
static enum scan_result take_comma(struct json_scan *scan)
{
	SCAN_TRY(json_space(scan));
	if (*scan->at == ',') {
		scan->at++;
		return json_space(scan);
	}
	return *scan->at == '}' ? SCAN_OK : json_bad(scan, "a comma or bracket is missing");
}

/* Finds the next value, in `args` or behind, or the end. A comma behind the last one is no harm. */
static enum scan_result find_value(struct json_scan *scan, struct event_place *place)
{
	for (;;) {
		SCAN_TRY(place->is_first ? json_space(scan) : take_comma(scan));
		place->is_first = false;
		if (*scan->at == '}') {
			scan->at++;
			place->has_ended = !place->is_in_args;
			if (place->has_ended)
				return SCAN_OK;
			place->is_in_args = false;
			continue;
		}
		SCAN_TRY(json_key(scan, &place->key));
		place->kind = place->is_in_args ? KEY_ARG : kind_of_key(scan, &place->key);
		if (place->kind != KEY_ARGS || *scan->at != '{')
			return SCAN_OK;
		scan->at++;
		place->is_in_args = place->is_first = true;
	}
}

/* The same, and remembers how. */
static enum scan_result step_to_value(struct event_scan *event, struct json_scan *scan,
                                      struct event_place *place)
{
	bool was_in_args = place->is_in_args;
	const char *from = scan->at;

	SCAN_TRY(find_value(scan, place));
	if (!place->has_ended && place->n_steps < EVENT_STEPS)
		keep_step(&event->steps[place->n_steps++], scan, from, was_in_args, place);
	return SCAN_OK;
}

/* -- members --------------------------------------------------------------------------------- */

static enum scan_result take_value(struct json_scan *scan, struct trace_value *value)
{
	if (*scan->at != '"')
		return json_value(scan, value);
	value->kind = TRACE_TEXT;
	return json_text(scan, &value->text);
}

/* For an argument that is added, and for as many as there are steps. */
static enum scan_result make_room(struct event_scan *event, struct json_scan *scan)
{
	if (ARRAY_RESERVE(event->args, event->n_allocated,
	                  (uint64_t)event->n_args + 1 + EVENT_STEPS) == FLEXTRACE_OK)
		return SCAN_OK;
	event->has_no_memory = true;
	return json_bad(scan, "no memory");
}

static enum scan_result add_arg(struct event_scan *event, struct json_scan *scan,
                                const struct event_place *place)
{
	struct trace_arg *arg;

	if (event->n_args == TRACE_ARGS_LIMIT) {
		scan->is_over_limit = true;
		return json_bad(scan, "too many arguments");
	}
	SCAN_TRY(make_room(event, scan));
	arg = &event->args[event->n_args++];
	arg->key = place->key;
	arg->is_member = !place->is_in_args;
	SCAN_TRY(take_value(scan, &arg->value));
	if (place->kind == KEY_ARGS && arg->value.kind == TRACE_LITERAL)
		event->n_args--; /* null */
	return SCAN_OK;
}

/* The first time. */
static enum scan_result start(struct event_scan *event, struct json_scan *scan)
{
	for (int i = 0; i < EVENT_STEPS; i++)
		event->steps[i].was_in_args = EVENT_NO_STEP;
	return make_room(event, scan);
}

enum scan_result event_scan(struct event_scan *event, struct json_scan *scan)
{
	struct event_place place = {.is_first = true};

	for (unsigned int kind = 0; kind < KEY_ARG; kind++)
		known_member(event, kind)->kind = TRACE_ABSENT;
	event->n_args = 0;
	event->has_no_memory = false;
	if (!event->args)
		SCAN_TRY(start(event, scan));
	scan->at++;
	for (;;) {
		take_known_steps(event, scan, &place);
		SCAN_TRY(step_to_value(event, scan, &place));
		if (place.has_ended)
			return SCAN_OK;
		if (place.kind < KEY_ARG)
			SCAN_TRY(take_value(scan, known_member(event, place.kind)));
		else
			SCAN_TRY(add_arg(event, scan, &place));
	}
}

/* -- settling -------------------------------------------------------------------------------- */

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
static inline bool settle_known(struct trace_value *value, bool has_escapes, bool may_be_number)
{
	if (value->kind == TRACE_ABSENT)
		return true;
	value_settle(value, has_escapes);
	if (value->kind == TRACE_LITERAL && IS(value->text.bytes, "null"))
		*value = (struct trace_value){TRACE_ABSENT, {NULL, 0}};
	return value->kind <= TRACE_TEXT || (may_be_number && value->kind == TRACE_NUMBER);
}

static inline void end_text(const struct trace_text *text)
{
	((char *)text->bytes)[text->length] = '\0'; /* of the reader's own buffer */
}

static void settle_args(struct event_scan *event, bool has_escapes)
{
	struct trace_arg *arg = event->args, *end = arg + event->n_args;

	for (; arg < end && !has_escapes; arg++) {
		end_text(&arg->key);
		end_text(&arg->value.text);
	}
	for (; arg < end; arg++) {
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

static struct trace_text text_of(const struct trace_value *value)
{
	static const struct trace_text none = {NULL, 0};

	return value->kind == TRACE_ABSENT ? none : value->text;
}

const char *event_settle(struct event_scan *event, bool has_escapes, struct trace_event *ret_event)
{
	settle_args(event, has_escapes);
	if (!settle_known(&event->ph, has_escapes, false) || text_of(&event->ph).length != 1)
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
	ret_event->name = text_of(&event->name);
	ret_event->cat = text_of(&event->cat);
	ret_event->bp = text_of(&event->bp);
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
