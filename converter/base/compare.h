/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h: comparisons for qsort() and its like, key by key. */
#ifndef FLEXTRACE_COMPARE_H
#define FLEXTRACE_COMPARE_H

/* Leaves the comparison where two keys differ, the smaller one first. */
#define COMPARE(a, b)                              \
	do {                                       \
		if ((a) != (b))                    \
			return (a) < (b) ? -1 : 1; \
	} while (0)

#endif
