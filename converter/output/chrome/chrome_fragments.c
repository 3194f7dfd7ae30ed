// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_fragments.c: what the rows of a track, kind or marker have in common, made once.
 */
#include "chrome.h"
#include "model/words/kinds.h"

void chrome_write_ids(struct writer *writer, uint32_t pid, uint32_t tid)
{
	writer_literal(writer, ",\"pid\":");
	writer_u64(writer, pid);
	writer_literal(writer, ",\"tid\":");
	writer_u64(writer, tid);
	writer_literal(writer, ",\"ts\":");
}

static int make_track_ids(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;
	const struct chrome_ids *ids = &chrome->ids;

	FLEXTRACE_TRY(fragments_init(&chrome->fragments.track_ids, timeline->n_tracks));
	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		const struct track *track = &timeline->tracks[i];
		uint32_t pid = view_is_device_track(track)
		                       ? ids->device_pid[track->owner]
		                       : ids->process_pid[view_track_process(&chrome->view, i)];
		uint32_t line = chrome->views.overlap == OVERLAP_LANES ? i : ids->track_line[i];

		chrome_write_ids(&chrome->fragments.track_ids.bytes, pid, ids->track_tid[line]);
		fragments_end(&chrome->fragments.track_ids);
	}
	return fragments_check(&chrome->fragments.track_ids);
}

/* What the arguments of all rows of a track begin with. */
static void write_track_args(struct chrome *chrome, const struct track *track)
{
	const struct identity *identity = chrome->view.identity;
	const struct device *device = &identity->devices[track->owner];
	int32_t rank = identity->processes[device->process].rank;
	bool is_of_all = chrome->process == FLEXTRACE_NONE;
	struct writer *writer = &chrome->fragments.device_args.bytes;

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

	FLEXTRACE_TRY(fragments_init(&chrome->fragments.device_args, timeline->n_tracks));
	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		if (view_is_device_track(&timeline->tracks[i]))
			write_track_args(chrome, &timeline->tracks[i]);
		fragments_end(&chrome->fragments.device_args);
	}
	return fragments_check(&chrome->fragments.device_args);
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
	const struct row_kind *kind = kind_of_device(marker->kind);
	struct writer *args = &chrome->fragments.marker_args.bytes;

	chrome_write_kind_head(&chrome->fragments.marker_heads.bytes, kind);
	view_write_json(&chrome->view, &chrome->fragments.marker_heads.bytes, marker->name);
	if (marker->kind != ROW_ZONE) {
		writer_char(args, ',');
		chrome_write_kind(args, kind);
	}
	if (marker->file) {
		CHROME_ARG(args, "file");
		chrome_write_source(chrome, args, marker->file, marker->line);
	}
}

static int make_markers(struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;

	FLEXTRACE_TRY(fragments_init(&chrome->fragments.marker_heads, timeline->n_markers));
	FLEXTRACE_TRY(fragments_init(&chrome->fragments.marker_args, timeline->n_markers));
	for (uint32_t i = 0; i < timeline->n_markers; i++) {
		write_marker(chrome, &timeline->markers[i]);
		fragments_end(&chrome->fragments.marker_heads);
		fragments_end(&chrome->fragments.marker_args);
	}
	FLEXTRACE_TRY(fragments_check(&chrome->fragments.marker_heads));
	return fragments_check(&chrome->fragments.marker_args);
}

/* What is to be put into the arguments of a zone besides those of its marker: what its run has, two
 * cycles, the status and the error. */
#define ZONE_BYTES (RUN_FRAGMENT_BYTES + 3 * WRITER_NUMBER_BYTES + 64)

static int make_runs(struct chrome *chrome)
{
	chrome->fragments.zone_bytes = chrome->fragments.marker_args.longest + ZONE_BYTES;
	chrome->fragments.runs = run_fragments_new(chrome->view.timeline->n_tracks);
	return chrome->fragments.runs ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

int chrome_fragments_init(struct chrome *chrome)
{
	FLEXTRACE_TRY(make_track_ids(chrome));
	FLEXTRACE_TRY(make_markers(chrome));
	FLEXTRACE_TRY(make_runs(chrome));
	return make_device_args(chrome);
}

void chrome_fragments_release(struct chrome *chrome)
{
	fragments_release(&chrome->fragments.marker_heads);
	fragments_release(&chrome->fragments.marker_args);
	free(chrome->fragments.runs);
	fragments_release(&chrome->fragments.track_ids);
	fragments_release(&chrome->fragments.device_args);
}
