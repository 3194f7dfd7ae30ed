/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of unwrap, calibrate and align fails once: each time they say so, and give back
 * what they had (which the leak sanitizer sees).
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "align_truth.h"
#include "clock_truth.h"
#include "failing_malloc.h"

#define N_DOMAINS 2

static const struct clock_scene scene = {
	.seed = 71,
	.n_ops = 400,
	.hz = 557.1e6,
	.origin_ticks = 0x123456789,
	.origin_ns = 5000000000,
	.mean_period_ns = 30e6,
	.exec_ns = 1e5,
	.gap_every = 150,
	.gap_ns = 9e9,
	.floor_submit_ns = 2000,
	.floor_complete_ns = 4000,
	.jitter_ns = 20000,
	.step_ppm = 300,
	.n_resets = 1,
	.false_share = 0.02,
	.garbage_share = 0.01,
	.long_every = 90,
	.long_ns = 20e9,
	.sync_every = 20,
	.n_queues = 3,
};

/* Two counters of one rate group, one of them with few operations. */
static void push_device(struct clock_run *run)
{
	for (run->domain = 0; run->domain < N_DOMAINS; run->domain++) {
		struct clock_scene of = scene;
		struct clock_truth truth;

		of.n_ops = run->domain ? 5 : scene.n_ops;
		clock_truth_init(&truth, &of);
		clock_run_counter(run)->rate_group = 4;
		clock_run_push_truth(run, &truth, run->domain == 1);
		clock_truth_release(&truth);
	}
}

static int finish_device(struct clock_run *run, struct flextrace_error *error)
{
	const struct calibrate_options options = CALIBRATE_OPTIONS_INIT;
	const struct calibrate_input input = {
		&options,        &run->identity, &run->out.brackets,   &run->out.ops,
		&run->out.rates, &run->ledger,   &run->out.told_clocks};

	FLEXTRACE_TRY(unwrap_finish(run->unwrap, &run->out, error));
	return calibrate_run(&input, &run->clocks, error);
}

static void check(uint64_t n, bool has_failed, int code, const struct flextrace_error *error)
{
	if (has_failed && code != FLEXTRACE_E_MEMORY)
		fail_msg("Allocation %" PRIu64 " failed, and the code is %d", n, code);
	if (has_failed && !error->message[0])
		fail_msg("Allocation %" PRIu64 " failed without a word", n);
	if (!has_failed && code < 0)
		fail_msg("%s", error->message);
}

static void test_clock_memory__fails_clearly_for_devices(void **state)
{
	bool has_failed = true;
	uint64_t n = 1;

	(void)state;
	for (; has_failed; n++) {
		struct flextrace_error error = {0};
		struct clock_run run;
		int code;

		clock_run_init(&run);
		push_device(&run);
		failing_malloc_set(n);
		code = finish_device(&run, &error);
		has_failed = failing_malloc_has_failed();
		failing_malloc_set(0);
		check(n, has_failed, code, &error);
		clock_run_release(&run);
	}
	print_message("%" PRIu64 " allocations\n", n - 2);
	assert_true(n > 50);
}

static void fail_align(const struct align_scene *of)
{
	const struct align_options options = ALIGN_OPTIONS_INIT;
	struct table points = TABLE_INIT;
	struct align_truth truth;
	bool has_failed = true;
	uint64_t n = 1;

	align_truth_init(&truth, of);
	align_truth_points(&truth, &points);
	for (; has_failed; n++) {
		struct alignment *alignment = NULL;
		struct flextrace_error error = {0};
		struct ledger ledger;
		int code;

		ledger_init(&ledger);
		failing_malloc_set(n);
		code = align_run(&options, &truth.identity, &points, &ledger, &alignment, &error);
		has_failed = failing_malloc_has_failed();
		failing_malloc_set(0);
		check(n, has_failed, code, &error);
		if (code < 0)
			assert_null(alignment);
		alignment_free(alignment);
		ledger_release(&ledger);
	}
	print_message("%s: %" PRIu64 " allocations\n", of->name, n - 2);
	assert_true(n > 50);
	table_release(&points);
	align_truth_release(&truth);
}

static void test_clock_memory__fails_clearly_for_hosts(void **state)
{
	const struct align_scene collectives = {
		.name = "collectives",
		.seed = 5,
		.n_ranks = 5,
		.n_rounds = 120,
		.period_ns = 10e6,
		.straggle_ns = 1e6,
		.drop_share = 0.05,
		.false_share = 0.02,
		.offset_ns = 5e6,
		.drift_ppm = 20,
		.jump_ns = 7e6,
	};
	struct align_scene messages = collectives;

	(void)state;
	fail_align(&collectives);
	messages.name = "messages";
	messages.shape = TRUTH_PIPELINE;
	fail_align(&messages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_memory__fails_clearly_for_devices),
		cmocka_unit_test(test_clock_memory__fails_clearly_for_hosts),
	};

	return cmocka_run_group_tests_name("clock_memory", tests, NULL, NULL);
}
