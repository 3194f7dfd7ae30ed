// SPDX-License-Identifier: Apache-2.0
/*
 * pftrace_tracks.c: descriptors of tracks. Processes and devices are processes, threads threads;
 * queues, cores and their lanes are tracks within a device, lanes within their line.
 */
#include "pftrace.h"

#include <errno.h>

#include "model/clocks.h"

/* Files of this many ranks have uuids of their own, of this many tracks. */
#define UUIDS_OF_RANK ((uint64_t)1 << 20)
#define ARROW_ID_BITS 40 /* and ids of arrows of their own */

enum { ROOT_LOSSES, ROOT_LEFT_OUT, N_ROOTS };

/* -- one descriptor ---------------------------------------------------------------------------- */

struct description {
	uint64_t uuid, parent_uuid;
	uint64_t rank; /* among its siblings */
};

/* Opens a descriptor in a packet of its own. */
static size_t open_descriptor(struct pftrace *trace, struct description of)
{
	struct writer *packet = &trace->packet;
	size_t opened;

	pftrace_open_packet(trace);
	opened = protobuf_open(packet, PACKET_TRACK_DESCRIPTOR);
	protobuf_write_u64(packet, DESCRIPTOR_UUID, of.uuid);
	if (of.parent_uuid)
		protobuf_write_u64(packet, DESCRIPTOR_PARENT_UUID, of.parent_uuid);
	protobuf_write_u64(packet, DESCRIPTOR_CHILD_ORDERING, ORDERING_EXPLICIT);
	protobuf_write_u64(packet, DESCRIPTOR_SIBLING_ORDER_RANK, of.rank);
	protobuf_write_u64(packet, DESCRIPTOR_SIBLING_MERGE, MERGE_NONE);
	return opened;
}

static void close_descriptor(struct pftrace *trace, size_t opened)
{
	protobuf_close(&trace->packet, opened);
	pftrace_close_packet(trace);
}

/* Writes what stands in `text` as a field, and empties it. */
static void write_name(struct pftrace *trace, uint32_t field, struct writer *text)
{
	pftrace_write_text(trace, &trace->packet, field, text->buffer ? text->buffer : "",
	                   (size_t)(text->at - text->buffer));
	text->at = text->buffer;
}

static void describe_named(struct pftrace *trace, struct description of, struct writer *text)
{
	size_t opened = open_descriptor(trace, of);

	write_name(trace, DESCRIPTOR_NAME, text);
	close_descriptor(trace, opened);
}

/* -- processes and devices --------------------------------------------------------------------- */

static void describe_owner(struct pftrace *trace, bool is_device, uint32_t i, struct writer *text)
{
	const struct view *view = &trace->events.view;
	uint32_t pid = is_device ? trace->ids.device_pid[i] : trace->ids.process_pid[i];
	uint64_t uuid = i + (is_device ? trace->uuids.devices : trace->uuids.processes);
	size_t opened, inside;

	pftrace_turn_to_process(trace, is_device ? view->identity->devices[i].process : i);
	opened = open_descriptor(trace, (struct description){uuid, 0, pid});
	inside = protobuf_open(&trace->packet, DESCRIPTOR_PROCESS);
	protobuf_write_u64(&trace->packet, PROCESS_PID, pid);
	(is_device ? line_append_device : line_append_process)(view, text, i);
	write_name(trace, PROCESS_NAME, text);
	(is_device ? line_append_device_label : line_append_process_label)(view, text, i);
	write_name(trace, PROCESS_LABELS, text);
	protobuf_close(&trace->packet, inside);
	close_descriptor(trace, opened);
}

static void describe_identity(struct pftrace *trace, struct writer *text)
{
	const struct identity *identity = trace->events.view.identity;
	const struct lines *lines = &trace->events.lines;

	for (uint32_t i = 0; i < identity->n_processes; i++) {
		uint32_t p = lines->process_order[i];

		if (events_name_process(&trace->events, p))
			describe_owner(trace, false, p, text);
	}
	for (uint32_t i = 0; i < identity->n_devices; i++) {
		uint32_t d = lines->device_order[i];

		if (events_name_device(&trace->events, d))
			describe_owner(trace, true, d, text);
	}
}

/* -- tracks ------------------------------------------------------------------------------------ */

static void describe_thread(struct pftrace *trace, uint32_t t, uint64_t rank, struct writer *text)
{
	uint32_t process = view_track_process(&trace->events.view, t);
	const struct description of = {trace->uuids.tracks + t, trace->uuids.processes + process,
	                               rank};
	size_t opened = open_descriptor(trace, of);
	size_t inside = protobuf_open(&trace->packet, DESCRIPTOR_THREAD);

	protobuf_write_u64(&trace->packet, THREAD_PID, trace->ids.process_pid[process]);
	protobuf_write_u64(&trace->packet, THREAD_TID, trace->ids.track_tid[t]);
	line_append_track(&trace->events.view, text, t);
	write_name(trace, THREAD_NAME, text);
	protobuf_close(&trace->packet, inside);
	protobuf_close(&trace->packet, opened);
	pftrace_close_apart(trace);
}

/* Lanes stand within the first one of their line. */
static void describe_track(struct pftrace *trace, uint32_t t, uint64_t rank, struct writer *text)
{
	const struct view *view = &trace->events.view;
	const struct track *track = &view->timeline->tracks[t];
	uint32_t line = trace->events.lines.track_line[t];
	struct description of = {trace->uuids.tracks + t, 0, rank};

	if (!events_name_track(&trace->events, t))
		return;
	pftrace_turn_to_process(trace, view_track_process(view, t));
	if (line == t && track->kind == TRACK_THREAD) {
		describe_thread(trace, t, rank, text);
		return;
	}
	if (line != t)
		of.parent_uuid = trace->uuids.tracks + line;
	else if (view_is_device_track(track))
		of.parent_uuid = trace->uuids.devices + track->owner;
	else
		of.parent_uuid = trace->uuids.processes + view_track_process(view, t);
	line_append_track(view, text, t);
	describe_named(trace, of, text);
}

static void describe_losses(struct pftrace *trace, struct writer *text)
{
	static const char *const roots[N_ROOTS] = {"flextrace losses", "flextrace left out"};
	const struct losses *lines = &trace->events.losses.lines;
	bool has_root[N_ROOTS] = {false};

	for (uint32_t i = 0; i < lines->n; i++) {
		const struct loss *loss = &lines->all[i];
		int root = ledger_is_loss(loss->cause) ? ROOT_LOSSES : ROOT_LEFT_OUT;
		uint64_t parent = trace->uuids.losses + (unsigned)root;

		if (!has_root[root]) {
			writer_raw(text, roots[root]);
			describe_named(trace, (struct description){parent, 0, (unsigned)root},
			               text);
		}
		has_root[root] = true;
		event_append_loss_line(&trace->events, text, i);
		describe_named(trace, (struct description){pftrace_loss_uuid(trace, i), parent, i},
		               text);
	}
}

/* Behind the tracks of their process. */
static void describe_found(struct pftrace *trace, struct writer *text)
{
	const struct event_found *found = &trace->events.found;

	for (uint32_t i = 0; i < found->n_lines; i++) {
		uint32_t process = found->lines[i].process;

		pftrace_turn_to_process(trace, process);
		writer_literal(text, "collectives (found)");
		describe_named(trace,
		               (struct description){trace->uuids.found + i,
		                                    trace->uuids.processes + process,
		                                    trace->events.view.timeline->n_tracks + i},
		               text);
	}
}

/* Without it Perfetto would sort processes and threads as it likes. */
static void describe_order(struct pftrace *trace)
{
	size_t opened;

	pftrace_open_packet(trace);
	opened = protobuf_open(&trace->packet, PACKET_TRACK_DESCRIPTOR);
	protobuf_write_u64(&trace->packet, DESCRIPTOR_UUID, 0);
	protobuf_write_u64(&trace->packet, DESCRIPTOR_CHILD_ORDERING, ORDERING_EXPLICIT);
	protobuf_write_u64(&trace->packet, DESCRIPTOR_PROCESS_ORDERING, PROCESS_ORDERING_EXPLICIT);
	protobuf_write_u64(&trace->packet, DESCRIPTOR_THREAD_ORDERING, PROCESS_ORDERING_EXPLICIT);
	protobuf_close(&trace->packet, opened);
	pftrace_close_packet(trace);
}

static void number(struct pftrace *trace)
{
	const struct identity *identity = trace->events.view.identity;
	struct pftrace_uuids *uuids = &trace->uuids;
	uint32_t process = trace->events.process, n_clocks;

	uuids->tracks = 1;
	if (process != FLEXTRACE_NONE)
		uuids->tracks += (process + 1) * UUIDS_OF_RANK;
	uuids->processes = uuids->tracks + trace->events.view.timeline->n_tracks;
	uuids->devices = uuids->processes + identity->n_processes;
	uuids->clocks = uuids->devices + identity->n_devices;
	clocks_report(trace->events.view.timeline->clocks, &n_clocks);
	uuids->losses = uuids->clocks + n_clocks;
	uuids->found = uuids->losses + N_ROOTS + trace->events.losses.lines.n;
	uuids->counters = uuids->found + trace->events.found.n_lines;
	uuids->arrows = (uint64_t)(process + 1) << ARROW_ID_BITS;
}

uint64_t pftrace_loss_uuid(const struct pftrace *trace, uint32_t line)
{
	return trace->uuids.losses + N_ROOTS + line;
}

void pftrace_describe(struct pftrace *trace)
{
	const uint32_t *order = trace->events.lines.track_order;
	struct writer text;

	number(trace);
	pftrace_describe_things(trace);
	writer_open_memory(&text);
	for (uint32_t i = trace->n_sequences; i-- > 0;) {
		pftrace_turn_to(trace, i);
		describe_order(trace);
	}
	describe_losses(trace, &text);
	describe_identity(trace, &text);
	for (uint32_t i = 0; i < trace->events.view.timeline->n_tracks; i++)
		describe_track(trace, order[i], i, &text);
	describe_found(trace, &text);
	if (writer_failed(&text))
		trace->writer.failure = text.failure;
	writer_abandon(&text);
}

uint64_t pftrace_uuid(const struct pftrace *trace, const struct file_event *event)
{
	if (event->on == ON_TRACK)
		return trace->uuids.tracks + event->place;
	if (event->on == ON_FOUND_WORK)
		return trace->uuids.found + event->place;
	return pftrace_loss_uuid(trace, event->place);
}

/* -- counters ---------------------------------------------------------------------------------- */

static void describe_counter(struct pftrace *trace, const struct file_event *event, uint64_t uuid)
{
	struct writer *packet = &trace->packet;
	uint64_t parent = event->on == ON_DEVICE ? trace->uuids.devices : trace->uuids.processes;
	struct writer text;
	size_t opened, inside;

	writer_open_memory(&text);
	event_append_name(&trace->events, event, &text);
	opened = open_descriptor(trace, (struct description){uuid, parent + event->place, 0});
	write_name(trace, DESCRIPTOR_NAME, &text);
	inside = protobuf_open(packet, DESCRIPTOR_COUNTER);
	if (event->unit) {
		protobuf_write_bytes(packet, COUNTER_UNIT_NAME, event->unit, strlen(event->unit));
		protobuf_write_bytes(packet, COUNTER_SHARE_KEY, event->unit, strlen(event->unit));
	}
	protobuf_close(packet, inside);
	close_descriptor(trace, opened);
	if (writer_failed(&text))
		packet->failure = text.failure;
	writer_abandon(&text);
}

/* Finds what is described when it is first asked for, or makes room for it; 0: no memory. */
static uint64_t find_late(struct pftrace *trace, uint64_t line, uint64_t owner, bool *ret_is_new)
{
	uint32_t place = map_find(&trace->counters, line, owner);

	*ret_is_new = false;
	if (place != MAP_NONE)
		return trace->uuids.counters + place;
	if (map_put(&trace->counters, line, owner, trace->n_counters) < 0) {
		trace->writer.failure = ENOMEM;
		return 0;
	}
	*ret_is_new = true;
	return trace->uuids.counters + trace->n_counters++;
}

uint64_t pftrace_counter_uuid(struct pftrace *trace, const struct file_event *event)
{
	/* labels of ours are of different lengths */
	uint64_t name = event->name ? event->name : UINT32_MAX - event->label.length;
	uint64_t owner = (uint64_t)event->on << 32 | event->place;
	bool is_new;
	uint64_t uuid = find_late(trace, name << 32 | event->core, owner, &is_new);

	if (is_new)
		describe_counter(trace, event, uuid);
	return uuid;
}

/* -- what is too deep -------------------------------------------------------------------------- */

#define MAX_DEPTH 512 /* of Perfetto: it drops begins that are deeper, and no ends */

uint64_t pftrace_deep_uuid(struct pftrace *trace, uint32_t track, uint32_t n_open)
{
	uint64_t uuid = trace->uuids.tracks + track, deep;
	struct writer text;
	bool is_new;

	if (n_open < MAX_DEPTH)
		return uuid;
	deep = find_late(trace, UINT64_MAX - n_open / MAX_DEPTH, track, &is_new);
	if (!is_new)
		return deep;
	writer_open_memory(&text);
	line_append_track(&trace->events.view, &text, track);
	describe_named(trace, (struct description){deep, uuid, n_open}, &text);
	if (writer_failed(&text))
		trace->writer.failure = text.failure;
	writer_abandon(&text);
	return deep;
}
