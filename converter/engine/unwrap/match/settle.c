/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives operations the brackets of their instances. Pairs of edges without an operation become an
 * operation, and single edges without one are lost.
 */
#include "base/blocks.h"
#include "matches.h"
#include "model/stamps.h"

#define MAX_LEFT 1024u /* instances that are looked at for one operation that nothing tells */

static int discard(struct unwrap *unwrap, const struct loose_edge *edge, enum loss_cause cause)
{
	struct loss_place place = identity_place(unwrap->identity, edge->device, FLEXTRACE_NONE,
	                                         edge->stream);

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
	place = identity_place(unwrap->identity, edge->device, FLEXTRACE_NONE, edge->stream);
	return ledger_lose(unwrap->ledger, LOSS_BRACKET_DISAGREES, &place, 1, edge->host_ns);
}

void unwrap_estimate(struct tick_op *op, const struct loose_edge *estimate)
{
	op->submit_host_ns = estimate->host_ns;
	op->complete_host_ns = estimate->end_host_ns;
	op->unused = OP_IS_ESTIMATED;
	op->estimate = 1 + estimate->kind % FLEXTRACE_ESTIMATE_DOUBTED;
	op->is_doubted = estimate->kind >= FLEXTRACE_ESTIMATE_DOUBTED;
	op->status = op->ticks[tick_op_first(op)] ? op->status : TIME_GIVEN;
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

	FLEXTRACE_TRY(identity_counter(unwrap->identity, op.device, 0, &op.counter));
	unwrap->ledger->evidence[RECORD_COMPLETE]++;
	return table_put(&unwrap->ops, &op, sizeof(op));
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

/* Instances point to places all over the tables of edges and operations. What a choice may still
 * be of waits until it is made. */
int settle_ready(struct unwrap *unwrap)
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

/* Operations with no sample about their instance get the first instance that is left. */
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
