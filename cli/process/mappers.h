/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mappers.h: the threads that may be in the middle of a record in a file of shared memory.
 *
 * A record takes some hundred nanoseconds of a thread's time on a CPU. A thread that sleeps, or has
 * run for two ticks of the clock since it was first seen, has finished its record. A thread that is
 * stopped, or that has had no CPU, may not have.
 */
#ifndef FLEXTRACE_MAPPERS_H
#define FLEXTRACE_MAPPERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapper {
	pid_t thread;
	uint64_t ticks; /* that it had run for */
	char state;     /* as /proc tells it */
};

struct mappers {
	struct mapper *all; /* owned */
	uint32_t n;
};

/* Whether a process has mapped the file, or, where `path` ends with a slash, one below it. */
bool mappers_has(pid_t pid, const char *path);

/* Lists the threads of all processes, of which we may see that, that have mapped the file. */
void mappers_list(const char *path, struct mappers *ret_mappers);
void mappers_release(struct mappers *mappers);

/* Whether one of them may still be where it was when they were listed. */
bool mappers_may_write(const struct mappers *before, const char *path);

#endif
