/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

#define MIN_CHUNK 4u /* durations */
#define MAX_CHUNK 4096u

/* Chunks of a group double, and are all full but the last. */
struct stats_chunk {
	struct stats_chunk *before; /* weak */
	uint32_t n, n_allocated;
	uint64_t durations_ns[];
};

void stats_init(struct stats *stats, const struct string_pool *strings,
                const char *(*label)(uint32_t kind), uint64_t max_groups)
{
	*stats = (struct stats){.strings = strings, .label = label};
	name_groups_init(&stats->groups, sizeof(struct stats_group), max_groups);
}

void stats_release(struct stats *stats)
{
	name_groups_release(&stats->groups);
	free(stats->scratch_ns);
	table_release(&stats->chunks);
	*stats = (struct stats){.label = NULL};
}

/* -- counting ------------------------------------------------------------------------------- */

static int add_chunk(struct stats *stats, struct stats_group *group)
{
	struct stats_chunk *last = group->last, *chunk;
	uint32_t n = last ? 2 * last->n : MIN_CHUNK;

	n = n < MAX_CHUNK ? n : MAX_CHUNK;
	chunk = table_append(&stats->chunks, sizeof(*chunk) + n * sizeof(*chunk->durations_ns));
	if (!chunk)
		return FLEXTRACE_E_MEMORY;
	*chunk = (struct stats_chunk){.before = last, .n_allocated = n};
	group->last = chunk;
	return FLEXTRACE_OK;
}

/* The first one is the total; so many groups have no other. */
static int keep_duration(struct stats *stats, struct stats_group *group, uint64_t duration_ns)
{
	if (group->calls == UINT32_MAX)
		return FLEXTRACE_E_MEMORY;
	group->calls++;
	if (group->calls == 1)
		return FLEXTRACE_OK;
	if (!group->last || group->last->n == group->last->n_allocated)
		FLEXTRACE_TRY(add_chunk(stats, group));
	if (group->calls == 2)
		group->last->durations_ns[group->last->n++] = group->total_ns;
	group->last->durations_ns[group->last->n++] = duration_ns;
	return FLEXTRACE_OK;
}

int stats_count_at(struct stats *stats, uint32_t group, uint64_t duration_ns)
{
	struct stats_group *of = name_groups_at(&stats->groups, group);

	FLEXTRACE_TRY(keep_duration(stats, of, duration_ns));
	of->total_ns = spread_add(of->total_ns, duration_ns);
	return FLEXTRACE_OK;
}

int stats_count(struct stats *stats, const struct group_key *key, uint64_t duration_ns,
                uint32_t *ret_group)
{
	FLEXTRACE_TRY(name_groups_find(&stats->groups, key, ret_group));
	return stats_count_at(stats, *ret_group, duration_ns);
}

/* Puts the durations of a group into the room for the largest. */
static void gather(struct stats *stats, const struct stats_group *group)
{
	uint64_t at = group->calls;

	stats->scratch_ns[0] = group->total_ns;
	for (const struct stats_chunk *chunk = group->last; chunk; chunk = chunk->before) {
		at -= chunk->n;
		memcpy(stats->scratch_ns + at, chunk->durations_ns,
		       chunk->n * sizeof(*chunk->durations_ns));
	}
}

int stats_join(struct stats *stats, const struct group_key *key, struct stats *from,
               const struct stats_group *group, uint32_t *ret_group)
{
	FLEXTRACE_TRY(name_groups_find(&stats->groups, key, ret_group));
	gather(from, group);
	for (uint32_t i = 0; i < group->calls; i++)
		FLEXTRACE_TRY(stats_count_at(stats, *ret_group, from->scratch_ns[i]));
	return FLEXTRACE_OK;
}

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct stats *stats = context;
	const uint32_t *places[2] = {left, right};
	const struct stats_group *a = name_groups_at(&stats->groups, *places[0]);
	const struct stats_group *b = name_groups_at(&stats->groups, *places[1]);

	return ORDER(a->key.owner, b->key.owner) ?: ORDER(b->total_ns, a->total_ns) ?:
	       string_compare(stats->strings, a->key.name, b->key.name) ?:
	       strcmp(stats->label(a->key.kind), stats->label(b->key.kind)) ?:
	       ORDER(*places[0], *places[1]);
}

int stats_finish(struct stats *stats)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < stats->groups.n; i++) {
		const struct stats_group *group = name_groups_at(&stats->groups, i);

		most = group->calls > most ? group->calls : most;
	}
	FLEXTRACE_TRY(ARRAY_NEW(stats->scratch_ns, most + 1));
	return name_groups_sort(&stats->groups, compare_groups, stats);
}

/* At most UINT64_MAX. */
static uint64_t total_of_owner(const struct stats *stats, uint32_t first)
{
	uint32_t owner = stats_line(stats, first)->key.owner;
	uint64_t total_ns = 0;

	for (uint32_t i = first; i < stats->groups.n && stats_line(stats, i)->key.owner == owner;
	     i++)
		total_ns = spread_add(total_ns, stats_line(stats, i)->total_ns);
	return total_ns;
}

double stats_share_percent(struct stats *stats, uint32_t line)
{
	const struct stats_group *group = stats_line(stats, line);

	if (!line || stats_line(stats, line - 1)->key.owner != group->key.owner)
		stats->owner_ns = total_of_owner(stats, line);
	return 100.0 * (double)group->total_ns / (double)stats->owner_ns;
}

/* -- figures -------------------------------------------------------------------------------- */

void stats_spread(struct stats *stats, const struct stats_group *group, struct spread *ret)
{
	gather(stats, group);
	spread_of(stats->scratch_ns, group->calls, ret);
}

/* -- rows ----------------------------------------------------------------------------------- */

struct stats_cells stats_cells(struct stats *stats, const struct stats_group *group)
{
	struct stats_cells cells = {
		.kind = stats->label(group->key.kind),
		.name = string_get(stats->strings, group->key.name),
		.total = group->total_ns,
		.calls = group->calls,
	};

	stats_spread(stats, group, &cells.spread);
	return cells;
}
