/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_model.h: chance, latencies and counters of simulated devices; what generators of traces
 * with a known truth share. The same state gives the same numbers.
 */
#ifndef CLOCK_MODEL_H
#define CLOCK_MODEL_H

#include <stdint.h>

uint64_t model_random(uint64_t *state);

/* [0, 1) */
double model_uniform(uint64_t *state);
double model_exponential(uint64_t *state, double mean);

/* A floor, mostly a little on top, sometimes much. */
double model_latency(uint64_t *state, double floor_ns, double jitter_ns);

/* A counter's rate over the host's time. */
struct counter_model {
	double hz;        /* at the start */
	double drift_ppm; /* amplitude of a slow sine */
	double drift_period_ns;
	double step_ppm; /* the rate steps by this */
	double step_at_ns;
};

/* Ticks since the start of the host's time. */
long double model_phase(const struct counter_model *model, double ns);

#endif
