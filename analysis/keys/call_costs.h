/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_costs.h: what host calls cost: time of the host and of devices, of their own and with all
 * calls within them.
 *
 * A call is a host row but for steps and windows, which are marks on the time, and functions that
 * Python's profilers told, which are frames: who called. Of the device, work is the own of one
 * call: of the innermost operation of a framework around its launch, as in torch; else of the
 * launch itself. The launch and all calls around it have it in their totals.
 */
#ifndef FLEXTRACE_CALL_COSTS_H
#define FLEXTRACE_CALL_COSTS_H

#include "findings/work/call_tree.h"
#include "findings/work/work.h"

struct call_cost {
	uint64_t below_ns; /* host time of the calls directly below */
	uint64_t device_self_ns, device_total_ns;
	uint64_t memory_self_bytes, memory_total_bytes; /* allocated less freed: may be negative */
};

struct call_costs {
	const struct timeline *timeline; /* weak */
	struct call_tree tree;           /* owned; from call_costs_settle() on `parent` is a call */
	struct call_cost *costs;         /* owned: by place in the host rows */
	uint32_t *innermost;             /* owned: by thread, its latest call that may be open */
	struct map is_frame;             /* by name, once it was looked at */
};

/* Stores for each record of memory the innermost row that was open on its thread; FLEXTRACE_NONE:
 * none was. Owned by the caller. FLEXTRACE_E_MEMORY or 0. */
int call_find_memory(const struct call_tree *tree, const struct timeline *timeline,
                     uint32_t **ret_call_of);

/* Takes the tree of all rows. FLEXTRACE_E_MEMORY or 0, as below; release in any case. */
int call_costs_init(struct call_costs *costs, const struct findings *findings);
void call_costs_release(struct call_costs *costs);

/* Whether the row of a scope is a function that a profiler of Python told. */
bool call_names_frame(const struct timeline *timeline, const struct host_row *row);

/* The same of any row; each name is looked at once. 1 or 0, or FLEXTRACE_E_MEMORY. */
int call_costs_is_frame(struct call_costs *costs, const struct host_row *row);

/* Takes what is no call out of the tree (its row is NULL then), and counts host time and memory. */
int call_costs_settle(struct call_costs *costs);

/* Counts a piece of work. Returns the place of the call whose own it is; FLEXTRACE_NONE: none
 * launched it. */
uint32_t call_costs_add(struct call_costs *costs, const struct work *work);

/* Then completes the totals. */
void call_costs_finish(struct call_costs *costs);

static inline uint64_t host_row_ns(const struct host_row *row)
{
	return interval_ns(row->start_time_ns, row->end_time_ns);
}

#endif
