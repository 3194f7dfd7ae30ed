/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restored.h: a row that flextrace itself wrote into a file, as the file has it: where it was, how
 * sure that was (the status of the event) and its 64-bit cycles. Nobody places it anew: it needs no
 * evidence and is none.
 *
 * Its kind is an enum device_row_kind or an enum restored_kind. The rows of one control block
 * follow each other; the first one says what is of all of it. Lines of clocks.csv and
 * alignment.csv are a JSON object, `type`, whose members are called as their columns. Of a loss
 * `op_kind` is its enum loss_cause, `bytes` its count; times of 0 are not known.
 */
#ifndef FLEXTRACE_RESTORED_H
#define FLEXTRACE_RESTORED_H

#include "flextrace/events.h"

struct flextrace_restored {
	uint32_t size;
	uint32_t device;
	uint32_t queue;
	uint32_t kind;
	uint32_t is_part; /* of the control block of the row before it */
	uint32_t op_kind; /* enum flextrace_device_kind, of the control block */
	uint64_t begin_ns;
	uint64_t end_ns;
	uint32_t err_ns; /* UINT32_MAX = no bound */
	uint32_t power;
	uint64_t job;
	uint64_t correlation;
	const char *name;
	uint64_t ticks1; /* to 5: of a zone the first and the last are its begin and its end */
	uint64_t ticks2;
	uint64_t ticks3;
	uint64_t ticks4;
	uint64_t ticks5;
	uint64_t bytes;
	int32_t peer;
	const char *group;
	const char *type;
	/* of what the firmware of a core marked */
	uint32_t core;
	uint32_t processor;
	uint64_t run;
	double value;
	const char *file;
	uint32_t line;
	/* of control blocks and clocks */
	uint32_t domain;
	uint32_t segment;          /* of its counter */
	uint32_t sample_before_ns; /* as in a struct tick_op */
};

#endif
