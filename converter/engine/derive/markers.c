/* SPDX-License-Identifier: Apache-2.0 */
/* markers.c: what a mark is called, found out once for all marks of an id, or of a run's name. */
#include <inttypes.h>
#include <stdio.h>

#include "derive_impl.h"

#define OF_A_FILE 0x80 /* keys of what a file of ours says */

static int add_marker(struct derive *derive, uint64_t key, const struct marker *marker,
                      uint32_t *ret_marker)
{
	*ret_marker = derive->out.n_markers;
	FLEXTRACE_TRY(ARRAY_ROOM(derive->out.markers, derive->out.n_markers));
	FLEXTRACE_TRY(map_put(&derive->marker_keys, key, marker->kind, *ret_marker));
	derive->out.markers[derive->out.n_markers++] = *marker;
	return FLEXTRACE_OK;
}

static int learn_marker(struct derive *derive, uint32_t device, uint32_t id, uint32_t *ret_marker)
{
	struct marker marker = {.kind = ROW_ZONE};
	char text[32];

	identity_marker(derive->identity, device, id, &marker.name, &marker.file, &marker.line);
	marker.is_named = marker.name != 0;
	if (!marker.is_named) {
		snprintf(text, sizeof(text),
		         id & FLEXTRACE_WIRE_NUMBERED ? "marker %" PRIu32 : "marker 0x%" PRIx32,
		         id & ~FLEXTRACE_WIRE_NUMBERED);
		FLEXTRACE_TRY(string_intern(&derive->strings, text, &marker.name));
	}
	return add_marker(derive, map_pair(device, id), &marker, ret_marker);
}

int marker_of_id(struct derive *derive, uint32_t device, uint32_t id, uint32_t *ret_marker)
{
	*ret_marker = map_find(&derive->marker_keys, map_pair(device, id), ROW_ZONE);
	if (*ret_marker != MAP_NONE)
		return FLEXTRACE_OK;
	return learn_marker(derive, device, id, ret_marker);
}

int marker_of_name(struct derive *derive, uint8_t kind, uint32_t name, uint32_t *ret_marker)
{
	struct marker marker = {.name = name, .kind = kind, .is_named = true};

	*ret_marker = map_find(&derive->marker_keys, name, kind);
	if (*ret_marker != MAP_NONE)
		return FLEXTRACE_OK;
	return add_marker(derive, name, &marker, ret_marker);
}

int marker_of_row(struct derive *derive, const struct record_restored *row, uint32_t *ret_marker)
{
	uint64_t key = (uint64_t)row->head.name << 32 | row->file;
	uint64_t of = (uint64_t)row->line << 8 | OF_A_FILE | row->head.kind;

	*ret_marker = map_find(&derive->marker_keys, key, of);
	if (*ret_marker != MAP_NONE)
		return FLEXTRACE_OK;
	*ret_marker = derive->out.n_markers;
	FLEXTRACE_TRY(map_put(&derive->marker_keys, key, of, *ret_marker));
	return ARRAY_PUSH(derive->out.markers, derive->out.n_markers,
	                  (struct marker){.name = row->head.name,
	                                  .file = row->file,
	                                  .line = row->line,
	                                  .kind = row->head.kind,
	                                  .is_named = true});
}
