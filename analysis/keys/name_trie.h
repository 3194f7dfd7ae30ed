/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_trie.h: stacks of names, each once: a node is a name below the node of those around it.
 *
 * A step down costs a look into a hash table, and no text is made before a stack is written.
 */
#ifndef FLEXTRACE_NAME_TRIE_H
#define FLEXTRACE_NAME_TRIE_H

#include "base/map.h"
#include "base/text/strings.h"
#include "base/text/writer.h"

struct name_node {
	uint32_t around; /* node; 0 = the root */
	uint32_t name;   /* string */
};

struct name_trie {
	struct name_node *nodes; /* owned: the root is the first, and no name */
	uint32_t n;
	struct map index; /* owned: by node around and name */
};

/* Stores the node of a name below another. 1: it is new, 0: it is not, or FLEXTRACE_E_MEMORY. */
int name_trie_step(struct name_trie *trie, uint32_t around, uint32_t name, uint32_t *ret_node);
void name_trie_release(struct name_trie *trie);

/* Appends the names from the root to a node, joined by ';'. In names ';' is written as %3B, '%' as
 * %25, a line feed as %0A and a carriage return as %0D. FLEXTRACE_E_MEMORY or 0. */
int name_trie_write(const struct name_trie *trie, const struct string_pool *strings, uint32_t node,
                    struct writer *writer);

/* Appends one name so. */
void name_trie_write_name(struct writer *writer, const char *name);

#endif
