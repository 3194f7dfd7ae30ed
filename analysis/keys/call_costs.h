/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_costs.h: what host calls cost: time of the host and of devices, of their own and with all
 * calls within them; counted once, by all that the tables of averages tell calls apart by.
 *
 * A call is a host row but for steps and windows, which are marks on the time, and functions that
 * Python's profilers told, which are frames: who called. Of the device, work is the own of one
 * call: of the innermost operation of a framework around its launch, as in torch; else of the
 * launch itself. The launch and all calls around it have it in their totals.
 */
#ifndef FLEXTRACE_CALL_COSTS_H
#define FLEXTRACE_CALL_COSTS_H

#include "key_details.h"
#include "windows.h"

/* Lines of calls, of work that no call launched, and of work itself: the device time of the first
 * two is that of the third. */
enum side { SIDE_HOST, SIDE_NO_LAUNCH, SIDE_DEVICE, N_SIDES };

/* Memory is what was allocated less what was freed: it may be negative. */
struct call_cost {
	/* Of calls: name of the tree, node of shown stacks, set of windows, shapes; of work:
	 * process * N_SIDES + side, string, kind, set of windows. */
	struct group_key key;
	uint64_t calls, host_self_ns, host_total_ns, device_self_ns, device_total_ns;
	uint64_t memory_self_bytes, memory_total_bytes;
};

struct call_costs {
	struct call_tree tree;           /* weak */
	struct name_groups calls, works; /* struct call_cost */
	struct key_details details;
	struct windows windows;
};

/* Stores the costs, weak: findings have them from when they are first asked for. One analysis at a
 * time. FLEXTRACE_E_MEMORY or 0. */
int call_costs_borrow(struct call_costs **ret, const struct findings *findings);

/* Stores for each record of memory the innermost row that was open on its thread; FLEXTRACE_NONE:
 * none was. Owned by the caller. FLEXTRACE_E_MEMORY or 0. */
int call_find_memory(const struct call_tree *tree, const struct timeline *timeline,
                     uint32_t **ret_call_of);

#endif
