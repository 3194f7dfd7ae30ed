/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h: what the user named -> traces, as the babeltrace2 command finds them.
 *
 * A directory is asked for with the query `babeltrace.support-info`; what no source understands is
 * searched below, in order of names. Directories of one group (same trace uuid: the chunks of a
 * rotated recording) become inputs of one component.
 */
#ifndef FLEXTRACE_BT2_DISCOVER_H
#define FLEXTRACE_BT2_DISCOVER_H

#include <stdint.h>

#include "bt2/plugins.h"

struct trace_group {
	char *name;   /* owned: group of the query; NULL = alone */
	char **paths; /* owned, each owned */
	uint32_t n_paths;
};

struct trace_groups {
	struct trace_group *groups; /* owned */
	uint32_t n_groups;
};

/* FLEXTRACE_E_INPUT: a path does not exist, or there is no trace at or below it. */
int discover(const struct plugins *plugins, const char *const *paths, uint32_t n_paths,
             struct trace_groups *ret_groups, struct flextrace_error *error);
void trace_groups_release(struct trace_groups *groups);

#endif
