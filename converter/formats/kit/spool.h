/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h: sorts any number of items in bounded memory.
 *
 * - Items of equal keys keep the order in which they were added.
 * - As many bytes of items as spool_new() says stay in memory. What is more goes to a
 *   base/paths.h, in sorted runs that are merged as they are read. Sorted input costs a copy.
 * - It holds half as much again while items are added, and at most 16 MiB while they are read,
 *   whatever their number.
 * - Large pieces of bytes may be kept beside the items, to be fetched by their place.
 *
 * Codes: FLEXTRACE_E_MEMORY, FLEXTRACE_E_OUTPUT (the file cannot be written or read).
 */
#ifndef FLEXTRACE_IMPORT_SPOOL_H
#define FLEXTRACE_IMPORT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SPOOL_ITEM_LIMIT ((size_t)32 << 10)

struct spool; /* opaque */

/* NULL: no memory. */
struct spool *spool_new(size_t buffer_bytes); /* at least 2 * SPOOL_ITEM_LIMIT */
void spool_free(struct spool *spool);         /* NULL is allowed */

/* Stores room for an item of `n_bytes` (at most SPOOL_ITEM_LIMIT), to be filled in before the next
 * call; aligned to 8. */
int spool_add(struct spool *spool, uint64_t key, size_t n_bytes, void **ret_item);

struct spool_item {
	uint64_t key;
	const void *bytes; /* weak: until the next call; aligned to 8 */
	size_t n_bytes;
};

/* Stores the next item in order. 1: there is one, 0: the end. The first call ends adding. */
int spool_next(struct spool *spool, struct spool_item *ret_item);

/* Keeps bytes beside the items, and fetches them. */
int spool_put_bytes(struct spool *spool, const void *bytes, size_t n_bytes, uint64_t *ret_place);
int spool_get_bytes(struct spool *spool, uint64_t place, void *bytes, size_t n_bytes);

#endif
