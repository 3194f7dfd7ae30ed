/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "derive_impl.h"
#include "jobs.h"

/* Ends look this far down for the begin they lost: firmware does not nest deeper, damaged input
 * may. */
#define ZONE_SEARCH_DEPTH 64

struct open_zone {
	struct tick_mark mark;
	const struct mark_batch *batch; /* weak: where it came from */
	struct place place;
	uint32_t name; /* string; 0 = not known */
	uint32_t file, line;
};

/* One core and processor, whose marks come in one go. */
struct area {
	struct derive *derive;          /* weak */
	struct job_names *jobs;         /* weak */
	const struct mark_batch *batch; /* weak: the one that is read; NULL = none yet */
	uint32_t process;
	uint32_t family;
	bool has_row;           /* the batch */
	struct open_zone *open; /* owned: zones of the ring */
	uint32_t n_open, n_open_allocated;
	struct open_zone slot[2]; /* open firmware and kernel intervals */
	bool has_slot[2];
};

enum { SLOT_FIRMWARE, SLOT_KERNEL };

static int lose(struct area *area, enum loss_cause cause, const struct mark_batch *batch)
{
	struct loss_place place = device_place(area->derive, batch->device, batch->core,
	                                       batch->stream);

	return ledger_lose(area->derive->ledger, cause, &place, 1, INT64_MIN);
}

/* -- rows ----------------------------------------------------------------------------------- */

static int add_zone(struct area *area, uint8_t kind, const struct open_zone *begin,
                    const struct open_zone *end)
{
	struct derive *derive = area->derive;

	if (begin->place.time_ns > end->place.time_ns)
		return lose(area, LOSS_BACKWARDS, end->batch);
	FLEXTRACE_TRY(device_add_row(derive, kind, (uint32_t)derive->n_zones, &begin->place,
	                             &end->place, TIME_CERTIFIED));
	derive->zones[derive->n_zones++] = (struct zone){
		.first_ticks = begin->mark.ticks,
		.last_ticks = end->mark.ticks,
		.run = begin->mark.run,
		.job = begin->mark.job,
		.device = begin->batch->device,
		.core = begin->batch->core,
		.processor = begin->batch->processor,
		.name = begin->name,
		.file = begin->file,
		.line = begin->line,
		.stream = begin->batch->stream,
		.index = begin->batch->index,
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
		.stream = zone->batch->stream,
		.index = zone->batch->index,
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
		.owner = zone->batch->device,
		.core = zone->batch->core,
		.name = name,
		.stream = zone->batch->stream,
		.index = zone->batch->index,
		.is_device = 1,
		.class = RECORD_MARKER_BATCH,
		.status = zone->place.status,
	};
	derive_cover(derive, row->time_ns, row->time_ns);
	return FLEXTRACE_OK;
}

/* -- zones of the ring ---------------------------------------------------------------------- */

static bool is_of_same_run(const struct open_zone *left, const struct open_zone *right)
{
	uint64_t left_run = left->mark.run, right_run = right->mark.run;

	return left->mark.segment == right->mark.segment &&
	       left->batch->counter == right->batch->counter &&
	       (!left_run || !right_run || left_run == right_run);
}

/* Drops the open zones that neither the run nor the counter of `zone` can end. */
static int drop_stale(struct area *area, const struct open_zone *zone)
{
	while (area->n_open && !is_of_same_run(&area->open[area->n_open - 1], zone))
		FLEXTRACE_TRY(lose(area, LOSS_UNMATCHED_BEGIN, area->open[--area->n_open].batch));
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
		return lose(area, LOSS_UNMATCHED_END, end->batch);
	while (&area->open[--area->n_open] != begin)
		FLEXTRACE_TRY(lose(area, LOSS_UNMATCHED_BEGIN, area->open[area->n_open].batch));
	FLEXTRACE_TRY(name_marker(area, begin->mark.id, &begin->name));
	return add_zone(area, ROW_ZONE, begin, end);
}

/* -- slots ---------------------------------------------------------------------------------- */

static int open_slot(struct area *area, int which, const struct open_zone *begin)
{
	if (area->has_slot[which])
		FLEXTRACE_TRY(lose(area, LOSS_UNMATCHED_BEGIN, area->slot[which].batch));
	area->slot[which] = *begin;
	area->has_slot[which] = true;
	return FLEXTRACE_OK;
}

static int close_slot(struct area *area, int which, const struct open_zone *end)
{
	struct open_zone *begin = &area->slot[which];
	uint8_t kind = which == SLOT_FIRMWARE ? ROW_FIRMWARE : ROW_KERNEL;

	if (!area->has_slot[which] || !is_of_same_run(begin, end))
		return lose(area, LOSS_UNMATCHED_END, end->batch);
	area->has_slot[which] = false;
	if (which == SLOT_KERNEL)
		FLEXTRACE_TRY(job_name(area->jobs, end->batch->device, &end->mark,
		                       end->place.time_ns, &begin->name));
	if (!begin->name)
		FLEXTRACE_TRY(string_intern(&area->derive->strings,
		                            which == SLOT_FIRMWARE ? "firmware" : "kernel",
		                            &begin->name));
	return add_zone(area, kind, begin, end);
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

/* The loss of each mark is counted already. */
static void book_batch(const struct area *area)
{
	struct ledger *ledger = area->derive->ledger;

	if (area->has_row)
		ledger->rows[RECORD_MARKER_BATCH]++;
	else
		ledger->discarded[RECORD_MARKER_BATCH][LOSS_NO_CLOCK]++;
}

static int leave_area(struct area *area)
{
	while (area->n_open)
		FLEXTRACE_TRY(lose(area, LOSS_UNMATCHED_BEGIN, area->open[--area->n_open].batch));
	for (int which = 0; which < 2; which++) {
		if (area->has_slot[which])
			FLEXTRACE_TRY(lose(area, LOSS_UNMATCHED_BEGIN, area->slot[which].batch));
		area->has_slot[which] = false;
	}
	return FLEXTRACE_OK;
}

static bool is_same_area(const struct mark_batch *left, const struct mark_batch *right)
{
	return left->device == right->device && left->core == right->core &&
	       left->processor == right->processor;
}

static int enter_batch(struct area *area, const struct mark_batch *batch)
{
	bool is_first = !area->batch || !is_same_area(area->batch, batch);

	if (is_first)
		FLEXTRACE_TRY(leave_area(area));
	area->batch = batch;
	area->has_row = false;
	if (!is_first)
		return FLEXTRACE_OK;
	area->process = area->derive->identity->devices[batch->device].process;
	return family_of_core(area->derive, batch->device, batch->core, batch->processor,
	                      &area->family);
}

static int take_placed(struct area *area, struct open_zone *zone)
{
	const struct tick_mark *mark = &zone->mark;

	if (mark->kind == FLEXTRACE_WIRE_SLOT_STAMP)
		return take_slot_stamp(area, zone);
	identity_marker(area->derive->identity, zone->batch->device, mark->id, &zone->name,
	                &zone->file, &zone->line);
	FLEXTRACE_TRY(drop_stale(area, zone));
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
	const struct mark_batch *batch = area->batch;
	struct open_zone zone = {.mark = *mark, .batch = batch};

	if (!place_ticks(area->derive, area->process, batch->counter, mark->segment, mark->ticks,
	                 &zone.place))
		return lose(area, LOSS_NO_CLOCK, batch);
	zone.place.status = worse_status(zone.place.status, mark->status);
	area->has_row = true;
	return take_placed(area, &zone);
}

static int take_all(struct area *area, struct unwrap_output *unwrapped)
{
	struct table_cursor batches, marks;
	const struct mark_batch *batch;

	table_read(&batches, &unwrapped->mark_batches, false);
	table_read(&marks, &unwrapped->marks, true);
	while ((batch = table_next(&batches, sizeof(*batch)))) {
		FLEXTRACE_TRY(enter_batch(area, batch));
		for (uint32_t i = 0; i < batch->n_marks; i++)
			FLEXTRACE_TRY(
				take_mark(area, table_next(&marks, sizeof(struct tick_mark))));
		book_batch(area);
	}
	return leave_area(area);
}

/* Every row of a zone has an end: so many there can be. */
static int make_room(struct derive *derive, struct table *batches)
{
	struct table_cursor cursor;
	const struct mark_batch *batch;
	uint64_t n = 0;

	table_read(&cursor, batches, false);
	while ((batch = table_next(&cursor, sizeof(*batch))))
		n += batch->n_ends;
	if (n == 0)
		return FLEXTRACE_OK;
	if (n < FLEXTRACE_NONE)
		derive->zones = array_allocate(n, sizeof(*derive->zones));
	return derive->zones ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

int zones_take_marks(struct derive *derive, struct unwrap_output *unwrapped)
{
	struct job_names jobs = {.derive = derive};
	struct area area = {.derive = derive, .jobs = &jobs};
	int code = make_room(derive, &unwrapped->mark_batches);

	if (code >= 0)
		code = take_all(&area, unwrapped);
	free(area.open);
	free(jobs.jobs);
	return code;
}
