/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "options.h"

#define SIZE_MESSAGE "Option `size` takes a size as 1073741824, 512M or 2G: value="

struct values {
	bool flag;
	const char *text;
	struct option_list list;
	int64_t number;
	double real;
	struct option_limit limit;
	uint64_t size_bytes;
};

static const struct option_spec table[] = {
	{"flag", 'f', OPTION_FLAG, offsetof(struct values, flag), NULL, "Flag", 0, 0},
	{"text", 0, OPTION_TEXT, offsetof(struct values, text), "TEXT", "Text", 0, 0},
	{"list", 0, OPTION_LIST, offsetof(struct values, list), "TEXT", "List", 0, 0},
	{"number", 0, OPTION_NUMBER, offsetof(struct values, number), "N", "Number", -5, 5},
	{"real", 0, OPTION_REAL, offsetof(struct values, real), "X", "Real", 0.5, 2},
	{"open", 0, OPTION_REAL, offsetof(struct values, real), "X", "Open", 0, 0},
	{"limit", 0, OPTION_LIMIT, offsetof(struct values, limit), "N", "Limit", 0, 0},
	{"size", 0, OPTION_SIZE, offsetof(struct values, size_bytes), "SIZE", "Size", 0, 0},
	{"budget", 0, OPTION_BUDGET, offsetof(struct values, limit), "SIZE", "Budget", 0, 0},
	{NULL, 0, OPTION_FLAG, 0, NULL, NULL, 0, 0},
};

static int parse(const char *name, const char *text, struct values *values,
                 struct flextrace_error *error)
{
	const struct option_spec *spec = option_find(table, name);

	assert_non_null(spec);
	return option_parse(spec, text, values, error);
}

static void test_options__fills_the_member_of_each_type(void **state)
{
	struct values values = {0};

	(void)state;
	assert_int_equal(parse("flag", NULL, &values, NULL), 0);
	assert_int_equal(parse("text", "out dir", &values, NULL), 0);
	assert_int_equal(parse("number", "-5", &values, NULL), 0);
	assert_int_equal(parse("real", "1.25", &values, NULL), 0);
	assert_int_equal(parse("limit", "7", &values, NULL), 0);
	assert_true(values.flag);
	assert_string_equal(values.text, "out dir");
	assert_int_equal(values.number, -5);
	assert_true(values.real == 1.25);
	assert_true(values.limit.is_set && values.limit.value == 7);
}

static void test_options__collects_a_repeated_list_in_order(void **state)
{
	struct values values = {0};

	(void)state;
	assert_int_equal(parse("list", "a", &values, NULL), 0);
	assert_int_equal(parse("list", "b", &values, NULL), 0);
	assert_int_equal(values.list.n, 2);
	assert_string_equal(values.list.texts[0], "a");
	assert_string_equal(values.list.texts[1], "b");
	options_release(table, &values);
	assert_int_equal(values.list.n, 0);
}

static void test_options__a_limit_without_a_number_is_zero(void **state)
{
	struct values values = {0};

	(void)state;
	assert_int_equal(parse("limit", NULL, &values, NULL), 0);
	assert_true(values.limit.is_set);
	assert_int_equal(values.limit.value, 0);
}

static void test_options__a_size_has_units_of_1024(void **state)
{
	static const struct {
		const char *text;
		uint64_t n_bytes;
	} cases[] = {{"0", 0},
	             {"4096", 4096},
	             {"3K", 3 << 10},
	             {"512M", UINT64_C(512) << 20},
	             {"512m", UINT64_C(512) << 20},
	             {"2G", UINT64_C(2) << 30},
	             {"1T", UINT64_C(1) << 40}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct values values = {0};

		assert_int_equal(parse("size", cases[i].text, &values, NULL), 0);
		assert_int_equal(values.size_bytes, cases[i].n_bytes);
		assert_int_equal(parse("budget", cases[i].text, &values, NULL), 0);
		assert_true(values.limit.is_set);
		assert_int_equal(values.limit.value, cases[i].n_bytes);
	}
}

static void test_options__a_budget_needs_no_size(void **state)
{
	struct values values = {0};

	(void)state;
	assert_int_equal(parse("budget", NULL, &values, NULL), 0);
	assert_true(values.limit.is_set && values.limit.value == 0);
}

static void test_options__refuses_what_is_not_of_its_type_or_range(void **state)
{
	static const struct {
		const char *name, *text, *message;
	} cases[] = {
		{"flag", "maybe", "Option `flag` takes yes or no: value=maybe"},
		{"text", NULL, "Option `text` takes a text"},
		{"text", "", "Option `text` must not be empty"},
		{"list", "", "Option `list` must not be empty"},
		{"number", "6", "Option `number` is out of range: value=6, min=-5, max=5"},
		{"number", "1x", "Option `number` takes a whole number: value=1x"},
		{"number", "", "Option `number` takes a whole number: value="},
		{"number", "99999999999999999999",
	         "Option `number` takes a whole number: "
	         "value=99999999999999999999"},
		{"real", "nan", "Option `real` is out of range: value=nan, min=0.5, max=2"},
		{"real", "0.4", "Option `real` is out of range: value=0.4, min=0.5, max=2"},
		{"real", "x", "Option `real` takes a number: value=x"},
		{"open", "-1", "Option `open` must not be negative: value=-1"},
		{"open", "inf", "Option `open` must not be negative: value=inf"},
		{"limit", "-1", "Option `limit` must not be negative: value=-1"},
		{"limit", "many", "Option `limit` takes a switch or a count: value=many"},
		{"budget", "1X",
	         "Option `budget` takes a switch or a size as 67108864, 64M or 1G: value=1X"},
		{"size", "M", SIZE_MESSAGE "M"},
		{"size", "", SIZE_MESSAGE},
		{"size", "-1", SIZE_MESSAGE "-1"},
		{"size", "1MB", SIZE_MESSAGE "1MB"},
		{"size", "1.5G", SIZE_MESSAGE "1.5G"},
		{"size", "9007199254740992K", SIZE_MESSAGE "9007199254740992K"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct values values = {.number = 1, .real = 1};
		struct values before = values;
		struct flextrace_error error = {0};

		assert_int_equal(parse(cases[i].name, cases[i].text, &values, &error),
		                 FLEXTRACE_E_USAGE);
		assert_int_equal(error.code, FLEXTRACE_E_USAGE);
		assert_string_equal(error.message, cases[i].message);
		assert_memory_equal(&values, &before, sizeof(values));
	}
}

static void test_options__typed_values_serve_every_type_that_can_hold_them(void **state)
{
	struct values values = {0};

	(void)state;
	assert_int_equal(option_set_number(option_find(table, "real"), 2, &values, NULL), 0);
	assert_true(values.real == 2.0);
	assert_int_equal(option_set_flag(option_find(table, "limit"), true, &values, NULL), 0);
	assert_true(values.limit.is_set);
	assert_int_equal(option_set_flag(option_find(table, "limit"), false, &values, NULL), 0);
	assert_false(values.limit.is_set);
	assert_int_equal(option_set_number(option_find(table, "size"), 4096, &values, NULL), 0);
	assert_int_equal(values.size_bytes, 4096);
	assert_int_equal(option_set_flag(option_find(table, "real"), true, &values, NULL),
	                 FLEXTRACE_E_USAGE);
	assert_int_equal(option_set_real(option_find(table, "number"), 1.0, &values, NULL),
	                 FLEXTRACE_E_USAGE);
	assert_int_equal(option_set_text(option_find(table, "flag"), "yes", &values, NULL),
	                 FLEXTRACE_E_USAGE);
	assert_int_equal(option_set_number(option_find(table, "text"), 1, &values, NULL),
	                 FLEXTRACE_E_USAGE);
}

static void test_options__the_table_of_conversions_is_complete(void **state)
{
	static const char *const names[] = {"output-dir",
	                                    "formats",
	                                    "gzip",
	                                    "rho-ppm",
	                                    "nominal-mhz",
	                                    "nominal-ppm",
	                                    "latency-floor-ns",
	                                    "max-dispatch-ns",
	                                    "clocks",
	                                    "reference-rank",
	                                    "no-align",
	                                    "session",
	                                    "names",
	                                    "compiler-info",
	                                    "kernels-from",
	                                    "freq",
	                                    "ranks",
	                                    "jobs",
	                                    "time-range",
	                                    "keep",
	                                    "drop",
	                                    "drop-globals",
	                                    "skip",
	                                    "count",
	                                    "per-rank",
	                                    "overlap",
	                                    "types",
	                                    "time-unit",
	                                    "profile",
	                                    "without",
	                                    "with",
	                                    "summarize-comm",
	                                    "power-unit",
	                                    "fail-on-loss",
	                                    "memory-limit"};
	size_t n = 0;

	(void)state;
	for (const struct option_spec *spec = conversion_option_table; spec->name; spec++, n++) {
		assert_string_equal(spec->name, names[n]);
		assert_true(spec->help[0] >= 'A' && spec->help[0] <= 'Z');
		assert_true((spec->type == OPTION_FLAG) == (spec->metavar == NULL));
		assert_true(spec->offset < sizeof(struct conversion_options));
	}
	assert_int_equal(n, sizeof(names) / sizeof(names[0]));
	assert_null(option_find(conversion_option_table, "output"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options__fills_the_member_of_each_type),
		cmocka_unit_test(test_options__collects_a_repeated_list_in_order),
		cmocka_unit_test(test_options__a_limit_without_a_number_is_zero),
		cmocka_unit_test(test_options__a_size_has_units_of_1024),
		cmocka_unit_test(test_options__a_budget_needs_no_size),
		cmocka_unit_test(test_options__refuses_what_is_not_of_its_type_or_range),
		cmocka_unit_test(test_options__typed_values_serve_every_type_that_can_hold_them),
		cmocka_unit_test(test_options__the_table_of_conversions_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
