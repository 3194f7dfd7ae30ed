/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A string lives in an entry that never moves, in a chunk of bytes. Ids lead to entries through
 * blocks of pointers that never move either: block k holds 256 * 2^k ids. A block and an entry are
 * published with release, so that string_get() needs no lock.
 */
#include "strings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define FIRST_BLOCK     256u
#define N_BLOCKS        24u /* 256 * (2^24 - 1) ids: just below 2^32 */
#define MAX_IDS         (FIRST_BLOCK * ((1u << N_BLOCKS) - 1))
#define CHUNK_BYTES     ((size_t)64 << 10)
#define MAX_CACHE_SLOTS (1u << 17)

struct string_entry {
	uint32_t id;
	uint32_t length; /* in bytes, cut at 2^32 - 1 */
	bool is_plain;
	char text[];
};

/* The hash stands beside the entry, so that a probe that misses touches one cache line only. */
struct string_cache_slot {
	const struct string_entry *entry; /* weak; NULL = free */
	uint64_t hash;
};

struct string_chunk {
	struct string_chunk *next; /* owned */
	size_t used_bytes, n_bytes;
	_Alignas(struct string_entry) char bytes[];
};

struct string_pool {
	pthread_mutex_t lock;                                       /* all below but `blocks` */
	_Atomic(_Atomic(struct string_entry *) *) blocks[N_BLOCKS]; /* owned */
	struct string_chunk *chunks;                                /* owned, newest first */
	struct string_cache table; /* of every string; its pool is not used */
	uint32_t n_ids;
};

static uint64_t load_word(const char *text, size_t n)
{
	uint64_t word = 0;

	memcpy(&word, text, n);
	return word;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_text(const char *text, size_t length)
{
	uint64_t hash = 0x9e3779b97f4a7c15u ^ length;

	for (; length > 16; text += 16, length -= 16)
		hash = mix(load_word(text, 8) ^ 0xa0761d6478bd642fu, load_word(text + 8, 8) ^ hash);
	if (length >= 8) /* the two words overlap */
		return mix(load_word(text, 8) ^ 0xe7037ed1a0b428dbu,
		           load_word(text + length - 8, 8) ^ hash);
	if (length >= 4)
		return mix(load_word(text, 4) << 32 | load_word(text + length - 4, 4),
		           hash ^ 0xe7037ed1a0b428dbu);
	if (length > 0)
		return mix((uint64_t)(unsigned char)text[0] << 16 |
		                   (uint64_t)(unsigned char)text[length / 2] << 8 |
		                   (unsigned char)text[length - 1],
		           hash ^ 0xe7037ed1a0b428dbu);
	return hash;
}

/* -- one table of slots: a thread's cache, or the pool's own ----------------------------------- */

static struct string_cache_slot *find_slot(const struct string_cache *cache, const char *text,
                                           size_t length, uint64_t hash)
{
	uint32_t i = (uint32_t)hash & (cache->n_slots - 1);

	for (;; i = (i + 1) & (cache->n_slots - 1)) {
		struct string_cache_slot *slot = &cache->slots[i];

		if (!slot->entry)
			return slot;
		if (slot->hash == hash && slot->entry->length == length &&
		    !memcmp(slot->entry->text, text, length))
			return slot;
	}
}

static int grow(struct string_cache *cache)
{
	uint32_t n_slots = cache->n_slots ? 2 * cache->n_slots : 64;
	struct string_cache_slot *slots;

	if (cache->n_slots > UINT32_MAX / 2)
		return FLEXTRACE_E_MEMORY;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < cache->n_slots; i++) {
		uint32_t k = (uint32_t)cache->slots[i].hash & (n_slots - 1);

		if (!cache->slots[i].entry)
			continue;
		while (slots[k].entry)
			k = (k + 1) & (n_slots - 1);
		slots[k] = cache->slots[i];
	}
	free(cache->slots);
	cache->slots = slots;
	cache->n_slots = n_slots;
	return FLEXTRACE_OK;
}

/* -- the pool ---------------------------------------------------------------------------------- */

static uint32_t block_of(uint32_t id)
{
	return 31 - (uint32_t)__builtin_clz(id / FIRST_BLOCK + 1);
}

static uint32_t block_first(uint32_t block)
{
	return FIRST_BLOCK * ((1u << block) - 1);
}

static const struct string_entry *entry_of(const struct string_pool *pool, uint32_t id)
{
	uint32_t block = block_of(id);
	_Atomic(struct string_entry *) *entries = atomic_load_explicit(&pool->blocks[block],
	                                                               memory_order_acquire);

	return atomic_load_explicit(&entries[id - block_first(block)], memory_order_acquire);
}

static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~' || strchr("\"',\\", text[i]))
			return false;
	return true;
}

static struct string_entry *new_entry(struct string_pool *pool, const char *text, size_t length)
{
	size_t align = _Alignof(struct string_entry);
	size_t need = (sizeof(struct string_entry) + length + 1 + align - 1) & ~(align - 1);
	struct string_chunk *chunk = pool->chunks;
	struct string_entry *entry;

	if (!chunk || chunk->n_bytes - chunk->used_bytes < need) {
		size_t n_bytes = need > CHUNK_BYTES ? need : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + n_bytes);
		if (!chunk)
			return NULL;
		*chunk = (struct string_chunk){.next = pool->chunks, .n_bytes = n_bytes};
		pool->chunks = chunk;
	}
	entry = (struct string_entry *)(chunk->bytes + chunk->used_bytes);
	chunk->used_bytes += need;
	entry->length = (uint32_t)length;
	entry->is_plain = is_plain(text, length);
	memcpy(entry->text, text, length);
	entry->text[length] = '\0';
	return entry;
}

static int publish(struct string_pool *pool, struct string_entry *entry)
{
	uint32_t block = block_of(pool->n_ids);
	_Atomic(struct string_entry *) *entries = pool->blocks[block];

	if (!entries) {
		size_t n = (size_t)FIRST_BLOCK << block;

		entries = calloc(n, sizeof(*entries));
		if (!entries)
			return FLEXTRACE_E_MEMORY;
		atomic_store_explicit(&pool->blocks[block], entries, memory_order_release);
	}
	entry->id = pool->n_ids++;
	atomic_store_explicit(&entries[entry->id - block_first(block)], entry,
	                      memory_order_release);
	return FLEXTRACE_OK;
}

/* Under the lock. NULL: no memory, or no id left. */
static const struct string_entry *pool_intern(struct string_pool *pool, const char *text,
                                              size_t length, uint64_t hash)
{
	struct string_cache_slot *slot;
	struct string_entry *entry;

	if (2 * (uint64_t)pool->table.n_used >= pool->table.n_slots && grow(&pool->table))
		return NULL;
	slot = find_slot(&pool->table, text, length, hash);
	if (slot->entry)
		return slot->entry;
	if (pool->n_ids == MAX_IDS)
		return NULL;
	entry = new_entry(pool, text, length);
	if (!entry || publish(pool, entry))
		return NULL;
	*slot = (struct string_cache_slot){entry, hash};
	pool->table.n_used++;
	return entry;
}

struct string_pool *string_pool_new(void)
{
	struct string_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	if (pool_intern(pool, "", 0, hash_text("", 0)))
		return pool;
	string_pool_free(pool);
	return NULL;
}

void string_pool_free(struct string_pool *pool)
{
	if (!pool)
		return;
	for (struct string_chunk *chunk = pool->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	for (uint32_t i = 0; i < N_BLOCKS; i++)
		free(pool->blocks[i]);
	free(pool->table.slots);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

const char *string_get(const struct string_pool *pool, uint32_t id)
{
	return entry_of(pool, id)->text;
}

size_t string_length(const struct string_pool *pool, uint32_t id)
{
	return entry_of(pool, id)->length;
}

struct string_text string_text(const struct string_pool *pool, uint32_t id)
{
	const struct string_entry *entry = entry_of(pool, id);

	return (struct string_text){entry->text, entry->length, entry->is_plain};
}

/* -- a thread's cache -------------------------------------------------------------------------- */

void string_cache_init(struct string_cache *cache, struct string_pool *pool)
{
	*cache = (struct string_cache){.pool = pool};
}

void string_cache_release(struct string_cache *cache)
{
	free(cache->slots);
	*cache = (struct string_cache){0};
}

/* A cache that grew to its limit, because most strings are new, starts over: the pool knows them
 * all. */
static int make_room(struct string_cache *cache)
{
	if (cache->n_slots < MAX_CACHE_SLOTS)
		return grow(cache);
	memset(cache->slots, 0, cache->n_slots * sizeof(*cache->slots));
	cache->n_used = 0;
	return FLEXTRACE_OK;
}

int string_intern(struct string_cache *cache, const char *text, uint32_t *ret_id)
{
	struct string_cache_slot *slot;
	size_t length;
	uint64_t hash;

	if (!text || !*text) {
		*ret_id = 0;
		return FLEXTRACE_OK;
	}
	length = strlen(text);
	if (length >= UINT32_MAX)
		return FLEXTRACE_E_MEMORY;
	hash = hash_text(text, length);
	if (2 * cache->n_used >= cache->n_slots)
		FLEXTRACE_TRY(make_room(cache));
	slot = find_slot(cache, text, length, hash);
	if (!slot->entry) {
		pthread_mutex_lock(&cache->pool->lock);
		slot->entry = pool_intern(cache->pool, text, length, hash);
		pthread_mutex_unlock(&cache->pool->lock);
		if (!slot->entry)
			return FLEXTRACE_E_MEMORY;
		slot->hash = hash;
		cache->n_used++;
	}
	*ret_id = slot->entry->id;
	return FLEXTRACE_OK;
}

int string_intern_again(struct string_cache *cache, const char *text, uint32_t *id)
{
	if (text && !strcmp(text, string_get(cache->pool, *id)))
		return FLEXTRACE_OK;
	return string_intern(cache, text, id);
}
