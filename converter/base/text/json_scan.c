// SPDX-License-Identifier: Apache-2.0
/*
 * json_scan.c: escapes, numbers, literals, and nested values without recursion.
 */
#include "json_scan.h"

#include "digits.h"

enum scan_result json_bad(struct json_scan *scan, const char *cause)
{
	scan->cause = cause;
	return SCAN_BAD;
}

static enum scan_result add_flaw(struct json_scan *scan, const char *flaw)
{
	if (!scan->flaw)
		scan->flaw = flaw;
	return SCAN_OK;
}

/* Returns the code unit of the four digits, -1: they are none. */
static int32_t code_unit(const char *digits)
{
	int32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(digits[i]);

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/* Steps behind the escape at `*at`. */
static enum scan_result scan_escape(struct json_scan *scan, const char **at)
{
	const char *escape = *at;

	scan->has_escapes = true;
	if (scan->end - escape < 2)
		return SCAN_MORE;
	*at += 2;
	if (escape[1] && strchr("\"\\/bfnrt", escape[1]))
		return SCAN_OK;
	if (escape[1] != 'u')
		return add_flaw(scan, "bad escape");
	if (scan->end - escape < 6)
		return SCAN_MORE;
	if (code_unit(escape + 2) < 0)
		return add_flaw(scan, "bad escape");
	*at += 4;
	return SCAN_OK;
}

enum scan_result json_rest_of_text(struct json_scan *scan, const char *start, const char *at,
                                   struct trace_text *ret_text)
{
	while (at < scan->end && *at != '"') {
		if (*at == '\\')
			SCAN_TRY(scan_escape(scan, &at));
		else if (!*at++)
			add_flaw(scan, "a NUL in a text");
		at = json_find_special(at, scan->end);
	}
	if (at >= scan->end)
		return SCAN_MORE;
	*ret_text = (struct trace_text){start, (size_t)(at - start)};
	scan->at = at + 1;
	return SCAN_OK;
}

enum scan_result json_key(struct json_scan *scan, struct trace_text *ret_key)
{
	if (*scan->at != '"')
		return json_bad(scan, "a name is missing");
	SCAN_TRY(json_text(scan, ret_key));
	SCAN_TRY(json_space(scan));
	if (*scan->at != ':')
		return json_bad(scan, "a colon is missing");
	scan->at++;
	return json_space(scan);
}

static inline enum scan_result scan_digits(struct json_scan *scan)
{
	const char *start = scan->at;

	scan->at = json_skip_digits(start, scan->end);
	if (scan->at == scan->end)
		return SCAN_MORE;
	return scan->at > start ? SCAN_OK : json_bad(scan, "bad number");
}

static enum scan_result scan_word(struct json_scan *scan, const char *word)
{
	for (; *word; word++, scan->at++) {
		if (scan->at == scan->end)
			return SCAN_MORE;
		if (*scan->at != *word)
			return json_bad(scan, "unknown word");
	}
	return SCAN_OK;
}

/* A number, or -Infinity. */
static enum scan_result scan_number(struct json_scan *scan, struct trace_value *value)
{
	const char *start = scan->at;

	value->kind = TRACE_NUMBER;
	if (*scan->at == '-')
		scan->at++;
	if (scan->at < scan->end && *scan->at == 'I') {
		value->kind = TRACE_TEXT;
		SCAN_TRY(scan_word(scan, "Infinity"));
	} else {
		const char *digits = scan->at;

		SCAN_TRY(scan_digits(scan));
		if (*digits == '0' && scan->at - digits > 1)
			return json_bad(scan, "bad number");
		if (*scan->at == '.') {
			scan->at++;
			SCAN_TRY(scan_digits(scan));
		}
		if (*scan->at == 'e' || *scan->at == 'E') {
			scan->at++;
			if (scan->at < scan->end && (*scan->at == '+' || *scan->at == '-'))
				scan->at++;
			SCAN_TRY(scan_digits(scan));
		}
	}
	value->text = (struct trace_text){start, (size_t)(scan->at - start)};
	return SCAN_OK;
}

static enum scan_result scan_literal(struct json_scan *scan, struct trace_value *value)
{
	static const struct {
		const char *word;
		enum trace_kind kind;
	} words[] = {
		{"true", TRACE_LITERAL}, {"false", TRACE_LITERAL}, {"null", TRACE_LITERAL},
		{"NaN", TRACE_TEXT},     {"Infinity", TRACE_TEXT},
	};
	const char *start = scan->at;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (*start != words[i].word[0])
			continue;
		SCAN_TRY(scan_word(scan, words[i].word));
		value->kind = words[i].kind;
		value->text = (struct trace_text){start, (size_t)(scan->at - start)};
		return SCAN_OK;
	}
	return json_bad(scan, "a value is missing");
}

static enum scan_result scan_scalar(struct json_scan *scan, struct trace_value *value)
{
	if (*scan->at == '"') {
		value->kind = TRACE_TEXT;
		return json_text(scan, &value->text);
	}
	if (*scan->at == '-' || json_is_digit(*scan->at))
		return scan_number(scan, value);
	return scan_literal(scan, value);
}

struct nest {
	uint64_t objects; /* a bit per level: it is an object */
	unsigned int depth;
};

static char closer_of(const struct nest *nest)
{
	return nest->objects & 1 ? '}' : ']';
}

/* What is handed on raw must be JSON: no control bytes in texts. */
static enum scan_result check_inner(struct json_scan *scan, const struct trace_text *text)
{
	for (size_t i = 0; i < text->length; i++) {
		if ((unsigned char)text->bytes[i] < 0x20)
			return add_flaw(scan, "a control byte in a nested text");
	}
	return SCAN_OK;
}

static enum scan_result scan_inner_key(struct json_scan *scan)
{
	struct trace_text key;

	SCAN_TRY(json_key(scan, &key));
	return check_inner(scan, &key);
}

static enum scan_result scan_inner(struct json_scan *scan)
{
	struct trace_value value;

	SCAN_TRY(scan_scalar(scan, &value));
	if (value.kind != TRACE_TEXT)
		return SCAN_OK;
	if (scan->at[-1] != '"')
		return add_flaw(scan, "NaN or Infinity in a nested value");
	return check_inner(scan, &value.text);
}

static enum scan_result open_level(struct json_scan *scan, struct nest *nest, bool *ret_is_empty)
{
	if (nest->depth == TRACE_DEPTH_LIMIT) {
		scan->is_over_limit = true;
		return json_bad(scan, "nested too deep");
	}
	nest->objects = nest->objects << 1 | (*scan->at == '{');
	nest->depth++;
	scan->at++;
	SCAN_TRY(json_space(scan));
	*ret_is_empty = *scan->at == closer_of(nest);
	return nest->objects & 1 && !*ret_is_empty ? scan_inner_key(scan) : SCAN_OK;
}

/* Steps behind a value to the next one, or out of all that it closes. */
static enum scan_result leave_value(struct json_scan *scan, struct nest *nest)
{
	while (nest->depth) {
		SCAN_TRY(json_space(scan));
		if (*scan->at == ',') {
			scan->at++;
			SCAN_TRY(json_space(scan));
			return nest->objects & 1 ? scan_inner_key(scan) : SCAN_OK;
		}
		if (*scan->at != closer_of(nest))
			return json_bad(scan, "a comma or bracket is missing");
		scan->at++;
		nest->objects >>= 1;
		nest->depth--;
	}
	return SCAN_OK;
}

static enum scan_result scan_nested(struct json_scan *scan, struct trace_value *value)
{
	const char *start = scan->at;
	struct nest nest = {0, 0};

	do {
		bool is_whole = true;

		if (*scan->at == '{' || *scan->at == '[')
			SCAN_TRY(open_level(scan, &nest, &is_whole));
		else
			SCAN_TRY(scan_inner(scan));
		if (is_whole)
			SCAN_TRY(leave_value(scan, &nest));
	} while (nest.depth);
	value->kind = TRACE_JSON;
	value->text = (struct trace_text){start, (size_t)(scan->at - start)};
	return SCAN_OK;
}

enum scan_result json_value(struct json_scan *scan, struct trace_value *ret_value)
{
	if (*scan->at == '{' || *scan->at == '[')
		return scan_nested(scan, ret_value);
	return scan_scalar(scan, ret_value);
}

/* Stores a code point as UTF-8, half a pair like any other; U+0000 as C0 80. */
static char *put_code_point(char *to, uint32_t code)
{
	if (code && code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (code & 0x3f));
	return to;
}

/* Stores what the escape at `from` stands for, and returns what is behind it. */
static const char *unescape_one(const char *from, const char *end, char **to)
{
	static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
	const char *letter = memchr(letters, from[1], sizeof(letters) - 1);
	uint32_t code;
	int32_t low = -1;

	if (from[1] != 'u') {
		*(*to)++ = (char)(letter ? bytes[letter - letters] : from[1]);
		return from + 2;
	}
	code = (uint32_t)code_unit(from + 2);
	from += 6;
	if (code >> 10 == 0xd800 >> 10 && end - from >= 6 && from[0] == '\\' && from[1] == 'u')
		low = code_unit(from + 2);
	if (low >> 10 == 0xdc00 >> 10) {
		code = 0x10000 + ((code & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
		from += 6;
	}
	*to = put_code_point(*to, code);
	return from;
}

size_t json_unescape(char *bytes, size_t length)
{
	const char *from = memchr(bytes, '\\', length), *end = bytes + length;
	char *to = bytes + (from ? from - bytes : (ptrdiff_t)length);

	while (from && from < end) {
		if (*from == '\\')
			from = unescape_one(from, end, &to);
		else
			*to++ = *from++;
	}
	return (size_t)(to - bytes);
}
