/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_details.h: what calls of one name are told apart by: the shapes of their inputs, and who
 * called.
 */
#ifndef FLEXTRACE_KEY_DETAILS_H
#define FLEXTRACE_KEY_DETAILS_H

#include "findings/work/call_tree.h"
#include "name_trie.h"

#define STACK_FRAMES 5 /* the innermost ones tell calls apart, as torch's group_by_stack_n=5 does */

/* What rows of a name of the tree are. */
struct call_facts {
	bool is_frame;    /* functions that a profiler of Python told */
	bool is_call;     /* neither these nor marks on the time */
	uint32_t frame;   /* of the latest row: a string; 0: none yet */
	uint64_t told_at; /* file and line of it */
};

struct key_details {
	const struct timeline *timeline; /* weak */
	struct string_pool *pool;        /* owned, all: of shapes and frames */
	struct call_facts *facts;        /* by name of the tree */
	struct string_cache cache;       /* of the pool */
	struct name_trie whole;          /* stacks of frames */
	struct name_trie shown;          /* their innermost frames, the innermost one outside */
	uint32_t *shown_of;              /* by node of `whole` */
	uint32_t n_shown_of;             /* that there is room for */
	struct map frames;               /* (name; file and line) -> frame */
	struct writer text;              /* of what is looked at */
	bool has_shapes;                 /* some operation tells them */
	uint32_t n_op_calls;             /* that are in front of the next row */
};

/* FLEXTRACE_E_MEMORY or 0, as all below; release in any case. */
int key_details_init(struct key_details *details, const struct timeline *timeline,
                     const struct call_tree *tree);
void key_details_release(struct key_details *details);

/* Frees what only rows that come need. */
void key_details_end(struct key_details *details);

/* Stores the shapes of the next row, 0: none. To be asked of each row. */
int key_details_find_shapes(struct key_details *details, const struct host_row *row,
                            uint32_t *ret_shapes);

/* Goes from the stack around a row, a node of `whole`, to that of the row. */
int key_details_step(struct key_details *details, const struct call *call, uint32_t *stack);

/* Return how shapes or a stack, a node of `shown`, are written, weak, until the next call; NULL: no
 * memory. */
const char *key_details_shapes(struct key_details *details, uint32_t shapes);
const char *key_details_stack(struct key_details *details, uint32_t stack);

#endif
