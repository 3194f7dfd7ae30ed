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

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return ORDER(a->begin, b->begin) ?: ORDER(a->link, b->link);
}

void slots_sort(struct chains *chains)
{
	qsort(chains->slots, chains->n_slots, sizeof(*chains->slots), compare_slots);
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

/* Mends a shift by the stamps of the settled work that is there, as the rate of the counter may be
 * another one there. NAN: they are not whole wraps apart. */
static double align_to_settled(const struct chains *chains, const struct body *body,
                               double shift_ns)
{
	double wrap = ldexp(1, (int)chains->axis->narrow_bits);
	struct slot slot = slot_of(chains, chains->members[body->first], shift_ns);
	uint32_t at = slots_first(chains, slot.begin);
	const struct slot *near;
	double ticks, begin_ns;

	if (chains->n_slots == 0)
		return shift_ns;
	near = &chains->slots[at > 0 ? at - 1 : 0];
	if (at < chains->n_slots &&
	    chains->slots[at].begin - slot.begin < fabs(slot.begin - near->begin))
		near = &chains->slots[at];
	ticks = chains->links[slot.link].begin - chains->links[near->link].begin;
	ticks += wrap * round(((slot.begin - near->begin) * chains->rate - ticks) / wrap);
	begin_ns = near->begin + ticks / chains->rate;
	return fabs(begin_ns - slot.begin) <= OFF_NS ? shift_ns + begin_ns - slot.begin : NAN;
}

/* Mends a shift by what estimates say of members that are not moved by it, or as above. */
static double align(const struct chains *chains, const struct body *body, double shift_ns)
{
	if (fabs(shift_ns + body->least) < OFF_NS)
		return -body->least;
	if (fabs(shift_ns + body->most) < OFF_NS)
		return -body->most;
	return align_to_settled(chains, body, shift_ns);
}

static bool is_in_trips(const struct chains *chains, const struct body *body, double shift_ns)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct slot slot = slot_of(chains, chains->members[i], shift_ns);

		if (!trips_hold(&chains->trips, slot.begin, slot.end, chains->slack_ns))
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
	const struct idle *trip = trips_find(&chains->trips, ns, ns, chains->slack_ns);
	double edge_ns = !trip ? INFINITY : (double)(is_begin ? trip->begin_ns : trip->end_ns);
	uint32_t at = slots_first(chains, is_begin ? ns : ns - OVER_NS);

	if (fabs(ns - edge_ns) <= chains->near_ns + chains->slack_ns)
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

uint32_t slots_count_touches(const struct chains *chains, const struct body *body, double shift_ns)
{
	double begin_ns = INFINITY, end_ns = -INFINITY;

	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct slot slot = slot_of(chains, chains->members[i], shift_ns);

		begin_ns = fmin(begin_ns, slot.begin);
		end_ns = fmax(end_ns, slot.end);
	}
	return touches(chains, body, begin_ns, true) + touches(chains, body, end_ns, false);
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
	double begin_ns = INFINITY, end_ns = -INFINITY;

	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct slot slot = slot_of(chains, chains->members[i], 0);

		begin_ns = fmin(begin_ns, slot.begin);
		end_ns = fmax(end_ns, slot.end);
	}
	for (int wraps = -MAX_WRAPS; wraps <= MAX_WRAPS; wraps++) {
		double shift_ns = wraps * chains->wrap_ns;

		if (wraps &&
		    (meets(chains, body, begin_ns + shift_ns, end_ns + shift_ns) ||
		     (can_share_trip(chains, body, begin_ns + shift_ns, end_ns + shift_ns) &&
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

void slots_contest_holders(struct chains *chains, const struct body *body)
{
	struct range range = wraps_of(chains, body);

	for (int wraps = range.from; wraps <= range.to; wraps++) {
		double shift_ns = align(chains, body, wraps * chains->wrap_ns);

		if (isnan(shift_ns) || !is_in_trips(chains, body, shift_ns))
			continue;
		for (uint32_t i = body->first; i < body->first + body->n; i++) {
			struct slot slot = slot_of(chains, chains->members[i], shift_ns);
			const struct slot *holder = find_holder(chains, &slot);

			if (holder)
				chains->bodies[chains->links[holder->link].body].is_contested =
					true;
		}
	}
}
