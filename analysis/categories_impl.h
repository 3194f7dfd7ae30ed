/* SPDX-License-Identifier: Apache-2.0 */
/*
 * categories_impl.h: the lines of categories.csv, counted once and written in two ways.
 */
#ifndef FLEXTRACE_CATEGORIES_IMPL_H
#define FLEXTRACE_CATEGORIES_IMPL_H

#include "model/timeline/timeline.h"

/* Lines of a rank and phase end with these. */
enum category_order { CATEGORY_NAMED, CATEGORY_OTHER, CATEGORY_TOTAL };

struct category_line {
	uint64_t calls, kernel_ns;
	uint64_t cycles; /* TS3 to TS4, of the counter */
	uint64_t ideal_cycles;
	double cycles_core; /* the measured time in cycles of the compute clock */
	double ideal_ns;
	int32_t rank;
	uint32_t category; /* string, of CATEGORY_NAMED */
	uint8_t phase;     /* enum kernel_phase */
	uint8_t order;     /* enum category_order */
};

struct categories {
	struct category_line *lines; /* owned: by rank, phase, order, most time first */
	uint32_t n_lines;
	const struct string_pool *strings; /* weak */
};

/* Release in any case. FLEXTRACE_E_MEMORY or 0. */
int categories_count(struct categories *categories, const struct findings *findings);
void categories_release(struct categories *categories);

/* The total of a line's rank and phase. */
const struct category_line *category_total(const struct category_line *line);

static inline const char *category_name(const struct categories *categories,
                                        const struct category_line *line)
{
	static const char *const names[] = {[CATEGORY_OTHER] = "other", [CATEGORY_TOTAL] = "Total"};

	return line->order == CATEGORY_NAMED ? string_get(categories->strings, line->category)
	                                     : names[line->order];
}

#endif
