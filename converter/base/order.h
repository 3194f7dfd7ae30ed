/* SPDX-License-Identifier: Apache-2.0 */
/* order.h: how qsort() puts numbers in order. */
#ifndef FLEXTRACE_ORDER_H
#define FLEXTRACE_ORDER_H

#include <stdint.h>
#include <stdlib.h>

/* Of two numbers, for what qsort() asks: join those of several keys by ?:, the first one first. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static inline int order_compare(const void *left, const void *right)
{
	return ORDER(*(const int64_t *)left, *(const int64_t *)right);
}

static inline void order_numbers(int64_t *numbers, size_t n)
{
	qsort(numbers, n, sizeof(*numbers), order_compare);
}

#endif
