/* SPDX-License-Identifier: Apache-2.0 */
/* power.csv and the counter Power. A cycle is 1 ns, so that us and cycle differ by 1000. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "findings/power.h"
#include "analysis_fixture.h"
#include "counters_only.h"

#define HEADER                                                                               \
	"rank,host,pid,device,part,name,unit,calls,stretches,measured_ns,joules,mean_watts," \
	"min_watts,median_watts,max_watts,unclear,implausible\n"
#define US                1000
/* Counts of a stretch: W at 12 V and 1/512 uC, for us. */
#define COUNTS(watts, us) ((uint32_t)((watts) * (us)*512 / 12))

struct power_test {
	struct analysis_test analysis;
	struct power power;
	struct power_samples *samples;
	uint32_t counts;
};

static int start(void **state)
{
	struct power_test *test = calloc(1, sizeof(*test));
	struct timeline_fixture *fixture = &test->analysis.fixture;

	*state = test;
	analysis_test_init(&test->analysis);
	fixture_device(fixture, fixture_process(fixture, 3, 77, "app"), 0, "AIU");
	fixture_device(fixture, fixture_process(fixture, 4, 78, "app"), 0, "AIU");
	fixture->timeline.has.power = true;
	test->counts = 4000000000u; /* wraps soon */
	return 0;
}

static int stop(void **state)
{
	struct power_test *test = *state;

	power_samples_free(test->samples, test->power.n_devices);
	power_release(&test->power);
	analysis_test_release(&test->analysis);
	free(test);
	return 0;
}

/* A control block that is done (TS4) at its end. */
static struct tick_op *add(struct power_test *test, uint32_t device, uint8_t kind, const char *name,
                           int64_t start_ns, int64_t end_ns)
{
	struct tick_op *op = analysis_test_row(&test->analysis, device, kind, name, start_ns,
	                                       end_ns);

	op->ticks[3] = (uint64_t)end_ns;
	op->power = test->counts;
	return op;
}

static void find(struct power_test *test, enum power_unit unit)
{
	struct timeline_fixture *fixture = &test->analysis.fixture;

	power_samples_free(test->samples, test->power.n_devices);
	power_release(&test->power);
	assert_int_equal(power_find(&test->power, &test->samples, &fixture->timeline, unit), 0);
	fixture->findings.power = &test->power;
}

static void expect(struct power_test *test, const char *lines)
{
	char expected[2048] = HEADER, *copy = strdup(lines), *rest;
	size_t n = strlen(expected);

	assert_non_null(copy);
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		n += (size_t)snprintf(expected + n, sizeof(expected) - n, "3,\"node,1\",77,0,%s\n",
		                      line);
	free(copy);
	analysis_test_expect(&test->analysis, "power", expected);
}

/* Idle at 3 W for 100 us, a kernel of 100 us at 24 W, 200 us at 6 W of which a kernel takes the
 * last 50. The counter wraps on the way. */
static void add_three_stretches(struct power_test *test)
{
	add(test, 0, ROW_MEMCPY_HTOD, "in", 0, 100 * US);
	test->counts += COUNTS(3, 100);
	add(test, 0, ROW_MEMCPY_HTOD, "in", 100 * US, 200 * US);
	test->counts += COUNTS(24, 100);
	add(test, 0, ROW_EXEC, "a", 200 * US, 300 * US);
	test->counts += COUNTS(6, 200);
	add(test, 0, ROW_EXEC, "b", 450 * US, 500 * US);
}

static void test_power__is_weighted_by_time(void **state)
{
	struct power_test *test = *state;

	test->counts = UINT32_MAX - COUNTS(3, 100) - 10; /* wraps in the second stretch */
	add_three_stretches(test);
	find(test, POWER_PER_US);
	expect(test, "all,,us,,3,400000,0.003900,9.750,3.000,6.000,24.000,0,0\n"
	             "with_kernels,,us,,2,150000,0.002700,18.000,6.000,24.000,24.000,,\n"
	             "without_kernels,,us,,2,250000,0.001200,4.800,3.000,6.000,6.000,,\n"
	             "kernel,a,us,1,1,100000,0.002400,24.000,,,,,\n"
	             "kernel,b,us,1,1,50000,0.000300,6.000,,,,,\n");
}

static void test_power__of_a_cycle_is_less_than_of_a_us(void **state)
{
	struct power_test *test = *state;

	add(test, 0, ROW_EXEC, "a", 0, 100 * US);
	test->counts += COUNTS(12, 100) * 1000u;
	add(test, 0, ROW_EXEC, "a", 100 * US, 200 * US);
	find(test, POWER_PER_CYCLE);
	assert_true(fabs(test->power.devices[0].levels[0].watts - 12) < 1e-9);
	find(test, POWER_AUTO); /* 12 kW cannot be */
	assert_int_equal(test->power.devices[0].unit, POWER_PER_CYCLE);
	assert_true(fabs(test->power.devices[0].levels[0].watts - 12) < 1e-9);
	find(test, POWER_PER_US);
	assert_true(isnan(test->power.devices[0].levels[0].watts));
	assert_int_equal(test->power.devices[0].n_implausible, 1);
}

static void test_power__is_in_the_unit_of_the_device(void **state)
{
	struct power_test *test = *state;
	struct timeline_fixture *fixture = &test->analysis.fixture;

	add(test, 0, ROW_EXEC, "a", 0, 100 * US);
	add(test, 1, ROW_EXEC, "a", 0, 100 * US);
	test->counts += 5000; /* uJ in 100 us: 50 W; 1/512 uC: 1.17 W */
	add(test, 0, ROW_EXEC, "a", 100 * US, 200 * US);
	add(test, 1, ROW_EXEC, "a", 100 * US, 200 * US);
	fixture->devices[0].power_unit = fixture_string(fixture, "uJ");
	fixture->devices[1].power_unit = fixture_string(fixture, "bananas");
	find(test, POWER_AUTO);
	assert_true(fabs(test->power.devices[0].levels[0].watts - 50) < 1e-9);
	assert_int_equal(test->power.devices[1].unit, POWER_NO_UNIT);
	assert_true(isnan(test->power.devices[1].levels[0].watts));
	find(test, POWER_PER_US);
	assert_true(fabs(test->power.devices[1].levels[0].watts - 1.171875) < 1e-9);
}

struct sample_case {
	const char *title;
	int64_t ns[3]; /* of the samples */
	uint32_t counts[3];
	double watts[2]; /* negative: not known */
	uint64_t n_samples, n_unclear, n_implausible;
};

/* 2^32 counts are 100 W for 1006632.96 us. */
static const struct sample_case cases[] = {
	{"idle", {1000, 2000, 3000}, {512, 512, 1024}, {0, 12}, 3, 0, 0},
	{"not sampled", {1000, 2000, 3000}, {512, 0, 1536}, {12}, 2, 0, 0},
	{"at one time", {1000, 1000, 2000}, {512, 700, 1024}, {12}, 2, 0, 0},
	{"a wrap", {1000, 2000, 3000}, {UINT32_MAX - 255, 256, 768}, {12, 12}, 3, 0, 0},
	{"perhaps a wrap", {1000, 1006634000, 1006635000}, {512, 512, 1024}, {-1, 12}, 3, 1, 0},
	{"no wrap", {1000, 1006633000, 1006634000}, {512, 1024, 1536}, {1.192e-5, 12}, 3, 0, 0},
	{"a reset", {1000, 2000, 3000}, {100000, 512, 1024}, {-1, 12}, 3, 0, 1},
	{"one alone", {0, 0, 1000}, {0, 0, 512}, {0}, 1, 0, 0},
};

static void test_power__knows_what_it_cannot_know(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *each;
		struct power_test *test;
		const struct power_device *device;

		start(&each);
		test = each;
		for (int k = 0; k < 3; k++) {
			test->counts = cases[i].counts[k];
			add(test, 0, ROW_EXEC, "a", cases[i].ns[k], cases[i].ns[k]);
		}
		find(test, POWER_PER_US);
		device = &test->power.devices[0];
		if (device->n != cases[i].n_samples || device->n_unclear != cases[i].n_unclear ||
		    device->n_implausible != cases[i].n_implausible)
			fail_msg("%s", cases[i].title);
		for (uint32_t k = 0; k + 1 < device->n; k++) {
			double watts = device->levels[k].watts;

			if (cases[i].watts[k] < 0 ? !isnan(watts)
			                          : fabs(watts - cases[i].watts[k]) > 1e-6)
				fail_msg("%s: %g", cases[i].title, watts);
		}
		stop(&each);
	}
}

/* Kernels that nest or run at a time are covered once, and each has all of its energy. */
static void test_power__of_kernels_side_by_side_is_shown_for_each(void **state)
{
	struct power_test *test = *state;

	add(test, 0, ROW_EXEC, "z", US, US);
	analysis_test_row(&test->analysis, 0, ROW_EXEC, "a", 11 * US, 61 * US);
	analysis_test_row(&test->analysis, 0, ROW_EXEC, "b", 21 * US, 41 * US);
	test->counts += COUNTS(12, 100);
	add(test, 0, ROW_EXEC, "c", 51 * US, 101 * US);
	analysis_test_row(&test->analysis, 0, ROW_EXEC, "d", 200 * US, 300 * US); /* behind all */
	find(test, POWER_PER_US);
	expect(test, "all,,us,,1,100000,0.001200,12.000,12.000,12.000,12.000,0,0\n"
	             "with_kernels,,us,,1,90000,0.001080,12.000,12.000,12.000,12.000,,\n"
	             "without_kernels,,us,,1,10000,0.000120,12.000,12.000,12.000,12.000,,\n"
	             "kernel,a,us,1,1,50000,0.000600,12.000,,,,,\n"
	             "kernel,c,us,1,1,50000,0.000600,12.000,,,,,\n"
	             "kernel,b,us,1,1,20000,0.000240,12.000,,,,,\n"
	             "kernel,d,us,1,0,0,0.000000,,,,,,\n"
	             "kernel,z,us,1,0,0,0.000000,,,,,,\n");
}

/* -- many stretches, told us by us ------------------------------------------------------------- */

/* Times are from 1 us on: a stamp of 0 was not taken. */
#define N_US    3000
#define MOST_US 12 /* of a stretch */

struct each_us {
	uint32_t watts[N_US]; /* multiples of 3, whose counts are whole */
	bool is_covered[N_US];
	uint32_t n_us; /* up to the last sample */
	uint64_t kernel_us, kernel_uj;
	uint32_t n_kernels;
};

static uint32_t draw(uint64_t *random, uint32_t below)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*random >> 33) % below;
}

static void cover_us(struct each_us *each, uint32_t from, uint32_t n)
{
	each->n_kernels++;
	for (uint32_t i = from; i < from + n; i++) {
		each->kernel_uj += each->watts[i];
		each->kernel_us++;
		each->is_covered[i] = true;
	}
}

/* Samples, and kernels, short ones and such that go on for long. */
static void add_many(struct power_test *test, struct each_us *each)
{
	uint64_t random = 1;
	uint32_t n, watts;

	for (uint32_t at = 0; at + MOST_US <= N_US; at += n) {
		n = 1 + draw(&random, MOST_US);
		watts = 3 * (1 + draw(&random, 30));
		for (uint32_t i = at; i < at + n; i++)
			each->watts[i] = watts;
		each->n_us = at + n;
	}
	for (uint32_t at = 0; at <= each->n_us; at++) {
		if (at == 0 || at == each->n_us || each->watts[at] != each->watts[at - 1])
			add(test, 0, ROW_MEMCPY_HTOD, "in", (at + 1) * US, (at + 1) * US);
		if (at < each->n_us && draw(&random, 20) == 0) {
			n = 1 + draw(&random, draw(&random, 8) ? 20 : 1000);
			n = n < each->n_us - at ? n : each->n_us - at;
			analysis_test_row(&test->analysis, 0, ROW_EXEC, "k", (at + 1) * US,
			                  (at + n + 1) * US);
			cover_us(each, at, n);
		}
		test->counts += at < each->n_us ? COUNTS(each->watts[at], 1) : 0;
	}
}

/* Adds up the us with or without kernels; the median: half of them or more are at most that. */
static void sum_us(const struct each_us *each, bool is_covered, uint32_t *ret_n, uint32_t *ret_uj,
                   uint32_t *ret_median)
{
	uint32_t n_of[100] = {0}, below = 0;

	*ret_n = *ret_uj = *ret_median = 0;
	for (uint32_t i = 0; i < each->n_us; i++) {
		if (each->is_covered[i] != is_covered)
			continue;
		n_of[each->watts[i]]++;
		(*ret_n)++;
		*ret_uj += each->watts[i];
	}
	while (2 * (below + n_of[*ret_median]) < *ret_n)
		below += n_of[(*ret_median)++];
}

static void expect_part(const struct each_us *each, bool is_covered, const char *text)
{
	const char *line = strstr(text, is_covered ? ",with_kernels," : ",without_kernels,");
	uint32_t n, uj, median;
	double ns, joules, of_text;

	assert_non_null(line);
	assert_int_equal(
		sscanf(line, ",%*[a-z_],,us,,%*u,%lf,%lf,%*f,%*f,%lf,", &ns, &joules, &of_text), 3);
	sum_us(each, is_covered, &n, &uj, &median);
	assert_true(ns == n * (double)US);
	assert_true(fabs(joules - uj / 1e6) < 1e-6);
	assert_true(of_text == median);
}

static void test_power__of_many_stretches_is_the_sum_of_all_us(void **state)
{
	struct power_test *test = *state;
	struct each_us *each = calloc(1, sizeof(*each));
	char *text, line[128];

	assert_non_null(each);
	test->counts = 1;
	add_many(test, each);
	find(test, POWER_PER_US);
	text = analysis_test_write(&test->analysis, "power");
	expect_part(each, false, text);
	expect_part(each, true, text);
	snprintf(line, sizeof(line), ",kernel,k,us,%u,%u,%llu,%.6f,", each->n_kernels,
	         each->n_kernels, (unsigned long long)each->kernel_us * US,
	         (double)each->kernel_uj / 1e6);
	assert_non_null(strstr(text, line));
	free(text);
	free(each);
}

static void test_power__is_nothing_without_samples(void **state)
{
	struct power_test *test = *state;

	expect(test, "");
	add(test, 0, ROW_EXEC, "a", 0, 100 * US);
	find(test, POWER_AUTO);
	expect(test, "");
	test->analysis.fixture.timeline.has.power = false; /* says derive */
	find(test, POWER_AUTO);
	assert_int_equal(test->power.n_devices, 0);
	expect(test, "");
}

static struct table find_counter(struct power_test *test)
{
	const struct counters_input input = {.timeline = &test->analysis.fixture.timeline,
	                                     .power = &test->power,
	                                     .samples = test->samples,
	                                     .strings = &test->analysis.fixture.cache};
	struct table counters = TABLE_INIT;

	assert_int_equal(counters_find_only(input, COUNTER_POWER, &counters), 0);
	return counters;
}

static void expect_counter(struct power_test *test, const char *expected)
{
	struct timeline *timeline = &test->analysis.fixture.timeline;
	struct table counters = find_counter(test);
	char text[512] = "";
	struct table_cursor cursor;
	const struct counter_row *row;
	size_t n = 0;

	table_read(&cursor, &counters, false);
	while ((row = table_next(&cursor, sizeof(*row)))) {
		assert_string_equal(string_get(timeline->strings, row->name), "Power");
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%lld %u=%g; ",
		                      (long long)row->time_ns, row->owner, row->value);
	}
	assert_string_equal(text, expected);
	table_release(&counters);
}

static void test_power__is_a_counter_of_each_device(void **state)
{
	struct power_test *test = *state;

	test->counts = 1;
	add(test, 0, ROW_EXEC, "a", 0, 100);
	add(test, 1, ROW_EXEC, "a", 0, 150);
	test->counts += 512;
	add(test, 0, ROW_EXEC, "a", 100, 1100);
	add(test, 1, ROW_EXEC, "a", 100, 650);
	add(test, 0, ROW_EXEC, "a", 100, 2100);
	test->counts += 1000000; /* too much */
	add(test, 0, ROW_EXEC, "a", 2100, 3100);
	add(test, 0, ROW_EXEC, "a", 3100, 4100);
	find(test, POWER_PER_US);
	expect_counter(test, "100 0=12; 150 1=24; 650 1=0; 1100 0=0; 2100 0=0; 3100 0=0; "
	                     "4100 0=0; ");
}

/* Of a single device samples are in order, but others may stand between them. */
static void test_power__stands_among_the_other_counters(void **state)
{
	static const int64_t alone_ns[] = {100, 1100, 2100}, among_ns[] = {100, 500, 1100, 2100};
	struct timeline *timeline = &((struct power_test *)*state)->analysis.fixture.timeline;
	struct power_test *test = *state;

	for (int has_other = 0; has_other < 2; has_other++) {
		const int64_t *expected_ns = has_other ? among_ns : alone_ns;
		struct table_cursor cursor;
		struct table counters;
		const struct counter_row *row;

		table_release(&timeline->counters);
		if (has_other)
			fixture_counter(&test->analysis.fixture,
			                (struct counter_row){.time_ns = 500});
		for (int i = 0; i < 3 && !has_other; i++) {
			test->counts += 512;
			add(test, 0, ROW_EXEC, "a", 1000 * i, 1000 * i + 100);
		}
		find(test, POWER_PER_US);
		counters = find_counter(test);
		assert_int_equal(counters.n_rows, 3 + has_other);
		table_read(&cursor, &counters, false);
		while ((row = table_next(&cursor, sizeof(*row))))
			assert_int_equal(row->time_ns, *expected_ns++);
		table_release(&counters);
	}
}

static void test_power__units_have_names(void **state)
{
	enum power_unit unit;

	(void)state;
	for (uint8_t i = POWER_PER_US; i <= POWER_MICROJOULE; i++) {
		assert_true(power_unit_read(power_unit_name(i), &unit));
		assert_int_equal(unit, i);
	}
	assert_false(power_unit_read("", &unit));
	assert_false(power_unit_read("W", &unit));
	assert_string_equal(power_unit_name(POWER_NO_UNIT), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_power__##name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_weighted_by_time),
		TEST(of_a_cycle_is_less_than_of_a_us),
		TEST(is_in_the_unit_of_the_device),
		cmocka_unit_test(test_power__knows_what_it_cannot_know),
		TEST(of_kernels_side_by_side_is_shown_for_each),
		TEST(of_many_stretches_is_the_sum_of_all_us),
		TEST(is_nothing_without_samples),
		TEST(is_a_counter_of_each_device),
		TEST(stands_among_the_other_counters),
		cmocka_unit_test(test_power__units_have_names),
	};

	return cmocka_run_group_tests_name("power", tests, NULL, NULL);
}
