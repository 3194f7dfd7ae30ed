/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/text_file.h"

/* So many bytes; a string; elements of so many bytes, whose number stands in front of them in 32
 * bits. */
enum part_kind { PART_BYTES, PART_STRING, PART_ELEMENTS };

struct layout_part {
	enum part_kind kind;
	uint32_t n_bytes;
};

struct layout_event {
	uint32_t stream_id, id;
	uint32_t first_part, n_parts;
	bool is_known;
};

/* -- reading ----------------------------------------------------------------------------------- */

static bool add_part(struct layout *layout, struct layout_event *event, enum part_kind kind,
                     uint32_t n_bytes)
{
	if (ARRAY_PUSH(layout->parts, layout->n_parts, (struct layout_part){kind, n_bytes}) < 0)
		return false;
	event->n_parts++;
	return true;
}

/* What stands behind the type: a name, or a name with how many there are. */
static bool add_field(struct layout *layout, struct layout_event *event, const char *name,
                      uint32_t n_bytes)
{
	const char *bracket = strchr(name, '[');
	struct layout_part *last;
	unsigned n;

	if (!bracket)
		return add_part(layout, event, PART_BYTES, n_bytes);
	if (sscanf(bracket, "[%u]", &n) == 1 && n < 65536)
		return add_part(layout, event, PART_BYTES, n * n_bytes);
	last = event->n_parts ? &layout->parts[layout->n_parts - 1] : NULL;
	if (!last || last->kind != PART_BYTES || last->n_bytes != sizeof(uint32_t))
		event->is_known = false;
	else
		*last = (struct layout_part){PART_ELEMENTS, n_bytes};
	return true;
}

static bool read_field(struct layout *layout, struct layout_event *event, const char *line)
{
	const char *name = strchr(line, '}');
	unsigned n_bits, n_more, align = 8;

	if (sscanf(line, " string %c", &(char){0}) == 1)
		return add_part(layout, event, PART_STRING, 0);
	if (name && sscanf(line, " integer { size = %u; align = %u;", &n_bits, &align) == 2 &&
	    align == 8 && n_bits % 8 == 0 && n_bits <= 64)
		return add_field(layout, event, name, n_bits / 8);
	if (name &&
	    sscanf(line, " floating_point { exp_dig = %u; mant_dig = %u;", &n_bits, &n_more) == 2 &&
	    strstr(line, "align = 8;") && (n_bits + n_more) % 8 == 0 && n_bits + n_more <= 64)
		return add_field(layout, event, name, (n_bits + n_more) / 8);
	event->is_known = false;
	return true;
}

/* Reads the lines of one event. Returns where the next one may be. */
static const char *read_event(struct layout *layout, const char *text, bool *ret_is_read)
{
	struct layout_event event = {.first_part = layout->n_parts, .is_known = true};
	bool is_inside = false;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
		if (strncmp(line, "};", 2) == 0) {
			layout->events[layout->n_events++] = event;
			return text;
		}
		if (is_inside && strncmp(line, "\t};", 3) == 0)
			is_inside = false;
		else if (is_inside)
			*ret_is_read &= read_field(layout, &event, line);
		else if (strstr(line, "fields := struct {"))
			is_inside = true;
		else if (sscanf(line, " stream_id = %u;", &event.stream_id) != 1)
			sscanf(line, " id = %u;", &event.id);
	}
	return text; /* it is being written */
}

bool layout_read(const char *text, struct layout *ret_layout)
{
	struct layout layout = {NULL};
	bool is_read = true;

	while (is_read && (text = strstr(text, "\nevent {\n"))) {
		is_read = array_make_room(&layout.events, layout.n_events,
		                          sizeof(*layout.events)) == 0;
		if (is_read)
			text = read_event(&layout, text + strlen("\nevent {\n"), &is_read);
	}
	if (!is_read)
		layout_release(&layout);
	*ret_layout = layout;
	return is_read;
}

#define MAX_BYTES (1 << 24)

bool layout_load(const char *path, struct layout *ret_layout)
{
	size_t n_bytes = 0;
	char *text = text_file_read_bytes(path, MAX_BYTES, &n_bytes);
	bool is_read;

	*ret_layout = (struct layout){NULL};
	is_read = n_bytes && text && layout_read(text, ret_layout);
	free(text);
	return is_read;
}

void layout_release(struct layout *layout)
{
	free(layout->events);
	free(layout->parts);
	*layout = (struct layout){NULL};
}

/* -- measuring --------------------------------------------------------------------------------- */

static const struct layout_event *find_event(const struct layout *layout, uint32_t stream_id,
                                             uint32_t id)
{
	for (uint32_t i = 0; i < layout->n_events; i++)
		if (layout->events[i].id == id && layout->events[i].stream_id == stream_id)
			return layout->events[i].is_known ? &layout->events[i] : NULL;
	return NULL;
}

/* Returns how long it is, or more than there are. */
static uint64_t measure_part(const struct layout_part *part, const unsigned char *at,
                             uint64_t n_bytes)
{
	const unsigned char *end;
	uint32_t n;

	if (part->kind == PART_BYTES)
		return part->n_bytes;
	if (part->kind == PART_STRING) {
		end = memchr(at, '\0', n_bytes);
		return end ? (uint64_t)(end - at) + 1 : n_bytes + 1;
	}
	if (n_bytes < sizeof(n))
		return sizeof(n);
	memcpy(&n, at, sizeof(n));
	return sizeof(n) + (uint64_t)n * part->n_bytes;
}

/* A word is written at once, what is longer in any order, a string from its beginning. */
static uint32_t measure_last(const struct layout_part *part, uint64_t n_bytes)
{
	if (part->kind == PART_STRING)
		return n_bytes > 1 ? 2 : 1;
	if (part->kind == PART_ELEMENTS && n_bytes > sizeof(uint32_t))
		n_bytes -= sizeof(uint32_t);
	return n_bytes == 1 || n_bytes == 2 || n_bytes == 4 || n_bytes == 8 ? (uint32_t)n_bytes : 0;
}

bool layout_measure(const struct layout *layout, uint32_t stream_id, uint32_t event_id,
                    const unsigned char *at, uint64_t n_bytes, struct layout_size *ret_size)
{
	const struct layout_event *event = find_event(layout, stream_id, event_id);
	struct layout_size size = {.n = 0};

	if (!event)
		return false;
	for (uint32_t i = 0; i < event->n_parts; i++) {
		const struct layout_part *part = &layout->parts[event->first_part + i];
		uint64_t n = measure_part(part, at + size.n, n_bytes - size.n);

		if (part->kind == PART_BYTES) {
			size.n_tail += n;
		} else {
			size.n_told = size.n + (part->kind == PART_STRING ? n : sizeof(uint32_t));
			size.n_tail = 0;
		}
		size.n += n;
		if (size.n > n_bytes)
			return false;
		size.n_last = measure_last(part, n);
		size.is_text = part->kind == PART_STRING;
	}
	*ret_size = size;
	return true;
}
