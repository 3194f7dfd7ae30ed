/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows stand core by core in a log, or in no order at all. Each device has a spool that sorts them
 * by its counter. A row is taken to be near the one before it, half a turn of the counter at most,
 * so that logs that wrap and logs that are shuffled are both put right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "tt_impl.h"

#define SPOOL_BYTES   ((size_t)2 << 20)
#define MAX_DEVICES   256u
#define KEY_BIAS      (UINT64_C(1) << 61) /* the key of cycle 0: wraps may stand before it */
#define PROGRAM_SHIFT 10                  /* a run host id: program << 10 | device */
#define WRAP          (UINT64_C(1) << TT_COUNTER_BITS)

/* -- who ------------------------------------------------------------------------------------- */

int tt_find_device(struct tt *tt, const struct tt_header *header, uint32_t slot,
                   uint32_t *ret_device)
{
	struct tt_device device = {.slot = slot, .hz = header->hz, .n_cores = header->n_cores};

	*ret_device = map_find(&tt->device_index, slot, 0);
	if (*ret_device != MAP_NONE || tt->n_devices == MAX_DEVICES)
		return FLEXTRACE_OK;
	*ret_device = tt->n_devices;
	memcpy(device.arch, header->arch, sizeof(device.arch));
	FLEXTRACE_TRY(ARRAY_PUSH(tt->devices, tt->n_devices, device));
	FLEXTRACE_TRY(map_put(&tt->device_index, slot, 0, *ret_device));
	tt->devices[*ret_device].spool = spool_new(SPOOL_BYTES);
	return tt->devices[*ret_device].spool ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

static int find_area(struct tt *tt, uint32_t device, uint32_t core, uint32_t processor,
                     uint32_t *ret_area)
{
	const struct tt_area area = {.device = device, .core = core, .processor = processor};
	int code = MAP_PLACE(&tt->area_index, (uint64_t)device << 32 | core, processor, tt->areas,
	                     tt->n_areas, ret_area);

	if (code > 0)
		tt->areas[*ret_area] = area;
	return code < 0 ? code : FLEXTRACE_OK;
}

/* -- markers --------------------------------------------------------------------------------- */

static int add_marker(struct tt *tt, const struct tt_marker *marker, uint32_t *ret_id)
{
	uint32_t place;
	int code = MAP_PLACE(&tt->marker_index, marker->name,
	                     (uint64_t)marker->file << 32 | marker->line, tt->markers,
	                     tt->n_markers, &place);

	FLEXTRACE_TRY(code);
	tt->markers[place] = *marker;
	*ret_id = place + 1;
	return FLEXTRACE_OK;
}

/* Stores the wire id of what a row names; what has no name has its timer's id for one. */
static int find_marker(struct tt *tt, const struct tt_row *row, const char *suffix,
                       uint32_t *ret_id)
{
	struct tt_marker marker = {.line = row->line};
	char text[512];

	if (*row->zone)
		snprintf(text, sizeof(text), "%.400s%s", row->zone, suffix);
	else
		snprintf(text, sizeof(text), "marker %llu%s", (unsigned long long)row->timer,
		         suffix);
	FLEXTRACE_TRY(string_intern(&tt->import.cache, text, &marker.name));
	FLEXTRACE_TRY(string_intern(&tt->import.cache, row->file, &marker.file));
	return add_marker(tt, &marker, ret_id);
}

int tt_find_pair(struct tt *tt, uint32_t from, uint32_t to, uint32_t *ret_id)
{
	struct tt_marker marker = {.line = 0};
	char text[128];

	snprintf(text, sizeof(text), "%s to %s",
	         string_get(tt->import.strings, tt->markers[from - 1].name),
	         string_get(tt->import.strings, tt->markers[to - 1].name));
	FLEXTRACE_TRY(string_intern(&tt->import.cache, text, &marker.name));
	FLEXTRACE_TRY(string_intern(&tt->import.cache, "", &marker.file));
	return add_marker(tt, &marker, ret_id);
}

static int find_markers(struct tt *tt, const struct tt_row *row, struct tt_item *item)
{
	item->high_marker = 0;
	item->marker = 0;
	item->is_named = *row->zone != 0;
	if (row->kind == TT_MARK && !item->is_named)
		item->data = row->timer;
	if (row->kind < TT_MARK)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_marker(tt, row, row->kind == TT_SUM ? " total" : "", &item->marker));
	if (row->kind >= TT_VALUE && row->data > UINT32_MAX)
		FLEXTRACE_TRY(find_marker(tt, row, " high word", &item->high_marker));
	return FLEXTRACE_OK;
}

/* -- when ------------------------------------------------------------------------------------ */

static uint64_t key_of(struct tt_device *device, uint64_t ticks)
{
	device->is_wide |= ticks >= WRAP;
	if (device->is_wide || !device->has_items)
		return KEY_BIAS + ticks;
	return tt_near(device->last_key, KEY_BIAS + ticks);
}

static void note_time(struct tt *tt, struct tt_device *device, struct tt_area *area, uint64_t key)
{
	if (!device->has_items || key < device->first_key)
		device->first_key = key;
	device->has_items = true;
	device->last_key = key;
	tt->import.ledger.warnings[WARNING_UNSORTED_ROWS] += key < area->last_key;
	area->last_key = key;
}

uint64_t tt_ticks(const struct tt_device *device, uint64_t key)
{
	return key - KEY_BIAS + device->below;
}

uint64_t tt_raw(const struct tt_device *device, uint64_t ticks)
{
	return device->is_wide ? ticks : ticks & (WRAP - 1);
}

uint64_t tt_ns(const struct tt_device *device, uint64_t ticks)
{
	uint64_t seconds = ticks / device->hz, rest = ticks % device->hz;
	uint64_t ns = seconds * 1000000000u + rest * 1000000000u / device->hz;

	return ns + (uint64_t)device->shift_ns;
}

/* -- devices on one time --------------------------------------------------------------------- */

static int note_program(struct tt *tt, const struct tt_row *row, uint32_t device, uint64_t key)
{
	uint64_t id = row->job >> PROGRAM_SHIFT;
	uint32_t place;
	int code;

	if (row->kind != FLEXTRACE_WIRE_FW_START || !id)
		return FLEXTRACE_OK;
	code = MAP_PLACE(&tt->program_index, id, device, tt->programs, tt->n_programs, &place);
	FLEXTRACE_TRY(code);
	if (code || key < tt->programs[place].first_key)
		tt->programs[place] = (struct tt_program){id, key, device};
	return FLEXTRACE_OK;
}

static uint64_t key_ns(const struct tt_device *device, uint64_t key)
{
	return tt_ns(device, tt_ticks(device, key));
}

/* The programs that a device and the first one both ran began together, half of them before it and
 * half behind; devices without such begin with the first one's first row. */
static void shift_device(struct tt *tt, uint32_t index, int64_t *shifts)
{
	const struct tt_device *first = &tt->devices[0];
	struct tt_device *device = &tt->devices[index];
	uint32_t n = 0;

	for (uint32_t i = 0; i < tt->n_programs; i++) {
		const struct tt_program *program = &tt->programs[i];
		uint32_t other = program->device == index
		                         ? map_find(&tt->program_index, program->id, 0)
		                         : MAP_NONE;

		if (other == MAP_NONE)
			continue;
		shifts[n++] = (int64_t)(key_ns(first, tt->programs[other].first_key) -
		                        key_ns(device, program->first_key));
	}
	order_numbers(shifts, n);
	device->shift_ns =
		n ? shifts[n / 2]
		  : (int64_t)(key_ns(first, first->first_key) - key_ns(device, device->first_key));
}

int tt_settle(struct tt *tt)
{
	int64_t *shifts, least = 0;

	FLEXTRACE_TRY(ARRAY_NEW(shifts, tt->n_programs + 1ull));
	for (uint32_t i = 0; i < tt->n_devices; i++) {
		struct tt_device *device = &tt->devices[i];

		if (device->has_items)
			device->below = device->first_key <= KEY_BIAS ? WRAP : 0;
		if (device->has_cause)
			device->shift_ns = device->cause_ns;
		else if (i && device->has_items && tt->devices[0].has_items)
			shift_device(tt, i, shifts);
		/* No time is before 1. */
		if (device->has_items && (int64_t)key_ns(device, device->first_key) <= least)
			least = (int64_t)key_ns(device, device->first_key) - 1;
	}
	for (uint32_t i = 0; i < tt->n_devices; i++)
		tt->devices[i].shift_ns -= least;
	free(shifts);
	return FLEXTRACE_OK;
}

/* -- a row ----------------------------------------------------------------------------------- */

static int add_item(struct tt *tt, const struct tt_row *row, uint32_t device, uint32_t processor)
{
	struct tt_item item = {
		.data = row->data,
		.job = row->job,
		.kind = row->kind,
		.origin = origin_make(tt->import.streams->files.n - 1, row->number),
	};
	uint64_t key;
	void *room;

	FLEXTRACE_TRY(find_area(tt, device, row->core, processor, &item.area));
	FLEXTRACE_TRY(find_markers(tt, row, &item));
	key = key_of(&tt->devices[device], row->ticks);
	note_time(tt, &tt->devices[device], &tt->areas[item.area], key);
	FLEXTRACE_TRY(note_program(tt, row, device, key));
	FLEXTRACE_TRY(spool_add(tt->devices[device].spool, key, sizeof(item), &room));
	memcpy(room, &item, sizeof(item));
	return FLEXTRACE_OK;
}

int tt_push(struct tt *tt, const struct tt_header *header, const struct tt_row *row,
            const char **ret_fault)
{
	uint32_t device, processor;

	FLEXTRACE_TRY(tt_find_device(tt, header, row->slot, &device));
	FLEXTRACE_TRY(tt_find_processor(tt, row->risc, &processor));
	*ret_fault = device == MAP_NONE      ? "it is of more than 256 devices"
	             : processor == MAP_NONE ? "it is of more than 64 kinds of RISC"
	                                     : NULL;
	return *ret_fault ? FLEXTRACE_OK : add_item(tt, row, device, processor);
}
