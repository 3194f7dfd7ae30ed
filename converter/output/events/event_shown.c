// SPDX-License-Identifier: Apache-2.0
#include "event_shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROWS N_ROW_TABLES

static const uint8_t tables[N_SOURCES] = {
	[FROM_LOSSES] = NO_ROWS,       [FROM_FOUND] = NO_ROWS,        [FROM_HOST] = OF_HOST,
	[FROM_DEVICE] = OF_DEVICE,     [FROM_FLOWS] = NO_ROWS,        [FROM_LATER] = NO_ROWS,
	[FROM_INSTANTS] = OF_INSTANTS, [FROM_COUNTERS] = OF_COUNTERS, [FROM_MEMORY] = OF_MEMORY,
	[FROM_RATES] = NO_ROWS,
};

const struct table *event_table(const struct findings *findings, enum event_source source)
{
	if (source == FROM_FLOWS)
		return findings->flows;
	return tables[source] == NO_ROWS ? NULL
	                                 : timeline_table(findings->timeline, tables[source]);
}

/* Every row that has a time starts with it. */
_Static_assert(offsetof(struct flow, from_time_ns) == 0, "time first");

size_t event_row_bytes(enum event_source source)
{
	return source == FROM_FLOWS ? sizeof(struct flow) : any_row_bytes[tables[source]];
}

static bool is_its_turn(const struct events *events, const struct device_row *row)
{
	return events->states == STATES_AMONG ||
	       (row->kind == ROW_STATE) == (events->states == STATES_ALONE);
}

bool event_is_of_process(const struct events *events, enum event_source source, const void *row)
{
	const struct view *view = &events->view;
	const struct flow *flow = row;
	struct any_row of;

	switch (source) {
	case FROM_HOST:
		return events_show(events,
		                   view_track_process(view, ((const struct host_row *)row)->track));
	case FROM_DEVICE:
		return is_its_turn(events, row) &&
		       events_show(events, view_track_process(
						   view, ((const struct device_row *)row)->track));
	case FROM_FLOWS:
		return events_show(events, view_track_process(view, flow->from_track)) &&
		       events_show(events, view_track_process(view, flow->to_track));
	default:
		any_row_read(view->timeline, tables[source], row, &of);
		return events_show(events, of.process);
	}
}

bool event_leaves_process(const struct events *events, const void *row)
{
	const struct flow *flow = row;

	return events_show(events, view_track_process(&events->view, flow->from_track)) ||
	       events_show(events, view_track_process(&events->view, flow->to_track));
}

/* Whether `types` names one of these phases. */
static bool has_type(const char *types, const char *phases)
{
	return !types || strpbrk(types, phases);
}

bool event_is_shown(const struct events *events, enum event_source source)
{
	const char *types = events->views.types;

	switch (source) {
	case FROM_LOSSES:
		return true;
	case FROM_FOUND:
	case FROM_HOST:
	case FROM_DEVICE:
		return has_type(types, EMIT_TYPES_INTERVAL);
	case FROM_FLOWS: /* they need both of their ends */
		return has_type(types, EMIT_TYPES_INTERVAL) && has_type(types, EMIT_TYPES_FLOW);
	case FROM_INSTANTS:
		return has_type(types, EMIT_TYPES_INSTANT);
	default:
		return has_type(types, EMIT_TYPES_COUNTER);
	}
}

/* What the counters that we make are in. */
static const char *unit_of(const struct events *events, const struct counter_row *row)
{
	static const struct {
		const char *name, *unit;
	} units[] = {{"Power", "W"}, {"TransferBW", "GB/s"}, {"PT Active", "%"}};
	const char *name = string_get(events->view.strings, row->name);

	if (row->unit)
		return string_get(events->view.strings, row->unit);
	for (size_t i = 0; row->is_device && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(units[i].name, name) == 0)
			return units[i].unit;
	}
	return NULL;
}

int event_changes_counter(struct events *events, const struct counter_row *row,
                          const char **ret_unit)
{
	struct event_counters *counters = &events->counters;
	uint64_t line = (uint64_t)row->name << 32 | row->core;
	uint64_t owner = (uint64_t)row->is_device << 32 | row->owner;
	struct event_counter *last;
	uint32_t place;
	int is_new;

	if (!isfinite(row->value))
		return 0; /* JSON cannot hold it */
	is_new = MAP_PLACE(&counters->lines, line, owner, counters->last, counters->n, &place);
	FLEXTRACE_TRY(is_new);
	last = &counters->last[place];
	if (is_new)
		last->unit = unit_of(events, row);
	*ret_unit = last->unit;
	if (!is_new && row->value == last->value &&
	    !(events->views.has_equals && row->class == RECORD_COUNTER))
		return 0;
	last->value = row->value;
	return 1;
}

/* Calls `take` with each row of the process that is shown. */
static void each_row(struct events *events, enum event_source source,
                     void (*take)(struct events *events, const struct any_row *of))
{
	const struct timeline *timeline = events->view.timeline;
	struct table_cursor cursor = table_begin(timeline_table(timeline, tables[source]));
	struct any_row of;
	const void *row;

	while ((row = table_next(&cursor, event_row_bytes(source)))) {
		any_row_read(timeline, tables[source], row, &of);
		if (events_show(events, of.process))
			take(events, &of);
	}
}

static void expect_row(struct events *events, const struct any_row *of)
{
	(void)of;
	events->count->expected++;
}

void event_expect(struct events *events)
{
	for (int source = 0; source < N_SOURCES; source++) {
		if (tables[source] != NO_ROWS)
			each_row(events, source, expect_row);
	}
}

void event_leave_out(struct file_count *count, enum record_class class)
{
	count->left_out++;
	count->left_out_by_class[class]++;
}

static void hide_row(struct events *events, const struct any_row *of)
{
	event_leave_out(events->count, of->class);
}

void event_count_hidden(struct events *events)
{
	for (int source = 0; source < N_SOURCES; source++) {
		if (tables[source] != NO_ROWS && !event_is_shown(events, source))
			each_row(events, source, hide_row);
	}
	if (event_is_shown(events, FROM_FLOWS))
		return;
	TABLE_EACH(struct flow, flow, events->view.findings->flows)
		events->count->arrows_left_out[ARROW_NOT_IN_TYPES] += event_leaves_process(events,
		                                                                           flow);
}

/* -- whose lines are named --------------------------------------------------------------------- */

static void use_row(struct events *events, const struct any_row *of)
{
	if (of->device != FLEXTRACE_NONE)
		events->lines.has_device[of->device] = true;
	else
		events->lines.has_process[of->process] = true;
}

/* Every track has rows: where all are shown, these need not be looked at. */
static void use_tracks(struct events *events)
{
	const struct timeline *timeline = events->view.timeline;

	for (uint32_t i = 0; i < timeline->n_tracks; i++) {
		const struct any_row of = any_row_of_track(timeline, i);

		use_row(events, &of);
	}
}

static bool is_on_tracks(int source)
{
	return source == FROM_HOST || source == FROM_DEVICE || source == FROM_INSTANTS;
}

static void find_lost(struct lines *lines, const struct timeline *timeline)
{
	const struct identity *identity = timeline->identity;
	const struct losses *losses = &timeline->ledger->losses;

	for (uint32_t i = 0; i < losses->n; i++) {
		const struct loss_place *place = &losses->all[i].place;

		if (place->process != FLEXTRACE_NONE && place->device == FLEXTRACE_NONE)
			lines->has_process[place->process] = true;
		for (uint32_t d = 0; d < identity->n_devices; d++) {
			if (identity->devices[d].process == place->process &&
			    identity->devices[d].device == place->device)
				lines->has_device[d] = true;
		}
	}
}

void event_find_used(struct events *events)
{
	const struct collective_rates *rates = events->view.findings->collective_rates;

	if (events_are_of_rank(events))
		return; /* it names all it has */
	if (!events->views.types)
		use_tracks(events);
	for (int source = 0; source < N_SOURCES; source++) {
		if (tables[source] != NO_ROWS && event_is_shown(events, source) &&
		    (events->views.types || !is_on_tracks(source)))
			each_row(events, source, use_row);
	}
	for (uint32_t i = 0; rates && event_is_shown(events, FROM_RATES) && i < rates->n; i++)
		events->lines.has_process[rates->all[i].process] = true;
	find_lost(&events->lines, events->view.timeline);
}

bool events_name_process(const struct events *events, uint32_t process)
{
	return !events->view.identity->processes[process].is_excluded &&
	       events_show(events, process) &&
	       (events_are_of_rank(events) || events->lines.has_process[process]);
}

bool events_name_device(const struct events *events, uint32_t device)
{
	uint32_t process = events->view.identity->devices[device].process;

	return !events->view.identity->processes[process].is_excluded &&
	       events_show(events, process) &&
	       (events_are_of_rank(events) || events->lines.has_device[device]);
}

bool events_name_track(const struct events *events, uint32_t track)
{
	const struct track *of = &events->view.timeline->tracks[track];

	return view_is_device_track(of)
	               ? events_name_device(events, of->owner)
	               : events_name_process(events, view_track_process(&events->view, track));
}

bool event_has_ops(const struct events *events)
{
	TABLE_EACH(struct host_row, row, &events->view.timeline->host_rows) {
		if (row->kind == FLEXTRACE_RUNTIME_OP &&
		    event_is_of_process(events, FROM_HOST, row))
			return true;
	}
	return false;
}

/* Whether a record was the first of the file that its stream was read from. */
static bool begins_file(const struct events *events, uint32_t stream, uint32_t index)
{
	const struct origins *origins = events->view.timeline->streams->streams[stream]->origins;
	struct origin origin;

	if (!origins)
		return false;
	origin = origins_get(origins, index);
	return origin.file == 0 && origin.record == 0;
}

void event_find_first(struct events *events)
{
	const struct timeline *timeline = events->view.timeline;

	TABLE_EACH(struct host_row, row, &timeline->host_rows) {
		if (event_is_of_process(events, FROM_HOST, row) &&
		    begins_file(events, row->stream, row->index)) {
			events->first_host = row;
			return;
		}
	}
	TABLE_EACH(struct device_row, row, &timeline->device_rows) {
		if (!view_is_zone(row) && event_is_of_process(events, FROM_DEVICE, row) &&
		    begins_file(events, timeline->ops[row->source].stream,
		                timeline->ops[row->source].index)) {
			events->first_device = row;
			return;
		}
	}
}
