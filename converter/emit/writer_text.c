// SPDX-License-Identifier: Apache-2.0
/*
 * writer_text.c: numbers and text, appended without printf where rows are many.
 */
#include "emit/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_PER_S   ((uint64_t)1000000000)
#define NUMBER_MAX 21 /* the digits of 2^64 - 1, with a decimal point */

static const char digit_pairs[201] = "00010203040506070809"
				     "10111213141516171819"
				     "20212223242526272829"
				     "30313233343536373839"
				     "40414243444546474849"
				     "50515253545556575859"
				     "60616263646566676869"
				     "70717273747576777879"
				     "80818283848586878889"
				     "90919293949596979899";

static void put_pair(char *to, uint32_t value)
{
	memcpy(to, digit_pairs + value * 2, 2);
}

static void put_4_digits(char *to, uint32_t value)
{
	put_pair(to, value / 100);
	put_pair(to + 2, value % 100);
}

static unsigned int n_digits_of(uint64_t value)
{
	static const uint64_t powers[] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000u,
	};
	/* bits times log10(2), which is one too few at most */
	unsigned int n = (64 - (unsigned int)__builtin_clzll(value | 1)) * 1233 >> 12;

	return n + (value >= powers[n]);
}

/* Writes the digits of `value` up to `end`. */
static inline void put_digits(char *end, uint64_t value)
{
	uint32_t rest;

	for (; value >= 100000000; value /= 100000000) {
		put_4_digits(end -= 4, (uint32_t)(value % 10000));
		put_4_digits(end -= 4, (uint32_t)(value % 100000000 / 10000));
	}
	rest = (uint32_t)value;
	if (rest >= 10000) {
		put_4_digits(end -= 4, rest % 10000);
		rest /= 10000;
	}
	if (rest >= 100) {
		put_pair(end -= 2, rest % 100);
		rest /= 100;
	}
	if (rest >= 10)
		put_pair(end - 2, rest);
	else
		end[-1] = (char)('0' + rest);
}

/* Returns where a number goes that is written in place: the buffer, or `spare` where the buffer
 * may be too short for it. */
static char *start_number(struct writer *writer, char *spare)
{
	return (size_t)(writer->end - writer->at) > NUMBER_MAX ? writer->at : spare;
}

static void end_number(struct writer *writer, const char *number, size_t n)
{
	if (number == writer->at)
		writer->at += n;
	else
		writer_append_slowly(writer, number, n);
}

void writer_raw(struct writer *writer, const char *text)
{
	writer_append(writer, text, strlen(text));
}

void writer_u64(struct writer *writer, uint64_t value)
{
	char spare[NUMBER_MAX];
	char *number = start_number(writer, spare);
	unsigned int n = n_digits_of(value);

	put_digits(number + n, value);
	end_number(writer, number, n);
}

void writer_i64(struct writer *writer, int64_t value)
{
	if (value < 0)
		writer_char(writer, '-');
	writer_u64(writer, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void writer_time(struct writer *writer, struct writer_second *second, int64_t time_ns)
{
	char spare[NUMBER_MAX];
	char *number = start_number(writer, spare), *end;
	uint32_t ns;

	if (time_ns < (int64_t)NS_PER_S) {
		writer_i64(writer, time_ns);
		return;
	}
	if ((uint64_t)time_ns - second->first_ns >= NS_PER_S) {
		uint64_t seconds = (uint64_t)time_ns / NS_PER_S;

		second->first_ns = seconds * NS_PER_S;
		second->n = n_digits_of(seconds);
		put_digits(second->digits + second->n, seconds);
	}
	ns = (uint32_t)((uint64_t)time_ns - second->first_ns);
	memcpy(number, second->digits, sizeof(second->digits));
	end = number + second->n + 9;
	put_4_digits(end - 4, ns % 10000);
	put_4_digits(end - 8, ns / 10000 % 10000);
	end[-9] = (char)('0' + ns / 100000000);
	end_number(writer, number, second->n + 9);
}

/* Appends value / 10^n_decimals. */
static void append_decimal(struct writer *writer, uint64_t value, int n_decimals)
{
	char fraction[NUMBER_MAX];

	for (int i = n_decimals; i > 0; i--) {
		fraction[i] = (char)('0' + value % 10);
		value /= 10;
	}
	fraction[0] = '.';
	writer_u64(writer, value);
	if (n_decimals > 0)
		writer_append(writer, fraction, (size_t)n_decimals + 1);
}

void writer_us(struct writer *writer, uint64_t ns)
{
	char spare[NUMBER_MAX];
	char *number = start_number(writer, spare);
	unsigned int n = n_digits_of(ns / 1000);
	uint32_t fraction = (uint32_t)(ns % 1000);

	put_digits(number + n, ns / 1000);
	number[n] = '.';
	number[n + 1] = (char)('0' + fraction / 100);
	put_pair(number + n + 2, fraction % 100);
	end_number(writer, number, n + 4);
}

/* Appends a number that printf made in whatever locale: its decimal point, of any length,
 * becomes '.'. */
static void append_printed(struct writer *writer, const char *text)
{
	bool in_point = false;

	for (; *text; text++) {
		if (strchr("0123456789+-e", *text)) {
			writer_char(writer, *text);
			in_point = false;
		} else if (!in_point) {
			writer_char(writer, '.');
			in_point = true;
		}
	}
}

void writer_fixed(struct writer *writer, double value, int n_decimals)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
	double scaled = fabs(value) * powers[n_decimals];
	char text[512];

	if (!isfinite(value))
		return;
	if (scaled >= 9007199254740992.0) { /* 2^53: above it the product has lost digits */
		snprintf(text, sizeof(text), "%.*f", n_decimals, value);
		append_printed(writer, text);
		return;
	}
	scaled = rint(scaled);
	if (value < 0 && scaled > 0)
		writer_char(writer, '-');
	append_decimal(writer, (uint64_t)scaled, n_decimals);
}

void writer_double(struct writer *writer, double value)
{
	char text[64];
	int n_digits;

	if (!isfinite(value)) {
		writer_raw(writer, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
		return;
	}
	if (fabs(value) < 9007199254740992.0 && value == (double)(int64_t)value) {
		writer_i64(writer, (int64_t)value);
		return;
	}
	for (n_digits = 15; n_digits <= 17; n_digits++) {
		snprintf(text, sizeof(text), "%.*g", n_digits, value);
		if (strtod(text, NULL) == value) /* same locale as snprintf's */
			break;
	}
	append_printed(writer, text);
}

size_t utf8_sequence(const char *text, size_t n)
{
	const unsigned char *at = (const unsigned char *)text;
	/* the second byte's range excludes overlong forms, surrogates and what is above U+10FFFF */
	unsigned char low = 0x80, high = 0xbf;
	size_t length, i;

	if (n == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	length = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	if (n < length)
		return 0;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (i = 2; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

/* What a byte needs: 0 = nothing, else the reason to look closer. */
enum byte_class { BYTE_PLAIN, BYTE_JSON = 1, BYTE_CSV = 2, BYTE_UTF8 = 4 };

/* clang-format off */
static const unsigned char byte_classes[256] = {
	[0 ... '\n' - 1] = BYTE_JSON,
	['\n'] = BYTE_JSON | BYTE_CSV,
	['\n' + 1 ... '\r' - 1] = BYTE_JSON,
	['\r'] = BYTE_JSON | BYTE_CSV,
	['\r' + 1 ... ' ' - 1] = BYTE_JSON,
	['"'] = BYTE_JSON | BYTE_CSV,
	['\\'] = BYTE_JSON,
	[','] = BYTE_CSV,
	[0x80 ... 0xff] = BYTE_UTF8,
};
/* clang-format on */

/* Returns how many bytes from the start have none of `classes`. */
static size_t plain_run(const char *text, size_t n, unsigned int classes)
{
	size_t i = 0;

	while (i < n && !(byte_classes[(unsigned char)text[i]] & classes))
		i++;
	return i;
}

/* Appends the sequence at `text` if it is UTF-8, else U+FFFD for one byte; returns the bytes
 * used up. */
static size_t append_utf8(struct writer *writer, const char *text, size_t n)
{
	size_t length = utf8_sequence(text, n);

	if (length > 0) {
		writer_append(writer, text, length);
		return length;
	}
	writer_literal(writer, "\xef\xbf\xbd");
	writer->replaced_bytes++;
	return 1;
}

static void append_json_escape(struct writer *writer, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char short_forms[256] = {
		['"'] = '"',  ['\\'] = '\\', ['\n'] = 'n', ['\r'] = 'r',
		['\t'] = 't', ['\b'] = 'b',  ['\f'] = 'f',
	};

	if (short_forms[c]) {
		writer_char(writer, '\\');
		writer_char(writer, short_forms[c]);
		return;
	}
	writer_literal(writer, "\\u00");
	writer_char(writer, hex[c >> 4]);
	writer_char(writer, hex[c & 15]);
}

void writer_json(struct writer *writer, const char *text, size_t n)
{
	size_t i = 0;

	writer_char(writer, '"');
	while (i < n) {
		size_t run = plain_run(text + i, n - i, BYTE_JSON | BYTE_UTF8);

		writer_append(writer, text + i, run);
		i += run;
		if (i == n)
			break;
		if (byte_classes[(unsigned char)text[i]] & BYTE_UTF8)
			i += append_utf8(writer, text + i, n - i);
		else
			append_json_escape(writer, (unsigned char)text[i++]);
	}
	writer_char(writer, '"');
}

void writer_csv(struct writer *writer, const char *text, size_t n)
{
	size_t i = plain_run(text, n, BYTE_CSV | BYTE_UTF8);
	bool is_quoted;

	if (i == n) {
		writer_append(writer, text, n);
		return;
	}
	is_quoted = plain_run(text, n, BYTE_CSV) < n;
	if (is_quoted)
		writer_char(writer, '"');
	for (i = 0; i < n;) {
		size_t run = plain_run(text + i, n - i, BYTE_CSV | BYTE_UTF8);

		writer_append(writer, text + i, run);
		i += run;
		if (i == n)
			break;
		if (byte_classes[(unsigned char)text[i]] & BYTE_UTF8) {
			i += append_utf8(writer, text + i, n - i);
			continue;
		}
		if (text[i] == '"')
			writer_char(writer, '"');
		writer_char(writer, text[i++]);
	}
	if (is_quoted)
		writer_char(writer, '"');
}
