/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_details.h: what calls of one name are told apart by: the shapes of their inputs, or who
 * called.
 */
#ifndef FLEXTRACE_KEY_DETAILS_H
#define FLEXTRACE_KEY_DETAILS_H

#include "call_costs.h"
#include "name_trie.h"

#define STACK_FRAMES 5 /* the innermost ones tell calls apart, as torch's group_by_stack_n=5 does */

enum key_detail { DETAIL_NONE, DETAIL_SHAPES, DETAIL_STACK };

struct key_details {
	enum key_detail of;
	struct call_costs *costs;  /* weak: its tree is not settled yet */
	struct string_pool *pool;  /* owned: of shapes and frames */
	struct string_cache cache; /* of it */
	uint32_t *of_row;       /* owned: by place in the host rows: shapes, or node of `whole` */
	struct name_trie whole; /* stacks */
	struct name_trie shown; /* their innermost frames, the innermost one outside */
	uint32_t *shown_of;     /* owned: by node of `whole` */
	uint32_t n_shown_of;    /* that there is room for */
	struct map frames;      /* (name; file and line) -> frame: a string of the pool */
	struct writer text;     /* owned: of what is looked at */
};

/* Whether a timeline tells of any: of operations what the first one of each name tells. 1 or 0, or
 * FLEXTRACE_E_MEMORY. */
int key_details_are_told(const struct timeline *timeline, enum key_detail of);

/* Finds them for all rows. FLEXTRACE_E_MEMORY or 0; release in any case. */
int key_details_init(struct key_details *details, enum key_detail of, struct call_costs *costs);
void key_details_release(struct key_details *details);

/* That of a row, by its place; 0: it has none. */
static inline uint32_t key_details_at(const struct key_details *details, uint32_t place)
{
	if (details->of == DETAIL_STACK)
		return details->shown_of[details->of_row[place]];
	return details->of == DETAIL_SHAPES ? details->of_row[place] : 0;
}

/* Returns how one is written, weak, until the next call; NULL: no memory. */
const char *key_details_text(struct key_details *details, uint32_t detail);

#endif
