/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragments.h: fragments of lines that are made once and written many times, one per index: what
 * all rows of a track, a process or a stream have in common.
 *
 * Made in order of the index: append a fragment to `bytes`, then fragments_end() it. Const
 * afterwards.
 */
#ifndef FLEXTRACE_FRAGMENTS_H
#define FLEXTRACE_FRAGMENTS_H

#include "base/text/writer.h"

struct fragments {
	struct writer bytes; /* memory: all fragments, one behind the other */
	size_t *starts;      /* owned: n + 1 offsets */
	uint32_t n;          /* fragments ended */
	size_t longest;      /* bytes of a fragment */
};

/* Makes room for `n` fragments. FLEXTRACE_E_MEMORY or 0. */
int fragments_init(struct fragments *fragments, uint32_t n);
void fragments_release(struct fragments *fragments); /* also of zeroes */

/* Ends the fragment of the next index. */
void fragments_end(struct fragments *fragments);

/* FLEXTRACE_E_MEMORY when an append failed since fragments_init(). */
int fragments_check(const struct fragments *fragments);

/* Puts a fragment where there is room for the longest one, and returns its end. */
static inline char *fragments_put(const struct fragments *fragments, uint32_t i, char *at)
{
	size_t n = fragments->starts[i + 1] - fragments->starts[i];

	memcpy(at, fragments->bytes.buffer + fragments->starts[i], n);
	return at + n;
}

static inline void fragments_write(const struct fragments *fragments, uint32_t i,
                                   struct writer *writer)
{
	size_t start = fragments->starts[i];

	writer_append(writer, fragments->bytes.buffer + start, fragments->starts[i + 1] - start);
}

#endif
