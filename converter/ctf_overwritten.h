/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_overwritten.h: what is missing in front of a trace.
 *
 * LTTng numbers the packets of a stream from 0, behind what ctf_repair.h draws:
 *
 *	byte 64  u64 packet_seq_num
 *
 * A snapshot begins with the oldest packet that its buffers held: the number of that one is how
 * many were overwritten before. Only snapshots have no index beside their streams. What was written
 * as it came begins with packet 0, unless packets were overwritten before the first one was read,
 * of which LTTng counts none, or cleared (`lttng clear`), or it goes on behind another part: chunks
 * of a rotation, which stand below `archives`, are expected to. Several parts of one trace are one:
 * what any of them holds is not missing.
 */
#ifndef FLEXTRACE_CTF_OVERWRITTEN_H
#define FLEXTRACE_CTF_OVERWRITTEN_H

#include "ctf_repair.h"

/* Packets in front of the first ones that are there. */
struct ctf_fronts {
	uint64_t overwritten; /* of snapshots */
	uint64_t elsewhere;   /* of others: overwritten, cleared, or in a part that is not given */
};

/* Adds up what is missing in front of a trace's directories; nothing for other tracers than
 * LTTng-UST. */
void ctf_count_fronts(const struct ctf_dir *dirs, uint32_t n_dirs, struct ctf_fronts *total);

#endif
