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
 * number of missing bytes shows that there is a hole, but not which.
 * - In the first round of the buffer the older memory is zeros. A thread id other than 0 was
 *   written, and so was a record whose end is not 0: such records stay, committed or not. Of the
 *   others, the last one of each thread is dropped that is not longer than what is missing.
 * - In later rounds the older memory is records of an earlier round. All of a record may be old
 *   except its time, even its thread. The last record of each thread is dropped, the one behind it,
 *   and the first that is not certain: that is where the threads died.
 */
#ifndef FLEXTRACE_SALVAGE_H
#define FLEXTRACE_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

struct salvage {
	unsigned char *memory;
	const struct layout *layout; /* weak */
	uint32_t stream_id;
	uint64_t begin_ns, end_ns; /* no record is from before or after */
	uint64_t first;            /* where records begin */
	uint64_t n_sure;           /* up to here all are whole */
	uint64_t n_bytes;          /* where they end */
	uint64_t n_room;           /* of the sub-buffer */
	uint64_t n_missing;        /* bytes that were never committed */
	bool was_zero;             /* all of it, before this round */
};

/* Moves the whole records together. Returns where they end then. */
uint64_t salvage_records(const struct salvage *packet);

#endif
