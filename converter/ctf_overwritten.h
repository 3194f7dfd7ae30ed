/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctf_overwritten.h: what is missing in front of a snapshot.
 *
 * LTTng numbers the packets of a stream from 0, behind what ctf_repair.h draws:
 *
 *	byte 64  u64 packet_seq_num
 *
 * A snapshot begins with the oldest packet that its buffers held: the number of that one is how
 * many were overwritten before. Only snapshots have no index beside their streams; what was
 * written as it came begins with packet 0, or, where it was rotated, goes on behind another part.
 * Several snapshots of one trace are one: what the earliest holds is not missing.
 */
#ifndef FLEXTRACE_CTF_OVERWRITTEN_H
#define FLEXTRACE_CTF_OVERWRITTEN_H

#include "ctf_repair.h"

/* Counts the packets that were overwritten before the first ones of a trace's directories; 0 for
 * other tracers than LTTng-UST. */
uint64_t ctf_count_overwritten(const struct ctf_dir *dirs, uint32_t n_dirs);

#endif
