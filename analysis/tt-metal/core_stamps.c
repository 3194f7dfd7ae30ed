/* SPDX-License-Identifier: Apache-2.0 */
#include "core_stamps.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "model/clocks.h"

bool core_is_named(const struct timeline *timeline, uint32_t device)
{
	return timeline->identity->devices[device].processors != 0;
}

const struct device *core_device(const struct core_stamps *all, uint32_t place)
{
	return &all->timeline->identity->devices[all->owners->devices[place]];
}

/* By the counter's fit that has most operations; 0: there is none. */
static uint64_t fitted_hz(const struct timeline *timeline, uint32_t device)
{
	const struct clock_report *reports = NULL, *best = NULL;
	uint32_t n = 0;

	if (timeline->clocks)
		reports = clocks_report(timeline->clocks, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (timeline->identity->counters[reports[i].counter].device == device &&
		    reports[i].freq_mhz > 0 && (!best || reports[i].events > best->events))
			best = &reports[i];
	}
	return best ? (uint64_t)(best->freq_mhz * 1e6 + 0.5) : 0;
}

uint64_t core_hz(const struct core_stamps *all, uint32_t place)
{
	const struct identity *identity = all->timeline->identity;
	uint32_t device = all->owners->devices[place];

	for (uint32_t i = 0; i < identity->n_counters; i++) {
		if (identity->counters[i].device == device && identity->counters[i].nominal_hz)
			return identity->counters[i].nominal_hz;
	}
	if (identity->devices[device].core_hz)
		return identity->devices[device].core_hz;
	return fitted_hz(all->timeline, device);
}

void core_processor_name(const struct core_stamps *all, uint32_t place, uint32_t processor,
                         char *ret_name, size_t n_bytes)
{
	const struct track track = {.owner = all->owners->devices[place], .processor = processor};
	struct string_text name;

	if (identity_processor(all->timeline->identity, all->timeline->strings, &track, &name))
		snprintf(ret_name, n_bytes, "%.*s", (int)name.length, name.bytes);
	else
		snprintf(ret_name, n_bytes, "%u", processor);
}

/* -- collecting ------------------------------------------------------------------------------ */

static bool is_stamped(const struct device_row *row)
{
	return row->kind == ROW_FIRMWARE || row->kind == ROW_KERNEL;
}

static struct core_stamp *add(struct core_stamps *all, uint32_t run, uint32_t stamp, uint64_t ticks)
{
	const struct mark_run *of = &all->timeline->marks.runs[run];

	all->stamps[all->n] = (struct core_stamp){
		.ticks = ticks,
		.device = all->owners->device_positions[of->device],
		.x = of->core % FLEXTRACE_CORE_STRIDE,
		.y = of->core / FLEXTRACE_CORE_STRIDE,
		.run = run,
		.processor = of->processor & 0x1fffffff,
		.stamp = stamp & 7,
	};
	return &all->stamps[all->n++];
}

static void add_row(struct core_stamps *all, const struct device_row *row)
{
	const struct zone *zone = &all->timeline->marks.zones[row->source];
	bool is_kernel = row->kind == ROW_KERNEL;
	struct core_stamp *start = add(
		all, zone->run, is_kernel ? FLEXTRACE_WIRE_KERNEL_START : FLEXTRACE_WIRE_FW_START,
		zone->first_ticks);

	if (is_kernel)
		start->name = all->timeline->markers[zone->marker].name;
	add(all, zone->run, is_kernel ? FLEXTRACE_WIRE_KERNEL_END : FLEXTRACE_WIRE_FW_END,
	    zone->last_ticks);
}

static uint64_t count_rows(const struct timeline *timeline)
{
	uint64_t n = 0;

	TABLE_EACH(struct device_row, row, &timeline->device_rows)
		n += is_stamped(row) && core_is_named(timeline, timeline->tracks[row->track].owner);
	return n;
}

static int collect(struct core_stamps *all)
{
	const struct timeline *timeline = all->timeline;

	FLEXTRACE_TRY(ARRAY_NEW(all->stamps,
	                        2 * count_rows(timeline) + timeline->marks.n_loose_stamps + 1));
	TABLE_EACH(struct device_row, row, &timeline->device_rows) {
		if (is_stamped(row) && core_is_named(timeline, timeline->tracks[row->track].owner))
			add_row(all, row);
	}
	for (uint32_t i = 0; i < timeline->marks.n_loose_stamps; i++) {
		const struct loose_stamp *stamp = &timeline->marks.loose_stamps[i];

		if (core_is_named(timeline, timeline->marks.runs[stamp->run].device))
			add(all, stamp->run, stamp->stamp, stamp->ticks);
	}
	return FLEXTRACE_OK;
}

ORDER_BY(compare_stamps, struct core_stamp, device, y, x, ticks, processor, stamp);

/* -- cores ----------------------------------------------------------------------------------- */

ORDER_BY(compare_cores, struct core, device, y, x);

static int add_core(struct core_stamps *all, const struct core *core)
{
	if (all->n_cores && !compare_cores(&all->cores[all->n_cores - 1], core))
		return FLEXTRACE_OK;
	return ARRAY_PUSH(all->cores, all->n_cores, *core);
}

static struct core core_of(const struct core_stamp *stamp)
{
	return (struct core){.device = stamp->device, .x = stamp->x, .y = stamp->y};
}

/* A core may have tracks without stamps, and stamps without an interval that a track shows. */
static int list_cores(struct core_stamps *all)
{
	const struct timeline *timeline = all->timeline;
	uint32_t n = 0;

	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		const struct track *track = &timeline->tracks[i];
		struct core core = {
			.x = track->id % FLEXTRACE_CORE_STRIDE,
			.y = track->id / FLEXTRACE_CORE_STRIDE,
		};

		if (track->kind != TRACK_CORE || !core_is_named(timeline, track->owner))
			continue;
		core.device = all->owners->device_positions[track->owner];
		FLEXTRACE_TRY(add_core(all, &core));
	}
	for (uint64_t i = 0; i < all->n; i++) {
		const struct core core = core_of(&all->stamps[i]);

		FLEXTRACE_TRY(add_core(all, &core));
	}
	ORDER_ARRAY(all->cores, all->n_cores, compare_cores);
	for (uint32_t i = 0; i < all->n_cores; i++) {
		if (!i || compare_cores(&all->cores[i], &all->cores[n - 1]))
			all->cores[n++] = all->cores[i];
	}
	all->n_cores = n;
	return FLEXTRACE_OK;
}

static bool is_of_core(const struct core_stamp *stamp, const struct core *core)
{
	return stamp->device == core->device && stamp->x == core->x && stamp->y == core->y;
}

/* Both are in one order, and each stamp has its core. */
static void share_out(struct core_stamps *all)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < all->n_cores; i++) {
		struct core *core = &all->cores[i];

		core->first = at;
		while (at < all->n && is_of_core(&all->stamps[at], core))
			at++;
		core->n = at - core->first;
	}
}

static bool has_named(const struct timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->identity->n_devices; i++) {
		if (core_is_named(timeline, i))
			return true;
	}
	return false;
}

void core_places_init(struct core_stamps *all, const struct findings *findings)
{
	*all = (struct core_stamps){.timeline = findings->timeline};
	if (has_named(findings->timeline))
		all->owners = findings->owners;
}

int core_stamps_init(struct core_stamps *all, const struct findings *findings)
{
	core_places_init(all, findings);
	if (!all->owners)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(collect(all));
	ORDER_ARRAY(all->stamps, all->n, compare_stamps);
	FLEXTRACE_TRY(list_cores(all));
	share_out(all);
	return FLEXTRACE_OK;
}

void core_stamps_release(struct core_stamps *all)
{
	free(all->stamps);
	free(all->cores);
}
