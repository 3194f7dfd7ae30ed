/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h: binary heaps in arrays, the first element on top.
 *
 * HEAP_DEFINE(NAME, TYPE, IS_BEFORE) defines, for elements of a type and their order
 * `bool IS_BEFORE(const TYPE *left, const TYPE *right)`:
 *
 *   NAME_sink(heap, n, at)    puts the element at a place below those that are before it
 *   NAME_rise(heap, at)       puts it above those that it is before
 *   NAME_order(heap, n)       makes a heap of any array
 *   NAME_pop(heap, n)         takes the top out of `n` elements; the caller counts
 *
 * To push, put an element behind the last one and let it rise. O(log n), NAME_order() O(n).
 */
#ifndef FLEXTRACE_HEAP_H
#define FLEXTRACE_HEAP_H

#include <stdint.h>

#define HEAP_DEFINE(NAME, TYPE, IS_BEFORE)                                                  \
	static inline void NAME##_sink(TYPE *heap, uint64_t n, uint64_t at)                 \
	{                                                                                   \
		TYPE moved = heap[at];                                                      \
                                                                                            \
		for (uint64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {          \
			if (child + 1 < n && IS_BEFORE(&heap[child + 1], &heap[child]))     \
				child++;                                                    \
			if (!IS_BEFORE(&heap[child], &moved))                               \
				break;                                                      \
			heap[at] = heap[child];                                             \
			at = child;                                                         \
		}                                                                           \
		heap[at] = moved;                                                           \
	}                                                                                   \
                                                                                            \
	static inline void NAME##_rise(TYPE *heap, uint64_t at)                             \
	{                                                                                   \
		TYPE moved = heap[at];                                                      \
                                                                                            \
		for (; at > 0 && IS_BEFORE(&moved, &heap[(at - 1) / 2]); at = (at - 1) / 2) \
			heap[at] = heap[(at - 1) / 2];                                      \
		heap[at] = moved;                                                           \
	}                                                                                   \
                                                                                            \
	static inline void NAME##_order(TYPE *heap, uint64_t n)                             \
	{                                                                                   \
		for (uint64_t at = n / 2; at-- > 0;)                                        \
			NAME##_sink(heap, n, at);                                           \
	}                                                                                   \
                                                                                            \
	static inline TYPE NAME##_pop(TYPE *heap, uint64_t n)                               \
	{                                                                                   \
		TYPE top = heap[0];                                                         \
                                                                                            \
		heap[0] = heap[n - 1];                                                      \
		NAME##_sink(heap, n - 1, 0);                                                \
		return top;                                                                 \
	}                                                                                   \
	_Static_assert(sizeof(TYPE) > 0, "a semicolon ends it")

#endif
