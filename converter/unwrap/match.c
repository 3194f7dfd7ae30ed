/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job number may be used again once its work is complete, so records of one (device, queue,
 * job) are matched in order: a submit always opens an instance, anything else joins the open one
 * unless that has its like already. A record that was lost then costs its own instance and no
 * other.
 */
#include "blocks.h"
#include "unwrap_impl.h"

struct instance {
	struct tick_op *op;
	const struct loose_edge *submit, *complete, *estimate;
};

struct matcher {
	struct map open;            /* (device, queue), job -> instance; 0 = none is open */
	struct instance *instances; /* owned, room for all; the first is nobody's */
	uint32_t n;
};

static uint64_t owner_key(uint32_t device, uint32_t queue)
{
	return (uint64_t)device << 32 | queue;
}

static int open_instance(struct matcher *matcher, uint64_t owner, uint64_t job,
                         struct instance **ret_instance)
{
	FLEXTRACE_TRY(
		blocks_fill_next(matcher->instances, matcher->n, sizeof(*matcher->instances)));
	*ret_instance = &matcher->instances[matcher->n];
	**ret_instance = (struct instance){.op = NULL};
	return map_put(&matcher->open, owner, job, matcher->n++);
}

static bool is_taken(const struct instance *instance, const struct loose_edge *edge)
{
	if (edge->class == RECORD_SUBMIT)
		return instance->submit || instance->complete || instance->op;
	return edge->class == RECORD_COMPLETE ? instance->complete != NULL
	                                      : instance->estimate != NULL;
}

static int take_edge(struct matcher *matcher, const struct loose_edge *edge)
{
	uint64_t owner = owner_key(edge->device, edge->queue);
	uint32_t open = map_find(&matcher->open, owner, edge->job);
	struct instance *instance = &matcher->instances[open];

	if (open == 0 || is_taken(instance, edge))
		FLEXTRACE_TRY(open_instance(matcher, owner, edge->job, &instance));
	if (edge->class == RECORD_SUBMIT)
		instance->submit = edge;
	else if (edge->class == RECORD_COMPLETE)
		instance->complete = edge;
	else
		instance->estimate = edge;
	return FLEXTRACE_OK;
}

static int take_op(struct matcher *matcher, struct tick_op *op)
{
	uint64_t owner = owner_key(op->device, op->queue);
	uint32_t open = map_find(&matcher->open, owner, op->job);
	struct instance *instance;

	if (open == MAP_NONE)
		return FLEXTRACE_OK; /* no edge speaks of this job */
	instance = &matcher->instances[open];
	if (open == 0 || instance->op)
		FLEXTRACE_TRY(open_instance(matcher, owner, op->job, &instance));
	instance->op = op;
	return FLEXTRACE_OK;
}

/* Makes every key of an edge known, with no instance open. */
static int take_keys(struct matcher *matcher, struct table *edges)
{
	struct table_cursor cursor;
	const struct loose_edge *edge;
	struct instance *nobody;

	FLEXTRACE_TRY(open_instance(matcher, 0, 0, &nobody));
	map_remove(&matcher->open, 0, 0);
	table_read(&cursor, edges, false);
	while ((edge = table_next(&cursor, sizeof(*edge))))
		FLEXTRACE_TRY(map_put(&matcher->open, owner_key(edge->device, edge->queue),
		                      edge->job, 0));
	return FLEXTRACE_OK;
}

static int take_all(struct matcher *matcher, struct table *edges, struct table *ops)
{
	struct table_cursor edge_cursor, op_cursor;
	const struct loose_edge *edge;
	struct tick_op *op;
	uint64_t n_ops = 0;

	table_read(&edge_cursor, edges, false);
	table_read(&op_cursor, ops, false);
	while ((edge = table_next(&edge_cursor, sizeof(*edge)))) {
		for (; n_ops < edge->n_ops_before; n_ops++) {
			op = table_next(&op_cursor, sizeof(*op));
			FLEXTRACE_TRY(take_op(matcher, op));
		}
		FLEXTRACE_TRY(take_edge(matcher, edge));
	}
	while ((op = table_next(&op_cursor, sizeof(*op))))
		FLEXTRACE_TRY(take_op(matcher, op));
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

static int settle_op(struct unwrap *unwrap, const struct instance *instance)
{
	struct tick_op soft = *instance->op, *op = instance->op;

	if (op->unused) {
		op->submit_host_ns = op->complete_host_ns = 0;
		op->status = TIME_UNMATCHED;
	}
	FLEXTRACE_TRY(fill_side(unwrap, instance->submit, &op->submit_host_ns));
	FLEXTRACE_TRY(fill_side(unwrap, instance->complete, &op->complete_host_ns));
	if (op->submit_host_ns || op->complete_host_ns) {
		op->unused = op->estimate = 0;
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

/* Instances point to places all over the tables of edges and operations. */
static int settle_all(struct unwrap *unwrap, const struct matcher *matcher)
{
	const size_t bytes = sizeof(struct instance) + sizeof(struct tick_op) +
	                     2 * sizeof(struct loose_edge);
	int code = FLEXTRACE_OK;

	for (uint32_t i = 1; i < matcher->n && code >= 0; i++) {
		code = settle(unwrap, &matcher->instances[i]);
		if (i % BLOCKS_FILL_STEP == 0)
			blocks_touch(BLOCKS_FILL_STEP * bytes);
	}
	return code;
}

int match_edges(struct unwrap *unwrap)
{
	uint64_t n_most = unwrap->edges.n_rows + unwrap->ops.n_rows + 1;
	struct matcher matcher = {.instances = NULL};
	int code;

	if (unwrap->edges.n_rows == 0)
		return FLEXTRACE_OK;
	if (n_most < MAP_NONE)
		matcher.instances = blocks_reserve(n_most, sizeof(*matcher.instances));
	if (!matcher.instances)
		return FLEXTRACE_E_MEMORY;
	code = take_keys(&matcher, &unwrap->edges);
	if (code >= 0)
		code = take_all(&matcher, &unwrap->edges, &unwrap->ops);
	if (code >= 0)
		code = settle_all(unwrap, &matcher);
	map_release(&matcher.open);
	blocks_free(matcher.instances);
	table_release(&unwrap->edges);
	return code;
}
