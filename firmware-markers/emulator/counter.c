/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "counter.h"

#define MAX_HZ (UINT64_C(1) << 33)
#define PPB    INT64_C(1000000000)

__extension__ typedef unsigned __int128 wide; /* rate * ns does not fit in 64 bits */

uint64_t counter_host_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t segment_at(const struct counter_segment *segment, uint64_t host_ns)
{
	wide ticks = (wide)segment->rate * (host_ns - segment->begin_ns);

	return segment->base_ticks + (uint64_t)(ticks / UINT64_C(1000000000000000000));
}

static int check_clock(uint64_t counter_hz, const struct flextrace_emulator_clock *clock)
{
	size_t i;

	if (counter_hz == 0 || counter_hz > MAX_HZ || clock->drift_ppb <= -PPB)
		return -EINVAL;
	for (i = 0; i < clock->n_steps; i++) {
		if (clock->steps[i].drift_ppb <= -PPB)
			return -EINVAL;
		if (i > 0 && clock->steps[i].at_ns <= clock->steps[i - 1].at_ns)
			return -EINVAL;
	}
	return 0;
}

int counter_init(struct counter *counter, uint64_t counter_hz,
                 const struct flextrace_emulator_clock *clock, uint64_t created_ns)
{
	size_t i;
	int ret = check_clock(counter_hz, clock);

	if (ret < 0)
		return ret;
	counter->segments = calloc(clock->n_steps + 1, sizeof(*counter->segments));
	if (!counter->segments)
		return -ENOMEM;
	counter->n_segments = clock->n_steps + 1;
	counter->segments[0] = (struct counter_segment){
		.begin_ns = created_ns,
		.base_ticks = clock->offset_ticks,
		.rate = counter_hz * (uint64_t)(PPB + clock->drift_ppb),
	};
	for (i = 0; i < clock->n_steps; i++) {
		uint64_t begin_ns = created_ns + clock->steps[i].at_ns;

		counter->segments[i + 1] = (struct counter_segment){
			.begin_ns = begin_ns,
			.base_ticks = segment_at(&counter->segments[i], begin_ns),
			.rate = counter_hz * (uint64_t)(PPB + clock->steps[i].drift_ppb),
		};
	}
	return 0;
}

void counter_release(struct counter *counter)
{
	free(counter->segments);
	counter->segments = NULL;
}

uint64_t counter_at(const struct counter *counter, uint64_t host_ns)
{
	size_t i = counter->n_segments - 1;

	while (i > 0 && host_ns < counter->segments[i].begin_ns)
		i--;
	if (host_ns < counter->segments[i].begin_ns)
		return counter->segments[i].base_ticks;
	return segment_at(&counter->segments[i], host_ns);
}
