/* SPDX-License-Identifier: Apache-2.0 */
/*
 * macros: what a macro costs the traced program.
 *
 *   macros disabled   FLEXTRACE_SCOPE that nobody records, against the same loop without it
 *   macros enabled    FLEXTRACE_SCOPE against a bare tracepoint of the same payload + one clock
 *                     read, and flextrace::scope against FLEXTRACE_SCOPE;
 *                     needs a session that records flextrace:scope and bench:scope (see run)
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <flextrace/flextrace.h>

#include "bare_tracepoint.h"
#include "macros_hpp.h"
#include "ratio.h"

#define N_PAIRS 31

static uint64_t cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Keeps the compiler from merging or dropping the loop's turns. */
#define TURN() __asm__ volatile("" ::: "memory")

static void empty_turns(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		TURN();
}

static void scope_turns(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		FLEXTRACE_SCOPE("matmul_kernel_16");
		TURN();
	}
}

static void bare_turns(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		uint64_t begin_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		lttng_ust_tracepoint(bench, scope, begin_ns, 0, "matmul_kernel_16", 0, __FILE__,
		                     __LINE__);
		TURN();
	}
}

static double ns_per_turn(void (*turns)(uint32_t), uint32_t n)
{
	uint64_t start = cpu_ns();
	turns(n);
	return (double)(cpu_ns() - start) / n;
}

static int run(void (*a)(uint32_t), void (*b)(uint32_t), uint32_t n, struct ratio *ratio)
{
	a(n / 10);
	b(n / 10);
	for (int i = 0; i < N_PAIRS; i++) {
		double first = ns_per_turn(a, n);
		ratio_add(ratio, first, ns_per_turn(b, n));
	}
	return 0;
}

/* What `turns` costs while nobody records. */
static void run_off(void (*turns)(uint32_t), const char *against, const char *by_itself)
{
	static struct ratio ratio;

	ratio.n = 0;
	run(turns, empty_turns, 20000000, &ratio);
	ratio_print(&ratio, against, "ns", 0);
	double cost[N_PAIRS];
	for (int i = 0; i < N_PAIRS; i++)
		cost[i] = ratio.a[i] - ratio.b[i];
	double median = ratio_median(cost, N_PAIRS);
	printf("%-44s %9.3f ns  bar 0.50 %s\n", by_itself, median, median <= 0.5 ? "ok" : "MISSED");
}

int main(int argc, char **argv)
{
	static struct ratio ratio;
	const char *mode = argc == 2 ? argv[1] : "";
	if (!strcmp(mode, "disabled")) {
		run_off(scope_turns, "macro off / empty loop", "macro off, by itself");
#ifdef BENCH_HPP
		run_off(hpp_turns, "flextrace::scope off / empty loop",
		        "flextrace::scope off, by itself");
#endif
		return 0;
	}
	if (!strcmp(mode, "enabled")) {
		if (!FLEXTRACE_ENABLED(scope) || !lttng_ust_tracepoint_enabled(bench, scope)) {
			fputs("macros: no session records flextrace:scope and bench:scope\n",
			      stderr);
			return 1;
		}
		run(scope_turns, bare_turns, 200000, &ratio);
		ratio_print(&ratio, "FLEXTRACE_SCOPE / bare tracepoint + clock", "ns", 1.05);
#ifdef BENCH_HPP
		static struct ratio hpp;
		run(hpp_turns, scope_turns, 200000, &hpp);
		ratio_print(&hpp, "flextrace::scope / FLEXTRACE_SCOPE", "ns", 1.05);
#endif
		return 0;
	}
	fputs("usage: macros disabled|enabled\n", stderr);
	return 2;
}
