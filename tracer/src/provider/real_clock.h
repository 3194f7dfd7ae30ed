/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_clock.h: the system clock, which is the same in all time namespaces. Read by the provider
 * itself: a library that is older than the provider has no such member in its struct.
 */
#ifndef FLEXTRACE_REAL_CLOCK_H
#define FLEXTRACE_REAL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t real_now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
