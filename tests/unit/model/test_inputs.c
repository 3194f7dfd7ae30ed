/* SPDX-License-Identifier: Apache-2.0 */
/* What inputs are called, and in which order they are numbered. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/ledger/inputs.h"

struct fixture {
	struct string_pool *strings;
	struct string_cache cache;
	struct stream_set set;
	struct inputs inputs;
};

static int start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->strings = string_pool_new();
	string_cache_init(&fixture->cache, fixture->strings);
	*state = fixture;
	return 0;
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	inputs_release(&fixture->inputs);
	stream_set_release(&fixture->set);
	string_cache_release(&fixture->cache);
	string_pool_free(fixture->strings);
	free(fixture);
	return 0;
}

/* Adds a stream of a trace, or of files: "a|b|c". */
static void add_stream(struct fixture *fixture, uint8_t uuid, const char *host, const char *files)
{
	struct stream *stream = stream_set_add(&fixture->set);
	char *text = strdup(files ? files : ""), *rest = text, *file;

	assert_non_null(stream);
	stream->trace_uuid[0] = uuid;
	stream->class_id = 5;
	stream->instance_id = uuid;
	assert_int_equal(string_intern(&fixture->cache, host, &stream->host), 0);
	stream->files = calloc(32, sizeof(*stream->files));
	while (files && (file = strsep(&rest, "|")))
		assert_int_equal(
			string_intern(&fixture->cache, file, &stream->files[stream->n_files++]), 0);
	free(text);
}

/* "text|text..." of all inputs. */
static void expect_inputs(struct fixture *fixture, const char *expected)
{
	char all[1024] = "";

	inputs_release(&fixture->inputs);
	assert_int_equal(inputs_init(&fixture->inputs, &fixture->set, fixture->strings), 0);
	for (uint32_t i = 0; i < fixture->inputs.n; i++) {
		if (i)
			strcat(all, "|");
		strcat(all, fixture->inputs.texts[i]);
	}
	assert_string_equal(all, expected);
}

/* What the n-th of a stream is called. */
static void expect_place(const struct fixture *fixture, uint32_t stream, uint32_t n,
                         const char *expected)
{
	char text[SOURCE_BYTES];

	inputs_write_place(text, &fixture->inputs, fixture->set.streams[stream],
	                   fixture->inputs.first[stream] + n);
	assert_string_equal(text, expected);
}

static const struct {
	const char *files, *expected;
} cases[] = {
	{"flex a.json", "flex a.json"},
	{"flex /long/way/to/a.json", "flex a.json"},
	/* in order of what they are called, not of how they were given */
	{"flex x/b.json|flex x/a.json|aie x/c.json", "aie c.json|flex a.json|flex b.json"},
	/* one folder more for those that look alike, and only for these */
	{"flex x/0/a.json|flex x/1/a.json|flex x/1/b.json",
         "flex 0/a.json|flex 1/a.json|flex b.json"},
	{"flex /p/x/0/a.json|flex /q/x/0/a.json", "flex p/x/0/a.json|flex q/x/0/a.json"},
	{"flex p/x/0/a.json|flex q/x/1/a.json|flex q/x/0/a.json",
         "flex 1/a.json|flex p/x/0/a.json|flex q/x/0/a.json"},
	{"flex d/a.json|flex ba.json", "flex a.json|flex ba.json"},
	{"flex a.json|flex x/a.json", "flex a.json|flex x/a.json"},
	{"flex /a.json|flex a.json", "flex /a.json|flex a.json"},
	{"flex x/a.json|flex x//a.json|flex ./x/a.json",
         "flex ./x/a.json|flex /a.json|flex x/a.json"},
	/* files of two tools are told by these */
	{"flex x/a.json|torch y/a.json", "flex a.json|torch a.json"},
	/* twice the same is one */
	{"flex x/a.json|flex x/a.json", "flex a.json"},
	{"flex x/0/a.json|flex x/1/a.json|flex x/0/a.json", "flex 0/a.json|flex 1/a.json"},
	/* what a name may hold */
	{"flex x/a b,c:\"d\"\ne.json|flex x/ .json", "flex  .json|flex a b,c:\"d\"\ne.json"},
	{"flex x/", "flex "},
	{"flex", "flex"},
	{"", ""},
};

static void test_inputs__are_called_by_their_names(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		stop(state);
		start(state);
		add_stream(*state, 1, "imported", cases[i].files);
		expect_inputs(*state, cases[i].expected);
	}
}

static void test_inputs__are_one_for_all_streams_that_have_them(void **state)
{
	struct fixture *fixture = *state;

	add_stream(fixture, 1, "imported", "flex x/b.json|flex x/a.json");
	add_stream(fixture, 2, "imported", "flex x/b.json|flex x/a.json");
	add_stream(fixture, 3, "imported", "tt-csv x/a.json");
	expect_inputs(fixture, "flex a.json|flex b.json|tt-csv a.json");
	expect_place(fixture, 0, 0, "1");
	expect_place(fixture, 0, 1, "0");
	expect_place(fixture, 1, 0, "1");
	expect_place(fixture, 2, 0, "2");
}

static void test_inputs__number_traces_by_uuid_and_before_files(void **state)
{
	struct fixture *fixture = *state;

	add_stream(fixture, 9, "aaa", NULL);
	add_stream(fixture, 5, "imported", "flex a.json");
	add_stream(fixture, 2, "zzz", NULL);
	add_stream(fixture, 2, "zzz", NULL);
	expect_inputs(fixture, "ctf zzz 02000000-0000-0000-0000-000000000000|"
	                       "ctf aaa 09000000-0000-0000-0000-000000000000|flex a.json");
	expect_place(fixture, 0, 0, "1/5.9");
	expect_place(fixture, 1, 0, "2");
	expect_place(fixture, 2, 0, "0/5.2");
	expect_place(fixture, 3, 0, "0/5.2");
}

static void test_inputs__may_be_none(void **state)
{
	expect_inputs(*state, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_inputs__##name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(are_called_by_their_names),
		TEST(are_one_for_all_streams_that_have_them),
		TEST(number_traces_by_uuid_and_before_files),
		TEST(may_be_none),
	};

	return cmocka_run_group_tests_name("inputs", tests, NULL, NULL);
}
