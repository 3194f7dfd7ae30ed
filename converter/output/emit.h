/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h: timeline and findings -> files.
 *
 * - Each emitter is a const struct with the name of its format and one function that writes its
 *   files from them, which are const. Several emitters may share a format (csv: host.csv apart from
 *   the rest), so that the work balances over threads. Emitters do not know each other.
 * - A file is written to `<name>.tmp` and renamed when whole: nothing half-written has a final
 *   name.
 * - The text format (one row a line, no addresses, no wall clock) is the golden format of the
 *   tests.
 * - Files, columns, units and JSON fields: docs/formats.md.
 *
 * Order for a caller: emit_check_formats() before reading anything, then emit_run(), which runs the
 * analyses beside the emitters and lists their tables in run.json.
 */
#ifndef FLEXTRACE_EMIT_H
#define FLEXTRACE_EMIT_H

#include "model/timeline/findings.h"
#include "base/error.h"
#include "model/ledger/pair_report.h"

/* What run.json says besides the timeline. Nothing that differs between two runs on the
 * same input; all weak. */
struct emit_run {
	const char *const *inputs; /* as given */
	uint32_t n_inputs;
	const char *const *options; /* NAME=VALUE of each that shapes the output, in fixed order */
	uint32_t n_options;
	const struct pair_report *pairs; /* of files of two tools, by rank */
	uint32_t n_pairs;
	const struct result_file *const *files; /* of analyses, in fixed order */
	uint32_t n_files;
};

/* Phases of the Trace Event format by what they tell of; a view may name any of them. */
#define EMIT_TYPES_INTERVAL "XBEben"
#define EMIT_TYPES_INSTANT  "iI"
#define EMIT_TYPES_COUNTER  "C"
#define EMIT_TYPES_FLOW     "stf"

/* What trace.json does with rows on overflow lanes, which cross others of their line. */
enum emit_overlap {
	OVERLAP_LANES, /* shows them on lines of their own */
	OVERLAP_ASYNC, /* as pairs of async events (b, e) */
	OVERLAP_DROP,  /* leaves them out */
	OVERLAP_WARN   /* where they would be if nothing crossed, which readers may misread */
};

/* How trace.json shows what there is; all zero is the default. Tables do not change. */
struct emit_views {
	enum emit_overlap overlap;
	const char *types; /* phases to write, as "XC"; NULL = all; weak */
	bool shows_ns;     /* displayTimeUnit */
};

struct emit_options {
	const char *output_dir;     /* weak, all; created if missing */
	const char *formats;        /* comma separated format names; NULL = "chrome,csv" */
	bool gzip;                  /* trace.json.gz instead of trace.json */
	uint32_t n_threads;         /* emitters and analyses running at a time; 0 = 1 */
	const struct emit_run *run; /* what run.json says of the conversion; NULL = nothing */
	struct emit_views views;
};

/* How many rows of each record class a file got: counted as they are written, closed against the
 * tables. */
struct emit_file_count {
	const char *file; /* weak: lives as long as the emitter's work */
	uint64_t rows;    /* written, without header */
	/* rows this format cannot hold (a counter that is not a number) or has no need of (one that
	 * stays as it is), or that the views hide */
	uint64_t left_out;
	uint64_t expected;       /* rows of the tables behind the file; = rows + left_out */
	uint64_t arrows;         /* trace.json: flow arrows drawn */
	uint64_t replaced_bytes; /* bytes of names that are no UTF-8, written as U+FFFD */
	bool has_classes;        /* `by_class` adds up to `rows`; else it is all 0 */
	uint64_t by_class[RECORD_CLASS_COUNT];
	uint64_t left_out_by_class[RECORD_CLASS_COUNT]; /* adds up to `left_out` */
};
#define EMIT_MAX_FILES 16

struct emitter {
	const char *format; /* "chrome", "csv", "text" */
	/* Writes its file(s), of which `what` says which, into output_dir, appends to `counts`
	 * (room for EMIT_MAX_FILES) from *n on. */
	int (*write)(const void *what, const struct findings *findings,
	             const struct emit_options *options, struct emit_file_count *counts,
	             uint32_t *n, struct flextrace_error *error);
	const void *what;
};

extern const struct emitter emit_chrome;     /* trace.json */
extern const struct emitter emit_csv_host;   /* host.csv */
extern const struct emitter emit_csv_device; /* events.csv */
extern const struct emitter emit_csv_rest;   /* all other CSV files */
extern const struct emitter emit_text;       /* timeline.txt */
extern const struct emitter emit_tt_log;     /* profile_log_device.csv */
extern const struct emitter emit_tt_log_6;   /* profile_log_device_6.csv */

/* Writes `name`, the file of one process (an index). */
int emit_chrome_rank(const struct findings *findings, const struct emit_options *options,
                     uint32_t process, const char *name, struct emit_file_count *ret_count,
                     struct flextrace_error *error);

/* All emitters, the longest job first, ended by NULL. */
extern const struct emitter *const emit_formats[];

/* FLEXTRACE_E_USAGE, with the known names, when `formats` (NULL = default) has an unknown or no
 * name. */
int emit_check_formats(const char *formats, struct flextrace_error *error);

/* Reads "lanes", "async", "drop" or "warn"; "ms" or "ns"; phases of the Trace Event format, which
 * are only looked at. NULL = the default. FLEXTRACE_E_USAGE. */
int emit_read_views(struct emit_views *views, const char *overlap, const char *types,
                    const char *time_unit, struct flextrace_error *error);

/* How many rows stand on overflow lanes. */
uint64_t emit_count_overlaps(const struct timeline *timeline);

/* Checks the formats, opens the directory, writes all chosen formats and tables, then run.json
 * last, so that it can tell the rows of every file. A run.json of an earlier run is removed first.
 * FLEXTRACE_E_USAGE; FLEXTRACE_E_OUTPUT: a file cannot be written, another conversion writes there,
 * or the books do not close (run.json says where). */
int emit_run(const struct findings *findings, const struct emit_options *options,
             struct flextrace_error *error);

#endif
