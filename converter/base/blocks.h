/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h: large memory on its way from one stage to the next.
 *
 * Touching fresh memory is what large tables and arrays cost most: the kernel clears each page,
 * and a virtual machine may have to ask its host for it first. So large ones are made of blocks of
 * a huge page each, and a block that one has no more use for goes into a stock, not back to the
 * kernel, and from there into the next. Arrays are contiguous all the same: blocks are moved by
 * their addresses.
 *
 * All is thread-safe but two threads must not use one array at once.
 */
#ifndef FLEXTRACE_BLOCKS_H
#define FLEXTRACE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define BLOCK_BYTES ((size_t)2 << 20)

/* One block, aligned to its size, not cleared, and owned by the caller. NULL: no memory. */
void *block_take(void);
void *block_take_spare(void); /* only from the stock; NULL: it is empty */
void block_give(void *block);

/* The same of any number of bytes, as whole pages: large ones become parts of blocks. */
void *pages_take(size_t n_bytes);
void pages_give(void *pages, size_t n_bytes);

/* Returns an array of `n` elements, not cleared, which blocks_free() frees; NULL: no memory. */
void *blocks_allocate(uint64_t n, size_t element_bytes);

/* The same for `array`, a pointer variable. FLEXTRACE_E_MEMORY or 0. */
#define BLOCKS_NEW(array, n) \
	(((array) = blocks_allocate((n), sizeof(*(array)))) ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY)

/* The same for an array whose elements come one after the other: blocks_fill() makes the first
 * `n_bytes`, or all of it, usable. */
void *blocks_reserve(uint64_t n, size_t element_bytes);
int blocks_fill(void *array, size_t n_bytes);

#define BLOCKS_FILL_STEP (UINT64_C(1) << 14)

/* Makes an element behind the first `n`, which are usable, usable, and a few behind it. */
static inline int blocks_fill_next(void *array, uint64_t n, size_t element_bytes)
{
	if (n % BLOCKS_FILL_STEP)
		return 0;
	return blocks_fill(array, (n + BLOCKS_FILL_STEP) * element_bytes);
}

/* Tells, for a limit on memory, that somebody went on over so many bytes that no table handed
 * out. */
void blocks_touch(size_t n_bytes);

#define BLOCKS_PASS_STEP (UINT64_C(1) << 12)

/* The same in a loop: that it is at an element of arrays whose elements have so many bytes. */
static inline void blocks_pass(uint64_t i, size_t element_bytes)
{
	if (i % BLOCKS_PASS_STEP == 0)
		blocks_touch(BLOCKS_PASS_STEP * element_bytes);
}

/* The same for one element anywhere in an array: the kernel maps what is around it as well
 * (fault_around_bytes). */
static inline void blocks_visit(void)
{
	blocks_touch((size_t)64 << 10);
}

/* Gives away as many blocks as the first `n_bytes` fill: nobody reads them any more. */
void blocks_drop(void *array, size_t n_bytes);

/* Puts all blocks in stock. NULL is nothing. */
void blocks_free(void *array);

/* Gives the stock back to the kernel but for a few blocks, and what malloc keeps though nobody has
 * it. To be called when little that is large is to come. */
void blocks_trim(void);

#endif
