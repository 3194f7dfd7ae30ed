/* SPDX-License-Identifier: Apache-2.0 */
#include "power.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/order.h"
#include "model/timeline/timeline_read.h"

#define VOLTS       12.0
#define PER_COULOMB 512.0 /* counts per uC, and per A */
#define WRAP        4294967296.0

static const char *const unit_names[] = {
	[POWER_PER_US] = "us", [POWER_PER_CYCLE] = "cycle", [POWER_MICROJOULE] = "uJ"};

bool power_unit_read(const char *name, enum power_unit *ret)
{
	for (int i = POWER_PER_US; i <= POWER_MICROJOULE; i++) {
		if (strcmp(name, unit_names[i]) != 0)
			continue;
		*ret = (enum power_unit)i;
		return true;
	}
	return false;
}

const char *power_unit_name(uint8_t unit)
{
	return unit >= POWER_PER_US && unit <= POWER_MICROJOULE ? unit_names[unit] : "";
}

/* -- samples ----------------------------------------------------------------------------------- */

/* TS4 is where the row of a kernel's computing ends, else that of its output begins; in what has
 * one row, it is near its end. False: this row does not say. */
static bool take_sample(const struct timeline *timeline, const struct device_row *row,
                        struct power_sample *ret)
{
	const struct tick_op *op = &timeline->ops[row->source];
	bool is_begin = row->kind == ROW_DMA_OUT;

	if (!op->power || !op->ticks[3] || op->sample_before_ns == UINT32_MAX ||
	    (is_begin && op->ticks[2]) || row->kind < ROW_EXEC || row->status == TIME_OUTLIER ||
	    row->status == TIME_UNMATCHED)
		return false;
	*ret = (struct power_sample){
		.time_ns = is_begin ? row->start_time_ns : row->end_time_ns - op->sample_before_ns,
		.ticks = op->ticks[3],
		.counts = op->power,
		.source = row->source,
		.err_ns = row->err_ns,
		.segment = op->segment,
		.status = row->status,
	};
	return true;
}

/* Samples are many: counted first, they need no room to grow. One device has what there is. */
static int make_room(struct power_samples *samples, uint32_t n, const struct timeline *timeline)
{
	if (n == 1)
		samples[0].n_allocated = (uint32_t)timeline->n_ops;
	for (uint64_t i = 0; n > 1 && i < timeline->n_ops; i++)
		samples[timeline->ops[i].device].n_allocated += timeline->ops[i].power != 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!samples[i].n_allocated)
			continue;
		samples[i].list = blocks_reserve(samples[i].n_allocated, sizeof(*samples[i].list));
		if (!samples[i].list)
			return FLEXTRACE_E_MEMORY;
	}
	return FLEXTRACE_OK;
}

static int add_samples(struct power_samples *all, uint32_t n, const struct timeline *timeline)
{
	FLEXTRACE_TRY(make_room(all, n, timeline));
	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		struct power_samples *of;
		struct power_sample sample;

		if (row->kind >= ROW_FIRMWARE || !take_sample(timeline, row, &sample))
			continue;
		of = &all[timeline->ops[row->source].device];
		if (of->n == of->n_allocated) /* one more than a row for each */
			continue;
		FLEXTRACE_TRY(blocks_fill_next(of->list, of->n, sizeof(*of->list)));
		if (of->n && sample.time_ns <= of->list[of->n - 1].time_ns)
			of->is_unordered = true;
		of->list[of->n++] = sample;
	}
	return FLEXTRACE_OK;
}

ORDER_BY(compare_samples, struct power_sample, time_ns, ticks, counts, source);

/* Of samples at one time, the first stays. */
static void sort_samples(struct power_samples *of)
{
	uint32_t n = 0;

	if (!of->is_unordered)
		return;
	qsort(of->list, of->n, sizeof(*of->list), compare_samples);
	for (uint32_t i = 0; i < of->n; i++) {
		if (!n || of->list[i].time_ns > of->list[n - 1].time_ns)
			of->list[n++] = of->list[i];
	}
	of->n = n;
}

/* -- watts ------------------------------------------------------------------------------------- */

/* What one count between two samples is, in W; NAN: they cannot be compared. */
static double watts_per_count(const struct power_sample *from, const struct power_sample *to,
                              uint8_t unit)
{
	double us = (double)((uint64_t)to->time_ns - (uint64_t)from->time_ns) / 1e3;

	if (to->segment != from->segment || unit == POWER_NO_UNIT)
		return NAN;
	if (unit == POWER_MICROJOULE)
		return 1 / us;
	if (unit == POWER_PER_US)
		return VOLTS / PER_COULOMB / us;
	if (to->ticks <= from->ticks)
		return NAN;
	return VOLTS / PER_COULOMB / (double)(to->ticks - from->ticks);
}

static double max_watts(uint8_t unit)
{
	return unit == POWER_MICROJOULE ? 10 * POWER_MAX_WATTS : POWER_MAX_WATTS;
}

static double counts_between(const struct power_sample *from, const struct power_sample *to)
{
	return (double)(uint32_t)(to->counts - from->counts);
}

/* Between a sample and the next one; NAN = not known. */
static double measure_one(struct power_device *device, const struct power_sample *from)
{
	double count = watts_per_count(from, &from[1], device->unit);
	double watts = count * counts_between(from, &from[1]);

	if (watts > max_watts(device->unit))
		device->n_implausible++;
	else if (watts + count * WRAP <= max_watts(device->unit))
		device->n_unclear++;
	else
		return watts;
	return NAN;
}

static int measure(struct power_device *device, const struct power_samples *samples)
{
	device->n = samples->n;
	device->levels = blocks_reserve(device->n, sizeof(*device->levels));
	if (!device->levels)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < device->n; i++) {
		const struct power_sample *from = &samples->list[i];
		bool is_last = i + 1 == device->n;

		FLEXTRACE_TRY(blocks_fill_next(device->levels, i, sizeof(*device->levels)));
		device->levels[i] = (struct power_level){from->time_ns,
		                                         is_last ? NAN : measure_one(device, from)};
	}
	return FLEXTRACE_OK;
}

/* The unit that makes most stretches possible. */
static uint8_t guess_unit(const struct power_samples *samples)
{
	uint64_t n_possible = 0, n = 0;

	for (uint32_t i = 0; i + 1 < samples->n; i++) {
		const struct power_sample *from = &samples->list[i];
		double count = watts_per_count(from, &from[1], POWER_PER_US);

		if (isnan(count))
			continue;
		n++;
		n_possible += count * counts_between(from, &from[1]) <= POWER_MAX_WATTS;
	}
	return 2 * n_possible >= n ? POWER_PER_US : POWER_PER_CYCLE;
}

static uint8_t unit_of(const struct timeline *timeline, uint32_t index,
                       const struct power_samples *samples, enum power_unit asked)
{
	const char *own = string_get(timeline->strings,
	                             timeline->identity->devices[index].power_unit);

	if (asked != POWER_AUTO)
		return (uint8_t)asked;
	if (!*own)
		return guess_unit(samples);
	return power_unit_read(own, &asked) ? (uint8_t)asked : POWER_NO_UNIT;
}

int power_find(struct power *power, struct power_samples **ret_samples,
               const struct timeline *timeline, enum power_unit unit)
{
	uint32_t n = timeline->has.power ? timeline->identity->n_devices : 0;
	struct power_samples *samples = calloc(n + 1ull, sizeof(*samples));

	*ret_samples = samples;
	*power = (struct power){calloc(n + 1ull, sizeof(*power->devices)), n};
	if (!power->devices || !samples)
		return FLEXTRACE_E_MEMORY;
	if (n)
		FLEXTRACE_TRY(add_samples(samples, n, timeline));
	for (uint32_t i = 0; i < n; i++) {
		sort_samples(&samples[i]);
		power->devices[i].unit = unit_of(timeline, i, &samples[i], unit);
		FLEXTRACE_TRY(measure(&power->devices[i], &samples[i]));
	}
	return FLEXTRACE_OK;
}

void power_release(struct power *power)
{
	for (uint32_t i = 0; power->devices && i < power->n_devices; i++)
		blocks_free(power->devices[i].levels);
	free(power->devices);
	*power = (struct power){.n_devices = 0};
}

void power_samples_free(struct power_samples *samples, uint32_t n_devices)
{
	for (uint32_t i = 0; samples && i < n_devices; i++)
		blocks_free(samples[i].list);
	free(samples);
}
