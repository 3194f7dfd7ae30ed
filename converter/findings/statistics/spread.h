/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h: mean, exact median, extremes and deviation of whole numbers, in linear time.
 */
#ifndef FLEXTRACE_ANALYSIS_SPREAD_H
#define FLEXTRACE_ANALYSIS_SPREAD_H

#include <stdint.h>

#include "emit/writer.h"

struct spread {
	uint64_t total;  /* at most UINT64_MAX */
	uint64_t mean;   /* rounded */
	uint64_t median; /* of an even number the mean of the middle two, rounded up */
	uint64_t min, max;
	uint64_t deviation; /* of a sample (n - 1), rounded; 0 for a single value */
};

/* Stores the spread of `n` > 0 values, which are lost. */
void spread_of(uint64_t *values, uint64_t n, struct spread *ret);

/* Appends ",mean,median,min,max,deviation". */
void spread_write(const struct spread *spread, struct writer *writer);

static inline uint64_t spread_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
