/* SPDX-License-Identifier: Apache-2.0 */
/* order.h: how qsort() puts numbers in order. */
#ifndef FLEXTRACE_ORDER_H
#define FLEXTRACE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Of two numbers, for what qsort() asks: join those of several keys by ?:, the first one first. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Puts the `n` elements of an array in order, of which there may be none, and no array then. */
#define ORDER_ARRAY(array, n, compare) \
	((n) ? qsort((array), (n), sizeof(*(array)), (compare)) : (void)0)

/* Defines NAME(), a comparison for qsort() of rows of TYPE: by up to six members, the first one
 * first. */
#define ORDER_BY(NAME, TYPE, ...)                                                              \
	static int NAME(const void *left, const void *right)                                   \
	{                                                                                      \
		const TYPE *a = left, *b = right;                                              \
                                                                                               \
		return ORDER_MEMBERS(__VA_ARGS__, ORDER_6, ORDER_5, ORDER_4, ORDER_3, ORDER_2, \
		                     ORDER_1, 0)(__VA_ARGS__);                                 \
	}                                                                                      \
	_Static_assert(sizeof(TYPE) > 0, "a semicolon ends it")

#define ORDER_1(m)                                 ORDER(a->m, b->m)
#define ORDER_2(m, ...)                            ORDER_1(m) ?: ORDER_1(__VA_ARGS__)
#define ORDER_3(m, ...)                            ORDER_1(m) ?: ORDER_2(__VA_ARGS__)
#define ORDER_4(m, ...)                            ORDER_1(m) ?: ORDER_3(__VA_ARGS__)
#define ORDER_5(m, ...)                            ORDER_1(m) ?: ORDER_4(__VA_ARGS__)
#define ORDER_6(m, ...)                            ORDER_1(m) ?: ORDER_5(__VA_ARGS__)
#define ORDER_MEMBERS(a, b, c, d, e, f, name, ...) name

/* Puts numbers in order. qsort() calls to compare, which is most of what it costs with numbers. */
void order_numbers(int64_t *numbers, size_t n);

/* Moves of an element, on average, until rows are nearly in order no more. */
#define ORDER_NEAR 16u

/* Defines NAME(TYPE *rows, uint32_t n), which puts rows in the order of COMPARE, as qsort() does,
 * in linear time if they are nearly in it. */
#define ORDER_NEARLY_DEFINE(NAME, TYPE, COMPARE)                                 \
	static void NAME(TYPE *rows, uint32_t n)                                 \
	{                                                                        \
		uint64_t n_moves = 0;                                            \
                                                                                 \
		for (uint32_t i = 1; i < n; i++) {                               \
			TYPE row = rows[i];                                      \
			uint32_t to = i;                                         \
                                                                                 \
			for (; to > 0 && COMPARE(&rows[to - 1], &row) > 0; to--) \
				rows[to] = rows[to - 1];                         \
			if (to == i)                                             \
				continue;                                        \
			rows[to] = row;                                          \
			n_moves += i - to;                                       \
			if (n_moves > ORDER_NEAR * (n + 64ull)) {                \
				qsort(rows, n, sizeof(*rows), COMPARE);          \
				return;                                          \
			}                                                        \
		}                                                                \
	}                                                                        \
	_Static_assert(sizeof(TYPE) > 0, "a semicolon ends it")

#endif
