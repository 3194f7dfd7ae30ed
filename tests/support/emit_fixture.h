/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_fixture.h: what every test of an emitter has: a timeline, a directory to write into, and
 * what was written.
 */
#ifndef FLEXTRACE_TESTS_EMIT_FIXTURE_H
#define FLEXTRACE_TESTS_EMIT_FIXTURE_H

#include <cjson/cJSON.h>

#include "output/emit.h"
#include "timeline_fixture.h"

struct emit_test {
	struct timeline_fixture fixture;
	struct file_count counts[16];
	struct emit_views views;
	char *dir;   /* owned */
	char *text;  /* owned: a file that was written; NULL = none yet */
	cJSON *root; /* owned: the same, parsed */
};

/* cmocka's set-up and tear-down: an empty timeline, timeline_fixture_sample(). */
int emit_test_empty(void **state);
int emit_test_sample(void **state);
int emit_test_stop(void **state);

/* cmocka's entries of a table of tests. */
#define EMPTY(name)  cmocka_unit_test_setup_teardown(name, emit_test_empty, emit_test_stop)
#define SAMPLE(name) cmocka_unit_test_setup_teardown(name, emit_test_sample, emit_test_stop)

/* Reads a JSON file of the directory into `text` and `root`, in place of what was there. */
void emit_test_read(struct emit_test *test, const char *name);
void emit_test_read_gzip(struct emit_test *test, const char *name);

/* Fails unless a part of what was read is this JSON. */
void emit_assert_json(const cJSON *item, const char *expected);

#endif
