// SPDX-License-Identifier: Apache-2.0
#include "chrome_shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define NO_ROWS N_ROW_TABLES

static const uint8_t tables[N_SOURCES] = {
	[FROM_EXTRA] = NO_ROWS,        [FROM_HOST] = OF_HOST,     [FROM_DEVICE] = OF_DEVICE,
	[FROM_FLOWS] = NO_ROWS,        [FROM_LATER] = NO_ROWS,    [FROM_INSTANTS] = OF_INSTANTS,
	[FROM_COUNTERS] = OF_COUNTERS, [FROM_MEMORY] = OF_MEMORY,
};

const struct table *chrome_table(const struct findings *findings, enum chrome_source source)
{
	if (source == FROM_FLOWS)
		return findings->flows;
	return tables[source] == NO_ROWS ? NULL
	                                 : timeline_table(findings->timeline, tables[source]);
}

/* Every row that has a time starts with it. */
_Static_assert(offsetof(struct flow, from_time_ns) == 0, "time first");

size_t chrome_row_bytes(enum chrome_source source)
{
	return source == FROM_FLOWS ? sizeof(struct flow) : any_row_bytes[tables[source]];
}

bool chrome_is_of_process(const struct chrome *chrome, enum chrome_source source, const void *row)
{
	const struct view *view = &chrome->view;
	const struct flow *flow = row;
	struct any_row of;

	switch (source) {
	case FROM_HOST:
		return chrome_shows(
			chrome, view_track_process(view, ((const struct host_row *)row)->track));
	case FROM_DEVICE:
		return chrome_shows(
			chrome, view_track_process(view, ((const struct device_row *)row)->track));
	case FROM_FLOWS:
		return chrome_shows(chrome, view_track_process(view, flow->from_track)) &&
		       chrome_shows(chrome, view_track_process(view, flow->to_track));
	default:
		any_row_read(view->timeline, tables[source], row, &of);
		return chrome_shows(chrome, of.process);
	}
}

/* Whether `types` names one of these phases. */
static bool has_type(const char *types, const char *phases)
{
	return !types || strpbrk(types, phases);
}

bool chrome_is_shown(const struct chrome *chrome, enum chrome_source source)
{
	const char *types = chrome->views.types;

	switch (source) {
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

int chrome_changes_counter(struct chrome_counters *counters, const struct counter_row *row)
{
	uint64_t line = (uint64_t)row->name << 32 | row->core;
	uint64_t owner = (uint64_t)row->is_device << 32 | row->owner;
	uint32_t place;
	int is_new;

	if (!isfinite(row->value))
		return 0; /* JSON cannot hold it */
	is_new = MAP_PLACE(&counters->lines, line, owner, counters->values, counters->n, &place);
	FLEXTRACE_TRY(is_new);
	if (!is_new && row->value == counters->values[place])
		return 0;
	counters->values[place] = row->value;
	return 1;
}

void chrome_counters_release(struct chrome_counters *counters)
{
	map_release(&counters->lines);
	free(counters->values);
}

/* Calls `take` with each row of the process that is shown. */
static void each_row(struct chrome *chrome, enum chrome_source source,
                     void (*take)(struct file_count *count, enum record_class class))
{
	const struct timeline *timeline = chrome->view.timeline;
	struct table_cursor cursor = table_begin(timeline_table(timeline, tables[source]));
	struct any_row of;
	const void *row;

	while ((row = table_next(&cursor, chrome_row_bytes(source)))) {
		any_row_read(timeline, tables[source], row, &of);
		if (chrome_shows(chrome, of.process))
			take(chrome->count, of.class);
	}
}

static void expect_row(struct file_count *count, enum record_class class)
{
	(void)class;
	count->expected++;
}

void chrome_expect(struct chrome *chrome)
{
	for (int source = 0; source < N_SOURCES; source++) {
		if (tables[source] != NO_ROWS)
			each_row(chrome, source, expect_row);
	}
}

void chrome_leave_out(struct file_count *count, enum record_class class)
{
	count->left_out++;
	count->left_out_by_class[class]++;
}

void chrome_count_hidden(struct chrome *chrome)
{
	for (int source = 0; source < N_SOURCES; source++) {
		if (tables[source] != NO_ROWS && !chrome_is_shown(chrome, source))
			each_row(chrome, source, chrome_leave_out);
	}
}

bool chrome_has_ops(const struct chrome *chrome)
{
	TABLE_EACH(struct host_row, row, &chrome->view.timeline->host_rows) {
		if (row->kind == FLEXTRACE_RUNTIME_OP &&
		    chrome_is_of_process(chrome, FROM_HOST, row))
			return true;
	}
	return false;
}
