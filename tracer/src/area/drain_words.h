/* SPDX-License-Identifier: Apache-2.0 */
/* drain_words.h: little-endian words of device memory as numbers of a host of any byte order. */
#ifndef FLEXTRACE_DRAIN_WORDS_H
#define FLEXTRACE_DRAIN_WORDS_H

#include <stdint.h>

/* By its place in the repository, so that tracer/src compiles with no further -I. */
#include "flextrace/wire.h"

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define DRAIN_SWAPS 1
#else
#define DRAIN_SWAPS 0
#endif

/* A word as it was loaded or is to be stored; `swaps` is DRAIN_SWAPS but in tests. */
static inline uint32_t drain_swap(uint32_t word, int swaps)
{
	return swaps ? __builtin_bswap32(word) : word;
}

/* The two words of a ring record as a word of a batch. */
static inline uint64_t drain_join(uint32_t kind_id, uint32_t ticks, int swaps)
{
	return FLEXTRACE_WIRE_WORD(drain_swap(kind_id, swaps), drain_swap(ticks, swaps));
}

static inline uint32_t drain_load(const uint32_t *word)
{
	return drain_swap(__atomic_load_n(word, __ATOMIC_RELAXED), DRAIN_SWAPS);
}

/* Later loads stay behind this one. */
static inline uint32_t drain_load_first(const uint32_t *word)
{
	return drain_swap(__atomic_load_n(word, __ATOMIC_ACQUIRE), DRAIN_SWAPS);
}

/* Earlier loads stay in front of this store. */
static inline void drain_store_last(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, drain_swap(value, DRAIN_SWAPS), __ATOMIC_RELEASE);
}

#endif
