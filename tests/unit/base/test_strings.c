/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text/strings.h"

static uint32_t intern(struct string_cache *cache, const char *text)
{
	uint32_t id;

	assert_int_equal(string_intern(cache, text, &id), 0);
	return id;
}

static void test_strings__gives_equal_strings_one_id(void **state)
{
	struct string_pool *pool = string_pool_new();
	struct string_cache a, b;

	(void)state;
	string_cache_init(&a, pool);
	string_cache_init(&b, pool);
	assert_int_equal(intern(&a, "kernel"), intern(&b, "kernel"));
	assert_int_equal(intern(&a, "kernel"), intern(&a, "kernel"));
	assert_int_not_equal(intern(&a, "kernel"), intern(&b, "kernels"));
	assert_int_not_equal(intern(&a, "kernel"), intern(&b, "kerne"));
	string_cache_release(&a);
	string_cache_release(&b);
	string_pool_free(pool);
}

static void test_strings__calls_nothing_the_empty_string(void **state)
{
	struct string_pool *pool = string_pool_new();
	struct string_cache cache;

	(void)state;
	string_cache_init(&cache, pool);
	assert_int_equal(intern(&cache, NULL), 0);
	assert_int_equal(intern(&cache, ""), 0);
	assert_string_equal(string_get(pool, 0), "");
	assert_int_equal(string_length(pool, 0), 0);
	string_cache_release(&cache);
	string_pool_free(pool);
}

static void test_strings__takes_a_guess_only_where_it_is_right(void **state)
{
	struct string_pool *pool = string_pool_new();
	struct string_cache cache;
	uint32_t a, b, id = 0;

	(void)state;
	string_cache_init(&cache, pool);
	a = intern(&cache, "a.c");
	b = intern(&cache, "b.c");
	for (int round = 0; round < 2; round++) {
		assert_int_equal(string_intern_again(&cache, "b.c", &id), 0);
		assert_int_equal(id, b);
	}
	assert_int_equal(string_intern_again(&cache, "a.c", &id), 0);
	assert_int_equal(id, a);
	assert_int_equal(string_intern_again(&cache, "", &id), 0);
	assert_int_equal(id, 0);
	id = a;
	assert_int_equal(string_intern_again(&cache, NULL, &id), 0);
	assert_int_equal(id, 0);
	string_cache_release(&cache);
	string_pool_free(pool);
}

/* Every length up to two words of the hash and beyond; strings that differ in one byte only, at any
 * place. */
static void test_strings__tells_strings_apart_that_differ_in_one_byte(void **state)
{
	struct string_pool *pool = string_pool_new();
	struct string_cache cache;
	char text[64];

	(void)state;
	string_cache_init(&cache, pool);
	for (size_t length = 1; length < 50; length++) {
		uint32_t plain;

		memset(text, 'a', length);
		text[length] = '\0';
		plain = intern(&cache, text);
		assert_int_equal(string_length(pool, plain), length);
		for (size_t place = 0; place < length; place++) {
			text[place] = (char)0xe4;
			assert_int_not_equal(intern(&cache, text), plain);
			text[place] = 'a';
		}
		assert_string_equal(string_get(pool, plain), text);
		assert_int_equal(intern(&cache, text), plain);
	}
	string_cache_release(&cache);
	string_pool_free(pool);
}

static void test_strings__knows_what_no_format_escapes(void **state)
{
	static const struct {
		const char *text;
		bool is_plain;
	} cases[] = {
		{"", true},      {"wait for: [0x7e] ~", true},
		{"a,b", false},  {"\"a\"", false},
		{"it's", false}, {"a\\b", false},
		{"a\nb", false}, {"a\x7f", false},
		{"\x1f", false}, {"\xc3\xa4", false},
		{"<", false},    {"=1", false},
		{"+", false},    {"-1", false},
		{"@a", false},   {"a=-+@", true},
	};
	struct string_pool *pool = string_pool_new();
	struct string_cache cache;

	(void)state;
	string_cache_init(&cache, pool);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct string_text text = string_text(pool, intern(&cache, cases[i].text));

		assert_string_equal(text.bytes, cases[i].text);
		assert_int_equal(text.length, strlen(cases[i].text));
		assert_int_equal(text.is_plain, cases[i].is_plain);
	}
	string_cache_release(&cache);
	string_pool_free(pool);
}

static void test_strings__keeps_strings_larger_than_its_chunks(void **state)
{
	enum { N_LARGE = 24 };
	struct string_pool *pool = string_pool_new();
	struct string_cache cache;
	const size_t most = 4 << 20;
	char *text = malloc(most + 1), small[32];
	uint32_t larges[N_LARGE], smalls[N_LARGE];

	(void)state;
	assert_non_null(text);
	string_cache_init(&cache, pool);
	memset(text, 'x', most);
	/* around the size of a chunk, of a block, and above, with small ones between them */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < N_LARGE; i++) {
			size_t length = (i % 3 == 0   ? (size_t)64 << 10
			                 : i % 3 == 1 ? (size_t)2 << 20
			                              : most) -
			                4 * i;
			uint32_t large, other;

			text[length] = '\0';
			snprintf(small, sizeof(small), "small %zu", i);
			large = intern(&cache, text);
			other = intern(&cache, small);
			if (round) {
				assert_int_equal(large, larges[i]);
				assert_int_equal(other, smalls[i]);
			}
			assert_int_equal(string_length(pool, large), length);
			assert_string_equal(string_get(pool, large), text);
			assert_string_equal(string_get(pool, other), small);
			larges[i] = large;
			smalls[i] = other;
			text[length] = 'x';
		}
	}
	free(text);
	string_cache_release(&cache);
	string_pool_free(pool);
}

/* More distinct strings than a cache holds: it forgets, the pool does not. */
static void test_strings__outlives_the_limit_of_a_cache(void **state)
{
	struct string_pool *pool = string_pool_new();
	struct string_cache cache;
	const uint32_t n = 200000;
	uint32_t *ids = malloc(n * sizeof(*ids));
	const char *first_text;
	char text[32];

	(void)state;
	assert_non_null(ids);
	string_cache_init(&cache, pool);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%u", i);
		ids[i] = intern(&cache, text);
		if (i == 0)
			first_text = string_get(pool, ids[0]);
	}
	for (uint32_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%u", i);
		assert_int_equal(intern(&cache, text), ids[i]);
		assert_string_equal(string_get(pool, ids[i]), text);
	}
	assert_ptr_equal(string_get(pool, ids[0]), first_text);
	free(ids);
	string_cache_release(&cache);
	string_pool_free(pool);
}

#define N_THREADS 4
#define N_TEXTS   5000

struct worker {
	pthread_t thread;
	struct string_pool *pool;
	uint32_t seed;
	uint32_t ids[N_TEXTS];
	int mistakes;
};

static void *work(void *data)
{
	struct worker *worker = data;
	struct string_cache cache;
	char text[32];

	string_cache_init(&cache, worker->pool);
	for (uint32_t i = 0; i < N_TEXTS; i++) {
		uint32_t k = (i * 7 + worker->seed) % N_TEXTS;

		snprintf(text, sizeof(text), "text %u", k);
		if (string_intern(&cache, text, &worker->ids[k]) ||
		    strcmp(string_get(worker->pool, worker->ids[k]), text))
			worker->mistakes++;
	}
	string_cache_release(&cache);
	return NULL;
}

static void test_strings__agree_between_racing_threads(void **state)
{
	struct string_pool *pool = string_pool_new();
	static struct worker workers[N_THREADS];

	(void)state;
	for (uint32_t i = 0; i < N_THREADS; i++) {
		workers[i] = (struct worker){.pool = pool, .seed = i * 1000};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (uint32_t i = 0; i < N_THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_int_equal(workers[i].mistakes, 0);
		assert_memory_equal(workers[i].ids, workers[0].ids, sizeof(workers[0].ids));
	}
	string_pool_free(pool);
}

/* Strings that begin with a factor of a known hash all have one: each would be compared with all
 * that came before. */
static void test_strings__has_no_strings_that_always_meet(void **state)
{
	static const char *const factors[] = {"\xdb\x28\xb4\xa0\xd1\x7e\x03\xe7",
	                                      "\x2f\x64\xbd\x78\x64\x1d\x76\xa0"};
	struct string_pool *pool = string_pool_new();
	struct string_cache cache;

	(void)state;
	string_cache_init(&cache, pool);
	for (uint32_t i = 0; i < 600000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%s%08x%s", factors[i % 2], i,
		         i % 2 ? "01234567" : "");
		assert_string_equal(string_get(pool, intern(&cache, text)), text);
	}
	string_cache_release(&cache);
	string_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings__gives_equal_strings_one_id),
		cmocka_unit_test(test_strings__calls_nothing_the_empty_string),
		cmocka_unit_test(test_strings__takes_a_guess_only_where_it_is_right),
		cmocka_unit_test(test_strings__tells_strings_apart_that_differ_in_one_byte),
		cmocka_unit_test(test_strings__knows_what_no_format_escapes),
		cmocka_unit_test(test_strings__keeps_strings_larger_than_its_chunks),
		cmocka_unit_test(test_strings__outlives_the_limit_of_a_cache),
		cmocka_unit_test(test_strings__agree_between_racing_threads),
		cmocka_unit_test(test_strings__has_no_strings_that_always_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
