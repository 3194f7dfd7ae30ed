/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows that a program tells: points that an id joins, each a row of no length with an arrow to it
 * from the one before; and events of queues. The last work that a queue was given before it
 * records an event comes before the first that another is given behind its wait for it.
 */
#include "base/order.h"
#include "base/text/json_text.h"
#include "derive_impl.h"

struct flow_mark {
	struct host_span span; /* of its row */
	struct loss_place place;
	uint32_t device, queue; /* of a RECORD: index of struct device */
	uint32_t next_free; /* of one that is none any more: place + 1 of another; 0: the last */
	bool is_awaited;    /* the begin of a flow that nothing followed yet */
};

static int text_of(struct derive *derive, const struct record_flow *record, uint32_t *ret_text)
{
	struct json_text text = JSON_TEXT_INIT;
	uint8_t phase = record->head.kind;
	bool is_unknown = phase >= FLEXTRACE_FLOW_PHASE_COUNT;

	json_text_open(&text, '{');
	if (is_unknown)
		json_text_number(&text, "phase", phase);
	json_text_number(&text,
	                 is_unknown                             ? "id"
	                 : phase >= FLEXTRACE_FLOW_PHASE_RECORD ? "event"
	                                                        : "flow",
	                 record->id);
	if (phase >= FLEXTRACE_FLOW_PHASE_RECORD) {
		json_text_number(&text, "device", record->device);
		json_text_number(&text, "queue", record->queue);
	}
	json_text_close(&text, '}');
	return json_text_intern(&text, &derive->strings, ret_text);
}

static int lose(struct derive *derive, enum loss_cause cause, const struct flow_mark *mark)
{
	return ledger_lose(derive->ledger, cause, &mark->place, 1, mark->span.begin_host_ns);
}

/* Keeps a point where the next one of its id finds it. */
static int keep(struct told_flows *flows, struct map *map, uint32_t process, uint64_t id,
                const struct flow_mark *mark)
{
	uint32_t place = map_find(map, id, process);

	if (flows->points && place != MAP_NONE) {
		flows->points[place] = *mark;
		return FLEXTRACE_OK;
	}
	if (flows->points && flows->free) {
		place = flows->free - 1;
		flows->free = flows->points[place].next_free;
		flows->points[place] = *mark;
		return map_put(map, id, process, place);
	}
	FLEXTRACE_TRY(map_put(map, id, process, flows->n_points));
	return ARRAY_PUSH(flows->points, flows->n_points, *mark);
}

/* Ends a flow: its place is for another one. */
static void forget(struct told_flows *flows, uint32_t process, uint64_t id, uint32_t place)
{
	map_remove(&flows->open, id, process);
	flows->points[place].is_awaited = false;
	flows->points[place].next_free = flows->free;
	flows->free = place + 1;
}

static int push_point(struct derive *derive, uint32_t process, const struct record_flow *record,
                      struct flow_mark *mark)
{
	struct told_flows *flows = &derive->told_flows;
	uint32_t place = map_find(&flows->open, record->id, process);
	struct flow_mark *before = place == MAP_NONE ? NULL : &flows->points[place];

	if (record->head.kind == FLEXTRACE_FLOW_PHASE_BEGIN) {
		if (before && before->is_awaited)
			FLEXTRACE_TRY(lose(derive, LOSS_UNMATCHED_BEGIN, before));
		mark->is_awaited = true;
		return keep(flows, &flows->open, process, record->id, mark);
	}
	if (!before)
		return lose(derive, LOSS_UNMATCHED_END, mark);
	FLEXTRACE_TRY(arrows_add(derive, &before->span, &mark->span, mark->span.name));
	if (record->head.kind == FLEXTRACE_FLOW_PHASE_STEP)
		return keep(flows, &flows->open, process, record->id, mark);
	forget(flows, process, record->id, place);
	return FLEXTRACE_OK;
}

static int push_wait(struct derive *derive, uint32_t process, const struct record_flow *record,
                     const struct flow_mark *mark)
{
	struct told_flows *flows = &derive->told_flows;
	uint32_t place = map_find(&flows->events, record->id, process);
	const struct flow_mark *before;

	if (place == MAP_NONE) /* of what was never recorded no queue waits */
		return lose(derive, LOSS_UNMATCHED_END, mark);
	before = &flows->points[place];
	return ARRAY_PUSH(
		flows->waits, flows->n_waits,
		((struct queue_wait){
			.from = {before->device, before->queue, before->span.begin_host_ns},
			.to = {mark->device, mark->queue, mark->span.begin_host_ns},
			.name = mark->span.name,
		}));
}

int told_flows_push(struct derive *derive, const struct host_input *input)
{
	const struct record_flow *record = (const struct record_flow *)input->record;
	uint32_t process = input->process;
	struct flow_mark mark = {
		.span = host_span_of(input),
		.place = loss_place_of(process, input->stream_id),
		.queue = record->queue,
	};

	mark.span.kind = HOST_FLOW;
	FLEXTRACE_TRY(text_of(derive, record, &mark.span.args));
	derive->ledger->rows[RECORD_FLOW]++;
	FLEXTRACE_TRY(host_add_row(derive, &mark.span, mark.span.begin_host_ns, TIME_CERTIFIED));
	if (record->head.kind >= FLEXTRACE_FLOW_PHASE_COUNT) /* joined by nobody knows what */
		return FLEXTRACE_OK;
	if (record->head.kind <= FLEXTRACE_FLOW_PHASE_END)
		return push_point(derive, process, record, &mark);
	FLEXTRACE_TRY(identity_device(derive->identity, process, record->device, &mark.device));
	if (record->head.kind == FLEXTRACE_FLOW_PHASE_WAIT)
		return push_wait(derive, process, record, &mark);
	return keep(&derive->told_flows, &derive->told_flows.events, process, record->id, &mark);
}

int told_flows_end(struct derive *derive)
{
	const struct told_flows *flows = &derive->told_flows;

	for (uint32_t i = 0; i < flows->n_points; i++) {
		if (flows->points[i].is_awaited)
			FLEXTRACE_TRY(lose(derive, LOSS_UNMATCHED_BEGIN, &flows->points[i]));
	}
	return FLEXTRACE_OK;
}

/* -- work of queues ------------------------------------------------------------------------- */

struct queued { /* an operation, in the order that its queue was given it */
	struct queue_point at;
	uint32_t op;
};

ORDER_BY(compare_queued, struct queued, at.device, at.queue, at.host_ns, op);

/* The place of the first that is behind a point; `is_at` false: not at it. */
static uint32_t find_behind(const struct queued *all, uint32_t n, const struct queue_point *point,
                            bool is_at)
{
	const struct queued key = {*point, is_at ? 0 : UINT32_MAX};
	uint32_t lo = 0;

	while (lo < n) {
		uint32_t middle = lo + (n - lo) / 2;

		if (compare_queued(&all[middle], &key) < 0)
			lo = middle + 1;
		else
			n = middle;
	}
	return lo;
}

static bool is_of_queue(const struct queued *queued, const struct queue_point *point)
{
	return queued->at.device == point->device && queued->at.queue == point->queue;
}

static void find_ops(const struct queued *all, uint32_t n, struct queue_wait *wait)
{
	uint32_t before = find_behind(all, n, &wait->from, false);
	uint32_t behind = find_behind(all, n, &wait->to, true);

	wait->from_op = wait->to_op = FLEXTRACE_NONE;
	if (before > 0 && is_of_queue(&all[before - 1], &wait->from))
		wait->from_op = all[before - 1].op;
	if (behind < n && is_of_queue(&all[behind], &wait->to))
		wait->to_op = all[behind].op;
}

int told_flows_find_ops(struct derive *derive)
{
	struct told_flows *flows = &derive->told_flows;
	struct queued *all;
	uint32_t n = 0;

	if (!flows->n_waits)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(BLOCKS_NEW(all, derive->out.n_ops + 1ull));
	for (uint32_t i = 0; i < derive->out.n_ops; i++) {
		const struct tick_op *op = &derive->out.ops[i];

		if (op->submit_host_ns)
			all[n++] = (struct queued){{op->device, op->queue, op->submit_host_ns}, i};
	}
	qsort(all, n, sizeof(*all), compare_queued);
	for (uint32_t i = 0; i < flows->n_waits; i++)
		find_ops(all, n, &flows->waits[i]);
	blocks_free(all);
	return FLEXTRACE_OK;
}

void told_flows_release(struct told_flows *flows)
{
	map_release(&flows->open);
	map_release(&flows->events);
	free(flows->points);
	free(flows->waits);
}
