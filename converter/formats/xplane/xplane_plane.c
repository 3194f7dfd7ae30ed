/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a plane: names of events and of stats, by the ids that events have. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "xplane_impl.h"

enum plane_field { PLANE_NAME = 2, PLANE_EVENT_NAMES = 4, PLANE_STAT_NAMES = 5 };
enum map_field { MAP_KEY = 1, MAP_VALUE = 2 };
enum name_field { NAME_ID = 1, NAME_NAME = 2, NAME_DISPLAY_NAME = 4 };

int xplane_intern(struct xplane *xplane, const struct protobuf *bytes, uint32_t *ret_string)
{
	size_t n = protobuf_length(bytes);

	if (n >= xplane->n_scratch) {
		char *grown = realloc(xplane->scratch, 2 * n + 64);

		if (!grown)
			return FLEXTRACE_E_MEMORY;
		xplane->scratch = grown;
		xplane->n_scratch = 2 * n + 64;
	}
	memcpy(xplane->scratch, bytes->at, n);
	xplane->scratch[n] = '\0';
	return string_intern(&xplane->import.cache, xplane->scratch, ret_string);
}

int xplane_damaged(struct xplane *xplane, const struct protobuf *rest)
{
	return import_reject(&xplane->import, LOSS_MALFORMED, "what is left of a message is none",
	                     (uint64_t)(rest->at - xplane->bytes));
}

bool xplane_is(const struct xplane *xplane, const struct xplane_plane *plane, const char *start)
{
	return strncmp(string_get(xplane->import.strings, plane->name), start, strlen(start)) == 0;
}

/* -- an entry of a table ---------------------------------------------------------------------- */

struct entry {
	uint64_t id;
	struct protobuf message, name, display_name;
};

static int read_names(struct xplane *xplane, struct entry *entry)
{
	struct protobuf message = entry->message;
	struct protobuf_field field;
	int code;

	while ((code = protobuf_next(&message, &field)) > 0) {
		if (field.number == NAME_ID)
			entry->id = field.value;
		else if (field.number == NAME_NAME)
			entry->name = field.bytes;
		else if (field.number == NAME_DISPLAY_NAME)
			entry->display_name = field.bytes;
	}
	return code < 0 ? xplane_damaged(xplane, &message) : FLEXTRACE_OK;
}

/* Maps are lists of pairs; the key is told twice, and neither must be. */
static int read_entry(struct xplane *xplane, struct protobuf pair, struct entry *ret_entry)
{
	static const struct protobuf none = {(const uint8_t *)"", (const uint8_t *)""};
	struct protobuf_field field;
	int code;

	*ret_entry = (struct entry){.message = none, .name = none, .display_name = none};
	while ((code = protobuf_next(&pair, &field)) > 0) {
		if (field.number == MAP_KEY)
			ret_entry->id = field.value;
		else if (field.number == MAP_VALUE)
			ret_entry->message = field.bytes;
	}
	if (code < 0)
		FLEXTRACE_TRY(xplane_damaged(xplane, &pair));
	return read_names(xplane, ret_entry);
}

static int take_stat_name(struct xplane *xplane, struct xplane_plane *plane, struct protobuf pair)
{
	struct xplane_stat_name stat;
	struct entry entry;

	FLEXTRACE_TRY(read_entry(xplane, pair, &entry));
	FLEXTRACE_TRY(xplane_intern(xplane, &entry.name, &stat.name));
	stat.known = xplane_find_known(string_get(xplane->import.strings, stat.name));
	FLEXTRACE_TRY(map_put(&plane->stat_index, entry.id, 0, plane->n_stats));
	return ARRAY_PUSH(plane->stats, plane->n_stats, stat);
}

static int take_event_name(struct xplane *xplane, struct xplane_plane *plane, struct protobuf pair)
{
	struct xplane_event_name event;
	struct entry entry;

	FLEXTRACE_TRY(read_entry(xplane, pair, &entry));
	if (!protobuf_length(&entry.display_name))
		entry.display_name = entry.name;
	event.id = entry.id;
	event.message = entry.message;
	FLEXTRACE_TRY(xplane_intern(xplane, &entry.display_name, &event.name));
	FLEXTRACE_TRY(map_put(&plane->event_index, entry.id, 0, plane->n_events));
	return ARRAY_PUSH(plane->events, plane->n_events, event);
}

static int take_field(struct xplane *xplane, struct xplane_plane *plane,
                      const struct protobuf_field *field)
{
	if (field->wire != PROTOBUF_BYTES)
		return FLEXTRACE_OK;
	switch (field->number) {
	case PLANE_NAME:
		return xplane_intern(xplane, &field->bytes, &plane->name);
	case PLANE_STAT_NAMES:
		return take_stat_name(xplane, plane, field->bytes);
	case PLANE_EVENT_NAMES:
		return take_event_name(xplane, plane, field->bytes);
	default:
		return FLEXTRACE_OK;
	}
}

int xplane_read_tables(struct xplane *xplane, struct xplane_plane *plane)
{
	struct protobuf message = plane->message;
	struct protobuf_field field;
	int code;

	while ((code = protobuf_next(&message, &field)) > 0)
		FLEXTRACE_TRY(take_field(xplane, plane, &field));
	return code < 0 ? xplane_damaged(xplane, &message) : FLEXTRACE_OK;
}

void xplane_release_tables(struct xplane_plane *plane)
{
	free(plane->stats);
	free(plane->events);
	map_release(&plane->stat_index);
	map_release(&plane->event_index);
}
