/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_times.h: how long kernels took in another run, from the kernels.csv of its conversion.
 *
 * Where the compiler's autopilot is on, kernels run merged, and what is measured of one says little
 * of it. A second run without the autopilot has their own times.
 *
 * A kernel takes the mean of its name over all calls on its rank; where that rank did not run it
 * there, over those of all ranks. Memory: a few words for each rank and name.
 */
#ifndef FLEXTRACE_KERNEL_TIMES_H
#define FLEXTRACE_KERNEL_TIMES_H

#include "base/error.h"
#include "base/map.h"
#include "base/text/strings.h"

struct kernel_time_sum {
	uint64_t total_ns, calls;
};

struct kernel_times {
	struct kernel_time_sum *sums; /* owned */
	uint32_t n_sums;
	struct map sum_index; /* (rank, or all of them; name) -> place in `sums` */
};

/* Says whether `dir` has kernel times to take, without reading them all. FLEXTRACE_E_INPUT: it is
 * no output directory with a kernels.csv, or that of a run with the autopilot on. */
int kernel_times_check(const char *dir, struct flextrace_error *error);

/* Reads them. FLEXTRACE_E_INPUT: as above, or the table is damaged. Release in any case. */
int kernel_times_read(struct kernel_times *times, const char *dir, struct string_cache *strings,
                      struct flextrace_error *error);
void kernel_times_release(struct kernel_times *times);

/* The mean of a kernel, by the name that the compiler knows it by; 0 = not known. */
uint64_t kernel_times_mean(const struct kernel_times *times, int32_t rank, uint32_t name);

/* Stores the name that the compiler knows a kernel by: without what Flex writes behind it.
 * FLEXTRACE_E_MEMORY or 0. */
int kernel_times_name(struct string_cache *strings, const char *text, uint32_t *ret_name);

#endif
