/* SPDX-License-Identifier: Apache-2.0 */
/* What a user says of clocks: how it is read, and what follows from it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "clock_truth.h"

static const struct clock_scene scene = {
	.seed = 7,
	.n_ops = 3000,
	.hz = 557.1e6,
	.origin_ticks = 0x123456789,
	.origin_ns = 5000000000,
	.mean_period_ns = 10e6,
	.exec_ns = 1e5,
	.floor_submit_ns = 2000,
	.floor_complete_ns = 50000,
	.jitter_ns = 20000,
};

static double run(const struct clock_scene *of, const struct clock_settings *settings,
                  struct clock_verdict *verdict)
{
	struct calibrate_options options = {.all = *settings};
	struct clock_truth truth;
	struct clock_run run;
	double half_width;
	uint32_t n;

	options.all.rho_ppm = DEFAULT_RHO_PPM;
	clock_truth_init(&truth, of);
	clock_run_init(&run);
	clock_run_push_truth(&run, &truth, false);
	clock_run_finish(&run, &options);
	clock_run_judge(&run, &truth, verdict);
	half_width = clocks_report(run.clocks, &n)->half_width_ns_p50;
	clock_run_release(&run);
	clock_truth_release(&truth);
	assert_int_equal(verdict->wrong_epochs, 0);
	assert_int_equal(verdict->outside, 0);
	assert_int_equal(verdict->violations, 0);
	return half_width;
}

static void test_clock_options__floors_of_both_sides_take_the_bias(void **state)
{
	const struct clock_settings none = {0}, both = {.has_floors = true,
	                                                .submit_floor_ns = 2000,
	                                                .complete_floor_ns = 50000};
	const struct clock_settings round_trip = {.round_trip_floor_ns = 52000};
	struct clock_verdict without, with, only;
	double wide;

	(void)state;
	wide = run(&scene, &none, &without);
	assert_true(without.mean_error_ns > 20000);
	assert_true(run(&scene, &both, &with) < wide / 10);
	assert_true(with.mean_error_ns <= 300);
	/* Their sum proves nothing of either side. */
	assert_true(run(&scene, &round_trip, &only) == wide);
	assert_true(only.mean_error_ns == without.mean_error_ns);
}

/* A stamp may be up to a tick before what it marks. */
static void test_clock_options__floors_leave_room_for_a_tick(void **state)
{
	static const double rates_hz[] = {1e6, 1.7e6, 19.2e6, 100e6};
	const struct clock_settings true_floors = {
		.has_floors = true, .submit_floor_ns = 2000, .complete_floor_ns = 50000};
	struct clock_verdict verdict;

	(void)state;
	for (size_t i = 0; i < sizeof(rates_hz) / sizeof(rates_hz[0]); i++) {
		struct clock_scene coarse = scene;

		coarse.hz = rates_hz[i];
		coarse.jitter_ns = 100;
		run(&coarse, &true_floors, &verdict);
		assert_int_equal(verdict.sure, coarse.n_ops);
	}
}

static void test_clock_options__a_dispatch_limit_certifies_long_work(void **state)
{
	const struct clock_settings none = {0}, limit = {.max_dispatch_ns = 1000000000};
	struct clock_verdict without, with;
	struct clock_scene long_work = scene;

	(void)state;
	long_work.floor_complete_ns = 4000;
	long_work.long_every = 500;
	long_work.long_ns = 20e9;
	long_work.mean_period_ns = 100e6;
	long_work.n_queues = 4;
	run(&long_work, &none, &without);
	run(&long_work, &limit, &with);
	assert_true(without.assumed > 100);
	assert_true(with.assumed < without.assumed / 4);
}

static void test_clock_options__reads_floors(void **state)
{
	static const char *const bad[] = {"",      "x",  "1,", ",1",
	                                  "1,2,3", "-1", "1 ", "99999999999999999999"};
	struct flextrace_error error = {0};
	struct clock_settings settings = {0};

	(void)state;
	assert_int_equal(clock_options_floors("5,7", &settings, &error), 0);
	assert_true(settings.has_floors);
	assert_int_equal(settings.submit_floor_ns, 5);
	assert_int_equal(settings.complete_floor_ns, 7);
	assert_int_equal(clock_options_floors("12", &settings, &error), 0);
	assert_false(settings.has_floors);
	assert_int_equal(settings.round_trip_floor_ns, 12);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(clock_options_floors(bad[i], &settings, &error),
		                 FLEXTRACE_E_USAGE);
}

static int read_text(const char *text, struct calibrate_options *options,
                     struct flextrace_error *error)
{
	char path[] = "/tmp/clocks-XXXXXX";
	int file = mkstemp(path), code;

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	code = clock_options_read(options, path, error);
	if (code < 0)
		assert_non_null(strstr(error->message, path));
	unlink(path);
	return code;
}

static void test_clock_options__reads_a_file_of_devices(void **state)
{
	struct calibrate_options options = CALIBRATE_OPTIONS_INIT;
	struct flextrace_error error = {0};

	(void)state;
	assert_int_equal(read_text("{\"devices\": [{\"uuid\": \"a\", \"rho_ppm\": 2},"
	                           "{\"device\": 1, \"latency_floor_ns\": [3, 4],"
	                           "\"max_dispatch_ns\": 9, \"nominal_mhz\": 560}]}",
	                           &options, &error),
	                 0);
	assert_int_equal(options.n_overrides, 2);
	assert_string_equal(options.overrides[0].uuid, "a");
	assert_true(options.overrides[0].settings.rho_ppm == 2);
	assert_int_equal(options.overrides[1].device, 1);
	assert_int_equal(options.overrides[1].settings.complete_floor_ns, 4);
	assert_int_equal(options.overrides[1].settings.max_dispatch_ns, 9);
	clock_options_release(&options);
}

static void test_clock_options__refuses_a_file_that_it_does_not_understand(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"devices\": 1}",
		"{\"devices\": [], \"x\": 1}",
		"{\"devices\": [1]}",
		"{\"devices\": [{}]}",
		"{\"devices\": [{\"uuid\": 1}]}",
		"{\"devices\": [{\"uuid\": \"a\", \"device\": 1}]}",
		"{\"devices\": [{\"device\": -1}]}",
		"{\"devices\": [{\"device\": 0.5}]}",
		"{\"devices\": [{\"device\": 0, \"rho\": 1}]}",
		"{\"devices\": [{\"device\": 0, \"rho_ppm\": 0}]}",
		"{\"devices\": [{\"device\": 0, \"latency_floor_ns\": [1]}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct calibrate_options options = CALIBRATE_OPTIONS_INIT;
		struct flextrace_error error = {0};

		assert_int_equal(read_text(bad[i], &options, &error), FLEXTRACE_E_USAGE);
		clock_options_release(&options);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_clock_options__##name)
	const struct CMUnitTest tests[] = {
		TEST(floors_of_both_sides_take_the_bias),
		TEST(floors_leave_room_for_a_tick),
		TEST(a_dispatch_limit_certifies_long_work),
		TEST(reads_floors),
		TEST(reads_a_file_of_devices),
		TEST(refuses_a_file_that_it_does_not_understand),
	};

	return cmocka_run_group_tests_name("clock_options", tests, NULL, NULL);
}
