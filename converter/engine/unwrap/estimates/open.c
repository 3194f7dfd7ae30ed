/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which settled bodies could as well be elsewhere. A body stays settled only if no other place fits
 * it as well: whole wraps away, within round trips, where no other settled work of its part is, and
 * where it touches at least as much as where it is (slots.c). What is doubted leaves room for other
 * work, so this is repeated until nothing changes.
 *
 * Two samples more are looked at. Each round trip has its work. So a trip without work takes any
 * that fits it, whatever the number of wraps. And a pause of whole wraps in a round trip tells that
 * work of it lasted longer than it seems to: none of that trip's work is sure.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "chains.h"

#define MAX_TURNS 64

static void doubt_unless_sole(const struct chains *chains, struct body *body)
{
	uint32_t n_touches = slots_count_touches(chains, body, body->shift_ns);

	for (int wraps = -MAX_WRAPS; wraps <= MAX_WRAPS && !body->is_elsewhere; wraps++)
		body->is_elsewhere = wraps && slots_fit(chains, body, wraps, n_touches);
}

/* -- trips without work ---------------------------------------------------------------------- */

/* Lists settled bodies by the phase in which they begin. */
static void list_begins(struct chains *chains)
{
	double wrap_ns = chains->wrap_ns;

	chains->ends.n_begins = 0;
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		double ns;

		if (!chains->bodies[i].is_settled)
			continue;
		ns = body_reach(chains, &chains->bodies[i], chains->bodies[i].shift_ns).begin;
		chains->ends.begins[chains->ends.n_begins++] =
			(struct place){ns - wrap_ns * floor(ns / wrap_ns), i};
	}
	ORDER_ARRAY(chains->ends.begins, chains->ends.n_begins, compare_places);
}

static bool has_work(const struct chains *chains, const struct idle *trip)
{
	uint32_t at = slots_first(chains, (double)trip->begin_ns - TRIP_SLACK_NS);

	return at < chains->n_slots &&
	       chains->slots[at].begin <= (double)trip->end_ns + TRIP_SLACK_NS;
}

/* Whether a body that can begin so late in a trip, or whole wraps later, fits it. */
static bool fits_trip(const struct chains *chains, const struct body *body, const struct idle *trip,
                      double late_ns)
{
	uint32_t n_touches = slots_count_touches(chains, body, body->shift_ns);
	double begin_ns = body_reach(chains, body, body->shift_ns).begin;
	double ns = (double)trip->begin_ns - TRIP_SLACK_NS + late_ns;

	for (; ns < (double)trip->end_ns + TRIP_SLACK_NS; ns += chains->wrap_ns) {
		if (slots_fit(chains, body, (int)lround((ns - begin_ns) / chains->wrap_ns),
		              n_touches))
			return true;
	}
	return false;
}

/* Doubts what fits a trip without work. Returns whether anything does. */
static bool doubt_for_empty(const struct chains *chains, const struct idle *trip)
{
	double wrap_ns = chains->wrap_ns, begin_ns = (double)trip->begin_ns - TRIP_SLACK_NS;
	double room_ns = (double)trip->end_ns + TRIP_SLACK_NS - begin_ns;
	double phase = begin_ns - wrap_ns * floor(begin_ns / wrap_ns);
	uint32_t at = array_count_before(chains->ends.begins, chains->ends.n_begins,
	                                 sizeof(struct place), is_place_before, &phase);
	bool is_any = false;

	for (uint32_t i = 0; i < chains->ends.n_begins; i++) {
		const struct place *place = &chains->ends.begins[(at + i) % chains->ends.n_begins];
		struct body *body = &chains->bodies[place->link];
		double late_ns = place->phase - phase +
		                 (at + i >= chains->ends.n_begins ? wrap_ns : 0);

		if (late_ns > room_ns)
			break;
		if (!fits_trip(chains, body, trip, late_ns))
			continue;
		body->is_elsewhere = is_any = true;
	}
	return is_any;
}

/* Whether estimates put the second right behind the first, in its round trip. */
static bool are_beside(const struct chains *chains, const struct link *a, const struct link *b)
{
	return link_begin(b) - link_end(chains, a) <= chains->near_ns &&
	       (!a->is_in_trip || !b->is_in_trip ||
	        trips_hold(&chains->trips, link_begin(a), link_end(chains, b), TRIP_SLACK_NS));
}

/* What estimates put beside work that may be elsewhere may be there as well. */
static void doubt_beside(struct chains *chains)
{
	struct link *links = chains->links;

	for (uint32_t k = 1; k + 1 < 2 * chains->n; k++) {
		uint32_t i = k < chains->n ? k : 2 * chains->n - 1 - k; /* forwards, then back */
		struct body *a = &chains->bodies[links[i - 1].body];
		struct body *b = &chains->bodies[links[i].body];

		if (a->is_elsewhere != b->is_elsewhere &&
		    are_beside(chains, &links[i - 1], &links[i]))
			a->is_elsewhere = b->is_elsewhere = true;
	}
}

/* Doubts what can be of trips without work. */
static void doubt_for_empties(struct chains *chains)
{
	bool is_any = false;

	list_begins(chains);
	for (uint32_t i = 0; i < chains->trips.n; i++) {
		if (!has_work(chains, &chains->trips.trips[i]))
			is_any |= doubt_for_empty(chains, &chains->trips.trips[i]);
	}
	if (is_any)
		doubt_beside(chains);
}

/* -- trips with a pause of whole wraps -------------------------------------------------------- */

static bool is_lacking(const struct chains *chains, double pause_ns)
{
	double off = chains->off_ns / (MAX_WRAPS * chains->wrap_ns);

	return is_whole_wraps(pause_ns, chains->wrap_ns, OFF_NS, off);
}

/* Doubts the work of a trip if there is a pause of whole wraps in it. */
static void doubt_lacking(const struct chains *chains, const struct idle *trip)
{
	double reach_ns = (double)trip->begin_ns, trip_end_ns = (double)trip->end_ns;
	uint32_t first = slots_first(chains, reach_ns - TRIP_SLACK_NS), end = first;
	bool is_any = false;

	if (trip_end_ns - reach_ns < chains->wrap_ns - OFF_NS)
		return;
	for (; end < chains->n_slots && chains->slots[end].begin < trip_end_ns - OFF_NS; end++) {
		is_any |= is_lacking(chains, chains->slots[end].begin - reach_ns);
		reach_ns = fmax(reach_ns, chains->slots[end].end);
	}
	is_any |= reach_ns > (double)trip->begin_ns && is_lacking(chains, trip_end_ns - reach_ns);
	for (uint32_t i = first; i < end && is_any; i++)
		chains->bodies[chains->links[chains->slots[i].link].body].is_elsewhere = true;
}

/* -- all ------------------------------------------------------------------------------------- */

/* Unsettles what is doubted. Returns whether any was settled. */
static bool unsettle(struct chains *chains)
{
	bool is_any = false;

	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		struct body *body = &chains->bodies[i];

		is_any |= body->is_settled && body->is_elsewhere;
		body->is_settled &= !body->is_elsewhere;
	}
	return is_any;
}

void open_doubt(struct chains *chains)
{
	for (int turn = 0; turn < MAX_TURNS; turn++) {
		slots_list_settled(chains);
		doubt_for_empties(chains);
		for (uint32_t i = 0; i < chains->n_bodies; i++) {
			if (chains->bodies[i].is_settled)
				doubt_unless_sole(chains, &chains->bodies[i]);
		}
		for (uint32_t i = 0; i < chains->trips.n; i++)
			doubt_lacking(chains, &chains->trips.trips[i]);
		if (!unsettle(chains))
			return;
	}
}
