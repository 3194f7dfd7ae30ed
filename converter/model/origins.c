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

static struct origin origin_of(uint64_t number)
{
	return (struct origin){(uint32_t)(number >> 33), (uint32_t)(number >> 1), number & 1};
}

/* -- blocks ------------------------------------------------------------------------------------ */

static uint8_t width_of(uint64_t number)
{
	uint8_t width = 0;

	for (; number; number >>= 8)
		width++;
	return width;
}

static void put(uint8_t *at, uint64_t number, uint8_t width)
{
	for (uint8_t i = 0; i < width; i++)
		at[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t get(const uint8_t *at, uint8_t width)
{
	uint64_t number = 0;

	for (uint8_t i = 0; i < width; i++)
		number |= (uint64_t)at[i] << 8 * i;
	return number;
}

/* Packs the block that is full. */
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
		bytes = table_append(&origins->packed, (size_t)ORIGINS_BLOCK * block.width);
	if (block.width && !bytes)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < ORIGINS_BLOCK; i++)
		put(bytes + (size_t)i * block.width, origins->open[i] - block.least, block.width);
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

struct origin origins_get(const struct origins *origins, uint32_t place)
{
	const struct origins_block *block = &origins->blocks[place / ORIGINS_BLOCK];
	uint32_t at = place % ORIGINS_BLOCK;

	if (place / ORIGINS_BLOCK == origins->n_blocks)
		return origin_of(origins->open[at]);
	return origin_of(block->least +
	                 get(block->bytes + (size_t)at * block->width, block->width));
}
