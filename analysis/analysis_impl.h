/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_impl.h: what the tables share.
 *
 * Tables by name count rows into groups, and groups become lines (analysis_fill_names()). Others
 * keep what they need in a struct of their own.
 */
#ifndef FLEXTRACE_ANALYSIS_IMPL_H
#define FLEXTRACE_ANALYSIS_IMPL_H

#include "analyses.h"
#include "analysis.h"
#include "findings/owners.h"
#include "findings/statistics/stats.h"
#include "model/timeline_read.h"

struct writer;

/* Rows counted by name. */
struct analysis_names {
	const struct timeline *timeline; /* weak */
	struct owners owners;
	struct stats stats;
	uint64_t *children_ns; /* owned: of runtime.csv, by group: what calls below it took */
	uint32_t n_children;
};

struct analysis_table {
	const char *(*label)(uint8_t kind);

	/* Counts and sorts. FLEXTRACE_E_MEMORY or 0. */
	int (*count)(struct analysis_names *names);

	/* Puts the rows. */
	void (*put)(struct analysis_names *names, struct row_sink *sink);
};

/* Fills one table. FLEXTRACE_E_MEMORY or 0. */
int analysis_fill_names(const struct analysis_table *table, const struct timeline *timeline,
                        struct row_sink *sink);

/* A file NAME.csv that `fill` fills. */
#define ANALYSIS_CSV(NAME, COLUMNS, FILL)                                                \
	{                                                                                \
		.name = NAME, .file = { NAME ".csv", COLUMN_TABLE(COLUMNS, FILL), NULL } \
	}

/* A file FILE that `write` writes. */
#define ANALYSIS_TEXT(FILE, WRITE)               \
	{                                        \
		.name = (FILE), .write = (WRITE) \
	}

/* Writes a name into a table for reading: as a cell of CSV, with '?' for control characters. */
void analysis_write_shown(struct writer *writer, const char *name);

#define ANALYSIS_DECLARATION(name) extern const struct analysis analysis_##name;
ANALYSES(ANALYSIS_DECLARATION)
#undef ANALYSIS_DECLARATION

#endif
