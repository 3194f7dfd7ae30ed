/* SPDX-License-Identifier: Apache-2.0 */
/* What a program writes with flextrace/args.h is what the JSON of its record says. */
#include <inttypes.h>
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
	flextrace_args_add_double(&args, "minus", -0.0);
	flextrace_args_add_double(&args, "least", 5e-324);
	assert_string_equal(json_of(*state, args.text),
	                    "{\"least\":\"-9223372036854775808\",\"most\":\"18446744073709551615\","
	                    "\"exact\":9007199254740992,\"nan\":\"NaN\",\"inf\":\"-Infinity\","
	                    "\"zero\":0,\"minus\":0,\"least\":4.94065645841247e-324}");
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

/* What args.h says of the text, written down with printf. */
struct slow_args {
	char text[FLEXTRACE_ARGS_TEXT_BYTES];
	size_t n_bytes;
	unsigned int n_left_out;
};

#define SLOW_MOST_BYTES 244

static void slow_add(struct slow_args *args, char type, const char *key, const char *value,
                     size_t n_value, size_t n_reserved)
{
	size_t n_key = strlen(key);

	if (args->n_left_out || args->n_bytes + n_key + 3 + n_reserved > SLOW_MOST_BYTES) {
		snprintf(args->text + args->n_bytes, sizeof(args->text) - args->n_bytes,
		         "c\x1f%x\x1e", ++args->n_left_out);
		return;
	}
	args->n_bytes += (size_t)snprintf(args->text + args->n_bytes,
	                                  sizeof(args->text) - args->n_bytes, "%c%s\x1f%.*s\x1e",
	                                  type, key, (int)n_value, value);
}

static void slow_add_number(struct slow_args *args, char type, const char *key, uint64_t value)
{
	char digits[17];
	int n = snprintf(digits, sizeof(digits), "%" PRIx64, value);

	slow_add(args, type, key, digits, (size_t)n, 16);
}

/* How many bytes are left for a value, if at least eight are. */
static size_t slow_room(const struct slow_args *args, const char *key, size_t n, size_t each)
{
	size_t taken = args->n_bytes + strlen(key) + 7;
	size_t room = taken < SLOW_MOST_BYTES ? (SLOW_MOST_BYTES - taken) / each : 0;

	return n > room && room >= 8 ? room : n;
}

static void slow_add_text(struct slow_args *args, const char *key, const char *value)
{
	size_t n = strlen(value), n_kept = slow_room(args, key, n, 1);
	char text[600];
	int n_text = snprintf(text, sizeof(text), "%zx:%.*s", n_kept, (int)n_kept, value);

	slow_add(args, n_kept < n ? 'S' : 's', key, text, (size_t)n_text, n_kept + 4);
}

static void slow_add_bytes(struct slow_args *args, const char *key, const char *bytes, size_t n)
{
	size_t n_kept = slow_room(args, key, n, 2);
	char text[600];

	for (size_t i = 0; i < n_kept; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
	slow_add(args, n_kept < n ? 'X' : 'x', key, text, 2 * n_kept, 2 * n_kept);
}

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* A number of any length, or one on an edge. */
static uint64_t any_number(uint64_t *random)
{
	static const double reals[] = {-0.0, 5e-324, 2.2250738585072009e-308, 1, -1e308};
	uint64_t value = next_random(random);

	switch (value % 8) {
	case 0:
		return value >> 8 & 1 ? UINT64_MAX : (uint64_t)INT64_MIN;
	case 1:
		return UINT64_C(1) << (value >> 8) % 64;
	case 2:
		return (UINT64_C(1) << (value >> 8) % 64) - 1;
	case 3:
		memcpy(&value, &reals[(value >> 8) % 5], sizeof(value));
		return value;
	default:
		return value >> (value >> 3) % 64;
	}
}

static void add_any(struct flextrace_args *args, struct slow_args *slow, uint64_t *random)
{
	uint64_t bits = any_number(random);
	char key[300], value[300];
	double real;
	size_t n;

	memset(key, 'k', sizeof(key));
	key[next_random(random) % 16 ? bits % 12 : bits % sizeof(key)] = '\0';
	for (size_t i = 0; i < sizeof(value); i++)
		value[i] = (char)(1 + next_random(random) % 127); /* 0x1e and 0x1f, too */
	n = next_random(random) % (next_random(random) % 4 ? 20 : sizeof(value));
	value[n] = '\0';
	switch (next_random(random) % 8) {
	case 0:
		flextrace_args_add_bool(args, key, (int)(bits % 3));
		return slow_add_number(slow, 'b', key, bits % 3 != 0);
	case 1:
		flextrace_args_add_i64(args, key, (int64_t)bits);
		return slow_add_number(slow, 'i', key, bits);
	case 2:
		flextrace_args_add_u64(args, key, bits);
		return slow_add_number(slow, 'u', key, bits);
	case 3:
		memcpy(&real, &bits, sizeof(real));
		flextrace_args_add_double(args, key, real);
		return slow_add_number(slow, 'd', key, bits);
	case 4:
		flextrace_args_add_pointer(args, key, (const void *)(uintptr_t)bits);
		return slow_add_number(slow, 'p', key, bits);
	case 5:
		flextrace_args_add_text(args, key, value, n + bits % 3);
		return slow_add_text(slow, key, value);
	case 6:
		flextrace_args_add_string(args, key, n ? value : NULL);
		return slow_add_text(slow, key, value);
	default:
		flextrace_args_add_bytes(args, key, value, n);
		return slow_add_bytes(slow, key, value, n);
	}
}

static void test_args__are_the_text_that_the_format_says(void **state)
{
	uint64_t random = 88172645463325252;

	for (int round = 0; round < 20000; round++) {
		struct flextrace_args args = FLEXTRACE_ARGS_INIT;
		struct slow_args slow = {"", 0, 0};

		for (uint64_t n = next_random(&random) % 14; n > 0; n--) {
			add_any(&args, &slow, &random);
			assert_string_equal(args.text, slow.text);
			assert_int_equal(args.n_bytes, slow.n_bytes);
			assert_int_equal(args.n_left_out, slow.n_left_out);
		}
	}
	(void)state;
}

/* Each value behind keys of each length: at every distance from the end of the text. */
static void test_args__end_at_every_byte(void **state)
{
	char key[FLEXTRACE_ARGS_TEXT_BYTES + 8] = "", value[40];

	memset(value, 'v', sizeof(value));
	for (size_t n_value = 0; n_value < sizeof(value); n_value++) {
		char text[sizeof(value) + 1] = "";

		memcpy(text, value, n_value);
		for (size_t n_key = 0; n_key < sizeof(key) - 1; n_key++) {
			struct flextrace_args args[3] = {FLEXTRACE_ARGS_INIT, FLEXTRACE_ARGS_INIT,
			                                 FLEXTRACE_ARGS_INIT};
			struct slow_args slow[3] = {{"", 0, 0}, {"", 0, 0}, {"", 0, 0}};

			memset(key, 'k', n_key);
			key[n_key] = '\0';
			flextrace_args_add_string(&args[0], key, text);
			slow_add_text(&slow[0], key, text);
			flextrace_args_add_bytes(&args[1], key, text, n_value);
			slow_add_bytes(&slow[1], key, text, n_value);
			flextrace_args_add_u64(&args[2], key, n_value * n_value * n_value);
			slow_add_number(&slow[2], 'u', key, n_value * n_value * n_value);
			for (int i = 0; i < 3; i++)
				assert_string_equal(args[i].text, slow[i].text);
		}
	}
	(void)state;
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
		cmocka_unit_test(test_args__are_the_text_that_the_format_says),
		cmocka_unit_test(test_args__end_at_every_byte),
		cmocka_unit_test_setup_teardown(test_args__count_what_is_none_of_ours, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
