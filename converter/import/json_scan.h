/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.h: the words of a JSON text that arrives in pieces.
 *
 * - A scan looks at the bytes that are there. SCAN_MORE: they end within a word; get more, and scan
 *   again from where the whole began. Nothing is written, so that may be done at will.
 * - SCAN_BAD: the grammar is broken at `at`, for `cause`. What leaves the grammar whole (a bad
 *   escape) is told in `flaw`, and the scan goes on.
 * - No recursion: nesting is a depth and a bit per level.
 */
#ifndef FLEXTRACE_IMPORT_JSON_SCAN_H
#define FLEXTRACE_IMPORT_JSON_SCAN_H

#include "import/trace_events.h"

enum scan_result { SCAN_OK, SCAN_MORE, SCAN_BAD };

struct json_scan {
	const char *at;           /* weak; the next byte */
	const char *end;          /* weak; behind the last byte */
	const char *text;         /* weak; where the last text began; NULL: there was none */
	const char *cause, *flaw; /* static; NULL: none */
	bool is_over_limit;       /* `cause` is a limit */
	bool has_escapes;         /* in any text so far */
};

/* Returns from the calling function unless `expression` is SCAN_OK. */
#define SCAN_TRY(expression)                          \
	do {                                          \
		enum scan_result try_ = (expression); \
		if (try_ != SCAN_OK)                  \
			return try_;                  \
	} while (0)

enum scan_result json_bad(struct json_scan *scan, const char *cause);

/* Any value: of texts what stands between the quotes, escapes and all; else what is there. */
enum scan_result json_value(struct json_scan *scan, struct trace_value *ret_value);

/* A member's name and what stands up to its value. */
enum scan_result json_key(struct json_scan *scan, struct trace_text *ret_key);

/* Undoes the escapes of a scanned text where it stands, and returns how many bytes remain. */
size_t json_unescape(char *bytes, size_t length);

static inline bool json_is_space(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* Steps to the next byte that is no space. */
static inline enum scan_result json_space(struct json_scan *scan)
{
	const char *at = scan->at;

	while (at < scan->end && json_is_space(*at))
		at++;
	scan->at = at;
	return at < scan->end ? SCAN_OK : SCAN_MORE;
}

#endif
