/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "derive_impl.h"
#include "jobs.h"

/* Ends look this far down for the begin they lost: firmware does not nest deeper, damaged input
 * may. */
#define ZONE_SEARCH_DEPTH 64

#define N_KNOWN_IDS 256

struct open_zone {
	uint64_t ticks;
	struct place place;
	uint32_t run;    /* index of struct mark_run */
	uint32_t marker; /* index of struct marker; slots: FLEXTRACE_NONE, a run has one name */
};

/* A marker of the area's device that was asked for before; zeroes: none. */
struct known_id {
	uint32_t id_plus_1, marker;
};

/* One core and processor, whose marks come in one go. */
struct area {
	struct derive *derive; /* weak, all */
	struct timeline_marks *marks;
	struct job_names *jobs;
	const struct mark_run *run; /* the one that is read; NULL = none yet */
	uint32_t run_index;         /* of it */
	uint32_t process;
	uint32_t family;
	bool has_row;           /* the batch */
	struct open_zone *open; /* owned: zones of the ring */
	uint32_t n_open, n_open_allocated;
	struct open_zone slot[2]; /* open firmware and kernel intervals */
	bool has_slot[2];
	struct open_zone last[2];           /* latest marks: of slots, of the ring */
	struct known_id known[N_KNOWN_IDS]; /* by the low bits of the id */
};

enum { SLOT_FIRMWARE, SLOT_KERNEL };
enum { LAST_OF_SLOTS, LAST_OF_RING };

static int lose(struct area *area, enum loss_cause cause, const struct open_zone *zone)
{
	const struct mark_run *run = &area->marks->runs[zone->run];
	struct loss_place place = identity_place(area->derive->identity, run->device, run->core,
	                                         run->stream);

	struct placed placed;

	if (!find_host_ns(area->derive, run->counter, run->segment, zone->ticks, &placed))
		placed.host_ns = INT64_MIN;
	return ledger_lose(area->derive->ledger, cause, &place, 1, placed.host_ns);
}

/* -- rows ----------------------------------------------------------------------------------- */

static int add_zone(struct area *area, uint8_t kind, const struct open_zone *begin,
                    const struct open_zone *end, uint8_t status)
{
	struct timeline_marks *marks = area->marks;
	const struct mark_run *run = &marks->runs[begin->run];
	struct device_row *row;

	if (begin->place.time_ns > end->place.time_ns)
		return lose(area, LOSS_BACKWARDS, end);
	row = device_add_row(area->derive, kind, (uint32_t)marks->n_zones, &begin->place,
	                     &end->place, status);
	if (!row)
		return FLEXTRACE_E_MEMORY;
	row->track = area->family;
	derive_count_event(area->derive, run->counter, run->segment, row->status);
	FLEXTRACE_TRY(blocks_fill_next(marks->zones, marks->n_zones, sizeof(*marks->zones)));
	marks->zones[marks->n_zones++] = (struct zone){
		.first_ticks = begin->ticks,
		.last_ticks = end->ticks,
		.run = begin->run,
		.marker = begin->marker,
	};
	return FLEXTRACE_OK;
}

/* What a mark is called; the user is told how to get names where there is none. */
static uint32_t use_name(struct area *area, const struct open_zone *zone)
{
	const struct marker *marker = &area->derive->out.markers[zone->marker];

	area->derive->ledger->warnings[WARNING_UNNAMED_MARKER] += !marker->is_named;
	return marker->name;
}

static int add_instant(struct area *area, const struct open_zone *zone)
{
	struct derive *derive = area->derive;
	struct instant_row *row = row_sorter_append(&derive->instants);

	if (!row)
		return FLEXTRACE_E_MEMORY;
	*row = (struct instant_row){
		.time_ns = zone->place.time_ns,
		.ticks = zone->ticks,
		.err_ns = zone->place.err_ns,
		.name = use_name(area, zone),
		.stream = area->run->stream,
		.index = area->run->index,
		.class = RECORD_MARKER_BATCH,
		.status = zone->place.status,
	};
	derive_cover(derive, row->time_ns, row->time_ns);
	return family_track(derive, area->family, 0, &row->track);
}

static int add_value(struct area *area, const struct open_zone *zone, uint32_t value)
{
	const struct counter_row row = {
		.time_ns = zone->place.time_ns,
		.value = value,
		.err_ns = zone->place.err_ns,
		.owner = area->run->device,
		.core = area->run->core,
		.name = use_name(area, zone),
		.stream = area->run->stream,
		.index = area->run->index,
		.is_device = 1,
		.class = RECORD_MARKER_BATCH,
		.status = zone->place.status,
	};

	return derive_add_counter(area->derive, &row);
}

/* -- zones of the ring ---------------------------------------------------------------------- */

static bool is_of_same_run(const struct area *area, const struct open_zone *zone)
{
	const struct mark_run *run = &area->marks->runs[zone->run];

	return zone->run == area->run_index ||
	       (run->segment == area->run->segment && run->counter == area->run->counter &&
	        (!run->run || !area->run->run || run->run == area->run->run));
}

/* Nothing will end it, and run.json names it. */
static int lose_zone(struct area *area, const struct open_zone *begin)
{
	area->derive->out.markers[begin->marker].n_endless++;
	return lose(area, LOSS_UNMATCHED_BEGIN, begin);
}

/* Of a run that never ended it is what the core was at. */
static int leave_open(struct area *area, const struct open_zone *begin)
{
	FLEXTRACE_TRY(lose_zone(area, begin));
	if (!area->marks->runs[begin->run].is_open)
		return FLEXTRACE_OK;
	use_name(area, begin);
	return add_zone(area, ROW_ZONE, begin, &area->last[LAST_OF_RING], TIME_ASSUMED);
}

/* Drops the open zones that neither the run that is read nor its counter can end. */
static int drop_stale(struct area *area)
{
	while (area->n_open && !is_of_same_run(area, &area->open[area->n_open - 1]))
		FLEXTRACE_TRY(leave_open(area, &area->open[--area->n_open]));
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
static bool may_be_same_zone(const struct derive *derive, const struct open_zone *begin,
                             const struct open_zone *end)
{
	const struct marker *from = &derive->out.markers[begin->marker];
	const struct marker *to = &derive->out.markers[end->marker];

	return from->name == to->name || !from->is_named || !to->is_named;
}

static int close_zone(struct area *area, const struct open_zone *end)
{
	uint32_t lowest = area->n_open > ZONE_SEARCH_DEPTH ? area->n_open - ZONE_SEARCH_DEPTH : 0;
	struct open_zone *begin = NULL;

	for (uint32_t i = area->n_open; i-- > lowest && !begin;) {
		if (may_be_same_zone(area->derive, &area->open[i], end))
			begin = &area->open[i];
	}
	if (!begin)
		return lose(area, LOSS_UNMATCHED_END, end);
	while (&area->open[--area->n_open] != begin)
		FLEXTRACE_TRY(lose_zone(area, &area->open[area->n_open]));
	use_name(area, begin);
	return add_zone(area, ROW_ZONE, begin, end, TIME_CERTIFIED);
}

/* -- slots ---------------------------------------------------------------------------------- */

static int add_slot(struct area *area, int which, const struct open_zone *end, uint8_t status)
{
	struct open_zone *begin = &area->slot[which];
	uint8_t kind = which == SLOT_FIRMWARE ? ROW_FIRMWARE : ROW_KERNEL;
	uint32_t name = 0;

	if (which == SLOT_KERNEL)
		FLEXTRACE_TRY(job_name(area->jobs, &area->marks->runs[begin->run],
		                       end->place.time_ns, &name));
	if (!name)
		FLEXTRACE_TRY(string_intern(&area->derive->strings,
		                            which == SLOT_FIRMWARE ? "firmware" : "kernel", &name));
	FLEXTRACE_TRY(marker_of_name(area->derive, kind, name, &begin->marker));
	return add_zone(area, kind, begin, end, status);
}

/* A stamp without its partner makes no row; what looks at stamps still finds it. */
static int keep_loose(struct derive *derive, const struct open_zone *zone, uint32_t stamp)
{
	return ARRAY_PUSH(
		derive->out.marks.loose_stamps, derive->out.marks.n_loose_stamps,
		(struct loose_stamp){.ticks = zone->ticks, .run = zone->run, .stamp = stamp});
}

/* The interval never ends; if its run does not either, it went on until `end` at most. */
static int leave_slot_open(struct area *area, int which, const struct open_zone *end)
{
	struct open_zone *begin = &area->slot[which];

	if (!area->has_slot[which])
		return FLEXTRACE_OK;
	area->has_slot[which] = false;
	FLEXTRACE_TRY(lose(area, LOSS_UNMATCHED_BEGIN, begin));
	if (!area->marks->runs[begin->run].is_open)
		return keep_loose(area->derive, begin,
		                  which == SLOT_FIRMWARE ? FLEXTRACE_WIRE_FW_START
		                                         : FLEXTRACE_WIRE_KERNEL_START);
	return add_slot(area, which, end, TIME_ASSUMED);
}

static int open_slot(struct area *area, int which, const struct open_zone *begin)
{
	FLEXTRACE_TRY(leave_slot_open(area, which, begin));
	area->slot[which] = *begin;
	area->has_slot[which] = true;
	return FLEXTRACE_OK;
}

static int close_slot(struct area *area, int which, const struct open_zone *end)
{
	if (!area->has_slot[which] || !is_of_same_run(area, &area->slot[which])) {
		FLEXTRACE_TRY(lose(area, LOSS_UNMATCHED_END, end));
		return keep_loose(area->derive, end,
		                  which == SLOT_FIRMWARE ? FLEXTRACE_WIRE_FW_END
		                                         : FLEXTRACE_WIRE_KERNEL_END);
	}
	area->has_slot[which] = false;
	return add_slot(area, which, end, TIME_CERTIFIED);
}

static int take_slot_stamp(struct area *area, uint32_t stamp, const struct open_zone *zone)
{
	switch (stamp) {
	case FLEXTRACE_WIRE_FW_START:
		if (!is_of_same_run(area, &area->slot[SLOT_KERNEL]))
			FLEXTRACE_TRY(leave_slot_open(area, SLOT_KERNEL, zone));
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

/* Books the batch that was read. The loss of each mark is counted already. */
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
	const struct open_zone *last = &area->last[LAST_OF_SLOTS];

	if (area->last[LAST_OF_RING].place.time_ns > last->place.time_ns)
		last = &area->last[LAST_OF_RING];
	while (area->n_open)
		FLEXTRACE_TRY(leave_open(area, &area->open[--area->n_open]));
	FLEXTRACE_TRY(leave_slot_open(area, SLOT_FIRMWARE, last));
	return leave_slot_open(area, SLOT_KERNEL, last);
}

static bool is_same_area(const struct mark_run *left, const struct mark_run *right)
{
	return left->device == right->device && left->core == right->core &&
	       left->processor == right->processor;
}

static bool is_same_batch(const struct mark_run *left, const struct mark_run *right)
{
	return left->stream == right->stream && left->index == right->index;
}

static int enter_run(struct area *area, const struct mark_run *run)
{
	const struct mark_run *before = area->run;

	if (before && !is_same_batch(before, run)) {
		book_batch(area);
		area->has_row = false;
	}
	if (before && !is_same_area(before, run))
		FLEXTRACE_TRY(leave_area(area));
	area->run = run;
	area->run_index = (uint32_t)(run - area->marks->runs);
	if (before && is_same_area(before, run))
		return FLEXTRACE_OK;
	memset(area->known, 0, sizeof(area->known));
	area->last[LAST_OF_SLOTS].place.time_ns = INT64_MIN;
	area->last[LAST_OF_RING].place.time_ns = INT64_MIN;
	area->process = area->derive->identity->devices[run->device].process;
	if (!derive_process(area->derive, area->process))
		return FLEXTRACE_E_MEMORY;
	return family_of_core(area->derive, run->device, run->core, run->processor, &area->family);
}

/* The same few ids come again and again. */
static int find_marker(struct area *area, uint32_t id, uint32_t *ret_marker)
{
	struct known_id *known = &area->known[id % N_KNOWN_IDS];

	if (known->id_plus_1 != id + 1) {
		FLEXTRACE_TRY(marker_of_id(area->derive, area->run->device, id, &known->marker));
		known->id_plus_1 = id + 1;
	}
	*ret_marker = known->marker;
	return FLEXTRACE_OK;
}

static int take_placed(struct area *area, const struct tick_mark *mark, struct open_zone *zone)
{
	if (mark->kind == FLEXTRACE_WIRE_SLOT_STAMP)
		return take_slot_stamp(area, mark->id, zone);
	FLEXTRACE_TRY(find_marker(area, mark->id, &zone->marker));
	FLEXTRACE_TRY(drop_stale(area));
	switch (mark->kind) {
	case FLEXTRACE_WIRE_MARK:
		return add_instant(area, zone);
	case FLEXTRACE_WIRE_VALUE:
		return add_value(area, zone, mark->value);
	case FLEXTRACE_WIRE_ZONE_BEGIN:
		return open_zone(area, zone);
	case FLEXTRACE_WIRE_ZONE_END:
		return close_zone(area, zone);
	default:
		return FLEXTRACE_OK;
	}
}

/*
 * A time that no error brings into the life of its boot contradicts a bracket: it is nowhere
 * certified, and drawn at the end that it is beyond. One whose error reaches there is drawn there
 * as well, which its error covers.
 */
static int keep_within_life(struct area *area, struct open_zone *zone)
{
	const struct derive *derive = area->derive;
	const struct mark_run *run = area->run;
	int64_t limit_ns, off_ns, time_ns;
	struct placed placed;
	struct place *place = &zone->place;
	bool is_before;

	if (!find_host_ns(derive, run->counter, run->segment, zone->ticks, &placed))
		return FLEXTRACE_OK;
	limit_ns = life_limit_ns(derive, run, placed.host_ns);
	if (limit_ns == placed.host_ns || limit_ns < 0 || limit_ns > MAX_HOST_NS)
		return FLEXTRACE_OK;
	is_before = placed.host_ns < limit_ns;
	off_ns = is_before ? limit_ns - placed.host_ns : placed.host_ns - limit_ns;
	time_ns = place_host(derive, area->process, limit_ns).time_ns;
	if (off_ns <= placed.err_ns || placed.err_ns == UINT32_MAX) {
		/* What limits all stamps of the counter may have moved it farther. */
		if (is_before ? place->time_ns < time_ns : place->time_ns > time_ns)
			place->time_ns = time_ns;
		return FLEXTRACE_OK;
	}
	place->time_ns = time_ns;
	place->err_ns = UINT32_MAX;
	place->status = worse_status(place->status, TIME_OUTLIER);
	derive->ledger->warnings[WARNING_OUTSIDE_LIFE]++;
	return lose(area, LOSS_OUTLIER, zone);
}

static int take_mark(struct area *area, const struct tick_mark *mark)
{
	const struct mark_run *run = area->run;
	struct derive_process *process = &area->derive->processes[area->process];
	struct open_zone zone = {
		.ticks = mark->ticks,
		.run = area->run_index,
		.marker = FLEXTRACE_NONE,
	};

	if (!place_ticks(area->derive, area->process, run->counter, run->segment, mark->ticks,
	                 &zone.place)) {
		process->n_without_clock++;
		return lose(area, LOSS_NO_CLOCK, &zone);
	}
	process->has_clock = true;
	zone.place.status = worse_status(zone.place.status, run->status);
	if (life_is_open(area->derive, run)) {
		zone.place.status = worse_status(zone.place.status, TIME_ASSUMED);
		zone.place.err_ns = UINT32_MAX;
	}
	FLEXTRACE_TRY(keep_within_life(area, &zone));
	area->has_row = true;
	FLEXTRACE_TRY(take_placed(area, mark, &zone));
	area->last[mark->kind == FLEXTRACE_WIRE_SLOT_STAMP ? LAST_OF_SLOTS : LAST_OF_RING] = zone;
	return FLEXTRACE_OK;
}

static int take_all(struct area *area, struct table *marks)
{
	struct table_cursor cursor;

	table_read(&cursor, marks, true);
	for (uint64_t i = 0; i < area->marks->n_runs; i++) {
		FLEXTRACE_TRY(enter_run(area, &area->marks->runs[i]));
		for (uint32_t n = area->marks->runs[i].n_marks; n > 0; n--)
			FLEXTRACE_TRY(
				take_mark(area, table_next(&cursor, sizeof(struct tick_mark))));
	}
	if (area->run)
		book_batch(area);
	return leave_area(area);
}

/* Keeps the runs, which the zones name, and makes room for these: every row of a zone has an end,
 * but in runs that never end. */
static int take_runs(struct timeline_marks *marks, struct table *runs)
{
	uint64_t n_rows = 0;

	if (runs->n_rows == 0)
		return FLEXTRACE_OK;
	if (runs->n_rows < FLEXTRACE_NONE)
		marks->runs = blocks_allocate(runs->n_rows, sizeof(*marks->runs));
	if (!marks->runs)
		return FLEXTRACE_E_MEMORY;
	TABLE_CONSUME(struct mark_run, run, runs)
	{
		marks->runs[marks->n_runs++] = *run;
		n_rows += run->is_open ? run->n_marks : run->n_ends;
	}
	if (n_rows < FLEXTRACE_NONE)
		marks->zones = blocks_reserve(n_rows, sizeof(*marks->zones));
	return marks->zones ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

int zones_take_runs(struct derive *derive, struct unwrap_output *unwrapped)
{
	FLEXTRACE_TRY(take_runs(&derive->out.marks, &unwrapped->mark_runs));
	FLEXTRACE_TRY(life_judge_boots(derive, unwrapped));
	return limits_find(derive, &unwrapped->marks);
}

int zones_take_marks(struct derive *derive, struct unwrap_output *unwrapped)
{
	struct job_names jobs = {.derive = derive};
	struct area area = {.derive = derive, .marks = &derive->out.marks, .jobs = &jobs};
	int code = take_all(&area, &unwrapped->marks);

	free(area.open);
	free(jobs.jobs);
	return code;
}
