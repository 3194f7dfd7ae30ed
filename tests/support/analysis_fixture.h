/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis_fixture.h: a timeline of kernels from literals, and the table that an analysis makes of
 * it.
 *
 * Kernels are added in output order: by start, the longer first.
 */
#ifndef FLEXTRACE_TESTS_ANALYSIS_FIXTURE_H
#define FLEXTRACE_TESTS_ANALYSIS_FIXTURE_H

#include "timeline_fixture.h"

struct analysis_test {
	struct timeline_fixture fixture;
	struct tick_op *ops; /* owned: as many as there are */
	uint32_t n_ops, n_allocated;
};

/* An empty timeline; ranks and devices are fixture_process() and fixture_device() of it. */
void analysis_test_init(struct analysis_test *test);
void analysis_test_release(struct analysis_test *test);

/* Adds a control block and its row; the caller refines the block until the next call. */
struct tick_op *analysis_test_row(struct analysis_test *test, uint32_t device, uint8_t row_kind,
                                  const char *name, int64_t start_time_ns, int64_t end_time_ns);

/* Adds another row of the last control block. */
void analysis_test_part(struct analysis_test *test, uint8_t row_kind, int64_t start_time_ns,
                        int64_t end_time_ns);

/* Runs an analysis; returns what it wrote, owned by the caller, whose lines are as many as it
 * says. */
char *analysis_test_write(struct analysis_test *test, const char *name);

/* Asserts that the file is this. */
void analysis_test_expect(struct analysis_test *test, const char *name, const char *expected);

#endif
