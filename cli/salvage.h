/* SPDX-License-Identifier: Apache-2.0 */
/*
 * salvage.h: which bytes of a packet are records, where threads died while they wrote some.
 *
 * LTTng counts how many bytes of a packet were never committed, and up to where all are. Behind
 * that stand whole records and holes in any order: what a dead thread reserved and did not write,
 * or wrote in part. Records have no length, so that they are walked with the help of the layout
 * (layout.h): what has a head, an end, and then another head, at a time that fits, is a record.
 * What has not is a hole.
 *
 * A hole may look like a record: its thread wrote the beginning, and the rest is what stood there
 * before. The number of missing bytes tells that there is one, not which.
 * - In the first round zeros stood there. A thread that is not 0 was written, and so was a record
 *   whose end is not 0: those stay, committed or not. Of the others the last one of each thread
 *   goes that is not longer than what is missing.
 * - Later, records of an earlier round did: all of it may be old but for the time, even who wrote
 *   it. The last record of each thread goes, the one behind it, and the first that is not sure:
 *   there the threads were that died.
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
