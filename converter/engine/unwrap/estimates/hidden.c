/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds wraps that a tool did not count. A tool that takes work longer than a wrap for shorter by
 * whole wraps leaves a pause of that length in its round trip. The pause is beside the work if
 * begin and end are estimated separately, and at an end of the round trip if they follow from those
 * of the work before. (Pauses that devices make anyway come on top.) A pause of another reason is
 * hardly ever as long as whole wraps. It is not known which work lasted longer: it may be the work
 * beside the pause, and all work of the round trip if the pause is at an end. If all work waited
 * from the beginning of the round trip on, it seems to run at once, and any of it may have been the
 * last. Beside such work, the time that other work waited on the device may lack wraps as well.
 */
#include <math.h>

#include "chains.h"
#include "model/stamps.h"

#define CHANCE 0.02

struct hidden {
	struct axis *axis; /* weak */
	struct trips trips;
	double rate, wrap_ns;
	double off; /* of the rate: a share */
};

static bool is_whole(const struct hidden *hidden, double pause_ns)
{
	return is_whole_wraps(pause_ns, hidden->wrap_ns, OFF_NS, hidden->off);
}

/* Whether a trip can hold such a pause, and other trips are over its ends at most. */
static bool is_wanted(const struct hidden *hidden, uint32_t at, double reach_ns)
{
	const struct idle *trip = &hidden->trips.trips[at], *next = trip + 1;
	const struct idle *end = hidden->trips.trips + hidden->trips.n;

	while (next < end && next->begin_ns == trip->begin_ns && next->end_ns == trip->end_ns)
		next++;
	return (double)(trip->end_ns - trip->begin_ns) > hidden->wrap_ns - OFF_NS &&
	       (double)trip->begin_ns >= reach_ns - OFF_NS &&
	       (next == end || (double)next->begin_ns >= (double)trip->end_ns - OFF_NS);
}

static double end_ns(const struct hidden *hidden, const struct link *link)
{
	return link_begin(link) + (double)link->sample->span / hidden->rate;
}

/* The first sample whose work was over behind a time. */
static uint32_t first_behind(const struct hidden *hidden, double ns)
{
	return axis_find(hidden->axis, (int64_t)ns + UNWRAP_ESTIMATE_SLACK_NS);
}

/* Whether a sample is work of a trip. What begins where the trip ends may be of the next one. */
static bool is_in(const struct idle *trip, struct sample *sample, struct link *ret_link)
{
	return link_make(sample, ret_link) && link_begin(ret_link) < (double)trip->end_ns - OFF_NS;
}

/* Whether work of a trip whose wait is shown may have waited for a wrap more. */
static bool may_wait_longer(const struct hidden *hidden, const struct idle *trip,
                            const struct link *link)
{
	const struct tick_op *op = link->sample->source.op;
	double wait;

	if (link->sample->from != 2 || !(tick_op_parts(op) & FLEXTRACE_PART_PREP) || !op->ticks[1])
		return false;
	wait = (double)low_bits(op->ticks[2] - op->ticks[1], hidden->axis->narrow_bits) +
	       (double)spans_wait(hidden->axis, op);
	return link_begin(link) - wait / hidden->rate - hidden->wrap_ns >
	       (double)trip->begin_ns - OFF_NS;
}

/* Whether some work of a trip that pauses at its end, from `reach_ns` on, would end there with
 * whole wraps more. Of n pieces of work, one does so by chance in CHANCE of such trips. */
static bool ends_with_more(const struct hidden *hidden, const struct idle *trip, double reach_ns,
                           uint32_t first, uint32_t end)
{
	double trip_end_ns = (double)trip->end_ns;
	double off_ns = fmin(OFF_NS, CHANCE * hidden->wrap_ns / (2.0 * (end - first + 1)));
	struct link link;

	for (uint32_t i = first; i < end && trip_end_ns - reach_ns >= hidden->wrap_ns - OFF_NS;
	     i++) {
		if (is_in(trip, &hidden->axis->samples[i], &link) &&
		    is_whole_wraps(trip_end_ns - end_ns(hidden, &link), hidden->wrap_ns, off_ns,
		                   hidden->off))
			return true;
	}
	return false;
}

/* Marks what may last longer than it seems in a trip. */
static void look_at(const struct hidden *hidden, const struct idle *trip)
{
	double reach_ns = (double)trip->begin_ns, trip_end_ns = (double)trip->end_ns;
	uint32_t first = first_behind(hidden, reach_ns);
	uint32_t end = first_behind(hidden, trip_end_ns + OFF_NS);
	struct sample *last = NULL;
	struct link link;
	bool is_all = false, is_any = false;

	for (uint32_t i = first; i < end; i++) {
		if (!is_in(trip, &hidden->axis->samples[i], &link))
			continue;
		if (is_whole(hidden, link_begin(&link) - reach_ns)) {
			is_all |= !last;
			is_any = true;
			link.sample->is_longer = true;
			if (last)
				last->is_longer = true;
		}
		reach_ns = fmax(reach_ns, end_ns(hidden, &link));
		last = link.sample;
	}
	is_all |= ends_with_more(hidden, trip, reach_ns, first, end);
	for (uint32_t i = first; i < end && (is_all || is_any); i++) {
		if (is_in(trip, &hidden->axis->samples[i], &link))
			link.sample->is_longer |= is_all || may_wait_longer(hidden, trip, &link);
	}
}

int hidden_find(struct unwrap *unwrap, uint32_t counter, const struct mean_rate *mean)
{
	struct hidden hidden = {
		.axis = &unwrap->axes[counter], .rate = mean->ticks_per_ns, .off = mean->off};
	double reach_ns = -INFINITY;
	int code = trips_list(&hidden.trips, unwrap, counter);

	hidden.wrap_ns = ldexp(1, (int)hidden.axis->narrow_bits) / hidden.rate;
	for (uint32_t i = 0; i < hidden.trips.n && code >= 0; i++) {
		const struct idle *trip = &hidden.trips.trips[i];

		if (is_wanted(&hidden, i, reach_ns))
			look_at(&hidden, trip);
		reach_ns = fmax(reach_ns, (double)trip->end_ns);
	}
	trips_release(&hidden.trips);
	return code;
}
