// SPDX-License-Identifier: Apache-2.0
#include "pftrace.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"
#include "output/place.h"

#define PACKED_BYTES ((size_t)256 << 10) /* before they are compressed; Perfetto wants < 512 KiB */

/* -- packets ----------------------------------------------------------------------------------- */

/* Packets so far as one packet. */
static void pack(struct pftrace *trace)
{
	struct writer *packets = &trace->writer, *packed = &trace->packet, *file = &trace->file;
	char tag[PROTOBUF_VARINT_BYTES * 2];
	size_t n;

	packed->at = packed->buffer;
	writer_deflate(packed, packets->buffer, (size_t)(packets->at - packets->buffer));
	n = (size_t)(packed->at - packed->buffer);
	protobuf_write_length(
		file, TRACE_PACKET,
		n + (size_t)(put_tagged(tag, PACKET_COMPRESSED_PACKETS, PROTOBUF_BYTES, n) - tag));
	protobuf_write_bytes(file, PACKET_COMPRESSED_PACKETS, packed->buffer, n);
	packets->at = packets->buffer;
	if (writer_failed(file) || writer_failed(packed))
		packets->failure = file->failure ? file->failure : packed->failure;
}

void pftrace_open_packet(struct pftrace *trace)
{
	trace->packet.at = trace->packet.buffer;
}

void pftrace_close_packet(struct pftrace *trace)
{
	struct writer *packet = &trace->packet;
	size_t n = (size_t)(packet->at - packet->buffer);

	pftrace_begin_packet(trace, n);
	if (n) /* else there was no memory */
		writer_append(&trace->writer, packet->buffer, n);
}

/* Puts the tag and the length of a packet of `n` bytes; NULL: no memory. */
static char *put_packet(struct pftrace *trace, size_t n)
{
	struct writer *writer = &trace->writer;
	char *at;

	if (trace->packs && (size_t)(writer->at - writer->buffer) >= PACKED_BYTES)
		pack(trace);
	at = writer_room(writer, 6 * PROTOBUF_VARINT_BYTES);
	return at ? put_tagged(at, TRACE_PACKET, PROTOBUF_BYTES, n) : NULL;
}

void pftrace_close_apart(struct pftrace *trace)
{
	struct writer *packet = &trace->packet;
	size_t n;
	char *at;

	if (pftrace_machine(trace))
		protobuf_write_u64(packet, PACKET_MACHINE_ID, pftrace_machine(trace));
	n = (size_t)(packet->at - packet->buffer);
	at = put_packet(trace, n);
	if (!at || !n)
		return;
	trace->writer.at = at;
	writer_append(&trace->writer, packet->buffer, n);
}

void pftrace_begin_packet(struct pftrace *trace, size_t n)
{
	struct writer *writer = &trace->writer, *fresh = &trace->sequence->interned.fresh;
	size_t n_fresh = (size_t)(fresh->at - fresh->buffer);
	char rare[6 * PROTOBUF_VARINT_BYTES], *end = rare, *at;

	if (!trace->sequence->has_begun) { /* the last value of a field counts */
		end = put_tagged(end, PACKET_FIRST_ON_SEQUENCE, PROTOBUF_VARINT, 1);
		end = put_tagged(end, PACKET_SEQUENCE_FLAGS, PROTOBUF_VARINT,
		                 SEQUENCE_STATE_CLEARED | SEQUENCE_NEEDS_STATE);
	}
	trace->sequence->has_begun = true;
	if (n_fresh)
		end = put_tagged(end, PACKET_INTERNED_DATA, PROTOBUF_BYTES, n_fresh);
	at = put_packet(trace, trace->sequence->n_same + (size_t)(end - rare) + n_fresh + n);
	if (!at)
		return;
	writer->at = pftrace_put_sequence(trace, at);
	writer_append(writer, rare, (size_t)(end - rare));
	if (n_fresh)
		writer_append(writer, fresh->buffer, n_fresh);
	fresh->at = fresh->buffer;
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

/* The first packet of a sequence: which time on our clock is which time since the Unix epoch.
 * Perfetto wants MONOTONIC and BOOTTIME, too; where a file of another tool is not on them, they are
 * REALTIME. It drops what is before the epoch, where no clock of a host was: such a file begins at
 * it. */
static void write_snapshot(struct pftrace *trace, int64_t first_time_ns)
{
	int64_t first_real_ns = first_time_ns + trace->events.view.epoch_offset_ns;
	int64_t real_ns = first_real_ns > 0 ? first_real_ns : 0;
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
	trace->sequence->last_time_ns = trace->time_ns = first_time_ns;
}

/* Whose sequence it is, by name, as viewers show it. */
static void write_host(struct pftrace *trace)
{
	struct string_text host;
	size_t opened;

	if (!trace->sequence->host)
		return;
	host = string_text(trace->events.view.strings, trace->sequence->host);
	pftrace_open_packet(trace);
	opened = protobuf_open(&trace->packet, PACKET_SYSTEM_INFO);
	pftrace_write_text(trace, &trace->packet, SYSTEM_INFO_MACHINE_NAME, host.bytes,
	                   host.length);
	protobuf_close(&trace->packet, opened);
	pftrace_close_packet(trace);
}

static void begin_sequences(struct pftrace *trace)
{
	int64_t first_ns = 0;

	events_first_time(&trace->events, &first_ns);
	for (uint32_t i = 0; i < trace->n_sequences; i++) {
		pftrace_turn_to(trace, i);
		write_snapshot(trace, first_ns);
		write_host(trace);
	}
	pftrace_turn_to(trace, 0);
}

/* So that viewers say that data was lost. */
static void write_losses(struct pftrace *trace)
{
	const struct losses *lines = &trace->events.losses.lines;
	uint64_t n_lost = 0;
	size_t opened, inside;

	for (uint32_t i = 0; i < lines->n; i++)
		n_lost += ledger_is_loss(lines->all[i].cause) ? lines->all[i].all.count : 0;
	if (!n_lost)
		return;
	pftrace_turn_to(trace, 0);
	pftrace_open_packet(trace);
	opened = protobuf_open(&trace->packet, PACKET_TRACE_STATS);
	inside = protobuf_open(&trace->packet, STATS_BUFFERS);
	protobuf_write_u64(&trace->packet, BUFFER_PACKET_LOSS, n_lost);
	protobuf_close(&trace->packet, inside);
	protobuf_close(&trace->packet, opened);
	pftrace_close_packet(trace);
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

/* Steps to a time: intervals that end by then are over. */
static int step(struct pftrace *trace, int64_t time_ns)
{
	while (trace->n_ends && trace->ends[0].time_ns <= time_ns) {
		struct pftrace_end end = ends_pop(trace->ends, trace->n_ends--);

		pftrace_move_to(trace, end.time_ns);
		pftrace_turn_to(trace, end.machine);
		FLEXTRACE_TRY(pftrace_keep_end(trace, end.uuid));
		if (end.track != FLEXTRACE_NONE)
			trace->n_open[end.track]--;
	}
	pftrace_move_to(trace, time_ns);
	return FLEXTRACE_OK;
}

/* -- events ------------------------------------------------------------------------------------ */

static int write_interval(struct pftrace *trace, const struct file_event *event)
{
	uint32_t track = event->on == ON_TRACK ? event->place : FLEXTRACE_NONE;
	struct pftrace_end end = {event->end_time_ns, pftrace_uuid(trace, event),
	                          pftrace_machine(trace), track};

	if (track != FLEXTRACE_NONE)
		end.uuid = pftrace_deep_uuid(trace, track, trace->n_open[track]);
	FLEXTRACE_TRY(pftrace_keep(trace, track, event, end.uuid, TYPE_SLICE_BEGIN));
	if (event->end_time_ns == event->start_time_ns)
		return pftrace_keep_end(trace, end.uuid);
	if (track != FLEXTRACE_NONE)
		trace->n_open[track]++;
	return push_end(trace, &end);
}

static int write_counter(struct pftrace *trace, const struct file_event *event)
{
	uint64_t uuid = pftrace_counter_uuid(trace, event);

	return pftrace_keep(trace, FLEXTRACE_NONE, event, uuid, TYPE_COUNTER);
}

static int write_event(struct pftrace *trace, const struct file_event *event)
{
	FLEXTRACE_TRY(step(trace, event->start_time_ns));
	pftrace_turn_to_event(trace, event);
	switch (event->type) {
	case EVENT_INTERVAL:
		return write_interval(trace, event);
	case EVENT_ARROW_OUT:
	case EVENT_ARROW_IN:
		return pftrace_keep_arrow(trace, event);
	case EVENT_COUNTER:
		return write_counter(trace, event);
	default:
		return pftrace_keep(trace, FLEXTRACE_NONE, event, pftrace_uuid(trace, event),
		                    TYPE_INSTANT);
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
	FLEXTRACE_TRY(line_ids_init(&trace->ids, &trace->events));
	FLEXTRACE_TRY(pftrace_kept_init(trace));
	FLEXTRACE_TRY(pftrace_machines_init(trace));
	begin_sequences(trace);
	pftrace_describe(trace);
	FLEXTRACE_TRY(write_events(trace));
	write_losses(trace);
	if (trace->packs)
		pack(trace);
	trace->events.count->replaced_bytes = trace->writer.replaced_bytes;
	if (writer_failed(&trace->packet) || writer_failed(&trace->kept_bytes) ||
	    writer_failed(&trace->plain))
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < trace->n_sequences; i++) {
		if (writer_failed(&trace->sequences[i].interned.fresh))
			return FLEXTRACE_E_MEMORY;
	}
	return FLEXTRACE_OK;
}

static void release(struct pftrace *trace)
{
	writer_abandon(&trace->packet);
	writer_abandon(&trace->kept_bytes);
	writer_abandon(&trace->plain);
	pftrace_machines_release(trace);
	map_release(&trace->counters);
	free(trace->kept);
	free(trace->last_kept);
	free(trace->n_open);
	free(trace->arrows);
	free(trace->ends);
	line_ids_release(&trace->ids);
	events_release(&trace->events);
}

/* Packets are compressed unless the whole file is. */
static int open_file(struct pftrace *trace, const struct emit_options *options, const char *name,
                     struct flextrace_error *error)
{
	FLEXTRACE_TRY(place_open(&trace->file, options, name, error));
	trace->packs = options->views.packs && !trace->file.gzip;
	if (trace->packs)
		writer_open_memory(&trace->writer);
	else
		trace->writer = trace->file;
	writer_open_memory(&trace->packet);
	writer_open_memory(&trace->kept_bytes);
	writer_open_memory(&trace->plain);
	return FLEXTRACE_OK;
}

static int close_file(struct pftrace *trace, int code, struct flextrace_error *error)
{
	struct writer *file = trace->packs ? &trace->file : &trace->writer;

	if (code < 0) {
		error_set(error, code, "Cannot write output file: name=%s, cause=no memory",
		          trace->events.count->file);
		writer_abandon(file);
	} else {
		if (trace->packs)
			file->failure = trace->writer.failure;
		code = writer_close(file, error);
	}
	if (trace->packs)
		writer_abandon(&trace->writer);
	return code;
}

int emit_pftrace(const struct findings *findings, const struct emit_options *options,
                 uint32_t process, const char *name, struct file_count *ret_count,
                 struct flextrace_error *error)
{
	struct emit_views views = options->views;
	struct pftrace trace = {.n_kept = 0};
	int code;

	*ret_count = (struct file_count){.file = name};
	FLEXTRACE_TRY(open_file(&trace, options, name, error));
	if (views.overlap != OVERLAP_DROP)
		views.overlap = OVERLAP_LANES; /* rows of a track nest */
	views.has_equals = true;               /* it is read back */
	code = events_init(&trace.events, findings, &views, process, ret_count);
	if (code == 0)
		code = write_file(&trace);
	code = close_file(&trace, code, error);
	release(&trace);
	return code;
}
