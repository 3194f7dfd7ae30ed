/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks: what unwrap and calibrate cost, and how right they are.
 *
 *   clocks errors [SEED]                      errors of flextrace and of others' rules; fails where
 *                                             the p99 of ours is not 50 times better
 *   clocks speed EVENTS TRACE RECORDS PAIRS   CPU per operation against babeltrace2's dummy sink,
 *                                             which reads the RECORDS of TRACE
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/calibrate/calibrate_impl.h"
#include "clock_rules.h"
#include "clock_scenarios.h"
#include "ratio.h"
#include "usage.h"

/* -- errors ----------------------------------------------------------------------------------- */

static void place_by_flextrace(const struct clock_truth *truth, struct placing *placing)
{
	struct table_cursor cursor;
	const struct tick_op *op;
	struct clock_run run;
	uint32_t i = 0;

	clock_run_init(&run);
	clock_run_push_truth(&run, truth, false);
	clock_run_finish(&run, NULL);
	table_read(&cursor, &run.out.ops, false);
	for (; (op = table_next(&cursor, sizeof(*op))); i++) {
		placing->is_placed[i] = op->status == TIME_CERTIFIED;
		for (int k = 0; k < FLEXTRACE_N_STAMPS; k++) {
			struct placed placed = clocks_place(run.clocks, op->counter, op->segment,
			                                    op->ticks[k]);

			placing->ticks[FLEXTRACE_N_STAMPS * i + k] = op->ticks[k];
			placing->time_ns[FLEXTRACE_N_STAMPS * i + k] =
				(double)(placed.host_ns - truth->scene.origin_ns);
			placing->is_placed[i] &= placed.status == TIME_CERTIFIED;
		}
	}
	clock_run_release(&run);
}

static void print_score(const char *name, const struct score *score)
{
	printf("  %-26s %5.1f %9.1f %9.1f %11.1f %8.2f %8.2f %8.2f\n", name, 100 * score->placed,
	       score->p50_us, score->p99_us, score->max_us, 100 * score->wrong,
	       100 * score->outside, 100 * score->inverted);
}

/* Returns how many times the p99 of a rule is that of flextrace. */
static double print_errors(const struct clock_scenario *scenario, uint64_t seed, uint32_t against)
{
	struct placing placing;
	struct clock_truth truth;
	struct score ours, score;
	double beaten = 0;

	clock_scenario_make(scenario, seed, &truth);
	printf("%s: %u operations\n", scenario->name, truth.n_ops);
	placing_init(&placing, &truth);
	place_by_flextrace(&truth, &placing);
	placing_score(&placing, &truth, &ours);
	print_score("flextrace", &ours);
	placing_release(&placing);
	for (uint32_t i = 0; i < n_clock_rules; i++) {
		placing_init(&placing, &truth);
		clock_rules[i].place(&truth, true_hz(&truth), &placing);
		placing_score(&placing, &truth, &score);
		print_score(clock_rules[i].name, &score);
		if (i == against)
			beaten = score.p99_us / ours.p99_us;
		placing_release(&placing);
	}
	clock_truth_release(&truth);
	return beaten;
}

static int run_errors(uint64_t seed)
{
	int status = 0;

	printf("%-28s %5s %9s %9s %11s %8s %8s %8s\n", "seed of all scenarios and rules", "of",
	       "p50", "p99", "max", "epoch", "outside", "order");
	printf("%-28s %5s %9s %9s %11s %8s %8s %8s\n", "", "ops %", "us", "us", "us", "wrong %",
	       "bracket %", "turned %");
	for (uint32_t i = 0; i < n_clock_scenarios; i++) {
		const struct clock_scenario *scenario = &clock_scenarios[i];
		double beaten;

		if (scenario->name[0] != 'S')
			continue;
		beaten = print_errors(scenario, seed, CLOCK_RULE_OWN_END);
		if (scenario->name[1] >= '1' && scenario->name[1] <= '6' &&
		    scenario->name[2] == ' ') {
			printf("  p99 of own end / flextrace   %.0f  bar 50 %s\n", beaten,
			       beaten >= 50 ? "ok" : "MISSED");
			status |= beaten < 50;
		}
	}
	return status;
}

/* -- speed ------------------------------------------------------------------------------------ */

struct cost { /* CPU seconds */
	double push_s, resolve_s, calibrate_s;
	double kernel_s; /* of all three, in the kernel */
	double hulls_s, close_s, smooth_s;
	double bytes;       /* above what the truth takes */
	double fresh_bytes; /* above what the records take, too: the rest is in their memory */
	uint32_t n_certified;
};

static int by_last(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;

	return (a->last > b->last) - (a->last < b->last);
}

/* What the operations say to their clock. */
static void collect(struct clock_run *run, struct evidence *evidence)
{
	struct table_cursor cursor;
	const struct tick_op *op;

	*evidence = (struct evidence){.ticks0 = UINT64_MAX};
	evidence->claims = calloc(run->out.ops.n_rows, sizeof(*evidence->claims));
	evidence->is_false = calloc(run->out.ops.n_rows, 1);
	table_read(&cursor, &run->out.ops, false);
	while ((op = table_next(&cursor, sizeof(*op)))) {
		if (op->segment != 0 || op->status != TIME_CERTIFIED)
			continue;
		if (op->ticks[0] < evidence->ticks0)
			evidence->ticks0 = op->ticks[0];
		if (evidence->n == 0)
			evidence->host0 = op->submit_host_ns;
		evidence->claims[evidence->n++] =
			(struct claim){op->ticks[0], op->ticks[FLEXTRACE_N_STAMPS - 1],
		                       op->submit_host_ns - evidence->host0,
		                       op->complete_host_ns - evidence->host0};
	}
	for (uint32_t i = 0; i < evidence->n; i++) {
		evidence->claims[i].first -= evidence->ticks0;
		evidence->claims[i].last -= evidence->ticks0;
	}
	qsort(evidence->claims, evidence->n, sizeof(*evidence->claims), by_last);
}

static void time_smoother(struct attempt *band, struct cost *cost)
{
	struct widths widths;
	double start_s;

	widths_sample(&widths, band);
	band_thin(band);
	if (band_bridge(band) < 0)
		abort();
	start_s = usage_cpu_s();
	if (band_smooth(band, &widths) < 0)
		abort();
	cost->smooth_s = usage_cpu_s() - start_s;
}

/* The two passes that every bound comes from, on their own; then the smoother. */
static void time_kernels(struct clock_run *run, struct cost *cost)
{
	struct line line = {.slope = 1.8, .slope_lo = MIN_SLOPE, .slope_hi = MAX_SLOPE};
	struct reference reference = {0};
	struct evidence evidence;
	struct knot *knots = NULL;
	struct hulls hulls;
	double start_s;
	uint32_t n = 0;

	collect(run, &evidence);
	start_s = usage_cpu_s();
	slope_bound(&evidence, 0, &line.slope_lo, &line.slope_hi);
	if (hulls_init(&hulls, &evidence) < 0 || line_fit(&hulls, 0, hulls.n_blocks, &line) < 0)
		abort();
	cost->hulls_s = usage_cpu_s() - start_s;
	if (reference_init(&reference, &hulls, &line, 10e-6) < 0)
		abort();
	start_s = usage_cpu_s();
	if (band_constrain(&evidence, &reference, false, &knots, &n) < 0)
		abort();
	band_close(knots, n, &reference);
	cost->close_s = usage_cpu_s() - start_s;
	time_smoother(
		&(struct attempt){
			.reference = reference, .knots = knots, .n_knots = n, .rho = 10e-6},
		cost);
}

/* As the converter does it: the records lie there, and are gathered. */
static void measure_run(const void *input, void *result)
{
	const struct clock_truth *truth = input;
	struct cost *cost = result;
	const struct calibrate_options options = CALIBRATE_OPTIONS_INIT;
	double before_bytes = usage_resident_bytes(), recorded_bytes, start_s;
	struct table_cursor cursor;
	const struct tick_op *op;
	struct clock_run run;

	*cost = (struct cost){0};
	clock_run_init(&run);
	run.is_recording = true;
	clock_run_push_truth(&run, truth, false);
	recorded_bytes = usage_resident_bytes();
	cost->kernel_s = -usage_kernel_s();
	start_s = usage_cpu_s();
	clock_run_gather(&run);
	cost->push_s = usage_cpu_s() - start_s;
	unwrap_set_options(run.unwrap, &options);
	if (unwrap_finish(run.unwrap, &run.out, NULL) < 0)
		abort();
	unwrap_free(run.unwrap);
	run.unwrap = NULL;
	cost->resolve_s = usage_cpu_s() - start_s - cost->push_s;
	if (calibrate_run(&(struct calibrate_input){&options, &run.identity, &run.out.brackets,
	                                            &run.out.ops, &run.out.rates, &run.ledger,
	                                            &run.out.told_clocks},
	                  &run.clocks, NULL) < 0)
		abort();
	cost->calibrate_s = usage_cpu_s() - start_s - cost->push_s - cost->resolve_s;
	cost->kernel_s += usage_kernel_s();
	cost->bytes = usage_peak_bytes() - before_bytes;
	cost->fresh_bytes = usage_peak_bytes() - recorded_bytes;
	table_read(&cursor, &run.out.ops, false);
	for (uint64_t i = 0; (op = table_next(&cursor, sizeof(*op))); i++)
		cost->n_certified += op->status == TIME_CERTIFIED && !clocks_refuse(run.clocks, i);
	time_kernels(&run, cost);
}

/* CPU seconds of babeltrace2 reading a trace; negative: it failed. */
static double measure_dummy(const char *trace)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		execlp("babeltrace2", "babeltrace2", "convert", trace,
		       "--component=sink.utils.dummy", (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status != 0)
		return -1;
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void print_cost(const struct cost *cost, uint32_t n_ops)
{
	double unit_ns = 1e9 / n_ops;

	printf("%u operations: push %.0f, resolve %.0f, calibrate %.0f ns (%.0f of all in the "
	       "kernel); hulls %.0f, closure %.0f, smoother %.0f; %.0f bytes each at the peak, "
	       "%.0f of them fresh; %.2f %% certified\n",
	       n_ops, cost->push_s * unit_ns, cost->resolve_s * unit_ns,
	       cost->calibrate_s * unit_ns, cost->kernel_s * unit_ns, cost->hulls_s * unit_ns,
	       cost->close_s * unit_ns, cost->smooth_s * unit_ns, cost->bytes / n_ops,
	       cost->fresh_bytes / n_ops, 100.0 * cost->n_certified / n_ops);
}

static int run_speed(double n_wanted, const char *trace, double n_records, uint32_t n_pairs)
{
	struct clock_scenario scenario = *clock_scenario_find("S0 clean");
	struct ratio kernels = {.n = 0}, whole = {.n = 0}, smoother = {.n = 0};
	struct clock_truth truth;
	struct cost cost = {0};

	scenario.duration_s = n_wanted / 100;
	clock_scenario_make(&scenario, 1, &truth);
	for (uint32_t i = 0; i < n_pairs; i++) {
		double dummy_ns = measure_dummy(trace) / n_records * 1e9;
		double unit_ns = 1e9 / truth.n_ops;

		if (dummy_ns < 0 || usage_measure(measure_run, &truth, &cost, sizeof(cost)) < 0) {
			fputs("clocks: a run failed\n", stderr);
			return 1;
		}
		ratio_add(&kernels, (cost.hulls_s + cost.close_s) * unit_ns, dummy_ns);
		ratio_add(&whole, (cost.push_s + cost.resolve_s + cost.calibrate_s) * unit_ns,
		          dummy_ns);
		ratio_add(&smoother, cost.smooth_s * unit_ns, dummy_ns);
		print_cost(&cost, truth.n_ops);
	}
	ratio_print(&kernels, "hulls and closure / dummy, per event", "ns", 0.6);
	ratio_print(&whole, "unwrap and calibrate / dummy, per event", "ns", 1.5);
	ratio_print(&smoother, "smoother / dummy, per event", "ns", 0.15);
	clock_truth_release(&truth);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 2 && argc <= 3 && !strcmp(argv[1], "errors"))
		return run_errors(argc == 3 ? strtoull(argv[2], NULL, 10) : 100);
	if (argc == 6 && !strcmp(argv[1], "speed") && atof(argv[2]) >= 1000 && atof(argv[4]) > 0)
		return run_speed(atof(argv[2]), argv[3], atof(argv[4]), (uint32_t)atoi(argv[5]));
	fputs("usage: clocks errors [SEED] | clocks speed EVENTS TRACE RECORDS PAIRS\n", stderr);
	return 2;
}
