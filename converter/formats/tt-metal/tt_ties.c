/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nobody leaves a collective operation before everybody entered it, so the n-th one of two devices
 * bounds how far their times are apart. The distance that most of them allow is taken, in its
 * middle; where a clock changed its rate under load some contradict, and are counted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "formats/kit/faults.h"
#include "tt_report.h"
#include "base/marzullo.h"

struct tt_meeting {
	int64_t begin_ns, end_ns; /* by the device's own cycles */
	uint32_t device, number;  /* the n-th of its device */
};

struct ties {
	struct tt *tt; /* weak */
	uint32_t reference;
	struct map of_reference;    /* number -> its meeting */
	struct interval *intervals; /* owned */
	int64_t *spare;             /* owned */
	uint32_t n_devices, n_contradictions, n_intervals;
	int64_t half_ns; /* the widest */
};

bool tt_is_collective(const char *name)
{
	static const char *const names[] = {"AllGather", "AllReduce",    "ReduceScatter",
	                                    "AllToAll",  "AllBroadcast", "Barrier"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strstr(name, names[i]))
			return true;
	}
	return false;
}

int tt_note_meeting(struct tt *tt, uint32_t device, int64_t begin_ns, int64_t end_ns)
{
	const struct tt_meeting meeting = {begin_ns, end_ns, device,
	                                   tt->devices[device].n_meetings++};

	return ARRAY_PUSH(tt->meetings, tt->n_meetings, meeting);
}

/* Where the others' times are, as seen from the reference's. */
static void tie_device(struct ties *ties, uint32_t index)
{
	struct tt *tt = ties->tt;
	struct interval hull;
	uint32_t n = 0, n_agree;

	for (uint32_t i = 0; i < tt->n_meetings; i++) {
		const struct tt_meeting *meeting = &tt->meetings[i];
		uint32_t other = meeting->device == index
		                         ? map_find(&ties->of_reference, meeting->number, 0)
		                         : MAP_NONE;

		if (other != MAP_NONE)
			ties->intervals[n++] = (struct interval){
				tt->meetings[other].begin_ns - meeting->end_ns,
				tt->meetings[other].end_ns - meeting->begin_ns,
			};
	}
	n_agree = marzullo_hull(ties->intervals, n, 1, ties->spare, &hull);
	if (!n_agree)
		return;
	tt->devices[index].tie_ns = hull.lo + (hull.hi - hull.lo) / 2;
	tt->devices[index].is_tied = true;
	ties->n_devices++;
	ties->n_intervals += n;
	ties->n_contradictions += n - n_agree;
	if ((hull.hi - hull.lo) / 2 > ties->half_ns)
		ties->half_ns = (hull.hi - hull.lo) / 2;
}

/* All that are tied move together, as early as the call of none of their operations is later. */
static void move_together(struct tt *tt)
{
	int64_t shift_ns = INT64_MIN;

	for (uint32_t i = 0; i < tt->n_devices; i++) {
		const struct tt_device *device = &tt->devices[i];

		if (device->is_tied && device->has_cause &&
		    device->cause_ns - device->tie_ns > shift_ns)
			shift_ns = device->cause_ns - device->tie_ns;
	}
	for (uint32_t i = 0; i < tt->n_devices; i++) {
		struct tt_device *device = &tt->devices[i];

		if (!device->is_tied)
			continue;
		device->cause_ns = device->tie_ns + (shift_ns == INT64_MIN ? 0 : shift_ns);
		device->has_cause = true;
	}
}

static int prepare(struct ties *ties)
{
	struct tt *tt = ties->tt;

	ties->reference = tt->meetings[0].device;
	FLEXTRACE_TRY(ARRAY_NEW(ties->intervals, tt->n_meetings));
	FLEXTRACE_TRY(ARRAY_NEW(ties->spare, 2ull * tt->n_meetings));
	for (uint32_t i = 0; i < tt->n_meetings; i++) {
		if (tt->meetings[i].device == ties->reference)
			FLEXTRACE_TRY(map_put(&ties->of_reference, tt->meetings[i].number, 0, i));
	}
	return FLEXTRACE_OK;
}

static void warn_of_ties(const struct ties *ties)
{
	import_warn(&ties->tt->import,
	            "Devices were put on one time by their collectives: devices=%" PRIu32
	            ", within ns=%" PRId64 ", meetings=%" PRIu32 ", contradictions=%" PRIu32,
	            ties->n_devices + 1, ties->half_ns, ties->n_intervals, ties->n_contradictions);
}

int tt_tie_devices(struct tt *tt)
{
	struct ties ties = {.tt = tt};
	int code = tt->n_meetings ? prepare(&ties) : FLEXTRACE_OK;

	for (uint32_t i = 0; i < tt->n_devices && tt->n_meetings && code >= 0; i++) {
		if (i != ties.reference)
			tie_device(&ties, i);
	}
	if (code >= 0 && ties.n_devices) {
		tt->devices[ties.reference].is_tied = true;
		move_together(tt);
		warn_of_ties(&ties);
	}
	map_release(&ties.of_reference);
	free(ties.intervals);
	free(ties.spare);
	return code;
}
