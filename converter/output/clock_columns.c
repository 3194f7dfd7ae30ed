/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_columns.h"

#include <stdlib.h>

#include "model/clocks.h"

#define MHZ 6 /* decimals */
#define PPM 6
#define NS  3

#define CLOCK(member)             COLUMN_AS(#member, struct clock_row, of.member)
#define CLOCK_COUNT(member)       COLUMN_AS(#member, struct clock_row, count.member)
#define CLOCK_REAL(member, n)     COLUMN_FIXED_AS(#member, struct clock_row, of.member, n)
#define ALIGNMENT(member)         COLUMN_AS(#member, struct alignment_row, of.member)
#define ALIGNMENT_REAL(member, n) COLUMN_FIXED_AS(#member, struct alignment_row, of.member, n)

const struct column clock_columns[CLOCK_COLUMNS] = {
	COLUMNS_OWNER(struct clock_row),
	COLUMN_OPTIONAL(struct clock_row, device),
	COLUMN_OPTIONAL(struct clock_row, domain),
	CLOCK(segment),
	CLOCK_COUNT(events),
	CLOCK_COUNT(certified),
	CLOCK_COUNT(assumed),
	CLOCK_COUNT(outliers),
	CLOCK(resets),
	CLOCK_REAL(freq_mhz, MHZ),
	CLOCK_REAL(ppm_vs_nominal, PPM),
	CLOCK_REAL(ci_ppm, PPM),
	CLOCK_REAL(offset_ns, NS),
	CLOCK_REAL(half_width_ns_p50, NS),
	CLOCK_REAL(half_width_ns_p99, NS),
	CLOCK_REAL(half_width_ns_max, NS),
	CLOCK_REAL(residual_ns_p50, NS),
	CLOCK_REAL(residual_ns_p99, NS),
	CLOCK_REAL(residual_ns_max, NS),
	CLOCK(violations_before),
	CLOCK(violations_after),
	CLOCK(inversions_before),
	CLOCK(inversions_after),
	CLOCK_REAL(rho_ppm, PPM),
	CLOCK(rho_source),
};

const struct column alignment_columns[ALIGNMENT_COLUMNS] = {
	COLUMNS_OWNER(struct alignment_row),
	ALIGNMENT_REAL(offset_ns, NS),
	ALIGNMENT_REAL(drift_ppm, PPM),
	ALIGNMENT_REAL(half_width_ns_p50, NS),
	ALIGNMENT_REAL(half_width_ns_p99, NS),
	ALIGNMENT_REAL(half_width_ns_max, NS),
	ALIGNMENT(sync_points_used),
	ALIGNMENT(sync_points_dropped),
	ALIGNMENT_REAL(residual_ns_p50, NS),
	ALIGNMENT_REAL(residual_ns_p90, NS),
	ALIGNMENT_REAL(residual_ns_p99, NS),
	ALIGNMENT_REAL(residual_ns_max, NS),
	ALIGNMENT(component),
	ALIGNMENT(one_sided),
};

/* -- rows ------------------------------------------------------------------------------------ */

/* The rank that a clock's line tells; unknown ones are the largest. */
static uint32_t rank_of(const struct identity *identity, const struct clock_report *clock)
{
	uint32_t process = identity->devices[identity->counters[clock->counter].device].process;

	return (uint32_t)identity->processes[process].rank;
}

/* By rank, else in the order of the clocks. */
static int compare_clocks(const void *left, const void *right, void *identity)
{
	const struct clock_report *a = *(const struct clock_report *const *)left;
	const struct clock_report *b = *(const struct clock_report *const *)right;
	uint32_t rank_a = rank_of(identity, a), rank_b = rank_of(identity, b);

	return rank_a != rank_b ? (rank_a > rank_b) - (rank_a < rank_b) : (a > b) - (a < b);
}

const struct clock_report **clock_columns_sort(const struct clocks *clocks,
                                               const struct identity *identity, uint32_t *ret_n)
{
	const struct clock_report *reports = clocks_report(clocks, ret_n);
	const struct clock_report **sorted = malloc((*ret_n + 1ull) * sizeof(const void *));

	if (!sorted)
		return NULL;
	for (uint32_t i = 0; i < *ret_n; i++)
		sorted[i] = &reports[i];
	qsort_r(sorted, *ret_n, sizeof(const void *), compare_clocks, (void *)(uintptr_t)identity);
	return sorted;
}

struct clock_row clock_columns_row(const struct timeline *timeline,
                                   const struct clock_report *clock)
{
	const struct counter *counter = &timeline->identity->counters[clock->counter];
	const struct device *device = &timeline->identity->devices[counter->device];
	struct clock_row row = {
		.owner = identity_owner(timeline->identity, device->process),
		.device = device->device,
		.domain = counter->domain,
		.of = *clock,
	};
	uint32_t n;

	if (timeline->counts.clocks)
		row.count = timeline->counts.clocks[clock - clocks_report(timeline->clocks, &n)];
	return row;
}
