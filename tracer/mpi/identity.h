/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.h: names of communicators that are the same on all their ranks, without a message.
 *
 * All ranks of a communicator make others of it in the same order. So the parent's name, how many
 * it had made before, and which of the ranks that take part is the first (of several communicators
 * that one call makes, each has another) name the new one: "MPI_COMM_WORLD/split2@4". Where not all
 * ranks of the parent take part (MPI_Comm_create_group, MPI_Intercomm_create), calls are counted by
 * who takes part, and the name ends in a hash of that: "MPI_COMM_WORLD/group0@4#1f0c...".
 *
 * Ranks are those of MPI_COMM_WORLD. No call of MPI.
 */
#ifndef FLEXTRACE_MPI_IDENTITY_H
#define FLEXTRACE_MPI_IDENTITY_H

#include <stdint.h>

#define IDENTITY_BYTES 96 /* of a name, with its NUL */

#define IDENTITY_HASH UINT64_C(0xcbf29ce484222325) /* of nothing */

uint64_t identity_hash(uint64_t hash, const void *bytes, uint64_t n_bytes);

/* Of communicator number `n` that `kind` made of the parent. A long name of the parent is given as
 * its hash. `members`: hash of who takes part, 0: all ranks of the parent do. */
void identity_child(char name[IDENTITY_BYTES], const char *parent, const char *kind, uint64_t n,
                    int first_rank, uint64_t members);

#endif
