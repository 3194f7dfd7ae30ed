// SPDX-License-Identifier: Apache-2.0
#include "chrome_shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const struct table *chrome_table(const struct findings *findings, enum chrome_source source)
{
	const struct timeline *timeline = findings->timeline;

	switch (source) {
	case FROM_HOST:
		return &timeline->host_rows;
	case FROM_DEVICE:
		return &timeline->device_rows;
	case FROM_FLOWS:
		return findings->flows;
	case FROM_INSTANTS:
		return &timeline->instants;
	case FROM_COUNTERS:
		return &timeline->counters;
	case FROM_MEMORY:
		return &timeline->memory;
	default:
		return NULL;
	}
}

/* Every row that has a time starts with it. */
_Static_assert(offsetof(struct host_row, start_time_ns) == 0, "time first");
_Static_assert(offsetof(struct device_row, start_time_ns) == 0, "time first");
_Static_assert(offsetof(struct instant_row, time_ns) == 0, "time first");
_Static_assert(offsetof(struct counter_row, time_ns) == 0, "time first");
_Static_assert(offsetof(struct memory_row, time_ns) == 0, "time first");
_Static_assert(offsetof(struct flow, from_time_ns) == 0, "time first");

const size_t chrome_row_bytes[N_SOURCES] = {
	[FROM_HOST] = sizeof(struct host_row),        [FROM_DEVICE] = sizeof(struct device_row),
	[FROM_INSTANTS] = sizeof(struct instant_row), [FROM_COUNTERS] = sizeof(struct counter_row),
	[FROM_MEMORY] = sizeof(struct memory_row),    [FROM_FLOWS] = sizeof(struct flow),
};

bool chrome_is_of_process(const struct chrome *chrome, enum chrome_source source, const void *row)
{
	const struct view *view = &chrome->view;
	const struct counter_row *counter = row;
	const struct flow *flow = row;
	uint32_t device;

	switch (source) {
	case FROM_HOST:
		return chrome_shows(
			chrome, view_track_process(view, ((const struct host_row *)row)->track));
	case FROM_DEVICE:
		return chrome_shows(
			chrome, view_track_process(view, ((const struct device_row *)row)->track));
	case FROM_INSTANTS:
		return chrome_shows(
			chrome, view_track_process(view, ((const struct instant_row *)row)->track));
	case FROM_FLOWS:
		return chrome_shows(chrome, view_track_process(view, flow->from_track)) &&
		       chrome_shows(chrome, view_track_process(view, flow->to_track));
	case FROM_COUNTERS:
		if (!counter->is_device)
			return chrome_shows(chrome, counter->owner);
		device = counter->owner;
		break;
	default:
		device = ((const struct memory_row *)row)->device;
		break;
	}
	return chrome_shows(chrome, view->identity->devices[device].process);
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

static enum record_class class_of(const struct chrome *chrome, enum chrome_source source,
                                  const void *row)
{
	switch (source) {
	case FROM_HOST:
		return ((const struct host_row *)row)->class;
	case FROM_DEVICE:
		return view_device_class(&chrome->view, row);
	case FROM_INSTANTS:
		return ((const struct instant_row *)row)->class;
	case FROM_COUNTERS:
		return ((const struct counter_row *)row)->class;
	default:
		return RECORD_MEMORY;
	}
}

void chrome_count_hidden(struct chrome *chrome)
{
	struct file_count *count = chrome->count;

	for (int source = 0; source < N_SOURCES; source++) {
		const struct table *table = chrome_table(chrome->view.findings, source);
		struct table_cursor cursor;
		const void *row;

		if (!chrome_row_bytes[source] || source == FROM_FLOWS ||
		    chrome_is_shown(chrome, source))
			continue;
		cursor = table_begin(table);
		while ((row = table_next(&cursor, chrome_row_bytes[source]))) {
			if (!chrome_is_of_process(chrome, source, row))
				continue;
			count->left_out++;
			count->left_out_by_class[class_of(chrome, source, row)]++;
		}
	}
}

uint64_t chrome_n_of_process(const struct chrome *chrome)
{
	uint64_t n = 0;

	for (int source = 0; source < N_SOURCES; source++) {
		struct table_cursor cursor;
		const void *row;

		if (!chrome_row_bytes[source] || source == FROM_FLOWS)
			continue;
		cursor = table_begin(chrome_table(chrome->view.findings, source));
		while ((row = table_next(&cursor, chrome_row_bytes[source])))
			n += chrome_is_of_process(chrome, source, row);
	}
	return n;
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
