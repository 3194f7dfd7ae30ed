/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "conversion_texts.h"
#include "options.h"
#include "texts.h"

#define SIZE_MESSAGE "Option `size` takes a size as 1073741824, 512M or 2G: value="

struct values {
	bool flag;
	const char *text;
	struct text_list list;
	int64_t number;
	double real;
	struct option_limit limit;
	uint64_t size_bytes;
};

#define AT(member) offsetof(struct values, member)

static const struct option_spec table[] = {
	OPTION("flag", 'f', FLAG, AT(flag), NULL, "Flag"),
	OPTION("text", 0, TEXT, AT(text), "TEXT", "Text"),
	OPTION("word", 0, WORD, AT(text), "TEXT", "Word"),
	OPTION("list", 0, LIST, AT(list), "TEXT", "List"),
	OPTION("number", 0, NUMBER, AT(number), "N", "Number", .min = -5, .max = 5),
	OPTION("real", 0, REAL, AT(real), "X", "Real", .min = 0.5, .max = 2),
	OPTION("open", 0, REAL, AT(real), "X", "Open"),
	OPTION("limit", 0, LIMIT, AT(limit), "N", "Limit"),
	OPTION("size", 0, SIZE, AT(size_bytes), "SIZE", "Size"),
	OPTION("budget", 0, BUDGET, AT(limit), "SIZE", "Budget"),
	{.name = NULL}};

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

static void test_options__of_a_word_the_word_may_be_missing(void **state)
{
	struct values values = {0};

	(void)state;
	assert_int_equal(parse("word", NULL, &values, NULL), 0);
	assert_string_equal(values.text, "auto");
	assert_int_equal(parse("word", "mpich", &values, NULL), 0);
	assert_string_equal(values.text, "mpich");
	assert_int_equal(parse("word", "", &values, NULL), FLEXTRACE_E_USAGE);
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
	assert_int_equal(
		option_set(option_find(table, "real"), OPTION_NUMBER_VALUE(2), &values, NULL), 0);
	assert_true(values.real == 2.0);
	assert_int_equal(
		option_set(option_find(table, "limit"), OPTION_FLAG_VALUE(true), &values, NULL), 0);
	assert_true(values.limit.is_set);
	assert_int_equal(
		option_set(option_find(table, "limit"), OPTION_FLAG_VALUE(false), &values, NULL),
		0);
	assert_false(values.limit.is_set);
	assert_int_equal(
		option_set(option_find(table, "size"), OPTION_NUMBER_VALUE(4096), &values, NULL),
		0);
	assert_int_equal(values.size_bytes, 4096);
	assert_int_equal(
		option_set(option_find(table, "real"), OPTION_FLAG_VALUE(true), &values, NULL),
		FLEXTRACE_E_USAGE);
	assert_int_equal(
		option_set(option_find(table, "number"), OPTION_REAL_VALUE(1.0), &values, NULL),
		FLEXTRACE_E_USAGE);
	assert_int_equal(
		option_set(option_find(table, "flag"), OPTION_TEXT_VALUE("yes"), &values, NULL),
		FLEXTRACE_E_USAGE);
	assert_int_equal(
		option_set(option_find(table, "text"), OPTION_NUMBER_VALUE(1), &values, NULL),
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
	                                    "dialect",
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
	                                    "compat",
	                                    "archive",
	                                    "overlap",
	                                    "types",
	                                    "time-unit",
	                                    "error-bands",
	                                    "compress-packets",
	                                    "profile",
	                                    "without",
	                                    "with",
	                                    "summarize-comm",
	                                    "report-rows",
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

static void expect_told(const struct conversion_options *options, const char *told)
{
	struct text_list texts = {0};
	char all[512] = "";

	assert_int_equal(describe_options(options, &texts), 0);
	for (uint32_t i = 0; i < texts.n; i++) {
		strcat(all, texts.texts[i]);
		strcat(all, "\n");
	}
	assert_string_equal(all, told);
	text_list_release(&texts);
}

/* In run.json. Options of all tables; those that change nothing in the output are left out. */
static void test_options__what_is_not_the_default_is_told(void **state)
{
	struct conversion_options options = CONVERSION_OPTIONS_INIT;
	const char *keep[] = {"kind:a", "name:b"}, *without[] = {"loops"};

	(void)state;
	expect_told(&options, "formats=chrome,csv,report\ngzip=no\nrho-ppm=10\n");
	options.gzip = true;
	options.align.reference_rank = 0;
	options.align.is_off = true;
	options.select.keep = TEXTS(keep, 2);
	options.select.count = 7;
	options.without = TEXTS(without, 1);
	options.memory_limit_bytes = 1;
	options.plain.fail_on_loss.is_set = true;
	options.profile = "p.json";
	options.as = "flex";
	options.findings.aie.M = 8;
	options.findings.aie.iterations = 3;
	options.findings.aie.clock_ghz = 1.5;
	expect_told(&options, "formats=chrome,csv,report\ngzip=yes\nrho-ppm=10\nreference-rank=0\n"
	                      "no-align=yes\nkeep=kind:a,name:b\ncount=7\nas=flex\n"
	                      "clock-ghz=1.5\nM=8\niterations=3\nwithout=loops\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options__fills_the_member_of_each_type),
		cmocka_unit_test(test_options__collects_a_repeated_list_in_order),
		cmocka_unit_test(test_options__a_limit_without_a_number_is_zero),
		cmocka_unit_test(test_options__a_size_has_units_of_1024),
		cmocka_unit_test(test_options__a_budget_needs_no_size),
		cmocka_unit_test(test_options__of_a_word_the_word_may_be_missing),
		cmocka_unit_test(test_options__refuses_what_is_not_of_its_type_or_range),
		cmocka_unit_test(test_options__typed_values_serve_every_type_that_can_hold_them),
		cmocka_unit_test(test_options__the_table_of_conversions_is_complete),
		cmocka_unit_test(test_options__what_is_not_the_default_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
