/* SPDX-License-Identifier: Apache-2.0 */
#include "call_tree.h"

#include <stdlib.h>

#include "base/blocks.h"

/* Whether a row of the same track that began before another one, or with it, is around it: `depth`
 * tells it apart from one that has ended, and its end where filters hide rows between. */
static bool is_around(const struct host_row *outer, const struct host_row *inner)
{
	return outer->depth < inner->depth && outer->end_time_ns >= inner->end_time_ns;
}

/* Stores the name of a row. */
static int find_name(struct call_tree *tree, const struct host_row *row, uint32_t process,
                     uint32_t *ret_name)
{
	const struct group_key key = {process, row->name, row->kind, 0};
	uint32_t n = tree->names.n;
	struct call_name *name;

	FLEXTRACE_TRY(name_groups_find(&tree->names, &key, ret_name));
	name = name_groups_at(&tree->names, *ret_name);
	name->last = tree->n;
	if (*ret_name == n)
		name->first = tree->n;
	return FLEXTRACE_OK;
}

/* Puts a row on its track; `innermost`: by track, the last row that may be around the next one. */
static int add_call(struct call_tree *tree, const struct timeline *timeline,
                    const struct host_row *row, uint32_t *innermost)
{
	const struct track *track = &timeline->tracks[row->track];
	uint32_t parent = innermost[row->track], name;
	uint32_t process = timeline->identity->threads[track->owner].process;

	FLEXTRACE_TRY(find_name(tree, row, process, &name));
	blocks_pass(tree->n, sizeof(*tree->calls));
	while (parent != FLEXTRACE_NONE && !is_around(tree->calls[parent].row, row))
		parent = tree->calls[parent].parent;
	if (track->kind == TRACK_THREAD && track->lane == 0)
		innermost[row->track] = tree->n;
	tree->calls[tree->n++] = (struct call){row, parent, process, name, row->track};
	return FLEXTRACE_OK;
}

int call_tree_init(struct call_tree *tree, const struct timeline *timeline)
{
	uint32_t *innermost = malloc((timeline->n_tracks + 1ull) * sizeof(*innermost));
	int code;

	*tree = (struct call_tree){
		.calls = blocks_allocate(timeline->host_rows.n_rows + 1, sizeof(*tree->calls)),
	};
	code = innermost && tree->calls ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	name_groups_init(&tree->names, sizeof(struct call_name), timeline->host_rows.n_rows);
	for (uint32_t i = 0; innermost && i < timeline->n_tracks; i++)
		innermost[i] = FLEXTRACE_NONE;
	TABLE_EACH(struct host_row, row, &timeline->host_rows) {
		if (code == FLEXTRACE_OK)
			code = add_call(tree, timeline, row, innermost);
	}
	free(innermost);
	return code;
}

int call_tree_borrow(struct call_tree *ret, const struct findings *findings)
{
	struct call_tree *tree = findings->call_tree;

	if (!tree->calls)
		FLEXTRACE_TRY(call_tree_init(tree, findings->timeline));
	*ret = *tree;
	return FLEXTRACE_OK;
}

void call_tree_release(struct call_tree *tree)
{
	blocks_free(tree->calls);
	name_groups_release(&tree->names);
	*tree = (struct call_tree){0};
}
