/* SPDX-License-Identifier: Apache-2.0 */
/* Names that break what is not written with care, from the JSON of Flex to all that comes out. */
#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flex_checks.h"
#include "scratch.h"

#define MIB (1u << 20)
#define U   "\xef\xbf\xbd"

/* As they stand in the file, and as they come back from JSON and from CSV; NULL: likewise. */
static const struct {
	const char *written, *json, *csv;
} names[] = {
	{"say \\\"hi\\\"", "say \"hi\"", NULL},
	{"a,b;c\\td", "a,b;c\td", NULL},
	{"two\\nlines\\rand\\r\\nmore", "two\nlines\rand\r\nmore", NULL},
	{"back\\\\slash\\/", "back\\slash/", NULL},
	{"\\u0001\\u0002\\u001b[31m\\u001f\\u007f", "\1\2\33[31m\37\177", NULL},
	{"\\b\\f", "\b\f", NULL},
	{"</script><script>alert(1)</script>", NULL, NULL},
	{"<!-- &amp; ]]>", NULL, NULL},
	{"=cmd|'/C calc'!A0", NULL, NULL},
	{"%s%n%1000000d", NULL, NULL},
	{"{\\\"a\\\":[1]}", "{\"a\":[1]}", NULL},
	{" leading and trailing ", NULL, NULL},
	{"\xc3\xa9 \xf0\x9f\x9a\x80 \xe2\x80\xae", NULL, NULL},
	{"\\u00e9 \\ud83d\\ude80", "\xc3\xa9 \xf0\x9f\x9a\x80", NULL},
	{"half \\ud83d", "half " U U U, NULL},
	{"bad \xff", "bad " U, NULL},
	{"../../etc/passwd", NULL, NULL},
	{"null", NULL, NULL},
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

static const char *in_json(size_t i)
{
	return names[i].json ? names[i].json : names[i].written;
}

static const char *in_csv(size_t i)
{
	return names[i].csv ? names[i].csv : in_json(i);
}

/* Adds a kernel, a host scope and its argument, all of this name; `to` a file of events. */
static void write_events(FILE *to, const char *name, size_t at)
{
	size_t ts = 10 + 10 * at, ticks = 1000 * at;

	fprintf(to,
	        "{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":%zu,\"dur\":1,\"name\":\"%s Cmpt Exec\","
	        "\"args\":{\"TS1\":\"%zu\",\"TS2\":\"%zu\",\"TS3\":\"%zu\",\"TS4\":\"%zu\","
	        "\"TS5\":\"%zu\"}},",
	        ts, name, ticks + 1, ticks + 2, ticks + 3, ticks + 103, ticks + 104);
	fprintf(to,
	        "{\"ph\":\"X\",\"pid\":0,\"tid\":%zu,\"ts\":%zu,\"dur\":9,\"name\":\"%s\","
	        "\"args\":{\"%s\":\"%s\"}},",
	        100 + at, ts, name, name, name);
	fprintf(to, "{\"ph\":\"C\",\"pid\":0,\"ts\":%zu,\"name\":\"%s\",\"args\":{\"v\":1}},", ts,
	        name);
	fprintf(to, "{\"ph\":\"i\",\"pid\":0,\"tid\":1,\"ts\":%zu,\"name\":\"%s\"},", ts, name);
	fprintf(to,
	        "{\"ph\":\"M\",\"pid\":0,\"tid\":%zu,\"name\":\"thread_name\","
	        "\"args\":{\"name\":\"%s\"}},",
	        100 + at, name);
}

static struct flex_run *convert(void **state, void write(FILE *to))
{
	struct flex_run *run = *state;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	fputc('[', to);
	write(to);
	fputs("{\"ph\":\"M\",\"name\":\"end\",\"pid\":0}]", to);
	assert_int_equal(fclose(to), 0);
	flex_add_file(run, "a.json", text);
	free(text);
	flex_convert(run);
	assert_int_equal(ledger_lost(&run->ledger), 0);
	assert_string_equal(run->warnings, "");
	return run;
}

/* How many events of a phase have this name. */
static int count_named(const cJSON *trace, const char *ph, const char *name)
{
	const cJSON *event;
	int n = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(trace, "traceEvents"))
	{
		const char *its = cJSON_GetStringValue(cJSON_GetObjectItem(event, "name"));

		n += !strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph")), ph) && its &&
		     !strcmp(its, name);
	}
	return n;
}

/* -- all of them ------------------------------------------------------------------------------- */

static void write_names(FILE *to)
{
	for (size_t i = 0; i < N_NAMES; i++)
		write_events(to, names[i].written, i);
}

static void test_flex_names__come_back_from_all_files(void **state)
{
	struct flex_run *run = convert(state, write_names);
	char *text = flex_check_files(run);
	cJSON *trace = cJSON_Parse(text);

	assert_non_null(trace);
	for (size_t i = 0; i < N_NAMES; i++) {
		assert_int_equal(count_named(trace, "X", in_json(i)), 2);
		assert_int_equal(count_named(trace, "C", in_json(i)), 1);
		assert_int_equal(count_named(trace, "i", in_json(i)), 1);
		assert_int_equal(flex_count(&run->events, "name", in_csv(i)), 1);
		assert_int_equal(flex_count(&run->host, "name", in_csv(i)), 1);
	}
	assert_int_equal(run->events.n_rows, N_NAMES);
	assert_int_equal(run->host.n_rows, N_NAMES);
	cJSON_Delete(trace);
	free(text);
}

static void test_flex_names__are_json_in_arguments(void **state)
{
	struct flex_run *run = convert(state, write_names);

	for (size_t i = 0; i < N_NAMES; i++) {
		uint64_t row = flex_row(&run->host, "name", in_csv(i), NULL, NULL);
		cJSON *args = cJSON_Parse(flex_cell(&run->host, row, "args"));

		assert_non_null(args);
		assert_string_equal(args->child->string, in_csv(i));
		assert_string_equal(cJSON_GetStringValue(args->child), in_csv(i));
		cJSON_Delete(args);
	}
}

/* -- NUL --------------------------------------------------------------------------------------- */

static void write_nul(FILE *to)
{
	write_events(to, "a\\u0000b\\u0000", 0);
	write_events(to, "a", 1);
}

/* Not by cJSON, whose texts end at a NUL. */
static void test_flex_names__have_a_nul_that_comes_back(void **state)
{
	struct flex_run *run = convert(state, write_nul);
	char *text = flex_check_files(run);
	uint64_t row = flex_row(&run->host, "name", "a" U "b" U, NULL, NULL);
	int n = 0;

	for (const char *at = text; (at = strstr(at, "\"name\":\"a\\u0000b\\u0000\"")); at++)
		n++;
	assert_int_equal(n, 2 + 1 + 1 + 1); /* kernel, scope, counter, instant, thread */
	free(text);
	assert_string_equal(flex_cell(&run->host, row, "args"),
	                    "{\"a\\u0000b\\u0000\":\"a\\u0000b\\u0000\"}");
	assert_int_equal(flex_count(&run->events, "name", "a" U "b" U), 1);
	assert_int_equal(flex_count(&run->events, "name", "a"), 1);
}

/* -- size -------------------------------------------------------------------------------------- */

static char *long_name(void)
{
	static char name[MIB + 1];

	for (size_t i = 0; i < MIB; i++)
		name[i] = "<b>'=;{x"[i % 8];
	return name;
}

static void write_long(FILE *to)
{
	write_events(to, long_name(), 0);
}

static void test_flex_names__of_a_megabyte_are_kept(void **state)
{
	struct flex_run *run = convert(state, write_long);
	char *text = flex_check_files(run);
	cJSON *trace = cJSON_Parse(text);

	assert_non_null(trace);
	assert_int_equal(count_named(trace, "X", long_name()), 2);
	assert_int_equal(flex_count(&run->events, "name", long_name()), 1);
	assert_int_equal(flex_count(&run->host, "name", long_name()), 1);
	cJSON_Delete(trace);
	free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, flex_start, flex_stop)
	const struct CMUnitTest tests[] = {
		TEST(test_flex_names__come_back_from_all_files),
		TEST(test_flex_names__are_json_in_arguments),
		TEST(test_flex_names__have_a_nul_that_comes_back),
		TEST(test_flex_names__of_a_megabyte_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
