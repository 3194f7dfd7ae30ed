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

/* Puts a row on its track; `innermost`: by track, the last row that may be around the next one. */
static void add_call(struct call_tree *tree, const struct timeline *timeline,
                     const struct host_row *row, uint32_t *innermost)
{
	const struct track *track = &timeline->tracks[row->track];
	uint32_t parent = innermost[row->track];

	blocks_pass(tree->n, sizeof(*tree->calls));
	while (parent != FLEXTRACE_NONE && !is_around(tree->calls[parent].row, row))
		parent = tree->calls[parent].parent;
	if (track->kind == TRACK_THREAD && track->lane == 0)
		innermost[row->track] = tree->n;
	tree->calls[tree->n++] = (struct call){
		.row = row,
		.parent = parent,
		.process = timeline->identity->threads[track->owner].process,
	};
}

int call_tree_init(struct call_tree *tree, const struct timeline *timeline)
{
	uint32_t *innermost = malloc((timeline->n_tracks + 1ull) * sizeof(*innermost));

	*tree = (struct call_tree){
		.calls = blocks_allocate(timeline->host_rows.n_rows + 1, sizeof(*tree->calls)),
	};
	for (uint32_t i = 0; innermost && i < timeline->n_tracks; i++)
		innermost[i] = FLEXTRACE_NONE;
	if (innermost && tree->calls) {
		TABLE_EACH(struct host_row, row, &timeline->host_rows)
			add_call(tree, timeline, row, innermost);
	}
	free(innermost);
	return innermost && tree->calls ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

int call_tree_borrow(struct call_tree *ret, const struct findings *findings)
{
	struct call_tree *tree = findings->call_tree;

	if (!tree->calls)
		FLEXTRACE_TRY(call_tree_init(tree, findings->timeline));
	*ret = *tree;
	return FLEXTRACE_OK;
}

int call_tree_copy(struct call_tree *ret, const struct findings *findings)
{
	struct call_tree whole;

	*ret = (struct call_tree){0};
	FLEXTRACE_TRY(call_tree_borrow(&whole, findings));
	ret->calls = blocks_allocate(whole.n + 1ull, sizeof(*ret->calls));
	if (!ret->calls)
		return FLEXTRACE_E_MEMORY;
	for (; ret->n < whole.n; ret->n++) {
		blocks_pass(ret->n, 2 * sizeof(*ret->calls));
		ret->calls[ret->n] = whole.calls[ret->n];
	}
	return FLEXTRACE_OK;
}

void call_tree_release(struct call_tree *tree)
{
	blocks_free(tree->calls);
	*tree = (struct call_tree){0};
}
