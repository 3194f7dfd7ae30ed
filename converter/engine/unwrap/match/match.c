/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the instance of its job that an operation belongs to. Numbers are used again, and the
 * stamps of an operation may be recorded later than that. The instance follows, in this order, from
 * - the operation's own host times, if an edge has the same,
 * - its correlation, if the edges of one instance have the same,
 * - counting: an operation comes after its submit, and an instance has one operation. If a single
 *   instance was opened since all before it had theirs, it is that one. Otherwise the counter
 *   decides, once it is placed: the operation becomes a choice (choices.c). A lost record affects
 *   its own instance and no other.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/blocks.h"
#include "matches.h"

#define MAX_SEARCH 256u /* instances that are looked at for one operation */

/* -- operations ------------------------------------------------------------------------------- */

static bool has_own_times(const struct tick_op *op)
{
	return !op->unused && (op->submit_host_ns || op->complete_host_ns);
}

static bool is_at(const struct loose_edge *edge, int64_t host_ns)
{
	return edge && host_ns && edge->host_ns == host_ns;
}

static bool has_times_of(const struct instance *instance, const struct tick_op *op)
{
	return is_at(instance->submit, op->submit_host_ns) ||
	       is_at(instance->complete, op->complete_host_ns);
}

static uint64_t correlation_of(const struct instance *instance)
{
	if (instance->submit && instance->submit->correlation)
		return instance->submit->correlation;
	return instance->complete ? instance->complete->correlation : 0;
}

static bool has_correlation_of(const struct instance *instance, const struct tick_op *op)
{
	return op->correlation && correlation_of(instance) == op->correlation;
}

/* The next older instance without an operation, or NO_INSTANCE. Those that have theirs are not
 * looked at again. */
static uint32_t before_open(const struct matches *matches, struct instance *instance)
{
	uint32_t at = instance->before_open;

	while (at != NO_INSTANCE && matches->instances[at].op)
		at = matches->instances[at].before_open;
	instance->before_open = at;
	return at;
}

/* Looks at the newest instances that are open; NULL: none is meant, or several are. */
static struct instance *
find_meant(const struct matches *matches, const struct job *job, const struct tick_op *op,
           bool (*is_meant)(const struct instance *instance, const struct tick_op *op))
{
	struct instance *found = NULL;
	uint32_t at = job->newest;

	for (uint32_t n = 0; at != NO_INSTANCE && n < MAX_SEARCH; n++) {
		struct instance *instance = &matches->instances[at];

		if (instance->number < job->first)
			break;
		if (!instance->op && is_meant(instance, op)) {
			if (found)
				return NULL;
			found = instance;
		}
		at = before_open(matches, instance);
	}
	return found;
}

/* If as many instances are open as operations wait for one, all instances so far have an
 * operation. */
static void close_window(struct job *job)
{
	if (job->n_open > job->n_waiting)
		return;
	job->n_open = job->n_waiting = 0;
	job->first = job->n_instances;
}

static void give(struct matcher *matcher, struct instance *instance, struct tick_op *op)
{
	struct job *job = &matcher->matches->jobs[instance->job];

	instance->op = op;
	instances_complete(matcher, instance);
	if (instance->number >= job->first && job->n_open > 0)
		job->n_open--;
	close_window(job);
}

/* An instance of its own. */
static int stand_alone(struct matcher *matcher, uint32_t job, struct tick_op *op)
{
	struct instance *instance;

	FLEXTRACE_TRY(instances_open(matcher, job, &instance));
	instance->op = op;
	close_window(&matcher->matches->jobs[job]);
	return FLEXTRACE_OK;
}

/* Whether the newest instance cannot be the one: other times, or another call. */
static bool is_excluded(const struct matcher *matcher, const struct instance *instance,
                        const struct tick_op *op)
{
	uint64_t correlation = correlation_of(instance);

	if (has_own_times(op))
		return (instance->complete && op->submit_host_ns > edge_time(instance->complete)) ||
		       (instance->submit && op->complete_host_ns &&
		        op->complete_host_ns < edge_time(instance->submit));
	return matcher->n_correlated >= CORRELATES && correlation && op->correlation &&
	       correlation != op->correlation;
}

int match_put_choice(struct matches *matches, struct tick_op *op, uint32_t job, uint32_t first,
                     uint32_t guess, uint32_t end)
{
	FLEXTRACE_TRY(
		array_make_room(&matches->choices, matches->n_choices, sizeof(*matches->choices)));
	FLEXTRACE_TRY(map_put(&matches->of_op, (uintptr_t)op, 0, matches->n_choices));
	matches->choices[matches->n_choices++] = (struct choice){
		.op = op,
		.job = job,
		.first = first,
		.end = end,
		.guess = guess,
		.clock_ns = op->complete_host_ns,
		.chosen = NO_INSTANCE,
	};
	op->unused |= OP_IS_CHOICE;
	matches->jobs[job].has_choices = true;
	return FLEXTRACE_OK;
}

static int add_choice(struct matches *matches, uint32_t index, struct tick_op *op)
{
	struct job *job = &matches->jobs[index];

	FLEXTRACE_TRY(match_put_choice(matches, op, index, job->first, job->first + job->n_waiting,
	                               job->n_instances));
	job->n_waiting++;
	close_window(job);
	return FLEXTRACE_OK;
}

/* The newest instance that has no operation; NULL: all have. */
static struct instance *newest_open(const struct matches *matches, const struct job *job)
{
	uint32_t at = job->newest;

	if (at != NO_INSTANCE && matches->instances[at].op)
		at = before_open(matches, &matches->instances[at]);
	return at == NO_INSTANCE ? NULL : &matches->instances[at];
}

/* By counting. */
static int take_counted(struct matcher *matcher, uint32_t index, struct tick_op *op)
{
	struct matches *matches = matcher->matches;
	struct job *job = &matches->jobs[index];
	struct instance *instance = NULL;

	if (job->n_open > job->n_waiting)
		instance = newest_open(matches, job);
	if (!instance || is_excluded(matcher, instance, op))
		return stand_alone(matcher, index, op);
	if (job->n_open > 1 && instance_can_choose(instance, op))
		return add_choice(matches, index, op);
	instance->is_counted = true;
	give(matcher, instance, op);
	return FLEXTRACE_OK;
}

static int take_op(struct matcher *matcher, struct tick_op *op)
{
	struct matches *matches = matcher->matches;
	uint32_t index = map_find(&matcher->jobs, map_pair(op->device, op->queue), op->job);
	struct instance *meant;

	if (index == MAP_NONE)
		return FLEXTRACE_OK; /* no edge speaks of this job */
	matches->jobs[index].has_op = true;
	meant = find_meant(matches, &matches->jobs[index], op,
	                   has_own_times(op) ? has_times_of : has_correlation_of);
	if (!meant)
		return take_counted(matcher, index, op);
	matcher->n_correlated += !has_own_times(op);
	give(matcher, meant, op);
	return FLEXTRACE_OK;
}

/* When a record of an operation was there. */
static int64_t known_by(const struct tick_op *op)
{
	return op->complete_host_ns ? op->complete_host_ns : op->submit_host_ns;
}

static int take_all(struct matcher *matcher, struct table *ops)
{
	uint32_t n = 0;

	FLEXTRACE_TRY(edges_list(&matcher->unwrap->edges, &matcher->edges, &matcher->n_edges));
	FLEXTRACE_TRY(instances_prepare(matcher));
	TABLE_CHANGE(struct tick_op, op, ops)
	{
		for (; n < matcher->n_edges && edge_time(matcher->edges[n]) <= known_by(op); n++)
			FLEXTRACE_TRY(instances_take(matcher, matcher->edges[n]));
		FLEXTRACE_TRY(take_op(matcher, op));
	}
	for (; n < matcher->n_edges; n++)
		FLEXTRACE_TRY(instances_take(matcher, matcher->edges[n]));
	return FLEXTRACE_OK;
}

static int match(struct matcher *matcher)
{
	struct unwrap *unwrap = matcher->unwrap;
	uint64_t n_most = unwrap->edges.n_rows + unwrap->ops.n_rows + 1;

	if (n_most < NO_INSTANCE)
		matcher->matches->instances = blocks_reserve(n_most, sizeof(struct instance));
	if (!matcher->matches->instances)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(take_all(matcher, &unwrap->ops));
	FLEXTRACE_TRY(miscounts_find(matcher));
	return settle_ready(unwrap);
}

int match_edges(struct unwrap *unwrap)
{
	struct matcher matcher = {.unwrap = unwrap, .matches = &unwrap->matches};
	int code;

	if (unwrap->edges.n_rows == 0)
		return FLEXTRACE_OK;
	code = match(&matcher);
	map_release(&matcher.jobs);
	map_release(&matcher.queues_of);
	free(matcher.queues);
	free(matcher.numberings);
	blocks_free(matcher.edges);
	if (code < 0 || !unwrap->matches.n_choices)
		matches_release(unwrap);
	return code;
}

void matches_release(struct unwrap *unwrap)
{
	struct matches *matches = &unwrap->matches;

	map_release(&matches->of_op);
	blocks_free(matches->instances);
	free(matches->jobs);
	free(matches->choices);
	free(matches->stays);
	*matches = (struct matches){.instances = NULL};
	table_release(&unwrap->edges);
}
