/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler_dir.c: DIR/inductor-spyre/KERNEL/perf/ideal_cycles.json, one table of all kernels.
 */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/text_file.h"
#include "compiler_info.h"

/* A kernel may be made of several operations: their cycles, and the category of the longest. */
static bool sum_operations(const cJSON *list, struct kernel_cost *row, const char **ret_category)
{
	const cJSON *item;
	double most = -1, sum = 0;

	*ret_category = "NotAvailable";
	cJSON_ArrayForEach(item, list)
	{
		const cJSON *cycles = cJSON_GetObjectItemCaseSensitive(item, "ideal_cycles");
		const char *category =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "op_category"));

		if (!cJSON_IsNumber(cycles) || !(cycles->valuedouble >= 0))
			return false;
		sum += cycles->valuedouble;
		if (category && *category && cycles->valuedouble > most) {
			most = cycles->valuedouble;
			*ret_category = category;
		}
	}
	row->ideal_cycles = sum < 0x1p48 ? (uint64_t)(sum + 0.5) : 0;
	return cJSON_IsArray(list) && cJSON_GetArraySize(list) > 0 && sum < 0x1p48;
}

static int add_kernel(struct compiler_info *info, const char *kernel, const cJSON *list,
                      struct string_cache *strings)
{
	struct kernel_cost row = {0};
	const char *category;

	if (!sum_operations(list, &row, &category)) {
		info->n_bad_lines++;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(string_intern(strings, kernel, &row.name));
	FLEXTRACE_TRY(string_intern(strings, category, &row.category));
	return compiler_table_add(info, &row);
}

static int read_kernel(struct compiler_info *info, const char *cache, const char *kernel,
                       struct string_cache *strings)
{
	char *path = NULL, *text = NULL;
	struct stat status;
	int code = FLEXTRACE_OK;
	cJSON *list;

	if (kernel[0] == '.')
		return FLEXTRACE_OK;
	if (asprintf(&path, "%s/%s/perf/ideal_cycles.json", cache, kernel) < 0)
		return FLEXTRACE_E_MEMORY;
	errno = 0;
	if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) /* on a pipe one waits for ever */
		text = text_file_read(path);
	free(path);
	list = text ? cJSON_Parse(text) : NULL;
	if (text || errno == EFBIG)
		code = add_kernel(info, kernel, list, strings);
	cJSON_Delete(list);
	free(text);
	return code;
}

static int compare_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int compiler_dir_read(struct compiler_info *info, const char *path, struct string_cache *strings,
                      struct flextrace_error *error)
{
	struct dirent **entries = NULL;
	char *cache = NULL;
	int n, code;

	if (asprintf(&cache, "%s/" COMPILER_CACHE, path) < 0)
		return FLEXTRACE_E_MEMORY;
	code = compiler_table_open(info, PHASE_UNKNOWN);
	n = scandir(cache, &entries, NULL, compare_bytes);
	if (n < 0)
		code = error_set(error, FLEXTRACE_E_INPUT,
		                 "Cannot read compiler information: path=%s, reason=%s", cache,
		                 strerror(errno));
	for (int i = 0; i < n; i++) {
		if (code == FLEXTRACE_OK)
			code = read_kernel(info, cache, entries[i]->d_name, strings);
		free(entries[i]);
	}
	free(entries);
	free(cache);
	return code == FLEXTRACE_OK ? compiler_table_close(info) : code;
}
