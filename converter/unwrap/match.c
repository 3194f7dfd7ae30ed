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

#include "array.h"
#include "blocks.h"
#include "matches.h"

#define MAX_SEARCH  256u  /* instances that are looked at for one operation */
#define MAX_LEFT    1024u /* likewise, for one that nothing tells */
#define MAX_DOUBTED 8     /* in front of an operation that found none */
#define MANY        3u    /* of so many one is doubtful, or found none */

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

static int add_choice(struct matches *matches, uint32_t index, struct tick_op *op)
{
	struct job *job = &matches->jobs[index];

	FLEXTRACE_TRY(
		array_make_room(&matches->choices, matches->n_choices, sizeof(*matches->choices)));
	FLEXTRACE_TRY(map_put(&matches->of_op, (uintptr_t)op, 0, matches->n_choices));
	matches->choices[matches->n_choices++] = (struct choice){
		.op = op,
		.job = index,
		.first = job->first,
		.end = job->n_instances,
		.guess = job->first + job->n_waiting,
		.clock_ns = op->complete_host_ns,
		.chosen = NO_INSTANCE,
	};
	op->unused |= OP_IS_CHOICE;
	job->has_choices = true;
	job->n_waiting++;
	close_window(job);
	return FLEXTRACE_OK;
}

static bool has_bracket(const struct instance *instance)
{
	return instance->submit || instance->complete;
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
	if (job->n_open > 1 && has_bracket(instance) && op->unused == OP_AFTER_IS_CLOCK)
		return add_choice(matches, index, op);
	instance->is_counted = true;
	give(matcher, instance, op);
	return FLEXTRACE_OK;
}

static int take_op(struct matcher *matcher, struct tick_op *op)
{
	struct matches *matches = matcher->matches;
	uint32_t index = map_find(&matcher->jobs, owner_key(op->device, op->queue), op->job);
	struct instance *meant;

	if (index == MAP_NONE)
		return FLEXTRACE_OK; /* no edge speaks of this job */
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
	struct table_cursor cursor;
	struct tick_op *op;
	uint32_t n = 0;

	FLEXTRACE_TRY(edges_list(&matcher->unwrap->edges, &matcher->edges, &matcher->n_edges));
	FLEXTRACE_TRY(instances_prepare(matcher));
	table_read(&cursor, ops, false);
	while ((op = table_next(&cursor, sizeof(*op)))) {
		for (; n < matcher->n_edges && edge_time(matcher->edges[n]) <= known_by(op); n++)
			FLEXTRACE_TRY(instances_take(matcher, matcher->edges[n]));
		FLEXTRACE_TRY(take_op(matcher, op));
	}
	for (; n < matcher->n_edges; n++)
		FLEXTRACE_TRY(instances_take(matcher, matcher->edges[n]));
	return FLEXTRACE_OK;
}

/* -- what comes of an instance --------------------------------------------------------------- */

static int discard(struct unwrap *unwrap, const struct loose_edge *edge, enum loss_cause cause)
{
	struct loss_place place = unwrap_place(unwrap, edge->device, FLEXTRACE_NONE, edge->stream);

	unwrap->ledger->discarded[edge->class][cause]++;
	return ledger_lose(unwrap->ledger, cause, &place, 1,
	                   edge->host_ns ? edge->host_ns : INT64_MIN);
}

/* Fills a side of the bracket that the operation lacks; where it has one, its own holds. */
static int fill_side(struct unwrap *unwrap, const struct loose_edge *edge, int64_t *side_ns)
{
	struct loss_place place;

	if (!edge)
		return FLEXTRACE_OK;
	unwrap->ledger->evidence[edge->class]++;
	if (!*side_ns || !edge->host_ns || *side_ns == edge->host_ns) {
		*side_ns = *side_ns ? *side_ns : edge->host_ns;
		return FLEXTRACE_OK;
	}
	place = unwrap_place(unwrap, edge->device, FLEXTRACE_NONE, edge->stream);
	return ledger_lose(unwrap->ledger, LOSS_BRACKET_DISAGREES, &place, 1, edge->host_ns);
}

static bool has_stamps(const struct tick_op *op)
{
	uint64_t any = 0;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		any |= op->ticks[i];
	return any != 0;
}

void unwrap_estimate(struct tick_op *op, const struct loose_edge *estimate)
{
	op->submit_host_ns = estimate->host_ns;
	op->complete_host_ns = estimate->end_host_ns;
	op->unused = OP_IS_ESTIMATED;
	op->estimate = 1 + estimate->kind % FLEXTRACE_ESTIMATE_DOUBTED;
	op->is_doubted = estimate->kind >= FLEXTRACE_ESTIMATE_DOUBTED;
	op->status = has_stamps(op) ? op->status : TIME_GIVEN;
}

/* How long after its completion the stamps of an operation were recorded; 0: not known. */
static int64_t late_ns(const struct instance *instance)
{
	if (!instance->op || instance->op->unused != OP_AFTER_IS_CLOCK || !instance->complete)
		return 0;
	return instance->op->complete_host_ns - edge_time(instance->complete);
}

/* By how much the stamps of operations are late, but for few. */
static void find_most_late(struct matches *matches)
{
	struct lates lates = {.n_all = 0};

	for (uint32_t i = 0; i < matches->n; i++) {
		int64_t ns = late_ns(&matches->instances[i]);

		if (ns > 0)
			lates_add(&lates, ns);
	}
	matches->most_late_ns = lates_most(&lates, INT64_MAX);
}

/* An operation that found no instance, though its number has some, may have found its own taken, by
 * one whose records were lost; and that one's likewise. */
static void doubt_before(const struct matches *matches, const struct instance *alone)
{
	uint32_t at = alone->before;

	for (int n = 0; n < MAX_DOUBTED && at != NO_INSTANCE; n++) {
		struct instance *instance = &matches->instances[at];

		if (!instance->is_counted || !instance->submit ||
		    instance->op->complete_host_ns - edge_time(instance->submit) >
		            matches->most_late_ns)
			return;
		instance->is_doubtful = true;
		at = instance->before;
	}
}

/* Marks operations that were matched by counting alone and may belong elsewhere. If these are
 * many, counting proves nothing. */
static void doubt_counted(const struct matches *matches)
{
	uint32_t n_counted = 0, n_bad = 0;

	for (uint32_t i = 0; i < matches->n; i++) {
		struct instance *instance = &matches->instances[i];

		if (instance->op && !instance->submit && !instance->complete) {
			doubt_before(matches, instance);
			n_bad++;
		}
		instance->is_doubtful |= instance->is_counted &&
		                         late_ns(instance) > matches->most_late_ns;
		n_counted += instance->is_counted;
	}
	for (uint32_t i = 0; i < matches->n; i++)
		n_bad += matches->instances[i].is_doubtful;
	for (uint32_t i = 0; i < matches->n && n_bad > n_counted / MANY; i++)
		matches->instances[i].is_doubtful = matches->instances[i].is_counted;
}

/* Whether the edges may be another operation's. */
static bool is_doubtful(const struct unwrap *unwrap, const struct instance *instance)
{
	return instance->is_shared ||
	       (instance->is_counted && instance->op->unused == OP_AFTER_IS_CLOCK &&
	        (instance->is_doubtful || unwrap->matches.jobs[instance->job].is_doubtful));
}

static int settle_op(struct unwrap *unwrap, const struct instance *instance)
{
	struct tick_op soft = *instance->op, *op = instance->op;

	if (is_doubtful(unwrap, instance)) {
		unwrap->ledger->evidence[RECORD_SUBMIT] += instance->submit != NULL;
		unwrap->ledger->evidence[RECORD_COMPLETE] += instance->complete != NULL;
		return FLEXTRACE_OK;
	}
	if (op->unused) {
		op->submit_host_ns = op->complete_host_ns = 0;
		op->status = TIME_UNMATCHED;
	}
	FLEXTRACE_TRY(fill_side(unwrap, instance->submit, &op->submit_host_ns));
	FLEXTRACE_TRY(fill_side(unwrap, instance->complete, &op->complete_host_ns));
	if (op->submit_host_ns || op->complete_host_ns) {
		op->unused = instance->is_counted ? OP_IS_COUNTED : 0;
		op->estimate = 0;
		op->is_doubted = false;
		return FLEXTRACE_OK;
	}
	*op = soft;
	if (op->unused & OP_AFTER_IS_CLOCK && instance->estimate &&
	    (instance->estimate->host_ns || instance->estimate->end_host_ns))
		unwrap_estimate(op, instance->estimate);
	return FLEXTRACE_OK;
}

/* Work that has a bracket but no stamps: it is shown there. */
static int add_pair(struct unwrap *unwrap, const struct loose_edge *submit,
                    const struct loose_edge *complete)
{
	struct tick_op op = {
		.job = submit->job,
		.correlation = submit->correlation ? submit->correlation : complete->correlation,
		.submit_host_ns = submit->host_ns,
		.complete_host_ns = complete->host_ns,
		.device = submit->device,
		.queue = submit->queue,
		.name = submit->name ? submit->name : complete->name,
		.peer = -1,
		.stream = submit->stream,
		.index = submit->index,
		.status = TIME_UNMATCHED,
		.class = RECORD_SUBMIT,
	};
	struct tick_op *row;

	FLEXTRACE_TRY(identity_counter(unwrap->identity, op.device, 0, &op.counter));
	row = table_append(&unwrap->ops, sizeof(*row));
	if (!row)
		return FLEXTRACE_E_MEMORY;
	*row = op;
	unwrap->ledger->evidence[RECORD_COMPLETE]++;
	return FLEXTRACE_OK;
}

static int settle(struct unwrap *unwrap, const struct instance *instance)
{
	if (instance->op)
		return settle_op(unwrap, instance);
	if (instance->submit && instance->complete)
		return add_pair(unwrap, instance->submit, instance->complete);
	if (instance->submit)
		return discard(unwrap, instance->submit, LOSS_UNMATCHED_SUBMIT);
	if (instance->complete)
		return discard(unwrap, instance->complete, LOSS_UNMATCHED_COMPLETE);
	return FLEXTRACE_OK; /* an estimate of work that has no record */
}

/* What shows that records were lost. */
struct lacks {
	bool submit, complete, op;
	bool is_in_use; /* completions may have the place of lost ones */
};

/* Work that is under way at the end has no completion yet. */
static void note_lacks(const struct matches *matches, const struct instance *instance,
                       struct lacks *lacks)
{
	const struct instance *after = instance->after == NO_INSTANCE
	                                       ? NULL
	                                       : &matches->instances[instance->after];

	if (!instance->submit && (instance->complete || instance->op))
		lacks->submit = true;
	if (!instance->complete && (instance->op || (after && after->complete)))
		lacks->complete = true;
}

static struct lacks find_lacks(const struct matches *matches)
{
	struct lacks lacks = {false, false, false, false};

	for (uint32_t i = 0; i < matches->n; i++) {
		const struct instance *instance = &matches->instances[i];

		note_lacks(matches, instance, &lacks);
		matches->jobs[instance->job].n_whole += instance->submit && instance->complete;
		matches->jobs[instance->job].n_ops += instance->op != NULL;
	}
	for (uint32_t i = 0; i < matches->n_choices; i++)
		matches->jobs[matches->choices[i].job].n_ops++;
	for (uint32_t i = 0; i < matches->n_jobs; i++) {
		const struct job *job = &matches->jobs[i];

		lacks.op |= job->n_ops > 0 && job->n_ops < job->n_whole;
		lacks.is_in_use |= job->is_in_use;
	}
	return lacks;
}

/* Whether both edges of a use may be lost. The only sign is that other uses lack edges of both
 * kinds; where completions hide that, any missing record is the sign. */
static bool is_lossy(const struct matches *matches)
{
	struct lacks lacks = find_lacks(matches);

	return (lacks.submit && lacks.complete) ||
	       (lacks.is_in_use && (lacks.submit || lacks.complete || lacks.op));
}

static void doubt_jobs(struct matcher *matcher)
{
	for (uint32_t i = 0; i < matcher->matches->n_jobs; i++) {
		struct job *job = &matcher->matches->jobs[i];

		job->is_doubtful = job->is_in_use && matcher->queues[job->queue].n_spare > 0;
	}
}

/* Instances point to places all over the tables of edges and operations. What a choice may still
 * be of waits until it is made. */
static int settle_all(struct unwrap *unwrap)
{
	const size_t bytes = sizeof(struct instance) + sizeof(struct tick_op) +
	                     2 * sizeof(struct loose_edge);
	const struct matches *matches = &unwrap->matches;
	int code = FLEXTRACE_OK;

	for (uint32_t i = 0; i < matches->n && code >= 0; i++) {
		struct instance *instance = &matches->instances[i];

		instance->is_settled = instance->op || !matches->jobs[instance->job].has_choices;
		if (instance->is_settled)
			code = settle(unwrap, instance);
		if (i % BLOCKS_FILL_STEP == BLOCKS_FILL_STEP - 1)
			blocks_touch(BLOCKS_FILL_STEP * bytes);
	}
	return code;
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
	doubt_jobs(matcher);
	matcher->matches->is_lossy = is_lossy(matcher->matches);
	find_most_late(&unwrap->matches);
	doubt_counted(&unwrap->matches);
	return settle_all(unwrap);
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
	blocks_free(matcher.edges);
	if (code < 0 || !unwrap->matches.n_choices)
		matches_release(unwrap);
	return code;
}

/* Operations with no fact about their instance get the first instance that is left. */
static void give_left(struct matches *matches, const struct choice *choice)
{
	const struct job *job = &matches->jobs[choice->job];

	for (uint32_t i = choice->guess; i < choice->end && i < choice->guess + MAX_LEFT; i++) {
		const struct stay *stay = &matches->stays[job->first_stay + i];
		struct instance *instance = &matches->instances[stay->instance];

		if (instance->op)
			continue;
		instance->op = choice->op;
		instance->is_shared = choice->is_shared;
		return;
	}
}

int match_choices(struct unwrap *unwrap)
{
	struct matches *matches = &unwrap->matches;

	if (!matches->n_choices)
		return FLEXTRACE_OK;
	for (uint32_t i = 0; i < matches->n_choices; i++) {
		const struct choice *choice = &matches->choices[i];

		if (choice->chosen != NO_INSTANCE && !matches->instances[choice->chosen].op)
			matches->instances[choice->chosen].op = choice->op;
	}
	for (uint32_t i = 0; i < matches->n_choices; i++) {
		if (matches->choices[i].chosen == NO_INSTANCE)
			give_left(matches, &matches->choices[i]);
	}
	for (uint32_t i = 0; i < matches->n; i++) {
		if (!matches->instances[i].is_settled)
			FLEXTRACE_TRY(settle(unwrap, &matches->instances[i]));
	}
	return FLEXTRACE_OK;
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
