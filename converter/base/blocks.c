/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A large array is a range of addresses, with room for its head in front. Blocks of the stock are
 * moved there while there are any; where there are none, the range itself becomes usable, and its
 * pages come from the kernel when they are touched. What is given away leaves a hole. Smaller
 * arrays, and the heads' first block, are of no use to others.
 */
#include "blocks.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spill.h"

#define MAX_STOCK    8u                 /* blocks, on the way from one table to the next */
#define STOCK_ROOM   (1u << 15)         /* the same of arrays: 64 GiB */
#define SHARED_BYTES ((size_t)64 << 10) /* pages are worth moving to a block from here on */
#define HEAD_BYTES   64u                /* keeps elements aligned */

/* In front of an array. */
struct head {
	size_t n_bytes;                     /* of the range; 0: it was allocated, not mapped */
	size_t filled_bytes, dropped_bytes; /* multiples of a block */
};

/* Blocks that nobody uses; not written to, as some were never touched. */
static struct {
	pthread_mutex_t lock;
	void *blocks[STOCK_ROOM]; /* owned */
	uint32_t n;
} stock = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A block that is made of the pages of smaller memory. */
static struct {
	pthread_mutex_t lock;
	char *block; /* owned; NULL = none */
	size_t n_bytes;
} unfinished = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -- stock ------------------------------------------------------------------------------------ */

/* Takes the last block put in stock; NULL: there are no more than `least`. */
static void *pop(uint32_t least)
{
	void *block = NULL;

	pthread_mutex_lock(&stock.lock);
	if (stock.n > least)
		block = stock.blocks[--stock.n];
	pthread_mutex_unlock(&stock.lock);
	return block;
}

/* Puts a block in stock, unless there are `most` already. */
static void push(void *block, uint32_t most)
{
	bool is_taken;

	if (spill_owns(block)) {
		spill_drop(block, BLOCK_BYTES);
		return;
	}
	pthread_mutex_lock(&stock.lock);
	is_taken = stock.n < most;
	if (is_taken)
		stock.blocks[stock.n++] = block;
	pthread_mutex_unlock(&stock.lock);
	if (!is_taken)
		munmap(block, BLOCK_BYTES);
}

/* Maps a range aligned to blocks, not yet usable: maps more, and cuts off what lies before it and
 * behind it. */
static char *map_range(size_t n_bytes)
{
	size_t before;
	char *bytes;

	if (spill_is_on())
		return spill_reserve(n_bytes, BLOCK_BYTES);
	bytes = mmap(NULL, n_bytes + BLOCK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)bytes % BLOCK_BYTES;
	if (before)
		munmap(bytes, before);
	munmap(bytes + before + n_bytes, BLOCK_BYTES - before);
	return bytes + before;
}

static void unmap(void *range, size_t n_bytes)
{
	if (spill_owns(range))
		spill_drop(range, n_bytes);
	else
		munmap(range, n_bytes);
}

static int make_usable(char *range, size_t n_bytes)
{
	if (spill_owns(range))
		return spill_fill(range, n_bytes);
	if (mprotect(range, n_bytes, PROT_READ | PROT_WRITE) < 0)
		return FLEXTRACE_E_MEMORY;
	madvise(range, n_bytes, MADV_HUGEPAGE); /* a wish */
	return FLEXTRACE_OK;
}

void *block_take(void)
{
	char *block = pop(0);

	if (block)
		return block;
	block = map_range(BLOCK_BYTES);
	if (block && make_usable(block, BLOCK_BYTES) < 0) {
		unmap(block, BLOCK_BYTES);
		return NULL;
	}
	return block;
}

void *block_take_spare(void)
{
	return pop(0);
}

void block_give(void *block)
{
	push(block, MAX_STOCK);
}

/* Moves pages behind those that the unfinished block has, and returns how many bytes; 0: none. */
static size_t assemble(char *pages, size_t n_bytes)
{
	size_t room = BLOCK_BYTES - unfinished.n_bytes;
	size_t part = n_bytes < room ? n_bytes : room;

	if (!unfinished.block)
		unfinished.block = map_range(BLOCK_BYTES);
	if (!unfinished.block || mremap(pages, part, part, MREMAP_MAYMOVE | MREMAP_FIXED,
	                                unfinished.block + unfinished.n_bytes) == MAP_FAILED)
		return 0;
	unfinished.n_bytes += part;
	if (unfinished.n_bytes == BLOCK_BYTES) {
		block_give(unfinished.block);
		unfinished.block = NULL;
		unfinished.n_bytes = 0;
	}
	return part;
}

static size_t whole_pages(size_t n_bytes)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	return (n_bytes + page_bytes - 1) & -page_bytes;
}

void *pages_take(size_t n_bytes)
{
	void *pages;

	n_bytes = whole_pages(n_bytes);
	if (!spill_is_on()) {
		pages = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		             0);
		return pages == MAP_FAILED ? NULL : pages;
	}
	pages = spill_reserve(n_bytes, whole_pages(1));
	return pages && spill_fill(pages, n_bytes) == FLEXTRACE_OK ? pages : NULL;
}

void pages_give(void *pages, size_t n_bytes)
{
	char *at = pages;
	size_t moved = n_bytes;

	n_bytes = whole_pages(n_bytes);
	if (spill_is_on() || n_bytes < SHARED_BYTES) {
		unmap(pages, n_bytes);
		return;
	}
	pthread_mutex_lock(&unfinished.lock);
	for (; n_bytes && moved; n_bytes -= moved, at += moved)
		moved = assemble(at, n_bytes);
	pthread_mutex_unlock(&unfinished.lock);
	if (n_bytes)
		munmap(at, n_bytes);
}

void blocks_trim(void)
{
	void *block;

	while ((block = pop(MAX_STOCK)))
		munmap(block, BLOCK_BYTES);
	malloc_trim(0);
}

/* -- arrays ----------------------------------------------------------------------------------- */

static struct head *head_of(void *array)
{
	return (struct head *)((char *)array - HEAD_BYTES);
}

/* Moves a block of the stock to an address; false: there is none, or it cannot be moved. */
static bool move_block(char *to)
{
	void *block = spill_owns(to) ? NULL : pop(0);

	if (!block)
		return false;
	if (mremap(block, BLOCK_BYTES, BLOCK_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to) !=
	    MAP_FAILED)
		return true;
	push(block, STOCK_ROOM);
	return false;
}

/* Makes the blocks of a range [from, to) usable. */
static int fill_range(char *range, size_t from, size_t to)
{
	while (from < to && move_block(range + from))
		from += BLOCK_BYTES;
	return from == to ? FLEXTRACE_OK : make_usable(range + from, to - from);
}

static void *allocate_small(size_t n_bytes)
{
	struct head *head = malloc(n_bytes);

	if (!head)
		return NULL;
	*head = (struct head){.n_bytes = 0};
	return (char *)head + HEAD_BYTES;
}

void *blocks_reserve(uint64_t n, size_t element_bytes)
{
	size_t n_bytes;
	char *range;

	if (n > (SIZE_MAX / 2 - HEAD_BYTES) / element_bytes)
		return NULL;
	n_bytes = HEAD_BYTES + n * element_bytes;
	if (n_bytes < BLOCK_BYTES)
		return allocate_small(n_bytes);
	n_bytes = (n_bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
	range = map_range(n_bytes);
	if (!range)
		return NULL;
	if (fill_range(range, 0, BLOCK_BYTES) < 0) {
		unmap(range, n_bytes);
		return NULL;
	}
	*(struct head *)range = (struct head){n_bytes, BLOCK_BYTES, BLOCK_BYTES};
	return range + HEAD_BYTES;
}

int blocks_fill(void *array, size_t n_bytes)
{
	struct head *head = head_of(array);
	size_t to = (HEAD_BYTES + n_bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;

	to = to < head->n_bytes ? to : head->n_bytes;
	if (to <= head->filled_bytes)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(fill_range((char *)head, head->filled_bytes, to));
	head->filled_bytes = to;
	return FLEXTRACE_OK;
}

void *blocks_allocate(uint64_t n, size_t element_bytes)
{
	void *array = blocks_reserve(n, element_bytes);

	if (array && blocks_fill(array, n * element_bytes) < 0) {
		blocks_free(array);
		return NULL;
	}
	return array;
}

void blocks_touch(size_t n_bytes)
{
	if (spill_is_on())
		spill_touch(n_bytes);
}

void blocks_drop(void *array, size_t n_bytes)
{
	struct head *head = head_of(array);

	while (head->n_bytes && head->dropped_bytes + BLOCK_BYTES <= HEAD_BYTES + n_bytes) {
		push((char *)head + head->dropped_bytes, STOCK_ROOM);
		head->dropped_bytes += BLOCK_BYTES;
	}
}

void blocks_free(void *array)
{
	struct head head;
	char *range;

	if (!array)
		return;
	range = (char *)head_of(array);
	head = *head_of(array);
	if (head.n_bytes == 0) {
		free(range);
		return;
	}
	for (size_t at = head.dropped_bytes; at < head.filled_bytes; at += BLOCK_BYTES)
		push(range + at, STOCK_ROOM);
	if (head.filled_bytes < head.n_bytes)
		unmap(range + head.filled_bytes, head.n_bytes - head.filled_bytes);
	push(range, STOCK_ROOM);
}
