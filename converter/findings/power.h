/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power.h: what devices drew, from the counter that control blocks carry (tick_op.power), which is
 * sampled at TS4, wraps at 2^32, and is 0 where it was not sampled.
 *
 * Between two samples of a device d counts went by. A count is, by its unit:
 *
 *   us      1/512 uC of charge at 12 V: 12 / 512 * d W per us
 *   cycle   1/512 A at 12 V for one cycle of the device's counter: 12 / 512 * d W per cycle
 *   uJ      1 uJ: d W per us
 *
 * The first two are what the AIU Trace Analyzer computes, and what the counters of its sample files
 * must be for the result to be possible. The unit is the one that was asked for, else that of the
 * device, else `us`, unless that gives most stretches more than POWER_MAX_WATTS: then `cycle`.
 *
 * A stretch has no value where the counter may have wrapped once more (`unclear`: with 2^32 counts
 * on top the power would still be possible), or where even the least would be more than possible
 * (`implausible`: a reset). Equal samples are 0 W: the counter leaves out what idle devices draw.
 */
#ifndef FLEXTRACE_POWER_H
#define FLEXTRACE_POWER_H

#include "model/timeline/timeline.h"
#include "base/text/strings.h"

#define POWER_MAX_WATTS 100.0 /* no card draws more; of counters in uJ: ten times that */

enum power_unit { POWER_AUTO, POWER_PER_US, POWER_PER_CYCLE, POWER_MICROJOULE, POWER_NO_UNIT };

struct power_level { /* from here to the next one */
	int64_t time_ns;
	double watts; /* NAN = not known */
};

struct power_sample { /* what a level comes from */
	int64_t time_ns;
	uint64_t ticks;
	uint32_t counts;
	uint32_t source; /* index of struct tick_op */
	uint32_t err_ns;
	uint16_t segment;
	uint8_t status; /* enum time_status */
};

struct power_samples {             /* of a device */
	struct power_sample *list; /* owned, by time, none at the same; NULL: they were taken */
	uint32_t n, n_allocated;
	bool is_unordered;
};

struct power_device {
	struct power_level *levels; /* owned, one for each sample */
	uint32_t n;
	uint64_t n_unclear, n_implausible;
	uint8_t unit; /* enum power_unit, never AUTO */
};

struct power {
	struct power_device *devices; /* owned, by struct device */
	uint32_t n_devices;
};

/* Reads a name: us, cycle, uJ. false: it is none of them. */
bool power_unit_read(const char *name, enum power_unit *ret);
const char *power_unit_name(uint8_t unit);

/* Makes levels, and stores the samples that they come from, by struct device, for who shows them;
 * of a timeline without power, none. FLEXTRACE_E_MEMORY or 0; release both in any case. */
int power_find(struct power *power, struct power_samples **ret_samples,
               const struct timeline *timeline, enum power_unit unit);
void power_release(struct power *power);
void power_samples_free(struct power_samples *samples, uint32_t n_devices);

#endif
