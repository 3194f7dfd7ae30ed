/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.csv: what the devices and the host program of each rank were at over time, in at most
 * 400 equal parts of the run; over all of them the sums are those of breakdown.csv. What is of all
 * ranks comes first, where a page that shows the first rows only has it.
 */
#include <stdlib.h>

#include "../analysis_impl.h"
#include "findings/work/device_time.h"

struct overview_row {
	uint32_t process; /* FLEXTRACE_NONE: all */
	int64_t start_time_ns, end_time_ns;
	struct time_bucket of;
};

static const struct column columns[] = {
	COLUMNS_PROCESS(struct overview_row, process),
	COLUMN_TIME("start_ns", struct overview_row, start_time_ns),
	COLUMN_TIME("end_ns", struct overview_row, end_time_ns),
	COLUMN_AS("compute_ns", struct overview_row, of.ns[WORK_COMPUTE]),
	COLUMN_AS("exposed_communication_ns", struct overview_row, of.ns[WORK_COMMUNICATION]),
	COLUMN_AS("exposed_memory_ns", struct overview_row, of.ns[WORK_MEMORY]),
	COLUMN_AS("exposed_prepare_ns", struct overview_row, of.ns[WORK_PREPARE]),
	COLUMN_AS("idle_ns", struct overview_row, of.ns[BUCKET_IDLE]),
	COLUMN_AS("host_ns", struct overview_row, of.ns[BUCKET_HOST]),
};

static void put(const struct device_times *times, const struct timeline *timeline, uint32_t process,
                const struct time_bucket *buckets, struct row_sink *sink)
{
	for (uint32_t i = 0; i < times->n_buckets; i++) {
		struct overview_row row = {
			.process = process,
			.start_time_ns =
				(int64_t)((uint64_t)timeline->first_time_ns + i * times->width_ns),
			.end_time_ns = timeline->last_time_ns,
			.of = buckets[i],
		};

		if (i + 1 < times->n_buckets)
			row.end_time_ns = row.start_time_ns + (int64_t)times->width_ns;
		row_put(sink, &row);
	}
}

/* Stores the sums of all processes, and returns how many there are. */
static uint32_t sum_up(const struct device_times *times, uint32_t n_processes,
                       struct time_bucket *all)
{
	uint32_t n_there = 0;

	for (uint32_t process = 0; process < n_processes; process++) {
		n_there += times->is_there[process];
		for (uint32_t i = 0; i < times->n_buckets; i++) {
			uint64_t place = (uint64_t)process * times->n_buckets + i;

			for (int part = 0; part < BUCKET_PART_COUNT; part++)
				all[i].ns[part] += times->buckets[place].ns[part];
		}
	}
	return n_there;
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct owners *owners = findings->owners;
	uint32_t n_processes = owners->identity->n_processes;
	const struct device_times *times;
	struct time_bucket *all;

	FLEXTRACE_TRY(device_times_borrow(&times, findings));
	if (!times->n_buckets)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_NEW(all, times->n_buckets));
	if (sum_up(times, n_processes, all) > 1)
		put(times, findings->timeline, FLEXTRACE_NONE, all, sink);
	free(all);
	for (uint32_t i = 0; i < n_processes; i++) {
		uint32_t process = owners->processes[i];

		if (times->is_there[process])
			put(times, findings->timeline, process,
			    &times->buckets[(uint64_t)process * times->n_buckets], sink);
	}
	return FLEXTRACE_OK;
}

const struct analysis analysis_overview =
	ANALYSIS_CSV("overview", columns, fill, .title = "Utilisation over time",
                     .what = "The breakdown in at most 400 parts of the run, and how long the "
                             "host program was in a call.");
