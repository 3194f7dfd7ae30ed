/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_impl.h: what the tables share.
 *
 * Tables by name count rows into groups, and groups become lines (analysis_write_names()). Others
 * keep what they need in a struct of their own and write it with analysis_save().
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
#define ANALYSIS_CSV(NAME, COLUMNS, FILL)                                                 \
	{                                                                                 \
		.name = NAME, .file = NAME ".csv", .columns = COLUMN_TABLE(COLUMNS, FILL) \
	}

/* Writes one file, which `write` fills. FLEXTRACE_E_OUTPUT, FLEXTRACE_E_MEMORY or 0. */
int analysis_save(const char *output_dir, const char *file,
                  void (*write)(void *context, struct writer *writer), void *context,
                  struct flextrace_error *error);

/* Tells that there is no memory for a file. */
int analysis_no_memory(const char *file, struct flextrace_error *error);

/* Writes a name into a table for reading: as a cell of CSV, with '?' for control characters. */
void analysis_write_shown(struct writer *writer, const char *name);

#define ANALYSIS_DECLARATION(name) extern const struct analysis analysis_##name;
ANALYSES(ANALYSIS_DECLARATION)
#undef ANALYSIS_DECLARATION

#endif
