/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_file.h: the file in which a process counts the records that it hands to LTTng.
 *
 * What was read of a recording can be compared with what was read only. What a process emitted
 * stands here, in memory that outlives it however it ends:
 *
 *	/dev/shm/flextrace.UID/PID.START_NS
 *
 *	byte 0     struct emit_file_head
 *	byte 4096  struct emit_slot[EMIT_FILE_SLOTS]; sparse: a page is there once a thread uses it
 *
 * - A slot belongs to one thread; the last one of the first page is that of all threads that found
 *   none, and is added to by atomic operations. What a process emitted is the sum of all slots.
 * - A record is counted before LTTng reserves room for it: emitted >= written. A process that is
 *   killed in between has counted one that was never written.
 * - What LTTng was not handed, because it did not know the process yet, is counted apart (late).
 * - What children made that LTTng does not know, and handlers in threads that were not ready, is
 *   counted apart (unrecorded): of a child without a file of its own in that of its parent.
 * - Counts only rise. They are of all LTTng sessions: readers compare two readings.
 * - The file is as trustworthy as the program that has it mapped: readers check every number that
 *   they use as a size.
 *
 * Integers have the host's byte order; the file is read on the host, while it runs.
 */
#ifndef FLEXTRACE_TRACER_EMIT_FILE_H
#define FLEXTRACE_TRACER_EMIT_FILE_H

#include <stdint.h>

#ifndef EMIT_FILE_ROOT /* tests have their own */
#define EMIT_FILE_ROOT "/dev/shm"
#endif
#define EMIT_FILE_DIR     "flextrace.%u" /* user id */
#define EMIT_FILE_NAME    "%u.%llu"      /* pid in its own namespace, start_ns */
#define EMIT_FILE_MAGIC   "flxemit"
#define EMIT_FILE_VERSION 2u
#define EMIT_FILE_SLOTS   1024u
#define EMIT_FILE_CLASSES 64u /* room for events to come */
#define EMIT_FILE_PAGE    4096u

struct emit_file_head {
	char magic[8]; /* EMIT_FILE_MAGIC; written last */
	uint32_t version;
	uint32_t n_events; /* that the provider knows: flextrace_i_n_events */
	uint32_t pid;      /* in its own pid namespace */
	uint32_t n_taken;  /* slots that were asked for, also in vain */
	uint64_t start_ns; /* as the `process` record has it */
	char session[128]; /* $FLEXTRACE_SESSION as the process began with it */
	char program[64];  /* name */
	char home[512];    /* of the user's own session daemon, with which it registers, too */
	uint32_t wait_ms;  /* that it waited for a session daemon, where that was long */
	uint32_t is_late;  /* its first records were made before LTTng knew it */
	uint64_t late[EMIT_FILE_CLASSES]; /* these; in no slot */
	uint64_t pid_namespace;           /* of pid; 0: not known */
	uint64_t n_unrecorded;            /* that were not made, in children, too; 0: older */
};

struct emit_slot {
	uint64_t n[EMIT_FILE_CLASSES]; /* by enum flextrace_i_event */
};

#define EMIT_FILE_BYTES (EMIT_FILE_PAGE + EMIT_FILE_SLOTS * sizeof(struct emit_slot))

#endif
