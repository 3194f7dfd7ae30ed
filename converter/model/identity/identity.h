/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h: who and what the records are about.
 *
 * - A process is (trace, vpid, generation). A `process` record with a new start_ns opens a
 *   generation, which begins at that start_ns; the first generation also takes everything before.
 *   Later records with the same start_ns (state dump, flextrace_set_rank) refine it: a known rank
 *   is never replaced by an unknown one.
 * - A record of a process nobody defined gets one of its own, "pid N"; vpid -1 is process
 *   "unknown".
 * - A host clock is (boot id, time namespace); a process without definition has the clock of its
 *   trace's other processes, else one named by the trace's hostname.
 * - Definitions are read whole before anything else, so they also apply to earlier records. Lookups
 *   may add threads, devices and counters, in the order asked for, which gather makes the same in
 *   every run.
 */
#ifndef FLEXTRACE_IDENTITY_H
#define FLEXTRACE_IDENTITY_H

#include <string.h>

#include "model/streams.h"
#include "model/ledger/ledger.h"
#include "model/model.h"
#include "base/text/strings.h"
#include "model/words/kinds.h"

struct identity {
	struct process *processes; /* owned arrays, all */
	uint32_t n_processes;
	struct thread *threads;
	uint32_t n_threads;
	struct device *devices;
	uint32_t n_devices;
	struct counter *counters;
	uint32_t n_counters;
	struct host_clock *host_clocks;
	uint32_t n_host_clocks;
	struct identity_index *index; /* owned: hash tables over the above, and the names */
	struct string_pool *strings;  /* weak */
	/* string: keep only processes of this recording; 0 = of their trace's (recording_id.h) */
	uint32_t session;
	bool has_all;      /* keep all */
	uint8_t dialect;   /* of all processes, whatever they chose; DIALECT_COUNT: as they chose */
	uint32_t n_shared; /* processes that are in several traces */
	uint32_t n_left_out; /* processes, as the recording of their trace is not theirs */
};

/* Where something of a device was lost. */
static inline struct loss_place identity_place(const struct identity *identity, uint32_t device,
                                               uint32_t core, uint32_t stream)
{
	const struct device *of = &identity->devices[device];

	return (struct loss_place){of->process, of->device, core, stream};
}

/* `session`: the recording whose processes are kept, RECORDING_ALL, or NULL: those of each trace's
 * own recording; where no process of a trace tells who it is, all. */
int identity_init(struct identity *identity, struct string_pool *strings, const char *session);
void identity_release(struct identity *identity);

/* Takes one record of TABLE_DEFINITIONS (in gather order) and books it in the ledger as definition,
 * or as discarded FOREIGN_PROCESS when its process is of another recording (booked at
 * identity_finish). */
int identity_push(struct identity *identity, const struct stream *stream,
                  const struct record *record, struct ledger *ledger);

/* Call after the last definition: sorts generations, shares counters of equal uuids, warns of
 * duplicate ranks, and looks through the records of `set` for processes that nobody defined, so
 * that all are known from here on. */
int identity_finish(struct identity *identity, const struct stream_set *set, struct ledger *ledger);

/* Each stores an index, adding an undefined one where needed. FLEXTRACE_E_MEMORY or 0. */
int identity_process(struct identity *identity, const struct stream *stream,
                     const struct record *record, uint32_t *ret_process);
int identity_thread(struct identity *identity, const struct stream *stream,
                    const struct record *record, uint32_t *ret_thread);

/* Whose the last record of a stream was; zeroes: none yet. */
struct identity_memo {
	int32_t vpid, vtid;
	uint32_t thread_plus_1;
};

/* The same, quicker where records of a thread follow one another: one memo for each stream. */
int identity_thread_again(struct identity *identity, const struct stream *stream,
                          const struct record *record, struct identity_memo *memo,
                          uint32_t *ret_thread);
int identity_device(struct identity *identity, uint32_t process, uint32_t device,
                    uint32_t *ret_device);
int identity_counter(struct identity *identity, uint32_t device, uint32_t domain,
                     uint32_t *ret_counter);

/* Counters that run at one rate: they are of one device and one rate group. */
struct rate_lists {
	/* owned, both, by counter; a list is in the order of its counters */
	uint32_t *first; /* of its list */
	uint32_t *next;  /* FLEXTRACE_NONE: it is the last */
};

/* FLEXTRACE_E_MEMORY or 0; the lists are to be released either way. */
int identity_list_rates(const struct identity *identity, struct rate_lists *ret_lists);
void rate_lists_release(struct rate_lists *lists);

/* Warns of processes without definition (NO_DEFINITIONS) and of traces without contexts
 * (NO_CONTEXTS), once for each. Call after the last lookup. */
void identity_warn(const struct identity *identity, struct ledger *ledger);

/* The pid that is shown; -1: not known. */
static inline int64_t identity_pid(const struct process *process)
{
	return process->is_defined ? (int64_t)process->pid : process->vpid;
}

/* Names: string ids, 0 = none defined. */
uint32_t identity_queue_name(const struct identity *identity, uint32_t device, uint32_t queue);

/* Stores the name of a processor of a device's cores: weak, of `strings`, and no string of its own.
 * False: it has only its number. */
bool identity_processor(const struct identity *identity, const struct string_pool *strings,
                        const struct track *track, struct string_text *ret_name);

/* The name, file and line of a marker of a device; false: not defined. */
bool identity_marker(const struct identity *identity, uint32_t device, uint32_t id,
                     uint32_t *ret_name, uint32_t *ret_file, uint32_t *ret_line);

/* Gives every device without a definition for `id` this marker name (flextrace convert --names). */
int identity_name_marker(struct identity *identity, uint32_t id, uint32_t name, uint32_t file,
                         uint32_t line);

/* What the boot ids of processes begin with that a file of a tool is about. */
#define IDENTITY_FILE          "imported "
#define IDENTITY_TORCH_FILE    "imported torch rank "
#define IDENTITY_TT_METAL_FILE "imported tt-metal"
#define IDENTITY_PERFETTO_FILE "imported perfetto"
#define IDENTITY_AIE_FILE      "imported AIE"

static inline bool identity_is_file_of(const struct identity *identity,
                                       const struct string_pool *strings, uint32_t process,
                                       const char *tool)
{
	uint32_t clock = identity->processes[process].host_clock;

	return clock < identity->n_host_clocks &&
	       strncmp(string_get(strings, identity->host_clocks[clock].boot_id), tool,
	               strlen(tool)) == 0;
}

/* Whether streams, steps and rows of a process are those of a torch file. */
static inline bool identity_is_torch_file(const struct identity *identity,
                                          const struct string_pool *strings, uint32_t process)
{
	return identity_is_file_of(identity, strings, process, IDENTITY_TORCH_FILE);
}

#endif
