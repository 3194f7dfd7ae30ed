/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_value.h: a value of a JSON text, and what it says as a number, exactly.
 */
#ifndef FLEXTRACE_JSON_VALUE_H
#define FLEXTRACE_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRACE_DEPTH_LIMIT 64 /* what is nested deeper costs the event */

struct trace_text {
	const char *bytes; /* weak; a NUL stands behind; NULL: absent */
	size_t length;
};

enum trace_kind {
	TRACE_ABSENT,  /* not there, or null where the event itself is described */
	TRACE_TEXT,    /* unescaped; also NaN, Infinity and -Infinity, which JSON has not */
	TRACE_NUMBER,  /* its decimal text: a valid JSON number */
	TRACE_LITERAL, /* true, false, null */
	TRACE_JSON     /* an array or object: its raw text, valid JSON but for bytes no UTF-8 */
};

struct trace_value {
	enum trace_kind kind;
	struct trace_text text;
};

/* Each returns whether the value is such a number: a JSON number or a text of one, in decimal, or
 * a text in hexadecimal behind 0x. Integers must be whole (1.0 and 1e3 are) and fit. */
bool trace_value_u64(const struct trace_value *value, uint64_t *ret);
bool trace_value_i64(const struct trace_value *value, int64_t *ret);
bool trace_value_double(const struct trace_value *value, double *ret);

/* The same for microseconds as exact nanoseconds. */
bool trace_value_us_as_ns(const struct trace_value *value, int64_t *ret_ns);

/* Walks the elements of an array: start with `rest` = the text of a TRACE_JSON value; false at the
 * end, or if that is no array. Texts come as they stand between the quotes, escapes and all, and
 * no NUL stands behind elements. */
bool trace_array_next(struct trace_text *rest, struct trace_value *ret_element);

static inline bool trace_text_is(const struct trace_text *text, const char *literal)
{
	return text->length == strlen(literal) && !memcmp(text->bytes, literal, text->length);
}

#endif
