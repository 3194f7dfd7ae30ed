/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "derive_impl.h"
#include "base/text/json_text.h"
#include "model/words/sync_ops.h"

int host_discard(struct derive *derive, const struct host_input *input, enum loss_cause cause)
{
	struct loss_place place = loss_place_of(input->process, input->stream_id);

	return ledger_discard(derive->ledger, cause, &place, input->record);
}

struct host_span host_span_of(const struct host_input *input)
{
	return (struct host_span){
		.begin_host_ns = (int64_t)input->record->clock_ns,
		.thread = input->thread,
		.name = input->record->name,
		.stream = input->stream_id,
		.index = input->record->index,
		.kind = input->record->kind == FLEXTRACE_RUNTIME_STEP ? HOST_STEP
	                                                              : input->record->kind,
		.class = input->record->class,
		.status = input->record->status,
	};
}

int host_add_row(struct derive *derive, const struct host_span *span, int64_t end_host_ns,
                 enum time_status status)
{
	uint32_t process = derive->identity->threads[span->thread].process;
	struct place start = place_host(derive, process, span->begin_host_ns);
	struct place end = place_host(derive, process, end_host_ns);
	struct host_row *row = row_sorter_append(&derive->host_rows);
	uint8_t best = worse_status((uint8_t)status, span->status);

	if (!row)
		return FLEXTRACE_E_MEMORY;
	best = worse_status(best, worse_status(start.status, end.status));
	if (end.time_ns < start.time_ns)
		end.time_ns = start.time_ns;
	*row = (struct host_row){
		.start_time_ns = start.time_ns,
		.end_time_ns = end.time_ns,
		.correlation = span->correlation,
		.track = span->thread,
		.name = span->name,
		.args = span->args,
		.file = span->file,
		.line = span->line,
		.stream = span->stream,
		.index = span->index,
		.kind = span->kind,
		.status = best & 7,
		.class = span->class & 31,
	};
	derive_cover(derive, start.time_ns, end.time_ns);
	return FLEXTRACE_OK;
}

int host_add_open_row(struct derive *derive, const struct host_span *span, int64_t end_host_ns)
{
	uint32_t process = derive->identity->threads[span->thread].process;
	struct loss_place place = loss_place_of(process, span->stream);

	FLEXTRACE_TRY(
		ledger_lose(derive->ledger, LOSS_UNMATCHED_BEGIN, &place, 1, span->begin_host_ns));
	if (end_host_ns < span->begin_host_ns)
		end_host_ns = span->begin_host_ns;
	return host_add_row(derive, span, end_host_ns, TIME_ASSUMED);
}

/* -- scopes --------------------------------------------------------------------------------- */

static int discard_args(struct derive *derive, uint32_t thread)
{
	struct derive_thread *state = &derive->threads[thread];
	struct loss_place place = loss_place_of(derive->identity->threads[thread].process,
	                                        state->args_stream);

	state->has_args = false;
	return derive_discard(derive, LOSS_UNMATCHED_ARGS, &place, RECORD_SCOPE_ARGS,
	                      (int64_t)state->args_clock_ns);
}

int host_push_args(struct derive *derive, const struct host_input *input)
{
	const struct record_text *text = (const struct record_text *)input->record;
	struct derive_thread *state = &derive->threads[input->thread];

	if (state->has_args)
		FLEXTRACE_TRY(discard_args(derive, input->thread));
	state->has_args = true;
	state->args = text->text;
	state->args_stream = input->stream_id;
	state->args_correlation = text->correlation;
	state->args_clock_ns = text->head.clock_ns;
	return FLEXTRACE_OK;
}

/* Gives a scope the arguments that wait on its thread, if they are its own. */
static int take_args(struct derive *derive, struct host_span *span)
{
	struct derive_thread *state = &derive->threads[span->thread];

	if (!state->has_args)
		return FLEXTRACE_OK;
	if (state->args_correlation != span->correlation)
		return discard_args(derive, span->thread);
	if (span->args)
		return discard_args(derive, span->thread);
	span->args = state->args;
	state->has_args = false;
	derive->ledger->evidence[RECORD_SCOPE_ARGS]++;
	return FLEXTRACE_OK;
}

static uint64_t end_of_scope(const struct record *record)
{
	return record->class == RECORD_SCOPE ? record->clock_ns
	                                     : ((const struct record_span *)record)->end_ns;
}

/* Says why a scope cannot be placed; LOSS_CAUSE_COUNT: it can. */
static enum loss_cause fault_of_scope(struct derive *derive, const struct host_input *input)
{
	const struct record_scope *scope = (const struct record_scope *)input->record;

	if (!input->stream->clock_is_1ghz) {
		derive->ledger->warnings[WARNING_CLOCK_NOT_1GHZ]++;
		return LOSS_MALFORMED;
	}
	if (!scope->begin_ns && !identity_is_file_of(derive->identity, derive->out.strings,
	                                             input->process, IDENTITY_FILE))
		return LOSS_MALFORMED; /* where a tracer knew no begin it says 0 */
	return scope->begin_ns > end_of_scope(input->record) ? LOSS_BACKWARDS : LOSS_CAUSE_COUNT;
}

int host_push_scope(struct derive *derive, const struct host_input *input)
{
	const struct record_scope *scope = (const struct record_scope *)input->record;
	enum loss_cause fault = fault_of_scope(derive, input);
	struct host_span span = host_span_of(input);

	if (fault != LOSS_CAUSE_COUNT) {
		if (scope->head.class == RECORD_SCOPE && derive->threads[input->thread].has_args)
			FLEXTRACE_TRY(discard_args(derive, input->thread));
		return host_discard(derive, input, fault);
	}
	span.begin_host_ns = (int64_t)scope->begin_ns;
	span.correlation = scope->correlation;
	span.file = scope->file;
	span.line = scope->line;
	span.args = scope->args;
	if (span.class == RECORD_SCOPE)
		FLEXTRACE_TRY(take_args(derive, &span));
	else if (span.class == RECORD_ASYNC_SPAN && span.kind == FLEXTRACE_RUNTIME_USER)
		span.kind = HOST_ASYNC;
	derive->ledger->rows[span.class]++;
	return host_add_row(derive, &span, (int64_t)end_of_scope(input->record), TIME_CERTIFIED);
}

/* -- steps ---------------------------------------------------------------------------------- */

int host_push_step(struct derive *derive, const struct host_input *input)
{
	const struct record_value *value = (const struct record_value *)input->record;
	struct derive_process *process = &derive->processes[input->process];
	struct host_span span = host_span_of(input);
	char name[64];

	if (process->has_step)
		FLEXTRACE_TRY(
			host_add_row(derive, &process->step, span.begin_host_ns, TIME_CERTIFIED));
	snprintf(name, sizeof(name), "ProfilerStep#%llu", (unsigned long long)value->u.number);
	FLEXTRACE_TRY(string_intern(&derive->strings, name, &span.name));
	span.kind = HOST_STEP;
	process->step = span;
	process->has_step = true;
	derive->ledger->rows[RECORD_STEP]++;
	return FLEXTRACE_OK;
}

/* -- collectives ---------------------------------------------------------------------------- */

static int text_of_collective(struct derive *derive, const struct sync_point *point,
                              uint32_t *ret_text)
{
	struct json_text text = JSON_TEXT_INIT;

	json_text_open(&text, '{');
	json_text_string(&text, "group", string_get(derive->out.strings, point->group));
	json_text_number(&text, "seq", point->seq);
	json_text_number(&text, "bytes", point->bytes);
	if (point->peers)
		json_text_string(&text, "peers", string_get(derive->out.strings, point->peers));
	json_text_close(&text, '}');
	return json_text_intern(&text, &derive->strings, ret_text);
}

static int take_collective(struct derive *derive, const struct sync_point *point)
{
	struct derive_process *process = derive_process(derive, point->process);
	struct loss_place place = loss_place_of(point->process, point->stream);
	struct host_span span = {
		.begin_host_ns = point->enter_host_ns,
		.thread = point->thread,
		.name = point->op,
		.stream = point->stream,
		.index = point->index,
		.kind = HOST_COLLECTIVE,
		.class = RECORD_COLLECTIVE,
	};

	if (!process || !derive_thread(derive, point->thread))
		return FLEXTRACE_E_MEMORY;
	if (point->enter_host_ns == INT64_MIN)
		return ledger_lose(derive->ledger, LOSS_UNMATCHED_END, &place, 1,
		                   point->exit_host_ns);
	FLEXTRACE_TRY(text_of_collective(derive, point, &span.args));
	if (process->last_host_ns < point->enter_host_ns)
		process->last_host_ns = point->enter_host_ns;
	if (point->exit_host_ns == INT64_MAX)
		return pairs_keep_open(derive, &span);
	if (process->last_host_ns < point->exit_host_ns)
		process->last_host_ns = point->exit_host_ns;
	return host_add_row(derive, &span, point->exit_host_ns, TIME_CERTIFIED);
}

int host_take_collectives(struct derive *derive, struct table *sync_points)
{
	TABLE_EACH(struct sync_point, point, sync_points)
		FLEXTRACE_TRY(take_collective(derive, point));
	return FLEXTRACE_OK;
}

/* -- the end -------------------------------------------------------------------------------- */

int host_end_open(struct derive *derive)
{
	for (uint32_t i = 0; i < derive->n_threads_allocated; i++) {
		if (derive->threads[i].has_args)
			FLEXTRACE_TRY(discard_args(derive, i));
	}
	for (uint32_t i = 0; i < derive->n_processes_allocated; i++) {
		const struct derive_process *process = &derive->processes[i];

		if (process->has_step)
			FLEXTRACE_TRY(host_add_row(derive, &process->step, process->last_host_ns,
			                           TIME_ASSUMED));
	}
	return pairs_finish(derive);
}

/* Intervals that need not nest have lanes of their own, so that they never count as crossing. */
static enum track_kind track_kind_of(const struct derive *derive, const struct host_row *row)
{
	switch (row->class) {
	case RECORD_ASYNC_BEGIN:
	case RECORD_ASYNC_SPAN:
	case RECORD_STEP:
	case RECORD_WINDOW:
		return TRACK_ASYNC;
	case RECORD_COLLECTIVE:
		return sync_op_is_async(string_get(derive->out.strings, row->name)) ? TRACK_ASYNC
		                                                                    : TRACK_THREAD;
	default:
		return TRACK_THREAD;
	}
}

static int merge_row(void *context, void *visited)
{
	struct derive *derive = context;
	struct host_row *row = visited;
	uint32_t thread = row->track, process = derive->identity->threads[thread].process;
	enum track_kind kind = track_kind_of(derive, row);
	uint32_t family, depth;

	FLEXTRACE_TRY(family_of_thread(derive, row->track, kind, &family));
	FLEXTRACE_TRY(family_place(derive, family, row->start_time_ns, row->end_time_ns,
	                           &row->track, &depth));
	row->depth = depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
	if (kind == TRACK_THREAD && derive->out.tracks[row->track].lane > 0)
		derive->out.counts.n_crossing++;
	if (row->kind == FLEXTRACE_RUNTIME_OP)
		FLEXTRACE_TRY(attributes_find(derive, process, row));
	derive->out.has.steps |= row->kind == HOST_STEP;
	if (kind == TRACK_THREAD)
		arrows_see_row(derive, thread, row);
	FLEXTRACE_TRY(flows_see_host_row(derive, process, row));
	return table_put(&derive->out.host_rows, row, sizeof(*row));
}

int host_merge(struct derive *derive)
{
	return row_sorter_merge(&derive->host_rows, merge_row, derive);
}
