/* SPDX-License-Identifier: Apache-2.0 */
#include "twice.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/csv_reader.h"
#include "base/text/writer.h"
#include "base/map.h"
#include "base/text/strings.h"

#define MAX_COLUMNS 8
#define SEPARATOR   "\x1f" /* of a key's texts; only names may have it, and they come last */

/* -- tables ---------------------------------------------------------------------------------- */

struct input {
	FILE *file;               /* owned */
	struct csv_reader reader; /* owned */
	char path[PATH_MAX];
	size_t columns[MAX_COLUMNS]; /* where the columns that were asked for are */
};

static void input_close(struct input *input)
{
	csv_reader_release(&input->reader);
	if (input->file)
		fclose(input->file);
	input->file = NULL;
}

static int find_columns(struct input *input, const char *const *names,
                        struct flextrace_error *error)
{
	FLEXTRACE_TRY(csv_reader_next(&input->reader, error));
	for (int i = 0; names[i]; i++) {
		size_t at = csv_reader_find(&input->reader, names[i]);

		if (at == input->reader.n_fields)
			return error_set(error, FLEXTRACE_E_INPUT,
			                 "Column is missing: path=%s, column=%s", input->path,
			                 names[i]);
		input->columns[i] = at;
	}
	return FLEXTRACE_OK;
}

static int input_open(struct input *input, const char *dir, const char *file,
                      const char *const *names, struct flextrace_error *error)
{
	*input = (struct input){.file = NULL};
	snprintf(input->path, sizeof(input->path), "%s/%s", dir, file);
	input->file = fopen(input->path, "re");
	if (!input->file)
		return error_set(error, FLEXTRACE_E_INPUT, "Cannot read table: path=%s, reason=%s",
		                 input->path, strerror(errno));
	csv_reader_init(&input->reader, input->file, input->path);
	return find_columns(input, names, error);
}

static const char *text_of(const struct input *input, int column)
{
	return csv_reader_text(&input->reader, input->columns[column]);
}

static int64_t number_of(const struct input *input, int column)
{
	return strtoll(text_of(input, column), NULL, 10);
}

/* -- what is known --------------------------------------------------------------------------- */

struct work { /* of the device, for one correlation of a rank */
	int64_t start_ns, end_ns, exec_ns;
};

struct interval { /* of the run without the device */
	uint32_t key;
	uint32_t number; /* of its key, from 1 */
	int64_t dur_ns;
	bool is_taken;
};

struct twice {
	struct string_pool *strings; /* owned, all */
	struct string_cache cache;
	struct map work_index; /* (rank, correlation) -> work */
	struct work *works;
	uint32_t n_works, n_works_allocated;
	struct map interval_index; /* (key, number) -> interval */
	struct interval *intervals;
	uint32_t n_intervals, n_intervals_allocated;
	struct map counts; /* (key, run) -> how many so far */
	struct writer writer;
	struct twice_result result;
};

enum { RUN_WITHOUT, RUN_WITH };
enum { HOST_RANK, HOST_KIND, HOST_NAME, HOST_CORRELATION, HOST_DEPTH, HOST_START, HOST_DUR };
static const char *const host_columns[] = {"rank",  "kind",     "name",   "correlation",
                                           "depth", "start_ns", "dur_ns", NULL};

/* The name of an interval, and its number among those of this name in its run. */
static int key_of(struct twice *twice, const struct input *host, uint32_t run, uint32_t *ret_key,
                  uint32_t *ret_number)
{
	uint32_t n;
	char *text;
	int code;

	if (asprintf(&text, "%s" SEPARATOR "%s" SEPARATOR "%s", text_of(host, HOST_RANK),
	             text_of(host, HOST_KIND), text_of(host, HOST_NAME)) < 0)
		return FLEXTRACE_E_MEMORY;
	code = string_intern(&twice->cache, text, ret_key);
	free(text);
	FLEXTRACE_TRY(code);
	n = map_find(&twice->counts, *ret_key, run);
	*ret_number = n == MAP_NONE ? 1 : n + 1;
	return map_put(&twice->counts, *ret_key, run, *ret_number);
}

/* -- in -------------------------------------------------------------------------------------- */

static int take_interval(struct twice *twice, const struct input *host)
{
	uint32_t key, number;

	FLEXTRACE_TRY(key_of(twice, host, RUN_WITHOUT, &key, &number));
	FLEXTRACE_TRY(ARRAY_RESERVE(twice->intervals, twice->n_intervals_allocated,
	                            twice->n_intervals + 1ull));
	twice->intervals[twice->n_intervals] = (struct interval){
		.key = key, .number = number, .dur_ns = number_of(host, HOST_DUR)};
	return map_put(&twice->interval_index, key, number, twice->n_intervals++);
}

static int take_work(struct twice *twice, const struct input *events)
{
	enum { RANK, CORRELATION, KIND, START, END };
	uint64_t correlation = strtoull(text_of(events, CORRELATION), NULL, 10);
	int64_t start_ns = number_of(events, START), end_ns = number_of(events, END);
	uint32_t rank, found;
	struct work *work;

	if (!correlation)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(string_intern(&twice->cache, text_of(events, RANK), &rank));
	found = map_find(&twice->work_index, rank, correlation);
	if (found == MAP_NONE) {
		FLEXTRACE_TRY(ARRAY_RESERVE(twice->works, twice->n_works_allocated,
		                            twice->n_works + 1ull));
		found = twice->n_works++;
		twice->works[found] = (struct work){start_ns, end_ns, 0};
		FLEXTRACE_TRY(map_put(&twice->work_index, rank, correlation, found));
	}
	work = &twice->works[found];
	if (start_ns < work->start_ns)
		work->start_ns = start_ns;
	if (end_ns > work->end_ns)
		work->end_ns = end_ns;
	if (strcmp(text_of(events, KIND), "Exec") == 0)
		work->exec_ns += end_ns - start_ns;
	return FLEXTRACE_OK;
}

/* Reads a table; `take` each of its rows. */
static int read_rows(struct twice *twice, struct input *input,
                     int (*take)(struct twice *twice, const struct input *input),
                     struct flextrace_error *error)
{
	int code;

	while ((code = csv_reader_next(&input->reader, error)) > 0) {
		if (take(twice, input) < 0)
			return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	}
	return code;
}

static int read_table(struct twice *twice, const char *dir, const char *file,
                      const char *const *columns,
                      int (*take)(struct twice *twice, const struct input *input),
                      struct flextrace_error *error)
{
	struct input input;
	int code = input_open(&input, dir, file, columns, error);

	if (code >= 0)
		code = read_rows(twice, &input, take, error);
	input_close(&input);
	return code;
}

/* -- out ------------------------------------------------------------------------------------- */

static void write_text(struct twice *twice, const char *text, size_t n)
{
	writer_csv(&twice->writer, text, n);
	writer_char(&twice->writer, ',');
}

/* "rank,kind,name,number," */
static void write_key(struct twice *twice, uint32_t key, uint32_t number)
{
	const char *rank = string_get(twice->strings, key), *kind = strstr(rank, SEPARATOR) + 1;
	const char *name = strstr(kind, SEPARATOR) + 1;

	write_text(twice, rank, (size_t)(kind - rank) - 1);
	write_text(twice, kind, (size_t)(name - kind) - 1);
	write_text(twice, name, strlen(name));
	writer_u64(&twice->writer, number);
	writer_char(&twice->writer, ',');
}

static void write_work(struct twice *twice, const struct input *host)
{
	uint64_t correlation = strtoull(text_of(host, HOST_CORRELATION), NULL, 10);
	uint32_t rank, found = MAP_NONE;

	if (correlation && string_intern(&twice->cache, text_of(host, HOST_RANK), &rank) >= 0)
		found = map_find(&twice->work_index, rank, correlation);
	if (found != MAP_NONE)
		writer_i64(&twice->writer,
		           twice->works[found].end_ns - twice->works[found].start_ns);
	writer_char(&twice->writer, ',');
	if (found != MAP_NONE)
		writer_i64(&twice->writer, twice->works[found].exec_ns);
	writer_char(&twice->writer, '\n');
}

/* Steps, windows and intervals that may cross others stand beside the calls, not around them. */
static bool is_call(const char *kind)
{
	return strcmp(kind, "Step") != 0 && strcmp(kind, "Window") != 0 &&
	       strcmp(kind, "Async") != 0;
}

static void count_both(struct twice *twice, const struct input *host, int64_t without_ns)
{
	twice->result.n_both++;
	if (strcmp(text_of(host, HOST_DEPTH), "0") != 0 || !is_call(text_of(host, HOST_KIND)))
		return;
	twice->result.without_ns += (uint64_t)without_ns;
	twice->result.with_ns += (uint64_t)number_of(host, HOST_DUR);
}

/* An interval of the run with the device, beside that of the other run. */
static int write_interval(struct twice *twice, const struct input *host)
{
	int64_t with_ns = number_of(host, HOST_DUR);
	struct writer *writer = &twice->writer;
	uint32_t key, number, found;

	FLEXTRACE_TRY(key_of(twice, host, RUN_WITH, &key, &number));
	found = map_find(&twice->interval_index, key, number);
	write_key(twice, key, number);
	writer_raw(writer, found == MAP_NONE ? "with," : "both,");
	writer_raw(writer, text_of(host, HOST_CORRELATION));
	writer_char(writer, ',');
	writer_raw(writer, text_of(host, HOST_DEPTH));
	writer_char(writer, ',');
	writer_raw(writer, text_of(host, HOST_START));
	writer_char(writer, ',');
	if (found != MAP_NONE)
		writer_i64(writer, twice->intervals[found].dur_ns);
	writer_char(writer, ',');
	writer_i64(writer, with_ns);
	writer_char(writer, ',');
	if (found != MAP_NONE) {
		writer_i64(writer, with_ns - twice->intervals[found].dur_ns);
		twice->intervals[found].is_taken = true;
		count_both(twice, host, twice->intervals[found].dur_ns);
	}
	twice->result.n_with += found == MAP_NONE;
	writer_char(writer, ',');
	write_work(twice, host);
	return FLEXTRACE_OK;
}

static void write_rest(struct twice *twice)
{
	for (uint32_t i = 0; i < twice->n_intervals; i++) {
		const struct interval *interval = &twice->intervals[i];

		if (interval->is_taken)
			continue;
		twice->result.n_without++;
		write_key(twice, interval->key, interval->number);
		writer_literal(&twice->writer, "without,,,,");
		writer_i64(&twice->writer, interval->dur_ns);
		writer_literal(&twice->writer, ",,,,\n");
	}
}

static int write_table(struct twice *twice, const char *dir, struct flextrace_error *error)
{
	int code;

	FLEXTRACE_TRY(writer_open(&twice->writer, dir, "twice.csv", false, error));
	writer_literal(&twice->writer, "rank,kind,name,number,runs,correlation,depth,start_ns,"
	                               "without_ns,with_ns,cost_ns,device_ns,exec_ns\n");
	code = read_table(twice, dir, "host.csv", host_columns, write_interval, error);
	if (code < 0) {
		writer_abandon(&twice->writer);
		return code;
	}
	write_rest(twice);
	return writer_close(&twice->writer, error);
}

static int stitch(struct twice *twice, const char *without_dir, const char *dir,
                  struct flextrace_error *error)
{
	static const char *const event_columns[] = {"rank",     "correlation", "kind",
	                                            "start_ns", "end_ns",      NULL};

	if (!twice->strings)
		return error_set(error, FLEXTRACE_E_MEMORY, "Out of memory");
	string_cache_init(&twice->cache, twice->strings);
	FLEXTRACE_TRY(
		read_table(twice, without_dir, "host.csv", host_columns, take_interval, error));
	FLEXTRACE_TRY(read_table(twice, dir, "events.csv", event_columns, take_work, error));
	return write_table(twice, dir, error);
}

int twice_write(const char *without_dir, const char *dir, struct twice_result *ret_result,
                struct flextrace_error *error)
{
	struct twice twice = {.strings = string_pool_new()};
	int code = stitch(&twice, without_dir, dir, error);

	*ret_result = twice.result;
	free(twice.works);
	free(twice.intervals);
	map_release(&twice.work_index);
	map_release(&twice.interval_index);
	map_release(&twice.counts);
	string_cache_release(&twice.cache);
	string_pool_free(twice.strings);
	return code;
}
