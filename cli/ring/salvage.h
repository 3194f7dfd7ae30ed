/* SPDX-License-Identifier: Apache-2.0 */
/*
 * salvage.h: finds the whole records of a packet in which threads died while they wrote.
 *
 * LTTng counts how many bytes of a packet were never committed, and up to which place all are.
 * Behind that place are whole records and holes in any order. A hole is what a dead thread reserved
 * and did not write, or wrote in part. Records have no length field, so they are walked with the
 * help of the layout (layout.h): bytes with a head, an end, and then another head, with a time that
 * fits, are a record. All else is a hole.
 *
 * A hole may look like a record: its thread wrote the beginning, and the rest is older memory. The
 * number of missing bytes shows that there is a hole, but not which. In the first round of the
 * buffer the older memory is zeros. Later it is the packet of the round before, which is known
 * where it was written to a file.
 * - A record whose time and last bytes differ from the older memory was written to its end. It
 *   stays, committed or not.
 * - Of the others, a record whose thread id differs was written by that thread. The last such one
 *   of each thread is dropped, if it is not longer than what is missing.
 * - The rest may be old except for the time, even the thread. All of it is dropped. Where the older
 *   memory is not known, that is all behind the part that LTTng calls committed.
 */
#ifndef FLEXTRACE_SALVAGE_H
#define FLEXTRACE_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/layout.h"

struct salvage {
	unsigned char *memory;
	const struct layout *layout; /* weak */
	uint32_t stream_id;
	uint64_t begin_ns, end_ns;   /* no record is from before or after */
	uint64_t first;              /* where records begin */
	uint64_t n_sure;             /* up to here all are whole */
	uint64_t n_bytes;            /* where they end */
	uint64_t n_room;             /* of the sub-buffer */
	uint64_t n_missing;          /* bytes that were never committed */
	bool was_zero;               /* all of it, before this round */
	const unsigned char *before; /* weak: else what stood there; NULL: not known */
	uint64_t n_before;           /* so much of it is known */
};

/* Moves the whole records together. Returns where they end then. */
uint64_t salvage_records(const struct salvage *packet);

#endif
