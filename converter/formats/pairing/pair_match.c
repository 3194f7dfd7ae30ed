/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "pair_impl.h"

#define FAR_END   16   /* how much more the nearer end counts */
#define MAX_LOOK  16   /* neighbours of an event, each way */
#define FLOOR_NS  1000 /* nearer is not better */
#define ID_WEIGHT 7    /* how much more says a pair of equal ids */
#define NEAR_NS   1e5  /* what is farther says nothing */

/* What is looked for: where it would be in the other list. */
struct wanted {
	const struct pair_event *event;
	int64_t begin_ns, end_ns;
};

/* Events of one key in the other list. */
struct place {
	const struct pair_event *events;
	uint32_t first, n;
};

static bool may_be_same(const struct pairing_state *state, const struct pair_event *a,
                        const struct pair_event *b)
{
	if (state->uses_stamps && a->stamps && b->stamps && a->stamps != b->stamps)
		return false;
	return !state->uses_correlation || !a->correlation || !b->correlation ||
	       a->correlation == b->correlation;
}

/* One tool may count among its work what the other does not, before it or behind it: the nearer
 * end decides, and the other one between those that are as near. */
static int64_t distance_of(const struct wanted *wanted, const struct pair_event *event)
{
	int64_t begin_ns = llabs(event->begin_ns - wanted->begin_ns);
	int64_t end_ns = llabs(event->end_ns - wanted->end_ns);

	return begin_ns < end_ns ? begin_ns + end_ns / FAR_END : end_ns + begin_ns / FAR_END;
}

static bool begins_before(const void *event, const void *begin_ns)
{
	return ((const struct pair_event *)event)->begin_ns < *(const int64_t *)begin_ns;
}

/* Finds the nearest event within reach; PAIR_NONE: there is none. */
static uint32_t find_nearest(const struct pairing_state *state, const struct place *place,
                             const struct wanted *wanted, int64_t *ret_distance)
{
	uint32_t middle = place->first + array_count_before(place->events + place->first, place->n,
	                                                    sizeof(*place->events), begins_before,
	                                                    &wanted->begin_ns);
	uint32_t nearest = PAIR_NONE;
	uint32_t low = middle - place->first > MAX_LOOK ? middle - MAX_LOOK : place->first;
	uint32_t end = place->first + place->n;
	uint32_t high = end - middle > MAX_LOOK ? middle + MAX_LOOK : end;

	*ret_distance = PAIR_REACH_NS;
	for (uint32_t i = low; i < high; i++) {
		const struct pair_event *event = &place->events[i];
		int64_t distance = distance_of(wanted, event);

		if (distance >= *ret_distance || !may_be_same(state, wanted->event, event))
			continue;
		*ret_distance = distance;
		nearest = i;
	}
	return nearest;
}

static uint32_t find_partner(const struct pairing_state *state, const struct pair_run *run,
                             const struct pair_fit *fit, uint32_t from, int64_t *ret_distance)
{
	const struct place place = {state->to->events, run->to, run->n_to};
	const struct pair_event *event = &state->from->events[from];
	const struct wanted wanted = {event, pair_move(fit, event->begin_ns),
	                              pair_move(fit, event->end_ns)};

	return find_nearest(state, &place, &wanted, ret_distance);
}

static double share(uint32_t n, uint32_t of)
{
	return of ? (double)n / of : 0;
}

static void count_partner(const struct pairing_state *state, uint32_t from, uint32_t to,
                          int64_t distance_ns, struct pair_score *score)
{
	double nearness = log2(NEAR_NS / (double)(distance_ns < FLOOR_NS ? FLOOR_NS : distance_ns));

	const struct pair_event *a = &state->from->events[from], *b = &state->to->events[to];

	score->n++;
	score->n_correlations += a->correlation && b->correlation;
	score->n_same_correlations += a->correlation && a->correlation == b->correlation;
	score->n_stamps += a->stamps && b->stamps;
	score->n_same_stamps += a->stamps && a->stamps == b->stamps;
	if (nearness > 0)
		score->sum += nearness * nearness * nearness;
}

struct pair_score pair_score(const struct pairing_state *state, const struct pair_fit *fit,
                             uint32_t stride)
{
	uint32_t n = 0, next = 0; /* events before this key; the next one to look at */
	struct pair_score score = {.n = 0};

	for (uint32_t i = 0; i < state->n_runs; i++) {
		const struct pair_run *run = &state->runs[i];

		for (; next < n + run->n_from; next += stride) {
			uint32_t from = run->from + next - n, to;
			int64_t distance_ns;

			to = find_partner(state, run, fit, from, &distance_ns);
			if (to != PAIR_NONE)
				count_partner(state, from, to, distance_ns, &score);
		}
		n += run->n_from;
	}
	score.sum *= 1 + ID_WEIGHT * (share(score.n_same_correlations, score.n_correlations) +
	                              share(score.n_same_stamps, score.n_stamps));
	return score;
}

static struct pair_fit turned(const struct pair_fit *fit)
{
	return (struct pair_fit){fit->origin_ns + fit->offset_ns, -fit->offset_ns,
	                         -fit->slope / (1 + fit->slope)};
}

/* Whether an event of `from` is the nearest of its nearest. */
static bool is_mutual(const struct pairing_state *state, const struct pair_run *run,
                      const struct pair_fit *back, const struct pair_match *match)
{
	const struct place place = {state->from->events, run->from, run->n_from};
	const struct pair_event *event = &state->to->events[match->to];
	const struct wanted wanted = {event, pair_move(back, event->begin_ns),
	                              pair_move(back, event->end_ns)};
	int64_t distance;

	return find_nearest(state, &place, &wanted, &distance) == match->from;
}

static void add_match(struct pairing_state *state, const struct pair_fit *fit,
                      struct pair_match match)
{
	const struct pair_event *from = &state->from->events[match.from];
	const struct pair_event *to = &state->to->events[match.to];
	int64_t begin_ns = to->begin_ns - pair_move(fit, from->begin_ns);
	int64_t end_ns = to->end_ns - pair_move(fit, from->end_ns);

	match.at_ns = from->begin_ns;
	match.error_ns = llabs(begin_ns) < llabs(end_ns) ? begin_ns : end_ns;
	state->matches[state->n_matches++] = match;
}

void pair_find_all(struct pairing_state *state, const struct pair_fit *fit)
{
	const struct pair_fit back = turned(fit);

	state->n_matches = 0;
	for (uint32_t i = 0; i < state->n_runs; i++) {
		const struct pair_run *run = &state->runs[i];

		for (uint32_t j = 0; j < run->n_from; j++) {
			struct pair_match match = {.from = run->from + j};

			match.to = find_partner(state, run, fit, match.from, &match.distance_ns);
			if (match.to != PAIR_NONE && is_mutual(state, run, &back, &match))
				add_match(state, fit, match);
		}
	}
}
