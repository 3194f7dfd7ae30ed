/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_times.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/digits.h"
#include "model/timeline/rows.h"
#include "model/words/kinds.h"

#define EXEC_SUFFIX " Cmpt Exec"        /* Flex writes it behind the name of a kernel */
#define ALL_RANKS   ((uint64_t)1 << 32) /* beside ranks of 32 bits */

/* -- is it such a directory -------------------------------------------------------------------- */

struct kernel_cells { /* of kernels.csv; numbers as they stand there */
	const char *kind, *name, *calls, *total_ns, *rank;
};

static const struct column kernel_columns[] = {
	COLUMN(struct kernel_cells, kind),  COLUMN(struct kernel_cells, name),
	COLUMN(struct kernel_cells, calls), COLUMN(struct kernel_cells, total_ns),
	COLUMN(struct kernel_cells, rank),
};

struct compiler_cells { /* of compiler.csv */
	const char *autopilot;
};

static const struct column compiler_columns[] = {COLUMN(struct compiler_cells, autopilot)};

static int refuse(const char *path, const char *reason, struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_INPUT, "Cannot take kernel times: path=%s, reason=%s",
	                 path, reason);
}

static int expect_no_autopilot(const char *dir, struct flextrace_error *error)
{
	struct compiler_cells cells;
	struct rows rows;

	if (!rows_open(&rows, dir, "compiler.csv", compiler_columns, N_COLUMNS(compiler_columns),
	               error))
		return rows.is_absent ? FLEXTRACE_OK : rows.code;
	while (rows.code >= 0 && rows_next(&rows, &cells, error))
		if (strcmp(cells.autopilot, "0") != 0)
			rows.code = refuse(dir, "the autopilot was on in that run, too", error);
	rows_close(&rows);
	return rows.code;
}

static bool open_kernels(struct rows *rows, const char *dir, struct flextrace_error *error)
{
	if (rows_open(rows, dir, "kernels.csv", kernel_columns, N_COLUMNS(kernel_columns), error))
		return true;
	if (rows->is_absent)
		refuse(dir,
		       access(dir, F_OK) < 0 ? strerror(errno)
		                             : "it has no kernels.csv; name the output directory "
		                               "of a conversion",
		       error);
	return false;
}

int kernel_times_check(const char *dir, struct flextrace_error *error)
{
	struct rows rows;

	if (!open_kernels(&rows, dir, error))
		return rows.code;
	rows_close(&rows);
	return expect_no_autopilot(dir, error);
}

/* -- times ------------------------------------------------------------------------------------- */

static int add_to(struct kernel_times *times, uint64_t rank, uint32_t name,
                  const struct kernel_time_sum *sum)
{
	uint32_t place;

	FLEXTRACE_TRY(MAP_PLACE(&times->sum_index, rank, name, times->sums, times->n_sums, &place));
	times->sums[place].total_ns += sum->total_ns;
	times->sums[place].calls += sum->calls;
	return FLEXTRACE_OK;
}

/* A rank that is not told is -1, as elsewhere. */
static bool read_rank(const char *text, uint64_t *ret_rank)
{
	*ret_rank = (uint32_t)-1;
	return !*text || digits_read_all(text, INT32_MAX, ret_rank);
}

static int add_row(struct kernel_times *times, const struct rows *rows,
                   const struct kernel_cells *cells, struct string_cache *strings,
                   struct flextrace_error *error)
{
	struct kernel_time_sum sum;
	uint64_t rank;
	uint32_t name;

	if (kind_read_device(cells->kind) != ROW_EXEC)
		return FLEXTRACE_OK;
	if (!digits_read_all(cells->calls, UINT64_MAX, &sum.calls) ||
	    !digits_read_all(cells->total_ns, UINT64_MAX, &sum.total_ns) ||
	    !read_rank(cells->rank, &rank))
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "Cannot take kernel times, a number is none: path=%s, "
		                 "line=%" PRIu64,
		                 rows->path, rows->reader.line);
	FLEXTRACE_TRY(kernel_times_name(strings, cells->name, &name));
	FLEXTRACE_TRY(add_to(times, rank, name, &sum));
	return add_to(times, ALL_RANKS, name, &sum);
}

int kernel_times_read(struct kernel_times *times, const char *dir, struct string_cache *strings,
                      struct flextrace_error *error)
{
	struct kernel_cells cells;
	struct rows rows;

	if (!open_kernels(&rows, dir, error))
		return rows.code;
	while (rows.code >= 0 && rows_next(&rows, &cells, error))
		rows.code = add_row(times, &rows, &cells, strings, error);
	rows_close(&rows);
	return rows.code;
}

void kernel_times_release(struct kernel_times *times)
{
	free(times->sums);
	map_release(&times->sum_index);
	*times = (struct kernel_times){0};
}

uint64_t kernel_times_mean(const struct kernel_times *times, int32_t rank, uint32_t name)
{
	uint32_t place = map_find(&times->sum_index, (uint32_t)rank, name);
	const struct kernel_time_sum *sum;

	if (place == MAP_NONE)
		place = map_find(&times->sum_index, ALL_RANKS, name);
	if (place == MAP_NONE)
		return 0;
	sum = &times->sums[place];
	return sum->calls ? (sum->total_ns + sum->calls / 2) / sum->calls : 0;
}

/* -- names ------------------------------------------------------------------------------------- */

int kernel_times_name(struct string_cache *strings, const char *text, uint32_t *ret_name)
{
	size_t length = strlen(text), suffix = strlen(EXEC_SUFFIX);
	char *kernel;
	int code;

	if (length <= suffix || strcmp(text + length - suffix, EXEC_SUFFIX))
		return string_intern(strings, text, ret_name);
	kernel = strndup(text, length - suffix);
	if (!kernel)
		return FLEXTRACE_E_MEMORY;
	code = string_intern(strings, kernel, ret_name);
	free(kernel);
	return code;
}
