/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told_collective.h: what the torch profiler says of a kernel of a collective.
 */
#ifndef FLEXTRACE_IMPORT_TOLD_COLLECTIVE_H
#define FLEXTRACE_IMPORT_TOLD_COLLECTIVE_H

#include "told.h"

struct told_collective {
	char op[40];      /* "allreduce"; cut if it is longer */
	uint64_t who;     /* tells groups of one name apart: a hash of the list of their ranks */
	uint64_t seq;     /* in its group, of all its ranks */
	uint64_t n_ranks; /* 0: not told */
	bool has_seq;
};

/* Reads what was told of device work; false: it is no collective. */
bool told_collective_read(const char *text, size_t n_bytes, struct told_collective *ret);

/* Bytes of an element by the name that the profiler has for its type; 0: not known. */
uint32_t told_collective_element(const struct trace_text *type);

#endif
