/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of Perfetto: which files they are, and the two passes over each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "perfetto_impl.h"

/* -- kinds of packets ------------------------------------------------------------------------- */

#define MAX_KIND 1024 /* those from here on are counted as one */
#define ABOUT    ""   /* of the recording, not of what was recorded */

/* What is not read, by its name, as the user knows it. */
/* clang-format off */
static const char *const unread[MAX_KIND + 1] = {
	[1] = "ftrace_events", [2] = "process_tree", [4] = "inode_file_map",
	[5] = "chrome_events", [7] = "sys_stats", [9] = "process_stats", [37] = "profile_packet",
	[38] = "battery", [39] = "android_log", [40] = "power_rails", [44] = "thread_descriptor",
	[49] = "perfetto_metatrace", [52] = "gpu_counter_event", [53] = "gpu_render_stage_event",
	[54] = "streaming_profile_packet", [57] = "graphics_frame_event",
	[62] = "vulkan_memory_event", [65] = "vulkan_api_event", [66] = "perf_sample",
	[68] = "smaps_packet", [71] = "gpu_mem_total_event", [73] = "memory_tracker_snapshot",
	[95] = "etw_events", [133] = "zstd_compressed_packets", [135] = "stack_sample",
	[0] = ABOUT, [33] = ABOUT, [34] = ABOUT, [36] = ABOUT, [45] = ABOUT, [46] = ABOUT,
	[47] = ABOUT, [48] = ABOUT, [51] = ABOUT, [67] = ABOUT, [69] = ABOUT, [72] = ABOUT,
	[78] = ABOUT, [86] = ABOUT, [89] = ABOUT, [90] = ABOUT, [109] = ABOUT, [113] = ABOUT,
	[124] = ABOUT, [126] = ABOUT, [128] = ABOUT,
};
/* clang-format on */

static int count_unread(struct perfetto *perfetto, uint32_t kind)
{
	uint32_t *n;

	kind = kind < MAX_KIND ? kind : MAX_KIND;
	if (unread[kind] && !*unread[kind])
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(map_enter(&perfetto->file.unread, kind, 0, &n));
	if (*n == MAP_NONE)
		*n = 1;
	else if (*n < MAP_NONE - 1)
		++*n;
	return import_lose(&perfetto->import, LOSS_UNUSED, 1);
}

static void tell_unread(struct perfetto *perfetto)
{
	const struct map *of = &perfetto->file.unread;
	struct writer *text = &perfetto->told.writer;
	const char *kinds;
	size_t n;

	json_text_clear(&perfetto->told);
	for (uint32_t kind = 0; kind <= MAX_KIND; kind++) {
		uint32_t count = map_find(of, kind, 0);

		if (count == MAP_NONE)
			continue;
		if (unread[kind])
			writer_format(text, ", %s=%" PRIu32, unread[kind], count);
		else
			writer_format(text, ", kind %" PRIu32 "=%" PRIu32, kind, count);
	}
	if (json_text_get(&perfetto->told, &kinds, &n) == FLEXTRACE_OK && of->n_used)
		import_warn(&perfetto->import, "Packets of these kinds are not read: file=%s%s",
		            perfetto->file.path, kinds);
}

/* -- losses that the recorder tells ----------------------------------------------------------- */

static int take_stats(struct perfetto *perfetto, struct protobuf stats)
{
	struct protobuf_field buffer, of[BUFFER_PACKET_LOSS + 1];
	uint64_t n = 0;

	while (protobuf_next(&stats, &buffer) > 0) {
		if (buffer.number != STATS_BUFFERS)
			continue;
		protobuf_read(&buffer.bytes, of, BUFFER_PACKET_LOSS + 1);
		n += of[BUFFER_PACKET_LOSS].value + of[BUFFER_CHUNKS_OVERWRITTEN].value +
		     of[BUFFER_CHUNKS_DISCARDED].value;
	}
	/* Each snapshot says all that was lost up to it. */
	if (n <= perfetto->file.n_told_lost)
		return FLEXTRACE_OK;
	n -= perfetto->file.n_told_lost;
	perfetto->file.n_told_lost += n;
	return import_lose(&perfetto->import, LOSS_LOST_PACKETS, n);
}

/* -- the two passes --------------------------------------------------------------------------- */

static int survey(struct perfetto *perfetto, const struct trace_packet *packet)
{
	struct perfetto_file *file = &perfetto->file;
	const struct protobuf *payload = &packet->payload;

	file->hash = hash_bytes(file->hash, payload->at, protobuf_length(payload));
	/* in a file of ours all machines are on one clock, which the first snapshot tells */
	if (packet->machine && (!file->is_ours || packet->kind == PACKET_CLOCK_SNAPSHOT))
		return FLEXTRACE_OK;
	switch (packet->kind) {
	case PACKET_CLOCK_SNAPSHOT:
		return perfetto_take_snapshot(perfetto, *payload, NULL);
	case PACKET_TRACK_DESCRIPTOR:
		return perfetto_take_descriptor(perfetto, *payload);
	case PACKET_TRACE_ATTRIBUTES:
		return perfetto_take_things(perfetto, *payload);
	default:
		return FLEXTRACE_OK;
	}
}

static int take(struct perfetto *perfetto, const struct trace_packet *packet)
{
	struct perfetto_sequence *sequence;
	const char *fault = NULL;
	int64_t time_ns = 0;

	if (packet->machine && !perfetto->file.is_ours)
		return perfetto_reject(perfetto, packet, LOSS_UNUSED, "it is of another machine");
	FLEXTRACE_TRY(perfetto_enter(perfetto, packet, &sequence));
	if (packet->has_time && packet->kind != PACKET_CLOCK_SNAPSHOT)
		fault = perfetto_place(&perfetto->file, sequence, packet, &time_ns);
	switch (packet->kind) {
	case PACKET_TRACK_EVENT:
		fault = packet->has_time ? fault : "it has no time";
		return perfetto_take_event(perfetto, packet, sequence, time_ns, fault);
	case PACKET_CLOCK_SNAPSHOT:
		return perfetto_take_snapshot(perfetto, packet->payload, sequence);
	case PACKET_TRACE_STATS:
		return perfetto->file.is_ours ? FLEXTRACE_OK
		                              : take_stats(perfetto, packet->payload);
	case PACKET_SYSTEM_INFO:
		if (!perfetto->file.is_ours)
			return count_unread(perfetto, packet->kind);
		return FLEXTRACE_OK; /* the names of hosts, which the attribute tells, too */
	case PACKET_TRACK_DESCRIPTOR:
	case PACKET_PROCESS_DESCRIPTOR:
		return FLEXTRACE_OK;
	default:
		return count_unread(perfetto, packet->kind);
	}
}

/* Ours count from where they counted before, so that all is as it was. */
static void choose_epoch(struct perfetto_file *file)
{
	int64_t real_ns = 0, monotonic_ns = 0;

	perfetto_choose_clock(file);
	for (uint32_t i = file->clocks.n_points; i-- > 0 && file->is_realtime;) {
		const struct clock_point *point = &file->clocks.points[i];

		if (point->clock == CLOCK_REALTIME_ID)
			real_ns = point->time_ns;
		if (point->clock == CLOCK_MONOTONIC_ID)
			monotonic_ns = point->time_ns;
	}
	if (file->is_ours && monotonic_ns > 0 && monotonic_ns < real_ns)
		file->epoch_ns = real_ns - monotonic_ns;
	else
		file->epoch_ns = import_epoch_of(real_ns);
}

static int read_passes(struct perfetto *perfetto, struct flextrace_error *error)
{
	struct perfetto_file *file = &perfetto->file;

	FLEXTRACE_TRY(perfetto_each_packet(perfetto, survey, error));
	if (!file->n_packets)
		return error_set(error, FLEXTRACE_E_INPUT, "There is no packet of a trace: file=%s",
		                 file->path);
	choose_epoch(file);
	file->is_first_pass = false;
	if (file->is_ours)
		FLEXTRACE_TRY(perfetto_define_things(perfetto));
	FLEXTRACE_TRY(perfetto_each_packet(perfetto, take, error));
	FLEXTRACE_TRY(perfetto_end_ops(perfetto));
	FLEXTRACE_TRY(perfetto_end_open(perfetto));
	tell_unread(perfetto);
	import_warn_of_faults(&perfetto->import, file->path, "Packets", "byte");
	return file->is_cut ? import_cut(&perfetto->import, file->path) : FLEXTRACE_OK;
}

static void end_file(struct perfetto_file *file)
{
	for (uint32_t i = 0; i < file->n_sequences; i++) {
		map_release(&file->sequences[i].interned);
		free(file->sequences[i].clocks);
	}
	for (uint32_t i = 0; i < file->n_open; i++)
		free(file->open[i].own_members);
	perfetto_release_clocks(&file->clocks);
	free(file->sequences);
	free(file->tracks);
	free(file->open);
	free(file->locations);
	free(file->flows);
	free(file->things);
	free(file->ops);
	map_release(&file->sequence_index);
	map_release(&file->track_index);
	map_release(&file->flow_index);
	map_release(&file->thing_index);
	map_release(&file->process_index);
	map_release(&file->thread_index);
	map_release(&file->op_index);
	map_release(&file->unread);
}

static int read_file(struct import *import, const char *path, struct flextrace_error *error)
{
	struct perfetto *perfetto = (struct perfetto *)import;
	int code;

	perfetto->file =
		(struct perfetto_file){.path = path, .free_open = NO_OPEN, .is_first_pass = true};
	code = read_passes(perfetto, error);
	end_file(&perfetto->file);
	return code;
}

/* -- all files -------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
	static const char *const ends[] = {".pftrace", ".perfetto-trace", ".pftrace.gz",
	                                   ".perfetto-trace.gz"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (path_ends_with(name, ends[i]))
			return true;
	}
	return false;
}

static const struct path_filter files = {.fits = is_name};

/* What nearly all first packets have, and other messages have not. */
static bool is_head(const struct protobuf_field *field)
{
	switch (field->number) {
	case PACKET_TRUSTED_UID:
	case PACKET_TIMESTAMP:
	case PACKET_SEQUENCE_ID:
	case PACKET_SEQUENCE_FLAGS:
		return field->wire == PROTOBUF_VARINT;
	case PACKET_COMPRESSED_PACKETS:
	case PACKET_TRACK_DESCRIPTOR:
		return field->wire == PROTOBUF_BYTES;
	default:
		return false;
	}
}

/* By its name, or by its first packet. */
static int probe_perfetto(const struct probe *probe)
{
	const uint8_t *bytes = (const uint8_t *)probe->bytes;
	struct protobuf trace = {bytes, bytes + probe->n_bytes};
	struct protobuf_field packet, field = {.is_cut = false};
	bool has_head = false;

	if (is_name(probe->path))
		return 1;
	if (protobuf_next(&trace, &packet) <= 0 || packet.number != TRACE_PACKET ||
	    packet.wire != PROTOBUF_BYTES)
		return 0;
	while (protobuf_next(&packet.bytes, &field) > 0)
		has_head |= is_head(&field);
	return has_head && packet.bytes.at == packet.bytes.end;
}

static int read_all(struct import *import, struct flextrace_error *error)
{
	struct perfetto *perfetto = (struct perfetto *)import;

	perfetto->members = perfetto->told = (struct json_text)JSON_TEXT_INIT;
	FLEXTRACE_TRY(import_each_file(import, read_file, error));
	return import->n_streams ? FLEXTRACE_OK
	                         : error_set(error, FLEXTRACE_E_INPUT,
	                                     "There is no track event in the trace: file=%s",
	                                     import->options->paths[0]);
}

static void release(struct import *import)
{
	struct perfetto *perfetto = (struct perfetto *)import;

	map_release(&perfetto->shared_losses);
	free(perfetto->scratch);
	json_text_release(&perfetto->members);
	json_text_release(&perfetto->told);
}

const struct import_format import_perfetto = {
	.dialect = IMPORT_PERFETTO,
	.filter = &files,
	.probe = probe_perfetto,
	.n_bytes = sizeof(struct perfetto),
	.read = read_all,
	.release = release,
};
