/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives_sets.h"

#include <stdlib.h>

#define OF_ALL   0 /* not of one number */
#define NO_PEERS 0 /* a set: of all who use the group */
#define SEVERAL  (MAP_NONE - 1)

static int find_node(struct rank_sets *sets, uint32_t group, uint64_t number, uint32_t rank,
                     uint32_t *ret_node)
{
	uint64_t key = (uint64_t)group << 32 | rank;
	int is_new = MAP_PLACE(&sets->nodes, key, number, sets->all, sets->n, ret_node);

	if (is_new > 0)
		sets->all[*ret_node] = (struct rank_node){*ret_node, rank};
	return is_new;
}

static uint32_t root_of(struct rank_sets *sets, uint32_t node)
{
	while (sets->all[node].parent != node) {
		sets->all[node].parent = sets->all[sets->all[node].parent].parent;
		node = sets->all[node].parent;
	}
	return node;
}

static int join(struct rank_sets *sets, uint32_t group, uint64_t number, const uint32_t *ranks)
{
	uint32_t a, b;

	FLEXTRACE_TRY(find_node(sets, group, number, ranks[0], &a));
	FLEXTRACE_TRY(find_node(sets, group, number, ranks[1], &b));
	a = root_of(sets, a);
	b = root_of(sets, b);
	if (sets->all[a].rank < sets->all[b].rank)
		sets->all[b].parent = a;
	else
		sets->all[a].parent = b;
	return FLEXTRACE_OK;
}

int rank_sets_link(struct rank_sets *sets, const struct collective_part *part, int32_t rank,
                   int32_t peer)
{
	const uint32_t ranks[] = {(uint32_t)rank, (uint32_t)peer};

	if (rank < 0 || peer < 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(map_put(&sets->known, part->group, 0, 1));
	FLEXTRACE_TRY(join(sets, part->group, OF_ALL, ranks));
	return join(sets, part->group, part->number + 1, ranks);
}

/* Stores 1 + the lowest rank of the set or subset that a rank is of, 0: it is of none. */
static uint32_t set_of(struct rank_sets *sets, uint32_t group, uint64_t number, int32_t rank)
{
	uint32_t node = MAP_NONE;

	if (rank >= 0)
		node = map_find(&sets->nodes, (uint64_t)group << 32 | (uint32_t)rank, number);
	return node == MAP_NONE ? 0 : 1 + sets->all[root_of(sets, node)].rank;
}

/* -- parts ------------------------------------------------------------------------------------- */

static uint64_t key_of(const struct collective_part *part)
{
	return (uint64_t)part->group << 32 | part->who;
}

/* Those that name nobody stand behind the ranks that do. */
static void fill_part(struct rank_sets *sets, const struct identity *identity,
                      struct collective_part *part)
{
	int32_t rank = identity->processes[part->process].rank;

	if (map_find(&sets->known, part->group, 0) == MAP_NONE) {
		part->who = NO_PEERS;
		return;
	}
	part->who = set_of(sets, part->group, OF_ALL, rank);
	part->subset = set_of(sets, part->group, part->number + 1, rank);
	part->is_alone = !part->who;
	if (part->is_alone)
		part->who = UINT32_MAX - part->process;
}

/* Notes the subset of a set in each number, SEVERAL: there is not only one. */
static int list_subsets(struct map *subsets, const struct collective_part *parts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t known = map_find(subsets, key_of(&parts[i]), parts[i].number);

		if (!parts[i].subset || known == parts[i].subset)
			continue;
		FLEXTRACE_TRY(map_put(subsets, key_of(&parts[i]), parts[i].number,
		                      known == MAP_NONE ? parts[i].subset : SEVERAL));
	}
	return FLEXTRACE_OK;
}

static void settle(const struct map *subsets, struct collective_part *part)
{
	uint32_t only = map_find(subsets, key_of(part), part->number);

	if (part->subset || only == MAP_NONE)
		return;
	part->is_alone = only == SEVERAL;
	part->subset = part->is_alone ? UINT32_MAX - part->process : only;
}

int rank_sets_fill(struct rank_sets *sets, const struct identity *identity,
                   struct collective_part *parts, uint32_t n)
{
	struct map subsets = {0};
	int code;

	for (uint32_t i = 0; i < n; i++)
		fill_part(sets, identity, &parts[i]);
	code = list_subsets(&subsets, parts, n);
	for (uint32_t i = 0; i < n && code == FLEXTRACE_OK; i++)
		settle(&subsets, &parts[i]);
	map_release(&subsets);
	return code;
}

void rank_sets_release(struct rank_sets *sets)
{
	map_release(&sets->nodes);
	map_release(&sets->known);
	free(sets->all);
}
