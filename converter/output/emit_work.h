/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_work.h: what emit_run() has to do: a job for each file. Jobs run at the same time, but for
 * members of the archive.
 */
#ifndef FLEXTRACE_EMIT_WORK_H
#define FLEXTRACE_EMIT_WORK_H

#include <pthread.h>
#include <stdatomic.h>

#include "column_text.h"
#include "output/archive/archive.h"

/* Writes a trace of all processes, or of one. */
typedef int trace_writer(const struct findings *findings, const struct emit_options *options,
                         uint32_t process, const char *name, struct file_count *ret_count,
                         struct flextrace_error *error);

struct job {
	const struct result_file *file; /* weak; NULL: a trace, or that of a process */
	trace_writer *write;            /* a trace */
	bool is_analysis;
	bool is_member;   /* of the archive */
	bool is_asked;    /* an analysis, which is written also without a row */
	uint32_t process; /* index, or FLEXTRACE_NONE */
	char name[64];    /* its path in the output directory */
	char other[80];   /* of a table: that as lines of JSON; of a rank: that in the archive */
	struct flextrace_error error;
	int code;
};

struct work {
	const struct findings *findings; /* weak, both */
	const struct emit_options *options;
	char *tables_dir;          /* owned */
	struct save_place place;   /* of tables, without their folder */
	struct file_count *counts; /* owned, by job */
	uint32_t n_jobs;
	atomic_uint next; /* first job that nobody took */
	atomic_bool has_failed;
	pthread_mutex_t analysis_lock;
	atomic_bool has_members; /* somebody writes them */
	struct archive archive;
	struct flextrace_error archive_error;
	int archive_code;
	struct job jobs[]; /* the longest first */
};

/* members.c: writes those jobs that are members, one after the other. */
void members_write(struct work *work);

/* Finishes the archive; into that of everything go all other files before, and run.json with its
 * counts. Where the books do not close there is none. FLEXTRACE_E_OUTPUT, FLEXTRACE_E_MEMORY or
 * 0. */
int members_finish(struct work *work, uint32_t n_counts, struct flextrace_error *error);

/* manifest.c: tells Perfetto how members are one timeline. The same errors. */
int manifest_write(struct work *work, const struct emit_options *options,
                   struct flextrace_error *error);

#endif
