/* SPDX-License-Identifier: Apache-2.0 */
#include "origins.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

struct origins *origins_new(void)
{
	return calloc(1, sizeof(struct origins));
}

void origins_free(struct origins *origins)
{
	if (!origins)
		return;
	table_release(&origins->packed);
	free(origins->blocks);
	free(origins);
}

/* -- as one number ----------------------------------------------------------------------------- */

static uint64_t number_of(const struct origin *origin)
{
	return (uint64_t)origin->file << 33 | (uint64_t)origin->record << 1 | origin->has_parts;
}

/* -- blocks ------------------------------------------------------------------------------------ */

static uint8_t width_of(uint64_t number)
{
	uint8_t width = 0;

	for (; number; number >>= 8)
		width++;
	return width;
}

/* Packs the block that is full. Each number is written, and read, as a word of which the next ones
 * take the rest. */
static int close_block(struct origins *origins)
{
	struct origins_block block = {.least = UINT64_MAX};
	uint64_t most = 0;
	uint8_t *bytes = NULL;

	FLEXTRACE_TRY(ARRAY_ROOM(origins->blocks, origins->n_blocks));
	for (uint32_t i = 0; i < ORIGINS_BLOCK; i++) {
		block.least = origins->open[i] < block.least ? origins->open[i] : block.least;
		most = origins->open[i] > most ? origins->open[i] : most;
	}
	block.width = width_of(most - block.least);
	if (block.width)
		bytes = table_append(&origins->packed,
		                     (size_t)ORIGINS_BLOCK * block.width + sizeof(uint64_t));
	if (block.width && !bytes)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; bytes && i < ORIGINS_BLOCK; i++) {
		uint64_t word = htole64(origins->open[i] - block.least);

		memcpy(bytes + (size_t)i * block.width, &word, sizeof(word));
	}
	block.bytes = bytes;
	origins->blocks[origins->n_blocks++] = block;
	return FLEXTRACE_OK;
}

int origins_add(struct origins *origins, const struct origin *origin)
{
	uint32_t at = origins->n % ORIGINS_BLOCK;

	if (!at && origins->n)
		FLEXTRACE_TRY(close_block(origins));
	origins->open[at] = number_of(origin);
	origins->n++;
	return FLEXTRACE_OK;
}
