/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips without work. Their work may be missing in the file; or a tool that lost count of
 * wraps put it somewhere else, where other round trips hold it as well. Whole wraps, of any number,
 * are between the two then: by its stamps, work begins when such a round trip does, or ends when it
 * does. Work that touches at least as much there as where estimates put it may be there, and so may
 * be all work of its round trip around it. By chance that is so for one of thousands.
 *
 * What is doubted leaves its round trip without work, so that the next work may be of that.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "chains.h"

#define MAX_TURNS      64   /* what is doubted empties other trips */
#define MOST_APART     0.02 /* of a wrap: beyond, a trip tells nothing */
#define EMPTY_SLACK_NS 1e6  /* of the file: if work is beside its trips anyway, it touches any */

/* Where estimates put a body that is settled there. */
struct reach {
	double begin_ns, end_ns;
	uint32_t first, last; /* links */
};

static struct reach reach_of(const struct chains *chains, const struct body *body)
{
	struct reach reach = {.begin_ns = INFINITY, .end_ns = -INFINITY};

	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct slot slot = slot_of(chains, chains->members[i], body->shift_ns);

		if (slot.begin < reach.begin_ns) {
			reach.begin_ns = slot.begin;
			reach.first = slot.link;
		}
		if (slot.end > reach.end_ns) {
			reach.end_ns = slot.end;
			reach.last = slot.link;
		}
	}
	return reach;
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return ORDER(a->phase, b->phase) ?: ORDER(a->link, b->link);
}

/* Lists when settled bodies begin and end, by the low bits. */
static void list_edges(struct chains *chains)
{
	chains->n_begins = chains->n_ends = 0;
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		const struct body *body = &chains->bodies[i];
		struct reach reach;

		if (!body->is_settled)
			continue;
		reach = reach_of(chains, body);
		chains->begins[chains->n_begins++] =
			(struct place){chains->links[reach.first].begin, reach.first};
		chains->ends[chains->n_ends++] = (struct place){chains->links[reach.last].end,
		                                                reach.last};
	}
	qsort(chains->begins, chains->n_begins, sizeof(*chains->begins), compare_places);
	qsort(chains->ends, chains->n_ends, sizeof(*chains->ends), compare_places);
}

/* What the counter showed at a time, by the settled work nearest to it, and how far that may be
 * off. False: there is none, or it tells nothing. */
static bool find_phase(const struct chains *chains, double ns, double *ret_phase, double *ret_off)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits), away_ns;
	uint32_t at = slots_first(chains, ns);
	const struct slot *near;

	if (chains->n_slots == 0)
		return false;
	near = &chains->slots[at > 0 ? at - 1 : 0];
	if (at < chains->n_slots && chains->slots[at].begin - ns < fabs(ns - near->begin))
		near = &chains->slots[at];
	away_ns = ns - near->begin;
	*ret_phase = fmod(
		chains->links[near->link].begin + fmod(away_ns * chains->rate, wrap) + wrap, wrap);
	*ret_off = (chains->near_ns + chains->slack_ns +
	            fabs(away_ns) * chains->off_ns / (MAX_WRAPS * chains->wrap_ns)) *
	           chains->rate;
	return *ret_off < MOST_APART * wrap;
}

/* Whether a body touches at least as much if it begins, or ends, `ticks` behind the begin, or the
 * end, of a trip. */
static bool can_be_of(const struct chains *chains, const struct body *body, const struct idle *trip,
                      double ticks, bool is_begin, double off)
{
	struct reach reach = reach_of(chains, body);
	double length_ns = reach.end_ns - reach.begin_ns, off_ns = off / chains->rate;
	double begin_ns = is_begin ? (double)trip->begin_ns + ticks / chains->rate
	                           : (double)trip->end_ns + ticks / chains->rate - length_ns;
	double late_ns = begin_ns - (double)trip->begin_ns;
	double early_ns = (double)trip->end_ns - begin_ns - length_ns;
	uint32_t n = (fabs(late_ns) <= off_ns) + (fabs(early_ns) <= off_ns);

	return late_ns >= -off_ns && early_ns >= -off_ns &&
	       n >= slots_count_touches(chains, body, body->shift_ns);
}

static bool is_place_before(const void *row, const void *key)
{
	return ((const struct place *)row)->phase < *(const double *)key;
}

/* Doubts what can have begun, or ended, with a trip. Returns whether there is any. */
static bool doubt_edges(struct chains *chains, const struct idle *trip, bool is_begin)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits), phase, off, from;
	const struct place *places = is_begin ? chains->begins : chains->ends;
	uint32_t n = is_begin ? chains->n_begins : chains->n_ends, at;
	bool is_any = false;

	if (!find_phase(chains, (double)(is_begin ? trip->begin_ns : trip->end_ns), &phase, &off))
		return false;
	from = fmod(phase - off + wrap, wrap);
	at = array_count_before(places, n, sizeof(*places), is_place_before, &from);
	for (uint32_t i = 0; i < n; i++) {
		const struct place *place = &places[(at + i) % n];
		struct body *body = &chains->bodies[chains->links[place->link].body];
		double ticks = fmod(place->phase - from + wrap, wrap) - off;

		if (ticks > off)
			break;
		if (!body->is_settled || !can_be_of(chains, body, trip, ticks, is_begin, off))
			continue;
		body->is_elsewhere = is_any = true;
	}
	return is_any;
}

static bool has_work(const struct chains *chains, const struct idle *trip)
{
	uint32_t at = slots_first(chains, (double)trip->begin_ns - chains->slack_ns);

	return at < chains->n_slots &&
	       chains->slots[at].begin <= (double)trip->end_ns + chains->slack_ns;
}

/* Whether estimates put the second right behind the first, in its round trip. */
static bool are_beside(const struct chains *chains, const struct link *a, const struct link *b)
{
	return link_begin(b) - link_end(chains, a) <= chains->near_ns &&
	       (!a->is_in_trip || !b->is_in_trip ||
	        trips_hold(&chains->trips, link_begin(a), link_end(chains, b), chains->slack_ns));
}

/* What estimates put beside work that may be elsewhere may be there as well. */
static void doubt_beside(struct chains *chains)
{
	struct link *links = chains->links;

	for (uint32_t i = 1; i < chains->n; i++) {
		if (chains->bodies[links[i - 1].body].is_elsewhere &&
		    are_beside(chains, &links[i - 1], &links[i]))
			chains->bodies[links[i].body].is_elsewhere = true;
	}
	for (uint32_t i = chains->n - 1; i > 0; i--) {
		if (chains->bodies[links[i].body].is_elsewhere &&
		    are_beside(chains, &links[i - 1], &links[i]))
			chains->bodies[links[i - 1].body].is_elsewhere = true;
	}
}

/* Doubts all settled work of a trip. */
static void doubt_in(struct chains *chains, const struct idle *trip)
{
	for (uint32_t i = slots_first(chains, (double)trip->begin_ns - chains->slack_ns);
	     i < chains->n_slots && chains->slots[i].begin < (double)trip->end_ns - OFF_NS; i++)
		chains->bodies[chains->links[chains->slots[i].link].body].is_elsewhere = true;
}

static bool is_lacking(const struct chains *chains, double pause_ns)
{
	double off = chains->off_ns / (MAX_WRAPS * chains->wrap_ns);

	return is_whole_wraps(pause_ns, chains->wrap_ns, OFF_NS, off);
}

/* Doubts the work of a trip if there is a pause of whole wraps in it. Returns whether there is. */
static bool doubt_lacking(struct chains *chains, const struct idle *trip)
{
	double reach_ns = (double)trip->begin_ns, trip_end_ns = (double)trip->end_ns;
	uint32_t at = slots_first(chains, reach_ns - chains->slack_ns);
	bool is_any = false;

	if (trip_end_ns - reach_ns < chains->wrap_ns - OFF_NS)
		return false;
	for (; at < chains->n_slots && chains->slots[at].begin < trip_end_ns - OFF_NS; at++) {
		is_any |= is_lacking(chains, chains->slots[at].begin - reach_ns);
		reach_ns = fmax(reach_ns, chains->slots[at].end);
	}
	is_any |= reach_ns > (double)trip->begin_ns && is_lacking(chains, trip_end_ns - reach_ns);
	if (is_any)
		doubt_in(chains, trip);
	return is_any;
}

/* Doubts what can be of trips without work. Returns whether there is any. */
static bool doubt_for_empties(struct chains *chains)
{
	bool is_any = false;

	list_edges(chains);
	for (uint32_t i = 0; i < chains->trips.n; i++) {
		const struct idle *trip = &chains->trips.trips[i];

		if (has_work(chains, trip))
			continue;
		is_any |= doubt_edges(chains, trip, true);
		is_any |= doubt_edges(chains, trip, false);
	}
	if (is_any)
		doubt_beside(chains);
	return is_any;
}

void empties_doubt(struct chains *chains)
{
	bool is_any = true;

	for (int turn = 0; turn < MAX_TURNS && is_any; turn++) {
		is_any = false;
		slots_list_settled(chains);
		if (chains->slack_ns < EMPTY_SLACK_NS)
			is_any = doubt_for_empties(chains);
		for (uint32_t i = 0; i < chains->trips.n; i++)
			is_any |= doubt_lacking(chains, &chains->trips.trips[i]);
		for (uint32_t i = 0; i < chains->n_bodies; i++)
			chains->bodies[i].is_settled &= !chains->bodies[i].is_elsewhere;
	}
}
