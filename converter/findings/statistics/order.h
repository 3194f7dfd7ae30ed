/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h: sorts places in an array whose elements stay where they are. Memory: 4 bytes for each,
 * and 2 more while it sorts, all of blocks.h, which qsort_r() does not know.
 */
#ifndef FLEXTRACE_ORDER_H
#define FLEXTRACE_ORDER_H

#include <stdint.h>

/* Compares the elements at two places as qsort_r() does. */
typedef int order_compare(uint32_t left, uint32_t right, const void *context);

/* Returns the places of `n` elements in order, of equal ones the first place first; freed with
 * blocks_free(). NULL: no memory. */
uint32_t *order_of(uint32_t n, order_compare *compare, const void *context);

#endif
