/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h: what devices did, each piece once, with what it was for and what launched it.
 *
 * Pieces are the parts of kernels' control blocks (their DMA is memory, their preparation a class
 * of its own) and all other control blocks. Of a device without control blocks it is the kernels
 * that its firmware marked, a piece for each core. States of units and zones within kernels are no
 * work of their own.
 *
 * Communication is: what a file calls a collective, control blocks with a group, copies between
 * devices, kernels whose names begin as those of NCCL, RCCL or HCCL do, and operations whose names
 * begin as those of HLO's collectives do ("all-reduce.1").
 */
#ifndef FLEXTRACE_WORK_H
#define FLEXTRACE_WORK_H

#include "model/timeline/timeline_read.h"
#include "model/words/work_class.h"

struct work {
	const struct device_row *row; /* weak */
	const struct tick_op *op;     /* weak; NULL: a kernel that the firmware marked */
	uint32_t process, device;     /* indexes */
	uint32_t queue;               /* of `op`; else the core */
	uint32_t name;                /* string */
	uint32_t launch;              /* place of a host row; FLEXTRACE_NONE: not known */
	enum work_class class;
};

#define WORK_NAMES 1024u

struct work_name {
	uint32_t name; /* FLEXTRACE_NONE: none yet */
	bool is_collective;
};

struct work_reader {
	const struct timeline *timeline; /* weak */
	struct table_cursor cursor;
	bool *has_ops;                      /* owned: by device; where kernels were marked */
	struct work_name names[WORK_NAMES]; /* of kernels, by hash: the last ones */
};

/* Begins. FLEXTRACE_E_MEMORY or 0; work_release() in any case. */
int work_read(struct work_reader *reader, const struct timeline *timeline);
void work_release(struct work_reader *reader);

/* Stores the next piece, in order of their starts, the longer first. False: there are no more. */
bool work_next(struct work_reader *reader, struct work *ret);

#endif
