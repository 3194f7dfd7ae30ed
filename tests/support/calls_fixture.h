/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_fixture.h: a timeline of host calls and what they launched, from literals or at random.
 *
 * Calls are added in output order: by start, the longer first; so is device work.
 */
#ifndef FLEXTRACE_TESTS_CALLS_FIXTURE_H
#define FLEXTRACE_TESTS_CALLS_FIXTURE_H

#include "analysis_fixture.h"

#define CALLS_FIXTURE_TRACKS 4 /* two threads of each of two processes */

/* How lines of either rank end: rank, host, pid. */
#define OF_0 ",0,\"node,1\",70\n"
#define OF_1 ",1,\"node,1\",71\n"

struct calls_test {
	struct analysis_test test;
	uint32_t *launches; /* owned: of control blocks */
	uint32_t n_launches;
};

/* Ranks 0 and 1 of two threads each, with tracks 0 and 1, 2 and 3, and a device each, 0 and 1. */
void calls_test_init(struct calls_test *test);
void calls_test_release(struct calls_test *test);

/* A call to add. */
static inline struct host_row row_of(uint8_t kind, uint16_t depth, int64_t start_ns, int64_t end_ns)
{
	return (struct host_row){
		.kind = kind, .depth = depth, .start_time_ns = start_ns, .end_time_ns = end_ns};
}

/* Adds a call of a track and returns its place; the caller refines it until the next one. */
uint32_t calls_test_call(struct calls_test *test, uint32_t track, struct host_row row,
                         const char *name);

/* Adds a kernel that a call launched; FLEXTRACE_NONE: none did. */
void calls_test_kernel(struct calls_test *test, uint32_t device, const char *name,
                       const int64_t times_ns[2], uint32_t launch);

struct call_oracle {
	uint64_t root_ns[2];   /* by rank: of calls that are in no other, steps and windows apart */
	uint64_t device_ns[2]; /* by rank */
};

/* A random timeline: nested calls of all kinds, steps and windows among them and across them,
 * kernels of several queues at once, some of them launched by none. */
void calls_test_random(struct calls_test *test, uint64_t seed, struct call_oracle *ret);

/* Adds the cells of a column over the lines that have all of these cells: pairs of column and text,
 * ended by NULL. Cells have no commas. */
int64_t csv_sum(const char *csv, const char *column, const char *const *cells);

#endif
