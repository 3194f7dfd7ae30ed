/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/report/table_view.h"

static FILE *make_file(const char *text)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	fputs(text, file);
	rewind(file);
	return file;
}

/* What is printed for `csv`; `ret_matching` may be NULL. */
static char *print(const char *csv, const struct csv_table_query *query, uint32_t width,
                   uint64_t *ret_matching)
{
	struct flextrace_error error = {0};
	struct csv_table table;
	FILE *file = make_file(csv);
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (csv_table_read(file, "kernels.csv", query, &table, &error) < 0) {
		fprintf(out, "!%s", error.message);
	} else {
		const struct table_view view = {.width = width};
		uint32_t n_hidden;

		assert_int_equal(table_view_print(&table, &view, out, &n_hidden, &error), 0);
		if (ret_matching)
			*ret_matching = table.n_matching;
		csv_table_release(&table);
	}
	fclose(out);
	fclose(file);
	return text;
}

static void expect(const char *csv, struct csv_table_query query, uint32_t width,
                   const char *expected)
{
	char *text = print(csv, &query, width, NULL);

	assert_string_equal(text, expected);
	free(text);
}

static const char kernels[] = "rank,name,total_ns\n"
			      "0,matmul,900\n"
			      "1,\"add, relu\",1200\n"
			      "0,softmax,\n"
			      "1,copy,90\n";

static void test_table_view__aligns_numbers_right_and_texts_left(void **state)
{
	(void)state;
	expect(kernels, (struct csv_table_query){0}, 0,
	       "rank  name       total_ns\n"
	       "   0  matmul          900\n"
	       "   1  add, relu      1200\n"
	       "   0  softmax            \n"
	       "   1  copy             90\n");
}

static void test_table_view__sorts_largest_first_and_empty_last(void **state)
{
	(void)state;
	expect(kernels, (struct csv_table_query){.sort = "total_ns"}, 0,
	       "rank  name       total_ns\n"
	       "   1  add, relu      1200\n"
	       "   0  matmul          900\n"
	       "   1  copy             90\n"
	       "   0  softmax            \n");
	expect(kernels, (struct csv_table_query){.sort = "name", .rank = "1"}, 0,
	       "rank  name       total_ns\n"
	       "   1  add, relu      1200\n"
	       "   1  copy             90\n");
}

static void test_table_view__keeps_nanoseconds_apart_that_a_double_cannot(void **state)
{
	(void)state;
	expect("ns\n1795266934875789675\n1795266934875789677\n1795266934875789676\n",
	       (struct csv_table_query){.sort = "ns"}, 0,
	       "                 ns\n"
	       "1795266934875789677\n"
	       "1795266934875789676\n"
	       "1795266934875789675\n");
}

/* The limit takes the same rows whether the table fits twice or many times into what is kept. */
static void test_table_view__a_limit_keeps_the_best_of_a_long_file(void **state)
{
	char *csv = NULL, *text;
	uint64_t n_matching = 0;
	struct csv_table_query query = {.sort = "n", .limit = 3};
	size_t size;
	FILE *out = open_memstream(&csv, &size);

	(void)state;
	fputs("n\n", out);
	for (int i = 0; i < 1000; i++)
		fprintf(out, "%d\n", i * 7919 % 1000);
	fclose(out);
	text = print(csv, &query, 0, &n_matching);
	assert_string_equal(text, "  n\n999\n998\n997\n");
	assert_int_equal(n_matching, 1000);
	free(text);
	query.sort = NULL;
	text = print(csv, &query, 0, &n_matching);
	assert_string_equal(text, "  n\n  0\n919\n838\n");
	assert_int_equal(n_matching, 1000);
	free(text);
	free(csv);
}

static void test_table_view__cuts_the_widest_text_to_the_terminal(void **state)
{
	(void)state;
	expect("name,n\na_very_long_kernel_name_indeed,1\nshort,2\n", (struct csv_table_query){0},
	       20,
	       "name               n\n"
	       "a_very_long_ker..  1\n"
	       "short              2\n");
	/* Too narrow for that: readable comes first. */
	expect("name,n\na_very_long_kernel_name_indeed,1\n", (struct csv_table_query){0}, 5,
	       "name          n\n"
	       "a_very_lon..  1\n");
}

/* Widths as of a file that means harm: taken one by one it would be 10^11 steps. */
static void test_table_view__cuts_many_wide_texts(void **state)
{
	enum { N_COLUMNS = 4000, N_BYTES = 3000 };
	const struct csv_table_query query = {0};
	char *csv = malloc(2 * N_COLUMNS + (size_t)N_COLUMNS * (N_BYTES + 1) + 1), *at = csv, *text;

	(void)state;
	for (int i = 0; i < N_COLUMNS; i++)
		at = stpcpy(at, i + 1 < N_COLUMNS ? "a," : "a\n");
	for (int i = 0; i < N_COLUMNS; i++) {
		memset(at, 'x', N_BYTES);
		at[N_BYTES] = i + 1 < N_COLUMNS ? ',' : '\n';
		at += N_BYTES + 1;
	}
	*at = '\0';
	text = print(csv, &query, 80, NULL);
	assert_int_equal(strlen(strchr(text, '\n') + 1), 80 + 1);
	assert_non_null(strstr(text, "xx..  xx"));
	free(text);
	free(csv);
}

static void test_table_view__no_name_moves_the_cursor(void **state)
{
	(void)state;
	expect("name\n\x1b[2Jx\xff\n\"a\nb\tc\"\n", (struct csv_table_query){0}, 0,
	       "name\n?[2Jx?\na?b?c\n");
}

static void test_table_view__counts_screen_columns_not_bytes(void **state)
{
	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	expect("name,n\ngr\xc3\xb6\xc3\x9f"
	       "e,1\n\xe6\xa0\xb8\xe5\xbf\x83,2\n",
	       (struct csv_table_query){0}, 0,
	       "name   n\n"
	       "gr\xc3\xb6\xc3\x9f"
	       "e  1\n"
	       "\xe6\xa0\xb8\xe5\xbf\x83   2\n");
	setlocale(LC_CTYPE, "C");
}

/* What `view` makes of `csv`, or of its JSON. */
static void expect_view(const char *csv, const char *sort, const struct table_view *view,
                        bool is_json, uint32_t n_hidden, const char *expected)
{
	static const bool is_text[8] = {false, true};
	const struct csv_table_query query = {.sort = sort};
	struct flextrace_error error = {0};
	struct csv_table table;
	FILE *file = make_file(csv);
	uint32_t n = 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int code;

	assert_int_equal(csv_table_read(file, "t.csv", &query, &table, &error), 0);
	code = is_json ? table_view_print_json(&table, view, is_text, out, &error)
	               : table_view_print(&table, view, out, &n, &error);
	if (code < 0)
		fprintf(out, "!%s", error.message);
	fclose(out);
	fclose(file);
	csv_table_release(&table);
	assert_string_equal(text, expected);
	assert_int_equal(n, n_hidden);
	free(text);
}

static void test_table_view__sorts_either_way(void **state)
{
	static const char csv[] = "n,t\n2,b\n,\n10,a\n2,c\n";

	(void)state;
	expect(csv, (struct csv_table_query){.sort = "+n"}, 0,
	       " n  t\n 2  b\n 2  c\n10  a\n    \n");
	expect(csv, (struct csv_table_query){.sort = "-n"}, 0,
	       " n  t\n10  a\n 2  b\n 2  c\n    \n");
	expect(csv, (struct csv_table_query){.sort = "-t"}, 0,
	       " n  t\n 2  c\n 2  b\n10  a\n    \n");
	expect(csv, (struct csv_table_query){.sort = "+t"}, 0,
	       " n  t\n10  a\n 2  b\n 2  c\n    \n");
}

static void test_table_view__shows_the_columns_that_are_asked_for(void **state)
{
	static const char csv[] = "a,b,c\n1,x,\n2,y,\n";

	(void)state;
	expect_view(csv, NULL, &(struct table_view){.columns = "b,a"}, false, 0,
	            "b  a\nx  1\ny  2\n");
	expect_view(csv, NULL, &(struct table_view){.columns = "c", .width = 80}, false, 0,
	            "c\n \n \n");
	expect_view(csv, NULL, &(struct table_view){.columns = "b,d"}, false, 0,
	            "!No column `d` in this table; there are a, b, c");
	expect_view(csv, NULL, &(struct table_view){.columns = "b"}, true, 0,
	            "[{\"b\": \"x\"},\n {\"b\": \"y\"}]\n");
}

static void test_table_view__leaves_out_what_a_terminal_has_no_room_for(void **state)
{
	static const char csv[] = "a,empty,b,c\n1234567890,,1234567890,1234567890\n";
	static const char same[] = "a,rank,b\n1,0,x\n2,0,x\n";

	(void)state;
	expect_view(csv, NULL, &(struct table_view){.width = 24}, false, 1,
	            "         a           b\n1234567890  1234567890\n");
	expect_view(csv, NULL, &(struct table_view){.width = 34}, false, 0,
	            "         a           b           c\n1234567890  1234567890  1234567890\n");
	expect_view(csv, NULL, &(struct table_view){0}, false, 0,
	            "         a  empty           b           c\n"
	            "1234567890         1234567890  1234567890\n");
	expect_view(same, NULL, &(struct table_view){.width = 80}, false, 0,
	            "all rows: rank 0, b x\na\n1\n2\n");
	expect_view(same, NULL, &(struct table_view){.width = 80, .columns = "rank"}, false, 0,
	            "rank\n   0\n   0\n");
}

static void test_table_view__gives_durations_and_bytes_units(void **state)
{
	(void)state;
	expect_view("start_ns,dur_ns,total_ns,bytes,calls\n"
	            "1234567,999,1234567,2500000,1000\n5,-1500,,7,1\n",
	            NULL, &(struct table_view){.is_human = true}, false, 0,
	            "start_ns    dur_ns  total_ns    bytes  calls\n"
	            " 1234567    999 ns   1.23 ms  2.50 MB   1000\n"
	            "       5  -1.50 us               7 B       1\n");
}

/* A share goes first, and the column that rows are sorted by stays. */
static void test_table_view__makes_room_by_headings_on_lines(void **state)
{
	static const char csv[] = "name,host_self_ns,host_self_percent,mean_ns,device_self_ns\n"
				  "a long name of a function,12,5.00,3,1\n"
				  "another,100,95.00,9,2\n";

	(void)state;
	expect_view(csv, NULL, &(struct table_view){.width = 63, .is_human = true}, false, 0,
	            "                             host    host        device\n"
	            "name                         self  self %  mean    self\n"
	            "a long name of a function   12 ns    5.00  3 ns    1 ns\n"
	            "another                    100 ns   95.00  9 ns    2 ns\n"
	            "in all: host_self 112 ns, device_self 3 ns\n");
	expect_view(csv, NULL, &(struct table_view){.width = 50, .is_human = true}, false, 1,
	            "                             host        device\n"
	            "name                         self  mean    self\n"
	            "a long name of a function   12 ns  3 ns    1 ns\n"
	            "another                    100 ns  9 ns    2 ns\n"
	            "in all: host_self 112 ns, device_self 3 ns\n");
	expect_view(csv, "device_self", &(struct table_view){.width = 34}, false, 3,
	            "                           device\n"
	            "                             self\n"
	            "name                           ns\n"
	            "another                         2\n"
	            "a long name of a function       1\n");
}

/* Of the side and the rank of the first row, whether they are printed or not. */
static void test_table_view__adds_up_own_times(void **state)
{
	static const char csv[] = "side,name,self_ns,rank\nhost,a,10,0\ndevice,a,5,0\nhost,b,1,0\n"
				  "host,a,20,1\nhost,a,30,\nhost,b,1,\ndevice,a,5,\n";
	static const struct table_view view = {.columns = "name", .is_human = true};

	(void)state;
	expect_view(csv, NULL, &view, false, 0,
	            "name\na\na\nb\na\na\nb\na\n"
	            "in all, side host, rank 0: self 11 ns\n");
	expect_view("self_ns,rank,pid\n10,0,7\n20,1,8\n5,0,7\n", NULL,
	            &(struct table_view){.columns = "pid", .is_human = true}, false, 0,
	            "pid\n  7\n  8\n  7\nin all, rank 0, pid 7: self 15 ns\n");
	expect_view("self_ns\n", NULL, &(struct table_view){.is_human = true}, false, 0,
	            "self_ns\n");
}

/* The second column is of texts, whatever they look like. */
static void test_table_view__is_json_that_keeps_every_value(void **state)
{
	(void)state;
	expect_view("n,name,f\n9007199254740993,12,1.50\n-5,\"a\"\"b<\",\n007,,+1\n", NULL,
	            &(struct table_view){.is_human = true}, true, 0,
	            "[{\"n\": \"9007199254740993\", \"name\": \"12\", \"f\": 1.50},\n"
	            " {\"n\": -5, \"name\": \"a\\\"b\\u003c\", \"f\": null},\n"
	            " {\"n\": \"007\", \"name\": null, \"f\": \"+1\"}]\n");
	expect_view("n\n", NULL, &(struct table_view){0}, true, 0, "[]\n");
}

static void test_table_view__names_the_columns_that_there_are(void **state)
{
	(void)state;
	expect(kernels, (struct csv_table_query){.sort = "totals"}, 0,
	       "!No column `totals` in kernels.csv; there are rank, name, total_ns");
	expect("cause,count\n", (struct csv_table_query){.rank = "0"}, 0,
	       "!No column `rank` in kernels.csv; there are cause, count");
}

static void test_table_view__takes_what_is_hostile(void **state)
{
	(void)state;
	expect("", (struct csv_table_query){0}, 0, "!Empty file: kernels.csv");
	expect("a,b\n", (struct csv_table_query){.sort = "b", .limit = 1}, 0, "a  b\n");
	expect("a,b\n1\n1,2,3\n", (struct csv_table_query){0}, 0, "a  b\n1   \n1  2\n");
	expect("a\n\"x", (struct csv_table_query){0}, 0,
	       "!Malformed CSV, a quote is not closed: file=kernels.csv, line=2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_view__aligns_numbers_right_and_texts_left),
		cmocka_unit_test(test_table_view__sorts_largest_first_and_empty_last),
		cmocka_unit_test(test_table_view__keeps_nanoseconds_apart_that_a_double_cannot),
		cmocka_unit_test(test_table_view__a_limit_keeps_the_best_of_a_long_file),
		cmocka_unit_test(test_table_view__cuts_the_widest_text_to_the_terminal),
		cmocka_unit_test(test_table_view__cuts_many_wide_texts),
		cmocka_unit_test(test_table_view__no_name_moves_the_cursor),
		cmocka_unit_test(test_table_view__counts_screen_columns_not_bytes),
		cmocka_unit_test(test_table_view__sorts_either_way),
		cmocka_unit_test(test_table_view__shows_the_columns_that_are_asked_for),
		cmocka_unit_test(test_table_view__leaves_out_what_a_terminal_has_no_room_for),
		cmocka_unit_test(test_table_view__gives_durations_and_bytes_units),
		cmocka_unit_test(test_table_view__makes_room_by_headings_on_lines),
		cmocka_unit_test(test_table_view__adds_up_own_times),
		cmocka_unit_test(test_table_view__is_json_that_keeps_every_value),
		cmocka_unit_test(test_table_view__names_the_columns_that_there_are),
		cmocka_unit_test(test_table_view__takes_what_is_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
