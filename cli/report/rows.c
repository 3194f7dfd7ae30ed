/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <limits.h>
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
	free(rows->heading);
	rows->file = NULL;
}

bool rows_open(struct rows *rows, const char *dir, const char *name)
{
	size_t size;
	FILE *heading;

	*rows = (struct rows){.file = rows_open_file(dir, name)};
	if (!rows->file)
		return false;
	csv_reader_init(&rows->reader, rows->file, name);
	heading = open_memstream(&rows->heading, &size);
	if (!heading || csv_reader_next(&rows->reader, NULL) <= 0) {
		if (heading)
			fclose(heading);
		rows_close(rows);
		return false;
	}
	for (size_t i = 0; i < rows->reader.n_fields; i++)
		fprintf(heading, ",%s", csv_reader_field(&rows->reader, i));
	fprintf(heading, ",");
	fclose(heading);
	return true;
}

const char *rows_field(const struct rows *rows, const char *column)
{
	char wanted[64];
	const char *found;
	size_t index = 0;

	snprintf(wanted, sizeof(wanted), ",%s,", column);
	found = strstr(rows->heading, wanted);
	if (!found)
		return "";
	for (const char *at = rows->heading; at < found; at++)
		index += *at == ',';
	return csv_reader_text(&rows->reader, index);
}

double rows_number(const struct rows *rows, const char *column)
{
	return strtod(rows_field(rows, column), NULL);
}
