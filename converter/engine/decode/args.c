/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define KEY_END    '\x1f'
#define VALUE_END  '\x1e'
#define ELLIPSIS   "\xe2\x80\xa6"
#define MOST_EXACT (INT64_C(1) << 53) /* that readers of JSON keep */

struct arg {
	char type;
	const char *key, *value; /* weak */
	size_t n_key, n_value;
	uint64_t number; /* where the value is one */
};

/* -- reading ----------------------------------------------------------------------------------- */

static bool read_hex(const char *digits, size_t n, uint64_t *ret_number)
{
	*ret_number = 0;
	for (size_t i = 0; i < n; i++) {
		char c = digits[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return false;
		*ret_number = *ret_number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return n > 0 && n <= 16;
}

/* A string may contain anything: the number of its bytes stands in front of it. */
static bool read_string(struct arg *arg)
{
	size_t n = strlen(arg->value);
	const char *colon = memchr(arg->value, ':', n);
	uint64_t n_bytes;

	if (!colon || !read_hex(arg->value, (size_t)(colon - arg->value), &n_bytes))
		return false;
	n -= (size_t)(colon + 1 - arg->value);
	arg->value = colon + 1;
	arg->n_value = n_bytes < n ? (size_t)n_bytes : n;
	return arg->value[arg->n_value] == VALUE_END;
}

static bool read_value(struct arg *arg)
{
	const char *end;

	if (arg->type == 's' || arg->type == 'S')
		return read_string(arg);
	end = strchr(arg->value, VALUE_END);
	if (!end)
		return false;
	arg->n_value = (size_t)(end - arg->value);
	if (arg->type == 'x' || arg->type == 'X')
		return true;
	return strchr("biudpc", arg->type) && read_hex(arg->value, arg->n_value, &arg->number);
}

/* Takes the next argument of a text, and steps over it; false: it is none. */
static bool take(const char **at, struct arg *arg)
{
	const char *key = *at + 1;
	const char *key_end = strchr(key, KEY_END);

	if (!key_end)
		return false;
	*arg = (struct arg){**at, key, key_end + 1, (size_t)(key_end - key), 0, 0};
	if (!read_value(arg))
		return false;
	*at = arg->value + arg->n_value + 1;
	return true;
}

/* -- writing ----------------------------------------------------------------------------------- */

static void put_formatted(struct writer *writer, const char *format, uint64_t number)
{
	writer_char(writer, '"');
	writer_format(writer, format, number);
	writer_char(writer, '"');
}

static void put_double(struct writer *writer, uint64_t bits)
{
	double number;

	memcpy(&number, &bits, sizeof(number));
	if (isfinite(number))
		writer_double(writer, number);
	else
		writer_raw(writer, isnan(number) ? "\"NaN\""
		                   : number > 0  ? "\"Infinity\""
		                                 : "\"-Infinity\"");
}

static void put_number(struct writer *writer, char type, uint64_t bits)
{
	int64_t number = (int64_t)bits;

	if (type == 'b')
		writer_raw(writer, bits ? "true" : "false");
	else if (type == 'd')
		put_double(writer, bits);
	else if (type == 'p')
		put_formatted(writer, "0x%" PRIx64, bits);
	else if (type == 'i' && number >= -MOST_EXACT && number <= MOST_EXACT)
		writer_i64(writer, number);
	else if (type == 'i')
		put_formatted(writer, "%" PRId64, bits);
	else if (bits <= (uint64_t)MOST_EXACT)
		writer_u64(writer, bits);
	else
		put_formatted(writer, "%" PRIu64, bits);
}

static void put(struct args_reader *reader, const struct arg *arg)
{
	struct writer *writer = &reader->text.writer;

	json_text_key(&reader->text, arg->type == 'c' ? "left_out" : arg->key,
	              arg->type == 'c' ? strlen("left_out") : arg->n_key);
	reader->text.is_first = false;
	if (!strchr("sSxX", arg->type)) {
		put_number(writer, arg->type, arg->number);
		return;
	}
	writer_json_ours(writer, arg->value, arg->n_value);
	if (strchr("SX", arg->type) && !writer_failed(writer)) {
		writer->at--; /* the quote */
		writer_raw(writer, ELLIPSIS "\"");
	}
}

int args_intern(struct args_reader *reader, const char *text, uint32_t *ret_id)
{
	uint64_t n_cut = 0;
	const char *bytes;
	size_t n_bytes;
	struct arg arg;

	json_text_clear(&reader->text);
	json_text_open(&reader->text, '{');
	while (*text && take(&text, &arg)) {
		put(reader, &arg);
		n_cut += arg.type == 'c' ? arg.number
		                         : (uint64_t)(arg.type == 'S' || arg.type == 'X');
	}
	reader->ledger->warnings[WARNING_ARGS_CUT] += n_cut + (*text != '\0');
	json_text_close(&reader->text, '}');
	FLEXTRACE_TRY(json_text_get(&reader->text, &bytes, &n_bytes));
	return n_bytes > 2 ? string_intern(reader->strings, bytes, ret_id) : FLEXTRACE_OK;
}
