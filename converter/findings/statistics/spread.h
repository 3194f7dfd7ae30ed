/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h: mean, exact median, extremes and deviation of whole numbers, in linear time.
 */
#ifndef FLEXTRACE_SPREAD_H
#define FLEXTRACE_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "model/timeline/columns.h"

struct spread {
	uint64_t total;  /* at most UINT64_MAX */
	uint64_t mean;   /* rounded */
	uint64_t median; /* of an even number the mean of the middle two, rounded up */
	uint64_t min, max;
	uint64_t deviation; /* of a sample (n - 1), rounded; 0 for a single value */
	bool is_rounded;    /* the median is half of 1 less */
};

static inline double spread_median(const struct spread *spread)
{
	return (double)spread->median - (spread->is_rounded ? 0.5 : 0);
}

/* Stores the spread of `n` > 0 values, which are lost. */
void spread_of(uint64_t *values, uint64_t n, struct spread *ret);

/* Five columns of a row's member; `unit`: "_ns". Those of SPREAD_NONE are empty. */
#define COLUMNS_SPREAD(row, member, unit)                                \
	COLUMN_INIT("mean" unit, row, member.mean, true, 0),             \
		COLUMN_INIT("median" unit, row, member.median, true, 0), \
		COLUMN_INIT("min" unit, row, member.min, true, 0),       \
		COLUMN_INIT("max" unit, row, member.max, true, 0),       \
		COLUMN_INIT("stddev" unit, row, member.deviation, true, 0)

#define SPREAD_NONE                                                                           \
	(struct spread)                                                                       \
	{                                                                                     \
		UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, false \
	}

/* The integer that is nearest to a mean, of a half the larger. */
static inline int64_t spread_mean(__int128 total, uint64_t n)
{
	__int128 raised = total + n / 2;

	return (int64_t)(raised / n - (raised % n < 0));
}

static inline uint64_t spread_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
