/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_impl.h: what the tables share.
 */
#ifndef FLEXTRACE_ANALYSIS_IMPL_H
#define FLEXTRACE_ANALYSIS_IMPL_H

#include "analyses.h"
#include "analysis.h"
#include "findings/statistics/owners.h"
#include "findings/statistics/stats.h"
#include "model/timeline/timeline_read.h"

struct writer;

/* A file NAME.csv that `fill` fills; behind it `.title` and `.what` for people. */
#define ANALYSIS_CSV(NAME, COLUMNS, FILL, ...)                \
	{                                                     \
		.name = NAME, .file = {                       \
			.name = NAME ".csv",                  \
			.table = COLUMN_TABLE(COLUMNS, FILL), \
			##__VA_ARGS__                         \
		}                                             \
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
