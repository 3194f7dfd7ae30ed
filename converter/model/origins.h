/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origins.h: where in the files that were read the records of a stream stood.
 *
 * - A list of origins, one behind the other; a record has its place in it for an index.
 * - Most follow each other in their file, so that one takes a byte or two: blocks of as many bytes
 *   for each as the furthest from the least one needs. Any place is found at once.
 * - One writer, then any number of readers.
 */
#ifndef FLEXTRACE_ORIGINS_H
#define FLEXTRACE_ORIGINS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

/* A record of a file: of JSON the element of the list of events, from 0; of text the line, from 1;
 * of copies of memory the area, from 0. */
struct origin {
	uint32_t file;   /* in the list of its stream */
	uint32_t record; /* ORIGIN_NO_RECORD: what told it is no record of the file */
	/* Those of its parts stand behind it: the four of a control block, in their order; of a run
	 * of the firmware the kernel, the rest as the run. */
	bool has_parts;
};

#define ORIGIN_NO_RECORD UINT32_MAX
#define ORIGIN_N_PARTS   4
#define ORIGIN_KERNEL    0 /* of the parts of a run */

static inline struct origin origin_make(uint32_t file, uint64_t number)
{
	uint32_t most = ORIGIN_NO_RECORD - 1;

	return (struct origin){file, number < most ? (uint32_t)number : most, false};
}

#define ORIGINS_BLOCK 128u

struct origins_block {
	const uint8_t *bytes; /* weak, of the table */
	uint64_t least;
	uint8_t width; /* bytes of each */
};

struct origins {
	struct table packed;          /* owned: the bytes of full blocks */
	struct origins_block *blocks; /* owned */
	uint32_t n_blocks;
	uint32_t n;
	uint64_t open[ORIGINS_BLOCK]; /* of the block that is filled */
};

struct origins *origins_new(void);          /* NULL: no memory */
void origins_free(struct origins *origins); /* NULL is allowed */

/* Adds one at place `n`. FLEXTRACE_E_MEMORY or 0. */
int origins_add(struct origins *origins, const struct origin *origin);

/* The number of an origin in a block: what is read behind its bytes is there, see origins.c. */
static inline uint64_t origins_number(const struct origins_block *block, uint32_t at)
{
	uint64_t word;

	if (!block->width)
		return block->least;
	memcpy(&word, block->bytes + (size_t)at * block->width, sizeof(word));
	return block->least + (le64toh(word) & UINT64_MAX >> (64 - 8 * block->width));
}

/* The one at a place. */
static inline struct origin origins_get(const struct origins *origins, uint32_t place)
{
	uint32_t at = place % ORIGINS_BLOCK;
	uint64_t number = place / ORIGINS_BLOCK == origins->n_blocks
	                          ? origins->open[at]
	                          : origins_number(&origins->blocks[place / ORIGINS_BLOCK], at);

	return (struct origin){(uint32_t)(number >> 33), (uint32_t)(number >> 1), number & 1};
}

#endif
