/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_slots.json: which events the slots of trace units were set up with.
 *
 *	{"row": 2, "column_in_trace": 1,
 *	 "units": [{"unit": "core", "event_numbers_slot_0_to_7": [33, 34, 37, 75, 79, 44, 45, 26]}]}
 *
 * Or an array of such objects, one of each tile. One without row or column is for all tiles that
 * have none of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "aie_impl.h"
#include "base/text/text_file.h"

#define FILE_NAME   "event_slots.json"
#define EVENTS_NAME "event_numbers_slot_0_to_7"

static char *path_beside(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *beside;

	if (asprintf(&beside, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, FILE_NAME) < 0)
		return NULL;
	return beside;
}

int aie_slots_open(const char *path, struct cJSON **ret_slots, struct flextrace_error *error)
{
	char *beside = path_beside(path), *text;
	int code = FLEXTRACE_OK;

	*ret_slots = NULL;
	if (!beside)
		return FLEXTRACE_E_MEMORY;
	text = text_file_read(beside);
	if (text)
		*ret_slots = cJSON_Parse(text);
	if (text && !*ret_slots)
		code = error_set(error, FLEXTRACE_E_INPUT, "Cannot parse: file=%s", beside);
	free(text);
	free(beside);
	return code;
}

static bool is_number(const cJSON *object, const char *key, uint32_t value)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(item) && item->valuedouble == (double)value;
}

static bool has(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

/* The events of a unit of a tile; NULL: it tells none. */
static const cJSON *events_of(const cJSON *tile, const char *type)
{
	const cJSON *units = cJSON_GetObjectItemCaseSensitive(tile, "units"), *unit;

	cJSON_ArrayForEach(unit, units)
	{
		const char *name =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(unit, "unit"));

		if (name && strcmp(name, type) == 0)
			return cJSON_GetObjectItemCaseSensitive(unit, EVENTS_NAME);
	}
	return NULL;
}

/* Looks through tiles of this place, or through those of any. */
static const cJSON *find_events(const cJSON *document, const struct aie_place *place, bool is_any)
{
	const cJSON *tile = cJSON_IsArray(document) ? document->child : document;

	for (; tile; tile = tile->next) {
		bool is_for_all = !has(tile, "row") && !has(tile, "column_in_trace");
		bool is_this = is_number(tile, "row", place->row) &&
		               is_number(tile, "column_in_trace", place->column);
		const cJSON *events = NULL;

		if (is_any ? is_for_all : is_this)
			events = events_of(tile, aie_type_names[place->type]);
		if (events)
			return events;
	}
	return NULL;
}

int aie_slots_event(const cJSON *slots, const struct aie_place *place, uint32_t slot)
{
	const cJSON *events = find_events(slots, place, false), *event;

	if (!events)
		events = find_events(slots, place, true);
	event = cJSON_GetArrayItem(events, (int)slot);
	if (!cJSON_IsNumber(event) || event->valuedouble < 0 || event->valuedouble > UINT16_MAX)
		return -1;
	return event->valueint;
}
