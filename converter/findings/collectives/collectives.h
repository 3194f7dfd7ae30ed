/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collectives.h: what ranks did together, one part for each rank and collective.
 *
 * Ranks that use a group of one name apart are told by whom they exchange messages with.
 *
 * Programs record collectives themselves (FLEXTRACE_COLLECTIVE_*): a part is from enter to exit,
 * `number` is `seq`. Devices are seen at work: all control blocks of a device with one group belong
 * to one collective, in the order of their ends. The next one begins where the name of a message
 * comes again, or where its step is lower than one before and a kernel without a group has ended
 * between; where no control block of the group is a message, behind each such kernel. Of these
 *
 *   start   when the device's own work before it was done: the last end of a kernel, or of another
 *           collective, before the first message of this one was through. Without any: its first
 *           control block's start
 *   end     the last end of its messages and of its group's kernels
 *   bytes   of its largest message
 *   chain   no rank takes messages from two ranks, or sends to two, without the other between
 *   tree    some rank does
 *   multicast   there is nothing but multicasts
 *
 * A kernel that a file of the torch profiler calls a collective is a part by itself, of its group's
 * ranks; `number` is its `Seq`. Where the file has none, its kernels are counted, and whom a part
 * was with is not known.
 *
 * Bandwidths are those of nccl-tests (doc/PERFORMANCE.md): algorithm bandwidth S / t, S the size of
 * what all ranks together have (n times `bytes` in all_gather and reduce_scatter); bus bandwidth
 * that times 2 (n - 1) / n in all_reduce, (n - 1) / n in all_gather, reduce_scatter and all_to_all,
 * 1 in broadcast, reduce, scatter and gather. t is the time of the part, as in the analyzer;
 * who came last waited least, so that the best of a collective's parts tells what the links gave.
 */
#ifndef FLEXTRACE_COLLECTIVES_H
#define FLEXTRACE_COLLECTIVES_H

#include "base/text/strings.h"
#include "findings/statistics/owners.h"
#include "model/timeline/findings.h"
#include "model/timeline/timeline_read.h"
#include "model/words/told_collective.h"

enum collective_algorithm {
	COLLECTIVE_UNKNOWN,
	COLLECTIVE_MULTICAST,
	COLLECTIVE_CHAIN,
	COLLECTIVE_TREE
};

struct collective_part {
	int64_t start_time_ns, end_time_ns;
	int64_t first_time_ns;   /* of its control blocks */
	int64_t through_time_ns; /* its first message was; INT64_MAX: none was */
	uint64_t number, bytes;
	uint32_t process;
	uint32_t device;         /* FLEXTRACE_NONE: recorded by the program */
	uint32_t group, op;      /* strings; op: of the program's */
	uint32_t who;            /* parts of equal group, number, op, this and `subset` are one */
	uint32_t subset;         /* of the ranks of `who`, in this number; see collectives_sets.h */
	uint32_t sent, received; /* messages */
	uint32_t err_ns;         /* UINT32_MAX = no bound */
	struct {
		uint32_t peer; /* rank + 1; 0 = none */
		uint8_t role;  /* enum message_role */
	} last;                /* message so far */
	uint8_t status;        /* enum time_status */
	uint8_t algorithm;     /* enum collective_algorithm */
	bool is_alone;         /* nobody can tell whom it was with */
	/* weak: what it is, of a kernel that a file calls a collective; NULL: of another part */
	const char *told_op;
	uint32_t told_ranks; /* of the group of such a kernel; 0: not told */
	bool is_known;       /* of the collective, all three: how many took part */
	uint32_t ranks;
	int64_t ready_time_ns; /* the last of them */
	uint32_t collective;   /* its number, from 0, by the start of its first part */
};

struct collectives {
	const struct timeline *timeline; /* weak, both */
	const struct owners *owners;
	struct collective_part *parts; /* owned: by start, rank */
	struct string_pool *names;     /* owned, both: of operations that only a file names */
	struct string_cache names_cache;
	uint32_t n_parts;
	uint32_t n_collectives;
};

/* Finds them. FLEXTRACE_E_MEMORY or 0; collectives_release() in any case. */
int collectives_find(struct collectives *collectives, const struct findings *findings);
void collectives_release(struct collectives *collectives);

/* Calls `take` for what programs recorded of collectives and messages, but for what filters left
 * out, until it fails. */
typedef int sync_point_taker(void *context, const struct sync_point *point);
int each_sync_point(const struct timeline *timeline, sync_point_taker *take, void *context);

/* collectives_devices.c: adds the parts of devices. */
int collectives_take_devices(struct collectives *collectives, const struct transfers *transfers);

/* collectives_told.c: adds those that a file calls collectives, a kernel each. */
int collectives_take_told(struct collectives *collectives);

/* Whether a row is such a kernel; stores what was told of it. */
bool collectives_told(const struct timeline *timeline, const struct device_row *row,
                      struct told_collective *ret_told);

/* What a part is called: the operation, else what the program or the file called it; "": a
 * device's, of which the name of the group tells nothing. Stores the factors of its ranks (see
 * above). */
const char *collective_part_op(const struct collectives *collectives,
                               const struct collective_part *part, double *ret_size,
                               double *ret_bus);

/* How long a part waited for the last rank, once it was ready itself; UINT64_MAX: not known. */
uint64_t collective_part_wait_ns(const struct collective_part *part);

/* What a collective's name tells: "all_reduce", ...; NULL: nothing. Stores the factors of n ranks
 * (see above). */
const char *collective_op(const char *name, uint32_t n, double *ret_size, double *ret_bus);

#endif
