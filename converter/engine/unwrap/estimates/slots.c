/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where bodies can be: whole wraps from where estimates put them, within round trips, and not where
 * settled work of the same part of the device is.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "chains.h"

#define LOOK_BACK   256u  /* slots in front of an interval that may reach into it */
#define TOGETHER_NS 100.0 /* from begin to begin: no queue is worked off so quickly */

/* -- what is over what ----------------------------------------------------------------------- */

ORDER_BY(compare_slots, struct slot, begin, link);

void slots_sort(struct chains *chains)
{
	ORDER_ARRAY(chains->slots, chains->n_slots, compare_slots);
}

/* Events that stand in a file twice are one. */
static bool is_twin(const struct chains *chains, const struct slot *a, const struct slot *b)
{
	const struct link *x = &chains->links[a->link], *y = &chains->links[b->link];

	return x->begin == y->begin && x->end == y->end && a->begin == b->begin;
}

void slots_clear_contests(struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n_bodies; i++)
		chains->bodies[i].is_contested = false;
}

void slots_contest(struct chains *chains, uint32_t n_over[FLEXTRACE_N_STAMPS])
{
	const struct slot *reach[FLEXTRACE_N_STAMPS] = {NULL};

	for (uint32_t i = 0; i < chains->n_slots; i++) {
		const struct slot *slot = &chains->slots[i];
		uint8_t part = link_part(chains, slot->link);
		uint32_t body = chains->links[slot->link].body;
		const struct slot *last = reach[part];

		if (last &&
		    slot->begin < fmin(last->end - allowance(last->begin, last->end),
		                       slot->end - OVER_NS) &&
		    !is_twin(chains, slot, last)) {
			n_over[part]++;
			if (chains->links[last->link].body != body && !chains->is_parallel[part]) {
				chains->bodies[body].is_contested = true;
				chains->bodies[chains->links[last->link].body].is_contested = true;
			}
		}
		if (!last || slot->end > last->end)
			reach[part] = slot;
	}
}

void slots_count_together(const struct chains *chains, uint32_t n_together[FLEXTRACE_N_STAMPS])
{
	const struct slot *last[FLEXTRACE_N_STAMPS] = {NULL};

	for (uint32_t i = 0; i < chains->n_slots; i++) {
		const struct slot *slot = &chains->slots[i];
		uint8_t part = link_part(chains, slot->link);

		n_together[part] += last[part] && slot->begin - last[part]->begin <= TOGETHER_NS &&
		                    fmin(slot->end, last[part]->end) - slot->begin > OVER_NS &&
		                    !is_twin(chains, slot, last[part]);
		last[part] = slot;
	}
}

void slots_list_settled(struct chains *chains)
{
	chains->n_slots = 0;
	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];

		if (link_is_settled(chains, link))
			chains->slots[chains->n_slots++] =
				slot_of(chains, i, chains->bodies[link->body].shift_ns);
	}
	slots_sort(chains);
}

void slots_list_all(struct chains *chains)
{
	chains->n_slots = chains->n;
	for (uint32_t i = 0; i < chains->n; i++) {
		const struct link *link = &chains->links[i];
		const struct body *body = &chains->bodies[link->body];

		chains->slots[i] = slot_of(chains, i,
		                           body->is_settled ? body->shift_ns : -link->up_ns);
	}
	slots_sort(chains);
}

static bool is_slot_before(const void *row, const void *key)
{
	return ((const struct slot *)row)->begin < *(const double *)key;
}

uint32_t slots_first(const struct chains *chains, double ns)
{
	return array_count_before(chains->slots, chains->n_slots, sizeof(*chains->slots),
	                          is_slot_before, &ns);
}

/* The settled work of the same part that is where a link would be, NULL: none is. */
static const struct slot *find_holder(const struct chains *chains, const struct slot *slot)
{
	double over_ns = fmin(allowance(slot->begin, slot->end), (slot->end - slot->begin) / 4);
	uint32_t at = slots_first(chains, slot->end - over_ns);
	uint8_t part = link_part(chains, slot->link);

	for (uint32_t i = 0; i < LOOK_BACK && at > 0 && !chains->is_parallel[part]; i++) {
		const struct slot *other = &chains->slots[--at];

		if (link_part(chains, other->link) == part && other->end > slot->begin + over_ns &&
		    other->end > other->begin)
			return other;
	}
	return NULL;
}

/* -- places ---------------------------------------------------------------------------------- */

/* What a shift of whole wraps is; NAN: the counter began anew in between. */
static double align(const struct chains *chains, const struct body *body, double shift_ns)
{
	double ns = link_begin(&chains->links[chains->members[body->first]]);
	double late_ns = line_late_ns(chains, ns + shift_ns) - line_late_ns(chains, ns);

	return fabs(late_ns) <= OFF_NS ? shift_ns : NAN;
}

static bool is_in_trips(const struct chains *chains, const struct body *body, double shift_ns)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct slot slot = slot_of(chains, chains->members[i], shift_ns);

		if (!trips_hold(&chains->trips, slot.begin, slot.end, TRIP_SLACK_NS))
			return false;
	}
	return true;
}

static bool is_free(const struct chains *chains, const struct body *body, double shift_ns)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct slot slot = slot_of(chains, chains->members[i], shift_ns);

		if (find_holder(chains, &slot))
			return false;
	}
	return true;
}

/* Whether the work of a slot is of another body. */
static bool is_of_other(const struct chains *chains, const struct body *body, uint32_t slot)
{
	return &chains->bodies[chains->links[chains->slots[slot].link].body] != body;
}

/* Whether other settled work ends, or a trip begins, right before a time, or the reverse. */
static bool touches(const struct chains *chains, const struct body *body, double ns, bool is_begin)
{
	uint32_t at = slots_first(chains, is_begin ? ns : ns - OVER_NS);

	if (trips_have_edge(&chains->trips, ns, chains->near_ns + TRIP_SLACK_NS, is_begin))
		return true;
	if (!is_begin)
		return at < chains->n_slots && is_of_other(chains, body, at) &&
		       chains->slots[at].begin - ns <= chains->near_ns;
	for (uint32_t i = 0; i < LOOK_BACK && at > 0; i++) {
		at--;
		if (is_of_other(chains, body, at) &&
		    fabs(ns - chains->slots[at].end) <= chains->near_ns)
			return true;
	}
	return false;
}

struct slot body_reach(const struct chains *chains, const struct body *body, double shift_ns)
{
	struct slot reach = {INFINITY, -INFINITY, NO_LINK};

	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct slot slot = slot_of(chains, chains->members[i], shift_ns);

		reach.begin = fmin(reach.begin, slot.begin);
		reach.end = fmax(reach.end, slot.end);
	}
	return reach;
}

uint32_t slots_count_touches(const struct chains *chains, const struct body *body, double shift_ns)
{
	struct slot reach = body_reach(chains, body, shift_ns);

	return touches(chains, body, reach.begin, true) + touches(chains, body, reach.end, false);
}

/* Whether other work ends right before a time, or begins right behind one. */
static bool meets(const struct chains *chains, const struct body *body, double begin_ns,
                  double end_ns)
{
	double near_ns = chains->most / chains->rate + chains->off_ns;
	uint32_t next = slots_first(chains, end_ns - near_ns);
	uint32_t at = slots_first(chains, begin_ns);

	if (next < chains->n_slots && is_of_other(chains, body, next) &&
	    chains->slots[next].begin - end_ns <= near_ns)
		return true;
	for (uint32_t i = 0; i < LOOK_BACK && at > 0; i++) {
		at--;
		if (is_of_other(chains, body, at) &&
		    fabs(begin_ns - chains->slots[at].end) <= near_ns)
			return true;
	}
	return false;
}

/* Whether settled work is where a body would be if it were moved by so much. */
static bool is_taken(const struct chains *chains, const struct body *body, double shift_ns)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct slot slot = slot_of(chains, chains->members[i], shift_ns);
		const struct slot *holder = find_holder(chains, &slot);

		if (holder && link_is_settled(chains, &chains->links[holder->link]))
			return true;
	}
	return false;
}

/* Whether other work that is in no round trip either is so near that one would have held both. */
static bool can_share_trip(const struct chains *chains, const struct body *body, double begin_ns,
                           double end_ns)
{
	double longest_ns = chains->trips.longest_ns;
	uint32_t at = slots_first(chains, end_ns - longest_ns);

	for (; at < chains->n_slots && chains->slots[at].begin < begin_ns + longest_ns; at++) {
		const struct slot *slot = &chains->slots[at];

		if (is_of_other(chains, body, at) &&
		    !link_is_settled(chains, &chains->links[slot->link]) &&
		    slot->end <= begin_ns + longest_ns)
			return true;
	}
	return false;
}

bool slots_meet_elsewhere(const struct chains *chains, const struct body *body)
{
	struct slot reach = body_reach(chains, body, 0);

	for (int wraps = -MAX_WRAPS; wraps <= MAX_WRAPS; wraps++) {
		double shift_ns = wraps * chains->wrap_ns;

		if (wraps &&
		    (meets(chains, body, reach.begin + shift_ns, reach.end + shift_ns) ||
		     (can_share_trip(chains, body, reach.begin + shift_ns, reach.end + shift_ns) &&
		      !is_taken(chains, body, shift_ns))))
			return true;
	}
	return false;
}

/* Whether estimates put any of a body's members where that is if it is moved by so much. */
static bool is_told(const struct chains *chains, const struct body *body, double shift_ns)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		if (fabs(shift_ns + chains->links[chains->members[i]].up_ns) < OFF_NS)
			return true;
	}
	return false;
}

/* How many of its ends have to touch what is there, where a body has one place. */
static uint32_t least_touches(const struct chains *chains, const struct body *body)
{
	if (is_told(chains, body, body->place_ns))
		return 0;
	return body->n_doubted > 0 ? 1 : 2;
}

/* How many wraps a root can be moved by. */
struct range {
	int from, to;
};

static struct range wraps_of(const struct chains *chains, const struct body *body)
{
	int more = body_is_torn(chains, body) ? 0 : MAX_WRAPS;

	return (struct range){(int)lround(-body->most / chains->wrap_ns) - more,
	                      (int)lround(-body->least / chains->wrap_ns) + more};
}

void slots_find_places(const struct chains *chains, struct body *body)
{
	struct range range = wraps_of(chains, body);
	uint32_t best = 0, n_best = 0;

	body->n_places = 0;
	for (int wraps = range.from; wraps <= range.to; wraps++) {
		double shift_ns = align(chains, body, wraps * chains->wrap_ns);
		uint32_t n;

		if (isnan(shift_ns) || !is_in_trips(chains, body, shift_ns) ||
		    !is_free(chains, body, shift_ns))
			continue;
		body->n_places++;
		n = slots_count_touches(chains, body, shift_ns);
		n_best = n > best ? 1 : n_best + (n == best);
		if (n >= best)
			body->place_ns = shift_ns;
		best = n > best ? n : best;
	}
	if (best == 2 && n_best == 1)
		body->n_places = 1;
	if (body->n_places == 1 && best < least_touches(chains, body))
		body->n_places = 2; /* it may be chance */
}

/* Whether other settled work is where a body would be. */
static bool is_free_of_others(const struct chains *chains, const struct body *body, double shift_ns)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct slot slot = slot_of(chains, chains->members[i], shift_ns);
		const struct slot *holder = find_holder(chains, &slot);

		if (holder && chains->links[holder->link].body != chains->links[slot.link].body)
			return false;
	}
	return true;
}

bool slots_fit(const struct chains *chains, const struct body *body, int wraps, uint32_t n_touches)
{
	double shift_ns = body->shift_ns + wraps * chains->wrap_ns;

	return is_in_trips(chains, body, shift_ns) && is_free_of_others(chains, body, shift_ns) &&
	       slots_count_touches(chains, body, shift_ns) >= n_touches;
}
