/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_changes.h"

#include <string.h>

#define OF_560_MHZ .hz = 560e6, .n_excursions = 6

/* clang-format off */
const struct clock_change clock_changes[] = {
	{{.name = "600 ppm", .duration_s = 120, OF_560_MHZ, .excursion_ppm = 600,
	  .excursion_s = {5, 12}}, 0.9995, 0},
	{{.name = "1000 ppm", .duration_s = 120, OF_560_MHZ, .excursion_ppm = 1000,
	  .excursion_s = {5, 12}}, 0.999, 0},
	{{.name = "1000 ppm slower", .duration_s = 120, OF_560_MHZ, .excursion_ppm = -1000,
	  .excursion_s = {5, 12}}, 0.9995, 0},
	{{.name = "2500 ppm", .duration_s = 120, OF_560_MHZ, .excursion_ppm = 2500,
	  .excursion_s = {5, 12}}, 0.999, 0},
	{{.name = "half a second in a minute", .duration_s = 60, OF_560_MHZ, .excursion_ppm = 300,
	  .excursion_s = {0.4, 0.6}}, 0.99, 0},
	{{.name = "a little for half a second", .duration_s = 120, .hz = 560e6, .n_excursions = 3,
	  .excursion_ppm = 100, .excursion_s = {0.4, 0.6}}, 0.99, 0},
	{{.name = "stops of 10 us and 100 ppm", .duration_s = 120, .hz = 560e6, .n_excursions = 3,
	  .stop_us = 10, .excursion_ppm = 100, .excursion_s = {10, 20}}, 0.999, 0},
	{{.name = "stops of 20 us and 200 ppm", .duration_s = 120, .jitter_us = 1, OF_560_MHZ,
	  .stop_us = 20, .excursion_ppm = 200, .excursion_s = {0.5, 2}}, 0.999, 0},
	{{.name = "stops of 20 us and 300 ppm, 10 operations a second", .duration_s = 1200,
	  .ops_hz = 10, .hz = 560e6, .n_excursions = 3, .stop_us = 20, .excursion_ppm = 300,
	  .excursion_s = {10, 20}}, 0.999, 0},
	{{.name = "stops of 20 us and 300 ppm, 1000 operations a second", .duration_s = 40,
	  .ops_hz = 1000, .exec_us = 200, .hz = 560e6, .n_excursions = 3, .stop_us = 20,
	  .excursion_ppm = 300, .excursion_s = {1, 5}}, 0.999, 0},
	/* A few operations at another rate, or none: a clock that jumps. */
	{{.name = "1000 ppm for 50 ms", .duration_s = 20, .jitter_us = 0.5, .hz = 560e6,
	  .n_excursions = 1, .excursion_ppm = 1000, .excursion_s = {0.05, 0.05}}, 0.995, 0},
	{{.name = "3000 ppm for 30 ms", .duration_s = 20, .jitter_us = 0.5, .hz = 560e6,
	  .n_excursions = 1, .excursion_ppm = 3000, .excursion_s = {0.03, 0.03}}, 0.995, 0},
	/* Some of them do not show: they are suspected where others do. */
	{{.name = "300 ppm for a tenth of a second, 20 times", .duration_s = 40, .jitter_us = 0.5,
	  .hz = 560e6, .n_excursions = 20, .excursion_ppm = 300, .excursion_s = {0.1, 0.1}},
	 0.85, 0},
	{{.name = "500 ppm for two seconds, 10 operations a second", .duration_s = 200,
	  .ops_hz = 10, .jitter_us = 0.5, .hz = 560e6, .n_excursions = 25, .excursion_ppm = 500,
	  .excursion_s = {1, 3}}, 0.5, 0},
	{{.name = "stops of 5 us", .duration_s = 60, .jitter_us = 0.5, .hz = 560e6,
	  .n_excursions = 5, .stop_us = 5, .excursion_s = {4, 4}}, 0.999, 0},
	/* No evidence contradicts: that in front and that behind leave less room than one clock. */
	{{.name = "a little for 0.3 s, 50 times", .duration_s = 60, .jitter_us = 0.5, .hz = 560e6,
	  .n_excursions = 50, .excursion_ppm = 40, .excursion_s = {0.3, 0.3}}, 0.999, 0},
	{{.name = "stops of 8 us", .duration_s = 60, .jitter_us = 0.5, .hz = 560e6,
	  .n_excursions = 3, .stop_us = 8, .excursion_s = {8, 8}}, 0.999, 0},
	{{.name = "stops of 12 us", .duration_s = 60, .jitter_us = 0.5, .hz = 560e6,
	  .n_excursions = 3, .stop_us = 12, .excursion_s = {8, 8}}, 0.998, 0},
	{{.name = "stops of 5 us, 1000 operations a second", .duration_s = 12, .ops_hz = 1000,
	  .jitter_us = 0.5, .exec_us = 200, .hz = 560e6, .n_excursions = 3, .stop_us = 5,
	  .excursion_s = {2, 2}}, 0.999, 0},
	{{.name = "stops of 50 us, 10 operations a second", .duration_s = 200, .ops_hz = 10,
	  .jitter_us = 0.5, .hz = 560e6, .n_excursions = 3, .stop_us = 50,
	  .excursion_s = {20, 20}}, 0.998, 0},
	{{.name = "host jumps by 10 us", .duration_s = 60, .jitter_us = 0.5, .hz = 560e6,
	  .n_excursions = 3, .host_jump_us = 10}, 0.999, 0},
	{{.name = "1000 ppm for two seconds, 10 operations a second", .duration_s = 200,
	  .ops_hz = 10, .jitter_us = 0.5, .hz = 560e6, .n_excursions = 6, .excursion_ppm = 1000,
	  .excursion_s = {2, 2}}, 0.7, 0},
	{{.name = "stops of 20 us", .duration_s = 120, .hz = 560e6, .n_excursions = 3,
	  .stop_us = 20, .excursion_s = {10, 20}}, 0.999, 0},
	{{.name = "stops of 100 us", .duration_s = 120, .jitter_us = 1, OF_560_MHZ, .stop_us = 100,
	  .excursion_s = {0.5, 2}}, 0.999, 0},
	{{.name = "stops of 300 us", .duration_s = 120, .jitter_us = 1, OF_560_MHZ, .stop_us = 300,
	  .excursion_s = {0.5, 2}}, 0.999, 0},
	/* All stamps of what ran meanwhile are one tick. */
	{{.name = "stops of 30 ms, long tails", .duration_s = 60, .hz = 560e6, .n_excursions = 6,
	  .exec_us = 200, .tail_share = 0.3, .stop_us = 30000, .excursion_s = {2, 3}}, 0.97, 0},
	/* What is between two breaks fits neither clock; work that waited may fit either. */
	{{.name = "stops of 4 ms and 500 ppm slower, long tails", .duration_s = 42, .hz = 2e9,
	  .ops_hz = 150, .n_excursions = 7, .excursion_ppm = -500, .exec_us = 146,
	  .tail_share = 0.06, .stop_us = 4200, .excursion_s = {0.02, 0.04}}, 0.97, 0},
	{{.name = "thermal ramps", .duration_s = 120, .hz = 560e6, .n_excursions = 3,
	  .excursion_ppm = 300, .is_ramp = true, .excursion_s = {5, 20}}, 1, 0},
	{{.name = "host jumps by 20 us", .duration_s = 120, .hz = 560e6, .n_excursions = 3,
	  .host_jump_us = 20}, 0.999, 0},
	{{.name = "host jumps back by 300 us", .duration_s = 120, .hz = 560e6, .n_excursions = 3,
	  .host_jump_us = -300}, 0.999, 0},
	/* What was under way is seen complete too early to fit the clock in front. */
	{{.name = "host jumps back by 3 ms, long work", .duration_s = 60, .hz = 560e6,
	  .n_excursions = 6, .host_jump_us = -3000, .exec_us = 2000}, 0.94, 0},
	{{.name = "host jumps by 100 ms", .duration_s = 120, .hz = 560e6, .n_excursions = 3,
	  .host_jump_us = 100000}, 0.99, 0},
	/* What was under way fits in front of the jump and behind it. */
	{{.name = "host jumps by 300 ms, completions seen every 20 ms", .duration_s = 30,
	  .hz = 560e6, .n_excursions = 3, .host_jump_us = 300000, .poll_s = 0.02}, 0.9, 560000000},
	/* Another rate would explain both sides nearly as well. */
	{{.name = "host jumps by 300 ms, completions seen every 100 ms", .duration_s = 20,
	  .hz = 560e6, .n_excursions = 1, .host_jump_us = 300000, .poll_s = 0.1}, 0.95, 560000000},
	{{.name = "host slews by 500 ppm", .duration_s = 120, .hz = 560e6, .n_excursions = 3,
	  .host_bend_ppm = 500, .excursion_s = {10, 20}}, 0.9995, 0},
	{{.name = "evidence of the next operation", .duration_s = 60, .jitter_us = 1, .hz = 560e6,
	  .n_excursions = 3, .off_run = {30, 300}}, 0.5, 0},
	{{.name = "evidence of the next operation, 10 a second", .duration_s = 400, .ops_hz = 10,
	  .jitter_us = 1, .hz = 560e6, .n_excursions = 3, .off_run = {30, 300}}, 0.2, 0},
	{{.name = "evidence of the next operation, 1000 a second", .duration_s = 6,
	  .ops_hz = 1000, .exec_us = 200, .jitter_us = 1, .hz = 560e6, .n_excursions = 3,
	  .off_run = {30, 300}}, 0.5, 0},
	{{.name = "evidence of the operation before, 1000 a second", .duration_s = 10,
	  .ops_hz = 1000, .exec_us = 200, .jitter_us = 1, .hz = 560e6, .n_excursions = 5,
	  .off_run = {30, 300}, .is_off_back = true}, 0.5, 0},
	{{.name = "half a second in ten minutes", .duration_s = 600, OF_560_MHZ,
	  .excursion_ppm = 300, .excursion_s = {0.4, 0.6}}, 0.999, 0},
	/* Stamps that fit 4294.97 MHz, 6135.67 MHz, and no rate. */
	{{.name = "restarts with a job a second", .duration_s = 200, .hz = 560e6, .jitter_us = 1,
	  .exec_us = 3000, .job_s = {1, 1}, .job_ops = 1, .restarts = true}, 0, 560000000},
	{{.name = "restarts with a job in 0.7 s", .duration_s = 200, .hz = 560e6, .jitter_us = 1,
	  .exec_us = 3000, .job_s = {0.7, 0.7}, .job_ops = 1, .restarts = true}, 0, 560000000},
	{{.name = "restarts with a job now and then", .duration_s = 300, .hz = 560e6,
	  .jitter_us = 1, .job_s = {0.1, 2}, .job_ops = 1, .restarts = true}, 0, 560000000},
	{{.name = "gated by short jobs", .duration_s = 200, .hz = 560e6, .jitter_us = 1,
	  .exec_us = 3000, .job_s = {0.7, 0.7}, .job_ops = 1, .is_gated = true}, 0, 560000000},
	{{.name = "gated by long jobs", .duration_s = 200, .hz = 560e6, .jitter_us = 1,
	  .exec_us = 300000, .job_s = {1, 1}, .job_ops = 1, .is_gated = true}, 0, 560000000},
	{{.name = "restarts, no nominal rate", .duration_s = 200, .hz = 560e6, .jitter_us = 1,
	  .exec_us = 3000, .job_s = {1, 1}, .job_ops = 1, .restarts = true}, 0, 0},
	{{.name = "restarts with jobs of 5, no nominal rate", .duration_s = 200, .hz = 560e6,
	  .jitter_us = 1, .job_s = {0.7, 0.7}, .job_ops = 5, .restarts = true}, 0, 0},
	{{.name = "gated, no nominal rate", .duration_s = 200, .hz = 560e6, .jitter_us = 1,
	  .exec_us = 3000, .job_s = {0.7, 0.7}, .job_ops = 1, .is_gated = true}, 0, 0},
	{{.name = "a job in 30 s, no nominal rate", .duration_s = 3000, .hz = 560e6,
	  .job_s = {30, 30}, .job_ops = 1}, 1, 0},
	{{.name = "a job in a minute, no nominal rate", .duration_s = 6000, .hz = 1e9,
	  .job_s = {60, 60}, .job_ops = 3}, 1, 0},
	/* Stamps are up to 31 us in front of what they mark, and of the submission. */
	{{.name = "a counter of 32 kHz", .duration_s = 60, .hz = 32768}, 1, 0},
	{{.name = "a nominal rate 20 % too high", .duration_s = 60, .hz = 560e6}, 1, 672000000},
	{{.name = "a nominal rate 20 % too low", .duration_s = 60, .hz = 560e6}, 1, 448000000},
	{{.name = "a nominal rate 7 % too high, one operation a second", .duration_s = 300,
	  .ops_hz = 1, .hz = 560e6}, 1, 600000000},
};
/* clang-format on */

const uint32_t n_clock_changes = sizeof(clock_changes) / sizeof(clock_changes[0]);

const struct clock_change *clock_change_find(const char *name)
{
	for (uint32_t i = 0; i < n_clock_changes; i++) {
		if (strcmp(clock_changes[i].scenario.name, name) == 0)
			return &clock_changes[i];
	}
	return NULL;
}
