/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_tree.h: which host interval is within which, and which are of one name.
 *
 * The parent of a row is the innermost one around it on its thread. Rows that cross others of their
 * thread (overflow lanes) and async ones have none and are nobody's. Memory: 24 bytes a row.
 */
#ifndef FLEXTRACE_CALL_TREE_H
#define FLEXTRACE_CALL_TREE_H

#include "findings/statistics/name_groups.h"
#include "model/timeline/findings.h"
#include "model/timeline/timeline_read.h"

struct call {
	const struct host_row *row; /* weak */
	uint32_t parent;            /* place; FLEXTRACE_NONE: none. Always before its children */
	uint32_t process;           /* index */
	uint32_t name;              /* place of a struct call_name */
	uint32_t track;             /* that of `row` */
};

struct call_name {            /* rows of a process, name and kind */
	struct group_key key; /* owner: process */
	uint32_t first, last; /* places */
};

/* What a loop over calls goes over, with what they say of their rows. */
#define CALL_PASS_BYTES (sizeof(struct call) + sizeof(struct host_row))

struct call_tree {
	struct call *calls; /* owned: by place in the host rows, which is their order of output */
	uint32_t n;
	struct name_groups names; /* struct call_name */
};

/* Stores the tree of the rows that are shown, weak: findings have it from when it is first asked
 * for. One analysis at a time. FLEXTRACE_E_MEMORY or 0. */
int call_tree_borrow(struct call_tree *ret, const struct findings *findings);

/* FLEXTRACE_E_MEMORY or 0; call_tree_release() in any case. */
int call_tree_init(struct call_tree *tree, const struct timeline *timeline);
void call_tree_release(struct call_tree *tree);

static inline const struct call_name *call_name_at(const struct call_tree *tree, uint32_t place)
{
	return name_groups_at(&tree->names, place);
}

/* Whether a row is a mark on the time, and no call. */
static inline bool call_is_mark(const struct host_row *row)
{
	return row->kind == HOST_STEP || row->kind == HOST_WINDOW;
}

/* Whether an earlier row of a thread has ended when another begins: `depth` tells one that lasts no
 * time within it apart from one behind it. */
static inline bool call_has_ended(const struct host_row *open, const struct host_row *row)
{
	if (open->end_time_ns != row->start_time_ns)
		return open->end_time_ns < row->start_time_ns;
	return open->track != row->track || open->depth >= row->depth;
}

/* The host row that launched a control block; FLEXTRACE_NONE: none is known. */
static inline uint32_t launch_of(const struct timeline *timeline, uint32_t op)
{
	return timeline->launch_of_op ? timeline->launch_of_op[op] : FLEXTRACE_NONE;
}

#endif
