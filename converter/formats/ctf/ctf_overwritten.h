/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_overwritten.h: what is missing in front of a trace, and what of it the packets do not tell
 * babeltrace2.
 *
 * LTTng numbers the packets of a stream from 0, behind what ctf_repair.h draws:
 *
 *	byte 64  u64 packet_seq_num
 *	     72  unsigned long events_discarded since the stream began: 4 bytes of 32-bit programs
 *
 * A snapshot begins with the oldest packet that its buffers held: the number of that one is how
 * many were overwritten before. Only snapshots have no index beside their streams. What was written
 * as it came begins with packet 0, unless packets were overwritten before the first one was read,
 * of which LTTng counts none, or cleared (`lttng clear`), or it goes on behind another part: chunks
 * of a rotation, which stand below `archives`, are expected to. Several parts of one trace are one:
 * what any of them holds is not missing.
 *
 * babeltrace2 tells how many events were discarded between two packets. Before the first one it
 * tells only that some were. Where that packet is the stream's number 0 it is what its header says.
 */
#ifndef FLEXTRACE_CTF_OVERWRITTEN_H
#define FLEXTRACE_CTF_OVERWRITTEN_H

#include "ctf_repair.h"

/* Packets in front of the first ones that are there. */
struct ctf_fronts {
	uint64_t overwritten; /* of snapshots */
	uint64_t elsewhere;   /* of others: overwritten, cleared, or in a part that is not given */
	struct ctf_first *firsts; /* owned: of streams that begin with a loss */
	uint32_t n_firsts;
};

struct ctf_first {
	uint8_t uuid[16];
	uint64_t class_id, instance_id;
	uint64_t n_discarded;
};

/* The metadata of a trace directory as text, owned: free(). NULL: there is none, or no memory. */
char *ctf_metadata_read(const char *dir);

/* Adds up what is missing in front of a trace's directories; nothing for other tracers than
 * LTTng-UST. FLEXTRACE_E_MEMORY or 0. */
int ctf_count_fronts(const struct ctf_dir *dirs, uint32_t n_dirs, struct ctf_fronts *total);

/* How many events a stream lost before its first packet; 0 = not known, or none. */
uint64_t ctf_first_discarded(const struct ctf_fronts *fronts, const uint8_t uuid[16],
                             uint64_t class_id, uint64_t instance_id);

/* The same of the stream that the file holds, for those who know the file only. 0 also where there
 * is no such file, or it is of another trace. */
uint64_t ctf_discarded_in_front(const char *stream_path, const uint8_t uuid[16]);

#endif
