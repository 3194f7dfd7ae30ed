/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/report_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(of, member)                               \
	{                                               \
#member, REPORT_COUNT, 0,               \
		{                                       \
			.count = (uint64_t)(of)->member \
		}                                       \
	}
#define REAL(of, member, n_decimals)              \
	{                                         \
#member, REPORT_REAL, n_decimals, \
		{                                 \
			.real = (of)->member      \
		}                                 \
	}
#define TEXT(of, member)                     \
	{                                    \
#member, REPORT_TEXT, 0,     \
		{                            \
			.text = (of)->member \
		}                            \
	}
#define MHZ 6 /* decimals */
#define PPM 6
#define NS  3

/* -- lines ----------------------------------------------------------------------------------- */

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

const struct clock_report **report_sort_clocks(const struct clocks *clocks,
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

/* What stands on a segment. */
static struct clock_count count_of(const struct timeline *timeline,
                                   const struct clock_report *clock)
{
	uint32_t n;

	if (!timeline || !timeline->clock_counts)
		return (struct clock_count){.events = 0};
	return timeline->clock_counts[clock - clocks_report(timeline->clocks, &n)];
}

void report_clock_fields(const struct timeline *timeline, const struct clock_report *clock,
                         struct report_field fields[REPORT_CLOCK_FIELDS])
{
	static const struct clock_report none = {.counter = 0};
	const struct clock_report *line = clock ? clock : &none;
	const struct clock_count count = count_of(timeline, clock);
	const struct report_field all[REPORT_CLOCK_FIELDS] = {
		COUNT(line, segment),
		COUNT(&count, events),
		COUNT(&count, certified),
		COUNT(&count, assumed),
		COUNT(&count, outliers),
		COUNT(line, resets),
		REAL(line, freq_mhz, MHZ),
		REAL(line, ppm_vs_nominal, PPM),
		REAL(line, ci_ppm, PPM),
		REAL(line, offset_ns, NS),
		REAL(line, half_width_ns_p50, NS),
		REAL(line, half_width_ns_p99, NS),
		REAL(line, half_width_ns_max, NS),
		REAL(line, residual_ns_p50, NS),
		REAL(line, residual_ns_p99, NS),
		REAL(line, residual_ns_max, NS),
		COUNT(line, violations_before),
		COUNT(line, violations_after),
		COUNT(line, inversions_before),
		COUNT(line, inversions_after),
		REAL(line, rho_ppm, PPM),
		TEXT(line, rho_source),
	};

	memcpy(fields, all, sizeof(all));
}

void report_alignment_fields(const struct alignment_report *line,
                             struct report_field fields[REPORT_ALIGNMENT_FIELDS])
{
	const struct report_field all[REPORT_ALIGNMENT_FIELDS] = {
		REAL(line, offset_ns, NS),
		REAL(line, drift_ppm, PPM),
		REAL(line, half_width_ns_p50, NS),
		REAL(line, half_width_ns_p99, NS),
		REAL(line, half_width_ns_max, NS),
		COUNT(line, sync_points_used),
		COUNT(line, sync_points_dropped),
		REAL(line, residual_ns_p50, NS),
		REAL(line, residual_ns_p90, NS),
		REAL(line, residual_ns_p99, NS),
		REAL(line, residual_ns_max, NS),
		COUNT(line, component),
		COUNT(line, one_sided),
	};

	memcpy(fields, all, sizeof(all));
}

/* -- writing --------------------------------------------------------------------------------- */

static void write_csv(struct writer *writer, const struct report_field *field)
{
	if (field->type == REPORT_COUNT)
		writer_u64(writer, field->value.count);
	else if (field->type == REPORT_REAL)
		writer_fixed(writer, field->value.real, field->n_decimals);
	else
		writer_raw(writer, field->value.text);
}

void report_write_csv(struct writer *writer, const struct report_field *fields, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		write_csv(writer, &fields[i]);
		writer_char(writer, i + 1 < n ? ',' : '\n');
	}
}

void report_write_csv_names(struct writer *writer, const struct report_field *fields, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		writer_raw(writer, fields[i].name);
		writer_char(writer, i + 1 < n ? ',' : '\n');
	}
}

void report_write_json(struct writer *writer, const struct report_field *fields, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		writer_literal(writer, ",\"");
		writer_raw(writer, fields[i].name);
		writer_literal(writer, "\":");
		if (fields[i].type == REPORT_TEXT)
			writer_char(writer, '"');
		if (fields[i].type == REPORT_REAL && !isfinite(fields[i].value.real))
			writer_literal(writer, "null");
		else
			write_csv(writer, &fields[i]);
		if (fields[i].type == REPORT_TEXT)
			writer_char(writer, '"');
	}
}
