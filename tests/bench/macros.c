/* SPDX-License-Identifier: Apache-2.0 */
/*
 * macros: what a macro costs the traced program.
 *
 *   macros disabled   macros that nobody records, against the same loop without them
 *   macros enabled    FLEXTRACE_SCOPE against a bare tracepoint of the same payload + one clock
 *                     read, flextrace::scope against FLEXTRACE_SCOPE, and arguments against none;
 *                     needs a session that records flextrace:scope and bench:scope (see run)
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <flextrace/flextrace.h>

#include "bare_tracepoint.h"
#include "macros_loops.h"
#include "ratio.h"

#define N_PAIRS 101
#define BAR_OFF 0.5
#define BAR_ARG 15
#define BAR     1.05

/* Of this thread: what other processes do in between is not in it. */
static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void empty_turns(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		TURN();
}

static void bare_turns(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		uint64_t begin_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		lttng_ust_tracepoint(bench, scope, 0, begin_ns, "matmul_kernel_16", 0, "",
		                     "macros_loops.c", __LINE__);
		TURN();
	}
}

static double ns_per_turn(macros_turns *turns, uint32_t n)
{
	double start = cpu_ns();

	turns(n);
	return (cpu_ns() - start) / n;
}

/* Short loops in turn, so that a pair stands under the same load. */
static void run(macros_turns *a, macros_turns *b, uint32_t n, struct ratio *ratio)
{
	ratio->n = 0;
	a(n);
	b(n);
	for (int i = 0; i < N_PAIRS; i++) {
		double first = ns_per_turn(a, n);

		ratio_add(ratio, first, ns_per_turn(b, n));
	}
}

/* What a turn of `a` takes longer than one of `b`, for each of `n` parts that it has more. */
static void print_difference(const char *label, const struct ratio *ratio, uint32_t n, double bar)
{
	double cost[N_PAIRS];

	for (int i = 0; i < N_PAIRS; i++)
		cost[i] = (ratio->a[i] - ratio->b[i]) / n;
	double median = ratio_median(cost, N_PAIRS);
	printf("%-44s %9.3f ns  (%.3f .. %.3f, n=%d)  bar %.2f %s\n", label, median, cost[0],
	       cost[N_PAIRS - 1], N_PAIRS, bar, median <= bar ? "ok" : "MISSED");
	fflush(stdout);
}

static void run_off(const struct macros_loop *loops)
{
	static struct ratio ratio;

	for (; loops->turns; loops++) {
		run(loops->turns, empty_turns, 1000000, &ratio);
		print_difference(loops->label, &ratio, loops->n_parts ? loops->n_parts : 1,
		                 BAR_OFF);
	}
}

static void run_enabled(void)
{
	static struct ratio ratio;

	run(macros_scope, bare_turns, 20000, &ratio);
	ratio_print(&ratio, "FLEXTRACE_SCOPE / bare tracepoint + clock", "ns", BAR);
	for (const struct macros_loop *loop = macros_with; loop->turns; loop++) {
		run(loop->turns, macros_scope, 20000, &ratio);
		print_difference(loop->label, &ratio, loop->n_parts, BAR_ARG);
	}
#ifdef BENCH_HPP
	for (const struct macros_loop *loop = macros_hpp; loop->turns; loop++) {
		run(loop->turns, loop->against, 20000, &ratio);
		ratio_print(&ratio, loop->label, "ns", BAR);
	}
#endif
}

int main(int argc, char **argv)
{
	const char *mode = argc == 2 ? argv[1] : "";

	if (!strcmp(mode, "disabled")) {
		run_off(macros_off);
#ifdef BENCH_HPP
		run_off(macros_hpp_off);
#endif
		return 0;
	}
	if (!strcmp(mode, "enabled")) {
		if (!FLEXTRACE_ENABLED(scope) || !lttng_ust_tracepoint_enabled(bench, scope)) {
			fputs("macros: no session records flextrace:scope and bench:scope\n",
			      stderr);
			return 1;
		}
		run_enabled();
		return 0;
	}
	fputs("usage: macros disabled|enabled\n", stderr);
	return 2;
}
