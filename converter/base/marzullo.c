/* SPDX-License-Identifier: Apache-2.0 */
#include "marzullo.h"

#include <math.h>

#include "order.h"

/* An edge is its place doubled, odd where an interval closes: so opening edges come first where
 * they meet. */
static int64_t edge_of(int64_t at, int closes)
{
	if (at > MARZULLO_MAX)
		at = MARZULLO_MAX;
	if (at < -MARZULLO_MAX)
		at = -MARZULLO_MAX;
	return 2 * at + closes;
}

static int64_t place_of(int64_t edge)
{
	return (edge - (edge & 1)) / 2;
}

static uint32_t max_depth(const int64_t *edges, uint32_t n)
{
	uint32_t depth = 0, max = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (edges[i] & 1)
			depth--;
		else if (++depth > max)
			max = depth;
	}
	return max;
}

uint32_t marzullo_hull(const struct interval *intervals, uint32_t n, double share, int64_t *spare,
                       struct interval *ret_hull)
{
	uint32_t depth = 0, max, needed;
	int found = 0;

	for (uint32_t i = 0; i < n; i++) {
		spare[2 * i] = edge_of(intervals[i].lo, 0);
		spare[2 * i + 1] = edge_of(intervals[i].hi, 1);
	}
	order_numbers(spare, 2 * (size_t)n);
	max = max_depth(spare, 2 * n);
	needed = (uint32_t)ceil(share * max);
	for (uint32_t i = 0; i < 2 * n; i++) {
		if (spare[i] & 1) {
			if (depth-- >= needed)
				ret_hull->hi = place_of(spare[i]);
		} else if (++depth >= needed && !found) {
			ret_hull->lo = place_of(spare[i]);
			found = 1;
		}
	}
	return max;
}
