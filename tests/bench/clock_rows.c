/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock-rows SCENARIO SEED [FROM TO]: what became of the stamps of a clock with a known truth.
 *
 * Prints the operations at which eras and doubts of each map begin and end; then, for each
 * operation with a certified stamp outside its bound, how far it is from what is not certified and
 * from where an era ends, and the operations around it. With FROM and TO these operations instead.
 * Scenarios are those of clock_changes.c and clock_scenarios.c.
 *
 * An operation is one line: its number, its segment, whether it is Certified, Assumed, an Outlier,
 * when it began (ms), "off" by how much host time is ahead of a clock that never changed its rate
 * (us), "known" how long before its first stamp it was submitted and how long behind its last one
 * it was complete (us). Then error/bound of each stamp (us); ! outside, ? not certified.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "clock_changes.h"
#include "engine/calibrate/calibrate_impl.h"

#define AROUND 4u /* operations shown around those with a stamp outside */
#define LAST   (FLEXTRACE_N_STAMPS - 1)

int __real_clock_map_init(struct clock_map *map, struct attempt *band,
                          const struct evidence *evidence);
int __wrap_clock_map_init(struct clock_map *map, struct attempt *band,
                          const struct evidence *evidence);

/* Where an era or a doubt of a map is, in ticks of the counter. */
struct place {
	const char *what;
	uint64_t from, to;
	bool is_border; /* of an era */
};

static struct {
	struct place *places; /* owned */
	uint32_t n;
} seen;

static void note(const struct evidence *evidence, const char *what, uint64_t from, uint64_t to)
{
	uint64_t end = to == UINT64_MAX ? to : to + evidence->ticks0;

	seen.places = realloc(seen.places, (seen.n + 1ull) * sizeof(*seen.places));
	seen.places[seen.n++] = (struct place){what, from + evidence->ticks0, end,
	                                       strcmp(what, "core") == 0};
}

int __wrap_clock_map_init(struct clock_map *map, struct attempt *band,
                          const struct evidence *evidence)
{
	for (uint32_t i = 0; i < band->reference.n_eras; i++) {
		const struct era *era = &band->reference.eras[i];

		note(evidence, "era", era->reach_from, era->reach_to);
		note(evidence, "core", era->core_from, era->core_to);
	}
	for (uint32_t i = 0; i < band->doubts.n; i++)
		note(evidence, "doubt", band->doubts.stretches[i].from,
		     band->doubts.stretches[i].to);
	return __real_clock_map_init(map, band, evidence);
}

/* -- what a run made of it ------------------------------------------------------------------- */

struct row {
	const struct truth_op *real;
	struct tick_op op;
	struct placed placed[FLEXTRACE_N_STAMPS];
	uint8_t status; /* enum time_status */
	bool is_outside, is_sure;
};

static double error_of(const struct clock_truth *truth, const struct row *row, int stamp)
{
	return (double)(row->placed[stamp].host_ns - truth->scene.origin_ns) -
	       row->real->time_ns[stamp];
}

static void judge_row(const struct clock_truth *truth, const struct clock_run *run, uint64_t number,
                      struct row *row)
{
	row->status = clocks_refuse(run->clocks, number) ? TIME_OUTLIER : row->op.status;
	row->is_sure = row->status == TIME_CERTIFIED;
	for (int k = 0; k < FLEXTRACE_N_STAMPS; k++) {
		row->placed[k] = clocks_place(run->clocks, row->op.counter, row->op.segment,
		                              row->op.ticks[k]);
		row->is_sure &= row->placed[k].status == TIME_CERTIFIED;
		row->is_outside |= row->op.status == TIME_CERTIFIED &&
		                   row->placed[k].status == TIME_CERTIFIED &&
		                   fabs(error_of(truth, row, k)) > row->placed[k].err_ns;
	}
}

static struct row *judge_rows(const struct clock_truth *truth, struct clock_run *run)
{
	struct row *rows = calloc(truth->n_ops + 1ull, sizeof(*rows));
	struct table_cursor cursor;
	const struct tick_op *op;
	uint32_t n = 0;

	table_read(&cursor, &run->out.ops, false);
	while ((op = table_next(&cursor, sizeof(*op))) && n < truth->n_ops) {
		rows[n].op = *op;
		rows[n].real = &truth->ops[n];
		judge_row(truth, run, n, &rows[n]);
		n++;
	}
	return rows;
}

/* -- printing -------------------------------------------------------------------------------- */

static void print_stamp(const struct clock_truth *truth, const struct row *row, int stamp)
{
	const struct placed *placed = &row->placed[stamp];
	double error_ns = error_of(truth, row, stamp);
	bool is_sure = placed->status == TIME_CERTIFIED && row->op.status == TIME_CERTIFIED;

	printf(" %+.2f/%.2f%s", error_ns / 1e3,
	       placed->err_ns == UINT32_MAX ? INFINITY : placed->err_ns / 1e3,
	       !is_sure                          ? "?"
	       : fabs(error_ns) > placed->err_ns ? "!"
	                                         : "");
}

static void print_row(const struct clock_truth *truth, const struct row *row)
{
	static const char letters[] = "CAOUG";
	const struct truth_op *real = row->real, *first = &truth->ops[0];
	double origin_ns = (double)truth->scene.origin_ns;
	double ticks = (double)(int64_t)(real->ticks[0] - first->ticks[0]);

	printf("%7td %u %c%s %10.3f off %8.2f known %7.1f %7.1f |", real - first, row->op.segment,
	       letters[row->status], real->lie != TRUTH_HONEST ? " lie" : "",
	       real->time_ns[0] / 1e6,
	       (real->time_ns[0] - first->time_ns[0] - ticks * 1e9 / truth->scene.hz) / 1e3,
	       (real->time_ns[0] + origin_ns - (double)real->submit_ns) / 1e3,
	       ((double)real->complete_ns - origin_ns - real->time_ns[LAST]) / 1e3);
	for (int k = 0; k < FLEXTRACE_N_STAMPS; k++)
		print_stamp(truth, row, k);
	printf("\n");
}

/* The first operation whose first stamp is at some ticks of its map or behind them. */
static uint32_t find_op(const struct row *rows, uint32_t n, uint64_t ticks)
{
	uint32_t i = 0;

	while (i < n && rows[i].op.ticks[0] < ticks)
		i++;
	return i;
}

static void print_places(const struct row *rows, uint32_t n)
{
	for (uint32_t i = 0; i < seen.n; i++)
		printf("%s from %u to %u\n", seen.places[i].what,
		       find_op(rows, n, seen.places[i].from), find_op(rows, n, seen.places[i].to));
}

/* How far an operation is from the nearest one that is not certified, and from the nearest border
 * of an era. */
static void print_distances(const struct row *rows, uint32_t n, uint32_t at)
{
	double unsure_ms = INFINITY, border_ms = INFINITY, here_ns = rows[at].real->time_ns[0];
	uint32_t unsure = n, border = n;

	for (uint32_t i = 0; i < n; i++) {
		double off_ms = fabs(rows[i].real->time_ns[0] - here_ns) / 1e6;

		if (!rows[i].is_sure && off_ms < unsure_ms) {
			unsure_ms = off_ms;
			unsure = i;
		}
	}
	for (uint32_t i = 0; i < seen.n; i++) {
		const uint64_t ends[] = {seen.places[i].from, seen.places[i].to};

		for (int k = 0; k < 2; k++) {
			uint32_t op = find_op(rows, n, ends[k]);

			if (!seen.places[i].is_border || op == 0 || op == n)
				continue;
			if (fabs(rows[op].real->time_ns[0] - here_ns) / 1e6 < border_ms) {
				border_ms = fabs(rows[op].real->time_ns[0] - here_ns) / 1e6;
				border = op;
			}
		}
	}
	printf("outside: %u; not certified: %u, %.3f ms away; border: %u, %.3f ms away\n", at,
	       unsure, unsure_ms, border, border_ms);
}

static void print_outside(const struct clock_truth *truth, const struct row *rows)
{
	uint32_t n = truth->n_ops, shown = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!rows[i].is_outside)
			continue;
		print_distances(rows, n, i);
		for (shown = shown + AROUND < i ? i - AROUND : shown;
		     shown < n && shown <= i + AROUND; shown++)
			print_row(truth, &rows[shown]);
	}
}

/* -- main ------------------------------------------------------------------------------------ */

static void print_verdict(struct clock_run *run, const struct clock_truth *truth)
{
	struct clock_verdict verdict;

	clock_run_judge(run, truth, &verdict);
	printf("%u operations: %u certified, %u assumed, %u outliers; %u segments; "
	       "%u stamps outside by up to %.0f ns\n",
	       truth->n_ops, verdict.certified, verdict.assumed, verdict.outliers, verdict.segments,
	       verdict.outside, verdict.worst_excess_ns);
}

int main(int argc, char **argv)
{
	const struct clock_change *change = argc > 2 ? clock_change_find(argv[1]) : NULL;
	const struct clock_scenario *scenario = change     ? &change->scenario
	                                        : argc > 2 ? clock_scenario_find(argv[1])
	                                                   : NULL;
	struct clock_truth truth;
	struct clock_run run;
	struct row *rows;

	if (!scenario) {
		fprintf(stderr, "Usage: clock-rows SCENARIO SEED [FROM TO]\n");
		return 2;
	}
	clock_scenario_make(scenario, strtoull(argv[2], NULL, 0), &truth);
	clock_run_init(&run);
	clock_run_counter(&run)->nominal_hz = change ? change->nominal_hz : 0;
	clock_run_push_truth(&run, &truth, false);
	clock_run_finish(&run, NULL);
	rows = judge_rows(&truth, &run);
	print_verdict(&run, &truth);
	print_places(rows, truth.n_ops);
	for (uint32_t i = argc > 4 ? (uint32_t)atoi(argv[3]) : truth.n_ops;
	     i < truth.n_ops && i <= (uint32_t)atoi(argv[4]); i++)
		print_row(&truth, &rows[i]);
	if (argc <= 4)
		print_outside(&truth, rows);
	free(rows);
	free(seen.places);
	clock_run_release(&run);
	clock_truth_release(&truth);
	return 0;
}
