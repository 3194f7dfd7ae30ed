/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told.h: what the file of another tool said of an interval, kept so that it comes out again.
 *
 * It is the text of a JSON object: first `cat`, the category, then all arguments as they stood
 * there. Host rows have it in `args`, control blocks in `type`. Any program may record a text that
 * looks so: one that is no JSON to the last byte (but for bytes that are no UTF-8) is none.
 */
#ifndef FLEXTRACE_IMPORT_TOLD_H
#define FLEXTRACE_IMPORT_TOLD_H

#include "base/text/json_value.h"

/* Weak, of the text. */
struct told {
	struct trace_text category; /* as it stands between its quotes, escapes and all */
	struct trace_text members;  /* the others: "a":1,"b":2; a `}` stands behind them */
};

/* Whether a text begins like one. */
static inline bool told_is_likely(const char *text)
{
	return strncmp(text, "{\"cat\":\"", 8) == 0;
}

/* Reads a text; false: it is none. */
bool told_read(const char *text, size_t n_bytes, struct told *ret_told);

/* Whether a text is a JSON array or object, and nothing else. */
bool told_is_json(const char *text);

/* Walks the members of an object, or those of a struct told: start with `rest` = its text. False at
 * the end. Texts have their escapes. */
bool told_next(struct trace_text *rest, struct trace_text *ret_key, struct trace_value *ret_value);

/* Finds an argument; false: there is none. Texts have their escapes. Linear. */
bool told_find(const struct told *told, const char *key, struct trace_value *ret_value);

/* The same for a whole number that is not negative, also in a text. */
bool told_find_u64(const struct told *told, const char *key, uint64_t *ret_number);

#endif
