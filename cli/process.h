/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h: what tells a process from a later one of the same pid.
 */
#ifndef FLEXTRACE_PROCESS_H
#define FLEXTRACE_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* Start time of a process in clock ticks since boot; 0 = there is no such process. */
uint64_t process_start_ticks(pid_t pid);

#endif
