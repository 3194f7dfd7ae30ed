/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "derive_impl.h"
#include "jobs.h"

/* Ends look this far down for the begin they lost: firmware does not nest deeper, damaged input
 * may. */
#define ZONE_SEARCH_DEPTH 64

struct open_zone {
	struct tick_mark mark;
	struct place place;
	uint32_t name; /* string; 0 = not known */
	uint32_t file, line;
};

/* One core and processor, whose marks come in one go. */
struct area {
	struct derive *derive;  /* weak */
	struct job_names *jobs; /* weak */
	uint32_t device, core, processor, process;
	uint32_t family;
	struct open_zone *open; /* owned: zones of the ring */
	uint32_t n_open, n_open_allocated;
	struct open_zone slot[2]; /* open firmware and kernel intervals */
	bool has_slot[2];
	uint32_t stream, index; /* the batch that is read */
	bool has_batch, has_row;
};

enum { SLOT_FIRMWARE, SLOT_KERNEL };

static int lose(struct area *area, enum loss_cause cause, uint32_t stream)
{
	struct loss_place place = device_place(area->derive, area->device, area->core, stream);

	return ledger_lose(area->derive->ledger, cause, &place, 1, INT64_MIN);
}

/* -- rows ----------------------------------------------------------------------------------- */

static int add_zone(struct area *area, uint8_t kind, const struct open_zone *begin,
                    const struct tick_mark *end, const struct place *end_place)
{
	struct derive *derive = area->derive;

	if (begin->place.time_ns > end_place->time_ns)
		return lose(area, LOSS_BACKWARDS, end->stream);
	FLEXTRACE_TRY(device_add_row(derive, kind, (uint32_t)derive->n_zones, &begin->place,
	                             end_place, TIME_CERTIFIED));
	derive->zones[derive->n_zones++] = (struct zone){
		.first_ticks = begin->mark.ticks,
		.last_ticks = end->ticks,
		.run = begin->mark.run,
		.job = begin->mark.job,
		.device = area->device,
		.core = area->core,
		.processor = area->processor,
		.queue = begin->mark.queue,
		.name = begin->name,
		.file = begin->file,
		.line = begin->line,
		.stream = begin->mark.stream,
		.index = begin->mark.index,
	};
	return FLEXTRACE_OK;
}

/* A marker without a name is called by its number, and the user is told how to get names. */
static int name_marker(struct area *area, uint32_t id, uint32_t *name)
{
	char text[32];

	if (*name)
		return FLEXTRACE_OK;
	area->derive->ledger->warnings[WARNING_UNNAMED_MARKER]++;
	snprintf(text, sizeof(text), "marker 0x%x", id);
	return string_intern(&area->derive->strings, text, name);
}

static int add_instant(struct area *area, const struct open_zone *zone)
{
	struct derive *derive = area->derive;
	const struct tick_mark *mark = &zone->mark;
	struct instant_row *row = row_sorter_append(&derive->instants);
	uint32_t name = zone->name;

	if (!row)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(name_marker(area, mark->id, &name));
	*row = (struct instant_row){
		.time_ns = zone->place.time_ns,
		.err_ns = zone->place.err_ns,
		.name = name,
		.stream = mark->stream,
		.index = mark->index,
		.class = RECORD_MARKER_BATCH,
		.status = zone->place.status,
	};
	derive_cover(derive, row->time_ns, row->time_ns);
	return family_track(derive, area->family, 0, &row->track);
}

static int add_value(struct area *area, const struct open_zone *zone)
{
	struct derive *derive = area->derive;
	const struct tick_mark *mark = &zone->mark;
	struct counter_row *row = row_sorter_append(&derive->counters);
	uint32_t name = zone->name;

	if (!row)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(name_marker(area, mark->id, &name));
	*row = (struct counter_row){
		.time_ns = zone->place.time_ns,
		.value = mark->value,
		.err_ns = zone->place.err_ns,
		.owner = mark->device,
		.core = mark->core,
		.name = name,
		.stream = mark->stream,
		.index = mark->index,
		.is_device = 1,
		.status = zone->place.status,
	};
	derive_cover(derive, row->time_ns, row->time_ns);
	return FLEXTRACE_OK;
}

/* -- zones of the ring ---------------------------------------------------------------------- */

static bool is_of_same_run(const struct tick_mark *left, const struct tick_mark *right)
{
	return left->segment == right->segment && left->counter == right->counter &&
	       (!left->run || !right->run || left->run == right->run);
}

/* Drops the open zones that neither the run nor the counter of `mark` can end. */
static int drop_stale(struct area *area, const struct tick_mark *mark)
{
	while (area->n_open && !is_of_same_run(&area->open[area->n_open - 1].mark, mark))
		FLEXTRACE_TRY(
			lose(area, LOSS_UNMATCHED_BEGIN, area->open[--area->n_open].mark.stream));
	return FLEXTRACE_OK;
}

static int open_zone(struct area *area, const struct open_zone *zone)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(area->open, area->n_open_allocated, area->n_open + 1ull));
	area->open[area->n_open++] = *zone;
	return FLEXTRACE_OK;
}

/* Begin and end stand at different places of the source, so their ids differ; their names are
 * equal. */
static int close_zone(struct area *area, const struct open_zone *end)
{
	uint32_t lowest = area->n_open > ZONE_SEARCH_DEPTH ? area->n_open - ZONE_SEARCH_DEPTH : 0;
	struct open_zone *begin = NULL;

	for (uint32_t i = area->n_open; i-- > lowest && !begin;) {
		uint32_t name = area->open[i].name;

		if (!name || !end->name || name == end->name)
			begin = &area->open[i];
	}
	if (!begin)
		return lose(area, LOSS_UNMATCHED_END, end->mark.stream);
	while (&area->open[--area->n_open] != begin)
		FLEXTRACE_TRY(
			lose(area, LOSS_UNMATCHED_BEGIN, area->open[area->n_open].mark.stream));
	FLEXTRACE_TRY(name_marker(area, begin->mark.id, &begin->name));
	return add_zone(area, ROW_ZONE, begin, &end->mark, &end->place);
}

/* -- slots ---------------------------------------------------------------------------------- */

static int open_slot(struct area *area, int which, const struct open_zone *begin)
{
	if (area->has_slot[which])
		FLEXTRACE_TRY(lose(area, LOSS_UNMATCHED_BEGIN, area->slot[which].mark.stream));
	area->slot[which] = *begin;
	area->has_slot[which] = true;
	return FLEXTRACE_OK;
}

static int close_slot(struct area *area, int which, const struct open_zone *end)
{
	struct open_zone *begin = &area->slot[which];
	uint8_t kind = which == SLOT_FIRMWARE ? ROW_FIRMWARE : ROW_KERNEL;

	if (!area->has_slot[which] || !is_of_same_run(&begin->mark, &end->mark))
		return lose(area, LOSS_UNMATCHED_END, end->mark.stream);
	area->has_slot[which] = false;
	if (which == SLOT_KERNEL)
		FLEXTRACE_TRY(job_name(area->jobs, &end->mark, end->place.time_ns, &begin->name));
	if (!begin->name)
		FLEXTRACE_TRY(string_intern(&area->derive->strings,
		                            which == SLOT_FIRMWARE ? "firmware" : "kernel",
		                            &begin->name));
	return add_zone(area, kind, begin, &end->mark, &end->place);
}

static int take_slot_stamp(struct area *area, const struct open_zone *zone)
{
	switch (zone->mark.id) {
	case FLEXTRACE_WIRE_FW_START:
		return open_slot(area, SLOT_FIRMWARE, zone);
	case FLEXTRACE_WIRE_KERNEL_START:
		return open_slot(area, SLOT_KERNEL, zone);
	case FLEXTRACE_WIRE_KERNEL_END:
		return close_slot(area, SLOT_KERNEL, zone);
	default: /* FLEXTRACE_WIRE_FW_END: unwrap passes no other on */
		return close_slot(area, SLOT_FIRMWARE, zone);
	}
}

/* -- areas ---------------------------------------------------------------------------------- */

/* Books the batch that is read. The loss of each of its marks is counted already. */
static void book_batch(struct area *area)
{
	struct ledger *ledger = area->derive->ledger;

	if (!area->has_batch)
		return;
	if (area->has_row)
		ledger->rows[RECORD_MARKER_BATCH]++;
	else
		ledger->discarded[RECORD_MARKER_BATCH][LOSS_NO_CLOCK]++;
	area->has_batch = area->has_row = false;
}

static void enter_batch(struct area *area, const struct tick_mark *mark)
{
	if (area->has_batch && (area->stream != mark->stream || area->index != mark->index))
		book_batch(area);
	area->has_batch = true;
	area->stream = mark->stream;
	area->index = mark->index;
}

static int leave_area(struct area *area)
{
	book_batch(area);
	while (area->n_open)
		FLEXTRACE_TRY(
			lose(area, LOSS_UNMATCHED_BEGIN, area->open[--area->n_open].mark.stream));
	for (int which = 0; which < 2; which++) {
		if (area->has_slot[which])
			FLEXTRACE_TRY(
				lose(area, LOSS_UNMATCHED_BEGIN, area->slot[which].mark.stream));
		area->has_slot[which] = false;
	}
	return FLEXTRACE_OK;
}

static int enter_area(struct area *area, const struct tick_mark *mark)
{
	if (area->device == mark->device && area->core == mark->core &&
	    area->processor == mark->processor)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(leave_area(area));
	area->device = mark->device;
	area->core = mark->core;
	area->processor = mark->processor;
	area->process = area->derive->identity->devices[mark->device].process;
	return family_of_core(area->derive, mark->device, mark->core, mark->processor,
	                      &area->family);
}

static int take_placed(struct area *area, struct open_zone *zone)
{
	const struct tick_mark *mark = &zone->mark;

	if (mark->kind == FLEXTRACE_WIRE_SLOT_STAMP)
		return take_slot_stamp(area, zone);
	identity_marker(area->derive->identity, mark->device, mark->id, &zone->name, &zone->file,
	                &zone->line);
	FLEXTRACE_TRY(drop_stale(area, mark));
	switch (mark->kind) {
	case FLEXTRACE_WIRE_MARK:
		return add_instant(area, zone);
	case FLEXTRACE_WIRE_VALUE:
		return add_value(area, zone);
	case FLEXTRACE_WIRE_ZONE_BEGIN:
		return open_zone(area, zone);
	case FLEXTRACE_WIRE_ZONE_END:
		return close_zone(area, zone);
	default:
		return FLEXTRACE_OK;
	}
}

static int take_mark(struct area *area, const struct tick_mark *mark)
{
	struct open_zone zone = {.mark = *mark};

	FLEXTRACE_TRY(enter_area(area, mark));
	enter_batch(area, mark);
	if (!place_ticks(area->derive, area->process, mark->counter, mark->segment, mark->ticks,
	                 &zone.place))
		return lose(area, LOSS_NO_CLOCK, mark->stream);
	zone.place.status = worse_status(zone.place.status, mark->status);
	area->has_row = true;
	return take_placed(area, &zone);
}

/* Every row of a zone has an end: so many there can be. */
static uint64_t count_ends(struct table *marks)
{
	struct table_cursor cursor;
	const struct tick_mark *mark;
	uint64_t n = 0;

	table_read(&cursor, marks, false);
	while ((mark = table_next(&cursor, sizeof(*mark))))
		n += mark->kind == FLEXTRACE_WIRE_ZONE_END ||
		     (mark->kind == FLEXTRACE_WIRE_SLOT_STAMP &&
		      (mark->id == FLEXTRACE_WIRE_KERNEL_END || mark->id == FLEXTRACE_WIRE_FW_END));
	return n;
}

static int take_all(struct area *area, struct table *marks)
{
	struct table_cursor cursor;
	const struct tick_mark *mark;

	table_read(&cursor, marks, true);
	while ((mark = table_next(&cursor, sizeof(*mark))))
		FLEXTRACE_TRY(take_mark(area, mark));
	return leave_area(area);
}

int zones_take_marks(struct derive *derive, struct table *marks)
{
	struct job_names jobs = {.derive = derive};
	struct area area = {.derive = derive, .jobs = &jobs, .device = FLEXTRACE_NONE};
	uint64_t n = count_ends(marks);
	int code;

	if (n >= FLEXTRACE_NONE)
		return FLEXTRACE_E_MEMORY;
	if (n) {
		derive->zones = malloc(n * sizeof(*derive->zones));
		if (!derive->zones)
			return FLEXTRACE_E_MEMORY;
	}
	code = take_all(&area, marks);
	free(area.open);
	free(jobs.jobs);
	return code;
}
