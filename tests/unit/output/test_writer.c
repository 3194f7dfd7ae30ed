// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <zlib.h>

#include "base/text/writer.h"
#include "scratch.h"

struct fixture {
	char *dir; /* owned */
	struct writer writer;
};

static int open_writer(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = scratch_dir();
	assert_int_equal(writer_open(&f->writer, f->dir, "out", false, NULL), 0);
	*state = f;
	return 0;
}

static int drop_writer(void **state)
{
	struct fixture *f = *state;

	writer_abandon(&f->writer);
	scratch_remove(f->dir);
	free(f);
	return 0;
}

/* Closes the file and returns its bytes: owned. */
static char *written(struct fixture *f, size_t *ret_n)
{
	char *text;

	assert_int_equal(writer_close(&f->writer, NULL), 0);
	assert_false(scratch_has(f->dir, "out.tmp"));
	text = scratch_read(f->dir, "out", ret_n);
	assert_non_null(text);
	return text;
}

static void assert_written(struct fixture *f, const char *expected)
{
	char *text = written(f, NULL);

	assert_string_equal(text, expected);
	free(text);
}

static void test_writer__is_the_same_in_pieces_of_any_size(void **state)
{
	struct fixture *f = *state;
	const size_t n_all = 3u << 20;
	char *all = malloc(n_all), *text;
	size_t n, at = 0;

	for (size_t i = 0; i < n_all; i++)
		all[i] = (char)(i * 2654435761u >> 13);
	for (size_t piece = 1; at < n_all; piece = piece * 5 / 3 + 1) {
		size_t part = piece < n_all - at ? piece : n_all - at;

		writer_append(&f->writer, all + at, part);
		at += part;
	}
	text = written(f, &n);
	assert_int_equal(n, n_all);
	assert_memory_equal(text, all, n_all);
	free(text);
	free(all);
}

static void test_writer__writes_gzip_that_reads_back(void **state)
{
	struct fixture *f = *state;
	char *path = NULL, *bytes, line[32];
	unsigned char *head;
	gzFile file;
	size_t n;

	writer_abandon(&f->writer);
	assert_int_equal(writer_open(&f->writer, f->dir, "out.gz", true, NULL), 0);
	for (uint64_t i = 0; i < 200000; i++) {
		writer_u64(&f->writer, i);
		writer_char(&f->writer, '\n');
	}
	assert_int_equal(writer_close(&f->writer, NULL), 0);
	assert_true(asprintf(&path, "%s/out.gz", f->dir) > 0);
	file = gzopen(path, "rb");
	for (uint64_t i = 0; i < 200000; i++) {
		assert_non_null(gzgets(file, line, sizeof(line)));
		assert_int_equal(strtoull(line, NULL, 10), i);
	}
	assert_null(gzgets(file, line, sizeof(line)));
	assert_int_equal(gzclose(file), Z_OK);
	free(path);
	bytes = scratch_read(f->dir, "out.gz", &n);
	head = (unsigned char *)bytes;
	assert_int_equal(head[4] | head[5] | head[6] | head[7], 0); /* no time of writing */
	free(bytes);
}

static void test_writer__writes_an_empty_gzip(void **state)
{
	struct fixture *f = *state;
	char *path = NULL, byte;
	gzFile file;

	writer_abandon(&f->writer);
	assert_int_equal(writer_open(&f->writer, f->dir, "out.gz", true, NULL), 0);
	assert_int_equal(writer_close(&f->writer, NULL), 0);
	assert_true(asprintf(&path, "%s/out.gz", f->dir) > 0);
	file = gzopen(path, "rb");
	assert_int_equal(gzread(file, &byte, 1), 0);
	assert_int_equal(gzclose(file), Z_OK);
	free(path);
}

static void test_writer__writes_integers_as_printf_does(void **state)
{
	struct fixture *f = *state;
	char expected[16384], *at = expected;

	for (int bit = 0; bit < 64; bit++) {
		for (int step = -1; step <= 1; step++) {
			uint64_t value = ((uint64_t)1 << bit) + (uint64_t)step;

			writer_u64(&f->writer, value);
			writer_char(&f->writer, ' ');
			writer_i64(&f->writer, (int64_t)value);
			writer_char(&f->writer, '\n');
			at += sprintf(at, "%llu %lld\n", (unsigned long long)value,
			              (long long)value);
		}
	}
	assert_written(f, expected);
}

/* Digits are made eight at a time, in two halves: all of each half, and all lengths. */
static void test_writer__writes_every_group_of_digits(void **state)
{
	struct fixture *f = *state;
	char *expected = malloc(512 << 10), *at = expected;
	uint64_t power = 1;

	assert_non_null(expected);
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t value = (i * 10000 + 9999 - i) * 100000000 + i * 10001;

		writer_u64(&f->writer, value);
		writer_char(&f->writer, '\n');
		at += sprintf(at, "%llu\n", (unsigned long long)value);
	}
	for (int digits = 1; digits <= 20; digits++, power *= 10) {
		for (uint64_t value = power - 1; value <= power + 1; value++) {
			writer_u64(&f->writer, value);
			writer_char(&f->writer, '\n');
			at += sprintf(at, "%llu\n", (unsigned long long)value);
		}
	}
	assert_written(f, expected);
	free(expected);
}

static void test_writer__writes_numbers_near_each_other(void **state)
{
	static const uint64_t numbers[] = {
		0,
		9999,
		10000,
		10001,
		19999,
		20000,
		20070,
		99999999,
		999999999,
		1000000000,
		1000009999,
		1000010000,
		1000000000,
		9999999999,
		10000000000,
		1787000000123456789,
		1787000000123000000,
		1787000000123999999,
		1787000000124000000,
		1787000000999999999,
		1787000001000000000,
		1786999999000000007,
		UINT64_MAX,
		UINT64_MAX - 1000000000,
		5,
	};
	struct fixture *f = *state;
	struct writer_high_digits high = {0};
	char expected[1024], *at = expected;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		writer_near(&f->writer, &high, numbers[i]);
		writer_char(&f->writer, '\n');
		at += sprintf(at, "%llu\n", (unsigned long long)numbers[i]);
	}
	assert_written(f, expected);
}

static void test_writer__writes_a_number_again(void **state)
{
	static const uint64_t numbers[] = {0, 0, 7, 7, 103, 0, 12345678, 12345678, UINT64_MAX, 1};
	struct fixture *f = *state;
	struct writer_digits digits = {0};
	char expected[1024], *at = expected;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		f->writer.at = put_again(writer_room(&f->writer, WRITER_NUMBER_BYTES), &digits,
		                         numbers[i]);
		writer_char(&f->writer, '\n');
		at += sprintf(at, "%llu\n", (unsigned long long)numbers[i]);
	}
	assert_written(f, expected);
}

static void test_writer__writes_microseconds(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0.000"},
		{1, "0.001"},
		{999, "0.999"},
		{9999, "9.999"},
		{10000, "10.000"},
		{10001, "10.001"},
		{19999, "19.999"},
		{1, "0.001"},
		{99999, "99.999"},
		{1234567, "1234.567"},
		{1230000, "1230.000"},
		{10000000, "10000.000"},
		{1787000000123456789u, "1787000000123456.789"},
		{1787000000123999999u, "1787000000123999.999"},
		{UINT64_MAX, "18446744073709551.615"},
	};
	struct fixture *f = *state;
	struct writer_high_digits high = {0};
	char expected[1024] = "";

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct writer_high_digits first = {0};

		writer_us_near(&f->writer, &first, cases[i].ns);
		writer_char(&f->writer, '=');
		writer_us_near(&f->writer, &high, cases[i].ns);
		writer_char(&f->writer, '\n');
		strcat(strcat(expected, cases[i].text), "=");
		strcat(strcat(expected, cases[i].text), "\n");
	}
	assert_written(f, expected);
}

static void test_writer__writes_fixed_decimals(void **state)
{
	static const struct {
		double value;
		int n_decimals;
		const char *text;
	} cases[] = {
		{0.0, 3, "0.000"},
		{-0.0, 3, "0.000"},
		{-0.0004, 3, "0.000"},
		{-1.25, 1, "-1.2"},
		{999.9996, 3, "1000.000"},
		{560.0, 6, "560.000000"},
		{0.000001, 6, "0.000001"},
		{1e15, 3, "1000000000000000.000"},
		{-123456789012345678.0, 3, "-123456789012345680.000"},
		{7.5, 0, "8"},
		{NAN, 3, ""},
		{INFINITY, 3, ""},
	};
	struct fixture *f = *state;
	char expected[512] = "";

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		writer_fixed(&f->writer, cases[i].value, cases[i].n_decimals);
		writer_char(&f->writer, '\n');
		strcat(strcat(expected, cases[i].text), "\n");
	}
	assert_written(f, expected);
}

static void test_writer__writes_doubles_that_read_back(void **state)
{
	static const double values[] = {
		0.1,    1.0 / 3,     5e-324,  1.7976931348623157e308, 1e22, 123456789.125, -2.5e-7,
		0x1p53, -0x1p53 + 1, 0x1p-30, 4503599627370497.5,
	};
	struct fixture *f = *state;
	char *text, *at;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		writer_double(&f->writer, values[i]);
		writer_char(&f->writer, '\n');
	}
	text = at = written(f, NULL);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_true(strtod(at, &at) == values[i]);
		assert_int_equal(*at++, '\n');
	}
	assert_int_equal(strncmp(text, "0.1\n", 4), 0); /* the shortest */
	free(text);
}

/* -- text -------------------------------------------------------------------------------------- */

/* A megabyte of name. */
static const char *long_name(void)
{
	static char name[(1 << 20) + 1];

	for (size_t i = 0; i < sizeof(name) - 1; i++)
		name[i] = "abc,\"\\\n\xc3\xa9"[i % 9];
	name[sizeof(name) - 2] = 'z'; /* no sequence cut in two */
	return name;
}

static void test_writer__writes_json_strings_that_parse_back(void **state)
{
	static const char all_controls[] =
		"\1\2\3\4\5\6\a\b\t\n\v\f\r\16\17\20\21\22\23\24\25\26\27"
		"\30\31\32\33\34\35\36\37 \177";
	const char *const names[] = {
		"",
		"plain",
		"quote \" backslash \\ slash /",
		all_controls,
		"</script><b>&amp;",
		"=1+1",
		"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x80 \xef\xbf\xbf \xf4\x8f\xbf\xbf \xed\x9f\xbf",
		"{\"a\":[1,2]}",
		long_name(),
	};
	const size_t n_names = sizeof(names) / sizeof(names[0]);
	struct fixture *f = *state;
	cJSON *root, *item;
	char *text;
	size_t i;

	for (i = 0; i < n_names; i++) {
		writer_raw(&f->writer, i ? "," : "[");
		writer_json(&f->writer, names[i], strlen(names[i]));
	}
	writer_char(&f->writer, ']');
	assert_int_equal(f->writer.replaced_bytes, 0);
	text = written(f, NULL);
	assert_null(strchr(text, '\177')); /* Perfetto refuses it in some places */
	root = cJSON_Parse(text);
	assert_non_null(root);
	assert_int_equal(cJSON_GetArraySize(root), n_names);
	i = 0;
	cJSON_ArrayForEach(item, root) assert_string_equal(cJSON_GetStringValue(item), names[i++]);
	cJSON_Delete(root);
	free(text);
}

static void test_writer__replaces_what_is_no_utf8(void **state)
{
#define U "\xef\xbf\xbd"
	static const struct {
		const char *text, *json, *csv;
		uint64_t replaced_bytes;
	} cases[] = {
		{"a\x80z", "\"a" U "z\"", "a" U "z", 1},             /* continuation alone */
		{"\xc3", "\"" U "\"", U, 1},                         /* cut */
		{"\xc3(", "\"" U "(\"", U "(", 1},                   /* second byte is ASCII */
		{"\xc0\xaf", "\"" U U "\"", U U, 2},                 /* overlong / */
		{"\xe0\x80\xaf", "\"" U U U "\"", U U U, 3},         /* overlong */
		{"\xed\xa0\x80", "\"" U U U "\"", U U U, 3},         /* surrogate */
		{"\xf4\x90\x80\x80", "\"" U U U U "\"", U U U U, 4}, /* above U+10FFFF */
		{"\xf0\x80\x80\x80", "\"" U U U U "\"", U U U U, 4}, /* overlong */
		{"\xf5\xff,", "\"" U U ",\"", "\"" U U ",\"", 2},
		{"\xe2\x82,\xe2\x82\xac", "\"" U U ",\xe2\x82\xac\"", "\"" U U ",\xe2\x82\xac\"",
	         2},
	};
#undef U
	struct fixture *f = *state;
	char expected[1024] = "";
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		writer_json(&f->writer, cases[i].text, strlen(cases[i].text));
		writer_char(&f->writer, '\n');
		writer_csv(&f->writer, cases[i].text, strlen(cases[i].text));
		writer_char(&f->writer, '\n');
		strcat(strcat(expected, cases[i].json), "\n");
		strcat(strcat(expected, cases[i].csv), "\n");
		n += 2 * cases[i].replaced_bytes;
		assert_int_equal(f->writer.replaced_bytes, n);
	}
	assert_written(f, expected);
}

static void test_writer__escapes_a_nul_where_that_can_be(void **state)
{
	static const char text[] = "\xc0\x80,a\xc0\x80\xc0";
	struct fixture *f = *state;

	writer_json(&f->writer, text, sizeof(text) - 1);
	assert_int_equal(f->writer.replaced_bytes, 1); /* the last one */
	writer_csv(&f->writer, text, sizeof(text) - 1);
	assert_int_equal(f->writer.replaced_bytes, 1 + 5);
	assert_written(f, "\"\\u0000,a\\u0000\xef\xbf\xbd\""
	                  "\"\xef\xbf\xbd,a\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_writer__tells_utf8_as_its_decoder_does(void **state)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

	(void)state;
	/* All sequences of 3 bytes behind each lead byte, against a decoder of the definition. */
	for (uint32_t word = 0; word < 1u << 24; word += 7) {
		unsigned char bytes[4] = {(unsigned char)(0xc0 | word >> 18),
		                          (unsigned char)(word >> 12), (unsigned char)(word >> 6),
		                          (unsigned char)word};
		size_t length = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
		uint32_t code = bytes[0] & (0xffu >> (length + 1));
		bool good = bytes[0] < 0xf8;

		for (size_t i = 1; i < length; i++) {
			good = good && bytes[i] >> 6 == 2;
			code = code << 6 | (bytes[i] & 0x3f);
		}
		good = good && code >= smallest[length] && code <= 0x10ffff &&
		       (code < 0xd800 || code > 0xdfff);
		assert_int_equal(utf8_sequence((char *)bytes, 4), good ? length : 0);
		assert_int_equal(utf8_sequence((char *)bytes, length - 1), 0);
	}
}

static void test_writer__quotes_csv_fields(void **state)
{
	static const struct {
		const char *text, *field;
	} cases[] = {
		{"", ""},
		{"plain text", "plain text"},
		{"a,b", "\"a,b\""},
		{"say \"hi\"", "\"say \"\"hi\"\"\""},
		{"two\nlines", "\"two\nlines\""},
		{"two\r\nlines", "\"two\r\nlines\""},
		{"=1+1", "'=1+1"},
		{"+1", "'+1"},
		{"-1", "'-1"},
		{"@SUM(1)", "'@SUM(1)"},
		{"\t=1", "'\t=1"},
		{"\r=1", "\"'\r=1\""},
		{"=a,\"b\"", "\"'=a,\"\"b\"\"\""},
		{"'=1", "''=1"},
		{"'", "'"},
		{"'a", "'a"},
		{"a=1", "a=1"},
		{"tab\tsemi;", "tab\tsemi;"},
		{"\"", "\"\"\"\""},
		{"\xc3\xa9", "\xc3\xa9"},
		{"\xc3\xa9,", "\"\xc3\xa9,\""},
	};
	struct fixture *f = *state;
	char expected[512] = "";

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		writer_csv(&f->writer, cases[i].text, strlen(cases[i].text));
		writer_char(&f->writer, '\n');
		strcat(strcat(expected, cases[i].field), "\n");
	}
	assert_written(f, expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_writer, drop_writer)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_writer__is_the_same_in_pieces_of_any_size),
		TEST(test_writer__writes_gzip_that_reads_back),
		TEST(test_writer__writes_an_empty_gzip),
		TEST(test_writer__writes_integers_as_printf_does),
		TEST(test_writer__writes_every_group_of_digits),
		TEST(test_writer__writes_numbers_near_each_other),
		TEST(test_writer__writes_a_number_again),
		TEST(test_writer__writes_microseconds),
		TEST(test_writer__writes_fixed_decimals),
		TEST(test_writer__writes_doubles_that_read_back),
		TEST(test_writer__writes_json_strings_that_parse_back),
		TEST(test_writer__replaces_what_is_no_utf8),
		TEST(test_writer__escapes_a_nul_where_that_can_be),
		TEST(test_writer__tells_utf8_as_its_decoder_does),
		TEST(test_writer__quotes_csv_fields),
	};

	return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
