/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_fields.h: what is reported of clocks, once for all formats that tell it: the columns of
 * clocks.csv and alignment.csv behind those that say whose line it is.
 */
#ifndef FLEXTRACE_REPORT_FIELDS_H
#define FLEXTRACE_REPORT_FIELDS_H

#include "align/align.h"
#include "calibrate/calibrate.h"
#include "derive/derive.h"
#include "emit/writer.h"

enum report_field_type { REPORT_COUNT, REPORT_REAL, REPORT_TEXT };

struct report_field {
	const char *name;
	enum report_field_type type;
	int n_decimals; /* REAL only */
	union {
		uint64_t count;
		double real;      /* NAN = not known */
		const char *text; /* of our own: needs no quotes in any format */
	} value;
};

#define REPORT_CLOCK_FIELDS     22
#define REPORT_ALIGNMENT_FIELDS 13

/* The lines of clocks by rank (unknown ones last), else in their order. Owned by the caller; NULL:
 * no memory. */
const struct clock_report **report_sort_clocks(const struct clocks *clocks,
                                               const struct identity *identity, uint32_t *ret_n);

/* `clock` is one of `timeline`; NULL, both: only names are wanted. */
void report_clock_fields(const struct timeline *timeline, const struct clock_report *clock,
                         struct report_field fields[REPORT_CLOCK_FIELDS]);
void report_alignment_fields(const struct alignment_report *line,
                             struct report_field fields[REPORT_ALIGNMENT_FIELDS]);

/* Appends the values apart by commas and a line's end, or only the names. What is not known is
 * empty. */
void report_write_csv(struct writer *writer, const struct report_field *fields, uint32_t n);
void report_write_csv_names(struct writer *writer, const struct report_field *fields, uint32_t n);

/* Appends `,"name":value` for each. What is not known is null. */
void report_write_json(struct writer *writer, const struct report_field *fields, uint32_t n);

#endif
