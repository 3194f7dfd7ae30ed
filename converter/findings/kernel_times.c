/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_times.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text/csv_reader.h"
#include "base/text/digits.h"

#define EXEC_SUFFIX " Cmpt Exec"        /* Flex writes it behind the name of a kernel */
#define ALL_RANKS   ((uint64_t)1 << 32) /* beside ranks of 32 bits */
#define MAX_COLUMNS 8

/* Of kernels.csv, in the order of its list below. */
enum { KIND, NAME, CALLS, TOTAL_NS, RANK };

/* -- a table of the directory ------------------------------------------------------------------ */

struct input {
	struct csv_reader reader;
	FILE *file; /* owned, both; NULL = there is no such table */
	char *path;
	size_t columns[MAX_COLUMNS]; /* where those asked for stand */
};

static int refuse(const char *path, const char *reason, struct flextrace_error *error)
{
	return error_set(error, FLEXTRACE_E_INPUT, "Cannot take kernel times: path=%s, reason=%s",
	                 path, reason);
}

static void input_close(struct input *input)
{
	csv_reader_release(&input->reader);
	if (input->file)
		fclose(input->file);
	free(input->path);
}

/* `columns`: names, ended by NULL. */
static int find_columns(struct input *input, const char *const *columns,
                        struct flextrace_error *error)
{
	const struct csv_reader *reader = &input->reader;

	for (size_t i = 0; columns[i]; i++) {
		size_t at = csv_reader_find(reader, columns[i]);

		if (at == reader->n_fields)
			return refuse(input->path, "it is not what `flextrace convert` writes",
			              error);
		input->columns[i] = at;
	}
	return FLEXTRACE_OK;
}

/* Opens a table and reads its heading; one that is not there is no error. */
static int input_open(struct input *input, const char *dir, const char *file,
                      const char *const *columns, struct flextrace_error *error)
{
	int code;

	*input = (struct input){0};
	if (asprintf(&input->path, "%s/%s", dir, file) < 0) {
		input->path = NULL;
		return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	}
	input->file = fopen(input->path, "re");
	if (!input->file)
		return errno == ENOENT ? FLEXTRACE_OK : refuse(input->path, strerror(errno), error);
	csv_reader_init(&input->reader, input->file, input->path);
	code = csv_reader_next(&input->reader, error);
	return code < 0 ? code : find_columns(input, columns, error);
}

static const char *field(const struct input *input, size_t column)
{
	return csv_reader_text(&input->reader, input->columns[column]);
}

/* -- is it such a directory -------------------------------------------------------------------- */

static int expect_no_autopilot(const char *dir, struct flextrace_error *error)
{
	static const char *const columns[] = {"autopilot", NULL};
	struct input input;
	int code = input_open(&input, dir, "compiler.csv", columns, error);

	while (code >= 0 && input.file && (code = csv_reader_next(&input.reader, error)) > 0) {
		if (strcmp(field(&input, 0), "0") != 0)
			code = refuse(dir, "the autopilot was on in that run, too", error);
	}
	input_close(&input);
	return code;
}

/* Opens kernels.csv; input_close() in any case. */
static int open_kernels(struct input *input, const char *dir, struct flextrace_error *error)
{
	static const char *const columns[] = {"kind", "name", "calls", "total_ns", "rank", NULL};

	FLEXTRACE_TRY(input_open(input, dir, "kernels.csv", columns, error));
	if (input->file)
		return FLEXTRACE_OK;
	if (access(dir, F_OK) < 0)
		return refuse(dir, strerror(errno), error);
	return refuse(dir, "it has no kernels.csv; name the output directory of a conversion",
	              error);
}

int kernel_times_check(const char *dir, struct flextrace_error *error)
{
	struct input input;
	int code = open_kernels(&input, dir, error);

	input_close(&input);
	return code < 0 ? code : expect_no_autopilot(dir, error);
}

/* -- times ------------------------------------------------------------------------------------- */

static int add_to(struct kernel_times *times, uint64_t rank, uint32_t name,
                  const struct kernel_time_sum *sum)
{
	uint32_t place;

	FLEXTRACE_TRY(MAP_PLACE(&times->places, rank, name, times->sums, times->n_sums, &place));
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

static int add_line(struct kernel_times *times, const struct input *input,
                    struct string_cache *strings, struct flextrace_error *error)
{
	struct kernel_time_sum sum;
	uint64_t rank;
	uint32_t name;

	if (strcmp(field(input, KIND), "Exec"))
		return FLEXTRACE_OK;
	if (!digits_read_all(field(input, CALLS), UINT64_MAX, &sum.calls) ||
	    !digits_read_all(field(input, TOTAL_NS), UINT64_MAX, &sum.total_ns) ||
	    !read_rank(field(input, RANK), &rank))
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "Cannot take kernel times, a number is none: path=%s, "
		                 "line=%" PRIu64,
		                 input->path, input->reader.line);
	FLEXTRACE_TRY(kernel_times_name(strings, field(input, NAME), &name));
	FLEXTRACE_TRY(add_to(times, rank, name, &sum));
	return add_to(times, ALL_RANKS, name, &sum);
}

int kernel_times_read(struct kernel_times *times, const char *dir, struct string_cache *strings,
                      struct flextrace_error *error)
{
	struct input input;
	int code = open_kernels(&input, dir, error);

	while (code >= 0 && (code = csv_reader_next(&input.reader, error)) > 0)
		code = add_line(times, &input, strings, error);
	input_close(&input);
	return code;
}

void kernel_times_release(struct kernel_times *times)
{
	free(times->sums);
	map_release(&times->places);
	*times = (struct kernel_times){0};
}

uint64_t kernel_times_mean(const struct kernel_times *times, int32_t rank, uint32_t name)
{
	uint32_t place = map_find(&times->places, (uint32_t)rank, name);
	const struct kernel_time_sum *sum;

	if (place == MAP_NONE)
		place = map_find(&times->places, ALL_RANKS, name);
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
