/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "base/blocks.h"
#include "unwrap_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unwrap *unwrap_new(struct identity *identity, struct ledger *ledger)
{
	struct unwrap *unwrap = calloc(1, sizeof(*unwrap));

	if (!unwrap)
		return NULL;
	unwrap->identity = identity;
	unwrap->ledger = ledger;
	return unwrap;
}

void unwrap_set_options(struct unwrap *unwrap, const struct calibrate_options *options)
{
	unwrap->options = options;
}

void unwrap_free(struct unwrap *unwrap)
{
	if (!unwrap)
		return;
	for (uint32_t i = 0; i < unwrap->n_axes && unwrap->axes; i++)
		axis_release(&unwrap->axes[i]);
	table_release(&unwrap->ops);
	table_release(&unwrap->restored);
	table_release(&unwrap->told_clocks);
	table_release(&unwrap->told_alignment);
	matches_release(unwrap);
	table_release(&unwrap->syncs);
	table_release(&unwrap->collectives.points);
	map_release(&unwrap->collectives.sets);
	map_release(&unwrap->collectives.open_keys);
	free(unwrap->collectives.open);
	free(unwrap->estimates.idles);
	free(unwrap->estimates.waits);
	runs_release(&unwrap->marks);
	blocks_free(unwrap->samples);
	free(unwrap->n_samples);
	map_release(&unwrap->widths);
	free(unwrap->axes);
	free(unwrap);
}

/* -- collecting ------------------------------------------------------------------------------ */

/* One record with what identity says of it. */
struct pushed {
	const struct stream *stream;
	const struct record *record;
	uint32_t stream_id, process;
};

int64_t unwrap_host_stamp(uint64_t ns)
{
	return ns < (uint64_t)UNWRAP_MAX_NS ? (int64_t)ns : 0;
}

static int count_sample(struct unwrap *unwrap, uint32_t counter)
{
	FLEXTRACE_TRY(
		ARRAY_RESERVE(unwrap->n_samples, unwrap->n_samples_allocated, counter + 1ull));
	unwrap->n_samples[counter]++;
	return FLEXTRACE_OK;
}

static int note_width(struct unwrap *unwrap, uint32_t counter, enum stamp_width width)
{
	uint32_t *widths;

	FLEXTRACE_TRY(map_enter(&unwrap->widths, counter, 0, &widths));
	*widths = *widths == MAP_NONE ? width : *widths | width;
	return FLEXTRACE_OK;
}

static enum stamp_width width_of(const struct record_device_op *record)
{
	uint64_t any = 0;

	if (record->head.size_bytes == sizeof(*record))
		return STAMPS_NARROW;
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		any |= record->ticks64[i];
	return any > UINT32_MAX ? STAMPS_BEYOND : STAMPS_WIDE;
}

/* Finds the device and the counter of an operation, and keeps them as unwrap->owner. */
static int find_owner(struct unwrap *unwrap, uint32_t process, uint32_t device, uint32_t domain,
                      enum stamp_width width)
{
	struct op_owner owner = {
		.process = process, .number = device, .domain = domain, .width = width};

	if (unwrap->owner.is_known && unwrap->owner.process == process &&
	    unwrap->owner.number == device && unwrap->owner.domain == domain &&
	    unwrap->owner.width == width)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(identity_device(unwrap->identity, process, device, &owner.device));
	FLEXTRACE_TRY(identity_counter(unwrap->identity, owner.device, domain, &owner.counter));
	owner.is_known = true;
	unwrap->owner = owner;
	return note_width(unwrap, owner.counter, owner.width);
}

/* Work is done when its record is written. If one of its host times is behind that, neither is a
 * time of this host's clock: the record's time bounds the work instead. */
static void bound_by_record(struct unwrap *unwrap, const struct record_device_op *record,
                            struct tick_op *op)
{
	int64_t written_ns = unwrap_host_stamp(record->head.clock_ns);

	if (!written_ns || (op->submit_host_ns <= written_ns && op->complete_host_ns <= written_ns))
		return;
	op->submit_host_ns = 0;
	op->complete_host_ns = written_ns;
	unwrap->ledger->warnings[WARNING_OUTSIDE_LIFE]++;
}

static int push_op(struct unwrap *unwrap, const struct pushed *pushed)
{
	const struct record_device_op *record = (const struct record_device_op *)pushed->record;
	struct tick_op op = {
		.job = record->job,
		.correlation = record->correlation,
		.bytes = record->bytes,
		.submit_host_ns = unwrap_host_stamp(record->submit_ns),
		.complete_host_ns = unwrap_host_stamp(record->complete_ns),
		.queue = record->queue,
		.name = record->head.name,
		.group = record->group,
		.type = record->type,
		.args = record->args,
		.power = record->power,
		.peer = record->peer,
		.stream = pushed->stream_id,
		.index = record->head.index,
		.kind = record->head.kind,
		.status = TIME_UNMATCHED,
		.class = RECORD_DEVICE_OP,
	};
	struct tick_op *row;

	unwrap->lacks_records |= pushed->stream->losses.n > 0;
	FLEXTRACE_TRY(find_owner(unwrap, pushed->process, record->device, record->domain,
	                         width_of(record)));
	op.device = unwrap->owner.device;
	op.counter = unwrap->owner.counter;
	FLEXTRACE_TRY(count_sample(unwrap, op.counter));
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op.ticks[i] = unwrap->owner.width == STAMPS_NARROW ? record->ticks32[i]
		                                                   : record->ticks64[i];
	bound_by_record(unwrap, record, &op);
	if (!op.submit_host_ns && !op.complete_host_ns) {
		op.complete_host_ns = unwrap_host_stamp(record->head.clock_ns);
		op.unused = OP_AFTER_IS_CLOCK;
	}
	row = table_append(&unwrap->ops, sizeof(*row));
	if (!row)
		return FLEXTRACE_E_MEMORY;
	*row = op;
	unwrap->last_op = row;
	return FLEXTRACE_OK;
}

static int push_told_alignment(struct unwrap *unwrap, const struct pushed *pushed, const char *json)
{
	struct alignment_report row = alignment_columns_read(json);

	row.process = pushed->process;
	unwrap->ledger->evidence[RECORD_RESTORED]++;
	return table_put(&unwrap->told_alignment, &row, sizeof(row));
}

/* Segments come in order: of a counter there are no more of them than are told. */
static int push_told_clock(struct unwrap *unwrap, const struct pushed *pushed, const char *json)
{
	const struct record_restored *record = (const struct record_restored *)pushed->record;
	uint32_t last = unwrap->owner.counter;
	struct clock_row row = clock_columns_read(json);

	FLEXTRACE_TRY(
		find_owner(unwrap, pushed->process, record->device, record->domain, STAMPS_NONE));
	row.of.counter = unwrap->owner.counter;
	if (row.of.counter != last || record->segment == 0)
		unwrap->n_segments = 0;
	if (record->segment != unwrap->n_segments || record->segment > UINT16_MAX) {
		struct loss_place place = loss_place_of(pushed->process, pushed->stream_id);

		return ledger_discard(unwrap->ledger, LOSS_MALFORMED, &place, pushed->record);
	}
	row.of.segment = (uint16_t)unwrap->n_segments++;
	unwrap->ledger->evidence[RECORD_RESTORED]++;
	return table_put(&unwrap->told_clocks, &row, sizeof(row));
}

static int push_told_loss(struct unwrap *unwrap, const struct pushed *pushed)
{
	const struct record_restored *record = (const struct record_restored *)pushed->record;
	struct loss_place place = loss_place_of(pushed->process, pushed->stream_id);
	struct loss_span span = {(int64_t)record->begin_ns, (int64_t)record->end_ns, record->bytes};

	if (record->op_kind >= LOSS_CAUSE_COUNT || span.first_ns > span.last_ns)
		return ledger_discard(unwrap->ledger, LOSS_MALFORMED, &place, pushed->record);
	if (!span.first_ns)
		span.first_ns = span.last_ns = INT64_MIN;
	place = (struct loss_place){pushed->process, record->device, record->core, FLEXTRACE_NONE};
	unwrap->ledger->evidence[RECORD_RESTORED]++;
	return losses_add(&unwrap->ledger->losses, (enum loss_cause)record->op_kind, &place, &span);
}

static int push_restored(struct unwrap *unwrap, const struct pushed *pushed)
{
	struct restored_row row = {.of = *(const struct record_restored *)pushed->record,
	                           .stream = pushed->stream_id};
	const char *json = string_get(unwrap->identity->strings, row.of.type);

	if (row.of.head.kind == RESTORED_ALIGNMENT)
		return push_told_alignment(unwrap, pushed, json);
	if (row.of.head.kind == RESTORED_CLOCK)
		return push_told_clock(unwrap, pushed, json);
	if (row.of.head.kind == RESTORED_LOSS)
		return push_told_loss(unwrap, pushed);
	FLEXTRACE_TRY(
		find_owner(unwrap, pushed->process, row.of.device, row.of.domain, STAMPS_NONE));
	row.device = unwrap->owner.device;
	row.counter = unwrap->owner.counter;
	return table_put(&unwrap->restored, &row, sizeof(row));
}

static int add_edge(struct unwrap *unwrap, const struct pushed *pushed, uint32_t device,
                    struct loose_edge edge)
{
	FLEXTRACE_TRY(identity_device(unwrap->identity, pushed->process, device, &edge.device));
	edge.clock_ns = unwrap_host_stamp(pushed->record->clock_ns);
	edge.name = pushed->record->name;
	edge.stream = pushed->stream_id;
	edge.index = pushed->record->index;
	edge.class = pushed->record->class;
	return table_put(&unwrap->edges, &edge, sizeof(edge));
}

static int push_bracket(struct unwrap *unwrap, const struct pushed *pushed)
{
	const struct record_bracket *record = (const struct record_bracket *)pushed->record;

	return add_edge(unwrap, pushed, record->device,
	                (struct loose_edge){
				.job = record->job,
				.correlation = record->correlation,
				.host_ns = unwrap_host_stamp(record->host_ns),
				.queue = record->queue,
			});
}

/* An estimate that follows its operation needs no matching. */
static bool is_of_last_op(const struct unwrap *unwrap, uint32_t device,
                          const struct loose_edge *estimate)
{
	const struct tick_op *op = unwrap->last_op;

	return op && op->device == device && op->queue == estimate->queue &&
	       op->job == estimate->job && op->unused & OP_AFTER_IS_CLOCK &&
	       (estimate->host_ns || estimate->end_host_ns);
}

static int add_idle(struct unwrap *unwrap, uint32_t device, const struct loose_edge *edge)
{
	struct idle idle = {edge->host_ns, edge->end_host_ns, 0};

	if (!idle.begin_ns || idle.end_ns < idle.begin_ns)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(identity_counter(unwrap->identity, device, 0, &idle.counter));
	return ARRAY_PUSH(unwrap->estimates.idles, unwrap->estimates.n_idles, idle);
}

/* Of the operation whose estimate came last. */
static int add_wait(struct unwrap *unwrap, uint32_t device, const struct loose_edge *edge)
{
	struct wait wait = {unwrap->last_op, edge->end_host_ns - edge->host_ns};
	const struct tick_op *op = wait.op;

	if (!op || !op->estimate || op->device != device || op->queue != edge->queue ||
	    op->job != edge->job || !edge->host_ns || wait.ns <= 0)
		return FLEXTRACE_OK;
	return ARRAY_PUSH(unwrap->estimates.waits, unwrap->estimates.n_waits, wait);
}

static int push_estimate(struct unwrap *unwrap, const struct pushed *pushed)
{
	const struct record_host_estimate *record =
		(const struct record_host_estimate *)pushed->record;

	const struct loose_edge edge = {
		.job = record->job,
		.host_ns = unwrap_host_stamp(record->begin_ns),
		.end_host_ns = unwrap_host_stamp(record->end_ns),
		.queue = record->queue,
		.kind = record->head.kind,
	};
	uint32_t device;

	unwrap->ledger->evidence[RECORD_HOST_ESTIMATE]++;
	FLEXTRACE_TRY(identity_device(unwrap->identity, pushed->process, record->device, &device));
	if (edge.kind == FLEXTRACE_ESTIMATE_IDLE)
		return add_idle(unwrap, device, &edge);
	if (edge.kind == FLEXTRACE_ESTIMATE_WAIT)
		return add_wait(unwrap, device, &edge);
	unwrap->estimates.n_doubted += edge.kind >= FLEXTRACE_ESTIMATE_DOUBTED;
	if (is_of_last_op(unwrap, device, &edge)) {
		unwrap_estimate(unwrap->last_op, &edge);
		return FLEXTRACE_OK;
	}
	return add_edge(unwrap, pushed, record->device, edge);
}

static int push_sync(struct unwrap *unwrap, const struct pushed *pushed)
{
	struct record_clock_sync sync = *(const struct record_clock_sync *)pushed->record;
	uint32_t device;

	unwrap->ledger->evidence[RECORD_CLOCK_SYNC]++;
	FLEXTRACE_TRY(identity_device(unwrap->identity, pushed->process, sync.device, &device));
	FLEXTRACE_TRY(identity_counter(unwrap->identity, device, sync.domain, &sync.domain));
	FLEXTRACE_TRY(count_sample(unwrap, sync.domain));
	return table_put(&unwrap->syncs, &sync, sizeof(sync));
}

static int push_batch(struct unwrap *unwrap, const struct pushed *pushed)
{
	const struct record_marker_batch *record =
		(const struct record_marker_batch *)pushed->record;
	uint32_t n_words = (record->head.size_bytes - (uint32_t)sizeof(*record)) / 8;
	struct batch head = {
		.first_index = record->first_index,
		.dropped = record->dropped,
		.clock_ns = record->head.clock_ns,
		.core = record->core,
		.processor = record->processor,
		.stream = pushed->stream_id,
		.index = record->head.index,
		.n_words = n_words < record->n_words ? n_words : record->n_words,
	};

	FLEXTRACE_TRY(
		identity_device(unwrap->identity, pushed->process, record->device, &head.device));
	FLEXTRACE_TRY(
		identity_counter(unwrap->identity, head.device, record->domain, &head.counter));
	FLEXTRACE_TRY(note_width(unwrap, head.counter, STAMPS_NARROW)); /* of each word */
	return runs_add_batch(&unwrap->marks, &head, record->words);
}

/* -- collectives ----------------------------------------------------------------------------- */

static int remember_point(struct unwrap *unwrap, uint64_t a, uint64_t b, struct sync_point *point)
{
	struct unwrap_collectives *all = &unwrap->collectives;

	FLEXTRACE_TRY(map_put(&all->open_keys, a, b, all->n_open));
	return ARRAY_PUSH(all->open, all->n_open, point);
}

static int add_point(struct unwrap *unwrap, const struct pushed *pushed,
                     struct sync_point **ret_point)
{
	const struct record_collective *record = (const struct record_collective *)pushed->record;
	struct sync_point *point;
	uint32_t thread;

	FLEXTRACE_TRY(identity_thread(unwrap->identity, pushed->stream, &record->head, &thread));
	point = table_append(&unwrap->collectives.points, sizeof(*point));
	if (!point)
		return FLEXTRACE_E_MEMORY;
	*point = (struct sync_point){
		.enter_host_ns = UNWRAP_NO_BEFORE,
		.exit_host_ns = UNWRAP_NO_AFTER,
		.seq = record->seq,
		.bytes = record->bytes,
		.process = pushed->process,
		.group = record->group,
		.op = record->head.name,
		.peers = record->peers,
		.thread = thread,
		.stream = pushed->stream_id,
		.index = record->head.index,
	};
	*ret_point = point;
	return FLEXTRACE_OK;
}

/* Numbers what is done with one group: messages to several peers have one number, and so may a
 * message and a collective. */
static int find_set(struct unwrap_collectives *all, const struct record_collective *record,
                    uint32_t *ret_set)
{
	uint64_t a = (uint64_t)record->group << 32 | record->head.name;

	*ret_set = map_find(&all->sets, a, record->peers);
	if (*ret_set != MAP_NONE)
		return FLEXTRACE_OK;
	*ret_set = all->n_sets++;
	return map_put(&all->sets, a, record->peers, *ret_set);
}

static int push_collective(struct unwrap *unwrap, const struct pushed *pushed)
{
	const struct record_collective *record = (const struct record_collective *)pushed->record;
	uint64_t a, b = record->seq;
	struct sync_point *point;
	uint32_t set, open;

	FLEXTRACE_TRY(find_set(&unwrap->collectives, record, &set));
	a = (uint64_t)pushed->process << 32 | set;
	open = map_find(&unwrap->collectives.open_keys, a, b);
	if (record->head.kind == FLEXTRACE_PHASE_ENTER) {
		unwrap->ledger->rows[RECORD_COLLECTIVE]++;
		FLEXTRACE_TRY(add_point(unwrap, pushed, &point));
		point->enter_host_ns = (int64_t)record->head.clock_ns;
		return remember_point(unwrap, a, b, point);
	}
	unwrap->ledger->evidence[RECORD_COLLECTIVE]++;
	if (open != MAP_NONE) {
		unwrap->collectives.open[open]->exit_host_ns = (int64_t)record->head.clock_ns;
		map_remove(&unwrap->collectives.open_keys, a, b);
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(add_point(unwrap, pushed, &point));
	point->exit_host_ns = (int64_t)record->head.clock_ns;
	return FLEXTRACE_OK;
}

int unwrap_push(struct unwrap *unwrap, const struct stream *stream, uint32_t stream_id,
                const struct record *record)
{
	struct pushed pushed = {stream, record, stream_id, 0};

	FLEXTRACE_TRY(identity_process(unwrap->identity, stream, record, &pushed.process));
	if (unwrap->identity->processes[pushed.process].is_excluded) {
		struct loss_place place = loss_place_of(pushed.process, stream_id);

		return ledger_discard(unwrap->ledger, LOSS_FOREIGN_PROCESS, &place, record);
	}
	switch (record->class) {
	case RECORD_DEVICE_OP:
		return push_op(unwrap, &pushed);
	case RECORD_RESTORED:
		return push_restored(unwrap, &pushed);
	case RECORD_SUBMIT:
	case RECORD_COMPLETE:
		return push_bracket(unwrap, &pushed);
	case RECORD_HOST_ESTIMATE:
		return push_estimate(unwrap, &pushed);
	case RECORD_MARKER_BATCH:
		return push_batch(unwrap, &pushed);
	case RECORD_CLOCK_SYNC:
		return push_sync(unwrap, &pushed);
	case RECORD_COLLECTIVE:
		return push_collective(unwrap, &pushed);
	default:
		return FLEXTRACE_OK; /* of another table: its stage books it */
	}
}

/* -- resolving ------------------------------------------------------------------------------- */

/* A counter with too little evidence of its rate gets the rate of one with more. */
static void share_rate(struct unwrap *unwrap, const struct rate_lists *lists, uint32_t counter)
{
	struct rate *rate = &unwrap->axes[counter].rate;
	double best = INFINITY;

	if (rate->is_known)
		return;
	for (uint32_t i = lists->first[counter]; i != FLEXTRACE_NONE; i = lists->next[i]) {
		const struct rate *other = &unwrap->axes[i].rate;

		if (!other->is_known || other->hi / other->lo >= best)
			continue;
		best = other->hi / other->lo;
		*rate = (struct rate){other->lo, other->hi, false, false, false};
	}
	rate->is_known = best < INFINITY;
}

static int share_rates(struct unwrap *unwrap)
{
	struct rate_lists lists;
	int code = identity_list_rates(unwrap->identity, &lists);

	for (uint32_t i = 0; i < unwrap->n_axes && code >= 0; i++)
		share_rate(unwrap, &lists, i);
	rate_lists_release(&lists);
	return code;
}

static int prepare_axis(struct unwrap *unwrap, struct axis *axis)
{
	FLEXTRACE_TRY(axis_prepare(axis));
	if (!choices_doubt_counted(unwrap, axis))
		return FLEXTRACE_OK;
	samples_trust_estimates(axis);
	return axis_prepare(axis);
}

static int prepare(struct unwrap *unwrap)
{
	FLEXTRACE_TRY(match_edges(unwrap));
	FLEXTRACE_TRY(runs_read(unwrap));
	FLEXTRACE_TRY(samples_make(unwrap));
	for (uint32_t i = 0; i < unwrap->n_axes; i++)
		FLEXTRACE_TRY(prepare_axis(unwrap, &unwrap->axes[i]));
	FLEXTRACE_TRY(share_rates(unwrap));
	spans_settle(unwrap);
	return epochs_mend(unwrap);
}

static int resolve(struct unwrap *unwrap, struct unwrap_output *out)
{
	FLEXTRACE_TRY(prepare(unwrap));
	for (uint32_t i = 0; i < unwrap->n_axes; i++) {
		const struct axis *axis = &unwrap->axes[i];
		struct counted_rate rate = {.habit = axis_habit(axis)};

		FLEXTRACE_TRY(
			axis_place(&unwrap->axes[i], &unwrap->marks.op_runs, unwrap->marks.runs));
		rate.lo = axis->rate.lo;
		rate.hi = axis->rate.hi;
		unwrap->ledger->warnings[WARNING_RATE_UNPROVEN] += axis->refuses_nominal;
		FLEXTRACE_TRY(samples_write(unwrap, i, &out->brackets));
		FLEXTRACE_TRY(table_put(&out->rates, &rate, sizeof(rate)));
		if (axis->n_samples == 0)
			FLEXTRACE_TRY(bare_place(unwrap, i, &out->brackets));
	}
	FLEXTRACE_TRY(seams_count(unwrap));
	FLEXTRACE_TRY(marks_write(unwrap, out));
	FLEXTRACE_TRY(match_choices(unwrap));
	table_take(&out->ops, &unwrap->ops);
	table_take(&out->restored, &unwrap->restored);
	table_take(&out->told_clocks, &unwrap->told_clocks);
	table_take(&out->told_alignment, &unwrap->told_alignment);
	table_take(&out->sync_points, &unwrap->collectives.points);
	return FLEXTRACE_OK;
}

int unwrap_finish(struct unwrap *unwrap, struct unwrap_output *out, struct flextrace_error *error)
{
	int code = resolve(unwrap, out);

	if (code < 0)
		return error_set(error, code, "Cannot unwrap the device stamps: device_ops=%llu",
		                 (unsigned long long)unwrap->ops.n_rows);
	return FLEXTRACE_OK;
}

void unwrap_output_release(struct unwrap_output *out)
{
	table_release(&out->ops);
	table_release(&out->restored);
	table_release(&out->told_clocks);
	table_release(&out->told_alignment);
	table_release(&out->mark_runs);
	table_release(&out->marks);
	table_release(&out->boots);
	table_release(&out->boot_brackets);
	table_release(&out->brackets);
	table_release(&out->rates);
	table_release(&out->sync_points);
}
