/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h: tables over the derived timeline, one file per table family.
 *
 * Each analysis reads the const timeline and findings, and describes a table, or writes a file of
 * another form. They look the same for recorded and imported traces. Lines are sorted by content,
 * never by id.
 */
#ifndef FLEXTRACE_ANALYSIS_H
#define FLEXTRACE_ANALYSIS_H

#include "model/timeline/columns.h"
#include "model/timeline/findings.h"

struct analysis {
	const char *name; /* "kernels" */
	struct result_file file;
	/* Written only where it is asked for: --with, --summarize-comm. */
	bool is_on_demand;
	/* Of a table in another tool's shape: likewise, and where a file of that tool was read, as
	 * IDENTITY_TT_METAL_FILE; NULL: the shape is ours. */
	const char *shape_of;
};

/* All analyses, ended by a NULL name. */
extern const struct analysis *const analysis_all[];

/* Whether it is written of a timeline where nobody asks for it. */
bool analysis_is_usual(const struct analysis *analysis, const struct timeline *timeline);

#endif
