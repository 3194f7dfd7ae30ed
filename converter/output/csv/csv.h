/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h: the parts of the CSV emitters: RFC 4180, lines end in LF, one header line, empty = not
 * known.
 *
 *   csv.c            host.csv, events.csv
 *   csv_fragments.c  what their lines have in common
 *   csv_rows.c       other files whose lines are rows of a table of the timeline
 *   csv_reports.c    files about the conversion
 */
#ifndef FLEXTRACE_CSV_H
#define FLEXTRACE_CSV_H

#include "model/timeline/columns.h"
#include "model/timeline/event_class.h"
#include "output/run_fragments.h"
#include "output/view.h"

/* The columns err_ns and status; zeroes: none yet. */
struct csv_quality {
	uint32_t err_ns, n;
	uint8_t status;
	char bytes[32];
};

struct csv {
	struct view view;
	struct writer_high_digits times; /* of the time before */
	struct writer_high_digits ticks; /* of the cycles before */
	struct writer_digits job;        /* of the row before */
	struct csv_quality quality;      /* likewise */
	struct fragments tracks;         /* per track: rank,...,thread, or rank,...,queue, */
	struct fragments markers;        /* per marker: kind,name, */
	struct run_fragment *runs;       /* owned: per track: source, end of line */
	size_t zone_bytes;               /* that the line of a zone may take */
	struct fragments host_kinds;     /* per KIND_KEY() of the host: kind, */
	struct fragments device_kinds;   /* per KIND_KEY() of devices: kind, */
	struct fragments statuses;       /* per status: status, */
	struct fragments classes;        /* per event class: class, */
};

int csv_init(struct csv *csv, const struct findings *findings);
void csv_release(struct csv *csv);

/* Appends a field and its comma. */
static inline void csv_write_string(struct csv *csv, struct writer *writer, uint32_t string)
{
	view_write_csv(&csv->view, writer, string);
	writer_char(writer, ',');
}

/* The columns of host.csv and events.csv; the first of each are of a struct any_row, what a track
 * is. */
#define CSV_HOST_HEADS    5
#define CSV_EVENT_HEADS   6
#define CSV_HOST_COLUMNS  16
#define CSV_EVENT_COLUMNS 32
extern const struct column csv_host_columns[CSV_HOST_COLUMNS];
extern const struct column csv_event_columns[CSV_EVENT_COLUMNS];

#endif
