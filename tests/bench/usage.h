/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.h: what this process uses.
 */
#ifndef BENCH_USAGE_H
#define BENCH_USAGE_H

#include <stddef.h>

/* CPU seconds since it began; of these, the kernel's. */
double usage_cpu_s(void);
double usage_kernel_s(void);

/* Resident bytes now, and the most there ever were. */
double usage_resident_bytes(void);
double usage_peak_bytes(void);

/* Runs a measurement in a process of its own, so that its memory is its own: `measure` fills
 * `result` from `input`. 0, or -1: it failed. */
int usage_measure(void (*measure)(const void *input, void *result), const void *input, void *result,
                  size_t result_bytes);

#endif
