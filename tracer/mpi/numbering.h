/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbering.h: which message of its sender a receive has got, from what one rank sees alone.
 *
 * The messages of a communicator from one rank to another with one tag are numbered as they are
 * sent, from 0. Messages of one tag do not overtake each other. So of the receives that end up with
 * one source and tag, the n-th posted has the n-th message. A receive that names both is counted
 * when it is posted, one with a wildcard when it completes.
 *
 * Nobody can say which message a receive has got
 * - while a wildcard that fits is open that was posted before: that one counts first, if it is of
 *   the same source and tag;
 * - if it is a wildcard, and receives of its source and tag were posted behind it;
 * - if another thread was just posting one that may be of the same source and tag;
 * - if it was to be cancelled, and was not.
 * It is counted all the same, so that those behind it are right again.
 *
 * A number that is too low claims too little, one that is too high something false: a receive ends
 * behind the begin of the send of its number, and of all sends before that. So the number of a send
 * and the time of its begin are to be taken in one step.
 *
 * No call of MPI, no lock: the caller has one for each struct numbering.
 */
#ifndef FLEXTRACE_MPI_NUMBERING_H
#define FLEXTRACE_MPI_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "table.h"

#define NUMBERING_ANY (-1) /* of sources and tags */

/* A posted receive. Owned by the caller, who leaves it where it is until it is complete. */
struct receive {
	TAILQ_ENTRY(receive) link;
	uint64_t id; /* grows with each posting */
	uint64_t number;
	int32_t source, tag;
	bool is_wild;
	bool is_posting; /* the call that posts it has not returned */
	bool is_doubtful;
};

/* Of the messages of one rank in one communicator; all zero at the begin. */
struct numbering {
	struct table sent, received;             /* (rank, tag) -> struct channel */
	TAILQ_HEAD(open_receives, receive) open; /* in the order of posting */
	uint64_t last_id;
	uint32_t n_wild, n_posting; /* of the open ones */
	bool is_broken;             /* nobody knows what was sent or received */
};

/* Stores the number of the message that is sent now; false: it is not known. */
bool numbering_send(struct numbering *numbering, int32_t destination, int32_t tag,
                    uint64_t *ret_number);

/* A receive is being posted, or a probe that takes the message it finds. */
void numbering_post(struct numbering *numbering, struct receive *receive, int32_t source,
                    int32_t tag);

/* The call that posts it has returned. */
void numbering_posted(struct numbering *numbering, struct receive *receive);

/* It is complete; of several at once, the one posted first is told first. False: which message of
 * `source` and `tag` it got is not known; else that is `number`. */
bool numbering_complete(struct numbering *numbering, struct receive *receive, int32_t source,
                        int32_t tag);

/* It may get nothing: somebody wants to cancel it. */
void numbering_doubt(struct numbering *numbering, struct receive *receive);

/* It got nothing, and is open no more. */
void numbering_withdraw(struct numbering *numbering, struct receive *receive);

void numbering_release(struct numbering *numbering);

#endif
