/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h: timeline -> files.
 *
 * Each format is one emitter: a const struct with a name and one function that writes its file from the const
 * timeline; formats do not know each other and may run in parallel threads. A file is written to
 * `<name>.tmp` and renamed when whole. The text emitter (one row a line, no addresses, no wall clock) is the
 * golden format of the tests.
 */
#ifndef FLEXTRACE_EMIT_H
#define FLEXTRACE_EMIT_H

#include "derive/derive.h"
#include "error.h"

struct emit_options {
	const char *output_dir;     /* weak, all; created if missing */
	const char *formats;        /* comma separated emitter names; NULL = "chrome,csv" */
	bool gzip;                  /* trace.json.gz instead of trace.json */
	uint32_t n_threads;         /* formats written at a time; 0 = 1 */
	const struct emit_run *run; /* what run.json says of the conversion */
};

/* Facts for run.json that are not in the timeline. Nothing that differs between two runs on the same input. */
struct emit_run {
	const char *const *inputs; /* as given, weak */
	uint32_t n_inputs;
	const char *const
		*options; /* NAME=VALUE of every option that shapes the output, in fixed order */
	uint32_t n_options;
};

/* How many rows each record class has in each file: filled by the emitters, closed against the tables. */
struct emit_file_count {
	const char *file; /* literal */
	uint64_t rows;    /* lines written, without header */
	uint64_t by_class[RECORD_CLASS_COUNT];
};

struct emitter {
	const char *name; /* "chrome", "csv", "text" */
	/* Writes its file(s) into output_dir, appends to `counts` (room for EMIT_MAX_FILES, from *n). */
	int (*write)(const struct timeline *timeline, const struct emit_options *options,
	             struct emit_file_count *counts, uint32_t *n, struct flextrace_error *error);
};
#define EMIT_MAX_FILES 16

/* All emitters, ended by a NULL name. */
extern const struct emitter *const emit_formats[];

/* Creates the directory and writes all chosen formats, then run.json last, so that it can tell the rows of every
 * file. On failure no final name is left half-written. FLEXTRACE_E_USAGE: unknown format. */
int emit_run(const struct timeline *timeline, const struct emit_options *options,
             struct flextrace_error *error);

#endif
