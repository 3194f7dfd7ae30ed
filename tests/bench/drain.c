/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain: what a drained marker costs the host, LTTng's part included: full rings of 4096 records,
 * taken out by flextrace_drain() into a session that records flextrace:marker_batch. Beside it,
 * what the marker costs where it is written (posix port, counter = CLOCK_MONOTONIC).
 */
#include <stdio.h>
#include <time.h>

#include <flextrace/drain.h>
#include <flextrace/flextrace.h>
#include <flextrace/marker.h>

#include "ratio.h"

#define N_ROUNDS 101
#define CAPACITY 4096u

static union {
	struct flextrace_wire_area wire;
	unsigned char bytes[FLEXTRACE_WIRE_AREA_BYTES(CAPACITY)];
} memory;

static uint64_t read_counter(void *context)
{
	(void)context;
	return flextrace_now_ns();
}

int main(void)
{
	double drained_ns[N_ROUNDS], marked_ns[N_ROUNDS];
	struct flextrace_drain_area area;
	flextrace_posix_core = (struct flextrace_posix_core){.area = &memory.wire,
	                                                     .clock = read_counter};
	FLEXTRACE_FW_INIT(0, 0, 0, CAPACITY, FLEXTRACE_WIRE_STOP);
	flextrace_drain_area_init(&area, 0, &memory, sizeof(memory));
	if (!FLEXTRACE_ENABLED(marker_batch)) {
		fputs("drain: no session records flextrace:marker_batch\n", stderr);
		return 1;
	}
	for (int round = 0; round < N_ROUNDS; round++) {
		uint64_t start_ns = flextrace_now_ns();
		for (uint32_t i = 0; i < CAPACITY; i++)
			FLEXTRACE_MARK("mark");
		uint64_t middle_ns = flextrace_now_ns();
		uint64_t n = flextrace_drain(&area, 1, 0);
		drained_ns[round] = (double)(flextrace_now_ns() - middle_ns) / (double)(n ? n : 1);
		marked_ns[round] = (double)(middle_ns - start_ns) / CAPACITY;
	}
	double median = ratio_median(drained_ns, N_ROUNDS);
	printf("%-44s %9.3f ns  (%.3f .. %.3f, n=%d)  bar 10.00 %s\n", "drained marker, host side",
	       median, drained_ns[0], drained_ns[N_ROUNDS - 1], N_ROUNDS,
	       median <= 10.0 ? "ok" : "MISSED");
	median = ratio_median(marked_ns, N_ROUNDS);
	printf("%-44s %9.3f ns  (%.3f .. %.3f, n=%d)\n", "FLEXTRACE_MARK, its clock read included",
	       median, marked_ns[0], marked_ns[N_ROUNDS - 1], N_ROUNDS);
	return area.stats.dropped ? 1 : 0;
}
