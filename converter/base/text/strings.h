/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strings.h: every distinct string once, named by a 32-bit id.
 *
 * - Id 0 is the empty string. Ids are not stable between runs (workers race for them): nothing that
 *   is written may depend on their order. Order strings by their bytes.
 * - A pool is shared by all threads of a conversion; each thread interns through a cache of its
 *   own, which takes the pool's lock only for a string that it has not seen yet.
 * - Strings are kept byte for byte; they end at their first NUL.
 */
#ifndef FLEXTRACE_STRINGS_H
#define FLEXTRACE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct string_pool; /* opaque: a lock, chunks of bytes, a hash table */

/* One thread's view of a pool. Zero-initialise with string_cache_init(). */
struct string_cache {
	struct string_pool *pool;        /* weak */
	struct string_cache_slot *slots; /* owned */
	uint32_t n_slots;
	uint32_t n_used;
};

struct string_pool *string_pool_new(void); /* NULL: no memory */
void string_pool_free(struct string_pool *pool);

/* Returns the string of `id`: weak, valid while the pool lives; safe beside interning threads. */
const char *string_get(const struct string_pool *pool, uint32_t id);

/* Returns the length in bytes of the string of `id`. */
size_t string_length(const struct string_pool *pool, uint32_t id);

/* A string with what writers of many rows ask of it at once. */
struct string_text {
	const char *bytes; /* as of string_get() */
	size_t length;
	bool is_plain; /* printable ASCII that no format escapes or guards */
};

struct string_text string_text(const struct string_pool *pool, uint32_t id);

/* By their bytes, for what qsort() asks. */
static inline int string_compare(const struct string_pool *pool, uint32_t a, uint32_t b)
{
	return strcmp(string_get(pool, a), string_get(pool, b));
}

void string_cache_init(struct string_cache *cache, struct string_pool *pool);
void string_cache_release(struct string_cache *cache);

/* Stores the id of `text` (weak; NULL = "") in `ret_id`. FLEXTRACE_E_MEMORY or 0. */
int string_intern(struct string_cache *cache, const char *text, uint32_t *ret_id);

/* The same where `*id`, an id or 0, most likely is the text's already. */
int string_intern_again(struct string_cache *cache, const char *text, uint32_t *id);

#endif
