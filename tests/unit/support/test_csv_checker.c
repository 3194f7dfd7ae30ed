// SPDX-License-Identifier: Apache-2.0
/*
 * Each rule of the checker is shown to fire, or a file that breaks it would pass unseen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "csv_checker.h"

static const char formats[] =
	"# Formats\n"
	"\n### other.csv\n\n| column | type | meaning |\n|---|---|---|\n"
	"| `x` | text | |\n"
	"\n### rows.csv\n\nRows.\n\n| column | type | meaning |\n|---|---|---|\n"
	"| `name` | text? | |\n"
	"| `start_ns` | integer | |\n"
	"| `end_ns` | integer | |\n"
	"| `dur_ns` | integer | |\n"
	"| `rate` | number? | |\n"
	"\nMore.\n\n| `not` | text | |\n"
	"\n### next.csv\n";

#define HEADER "name,start_ns,end_ns,dur_ns,rate\n"

/* Checks `text` as rows.csv; returns what was said, owned. */
static char *check(const char *name, const char *text, unsigned long *ret_n)
{
	char *said = NULL;
	size_t n;
	FILE *out = open_memstream(&said, &n);

	*ret_n = csv_check(name, text, strlen(text), formats, out);
	fclose(out);
	return said;
}

static void test_csv_checker__accepts_good_files(void **state)
{
	static const char *const files[] = {
		HEADER,
		HEADER "a,1,3,2,0.5\n",
		HEADER ",-1,-1,0,\n\"a,\"\"b\"\"\nc\",5,6,1,nan\nd,5,6,1,-1e-7\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		unsigned long n;
		char *said = check("rows.csv", files[i], &n);

		assert_string_equal(said, "");
		assert_int_equal(n, 0);
		free(said);
	}
}

static void test_csv_checker__finds_each_fault(void **state)
{
	static const struct {
		const char *file, *fault;
	} cases[] = {
		{"", "rows.csv:1: last line has no line end"},
		{"name,start_ns,end_ns,dur_ns\n", "header has 4 columns, documented are 5"},
		{"name,start_ns,end_ns,rate,dur_ns\n", "column 4 is rate, documented is dur_ns"},
		{HEADER "a,1,3,2\n", "4 fields instead of 5"},
		{HEADER "a,1,3,2,0,\n", "6 fields instead of 5"},
		{HEADER "\n", "1 fields instead of 5"},
		{HEADER "a,1,3,2,0", "rows.csv:2: last line has no line end"},
		{HEADER "a,,3,2,0\n", "start_ns is empty"},
		{HEADER "a,1.0,3,2,0\n", "start_ns is no integer: 1.0"},
		{HEADER "a,01,3,2,0\n", "start_ns is no integer: 01"},
		{HEADER "a,1,3,2,fast\n", "rate is no number: fast"},
		{HEADER "a,1,3,2,0x10\n", "rate is no number: 0x10"},
		{HEADER "a,1,3,3,0\n", "dur_ns is not"},
		{HEADER "a,3,1,-2,0\n", "below 0"},
		{HEADER "a,3,3,0,0\na,2,3,1,0\n", "rows.csv:3: start_ns goes backwards"},
		{HEADER "a\"b,1,3,2,0\n", "quote or CR"},
		{HEADER "a,1,3,2,0\r\n", "quote or CR"},
		{HEADER "\"a,1,3,2,0\n", "quoted field without end"},
		{HEADER "\"a\"b,1,3,2,0\n", "bytes behind a quoted field"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned long n;
		char *said = check("rows.csv", cases[i].file, &n);

		if (!strstr(said, cases[i].fault))
			fail_msg("case %zu: expected \"%s\", got \"%s\"", i, cases[i].fault, said);
		assert_true(n > 0);
		free(said);
	}
}

static void test_csv_checker__wants_every_file_documented(void **state)
{
	unsigned long n;
	char *said = check("new.csv", "x\n", &n);

	(void)state;
	assert_non_null(strstr(said, "no section"));
	free(said);
	said = check("next.csv", "x\n", &n); /* a section without a table, the last one */
	assert_non_null(strstr(said, "no section"));
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv_checker__accepts_good_files),
		cmocka_unit_test(test_csv_checker__finds_each_fault),
		cmocka_unit_test(test_csv_checker__wants_every_file_documented),
	};

	return cmocka_run_group_tests_name("csv_checker", tests, NULL, NULL);
}
