/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "AIU Roundtrip" is on the host's clock and Flex's times of device work are not: where they
 * contradict, the work is wrong. A control block belongs to the round trip that it sticks out of
 * least; its first stamp was not taken before that, and the last one's last not behind it, which
 * is told as a read of the counter each. Work that is not even near a round trip is told as
 * doubted, and a round trip without work as that: what belongs together is for unwrap to find.
 */
#include <string.h>

#include "base/array.h"
#include "event_reader.h"

#define NEAR_NS  INT64_C(10000000)
#define STALE_NS INT64_C(1000000000) /* no work that is still to come is near it */
#define FLUSH    64u                 /* trips to be forgotten at once */
#define MOST     (UINT32_C(1) << 16) /* trips; beyond, the older half is forgotten */

/* What the spool keeps of one: an item in front of all work near it. */
struct trip_item {
	struct item_head head; /* clock_ns: when it begins */
	int64_t end_ns;
};

int round_trip_add(struct event_import *events, uint32_t rank, const struct event_call *call)
{
	int64_t known_ns = call->begin_ns > 2 * NEAR_NS ? call->begin_ns - 2 * NEAR_NS : 0;
	void *item;

	events->ranks[rank].trips.has_any = true;
	FLEXTRACE_TRY(spool_add(events->import.events, (uint64_t)known_ns, sizeof(struct trip_item),
	                        &item));
	*(struct trip_item *)item = (struct trip_item){
		.head = {.clock_ns = (uint64_t)call->begin_ns, .stream = rank, .class = ITEM_TRIP},
		.end_ns = call->end_ns,
	};
	return FLEXTRACE_OK;
}

static void drop_first(struct round_trips *trips, uint32_t n)
{
	memmove(trips->trips, trips->trips + n, (trips->n - n) * sizeof(*trips->trips));
	trips->n -= n;
	trips->n_past = trips->n_told = 0;
}

int round_trip_note(struct event_import *events, const void *item)
{
	const struct trip_item *trip = item;
	struct round_trips *trips = &events->ranks[trip->head.stream].trips;

	if (trips->n == MOST)
		drop_first(trips, MOST / 2);
	return ARRAY_PUSH(trips->trips, trips->n,
	                  (struct round_trip){(int64_t)trip->head.clock_ns, trip->end_ns, false});
}

/* Finds those that may be told and forgotten. */
static void let_pass(struct event_import *events, uint32_t rank, int64_t now_ns)
{
	struct round_trips *trips = &events->ranks[rank].trips;
	uint32_t n = 0;

	while (n < trips->n && trips->trips[n].end_ns < now_ns - STALE_NS)
		n++;
	if (n < FLUSH)
		return;
	trips->n_past = n;
	events->line.past = rank + 1;
}

/* How far an interval sticks out of a round trip. */
static int64_t sticks_out(const struct round_trip *trip, const struct block_part *part)
{
	int64_t early_ns = trip->begin_ns - part->begin_ns, late_ns = part->end_ns - trip->end_ns;
	int64_t most_ns = early_ns > late_ns ? early_ns : late_ns;

	return most_ns > 0 ? most_ns : 0;
}

static bool has_begun(const void *row, const void *key)
{
	const struct round_trip *trip = row;
	const struct block_part *part = key;

	return trip->begin_ns <= part->begin_ns;
}

/* Finds the round trip of a control block, or NULL. They are in order of their begin. */
static struct round_trip *find(const struct round_trips *trips, const struct block_part *part)
{
	struct round_trip *best = NULL;
	uint32_t lo = array_count_before(trips->trips, trips->n, sizeof(*trips->trips), has_begun,
	                                 part);

	for (uint32_t i = lo > 2 ? lo - 2 : 0; i <= lo && i < trips->n; i++) {
		if (!best || sticks_out(&trips->trips[i], part) < sticks_out(best, part))
			best = &trips->trips[i];
	}
	return best && sticks_out(best, part) <= NEAR_NS ? best : NULL;
}

static void put_stamps(struct trip_reads *reads, const struct block_part *part)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		if (!part->ts[i])
			continue;
		if (!reads->ticks[0])
			reads->ticks[0] = part->ts[i];
		reads->ticks[1] = part->ts[i];
	}
}

static bool is_same(const struct round_trip *a, const struct round_trip *b)
{
	return a->begin_ns == b->begin_ns && a->end_ns == b->end_ns;
}

/* One that stands in the file twice has work if either has. */
static void see_work(struct round_trips *trips, struct round_trip *trip)
{
	struct round_trip *first = trips->trips, *last = first + trips->n - 1;

	trip->has_work = true;
	for (struct round_trip *at = trip; at > first && is_same(at - 1, trip); at--)
		at[-1].has_work = true;
	for (struct round_trip *at = trip; at < last && is_same(at + 1, trip); at++)
		at[1].has_work = true;
}

bool round_trip_take(struct event_import *events, const struct block_part *part)
{
	struct round_trips *trips = &events->ranks[part->head.stream].trips;
	struct round_trip *trip;

	if (!trips->has_any || !part->end_ns)
		return true;
	trip = find(trips, part);
	let_pass(events, part->head.stream, (int64_t)part->head.clock_ns);
	if (!trip)
		return false;
	if (!trip->has_work)
		see_work(trips, trip);
	if (!is_same(&trips->reads.trip, trip)) {
		if (trips->reads.ticks[0]) {
			events->line.reads = trips->reads;
			events->line.reads.rank = part->head.stream;
		}
		trips->reads = (struct trip_reads){.trip = *trip};
	}
	put_stamps(&trips->reads, part);
	return true;
}

/* The last round trips of the ranks have no successor. */
static bool find_last(struct event_import *events)
{
	for (uint32_t i = 0; i < events->n_ranks; i++) {
		struct trip_reads *reads = &events->ranks[i].trips.reads;

		if (!reads->ticks[0])
			continue;
		events->line.reads = *reads;
		events->line.reads.rank = i;
		*reads = (struct trip_reads){.rank = 0};
		return true;
	}
	return false;
}

static bool next_read(struct event_import *events, bool is_end, uint32_t *ret_rank,
                      struct event *ret_event)
{
	struct trip_reads *reads = &events->line.reads;
	const struct event_rank *rank;
	int at;

	if (!reads->ticks[1] && (!is_end || !find_last(events)))
		return false;
	at = reads->ticks[0] ? 0 : 1;
	rank = &events->ranks[reads->rank];
	*ret_rank = reads->rank;
	*ret_event = event_of_rank(events, reads->rank, RECORD_CLOCK_SYNC, events->line.clock_ns);
	ret_event->payload.clock_sync = (struct flextrace_clock_sync){
		.device = rank->device,
		.host_before_ns = (uint64_t)reads->trip.begin_ns,
		.ticks = reads->ticks[at],
		.host_after_ns = (uint64_t)reads->trip.end_ns,
	};
	reads->ticks[at] = 0;
	return true;
}

/* Stores the next past round trip of a rank that has no work, and forgets them all behind the
 * last. */
static bool next_past(struct event_import *events, uint32_t at, struct event *ret_event)
{
	const struct event_rank *rank = &events->ranks[at];
	struct round_trips *trips = &events->ranks[at].trips;

	while (trips->n_told < trips->n_past) {
		const struct round_trip *trip = &trips->trips[trips->n_told++];

		if (trip->has_work || !rank->has_device)
			continue;
		*ret_event = event_of_rank(events, at, RECORD_HOST_ESTIMATE, events->line.clock_ns);
		ret_event->payload.host_estimate = (struct flextrace_host_estimate){
			.device = rank->device,
			.kind = FLEXTRACE_ESTIMATE_IDLE,
			.begin_ns = (uint64_t)trip->begin_ns,
			.end_ns = (uint64_t)trip->end_ns,
			.source = "Flex",
		};
		return true;
	}
	if (trips->n_past)
		drop_first(trips, trips->n_past);
	return false;
}

/* Goes through the ranks once, as all that is left is past. */
static bool next_rest(struct event_import *events, uint32_t *ret_rank, struct event *ret_event)
{
	for (; events->line.past <= events->n_ranks; events->line.past++) {
		struct round_trips *trips = &events->ranks[events->line.past - 1].trips;

		trips->n_past = trips->n;
		*ret_rank = events->line.past - 1;
		if (next_past(events, events->line.past - 1, ret_event))
			return true;
	}
	return false;
}

bool round_trip_next(struct event_import *events, bool is_end, uint32_t *ret_rank,
                     struct event *ret_event)
{
	if (next_read(events, is_end, ret_rank, ret_event))
		return true;
	if (!is_end && events->line.past) {
		*ret_rank = events->line.past - 1;
		if (next_past(events, *ret_rank, ret_event))
			return true;
		events->line.past = 0;
	}
	if (!is_end)
		return false;
	events->line.past += !events->line.past;
	return next_rest(events, ret_rank, ret_event);
}
