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
#include "base/error.h"

struct analysis {
	const char *name; /* "kernels" */
	struct result_file file;
	/* Whether a timeline has something for it, in one look; NULL: it is always written. */
	bool (*is_for)(const struct timeline *timeline);
	bool is_on_demand; /* written only where it is asked for: --with, --summarize-comm */
};

/* All analyses, ended by a NULL name. */
extern const struct analysis *const analysis_all[];

#endif
