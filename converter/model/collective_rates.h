/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_rates.h: what the collectives of each process reach together, in GB/s of bus
 * bandwidth, from each of these times on.
 *
 * Made by converter/findings/collectives/collective_rates.c, read by emit as const.
 */
#ifndef FLEXTRACE_COLLECTIVE_RATES_H
#define FLEXTRACE_COLLECTIVE_RATES_H

#include <stdint.h>

struct collective_rate {
	int64_t time_ns;
	double gbps;
	uint32_t process; /* index */
};

struct collective_rates {
	struct collective_rate *all; /* owned: by time, then process */
	uint32_t n;
};

#endif
