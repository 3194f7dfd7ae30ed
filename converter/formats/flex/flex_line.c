/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events leave the spool in order of time and go through a ring, so that the parts of a control
 * block find each other: a part that another one of its block follows is dead, for the later one
 * tells it all.
 */
#include <stdlib.h>
#include <string.h>

#include "flex_impl.h"

#define LINE_BYTES ((uint32_t)2 << 20)
#define LINE_ALIGN 16u
#define MAX_LOOK   64 /* twins that are looked at */
#define NO_TWIN    UINT32_MAX
#define N_TWINS    (UINT32_C(1) << 15)

_Static_assert(sizeof(struct flex_line_item) == LINE_ALIGN, "what is left of the ring holds one");
_Static_assert(LINE_BYTES / (LINE_ALIGN + offsetof(struct flex_part, bytes)) < N_TWINS * 3 / 4,
               "a quarter of the slots stays free");

static struct flex_line_item *item_at(const struct flex_line *line, uint32_t place)
{
	return (struct flex_line_item *)(line->bytes + place);
}

static uint32_t stride_of(size_t n_bytes)
{
	size_t stride = sizeof(struct flex_line_item) + n_bytes;

	return (uint32_t)((stride + LINE_ALIGN - 1) / LINE_ALIGN * LINE_ALIGN);
}

static bool has_room(const struct flex_line *line)
{
	return line->n_used + 2 * stride_of(SPOOL_ITEM_LIMIT) < LINE_BYTES;
}

static struct flex_line_item *put(struct flex_line *line, size_t n_bytes)
{
	struct flex_line_item *item = item_at(line, line->tail);

	*item = (struct flex_line_item){(uint32_t)n_bytes, NO_TWIN, NO_TWIN, false};
	line->tail += stride_of(n_bytes);
	line->n_used += stride_of(n_bytes);
	return item;
}

/* Room for an item behind the last one. */
static struct flex_line_item *append(struct flex_line *line, size_t n_bytes)
{
	uint32_t rest = LINE_BYTES - line->tail;

	if (stride_of(n_bytes) > rest) {
		if (rest)
			put(line, rest - sizeof(struct flex_line_item))->is_dead = true;
		line->tail = 0;
	}
	return put(line, n_bytes);
}

static const struct item_head *head_of(const struct flex_line_item *item)
{
	return (const struct item_head *)(item + 1);
}

/* -- twins ----------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct flex_line_item *item)
{
	return ((const struct flex_part *)(item + 1))->hash;
}

/* Returns the slot of a hash, or the free one where it would go. */
static struct flex_twin *find_twin(const struct flex_line *line, uint64_t hash)
{
	uint32_t i = (uint32_t)hash % N_TWINS;

	for (;; i = (i + 1) % N_TWINS) {
		struct flex_twin *twin = &line->twins[i];

		if (!twin->place || (twin->hash == (uint32_t)hash &&
		                     hash_of(item_at(line, twin->place - 1)) == hash))
			return twin;
	}
}

static struct flex_line_item *oldest(const struct flex_line *line, const struct flex_twin *twin)
{
	return item_at(line, twin->place - 1);
}

/* Puts a part behind its twins; `twin` is the slot of its hash. */
static void add_twin(struct flex_line *line, struct flex_twin *twin, struct flex_line_item *item)
{
	uint32_t place = (uint32_t)((char *)item - line->bytes);

	if (!twin->place) {
		item->last = place;
		*twin = (struct flex_twin){(uint32_t)hash_of(item), place + 1};
		return;
	}
	item_at(line, oldest(line, twin)->last)->next = place;
	oldest(line, twin)->last = place;
}

/* Empties a slot; those behind it that would not be found any more move up. */
static void free_twin(struct flex_line *line, struct flex_twin *twin)
{
	uint32_t hole = (uint32_t)(twin - line->twins);

	for (uint32_t i = (hole + 1) % N_TWINS; line->twins[i].place; i = (i + 1) % N_TWINS) {
		uint32_t home = line->twins[i].hash % N_TWINS;

		if ((i - home) % N_TWINS < (i - hole) % N_TWINS)
			continue;
		line->twins[hole] = line->twins[i];
		hole = i;
	}
	line->twins[hole].place = 0;
}

/* Takes a part out from behind `before` (NULL: it is the oldest). */
static void remove_twin(struct flex_line *line, struct flex_line_item *before,
                        struct flex_line_item *item)
{
	struct flex_twin *twin = find_twin(line, hash_of(item));
	uint32_t place = (uint32_t)((char *)item - line->bytes);

	if (before) {
		before->next = item->next;
		if (oldest(line, twin)->last == place)
			oldest(line, twin)->last = (uint32_t)((char *)before - line->bytes);
		return;
	}
	if (item->next == NO_TWIN) {
		free_twin(line, twin);
		return;
	}
	item_at(line, item->next)->last = item->last;
	twin->place = item->next + 1;
}

/* Joins a part to the oldest one on the line that it belongs to. That one is dead then. False:
 * there is none. */
static bool join_twin(struct flex_line *line, const struct flex_twin *twin,
                      struct flex_part_view *part)
{
	uint32_t place = twin->place - 1;
	struct flex_line_item *before = NULL;

	for (int i = 0; i < MAX_LOOK && place != NO_TWIN; i++) {
		struct flex_line_item *item = item_at(line, place);
		struct flex_part_view earlier;

		flex_part_read(item + 1, &earlier);
		if (flex_part_join(part, &earlier)) {
			item->is_dead = true;
			remove_twin(line, before, item);
			return true;
		}
		before = item;
		place = item->next;
	}
	return false;
}

/* -- in -------------------------------------------------------------------------------------- */

/* Writes a part that several events told. */
static struct flex_line_item *write_joined(struct flex_line *line,
                                           const struct flex_part_view *part)
{
	size_t n_bytes = sizeof(part->part);
	struct flex_line_item *item;
	char *at;

	for (int i = 0; i < FLEX_N_TEXTS; i++)
		n_bytes += item_text_bytes(&part->texts[i].text);
	item = append(line, n_bytes);
	at = (char *)(item + 1);
	memcpy(at, &part->part, sizeof(part->part));
	at += sizeof(part->part);
	for (int i = 0; i < FLEX_N_TEXTS; i++)
		item_copy_text(&at, &part->texts[i]);
	return item;
}

static struct flex_line_item *copy(struct flex_line *line, const struct spool_item *from)
{
	struct flex_line_item *item = append(line, from->n_bytes);

	memcpy(item + 1, from->bytes, from->n_bytes);
	return item;
}

static void take_part(struct flex_line *line, const struct spool_item *from)
{
	const struct flex_part *first = from->bytes;
	struct flex_twin *twin = find_twin(line, first->hash);
	struct flex_part_view part;

	if (twin->place) {
		flex_part_read(from->bytes, &part);
		if (join_twin(line, twin, &part)) { /* which may have freed the slot */
			twin = find_twin(line, first->hash);
			add_twin(line, twin, write_joined(line, &part));
			return;
		}
	}
	add_twin(line, twin, copy(line, from));
}

static int take_item(struct flex *flex, const struct spool_item *from)
{
	const struct item_head *head = from->bytes;

	if (head->class == FLEX_TRIP)
		return flex_note_trip(flex, from->bytes);
	if (head->class == FLEX_PART)
		take_part(&flex->line, from);
	else
		copy(&flex->line, from);
	return FLEXTRACE_OK;
}

static int fill(struct flex *flex)
{
	struct flex_line *line = &flex->line;
	struct spool_item item;

	if (!line->bytes)
		line->bytes = aligned_alloc(LINE_ALIGN, LINE_BYTES);
	if (!line->twins)
		line->twins = calloc(N_TWINS, sizeof(*line->twins));
	if (!line->bytes || !line->twins)
		return FLEXTRACE_E_MEMORY;
	while (!line->is_over && has_room(line)) {
		int code = spool_next(flex->import.events, &item);

		FLEXTRACE_TRY(code);
		line->is_over = !code;
		if (code)
			FLEXTRACE_TRY(take_item(flex, &item));
	}
	return FLEXTRACE_OK;
}

/* -- out ------------------------------------------------------------------------------------- */

/* Drops the first item. */
static void drop(struct flex_line *line)
{
	struct flex_line_item *item = item_at(line, line->head);

	if (!item->is_dead && head_of(item)->class == FLEX_PART)
		remove_twin(line, NULL, item);
	line->n_used -= stride_of(item->n_bytes);
	line->head += stride_of(item->n_bytes);
	if (line->head == LINE_BYTES)
		line->head = 0;
}

/* 1: the first item is there and alive, 0: there is none. */
static int find_first(struct flex *flex)
{
	struct flex_line *line = &flex->line;

	FLEXTRACE_TRY(fill(flex));
	while (line->n_used && item_at(line, line->head)->is_dead) {
		drop(line);
		FLEXTRACE_TRY(fill(flex));
	}
	return line->n_used > 0;
}

/* Stores the first item, or what follows it. */
static int give(struct flex *flex, uint32_t *ret_rank, struct event *ret_event)
{
	struct flex_line *line = &flex->line;
	const void *item = item_at(line, line->head) + 1;
	const struct flex_part *part = item;

	line->clock_ns = (int64_t)part->head.clock_ns;
	if (part->head.class != FLEX_PART)
		return event_item_read(flex->import.events, item, &flex->import.texts, ret_rank,
		                       ret_event);
	FLEXTRACE_TRY(flex_block_event(flex, item, line->rest, ret_rank, ret_event));
	if (line->rest == FLEX_ESTIMATE && !flex_trip_take(flex, part))
		ret_event->payload.host_estimate.kind += FLEXTRACE_ESTIMATE_DOUBTED;
	line->rest = flex_block_rest(part, line->rest);
	return FLEXTRACE_OK;
}

int flex_line_next(struct flex *flex, uint32_t *ret_rank, struct event *ret_event)
{
	struct flex_line *line = &flex->line;
	int code;

	if (line->is_given && !line->rest)
		drop(line);
	line->is_given = false;
	if (flex_trip_tell(flex, false, ret_rank, ret_event))
		return 1;
	code = line->rest ? 1 : find_first(flex);
	line->is_given = code > 0;
	if (code == 0)
		return flex_trip_tell(flex, true, ret_rank, ret_event);
	FLEXTRACE_TRY(code);
	FLEXTRACE_TRY(give(flex, ret_rank, ret_event));
	return 1;
}

void flex_line_release(struct flex_line *line)
{
	free(line->bytes);
	free(line->twins);
	*line = (struct flex_line){0};
}
