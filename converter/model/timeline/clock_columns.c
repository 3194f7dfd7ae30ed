/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/clocks.h"
#include "model/words/told.h"

#define MHZ 6 /* decimals */
#define PPM 6
#define NS  3

#define MOST_FIGURE 1e19 /* what is larger is none, and so is a larger frequency */
#define MOST_MHZ    1e6

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

/* -- from a file of ours --------------------------------------------------------------------- */

static const char *find_word(const struct trace_text *text)
{
	static const char *const words[] = {"default", "user", "raised"};
	int i = 2;

	while (i > 0 && !trace_text_is(text, words[i]))
		i--;
	return words[i];
}

static void take(const struct column *column, const struct trace_value *value, void *at)
{
	uint64_t number = 0;
	double real = NAN;

	if (column->type == COLUMN_TYPE_REAL) {
		trace_value_double(value, &real);
		*(double *)at = fabs(real) < MOST_FIGURE ? real : NAN;
	} else if (column->type == COLUMN_TYPE_TEXT) {
		*(const char **)at = find_word(&value->text);
	} else if (!trace_value_u64(value, &number)) {
		return;
	} else if (column->type == COLUMN_TYPE_U64) {
		*(uint64_t *)at = number;
	} else if (column->type == COLUMN_TYPE_BOOL) {
		*(bool *)at = number;
	} else if (column->type == COLUMN_TYPE_U32) {
		*(uint32_t *)at = (uint32_t)number;
	}
}

static void read_columns(const struct column *columns, uint32_t n, const char *json, void *row)
{
	struct trace_text rest = {json, strlen(json)}, key;
	struct trace_value value;
	const double none = NAN;

	for (uint32_t i = 0; i < n; i++) {
		if (columns[i].type == COLUMN_TYPE_REAL)
			memcpy((char *)row + columns[i].offset_bytes, &none, sizeof(none));
	}
	while (told_next(&rest, &key, &value)) {
		for (uint32_t i = 0; i < n; i++) {
			if (trace_text_is(&key, columns[i].name))
				take(&columns[i], &value, (char *)row + columns[i].offset_bytes);
		}
	}
}

struct clock_row clock_columns_read(const char *json)
{
	struct clock_row row = {.of.rho_source = find_word(&(struct trace_text){"", 0})};

	read_columns(CLOCK_FIGURES, json, &row);
	row.of.events = row.count.events;
	if (!(row.of.freq_mhz > 0 && row.of.freq_mhz <= MOST_MHZ))
		row.of.freq_mhz = NAN;
	return row;
}

struct alignment_report alignment_columns_read(const char *json)
{
	struct alignment_row row = {.of.process = FLEXTRACE_NONE};

	read_columns(ALIGNMENT_FIGURES, json, &row);
	return row.of;
}
