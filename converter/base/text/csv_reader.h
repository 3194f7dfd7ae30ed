/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_reader.h: reads RFC 4180 CSV, record by record, in constant memory per record.
 *
 * Takes what the emitters write and what a spreadsheet may have made of it: quoted fields with
 * commas, line breaks and doubled quotes, CRLF or LF, a last line without its end, a byte order
 * mark. What stands between quotes comes back byte for byte.
 *
 * - Fields are weak: valid until the next call. They are NUL-terminated; a NUL byte in the input
 *   is malformed.
 * - A malformed record ends the reading with its line number.
 */
#ifndef FLEXTRACE_CSV_READER_H
#define FLEXTRACE_CSV_READER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define CSV_MAX_RECORD_BYTES (16u << 20) /* a longer record is malformed: a quote is missing */

struct csv_reader {
	FILE *file;       /* weak */
	const char *name; /* weak, for messages */
	uint64_t line;    /* of the record last read, from 1 */
	uint64_t next_line;
	char *text; /* owned: the fields of the record, each with its NUL */
	size_t n_bytes;
	uint32_t n_bytes_allocated;
	size_t *starts; /* owned: of each field in `text` */
	size_t n_fields;
	uint32_t n_fields_allocated;
};

/* Reads from `file`, which stays the caller's; `name` weak. */
void csv_reader_init(struct csv_reader *reader, FILE *file, const char *name);

/* Reads a record: 1 = there is one, 0 = end of file, FLEXTRACE_E_INPUT = malformed or
 * unreadable. Empty lines are skipped. */
int csv_reader_next(struct csv_reader *reader, struct flextrace_error *error);

/* Field `i` of the record last read; "" behind the last. */
const char *csv_reader_field(const struct csv_reader *reader, size_t i);

/* The same of a text that writer_csv() wrote: without its guard against spreadsheets. */
const char *csv_reader_text(const struct csv_reader *reader, size_t i);

/* The first field of the record last read that has this text, as in a heading; n_fields: none. */
size_t csv_reader_find(const struct csv_reader *reader, const char *text);

void csv_reader_release(struct csv_reader *reader);

#endif
