/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h: timeline and findings -> files.
 *
 * - Each file is a const struct result_file that is written from them, which are const; so are the
 *   tables of analyses. A format is a list of files (emit.c). Files do not know each other, and
 *   several are written at a time.
 * - A file is written to `<name>.tmp` and renamed when whole: nothing half-written has a final
 *   name.
 * - Tables are in the folder TABLES_DIR, all else stands on top. A table without a row has no file
 *   where nobody asked for it, and what an earlier conversion left of any table is removed first.
 * - The text format (one row a line, no addresses, no wall clock) is the golden format of the
 *   tests.
 * - Files, columns, units and JSON fields: docs/formats.md.
 *
 * Order for a caller: emit_check_formats() before reading anything, then emit_run(), which runs the
 * analyses beside them and lists all files in run.json.
 */
#ifndef FLEXTRACE_EMIT_H
#define FLEXTRACE_EMIT_H

#include "base/error.h"
#include "model/timeline/columns.h"
#include "model/timeline/findings.h"
#include "model/ledger/pair_report.h"
#include "model/user_options.h"

#define RUN_JSON_FORMAT 2 /* of run.json; grows when a field changes its meaning */

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
	const bool *is_asked; /* by file: written also without a row; NULL = none */
	const struct result_file *const *others; /* analyses that are not asked for */
	uint32_t n_others;
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
	bool has_bands;    /* lines of error bars */
	bool has_equals;   /* samples of a counter that do not change it */
	bool packs;        /* packets of trace.pftrace are compressed */
	bool has_ranks;    /* files of single ranks are asked for */
	bool is_hta;       /* with names of work that Holistic Trace Analysis knows */
	bool is_kineto;    /* of a single rank, as readers of torch's files need it */
};

/* What is written into one ZIP file; traces stand there only. */
enum emit_archive {
	ARCHIVE_NONE,
	ARCHIVE_ALL,  /* everything */
	ARCHIVE_RANKS /* files of single ranks, with what makes them one timeline */
};
#define ARCHIVE_ALL_FILE   "flextrace.zip"
#define ARCHIVE_RANKS_FILE "ranks.zip"

struct archive; /* archive/archive.h */

struct emit_options {
	const char *output_dir; /* weak, all; created if missing */
	const char *formats;    /* comma separated format names; NULL = "chrome,csv" */
	uint32_t report_rows;   /* rows of each table that the page has at most */
	bool gzip;              /* trace.json.gz instead of trace.json */
	uint32_t n_threads;     /* files written at a time; 0 = 1 */
	enum emit_archive archive;
	struct archive *to;         /* where a file goes as a member; NULL: it is one */
	const struct emit_run *run; /* what run.json says of the conversion; NULL = nothing */
	struct emit_views views;
};

/* Files of formats; those of analyses are in `run`. */
extern const struct result_file emit_csv_host;   /* host.csv */
extern const struct result_file emit_csv_device; /* events.csv */
extern const struct result_file emit_text;       /* timeline.txt */
extern const struct result_file emit_tt_log;     /* profile_log_device.csv */
extern const struct result_file emit_tt_log_6;   /* profile_log_device_6.csv */

/* instants.csv, counters.csv, memory.csv. */
#define CSV_N_ROWS 3
extern const struct result_file csv_rows[CSV_N_ROWS];

/* clocks.csv, alignment.csv, losses.csv, emitted.csv. */
#define CSV_N_REPORTS 4
extern const struct result_file csv_reports[CSV_N_REPORTS];

/* Writes `name`: trace.json, of all processes (FLEXTRACE_NONE), or the file of one (an index). It
 * alone depends on the options. */
int emit_chrome(const struct findings *findings, const struct emit_options *options,
                uint32_t process, const char *name, struct file_count *ret_count,
                struct flextrace_error *error);

/* The same as packets of Perfetto: trace.pftrace. */
int emit_pftrace(const struct findings *findings, const struct emit_options *options,
                 uint32_t process, const char *name, struct file_count *ret_count,
                 struct flextrace_error *error);

/* FLEXTRACE_E_USAGE, with the known names, when `formats` (NULL = default) has an unknown or no
 * name. */
int emit_check_formats(const char *formats, struct flextrace_error *error);

/* Reads "lanes", "async", "drop" or "warn"; "ms" or "ns"; phases of the Trace Event format, which
 * are only looked at. NULL = the default. FLEXTRACE_E_USAGE. */
int emit_read_views(struct emit_views *views, const struct view_options *options,
                    struct flextrace_error *error);

/* Reads "auto" or "all", and "ranks"; NULL: none. FLEXTRACE_E_USAGE, also where this build has no
 * archives. */
int emit_read_archive(enum emit_archive *ret_archive, const char *text,
                      struct flextrace_error *error);

/* What a browser opens at most, compressed or not: it makes one string of a file of JSON. Of
 * trace.pftrace Perfetto makes tables of five times the size, in the 4 GB that it has there. */
#define EMIT_BROWSER_JSON_BYTES    536870912.0
#define EMIT_BROWSER_PFTRACE_BYTES 800e6

/* Estimates the size of trace.json and of the largest file of a rank, uncompressed, before they are
 * written: within a factor of two where there are more rows than lines. `types` of struct
 * emit_views. FLEXTRACE_E_MEMORY or 0. */
struct emit_sizes {
	double all, rank;
};
int emit_estimate_sizes(const struct findings *findings, const char *types,
                        struct emit_sizes *ret_sizes);

/* Of the largest file of JSON and of the largest one of pftrace that are written; 0: of none. */
int emit_find_sizes(const struct findings *findings, const struct emit_options *options,
                    double *ret_json_bytes, double *ret_pftrace_bytes);

/* How many rows stand on overflow lanes. */
uint64_t emit_count_overlaps(const struct timeline *timeline);

/* Checks the formats, opens the directory, writes all chosen formats and tables, then run.json
 * last, so that it can tell the rows of every file. A run.json of an earlier run is removed first.
 * FLEXTRACE_E_USAGE; FLEXTRACE_E_OUTPUT: a file cannot be written, another conversion writes there,
 * or the books do not close (run.json says where). */
int emit_run(const struct findings *findings, const struct emit_options *options,
             struct flextrace_error *error);

#endif
