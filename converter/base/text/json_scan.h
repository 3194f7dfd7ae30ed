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

#include <endian.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "json_value.h"

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

#define JSON_EACH_BYTE(value) ((uint64_t)(value)*0x0101010101010101u)

/* Finds the next quote, backslash or control byte. Of each term of `hits` the lowest bit that is
 * set is right, higher ones may come from its borrow. */
static inline const char *json_find_special(const char *at, const char *end)
{
#ifdef __SSE2__
	for (; end - at >= 16; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)at);
		__m128i control = _mm_min_epu8(bytes, _mm_set1_epi8(0x1f));
		__m128i hits = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
		                            _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
		int mask = _mm_movemask_epi8(_mm_or_si128(hits, _mm_cmpeq_epi8(bytes, control)));

		if (mask)
			return at + __builtin_ctz((unsigned int)mask);
	}
#endif
	for (; end - at >= 8; at += 8) {
		uint64_t word, quote, escape, hits;

		memcpy(&word, at, sizeof(word));
		word = le64toh(word);
		quote = word ^ JSON_EACH_BYTE('"');
		escape = word ^ JSON_EACH_BYTE('\\');
		hits = ((quote - JSON_EACH_BYTE(1)) & ~quote) |
		       ((escape - JSON_EACH_BYTE(1)) & ~escape) |
		       ((word - JSON_EACH_BYTE(0x20)) & ~word);
		hits &= JSON_EACH_BYTE(0x80);
		if (hits)
			return at + __builtin_ctzll(hits) / 8;
	}
	while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
		at++;
	return at;
}

/* A text from `start` on, of which what is before `at` is plain. */
enum scan_result json_rest_of_text(struct json_scan *scan, const char *start, const char *at,
                                   struct trace_text *ret_text);

/* What stands between the quote at the scan and the next one, escapes and all. */
static inline enum scan_result json_text(struct json_scan *scan, struct trace_text *ret_text)
{
	const char *start = scan->at + 1;
	const char *at = json_find_special(start, scan->end);

	scan->text = start;
	if (at >= scan->end || *at != '"')
		return json_rest_of_text(scan, start, at, ret_text);
	*ret_text = (struct trace_text){start, (size_t)(at - start)};
	scan->at = at + 1;
	return SCAN_OK;
}

static inline bool json_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Finds the next byte that is no digit. In the loop of eight the lowest bit that is set in `hits`
 * is right, higher ones may come from a carry. */
static inline const char *json_skip_digits(const char *at, const char *end)
{
#ifdef __SSE2__
	for (; end - at >= 16; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)at);
		__m128i digits = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
		__m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
		unsigned int others = (unsigned int)_mm_movemask_epi8(is_digit) ^ 0xffff;

		if (others)
			return at + __builtin_ctz(others);
	}
#endif
	for (; end - at >= 8; at += 8) {
		uint64_t word, hits;

		memcpy(&word, at, sizeof(word));
		word = le64toh(word) ^ JSON_EACH_BYTE('0'); /* digits become 0 to 9 */
		hits = (word | (word + JSON_EACH_BYTE(0x76))) & JSON_EACH_BYTE(0x80);
		if (hits)
			return at + __builtin_ctzll(hits) / 8;
	}
	while (at < end && json_is_digit(*at))
		at++;
	return at;
}

/* Returns what is behind a number without sign and exponent, whole or with a fraction; NULL: it is
 * another, or the bytes end. */
static inline const char *json_plain_number(const char *start, const char *end)
{
	const char *at = json_skip_digits(start, end), *point = at;

	if (at == start || at == end || (*start == '0' && at - start > 1))
		return NULL;
	if (*at == '.') {
		at = json_skip_digits(++point, end);
		if (at == point || at == end)
			return NULL;
	}
	return (*at | 0x20) != 'e' ? at : NULL;
}

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

	if (at < scan->end && (unsigned char)*at > ' ') /* as mostly */
		return SCAN_OK;
	while (at < scan->end && json_is_space(*at))
		at++;
	scan->at = at;
	return at < scan->end ? SCAN_OK : SCAN_MORE;
}

#endif
