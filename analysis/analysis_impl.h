/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_impl.h: what the tables share: rows are counted into groups, groups become lines.
 */
#ifndef FLEXTRACE_ANALYSIS_IMPL_H
#define FLEXTRACE_ANALYSIS_IMPL_H

#include "analysis.h"
#include "stats.h"

struct analysis_table {
	const char *file; /* "kernels.csv" */
	const char *(*label)(uint8_t kind);

	/* Counts and sorts. FLEXTRACE_E_MEMORY or 0. */
	int (*count)(const struct timeline *timeline, struct stats *stats);

	/* Writes header and lines. */
	void (*write)(const struct timeline *timeline, struct stats *stats, struct writer *writer);
};

/* Writes one table and stores its lines. FLEXTRACE_E_MEMORY, FLEXTRACE_E_OUTPUT or 0. */
int analysis_write(const struct analysis_table *table, const struct timeline *timeline,
                   const char *output_dir, uint64_t *ret_rows, struct flextrace_error *error);

/* Starts reading a table of the const timeline. */
static inline void analysis_read(struct table_cursor *cursor, const struct table *table)
{
	table_read(cursor, (struct table *)table, false);
}

extern const struct analysis analysis_kernels, analysis_runtime;

#endif
