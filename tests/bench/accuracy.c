/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accuracy [FIRST_SEED [N_SEEDS]]: how far flextrace's times are from the truth where the floors of
 * the latencies are equal, and how wide its bounds are; both also for the middle of a band that
 * knows nothing of one mean rate, which is what is left without bridge.c and smooth.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/calibrate/calibrate_impl.h"
#include "clock_wander.h"

#define USUAL_SEED    1
#define USUAL_N_SEEDS 6

static const struct wander_scene scenes[] = {
	{.name = "100 a second, one side in ten late",
         .ppm = 0.01,
         .duration_s = 60,
         .ops_hz = 100,
         .floors_us = {3, 3},
         .tight_us = 1,
         .loose_us = {50, 50},
         .loose_share = {0.1, 0.1}},
	{.name = "one a second",
         .ppm = 0.01,
         .duration_s = 1800,
         .ops_hz = 1,
         .floors_us = {3, 3},
         .tight_us = 1,
         .loose_us = {50, 50},
         .loose_share = {0.1, 0.1}},
	{.name = "one a second, a sine of 1 ppm",
         .shape = WANDER_SINE,
         .ppm = 1,
         .period_s = 300,
         .duration_s = 1800,
         .ops_hz = 1,
         .floors_us = {3, 3},
         .tight_us = 1,
         .loose_us = {20, 20},
         .loose_share = {0.1, 0.1}},
	{.name = "one every ten seconds",
         .ppm = 0.01,
         .duration_s = 9000,
         .ops_hz = 0.1,
         .floors_us = {3, 3},
         .tight_us = 1,
         .loose_us = {50, 50},
         .loose_share = {0.1, 0.1}},
	{.name = "99 of 100 sides late",
         .ppm = 0.01,
         .duration_s = 60,
         .ops_hz = 100,
         .floors_us = {3, 3},
         .tight_us = 1,
         .loose_us = {500, 500},
         .loose_floor_us = 500,
         .loose_share = {0.99, 0.99}},
	{.name = "99 of 100 late on both sides",
         .ppm = 0.01,
         .duration_s = 60,
         .ops_hz = 100,
         .floors_us = {3, 3},
         .tight_us = 1,
         .loose_us = {1000, 1000},
         .both_share = 0.99},
};

static bool is_middle; /* leave the times in the middle of the band */

int __real_band_bridge(struct attempt *band);
int __wrap_band_bridge(struct attempt *band);
int __real_band_smooth(struct attempt *band, const struct widths *widths);
int __wrap_band_smooth(struct attempt *band, const struct widths *widths);

int __wrap_band_bridge(struct attempt *band)
{
	return is_middle ? FLEXTRACE_OK : __real_band_bridge(band);
}

int __wrap_band_smooth(struct attempt *band, const struct widths *widths)
{
	return is_middle ? FLEXTRACE_OK : __real_band_smooth(band, widths);
}

/* Means over the traces of some seeds. In us. */
struct accuracy {
	double error_p50, error_p99, half_p50, half_p99;
	uint32_t n_ops, n_certified, n_outside;
};

static void measure_trace(const struct clock_truth *truth, struct accuracy *sum)
{
	const struct clock_report *report;
	struct clock_verdict verdict;
	struct clock_run run;
	uint32_t n;

	clock_run_init(&run);
	clock_run_push_truth(&run, truth, false);
	clock_run_finish(&run, NULL);
	clock_run_judge(&run, truth, &verdict);
	report = clocks_report(run.clocks, &n);
	sum->error_p50 += verdict.p50_error_ns / 1e3;
	sum->error_p99 += verdict.p99_error_ns / 1e3;
	sum->half_p50 += report->half_width_ns_p50 / 1e3;
	sum->half_p99 += report->half_width_ns_p99 / 1e3;
	sum->n_ops += truth->n_ops;
	sum->n_certified += verdict.certified;
	sum->n_outside += verdict.outside;
	clock_run_release(&run);
}

static struct accuracy measure(const struct wander_scene *scene, uint64_t first_seed,
                               uint32_t n_seeds)
{
	struct accuracy mean = {.n_ops = 0};

	for (uint32_t i = 0; i < n_seeds; i++) {
		struct clock_truth truth;

		wander_make(scene, first_seed + i, &truth);
		measure_trace(&truth, &mean);
		clock_truth_release(&truth);
	}
	mean.error_p50 /= n_seeds;
	mean.error_p99 /= n_seeds;
	mean.half_p50 /= n_seeds;
	mean.half_p99 /= n_seeds;
	return mean;
}

static void print_scene(const char *name, const struct accuracy *ours,
                        const struct accuracy *middle)
{
	printf("%-36s %6.2f %6.2f  %6.2f %6.2f  %6.2f %+4.0f %%  %6.2f %+4.0f %%  %6.2f %8u\n",
	       name, ours->error_p50, ours->error_p99, middle->error_p50, middle->error_p99,
	       ours->half_p50, 100 * (ours->half_p50 / middle->half_p50 - 1), ours->half_p99,
	       100 * (ours->half_p99 / middle->half_p99 - 1),
	       100.0 * ours->n_certified / ours->n_ops, ours->n_outside);
}

int main(int argc, char **argv)
{
	uint64_t first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : USUAL_SEED;
	uint32_t n_seeds = argc > 2 ? (uint32_t)atoi(argv[2]) : USUAL_N_SEEDS;
	uint32_t n_outside = 0;

	if (argc > 3 || n_seeds == 0) {
		fputs("usage: accuracy [FIRST_SEED [N_SEEDS]]\n", stderr);
		return 2;
	}
	printf("means over %u traces each, in us; the middle is that of a band without one mean "
	       "rate\n"
	       "%-36s %13s  %13s  %13s  %13s  %6s %8s\n%-36s %6s %6s  %6s %6s  %6s %6s  %6s %6s\n",
	       n_seeds, "", "error", "of the middle", "half-width", "half-width", "cert.",
	       "outside", "", "p50", "p99", "p50", "p99", "p50", "wider", "p99", "wider");
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		struct accuracy ours = measure(&scenes[i], first_seed, n_seeds), middle;

		is_middle = true;
		middle = measure(&scenes[i], first_seed, n_seeds);
		is_middle = false;
		print_scene(scenes[i].name, &ours, &middle);
		n_outside += ours.n_outside + middle.n_outside;
	}
	return n_outside > 0;
}
