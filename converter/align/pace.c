/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a clock runs against the root's: one rate, as long as a rate that wanders by no more
 * than rho explains what the curve says; else it is cut where two lines explain it best, and so
 * on: NTP slews a clock for minutes and then stops. Around a cut either rate may hold.
 */
#include <math.h>
#include <stdlib.h>

#include "align_impl.h"

#define MAX_WINDOWS   256u
#define WINDOW        6u /* points of the curve: its running medians overlap by five */
#define MIN_PIECE     4u /* windows */
#define MAX_PIECES    32u
#define CUT_WINDOWS   2u /* how far a cut may be off, to each side */
#define NOISE_SIGMAS  4
#define NOISE_NS      300
#define N_REFINEMENTS 3 /* of cuts, which were made one after the other */

struct stretch { /* windows [from, to) of one rate */
	uint32_t from, to;
	double rate;
};

struct pacing {
	const struct curve *curve;
	double rho, noise_ns;
	struct curve_point windows[MAX_WINDOWS];
	uint32_t n_windows;
	struct stretch stretches[MAX_PIECES];
	uint32_t n_stretches;
	double *spare; /* owned */
};

/* -- windows ----------------------------------------------------------------------------------- */

static void fill_windows(struct pacing *pacing)
{
	const struct curve *curve = pacing->curve;
	uint32_t n = curve->n_points / WINDOW;

	pacing->n_windows = n < MAX_WINDOWS ? n : MAX_WINDOWS;
	for (uint32_t i = 0; i < pacing->n_windows; i++) {
		uint32_t from = (uint32_t)((uint64_t)i * curve->n_points / pacing->n_windows);
		uint32_t to = (uint32_t)((uint64_t)(i + 1) * curve->n_points / pacing->n_windows);
		struct curve_point sum = {0, 0};

		for (uint32_t j = from; j < to; j++) {
			sum.x += curve->points[j].x / (to - from);
			sum.y += curve->points[j].y / (to - from);
		}
		pacing->windows[i] = sum;
	}
}

/* By second differences, which a line does not have, nor most of a few lines. */
static double measure_noise(struct pacing *pacing)
{
	const struct curve_point *w = pacing->windows;
	uint32_t n = 0;

	for (uint32_t i = 1; i + 1 < pacing->n_windows; i++)
		pacing->spare[n++] = fabs(w[i - 1].y - 2 * w[i].y + w[i + 1].y);
	if (n == 0)
		return ROUGH_NS;
	/* A difference has sqrt(6) sigmas, its median size is 0.6745 of that. */
	return NOISE_SIGMAS * stats_median(pacing->spare, n) / 1.652 + NOISE_NS;
}

/* -- stretches --------------------------------------------------------------------------------- */

static double length_of(const struct pacing *pacing, const struct stretch *stretch)
{
	return pacing->windows[stretch->to - 1].x - pacing->windows[stretch->from].x;
}

/* How far the rate that was found may be off, beside wandering. */
static double slack_of(const struct pacing *pacing, const struct stretch *stretch)
{
	return pacing->rho + 2 * pacing->noise_ns / length_of(pacing, stretch);
}

/* Whether a rate that wanders by no more than rho passes all windows. */
static bool is_steady(const struct pacing *pacing, const struct stretch *stretch)
{
	double lo = -INFINITY, hi = INFINITY, slack = pacing->rho;

	for (uint32_t i = stretch->from; i < stretch->to; i++) {
		const struct curve_point *window = &pacing->windows[i];
		double dx = i > stretch->from ? window->x - window[-1].x : 0;
		double y = window->y - stretch->rate * window->x;

		lo = fmax(lo - slack * dx, y - pacing->noise_ns);
		hi = fmin(hi + slack * dx, y + pacing->noise_ns);
		if (lo > hi)
			return false;
	}
	return true;
}

struct sums {
	double n, x, y, xx, xy, yy;
};

static void sum_add(struct sums *sums, double x, double y, double sign)
{
	sums->n += sign;
	sums->x += sign * x;
	sums->y += sign * y;
	sums->xx += sign * x * x;
	sums->xy += sign * x * y;
	sums->yy += sign * y * y;
}

/* Sum of squares that the best line leaves. */
static double rest_of(const struct sums *sums)
{
	double xx = sums->xx - sums->x * sums->x / sums->n;
	double xy = sums->xy - sums->x * sums->y / sums->n;
	double yy = sums->yy - sums->y * sums->y / sums->n;

	return xx > 0 ? yy - xy * xy / xx : yy;
}

/* Where two lines leave least. */
static uint32_t find_cut(const struct pacing *pacing, const struct stretch *stretch)
{
	const struct curve_point *first = &pacing->windows[stretch->from];
	struct sums left = {0}, right = {0};
	uint32_t best = stretch->from + MIN_PIECE;
	double least = INFINITY;

	for (uint32_t i = stretch->from; i < stretch->to; i++)
		sum_add(&right, pacing->windows[i].x - first->x, pacing->windows[i].y, 1);
	for (uint32_t i = stretch->from; i + MIN_PIECE < stretch->to; i++) {
		double x = pacing->windows[i].x - first->x, y = pacing->windows[i].y;

		sum_add(&left, x, y, 1);
		sum_add(&right, x, y, -1);
		if (i + 1 < stretch->from + MIN_PIECE)
			continue;
		if (rest_of(&left) + rest_of(&right) < least) {
			least = rest_of(&left) + rest_of(&right);
			best = i + 1;
		}
	}
	return best;
}

static void fit_rate(struct pacing *pacing, struct stretch *stretch)
{
	stretch->rate = curve_slope(&pacing->windows[stretch->from], stretch->to - stretch->from,
	                            pacing->spare);
}

/* Cuts stretches, the first that is not steady first, until all are or are too short. */
static void cut_stretches(struct pacing *pacing)
{
	uint32_t i = 0;

	pacing->stretches[0] = (struct stretch){.to = pacing->n_windows};
	pacing->n_stretches = 1;
	fit_rate(pacing, &pacing->stretches[0]);
	while (i < pacing->n_stretches) {
		struct stretch *stretch = &pacing->stretches[i];
		uint32_t cut;

		if (pacing->n_stretches == MAX_PIECES ||
		    stretch->to - stretch->from < 2 * MIN_PIECE || is_steady(pacing, stretch)) {
			i++;
			continue;
		}
		cut = find_cut(pacing, stretch);
		for (uint32_t j = pacing->n_stretches++; j > i + 1; j--)
			pacing->stretches[j] = pacing->stretches[j - 1];
		stretch[1] = (struct stretch){.from = cut, .to = stretch->to};
		stretch->to = cut;
		fit_rate(pacing, stretch);
		fit_rate(pacing, stretch + 1);
	}
}

/* Moves each cut to where it is best between its neighbours. */
static void refine_cuts(struct pacing *pacing)
{
	for (int pass = 0; pass < N_REFINEMENTS; pass++) {
		for (uint32_t i = 0; i + 1 < pacing->n_stretches; i++) {
			struct stretch *stretch = &pacing->stretches[i];
			struct stretch both = {.from = stretch->from, .to = stretch[1].to};

			stretch->to = find_cut(pacing, &both);
			stretch[1].from = stretch->to;
		}
	}
	for (uint32_t i = 0; i < pacing->n_stretches; i++)
		fit_rate(pacing, &pacing->stretches[i]);
}

/* -- paces ------------------------------------------------------------------------------------- */

static int64_t to_pace(double rate)
{
	return llrint(ldexp(rate, PACE_BITS));
}

static struct pace_sum pace_at(const struct pace *pace, int64_t host_ns)
{
	wide_int dt = (wide_int)host_ns - pace->host_ns;

	return (struct pace_sum){
		pace->base + ((dt * ((INT64_C(1) << PACE_BITS) + pace->rate)) >>
	                      (PACE_BITS - FINE_BITS)),
		pace->wide + ((dt * pace->slack) >> (PACE_BITS - FINE_BITS)),
	};
}

/* Rates are limited so that a clock always goes forward. */
static void add_pace(struct paces *paces, int64_t host_ns, double rate, double slack)
{
	struct pace *pace = &paces->paces[paces->n_paces];

	*pace = (struct pace){.host_ns = host_ns};
	if (paces->n_paces > 0) {
		struct pace_sum sum;

		if (host_ns <= pace[-1].host_ns) {
			pace->host_ns = pace[-1].host_ns;
		}
		sum = pace_at(&pace[-1], pace->host_ns);
		pace->base = sum.base;
		pace->wide = sum.wide;
	}
	pace->rate = to_pace(fmax(-0.2, fmin(0.2, rate)));
	pace->slack = to_pace(fmin(0.2, slack)) + 1;
	paces->n_paces++;
}

static int64_t window_ns(const struct pacing *pacing, uint32_t window)
{
	return pacing->curve->origin_ns + llrint(pacing->windows[window].x);
}

static void add_stretches(const struct pacing *pacing, struct paces *paces)
{
	const struct curve *curve = pacing->curve;

	for (uint32_t i = 0; i < pacing->n_stretches; i++) {
		const struct stretch *stretch = &pacing->stretches[i];
		uint32_t before = stretch->from, after = stretch->from + CUT_WINDOWS;
		double slack = slack_of(pacing, stretch), rate = curve->rate + stretch->rate;

		if (i == 0) {
			add_pace(paces, window_ns(pacing, 0), rate, slack);
			continue;
		}
		before -= CUT_WINDOWS + 1;
		slack = fmax(slack, slack_of(pacing, stretch - 1));
		add_pace(paces, window_ns(pacing, before),
		         curve->rate + (stretch->rate + stretch[-1].rate) / 2,
		         slack + fabs(stretch->rate - stretch[-1].rate) / 2);
		add_pace(paces, window_ns(pacing, after), rate, slack_of(pacing, stretch));
	}
}

int paces_init_straight(struct paces *paces, int64_t host_ns, double rate, double slack)
{
	*paces = (struct paces){.paces = malloc(sizeof(*paces->paces))};
	if (!paces->paces)
		return FLEXTRACE_E_MEMORY;
	add_pace(paces, host_ns, rate, slack);
	return FLEXTRACE_OK;
}

static int init_guess(struct paces *paces, const struct curve *curve)
{
	FLEXTRACE_TRY(paces_init_straight(paces, curve->origin_ns, 0, LIKELY_RATE));
	paces->is_guess = true;
	return FLEXTRACE_OK;
}

/* Few observations: their ends may be off. */
static int init_short(struct paces *paces, const struct curve *curve, double rho)
{
	double length = curve->points[curve->n_points - 1].x - curve->points[0].x;

	return paces_init_straight(paces, curve->origin_ns, curve->rate,
	                           rho + curve_blur_ns(curve) / length);
}

int paces_init(struct paces *paces, const struct curve *curve, double rho)
{
	struct pacing *pacing;

	if (!curve_tells_rate(curve))
		return init_guess(paces, curve);
	if (curve->n_points < WINDOW * MIN_PIECE)
		return init_short(paces, curve, rho);
	pacing = calloc(1, sizeof(*pacing));
	*paces = (struct paces){.paces = malloc((2 * MAX_PIECES + 1) * sizeof(*paces->paces))};
	if (pacing)
		pacing->spare = malloc((size_t)MAX_WINDOWS * MAX_WINDOWS / 2 * sizeof(double));
	if (!pacing || !pacing->spare || !paces->paces) {
		free(pacing ? pacing->spare : NULL);
		free(pacing);
		paces_release(paces);
		return FLEXTRACE_E_MEMORY;
	}
	pacing->curve = curve;
	pacing->rho = rho;
	fill_windows(pacing);
	pacing->noise_ns = measure_noise(pacing);
	cut_stretches(pacing);
	refine_cuts(pacing);
	add_stretches(pacing, paces);
	free(pacing->spare);
	free(pacing);
	return FLEXTRACE_OK;
}

void paces_add_slack(struct paces *paces, double slack)
{
	for (uint32_t i = 0; i < paces->n_paces; i++) {
		struct pace *pace = &paces->paces[i];

		pace->slack += to_pace(slack);
		if (i > 0)
			pace->wide = pace_at(&pace[-1], pace->host_ns).wide;
	}
}

void paces_release(struct paces *paces)
{
	free(paces->paces);
	*paces = (struct paces){0};
}

struct pace_sum paces_at(const struct paces *paces, int64_t host_ns)
{
	uint32_t lo = 0, n = paces->n_paces;

	while (n > 1) {
		uint32_t half = n / 2;

		lo += paces->paces[lo + half].host_ns <= host_ns ? half : 0;
		n -= half;
	}
	return pace_at(&paces->paces[lo], host_ns);
}
