/* SPDX-License-Identifier: Apache-2.0 */
/* order.h: how qsort() puts numbers in order. */
#ifndef FLEXTRACE_ORDER_H
#define FLEXTRACE_ORDER_H

#include <stdint.h>
#include <stdlib.h>

static inline int order_compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static inline void order_numbers(int64_t *numbers, size_t n)
{
	qsort(numbers, n, sizeof(*numbers), order_compare);
}

#endif
