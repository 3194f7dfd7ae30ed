/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_fixture.h: the trace.json of a test, and what stands in there. Every trace that a
 * test writes goes through trace_checker.
 */
#ifndef FLEXTRACE_TESTS_CHROME_FIXTURE_H
#define FLEXTRACE_TESTS_CHROME_FIXTURE_H

#include "emit_fixture.h"

/* Adds a process of a rank with one thread and one device with one queue: two tracks. */
void chrome_add_rank(struct emit_test *test, int32_t rank);

/* Calls the emitter; trace.json or trace.json.gz. */
int chrome_write_trace(struct emit_test *test, bool gzip, struct flextrace_error *error);

/* Writes trace.json, has it checked and parses it. May be called again. */
void chrome_emit(struct emit_test *test);

/* The `nth` event (from 0) of a phase with this name; NULL: none. */
cJSON *chrome_find(struct emit_test *test, const char *ph, const char *name, int nth);

int chrome_count(struct emit_test *test, const char *ph);

#endif
