// SPDX-License-Identifier: Apache-2.0
/*
 * csv_fragments.c: what the lines of a process, track, kind or marker have in common, made once.
 */
#include "csv.h"
#include "model/timeline/any_row.h"
#include "model/words/kinds.h"
#include "output/column_text.h"

#define N_STATUSES 8 /* as many as a row has bits for */

/* The first columns of host.csv and of events.csv: what all rows of a track begin with. */
static void write_track_head(struct csv *csv, struct writer *writer, uint32_t track)
{
	const struct timeline *timeline = csv->view.timeline;
	const struct any_row row = any_row_of_track(timeline, track);
	bool is_device = view_is_device_track(&timeline->tracks[track]);
	const struct column *columns = is_device ? csv_event_columns : csv_host_columns;

	for (int i = 0; i < (is_device ? CSV_EVENT_HEADS : CSV_HOST_HEADS); i++) {
		column_write_cell(&columns[i], &row, timeline, writer);
		writer_char(writer, ',');
	}
}

static int make_tracks(struct csv *csv)
{
	const struct timeline *timeline = csv->view.timeline;

	FLEXTRACE_TRY(fragments_init(&csv->tracks, timeline->n_tracks));
	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		write_track_head(csv, &csv->tracks.bytes, i);
		fragments_end(&csv->tracks);
	}
	return fragments_check(&csv->tracks);
}

static int make_markers(struct csv *csv)
{
	const struct timeline *timeline = csv->view.timeline;

	FLEXTRACE_TRY(fragments_init(&csv->markers, timeline->n_markers));
	for (uint32_t i = 0; i < timeline->n_markers; i++) {
		/* zones are called the same in all dialects */
		fragments_write(&csv->device_kinds, timeline->markers[i].kind, &csv->markers.bytes);
		csv_write_string(csv, &csv->markers.bytes, timeline->markers[i].name);
		fragments_end(&csv->markers);
	}
	return fragments_check(&csv->markers);
}

/* What is to be put into the line of a zone besides fragments: at most 6 numbers, the quality,
 * commas and the source. */
#define ZONE_BYTES (6 * WRITER_NUMBER_BYTES + 96 + RUN_FRAGMENT_BYTES)

static int make_runs(struct csv *csv)
{
	csv->zone_bytes = csv->tracks.longest + csv->markers.longest + ZONE_BYTES;
	csv->runs = run_fragments_new(csv->view.timeline->n_tracks);
	return csv->runs ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

static void put_label(struct fragments *labels, const char *label)
{
	writer_raw(&labels->bytes, label);
	writer_char(&labels->bytes, ',');
	fragments_end(labels);
}

static int make_labels(struct fragments *labels, uint32_t n, const char *(*label_of)(uint8_t of))
{
	FLEXTRACE_TRY(fragments_init(labels, n));
	for (uint32_t i = 0; i < n; i++)
		put_label(labels, label_of((uint8_t)i));
	return fragments_check(labels);
}

/* Those of all dialects: KIND_KEY() of kinds below `n`. */
static int make_kinds(struct fragments *kinds, uint32_t n, const char *(*label_of)(uint32_t key))
{
	FLEXTRACE_TRY(fragments_init(kinds, KIND_KEY(DIALECT_COUNT, 0)));
	for (uint32_t key = 0; key < KIND_KEY(DIALECT_COUNT, 0); key++)
		put_label(kinds, (uint8_t)key < n ? label_of(key) : "");
	return fragments_check(kinds);
}

int csv_init(struct csv *csv, const struct findings *findings)
{
	*csv = (struct csv){.zone_bytes = 0};
	FLEXTRACE_TRY(view_init(&csv->view, findings));
	FLEXTRACE_TRY(make_tracks(csv));
	FLEXTRACE_TRY(make_kinds(&csv->host_kinds, UINT8_MAX + 1, kind_host_label));
	FLEXTRACE_TRY(make_kinds(&csv->device_kinds, DEVICE_ROW_KIND_COUNT, kind_device_label));
	FLEXTRACE_TRY(make_labels(&csv->classes, EVENT_CLASS_COUNT, event_class_name));
	FLEXTRACE_TRY(make_markers(csv));
	FLEXTRACE_TRY(make_runs(csv));
	return make_labels(&csv->statuses, N_STATUSES, time_status_name);
}

void csv_release(struct csv *csv)
{
	fragments_release(&csv->tracks);
	fragments_release(&csv->markers);
	free(csv->runs);
	fragments_release(&csv->host_kinds);
	fragments_release(&csv->device_kinds);
	fragments_release(&csv->statuses);
	fragments_release(&csv->classes);
	view_release(&csv->view);
}
