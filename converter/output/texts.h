/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts.h: pieces of lines made once and written many times, one per index: what all rows of a
 * track, a process or a stream have in common.
 *
 * Made in order of the index: append the piece to `bytes`, then texts_end() it. Const afterwards.
 */
#ifndef FLEXTRACE_TEXTS_H
#define FLEXTRACE_TEXTS_H

#include "base/text/writer.h"

struct texts {
	struct writer bytes; /* memory: all pieces, one behind the other */
	size_t *starts;      /* owned: n + 1 offsets */
	uint32_t n;          /* pieces ended */
	size_t longest;      /* bytes of a piece */
};

/* Makes room for `n` pieces. FLEXTRACE_E_MEMORY or 0. */
int texts_init(struct texts *texts, uint32_t n);
void texts_release(struct texts *texts); /* also of zeroes */

/* Ends the piece of the next index. */
void texts_end(struct texts *texts);

/* FLEXTRACE_E_MEMORY when an append failed since texts_init(). */
int texts_check(const struct texts *texts);

/* Puts a piece where there is room for the longest one, and returns its end. */
static inline char *texts_put(const struct texts *texts, uint32_t i, char *at)
{
	size_t n = texts->starts[i + 1] - texts->starts[i];

	memcpy(at, texts->bytes.buffer + texts->starts[i], n);
	return at + n;
}

static inline void texts_write(const struct texts *texts, uint32_t i, struct writer *writer)
{
	size_t start = texts->starts[i];

	writer_append(writer, texts->bytes.buffer + start, texts->starts[i + 1] - start);
}

#endif
