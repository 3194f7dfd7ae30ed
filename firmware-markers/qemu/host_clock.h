/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_clock.h: the host's cycle counter, as QEMU shows it to its guests, and when it showed what.
 *
 * Readings of both the counter and CLOCK_MONOTONIC lie close together on a list; between two of
 * them time is a straight line. A reading is good to some ten ns.
 */
#ifndef QEMU_HOST_CLOCK_H
#define QEMU_HOST_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct host_clock_point {
	uint64_t cycles, ns;
};

struct host_clock {
	struct host_clock_point *points; /* owned */
	size_t n_points, n_allocated;
};

/* What mcycle of a guest is, if it is the host's. */
uint64_t host_cycles(void);

/* Reads both clocks; -ENOMEM. Readings closer than 2 ms to the last one are left out. */
int host_clock_read(struct host_clock *clock);
void host_clock_release(struct host_clock *clock);

/* Cycles a second between the first and the last point; 0 with fewer than two. */
double host_clock_hz(const struct host_clock *clock);

/* CLOCK_MONOTONIC when the counter was at `cycles`. Takes two points at least. */
uint64_t host_clock_ns(const struct host_clock *clock, uint64_t cycles);

#endif
