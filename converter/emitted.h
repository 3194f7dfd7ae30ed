/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emitted.h: what processes emitted, as they counted it themselves, against what was read of them.
 *
 * The recorder notes the counters of all processes (the tracer's emit_file.h) in a file of the
 * recording, four times: before and behind the start of the session, before and behind its end.
 *
 *	DIR/EMITTED_FILE    when,pid,start_ns,own,<event>,<event>,...
 *
 * While LTTng starts or stops a session, some records are counted and not written. So what was
 * emitted into the recording is bounded: at least what was counted from `started` to `stopping`, at
 * most from `starting` to `stopped`. Of a process that ran in between only, both are the same.
 *
 * - The newest line of a time and process counts: rotations and snapshots append.
 * - Processes are summed up by pid, as a program that another replaces by exec keeps it.
 * - Processes of which nothing was read count only if the recording started them (`own`): others
 *   may have been recorded by another LTTng daemon.
 */
#ifndef FLEXTRACE_EMITTED_H
#define FLEXTRACE_EMITTED_H

#include "error.h"
#include "gather.h"
#include "model.h"

#define EMITTED_FILE ".flextrace-emitted"

/* X(enumerator, text): when the counters were read. */
#define EMITTED_TIMES(X)        \
	X(STARTING, "starting") \
	X(STARTED, "started")   \
	X(STOPPING, "stopping") \
	X(STOPPED, "stopped")

enum emitted_time {
#define EMITTED_ENUMERATOR(id, text) EMITTED_##id,
	EMITTED_TIMES(EMITTED_ENUMERATOR)
#undef EMITTED_ENUMERATOR
		EMITTED_TIME_COUNT
};

const char *emitted_time_name(enum emitted_time time);

struct emitted_process {
	int32_t pid; /* as LTTng's context vpid */
	bool is_own; /* the recording started it */
	/* emitted at least and at most, and read, by class of record */
	uint64_t least[RECORD_CLASS_COUNT], most[RECORD_CLASS_COUNT], read[RECORD_CLASS_COUNT];
};

struct emitted {
	struct emitted_process *processes; /* owned, in order of pid */
	uint32_t n;
	uint32_t n_uncounted; /* processes that were read, and have no counts; emitted_compare() */
	bool is_known;        /* the end of a recording was noted */
};

void emitted_release(struct emitted *emitted);

/* Adds the counts of the recording that a trace is in: `path` is its directory, or `trace` in it.
 * Nothing where it has none. FLEXTRACE_E_INPUT: the file is damaged; _MEMORY. */
int emitted_read(struct emitted *emitted, const char *path, struct flextrace_error *error);

/* Takes what was read, and drops processes that are none of this recording. FLEXTRACE_E_MEMORY. */
int emitted_compare(struct emitted *emitted, const struct stream_set *set);

/* Records that were emitted and not read, less `n_accounted` of which it is known why. */
uint64_t emitted_unaccounted(const struct emitted *emitted, uint64_t n_accounted);

#endif
