/* SPDX-License-Identifier: Apache-2.0 */
#include "twice.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text/strings.h"
#include "output/column_text.h"
#include "model/timeline/rows.h"
#include "model/words/kinds.h"

/* -- tables ---------------------------------------------------------------------------------- */

struct host_cells { /* of host.csv */
	const char *rank, *kind, *name;
	uint64_t correlation;
	uint32_t depth;
	int64_t start_ns, dur_ns;
};

static const struct column host_columns[] = {
	COLUMN(struct host_cells, rank),           COLUMN(struct host_cells, kind),
	COLUMN(struct host_cells, name),           COLUMN_OPTIONAL(struct host_cells, correlation),
	COLUMN_OPTIONAL(struct host_cells, depth), COLUMN(struct host_cells, start_ns),
	COLUMN(struct host_cells, dur_ns),
};

struct event_cells { /* of events.csv */
	const char *rank, *kind;
	uint64_t correlation;
	int64_t start_ns, end_ns;
};

static const struct column event_columns[] = {
	COLUMN(struct event_cells, rank),   COLUMN(struct event_cells, correlation),
	COLUMN(struct event_cells, kind),   COLUMN(struct event_cells, start_ns),
	COLUMN(struct event_cells, end_ns),
};

struct twice_row {
	const char *rank, *kind, *name;
	uint32_t number;
	const char *runs;
	uint64_t correlation;
	uint32_t depth;
	int64_t start_ns, without_ns, with_ns, cost_ns, device_ns, exec_ns;
};
#define NO_ROW                                                              \
	{                                                                   \
		.correlation = COLUMN_NONE_U64, .depth = COLUMN_NONE_U32,   \
		.start_ns = COLUMN_NONE_I64, .without_ns = COLUMN_NONE_I64, \
		.with_ns = COLUMN_NONE_I64, .cost_ns = COLUMN_NONE_I64,     \
		.device_ns = COLUMN_NONE_I64, .exec_ns = COLUMN_NONE_I64    \
	}

static const struct column columns[] = {
	COLUMN(struct twice_row, rank),
	COLUMN(struct twice_row, kind),
	COLUMN(struct twice_row, name),
	COLUMN(struct twice_row, number),
	COLUMN(struct twice_row, runs),
	COLUMN_OPTIONAL(struct twice_row, correlation),
	COLUMN_OPTIONAL(struct twice_row, depth),
	COLUMN_OPTIONAL(struct twice_row, start_ns),
	COLUMN_OPTIONAL(struct twice_row, without_ns),
	COLUMN_OPTIONAL(struct twice_row, with_ns),
	COLUMN_OPTIONAL(struct twice_row, cost_ns),
	COLUMN_OPTIONAL(struct twice_row, device_ns),
	COLUMN_OPTIONAL(struct twice_row, exec_ns),
};

/* -- what is known --------------------------------------------------------------------------- */

struct work { /* of the device, for one correlation of a rank */
	int64_t start_ns, end_ns, exec_ns;
};

struct series { /* intervals of one rank, kind and name: strings */
	uint32_t rank, kind, name;
	uint32_t n_without, n_with; /* so far */
};

struct interval { /* of the run without the device */
	uint32_t series;
	uint32_t number; /* in its series, from 1 */
	int64_t dur_ns;
	bool is_taken;
};

struct twice {
	struct string_pool *strings; /* owned, all */
	struct string_cache cache;
	struct map work_index; /* (rank, correlation) -> work */
	struct work *works;
	uint32_t n_works;
	struct map series_index; /* (rank and kind, name) -> series */
	struct series *series;
	uint32_t n_series;
	struct map interval_index; /* (series, number) -> interval */
	struct interval *intervals;
	uint32_t n_intervals;
	struct writer writer;
	struct twice_result result;
};

static int find_series(struct twice *twice, const struct host_cells *host, uint32_t *ret_series)
{
	struct series series = {0};
	uint64_t of;
	int code;

	FLEXTRACE_TRY(string_intern(&twice->cache, host->rank, &series.rank));
	FLEXTRACE_TRY(string_intern(&twice->cache, host->kind, &series.kind));
	FLEXTRACE_TRY(string_intern(&twice->cache, host->name, &series.name));
	of = (uint64_t)series.rank << 32 | series.kind;
	code = MAP_PLACE(&twice->series_index, of, series.name, twice->series, twice->n_series,
	                 ret_series);
	if (code > 0)
		twice->series[*ret_series] = series;
	return code;
}

/* -- in -------------------------------------------------------------------------------------- */

static int take_interval(struct twice *twice, const void *row)
{
	const struct host_cells *host = row;
	struct interval interval = {.dur_ns = host->dur_ns};

	FLEXTRACE_TRY(find_series(twice, host, &interval.series));
	interval.number = ++twice->series[interval.series].n_without;
	FLEXTRACE_TRY(map_put(&twice->interval_index, interval.series, interval.number,
	                      twice->n_intervals));
	return ARRAY_PUSH(twice->intervals, twice->n_intervals, interval);
}

static int take_work(struct twice *twice, const void *row)
{
	const struct event_cells *event = row;
	uint32_t rank, found;
	struct work *work;
	int code;

	if (!event->correlation)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(string_intern(&twice->cache, event->rank, &rank));
	code = MAP_PLACE(&twice->work_index, rank, event->correlation, twice->works, twice->n_works,
	                 &found);
	FLEXTRACE_TRY(code);
	work = &twice->works[found];
	if (code)
		*work = (struct work){event->start_ns, event->end_ns, 0};
	if (event->start_ns < work->start_ns)
		work->start_ns = event->start_ns;
	if (event->end_ns > work->end_ns)
		work->end_ns = event->end_ns;
	if (kind_read_device(event->kind) == ROW_EXEC)
		work->exec_ns += event->end_ns - event->start_ns;
	return FLEXTRACE_OK;
}

/* Of host.csv or events.csv, by what is done with each row. */
static int read_table(struct twice *twice, const char *dir,
                      int (*take)(struct twice *twice, const void *row),
                      struct flextrace_error *error)
{
	bool is_work = take == take_work;
	union {
		struct host_cells host;
		struct event_cells event;
	} row;
	struct rows rows;

	if (!rows_open(&rows, dir, is_work ? "events.csv" : "host.csv",
	               is_work ? event_columns : host_columns,
	               is_work ? N_COLUMNS(event_columns) : N_COLUMNS(host_columns), error))
		return rows.code;
	while (rows_next(&rows, &row, error))
		rows.code = take(twice, &row);
	rows_close(&rows);
	return rows.code;
}

/* -- out ------------------------------------------------------------------------------------- */

static void put(struct twice *twice, struct twice_row *row, uint32_t series, const char *runs)
{
	row->rank = string_get(twice->strings, twice->series[series].rank);
	row->kind = string_get(twice->strings, twice->series[series].kind);
	row->name = string_get(twice->strings, twice->series[series].name);
	row->runs = runs;
	column_write_row(&twice->writer, columns, N_COLUMNS(columns), row);
}

static void add_work(struct twice *twice, uint32_t rank, struct twice_row *row)
{
	uint32_t found = MAP_NONE;

	if (row->correlation && row->correlation != COLUMN_NONE_U64)
		found = map_find(&twice->work_index, rank, row->correlation);
	if (found == MAP_NONE)
		return;
	row->device_ns = twice->works[found].end_ns - twice->works[found].start_ns;
	row->exec_ns = twice->works[found].exec_ns;
}

/* Steps, windows and intervals that may cross others stand beside the calls, not around them. */
static bool is_call(const char *kind)
{
	return strcmp(kind, "Step") != 0 && strcmp(kind, "Window") != 0 &&
	       strcmp(kind, "Async") != 0;
}

static void count_both(struct twice *twice, const struct host_cells *host, int64_t without_ns)
{
	twice->result.n_both++;
	if (host->depth != 0 || !is_call(host->kind))
		return;
	twice->result.without_ns += (uint64_t)without_ns;
	twice->result.with_ns += (uint64_t)host->dur_ns;
	sample_add(&twice->result.cost_ns, (double)(host->dur_ns - without_ns));
}

/* An interval of the run with the device, beside that of the other run. */
static int write_interval(struct twice *twice, const void *read)
{
	const struct host_cells *host = read;
	struct twice_row row = NO_ROW;
	uint32_t series, found;

	FLEXTRACE_TRY(find_series(twice, host, &series));
	row.number = ++twice->series[series].n_with;
	row.correlation = host->correlation;
	row.depth = host->depth;
	row.start_ns = host->start_ns;
	row.with_ns = host->dur_ns;
	found = map_find(&twice->interval_index, series, row.number);
	if (found != MAP_NONE) {
		struct interval *other = &twice->intervals[found];

		other->is_taken = true;
		row.without_ns = other->dur_ns;
		row.cost_ns = row.with_ns - row.without_ns;
		count_both(twice, host, row.without_ns);
	}
	twice->result.n_with += found == MAP_NONE;
	add_work(twice, twice->series[series].rank, &row);
	put(twice, &row, series, found == MAP_NONE ? "with" : "both");
	return FLEXTRACE_OK;
}

static void write_rest(struct twice *twice)
{
	for (uint32_t i = 0; i < twice->n_intervals; i++) {
		const struct interval *interval = &twice->intervals[i];
		struct twice_row row = NO_ROW;

		if (interval->is_taken)
			continue;
		twice->result.n_without++;
		row.number = interval->number;
		row.without_ns = interval->dur_ns;
		put(twice, &row, interval->series, "without");
	}
}

static int stitch(struct twice *twice, const char *without_dir, const char *dir,
                  struct flextrace_error *error)
{
	int code;

	if (!twice->strings)
		return error_memory(error);
	string_cache_init(&twice->cache, twice->strings);
	FLEXTRACE_TRY(read_table(twice, without_dir, take_interval, error));
	FLEXTRACE_TRY(read_table(twice, dir, take_work, error));
	FLEXTRACE_TRY(writer_open(&twice->writer, dir, TABLES_DIR "/twice.csv", false, error));
	column_write_names(&twice->writer, columns, N_COLUMNS(columns));
	code = read_table(twice, dir, write_interval, error);
	if (code < 0) {
		writer_abandon(&twice->writer);
		return code;
	}
	write_rest(twice);
	return writer_close(&twice->writer, error);
}

int twice_write(const char *without_dir, const char *dir, struct twice_result *ret_result,
                struct flextrace_error *error)
{
	struct twice twice = {.strings = string_pool_new()};
	int code = stitch(&twice, without_dir, dir, error);

	*ret_result = twice.result;
	free(twice.works);
	free(twice.series);
	free(twice.intervals);
	map_release(&twice.work_index);
	map_release(&twice.series_index);
	map_release(&twice.interval_index);
	string_cache_release(&twice.cache);
	string_pool_free(twice.strings);
	return code;
}
