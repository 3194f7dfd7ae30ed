/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.csv: what the devices and the host program of each rank were at over time, in at most
 * 400 equal parts of the run; over all of them the sums are those of breakdown.csv. Memory: 19 kB
 * per process.
 */
#include <stdlib.h>

#include "../analysis_impl.h"
#include "findings/work/device_time.h"

#define MAX_BUCKETS 400

enum overview_part { OVERVIEW_IDLE = WORK_CLASS_COUNT, OVERVIEW_HOST, OVERVIEW_PART_COUNT };

struct bucket {
	uint64_t ns[OVERVIEW_PART_COUNT]; /* enum work_class: exposed; enum overview_part */
};

struct overview {
	const struct timeline *timeline; /* weak */
	struct bucket *buckets;          /* owned: by process, and in the last place all */
	bool *is_there;                  /* owned: by process: it has any row */
	int64_t *reach_time_ns;          /* owned: by process: where its host rows so far end */
	uint64_t width_ns;
	uint32_t n;
};

/* The narrowest of 1, 2, 5, 10, ... ns that cut the run into few enough. */
static uint64_t choose_width_ns(uint64_t run_ns)
{
	static const uint64_t digits[] = {1, 2, 5};

	for (uint64_t tens = 1;; tens *= 10) {
		for (int i = 0; i < 3; i++) {
			if ((run_ns - 1) / MAX_BUCKETS < digits[i] * tens)
				return digits[i] * tens;
		}
	}
}

static void add(struct overview *overview, uint32_t process, int part, int64_t start_time_ns,
                int64_t end_time_ns)
{
	uint64_t from = interval_ns(overview->timeline->first_time_ns, start_time_ns);
	uint64_t to = interval_ns(overview->timeline->first_time_ns, end_time_ns);
	uint64_t width_ns = overview->width_ns;
	struct bucket *buckets = &overview->buckets[(uint64_t)process * overview->n];

	for (uint64_t i = from / width_ns; from < to; i++) {
		uint64_t until = to - i * width_ns > width_ns ? (i + 1) * width_ns : to;

		buckets[i].ns[part] += until - from;
		from = until;
	}
	overview->is_there[process] = true;
}

static void take_stretch(void *context, const struct device_stretch *stretch)
{
	add(context, stretch->process,
	    stretch->mask ? (int)device_time_class(stretch->mask) : OVERVIEW_IDLE,
	    stretch->start_time_ns, stretch->end_time_ns);
}

/* What a program named to tell phases apart says nothing of what it did. */
static void take_host_row(struct overview *overview, const struct host_row *row)
{
	const struct timeline *timeline = overview->timeline;
	const struct track *track = &timeline->tracks[row->track];
	uint32_t process = timeline->identity->threads[track->owner].process;
	int64_t *reach_ns = &overview->reach_time_ns[process];
	int64_t from_ns = row->start_time_ns > *reach_ns ? row->start_time_ns : *reach_ns;

	if (track->kind != TRACK_THREAD || row->kind == HOST_STEP || row->kind == HOST_WINDOW ||
	    row->end_time_ns <= from_ns)
		return;
	add(overview, process, OVERVIEW_HOST, from_ns, row->end_time_ns);
	*reach_ns = row->end_time_ns;
}

/* -- rows -------------------------------------------------------------------------------------- */

struct overview_row {
	uint32_t process;
	int64_t start_time_ns, end_time_ns;
	struct bucket of;
};

static const struct column columns[] = {
	COLUMNS_PROCESS(struct overview_row, process),
	COLUMN_TIME("start_ns", struct overview_row, start_time_ns),
	COLUMN_TIME("end_ns", struct overview_row, end_time_ns),
	COLUMN_AS("compute_ns", struct overview_row, of.ns[WORK_COMPUTE]),
	COLUMN_AS("exposed_communication_ns", struct overview_row, of.ns[WORK_COMMUNICATION]),
	COLUMN_AS("exposed_memory_ns", struct overview_row, of.ns[WORK_MEMORY]),
	COLUMN_AS("exposed_prepare_ns", struct overview_row, of.ns[WORK_PREPARE]),
	COLUMN_AS("idle_ns", struct overview_row, of.ns[OVERVIEW_IDLE]),
	COLUMN_AS("host_ns", struct overview_row, of.ns[OVERVIEW_HOST]),
};

/* `process`: FLEXTRACE_NONE: all, which stand in `place`. */
static void put_buckets(const struct overview *overview, uint32_t process, uint32_t place,
                        struct row_sink *sink)
{
	int64_t first_ns = overview->timeline->first_time_ns;
	int64_t last_ns = overview->timeline->last_time_ns;

	for (uint32_t i = 0; i < overview->n; i++) {
		struct overview_row row = {
			.process = process,
			.start_time_ns = (int64_t)((uint64_t)first_ns + i * overview->width_ns),
			.end_time_ns = last_ns,
			.of = overview->buckets[(uint64_t)place * overview->n + i],
		};

		if (i + 1 < overview->n)
			row.end_time_ns = row.start_time_ns + (int64_t)overview->width_ns;
		row_put(sink, &row);
	}
}

static void put_all(struct overview *overview, const struct owners *owners, struct row_sink *sink)
{
	uint32_t n_processes = overview->timeline->identity->n_processes, n_there = 0;
	struct bucket *all = &overview->buckets[(uint64_t)n_processes * overview->n];

	for (uint32_t i = 0; i < n_processes; i++) {
		uint32_t process = owners->processes[i];

		if (!overview->is_there[process])
			continue;
		n_there++;
		put_buckets(overview, process, process, sink);
		for (uint64_t j = 0; j < overview->n; j++) {
			for (int part = 0; part < OVERVIEW_PART_COUNT; part++)
				all[j].ns[part] +=
					overview->buckets[process * overview->n + j].ns[part];
		}
	}
	if (n_there > 1)
		put_buckets(overview, FLEXTRACE_NONE, n_processes, sink);
}

static int make(struct overview *overview)
{
	const struct timeline *timeline = overview->timeline;
	uint64_t run_ns = interval_ns(timeline->first_time_ns, timeline->last_time_ns);
	uint32_t n_processes = timeline->identity->n_processes;

	if (!run_ns)
		return FLEXTRACE_OK;
	overview->width_ns = choose_width_ns(run_ns);
	overview->n = (uint32_t)((run_ns - 1) / overview->width_ns + 1);
	overview->buckets = calloc((n_processes + 1ull) * overview->n, sizeof(struct bucket));
	overview->is_there = calloc(n_processes + 1ull, sizeof(bool));
	overview->reach_time_ns = malloc((n_processes + 1ull) * sizeof(int64_t));
	if (!overview->buckets || !overview->is_there || !overview->reach_time_ns)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < n_processes; i++)
		overview->reach_time_ns[i] = INT64_MIN;
	FLEXTRACE_TRY(device_time_read(timeline, take_stretch, overview));
	TABLE_EACH(struct host_row, row, &timeline->host_rows)
		take_host_row(overview, row);
	return FLEXTRACE_OK;
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct overview overview = {.timeline = findings->timeline};
	int code = make(&overview);

	if (code == FLEXTRACE_OK && overview.n)
		put_all(&overview, findings->owners, sink);
	free(overview.buckets);
	free(overview.is_there);
	free(overview.reach_time_ns);
	return code;
}

const struct analysis analysis_overview =
	ANALYSIS_CSV("overview", columns, fill, .title = "Utilisation over time",
                     .what = "The breakdown in at most 400 parts of the run, and how long the "
                             "host program was in a call.");
