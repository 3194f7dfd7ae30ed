/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h: calls and durations by (owner, kind, name), with exact medians.
 *
 * Memory: 8 bytes per call and what the groups' last chunks have in reserve, until
 * stats_release(); a group 40, 8 to 16 more to find and to sort it, and no chunk while it has one
 * call.
 */
#ifndef FLEXTRACE_STATS_H
#define FLEXTRACE_STATS_H

#include <stdint.h>

#include "name_groups.h"
#include "spread.h"
#include "base/table.h"

struct stats_group {          /* 40 bytes */
	struct group_key key; /* owners are numbered in the order of lines */
	uint32_t calls;
	uint64_t total_ns;        /* at most UINT64_MAX */
	struct stats_chunk *last; /* weak: its durations; NULL: at most one, `total_ns` */
};

struct stats {
	struct name_groups groups;         /* struct stats_group; sorted by stats_finish() */
	struct table chunks;               /* of durations */
	uint64_t *scratch_ns;              /* owned: room for those of the largest group */
	uint64_t owner_ns;                 /* of the line whose share was last asked for: in all */
	const struct string_pool *strings; /* weak: of names */
	const char *(*label)(uint32_t kind); /* of a kind, as it is written */
};

/* There are never more than `max_groups`: as many as calls. */
void stats_init(struct stats *stats, const struct string_pool *strings,
                const char *(*label)(uint32_t kind), uint64_t max_groups);
void stats_release(struct stats *stats);

/* Counts a call and stores its group. FLEXTRACE_E_MEMORY or 0. */
int stats_count(struct stats *stats, const struct group_key *key, uint64_t duration_ns,
                uint32_t *ret_group);

/* The same of a group that is known. */
int stats_count_at(struct stats *stats, uint32_t group, uint64_t duration_ns);

/* Counts all calls of a group of other statistics, after stats_finish() of those. */
int stats_join(struct stats *stats, const struct group_key *key, struct stats *from,
               const struct stats_group *group, uint32_t *ret_group);

/* Puts the groups in order: by owner, then largest total first, then by the bytes of name and
 * label. Call when all calls are counted. FLEXTRACE_E_MEMORY or 0. */
int stats_finish(struct stats *stats);

/* Returns the group of a line, after stats_finish(). */
static inline const struct stats_group *stats_line(const struct stats *stats, uint32_t line)
{
	return name_groups_line(&stats->groups, line);
}

/* Returns the share of a line in the total of its owner. Lines are asked for in their order. */
double stats_share_percent(struct stats *stats, uint32_t line);

/* Stores the spread of a group's durations, after stats_finish(). */
void stats_spread(struct stats *stats, const struct stats_group *group, struct spread *ret);

/* What a row of a table says of a group. */
struct stats_cells {
	const char *kind, *name;
	uint64_t total; /* of durations */
	struct spread spread;
	uint32_t calls;
};

/* The cells of a group, after stats_finish(). */
struct stats_cells stats_cells(struct stats *stats, const struct stats_group *group);

#endif
