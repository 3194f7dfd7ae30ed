/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h: which steps are recorded, as FLEXTRACE_SCHEDULE and `record --schedule` say it. */
#ifndef FLEXTRACE_TRACER_SCHEDULE_H
#define FLEXTRACE_TRACER_SCHEDULE_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/* Steps of one cycle; repeat 0 = for ever. active 0 = no schedule. */
struct recording_schedule {
	uint64_t wait;
	uint64_t warmup;
	uint64_t active;
	uint64_t repeat;
};

/* Parses "wait,warmup,active,repeat", whole numbers below 2^32 of which the active one is not 0.
 * Returns 0, or -1 and leaves the schedule alone. */
static inline int recording_parse_schedule(const char *text,
                                           struct recording_schedule *ret_schedule)
{
	uint64_t values[4];
	char *end;
	int i;

	for (i = 0; i < 4; i++) {
		if (*text < '0' || *text > '9')
			return -1;
		errno = 0;
		values[i] = strtoull(text, &end, 10);
		if (errno || values[i] > UINT32_MAX || *end != (i < 3 ? ',' : '\0'))
			return -1;
		text = end + 1;
	}
	if (!values[2])
		return -1;
	ret_schedule->wait = values[0];
	ret_schedule->warmup = values[1];
	ret_schedule->active = values[2];
	ret_schedule->repeat = values[3];
	return 0;
}

#endif
