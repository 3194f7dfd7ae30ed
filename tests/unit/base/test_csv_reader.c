/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/csv_reader.h"

/* Writes what the reader makes of `bytes`: fields in <>, records ended by ';', "!" for an error. */
static char *digest(const char *bytes, size_t n)
{
	struct flextrace_error error = {0};
	struct csv_reader reader;
	FILE *file = tmpfile();
	char *text = NULL;
	size_t n_text;
	FILE *out = open_memstream(&text, &n_text);
	int code;

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	rewind(file);
	csv_reader_init(&reader, file, "input");
	while ((code = csv_reader_next(&reader, &error)) > 0) {
		for (size_t i = 0; i < reader.n_fields; i++)
			fprintf(out, "<%s>", csv_reader_field(&reader, i));
		fputc(';', out);
	}
	if (code < 0)
		fprintf(out, "!%s", error.message);
	csv_reader_release(&reader);
	fclose(file);
	fclose(out);
	return text;
}

static void expect(const char *bytes, size_t n, const char *expected)
{
	char *text = digest(bytes, n);

	assert_string_equal(text, expected);
	free(text);
}

static void test_csv_reader__reads_rfc_4180(void **state)
{
	static const struct {
		const char *bytes, *expected;
	} cases[] = {
		{"", ""},
		{"\n\r\n\n", ""},
		{"a,b\n1,2\n", "<a><b>;<1><2>;"},
		{"a,b\r\n1,2\r\n", "<a><b>;<1><2>;"},
		{"a,b\n1,2", "<a><b>;<1><2>;"},
		{",\n", "<><>;"},
		{"a,", "<a><>;"},
		{"\"\"\n", "<>;"},
		{"\"a,b\",c\n", "<a,b><c>;"},
		{"\"a\"\"b\",\"\"\"\"\n", "<a\"b><\">;"},
		{"\"two\nlines\",x\n", "<two\nlines><x>;"},
		{"\"two\r\nlines\"\n", "<two\r\nlines>;"},
		{"a\rb,c\n", "<a\rb><c>;"},
		{"\xef\xbb\xbfname,x\n", "<name><x>;"},
		{"name\n\n\nx\n", "<name>;<x>;"},
		{"a,b,c\n1\n", "<a><b><c>;<1>;"},
		{" a , b\n", "< a >< b>;"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].bytes, strlen(cases[i].bytes), cases[i].expected);
}

static void test_csv_reader__names_the_line_of_what_is_malformed(void **state)
{
	(void)state;
	expect("a\n\"b\nc", 6, "<a>;!Malformed CSV, a quote is not closed: file=input, line=2");
	expect("a\n\nb\"c\n", 7,
	       "<a>;!Malformed CSV, a quote inside a plain field: file=input, line=3");
	expect("\"a\"b\n", 5, "!Malformed CSV, text behind a closing quote: file=input, line=1");
	expect("a\0b\n", 4, "!Malformed CSV, NUL byte: file=input, line=1");
	expect("\"a\0b\"\n", 6, "!Malformed CSV, NUL byte: file=input, line=1");
	expect("\"x\ny\"\n\"", 7,
	       "<x\ny>;!Malformed CSV, a quote is not closed: file=input, line=3");
}

static void test_csv_reader__a_missing_quote_does_not_eat_all_memory(void **state)
{
	size_t n = CSV_MAX_RECORD_BYTES + 2;
	char *bytes = malloc(n);

	(void)state;
	memset(bytes, 'x', n);
	bytes[0] = '"';
	expect(bytes, n, "!Malformed CSV, record too long: file=input, line=1");
	free(bytes);
}

/* Cut anywhere, the reader ends with records or an error, and never reads outside (sanitizers
 * watch). */
static void test_csv_reader__survives_a_cut_at_every_byte(void **state)
{
	static const char bytes[] =
		"\xef\xbb\xbfname,\"a,\"\"b\"\r\n1,\"two\r\nlines\"\r\n\"\",,x\r\n";

	(void)state;
	for (size_t n = 0; n < sizeof(bytes); n++) {
		char *text = digest(bytes, n);

		assert_non_null(text);
		free(text);
	}
}

static void test_csv_reader__a_field_behind_the_last_is_empty(void **state)
{
	struct csv_reader reader;
	FILE *file = tmpfile();

	(void)state;
	fputs("a\n", file);
	rewind(file);
	csv_reader_init(&reader, file, "input");
	assert_string_equal(csv_reader_field(&reader, 0), "");
	assert_int_equal(csv_reader_next(&reader, NULL), 1);
	assert_string_equal(csv_reader_field(&reader, 0), "a");
	assert_string_equal(csv_reader_field(&reader, 1), "");
	assert_string_equal(csv_reader_field(&reader, SIZE_MAX), "");
	assert_int_equal(csv_reader_next(&reader, NULL), 0);
	csv_reader_release(&reader);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv_reader__reads_rfc_4180),
		cmocka_unit_test(test_csv_reader__names_the_line_of_what_is_malformed),
		cmocka_unit_test(test_csv_reader__a_missing_quote_does_not_eat_all_memory),
		cmocka_unit_test(test_csv_reader__survives_a_cut_at_every_byte),
		cmocka_unit_test(test_csv_reader__a_field_behind_the_last_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
