/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matches.h: which submit and complete records are of which operation, for match.c and choices.c.
 */
#ifndef FLEXTRACE_UNWRAP_MATCHES_H
#define FLEXTRACE_UNWRAP_MATCHES_H

#include "unwrap_impl.h"

#define NO_INSTANCE UINT32_MAX

/* One use of a job number. */
struct instance {
	struct tick_op *op;                                    /* weak; NULL: none, or not yet */
	const struct loose_edge *submit, *complete, *estimate; /* weak; NULL: none */
	uint32_t job;
	uint32_t number; /* among those of its job, in order of time */
	uint32_t before; /* the one with the next smaller number, or NO_INSTANCE */
	bool is_settled;
};

/* One (device, queue, job). */
struct job {
	uint32_t newest; /* instance, or NO_INSTANCE */
	uint32_t n_instances;
	/* Of the instances from number `first` on, so many have no operation yet, and so many
	 * operations may be of any of them. */
	uint32_t first, n_open, n_waiting;
	uint32_t first_stay; /* see struct matches */
	bool has_choices;
};

/* An operation that may be of several instances of its job. */
struct choice {
	struct tick_op *op; /* weak */
	int64_t clock_ns;   /* when its record was written */
	uint32_t job;
	uint32_t first, end; /* numbers of the instances */
	uint32_t guess;      /* number of the one that it is if nothing is lost */
	uint32_t chosen;     /* instance, or NO_INSTANCE */
};

/* Between when an instance ran. */
struct stay {
	int64_t from_ns, to_ns; /* UNWRAP_NO_BEFORE, UNWRAP_NO_AFTER: not known */
	uint32_t instance;
};

#endif
