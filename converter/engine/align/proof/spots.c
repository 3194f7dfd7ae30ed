/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the few bounds that matter out of many. Any choice is sound, since all bounds are true; a
 * worse choice only costs width.
 */
#include <math.h>

#include "engine/align/align_impl.h"

#define MAX_WINDOWS ((MAX_SPOTS - 2) / 2)
#define NOWHERE     (FINE_NONE / 2)

struct filling {
	const struct mesh *mesh;
	int64_t first_ns; /* host: of the clock's first knot */
	double rate;      /* likely one, fine per ns */
	bool is_closed;
};

/* What bounds the root's time at a knot, fine. */
static void find_bounds(const struct filling *filling, const struct knot *knot, int64_t *ret_lo,
                        int64_t *ret_hi)
{
	*ret_lo = knot->lo;
	*ret_hi = knot->hi;
	if (!filling->is_closed) {
		const struct moment *moment = &filling->mesh->moments[knot->event];

		*ret_lo = knot->is_kept && knot->is_exit ? moment->lo : -FINE_NONE;
		*ret_hi = knot->is_kept && !knot->is_exit ? moment->hi : FINE_NONE;
	}
}

static double theta_of(const struct filling *filling, int64_t root, const struct knot *knot)
{
	return (double)(root - (knot->host_ns - filling->first_ns) * FINE_NS) / FINE_NS;
}

static void add_spot(struct spots *spots, const struct filling *filling, uint32_t at)
{
	const struct knot *knot = &filling->mesh->knots[at];
	int64_t lo, hi;

	if (spots->n > 0 && spots->all[spots->n - 1].knot == at)
		return;
	find_bounds(filling, knot, &lo, &hi);
	spots->all[spots->n++] = (struct spot){
		.x = (double)(knot->host_ns - filling->first_ns),
		.lo = lo > -NOWHERE ? theta_of(filling, lo, knot) : -INFINITY,
		.hi = hi < NOWHERE ? theta_of(filling, hi, knot) : INFINITY,
		.knot = at,
	};
}

/* The tightest bounds of some knots on either side, by how high they are above a line of the likely
 * rate, fine. */
struct window {
	double highest, lowest;
	uint32_t at_lo, at_hi;
};

static inline double height_of(const struct filling *filling, int64_t root, int64_t dt)
{
	return (double)(root - dt * FINE_NS) - filling->rate * (double)dt;
}

static inline void see_lo(struct window *window, const struct filling *filling, uint32_t at,
                          int64_t lo, int64_t dt)
{
	double height = height_of(filling, lo, dt);

	if (lo > -NOWHERE && height > window->highest) {
		window->highest = height;
		window->at_lo = at;
	}
}

static inline void see_hi(struct window *window, const struct filling *filling, uint32_t at,
                          int64_t hi, int64_t dt)
{
	double height = height_of(filling, hi, dt);

	if (hi < NOWHERE && height < window->lowest) {
		window->lowest = height;
		window->at_hi = at;
	}
}

/* The tightest of knots [from, to) on either side. */
static void add_window(struct spots *spots, const struct filling *filling, uint32_t from,
                       uint32_t to)
{
	struct window window = {-INFINITY, INFINITY, from, from};

	for (uint32_t at = from; at < to; at++) {
		const struct knot *knot = &filling->mesh->knots[at];
		int64_t dt = knot->host_ns - filling->first_ns;

		if (filling->is_closed) {
			see_lo(&window, filling, at, knot->lo, dt);
			see_hi(&window, filling, at, knot->hi, dt);
		} else if (knot->is_kept && knot->is_exit) {
			see_lo(&window, filling, at, filling->mesh->moments[knot->event].lo, dt);
		} else if (knot->is_kept) {
			see_hi(&window, filling, at, filling->mesh->moments[knot->event].hi, dt);
		}
	}
	add_spot(spots, filling, window.at_lo < window.at_hi ? window.at_lo : window.at_hi);
	add_spot(spots, filling, window.at_lo < window.at_hi ? window.at_hi : window.at_lo);
}

void spots_fill(struct spots *spots, const struct mesh *mesh, uint32_t clock, double likely_rate,
                bool is_closed)
{
	uint32_t first = mesh->first_knot[clock], n = mesh->first_knot[clock + 1] - first;
	uint32_t n_windows = n < MAX_WINDOWS ? n : MAX_WINDOWS;
	struct filling filling = {mesh, mesh->knots[first].host_ns, likely_rate * FINE_NS,
	                          is_closed};

	spots->n = 0;
	for (uint32_t i = 0; i < n_windows; i++)
		add_window(spots, &filling, first + (uint32_t)((uint64_t)i * n / n_windows),
		           first + (uint32_t)((uint64_t)(i + 1) * n / n_windows));
}

static inline bool contradicts(struct spot_range range)
{
	return range.lo > range.hi + ROUNDING_NS;
}

/* Carries bounds from the spot before. */
static inline struct spot_range carry(struct spot_range range, const struct spot *spot,
                                      double least, double most)
{
	double dx = spot->x - spot[-1].x;

	return (struct spot_range){larger(range.lo + least * dx, spot->lo),
	                           smaller(range.hi + most * dx, spot->hi)};
}

/* Carries bounds from the first spot to the last; false: there is a contradiction. */
static bool carry_forward(const struct spot *first, const struct spot *last, double least,
                          double most, struct spot_range *range)
{
	struct spot_range carried = *range;

	for (const struct spot *spot = first + 1; spot <= last; spot++) {
		if (contradicts(carried))
			return false;
		carried = carry(carried, spot, least, most);
	}
	*range = carried;
	return !contradicts(carried);
}

static struct spot_range carry_back(const struct spot *first, const struct spot *last, double least,
                                    double most)
{
	struct spot_range range = {last->lo, last->hi};

	for (const struct spot *spot = last; spot-- > first;) {
		double dx = spot[1].x - spot->x;

		range.lo = larger(spot->lo, range.lo - most * dx);
		range.hi = smaller(spot->hi, range.hi - least * dx);
	}
	return range;
}

bool spots_leave_room(const struct spots *all, uint32_t from, uint32_t to, double least,
                      double most)
{
	const struct spot *spots = all->all;
	struct spot_range range = {-INFINITY, INFINITY};

	for (uint32_t i = from; i <= to; i++) {
		double dx = i > from ? spots[i].x - spots[i - 1].x : 0, less = spots[i].room / 2;

		range.lo = larger(range.lo + least * dx, spots[i].lo + less);
		range.hi = smaller(range.hi + most * dx, spots[i].hi - less);
		if (contradicts(range))
			return false;
	}
	return true;
}

bool spots_tighten(struct spots *all, uint32_t from, uint32_t to, double least, double most)
{
	struct spot *spots = all->all;
	struct spot_range range = {spots[from].lo, spots[from].hi};

	for (uint32_t i = from;;) {
		if (contradicts(range))
			return false;
		spots[i].tight_lo = range.lo;
		spots[i].tight_hi = range.hi;
		if (i++ == to)
			break;
		range = carry(range, &spots[i], least, most);
	}
	for (uint32_t i = to; i-- > from;) {
		double dx = spots[i + 1].x - spots[i].x;

		spots[i].tight_lo = larger(spots[i].tight_lo, spots[i + 1].tight_lo - most * dx);
		spots[i].tight_hi = smaller(spots[i].tight_hi, spots[i + 1].tight_hi - least * dx);
	}
	return true;
}

bool spots_meet(const struct spots *all, uint32_t from, uint32_t to, double least, double most)
{
	const struct spot *spots = all->all;
	struct spot_range range = {spots[from].lo, spots[from].hi};

	return carry_forward(&spots[from], &spots[to], least, most, &range);
}

bool spots_bound_ends(const struct spots *all, uint32_t from, uint32_t to, double least,
                      double most, struct spot_range ret_ends[2])
{
	const struct spot *spots = all->all;

	ret_ends[1] = (struct spot_range){spots[from].lo, spots[from].hi};
	if (!carry_forward(&spots[from], &spots[to], least, most, &ret_ends[1]))
		return false;
	ret_ends[0] = carry_back(&spots[from], &spots[to], least, most);
	return true;
}

/* What is left of two ends that lie apart by a mean rate within [least, most]. */
static void tie_ends(struct spot_range ends[2], double length, double least, double most)
{
	struct spot_range first = ends[0], last = ends[1];

	ends[0].lo = larger(first.lo, last.lo - most * length - ROUNDING_NS);
	ends[0].hi = smaller(first.hi, last.hi - least * length + ROUNDING_NS);
	ends[1].lo = larger(last.lo, ends[0].lo + least * length - ROUNDING_NS);
	ends[1].hi = smaller(last.hi, ends[0].hi + most * length + ROUNDING_NS);
}

bool spots_take_rate(const struct spots *all, uint32_t from, uint32_t to, double least, double most,
                     double rho)
{
	const struct spot *spots = all->all;
	struct spot_range ends[2];

	if (!spots_bound_ends(all, from, to, least - rho, most + rho, ends))
		return false;
	if (from == to)
		return true;
	tie_ends(ends, spots[to].x - spots[from].x, least, most);
	return carry_forward(&spots[from], &spots[to], least - rho, most + rho, &ends[0]) &&
	       ends[0].lo <= ends[1].hi + ROUNDING_NS && ends[1].lo <= ends[0].hi + ROUNDING_NS;
}
