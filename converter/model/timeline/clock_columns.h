/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_columns.h: what is reported of clocks, once for all formats that tell it, and for who reads
 * it back: the columns of clocks.csv and alignment.csv.
 */
#ifndef FLEXTRACE_CLOCK_COLUMNS_H
#define FLEXTRACE_CLOCK_COLUMNS_H

#include "model/alignment.h"
#include "model/clocks.h"
#include "model/timeline/columns.h"
#include "model/timeline/timeline.h"

struct clock_row {
	struct owner_cells owner;
	uint32_t device, domain;
	struct clock_report of;
	struct clock_count count; /* what stands on the segment */
};

struct alignment_row {
	struct owner_cells owner;
	struct alignment_report of;
};

/* The first of each say whose row it is: its process; then of clocks the device and the domain. */
#define OWNER_COLUMNS     3
#define CLOCK_COLUMNS     (OWNER_COLUMNS + 2 + 22)
#define ALIGNMENT_COLUMNS (OWNER_COLUMNS + 13)

extern const struct column clock_columns[CLOCK_COLUMNS];
extern const struct column alignment_columns[ALIGNMENT_COLUMNS];

/* What does not say whose row it is, and how many these are. */
#define CLOCK_FIGURES     clock_columns + OWNER_COLUMNS + 3, CLOCK_COLUMNS - OWNER_COLUMNS - 3
#define ALIGNMENT_FIGURES alignment_columns + OWNER_COLUMNS, ALIGNMENT_COLUMNS - OWNER_COLUMNS

/* The lines of clocks by rank (unknown ones last), else in their order. Owned by the caller; NULL:
 * no memory. */
const struct clock_report **clock_columns_sort(const struct clocks *clocks,
                                               const struct identity *identity, uint32_t *ret_n);

/* `clock` is one of `timeline`. */
struct clock_row clock_columns_row(const struct timeline *timeline,
                                   const struct clock_report *clock);

/* Reads the figures of a row from the members of a JSON object that are called as their columns.
 * What is not there or cannot be is not known, or 0; whose row it is stays open. */
struct clock_row clock_columns_read(const char *json);
struct alignment_report alignment_columns_read(const char *json);

#endif
