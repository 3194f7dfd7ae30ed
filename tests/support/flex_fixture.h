/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flex_fixture.h: JSON of Flex -> the tables that a conversion writes.
 */
#ifndef FLEX_FIXTURE_H
#define FLEX_FIXTURE_H

#include <stdint.h>

#include "cli/report/csv_table.h"
#include "formats/kit/dialect.h"
#include "pipeline.h"

struct flex_run {
	char *dir;                   /* owned: its input is in/, its output out/ */
	char *in, *out;              /* owned */
	char *warnings;              /* owned: one a line */
	enum import_dialect dialect; /* what the files are said to be */
	const char *torch_ranks;     /* what ranks */
	struct pair_report pairs[8]; /* what was told of files of two tools */
	uint32_t n_pairs;
	struct ledger ledger;
	struct csv_table events, host;
	struct pipeline_options options; /* to be changed at will before the conversion */
};

/* cmocka's set-up and tear-down. */
int flex_start(void **state);
int flex_stop(void **state);

/* Adds a file to the input. */
void flex_add_file(struct flex_run *run, const char *name, const char *text);

/* Converts the input, or else the files given. */
void flex_convert(struct flex_run *run);
void flex_convert_files(struct flex_run *run, const char *const *paths, uint32_t n);

/* A table of the output; release it by csv_table_release(). */
struct csv_table flex_read_table(const struct flex_run *run, const char *name);

/* A file of the output without what says where its rows are from: the last column of a CSV file,
 * the last field of a line of timeline.txt. Owned. */
char *flex_read_rows(const struct flex_run *run, const char *name);

/* A cell; `n_rows` of a table that match: where `column` is `value` (NULL: all). */
const char *flex_cell(const struct csv_table *table, uint64_t row, const char *column);
int64_t flex_number(const struct csv_table *table, uint64_t row, const char *column);
uint64_t flex_count(const struct csv_table *table, const char *column, const char *value);

/* The first row where two columns are so; fails if there is none. */
uint64_t flex_row(const struct csv_table *table, const char *column, const char *value,
                  const char *column2, const char *value2);

#endif
