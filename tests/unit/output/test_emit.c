// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/timeline/columns.h"
#include "output/output_dir.h"
#include "emit_fixture.h"
#include "full_disk.h"
#include "scratch.h"

static const char *const csv_files[] = {
	"tables/host.csv",      "tables/events.csv", "tables/instants.csv",
	"tables/counters.csv",  "tables/memory.csv", "tables/clocks.csv",
	"tables/alignment.csv", "tables/losses.csv", "tables/emitted.csv",
};

/* emitted.csv, the last one, has no row. */
#define N_WRITTEN (sizeof(csv_files) / sizeof(csv_files[0]) - 1)

static void assert_csv(const char *dir, bool expected)
{
	for (size_t i = 0; i < N_WRITTEN; i++)
		assert_int_equal(scratch_has(dir, csv_files[i]), expected);
	assert_false(scratch_has(dir, csv_files[N_WRITTEN]));
}

static void test_emit__writes_the_formats_asked_for(void **state)
{
	static const struct {
		const char *formats;
		bool gzip, json, json_gz, csv, text;
	} cases[] = {
		{NULL, false, true, false, true, false},
		{NULL, true, false, true, true, false},
		{"chrome", false, true, false, false, false},
		{"csv", false, false, false, true, false},
		{"text", true, false, false, false, true},
		{"text,csv,chrome", false, true, false, true, true},
		{"text,text", false, false, false, false, true},
	};
	struct emit_test *test = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *dir = scratch_dir();
		struct emit_options options = {
			.output_dir = dir, .formats = cases[i].formats, .gzip = cases[i].gzip};

		assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
		assert_int_equal(scratch_has(dir, "trace.json"), cases[i].json);
		assert_int_equal(scratch_has(dir, "trace.json.gz"), cases[i].json_gz);
		assert_int_equal(scratch_has(dir, "timeline.txt"), cases[i].text);
		assert_csv(dir, cases[i].csv);
		assert_true(scratch_has(dir, "run.json"));
		scratch_remove(dir);
	}
}

static void test_emit__refuses_unknown_formats(void **state)
{
	static const char *const formats[] = {
		"", "jsonl", "chrome,", ",csv", "chrome,xml,csv", "chrome csv", "chr", "chromes"};
	struct emit_test *test = *state;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct emit_options options = {.output_dir = test->dir, .formats = formats[i]};
		struct flextrace_error error = {0};

		assert_int_equal(emit_check_formats(formats[i], NULL), FLEXTRACE_E_USAGE);
		assert_int_equal(emit_run(&test->fixture.findings, &options, &error),
		                 FLEXTRACE_E_USAGE);
		assert_non_null(
			strstr(error.message, "known=chrome, csv, json, pftrace, report, text"));
		assert_false(scratch_has(test->dir, "run.json"));
	}
	assert_int_equal(emit_check_formats(NULL, NULL), 0);
	assert_int_equal(emit_check_formats("csv,chrome", NULL), 0);
}

/* Each file with any number of threads is the same as with one. */
static void test_emit__is_the_same_on_any_number_of_threads(void **state)
{
	static const char *const others[] = {"trace.json", "timeline.txt", "run.json"};
	struct emit_test *test = *state;
	struct emit_options options = {.output_dir = test->dir, .formats = "chrome,csv,text"};

	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
	for (uint32_t n_threads = 1; n_threads <= 16; n_threads += 3) {
		char *dir = scratch_dir();

		options.output_dir = dir;
		options.n_threads = n_threads;
		assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
		for (size_t i = 0; i < 8 + 3; i++) {
			const char *file = i < 8 ? csv_files[i] : others[i - 8];
			char *one = scratch_read(test->dir, file, NULL);
			char *many = scratch_read(dir, file, NULL);

			assert_non_null(one);
			assert_non_null(many);
			assert_string_equal(one, many);
			free(one);
			free(many);
		}
		scratch_remove(dir);
	}
}

static void test_emit__closes_its_books(void **state)
{
	struct emit_test *test = *state;
	struct emit_options options = {.output_dir = test->dir, .formats = "chrome,csv,text"};
	cJSON *root, *file;
	char *text;
	int n = 0;

	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
	text = scratch_read(test->dir, "run.json", NULL);
	root = cJSON_Parse(text);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(root, "closes")));
	/* the lines of every CSV file are as many as run.json says */
	cJSON_ArrayForEach(file, cJSON_GetObjectItem(root, "files"))
	{
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(file, "file"));
		char *content = scratch_read(test->dir, name, NULL);
		int n_lines = 0;

		for (const char *at = content; (at = strchr(at, '\n')); at++)
			n_lines++;
		if (strstr(name, ".csv"))
			assert_int_equal(n_lines - 1, cJSON_GetObjectItem(file, "rows")->valueint);
		free(content);
		n++;
	}
	assert_int_equal(n, 10);
	cJSON_Delete(root);
	free(text);
}

static void test_emit__fails_when_books_do_not_close(void **state)
{
	struct emit_test *test = *state;
	struct emit_options options = {.output_dir = test->dir};
	struct flextrace_error error = {0};

	test->fixture.ledger.read[RECORD_SCOPE]++;
	test->fixture.ledger.rows[RECORD_SCOPE]++; /* a row that is in no table */
	assert_int_equal(emit_run(&test->fixture.findings, &options, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, "class=scope, rows=6, records=7"));
	assert_true(scratch_has(test->dir, "run.json"));
}

static void test_emit__creates_the_directory_with_its_parents(void **state)
{
	struct emit_test *test = *state;
	struct emit_options options = {.formats = "text"};
	char *dir = NULL;

	assert_true(asprintf(&dir, "%s/a/b/../b//c/", test->dir) > 0);
	options.output_dir = dir;
	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
	assert_true(scratch_has(dir, "run.json"));
	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0); /* again */
	free(dir);
}

static void test_emit__names_a_directory_that_cannot_be(void **state)
{
	static const char *const names[] = {"file", "file/", "file/below", "file/below/it"};
	struct emit_test *test = *state;
	char *path = NULL;

	assert_true(asprintf(&path, "%s/file", test->dir) > 0);
	fclose(fopen(path, "w"));
	free(path);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct flextrace_error error = {0};
		struct emit_options options = {.formats = "text"};

		assert_true(asprintf(&path, "%s/%s", test->dir, names[i]) > 0);
		options.output_dir = path;
		assert_int_equal(emit_run(&test->fixture.findings, &options, &error),
		                 FLEXTRACE_E_OUTPUT);
		assert_non_null(strstr(error.message, path));
		assert_non_null(strstr(error.message, "reason=Not a directory"));
		free(path);
	}
}

static int write_nothing(const struct findings *findings, struct text_sink *sink)
{
	(void)findings;
	writer_raw(&sink->writer, "a heading\n");
	return 0;
}

static void make_file(const char *dir, const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
	fclose(fopen(path, "w"));
	free(path);
}

/* Tables that are not asked for any more, and those that have no row any more; what we do not know
 * stays. */
static void test_emit__leaves_no_table_of_an_earlier_conversion(void **state)
{
	struct emit_test *test = *state;
	const struct result_file nothing = {.name = "nothing.txt", .write = write_nothing};
	const struct result_file other = {.name = "other.csv", .write = write_nothing};
	const struct result_file *const files[] = {&nothing}, *const others[] = {&other};
	struct emit_run run = {.files = files, .n_files = 1, .others = others, .n_others = 1};
	struct emit_options options = {.output_dir = test->dir, .run = &run};

	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
	assert_false(scratch_has(test->dir, "tables/nothing.txt"));
	make_file(test->dir, "tables/nothing.txt");
	make_file(test->dir, "tables/emitted.csv");
	make_file(test->dir, "tables/other.csv");
	make_file(test->dir, "other.csv");
	make_file(test->dir, "tables/theirs.csv");
	options.formats = "text";
	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
	assert_csv(test->dir, false);
	assert_false(scratch_has(test->dir, "tables/nothing.txt"));
	assert_false(scratch_has(test->dir, "tables/other.csv"));
	assert_true(scratch_has(test->dir, "other.csv"));
	assert_true(scratch_has(test->dir, "tables/theirs.csv"));
}

/* The data of the page: run.json and the first rows, with nothing that ends its script. */
static void test_emit__puts_the_first_rows_into_the_page(void **state)
{
	static const char head[] = "<script type=\"application/json\" id=\"flextrace-data\">";
	struct emit_test *test = *state;
	struct emit_options options = {
		.output_dir = test->dir, .formats = "csv,json,report", .report_rows = 2};
	const cJSON *host;
	char *text, *data;
	cJSON *json;

	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
	assert_true(scratch_has(test->dir, "tables/host.jsonl"));
	text = scratch_read(test->dir, "report.html", NULL);
	assert_non_null(text);
	data = strstr(text, head);
	assert_non_null(data);
	data += strlen(head);
	*strstr(data, "</script>") = '\0';
	assert_null(strchr(data, '<'));
	json = cJSON_Parse(data);
	assert_non_null(json);
	assert_null(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "run"), "files"));
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "run"), "closes")));
	host = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "tables"), "host");
	assert_string_equal(cJSON_GetObjectItem(host, "file")->valuestring, "tables/host.csv");
	assert_int_equal(cJSON_GetObjectItem(host, "n_rows")->valueint, 8);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(host, "rows")), 2);
	assert_true(strlen(cJSON_GetObjectItem(host, "title")->valuestring) > 0);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(host, "columns")),
	                 cJSON_GetArraySize(cJSON_GetObjectItem(host, "rows")->child));
	cJSON_Delete(json);
	free(text);
}

static void test_emit__makes_no_folder_for_no_table(void **state)
{
	struct emit_test *test = *state;
	struct emit_options options = {.output_dir = test->dir, .formats = "text"};

	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
	assert_true(scratch_has(test->dir, "timeline.txt"));
	assert_false(scratch_has(test->dir, "tables"));
}

/* Files of both would have one name. */
static void test_emit__keeps_out_of_a_directory_that_another_conversion_writes_into(void **state)
{
	struct emit_test *test = *state;
	struct emit_options options = {.output_dir = test->dir};
	struct flextrace_error error = {0};
	int lock;

	assert_int_equal(output_dir_open(test->dir, &lock, NULL), 0);
	assert_int_equal(emit_run(&test->fixture.findings, &options, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, "Another conversion writes into"));
	assert_non_null(strstr(error.message, test->dir));
	assert_csv(test->dir, false);
	output_dir_close(lock);
	for (int i = 0; i < 2; i++) { /* it leaves no lock behind */
		assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
		assert_csv(test->dir, true);
	}
	assert_int_equal(output_dir_open("", &lock, NULL), FLEXTRACE_E_OUTPUT);
}

static int write_calls(const struct findings *findings, struct text_sink *sink)
{
	if (!scratch_has(sink->dir, "told")) /* a file, where it is to succeed */
		return error_set(sink->error, FLEXTRACE_E_OUTPUT, "Cannot write calls");
	sink->count->rows = findings->timeline->host_rows.n_rows;
	return 0;
}

static void test_emit__runs_analyses_beside_the_formats(void **state)
{
	struct emit_test *test = *state;
	const struct result_file file = {.name = "calls.txt", .write = write_calls};
	const struct result_file *const files[] = {&file};
	struct emit_run run = {.files = files, .n_files = 1};
	struct emit_options options = {
		.output_dir = test->dir, .formats = "text", .n_threads = 2, .run = &run};
	struct flextrace_error error = {0};
	char *text, *path = NULL;
	cJSON *run_json;

	assert_int_equal(emit_run(&test->fixture.findings, &options, &error), FLEXTRACE_E_OUTPUT);
	assert_string_equal(error.message, "Cannot write calls");
	assert_false(scratch_has(test->dir, "run.json"));
	assert_true(asprintf(&path, "%s/tables", test->dir) > 0);
	assert_int_equal(mkdir(path, 0777), 0);
	free(path);
	assert_true(asprintf(&path, "%s/tables/told", test->dir) > 0);
	fclose(fopen(path, "w"));
	free(path);
	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
	text = scratch_read(test->dir, "run.json", NULL);
	run_json = cJSON_Parse(text);
	emit_assert_json(cJSON_GetArrayItem(cJSON_GetObjectItem(run_json, "files"), 1),
	                 "{\"file\":\"tables/calls.txt\",\"rows\":8}");
	cJSON_Delete(run_json);
	free(text);
}

/* The disk is full for one of the files: no run.json may say that all is well, not even an older
 * one. */
static void test_emit__leaves_no_run_json_when_a_file_fails(void **state)
{
	struct emit_test *test = *state;
	struct emit_options options = {.output_dir = test->dir, .n_threads = 4};
	struct flextrace_error error = {0};

	assert_int_equal(emit_run(&test->fixture.findings, &options, NULL), 0);
	assert_true(scratch_has(test->dir, "run.json"));
	full_disk_for("counters.csv.tmp");
	assert_int_equal(emit_run(&test->fixture.findings, &options, &error), FLEXTRACE_E_OUTPUT);
	full_disk_for(NULL);
	assert_non_null(strstr(error.message, "counters.csv, reason=No space left on device"));
	assert_false(scratch_has(test->dir, "run.json"));
	assert_false(scratch_has(test->dir, "tables/counters.csv.tmp"));
}

static void test_emit__says_when_run_json_cannot_be_replaced(void **state)
{
	struct emit_test *test = *state;
	struct emit_options options = {.output_dir = test->dir, .formats = "text"};
	struct flextrace_error error = {0};
	char *path = NULL;

	assert_true(asprintf(&path, "%s/run.json", test->dir) > 0);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(emit_run(&test->fixture.findings, &options, &error), FLEXTRACE_E_OUTPUT);
	assert_non_null(strstr(error.message, path));
	assert_false(scratch_has(test->dir, "timeline.txt"));
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAMPLE(test_emit__writes_the_formats_asked_for),
		SAMPLE(test_emit__refuses_unknown_formats),
		SAMPLE(test_emit__is_the_same_on_any_number_of_threads),
		SAMPLE(test_emit__closes_its_books),
		SAMPLE(test_emit__fails_when_books_do_not_close),
		SAMPLE(test_emit__creates_the_directory_with_its_parents),
		SAMPLE(test_emit__names_a_directory_that_cannot_be),
		SAMPLE(test_emit__keeps_out_of_a_directory_that_another_conversion_writes_into),
		SAMPLE(test_emit__leaves_no_table_of_an_earlier_conversion),
		SAMPLE(test_emit__puts_the_first_rows_into_the_page),
		SAMPLE(test_emit__makes_no_folder_for_no_table),
		SAMPLE(test_emit__runs_analyses_beside_the_formats),
		SAMPLE(test_emit__leaves_no_run_json_when_a_file_fails),
		SAMPLE(test_emit__says_when_run_json_cannot_be_replaced),
	};

	return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
