/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known latencies are taken off what brackets leave. A stamp is the beginning of its tick, and what
 * it marks comes up to a tick later. So of each floor a tick is left off: maps that are bounded by
 * all brackets with a tick to spare on both sides contain, at a stamp, whatever it may mark. (A
 * floor that nobody states is as good for that, as long as it is a tick or more.)
 */
#include <math.h>
#include <stdlib.h>

#include "calibrate_impl.h"

/* A run's firmware begins before TS1, so that the floor of submissions is not its. */
static int64_t submit_floor(const struct clock_settings *settings, const struct bracket *bracket)
{
	return settings->has_floors && bracket->source == BRACKET_OP ? settings->submit_floor_ns
	                                                             : 0;
}

static int64_t complete_floor(const struct clock_settings *settings, const struct bracket *bracket)
{
	bool is_its = bracket->source == BRACKET_OP || bracket->source == BRACKET_RUN;

	return settings->has_floors && is_its ? settings->complete_floor_ns : 0;
}

static void take_both(const struct clock_settings *settings, int64_t tick_ns,
                      struct bracket *bracket)
{
	int64_t submit_ns = submit_floor(settings, bracket) - tick_ns;
	int64_t complete_ns = complete_floor(settings, bracket) - tick_ns;

	if (bracket->before_host_ns > -MAX_NS && submit_ns > 0)
		bracket->before_host_ns += submit_ns;
	if (bracket->after_host_ns < MAX_NS && complete_ns > 0)
		bracket->after_host_ns -= complete_ns;
}

/*
 * The sum of both floors alone takes nothing off: with a submit floor of a, which may be all of the
 * sum R or nothing of it, the band is [lo + a, hi - (R - a)], and over all a those cover [lo, hi].
 * It only says how short no bracket can be.
 */
static bool is_too_short(const struct clock_settings *settings, const struct bracket *bracket)
{
	int64_t sum_ns = submit_floor(settings, bracket) + complete_floor(settings, bracket);
	int64_t room_ns = bracket->after_host_ns - bracket->before_host_ns;

	if (bracket->before_host_ns <= -MAX_NS || bracket->after_host_ns >= MAX_NS || room_ns < 0)
		return false;
	return room_ns < sum_ns ||
	       (bracket->source == BRACKET_OP && room_ns < settings->round_trip_floor_ns);
}

/* How long the ticks of each counter are: what is between the first bracket of a segment and the
 * last one took no longer than from the submit of the one to the completion of the other. */
static void find_ticks(const struct calibrate_input *input, int64_t *ticks_ns)
{
	struct bracket first = {.counter = FLEXTRACE_NONE};

	TABLE_EACH(struct bracket, bracket, input->brackets) {
		double ns;

		if (first.counter != bracket->counter || first.segment != bracket->segment ||
		    first.before_host_ns <= -MAX_NS)
			first = *bracket;
		ns = (double)(bracket->after_host_ns - first.before_host_ns) /
		     (double)(bracket->last_ticks - first.first_ticks);
		if (first.before_host_ns > -MAX_NS && bracket->after_host_ns < MAX_NS &&
		    bracket->last_ticks > first.first_ticks && ns > 0)
			ticks_ns[bracket->counter] = (int64_t)fmin(ceil(ns), MAX_SLOPE);
	}
}

static void take_all(const struct calibrate_input *input, const int64_t *ticks_ns)
{
	struct clock_settings settings = input->options->all;
	uint32_t counter = FLEXTRACE_NONE;

	TABLE_CHANGE(struct bracket, bracket, input->brackets)
	{
		if (bracket->counter != counter)
			settings = clock_options_of(input->options, input->identity,
			                            bracket->counter);
		counter = bracket->counter;
		input->ledger->warnings[WARNING_LARGE_FLOOR] += is_too_short(&settings, bracket);
		take_both(&settings, ticks_ns[counter], bracket);
	}
}

int floors_take(const struct calibrate_input *input)
{
	const struct calibrate_options *options = input->options;
	int64_t *ticks_ns;

	if (!options->all.has_floors && options->all.round_trip_floor_ns == 0 &&
	    options->n_overrides == 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_NEW(ticks_ns, input->identity->n_counters + 1ull));
	find_ticks(input, ticks_ns);
	take_all(input, ticks_ns);
	free(ticks_ns);
	return FLEXTRACE_OK;
}
