/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h: short pieces of lines that come again and again, kept by a key: what is called what,
 * where it stands in the source.
 *
 * A piece that is not there is rendered into pieces_start() and kept by pieces_end(), in the place
 * of another, unless it is long or some of its bytes were replaced, which each line has to count.
 * Not thread-safe.
 */
#ifndef FLEXTRACE_PIECES_H
#define FLEXTRACE_PIECES_H

#include "base/text/writer.h"

#define PIECE_BYTES 112
#define PIECES_BITS 8

struct piece { /* 128 bytes */
	uint64_t key;
	uint32_t n; /* 0 = none */
	char bytes[PIECE_BYTES];
};

struct pieces {
	struct piece *pieces; /* owned: 2^PIECES_BITS */
	struct writer scratch;
};

/* FLEXTRACE_E_MEMORY or 0. */
int pieces_init(struct pieces *pieces);
void pieces_release(struct pieces *pieces); /* also of zeroes */

/* Where a piece is to be rendered. */
struct writer *pieces_start(struct pieces *pieces);

/* Keeps what was rendered if it may be kept. */
void pieces_end(struct pieces *pieces, uint64_t key);

static inline struct piece *pieces_place(const struct pieces *pieces, uint64_t key)
{
	return &pieces->pieces[key * 0x9e3779b97f4a7c15u >> (64 - PIECES_BITS)];
}

/* Appends a piece; false: it is not there. */
static inline bool pieces_write(const struct pieces *pieces, uint64_t key, struct writer *writer)
{
	const struct piece *piece = pieces_place(pieces, key);
	char *at;

	if (piece->key != key || !piece->n)
		return false;
	at = writer_room(writer, PIECE_BYTES);
	if (!at)
		return true; /* the writer has failed */
	memcpy(at, piece->bytes, PIECE_BYTES);
	writer->at = at + piece->n;
	return true;
}

#endif
