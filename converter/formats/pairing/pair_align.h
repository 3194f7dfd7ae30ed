/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_align.h: two lists of the same work, told by two clocks -> one clock, and who is whose.
 *
 * - Events of equal key may be the same work. So may any two of them: lists may begin and end at
 *   different times, lack events that the other has, and repeat themselves.
 * - A common offset is voted for by differences of begins. Of the best the one holds whose pairs
 *   are nearest to each other, by the sum of the cubes of the logarithms of how near: a loop fits
 *   somehow wherever it is put, and three turns that fit to 1 µs outweigh ten that fit to 30 µs.
 * - Equal correlations and stamps speak for an offset. Where most are equal there, only equal ones
 *   are pairs; else the numbers are of something else in each list, and say nothing.
 * - Pairs are each other's nearest, by that of their ends that is nearer: one tool may let the same
 *   work begin earlier. A line through them takes out how much faster one clock runs.
 *
 * O(n log n). Pure: knows nothing of files.
 */
#ifndef FLEXTRACE_IMPORT_PAIR_ALIGN_H
#define FLEXTRACE_IMPORT_PAIR_ALIGN_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define PAIR_NONE UINT32_MAX

/* Times beyond have no partner. */
#define PAIR_MAX_NS ((int64_t)1 << 62)

/* How far apart the ends of the same work may be told, in ns, before a line is drawn. */
#define PAIR_REACH_NS 1000000

struct pair_event {
	int64_t begin_ns, end_ns; /* 0 to PAIR_MAX_NS */
	uint64_t key;
	uint64_t correlation; /* 0 = none */
	uint64_t stamps;      /* a hash, 0 = none */
	uint32_t partner;     /* index in the other list, or PAIR_NONE */
	uint32_t tag;         /* the caller's, as all below */
	uint64_t bytes;
	bool is_device, is_taken;
};

struct pair_list {
	struct pair_event *events; /* owned by the caller */
	uint32_t n;
};

/* Clock `from` -> clock `to`. */
struct pair_fit {
	int64_t origin_ns; /* of `from` */
	int64_t offset_ns; /* there */
	double slope;      /* how much faster `to` runs: 1e-6 is 1 ppm */
};

/* `from_ns`: -2^62 to 2^62, and so is what is returned. */
static inline int64_t pair_move(const struct pair_fit *fit, int64_t from_ns)
{
	__int128 ns = (__int128)from_ns + fit->offset_ns +
	              llround(fit->slope * (double)(from_ns - fit->origin_ns));

	if (ns > PAIR_MAX_NS)
		return PAIR_MAX_NS;
	return ns < -PAIR_MAX_NS ? -PAIR_MAX_NS : (int64_t)ns;
}

struct pair_result {
	struct pair_fit fit;
	uint32_t n_from, n_to; /* events of common keys while both ran: may have a partner */
	uint32_t n_pairs;      /* 0: nothing in common, and no fit */
	/* distance of the pairs: of their begins or of their ends, which is nearer */
	int64_t residual_ns_p50, residual_ns_p99, residual_ns_max;
	bool is_uncertain; /* another offset fits nearly as well, or less than half has a partner */
};

/* Sorts both lists by (key, begin), drops what has no key in common, and sets all partners.
 * FLEXTRACE_E_MEMORY or 0. */
int pair_align(struct pair_list *from, struct pair_list *to, struct pair_result *ret_result);

#endif
