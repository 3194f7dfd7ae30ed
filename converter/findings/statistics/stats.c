/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/hash.h"
#include "order.h"

#define MIN_CHUNK 4u /* durations */
#define MAX_CHUNK 4096u

/* Chunks of a group double, and are all full but the last. */
struct stats_chunk {
	struct stats_chunk *before; /* weak */
	uint32_t n, n_allocated;
	uint64_t durations_ns[];
};

void stats_init(struct stats *stats, const char *(*label)(uint8_t kind), uint64_t max_groups)
{
	*stats = (struct stats){.label = label, .max_groups = max_groups};
}

void stats_release(struct stats *stats)
{
	blocks_free(stats->groups);
	blocks_free(stats->order);
	free(stats->scratch_ns);
	slots_release(&stats->slots);
	table_release(&stats->chunks);
	*stats = (struct stats){.label = NULL};
}

/* -- counting ------------------------------------------------------------------------------- */

static uint64_t hash_key(const struct stats_key *key)
{
	return hash_words((uint64_t)key->owner << 8 | key->kind, key->name);
}

static uint64_t hash_group(const void *groups, uint32_t place)
{
	return hash_key(&((const struct stats_group *)groups)[place].key);
}

static bool is_group(const void *groups, uint32_t place, const void *of)
{
	const struct stats_key *a = &((const struct stats_group *)groups)[place].key, *b = of;

	return a->owner == b->owner && a->name == b->name && a->kind == b->kind;
}

static const struct slots_of slots_of_groups = {hash_group, is_group};

static int add_group(struct stats *stats, const struct stats_key *key)
{
	if (!stats->groups)
		stats->groups = blocks_reserve(stats->max_groups, sizeof(*stats->groups));
	if (!stats->groups)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(blocks_fill_next(stats->groups, stats->n_groups, sizeof(*stats->groups)));
	stats->groups[stats->n_groups++] = (struct stats_group){.key = *key};
	return FLEXTRACE_OK;
}

static int find_group(struct stats *stats, const struct stats_key *key, uint32_t *ret_group)
{
	uint32_t *slot;

	FLEXTRACE_TRY(
		slots_reserve(&stats->slots, &slots_of_groups, stats->groups, stats->n_groups));
	slot = slots_find(&stats->slots, &slots_of_groups, stats->groups, key, hash_key(key));
	if (!*slot) {
		FLEXTRACE_TRY(add_group(stats, key));
		*slot = stats->n_groups;
	}
	*ret_group = *slot - 1;
	return FLEXTRACE_OK;
}

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

int stats_count(struct stats *stats, const struct stats_key *key, uint64_t duration_ns,
                uint32_t *ret_group)
{
	struct stats_group *group;

	FLEXTRACE_TRY(find_group(stats, key, ret_group));
	group = &stats->groups[*ret_group];
	FLEXTRACE_TRY(keep_duration(stats, group, duration_ns));
	group->total_ns = spread_add(group->total_ns, duration_ns);
	return FLEXTRACE_OK;
}

struct sorting {
	const struct stats *stats;
	const struct string_pool *strings;
};

static int compare_groups(uint32_t left_place, uint32_t right_place, const void *context)
{
	const struct sorting *sorting = context;
	const struct stats_group *left = &sorting->stats->groups[left_place];
	const struct stats_group *right = &sorting->stats->groups[right_place];
	int order;

	if (left->key.owner != right->key.owner)
		return left->key.owner < right->key.owner ? -1 : 1;
	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	order = strcmp(string_get(sorting->strings, left->key.name),
	               string_get(sorting->strings, right->key.name));
	if (order)
		return order;
	return strcmp(sorting->stats->label(left->key.kind),
	              sorting->stats->label(right->key.kind));
}

int stats_finish(struct stats *stats, const struct string_pool *strings)
{
	struct sorting sorting = {stats, strings};
	uint64_t most = 0;

	for (uint32_t i = 0; i < stats->n_groups; i++)
		most = stats->groups[i].calls > most ? stats->groups[i].calls : most;
	stats->scratch_ns = malloc((most + 1) * sizeof(*stats->scratch_ns));
	slots_release(&stats->slots);
	stats->order = order_of(stats->n_groups, compare_groups, &sorting);
	return stats->scratch_ns && stats->order ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

/* -- figures -------------------------------------------------------------------------------- */

void stats_spread(struct stats *stats, const struct stats_group *group, struct spread *ret)
{
	uint64_t at = group->calls;

	stats->scratch_ns[0] = group->total_ns;
	for (const struct stats_chunk *chunk = group->last; chunk; chunk = chunk->before) {
		at -= chunk->n;
		memcpy(stats->scratch_ns + at, chunk->durations_ns,
		       chunk->n * sizeof(*chunk->durations_ns));
	}
	spread_of(stats->scratch_ns, group->calls, ret);
}

/* -- rows ----------------------------------------------------------------------------------- */

struct stats_cells stats_cells(struct stats *stats, const struct string_pool *strings,
                               const struct stats_group *group)
{
	struct stats_cells cells = {
		.kind = stats->label(group->key.kind),
		.name = string_get(strings, group->key.name),
		.total = group->total_ns,
		.calls = group->calls,
	};

	stats_spread(stats, group, &cells.spread);
	return cells;
}
