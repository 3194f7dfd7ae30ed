/* SPDX-License-Identifier: Apache-2.0 */
/* A build without SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flex_fixture.h"
#include "imports.h"

static void test_nsys_none__says_what_is_missing(void **state)
{
	struct flex_run *run = *state;
	char *path;
	struct import_options import = {.n_paths = 1};
	struct string_pool *strings = string_pool_new();
	struct stream_set set = {NULL, 0, 0};
	struct flextrace_error error = {0};

	flex_add_file(run, "report.sqlite", "SQLite format 3");
	assert_true(asprintf(&path, "%s/report.sqlite", run->in) > 0);
	import.paths = (const char *const *)&path;
	assert_int_equal(import_run(&import, strings, &set, &run->ledger, &error),
	                 FLEXTRACE_E_INPUT);
	assert_non_null(strstr(error.message, "built without libsqlite3"));
	stream_set_release(&set);
	string_pool_free(strings);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nsys_none__says_what_is_missing, flex_start,
	                                        flex_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
