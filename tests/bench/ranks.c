/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks: what putting ranks on one clock costs, and how right it is.
 *
 *   ranks POINTS PAIRS   CPU and memory for each sync point, of POINTS and of a tenth of them
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "align_truth.h"
#include "ratio.h"
#include "usage.h"

#define MAX_GROWTH 1.5 /* of the CPU for a point, with ten times the points */

#define HOSTS .offset_ns = 5e6, .drift_ppm = 20, .wander_ppm = 0.5

/* clang-format off */
static const struct align_scene scenes[] = {
	{.name = "8 ranks meet", .seed = 1, .n_ranks = 8, .period_ns = 10e6,
	 .straggle_ns = 2e6, HOSTS},
	{.name = "64 ranks of 8 hosts meet, 1 % lies", .seed = 2, .n_ranks = 64,
	 .ranks_per_host = 8, .period_ns = 10e6, .straggle_ns = 2e6, .drop_share = 0.05,
	 .false_share = 0.01, HOSTS},
	{.name = "messages along 8 ranks", .seed = 3, .n_ranks = 8, .period_ns = 10e6,
	 .shape = TRUTH_PIPELINE, HOSTS},
};
/* clang-format on */

struct cost {
	double cpu_s, kernel_s;
	double bytes; /* above the points themselves */
	struct align_verdict verdict;
	uint32_t n_points;
};

static void measure_run(const void *input, void *result)
{
	const struct align_truth *truth = input;
	const struct align_options options = ALIGN_OPTIONS_INIT;
	struct alignment *alignment = NULL;
	struct table points = TABLE_INIT;
	struct cost *cost = result;
	struct ledger ledger;
	double before_bytes;

	ledger_init(&ledger);
	align_truth_points(truth, &points);
	before_bytes = usage_resident_bytes();
	cost->n_points = (uint32_t)points.n_rows;
	cost->kernel_s = -usage_kernel_s();
	cost->cpu_s = -usage_cpu_s();
	if (align_run(&options, &truth->identity, &points, &ledger, &alignment, NULL) < 0)
		abort();
	cost->cpu_s += usage_cpu_s();
	cost->kernel_s += usage_kernel_s();
	cost->bytes = usage_peak_bytes() - before_bytes;
	align_truth_judge(truth, alignment, &cost->verdict);
}

/* Returns the CPU for a point in ns; negative: it failed. */
static double measure(const struct align_scene *like, uint32_t n_points)
{
	struct align_scene scene = *like;
	struct align_truth truth;
	struct cost cost = {0};
	double unit_ns;
	int status;

	/* A message has two points, and goes down the ranks and back up. */
	scene.n_rounds = scene.shape == TRUTH_PIPELINE ? n_points / (4 * (scene.n_ranks - 1))
	                                               : n_points / scene.n_ranks;
	align_truth_init(&truth, &scene);
	status = usage_measure(measure_run, &truth, &cost, sizeof(cost));
	align_truth_release(&truth);
	if (status < 0)
		return -1;
	unit_ns = 1e9 / cost.n_points;
	printf("%s: %u points: %.0f ns (%.0f in the kernel), %.0f bytes each; error p50 %.1f, p99 "
	       "%.1f, max %.1f us; %.3f %% outside, %llu turned\n",
	       scene.name, cost.n_points, cost.cpu_s * unit_ns, cost.kernel_s * unit_ns,
	       cost.bytes / cost.n_points, cost.verdict.p50_ns / 1e3, cost.verdict.p99_ns / 1e3,
	       cost.verdict.max_ns / 1e3,
	       100.0 * (double)cost.verdict.n_outside / (double)cost.verdict.n,
	       (unsigned long long)cost.verdict.n_violations);
	return cost.cpu_s * unit_ns;
}

int main(int argc, char **argv)
{
	uint32_t n_points = argc == 3 ? (uint32_t)atof(argv[1]) : 0;
	uint32_t n_pairs = argc == 3 ? (uint32_t)atoi(argv[2]) : 0;

	if (n_points < 10000) {
		fputs("usage: ranks POINTS PAIRS\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		struct ratio growth = {.n = 0};

		for (uint32_t pair = 0; pair < n_pairs; pair++) {
			double many = measure(&scenes[i], n_points);
			double few = measure(&scenes[i], n_points / 10);

			if (many < 0 || few < 0) {
				fputs("ranks: a run failed\n", stderr);
				return 1;
			}
			ratio_add(&growth, many, few);
		}
		ratio_print(&growth, "align, all points / a tenth, per point", "ns", MAX_GROWTH);
	}
	return 0;
}
