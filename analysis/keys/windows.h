/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h: in which steps and windows of its process a time is.
 *
 * Steps and windows of one name are one. Left out are those that have all calls of their process
 * within them, which would repeat the whole, and all names but the first WINDOWS_MAX.
 */
#ifndef FLEXTRACE_WINDOWS_H
#define FLEXTRACE_WINDOWS_H

#include "model/timeline/timeline_read.h"

#define WINDOWS_MAX 100u

struct window_stretch { /* from its time to the next one's the same windows are open */
	int64_t time_ns;
	uint32_t process;
	uint8_t n_open;
	uint64_t first_open; /* place in `open` */
};

struct windows {
	struct window_stretch *stretches; /* owned: by process and time */
	uint8_t *open;                    /* owned: numbers of names, for each stretch */
	uint32_t n_stretches, n_open;
	uint32_t names[WINDOWS_MAX + 1]; /* strings, by number, from 1: in order of first starts */
	uint32_t n_names;
	uint32_t n_most_open;
};

/* FLEXTRACE_E_MEMORY or 0; release in any case. */
int windows_init(struct windows *windows, const struct timeline *timeline);
void windows_release(struct windows *windows);

/* Returns how many windows a time is in, and stores their numbers. */
uint32_t windows_at(const struct windows *windows, uint32_t process, int64_t time_ns,
                    const uint8_t **ret_numbers);

#endif
