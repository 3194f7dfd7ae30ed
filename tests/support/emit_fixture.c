// SPDX-License-Identifier: Apache-2.0
#include "emit_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "scratch.h"

static int start(void **state, void (*fill)(struct timeline_fixture *fixture))
{
	struct emit_test *test = calloc(1, sizeof(*test));

	fill(&test->fixture);
	test->dir = scratch_dir();
	*state = test;
	return 0;
}

int emit_test_empty(void **state)
{
	return start(state, timeline_fixture_init);
}

int emit_test_sample(void **state)
{
	return start(state, timeline_fixture_sample);
}

int emit_test_stop(void **state)
{
	struct emit_test *test = *state;

	timeline_fixture_release(&test->fixture);
	scratch_remove(test->dir);
	cJSON_Delete(test->root);
	free(test->text);
	for (size_t i = 0; i < sizeof(test->counts) / sizeof(test->counts[0]); i++)
		free(test->counts[i].columns);
	free(test);
	return 0;
}

void emit_test_read(struct emit_test *test, const char *name)
{
	cJSON_Delete(test->root);
	free(test->text);
	test->text = scratch_read(test->dir, name, NULL);
	test->root = test->text ? cJSON_Parse(test->text) : NULL;
}

void emit_test_read_gzip(struct emit_test *test, const char *name)
{
	size_t n_bytes = 16 << 20;
	char path[512];
	gzFile file;
	int n;

	snprintf(path, sizeof(path), "%s/%s", test->dir, name);
	cJSON_Delete(test->root);
	free(test->text);
	test->text = calloc(1, n_bytes + 1);
	file = gzopen(path, "rb");
	assert_non_null(file);
	n = gzread(file, test->text, (unsigned)n_bytes);
	assert_true(n > 0 && (size_t)n < n_bytes);
	gzclose(file);
	test->root = cJSON_Parse(test->text);
	assert_non_null(test->root);
}

void emit_assert_json(const cJSON *item, const char *expected)
{
	cJSON *json = cJSON_Parse(expected);
	char *text = cJSON_PrintUnformatted(item);

	assert_non_null(json);
	if (!cJSON_Compare(item, json, true))
		fail_msg("expected %s, got %s", expected, text);
	cJSON_Delete(json);
	free(text);
}
