/* SPDX-License-Identifier: Apache-2.0 */
/*
 * widths: how wide flextrace's bounds are, scenario by scenario, to compare two builds.
 *
 *   widths ranks FIRST_SEED N_SEEDS [RHO_PPM]     M1 to M9
 *   widths devices FIRST_SEED N_SEEDS [RHO_PPM]   S0 to S12, and those of damage
 *
 * A line has the means over the traces of all seeds: what is certified, and the half-widths in us.
 * Of ranks they are those of all certified enters and exits, of devices those of clocks.csv.
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

#include "align_scenes.h"
#include "align_truth.h"
#include "clock_scenarios.h"

/* clang-format off */
static const struct align_scene scenes[] = {
	{SCENE_M1}, {SCENE_M2}, {SCENE_M3}, {SCENE_M4}, {SCENE_M5},
	{SCENE_M6}, {SCENE_M7}, {SCENE_M8}, {SCENE_M9},
};
/* clang-format on */

struct widths { /* sums over traces, in us */
	double p50, p99, max;
	double certified; /* shares */
	uint64_t n_outside;
};

struct seeds {
	uint64_t first;
	uint32_t n;
	double rho_ppm; /* 0: as usual */
};

static void print_widths(const char *name, const struct widths *sum, uint32_t n)
{
	printf("%-32s %8.3f %10.2f %10.2f %10.2f %8llu\n", name, 100 * sum->certified / n,
	       sum->p50 / n, sum->p99 / n, sum->max / n, (unsigned long long)sum->n_outside);
}

/* -- ranks ------------------------------------------------------------------------------------- */

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Stores the half-widths of what is certified; returns how many. */
static uint32_t list_widths(const struct align_truth *truth, const struct alignment *alignment,
                            double *widths)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < truth->n_points; i++) {
		const struct sync_point *point = &truth->points[i].point;
		struct aligned enter, exit;

		if (truth->processes[point->process].host_clock == 0)
			continue;
		enter = alignment_place(alignment, point->process, point->enter_host_ns);
		exit = alignment_place(alignment, point->process, point->exit_host_ns);
		if (enter.status == TIME_CERTIFIED)
			widths[n++] = enter.err_ns / 1e3;
		if (exit.status == TIME_CERTIFIED)
			widths[n++] = exit.err_ns / 1e3;
	}
	return n;
}

static void add_ranks(const struct align_truth *truth, double rho_ppm, struct widths *sum)
{
	struct align_options options = ALIGN_OPTIONS_INIT;
	double *widths = malloc((2ull * truth->n_points + 1) * sizeof(*widths));
	struct alignment *alignment = NULL;
	struct table points = TABLE_INIT;
	struct align_verdict verdict;
	struct ledger ledger;
	uint32_t n;

	if (rho_ppm > 0)
		options.rho_host_ppm = rho_ppm;
	ledger_init(&ledger);
	align_truth_points(truth, &points);
	if (!widths ||
	    align_run(&options, &truth->identity, &points, &ledger, &alignment, NULL) < 0)
		abort();
	align_truth_judge(truth, alignment, &verdict);
	n = list_widths(truth, alignment, widths);
	qsort(widths, n, sizeof(*widths), compare_doubles);
	sum->p50 += n ? widths[n / 2] : 0;
	sum->p99 += n ? widths[(uint64_t)n * 99 / 100] : 0;
	sum->max += n ? widths[n - 1] : 0;
	sum->certified += (double)verdict.n_certified / (double)verdict.n;
	sum->n_outside += verdict.n_outside;
	alignment_free(alignment);
	table_release(&points);
	ledger_release(&ledger);
	free(widths);
}

static void measure_ranks(const struct seeds *seeds)
{
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		struct widths sum = {.p50 = 0};

		for (uint32_t k = 0; k < seeds->n; k++) {
			struct align_scene scene = scenes[i];
			struct align_truth truth;

			scene.seed = seeds->first + k;
			align_truth_init(&truth, &scene);
			add_ranks(&truth, seeds->rho_ppm, &sum);
			align_truth_release(&truth);
		}
		print_widths(scenes[i].name, &sum, seeds->n);
	}
}

/* -- devices ----------------------------------------------------------------------------------- */

/* Segments count by their events; of the widest, the widest of all. */
static void add_segments(const struct clock_report *segments, uint32_t n, struct widths *sum)
{
	double n_events = 0, p50 = 0, p99 = 0, max = 0;

	for (uint32_t i = 0; i < n; i++) {
		double weight = (double)segments[i].events;

		if (!(segments[i].half_width_ns_p50 >= 0)) /* none */
			continue;
		n_events += weight;
		p50 += weight * segments[i].half_width_ns_p50 / 1e3;
		p99 += weight * segments[i].half_width_ns_p99 / 1e3;
		max = fmax(max, segments[i].half_width_ns_max / 1e3);
	}
	if (n_events > 0) {
		sum->p50 += p50 / n_events;
		sum->p99 += p99 / n_events;
	}
	sum->max += max;
}

static void add_devices(const struct clock_truth *truth, double rho_ppm, struct widths *sum)
{
	struct calibrate_options options = CALIBRATE_OPTIONS_INIT;
	const struct clock_report *report;
	struct clock_verdict verdict;
	struct clock_run run;
	uint32_t n;

	if (rho_ppm > 0)
		options.all.rho_ppm = rho_ppm;
	clock_run_init(&run);
	clock_run_push_truth(&run, truth, false);
	clock_run_finish(&run, &options);
	clock_run_judge(&run, truth, &verdict);
	report = clocks_report(run.clocks, &n);
	add_segments(report, n, sum);
	sum->certified += (double)verdict.certified / truth->n_ops;
	sum->n_outside += verdict.outside;
	clock_run_release(&run);
}

static void measure_devices(const struct seeds *seeds)
{
	for (uint32_t i = 0; i < n_clock_scenarios; i++) {
		struct widths sum = {.p50 = 0};

		for (uint32_t k = 0; k < seeds->n; k++) {
			struct clock_truth truth;

			clock_scenario_make(&clock_scenarios[i], seeds->first + k, &truth);
			add_devices(&truth, seeds->rho_ppm, &sum);
			clock_truth_release(&truth);
		}
		print_widths(clock_scenarios[i].name, &sum, seeds->n);
	}
}

int main(int argc, char **argv)
{
	bool is_ranks = argc > 1 && !strcmp(argv[1], "ranks");
	struct seeds seeds = {.n = 0};

	if (argc == 4 || argc == 5)
		seeds = (struct seeds){strtoull(argv[2], NULL, 10), (uint32_t)atoi(argv[3]),
		                       argc == 5 ? atof(argv[4]) : 0};
	if (seeds.n == 0 || (!is_ranks && strcmp(argv[1], "devices"))) {
		fputs("usage: widths ranks|devices FIRST_SEED N_SEEDS [RHO_PPM]\n", stderr);
		return 2;
	}
	printf("%-32s %8s %10s %10s %10s %8s\n", "means, half-widths in us", "cert. %", "p50",
	       "p99", "max", "outside");
	if (is_ranks)
		measure_ranks(&seeds);
	else
		measure_devices(&seeds);
	return 0;
}
