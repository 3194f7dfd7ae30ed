/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_model.h"

#include <math.h>

uint64_t model_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

double model_uniform(uint64_t *state)
{
	return (double)(model_random(state) >> 11) * 0x1p-53;
}

double model_exponential(uint64_t *state, double mean)
{
	return -mean * log(1 - model_uniform(state));
}

double model_latency(uint64_t *state, double floor_ns, double jitter_ns)
{
	double ns = floor_ns + model_exponential(state, jitter_ns / 10);

	if (model_uniform(state) < 0.25)
		ns += model_exponential(state, jitter_ns);
	if (model_uniform(state) < 0.02)
		ns += fmin(jitter_ns * 10 * pow(1 - model_uniform(state), -1 / 1.3), 3e7);
	return ns;
}

long double model_phase(const struct counter_model *model, double ns)
{
	long double hz = (long double)model->hz * 1e-9L, phase = hz * ns;

	if (model->drift_ppm != 0) {
		long double period = (long double)model->drift_period_ns / (2 * acosl(-1));

		phase += hz * (long double)model->drift_ppm * 1e-6L * period *
		         (1 - cosl(ns / period));
	}
	if (model->step_ppm != 0 && ns > model->step_at_ns)
		phase += hz * (long double)model->step_ppm * 1e-6L * (ns - model->step_at_ns);
	return phase;
}
