// SPDX-License-Identifier: Apache-2.0
#include "chrome_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"
#include "trace_checker.h"

int chrome_test_empty(void **state)
{
	struct chrome_test *test = calloc(1, sizeof(*test));

	timeline_fixture_init(&test->fixture);
	test->dir = scratch_dir();
	*state = test;
	return 0;
}

int chrome_test_sample(void **state)
{
	struct chrome_test *test = calloc(1, sizeof(*test));

	timeline_fixture_sample(&test->fixture);
	test->dir = scratch_dir();
	*state = test;
	return 0;
}

int chrome_test_stop(void **state)
{
	struct chrome_test *test = *state;

	timeline_fixture_release(&test->fixture);
	scratch_remove(test->dir);
	cJSON_Delete(test->root);
	free(test->text);
	free(test);
	return 0;
}

int chrome_write_trace(struct chrome_test *test, bool gzip, struct flextrace_error *error)
{
	struct emit_options options = {.output_dir = test->dir, .gzip = gzip};
	struct emit_file_count counts[EMIT_MAX_FILES];
	uint32_t n = 0;
	int code = emit_chrome.write(&test->fixture.timeline, &options, counts, &n, error);

	assert_int_equal(n, 1);
	test->count = counts[0];
	return code;
}

void chrome_emit(struct chrome_test *test)
{
	size_t n;

	cJSON_Delete(test->root);
	free(test->text);
	assert_int_equal(chrome_write_trace(test, false, NULL), 0);
	test->text = scratch_read(test->dir, "trace.json", &n);
	assert_non_null(test->text);
	assert_int_equal(trace_check(test->text, n, stderr), 0);
	test->root = cJSON_Parse(test->text);
	assert_non_null(test->root);
	assert_int_equal(test->count.rows + test->count.left_out, test->count.expected);
}

cJSON *chrome_find(struct chrome_test *test, const char *ph, const char *name, int nth)
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

void chrome_assert_json(const cJSON *item, const char *expected)
{
	cJSON *json = cJSON_Parse(expected);
	char *text = cJSON_PrintUnformatted(item);

	assert_non_null(json);
	if (!cJSON_Compare(item, json, true))
		fail_msg("expected %s, got %s", expected, text);
	cJSON_Delete(json);
	free(text);
}

int chrome_count(struct chrome_test *test, const char *ph)
{
	cJSON *event;
	int n = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(test->root, "traceEvents"))
		n += !strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph")), ph);
	return n;
}

void chrome_add_rank(struct chrome_test *test, int32_t rank)
{
	struct timeline_fixture *fixture = &test->fixture;
	uint32_t process = fixture_process(fixture, rank, 10, "app");
	uint32_t thread = fixture_thread(fixture, process, 10, "");
	uint32_t device = fixture_device(fixture, process, 0, "d");

	fixture_track(fixture, (struct track){.kind = TRACK_THREAD, .owner = thread});
	fixture_track(fixture,
	              (struct track){.kind = TRACK_QUEUE, .row_kind = ROW_EXEC, .owner = device});
}
