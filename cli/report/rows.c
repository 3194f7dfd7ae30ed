/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

FILE *rows_open_file(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fopen(path, "re");
}

void rows_close(struct rows *rows)
{
	if (!rows->file)
		return;
	csv_reader_release(&rows->reader);
	fclose(rows->file);
	free(rows->places);
	rows->file = NULL;
}

bool rows_open(struct rows *rows, const char *dir, const char *name, const struct column *columns,
               uint32_t n_columns)
{
	*rows = (struct rows){.file = rows_open_file(dir, name),
	                      .columns = columns,
	                      .n_columns = n_columns,
	                      .places = calloc(n_columns, sizeof(*rows->places))};
	if (!rows->file) {
		free(rows->places);
		return false;
	}
	csv_reader_init(&rows->reader, rows->file, name);
	if (!rows->places || csv_reader_next(&rows->reader, NULL) <= 0) {
		rows_close(rows);
		return false;
	}
	for (uint32_t i = 0; i < n_columns; i++) {
		rows->places[i] = csv_reader_find(&rows->reader, columns[i].name);
		if (rows->places[i] == rows->reader.n_fields)
			rows->places[i] = SIZE_MAX; /* "" in every row */
	}
	return true;
}

static void read_cell(const struct column *column, const char *text, void *place)
{
	bool is_none = column->is_optional && !*text;

	switch ((enum column_type)column->type) {
	case COLUMN_TYPE_TEXT:
		*(const char **)place = text;
		break;
	case COLUMN_TYPE_BOOL:
		*(bool *)place = *text == '1';
		break;
	case COLUMN_TYPE_U16:
		*(uint16_t *)place = (uint16_t)strtoul(text, NULL, 10);
		break;
	case COLUMN_TYPE_U32:
		*(uint32_t *)place = is_none ? COLUMN_NONE_U32 : (uint32_t)strtoul(text, NULL, 10);
		break;
	case COLUMN_TYPE_U64:
		*(uint64_t *)place = is_none ? COLUMN_NONE_U64 : strtoull(text, NULL, 10);
		break;
	case COLUMN_TYPE_I64:
		*(int64_t *)place = is_none ? COLUMN_NONE_I64 : strtoll(text, NULL, 10);
		break;
	case COLUMN_TYPE_REAL:
		*(double *)place = *text ? strtod(text, NULL) : (double)NAN;
		break;
	}
}

bool rows_next(struct rows *rows, void *ret_row)
{
	if (csv_reader_next(&rows->reader, NULL) <= 0)
		return false;
	for (uint32_t i = 0; i < rows->n_columns; i++)
		read_cell(&rows->columns[i], csv_reader_text(&rows->reader, rows->places[i]),
		          (char *)ret_row + rows->columns[i].offset_bytes);
	return true;
}
