/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h: hashes of numbers and texts.
 *
 * Whoever makes an input chooses what stands in our tables. A table of such keys hashes them with a
 * secret that is another in each process, so that no keys can be made that all meet in one place.
 * Nothing that is stored or written may depend on a secret, nor on the order of such a table.
 */
#ifndef FLEXTRACE_HASH_H
#define FLEXTRACE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

struct hash_secret {
	uint64_t a, b;
};

/* The 16 random bytes that the kernel gives each process that it starts (getauxval(3)): they cost
 * no call and cannot fail. */
static inline struct hash_secret hash_get_secret(void)
{
	const void *bytes = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	struct hash_secret secret = {0x9e3779b97f4a7c15u, 0xe7037ed1a0b428dbu};

	if (bytes)
		memcpy(&secret, bytes, sizeof(secret));
	return secret;
}

/* Multiplies and folds, as wyhash by Wang Yi does. The secret belongs in both factors: who knew one
 * could make it zero. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Up to eight bytes as a word. */
static inline uint64_t hash_load(const char *bytes, size_t n)
{
	uint64_t word = 0;

	memcpy(&word, bytes, n);
	return word;
}

/* Two words, the same in every process. */
static inline uint64_t hash_words(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

	h = (h ^ (h >> 32) ^ b) * 0xc4ceb9fe1a85ec53u;
	return h ^ (h >> 29);
}

/* Bytes one by one (FNV-1a), from HASH_NO_BYTES on: the same in every process. */
#define HASH_NO_BYTES UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_byte(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = hash_byte(hash, ((const unsigned char *)bytes)[i]);
	return hash;
}

#endif
