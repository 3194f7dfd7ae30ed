// SPDX-License-Identifier: Apache-2.0
#include "import/event_scan.h"

#include <stdlib.h>

#include "array.h"

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

/* -- keys ------------------------------------------------------------------------------------ */

/* Whether the bytes at the scan are the key that stood here last. */
static inline bool is_memo(const struct key_memo *memo, const struct json_scan *scan)
{
	uint64_t words[2];

	if (scan->end - scan->at < (ptrdiff_t)sizeof(words))
		return false;
	memcpy(words, scan->at, sizeof(words));
	return !(((words[0] ^ memo->words[0]) & memo->masks[0]) |
	         ((words[1] ^ memo->words[1]) & memo->masks[1]));
}

/* Remembers a key that stands at `at`, if its colon follows it at once. */
static void keep_memo(struct key_memo *memo, const char *at, const struct trace_text *key,
                      unsigned int kind)
{
	size_t n_bytes = key->length + 3;
	char bytes[sizeof(memo->words)] = {0}, masks[sizeof(memo->masks)] = {0};

	memo->level = 0;
	if (n_bytes > sizeof(bytes) || at[n_bytes - 1] != ':' ||
	    memchr(key->bytes, '\\', key->length))
		return;
	memcpy(bytes, at, n_bytes);
	memset(masks, 0xff, n_bytes);
	memcpy(memo->words, bytes, sizeof(bytes));
	memcpy(memo->masks, masks, sizeof(masks));
	memo->n_bytes = (uint8_t)n_bytes;
	memo->kind = (uint8_t)kind;
	memo->level = kind == KEY_ARG ? 1 : 2;
}

/* Takes a key and its colon, and finds what it is. */
static inline enum scan_result take_key(struct event_scan *event, struct json_scan *scan,
                                        bool is_member, struct trace_text *ret_key,
                                        unsigned int *ret_kind)
{
	struct key_memo *memo = &event->memos[event->n_keys++ % EVENT_MEMOS];
	const char *at = scan->at;

	if (memo->level == 1 + is_member && is_memo(memo, scan)) {
		*ret_key = (struct trace_text){at + 1, memo->n_bytes - 3u};
		*ret_kind = memo->kind;
		scan->text = at + 1;
		scan->at = at + memo->n_bytes;
		return json_space(scan);
	}
	SCAN_TRY(json_key(scan, ret_key));
	*ret_kind = is_member ? kind_of_key(scan, ret_key) : KEY_ARG;
	keep_memo(memo, at, ret_key, *ret_kind);
	return SCAN_OK;
}

/* -- members --------------------------------------------------------------------------------- */

static inline enum scan_result take_value(struct json_scan *scan, struct trace_value *value)
{
	if (*scan->at != '"')
		return json_value(scan, value);
	value->kind = TRACE_TEXT;
	return json_text(scan, &value->text);
}

static inline enum scan_result add_arg(struct event_scan *event, struct json_scan *scan,
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
	return take_value(scan, &arg->value);
}

/* Steps to the next member, or to the bracket behind the last one. */
static inline enum scan_result take_comma(struct json_scan *scan)
{
	SCAN_TRY(json_space(scan));
	if (*scan->at == ',') {
		scan->at++;
		return json_space(scan);
	}
	return *scan->at == '}' ? SCAN_OK : json_bad(scan, "a comma or bracket is missing");
}

/* The members of `args`; a comma behind the last one is no harm. */
static enum scan_result scan_args(struct event_scan *event, struct json_scan *scan)
{
	scan->at++;
	SCAN_TRY(json_space(scan));
	while (*scan->at != '}') {
		struct trace_text key;
		unsigned int kind;

		SCAN_TRY(take_key(event, scan, false, &key, &kind));
		SCAN_TRY(add_arg(event, scan, &key, false));
		SCAN_TRY(take_comma(scan));
	}
	scan->at++;
	return SCAN_OK;
}

static enum scan_result take_args(struct event_scan *event, struct json_scan *scan,
                                  const struct trace_text *key)
{
	enum scan_result result;

	if (*scan->at == '{')
		return scan_args(event, scan);
	result = add_arg(event, scan, key, true);
	if (result == SCAN_OK && event->args[event->n_args - 1].value.kind == TRACE_LITERAL)
		event->n_args--; /* null */
	return result;
}

static enum scan_result scan_members(struct event_scan *event, struct json_scan *scan)
{
	scan->at++;
	SCAN_TRY(json_space(scan));
	while (*scan->at != '}') {
		struct trace_text key;
		unsigned int kind;

		SCAN_TRY(take_key(event, scan, true, &key, &kind));
		if (kind < KEY_ARG)
			SCAN_TRY(take_value(scan, known_member(event, kind)));
		else if (kind == KEY_ARGS)
			SCAN_TRY(take_args(event, scan, &key));
		else
			SCAN_TRY(add_arg(event, scan, &key, true));
		SCAN_TRY(take_comma(scan));
	}
	scan->at++;
	return SCAN_OK;
}

enum scan_result event_scan(struct event_scan *event, struct json_scan *scan)
{
	memset(&event->ph, 0, KEY_ARG * sizeof(event->ph));
	event->n_args = 0;
	event->n_keys = 0;
	event->has_no_memory = false;
	return scan_members(event, scan);
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

static void end_text(const struct trace_text *text)
{
	((char *)text->bytes)[text->length] = '\0'; /* of the reader's own buffer */
}

static void settle_args(struct event_scan *event, bool has_escapes)
{
	for (uint32_t i = 0; i < event->n_args && !has_escapes; i++) {
		end_text(&event->args[i].key);
		end_text(&event->args[i].value.text);
	}
	for (uint32_t i = 0; i < event->n_args && has_escapes; i++) {
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
