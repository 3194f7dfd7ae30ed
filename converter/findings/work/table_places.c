/* SPDX-License-Identifier: Apache-2.0 */
#include "table_places.h"

#include "base/array.h"

int table_places_init(struct table_places *places, const struct table *table, size_t row_bytes)
{
	uint64_t first = 0;

	*places = (struct table_places){.row_bytes = row_bytes};
	for (const struct table_chunk *chunk = table->first; chunk; chunk = chunk->next) {
		struct table_place place = {chunk, first};

		if (!chunk->used_bytes)
			continue;
		FLEXTRACE_TRY(ARRAY_PUSH(places->chunks, places->n, place));
		first += chunk->used_bytes / row_bytes;
	}
	return FLEXTRACE_OK;
}

void table_places_release(struct table_places *places)
{
	free(places->chunks);
	*places = (struct table_places){0};
}

static bool begins_not_behind(const void *row, const void *key)
{
	const struct table_place *place = row;
	const uint64_t *wanted = key;

	return place->first <= *wanted;
}

const void *table_at(const struct table_places *places, uint64_t place)
{
	uint32_t n = array_count_before(places->chunks, places->n, sizeof(*places->chunks),
	                                begins_not_behind, &place);
	const struct table_place *in = &places->chunks[n - 1];

	return (const char *)in->chunk->rows + (place - in->first) * places->row_bytes;
}
