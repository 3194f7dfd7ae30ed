/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The estimate inside the band. The middle of the band follows whichever bracket happens to bind. A
 * better estimate uses that the rate of a clock changes slowly. The middles are taken as
 * measurements of a time whose rate does a random walk; a measurement is as good as the band is
 * narrow there. A Kalman filter with a Rauch-Tung-Striebel pass back finds the likeliest path. How
 * fast the rate walks, and how good the best measurements are, is not known: of a few combinations
 * the one is used under which the measurements are likeliest, because brackets are as narrow as
 * their least latencies now and then in one trace, and never in another.
 */
#include <math.h>
#include <stdlib.h>

#include "base/blocks.h"
#include "base/select_kth.h"
#include "engine/calibrate/calibrate_impl.h"

#define MIN_KNOTS   4u
#define MAX_SAMPLES 512u
#define N_WALKS     5
#define N_NOISES    4
#define PER_LOG     4u   /* variances whose product no double is too small for */
#define LEAST_WALK  1e-9 /* of the rate in a second; others are 10, 100, ... times that */
#define NOTHING     1e18 /* excess: others say all that it would */
#define LEAST_NOISE 0.03 /* of the least half-width; others are 4, 16, ... times that */

/* What is known of phi and its slope at one knot. Times in us and s, slopes in us per s. */
struct state {
	double phi, slope;
	double p00, p01, p11;
};

struct measure {
	double s;      /* since the knot before */
	double us;     /* phi in the middle of the band */
	double excess; /* variance: how much wider the band is than at its narrow places */
	double loose;  /* variance that the slope gains on the way: the reference bends */
};

/* What is not known about a clock beforehand. Variances. */
struct model {
	double walk;  /* of the rate, in a second */
	double noise; /* of the best measurements */
};

struct smoother {
	struct measure *measures; /* owned */
	struct state *states;     /* owned, filtered */
	double *path;             /* owned: the likeliest phi, us */
	uint32_t n;
	double least_us; /* half-width of narrow places */
};

/* -- measurements ---------------------------------------------------------------------------- */

/* The narrow tenth of the half-widths is what both floors leave, or nearly so. */
static double least_half(const struct smoother *smoother, const struct knot *knots)
{
	double halves[MAX_SAMPLES];
	uint32_t stride = smoother->n / MAX_SAMPLES + 1, n = 0;

	for (uint32_t i = 0; i < smoother->n; i += stride)
		halves[n++] = phi_us(knots[i].hi - knots[i].lo) / 2;
	/* cppcheck-suppress uninitvar; there is at least one */
	return select_kth(halves, n, n / 10);
}

/* How far a reference is off the line of its first piece. One that only follows how the rate walks
 * bends, but the rate does not step there: the path is found beside that line. */
struct detour {
	const struct piece *line; /* NULL: the reference is what the path is found beside */
	struct walk walk;
};

static struct detour detour_of(const struct attempt *band)
{
	const struct reference *reference = &band->reference;
	bool is_line = reference->n_pieces == 1 || reference_bends(reference, band->rho);

	return (struct detour){is_line ? NULL : reference->pieces, {.reference = reference}};
}

static double detour_us(struct detour *detour, uint64_t x)
{
	if (!detour->line)
		return 0;
	return phi_us((int64_t)(piece_value(walk_to(&detour->walk, x), x) -
	                        piece_value(detour->line, x)));
}

static void measure_all(struct smoother *smoother, const struct attempt *band)
{
	const struct knot *knots = band->knots;
	struct walk walk = {.reference = &band->reference};
	struct detour detour = detour_of(band);
	bool bends = reference_bends(&band->reference, band->rho);
	double slope = 0, loose = 0;

	for (uint32_t i = 0; i < smoother->n; i++) {
		struct measure *measure = &smoother->measures[i];
		const struct piece *before = walk.piece, *piece = walk_to(&walk, knots[i].x);
		double excess_us = phi_us(knots[i].hi - knots[i].lo) / 2 - smoother->least_us;

		if (piece != before) {
			slope = slope_ns(piece->slope);
			loose = piece_spread(piece, band->rho) / slope * 1e6;
		}
		measure->s = i ? (double)(knots[i].x - knots[i - 1].x) * slope * 1e-9 : 0;
		measure->us = phi_us(knots[i].lo) / 2 + phi_us(knots[i].hi) / 2;
		measure->us += detour_us(&detour, knots[i].x);
		excess_us = fmax(excess_us, 0);
		measure->excess = excess_us * excess_us;
		measure->loose = piece == before || (i > 0 && !bends) ? 0 : loose * loose;
	}
	for (uint32_t i = 0; i < band->n_spares; i++)
		smoother->measures[band->spares[i]].excess = NOTHING;
}

/* -- filter ---------------------------------------------------------------------------------- */

static struct state predict(const struct state *from, const struct measure *over,
                            const struct model *model)
{
	double s = over->s, p11 = from->p11 + over->loose;
	struct state state = {.phi = from->phi + s * from->slope, .slope = from->slope};

	state.p00 = from->p00 + s * (2 * from->p01 + s * p11) + model->walk * s * s * s / 3;
	state.p01 = from->p01 + s * p11 + model->walk * s * s / 2;
	state.p11 = p11 + model->walk * s;
	return state;
}

/* Takes in a measurement; tells how far it is off, and the variance of that. */
static void update(struct state *state, const struct measure *measure, const struct model *model,
                   double *ret_off, double *ret_variance)
{
	double variance = state->p00 + model->noise + measure->excess;
	double off = measure->us - state->phi;
	double gain0 = state->p00 / variance, gain1 = state->p01 / variance;

	state->phi += gain0 * off;
	state->slope += gain1 * off;
	state->p11 -= gain1 * state->p01;
	state->p01 -= gain0 * state->p01;
	state->p00 -= gain0 * state->p00;
	*ret_off = off;
	*ret_variance = variance;
}

static struct state first_state(const struct measure *measure, const struct model *model)
{
	return (struct state){
		.phi = measure->us, .p00 = model->noise + measure->excess, .p11 = measure->loose};
}

/* Filters all measurements. */
static void filter(const struct smoother *smoother, const struct model *model)
{
	struct state state = first_state(smoother->measures, model);
	double off, variance;

	smoother->states[0] = state;
	for (uint32_t i = 1; i < smoother->n; i++) {
		state = predict(&state, &smoother->measures[i], model);
		update(&state, &smoother->measures[i], model, &off, &variance);
		smoother->states[i] = state;
	}
}

/* Measurements evenly among all, each with the way from the one before. */
struct samples {
	struct measure measures[MAX_SAMPLES];
	uint32_t n;
};

static void sample(const struct smoother *smoother, struct samples *samples)
{
	uint32_t stride = smoother->n / MAX_SAMPLES + 1;
	double s = 0, loose = 0;

	samples->n = 0;
	for (uint32_t i = 0; i < smoother->n; i++) {
		struct measure *measure = &samples->measures[samples->n];

		s += smoother->measures[i].s;
		loose += smoother->measures[i].loose;
		if (i % stride)
			continue;
		*measure = smoother->measures[i];
		measure->s = s;
		measure->loose = loose;
		samples->n++;
		s = loose = 0;
	}
}

/* What measurements cost: minus twice the logarithm of how likely they are. */
static double cost_of(const struct samples *samples, const struct model *model)
{
	struct state state = first_state(samples->measures, model);
	double cost = 0, product = 1, off, variance;

	for (uint32_t i = 1; i < samples->n; i++) {
		state = predict(&state, &samples->measures[i], model);
		update(&state, &samples->measures[i], model, &off, &variance);
		cost += off * off / variance;
		product *= variance;
		if (i % PER_LOG == 0) {
			cost += log(product);
			product = 1;
		}
	}
	return cost + log(product);
}

static struct model likeliest_model(const struct smoother *smoother)
{
	struct model best = {0, 0};
	struct samples samples;
	double least = INFINITY;

	sample(smoother, &samples);
	for (int i = 0; i < N_WALKS * N_NOISES; i++) {
		double walk = LEAST_WALK * 1e6 * pow(10, i / N_NOISES);
		double noise = fmax(LEAST_NOISE * smoother->least_us, 0.01) * pow(4, i % N_NOISES);
		struct model model = {walk * walk, noise * noise};
		double cost = cost_of(&samples, &model);

		if (cost < least) {
			least = cost;
			best = model;
		}
	}
	return best;
}

/* Moves a state to what the next one, which is smoothed, says of it. */
static void smooth_state(struct state *at, const struct state *next, const struct measure *over,
                         const struct model *model)
{
	struct state ahead = predict(at, over, model);
	double det = ahead.p00 * ahead.p11 - ahead.p01 * ahead.p01;
	double c00 = at->p00 + at->p01 * over->s, c01 = at->p01;
	double c10 = at->p01 + (at->p11 + over->loose) * over->s, c11 = at->p11 + over->loose;
	double off = next->phi - ahead.phi, off_slope = next->slope - ahead.slope;
	double a, b;

	if (!(det > 0))
		return;
	a = (ahead.p11 * off - ahead.p01 * off_slope) / det;
	b = (ahead.p00 * off_slope - ahead.p01 * off) / det;
	at->phi += c00 * a + c01 * b;
	at->slope += c10 * a + c11 * b;
}

/* The pass back, which makes the path. */
static void smooth(const struct smoother *smoother, const struct model *model)
{
	struct state *states = smoother->states;
	uint32_t last = smoother->n - 1;

	smoother->path[last] = states[last].phi;
	for (uint32_t i = last; i-- > 0;) {
		smooth_state(&states[i], &states[i + 1], &smoother->measures[i + 1], model);
		smoother->path[i] = states[i].phi;
	}
}

/* Takes a path back beside the reference. */
static void follow_reference(const struct attempt *band, double *path)
{
	struct detour detour = detour_of(band);

	for (uint32_t i = 0; i < band->n_knots; i++)
		path[i] -= detour_us(&detour, band->knots[i].x);
}

int band_smooth(struct attempt *band, const struct widths *widths)
{
	struct smoother smoother = {.n = band->n_knots};
	struct model model;
	int code = FLEXTRACE_E_MEMORY;

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
	smoother.path = blocks_allocate(smoother.n, sizeof(*smoother.path));
	if (smoother.measures && smoother.states && smoother.path) {
		smoother.least_us = least_half(&smoother, band->knots);
		measure_all(&smoother, band);
		model = likeliest_model(&smoother);
		filter(&smoother, &model);
		smooth(&smoother, &model);
		follow_reference(band, smoother.path);
		code = band_follow(band, widths, smoother.path);
	}
	blocks_free(smoother.measures);
	blocks_free(smoother.states);
	blocks_free(smoother.path);
	return code;
}
