/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragment_cache.h: short fragments of lines that come again and again, kept by a key: what is
 * called what, where it stands in the source.
 *
 * A fragment that is not there is rendered into fragment_cache_start(). fragment_cache_end() keeps
 * it, in the place of another, unless it is long or some of its bytes were replaced, which each
 * line has to count. Not thread-safe.
 */
#ifndef FLEXTRACE_FRAGMENT_CACHE_H
#define FLEXTRACE_FRAGMENT_CACHE_H

#include "base/text/writer.h"

#define FRAGMENT_BYTES      112
#define FRAGMENT_CACHE_BITS 8

struct cached_fragment { /* 128 bytes */
	uint64_t key;
	uint32_t n; /* 0 = none */
	char bytes[FRAGMENT_BYTES];
};

struct fragment_cache {
	struct cached_fragment *fragments; /* owned: 2^FRAGMENT_CACHE_BITS */
	struct writer scratch;
};

/* FLEXTRACE_E_MEMORY or 0. */
int fragment_cache_init(struct fragment_cache *cache);
void fragment_cache_release(struct fragment_cache *cache); /* also of zeroes */

/* Where a fragment is to be rendered. */
struct writer *fragment_cache_start(struct fragment_cache *cache);

/* Keeps what was rendered if it may be kept. */
void fragment_cache_end(struct fragment_cache *cache, uint64_t key);

static inline struct cached_fragment *fragment_cache_place(const struct fragment_cache *cache,
                                                           uint64_t key)
{
	return &cache->fragments[key * 0x9e3779b97f4a7c15u >> (64 - FRAGMENT_CACHE_BITS)];
}

/* Appends a fragment; false: it is not there. */
static inline bool fragment_cache_write(const struct fragment_cache *cache, uint64_t key,
                                        struct writer *writer)
{
	const struct cached_fragment *fragment = fragment_cache_place(cache, key);
	char *at;

	if (fragment->key != key || !fragment->n)
		return false;
	at = writer_room(writer, FRAGMENT_BYTES);
	if (!at)
		return true; /* the writer has failed */
	memcpy(at, fragment->bytes, FRAGMENT_BYTES);
	writer->at = at + fragment->n;
	return true;
}

#endif
