// SPDX-License-Identifier: Apache-2.0
#include "fragment_cache.h"

#include <stdlib.h>

int fragment_cache_init(struct fragment_cache *cache)
{
	*cache = (struct fragment_cache){0};
	cache->fragments = calloc((size_t)1 << FRAGMENT_CACHE_BITS, sizeof(*cache->fragments));
	if (!cache->fragments)
		return FLEXTRACE_E_MEMORY;
	writer_open_memory(&cache->scratch);
	return 0;
}

void fragment_cache_release(struct fragment_cache *cache)
{
	if (cache->fragments)
		writer_abandon(&cache->scratch);
	free(cache->fragments);
	*cache = (struct fragment_cache){0};
}

struct writer *fragment_cache_start(struct fragment_cache *cache)
{
	cache->scratch.at = cache->scratch.buffer;
	cache->scratch.replaced_bytes = 0;
	return &cache->scratch;
}

void fragment_cache_end(struct fragment_cache *cache, uint64_t key)
{
	const struct writer *scratch = &cache->scratch;
	size_t n = (size_t)(scratch->at - scratch->buffer);
	struct cached_fragment *fragment = fragment_cache_place(cache, key);

	if (n == 0 || n > FRAGMENT_BYTES || scratch->replaced_bytes || writer_failed(scratch))
		return;
	fragment->key = key;
	fragment->n = (uint32_t)n;
	memcpy(fragment->bytes, scratch->buffer, n);
}
