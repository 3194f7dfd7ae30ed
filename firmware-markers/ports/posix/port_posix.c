/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include <flextrace/port.h>

__thread struct flextrace_posix_core flextrace_posix_core;

uint64_t flextrace_posix_clock(void)
{
	struct timespec now;

	if (flextrace_posix_core.clock)
		return flextrace_posix_core.clock(flextrace_posix_core.context);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void flextrace_posix_wait(void)
{
	static const struct timespec a_little = {.tv_sec = 0, .tv_nsec = 100000};

	if (flextrace_posix_core.wait)
		flextrace_posix_core.wait(flextrace_posix_core.context);
	else
		(void)nanosleep(&a_little, NULL);
}

void flextrace_posix_note(uint32_t kind, uint32_t id)
{
	if (flextrace_posix_core.note)
		flextrace_posix_core.note(flextrace_posix_core.context, kind, id);
}
