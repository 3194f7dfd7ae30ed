/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cover.h: the union of intervals, and how much of another interval it covers.
 *
 * Adding takes constant time, as intervals come in order of their starts; a question takes a binary
 * search over prefix sums. Memory: 24 bytes for each stretch of the union.
 */
#ifndef FLEXTRACE_COVER_H
#define FLEXTRACE_COVER_H

#include <stdint.h>

struct cover_stretch {
	int64_t start_ns, end_ns;
	uint64_t before_ns; /* covered in front of it */
};

struct cover {                           /* all zero is an empty one */
	struct cover_stretch *stretches; /* owned: they neither overlap nor touch */
	uint32_t n;
};

/* Adds an interval, which begins not before the ones before it. FLEXTRACE_E_MEMORY or 0. */
int cover_add(struct cover *cover, int64_t start_ns, int64_t end_ns);

/* How long the union is within an interval: at most its length. */
uint64_t cover_ns(const struct cover *cover, int64_t start_ns, int64_t end_ns);

/* How long the union is. */
uint64_t cover_total_ns(const struct cover *cover);

void cover_release(struct cover *cover);

#endif
