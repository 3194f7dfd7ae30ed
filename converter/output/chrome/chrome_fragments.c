// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_fragments.c: what the rows of a track, kind or marker have in common, made once.
 */
#include "chrome.h"
#include "model/words/kinds.h"

#define N_HOST_KINDS 256

void chrome_write_place(struct writer *writer, uint32_t pid, uint32_t tid)
{
	writer_literal(writer, ",\"pid\":");
	writer_u64(writer, pid);
	writer_literal(writer, ",\"tid\":");
	writer_u64(writer, tid);
	writer_literal(writer, ",\"ts\":");
}

static int make_places(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;
	const struct chrome_ids *ids = &chrome->ids;

	FLEXTRACE_TRY(fragments_init(&chrome->places, timeline->n_tracks));
	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		const struct track *track = &timeline->tracks[i];
		uint32_t pid = view_is_device_track(track)
		                       ? ids->device_pid[track->owner]
		                       : ids->process_pid[view_track_process(&chrome->view, i)];
		uint32_t line = chrome->views.overlap == OVERLAP_LANES ? i : ids->track_line[i];

		chrome_write_place(&chrome->places.bytes, pid, ids->track_tid[line]);
		fragments_end(&chrome->places);
	}
	return fragments_check(&chrome->places);
}

static void write_head(struct writer *writer, const struct row_kind *kind)
{
	writer_literal(writer, "{\"ph\":\"X\",\"cat\":\"");
	writer_raw(writer, kind->category);
	writer_literal(writer, "\",\"name\":");
}

static int make_host_kinds(struct chrome *chrome)
{
	FLEXTRACE_TRY(fragments_init(&chrome->host_heads, N_HOST_KINDS));
	FLEXTRACE_TRY(fragments_init(&chrome->host_kinds, N_HOST_KINDS));
	for (int i = 0; i < N_HOST_KINDS; i++) {
		const struct row_kind *kind = kind_of_host((uint8_t)i);
		struct writer *writer = &chrome->host_kinds.bytes;

		write_head(&chrome->host_heads.bytes, kind);
		fragments_end(&chrome->host_heads);
		writer_literal(writer, ",\"args\":{\"kind\":\"");
		writer_raw(writer, kind->label);
		writer_char(writer, '"');
		fragments_end(&chrome->host_kinds);
	}
	FLEXTRACE_TRY(fragments_check(&chrome->host_heads));
	return fragments_check(&chrome->host_kinds);
}

static int make_device_kinds(struct chrome *chrome)
{
	FLEXTRACE_TRY(fragments_init(&chrome->device_heads, DEVICE_ROW_KIND_COUNT));
	FLEXTRACE_TRY(fragments_init(&chrome->device_kinds, DEVICE_ROW_KIND_COUNT));
	for (int i = 0; i < DEVICE_ROW_KIND_COUNT; i++) {
		const struct row_kind *kind = kind_of_device((uint8_t)i);

		write_head(&chrome->device_heads.bytes, kind);
		fragments_end(&chrome->device_heads);
		if (i != ROW_ZONE) {
			writer_literal(&chrome->device_kinds.bytes, ",\"kind\":\"");
			writer_raw(&chrome->device_kinds.bytes, kind->label);
			writer_char(&chrome->device_kinds.bytes, '"');
		}
		fragments_end(&chrome->device_kinds);
	}
	FLEXTRACE_TRY(fragments_check(&chrome->device_heads));
	return fragments_check(&chrome->device_kinds);
}

/* What the arguments of all rows of a track begin with. */
static void write_track_args(struct chrome *chrome, const struct track *track)
{
	const struct identity *identity = chrome->view.identity;
	const struct device *device = &identity->devices[track->owner];
	int32_t rank = identity->processes[device->process].rank;
	bool is_of_all = chrome->process == FLEXTRACE_NONE;
	struct writer *writer = &chrome->device_args.bytes;

	writer_literal(writer, ",\"args\":{");
	if (rank >= 0) {
		writer_literal(writer, "\"rank\":");
		writer_i64(writer, rank);
		writer_char(writer, ',');
	}
	writer_literal(writer, "\"device\":");
	writer_u64(writer, is_of_all ? device->device : chrome->ids.device_pid[track->owner]);
	if (track->kind == TRACK_QUEUE) {
		/* In the file of one rank readers take all for kernels that have a stream. */
		if (!is_of_all && track->row_kind != ROW_EXEC)
			return;
		CHROME_ARG(writer, "stream");
		writer_u64(writer, view_stream(&chrome->view, track));
		return;
	}
	CHROME_ARG(writer, "core");
	writer_u64(writer, track->id);
	if (track->processor) {
		CHROME_ARG(writer, "processor");
		writer_u64(writer, track->processor);
	}
}

static int make_device_args(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;

	FLEXTRACE_TRY(fragments_init(&chrome->device_args, timeline->n_tracks));
	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		if (view_is_device_track(&timeline->tracks[i]))
			write_track_args(chrome, &timeline->tracks[i]);
		fragments_end(&chrome->device_args);
	}
	return fragments_check(&chrome->device_args);
}

void chrome_write_source(const struct chrome *chrome, struct writer *writer, uint32_t file,
                         uint32_t line)
{
	view_write_json(&chrome->view, writer, file);
	CHROME_ARG(writer, "line");
	writer_u64(writer, line);
}

static void write_marker(struct chrome *chrome, const struct marker *marker)
{
	struct writer *args = &chrome->marker_args.bytes;

	fragments_write(&chrome->device_heads, marker->kind, &chrome->marker_heads.bytes);
	view_write_json(&chrome->view, &chrome->marker_heads.bytes, marker->name);
	fragments_write(&chrome->device_kinds, marker->kind, args);
	if (marker->file) {
		CHROME_ARG(args, "file");
		chrome_write_source(chrome, args, marker->file, marker->line);
	}
}

static int make_markers(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;

	FLEXTRACE_TRY(fragments_init(&chrome->marker_heads, timeline->n_markers));
	FLEXTRACE_TRY(fragments_init(&chrome->marker_args, timeline->n_markers));
	for (uint32_t i = 0; i < timeline->n_markers; i++) {
		write_marker(chrome, &timeline->markers[i]);
		fragments_end(&chrome->marker_heads);
		fragments_end(&chrome->marker_args);
	}
	FLEXTRACE_TRY(fragments_check(&chrome->marker_heads));
	return fragments_check(&chrome->marker_args);
}

/* What is to be put into the arguments of a zone besides those of its marker: what its run has, two
 * cycles, the status and the error. */
#define ZONE_BYTES (RUN_FRAGMENT_BYTES + 3 * WRITER_NUMBER_BYTES + 64)

static int make_runs(struct chrome *chrome)
{
	chrome->zone_bytes = chrome->marker_args.longest + ZONE_BYTES;
	chrome->runs = run_fragments_new(chrome->view.timeline->n_tracks);
	return chrome->runs ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

int chrome_fragments_init(struct chrome *chrome)
{
	FLEXTRACE_TRY(fragment_cache_init(&chrome->heads));
	FLEXTRACE_TRY(fragment_cache_init(&chrome->sources));
	FLEXTRACE_TRY(make_places(chrome));
	FLEXTRACE_TRY(make_host_kinds(chrome));
	FLEXTRACE_TRY(make_device_kinds(chrome));
	FLEXTRACE_TRY(make_markers(chrome));
	FLEXTRACE_TRY(make_runs(chrome));
	return make_device_args(chrome);
}

void chrome_fragments_release(struct chrome *chrome)
{
	fragment_cache_release(&chrome->heads);
	fragment_cache_release(&chrome->sources);
	fragments_release(&chrome->marker_heads);
	fragments_release(&chrome->marker_args);
	free(chrome->runs);
	fragments_release(&chrome->places);
	fragments_release(&chrome->host_heads);
	fragments_release(&chrome->host_kinds);
	fragments_release(&chrome->device_heads);
	fragments_release(&chrome->device_kinds);
	fragments_release(&chrome->device_args);
}
