/* SPDX-License-Identifier: Apache-2.0 */
/* summary_impl.h: what the parts of the summary share. */
#ifndef FLEXTRACE_SUMMARY_IMPL_H
#define FLEXTRACE_SUMMARY_IMPL_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "model/timeline/columns.h"

/* A document of the output directory. NULL: there is none. Owned. */
cJSON *summary_json(const char *dir, const char *name);

/* Members; 0 and "" where there is none. */
double summary_number(const cJSON *object, const char *key);
const char *summary_text(const cJSON *object, const char *key);

/* A text in its column, behind another, without anything that moves the cursor. A terminal cuts it
 * there; elsewhere it stands whole. */
void summary_cell(FILE *to, const char *before, const char *text, int n_columns);

/* "rank 0", or "pid 1" where nobody told the rank. */
const char *summary_process(const struct owner_cells *owner, char text[64]);

/* What devices were at, where breakdown.csv tells it. */
void summary_print_devices(FILE *to, const char *dir);

/* What programs emitted, where run.json tells it. */
void summary_print_emitted(FILE *to, const cJSON *run);

/* Zones of firmware that never ended, where there are some. */
void summary_print_endless(FILE *to, const cJSON *run);

/* Cores of AI engines, where run.json says that there are some. */
void summary_print_aie(FILE *to, const char *dir, const cJSON *run);

#endif
