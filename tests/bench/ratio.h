/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratio.h: what every figure of the bench is: the median of alternating pairs in one run, with its
 * spread.
 */
#ifndef BENCH_RATIO_H
#define BENCH_RATIO_H

#include <stdint.h>

#define RATIO_MAX_PAIRS 101

struct ratio {
	double a[RATIO_MAX_PAIRS], b[RATIO_MAX_PAIRS];
	uint32_t n;
};

void ratio_add(struct ratio *ratio, double a, double b);

/* Median of n values; reorders them. */
double ratio_median(double *values, uint32_t n);

/* Prints "<label>  a = .., b = .., a/b = median (min .. max)  bar <= .. ok|MISSED"; bar 0 = none.
 */
void ratio_print(const struct ratio *ratio, const char *label, const char *unit, double bar);

#endif
