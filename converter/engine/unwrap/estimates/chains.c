/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves work that estimates put whole wraps off to its place, if facts leave only one. Two facts
 * are used: all work was in a round trip, and work of one part of the device was done one after the
 * other. So the possible places of a body (bodies.c) are whole wraps apart, with each of its
 * members within a round trip and with no settled work there. Bodies that nothing contradicts are
 * settled where estimates put them. A body that is far from all round trips, that estimates tear
 * apart, or that other work contests, goes to its one place; then other bodies have fewer places
 * left.
 *
 * A single place may be chance. So a body that is to be moved, and has no member that is known to
 * be there, must touch what is there, as work does that was launched together: it begins or ends
 * right beside other work, or with a round trip; on both sides, if it is in a round trip already.
 * Work that estimates put right beside moved work, or that can be part of a long pause within a
 * round trip, is examined again, because it may have to move as well. Of a body that has several
 * places left, or none, all work is marked. The exception is work far from all round trips that has
 * no place while each round trip has its work: then the file lacks the round trip of that work.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "chains.h"

#define SLACK_NS    100e3 /* that estimates may be beside a trip, if nearly all are no more */
#define FAR_NS      1e7   /* beside a trip: doubted */
#define MANY        0.25  /* of the trips have work beside them: all may */
#define PARALLEL    0.75  /* of the work of a part is over other work: it need not be in a row */
#define TOGETHER    0.5   /* likewise, if so much of that begins with the other work */
#define PAUSE_PART  4     /* of a trip, one of so many is a long pause ... */
#define MUCH_LONGER 4     /* ... if it is so many times as long as others */
#define MAX_ROUNDS  16    /* what was moved leaves fewer places to others */

/* -- settling -------------------------------------------------------------------------------- */

/* Lists where bodies would be that have one place. */
static void list_next(struct chains *chains)
{
	chains->n_slots = 0;
	for (uint32_t i = 0; i < chains->n; i++) {
		const struct body *body = &chains->bodies[chains->links[i].body];

		if (!body->is_settled && body->n_places == 1)
			chains->slots[chains->n_slots++] = slot_of(chains, i, body->place_ns);
	}
	slots_sort(chains);
}

/* Settles the bodies that have one place, which no other one has. Returns how many. */
static uint32_t settle_next(struct chains *chains)
{
	uint32_t n_over[FLEXTRACE_N_STAMPS] = {0}, n = 0;

	slots_list_settled(chains);
	slots_clear_contests(chains);
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		if (!chains->bodies[i].is_settled)
			slots_find_places(chains, &chains->bodies[i]);
	}
	list_next(chains);
	slots_contest(chains, n_over);
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		struct body *body = &chains->bodies[i];

		if (body->is_settled || body->n_places != 1 || body->is_contested)
			continue;
		body->is_settled = true;
		body->shift_ns = body->place_ns;
		n++;
	}
	return n;
}

/* Lists where estimates put all work, and finds the parts whose work is not done in a row. Where
 * most work that is over other work begins with that, wrong epochs are no reason: these put it
 * anywhere over other work. */
static void find_parallel(struct chains *chains)
{
	uint32_t n_over[FLEXTRACE_N_STAMPS] = {0}, n_links[FLEXTRACE_N_STAMPS] = {0};
	uint32_t n_together[FLEXTRACE_N_STAMPS] = {0};

	chains->n_slots = chains->n;
	for (uint32_t i = 0; i < chains->n; i++) {
		chains->slots[i] = slot_of(chains, i, -chains->links[i].up_ns);
		n_links[link_part(chains, i)]++;
	}
	slots_sort(chains);
	slots_contest(chains, n_over);
	slots_count_together(chains, n_together);
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		chains->is_parallel[i] = n_over[i] > PARALLEL * n_links[i] ||
		                         n_together[i] > TOGETHER * n_over[i];
	slots_clear_contests(chains);
}

static void settle_all(struct chains *chains)
{
	for (int i = 0; i < MAX_ROUNDS && settle_next(chains); i++)
		;
}

/* Finds the bodies that no fact contradicts. */
static void settle_told(struct chains *chains)
{
	find_parallel(chains);
	slots_contest(chains, (uint32_t[FLEXTRACE_N_STAMPS]){0});
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		struct body *body = &chains->bodies[i];

		body->is_settled = !body->is_contested && !body->n_doubted &&
		                   !body_is_torn(chains, body);
	}
}

/* Whether a link is where estimates put it. */
static bool is_where_told(const struct chains *chains, const struct link *link)
{
	const struct body *body = &chains->bodies[link->body];

	return body->is_settled && fabs(body->shift_ns + link->up_ns) < chains->wrap_ns / 2;
}

static void unsettle_contested(struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n_bodies; i++)
		chains->bodies[i].is_settled &= !chains->bodies[i].is_contested;
}

static bool is_link_before(const void *row, const void *key)
{
	return ((const struct link *)row)->told_ns < *(const double *)key;
}

/* The first link that estimates let begin then or later. */
static uint32_t first_link(const struct chains *chains, double ns)
{
	return array_count_before(chains->links, chains->n, sizeof(*chains->links), is_link_before,
	                          &ns);
}

/* Whether anything is to be moved. */
static bool is_any_elsewhere(const struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n; i++) {
		if (link_is_settled(chains, &chains->links[i]) &&
		    !is_where_told(chains, &chains->links[i]))
			return true;
	}
	return false;
}

/* Work that estimates put beside work that is elsewhere, or may be, may be elsewhere as well. */
static void doubt_neighbours(struct chains *chains)
{
	const struct link *last = NULL;

	slots_clear_contests(chains);
	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];

		if (last && link_begin(link) - link_end(chains, last) <= chains->near_ns &&
		    is_where_told(chains, link) != is_where_told(chains, last)) {
			chains->bodies[link->body].is_contested |= is_where_told(chains, link);
			chains->bodies[last->body].is_contested |= is_where_told(chains, last);
		}
		last = link;
	}
	unsettle_contested(chains);
}

/* Unsettles what estimates put elsewhere than where the device paused for long, and can be of that
 * pause. */
static void doubt_for_pause(struct chains *chains, double begin_ns, double end_ns)
{
	for (int wraps = -MAX_WRAPS; wraps <= MAX_WRAPS; wraps++) {
		double shift_ns = wraps * chains->wrap_ns;
		double from_ns = begin_ns - shift_ns - OFF_NS, to_ns = end_ns - shift_ns + OFF_NS;

		for (uint32_t i = wraps ? first_link(chains, from_ns) : chains->n;
		     i < chains->n && link_begin(&chains->links[i]) < to_ns; i++) {
			const struct link *link = &chains->links[i];

			if (link_end(chains, link) <= to_ns && is_where_told(chains, link))
				chains->bodies[link->body].is_contested = true;
		}
	}
}

/* Where the device paused for long within a trip, work may be missing. */
static void doubt_for_pauses(struct chains *chains)
{
	slots_clear_contests(chains);
	slots_list_settled(chains);
	for (uint32_t k = 0; k < chains->trips.n; k++) {
		const struct idle *trip = &chains->trips.trips[k];
		double reach_ns = (double)trip->begin_ns, trip_end_ns = (double)trip->end_ns;
		double least_ns = fmax((trip_end_ns - reach_ns) / PAUSE_PART,
		                       MUCH_LONGER * chains->near_ns);

		for (uint32_t i = slots_first(chains, reach_ns - chains->slack_ns);
		     i < chains->n_slots && chains->slots[i].begin < trip_end_ns; i++) {
			if (chains->slots[i].begin - reach_ns > least_ns)
				doubt_for_pause(chains, reach_ns, chains->slots[i].begin);
			reach_ns = fmax(reach_ns, chains->slots[i].end);
		}
		if (trip_end_ns - reach_ns > least_ns)
			doubt_for_pause(chains, reach_ns, trip_end_ns);
	}
	unsettle_contested(chains);
}

/* What goes elsewhere only as other work is where it was is no surer than the work beside it. */
static void doubt_beside_doubted(struct chains *chains)
{
	const struct link *last = NULL;

	slots_clear_contests(chains);
	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];

		if (last && link_begin(link) - link_end(chains, last) <= chains->near_ns) {
			chains->bodies[link->body].is_contested |= !link_is_settled(chains, last);
			chains->bodies[last->body].is_contested |= !link_is_settled(chains, link);
		}
		last = link;
	}
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		struct body *body = &chains->bodies[i];

		body->is_settled &= !body->is_contested || body->n_doubted ||
		                    body_is_torn(chains, body) ||
		                    fabs(body->shift_ns) < chains->wrap_ns / 2;
	}
}

/* Unsettles what is told to be where a body without a place could be, if it can be elsewhere. */
static void doubt_holders(struct chains *chains)
{
	slots_clear_contests(chains);
	slots_list_settled(chains);
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		if (!chains->bodies[i].is_settled && chains->bodies[i].n_places == 0)
			slots_contest_holders(chains, &chains->bodies[i]);
	}
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		struct body *body = &chains->bodies[i];

		if (!body->is_contested)
			continue;
		slots_find_places(chains, body);
		body->is_contested = body->n_places > 0;
	}
	unsettle_contested(chains);
}

/* -- out ------------------------------------------------------------------------------------- */

static void move(struct chains *chains, const struct body *body)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct link *link = &chains->links[chains->members[i]];
		double ns = body->shift_ns + link->up_ns;

		if (fabs(ns) < chains->wrap_ns / 2)
			continue;
		link->fact->before_ns += llround(ns);
		link->fact->after_ns += llround(ns);
		link->fact->source.op->is_doubted = false;
		chains->n_mended++;
	}
}

static void doubt(struct chains *chains, const struct body *body)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++)
		chains->links[chains->members[i]].fact->source.op->is_doubted = true;
}

/* Far from all trips, with no place in any: the trip is missing. */
static void believe(struct chains *chains, const struct body *body)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct tick_op *op = chains->links[chains->members[i]].fact->source.op;

		chains->n_believed += op->is_doubted;
		op->is_doubted = false;
	}
}

/* Whether a body has no place but where estimates put it, other work or not. */
static bool is_alone(struct chains *chains, struct body *body)
{
	uint32_t n_slots = chains->n_slots;

	chains->n_slots = 0;
	slots_find_places(chains, body);
	chains->n_slots = n_slots;
	return body->n_places == 0 || (body->n_places == 1 && body->place_ns == 0);
}

/* Whether the trip of a body is missing: what nobody tears apart has no place in the others. Where
 * estimates are off, or other work was moved, that may only be as other work is in its place; where
 * the rate is known too little, places are missed. If other work was moved, and a body would be
 * right beside other work whole wraps away, it may be of the same missing trip as that. */
static bool is_trip_missing(struct chains *chains, struct body *body, bool is_any_moved)
{
	bool is_order_sure = !is_any_moved && chains->slack_ns < FAR_NS;

	return body->n_doubted && !body_is_torn(chains, body) && body->n_places == 0 &&
	       chains->off_ns <= chains->slack_ns &&
	       !(is_any_moved && slots_meet_elsewhere(chains, body)) &&
	       ((body->n_doubted == body->n && is_order_sure) || is_alone(chains, body));
}

static void tell(struct chains *chains, bool has_idle)
{
	bool is_any_moved = is_any_elsewhere(chains);

	slots_list_all(chains);
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		struct body *body = &chains->bodies[i];

		if (body->is_settled)
			move(chains, body);
		else if (!has_idle && is_trip_missing(chains, body, is_any_moved))
			believe(chains, body);
		else if (body->is_elsewhere || body->n_doubted || body_is_torn(chains, body) ||
		         !is_alone(chains, body))
			doubt(chains, body);
	}
}

/* -- all ------------------------------------------------------------------------------------- */

/* Finds by how much estimates may be beside the trips: a little, if few trips have work that is
 * farther off. */
static int find_slack(struct chains *chains)
{
	uint8_t *seen = calloc(chains->trips.n, 1); /* 1: it has work, 2: beside it, too */
	uint32_t n = 0, n_beside = 0;

	if (!seen)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];
		double begin_ns = link_begin(link), end_ns = link_end(chains, link);
		const struct idle *trip = trips_find(&chains->trips, begin_ns, end_ns, FAR_NS);

		if (!trip || link->fact->source.op->is_doubted)
			continue;
		seen[trip - chains->trips.trips] |=
			trips_hold(&chains->trips, begin_ns, end_ns, SLACK_NS) ? 1 : 3;
	}
	for (uint32_t i = 0; i < chains->trips.n; i++) {
		n += seen[i] & 1;
		n_beside += seen[i] >> 1;
	}
	free(seen);
	chains->slack_ns = n_beside > MANY * n ? FAR_NS : SLACK_NS;
	return FLEXTRACE_OK;
}

/* Looks which work is in a trip. Where some is far from all, what is a little beside them is
 * doubted, too. */
static int look_at_trips(struct chains *chains)
{
	bool is_any_doubted = false;

	FLEXTRACE_TRY(find_slack(chains));
	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[i];

		is_any_doubted |= link->fact->source.op->is_doubted;
		link->is_in_trip = trips_hold(&chains->trips, link_begin(link),
		                              link_end(chains, link), chains->slack_ns);
	}
	for (uint32_t i = 0; i < chains->n && is_any_doubted; i++)
		chains->links[i].fact->source.op->is_doubted |= !chains->links[i].is_in_trip;
	return FLEXTRACE_OK;
}

/* Whether any work is far from all trips, or where other work was. Facts are in the order in which
 * estimates say that they were over. */
static bool is_any_misplaced(const struct chains *chains)
{
	double reach_ns[FLEXTRACE_N_STAMPS];

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		reach_ns[i] = -INFINITY;
	for (uint32_t i = 0; i < chains->axis->n_facts; i++) {
		struct fact *fact = &chains->axis->facts[i];
		double *reach = &reach_ns[fact->from];
		struct link link;

		if (!link_make(fact, &link))
			continue;
		if (fact->source.op->is_doubted || link_begin(&link) < *reach - OVER_NS)
			return true;
		*reach = fmax(*reach, link_end(chains, &link));
	}
	return false;
}

/* Whether a round trip or other work contradicts any estimates. That stamps of work meet over whole
 * wraps is no reason by itself: it happens by chance. */
static bool is_any_denied(const struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		if (chains->bodies[i].is_contested || chains->bodies[i].n_doubted)
			return true;
	}
	return false;
}

static int mend(struct chains *chains, const struct unwrap *unwrap, uint32_t counter)
{
	bool has_idle = false;

	FLEXTRACE_TRY(trips_list(&chains->trips, unwrap, counter));
	if (!chains->trips.n)
		return FLEXTRACE_OK;
	for (uint32_t i = 0; i < unwrap->n_idles; i++)
		has_idle |= unwrap->idles[i].counter == counter;
	if (!has_idle && !is_any_misplaced(chains))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(bodies_list_links(chains));
	FLEXTRACE_TRY(look_at_trips(chains));
	FLEXTRACE_TRY(bodies_make(chains));
	chains->slots = malloc(((size_t)chains->n + 1) * sizeof(*chains->slots));
	if (!chains->slots)
		return FLEXTRACE_E_MEMORY;
	settle_told(chains);
	if (!has_idle && !is_any_denied(chains))
		return FLEXTRACE_OK;
	settle_all(chains);
	if (bodies_split(chains)) {
		settle_told(chains);
		settle_all(chains);
	}
	doubt_neighbours(chains);
	settle_all(chains);
	if (is_any_elsewhere(chains)) {
		doubt_for_pauses(chains);
		settle_all(chains);
		doubt_holders(chains);
		settle_all(chains);
	}
	doubt_beside_doubted(chains);
	empties_doubt(chains);
	tell(chains, has_idle);
	return FLEXTRACE_OK;
}

int chains_mend(struct unwrap *unwrap, uint32_t counter, const struct mean_rate *mean,
                struct chains_outcome *ret_outcome)
{
	struct axis *axis = &unwrap->axes[counter];
	double wrap_ns = ldexp(1, (int)axis->narrow_bits) / mean->ticks_per_ns;
	struct chains chains = {.axis = axis,
	                        .rate = mean->ticks_per_ns,
	                        .wrap_ns = wrap_ns,
	                        .off_ns = mean->off * MAX_WRAPS * wrap_ns};
	int code = mend(&chains, unwrap, counter);

	trips_release(&chains.trips);
	free(chains.links);
	free(chains.begins);
	free(chains.ends);
	free(chains.members);
	free(chains.bodies);
	free(chains.slots);
	*ret_outcome = (struct chains_outcome){chains.n_mended, chains.n_believed};
	FLEXTRACE_TRY(code);
	return chains.n_mended ? axis_prepare(axis) : FLEXTRACE_OK;
}
