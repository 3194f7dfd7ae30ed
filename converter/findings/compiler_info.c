/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler_info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* -- tables ------------------------------------------------------------------------------------ */

int compiler_table_open(struct compiler_info *info, uint8_t phase)
{
	FLEXTRACE_TRY(ARRAY_ROOM(info->tables, info->n_tables));
	info->tables[info->n_tables] = (struct compiler_table){
		.source = info->n_sources, .first_row = info->n_rows, .phase = phase};
	return FLEXTRACE_OK;
}

int compiler_table_add(struct compiler_info *info, const struct kernel_cost *row)
{
	struct compiler_table *table = &info->tables[info->n_tables];
	uint32_t at = table->first_row + table->n_rows;

	FLEXTRACE_TRY(ARRAY_RESERVE(info->rows, info->n_rows_allocated, at + 2ull));
	info->rows[at] = *row;
	info->rows[at].phase = table->phase;
	table->n_rows++;
	table->ideal_cycles += row->ideal_cycles;
	return FLEXTRACE_OK;
}

static bool is_same(const struct compiler_info *info, const struct compiler_table *a,
                    const struct compiler_table *b)
{
	return a->source == b->source && a->phase == b->phase && a->n_rows == b->n_rows &&
	       a->ideal_cycles == b->ideal_cycles &&
	       !memcmp(&info->rows[a->first_row], &info->rows[b->first_row],
	               a->n_rows * sizeof(info->rows[0]));
}

int compiler_table_close(struct compiler_info *info)
{
	const struct compiler_table *table = &info->tables[info->n_tables];

	if (!table->n_rows)
		return FLEXTRACE_OK;
	for (uint32_t i = info->n_tables; i-- > 0 && info->tables[i].source == table->source;)
		if (is_same(info, &info->tables[i], table))
			return FLEXTRACE_OK;
	info->rows[table->first_row + table->n_rows] = (struct kernel_cost){.phase = table->phase};
	info->n_rows += table->n_rows + 1;
	info->n_tables++;
	return FLEXTRACE_OK;
}

/* -- sources ----------------------------------------------------------------------------------- */

static int refuse(const char *path, const char *reason, struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_INPUT,
	                 "Cannot read compiler information: path=%s, reason=%s", path, reason);
}

/* Stores whether the path is a directory. */
static int look_at(const char *path, bool *ret_is_dir, struct flextrace_error *error)
{
	struct stat status;

	if (stat(path, &status) < 0 || access(path, R_OK) < 0)
		return refuse(path, strerror(errno), error);
	*ret_is_dir = S_ISDIR(status.st_mode);
	if (!*ret_is_dir && !S_ISREG(status.st_mode))
		return refuse(path, "it is neither a file nor a directory", error);
	return FLEXTRACE_OK;
}

/* Calls `take` for each path of a text; empty ones are skipped. */
static int split(const char *text, int (*take)(void *context, const char *path), void *context)
{
	int code = FLEXTRACE_OK;

	while (*text && code == FLEXTRACE_OK) {
		size_t length = strcspn(text, ",");
		char *path = length ? strndup(text, length) : NULL;

		if (length)
			code = path ? take(context, path) : FLEXTRACE_E_MEMORY;
		free(path);
		text += length + (text[length] == ',');
	}
	return code;
}

static int check_path(void *error, const char *path)
{
	char *cache = NULL;
	bool is_dir = false;
	int code;

	FLEXTRACE_TRY(look_at(path, &is_dir, error));
	if (!is_dir)
		return FLEXTRACE_OK;
	if (asprintf(&cache, "%s/" COMPILER_CACHE, path) < 0)
		return FLEXTRACE_E_MEMORY;
	code = look_at(cache, &is_dir, error);
	free(cache);
	return code;
}

int compiler_info_check(const char *text, struct flextrace_error *error)
{
	int code = split(text, check_path, error);

	return code == FLEXTRACE_E_MEMORY ? error_set(error, code, "Out of memory") : code;
}

struct reading {
	struct compiler_info *info;
	struct string_cache *strings;
	struct flextrace_error *error;
};

static int read_path(void *context, const char *path)
{
	struct reading *reading = context;
	struct compiler_info *info = reading->info;
	uint32_t n_before = info->n_tables;
	bool is_dir = false;

	FLEXTRACE_TRY(look_at(path, &is_dir, reading->error));
	if (is_dir)
		FLEXTRACE_TRY(compiler_dir_read(info, path, reading->strings, reading->error));
	else
		FLEXTRACE_TRY(compiler_log_read(info, path, reading->strings, reading->error));
	info->n_sources++;
	info->n_empty += info->n_tables == n_before;
	return FLEXTRACE_OK;
}

int compiler_info_read(struct compiler_info *info, const char *const *texts, uint32_t n,
                       struct string_cache *strings, struct flextrace_error *error)
{
	struct reading reading = {info, strings, error};

	for (uint32_t i = 0; i < n; i++)
		FLEXTRACE_TRY(split(texts[i], read_path, &reading));
	return FLEXTRACE_OK;
}

void compiler_info_release(struct compiler_info *info)
{
	free(info->tables);
	free(info->rows);
	*info = (struct compiler_info){0};
}
