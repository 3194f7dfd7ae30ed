// SPDX-License-Identifier: Apache-2.0
/*
 * json_value.c: what values say, as numbers, exactly.
 */
#include "json_value.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "digits.h"
#include "json_scan.h"

#define EXPONENT_LIMIT 100000000 /* larger than any text is long */

struct decimal {
	const char *digits; /* weak; with a point among them */
	const char *digits_end;
	int64_t n_whole; /* digits before the point, moved by the exponent */
	bool is_negative;
};

/* Reads "e+12" up to `end`; a missing exponent is 0. */
static bool read_exponent(const char *at, const char *end, int64_t *ret_exponent)
{
	bool is_negative;
	int64_t exponent = 0;

	*ret_exponent = 0;
	if (at == end)
		return true;
	if ((*at | 0x20) != 'e' || ++at == end)
		return false;
	is_negative = *at == '-';
	if ((*at == '+' || *at == '-') && ++at == end)
		return false;
	for (; at < end && json_is_digit(*at); at++) {
		if (exponent < EXPONENT_LIMIT)
			exponent = exponent * 10 + (*at - '0');
	}
	*ret_exponent = is_negative ? -exponent : exponent;
	return at == end;
}

/* Finds the parts of a decimal number; leading zeros are allowed, as texts have them. */
static bool read_decimal(const struct trace_text *text, struct decimal *ret)
{
	const char *at = text->bytes, *end = at + text->length;
	int64_t exponent;

	ret->is_negative = at < end && *at == '-';
	ret->digits = at += ret->is_negative;
	while (at < end && json_is_digit(*at))
		at++;
	ret->n_whole = at - ret->digits;
	if (!ret->n_whole)
		return false;
	if (at < end && *at == '.') {
		const char *point = at++;

		while (at < end && json_is_digit(*at))
			at++;
		if (at - point == 1)
			return false;
	}
	ret->digits_end = at;
	if (!read_exponent(at, end, &exponent))
		return false;
	ret->n_whole += exponent;
	return true;
}

/* Returns whether the next digit still fits. */
static bool add_digit(uint64_t *value, unsigned int digit)
{
	if (*value < UINT64_MAX / 10) {
		*value = *value * 10 + digit;
		return true;
	}
	return !__builtin_mul_overflow(*value, (uint64_t)10, value) &&
	       !__builtin_add_overflow(*value, (uint64_t)digit, value);
}

/* Stores the size of decimal * 10^n_decimals, rounded half up; false: it does not fit. */
static bool scale_decimal(const struct decimal *decimal, int n_decimals, uint64_t *ret,
                          bool *ret_is_exact)
{
	int64_t n_left = decimal->n_whole + n_decimals;
	const char *at = decimal->digits;
	bool rounds_up = false;

	*ret = 0;
	*ret_is_exact = true;
	for (; at < decimal->digits_end; at++) {
		if (*at == '.')
			continue;
		if (n_left > 0) {
			if (!add_digit(ret, (unsigned int)(*at - '0')))
				return false;
		} else {
			rounds_up |= n_left == 0 && *at >= '5';
			*ret_is_exact &= *at == '0';
		}
		n_left--;
	}
	for (; n_left > 0 && *ret; n_left--) {
		if (!add_digit(ret, 0))
			return false;
	}
	return !rounds_up || !__builtin_add_overflow(*ret, (uint64_t)1, ret);
}

/* Eight digits of which the first is the highest, all at once; false: not all are digits. */
static inline bool read_eight_hex(const char *at, uint64_t *ret)
{
	uint64_t word, lower, digit, letter, bad;

	memcpy(&word, at, sizeof(word));
	word = be64toh(word);
	lower = word | JSON_EACH_BYTE(0x20);
	digit = lower ^ JSON_EACH_BYTE('0');   /* 0 to 9 */
	letter = lower ^ JSON_EACH_BYTE(0x60); /* 1 to 6 */
	bad = (digit + JSON_EACH_BYTE(0x76)) &
	      ((letter + JSON_EACH_BYTE(0x79)) | ~(letter + JSON_EACH_BYTE(0x7f)));
	bad |= word | ~(word << 1 | word << 2); /* neither bit 5 nor 6: `lower` is another byte */
	if (bad & JSON_EACH_BYTE(0x80))
		return false;
	word = (word & JSON_EACH_BYTE(0xf)) + 9 * (word >> 6 & JSON_EACH_BYTE(1));
	word = (word | word >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	word = (word | word >> 8) & UINT64_C(0x0000ffff0000ffff);
	*ret = (word | word >> 16) & UINT32_MAX;
	return true;
}

static inline bool is_hex(const struct trace_text *text)
{
	return text->length >= 3 && text->bytes[0] == '0' && (text->bytes[1] | 0x20) == 'x';
}

static bool read_hex(const struct trace_text *text, uint64_t *ret)
{
	const char *at = text->bytes + 2, *end = text->bytes + text->length;
	uint64_t value = 0;

	if (!is_hex(text))
		return false;
	for (; at < end; at++) {
		int digit = hex_digit(*at);

		if (value >> 60 || digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return true;
}

static bool is_scalar(const struct trace_value *value)
{
	return value->kind == TRACE_NUMBER || value->kind == TRACE_TEXT;
}

/* Stores sign and size of a whole number. */
static bool read_whole(const struct trace_value *value, bool *ret_is_negative, uint64_t *ret)
{
	struct decimal decimal;
	bool is_exact;

	*ret_is_negative = false;
	if (!is_scalar(value))
		return false;
	if (read_hex(&value->text, ret))
		return true;
	if (!read_decimal(&value->text, &decimal))
		return false;
	*ret_is_negative = decimal.is_negative;
	return scale_decimal(&decimal, 0, ret, &is_exact) && is_exact;
}

static bool apply_sign(uint64_t size, bool is_negative, int64_t *ret)
{
	if (size > (uint64_t)INT64_MAX + is_negative)
		return false;
	*ret = is_negative ? (int64_t)-size : (int64_t)size;
	return true;
}

/* Apart, so that what most are does without its registers. */
static __attribute__((noinline)) bool read_any_u64(const struct trace_value *value, uint64_t *ret)
{
	bool is_negative;
	uint64_t size;

	if (!read_whole(value, &is_negative, &size) || (is_negative && size))
		return false;
	*ret = size;
	return true;
}

bool trace_value_u64(const struct trace_value *value, uint64_t *ret)
{
	const struct trace_text *text = &value->text;

	if (value->kind == TRACE_TEXT && text->length == 10 && is_hex(text) &&
	    read_eight_hex(text->bytes + 2, ret))
		return true;
	return read_any_u64(value, ret);
}

bool trace_value_i64(const struct trace_value *value, int64_t *ret)
{
	bool is_negative;
	uint64_t size;

	return read_whole(value, &is_negative, &size) && apply_sign(size, is_negative, ret);
}

bool trace_value_double(const struct trace_value *value, double *ret)
{
	struct decimal decimal;
	locale_t locale;
	uint64_t whole;

	if (!is_scalar(value))
		return false;
	if (read_hex(&value->text, &whole)) {
		*ret = (double)whole;
		return true;
	}
	if (!read_decimal(&value->text, &decimal))
		return false;
	locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!locale)
		return false;
	*ret = strtod_l(value->text.bytes, NULL, locale);
	freelocale(locale);
	return isfinite(*ret);
}

/* Eight digits of which the first stands in the lowest byte, as words of them less '0'; `bad` gets
 * a bit if not all are digits. */
static inline int64_t value_of_eight(uint64_t word, uint64_t *bad)
{
	*bad |= (word | (word + JSON_EACH_BYTE(0x76))) & JSON_EACH_BYTE(0x80);
	word = word * (1 + (10 << 8)) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
	word = word * (1 + (100 << 16)) >> 16 & UINT64_C(0x0000ffff0000ffff);
	return (int64_t)(word * (1 + (UINT64_C(10000) << 32)) >> 32);
}

static inline uint64_t load_eight(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word) ^ JSON_EACH_BYTE('0'); /* digits become 0 to 9 */
}

/* 9 to 15 digits, a point and three more. */
static inline bool read_whole_time(const struct trace_text *text, int64_t *ret_ns)
{
	const char *at = text->bytes, *point = at + text->length - 4;
	uint64_t bad = 0, decimals[3];
	int64_t high, low;

	if (text->length < 13 || text->length > 19 || *point != '.')
		return false;
	high = value_of_eight(load_eight(at) << 8 * (16 - (point - at)), &bad);
	low = value_of_eight(load_eight(point - 8), &bad);
	for (int i = 0; i < 3; i++) {
		decimals[i] = (uint64_t)(unsigned char)point[i + 1] - '0';
		bad |= decimals[i] > 9;
	}
	if (bad)
		return false;
	*ret_ns = (high * 100000000 + low) * 1000 +
	          (int64_t)(decimals[0] * 100 + decimals[1] * 10 + decimals[2]);
	return true;
}

/* What most times are: up to 15 digits, and up to three behind a point. False: it is another. */
static bool read_plain_time(const struct trace_text *text, int64_t *ret_ns)
{
	static const int64_t units[] = {1000, 100, 10, 1};
	const char *at = text->bytes, *end = at + text->length;
	int64_t value = 0;
	int n_decimals = 0;

	if (text->length == 0 || text->length > 19)
		return false;
	for (; at < end && json_is_digit(*at); at++)
		value = value * 10 + (*at - '0');
	if (at == text->bytes || at - text->bytes > 15)
		return false;
	if (at < end && *at == '.') {
		for (at++; at < end && n_decimals < 3 && json_is_digit(*at); at++, n_decimals++)
			value = value * 10 + (*at - '0');
		if (!n_decimals)
			return false;
	}
	*ret_ns = value * units[n_decimals];
	return at == end;
}

bool trace_value_us_as_ns(const struct trace_value *value, int64_t *ret_ns)
{
	struct decimal decimal;
	uint64_t size;
	bool is_exact;

	if (!is_scalar(value))
		return false;
	if (read_whole_time(&value->text, ret_ns) || read_plain_time(&value->text, ret_ns))
		return true;
	return read_decimal(&value->text, &decimal) &&
	       scale_decimal(&decimal, 3, &size, &is_exact) &&
	       apply_sign(size, decimal.is_negative, ret_ns);
}

bool trace_array_next(struct trace_text *rest, struct trace_value *ret_element)
{
	struct json_scan scan = {.at = rest->bytes, .end = rest->bytes + rest->length};

	if (!rest->length || (*scan.at != '[' && *scan.at != ','))
		return false;
	scan.at++;
	if (json_space(&scan) != SCAN_OK || json_value(&scan, ret_element) != SCAN_OK ||
	    json_space(&scan) != SCAN_OK)
		return false;
	*rest = (struct trace_text){scan.at, (size_t)(scan.end - scan.at)};
	return true;
}
