/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restored.h: device work that a file of ours told of: where each of its rows was and how sure
 * that was, and the cycles of its stamps. It stands as a text in front of the type of a control
 * block, whose record has no place for it; derive makes the rows again from that, and nobody places
 * them anew.
 */
#ifndef FLEXTRACE_RESTORED_H
#define FLEXTRACE_RESTORED_H

#include <stdbool.h>

#include "base/text/writer.h"
#include "flextrace/events.h"

#define MAX_RESTORED_ROWS 4

struct restored_row {
	uint64_t start_ns, dur_ns; /* the start behind that of the estimate of the control block */
	uint64_t kind, status;     /* enum device_row_kind, enum time_status */
	uint64_t err_ns;           /* UINT32_MAX: no bound */
};

struct restored {
	uint64_t n_rows;
	struct restored_row rows[MAX_RESTORED_ROWS];
	uint64_t ticks[FLEXTRACE_N_STAMPS];
	uint64_t job;
	/* of what the firmware of a core marked: one row, of a device_row_kind or as below */
	uint64_t core, processor, run;
	uint64_t value_bits; /* of a double */
};

/* Kinds of what is no device row. */
enum { RESTORED_MARK = 32, RESTORED_VALUE };

/* Appends the text but for the type, which is to follow. */
void restored_write(const struct restored *restored, struct writer *text);

/* Reads a text, and stores its type, weak; false: it is none. */
bool restored_read(const char *text, struct restored *ret_restored, const char **ret_type);

/* The status of a host row, likewise in front of its arguments or its name. */
void restored_write_status(uint64_t status, struct writer *text);
bool restored_read_status(const char *text, uint64_t *ret_status, const char **ret_rest);

#endif
