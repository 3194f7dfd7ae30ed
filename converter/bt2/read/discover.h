/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h: what the user named -> traces, as the babeltrace2 command finds them.
 *
 * A directory is asked for with the query `babeltrace.support-info`; what no source understands is
 * searched below, in order of names. Directories of one group (same trace uuid: the chunks of a
 * rotated recording) become inputs of one component.
 *
 * A directory with a file `metadata` that no source understands is a damaged trace.
 */
#ifndef FLEXTRACE_BT2_DISCOVER_H
#define FLEXTRACE_BT2_DISCOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/text_list.h"
#include "plugins.h"

struct trace_group {
	char *name;             /* owned: group of the query; NULL = alone */
	struct text_list paths; /* owned */
	char *shown;            /* owned: of what the first path is a view; NULL: it is none */
};

struct trace_groups {
	struct trace_group *groups; /* owned */
	uint32_t n_groups;
	struct text_list damaged; /* owned: directories of damaged traces */
};

struct discover_options {
	const char *const *paths; /* weak */
	uint32_t n_paths;
	bool is_careful; /* ask in a process that may die, see probe.h */
};

/* FLEXTRACE_E_INPUT: a path does not exist, or there is no trace at or below it, or directories are
 * nested too deep. */
int discover(const struct plugins *plugins, const struct discover_options *options,
             struct trace_groups *ret_groups, struct flextrace_error *error);
/* The path of a group for messages. */
const char *trace_group_path(const struct trace_group *group);
void trace_groups_release(struct trace_groups *groups);

#endif
