/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss_cases.h: inputs of which it is known what a conversion loses of them, or leaves out: one at
 * least for each cause, and one for each way there is to it.
 */
#ifndef FLEXTRACE_TESTS_LOSS_CASES_H
#define FLEXTRACE_TESTS_LOSS_CASES_H

#include "model/losses.h"

#define LOSS_CASE_CAUSES 6
#define LOSS_CASE_FILES  2

struct loss_case {
	const char *name;
	/* A recording: lines of text_source.h, of streams 0 (definitions) and 1 of trace 1. */
	const char *events;
	uint32_t n_channels; /* declared in its metadata; 0 = those that have a stream */
	const char *cut;     /* a stream's file that lacks its last byte */
	const char *torn;    /* ... whose last packet ends with the mark of torn.h */
	const char *indexed; /* a stream's file that was written as it came, as its index shows */
	const char *emitted; /* what its processes counted: lines of emitted.h */
	/* Or files of others, by name and content; or what make_areas writes. */
	struct {
		const char *name, *content;
	} files[LOSS_CASE_FILES];
	const char *areas; /* its second argument, "" = none */
	uint32_t n_bytes;  /* of what it writes; 0 = all */

	const char *options;
	/* All that it loses; count 0 ends. */
	struct {
		enum loss_cause cause;
		uint64_t count;
	} lost[LOSS_CASE_CAUSES];
};

/* Ends with a NULL name. */
extern const struct loss_case loss_cases[];

#endif
