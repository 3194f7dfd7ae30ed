/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emitted.h: what processes emitted, as they counted it themselves, against what was read of them.
 *
 * The recorder notes the counters of all processes (the tracer's emit_file.h) in a file of the
 * recording, four times: before and behind the start of the session, before and behind its end.
 *
 *	DIR/EMITTED_FILE    when,pid,start_ns,own,here,program,wait_ms,threads,
 *	                    <event>,late_<event>,...,unrecorded
 *
 * While LTTng starts or stops a session, some records are counted and not written. So what was
 * emitted into the recording is bounded: at least what was counted from `started` to `stopping`, at
 * most from `starting` to `stopped`. Of a process that ran in between only, both are the same.
 *
 * - The newest line of a time and process counts: rotations and snapshots append.
 * - Processes are summed up by pid, as a program that another replaces by exec keeps it.
 * - Processes of which nothing was read count only if the recording started them (`own`), or wants
 *   all (a line EMITTED_ALL) that register with its LTTng daemon (`here`).
 * - A process that runs on may have counted one record in each of its `threads` that it had not
 *   written yet when the recording ended.
 * - A line EMITTED_LTTNG has what LTTng says it discarded, of all channels: in packets it tells of
 *   what came before their end only.
 * - What children of a process made that LTTng does not know, and its handlers in threads that
 *   were not ready, is `unrecorded`: it was never emitted.
 * - What a process emitted before LTTng knew it is late: no record of that can be read.
 */
#ifndef FLEXTRACE_EMITTED_H
#define FLEXTRACE_EMITTED_H

#include "base/error.h"
#include "model/streams.h"
#include "model/identity/identity.h"
#include "model/ledger/ledger.h"
#include "base/map.h"
#include "model/model.h"

#define EMITTED_FILE       ".flextrace-emitted"
#define EMITTED_ALL        "all"
#define EMITTED_LATE       "late_"
#define EMITTED_LTTNG      "lttng"
#define EMITTED_UNRECORDED "unrecorded"

#define EMITTED_PROGRAM_SIZE 64

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
	int32_t pid;                        /* as LTTng's context vpid */
	bool is_own;                        /* the recording is to have its records */
	bool is_excluded;                   /* of another recording, or not asked for */
	uint32_t process;                   /* index of struct process, FLEXTRACE_NONE: not read */
	char program[EMITTED_PROGRAM_SIZE]; /* the last one of that pid */
	uint64_t wait_ms;                   /* that it waited for LTTng, where that was long */
	uint64_t n_threads;                 /* at the end; 0: it had ended */
	uint64_t n_unrecorded;              /* at most: until the recording had ended */
	/* emitted at least and at most, read, and of the emitted ones late, by class of record */
	uint64_t least[RECORD_CLASS_COUNT], most[RECORD_CLASS_COUNT], read[RECORD_CLASS_COUNT],
		late[RECORD_CLASS_COUNT];
};

/* The channels of our sessions, by what is recorded into them. */
enum emitted_channel { EMITTED_DEFINITIONS, EMITTED_EVENTS, EMITTED_CHANNEL_COUNT };

/* missing = discarded + late + under way + unaccounted, and what was in packets that are not here.
 */
struct emitted_balance {
	uint64_t missing, discarded, late, under_way, unaccounted;
};

struct emitted {
	struct emitted_process *processes; /* owned, in order of pid */
	uint32_t n;
	uint32_t n_uncounted; /* processes that were read, and have no counts; emitted_compare() */
	bool is_known;        /* the end of a recording was noted */
	uint64_t n_discarded; /* as LTTng says */
	struct map files;     /* owned: hashes of the contents of what was read */
	struct emitted_balance balances[EMITTED_CHANNEL_COUNT]; /* emitted_book() */
};

/* How much a count rose; one that fell did not. */
static inline uint64_t emitted_rise(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

void emitted_release(struct emitted *emitted);

/* Adds the counts of the recording that a trace is in: `path` is its directory, or `trace` in it.
 * The same recording, named again or as a copy, is one.
 * Nothing where it has none. FLEXTRACE_E_INPUT: the file is damaged; _MEMORY. */
int emitted_read(struct emitted *emitted, const char *path, struct flextrace_error *error);

/* Takes what was read, and drops processes that are none of this recording. FLEXTRACE_E_MEMORY. */
int emitted_compare(struct emitted *emitted, const struct stream_set *set);

/* Tells who the processes are. */
void emitted_identify(struct emitted *emitted, const struct identity *identity);

/* Whether there is anything to tell of a class of records of a process. */
bool emitted_has(const struct emitted_process *process, int class);

/* Records of a class that were emitted for certain and not read. */
uint64_t emitted_missing(const struct emitted_process *process, int class);

/* "definitions", "events". */
const char *emitted_channel_name(enum emitted_channel channel);

/* Books what is late, what LTTng discarded behind its last packets, and what is unaccounted.
 * `n_nameless` records were read of nobody knows which process. FLEXTRACE_E_MEMORY. */
int emitted_book(struct emitted *emitted, const struct stream_set *set, struct ledger *ledger,
                 uint64_t n_nameless);

#endif
