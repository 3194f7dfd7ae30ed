// SPDX-License-Identifier: Apache-2.0
#include "pftrace.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"

#define SEQUENCE_ID 1

/* -- packets ----------------------------------------------------------------------------------- */

void pftrace_open_packet(struct pftrace *trace)
{
	struct writer *fresh = &trace->interned.fresh;
	size_t n_fresh = (size_t)(fresh->at - fresh->buffer);

	trace->packet.at = trace->packet.buffer;
	protobuf_write_u64(&trace->packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	protobuf_write_u64(&trace->packet, PACKET_SEQUENCE_FLAGS,
	                   trace->has_begun ? SEQUENCE_NEEDS_STATE
	                                    : SEQUENCE_STATE_CLEARED | SEQUENCE_NEEDS_STATE);
	trace->has_begun = true;
	if (!n_fresh)
		return;
	protobuf_write_bytes(&trace->packet, PACKET_INTERNED_DATA, fresh->buffer, n_fresh);
	fresh->at = fresh->buffer;
}

void pftrace_close_packet(struct pftrace *trace)
{
	struct writer *packet = &trace->packet;

	protobuf_write_bytes(&trace->writer, TRACE_PACKET, packet->buffer,
	                     (size_t)(packet->at - packet->buffer));
}

static void open_timed_packet(struct pftrace *trace, int64_t time_ns)
{
	pftrace_open_packet(trace);
	protobuf_write_u64(&trace->packet, PACKET_TIMESTAMP,
	                   (uint64_t)time_ns - (uint64_t)trace->last_time_ns);
	trace->last_time_ns = time_ns;
}

static void write_clock(struct pftrace *trace, uint64_t id, int64_t time_ns)
{
	size_t opened = protobuf_open(&trace->packet, SNAPSHOT_CLOCKS);

	protobuf_write_u64(&trace->packet, CLOCK_ID, id);
	protobuf_write_u64(&trace->packet, CLOCK_TIMESTAMP, (uint64_t)time_ns);
	if (id == CLOCK_OUR_ID)
		protobuf_write_u64(&trace->packet, CLOCK_IS_INCREMENTAL, 1);
	protobuf_close(&trace->packet, opened);
}

/* The first packet: which time on our clock is which time since the Unix epoch. Perfetto wants
 * MONOTONIC and BOOTTIME, too; where a file of another tool is not on them, they are REALTIME. */
static void write_snapshot(struct pftrace *trace, int64_t first_time_ns)
{
	int64_t real_ns = first_time_ns + trace->events.view.epoch_offset_ns;
	int64_t monotonic_ns = first_time_ns > 0 ? first_time_ns : real_ns;
	struct writer *packet = &trace->packet;
	size_t opened;

	pftrace_open_packet(trace);
	opened = protobuf_open(packet, PACKET_DEFAULTS);
	protobuf_write_u64(packet, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_OUR_ID);
	protobuf_close(packet, opened);
	opened = protobuf_open(packet, PACKET_CLOCK_SNAPSHOT);
	write_clock(trace, CLOCK_REALTIME_ID, real_ns);
	write_clock(trace, CLOCK_MONOTONIC_ID, monotonic_ns);
	write_clock(trace, CLOCK_BOOTTIME_ID, monotonic_ns);
	write_clock(trace, CLOCK_OUR_ID, 0);
	protobuf_write_u64(packet, SNAPSHOT_PRIMARY, CLOCK_REALTIME_ID);
	protobuf_close(packet, opened);
	pftrace_close_packet(trace);
	trace->last_time_ns = trace->time_ns = first_time_ns;
}

/* So that viewers say that data was lost. */
static void write_losses(struct pftrace *trace)
{
	const struct ledger *ledger = trace->events.view.timeline->ledger;
	uint64_t n_lost = 0;
	size_t opened, inside;

	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
		n_lost += ledger_is_loss(cause) ? ledger_total(ledger, cause) : 0;
	if (!n_lost || events_are_of_rank(&trace->events))
		return;
	pftrace_open_packet(trace);
	opened = protobuf_open(&trace->packet, PACKET_TRACE_STATS);
	inside = protobuf_open(&trace->packet, STATS_BUFFERS);
	protobuf_write_u64(&trace->packet, BUFFER_PACKET_LOSS, n_lost);
	protobuf_close(&trace->packet, inside);
	protobuf_close(&trace->packet, opened);
	pftrace_close_packet(trace);
}

/* -- what happens at one time ------------------------------------------------------------------ */

/* Starts a TrackEvent that is kept until its time is over. */
static int keep(struct pftrace *trace, uint32_t track, bool is_end)
{
	size_t at = (size_t)(trace->kept_bytes.at - trace->kept_bytes.buffer);
	struct pftrace_kept kept = {at, at, track, FLEXTRACE_NONE, is_end};

	return ARRAY_PUSH(trace->kept, trace->n_kept, kept);
}

static void end_kept(struct pftrace *trace)
{
	trace->kept[trace->n_kept - 1].end =
		(size_t)(trace->kept_bytes.at - trace->kept_bytes.buffer);
}

static void write_kept(struct pftrace *trace, const struct pftrace_kept *kept)
{
	struct writer *packet = &trace->packet;
	size_t opened;

	open_timed_packet(trace, trace->time_ns);
	opened = protobuf_open(packet, PACKET_TRACK_EVENT);
	writer_append(packet, trace->kept_bytes.buffer + kept->start, kept->end - kept->start);
	for (uint32_t i = kept->first_arrow; i != FLEXTRACE_NONE; i = trace->arrows[i].next)
		protobuf_write_fixed64(packet,
		                       trace->arrows[i].is_in ? TRACK_EVENT_TERMINATING_FLOW_IDS
		                                              : TRACK_EVENT_FLOW_IDS,
		                       trace->arrows[i].id);
	protobuf_close(packet, opened);
	pftrace_close_packet(trace);
}

static void write_all_kept(struct pftrace *trace)
{
	for (uint32_t i = 0; i < trace->n_kept; i++)
		write_kept(trace, &trace->kept[i]);
	trace->n_kept = trace->n_arrows = 0;
	trace->kept_bytes.at = trace->kept_bytes.buffer;
}

/* -- ends -------------------------------------------------------------------------------------- */

static bool is_before(const struct pftrace_end *a, const struct pftrace_end *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->uuid < b->uuid);
}

HEAP_DEFINE(ends, struct pftrace_end, is_before);

static int push_end(struct pftrace *trace, const struct pftrace_end *end)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(trace->ends, trace->n_ends_allocated, trace->n_ends + 1));
	trace->ends[trace->n_ends] = *end;
	ends_rise(trace->ends, trace->n_ends++);
	return FLEXTRACE_OK;
}

static int keep_end(struct pftrace *trace, const struct pftrace_end *end)
{
	FLEXTRACE_TRY(keep(trace, end->track, true));
	protobuf_write_u64(&trace->kept_bytes, TRACK_EVENT_TYPE, TYPE_SLICE_END);
	protobuf_write_u64(&trace->kept_bytes, TRACK_EVENT_TRACK_UUID, end->uuid);
	end_kept(trace);
	return FLEXTRACE_OK;
}

/* Steps to a time: what is kept is over, and so are intervals that end by then. */
static int step(struct pftrace *trace, int64_t time_ns)
{
	if (time_ns != trace->time_ns) {
		write_all_kept(trace);
		trace->time_ns = time_ns;
	}
	while (trace->n_ends && trace->ends[0].time_ns <= time_ns) {
		struct pftrace_end end = ends_pop(trace->ends, trace->n_ends--);

		if (end.time_ns != time_ns && trace->n_kept && trace->time_ns != end.time_ns)
			write_all_kept(trace);
		trace->time_ns = end.time_ns;
		FLEXTRACE_TRY(keep_end(trace, &end));
	}
	if (trace->time_ns != time_ns)
		write_all_kept(trace);
	trace->time_ns = time_ns;
	return FLEXTRACE_OK;
}

/* -- events ------------------------------------------------------------------------------------ */

static int write_interval(struct pftrace *trace, const struct file_event *event)
{
	const struct pftrace_end end = {
		.time_ns = event->end_time_ns,
		.track = event->on == ON_TRACK ? event->place : FLEXTRACE_NONE,
		.uuid = pftrace_uuid(trace, event),
	};

	FLEXTRACE_TRY(keep(trace, end.track, false));
	pftrace_write_event(trace, &trace->kept_bytes, event, end.uuid, TYPE_SLICE_BEGIN);
	end_kept(trace);
	if (event->end_time_ns == event->start_time_ns)
		return keep_end(trace, &end);
	return push_end(trace, &end);
}

static int write_point(struct pftrace *trace, const struct file_event *event)
{
	bool is_counter = event->type == EVENT_COUNTER;
	uint64_t uuid = is_counter ? pftrace_counter_uuid(trace, event)
	                           : pftrace_uuid(trace, event);

	FLEXTRACE_TRY(keep(trace, FLEXTRACE_NONE, false));
	pftrace_write_event(trace, &trace->kept_bytes, event, uuid,
	                    is_counter ? TYPE_COUNTER : TYPE_INSTANT);
	end_kept(trace);
	return FLEXTRACE_OK;
}

/* The begin or end that an arrow leaves from or arrives at: those of messages arrive at ends, and
 * those of a critical path leave from there, if there is one. */
static struct pftrace_kept *find_kept(struct pftrace *trace, const struct file_event *event)
{
	bool is_in = event->type == EVENT_ARROW_IN;
	bool wants_end = event->category.bytes[0] == (is_in ? 'm' : 'c');
	struct pftrace_kept *found = NULL;

	for (uint32_t i = trace->n_kept; i > 0; i--) {
		struct pftrace_kept *kept = &trace->kept[i - 1];

		if (kept->track != event->place)
			continue;
		if (kept->is_end == wants_end)
			return kept;
		if (!found)
			found = kept;
	}
	return found;
}

static int write_arrow(struct pftrace *trace, const struct file_event *event)
{
	struct pftrace_kept *kept = find_kept(trace, event);
	struct pftrace_arrow arrow = {trace->uuids.tracks - 1 + event->id, FLEXTRACE_NONE,
	                              event->type == EVENT_ARROW_IN};

	if (!kept) {
		FLEXTRACE_TRY(write_point(trace, event));
		kept = &trace->kept[trace->n_kept - 1];
	}
	arrow.next = kept->first_arrow;
	kept->first_arrow = trace->n_arrows;
	return ARRAY_PUSH(trace->arrows, trace->n_arrows, arrow);
}

static int write_event(struct pftrace *trace, const struct file_event *event)
{
	FLEXTRACE_TRY(step(trace, event->start_time_ns));
	switch (event->type) {
	case EVENT_INTERVAL:
		return write_interval(trace, event);
	case EVENT_ARROW_OUT:
	case EVENT_ARROW_IN:
		return write_arrow(trace, event);
	default:
		return write_point(trace, event);
	}
}

static int write_events(struct pftrace *trace)
{
	struct file_event event;
	int code = 0;

	while (!writer_failed(&trace->writer) && (code = events_next(&trace->events, &event)) > 0)
		FLEXTRACE_TRY(write_event(trace, &event));
	FLEXTRACE_TRY(code);
	return step(trace, INT64_MAX);
}

/* -- the emitter ------------------------------------------------------------------------------- */

static int write_file(struct pftrace *trace)
{
	int64_t first_ns = 0;

	FLEXTRACE_TRY(line_ids_init(&trace->ids, &trace->events));
	events_first_time(&trace->events, &first_ns);
	write_snapshot(trace, first_ns);
	pftrace_describe(trace);
	FLEXTRACE_TRY(write_events(trace));
	write_losses(trace);
	trace->events.count->replaced_bytes = trace->writer.replaced_bytes;
	if (writer_failed(&trace->packet) || writer_failed(&trace->kept_bytes) ||
	    writer_failed(&trace->plain) || writer_failed(&trace->interned.fresh))
		return FLEXTRACE_E_MEMORY;
	return FLEXTRACE_OK;
}

static void release(struct pftrace *trace)
{
	writer_abandon(&trace->packet);
	writer_abandon(&trace->kept_bytes);
	writer_abandon(&trace->plain);
	pftrace_interned_release(&trace->interned);
	map_release(&trace->counters);
	free(trace->kept);
	free(trace->arrows);
	free(trace->ends);
	line_ids_release(&trace->ids);
	events_release(&trace->events);
}

int emit_pftrace(const struct findings *findings, const struct emit_options *options,
                 uint32_t process, const char *name, struct file_count *ret_count,
                 struct flextrace_error *error)
{
	struct emit_views views = options->views;
	struct pftrace trace = {.n_kept = 0};
	int code;

	*ret_count = (struct file_count){.file = name};
	FLEXTRACE_TRY(emit_open_trace(&trace.writer, options, name, error));
	writer_open_memory(&trace.packet);
	writer_open_memory(&trace.kept_bytes);
	writer_open_memory(&trace.plain);
	pftrace_interned_init(&trace.interned);
	if (views.overlap != OVERLAP_DROP)
		views.overlap = OVERLAP_LANES; /* rows of a track nest */
	code = events_init(&trace.events, findings, &views, process, ret_count);
	if (code == 0)
		code = write_file(&trace);
	if (code < 0) {
		error_set(error, code, "Cannot write output file: name=%s, cause=no memory", name);
		writer_abandon(&trace.writer);
	} else {
		code = writer_close(&trace.writer, error);
	}
	release(&trace);
	return code;
}
