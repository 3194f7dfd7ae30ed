/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves work that estimates put whole wraps off to its place, if samples leave only one. Two
 * samples are used: all work was in a round trip, and work of one part of the device was done one
 * after the other. So the possible places of a body (bodies.c) are whole wraps apart, with each of
 * its members within a round trip and with no settled work there. Bodies that nothing contradicts
 * are settled where estimates put them. A body that is far from all round trips, that estimates
 * tear apart, or that other work contests, goes to its one place; then other bodies have fewer
 * places left.
 *
 * A single place may be chance. So a body that is to be moved, and has no member that is known to
 * be there, must touch what is there, as work does that was launched together: it begins or ends
 * right beside other work, or with a round trip; on both sides, if it is in a round trip already.
 *
 * At the end a body is only left where it is if nothing else fits as well (open.c). All other work
 * is marked, if the samples leave it another place. The exception is work far from all round trips
 * that has no place while each round trip has its work: then the file lacks the round trip of that
 * work.
 */
#include <stdlib.h>

#include "chains.h"

#define PARALLEL   0.75 /* of the work of a part is over other work: it need not be in a row */
#define FEW        0.01 /* of all work is in no round trip, then */
#define TOGETHER   0.5  /* likewise, if so much of that begins with the other work */
#define MAX_ROUNDS 16   /* what was moved leaves fewer places to others */

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

/* Lists where estimates put all work, and finds the parts whose work is not done in a row: most of
 * it is over other work, though hardly any is in no round trip, as wrong epochs would put some. Or
 * most work that is over other work begins with that; these put it anywhere over other work. */
static void find_parallel(struct chains *chains)
{
	uint32_t n_over[FLEXTRACE_N_STAMPS] = {0}, n_links[FLEXTRACE_N_STAMPS] = {0};
	uint32_t n_together[FLEXTRACE_N_STAMPS] = {0}, n_far = 0;

	chains->n_slots = chains->n;
	for (uint32_t i = 0; i < chains->n; i++) {
		chains->slots[i] = slot_of(chains, i, -chains->links[i].up_ns);
		n_links[link_part(chains, i)]++;
		n_far += !chains->links[i].is_in_trip;
	}
	slots_sort(chains);
	slots_contest(chains, n_over);
	slots_count_together(chains, n_together);
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		chains->is_parallel[i] = (n_over[i] > PARALLEL * n_links[i] &&
		                          n_far < FEW * chains->n) ||
		                         n_together[i] > TOGETHER * n_over[i];
	slots_clear_contests(chains);
}

static void settle_all(struct chains *chains)
{
	for (int i = 0; i < MAX_ROUNDS && settle_next(chains); i++)
		;
}

/* Finds the bodies that no sample contradicts. */
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

/* -- out ------------------------------------------------------------------------------------- */

static void move(struct chains *chains, const struct body *body)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct link *link = &chains->links[chains->members[i]];
		double ns = body->shift_ns + link->up_ns;

		if (fabs(ns) < chains->wrap_ns / 2)
			continue;
		ns += link->told_ns;
		ns += line_late_ns(chains, ns) - link->estimate_ns;
		link->sample->before_ns += llround(ns);
		link->sample->after_ns += llround(ns);
		link->sample->source.op->is_doubted = false;
		chains->n_mended++;
	}
}

static void doubt(struct chains *chains, const struct body *body)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++)
		chains->links[chains->members[i]].sample->source.op->is_doubted = true;
}

/* Far from all trips, with no place in any: the trip is missing. */
static void believe(struct chains *chains, const struct body *body)
{
	for (uint32_t i = body->first; i < body->first + body->n; i++) {
		struct tick_op *op = chains->links[chains->members[i]].sample->source.op;

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
static bool is_trip_missing(struct chains *chains, struct body *body, bool is_any_wrong)
{
	return body->n_doubted && !body_is_torn(chains, body) && body->n_places == 0 &&
	       chains->off_ns <= TRIP_SLACK_NS &&
	       !(is_any_wrong && slots_meet_elsewhere(chains, body)) &&
	       ((body->n_doubted == body->n && !is_any_wrong) || is_alone(chains, body));
}

/* Whether other work contradicts work that is in round trips. */
static bool is_any_contested(const struct chains *chains)
{
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		const struct body *body = &chains->bodies[i];

		if (!body->is_settled && body->n_doubted < body->n)
			return true;
	}
	return false;
}

/* What is where estimates put it tells how estimates are there. */
static int find_line(struct chains *chains)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < chains->n; i++) {
		chains->links[i].is_witness = is_where_told(chains, &chains->links[i]);
		n += chains->links[i].is_witness;
	}
	return n > 0 ? line_find_again(chains) : FLEXTRACE_OK;
}

static void tell(struct chains *chains, bool has_idle)
{
	bool is_any_wrong = is_any_elsewhere(chains) || is_any_contested(chains);

	slots_list_all(chains);
	for (uint32_t i = 0; i < chains->n_bodies; i++) {
		struct body *body = &chains->bodies[i];

		if (body->is_settled)
			move(chains, body);
		else if (!has_idle && is_trip_missing(chains, body, is_any_wrong))
			believe(chains, body);
		else if (body->is_elsewhere || body->n_doubted || body_is_torn(chains, body) ||
		         !is_alone(chains, body))
			doubt(chains, body);
	}
}

/* -- all ------------------------------------------------------------------------------------- */

/* Looks which work is in a trip. Where some is far from all, what is a little beside them is
 * doubted, too. */
static void look_at_trips(struct chains *chains)
{
	bool is_any_doubted = false;

	for (uint32_t i = 0; i < chains->n; i++) {
		struct link *link = &chains->links[i];

		is_any_doubted |= link->sample->source.op->is_doubted;
		link->is_in_trip = trips_hold(&chains->trips, link_begin(link),
		                              link_end(chains, link), TRIP_SLACK_NS);
	}
	for (uint32_t i = 0; i < chains->n && is_any_doubted; i++)
		chains->links[i].sample->source.op->is_doubted |= !chains->links[i].is_in_trip;
}

/* Whether any work is far from all trips, or where other work was. Samples are in the order in
 * which estimates say that they were over. */
static bool is_any_misplaced(const struct chains *chains)
{
	double reach_ns[FLEXTRACE_N_STAMPS];

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		reach_ns[i] = -INFINITY;
	for (uint32_t i = 0; i < chains->axis->n_samples; i++) {
		struct sample *sample = &chains->axis->samples[i];
		double *reach = &reach_ns[sample->from];
		struct link link;

		if (!link_make(sample, &link))
			continue;
		if (sample->source.op->is_doubted || link_begin(&link) < *reach - OVER_NS)
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

static int64_t from_base(const void *chains, int64_t ns)
{
	return ns - ((const struct chains *)chains)->base_ns;
}

static int mend(struct chains *chains, const struct unwrap *unwrap, uint32_t counter)
{
	bool has_idle = false;

	FLEXTRACE_TRY(trips_list(&chains->trips, unwrap, counter));
	if (!chains->trips.n)
		return FLEXTRACE_OK;
	for (uint32_t i = 0; i < unwrap->estimates.n_idles; i++)
		has_idle |= unwrap->estimates.idles[i].counter == counter;
	if (!has_idle && !is_any_misplaced(chains))
		return FLEXTRACE_OK;
	chains->base_ns = chains->trips.trips[0].begin_ns;
	trips_move(&chains->trips, from_base, chains);
	FLEXTRACE_TRY(bodies_list_links(chains));
	look_at_trips(chains);
	FLEXTRACE_TRY(bodies_make(chains));
	FLEXTRACE_TRY(ARRAY_NEW(chains->slots, (size_t)chains->n + 1));
	settle_told(chains);
	if (!has_idle && !is_any_denied(chains))
		return FLEXTRACE_OK;
	settle_all(chains);
	if (bodies_split(chains)) {
		settle_told(chains);
		settle_all(chains);
	}
	open_doubt(chains);
	FLEXTRACE_TRY(find_line(chains));
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
	free(chains.knots);
	free(chains.ends.begins);
	free(chains.ends.ends);
	free(chains.members);
	free(chains.bodies);
	free(chains.slots);
	*ret_outcome = (struct chains_outcome){chains.n_mended, chains.n_believed};
	FLEXTRACE_TRY(code);
	return chains.n_mended ? axis_prepare(axis) : FLEXTRACE_OK;
}
