/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of one (device, queue, job) make instances, in the order of their host times. A submit
 * opens one. A complete belongs to
 * - the instance whose submit has the same correlation,
 * - else the oldest one that lacks it. A number should be used again only when its work is
 *   complete; then there is at most one, if no record was lost. If it is used before, work of one
 *   queue is still done in order. And if the completion of the oldest one was lost and this is of a
 *   later one, the bracket is too wide, but true.
 *
 * A lost completion must not widen the brackets for ever. If records were lost (numbering.c), and
 * later work of the queue was complete before a number was submitted again, the work of that number
 * was complete, too, and the next completion is of the new submit. If there is then one completion
 * too many, none had been lost: the host had seen one late, and its predecessors move up by one.
 * How late completions of a trace come after those of later work is measured first; within that
 * time, no completion counts as lost.
 */

#include "base/array.h"
#include "base/blocks.h"
#include "matches.h"

#define MAX_DEPTH 1024u /* instances that one completion may be of */
#define MAX_OVER  64u   /* that are looked at for one that was not over after all */
#define MAX_MOVED 4u    /* completions that move up */
#define MIN_LATES 16u   /* that tell how late others may be */
#define RARELY    20u   /* of so many one may be later */
#define NEVER_NS  (INT64_MIN / 2)

/* -- how late -------------------------------------------------------------------------------- */

/* Quarters of octaves. */
static uint32_t late_bin(int64_t ns)
{
	int bits = 63 - __builtin_clzll((uint64_t)(ns > 4 ? ns : 4));

	return (uint32_t)(bits * 4) + (uint32_t)(ns >> (bits - 2) & 3);
}

void lates_add(struct lates *lates, int64_t ns)
{
	lates->n[ns > 0 ? late_bin(ns) : 0]++;
	lates->n_all++;
}

int64_t lates_most(const struct lates *lates, int64_t otherwise)
{
	uint32_t bin = 255, n_beyond = 0;

	while (bin > 8 && (n_beyond += lates->n[bin]) <= lates->n_all / RARELY)
		bin--;
	if (lates->n_all < MIN_LATES || bin / 4 >= 60)
		return otherwise;
	return bin > 8 ? (INT64_C(5) + bin % 4) * 3 << (bin / 4 - 2) >> 1 : 0;
}

/* -- jobs ------------------------------------------------------------------------------------- */

static int find_queue(struct matcher *matcher, const struct loose_edge *edge, uint32_t *ret_queue)
{
	uint64_t owner = map_pair(edge->device, edge->queue);

	*ret_queue = map_find(&matcher->queues_of, owner, 0);
	if (*ret_queue != MAP_NONE)
		return FLEXTRACE_OK;
	*ret_queue = matcher->n_queues;
	FLEXTRACE_TRY(
		array_make_room(&matcher->queues, matcher->n_queues, sizeof(*matcher->queues)));
	matcher->queues[matcher->n_queues++] = (struct queue){.done_ns = NEVER_NS,
	                                                      .device = edge->device};
	return map_put(&matcher->queues_of, owner, 0, *ret_queue);
}

/* Finds the job of an edge, or begins one. */
static int find_job(struct matcher *matcher, const struct loose_edge *edge, uint32_t *ret_job)
{
	uint64_t owner = map_pair(edge->device, edge->queue);
	struct matches *matches = matcher->matches;
	struct job job = {.newest = NO_INSTANCE, .oldest = NO_INSTANCE};

	*ret_job = map_find(&matcher->jobs, owner, edge->job);
	if (*ret_job != MAP_NONE)
		return FLEXTRACE_OK;
	*ret_job = matches->n_jobs;
	FLEXTRACE_TRY(find_queue(matcher, edge, &job.queue));
	FLEXTRACE_TRY(array_make_room(&matches->jobs, matches->n_jobs, sizeof(job)));
	matches->jobs[matches->n_jobs++] = job;
	return map_put(&matcher->jobs, owner, edge->job, *ret_job);
}

/* Where a completion follows a submit of its number, and that one a completion, the two are of one
 * instance, but for rare losses: how much later submissions had been seen complete before? */
static void find_lag(struct matcher *matcher, struct job *job, const struct loose_edge *edge,
                     struct lates *lags)
{
	struct queue *queue = &matcher->queues[job->queue];

	if (edge->class == RECORD_SUBMIT) {
		job->n_submits++;
		job->submit_ns = edge_time(edge);
	} else if (edge->class == RECORD_COMPLETE) {
		if (job->n_submits == 1)
			lates_add(lags, queue->done_ns - job->submit_ns);
		if (job->n_submits == 1 && job->submit_ns > queue->done_ns)
			queue->done_ns = job->submit_ns;
		job->n_submits = 0;
	}
}

int instances_prepare(struct matcher *matcher)
{
	struct lates lags = {.n_all = 0};
	uint32_t job;

	FLEXTRACE_TRY(numbering_init(matcher));
	for (uint32_t i = 0; i < matcher->n_edges; i++) {
		FLEXTRACE_TRY(find_job(matcher, matcher->edges[i], &job));
		find_lag(matcher, &matcher->matches->jobs[job], matcher->edges[i], &lags);
		numbering_count(matcher, &matcher->matches->jobs[job], matcher->edges[i]);
	}
	matcher->most_lag_ns = lates_most(&lags, 0);
	numbering_count_end(matcher);
	for (uint32_t i = 0; i < matcher->n_queues; i++)
		matcher->queues[i].done_ns = NEVER_NS;
	return FLEXTRACE_OK;
}

int instances_open(struct matcher *matcher, uint32_t index, struct instance **ret_instance)
{
	struct matches *matches = matcher->matches;
	struct job *job = &matches->jobs[index];

	FLEXTRACE_TRY(blocks_fill_next(matches->instances, matches->n, sizeof(struct instance)));
	*ret_instance = &matches->instances[matches->n];
	**ret_instance = (struct instance){
		.job = index,
		.number = job->n_instances++,
		.before = job->newest,
		.before_open = job->newest,
		.after = NO_INSTANCE,
	};
	if (job->newest != NO_INSTANCE)
		matches->instances[job->newest].after = matches->n;
	if (job->oldest == NO_INSTANCE)
		job->oldest = matches->n;
	job->newest = matches->n++;
	return FLEXTRACE_OK;
}

void instances_complete(struct matcher *matcher, const struct instance *instance)
{
	struct queue *queue = &matcher->queues[matcher->matches->jobs[instance->job].queue];

	if (instance->submit && edge_time(instance->submit) > queue->done_ns)
		queue->done_ns = edge_time(instance->submit);
}

static struct instance *newest_of(const struct matches *matches, const struct job *job)
{
	return job->newest == NO_INSTANCE ? NULL : &matches->instances[job->newest];
}

/* -- submits ---------------------------------------------------------------------------------- */

static bool lacks_completion(const struct instance *instance)
{
	return instance->submit && !instance->complete && !instance->is_over;
}

/* Passes what lacks no completion. */
static struct instance *oldest_of(const struct matches *matches, struct job *job)
{
	while (job->oldest != NO_INSTANCE && !lacks_completion(&matches->instances[job->oldest]))
		job->oldest = matches->instances[job->oldest].after;
	return job->oldest == NO_INSTANCE ? NULL : &matches->instances[job->oldest];
}

/* A number is used again: finds its work that is over although its completion was not seen, and
 * would have been seen by now. */
static void end_oldest(struct matcher *matcher, struct job *job)
{
	const struct queue *queue = &matcher->queues[job->queue];
	struct instance *oldest = oldest_of(matcher->matches, job);

	while (oldest && numbering_is_lossy(matcher, job) &&
	       (oldest->op || edge_time(oldest->submit) < queue->done_ns - matcher->most_lag_ns)) {
		oldest->is_over = job->has_over = true;
		oldest = oldest_of(matcher->matches, job);
	}
	job->is_in_use |= oldest != NULL;
}

static int take_submit(struct matcher *matcher, uint32_t index, const struct loose_edge *edge)
{
	struct job *job = &matcher->matches->jobs[index];
	struct instance *newest = newest_of(matcher->matches, job);

	if (!newest || newest->submit || newest->complete || newest->op) {
		end_oldest(matcher, job);
		FLEXTRACE_TRY(instances_open(matcher, index, &newest));
		job->n_open++;
	}
	newest->submit = edge;
	return FLEXTRACE_OK;
}

/* -- completes -------------------------------------------------------------------------------- */

static bool is_alike(const struct instance *instance, const struct loose_edge *edge)
{
	return instance->submit && edge->correlation &&
	       instance->submit->correlation == edge->correlation;
}

/* Whether it is another call's. */
static bool is_other(const struct matcher *matcher, const struct instance *instance,
                     const struct loose_edge *edge)
{
	return matcher->n_edges_alike >= CORRELATES && edge->correlation && instance->submit &&
	       instance->submit->correlation && instance->submit->correlation != edge->correlation;
}

/* Among those that were thought to be over, the newest one that has the edge's correlation. */
static struct instance *find_over(const struct matches *matches, const struct job *job,
                                  const struct loose_edge *edge)
{
	uint32_t at = job->has_over && edge->correlation ? job->newest : NO_INSTANCE;

	for (uint32_t n = 0; at != NO_INSTANCE && n < MAX_OVER; n++) {
		struct instance *instance = &matches->instances[at];

		if (instance->is_over && !instance->complete && is_alike(instance, edge))
			return instance;
		at = instance->before;
	}
	return NULL;
}

/* NULL: no instance lacks it. */
static struct instance *find_lacking(const struct matcher *matcher, struct job *job,
                                     const struct loose_edge *edge)
{
	const struct matches *matches = matcher->matches;
	struct instance *oldest = oldest_of(matches, job), *found = NULL, *over;
	uint32_t at = oldest ? job->oldest : NO_INSTANCE;

	for (uint32_t n = 0; at != NO_INSTANCE && n < MAX_DEPTH; n++) {
		struct instance *instance = &matches->instances[at];

		if (lacks_completion(instance) && is_alike(instance, edge))
			return instance;
		if (!found && lacks_completion(instance) && !is_other(matcher, instance, edge))
			found = instance;
		if (found && !edge->correlation)
			return found;
		at = instance->after;
	}
	over = find_over(matches, job, edge);
	return over ? over : found;
}

/* The one before the newest ones, of which all have both edges, that was thought to be over;
 * NULL: there is none. */
static struct instance *find_late(const struct matches *matches, const struct job *job)
{
	uint32_t at = job->newest;

	for (uint32_t n = 0; at != NO_INSTANCE && n <= MAX_MOVED; n++) {
		struct instance *instance = &matches->instances[at];

		if (!instance->submit || (n == 0 && instance->op))
			return NULL;
		if (!instance->complete)
			return instance->is_over ? instance : NULL;
		at = instance->before;
	}
	return NULL;
}

/* The newest instances have their completions from those before them, down to `last`. */
static void move_up(const struct matches *matches, const struct job *job,
                    const struct instance *last, const struct loose_edge *edge)
{
	struct instance *instance = &matches->instances[job->newest];

	for (;; instance = &matches->instances[instance->before]) {
		const struct loose_edge *moved = instance->complete;

		instance->complete = edge;
		if (instance == last)
			break;
		edge = moved;
	}
}

/* A completion that no instance lacks, as it seems. */
static int take_spare(struct matcher *matcher, uint32_t index, const struct loose_edge *edge,
                      struct instance **ret_instance)
{
	struct matches *matches = matcher->matches;
	struct job *job = &matches->jobs[index];
	struct instance *newest = newest_of(matches, job);
	struct instance *late = matcher->n_edges_alike < CORRELATES ? find_late(matches, job)
	                                                            : NULL;

	*ret_instance = newest;
	if (newest && !newest->submit && !newest->complete) {
		newest->complete = edge;
		return FLEXTRACE_OK;
	}
	if (late) {
		move_up(matches, job, late, edge);
		return FLEXTRACE_OK;
	}
	matcher->queues[job->queue].n_spare += job->is_in_use;
	FLEXTRACE_TRY(instances_open(matcher, index, ret_instance));
	matches->jobs[index].n_open++;
	(*ret_instance)->complete = edge;
	return FLEXTRACE_OK;
}

static int take_complete(struct matcher *matcher, uint32_t index, const struct loose_edge *edge)
{
	struct instance *instance = find_lacking(matcher, &matcher->matches->jobs[index], edge);

	if (instance) {
		matcher->n_edges_alike += is_alike(instance, edge);
		instance->complete = edge;
	} else {
		FLEXTRACE_TRY(take_spare(matcher, index, edge, &instance));
	}
	instances_complete(matcher, instance);
	return FLEXTRACE_OK;
}

static int take_estimate(struct matcher *matcher, uint32_t index, const struct loose_edge *edge)
{
	const struct job *job = &matcher->matches->jobs[index];
	struct instance *newest = newest_of(matcher->matches, job);

	if (!newest || newest->estimate) {
		FLEXTRACE_TRY(instances_open(matcher, index, &newest));
		matcher->matches->jobs[index].n_open++;
	}
	newest->estimate = edge;
	return FLEXTRACE_OK;
}

int instances_take(struct matcher *matcher, const struct loose_edge *edge)
{
	uint32_t job;

	FLEXTRACE_TRY(find_job(matcher, edge, &job));
	numbering_take(matcher, &matcher->matches->jobs[job], edge);
	if (edge->class == RECORD_SUBMIT)
		return take_submit(matcher, job, edge);
	if (edge->class == RECORD_COMPLETE)
		return take_complete(matcher, job, edge);
	return take_estimate(matcher, job, edge);
}
