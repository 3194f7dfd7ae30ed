/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_time.h: what each device was at, stretch by stretch, from its first work to its last.
 *
 * The stretches of a device follow each other without a hole, so that whatever is counted of them
 * adds up to the time between the two.
 */
#ifndef FLEXTRACE_DEVICE_TIME_H
#define FLEXTRACE_DEVICE_TIME_H

#include "work.h"

struct device_stretch {
	int64_t start_time_ns, end_time_ns;
	uint32_t process, device;        /* indexes */
	uint32_t mask;                   /* bit c: work of class c is under way; 0: none is */
	const struct device_row *before; /* weak: the work so far that ended last */
	/* Weak, where none is under way: what launched the work that ends this, the longest of
	 * those that begin then; NULL: not known. */
	const struct host_row *launch;
};

typedef void device_time_taker(void *context, const struct device_stretch *stretch);

/* Tells all stretches, those of a device in order. FLEXTRACE_E_MEMORY or 0. */
int device_time_read(const struct timeline *timeline, device_time_taker *take, void *context);

/* Of the classes that are under way (`mask`: not 0), the one that a stretch counts for: what
 * computes hides all else, communication hides copies, and copies hide preparation. */
static inline enum work_class device_time_class(uint32_t mask)
{
	return (enum work_class)__builtin_ctz(mask);
}

#endif
