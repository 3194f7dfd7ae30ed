/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma.h: the transfers of devices that say how many bytes they move, each once.
 *
 * - Of a kernel's control block the bytes are those of its longer DMA, in or out; of others those
 *   of their row.
 * - What two tools, or two events, tell of one transfer are rows of one process, direction, start,
 *   end and number of bytes under different kinds or names: all but those of one name are
 *   duplicates, of the name that has most.
 */
#ifndef FLEXTRACE_DMA_H
#define FLEXTRACE_DMA_H

#include "model/timeline/timeline_read.h"

enum dma_direction { DMA_IN, DMA_OUT, DMA_WITHIN, DMA_PEER, DMA_DIRECTION_COUNT };

struct dma {
	const struct device_row *row; /* weak */
	uint64_t bytes;
	uint32_t device;   /* index of struct device */
	uint8_t direction; /* enum dma_direction */
	bool is_duplicate;
};

struct dma_reader {
	const struct timeline *timeline; /* weak */
	struct table_cursor cursor;
	struct dma *batch; /* owned: those of one start */
	uint32_t n, n_allocated;
	uint32_t next; /* not yet told */
};

void dma_read(struct dma_reader *reader, const struct timeline *timeline);
void dma_release(struct dma_reader *reader);

/* Stores the next transfer, in order of their starts. 1: there is one, 0: no more,
 * FLEXTRACE_E_MEMORY. */
int dma_next(struct dma_reader *reader, struct dma *ret);

#endif
