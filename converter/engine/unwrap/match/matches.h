/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matches.h: which submit and complete records are of which operation, for edges.c, numbering.c,
 * instances.c, match.c, miscounts.c, settle.c, stays.c and choices.c.
 */
#ifndef FLEXTRACE_UNWRAP_MATCHES_H
#define FLEXTRACE_UNWRAP_MATCHES_H

#include "engine/unwrap/unwrap_impl.h"

#define NO_INSTANCE UINT32_MAX
#define CORRELATES  8u /* records that were found by their correlation: all have it then */

/* One use of a job number. */
struct instance {
	struct tick_op *op;                                    /* weak; NULL: none, or not yet */
	const struct loose_edge *submit, *complete, *estimate; /* weak; NULL: none */
	uint32_t job;
	uint32_t number;        /* among those of its job, in order of time */
	uint32_t before, after; /* with the next smaller or greater number, or NO_INSTANCE */
	uint32_t before_open;   /* the next one before it that may have no operation */
	bool is_settled;
	bool is_over;     /* it was complete when its number was used again, by whatever says so */
	bool is_chosen;   /* by a choice */
	bool is_counted;  /* its operation is its own by counting only ... */
	bool is_doubtful; /* ... and may be another one's */
	bool is_shared;   /* its operation may be of another one as well */
};

/* Submissions of one number in a row, without a completion between them. */
enum submit_run {
	RUN_SINGLE,
	RUN_WITH_OP, /* several, a record of an operation between each two of them */
	RUN_BARE,    /* several */
	N_RUNS
};

/* One (device, queue, job). */
struct job {
	uint32_t newest; /* instance, or NO_INSTANCE */
	uint32_t oldest; /* that may lack its completion, or NO_INSTANCE */
	uint32_t n_instances;
	/* Of the instances from number `first` on, so many have no operation yet, and so many
	 * operations may be of any of them. */
	uint32_t first, n_open, n_waiting;
	uint32_t first_stay; /* see struct matches */
	uint32_t queue;
	uint32_t n_seen;    /* ... and so many are not complete; while late_ns is looked for */
	int64_t submit_ns;  /* the last one ... */
	uint32_t n_submits; /* ... of so many since a completion; while lags are looked for */
	/* For numbering.c: submissions without a completion, while lost ones are looked for; then
	 * the last submissions in a row, whether an operation and how many completions came
	 * since. */
	uint32_t n_lacking, n_completes;
	enum submit_run run;
	bool is_known, is_in_run, has_op;
	uint32_t n_whole; /* instances with both edges; while losses are looked for, as the next */
	uint32_t n_ops;   /* operations */
	bool has_choices;
	bool has_over;  /* among its instances are such that lack their completion, and are over */
	bool is_in_use; /* its number was used again before its work was complete ... */
	bool is_doubtful; /* ... and submits were lost: who knows which */
};

/* An operation that may be of several instances of its job. */
struct choice {
	struct tick_op *op; /* weak */
	int64_t clock_ns;   /* when its record was written */
	uint32_t job;
	uint32_t first, end; /* numbers of the instances */
	uint32_t guess;      /* number of the one that it is if nothing is lost */
	uint32_t chosen;     /* instance, or NO_INSTANCE */
	bool is_shared;      /* it is bounded by all that it may be of */
};

/* Between when an instance ran. */
struct stay {
	int64_t from_ns, to_ns; /* UNWRAP_NO_BEFORE, UNWRAP_NO_AFTER: not known */
	int64_t most_to_ns;     /* of this one and all of its job before it */
	uint32_t instance;
};

/* A (device, queue). */
struct queue {
	int64_t done_ns;  /* the latest submission of all whose completion was seen */
	uint32_t n_spare; /* completions without a submit, of numbers used again too early */
	uint32_t device;
};

/* How the work of a device is numbered. */
struct numbering {
	uint32_t n_runs[N_RUNS];
	uint32_t n_again[N_RUNS]; /* of these, more than one completion in a row followed */
	bool is_lossy;            /* submissions or completions were lost */
	bool is_early;            /* numbers are used again before their work is complete */
};

/* How many came by how much too late. */
struct lates {
	uint32_t n[256], n_all;
};

/* What is known while records are matched. */
struct matcher {
	struct unwrap *unwrap;           /* weak */
	struct matches *matches;         /* weak */
	struct map jobs;                 /* (device, queue), job -> job */
	struct map queues_of;            /* (device, queue), 0 -> queue */
	struct queue *queues;            /* owned */
	struct numbering *numberings;    /* owned: of each device */
	const struct loose_edge **edges; /* owned: in order of time */
	uint32_t n_edges, n_queues;
	uint32_t n_correlated;  /* operations that were found by it */
	uint32_t n_edges_alike; /* completions that were */
	int64_t most_lag_ns;    /* so much later submissions may be seen complete before */
};

static inline int64_t edge_time(const struct loose_edge *edge)
{
	return edge->class != RECORD_HOST_ESTIMATE && edge->host_ns ? edge->host_ns
	                                                            : edge->clock_ns;
}

static inline int64_t edge_host_ns(const struct loose_edge *edge, int64_t otherwise)
{
	return edge && edge->host_ns ? edge->host_ns : otherwise;
}

static inline bool instance_has_bracket(const struct instance *instance)
{
	return instance->submit || instance->complete;
}

/* Whether the counter can tell that an operation, which has no times of its own, is of it. */
static inline bool instance_can_choose(const struct instance *instance, const struct tick_op *op)
{
	return instance_has_bracket(instance) && op->unused == OP_AFTER_IS_CLOCK;
}

void lates_add(struct lates *lates, int64_t ns);

/* A bound for lateness that nearly all keep: half as much again as nearly all are late, or
 * `otherwise`, if they are too few. */
int64_t lates_most(const struct lates *lates, int64_t otherwise);

/* Lists edges in order of time; the list is owned by the caller: blocks. */
int edges_list(struct table *edges, const struct loose_edge ***ret_edges, uint32_t *ret_n);

/* Makes every job of an edge known, and how late completions come. */
int instances_prepare(struct matcher *matcher);

/* Makes matcher->numberings, one of each device. FLEXTRACE_E_MEMORY or 0. */
int numbering_init(struct matcher *matcher);

/* Counts edges, in order of time; _end says whether some were lost. */
void numbering_count(struct matcher *matcher, struct job *job, const struct loose_edge *edge);
void numbering_count_end(struct matcher *matcher);

/* Looks at the order of edges, while they are taken; _finish says what they show together. */
void numbering_take(struct matcher *matcher, struct job *job, const struct loose_edge *edge);
void numbering_finish(struct matcher *matcher);

/* Whether completions or submissions of the device of a job were lost. */
bool numbering_is_lossy(const struct matcher *matcher, const struct job *job);

/* ... and its numbers are used again before their work is complete, so that counting proves
 * nothing. */
bool numbering_is_ambiguous(const struct matcher *matcher, const struct job *job);

/* Adds an instance behind all of its job. */
int instances_open(struct matcher *matcher, uint32_t job, struct instance **ret_instance);

/* Gives an edge to its instance, or begins one. Edges come in order of time. */
int instances_take(struct matcher *matcher, const struct loose_edge *edge);

/* Says that the work of an instance is complete, by its stamps or its completion. */
void instances_complete(struct matcher *matcher, const struct instance *instance);

/* Leaves it to the counter which instance of its job an operation is of: one of those from number
 * `first` up to and without `end`, most likely `guess`. */
int match_put_choice(struct matches *matches, struct tick_op *op, uint32_t job, uint32_t first,
                     uint32_t guess, uint32_t end);

/* Marks what counting may have matched wrong, or leaves it to the counter. */
int miscounts_find(struct matcher *matcher);

/* Gives operations what their edges say, and books the edges. Jobs that leave a choice wait. */
int settle_ready(struct unwrap *unwrap);

#endif
