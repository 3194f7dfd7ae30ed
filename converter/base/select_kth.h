/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_kth.h: what is the k-th smallest of many values, in linear time: R. W. Floyd and R. L.
 * Rivest, "Algorithm 489: SELECT", CACM 18 (1975).
 */
#ifndef FLEXTRACE_SELECT_KTH_H
#define FLEXTRACE_SELECT_KTH_H

#include <stdint.h>

/* Returns the value that would be at place `k` < n if they were sorted, and puts it there. Nothing
 * in front of it is larger then, and nothing behind it smaller. No value is NAN. */
double select_kth(double *values, uint32_t n, uint32_t k);
int64_t select_kth_i64(int64_t *values, uint32_t n, uint32_t k);
uint64_t select_kth_u64(uint64_t *values, uint64_t n, uint64_t k);

/* Of `n` > 0 values: the mean of the two in the middle if they are even in number. */
double select_median(double *values, uint32_t n);

/* The least one that so large a share of `n` > 0 values does not exceed. */
double select_quantile(double *values, uint32_t n, double share);

#endif
