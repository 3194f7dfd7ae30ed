/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events leave the spool in order of time and go through a ring, so that the parts of a control
 * block find each other: a part that another one of its block follows is dead, for the later one
 * tells it all.
 */
#include <stdlib.h>
#include <string.h>

#include "event_reader.h"

#define LINE_BYTES ((uint32_t)2 << 20)
#define LINE_ALIGN 16u
#define MAX_LOOK   64 /* twins that are looked at */
#define NO_TWIN    MAP_NONE

_Static_assert(sizeof(struct line_item) == LINE_ALIGN, "what is left of the ring holds one");

static struct line_item *item_at(const struct event_line *line, uint32_t place)
{
	return (struct line_item *)(line->bytes + place);
}

static uint32_t stride_of(size_t n_bytes)
{
	size_t stride = sizeof(struct line_item) + n_bytes;

	return (uint32_t)((stride + LINE_ALIGN - 1) / LINE_ALIGN * LINE_ALIGN);
}

static bool has_room(const struct event_line *line)
{
	return line->n_used + 2 * stride_of(SPOOL_ITEM_LIMIT) < LINE_BYTES;
}

static struct line_item *put(struct event_line *line, size_t n_bytes)
{
	struct line_item *item = item_at(line, line->tail);

	*item = (struct line_item){(uint32_t)n_bytes, NO_TWIN, NO_TWIN, false};
	line->tail += stride_of(n_bytes);
	line->n_used += stride_of(n_bytes);
	return item;
}

/* Room for an item behind the last one. */
static struct line_item *append(struct event_line *line, size_t n_bytes)
{
	uint32_t rest = LINE_BYTES - line->tail;

	if (stride_of(n_bytes) > rest) {
		if (rest)
			put(line, rest - sizeof(struct line_item))->is_dead = true;
		line->tail = 0;
	}
	return put(line, n_bytes);
}

/* -- twins ----------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct line_item *item)
{
	return ((const struct block_part *)(item + 1))->hash;
}

static uint32_t place_of(const struct event_line *line, const struct line_item *item)
{
	return (uint32_t)((const char *)item - line->bytes);
}

/* Puts a part behind its twins, of which `oldest` is told by the map. */
static void add_twin(struct event_line *line, uint32_t *oldest, struct line_item *item)
{
	uint32_t place = place_of(line, item);

	if (*oldest == NO_TWIN)
		*oldest = place;
	else
		item_at(line, item_at(line, *oldest)->last)->next = place;
	item_at(line, *oldest)->last = place;
}

/* Takes a part out from behind `before` (NULL: it is the oldest). */
static int remove_twin(struct event_line *line, struct line_item *before,
                       const struct line_item *item)
{
	struct line_item *oldest;

	if (before) {
		oldest = item_at(line, map_find(&line->twins, hash_of(item), 0));
		before->next = item->next;
		if (oldest->last == place_of(line, item))
			oldest->last = place_of(line, before);
		return FLEXTRACE_OK;
	}
	if (item->next == NO_TWIN) {
		map_remove(&line->twins, hash_of(item), 0);
		return FLEXTRACE_OK;
	}
	item_at(line, item->next)->last = item->last;
	return map_put(&line->twins, hash_of(item), 0, item->next);
}

/* Joins a part to the oldest one on the line that it belongs to. That one is dead then. 1, 0: there
 * is none, FLEXTRACE_E_MEMORY. */
static int join_twin(struct event_line *line, struct block_part_view *part)
{
	uint32_t place = map_find(&line->twins, part->part.hash, 0);
	struct line_item *before = NULL;

	for (int i = 0; i < MAX_LOOK && place != NO_TWIN; i++) {
		struct line_item *item = item_at(line, place);
		struct block_part_view earlier;

		block_part_read(item + 1, &earlier);
		if (block_part_join(part, &earlier)) {
			item->is_dead = true;
			FLEXTRACE_TRY(remove_twin(line, before, item));
			return 1;
		}
		before = item;
		place = item->next;
	}
	return 0;
}

/* -- in -------------------------------------------------------------------------------------- */

/* Writes a part that several events told. */
static struct line_item *write_joined(struct event_line *line, const struct block_part_view *part)
{
	size_t n_bytes = sizeof(part->part);
	struct line_item *item;
	char *at;

	for (int i = 0; i < PART_N_TEXTS; i++)
		n_bytes += item_text_bytes(&part->texts[i].text);
	item = append(line, n_bytes);
	at = (char *)(item + 1);
	memcpy(at, &part->part, sizeof(part->part));
	at += sizeof(part->part);
	for (int i = 0; i < PART_N_TEXTS; i++)
		item_copy_text(&at, &part->texts[i]);
	return item;
}

static struct line_item *copy(struct event_line *line, const struct spool_item *from)
{
	struct line_item *item = append(line, from->n_bytes);

	memcpy(item + 1, from->bytes, from->n_bytes);
	return item;
}

static int take_part(struct event_line *line, const struct spool_item *from)
{
	const struct block_part *first = from->bytes;
	struct block_part_view part;
	struct line_item *item;
	uint32_t *oldest;
	int code;

	FLEXTRACE_TRY(map_enter(&line->twins, first->hash, 0, &oldest));
	if (*oldest == NO_TWIN) {
		add_twin(line, oldest, copy(line, from));
		return FLEXTRACE_OK;
	}
	block_part_read(from->bytes, &part);
	code = join_twin(line, &part);
	FLEXTRACE_TRY(code);
	item = code ? write_joined(line, &part) : copy(line, from);
	FLEXTRACE_TRY(map_enter(&line->twins, hash_of(item), 0, &oldest));
	add_twin(line, oldest, item);
	return FLEXTRACE_OK;
}

static int take_item(struct event_import *events, const struct spool_item *from)
{
	const struct item_head *head = from->bytes;

	if (head->class == ITEM_TRIP)
		return round_trip_note(events, from->bytes);
	if (head->class == ITEM_PART)
		return take_part(&events->line, from);
	copy(&events->line, from);
	return FLEXTRACE_OK;
}

static int fill(struct event_import *events)
{
	struct event_line *line = &events->line;
	struct spool_item item;

	if (!line->bytes)
		line->bytes = aligned_alloc(LINE_ALIGN, LINE_BYTES);
	if (!line->bytes)
		return FLEXTRACE_E_MEMORY;
	while (!line->is_over && has_room(line)) {
		int code = spool_next(events->import.events, &item);

		FLEXTRACE_TRY(code);
		line->is_over = !code;
		if (code)
			FLEXTRACE_TRY(take_item(events, &item));
	}
	return FLEXTRACE_OK;
}

/* -- out ------------------------------------------------------------------------------------- */

/* Drops the first item. */
static int drop(struct event_line *line)
{
	struct line_item *item = item_at(line, line->head);

	if (!item->is_dead && ((const struct item_head *)(item + 1))->class == ITEM_PART)
		FLEXTRACE_TRY(remove_twin(line, NULL, item));
	line->n_used -= stride_of(item->n_bytes);
	line->head += stride_of(item->n_bytes);
	if (line->head == LINE_BYTES)
		line->head = 0;
	return FLEXTRACE_OK;
}

/* 1: the first item is there and alive, 0: there is none. */
static int find_first(struct event_import *events)
{
	struct event_line *line = &events->line;

	FLEXTRACE_TRY(fill(events));
	while (line->n_used && item_at(line, line->head)->is_dead) {
		FLEXTRACE_TRY(drop(line));
		FLEXTRACE_TRY(fill(events));
	}
	return line->n_used > 0;
}

/* Stores the first item, or what follows it. */
static int give(struct event_import *events, uint32_t *ret_rank, struct event *ret_event)
{
	struct event_line *line = &events->line;
	const void *item = item_at(line, line->head) + 1;
	const struct block_part *part = item;

	line->clock_ns = (int64_t)part->head.clock_ns;
	if (part->head.class != ITEM_PART)
		return event_item_read(events->import.events, item, &events->import.texts, ret_rank,
		                       ret_event);
	FLEXTRACE_TRY(block_event(events, item, line->rest, ret_rank, ret_event));
	if (line->rest == REST_ESTIMATE && !round_trip_take(events, part))
		ret_event->payload.host_estimate.kind += FLEXTRACE_ESTIMATE_DOUBTED;
	line->rest = block_rest_of(part, line->rest);
	return FLEXTRACE_OK;
}

int event_next(struct import *import, uint32_t *ret_rank, struct event *ret_event)
{
	struct event_import *events = (struct event_import *)import;
	struct event_line *line = &events->line;
	int code;

	if (line->is_given && !line->rest)
		FLEXTRACE_TRY(drop(line));
	line->is_given = false;
	if ((line->reads.ticks[1] || line->past) &&
	    round_trip_next(events, false, ret_rank, ret_event))
		return 1;
	code = line->rest ? 1 : find_first(events);
	line->is_given = code > 0;
	if (code == 0)
		return round_trip_next(events, true, ret_rank, ret_event);
	FLEXTRACE_TRY(code);
	FLEXTRACE_TRY(give(events, ret_rank, ret_event));
	return 1;
}

void event_line_release(struct event_line *line)
{
	free(line->bytes);
	map_release(&line->twins);
	*line = (struct event_line){0};
}
