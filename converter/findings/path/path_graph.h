/* SPDX-License-Identifier: Apache-2.0 */
/* path_graph.h: what stands before what: on threads, in queues, and among all that ended. */
#ifndef FLEXTRACE_PATH_GRAPH_H
#define FLEXTRACE_PATH_GRAPH_H

#include "base/map.h"
#include "findings/collectives/collectives.h"
#include "findings/work/call_tree.h"
#include "model/timeline/findings.h"

struct path_process {
	int64_t start_time_ns; /* INT64_MAX: it has nothing */
	int64_t end_time_ns;   /* of its host rows; INT64_MIN: it has none */
	uint32_t home;         /* track of its first thread; FLEXTRACE_NONE: it has none */
	uint32_t last;         /* track of the thread whose row ends last; likewise */
	int64_t last_time_ns;  /* when that is */
	uint64_t n_ended;      /* how far its works in `ended` were read */
	uint32_t last_work;    /* that ended so far, while works are read */
	uint8_t step_kind;     /* HOST_STEP, else HOST_WINDOW, if it has such rows; else 0 */
};

struct path_work { /* a piece of device work, in order of starts */
	int64_t start_time_ns, end_time_ns;
	uint32_t name, process, device, track;
	uint32_t launch; /* place of a host row; FLEXTRACE_NONE: not known */
	uint32_t before; /* work of its queue that ended last before it began; FLEXTRACE_NONE */
	uint32_t last;   /* the same of its process */
	uint8_t class;   /* enum work_class */
};

struct path_part { /* of a collective that all of its ranks wait for */
	int64_t start_time_ns, ready_time_ns;
	uint32_t at; /* work of a device, or a host row; FLEXTRACE_NONE: it has no row */
	uint32_t collective;
	bool is_work;
};

enum path_row_bit {
	PATH_LAUNCHED = 1, /* device work */
	PATH_WAITS = 2,    /* for all device work: its name says so */
	PATH_INSIDE = 4,   /* an operation, or a call of a runtime, or in one */
};

struct path_graph {
	const struct timeline *timeline; /* weak */
	struct call_tree calls;          /* weak */
	uint32_t *rows; /* owned, all from here: places of host rows, by track in order of starts */
	uint64_t *rows_of_track;        /* where those of a track begin, and end behind the last */
	struct path_process *processes; /* by process */
	uint8_t *row_bits;              /* by place: enum path_row_bit */
	bool *uses_devices;             /* by track: whether it has such rows */
	uint32_t *step_rows;            /* places of steps and windows, in order */
	uint32_t n_step_rows;
	uint32_t *event_waits; /* places of calls that make a queue wait, in order */
	uint32_t n_event_waits;
	struct path_work *works;
	uint32_t n_works;
	uint32_t *ended;    /* works by process in order of ends */
	uint64_t *ended_of; /* where those of a process begin, and end behind the last */
	struct path_part *parts;
	uint32_t *
		last_of; /* by collective: the part of the rank that came last; or FLEXTRACE_NONE */
	uint32_t n_parts;
	struct map part_index; /* (start, process and device) -> part */
};

/* FLEXTRACE_E_MEMORY or 0; release in any case. */
int path_graph_init(struct path_graph *graph, const struct findings *findings);
void path_graph_release(struct path_graph *graph);

/* Whether the rows of a track stand on a thread: they cross no others, and are not async. */
bool path_is_of_thread(const struct path_graph *graph, uint32_t track);

/* The last host row of a track that began before a time; FLEXTRACE_NONE: none did. `at`, of any
 * value at first, remembers where the last answer was: questions of times that are mostly earlier
 * are answered faster. Likewise below. */
uint32_t path_row_before(const struct path_graph *graph, uint32_t track, int64_t time_ns,
                         uint64_t *at);

/* Behind which place of `ended` stand works of a process that have not ended at a time. */
uint64_t path_ended_until(const struct path_graph *graph, uint32_t process, int64_t time_ns,
                          uint64_t *at);

/* Of which time device work is: when the call began that launched it; else its own start. */
static inline int64_t path_since_ns(const struct path_graph *graph, const struct path_work *work)
{
	return work->launch == FLEXTRACE_NONE ? work->start_time_ns
	                                      : graph->calls.calls[work->launch].row->start_time_ns;
}

/* What device work had to wait for last before it began. */
struct path_bound {
	int64_t time_ns;   /* when it waited no more */
	int64_t launch_ns; /* when the launch was made, if it is known; at the latest its start */
	/* The same at the earliest: where the call returned later than the work began, when the
	 * call began. INT64_MIN: it waited for work, and no launch is known. */
	int64_t since_ns;
	uint32_t work;  /* that ended at `time_ns`; FLEXTRACE_NONE: it waited for the launch */
	bool is_of_all; /* it may have waited for all that ended before */
};

struct path_bound path_bound_of(const struct path_graph *graph, uint32_t index);

/* Whether a call whose bits are set waits for a work, if that has not ended when it begins. */
bool path_is_waited_for(const struct path_graph *graph, uint32_t place, uint32_t work_index);

/* The last work that a call waited for; FLEXTRACE_NONE: none. */
uint32_t path_waited_for(const struct path_graph *graph, uint32_t place, uint64_t *at);

/* The part of a collective that a row or a work is, if it waited for another rank; NULL: it did
 * not. `device`: FLEXTRACE_NONE: of the host. */
const struct path_part *path_part_at(const struct path_graph *graph, int64_t start_time_ns,
                                     int64_t end_time_ns, uint32_t process, uint32_t device);

#endif
