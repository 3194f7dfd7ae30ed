/* SPDX-License-Identifier: Apache-2.0 */
/* What a file said, kept in a text: what is read as such is JSON whatever anyone recorded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/words/told.h"

/* A copy without a byte behind it but its NUL, so that reading beyond it is seen. */
static bool read_copy(const char *text, char **ret_copy, struct told *ret_told)
{
	*ret_copy = strdup(text);
	assert_non_null(*ret_copy);
	return told_read(*ret_copy, strlen(text), ret_told);
}

static void test_told__reads_category_and_members(void **state)
{
	static const struct {
		const char *text, *category, *members;
	} cases[] = {
		{"{\"cat\":\"\"}", "", ""},
		{"{\"cat\":\"a\\\"b\"}", "a\\\"b", ""},
		{"{\"cat\":\"k\",\"a\":1}", "k", "\"a\":1"},
		{"{\"cat\":\"k\" , \"a\":[1, {\"b\":null}],\"c\":\"d\"}", "k",
	         " \"a\":[1, {\"b\":null}],\"c\":\"d\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct told told;
		char *copy;

		assert_true(read_copy(cases[i].text, &copy, &told));
		assert_true(trace_text_is(&told.category, cases[i].category));
		assert_true(trace_text_is(&told.members, cases[i].members));
		free(copy);
	}
}

static void test_told__takes_nothing_that_is_no_json(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"{\"cat\":\"",
		"{\"cat\":\"k\"",
		"{\"cat\":\"k\",}",
		"{\"cat\":\"k\",\"a\"}",
		"{\"cat\":\"k\",\"a\":}",
		"{\"cat\":\"k\",\"a\":1}}",
		"{\"cat\":\"k\",\"a\":1} ",
		"{\"cat\":\"k\",\"a\":01}",
		"{\"cat\":\"k\",\"a\":NaN}",
		"{\"cat\":\"k\",\"a\":[NaN]}",
		"{\"cat\":\"k\",\"a\":\"\n\"}",
		"{\"cat\":\"\t\"}",
		"{\"cat\":\"k\",\"a\n\":1}",
		"{\"cat\":\"k\",\"a\":\"\\x\"}",
		"{\"cat\":\"k\\u12\"}",
		"{\"cat\":\"k\",\"a\":[1}",
		"{\"cat\":5}",
		"[\"cat\"]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct told told;
		char *copy;

		if (read_copy(texts[i], &copy, &told))
			fail_msg("Taken: %s", texts[i]);
		free(copy);
	}
}

/* Cut anywhere, it is none, and nothing behind it is looked at. */
static void test_told__survives_every_cut(void **state)
{
	static const char whole[] = "{\"cat\":\"k\\u00e9\",\"a\":[1.5e+3,{\"b\":[true,null,-0.1]}],"
				    "\"c\":\"\\ud83d\\ude00\",\"d\":12}";

	(void)state;
	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		char *cut = strndup(whole, n);
		struct told told;

		assert_non_null(cut);
		assert_false(told_read(cut, n, &told));
		free(cut);
	}
}

static void test_told__knows_whole_json(void **state)
{
	static const struct {
		const char *text;
		bool is_json;
	} cases[] = {
		{"[]", true},     {"{\"a\": [1,\n2]}", true},
		{"", false},      {"1", false},
		{"[1", false},    {"[1] ", false},
		{"[NaN]", false}, {"{\"a\"}", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(told_is_json(cases[i].text), cases[i].is_json);
}

static void test_told__finds_members(void **state)
{
	struct trace_value value;
	struct told told;
	uint64_t number;
	char *copy;

	(void)state;
	assert_true(read_copy("{\"cat\":\"k\",\"a\":{\"Seq\":1},\"Seq\":\"12\",\"n\":-3,\"b\":[2]}",
	                      &copy, &told));
	assert_true(told_find_u64(&told, "Seq", &number));
	assert_int_equal(number, 12);
	assert_false(told_find_u64(&told, "n", &number));
	assert_false(told_find(&told, "cat", &value));
	assert_true(told_find(&told, "b", &value));
	assert_true(trace_text_is(&value.text, "[2]"));
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told__reads_category_and_members),
		cmocka_unit_test(test_told__takes_nothing_that_is_no_json),
		cmocka_unit_test(test_told__survives_every_cut),
		cmocka_unit_test(test_told__knows_whole_json),
		cmocka_unit_test(test_told__finds_members),
	};

	return cmocka_run_group_tests_name("told", tests, NULL, NULL);
}
