/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"

void rows_close(struct rows *rows)
{
	csv_reader_release(&rows->reader);
	if (rows->file)
		fclose(rows->file);
	free(rows->places);
	rows->file = NULL;
}

static int find_columns(struct rows *rows, struct flextrace_error *error)
{
	for (uint32_t i = 0; i < rows->n_columns; i++) {
		const char *name = rows->columns[i].name;

		rows->places[i] = csv_reader_find(&rows->reader, name);
		if (rows->places[i] < rows->reader.n_fields)
			continue;
		rows->places[i] = SIZE_MAX; /* "" in every row */
		if (error)
			return error_set(error, FLEXTRACE_E_INPUT,
			                 "Column is missing: path=%s, column=%s", rows->path, name);
	}
	return FLEXTRACE_OK;
}

/* Before there was a folder for tables, they stood on top. */
static int refuse_old(struct rows *rows, const char *dir, struct flextrace_error *error)
{
	rows->is_absent = false;
	return error_set(error, FLEXTRACE_E_INPUT,
	                 "Tables of an earlier version, convert again: path=%s", dir);
}

bool rows_open(struct rows *rows, const char *dir, const char *name, const struct column *columns,
               uint32_t n_columns, struct flextrace_error *error)
{
	*rows = (struct rows){.columns = columns,
	                      .n_columns = n_columns,
	                      .places = calloc(n_columns, sizeof(*rows->places))};
	snprintf(rows->path, sizeof(rows->path), "%s/" TABLES_DIR "/%s", dir, name);
	rows->file = fopen(rows->path, "re");
	rows->is_absent = !rows->file && errno == ENOENT;
	csv_reader_init(&rows->reader, rows->file, rows->path);
	if (rows->is_absent && path_is_there(dir, name))
		rows->code = refuse_old(rows, dir, error);
	else if (!rows->file)
		rows->code = error_set(error, FLEXTRACE_E_INPUT,
		                       "Cannot read table: path=%s, reason=%s", rows->path,
		                       strerror(errno));
	else if (!rows->places)
		rows->code = error_memory(error);
	else if ((rows->code = csv_reader_next(&rows->reader, error)) >= 0)
		rows->code = find_columns(rows, error);
	if (rows->code < 0)
		rows_close(rows);
	return rows->code >= 0;
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
	default: /* of a timeline: no file is read back into such */
		break;
	}
}

bool rows_next(struct rows *rows, void *ret_row, struct flextrace_error *error)
{
	if (rows->code < 0) {
		error_memory(error);
		return false;
	}
	rows->code = csv_reader_next(&rows->reader, error);
	for (uint32_t i = 0; i < rows->n_columns && rows->code > 0; i++)
		read_cell(&rows->columns[i], csv_reader_text(&rows->reader, rows->places[i]),
		          (char *)ret_row + rows->columns[i].offset_bytes);
	return rows->code > 0;
}
