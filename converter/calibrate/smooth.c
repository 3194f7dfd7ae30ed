/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The estimate inside the band. The middle of the band follows whatever bracket happens to bind. A
 * clock does better than that: its rate changes slowly. So the middles are taken as measurements,
 * each as good as the band is narrow there, of a time whose rate does a random walk, and a Kalman
 * filter with a Rauch-Tung-Striebel pass back finds the likeliest path. How fast the rate walks is
 * the one of a few steps under which the measurements are likeliest.
 *
 * Nothing of that is certain, so the path is held inside the band, and may go up and down no more
 * than the band's limits let it. Both borders obey these limits themselves, so there is always a
 * way on. A bound is the distance to the farther border: where the band is as narrow as mostly, the
 * path keeps near the middle, as there is little to gain and the bound would grow; where one side
 * of a bracket is loose, it goes where it belongs.
 */
#include <math.h>
#include <stdlib.h>

#include "blocks.h"
#include "calibrate_impl.h"
#include "step.h"

#define MIN_KNOTS   4u
#define MAX_SAMPLES 1024u
#define N_WALKS     5
#define LEAST_WALK  1e-9 /* of the rate in a second */
#define LEAST_NOISE 0.03 /* of the least half-width */
#define WORTH       0.04 /* how much wider a bound becomes for a better estimate */

/* What is known of phi and its slope at one knot. Times in us and s, slopes in us per s. */
struct state {
	double phi, slope;
	double p00, p01, p11;
};

struct measure {
	double s;  /* since the knot before */
	double us; /* phi in the middle of the band */
	double noise;
	double loose; /* variance that the slope gains on the way: the reference bends */
};

struct smoother {
	struct measure *measures; /* owned */
	struct state *states;     /* owned, filtered */
	uint32_t n;
	double least_us, median_us; /* half-widths: a narrow one, and the median */
};

/* -- measurements ---------------------------------------------------------------------------- */

static double us_of(int64_t phi)
{
	return (double)phi * (1.0 / (1 << PHI_BITS)) * 1e-3;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* The narrow tenth of the half-widths is what both floors leave, which is no noise. */
static void find_halves(struct smoother *smoother, const struct knot *knots)
{
	double halves[MAX_SAMPLES];
	uint32_t stride = smoother->n / MAX_SAMPLES + 1, n = 0;

	for (uint32_t i = 0; i < smoother->n; i += stride)
		halves[n++] = us_of(knots[i].hi - knots[i].lo) / 2;
	/* cppcheck-suppress uninitvar; there is at least one */
	qsort(halves, n, sizeof(*halves), compare);
	smoother->least_us = halves[n / 10];
	smoother->median_us = halves[n / 2];
}

static void measure_all(struct smoother *smoother, const struct attempt *band)
{
	const struct knot *knots = band->knots;
	struct walk walk = {.reference = &band->reference};
	double noise_us = fmax(LEAST_NOISE * smoother->least_us, 0.01), slope = 0, loose = 0;

	for (uint32_t i = 0; i < smoother->n; i++) {
		struct measure *measure = &smoother->measures[i];
		const struct piece *before = walk.piece, *piece = walk_to(&walk, knots[i].x);
		double excess_us = us_of(knots[i].hi - knots[i].lo) / 2 - smoother->least_us;

		if (piece != before) {
			slope = ldexp((double)piece->slope, -SLOPE_BITS);
			loose = piece_spread(piece, band->rho) / slope * 1e6;
		}
		measure->s = i ? (double)(knots[i].x - knots[i - 1].x) * slope * 1e-9 : 0;
		measure->us = us_of(knots[i].lo) / 2 + us_of(knots[i].hi) / 2;
		excess_us = fmax(excess_us, 0);
		measure->noise = noise_us * noise_us + excess_us * excess_us;
		measure->loose = piece == before ? 0 : loose * loose;
	}
}

/* -- filter ---------------------------------------------------------------------------------- */

static struct state predict(const struct state *from, const struct measure *over, double walk)
{
	double s = over->s, p11 = from->p11 + over->loose;
	struct state state = {.phi = from->phi + s * from->slope, .slope = from->slope};

	state.p00 = from->p00 + s * (2 * from->p01 + s * p11) + walk * s * s * s / 3;
	state.p01 = from->p01 + s * p11 + walk * s * s / 2;
	state.p11 = p11 + walk * s;
	return state;
}

/* Takes in a measurement; tells how far it is off, and the variance of that. */
static void update(struct state *state, const struct measure *measure, double *ret_off,
                   double *ret_variance)
{
	double variance = state->p00 + measure->noise, off = measure->us - state->phi;
	double gain0 = state->p00 / variance, gain1 = state->p01 / variance;

	state->phi += gain0 * off;
	state->slope += gain1 * off;
	state->p11 -= gain1 * state->p01;
	state->p01 -= gain0 * state->p01;
	state->p00 -= gain0 * state->p00;
	*ret_off = off;
	*ret_variance = variance;
}

static struct state first_state(const struct measure *measure)
{
	return (struct state){.phi = measure->us, .p00 = measure->noise, .p11 = measure->loose};
}

/* Filters all measurements. */
static void filter(const struct smoother *smoother, double walk)
{
	struct state state = first_state(smoother->measures);
	double off, variance;

	smoother->states[0] = state;
	for (uint32_t i = 1; i < smoother->n; i++) {
		state = predict(&state, &smoother->measures[i], walk);
		update(&state, &smoother->measures[i], &off, &variance);
		smoother->states[i] = state;
	}
}

/* What the first `n` measurements cost: minus twice the logarithm of how likely they are. */
static double cost_of(const struct smoother *smoother, uint32_t n, double walk)
{
	struct state state = first_state(smoother->measures);
	double cost = 0, off, variance;

	for (uint32_t i = 1; i < n; i++) {
		state = predict(&state, &smoother->measures[i], walk);
		update(&state, &smoother->measures[i], &off, &variance);
		cost += log(variance) + off * off / variance;
	}
	return cost;
}

static double likeliest_walk(const struct smoother *smoother)
{
	uint32_t n = smoother->n < MAX_SAMPLES ? smoother->n : MAX_SAMPLES;
	double best = INFINITY, best_walk = 0;

	for (int i = 0; i < N_WALKS; i++) {
		double deviation = LEAST_WALK * pow(10, i) * 1e6;
		double cost = cost_of(smoother, n, deviation * deviation);

		if (cost < best) {
			best = cost;
			best_walk = deviation * deviation;
		}
	}
	return best_walk;
}

/* The pass back: leaves the smoothed phi in the states. */
static void smooth(struct smoother *smoother, double walk)
{
	for (uint32_t i = smoother->n - 1; i-- > 0;) {
		struct state *at = &smoother->states[i];
		const struct state *next = &smoother->states[i + 1];
		const struct measure *over = &smoother->measures[i + 1];
		struct state ahead = predict(at, over, walk);
		double det = ahead.p00 * ahead.p11 - ahead.p01 * ahead.p01;
		double c00 = at->p00 + at->p01 * over->s, c01 = at->p01;
		double c10 = at->p01 + (at->p11 + over->loose) * over->s,
		       c11 = at->p11 + over->loose;
		double off = next->phi - ahead.phi, off_slope = next->slope - ahead.slope;
		double a, b;

		if (!(det > 0))
			continue;
		a = (ahead.p11 * off - ahead.p01 * off_slope) / det;
		b = (ahead.p00 * off_slope - ahead.p01 * off) / det;
		at->phi += c00 * a + c01 * b;
		at->slope += c10 * a + c11 * b;
	}
}

/* -- back into the band ---------------------------------------------------------------------- */

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* Where the path should go at a knot, whatever came before. */
static int64_t aim(const struct smoother *smoother, const struct piece *piece,
                   const struct knot *knot, double phi_us)
{
	double half_us = us_of(knot->hi - knot->lo) / 2;
	double middle_us = us_of(knot->lo) / 2 + us_of(knot->hi) / 2;
	double far_us = WORTH * half_us + fmax(half_us - smoother->median_us, 0);
	double off_us = fmax(fmin(phi_us - middle_us, far_us), -far_us);

	if (piece->is_bridge) /* the rate does not walk here, it steps */
		off_us = 0;
	return knot->lo / 2 + knot->hi / 2 + (int64_t)(off_us * 1e3 * (1 << PHI_BITS));
}

static void hold(const struct smoother *smoother, struct attempt *band)
{
	struct walk walk = {.reference = &band->reference};
	int64_t before = 0;
	uint64_t x = 0;

	for (uint32_t i = 0; i < smoother->n; i++) {
		struct knot *knot = &band->knots[i];
		int64_t at = aim(smoother, walk_to(&walk, knot->x), knot, smoother->states[i].phi);
		int64_t half;

		if (i > 0) {
			struct step step = band_step(&walk, x, knot->x);

			at = clamp(at, before - step.fall, before + step.rise);
		}
		at = clamp(at, knot->lo, knot->hi);
		half = at - knot->lo > knot->hi - at ? at - knot->lo : knot->hi - at;
		knot->lo = at - half;
		knot->hi = at + half;
		before = at;
		x = knot->x;
	}
}

int band_smooth(struct attempt *band)
{
	struct smoother smoother = {.n = band->n_knots};
	double walk;

	for (uint32_t i = 0; i < band->n_knots; i++) {
		const struct knot *knot = &band->knots[i];

		/* Where evidence contradicts itself, bounds cross. */
		if (knot->lo == -PHI_UNBOUNDED || knot->hi == PHI_UNBOUNDED || knot->lo > knot->hi)
			return FLEXTRACE_OK;
	}
	if (band->n_knots < MIN_KNOTS)
		return FLEXTRACE_OK;
	smoother.measures = blocks_allocate(smoother.n, sizeof(*smoother.measures));
	smoother.states = blocks_allocate(smoother.n, sizeof(*smoother.states));
	if (smoother.measures && smoother.states) {
		find_halves(&smoother, band->knots);
		measure_all(&smoother, band);
		walk = likeliest_walk(&smoother);
		filter(&smoother, walk);
		smooth(&smoother, walk);
		hold(&smoother, band);
	}
	blocks_free(smoother.measures);
	blocks_free(smoother.states);
	return smoother.measures && smoother.states ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}
