/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h: the parts of the CSV emitters: RFC 4180, lines end in LF, one header line, empty = not
 * known.
 *
 *   csv.c          files whose lines are rows of a table of the timeline
 *   csv_fragments.c    what their lines have in common
 *   csv_reports.c  clocks.csv, alignment.csv, losses.csv, emitted.csv
 */
#ifndef FLEXTRACE_CSV_H
#define FLEXTRACE_CSV_H

#include "model/words/event_class.h"
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
	const struct emit_options *options; /* weak */
	struct emit_file_count *counts;     /* weak */
	uint32_t *n_counts;                 /* weak */
	struct writer_high_digits times;    /* of the time before */
	struct writer_high_digits ticks;    /* of the cycles before */
	struct writer_digits job;           /* of the row before */
	struct csv_quality quality;         /* likewise */
	struct fragments owners;            /* per process: rank,host,pid, */
	struct fragments
		tracks; /* per track: rank,host,pid,tid,thread, or rank,...,device,core,queue, */
	struct fragments markers;      /* per marker: kind,name, */
	struct run_fragment *runs;     /* owned: per track: source, end of line */
	size_t zone_bytes;             /* that the line of a zone may take */
	struct fragments host_kinds;   /* per host kind: kind, */
	struct fragments device_kinds; /* per device kind: kind, */
	struct fragments statuses;     /* per status: status, */
	struct fragments classes;      /* per event class: class, */
};

int csv_init(struct csv *csv, const struct findings *findings, const struct emit_options *options);
void csv_release(struct csv *csv);

/* A new line in `counts`. Weak. */
struct emit_file_count *csv_count(struct csv *csv, const char *file, uint64_t expected);

/* Appends rank,host,pid, of a process, all empty for FLEXTRACE_NONE. */
void csv_write_owner(struct csv *csv, struct writer *writer, uint32_t process);

/* Append a field and its comma. */
void csv_write_id(struct writer *writer, uint32_t value);      /* empty for FLEXTRACE_NONE */
void csv_write_nonzero(struct writer *writer, uint64_t value); /* empty for 0 */
void csv_write_time(struct csv *csv, struct writer *writer, int64_t time_ns);

static inline void csv_write_string(struct csv *csv, struct writer *writer, uint32_t string)
{
	view_write_csv(&csv->view, writer, string);
	writer_char(writer, ',');
}

static inline void csv_write_tid(struct writer *writer, const struct thread *thread)
{
	if (thread->vtid >= 0)
		writer_i64(writer, thread->vtid);
	writer_char(writer, ',');
}

/* Writes clocks.csv, alignment.csv, losses.csv and emitted.csv. */
int csv_write_reports(struct csv *csv, struct flextrace_error *error);

#endif
