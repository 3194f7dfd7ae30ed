/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity_index.h: the inside of struct identity, shared by definitions.c (fills it) and
 * identity.c (asks it).
 *
 * Everything is found through hash tables: a trace may name a million generations and device 4
 * billion.
 */
#ifndef FLEXTRACE_IDENTITY_INDEX_H
#define FLEXTRACE_IDENTITY_INDEX_H

#include "identity.h"
#include "base/map.h"

struct definition { /* a record, and what its stream says */
	uint32_t trace;
	uint32_t host;
	uint32_t recording;
	int64_t epoch_offset_ns;
	bool is_given, has_dialects;
	struct record record; /* opens the whole of it */
};

struct span {           /* the generations of one (trace, vpid), by start */
	uint32_t first; /* place in `by_start`; of a single one its process */
	uint32_t n;
};

struct sighting { /* of a process that tells who it is, in a trace */
	uint32_t trace;
	int32_t vpid;
	uint32_t process;
};

struct name {
	uint32_t name, file, line;
};

struct identity_index {
	struct string_cache cache;  /* owned, all */
	struct table definitions;   /* struct definition */
	struct map generations;     /* (trace, vpid), start_ns -> process */
	struct map span_of;         /* (trace, vpid) -> span */
	struct map threads;         /* (process, vtid) -> thread */
	struct map devices;         /* (process, device) -> device */
	struct map counters;        /* (device, domain) -> counter */
	struct map shared_counters; /* (host clock, uuid), (host in a file, domain) -> counter */
	struct map host_clocks;     /* see index_host_clock() */
	struct map trace_clocks;    /* trace -> host clock of its first process */
	struct map same;            /* (host clock, pid), start_ns -> process */
	struct map told_traces;     /* trace -> dialect, where a process tells who it is */
	struct map names;           /* (device or 0, id), kind -> name */
	struct span *spans;
	uint32_t n_spans;
	struct sighting *sightings;
	uint32_t n_sightings;
	uint32_t *by_start; /* processes by (trace, vpid, start_ns) */
	/* of the last record whose (trace, vpid) is one process all the time; 0 = none yet */
	uint64_t last_who;
	uint32_t last_plus_1;
	struct name *name_list;
	uint32_t n_names;
};

enum name_kind { NAME_QUEUE, NAME_MARKER, NAME_IMAGE_MARKER };

/* Each stores an index, adding what is not there. FLEXTRACE_E_MEMORY or 0. */
int index_host_clock(struct identity *identity, const struct definition *from, uint32_t boot_id,
                     uint64_t time_namespace, uint32_t *ret_clock);
int index_process(struct identity *identity, const struct definition *from, uint32_t *ret_process);
int index_thread(struct identity *identity, uint32_t process, int32_t vtid, uint32_t *ret_thread);

/* The clock of a process that does not tell its boot id. */
int index_guess_host_clock(struct identity *identity, const struct definition *from,
                           uint32_t *ret_clock);

/* Whether a process that says it is of the recording `claimed` is not of this conversion. */
bool index_excludes(const struct identity *identity, const struct definition *from,
                    uint32_t claimed);

/* What holds for a process that told that (DIALECT_COUNT: one that there is not). */
uint8_t index_dialect(const struct identity *identity, uint32_t told);

/* Adds a process to the list only, and its generations to the index. */
int index_add_process(struct identity *identity, const struct definition *from, int32_t vpid,
                      struct process **ret_process);
int index_add_span(struct identity *identity, uint32_t trace, int32_t vpid, struct span span);

int index_put_name(struct identity *identity, enum name_kind kind, uint64_t what,
                   const struct name *name);

#endif
