/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A string lives in an entry that never moves, in a chunk of bytes, and its id is where that is:
 * the chunk's number and the entry's place in it. A chunk is published with release before anybody
 * has an id of it, so that string_get() needs no lock.
 */
#include "strings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/blocks.h"
#include "base/error.h"
#include "base/hash.h"

#define UNIT_BYTES      4u  /* entries begin at multiples */
#define PLACE_BITS      19u /* of an id: in units, up to 2 MiB */
#define MAX_CHUNKS      (1u << (32 - PLACE_BITS))
#define SMALL_BYTES     ((size_t)64 << 10)
#define N_SMALL         16u /* chunks; all further ones are blocks */
#define MAX_CACHE_SLOTS (1u << 17)
#define MAX_LENGTH      INT32_MAX

struct string_entry {
	uint32_t length : 31; /* in bytes */
	uint32_t is_plain : 1;
	char text[];
};

/* The hash stands beside the id, so that a probe that misses touches one cache line only. */
struct string_cache_slot {
	uint32_t id; /* 0 = free: who asks for "" asks no table */
	uint32_t hash;
};

struct string_chunk {
	size_t used_bytes, n_bytes;
	bool is_block;
	_Alignas(8) char bytes[]; /* entries, one behind the other */
};

struct string_pool {
	pthread_mutex_t lock;                              /* all below but `chunks` */
	_Atomic(struct string_chunk *) chunks[MAX_CHUNKS]; /* owned */
	uint32_t n_chunks;
	uint32_t *ids; /* owned: hash table of every string but "" */
	uint32_t n_slots, n_used;
	uint64_t secret; /* nothing that is stored or written depends on it */
};

static uint64_t hash_text(uint64_t secret, const char *text, size_t length)
{
	uint64_t hash = (secret << 32 | secret >> 32) ^ length;

	for (; length > 16; text += 16, length -= 16)
		hash = hash_mix(hash_load(text, 8) ^ secret, hash_load(text + 8, 8) ^ hash);
	if (length >= 8) /* the two words overlap */
		return hash_mix(hash_load(text, 8) ^ ~secret,
		                hash_load(text + length - 8, 8) ^ hash);
	if (length >= 4)
		return hash_mix(hash_load(text, 4) << 32 | hash_load(text + length - 4, 4),
		                hash ^ 0xe7037ed1a0b428dbu);
	if (length > 0)
		return hash_mix((uint64_t)(unsigned char)text[0] << 16 |
		                        (uint64_t)(unsigned char)text[length / 2] << 8 |
		                        (unsigned char)text[length - 1],
		                hash ^ 0xe7037ed1a0b428dbu);
	return hash;
}

/* -- entries ----------------------------------------------------------------------------------- */

static const struct string_entry *entry_of(const struct string_pool *pool, uint32_t id)
{
	const struct string_chunk *chunk = atomic_load_explicit(&pool->chunks[id >> PLACE_BITS],
	                                                        memory_order_acquire);
	size_t place = id & ((1u << PLACE_BITS) - 1);

	return (const struct string_entry *)(chunk->bytes + place * UNIT_BYTES);
}

static bool is_text(const struct string_pool *pool, uint32_t id, const char *text, size_t length)
{
	const struct string_entry *entry = entry_of(pool, id);

	return entry->length == length && !memcmp(entry->text, text, length);
}

/* What a format would escape or guard: anywhere in a text, or at its begin. */
enum { UNPLAIN = 1, UNPLAIN_FIRST = 2 };

/* clang-format off */
static const unsigned char unplain[256] = {
	[0 ... ' ' - 1] = UNPLAIN,
	['"'] = UNPLAIN, ['\''] = UNPLAIN, [','] = UNPLAIN, ['\\'] = UNPLAIN, ['<'] = UNPLAIN,
	['~' + 1 ... 255] = UNPLAIN,
	['='] = UNPLAIN_FIRST, ['+'] = UNPLAIN_FIRST, ['-'] = UNPLAIN_FIRST, ['@'] = UNPLAIN_FIRST,
};
/* clang-format on */

static bool is_plain(const char *text, size_t length)
{
	if (length && unplain[(unsigned char)text[0]])
		return false;
	for (size_t i = 1; i < length; i++)
		if (unplain[(unsigned char)text[i]] & UNPLAIN)
			return false;
	return true;
}

static size_t entry_bytes(size_t length)
{
	size_t n_bytes = sizeof(struct string_entry) + length + 1;

	return (n_bytes + UNIT_BYTES - 1) & ~(size_t)(UNIT_BYTES - 1);
}

/* Few strings take little; what is larger than a block stands alone. */
static struct string_chunk *add_chunk(struct string_pool *pool, size_t need)
{
	const size_t room = BLOCK_BYTES - sizeof(struct string_chunk);
	bool is_block = pool->n_chunks >= N_SMALL && need <= room;
	size_t n_bytes = is_block ? room : need > SMALL_BYTES ? need : SMALL_BYTES;
	struct string_chunk *chunk;

	if (pool->n_chunks == MAX_CHUNKS)
		return NULL;
	chunk = is_block ? block_take() : malloc(sizeof(*chunk) + n_bytes);
	if (!chunk)
		return NULL;
	*chunk = (struct string_chunk){.n_bytes = n_bytes, .is_block = is_block};
	atomic_store_explicit(&pool->chunks[pool->n_chunks++], chunk, memory_order_release);
	return chunk;
}

static void free_chunk(struct string_chunk *chunk)
{
	if (chunk->is_block)
		block_give(chunk);
	else
		free(chunk);
}

static int add_entry(struct string_pool *pool, const char *text, size_t length, uint32_t *ret_id)
{
	struct string_chunk *chunk = pool->n_chunks ? pool->chunks[pool->n_chunks - 1] : NULL;
	size_t need = entry_bytes(length);
	struct string_entry *entry;

	if (!chunk || chunk->n_bytes - chunk->used_bytes < need)
		chunk = add_chunk(pool, need);
	if (!chunk)
		return FLEXTRACE_E_MEMORY;
	*ret_id = (pool->n_chunks - 1) << PLACE_BITS | (uint32_t)(chunk->used_bytes / UNIT_BYTES);
	entry = (struct string_entry *)(chunk->bytes + chunk->used_bytes);
	chunk->used_bytes += need;
	entry->length = (uint32_t)length & MAX_LENGTH;
	entry->is_plain = is_plain(text, length);
	memcpy(entry->text, text, length);
	entry->text[length] = '\0';
	return FLEXTRACE_OK;
}

/* -- the pool, under its lock ------------------------------------------------------------------ */

/* Returns the slot of a string, or the free one where it would go. */
static uint32_t *pool_slot(const struct string_pool *pool, const char *text, size_t length,
                           uint64_t hash)
{
	uint64_t mask = pool->n_slots - 1, i = hash & mask;

	while (pool->ids[i] && !is_text(pool, pool->ids[i], text, length))
		i = (i + 1) & mask;
	return &pool->ids[i];
}

/* Makes a larger table of what stands in the chunks. "" is the first entry of the first. */
static void fill_slots(struct string_pool *pool)
{
	for (uint32_t k = 0; k < pool->n_chunks; k++) {
		const struct string_chunk *chunk = pool->chunks[k];
		const struct string_entry *entry;

		for (size_t at = 0; at < chunk->used_bytes; at += entry_bytes(entry->length)) {
			uint64_t i;

			entry = (const struct string_entry *)(chunk->bytes + at);
			i = hash_text(pool->secret, entry->text, entry->length) &
			    (pool->n_slots - 1);
			while (pool->ids[i])
				i = (i + 1) & (pool->n_slots - 1);
			pool->ids[i] = k << PLACE_BITS | (uint32_t)(at / UNIT_BYTES);
		}
	}
}

static int grow_pool(struct string_pool *pool)
{
	uint32_t n_slots = pool->n_slots ? 2 * pool->n_slots : 64;
	uint32_t *ids = n_slots ? blocks_allocate(n_slots, sizeof(*ids)) : NULL;

	if (!ids)
		return FLEXTRACE_E_MEMORY;
	memset(ids, 0, n_slots * sizeof(*ids));
	blocks_free(pool->ids);
	pool->ids = ids;
	pool->n_slots = n_slots;
	fill_slots(pool);
	return FLEXTRACE_OK;
}

static int pool_intern(struct string_pool *pool, const char *text, size_t length, uint64_t hash,
                       uint32_t *ret_id)
{
	uint32_t *slot;

	if (2 * (uint64_t)pool->n_used >= pool->n_slots)
		FLEXTRACE_TRY(grow_pool(pool));
	slot = pool_slot(pool, text, length, hash);
	if (!*slot) {
		FLEXTRACE_TRY(add_entry(pool, text, length, slot));
		pool->n_used++;
	}
	*ret_id = *slot;
	return FLEXTRACE_OK;
}

struct string_pool *string_pool_new(void)
{
	struct string_pool *pool = calloc(1, sizeof(*pool));
	uint32_t id;

	if (!pool)
		return NULL;
	pthread_mutex_init(&pool->lock, NULL);
	pool->secret = hash_get_secret().a;
	if (add_entry(pool, "", 0, &id) == FLEXTRACE_OK)
		return pool;
	string_pool_free(pool);
	return NULL;
}

void string_pool_free(struct string_pool *pool)
{
	if (!pool)
		return;
	for (uint32_t i = 0; i < pool->n_chunks; i++)
		free_chunk(pool->chunks[i]);
	blocks_free(pool->ids);
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

static struct string_cache_slot *cache_slot(const struct string_cache *cache, const char *text,
                                            size_t length, uint64_t hash)
{
	uint32_t i = (uint32_t)hash & (cache->n_slots - 1);

	for (;; i = (i + 1) & (cache->n_slots - 1)) {
		struct string_cache_slot *slot = &cache->slots[i];

		if (!slot->id ||
		    (slot->hash == hash >> 32 && is_text(cache->pool, slot->id, text, length)))
			return slot;
	}
}

/* A larger table is empty, as one that grew to its limit because most strings are new: the pool
 * knows them all. */
static int make_room(struct string_cache *cache)
{
	uint32_t n_slots = cache->n_slots ? 2 * cache->n_slots : 64;

	if (n_slots > MAX_CACHE_SLOTS)
		n_slots = MAX_CACHE_SLOTS;
	if (n_slots > cache->n_slots) {
		struct string_cache_slot *slots = malloc(n_slots * sizeof(*slots));

		if (!slots)
			return FLEXTRACE_E_MEMORY;
		free(cache->slots);
		cache->slots = slots;
		cache->n_slots = n_slots;
	}
	memset(cache->slots, 0, n_slots * sizeof(*cache->slots));
	cache->n_used = 0;
	return FLEXTRACE_OK;
}

int string_intern(struct string_cache *cache, const char *text, uint32_t *ret_id)
{
	struct string_cache_slot *slot;
	size_t length;
	uint64_t hash;
	int code = FLEXTRACE_OK;

	if (!text || !*text) {
		*ret_id = 0;
		return FLEXTRACE_OK;
	}
	length = strlen(text);
	if (length > MAX_LENGTH)
		return FLEXTRACE_E_MEMORY;
	hash = hash_text(cache->pool->secret, text, length);
	if (2 * cache->n_used >= cache->n_slots)
		FLEXTRACE_TRY(make_room(cache));
	slot = cache_slot(cache, text, length, hash);
	if (!slot->id) {
		pthread_mutex_lock(&cache->pool->lock);
		code = pool_intern(cache->pool, text, length, hash, &slot->id);
		pthread_mutex_unlock(&cache->pool->lock);
		slot->hash = (uint32_t)(hash >> 32);
		cache->n_used += code == FLEXTRACE_OK;
	}
	*ret_id = slot->id;
	return code;
}

int string_intern_again(struct string_cache *cache, const char *text, uint32_t *id)
{
	if (text && !strcmp(text, string_get(cache->pool, *id)))
		return FLEXTRACE_OK;
	return string_intern(cache, text, id);
}
