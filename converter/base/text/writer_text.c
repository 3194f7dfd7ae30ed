// SPDX-License-Identifier: Apache-2.0
/*
 * writer_text.c: numbers and text, appended without printf where rows are many.
 */
#include "writer.h"

#include <endian.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBER_MAX 21 /* the digits of 2^64 - 1, with a decimal point */
#define E8         ((uint64_t)100000000)
#define E16        (E8 * E8)

/* clang-format off */
#define TEN(h, t) \
	h t "0." h t "1." h t "2." h t "3." h t "4." h t "5." h t "6." h t "7." h t "8." h t "9."
#define HUNDRED(h) \
	TEN(h, "0") TEN(h, "1") TEN(h, "2") TEN(h, "3") TEN(h, "4") \
	TEN(h, "5") TEN(h, "6") TEN(h, "7") TEN(h, "8") TEN(h, "9")

const char writer_triples[] =
	HUNDRED("0") HUNDRED("1") HUNDRED("2") HUNDRED("3") HUNDRED("4")
	HUNDRED("5") HUNDRED("6") HUNDRED("7") HUNDRED("8") HUNDRED("9");
/* clang-format on */

/* value = quotient * divisor + rest becomes the quotient and, `width` bits above it, the rest; so
 * for all parts of a word at once. */
static inline uint64_t part(uint64_t value, uint64_t quotient, uint64_t divisor, unsigned int width)
{
	return (value << width) - quotient * ((divisor << width) - 1);
}

/* Splits a number below 10^8 into its digits, one in each byte, the first one in the lowest. The
 * divisions are multiplications that hold for numbers so small. */
static inline uint64_t split_digits(uint32_t value)
{
	uint64_t fours = part(value, value / 10000, 10000, 32);
	uint64_t twos = part(fours, fours * 10486 >> 20 & 0x0000007f0000007f, 100, 16);

	return part(twos, twos * 103 >> 10 & 0x000f000f000f000f, 10, 8);
}

static inline void put_digits(char *to, uint64_t digits)
{
	digits = htole64(digits | 0x3030303030303030);
	memcpy(to, &digits, sizeof(digits));
}

/* The eight digits of a number below 10^8, with leading zeros. */
static inline char *put_8_digits(char *to, uint64_t value)
{
	put_digits(to, split_digits((uint32_t)value));
	return to + 8;
}

/* The same without leading zeros; what it writes behind its end is to be written over. */
static inline char *put_first_digits(char *to, uint64_t value)
{
	uint64_t digits = split_digits((uint32_t)value);
	unsigned int n_zeros = (unsigned int)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8;

	put_digits(to, digits >> 8 * n_zeros);
	return to + 8 - n_zeros;
}

/* The same for a number below 10^4. */
static inline char *put_first_of_4_digits(char *to, uint32_t value)
{
	unsigned int n = 3;

	if (value >= 1000) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) a writer has a buffer */
		*to++ = (char)('0' + value / 1000);
		value %= 1000;
	} else {
		n = 1 + (value >= 10) + (value >= 100);
	}
	memcpy(to, writer_triples + 4 * value + 3 - n, 4);
	return to + n;
}

/* Apart, so that the short numbers, which are most, do without its registers. */
static __attribute__((noinline)) char *put_long_number(char *to, uint64_t value)
{
	if (value >= E16) {
		to = put_first_digits(to, value / E16);
		to = put_8_digits(to, value % E16 / E8);
	} else {
		to = put_first_digits(to, value / E8);
	}
	return put_8_digits(to, value % E8);
}

/* Writes a number and returns its end; at most NUMBER_MAX bytes are touched. */
static inline char *put_number(char *to, uint64_t value)
{
	if (value < 10) {
		*to = (char)('0' + value);
		return to + 1;
	}
	if (value < 10000)
		return put_first_of_4_digits(to, (uint32_t)value);
	return value < E8 ? put_first_digits(to, value) : put_long_number(to, value);
}

void writer_raw(struct writer *writer, const char *text)
{
	writer_append(writer, text, strlen(text));
}

char *put_u64(char *at, uint64_t value)
{
	return put_number(at, value);
}

void writer_u64(struct writer *writer, uint64_t value)
{
	if (writer_has_room(writer, WRITER_NUMBER_BYTES))
		writer->at = put_number(writer->at, value);
}

void writer_i64(struct writer *writer, int64_t value)
{
	if (value < 0)
		writer_char(writer, '-');
	writer_u64(writer, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Learns the digits above the lowest six; false: there are none. */
static bool learn_high(struct writer_high_digits *high, uint64_t value)
{
	if (value < WRITER_NEAR)
		return false;
	high->first = value - value % WRITER_NEAR;
	high->n = (uint32_t)(put_number(high->digits, value / WRITER_NEAR) - high->digits);
	return true;
}

char *put_far(char *at, struct writer_high_digits *high, uint64_t value)
{
	return learn_high(high, value) ? put_near(at, high, value) : put_number(at, value);
}

char *put_us_far(char *at, struct writer_high_digits *high, uint64_t ns)
{
	return learn_high(high, ns) ? put_us_near(at, high, ns) : put_us(at, ns);
}

void writer_learn(struct writer_digits *digits, uint64_t value)
{
	digits->value = value;
	digits->n = (uint32_t)(put_number(digits->digits, value) - digits->digits);
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

char *put_us(char *at, uint64_t ns)
{
	at = put_number(at, ns / 1000);
	*at = '.';
	return put_triple(at + 1, ns % 1000) - 1;
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

/*
 * Finds the shortest fraction of a positive value below 2^52 that tells it from its neighbours
 * (Steele and White): digits until what is left is less than half the distance to the next one.
 * `fraction`: n_bits below the point, at most 59. Returns how many digits there are.
 */
static unsigned int make_fraction(char *to, uint64_t fraction, unsigned int n_bits, bool is_even)
{
	unsigned int one_bits = n_bits + 1;
	uint64_t one = (uint64_t)1 << one_bits, rest = 2 * fraction, half = 1;
	unsigned int n = 0;
	bool is_low, is_high;

	do {
		rest *= 10;
		half *= 10;
		to[n++] = (char)('0' + (rest >> one_bits));
		rest &= one - 1;
		is_low = rest < half || (is_even && rest == half);
		is_high = one - rest < half || (is_even && one - rest == half);
	} while (!is_low && !is_high);
	if (is_high && (!is_low || 2 * rest > one || (2 * rest == one && to[n - 1] % 2)))
		to[n - 1]++;
	return n;
}

/* Writes a value of moderate size. False: it is another, or stands beside a power of two, where
 * the distances to its neighbours differ. */
static bool write_moderate(struct writer *writer, double value)
{
	double size = fabs(value);
	char digits[1 + 64] = ".";
	uint64_t bits, mantissa;
	unsigned int n_bits;

	if (!(size >= 0x1p-7 && size < 1e15))
		return false;
	memcpy(&bits, &size, sizeof(bits));
	mantissa = bits & (((uint64_t)1 << 52) - 1);
	n_bits = 52 + 1023 - (unsigned int)(bits >> 52);
	if (!mantissa)
		return false;
	mantissa |= (uint64_t)1 << 52;
	if (value < 0)
		writer_char(writer, '-');
	writer_u64(writer, mantissa >> n_bits);
	writer_append(writer, digits,
	              1 + make_fraction(digits + 1, mantissa & (((uint64_t)1 << n_bits) - 1),
	                                n_bits, mantissa % 2 == 0));
	return true;
}

/* Writes a value that is not whole, but that six decimals tell. Of decimals of at most 15 digits no
 * two read back as one value, so that without its zeros this is the shortest. */
static bool write_short(struct writer *writer, double value)
{
	double size = fabs(value), scaled = rint(size * 1e6);
	uint64_t digits;
	char *at;

	if (!(size >= 1e-4 && scaled < 1e15 && scaled / 1e6 == size) ||
	    !writer_has_room(writer, 2 * NUMBER_MAX))
		return false;
	digits = (uint64_t)scaled;
	at = writer->at;
	*at = '-';
	at = put_number(at + (value < 0), digits / 1000000);
	*at = '.';
	at = put_8_digits(at + 1, digits % 1000000 * 100) - 2;
	while (at[-1] == '0')
		at--;
	writer->at = at;
	return true;
}

void writer_double(struct writer *writer, double value)
{
	double size = fabs(value);
	char text[64];
	int n_digits;

	if (!isfinite(value)) {
		writer_raw(writer, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
		return;
	}
	if (size < 9007199254740992.0 && value == (double)(int64_t)value) {
		writer_i64(writer, (int64_t)value);
		return;
	}
	if (write_short(writer, value) || write_moderate(writer, value))
		return;
	for (n_digits = 15; n_digits <= 17; n_digits++) {
		snprintf(text, sizeof(text), "%.*g", n_digits, value);
		if (strtod(text, NULL) == value) /* same locale as snprintf's */
			break;
	}
	/* Perfetto misreads 20 decimals */
	if (n_digits == 17 && size >= 1e-4 && size < 1e-3)
		snprintf(text, sizeof(text), "%.16e", value);
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

/* What a byte needs: 0 = nothing, else the reason to look closer; what a formula begins with. */
enum byte_class { BYTE_PLAIN, BYTE_JSON = 1, BYTE_CSV = 2, BYTE_UTF8 = 4, BYTE_FORMULA = 8 };

/* clang-format off */
static const unsigned char byte_classes[256] = {
	[0 ... '\t' - 1] = BYTE_JSON,
	['\t'] = BYTE_JSON | BYTE_FORMULA,
	['\n'] = BYTE_JSON | BYTE_CSV | BYTE_FORMULA,
	['\n' + 1 ... '\r' - 1] = BYTE_JSON,
	['\r'] = BYTE_JSON | BYTE_CSV | BYTE_FORMULA,
	['\r' + 1 ... ' ' - 1] = BYTE_JSON,
	['='] = BYTE_FORMULA, ['+'] = BYTE_FORMULA, ['-'] = BYTE_FORMULA, ['@'] = BYTE_FORMULA,
	['"'] = BYTE_JSON | BYTE_CSV,
	['\\'] = BYTE_JSON,
	['<'] = BYTE_JSON, /* begins what ends a script, where JSON stands in a page */
	[','] = BYTE_CSV,
	[0x7f] = BYTE_JSON, /* no control character of JSON's, but Perfetto refuses it */
	[0x80 ... 0xff] = BYTE_UTF8,
};
/* clang-format on */

#define SHORT_RUN       8u
#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Its high bits tell whether one of the bytes of a word is `byte`, and whether one is less. */
static inline uint64_t word_has(uint64_t word, uint64_t byte)
{
	word ^= EACH_BYTE(byte);
	return (word - EACH_BYTE(1)) & ~word;
}

static inline uint64_t word_has_below(uint64_t word, uint64_t byte)
{
	return (word - EACH_BYTE(byte)) & ~word;
}

/* Whether one of eight bytes may be of `classes`. */
static inline bool has_special(const char *text, unsigned int classes)
{
	uint64_t word, found;

	memcpy(&word, text, sizeof(word));
	found = word_has_below(word, ' ') | word_has(word, '"');
	if (classes & BYTE_UTF8)
		found |= word;
	if (classes & BYTE_CSV)
		found |= word_has(word, ',');
	if (classes & BYTE_JSON)
		found |= word_has(word, '\\') | word_has(word, '<') | word_has(word, 0x7f);
	return found & EACH_BYTE(0x80);
}

static inline bool is_of(char byte, unsigned int classes)
{
	return byte_classes[(unsigned char)byte] & classes;
}

/* Returns how many bytes from the start have none of `classes`. Runs of JSON are short. */
static inline size_t plain_run(const char *text, size_t n, unsigned int classes)
{
	size_t i = 0;

	while (i < n && i < SHORT_RUN && !is_of(text[i], classes))
		i++;
	if (i < SHORT_RUN)
		return i;
	while (n - i >= 8 && !has_special(text + i, classes))
		i += 8;
	if (n - i < 8 && !has_special(text + n - 8, classes))
		return n;
	while (i < n && !is_of(text[i], classes))
		i++;
	return i;
}

/* The NUL of a text: see writer.h. */
static bool is_nul(const char *text, size_t n)
{
	return n >= 2 && text[0] == '\xc0' && text[1] == '\x80';
}

/* Appends the sequence at `text` if it is UTF-8, else U+FFFD for a NUL or one byte; returns the
 * bytes used up. */
static size_t append_utf8(struct writer *writer, const char *text, size_t n)
{
	size_t length = utf8_sequence(text, n);

	if (length > 0) {
		writer_append(writer, text, length);
		return length;
	}
	length = is_nul(text, n) ? 2 : 1;
	writer_literal(writer, "\xef\xbf\xbd");
	writer->replaced_bytes += length;
	return length;
}

/* The same where a NUL can be escaped. */
static size_t append_json_utf8(struct writer *writer, const char *text, size_t n)
{
	if (!is_nul(text, n))
		return append_utf8(writer, text, n);
	writer_literal(writer, "\\u0000");
	return 2;
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

/* What JSON does not ask to escape. */
static inline bool is_for_readers(char c)
{
	return c == '<' || c == '\x7f';
}

/* What is escaped: a text; one of ours, to be written again by writer_json_inside(); what is JSON
 * already. */
enum json_form { JSON_OF_TEXT, JSON_OF_OURS, JSON_OF_JSON };

static inline __attribute__((always_inline)) void
append_json(struct writer *writer, const char *text, size_t n, enum json_form form)
{
	for (size_t i = 0; i < n;) {
		size_t run = plain_run(text + i, n - i, BYTE_JSON | BYTE_UTF8);
		bool is_utf8;

		writer_append(writer, text + i, run);
		i += run;
		if (i == n)
			break;
		is_utf8 = byte_classes[(unsigned char)text[i]] & BYTE_UTF8;
		if (is_utf8 && (form != JSON_OF_OURS || is_nul(text + i, n - i)))
			i += append_json_utf8(writer, text + i, n - i);
		else if (is_utf8 || (form != JSON_OF_TEXT &&
		                     is_for_readers(text[i]) == (form == JSON_OF_OURS)))
			writer_char(writer, text[i++]);
		else
			append_json_escape(writer, (unsigned char)text[i++]);
	}
}

void writer_json(struct writer *writer, const char *text, size_t n)
{
	writer_char(writer, '"');
	append_json(writer, text, n, JSON_OF_TEXT);
	writer_char(writer, '"');
}

void writer_json_ours(struct writer *writer, const char *text, size_t n)
{
	writer_char(writer, '"');
	append_json(writer, text, n, JSON_OF_OURS);
	writer_char(writer, '"');
}

void writer_json_inside(struct writer *writer, const char *text, size_t n)
{
	append_json(writer, text, n, JSON_OF_JSON);
}

/* Whether a spreadsheet would take a text for a formula; also with apostrophes in front, so that
 * one can be taken off again. */
static bool is_formula(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && text[i] == '\'')
		i++;
	return i < n && (byte_classes[(unsigned char)text[i]] & BYTE_FORMULA);
}

void writer_csv(struct writer *writer, const char *text, size_t n)
{
	size_t i = plain_run(text, n, BYTE_CSV | BYTE_UTF8);
	bool is_quoted, is_guarded = is_formula(text, n);

	if (i == n) {
		if (is_guarded)
			writer_char(writer, '\'');
		writer_append(writer, text, n);
		return;
	}
	is_quoted = plain_run(text, n, BYTE_CSV) < n;
	if (is_quoted)
		writer_char(writer, '"');
	if (is_guarded)
		writer_char(writer, '\'');
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

void writer_format(struct writer *writer, const char *format, ...)
{
	va_list list;
	char *at;
	int n;

	va_start(list, format);
	n = vsnprintf(NULL, 0, format, list);
	va_end(list);
	at = n < 0 ? NULL : writer_room(writer, (size_t)n + 1);
	if (!at)
		return;
	va_start(list, format);
	vsnprintf(at, (size_t)n + 1, format, list);
	va_end(list);
	writer->at = at + n;
}
