/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h: one ring buffer of LTTng-UST 2.13 in the file that it shares with the programs, and what
 * to do when a thread died while it wrote into it.
 *
 * A record is reserved, written, committed. A thread that ends between these leaves a sub-buffer
 * that never fills up: LTTng's consumer waits for it, and for all that comes behind it, for ever.
 * Healing does what the dead thread would have done: it commits what is missing and delivers the
 * sub-buffer, without the hole (salvage.h). A mark in the packet tells of it (torn.h).
 *
 * - The beginning of such a file says where most things are (LTTng calls it the crash ABI); the
 *   rest follows from 2.13's structures and is checked before anything is written. What does not
 *   look like that is left alone.
 * - Who heals a sub-buffer must know that its writers are dead or wait for nothing: mappers.h. One
 *   that goes on after all commits its record a second time; the sub-buffer gets stuck once more
 *   in its next round, and is healed once more.
 */
#ifndef FLEXTRACE_RING_H
#define FLEXTRACE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/layout.h"

struct ring {
	unsigned char *map; /* owned */
	uint64_t n_bytes, subbuf_bytes, n_subbufs;
	bool is_overwrite;
	const struct layout *layout; /* weak: set by who knows it; NULL: packets end at a hole */
	const char *name;            /* weak: of the file */
	const char *trace_dir;       /* weak: where it is read into; NULL: not known */
	uint64_t produced_at, hot_at, hot_stride, seq_offset, cold_at, ends_at; /* in the file */
	uint64_t writers_at, counts_at, pages_at, pages_stride, pages_offset, data_offset;
};

/* A sub-buffer that all of its room is reserved in, but not committed. */
struct ring_stuck {
	uint64_t position, committed;
};

/* Maps the file; false: it is none, or not one that we understand. */
bool ring_open(const char *path, struct ring *ret_ring);
void ring_close(struct ring *ring);

/* Finds the first one that is not delivered and not read. */
bool ring_find_stuck(const struct ring *ring, struct ring_stuck *ret_stuck);

/* Closes the sub-buffer that is being written, as LTTng's consumer does at the end: where there is
 * no consumer any more, and no program that writes. */
void ring_close_current(const struct ring *ring);

/* Heals all of them up to where programs write now. Returns how many. */
uint32_t ring_heal(const struct ring *ring);

/* Heals the one that was found, alone: others may be written into. */
uint32_t ring_heal_one(const struct ring *ring, const struct ring_stuck *stuck);

#endif
