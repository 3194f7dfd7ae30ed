// SPDX-License-Identifier: Apache-2.0
/*
 * pftrace_kept.c: what happens at one time, which is kept until the time is over, so that arrows
 * find the begins of intervals that they are fields of.
 */
#include "pftrace.h"

#include <stdlib.h>

#include "base/array.h"

#define ARROW_BYTES 10 /* of a flow id and its tag */
#define EVENT_ROOM  (4 * PROTOBUF_VARINT_BYTES)
#define SHORT_EVENT 98 /* bytes of one whose packet has at most 127 */

int pftrace_kept_init(struct pftrace *trace)
{
	size_t n = trace->events.view.timeline->n_tracks + (size_t)1;

	trace->last_kept = calloc(n, sizeof(trace->last_kept[0]));
	trace->n_open = calloc(n, sizeof(trace->n_open[0]));
	return trace->last_kept && trace->n_open ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
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

static char *put_event(char *at, uint64_t since_ns, size_t n)
{
	at = put_tagged(at, PACKET_TIMESTAMP, PROTOBUF_VARINT, since_ns);
	return put_tagged(at, PACKET_TRACK_EVENT, PROTOBUF_BYTES, n);
}

/* Puts the head of a packet whose length is one byte. */
static char *put_short_event(const struct pftrace *trace, char *at, uint64_t since_ns, size_t n)
{
	char *end = put_event(pftrace_put_sequence(trace, at + 2), since_ns, n);

	at[0] = TRACE_PACKET << 3 | PROTOBUF_BYTES;
	at[1] = (char)((size_t)(end - at) - 2 + n);
	return end;
}

/* Returns where the `n` bytes of a TrackEvent of this time come, behind the head of their packet,
 * with room for EVENT_ROOM of them; NULL: no memory. */
static char *begin_event(struct pftrace *trace, size_t n)
{
	const struct writer *fresh = &trace->sequence->interned.fresh;
	uint64_t since_ns = (uint64_t)trace->time_ns - (uint64_t)trace->sequence->last_time_ns;
	bool is_short = n <= SHORT_EVENT && fresh->at == fresh->buffer && !trace->packs;
	char *at;

	trace->sequence->last_time_ns = trace->time_ns;
	if (!is_short)
		pftrace_begin_packet(trace, 2 + varint_length(since_ns) + varint_length(n) + n);
	at = writer_room(&trace->writer, 16 * PROTOBUF_VARINT_BYTES + EVENT_ROOM);
	if (!at)
		return NULL;
	return is_short ? put_short_event(trace, at, since_ns, n) : put_event(at, since_ns, n);
}

static void write_kept(struct pftrace *trace, const struct pftrace_kept *kept)
{
	const char *fields = trace->kept_bytes.buffer + kept->start;
	size_t n_fields = kept->end - kept->start, n = n_fields;
	bool has_arrows = kept->arrows_out != FLEXTRACE_NONE || kept->arrows_in != FLEXTRACE_NONE;
	char *at;

	if (has_arrows)
		n += arrows_length(trace, kept->arrows_out) + arrows_length(trace, kept->arrows_in);
	at = begin_event(trace, n);
	if (!at)
		return;
	trace->writer.at = at;
	if (n_fields) /* else there was no memory */
		writer_append(&trace->writer, fields, n_fields);
	if (!has_arrows)
		return;
	write_arrows(trace, kept->arrows_out, TRACK_EVENT_FLOW_IDS);
	write_arrows(trace, kept->arrows_in, TRACK_EVENT_TERMINATING_FLOW_IDS);
}

void pftrace_write_kept(struct pftrace *trace)
{
	for (uint32_t i = 0; i < trace->n_kept; i++) {
		pftrace_turn_to(trace, trace->kept[i].machine);
		write_kept(trace, &trace->kept[i]);
	}
	trace->n_kept = trace->n_arrows = trace->n_departed = 0;
	trace->kept_bytes.at = trace->kept_bytes.buffer;
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
		.machine = pftrace_machine(trace),
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

static char *put_end(char *at, uint64_t uuid)
{
	at = put_tagged(at, TRACK_EVENT_TYPE, PROTOBUF_VARINT, TYPE_SLICE_END);
	return put_tagged(at, TRACK_EVENT_TRACK_UUID, PROTOBUF_VARINT, uuid);
}

/* Where nothing is kept, it need not be: no arrow looks for it. */
int pftrace_keep_end(struct pftrace *trace, uint64_t uuid)
{
	struct writer *writer = trace->n_kept ? &trace->kept_bytes : &trace->writer;
	char *at;

	if (trace->n_kept) {
		FLEXTRACE_TRY(add(trace, FLEXTRACE_NONE));
		at = writer_room(writer, EVENT_ROOM);
	} else {
		at = begin_event(trace, 3 + varint_length(uuid));
	}
	if (!at)
		return FLEXTRACE_E_MEMORY;
	writer->at = put_end(at, uuid);
	if (trace->n_kept)
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
