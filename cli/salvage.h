/* SPDX-License-Identifier: Apache-2.0 */
/*
 * salvage.h: which bytes of a packet are records, where threads died while they wrote some.
 *
 * LTTng counts how many bytes of a packet were never committed, and up to where all are. Behind
 * that stand whole records and holes in any order: what a dead thread reserved and did not write,
 * or wrote in part. Records have no length, so that they are walked with the help of the layout
 * (layout.h): what has a head, an end, and then another head, at a time that fits, is a record.
 * What has not is a hole. Where the same bytes of an earlier round make a hole look like a record,
 * the number of missing bytes tells: then the last record of each thread that may be it goes too.
 */
#ifndef FLEXTRACE_SALVAGE_H
#define FLEXTRACE_SALVAGE_H

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
};

/* Moves the whole records together. Returns where they end then. */
uint64_t salvage_records(const struct salvage *packet);

#endif
