// SPDX-License-Identifier: Apache-2.0
/*
 * Every word that stands in an output file is explained in docs/formats.md. (Columns: csv_checker.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/words/kinds.h"
#include "model/ledger/ledger.h"
#include "scratch.h"

static char *formats; /* owned */

static int read_formats(void **state)
{
	(void)state;
	formats = scratch_read(FORMATS_DIR, "formats.md", NULL);
	return formats ? 0 : -1;
}

static int free_formats(void **state)
{
	(void)state;
	free(formats);
	return 0;
}

/* `before`: what opens the place where it is explained. */
static void assert_explained(const char *before, const char *word)
{
	char text[128];

	snprintf(text, sizeof(text), "%s`%s`", before, word);
	if (!strstr(formats, text))
		fail_msg("docs/formats.md does not explain %s", word);
}

static void test_formats_doc__explains_every_cause(void **state)
{
	(void)state;
	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++)
		assert_explained("\n| ", ledger_cause_id(cause));
}

static void test_formats_doc__explains_every_warning(void **state)
{
	(void)state;
	for (int warning = 0; warning < WARNING_COUNT; warning++)
		assert_explained("\n| ", ledger_warning_id(warning));
}

/* Under a heading of its own: a picture, the cause, the remedy. */
static void test_formats_doc__troubleshoots_every_warning(void **state)
{
	char *guide = scratch_read(FORMATS_DIR "/guides", "troubleshooting.md", NULL);

	(void)state;
	assert_non_null(guide);
	for (int warning = 0; warning < WARNING_COUNT; warning++) {
		static const char *const parts[] = {"\n```\n", "\n**Cause.** ", "\n**Remedy.** "};
		char heading[128];
		const char *at, *end;

		snprintf(heading, sizeof(heading), "\n### `%s`\n", ledger_warning_id(warning));
		at = strstr(guide, heading);
		if (!at)
			fail_msg("No help with %s", ledger_warning_id(warning));
		at += strlen(heading) - 1;
		end = strstr(at, "\n### ");
		for (size_t i = 0; i < 3; i++) {
			const char *part = strstr(at, parts[i]);

			if (!part || (end && part > end))
				fail_msg("%s lacks %s", ledger_warning_id(warning), parts[i]);
		}
	}
	free(guide);
}

static void test_formats_doc__explains_every_status(void **state)
{
	(void)state;
	for (uint8_t status = TIME_CERTIFIED; status <= TIME_GIVEN; status++)
		assert_explained("\n| ", time_status_name(status));
}

static void test_formats_doc__explains_every_kind_and_category(void **state)
{
	(void)state;
	for (uint8_t dialect = 0; dialect < DIALECT_COUNT; dialect++) {
		assert_explained("", dialect_name(dialect));
		for (uint8_t kind = 0; kind <= HOST_FLOW; kind++) {
			if (kind == FLEXTRACE_RUNTIME_KIND_COUNT)
				kind = HOST_STEP;
			assert_explained("", kind_of_host(dialect, kind)->label);
			assert_explained("", kind_of_host(dialect, kind)->category);
		}
		for (uint8_t kind = 0; kind < DEVICE_ROW_KIND_COUNT; kind++) {
			assert_explained("", kind_of_device(dialect, kind)->label);
			assert_explained("", kind_of_device(dialect, kind)->category);
		}
	}
	assert_explained("", "Unknown N");
	for (uint8_t op = FLEXTRACE_MEMORY_ALLOC; op <= FLEXTRACE_MEMORY_RESIZE; op++)
		assert_explained("", memory_op_name(op));
	assert_explained("", instant_kind_name(RECORD_INSTANT));
	assert_explained("", instant_kind_name(RECORD_ANNOTATION));
	assert_explained("", instant_kind_name(RECORD_MARKER_BATCH));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats_doc__explains_every_cause),
		cmocka_unit_test(test_formats_doc__explains_every_warning),
		cmocka_unit_test(test_formats_doc__troubleshoots_every_warning),
		cmocka_unit_test(test_formats_doc__explains_every_status),
		cmocka_unit_test(test_formats_doc__explains_every_kind_and_category),
	};

	return cmocka_run_group_tests_name("formats_doc", tests, read_formats, free_formats);
}
