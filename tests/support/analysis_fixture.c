/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis_fixture.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis_files.h"
#include "base/array.h"
#include "findings/iterations.h"
#include "scratch.h"

void analysis_test_init(struct analysis_test *test)
{
	test->ops = NULL;
	test->n_ops = test->n_allocated = 0;
	timeline_fixture_init(&test->fixture);
}

void analysis_test_release(struct analysis_test *test)
{
	timeline_fixture_release(&test->fixture);
	free(test->ops);
}

/* The line of a device. */
static uint32_t track_of(struct analysis_test *test, uint32_t device)
{
	const struct timeline *timeline = &test->fixture.timeline;

	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		if (timeline->tracks[i].kind == TRACK_QUEUE && timeline->tracks[i].owner == device)
			return i;
	}
	return fixture_track(
		&test->fixture,
		(struct track){.kind = TRACK_QUEUE, .row_kind = ROW_EXEC, .owner = device});
}

struct tick_op *analysis_test_row(struct analysis_test *test, uint32_t device, uint8_t row_kind,
                                  const char *name, int64_t start_time_ns, int64_t end_time_ns)
{
	struct tick_op *op;

	assert_int_equal(ARRAY_RESERVE(test->ops, test->n_allocated, test->n_ops + 1ull), 0);
	op = &test->ops[test->n_ops++];
	*op = (struct tick_op){.device = device,
	                       .name = fixture_string(&test->fixture, name),
	                       .kind = FLEXTRACE_DEVICE_KERNEL,
	                       .class = RECORD_DEVICE_OP};
	test->fixture.timeline.ops = test->ops;
	test->fixture.timeline.n_ops = test->n_ops;
	analysis_test_part(test, row_kind, start_time_ns, end_time_ns);
	return op;
}

void analysis_test_part(struct analysis_test *test, uint8_t row_kind, int64_t start_time_ns,
                        int64_t end_time_ns)
{
	uint32_t device = test->ops[test->n_ops - 1].device;

	fixture_device_row(&test->fixture, (struct device_row){.start_time_ns = start_time_ns,
	                                                       .end_time_ns = end_time_ns,
	                                                       .source = test->n_ops - 1,
	                                                       .track = track_of(test, device),
	                                                       .kind = row_kind});
}

char *analysis_test_write(struct analysis_test *test, const char *name)
{
	char *dir = scratch_dir(), file[64], *text;
	struct findings *findings = &test->fixture.findings;
	struct iterations iterations;
	struct owners owners;
	uint64_t rows, n_lines = 0;

	snprintf(file, sizeof(file), "%s.csv", name);
	assert_int_equal(owners_init(&owners, findings->timeline->identity), 0);
	assert_int_equal(iterations_find(&iterations, findings->timeline, &owners), 0);
	findings->iterations = &iterations;
	assert_int_equal(analysis_files_save(findings, file, dir, &rows, NULL), 0);
	iterations_release(&iterations);
	owners_release(&owners);
	text = analysis_files_read(file, dir);
	assert_non_null(text);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		n_lines++;
	assert_int_equal(rows + 1, n_lines);
	scratch_remove(dir);
	return text;
}

void analysis_test_expect(struct analysis_test *test, const char *name, const char *expected)
{
	char *text = analysis_test_write(test, name);

	assert_string_equal(text, expected);
	free(text);
}
