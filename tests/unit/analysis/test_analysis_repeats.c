/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "findings/statistics/repeats.h"

#define N_SMALL 40u /* the search by hand is of the fourth power */

/* Each letter is a name. */
static struct repeat find(const char *text)
{
	uint32_t names[256], n = (uint32_t)strlen(text);
	struct repeat repeat;

	for (uint32_t i = 0; i < n; i++)
		names[i] = (uint8_t)text[i];
	assert_int_equal(repeats_find(names, n, &repeat), 0);
	return repeat;
}

struct repeat_case {
	const char *text;
	struct repeat expected;
};

static const struct repeat_case cases[] = {
	{"", {0, 0, 0}},
	{"a", {0, 0, 0}},
	{"ab", {0, 0, 0}},
	{"abcdefgh", {0, 0, 0}},
	{"aa", {0, 2, 1}},
	{"aaaaaaa", {0, 7, 1}},
	{"xaaa", {1, 3, 1}},
	{"aaax", {0, 3, 1}},
	{"abab", {0, 4, 2}},
	{"ababa", {0, 5, 2}},
	{"abcabc", {0, 6, 3}},
	{"aabaabaab", {0, 9, 3}},       /* and not the inner aa */
	{"xyaabaabaabaaz", {2, 11, 3}}, /* the last turn is cut short */
	{"wvabcabcabcuts", {2, 9, 3}},  /* before and behind */
	{"abcabcxababababab", {7, 10, 2}},
	{"abababxcdcdcd", {0, 6, 2}}, /* equally long: the first */
	{"ababcababcababc", {0, 15, 5}},
	{"abcaadefg", {0, 0, 0}}, /* too little to be a loop */
	{"abcaadef", {3, 2, 1}},
};

static void test_repeats__are_the_longest_part_of_the_shortest_period(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct repeat repeat = find(cases[i].text);

		if (memcmp(&repeat, &cases[i].expected, sizeof(repeat)) != 0)
			fail_msg("%s: %u names from %u of period %u", cases[i].text, repeat.n,
			         repeat.first, repeat.period);
	}
}

/* The same by trying all. */
static struct repeat find_by_hand(const uint32_t *names, uint32_t n)
{
	struct repeat best = {0};

	for (uint32_t p = 1; 2 * p <= n; p++) {
		for (uint32_t first = 0; first + 2 * p <= n; first++) {
			uint32_t end = first + p;

			while (end < n && names[end] == names[end - p])
				end++;
			if (end - first >= 2 * p && end - first > best.n)
				best = (struct repeat){first, end - first, p};
		}
	}
	return 4 * best.n >= n ? best : (struct repeat){0};
}

static void test_repeats__agree_with_a_search_by_hand(void **state)
{
	uint32_t names[N_SMALL];
	uint64_t random = 1;

	(void)state;
	for (uint32_t round = 0; round < 3000; round++) {
		uint32_t n = round % (N_SMALL + 1), n_letters = 1 + round % 4, best_n;
		struct repeat repeat, expected;

		for (uint32_t i = 0; i < n; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			names[i] = (uint32_t)(random >> 33) % n_letters;
		}
		assert_int_equal(repeats_find(names, n, &repeat), 0);
		expected = find_by_hand(names, n);
		best_n = expected.n;
		assert_int_equal(repeat.n, best_n);
		assert_int_equal(repeat.period, expected.period);
		assert_int_equal(repeat.first, expected.first);
	}
}

/* Any quarter is found wherever it lies. */
static void test_repeats__are_found_wherever_they_lie(void **state)
{
	const uint32_t n = 4096, n_part = n / 4;
	uint32_t *names = malloc(n * sizeof(*names));

	(void)state;
	assert_non_null(names);
	for (uint32_t first = 0; first + n_part <= n; first += 7) {
		struct repeat repeat;

		for (uint32_t i = 0; i < n; i++)
			names[i] = i >= first && i < first + n_part ? n + (i - first) % 9 : i;
		assert_int_equal(repeats_find(names, n, &repeat), 0);
		assert_int_equal(repeat.first, first);
		assert_int_equal(repeat.n, n_part);
		assert_int_equal(repeat.period, 9);
	}
	free(names);
}

/* Fills `names` so that nothing, or nearly everything, repeats: quadratic work would not end. */
typedef uint32_t name_at(uint32_t i);

static uint32_t never(uint32_t i)
{
	return i;
}

static uint32_t always(uint32_t i)
{
	(void)i;
	return 7;
}

static uint32_t but_for_one(uint32_t i)
{
	return i % 1000 == 999 ? i : 7;
}

/* A word without any square but of short ones: Fibonacci's. */
static uint32_t fibonacci(uint32_t i)
{
	const double phi = 0.6180339887498949;

	return (uint32_t)((i + 2) * phi) - (uint32_t)((i + 1) * phi);
}

static void test_repeats__of_a_million_names_take_linear_time(void **state)
{
	static name_at *const kinds[] = {never, always, but_for_one, fibonacci};
	const uint32_t n = 1000000;
	uint32_t *names = malloc(n * sizeof(*names));
	struct repeat repeat;

	(void)state;
	assert_non_null(names);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (uint32_t i = 0; i < n; i++)
			names[i] = kinds[k](i);
		assert_int_equal(repeats_find(names, n, &repeat), 0);
		if (kinds[k] == never || kinds[k] == but_for_one)
			assert_int_equal(repeat.period, 0);
		if (kinds[k] == always)
			assert_int_equal(repeat.n, n);
	}
	free(names);
}

static void test_turns__are_found_one_behind_the_other(void **state)
{
	static const struct {
		const char *turn, *text, *ends;
	} turns[] = {
		{"a", "abaa", "1.11"},
		{"ab", "abxabab", ".1..1.1"},
		{"aab", "aaabaab", "...1..1"}, /* a longer start falls back */
		{"aba", "ababa", "..1.."},     /* they do not overlap */
		{"abcabd", "abcabcabd", "........1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		struct turn_matcher matcher;
		uint32_t names[16], n = (uint32_t)strlen(turns[i].turn);

		for (uint32_t k = 0; k < n; k++)
			names[k] = (uint8_t)turns[i].turn[k];
		assert_int_equal(turn_matcher_init(&matcher, names, n), 0);
		for (uint32_t k = 0; turns[i].text[k]; k++)
			assert_int_equal(turn_matcher_push(&matcher, (uint8_t)turns[i].text[k]),
			                 turns[i].ends[k] == '1');
		turn_matcher_release(&matcher);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeats__are_the_longest_part_of_the_shortest_period),
		cmocka_unit_test(test_repeats__agree_with_a_search_by_hand),
		cmocka_unit_test(test_repeats__are_found_wherever_they_lie),
		cmocka_unit_test(test_repeats__of_a_million_names_take_linear_time),
		cmocka_unit_test(test_turns__are_found_one_behind_the_other),
	};

	return cmocka_run_group_tests_name("analysis_repeats", tests, NULL, NULL);
}
