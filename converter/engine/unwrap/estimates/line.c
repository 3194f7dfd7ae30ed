/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts all work of a counter on one line. Estimates scatter, are late, or run at a rate that is a
 * little off; the stamps are exact. An estimate only tells the wrap that its stamps are of. When
 * the counter showed 0 follows from all of them: what is left of an estimate less its stamps is the
 * same for all within a wrap, whole wraps off or not. The median of that is taken, for some time
 * each, since rates change. Then the line is moved and tilted as far as it puts more work into
 * round trips.
 *
 * Times on the line are exact against each other: work is moved by whole wraps there, and round
 * trips are moved onto it.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/marzullo.h"
#include "base/select_kth.h"
#include "chains.h"

#define KNOT_LINKS 16u  /* links that tell a knot ... */
#define KNOT_NS    10e9 /* ... or more, that are so near each other */
#define SHIFT_NS   10e6 /* that all estimates may be off */
#define ROOM_NS    50e3 /* beside round trips, that does not matter */
#define MAX_OFF_NS 5e6  /* that the ends of the line may be off by a wrong rate */
#define FEWER      2.0  /* times fewer links beside round trips prove a shift of all, ... */
#define MUCH_FEWER 3.0  /* ... and so many times one of few */
#define MOST       0.5  /* of the links have to be near round trips */
#define MAX_NEAR   8u   /* trips that are looked at for a link */

/* What is left of an estimate less its stamps, beside what is expected. */
static double rest_of(const struct chains *chains, const struct link *link, double expected_ns)
{
	double ns = link->estimate_ns - link->begin / chains->rate - expected_ns;

	return ns - chains->wrap_ns * round(ns / chains->wrap_ns);
}

/* -- knots ----------------------------------------------------------------------------------- */

/* Finds the next knot from a link on, by where the last one was. Returns the link behind it. */
static uint32_t find_knot(struct chains *chains, uint32_t first, double least_ns, double *rests)
{
	struct knot *last = chains->n_knots ? &chains->knots[chains->n_knots - 1] : NULL;
	double late_ns = last ? last->late_ns : rest_of(chains, &chains->links[first], 0);
	double begin_ns = chains->links[first].told_ns, sum_ns = 0;
	uint32_t i = first, n = 0;

	for (; i < chains->n; i++) {
		const struct link *link = &chains->links[i];

		if (n >= KNOT_LINKS && link->told_ns - begin_ns >= least_ns)
			break;
		if (!link->is_witness)
			continue;
		rests[n++] = rest_of(chains, link, late_ns);
		sum_ns += link->told_ns;
	}
	if (n == 0 || (n < KNOT_LINKS && last))
		return i;
	chains->knots[chains->n_knots++] = (struct knot){sum_ns / n,
	                                                 late_ns + select_kth(rests, n, n / 2)};
	return i;
}

/* Finds knots by witnesses, so long each at least. */
static int find_knots(struct chains *chains, double least_ns)
{
	double *rests;

	FLEXTRACE_TRY(ARRAY_NEW(rests, (size_t)chains->n + 1));
	chains->n_knots = 0;
	for (uint32_t i = 0; i < chains->n;)
		i = find_knot(chains, i, least_ns, rests);
	free(rests);
	return FLEXTRACE_OK;
}

/* What is far from all round trips is likely told at a wrong time, when the rate may have been
 * another one. */
static void call_witnesses(struct chains *chains)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < chains->n; i++) {
		chains->links[i].is_witness = !chains->links[i].sample->source.op->is_doubted;
		n += chains->links[i].is_witness;
	}
	for (uint32_t i = 0; i < chains->n && n < KNOT_LINKS; i++)
		chains->links[i].is_witness = true;
}

/* -- shifts ---------------------------------------------------------------------------------- */

/* Room for what links say of a shift. */
struct votes {
	struct interval *votes; /* owned */
	int64_t *spare;         /* owned */
	uint32_t n, n_links;    /* these are near round trips */
};

/* How all links are off: by a shift in the middle, and a share of the distance from there. */
struct slope {
	double shift_ns, share, middle_ns;
};

/* Adds the shifts that put a link into round trips near it, those of trips that are over each other
 * as one. */
static void vote(const struct chains *chains, const struct link *link, const struct slope *slope,
                 struct votes *votes)
{
	double off_ns = slope->share * (link->told_ns - slope->middle_ns);
	double late_ns = line_late_ns(chains, link->told_ns) + off_ns;
	double begin_ns = link->estimate_ns - rest_of(chains, link, late_ns);
	double end_ns = begin_ns + (double)link->sample->span / chains->rate;
	uint32_t end = trips_count_begun(&chains->trips, begin_ns + SHIFT_NS), first = end;
	struct interval *last = NULL;

	while (first > 0 && end - first < MAX_NEAR &&
	       trips_latest_ns(&chains->trips, first) >= end_ns - SHIFT_NS)
		first--;
	for (uint32_t i = first; i < end; i++) {
		const struct idle *trip = &chains->trips.trips[i];
		double lo = fmax((double)trip->begin_ns - begin_ns, -SHIFT_NS);
		double hi = fmin((double)trip->end_ns - end_ns, SHIFT_NS);

		if (lo > hi)
			continue;
		if (last && lo <= (double)last->hi) {
			last->hi = (int64_t)fmax(hi, (double)last->hi);
			continue;
		}
		last = &votes->votes[votes->n++];
		*last = (struct interval){(int64_t)ceil(lo), (int64_t)floor(hi)};
	}
	votes->n_links += last != NULL;
}

/* How many links that are near round trips are beside them if all are shifted by so much. */
static uint32_t count_beside(const struct votes *votes, double ns)
{
	uint32_t n = votes->n_links;

	for (uint32_t i = 0; i < votes->n; i++)
		n -= (double)votes->votes[i].lo <= ns + ROOM_NS &&
		     (double)votes->votes[i].hi >= ns - ROOM_NS;
	return n;
}

/* Asks some links, and finds the least shift that puts most of them into round trips. Returns how
 * many are beside them then; UINT32_MAX: too few are near any. */
static uint32_t ask(const struct chains *chains, uint32_t first, uint32_t end, struct slope *slope,
                    struct votes *votes)
{
	struct interval hull;

	votes->n = votes->n_links = 0;
	for (uint32_t i = first; i < end; i++)
		vote(chains, &chains->links[i], slope, votes);
	if (votes->n_links < MOST * (end - first) ||
	    !marzullo_hull(votes->votes, votes->n, 1, votes->spare, &hull))
		return UINT32_MAX;
	slope->shift_ns = fmin(fmax(0, (double)hull.lo), (double)hull.hi);
	return count_beside(votes, slope->shift_ns);
}

/* Finds how all links are off their round trips, if that leaves many fewer beside them: work of
 * wrong epochs is beside some by chance. */
static struct slope find_slope(const struct chains *chains, struct votes *votes)
{
	const struct link *links = chains->links;
	double span_ns = links[chains->n - 1].told_ns - links[0].told_ns;
	struct slope none = {.middle_ns = links[0].told_ns + span_ns / 2}, best = none;
	uint32_t least = ask(chains, 0, chains->n, &best, votes), now = count_beside(votes, 0);
	double most = fmin(chains->off_ns / (MAX_WRAPS * chains->wrap_ns) * span_ns, MAX_OFF_NS);

	for (double off_ns = -most; off_ns <= most && least > 0; off_ns += 2 * ROOM_NS) {
		struct slope slope = {0, off_ns / span_ns, none.middle_ns};
		uint32_t n = ask(chains, 0, chains->n, &slope, votes);

		if (n < least || (n == least && fabs(slope.share) < fabs(best.share))) {
			least = n;
			best = slope;
		}
	}
	return least < UINT32_MAX && least * FEWER <= now ? best : none;
}

static bool is_link_before(const void *row, const void *key)
{
	return ((const struct link *)row)->told_ns < *(const double *)key;
}

/* Moves all knots by what all links say, then each by what those say that are nearest to it. */
static void shift_knots(struct chains *chains, struct votes *votes)
{
	struct slope slope = find_slope(chains, votes);
	uint32_t first = 0;

	chains->tilt = slope.share;
	chains->tilt_at_ns = slope.middle_ns;
	for (uint32_t i = 0; i < chains->n_knots; i++)
		chains->knots[i].late_ns += slope.shift_ns;
	for (uint32_t i = 0; i < chains->n_knots; i++) {
		struct knot *knot = &chains->knots[i];
		double end_ns = i + 1 < chains->n_knots ? (knot->at_ns + knot[1].at_ns) / 2
		                                        : INFINITY;
		uint32_t end = array_count_before(chains->links, chains->n, sizeof(*chains->links),
		                                  is_link_before, &end_ns);
		struct slope local = {.share = 0};
		uint32_t n = ask(chains, first, end, &local, votes);

		if (n < UINT32_MAX && n * MUCH_FEWER <= count_beside(votes, 0))
			knot->late_ns += local.shift_ns;
		first = end;
	}
}

static int shift(struct chains *chains)
{
	size_t n = MAX_NEAR * (size_t)chains->n + 1;
	struct votes votes = {.votes = malloc(n * sizeof(*votes.votes)),
	                      .spare = malloc(2 * n * sizeof(*votes.spare))};
	bool has_memory = votes.votes && votes.spare;

	if (has_memory)
		shift_knots(chains, &votes);
	free(votes.votes);
	free(votes.spare);
	return has_memory ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

/* -- the line -------------------------------------------------------------------------------- */

static bool is_knot_before(const void *row, const void *key)
{
	return ((const struct knot *)row)->at_ns < *(const double *)key;
}

double line_late_ns(const struct chains *chains, double ns)
{
	uint32_t at = array_count_before(chains->knots, chains->n_knots, sizeof(*chains->knots),
	                                 is_knot_before, &ns);
	const struct knot *next = &chains->knots[at], *last = next - 1;

	double late_ns = chains->tilt * (ns - chains->tilt_at_ns);

	if (at == 0 || at == chains->n_knots)
		return late_ns + (at ? last : next)->late_ns;
	return late_ns + last->late_ns +
	       (next->late_ns - last->late_ns) * (ns - last->at_ns) / (next->at_ns - last->at_ns);
}

static int64_t onto_line(const void *chains, int64_t ns)
{
	return ns - llround(line_late_ns(chains, (double)ns));
}

/* Knots are told by how late the counter's 0 is; the line itself is where that is 0. */
static void straighten(struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[i];
		double ns = link->told_ns - line_late_ns(chains, link->told_ns);
		double begin_ns = link->begin / chains->rate;

		link->told_ns = begin_ns +
		                chains->wrap_ns * round((ns - begin_ns) / chains->wrap_ns);
	}
	trips_move(&chains->trips, onto_line, chains);
	for (uint32_t i = 0; i < chains->n_knots; i++)
		chains->knots[i].at_ns -= chains->knots[i].late_ns;
}

int line_make(struct chains *chains)
{
	FLEXTRACE_TRY(ARRAY_NEW(chains->knots, (size_t)chains->n + 1));
	call_witnesses(chains);
	FLEXTRACE_TRY(find_knots(chains, KNOT_NS));
	if (!chains->n)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(shift(chains));
	straighten(chains);
	return FLEXTRACE_OK;
}

int line_find_again(struct chains *chains)
{
	chains->tilt = 0;
	return find_knots(chains, 0);
}
