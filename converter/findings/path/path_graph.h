/* SPDX-License-Identifier: Apache-2.0 */
/* path_graph.h: what stands before what: on threads, in queues, and among all that ended. */
#ifndef FLEXTRACE_PATH_GRAPH_H
#define FLEXTRACE_PATH_GRAPH_H

#include "base/map.h"
#include "findings/collectives/collectives.h"
#include "findings/work/call_tree.h"
#include "model/timeline/findings.h"

struct path_process {
	/* Of its host rows; INT64_MAX, INT64_MIN: it has none. */
	int64_t start_time_ns, end_time_ns;
	uint32_t home;        /* track of its first thread; FLEXTRACE_NONE: it has none */
	uint32_t last;        /* track of the thread whose row ends last; likewise */
	int64_t last_time_ns; /* when that is */
	uint8_t step_kind;    /* HOST_STEP, else HOST_WINDOW, if it has such rows; else 0 */
};

struct path_work { /* a piece of device work, in order of starts */
	int64_t start_time_ns, end_time_ns;
	uint32_t name, process, device, track;
	uint32_t launch; /* place of a host row; FLEXTRACE_NONE: not known */
	uint32_t before; /* work of its queue that ended last before it began; FLEXTRACE_NONE */
	uint8_t class;   /* enum work_class */
};

struct path_part { /* of a collective that all of its ranks wait for */
	int64_t start_time_ns, ready_time_ns;
	uint32_t last; /* the part of the last rank that came */
	uint32_t at;   /* work of a device, or a host row; FLEXTRACE_NONE: it has no row */
	uint32_t collective;
	bool is_work;
};

struct path_graph {
	const struct timeline *timeline; /* weak */
	struct call_tree calls;          /* weak */
	uint32_t *rows; /* owned, all from here: places of host rows, by track in order of starts */
	uint64_t *rows_of_track;        /* where those of a track begin, and end behind the last */
	struct path_process *processes; /* by process */
	bool *has_launched;             /* by place: whether a host row launched device work */
	uint32_t *event_waits;          /* places of calls that make a queue wait, in order */
	uint32_t n_event_waits;
	struct map call_of_name; /* by string: enum path_call */
	struct path_work *works;
	uint32_t n_works;
	uint32_t *ended;    /* works by process in order of ends */
	uint64_t *ended_of; /* where those of a process begin, and end behind the last */
	struct path_part *parts;
	uint32_t n_parts;
	struct map part_index; /* (start, process and device) -> part */
};

enum path_call { PATH_CALL, PATH_CALL_WAITS, PATH_CALL_QUEUE_WAITS };

/* FLEXTRACE_E_MEMORY or 0; release in any case. */
int path_graph_init(struct path_graph *graph, const struct findings *findings);
void path_graph_release(struct path_graph *graph);

/* Whether a row stands on a thread: it crosses no other, and is not async. */
bool path_is_of_thread(const struct path_graph *graph, const struct host_row *row);

/* What a host row does. */
enum path_call path_call_of(const struct path_graph *graph, const struct host_row *row);

/* The last host row of a track that began before a time; FLEXTRACE_NONE: none did. `at` is where
 * the one before was found, in `rows`, and tells where to look. */
uint32_t path_row_before(const struct path_graph *graph, uint32_t track, int64_t time_ns,
                         uint64_t *at);

/* How many works of a process, in `ended`, have ended at a time or before, of which the first is at
 * `*ret_first`. */
uint64_t path_count_ended(const struct path_graph *graph, uint32_t process, int64_t time_ns,
                          const uint32_t **ret_first);

/* Whether the host made a queue wait between two places of host rows. */
bool path_waits_between(const struct path_graph *graph, uint32_t after, uint32_t before);

/* The part of a collective that began there; NULL: none. `device`: FLEXTRACE_NONE: of the host. */
const struct path_part *path_part_at(const struct path_graph *graph, int64_t start_time_ns,
                                     uint32_t process, uint32_t device);

#endif
