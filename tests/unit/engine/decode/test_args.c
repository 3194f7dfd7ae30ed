/* SPDX-License-Identifier: Apache-2.0 */
/* What a program writes with flextrace/args.h is what the JSON of its record says. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <flextrace/args.h>

#include "engine/decode/args.h"

struct fixture {
	struct string_pool *pool;
	struct string_cache cache;
	struct ledger ledger;
	struct args_reader reader;
};

static int start(void **state)
{
	static struct fixture fixture;

	fixture.pool = string_pool_new();
	string_cache_init(&fixture.cache, fixture.pool);
	ledger_init(&fixture.ledger);
	fixture.reader = (struct args_reader){JSON_TEXT_INIT, &fixture.cache, &fixture.ledger};
	*state = &fixture;
	return 0;
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	json_text_release(&fixture->reader.text);
	ledger_release(&fixture->ledger);
	string_cache_release(&fixture->cache);
	string_pool_free(fixture->pool);
	return 0;
}

static const char *json_of(struct fixture *fixture, const char *text)
{
	uint32_t id = 0;

	assert_int_equal(args_intern(&fixture->reader, text, &id), 0);
	return string_get(fixture->pool, id);
}

static uint64_t n_cut(const struct fixture *fixture)
{
	return fixture->ledger.warnings[WARNING_ARGS_CUT];
}

static void test_args__keep_the_type_of_each_value(void **state)
{
	struct flextrace_args args = FLEXTRACE_ARGS_INIT;
	const unsigned char bytes[] = {0xde, 0xad, 0x00, 0x0f};
	const char *name = "w1";
	char buffer[] = "q";
	struct fixture *on = *state;
	float half = 0.5f;

	FLEXTRACE_ADD_ARG(&args, "bool", (_Bool)1);
	FLEXTRACE_ADD_ARG(&args, "int", -5);
	FLEXTRACE_ADD_ARG(&args, "u", (uint32_t)UINT32_MAX);
	FLEXTRACE_ADD_ARG(&args, "size", (size_t)4096);
	FLEXTRACE_ADD_ARG(&args, "float", half);
	FLEXTRACE_ADD_ARG(&args, "double", 1e300);
	FLEXTRACE_ADD_ARG(&args, "name", name);
	FLEXTRACE_ADD_ARG(&args, "buffer", buffer);
	FLEXTRACE_ADD_ARG(&args, "at", (void *)(uintptr_t)0x7f00);
	flextrace_args_add_bytes(&args, "raw", bytes, sizeof(bytes));
	assert_string_equal(json_of(on, args.text),
	                    "{\"bool\":true,\"int\":-5,\"u\":4294967295,\"size\":4096,"
	                    "\"float\":0.5,\"double\":1e+300,\"name\":\"w1\",\"buffer\":\"q\","
	                    "\"at\":\"0x7f00\",\"raw\":\"dead000f\"}");
	assert_int_equal(n_cut(on), 0);
}

static void test_args__keep_numbers_that_json_has_none_for(void **state)
{
	struct flextrace_args args = FLEXTRACE_ARGS_INIT;

	flextrace_args_add_i64(&args, "least", INT64_MIN);
	flextrace_args_add_u64(&args, "most", UINT64_MAX);
	flextrace_args_add_u64(&args, "exact", UINT64_C(1) << 53);
	flextrace_args_add_double(&args, "nan", (double)NAN);
	flextrace_args_add_double(&args, "inf", -HUGE_VAL);
	flextrace_args_add_double(&args, "zero", 0);
	assert_string_equal(json_of(*state, args.text),
	                    "{\"least\":\"-9223372036854775808\",\"most\":\"18446744073709551615\","
	                    "\"exact\":9007199254740992,\"nan\":\"NaN\",\"inf\":\"-Infinity\","
	                    "\"zero\":0}");
}

static void test_args__take_any_string(void **state)
{
	struct flextrace_args args = FLEXTRACE_ARGS_INIT;

	flextrace_args_add_string(&args, "a\"b", "\x1e\x1f:\"\\\n");
	flextrace_args_add_string(&args, "none", NULL);
	flextrace_args_add_string(&args, "", "");
	flextrace_args_add_text(&args, "part", "abcdef", 3);
	flextrace_args_add_text(&args, "ends", "ab\0cd", 5);
	assert_string_equal(json_of(*state, args.text),
	                    "{\"a\\\"b\":\"\\u001e\\u001f:\\\"\\\\\\n\",\"none\":\"\",\"\":\"\","
	                    "\"part\":\"abc\",\"ends\":\"ab\"}");
}

static void test_args__say_what_had_no_room(void **state)
{
	struct flextrace_args args = FLEXTRACE_ARGS_INIT;
	struct fixture *on = *state;
	char text[1000];
	const char *json;
	cJSON *object;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	flextrace_args_add_u64(&args, "first", 1);
	flextrace_args_add_string(&args, "long", text);
	flextrace_args_add_bytes(&args, "bytes", text, (size_t)-1);
	flextrace_args_add_u64(&args, "last", 2);
	assert_true(strlen(args.text) < sizeof(args.text));
	json = json_of(on, args.text);
	object = cJSON_Parse(json);
	assert_non_null(object);
	assert_true(cJSON_GetObjectItem(object, "first")->valuedouble == 1);
	assert_non_null(
		strstr(cJSON_GetObjectItem(object, "long")->valuestring, "xxxx\xe2\x80\xa6"));
	assert_true(cJSON_GetObjectItem(object, "left_out")->valuedouble == 2);
	assert_null(cJSON_GetObjectItem(object, "last"));
	assert_int_equal(n_cut(on), 3);
	cJSON_Delete(object);
}

/* 2-byte characters around where a string is cut: none is cut itself. */
static void test_args__cut_between_characters(void **state)
{
	for (size_t lead = 0; lead < 2; lead++) {
		struct flextrace_args args = FLEXTRACE_ARGS_INIT;
		char text[600] = "";

		memset(text, 'a', lead);
		while (strlen(text) < 500)
			strcat(text, "\xc3\xa9");
		flextrace_args_add_string(&args, "s", text);
		for (const char *at = strchr(args.text, ':') + 1 + lead; *at != '\x1e'; at += 2) {
			assert_memory_equal(at, "\xc3\xa9", 2);
			assert_true(at < args.text + args.n_bytes);
		}
	}
	(void)state;
}

/* What fits in 200 random arguments is kept, the rest is counted: nothing is lost silently. */
static void test_args__lose_none_silently(void **state)
{
	struct fixture *on = *state;
	uint32_t random = 7;

	for (int round = 0; round < 2000; round++) {
		struct flextrace_args args = FLEXTRACE_ARGS_INIT;
		unsigned int n = (random = random * 1664525 + 1013904223) >> 27;
		cJSON *object, *left_out;
		int n_there;

		for (unsigned int i = 0; i < n; i++) {
			char key[16], value[64] = "";

			random = random * 1664525 + 1013904223;
			snprintf(key, sizeof(key), "k%u", i);
			memset(value, 'v', random >> 26);
			if (random & 0x10000)
				flextrace_args_add_string(&args, key, value);
			else
				flextrace_args_add_u64(&args, key, random);
		}
		object = cJSON_Parse(n ? json_of(on, args.text) : "{}");
		assert_non_null(object);
		left_out = cJSON_GetObjectItem(object, "left_out");
		n_there = cJSON_GetArraySize(object) - (left_out != NULL);
		assert_int_equal(n_there + (left_out ? (int)left_out->valuedouble : 0), n);
		assert_int_equal(args.n_left_out, left_out ? (uint32_t)left_out->valuedouble : 0);
		cJSON_Delete(object);
	}
}

static void test_args__count_what_is_none_of_ours(void **state)
{
	static const char *const texts[] = {
		"u",
		"ukey",
		"ukey\x1f",
		"ukey\x1f"
		"5",
		"ukey\x1fzz\x1e",
		"ukey\x1f\x1e",
		"ukey\x1f"
		"11112222333344445\x1e",
		"skey\x1f"
		"3:ab\x1e",
		"skey\x1f"
		"3:abcd\x1e",
		"skey\x1f"
		"ffffffffffffffff:a\x1e",
		"skey\x1f:\x1e",
		"qkey\x1f"
		"5\x1e",
		"\x1f\x1e",
		"S\x1f",
		"x\x1f",
		"\x1e",
	};
	struct fixture *on = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char text[64];

		assert_string_equal(json_of(on, texts[i]), "");
		assert_int_equal(n_cut(on), 2 * i + 1);
		snprintf(text, sizeof(text),
		         "ufirst\x1f"
		         "a\x1e%s",
		         texts[i]);
		assert_string_equal(json_of(on, text), "{\"first\":10}");
		assert_int_equal(n_cut(on), 2 * i + 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_args__keep_the_type_of_each_value, start,
	                                        stop),
		cmocka_unit_test_setup_teardown(test_args__keep_numbers_that_json_has_none_for,
	                                        start, stop),
		cmocka_unit_test_setup_teardown(test_args__take_any_string, start, stop),
		cmocka_unit_test_setup_teardown(test_args__say_what_had_no_room, start, stop),
		cmocka_unit_test(test_args__cut_between_characters),
		cmocka_unit_test_setup_teardown(test_args__lose_none_silently, start, stop),
		cmocka_unit_test_setup_teardown(test_args__count_what_is_none_of_ours, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
