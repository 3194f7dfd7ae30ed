/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_json.h: rows of tables as JSON: objects, one a line, and the first ones as lists for a
 * page.
 *
 * - A cell that is empty is null; what is no number is a string. Not every reader of JSON keeps
 *   whole numbers beyond 2^53: columns of objects that may have such ones (points in time, stamps,
 *   ids) are strings of digits throughout, others only beyond it.
 * - `<` is written as \u003c, as everywhere.
 */
#ifndef FLEXTRACE_COLUMN_JSON_H
#define FLEXTRACE_COLUMN_JSON_H

#include "model/timeline/columns.h"

#define COLUMN_JSON_MAX 64 /* columns of a line of CSV */

struct json_rows {
	const struct column *columns; /* weak */
	uint32_t n_columns;
	const struct column *wide_of; /* weak: the columns that `wide` is of */
	uint64_t wide;                /* a bit for each column that is all strings */
	struct writer *lines;         /* weak: a file of objects; NULL: none */
	struct writer captured;       /* memory: lists, with a comma behind each */
	uint32_t n_to_capture;        /* more rows */
	uint32_t limit_bytes;         /* of `captured`; a row that goes beyond ends it */
	bool shows_whole;             /* rows of single windows are not captured */
};

/* For each row that is to be captured; long names do not make more. */
#define COLUMN_JSON_ROW_BYTES   64u
#define COLUMN_JSON_LEAST_BYTES 4096u

static inline bool json_rows_wants(const struct json_rows *json)
{
	return json->lines || json->n_to_capture;
}

/* `instead` as of a row_sink; where it has a text for each column there is no row. */
void json_rows_put(struct json_rows *json, const void *row, const struct timeline *timeline,
                   const char *const *instead);

/* The same of a whole line of CSV of ours, which is changed: it ends with LF, then NUL. */
void json_rows_put_line(struct json_rows *json, char *line);

#endif
