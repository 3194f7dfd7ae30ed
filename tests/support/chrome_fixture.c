// SPDX-License-Identifier: Apache-2.0
#include "chrome_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_checker.h"

int chrome_write_trace(struct emit_test *test, bool gzip, struct flextrace_error *error)
{
	struct emit_options options = {.output_dir = test->dir, .gzip = gzip, .views = test->views};

	return emit_chrome(&test->fixture.findings, &options, FLEXTRACE_NONE,
	                   gzip ? "trace.json.gz" : "trace.json", test->counts, error);
}

void chrome_emit(struct emit_test *test)
{
	const struct file_count *count = &test->counts[0];

	assert_int_equal(chrome_write_trace(test, false, NULL), 0);
	emit_test_read(test, "trace.json");
	assert_non_null(test->root);
	assert_int_equal(trace_check(test->text, strlen(test->text), stderr), 0);
	assert_int_equal(count->rows + count->left_out, count->expected);
}

cJSON *chrome_find(struct emit_test *test, const char *ph, const char *name, int nth)
{
	cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
	{
		if (!strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph")), ph) &&
		    !strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "name")), name) &&
		    nth-- == 0)
			return event;
	}
	return NULL;
}

int chrome_count(struct emit_test *test, const char *ph)
{
	cJSON *event;
	int n = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
		n += !strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph")), ph);
	return n;
}

void chrome_add_rank(struct emit_test *test, int32_t rank)
{
	struct timeline_fixture *fixture = &test->fixture;
	uint32_t process = fixture_process(fixture, rank, 10, "app");
	uint32_t thread = fixture_thread(fixture, process, 10, "");
	uint32_t device = fixture_device(fixture, process, 0, "d");

	fixture_track(fixture, (struct track){.kind = TRACK_THREAD, .owner = thread});
	fixture_track(fixture,
	              (struct track){.kind = TRACK_QUEUE, .row_kind = ROW_EXEC, .owner = device});
}
