/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void csv_reader_init(struct csv_reader *reader, FILE *file, const char *name)
{
	*reader = (struct csv_reader){.file = file, .name = name, .next_line = 1};
}

const char *csv_reader_text(const struct csv_reader *reader, size_t i)
{
	const char *text = csv_reader_field(reader, i);
	size_t n = strspn(text, "'");

	return n && text[n] && strchr("=+-@\t\r\n", text[n]) ? text + 1 : text;
}

size_t csv_reader_find(const struct csv_reader *reader, const char *text)
{
	size_t at = 0;

	while (at < reader->n_fields && strcmp(csv_reader_field(reader, at), text) != 0)
		at++;
	return at;
}

void csv_reader_release(struct csv_reader *reader)
{
	free(reader->text);
	free(reader->starts);
	*reader = (struct csv_reader){0};
}

const char *csv_reader_field(const struct csv_reader *reader, size_t i)
{
	return i < reader->n_fields ? reader->text + reader->starts[i] : "";
}

static int malformed(const struct csv_reader *reader, const char *what,
                     struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_INPUT, "Malformed CSV, %s: file=%s, line=%" PRIu64,
	                 what, reader->name, reader->line);
}

static int push_byte(struct csv_reader *reader, char byte, struct flextrace_error *error)
{
	if (reader->n_bytes == CSV_MAX_RECORD_BYTES)
		return malformed(reader, "record too long", error);
	if (ARRAY_RESERVE(reader->text, reader->n_bytes_allocated, reader->n_bytes + 1) < 0)
		return error_memory(error);
	reader->text[reader->n_bytes++] = byte;
	return FLEXTRACE_OK;
}

static int begin_field(struct csv_reader *reader, struct flextrace_error *error)
{
	if (ARRAY_RESERVE(reader->starts, reader->n_fields_allocated, reader->n_fields + 1) < 0)
		return error_memory(error);
	reader->starts[reader->n_fields++] = reader->n_bytes;
	return FLEXTRACE_OK;
}

/* The next byte with CRLF as one '\n'; counts lines. */
static int get_byte(struct csv_reader *reader)
{
	int byte = getc(reader->file);

	if (byte == '\r') {
		byte = getc(reader->file);
		if (byte != '\n') {
			ungetc(byte, reader->file);
			byte = '\r';
		}
	}
	if (byte == '\n')
		reader->next_line++;
	return byte;
}

/* The next byte between quotes, where CRLF is no end of a line but part of the text. */
static int get_quoted_byte(struct csv_reader *reader)
{
	int byte = getc(reader->file);

	reader->next_line += byte == '\n';
	return byte;
}

/* Reads behind the opening quote; stores the byte behind the closing one. */
static int read_quoted(struct csv_reader *reader, int *ret_next, struct flextrace_error *error)
{
	for (;;) {
		int byte = get_quoted_byte(reader);

		if (byte == EOF)
			return malformed(reader, "a quote is not closed", error);
		if (byte == '\0')
			return malformed(reader, "NUL byte", error);
		if (byte == '"')
			*ret_next = byte = get_byte(reader);
		else
			*ret_next = '"';
		if (*ret_next != '"')
			return FLEXTRACE_OK;
		FLEXTRACE_TRY(push_byte(reader, (char)byte, error));
	}
}

static int read_plain(struct csv_reader *reader, int byte, int *ret_next,
                      struct flextrace_error *error)
{
	while (byte != ',' && byte != '\n' && byte != EOF) {
		if (byte == '"')
			return malformed(reader, "a quote inside a plain field", error);
		if (byte == '\0')
			return malformed(reader, "NUL byte", error);
		FLEXTRACE_TRY(push_byte(reader, (char)byte, error));
		byte = get_byte(reader);
	}
	*ret_next = byte;
	return FLEXTRACE_OK;
}

/* Reads one field that starts with `byte`; stores the separator behind it. */
static int read_field(struct csv_reader *reader, int byte, int *ret_next,
                      struct flextrace_error *error)
{
	FLEXTRACE_TRY(begin_field(reader, error));
	if (byte == '"') {
		FLEXTRACE_TRY(read_quoted(reader, ret_next, error));
		if (*ret_next != ',' && *ret_next != '\n' && *ret_next != EOF)
			return malformed(reader, "text behind a closing quote", error);
	} else {
		FLEXTRACE_TRY(read_plain(reader, byte, ret_next, error));
	}
	return push_byte(reader, '\0', error);
}

static void skip_byte_order_mark(struct csv_reader *reader)
{
	static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
	int byte = getc(reader->file);

	if (byte != mark[0]) {
		ungetc(byte, reader->file);
		return;
	}
	for (size_t i = 1; i < sizeof(mark) && byte == mark[i - 1]; i++)
		byte = getc(reader->file);
}

int csv_reader_next(struct csv_reader *reader, struct flextrace_error *error)
{
	int byte;

	if (reader->next_line == 1)
		skip_byte_order_mark(reader);
	do {
		reader->line = reader->next_line;
		byte = get_byte(reader);
	} while (byte == '\n');
	reader->n_bytes = reader->n_fields = 0;
	if (byte != EOF)
		FLEXTRACE_TRY(read_field(reader, byte, &byte, error));
	else if (!ferror(reader->file))
		return 0;
	while (byte == ',')
		FLEXTRACE_TRY(read_field(reader, get_byte(reader), &byte, error));
	if (ferror(reader->file))
		return error_set(error, FLEXTRACE_E_INPUT, "Cannot read: file=%s", reader->name);
	return 1;
}
