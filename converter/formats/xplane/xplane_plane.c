/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a plane: names of events and of stats, by the ids that events have. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "xplane_impl.h"

enum map_field { MAP_KEY = 1, MAP_VALUE = 2, MAP_FIELD_COUNT };

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

/* Where a file stops in the middle, all messages that end there are cut: that is told once. */
int xplane_read(struct xplane *xplane, struct protobuf message, struct protobuf_field *ret_fields,
                uint32_t n)
{
	const struct xplane_file *file = &xplane->file;

	if (protobuf_read(&message, ret_fields, n) == 0 ||
	    (file->is_cut && message.end == file->space.end))
		return FLEXTRACE_OK;
	return import_reject(&xplane->import, LOSS_MALFORMED, "what is left of a message is none",
	                     (uint64_t)(message.at - file->space.at));
}

bool xplane_next(struct protobuf *message, uint32_t number, struct protobuf *ret_bytes)
{
	struct protobuf_field field;

	while (protobuf_next(message, &field) > 0) {
		*ret_bytes = field.bytes;
		if (field.number == number && field.wire == PROTOBUF_BYTES)
			return true;
	}
	return false;
}

bool xplane_is(const struct xplane *xplane, const struct xplane_plane *plane, const char *start)
{
	return strncmp(string_get(xplane->import.strings, plane->name), start, strlen(start)) == 0;
}

/* -- tables ----------------------------------------------------------------------------------- */

/* Maps are lists of pairs; the key is told twice, and neither must be. */
static int read_entry(struct xplane *xplane, struct protobuf pair,
                      struct xplane_event_name *ret_entry, struct protobuf_field *ret_names)
{
	struct protobuf_field fields[MAP_FIELD_COUNT];

	FLEXTRACE_TRY(xplane_read(xplane, pair, fields, MAP_FIELD_COUNT));
	ret_entry->message = fields[MAP_VALUE].bytes;
	FLEXTRACE_TRY(xplane_read(xplane, ret_entry->message, ret_names, NAME_STAT));
	ret_entry->id = (ret_names[NAME_ID].number ? ret_names[NAME_ID] : fields[MAP_KEY]).value;
	return FLEXTRACE_OK;
}

static int take_stat_name(struct xplane *xplane, struct xplane_plane *plane, struct protobuf pair)
{
	struct protobuf_field names[NAME_STAT];
	struct xplane_event_name entry;
	struct xplane_stat_name stat;

	FLEXTRACE_TRY(read_entry(xplane, pair, &entry, names));
	FLEXTRACE_TRY(xplane_intern(xplane, &names[NAME_NAME].bytes, &stat.name));
	stat.said = xplane_find_said(string_get(xplane->import.strings, stat.name));
	FLEXTRACE_TRY(map_put(&plane->stat_index, entry.id, 0, plane->n_stats));
	return ARRAY_PUSH(plane->stats, plane->n_stats, stat);
}

static int take_event_name(struct xplane *xplane, struct xplane_plane *plane, struct protobuf pair)
{
	struct protobuf_field names[NAME_STAT];
	struct xplane_event_name event;

	FLEXTRACE_TRY(read_entry(xplane, pair, &event, names));
	FLEXTRACE_TRY(xplane_intern(xplane, xplane_name(names, NAME_DISPLAY_NAME, NAME_NAME),
	                            &event.name));
	FLEXTRACE_TRY(map_put(&plane->event_index, event.id, 0, plane->n_events));
	return ARRAY_PUSH(plane->events, plane->n_events, event);
}

/* What is damaged in it is counted by who reads the line. */
static void find_first(struct xplane_file *file, struct protobuf line)
{
	struct protobuf_field fields[LINE_START_NS + 1];
	const struct protobuf_field *start = &fields[LINE_START_NS];

	protobuf_read(&line, fields, LINE_START_NS + 1);
	if (start->number && (int64_t)start->value < file->epoch_ns)
		file->epoch_ns = (int64_t)start->value;
}

int xplane_read_tables(struct xplane *xplane, struct xplane_plane *plane)
{
	struct protobuf message = plane->message, bytes;
	struct protobuf_field fields[PLANE_NAME + 1];

	FLEXTRACE_TRY(xplane_read(xplane, message, fields, PLANE_NAME + 1));
	FLEXTRACE_TRY(xplane_intern(xplane, &fields[PLANE_NAME].bytes, &plane->name));
	while (xplane_next(&message, PLANE_STAT_NAMES, &bytes))
		FLEXTRACE_TRY(take_stat_name(xplane, plane, bytes));
	message = plane->message;
	while (xplane_next(&message, PLANE_EVENT_NAMES, &bytes))
		FLEXTRACE_TRY(take_event_name(xplane, plane, bytes));
	message = plane->message;
	while (xplane_next(&message, PLANE_LINE, &bytes))
		find_first(&xplane->file, bytes);
	return FLEXTRACE_OK;
}

void xplane_release_tables(struct xplane_plane *plane)
{
	free(plane->stats);
	free(plane->events);
	map_release(&plane->stat_index);
	map_release(&plane->event_index);
}
