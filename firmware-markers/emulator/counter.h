/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h: a counter of an emulated device, a piecewise linear function of CLOCK_MONOTONIC.
 *
 * Integers only: within a segment ticks = base + floor(rate * (host_ns - begin_ns)), where the rate
 * is counter_hz * (1e9 + drift_ppb) / 1e18 ticks a nanosecond. It never runs backwards.
 */
#ifndef EMULATOR_COUNTER_H
#define EMULATOR_COUNTER_H

#include <flextrace/emulator.h>

struct counter_segment {
	uint64_t begin_ns;
	uint64_t base_ticks;
	uint64_t rate; /* counter_hz * (1e9 + drift_ppb): ticks in 1e18 ns */
};

struct counter {
	struct counter_segment *segments; /* owned */
	size_t n_segments;
};

/* CLOCK_MONOTONIC in ns. */
uint64_t counter_host_ns(void);

/* A counter of `counter_hz` nominal, created at `created_ns`. -EINVAL, -ENOMEM. */
int counter_init(struct counter *counter, uint64_t counter_hz,
                 const struct flextrace_emulator_clock *clock, uint64_t created_ns);
void counter_release(struct counter *counter);

/* What the counter shows at `host_ns`; before its creation: the offset. */
uint64_t counter_at(const struct counter *counter, uint64_t host_ns);

#endif
