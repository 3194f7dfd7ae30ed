/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds wraps that a tool did not count. A tool that takes work longer than a wrap for shorter by
 * whole wraps leaves a pause of that length in its round trip. The pause is beside the work if
 * begin and end are estimated separately, and at an end of the round trip if they follow from those
 * of the work before. (Pauses that devices make anyway come on top.) A pause of another reason is
 * hardly ever as long as whole wraps. It is not known which work lasted longer: it may be the work
 * beside the pause, and all work of the round trip if the pause is at an end.
 */
#include <math.h>

#include "chains.h"

struct hidden {
	struct axis *axis; /* weak */
	struct trips trips;
	double rate, wrap_ns;
};

static bool is_whole(const struct hidden *hidden, double pause_ns)
{
	double wraps = round(pause_ns / hidden->wrap_ns);

	return wraps >= 1 && fabs(pause_ns - wraps * hidden->wrap_ns) <= OFF_NS;
}

/* Whether a trip can hold such a pause, and no other trip is over it. */
static bool is_wanted(const struct hidden *hidden, uint32_t at, double reach_ns)
{
	const struct idle *trip = &hidden->trips.trips[at], *next = trip + 1;
	const struct idle *end = hidden->trips.trips + hidden->trips.n;

	while (next < end && next->begin_ns == trip->begin_ns && next->end_ns == trip->end_ns)
		next++;
	return (double)(trip->end_ns - trip->begin_ns) > hidden->wrap_ns - OFF_NS &&
	       (double)trip->begin_ns >= reach_ns &&
	       (next == end || next->begin_ns >= trip->end_ns);
}

static double end_ns(const struct hidden *hidden, const struct link *link)
{
	return link_begin(link) + (double)link->fact->span / hidden->rate;
}

/* The first fact whose work was over behind a time. */
static uint32_t first_behind(const struct hidden *hidden, double ns)
{
	return axis_find(hidden->axis, (int64_t)ns + UNWRAP_ESTIMATE_SLACK_NS);
}

/* Marks what may last longer than it seems in a trip. */
static void look_at(const struct hidden *hidden, const struct idle *trip)
{
	double reach_ns = (double)trip->begin_ns, trip_end_ns = (double)trip->end_ns;
	uint32_t first = first_behind(hidden, reach_ns);
	uint32_t end = first_behind(hidden, trip_end_ns + OFF_NS);
	struct fact *last = NULL;
	bool is_all = false;

	for (uint32_t i = first; i < end; i++) {
		struct link link;

		if (!link_make(&hidden->axis->facts[i], &link))
			continue;
		if (is_whole(hidden, link_begin(&link) - reach_ns)) {
			is_all |= !last;
			link.fact->is_longer = true;
			if (last)
				last->is_longer = true;
		}
		reach_ns = fmax(reach_ns, end_ns(hidden, &link));
		last = link.fact;
	}
	is_all |= last && is_whole(hidden, trip_end_ns - reach_ns);
	for (uint32_t i = first; i < end && is_all; i++)
		hidden->axis->facts[i].is_longer = hidden->axis->facts[i].kind == FACT_OP;
}

int hidden_find(struct unwrap *unwrap, uint32_t counter, double rate)
{
	struct hidden hidden = {.axis = &unwrap->axes[counter], .rate = rate};
	double reach_ns = -INFINITY;
	int code = trips_list(&hidden.trips, unwrap, counter);

	hidden.wrap_ns = ldexp(1, (int)hidden.axis->narrow_bits) / rate;
	for (uint32_t i = 0; i < hidden.trips.n && code >= 0; i++) {
		const struct idle *trip = &hidden.trips.trips[i];

		if (is_wanted(&hidden, i, reach_ns))
			look_at(&hidden, trip);
		reach_ns = fmax(reach_ns, (double)trip->end_ns);
	}
	trips_release(&hidden.trips);
	return code;
}
