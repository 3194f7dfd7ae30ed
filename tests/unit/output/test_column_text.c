/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/column_json.h"
#include "output/column_text.h"
#include "base/error.h"
#include "scratch.h"

struct row {
	struct owner_cells owner;
	const char *text;
	bool is_set;
	uint16_t small;
	uint32_t number, maybe_number;
	uint64_t large, maybe_large;
	int64_t time_ns;
	double fixed, shortest;
};

static const struct column columns[] = {
	COLUMNS_OWNER(struct row),
	COLUMN(struct row, text),
	COLUMN(struct row, is_set),
	COLUMN(struct row, small),
	COLUMN(struct row, number),
	COLUMN_OPTIONAL(struct row, maybe_number),
	COLUMN_AS("bytes", struct row, large),
	COLUMN_OPTIONAL_AS("most_bytes", struct row, maybe_large),
	COLUMN_OPTIONAL(struct row, time_ns),
	COLUMN_FIXED(struct row, fixed, 2),
	COLUMN(struct row, shortest),
};

static const struct row full = {
	.owner = {3, "host", 77},
	.text = "a,\"b\"",
	.is_set = true,
	.small = 65535,
	.number = UINT32_MAX,
	.maybe_number = 0,
	.large = UINT64_MAX,
	.maybe_large = 1,
	.time_ns = -5,
	.fixed = 1.005,
	.shortest = 0.1,
};

static const struct row empty = {
	.owner = {COLUMN_NONE_I64, NULL, COLUMN_NONE_I64},
	.maybe_number = COLUMN_NONE_U32,
	.maybe_large = COLUMN_NONE_U64,
	.time_ns = COLUMN_NONE_I64,
	.fixed = NAN,
	.shortest = INFINITY,
};

static int fill(const struct findings *findings, struct row_sink *sink)
{
	(void)findings;
	row_put(sink, &full);
	row_put(sink, &empty);
	return FLEXTRACE_OK;
}

static void test_column_text__leaves_empty_what_is_not_known(void **state)
{
	const struct result_file file = {.name = "t.csv", .table = COLUMN_TABLE(columns, fill)};
	char *dir = scratch_dir(), *text;
	struct file_count count;

	(void)state;
	assert_int_equal(column_save(&file, NULL, &(struct save_place){.dir = dir, .has_csv = true},
	                             &count, NULL),
	                 0);
	assert_int_equal(count.rows, 2);
	text = scratch_read(dir, "t.csv", NULL);
	assert_non_null(text);
	assert_string_equal(text,
	                    "rank,host,pid,text,is_set,small,number,maybe_number,bytes,most_bytes,"
	                    "time_ns,fixed,shortest\n"
	                    "3,host,77,\"a,\"\"b\"\"\",1,65535,4294967295,0,18446744073709551615,"
	                    "1,-5,1.00,0.1\n"
	                    ",,,,0,0,0,,0,,,,\n");
	free(text);
	free(count.columns);
	scratch_remove(dir);
}

static void test_column_text__writes_lines_of_json_and_keeps_the_first_rows(void **state)
{
	const struct result_file file = {.name = "t.csv", .table = COLUMN_TABLE(columns, fill)};
	char *dir = scratch_dir(), *text;
	struct file_count count;
	const struct save_place place = {.dir = dir, .has_lines = true, .n_captured = 1};

	(void)state;
	assert_int_equal(column_save(&file, NULL, &place, &count, NULL), 0);
	assert_true(count.has_lines);
	assert_false(scratch_has(dir, "t.csv"));
	text = scratch_read(dir, "t.jsonl", NULL);
	assert_non_null(text);
	assert_string_equal(
		text, "{\"rank\":3,\"host\":\"host\",\"pid\":77,\"text\":\"a,\\\"b\\\"\","
		      "\"is_set\":1,\"small\":65535,\"number\":4294967295,\"maybe_number\":0,"
		      "\"bytes\":\"18446744073709551615\",\"most_bytes\":1,\"time_ns\":\"-5\","
		      "\"fixed\":1.00,\"shortest\":0.1}\n"
		      "{\"rank\":null,\"host\":null,\"pid\":null,\"text\":null,\"is_set\":0,"
		      "\"small\":0,\"number\":0,\"maybe_number\":null,\"bytes\":0,"
		      "\"most_bytes\":null,\"time_ns\":null,\"fixed\":null,\"shortest\":null}\n");
	assert_string_equal(count.captured, "[3,\"host\",77,\"a,\\\"b\\\"\",1,65535,4294967295,0,"
	                                    "\"18446744073709551615\",1,-5,1.00,0.1]");
	free(text);
	free(count.columns);
	free(count.captured);
	scratch_remove(dir);
}

/* What stands in a line is what it was before it became a cell. */
static void test_column_text__takes_lines_of_csv_apart(void **state)
{
	static const struct column of_line[] = {
		COLUMN(struct row, text),
		COLUMN(struct row, number),
		COLUMN_FIXED(struct row, shortest, COLUMN_WORDS),
		COLUMN_AS("name", struct row, text),
	};
	static const struct {
		const char *line, *json;
	} cases[] = {
		{"a,1,0.5,b\n", "[\"a\",1,0.5,\"b\"],"},
		{",,,\n", "[null,null,null,null],"},
		{"\"a,\"\"\n\",9007199254740992,inf,'=1\n",
	         "[\"a,\\\"\\n\",\"9007199254740992\",\"inf\",\"=1\"],"},
		{"''@,-12,1e-300,'plain\n", "[\"'@\",-12,1e-300,\"'plain\"],"},
		{"<,007,.5,\"\"\"\"\n", "[\"\\u003c\",\"007\",\".5\",\"\\\"\"],"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_rows json = {.columns = of_line,
		                         .n_columns = N_COLUMNS(of_line),
		                         .n_to_capture = 1,
		                         .limit_bytes = 1000};
		char *line = strdup(cases[i].line);

		writer_open_memory(&json.captured);
		json_rows_put_line(&json, line);
		writer_char(&json.captured, '\0');
		assert_string_equal(json.captured.buffer, cases[i].json);
		writer_abandon(&json.captured);
		free(line);
	}
}

static void put_lines(struct json_rows *json, const char *const *lines)
{
	writer_open_memory(&json->captured);
	for (; *lines; lines++) {
		char *line = strdup(*lines);

		json_rows_put_line(json, line);
		free(line);
	}
	writer_char(&json->captured, '\0');
}

/* A page is no larger for names that are long. */
static void test_column_text__keeps_no_more_bytes_than_it_may(void **state)
{
	static const struct column of_line[] = {COLUMN(struct row, text)};
	static const char *const lines[] = {"abc\n", "defghijklmnop\n", "q\n", NULL};
	struct json_rows json = {
		.columns = of_line, .n_columns = 1, .n_to_capture = 9, .limit_bytes = 20};

	(void)state;
	put_lines(&json, lines);
	assert_string_equal(json.captured.buffer, "[\"abc\"],"); /* and nothing behind a gap */
	assert_false(json_rows_wants(&json));
	writer_abandon(&json.captured);
}

/* Else the steps of one rank would leave no room for another. */
static void test_column_text__keeps_the_whole_before_its_windows(void **state)
{
	static const struct column of_line[] = {
		COLUMN(struct row, number),
		COLUMN_AS("window", struct row, text),
	};
	static const char *const whole_first[] = {"1,\n", "2,step\n", "3,\n", NULL};
	static const char *const windows_first[] = {"1,step\n", "2,\n", NULL};
	struct json_rows whole = {
		.columns = of_line, .n_columns = 2, .n_to_capture = 2, .limit_bytes = 1000};
	struct json_rows windows = whole;

	(void)state;
	put_lines(&whole, whole_first);
	assert_string_equal(whole.captured.buffer, "[1,null],[3,null],");
	writer_abandon(&whole.captured);
	put_lines(&windows, windows_first);
	assert_string_equal(windows.captured.buffer, "[1,\"step\"],[2,null],");
	writer_abandon(&windows.captured);
}

static int fill_found(const struct findings *findings, struct row_sink *sink)
{
	static const struct column found[] = {
		COLUMN_OPTIONAL_AS("a,b", struct row, maybe_number),
		COLUMN_FIXED(struct row, shortest, COLUMN_WORDS),
		COLUMN(struct row, text),
	};
	static const char *const foreign[] = {NULL, NULL, "-1"};
	static const char *const texts[] = {"=1", "", NULL};

	(void)findings;
	row_begin(sink, found, N_COLUMNS(found));
	sink->instead = foreign;
	row_put(sink, &empty);
	sink->instead = texts;
	row_put(sink, &full);
	return FLEXTRACE_OK;
}

static void test_column_text__takes_columns_and_cells_that_are_found(void **state)
{
	const struct result_file file = {.name = "t.csv", .table = {NULL, 0, fill_found}};
	char *dir = scratch_dir(), *text;
	struct file_count count;

	(void)state;
	assert_int_equal(column_save(&file, NULL, &(struct save_place){.dir = dir, .has_csv = true},
	                             &count, NULL),
	                 0);
	text = scratch_read(dir, "t.csv", NULL);
	assert_string_equal(text, "\"a,b\",shortest,text\n,inf,-1\n'=1,,\"a,\"\"b\"\"\"\n");
	assert_string_equal(count.columns, "[{\"name\": \"a,b\", \"type\": \"integer\"}, "
	                                   "{\"name\": \"shortest\", \"type\": \"number\"}, "
	                                   "{\"name\": \"text\", \"type\": \"text\"}]");
	free(text);
	free(count.columns);
	scratch_remove(dir);
}

static void test_column_text__makes_null_of_what_is_not_known_in_json(void **state)
{
	struct writer writer;

	(void)state;
	writer_open_memory(&writer);
	column_write_json(columns + 3, 2, &full, &writer);
	column_write_json(columns + 7, 1, &empty, &writer);
	writer_char(&writer, '\0');
	assert_string_equal(writer.buffer,
	                    ",\"text\":\"a,\\\"b\\\"\",\"is_set\":1,\"maybe_number\":null");
	writer_abandon(&writer);
}

static int fill_partly(const struct findings *findings, struct row_sink *sink)
{
	(void)findings;
	row_put(sink, &full);
	return FLEXTRACE_E_MEMORY;
}

static void test_column_text__leaves_no_file_where_rows_are_missing(void **state)
{
	const struct result_file file = {.name = "t.csv",
	                                 .table = COLUMN_TABLE(columns, fill_partly)};
	struct flextrace_error error = {0};
	char *dir = scratch_dir();
	struct file_count count;

	(void)state;
	assert_int_equal(column_save(&file, NULL, &(struct save_place){.dir = dir, .has_csv = true},
	                             &count, &error),
	                 FLEXTRACE_E_MEMORY);
	assert_string_equal(error.message, "Cannot write t.csv: no memory");
	assert_null(scratch_read(dir, "t.csv", NULL));
	free(count.columns);
	scratch_remove(dir);
}

static void test_column_text__tells_units_by_names(void **state)
{
	static const struct {
		const char *name, *unit;
	} cases[] = {
		{"start_ns", "ns"},
		{"half_width_ns_p99", "ns"},
		{"residual_ns_max", "ns"},
		{"DEVICE FW DURATION [ns]", "ns"},
		{"bytes", "bytes"},
		{"total_bytes", "bytes"},
		{"ts3", "cycles"},
		{"ideal_cycles", "cycles"},
		{"drift_ppm", "ppm"},
		{"freq_mhz", "MHz"},
		{"max_gbps", "GB/s"},
		{"mean_watts", "W"},
		{"share_percent", "%"},
		{"name", ""},
		{"cycles_core", ""},
		{"max", ""},
		{"_ns", "ns"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < N_COLUMNS(cases); i++)
		assert_string_equal(column_unit(cases[i].name), cases[i].unit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_column_text__leaves_empty_what_is_not_known),
		cmocka_unit_test(test_column_text__writes_lines_of_json_and_keeps_the_first_rows),
		cmocka_unit_test(test_column_text__takes_lines_of_csv_apart),
		cmocka_unit_test(test_column_text__keeps_no_more_bytes_than_it_may),
		cmocka_unit_test(test_column_text__keeps_the_whole_before_its_windows),
		cmocka_unit_test(test_column_text__takes_columns_and_cells_that_are_found),
		cmocka_unit_test(test_column_text__makes_null_of_what_is_not_known_in_json),
		cmocka_unit_test(test_column_text__leaves_no_file_where_rows_are_missing),
		cmocka_unit_test(test_column_text__tells_units_by_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
