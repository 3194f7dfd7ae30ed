// SPDX-License-Identifier: Apache-2.0
/*
 * pftrace_kept.c: what happens at one time, which is kept until the time is over, so that arrows
 * find the begins of intervals that they are fields of.
 */
#include "pftrace.h"

#include <stdlib.h>

#include "base/array.h"

#define ARROW_BYTES 10 /* of a flow id and its tag */

int pftrace_kept_init(struct pftrace *trace)
{
	trace->last_kept = calloc(trace->events.view.timeline->n_tracks + 1ull,
	                          sizeof(trace->last_kept[0]));
	return trace->last_kept ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

/* -- packets ----------------------------------------------------------------------------------- */

static size_t arrows_length(const struct pftrace *trace, uint32_t first)
{
	size_t n = 0;

	for (uint32_t i = first; i != FLEXTRACE_NONE; i = trace->arrows[i].next)
		n += ARROW_BYTES;
	return n;
}

static void write_arrows(struct pftrace *trace, uint32_t first, uint32_t field)
{
	for (uint32_t i = first; i != FLEXTRACE_NONE; i = trace->arrows[i].next)
		protobuf_write_fixed64(&trace->writer, field, trace->arrows[i].id);
}

/* Writes what pftrace_open_packet() would begin, in one go. */
static void write_kept(struct pftrace *trace, const struct pftrace_kept *kept)
{
	size_t n_fields = kept->end - kept->start;
	size_t n = n_fields + arrows_length(trace, kept->arrows_out) +
	           arrows_length(trace, kept->arrows_in);
	uint64_t since_ns = (uint64_t)trace->time_ns - (uint64_t)trace->last_time_ns;
	char head[4 * PROTOBUF_VARINT_BYTES], *at;

	at = put_tagged(head, PACKET_TIMESTAMP, PROTOBUF_VARINT, since_ns);
	at = put_tagged(at, PACKET_TRACK_EVENT, PROTOBUF_BYTES, n);
	pftrace_begin_packet(trace, (size_t)(at - head) + n);
	writer_append(&trace->writer, head, (size_t)(at - head));
	writer_append(&trace->writer, trace->kept_bytes.buffer + kept->start, n_fields);
	write_arrows(trace, kept->arrows_out, TRACK_EVENT_FLOW_IDS);
	write_arrows(trace, kept->arrows_in, TRACK_EVENT_TERMINATING_FLOW_IDS);
	trace->last_time_ns = trace->time_ns;
}

void pftrace_move_to(struct pftrace *trace, int64_t time_ns)
{
	if (time_ns == trace->time_ns)
		return;
	for (uint32_t i = 0; i < trace->n_kept; i++)
		write_kept(trace, &trace->kept[i]);
	trace->n_kept = trace->n_arrows = trace->n_departed = 0;
	trace->kept_bytes.at = trace->kept_bytes.buffer;
	trace->time_ns = time_ns;
}

/* -- begins, ends and points ------------------------------------------------------------------- */

static size_t n_kept_bytes(const struct pftrace *trace)
{
	return (size_t)(trace->kept_bytes.at - trace->kept_bytes.buffer);
}

/* Appends what has no fields yet. */
static int add(struct pftrace *trace, uint32_t track)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(trace->kept, trace->n_kept_allocated, trace->n_kept + 1ull));
	if (track != FLEXTRACE_NONE)
		trace->last_kept[track] = trace->n_kept;
	trace->kept[trace->n_kept++] = (struct pftrace_kept){
		.start = n_kept_bytes(trace),
		.track = track,
		.arrows_out = FLEXTRACE_NONE,
		.arrows_in = FLEXTRACE_NONE,
	};
	return FLEXTRACE_OK;
}

int pftrace_keep(struct pftrace *trace, uint32_t track, const struct file_event *event,
                 uint64_t uuid, uint64_t type)
{
	FLEXTRACE_TRY(add(trace, track));
	pftrace_write_event(trace, &trace->kept_bytes, event, uuid, type);
	trace->kept[trace->n_kept - 1].end = n_kept_bytes(trace);
	return FLEXTRACE_OK;
}

int pftrace_keep_end(struct pftrace *trace, uint64_t uuid)
{
	FLEXTRACE_TRY(add(trace, FLEXTRACE_NONE));
	protobuf_write_u64(&trace->kept_bytes, TRACK_EVENT_TYPE, TYPE_SLICE_END);
	protobuf_write_u64(&trace->kept_bytes, TRACK_EVENT_TRACK_UUID, uuid);
	trace->kept[trace->n_kept - 1].end = n_kept_bytes(trace);
	return FLEXTRACE_OK;
}

/* -- arrows ------------------------------------------------------------------------------------ */

/* The last interval of a track that begins at this time; FLEXTRACE_NONE. */
static uint32_t find_begin(const struct pftrace *trace, const struct file_event *event, bool is_in)
{
	uint32_t place = trace->last_kept[event->place];

	/* it may be the place of an earlier time */
	if (place >= trace->n_kept || trace->kept[place].track != event->place)
		return FLEXTRACE_NONE;
	/* viewers drop an arrow that arrives before it leaves */
	if (is_in && event->end_time_ns == event->start_time_ns && place < trace->n_departed)
		return FLEXTRACE_NONE;
	return place;
}

int pftrace_keep_arrow(struct pftrace *trace, const struct file_event *event)
{
	bool is_in = event->type == EVENT_ARROW_IN;
	uint32_t place = find_begin(trace, event, is_in), *first;

	if (place == FLEXTRACE_NONE) {
		FLEXTRACE_TRY(pftrace_keep(trace, FLEXTRACE_NONE, event, pftrace_uuid(trace, event),
		                           TYPE_INSTANT));
		place = trace->n_kept - 1;
	}
	if (!is_in && place >= trace->n_departed)
		trace->n_departed = place + 1;
	first = is_in ? &trace->kept[place].arrows_in : &trace->kept[place].arrows_out;
	FLEXTRACE_TRY(
		ARRAY_RESERVE(trace->arrows, trace->n_arrows_allocated, trace->n_arrows + 1ull));
	trace->arrows[trace->n_arrows] = (struct pftrace_arrow){trace->uuids.arrows + event->id,
	                                                        *first};
	*first = trace->n_arrows++;
	return FLEXTRACE_OK;
}
