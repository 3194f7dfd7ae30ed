// SPDX-License-Identifier: Apache-2.0
// The parts of the page around the data of a trace; tests/report opens the whole in a browser.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "output/report/page.h"

#define DATA_BEGINS "<script type=\"application/json\" id=\"flextrace-data\">"

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n >= n_end && !strcmp(text + n - n_end, end);
}

static void test_report_page__has_the_data_between_head_and_tail(void **state)
{
	(void)state;
	assert_true(ends_with(report_page_head, DATA_BEGINS));
	assert_memory_equal(report_page_tail, "</script>", 9);
	assert_true(ends_with(report_page_tail, "</html>\n"));
}

/* What dygraphs could fetch, the policy forbids. */
static void test_report_page__lets_the_browser_load_nothing(void **state)
{
	static const char *const forbidden[] = {"src=\"http", "href=\"http", "@import", "url(http",
	                                        "sourceMappingURL"};

	(void)state;
	assert_non_null(
		strstr(report_page_head, "content=\"default-src 'none'; script-src 'sha256-"));
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		assert_null(strstr(report_page_head, forbidden[i]));
		assert_null(strstr(report_page_tail, forbidden[i]));
	}
}

/* What the browser may run are the scripts that there are. */
static void test_report_page__names_each_script_by_its_hash(void **state)
{
	size_t n_hashes = 0, n_scripts = 0;

	(void)state;
	for (const char *at = report_page_head; (at = strstr(at, "'sha256-")); at++) {
		n_hashes++;
		assert_memory_equal(at + strlen("'sha256-") + 43, "='", 2);
	}
	for (const char *at = report_page_tail; (at = strstr(at, "\n<script>")); at++)
		n_scripts++;
	assert_int_equal(n_hashes, report_page_charts ? 2 : 1);
	assert_int_equal(n_scripts, n_hashes);
}

/* Whoever passes a page on passes on the licence of what is in it. */
static void test_report_page__has_the_licence_of_its_charts(void **state)
{
	(void)state;
	if (!report_page_charts) {
		assert_null(strstr(report_page_tail, "dygraphs.com"));
		return;
	}
	assert_memory_equal(report_page_charts, "dygraphs ", 9);
	assert_non_null(strstr(report_page_tail, report_page_charts));
	assert_non_null(strstr(report_page_tail, "Permission is hereby granted, free of charge"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report_page__has_the_data_between_head_and_tail),
		cmocka_unit_test(test_report_page__lets_the_browser_load_nothing),
		cmocka_unit_test(test_report_page__names_each_script_by_its_hash),
		cmocka_unit_test(test_report_page__has_the_licence_of_its_charts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
