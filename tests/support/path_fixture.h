/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_fixture.h: a timeline of two ranks with two threads and a device each, from host calls and
 * device work in any order, and its critical paths as text.
 */
#ifndef FLEXTRACE_TESTS_PATH_FIXTURE_H
#define FLEXTRACE_TESTS_PATH_FIXTURE_H

#include "analysis_fixture.h"
#include "findings/path/path.h"

#define PATH_MAX_CALLS 256

struct call_made {
	int rank, thread; /* 2: async */
	const char *name;
	int64_t start, end;
	int kind; /* of the host row */
};

struct work_made {
	int rank, queue;
	int launch;       /* which call, as they are listed; -1: not known */
	const char *name; /* "c...": a copy */
	int64_t start, end;
};

extern struct analysis_test path_test;

/* Set-up and tear-down of a test. */
int path_start(void **state);
int path_stop(void **state);

/* Adds all calls, then all work, which is sorted. */
void path_add(const struct call_made *calls, int n_calls, struct work_made *works, int n_works);

/* A rank's part of a collective. */
void path_add_point(uint32_t rank, const char *op, int64_t enter, int64_t exit);

/* Finds the paths: a line each, "step: host a 10, launch_delay k 2"; over all ranks "all step: host
 * a 10@RANK". Checks that there is no hole. Valid until the next call. */
const char *path_text(void);

/* Tells the slack of all works. */
void path_slacks(path_slack_taker *take, void *context);

/* The arrows of the paths, and others there are, a line each: "12 thread -> 14 device". */
const char *path_arrows(void);

#endif
