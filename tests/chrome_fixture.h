/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_fixture.h: a timeline, the trace.json of it, and what stands in there. Every trace that a
 * test writes goes through trace_checker.
 */
#ifndef FLEXTRACE_TESTS_CHROME_FIXTURE_H
#define FLEXTRACE_TESTS_CHROME_FIXTURE_H

#include <cjson/cJSON.h>

#include "emit/emit.h"
#include "timeline_fixture.h"

struct chrome_test {
	struct timeline_fixture fixture;
	struct emit_file_count count;
	char *dir;   /* owned */
	char *text;  /* owned: trace.json */
	cJSON *root; /* owned */
};

/* cmocka's set-up and tear-down: an empty timeline, timeline_fixture_sample(). */
int chrome_test_empty(void **state);
int chrome_test_sample(void **state);
int chrome_test_stop(void **state);

/* Adds a process of a rank with one thread and one device with one queue: two tracks. */
void chrome_add_rank(struct chrome_test *test, int32_t rank);

/* Calls the emitter; trace.json or trace.json.gz. */
int chrome_write_trace(struct chrome_test *test, bool gzip, struct flextrace_error *error);

/* Writes trace.json, has it checked and parses it. May be called again. */
void chrome_emit(struct chrome_test *test);

/* The `nth` event (from 0) of a phase with this name; NULL: none. */
cJSON *chrome_find(struct chrome_test *test, const char *ph, const char *name, int nth);

int chrome_count(struct chrome_test *test, const char *ph);

/* Fails unless a part of the trace is this JSON. */
void chrome_assert_json(const cJSON *item, const char *expected);

#endif
