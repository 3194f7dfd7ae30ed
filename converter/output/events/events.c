// SPDX-License-Identifier: Apache-2.0
/*
 * events.c: one merge over everything that has a time.
 *
 * Where times are equal, intervals come before what must find them open (arrows, instants), and an
 * arrow leaves before it arrives. Arrows leave in the order of their table; those on their way, and
 * ends of async intervals, wait in a heap for their time, so that memory grows with what is in
 * flight only.
 */
#include "event_shown.h"

#include <stdlib.h>

/* Ids of async intervals stand apart from those of arrows. */
#define ASYNC_ID ((uint64_t)1 << 48)

#define NO_TIME INT64_MAX

/* -- what comes next --------------------------------------------------------------------------- */

/* Rows of other processes are passed over. */
static void look_ahead(struct events *events, enum event_source source)
{
	struct table_cursor *cursor = &events->cursors[source];
	const int64_t *time_ns = table_peek(cursor);

	if (events_are_of_rank(events)) {
		while (time_ns && !event_is_of_process(events, source, time_ns)) {
			if (source == FROM_FLOWS && event_leaves_process(events, time_ns))
				events->count->arrows_left_out[ARROW_OTHER_RANK]++;
			table_next(cursor, event_row_bytes(source));
			time_ns = table_peek(cursor);
		}
	}
	events->next_time_ns[source] = time_ns ? *time_ns : NO_TIME;
}

static void look_at_later(struct events *events)
{
	const struct event_heap *heap = &events->later;

	events->next_time_ns[FROM_LATER] = heap->n ? heap->later[0].time_ns : NO_TIME;
}

static int push_later(struct events *events, const struct event_later *later)
{
	int code = event_heap_push(&events->later, later);

	look_at_later(events);
	return code;
}

static void look_at_losses(struct events *events)
{
	const struct event_losses *losses = &events->losses;

	events->next_time_ns[FROM_LOSSES] =
		events->n_lost < losses->n ? losses->intervals[events->n_lost].first_time_ns
					   : NO_TIME;
}

static void look_at_found(struct events *events)
{
	const struct found_rows *found = events->found.rows;
	uint32_t *n = &events->n_found;

	while (found && *n < found->n && !event_found_is_shown(events, &found->rows[*n]))
		++*n;
	events->next_time_ns[FROM_FOUND] = found && *n < found->n ? found->rows[*n].start_time_ns
	                                                          : NO_TIME;
}

static void look_at_rates(struct events *events)
{
	const struct collective_rates *rates = events->view.findings->collective_rates;
	uint32_t *n = &events->n_rates;

	while (rates && *n < rates->n && !events_show(events, rates->all[*n].process))
		++*n;
	if (rates && *n < rates->n && event_is_shown(events, FROM_RATES))
		events->next_time_ns[FROM_RATES] = rates->all[*n].time_ns;
	else
		events->next_time_ns[FROM_RATES] = NO_TIME;
}

/* The earliest source, which is read until another one has something earlier. */
static void choose_source(struct events *events)
{
	enum event_source best = 0;

	events->until_ns = NO_TIME;
	for (int source = 1; source < N_SOURCES; source++) {
		int64_t time_ns = events->next_time_ns[source];

		if (time_ns < events->next_time_ns[best]) {
			events->until_ns = events->next_time_ns[best];
			best = source;
		} else if (time_ns < events->until_ns) {
			events->until_ns = time_ns;
		}
	}
	events->source = best;
}

/* -- what is read: each stores an event and returns 1, or passes over a row and returns 0 ------ */

static int read_loss(struct events *events, struct file_event *event)
{
	uint32_t i = events->n_lost++;

	look_at_losses(events);
	return event_of_loss(events, &events->losses.intervals[i], event);
}

/* An arrow can only end at an interval that is shown as one. */
static bool has_interval(const struct events *events, uint32_t track)
{
	return events->views.overlap == OVERLAP_LANES || events->views.overlap == OVERLAP_WARN ||
	       !events_is_lane(events, track);
}

static int read_departure(struct events *events, struct file_event *event)
{
	const struct flow *flow = table_next(&events->cursors[FROM_FLOWS], sizeof(*flow));
	const struct event_later arrow = {
		.time_ns = flow->to_time_ns, .id = ++events->n_flows, .flow = flow};

	/* An arrow back in time, to a row whose place is a guess, would be no valid pair. */
	if (flow->to_time_ns < flow->from_time_ns) {
		events->count->arrows_left_out[ARROW_BACK_IN_TIME]++;
		return 0;
	}
	if (!has_interval(events, flow->from_track) || !has_interval(events, flow->to_track)) {
		events->count->arrows_left_out[ARROW_END_NOT_SHOWN]++;
		return 0;
	}
	event_of_arrow(events, flow, true, arrow.id, event);
	events->count->arrows++;
	FLEXTRACE_TRY(push_later(events, &arrow));
	return 1;
}

/* `what` is LATER_HOST_END or LATER_DEVICE_END. */
static const struct row_kind *crossing_kind(const struct events *events, uint32_t track,
                                            uint8_t kind, uint8_t what)
{
	uint8_t dialect = events->view.timeline->tracks[track].dialect;

	return what == LATER_HOST_END ? kind_of_host(dialect, kind) : kind_of_device(dialect, kind);
}

static void read_later(struct events *events, struct file_event *event)
{
	const struct event_later later = event_heap_pop(&events->later);
	const struct row_kind *kind;

	look_at_later(events);
	if (later.what == LATER_ARROW) {
		event_of_arrow(events, later.flow, false, later.id, event);
		return;
	}
	if (later.what == LATER_BAND) {
		event_of_band(&later, event);
		return;
	}
	kind = crossing_kind(events, later.track, later.kind, later.what);
	event_begin(event, EVENT_ASYNC_END, ON_TRACK, later.track);
	event->start_time_ns = event->end_time_ns = later.time_ns;
	event->id = later.id;
	event->name = later.name;
	event->label = (struct trace_text){kind->label, kind->n_label};
	event->category = (struct trace_text){kind->category, kind->n_category};
}

/* A row that crosses others of its line, as it was asked for. */
static int read_crossing(struct events *events, uint8_t kind, uint8_t what,
                         struct file_event *event)
{
	const struct event_later end = {.time_ns = event->end_time_ns,
	                                .id = ASYNC_ID + events->n_async++,
	                                .track = event->place,
	                                .name = event->name,
	                                .kind = kind,
	                                .what = what};
	const struct row_kind *of = crossing_kind(events, end.track, kind, what);

	event->type = EVENT_ASYNC_BEGIN;
	event->id = end.id;
	/* an end has nothing but its id, name and category to be found by */
	event->category = (struct trace_text){of->category, of->n_category};
	event->part = event->around = NULL;
	FLEXTRACE_TRY(push_later(events, &end));
	return 1;
}

static int read_interval(struct events *events, uint32_t track, enum record_class class,
                         uint8_t kind, uint8_t what, struct file_event *event)
{
	if (has_interval(events, track)) {
		file_count_row(events->count, class);
		return 1;
	}
	if (events->views.overlap != OVERLAP_ASYNC) {
		event_leave_out(events->count, class);
		return 0;
	}
	file_count_row(events->count, class);
	return read_crossing(events, kind, what, event);
}

static int read_host_row(struct events *events, const struct host_row *row,
                         struct file_event *event)
{
	if (row->kind == HOST_COLLECTIVE && events_are_kineto(events))
		event_of_collective(events, row, event);
	else
		event_of_host(events, row, event);
	if (events->views.is_hta && row->kind != HOST_COLLECTIVE)
		event_hta_host(events, row, event);
	return read_interval(events, row->track, row->class, row->kind, LATER_HOST_END, event);
}

static int read_host(struct events *events, struct file_event *event)
{
	const struct host_row *row = table_next(&events->cursors[FROM_HOST], sizeof(*row));

	return row == events->first_host ? 0 : read_host_row(events, row, event);
}

/* The error bar of a device's rows, from the first one on that has another than the one before. */
static int push_band(struct events *events, const struct device_row *row)
{
	const struct event_later band = {.time_ns = row->start_time_ns,
	                                 .device = events->view.timeline->tracks[row->track].owner,
	                                 .err_ns = row->err_ns,
	                                 .what = LATER_BAND};
	uint64_t *last_ns = &events->band_ns[band.device];

	if (*last_ns == row->err_ns + 1ull)
		return FLEXTRACE_OK;
	*last_ns = row->err_ns + 1ull;
	return push_later(events, &band);
}

static int read_device_row(struct events *events, const struct device_row *row,
                           struct file_event *event)
{
	if (events->band_ns)
		FLEXTRACE_TRY(push_band(events, row));

	event_of_device(events, row, event);
	if (events->views.is_hta)
		event_hta_device(events, row, event);
	return read_interval(events, row->track, view_device_class(&events->view, row), row->kind,
	                     LATER_DEVICE_END, event);
}

static int read_device(struct events *events, struct file_event *event)
{
	const struct device_row *row = table_next(&events->cursors[FROM_DEVICE], sizeof(*row));

	return row == events->first_device ? 0 : read_device_row(events, row, event);
}

static int read_counter(struct events *events, struct file_event *event)
{
	const struct counter_row *row = table_next(&events->cursors[FROM_COUNTERS], sizeof(*row));
	const char *unit;
	int changes = event_changes_counter(events, row, &unit);

	FLEXTRACE_TRY(changes);
	if (!changes) {
		event_leave_out(events->count, row->class);
		return 0;
	}
	event_of_counter(row, unit, event);
	file_count_row(events->count, row->class);
	return 1;
}

static int read_point(struct events *events, struct file_event *event)
{
	const void *row;

	if (events->source == FROM_COUNTERS)
		return read_counter(events, event);
	if (events->source == FROM_INSTANTS) {
		row = table_next(&events->cursors[FROM_INSTANTS], sizeof(struct instant_row));
		event_of_instant(events, row, event);
		file_count_row(events->count, ((const struct instant_row *)row)->class);
	} else {
		row = table_next(&events->cursors[FROM_MEMORY], sizeof(struct memory_row));
		event_of_memory(events, row, event);
		file_count_row(events->count, RECORD_MEMORY);
	}
	return 1;
}

static int read_source(struct events *events, struct file_event *event)
{
	enum event_source source = events->source;
	int code;

	switch (source) {
	case FROM_LOSSES:
		return read_loss(events, event);
	case FROM_FOUND:
		event_of_found_row(events, &events->found.rows->rows[events->n_found++], event);
		look_at_found(events);
		return 1;
	case FROM_LATER:
		read_later(events, event);
		return 1;
	case FROM_RATES:
		event_of_rate(&events->view.findings->collective_rates->all[events->n_rates++],
		              event);
		look_at_rates(events);
		return 1;
	case FROM_HOST:
		code = read_host(events, event);
		break;
	case FROM_DEVICE:
		code = read_device(events, event);
		break;
	case FROM_FLOWS:
		code = read_departure(events, event);
		break;
	default:
		code = read_point(events, event);
		break;
	}
	look_ahead(events, source);
	return code;
}

/* All else is read. False: so are they. */
static bool turn_to_states(struct events *events)
{
	if (events->states != STATES_LATER || !event_is_shown(events, FROM_DEVICE))
		return false;
	events->states = STATES_ALONE;
	events->cursors[FROM_DEVICE] = table_begin(&events->view.timeline->device_rows);
	look_ahead(events, FROM_DEVICE);
	choose_source(events);
	return events->next_time_ns[events->source] != NO_TIME;
}

int events_first(struct events *events, struct file_event *ret_event)
{
	if (events->first_host)
		return read_host_row(events, events->first_host, ret_event);
	return events->first_device ? read_device_row(events, events->first_device, ret_event) : 0;
}

int events_next(struct events *events, struct file_event *ret_event)
{
	if (events->hta.repeated)
		return event_hta_repeat(events, ret_event);
	for (;;) {
		int code;

		if (events->next_time_ns[events->source] >= events->until_ns ||
		    events->next_time_ns[FROM_LATER] < events->until_ns)
			choose_source(events);
		if (events->next_time_ns[events->source] == NO_TIME && !turn_to_states(events))
			return 0;
		code = read_source(events, ret_event);
		if (code)
			return code;
	}
}

/* -- all of it --------------------------------------------------------------------------------- */

static void begin(struct events *events)
{
	for (int source = 0; source < N_SOURCES; source++) {
		const struct table *table = event_table(events->view.findings, source);

		events->next_time_ns[source] = NO_TIME;
		if (!table || !event_is_shown(events, source))
			continue;
		events->cursors[source] = table_begin(table);
		look_ahead(events, source);
	}
	look_at_losses(events);
	look_at_found(events);
	look_at_rates(events);
	choose_source(events);
}

bool events_first_time(const struct events *events, int64_t *ret_time_ns)
{
	struct events all = *events;

	all.process = FLEXTRACE_NONE;
	all.n_lost = all.n_found = all.n_rates = 0;
	begin(&all);
	*ret_time_ns = all.next_time_ns[all.source];
	return *ret_time_ns != NO_TIME;
}

static void set_views(struct events *events, const struct emit_views *views)
{
	const struct timeline *timeline = events->view.timeline;

	events->views = *views;
	events->views.is_hta = views->is_hta && views->is_kineto;
	if (!events_are_of_rank(events)) {
		events->count->expected = timeline_n_rows(timeline);
		events->count->has_classes = true;
		events->count->arrows_expected = events->view.findings->flows->n_rows;
		return;
	}
	event_expect(events);
	if (!events_are_kineto(events))
		return;
	events->is_without_ops = !event_has_ops(events);
	if (!identity_is_torch_file(timeline->identity, timeline->strings, events->process))
		return;
	events->states = STATES_LATER;
	if (event_is_shown(events, FROM_HOST))
		event_find_first(events);
	/* What crosses in the file of another tool crosses again, on its line. */
	if (events->views.overlap == OVERLAP_LANES)
		events->views.overlap = OVERLAP_WARN;
}

int events_init(struct events *events, const struct findings *findings,
                const struct emit_views *views, uint32_t process, struct file_count *count)
{
	*events = (struct events){.process = process, .count = count};
	writer_open_memory(&events->losses.text);
	FLEXTRACE_TRY(view_init(&events->view, findings));
	set_views(events, views);
	FLEXTRACE_TRY(lines_init(&events->lines, &events->view));
	event_find_used(events);
	FLEXTRACE_TRY(event_found_init(events));
	FLEXTRACE_TRY(event_number_devices(events));
	FLEXTRACE_TRY(table_index_init(&events->host_rows, &findings->timeline->host_rows,
	                               sizeof(struct host_row)));
	FLEXTRACE_TRY(event_hta_init(events));
	if (!events_are_kineto(events)) /* whose readers would take a line of losses for work */
		FLEXTRACE_TRY(event_losses_init(events));
	if (views->has_bands && event_is_shown(events, FROM_COUNTERS))
		FLEXTRACE_TRY(
			ARRAY_NEW(events->band_ns, findings->timeline->identity->n_devices + 1ull));
	event_count_hidden(events);
	begin(events);
	return FLEXTRACE_OK;
}

void events_release(struct events *events)
{
	free(events->later.later);
	map_release(&events->counters.lines);
	free(events->counters.last);
	free(events->band_ns);
	free(events->device_number);
	table_index_release(&events->host_rows);
	event_hta_release(&events->hta);
	event_losses_release(events);
	event_found_release(&events->found);
	lines_release(&events->lines);
	view_release(&events->view);
}
