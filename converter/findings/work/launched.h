/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launched.h: control blocks, each once, with the host calls that launched them; and calls that
 * launched nothing, though another one of their name did. Memory: a byte for each host row, a bit
 * for each control block.
 */
#ifndef FLEXTRACE_LAUNCHED_H
#define FLEXTRACE_LAUNCHED_H

#include "model/timeline/findings.h"
#include "work.h"

struct launched {
	const struct work *work;     /* weak: its first piece; NULL: the call launched nothing */
	const struct host_row *call; /* weak; NULL: what launched it is not known */
	uint32_t process;            /* index */
	bool is_first;               /* of the works of its call */
};

/* FLEXTRACE_E_MEMORY or 0. */
typedef int launched_taker(void *context, const struct launched *launched);

/* Tells all works in order of their starts, then calls without work in theirs if they are asked
 * for, until `take` fails. FLEXTRACE_E_MEMORY or 0. */
int launched_read(const struct findings *findings, bool with_calls, launched_taker *take,
                  void *context);

/* How long work took to begin from the begin of its call on; below zero: it seems to begin before
 * it. Both are known. */
static inline int64_t launched_delay_ns(const struct launched *launched)
{
	return (int64_t)((uint64_t)launched->work->row->start_time_ns -
	                 (uint64_t)launched->call->start_time_ns);
}

#endif
