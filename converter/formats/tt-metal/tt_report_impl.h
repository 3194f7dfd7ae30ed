/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tt_report_impl.h: what the files that read ops reports share.
 *
 *   tt_report.c  lines and when their device work was
 *   tt_calls.c   what lines tell of their host call
 *
 * All lines of a call tell of one operation: a device each, or a replay of a trace each. Their
 * cells go with the call's scope as they stand, as scope_args:
 *   {"ops report":[{"DEVICE ID":"0","MATH FIDELITY":"HiFi4",...},...]}
 */
#ifndef FLEXTRACE_IMPORT_TT_REPORT_IMPL_H
#define FLEXTRACE_IMPORT_TT_REPORT_IMPL_H

#include "base/text/csv_reader.h"
#include "formats/kit/faults.h"
#include "tt_report.h"
#include "base/text/json_text.h"
#include "base/text/text_list.h"

#define N_TENSORS 16 /* of one operation, each way */

enum column {
	OP_CODE,
	OP_TYPE,
	CALL_COUNT,
	DEVICE_ID,
	DEVICE_ARCH,
	ATTRIBUTES,
	CORE_COUNT,
	WORKER_CORES,
	HOST_START,
	HOST_END,
	FW_START,
	FW_END,
	FW_NS,
	KERNEL_NS,
	KERNEL_START,
	LATENCY_NS,
	REPLAY,
	N_COLUMNS
};

/* Of a tensor: W, Z, Y, X, layout, data type, memory. */
enum { TENSOR_W, TENSOR_X = 3, TENSOR_LAYOUT, TENSOR_DTYPE, TENSOR_MEMORY, N_TENSOR_COLUMNS };

struct report {
	struct tt *tt; /* weak */
	struct csv_reader csv;
	struct text_list headings; /* owned */
	int16_t column[N_COLUMNS]; /* -1: there is none */
	int16_t tensor[2][N_TENSORS][N_TENSOR_COLUMNS];
	bool is_survey;
};

struct line {
	uint64_t call, host_start_ns, host_end_ns;
	uint64_t fw_start, fw_end, kernel_start; /* cycles */
	double fw_ns, kernel_ns, latency_ns;     /* latency: NAN: it does not tell */
	uint64_t device;
	bool has_device, has_host;
	bool is_replay;  /* of a trace: its host times are those of the recording of that */
	bool is_wide;    /* its cycles have more than TT_COUNTER_BITS */
	bool is_wrapped; /* the firmware's end was counted on */
};

/* A field of the line last read; "" where the report has no such column. */
const char *report_field(const struct report *report, enum column column);

/* Reads a field of digits; false, and 0: it is none. */
bool report_number(const struct report *report, enum column column, uint64_t *ret);

/* Adds an event of the line last read, unless it says of which it is. */
int report_add(struct report *report, const struct event *event);

/* Where the line last read stands. */
struct origin report_origin(const struct report *report);

/* -- tt_calls.c ------------------------------------------------------------------------------ */

/* Counts a line of a call, the first time. */
int report_count_call(struct report *report, const struct line *line);

/* Takes what a line tells of its call; the last line of a call sends its scope. */
int report_take_call(struct report *report, const struct line *line);

/* Where no line of its call tells when that was, the cells of the line last read go with its device
 * work: writes them to `cells`, which the caller frees. 1, 0: it is not so, FLEXTRACE_E_MEMORY. */
int report_write_cells(struct report *report, const struct line *line, struct json_text *cells);

#endif
