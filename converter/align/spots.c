/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of many bounds, the few that matter. Any of them are true, so that it only costs width if others
 * would have been better.
 */
#include <math.h>

#include "align_impl.h"

#define MAX_WINDOWS ((MAX_SPOTS - 2) / 2)
#define MAX_PASSES  2
#define NOWHERE     (FINE_NONE / 2)

struct filling {
	const struct mesh *mesh;
	int64_t first_ns; /* host: of the clock's first knot */
	bool is_closed;
};

static double theta_of(const struct filling *filling, int64_t root, const struct knot *knot)
{
	return (double)(root - (knot->host_ns - filling->first_ns) * FINE_NS) / FINE_NS;
}

static struct spot spot_of(const struct filling *filling, uint32_t at)
{
	const struct knot *knot = &filling->mesh->knots[at];
	int64_t lo = knot->lo, hi = knot->hi;

	if (!filling->is_closed) {
		const struct moment *moment = &filling->mesh->moments[knot->event];

		lo = knot->is_kept && knot->is_exit ? moment->lo : -FINE_NONE;
		hi = knot->is_kept && !knot->is_exit ? moment->hi : FINE_NONE;
	}
	return (struct spot){
		.x = (double)(knot->host_ns - filling->first_ns),
		.lo = lo > -NOWHERE ? theta_of(filling, lo, knot) : -INFINITY,
		.hi = hi < NOWHERE ? theta_of(filling, hi, knot) : INFINITY,
		.knot = at,
	};
}

static void add_spot(struct spots *spots, const struct spot *spot)
{
	if (spots->n == 0 || spots->all[spots->n - 1].knot != spot->knot)
		spots->all[spots->n++] = *spot;
}

/* The tightest of knots [from, to) on either side. */
static void add_window(struct spots *spots, const struct filling *filling, double likely_rate,
                       uint32_t from, uint32_t to)
{
	struct spot lo = spot_of(filling, from), hi = lo;

	for (uint32_t at = from + 1; at < to; at++) {
		struct spot spot = spot_of(filling, at);

		if (spot.lo > lo.lo + likely_rate * (spot.x - lo.x))
			lo = spot;
		if (spot.hi < hi.hi + likely_rate * (spot.x - hi.x))
			hi = spot;
	}
	add_spot(spots, lo.knot < hi.knot ? &lo : &hi);
	add_spot(spots, lo.knot < hi.knot ? &hi : &lo);
}

void spots_fill(struct spots *spots, const struct mesh *mesh, uint32_t clock, double likely_rate,
                bool is_closed)
{
	uint32_t first = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - first;
	uint32_t n_windows = n < MAX_WINDOWS ? n : MAX_WINDOWS;
	struct filling filling = {mesh, mesh->knots[first].host_ns, is_closed};

	spots->n = 0;
	for (uint32_t i = 0; i < n_windows; i++)
		add_window(spots, &filling, likely_rate,
		           first + (uint32_t)((uint64_t)i * n / n_windows),
		           first + (uint32_t)((uint64_t)(i + 1) * n / n_windows));
}

static inline double larger(double a, double b)
{
	return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Stores the bounds that evidence up to each spot leaves, closer by a share of their room; false:
 * there is a contradiction. */
static bool sweep_forward(struct spot *spots, uint32_t from, uint32_t to, double least, double most,
                          double share)
{
	double lo = spots[from].lo + share * spots[from].room / 2;
	double hi = spots[from].hi - share * spots[from].room / 2;

	for (uint32_t i = from;;) {
		double less;

		if (lo > hi + ROUNDING_NS)
			return false;
		spots[i].tight_lo = lo;
		spots[i].tight_hi = hi;
		if (i++ == to)
			return true;
		less = share * spots[i].room / 2;
		lo = larger(lo + least * (spots[i].x - spots[i - 1].x), spots[i].lo + less);
		hi = smaller(hi + most * (spots[i].x - spots[i - 1].x), spots[i].hi - less);
	}
}

bool spots_leave_room(struct spots *spots, uint32_t from, uint32_t to, double least, double most)
{
	return sweep_forward(spots->all, from, to, least, most, 1);
}

bool spots_tighten(struct spots *all, uint32_t from, uint32_t to, double least, double most)
{
	struct spot *spots = all->all;

	if (!sweep_forward(spots, from, to, least, most, 0))
		return false;
	for (uint32_t i = to; i-- > from;) {
		double dx = spots[i + 1].x - spots[i].x;

		spots[i].tight_lo = larger(spots[i].tight_lo, spots[i + 1].tight_lo - most * dx);
		spots[i].tight_hi = smaller(spots[i].tight_hi, spots[i + 1].tight_hi - least * dx);
	}
	return true;
}

/* Bounds of two ends, which lie apart by a mean rate within [least, most]. */
static void tie_ends(struct spot *first, struct spot *last, double least, double most)
{
	double length = last->x - first->x;

	first->lo = fmax(first->tight_lo, last->tight_lo - most * length - ROUNDING_NS);
	first->hi = fmin(first->tight_hi, last->tight_hi - least * length + ROUNDING_NS);
	last->lo = fmax(last->tight_lo, first->tight_lo + least * length - ROUNDING_NS);
	last->hi = fmin(last->tight_hi, first->tight_hi + most * length + ROUNDING_NS);
}

bool spots_take_rate(struct spots *spots, uint32_t from, uint32_t to, double least, double most,
                     double rho)
{
	struct spot *first = &spots->all[from], *last = &spots->all[to];
	struct spot was_first = *first, was_last = *last;
	bool is_possible = true;

	for (int pass = 0; pass < MAX_PASSES && is_possible; pass++) {
		is_possible = spots_tighten(spots, from, to, least - rho, most + rho);
		if (is_possible && from < to)
			tie_ends(first, last, least, most);
	}
	first->lo = was_first.lo;
	first->hi = was_first.hi;
	last->lo = was_last.lo;
	last->hi = was_last.hi;
	return is_possible;
}
