/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing.h: files of Flex and of torch of one run: whose events are the same.
 *
 * The files are read twice. The first time every interval is noted, then pairing_solve() puts the
 * clock of each Flex rank on that of the torch files of the same rank. The second time Flex's times
 * are moved, and what both tell is taken once: work of the device from Flex, with the correlation
 * and the bytes of torch; calls of the host from torch.
 *
 * - A torch file that tells no rank is of Flex's, if there is one rank and no other such file.
 * - Memory: 64 bytes for each interval of a name or kind that both sides have.
 */
#ifndef FLEXTRACE_IMPORT_PAIRING_H
#define FLEXTRACE_IMPORT_PAIRING_H

#include "pair_align.h"

struct pairing; /* opaque */

enum pair_side { PAIR_FLEX, PAIR_TORCH };

struct pairing *pairing_new(void); /* NULL: no memory */
void pairing_free(struct pairing *pairing);

/* -- the first time ---------------------------------------------------------------------------- */

/* Notes an interval of a Flex rank. FLEXTRACE_E_MEMORY or 0, as all below. */
int pairing_note_flex(struct pairing *pairing, int32_t rank, const struct pair_event *event);

/* Notes one of a torch file, these being numbered; `tag` is its device. Call behind all of Flex. */
int pairing_note_torch(struct pairing *pairing, uint32_t file, const struct pair_event *event);

/* Tells whose a torch file is; -1: not known. */
int pairing_name_file(struct pairing *pairing, uint32_t file, int32_t rank);

/* Tells when an interval began, of any name. */
void pairing_see(struct pairing *pairing, enum pair_side side, int64_t begin_ns);

/* Ends the first time. `epoch_ns`: what the torch files count from, since the Unix epoch. */
int pairing_solve(struct pairing *pairing, int64_t epoch_ns);

/* -- the second time --------------------------------------------------------------------------- */

/* A Flex rank and its torch files. */
struct pair_rank {
	int32_t rank;
	uint32_t n_files;          /* of torch; 0: it stands alone */
	uint32_t device;           /* as torch numbers it */
	struct pair_result result; /* n_pairs 0: nothing in common */
};

int64_t pairing_epoch_ns(const struct pairing *pairing);

/* What Flex's clock counts from, since the Unix epoch, where nothing tells: as of the first rank
 * that has events in common with torch, else so that both begin at the same time. */
int64_t pairing_flex_epoch_ns(const struct pairing *pairing);

/* The Flex ranks in order; NULL behind the last one. Weak. */
const struct pair_rank *pairing_rank(const struct pairing *pairing, uint32_t index);

/* The rank, if it has events in common with torch; NULL: not. */
const struct pair_rank *pairing_of_rank(const struct pairing *pairing, int32_t rank);
const struct pair_rank *pairing_of_file(const struct pairing *pairing, uint32_t file);

/* The partner of an interval, each handed out once; NULL: it has none. Flex's times are moved. */
const struct pair_event *pairing_partner(struct pairing *pairing, const struct pair_rank *rank,
                                         enum pair_side side, const struct pair_event *event);

#endif
