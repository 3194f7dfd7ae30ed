/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_files.h: the files of analyses, one at a time. */
#ifndef FLEXTRACE_TESTS_ANALYSIS_FILES_H
#define FLEXTRACE_TESTS_ANALYSIS_FILES_H

#include "model/timeline/findings.h"
#include "base/error.h"

/* Runs the analysis that writes `file`, and stores how many rows it says. Where there is none there
 * has to be no file. */
int analysis_files_save(const struct findings *findings, const char *file, const char *dir,
                        uint64_t *ret_rows, struct flextrace_error *error);

/* What it wrote; of a table without a row, which has no file, its heading. Owned; NULL: nothing. */
char *analysis_files_read(const char *file, const char *dir);

#endif
