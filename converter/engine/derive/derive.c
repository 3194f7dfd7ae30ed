/* SPDX-License-Identifier: Apache-2.0 */
#include "derive_impl.h"

/* Finds the processes whose times are placed as they are. */
static bool find_exact(struct derive *derive)
{
	for (uint32_t i = 0; i < derive->identity->n_processes; i++) {
		struct derive_process *process = derive_process(derive, i);

		if (!process)
			return false;
		process->is_exact = alignment_is_reference(derive->out.alignment, i) &&
		                    !derive->identity->processes[i].is_given;
	}
	return true;
}

struct derive *derive_new(const struct derive_input *input)
{
	struct derive *derive = calloc(1, sizeof(*derive));

	if (!derive)
		return NULL;
	derive->identity = input->identity;
	derive->ledger = input->ledger;
	derive->out = (struct timeline){
		.identity = input->identity,
		.clocks = input->clocks,
		.alignment = input->alignment,
		.ledger = input->ledger,
		.streams = input->streams,
		.strings = input->strings,
		.first_time_ns = INT64_MAX,
		.last_time_ns = INT64_MIN,
	};
	string_cache_init(&derive->strings, input->strings);
	row_sorter_init(&derive->host_rows, sizeof(struct host_row), true);
	row_sorter_init(&derive->device_rows, sizeof(struct device_row), true);
	row_sorter_init(&derive->instants, sizeof(struct instant_row), false);
	row_sorter_init(&derive->counters, sizeof(struct counter_row), false);
	row_sorter_init(&derive->memory, sizeof(struct memory_row), false);
	if (find_exact(derive))
		return derive;
	derive_free(derive);
	return NULL;
}

void derive_free(struct derive *derive)
{
	if (!derive)
		return;
	for (uint32_t i = 0; i < derive->n_threads_allocated; i++)
		free(derive->threads[i].open);
	free(derive->threads);
	free(derive->processes);
	free(derive->memos);
	free(derive->nears);
	row_sorter_release(&derive->host_rows);
	row_sorter_release(&derive->device_rows);
	row_sorter_release(&derive->instants);
	row_sorter_release(&derive->counters);
	row_sorter_release(&derive->memory);
	pairs_release(&derive->open);
	points_release(&derive->allocations);
	attributes_release(&derive->attributes);
	families_release(&derive->lines);
	life_release(&derive->boots);
	limits_release(derive->limits);
	map_release(&derive->marker_keys);
	flows_free(derive->flows);
	arrows_release(&derive->arrows);
	told_flows_release(&derive->told_flows);
	string_cache_release(&derive->strings);
	timeline_release(&derive->out);
	free(derive);
}

/* -- what the parts share ------------------------------------------------------------------- */

struct derive_thread *derive_thread(struct derive *derive, uint32_t thread)
{
	if (ARRAY_RESERVE(derive->threads, derive->n_threads_allocated, thread + 1ull) < 0)
		return NULL;
	return &derive->threads[thread];
}

struct derive_process *derive_process(struct derive *derive, uint32_t process)
{
	uint32_t n = derive->n_processes_allocated;

	if (ARRAY_RESERVE(derive->processes, derive->n_processes_allocated, process + 1ull) < 0)
		return NULL;
	for (; n < derive->n_processes_allocated; n++)
		derive->processes[n].last_host_ns = INT64_MIN;
	return &derive->processes[process];
}

void derive_cover(struct derive *derive, int64_t start_time_ns, int64_t end_time_ns)
{
	if (start_time_ns < derive->out.first_time_ns)
		derive->out.first_time_ns = start_time_ns;
	if (end_time_ns > derive->out.last_time_ns)
		derive->out.last_time_ns = end_time_ns;
}

int derive_add_counter(struct derive *derive, const struct counter_row *row)
{
	derive_cover(derive, row->time_ns, row->time_ns);
	return row_sorter_put(&derive->counters, row);
}

void derive_count_event(struct derive *derive, uint32_t counter, uint16_t segment, uint8_t status)
{
	struct clock_count *count;
	uint32_t index;

	if (!clocks_find_report(derive->out.clocks, counter, segment, &index))
		return;
	count = &derive->out.counts.clocks[index];
	count->events++;
	count->certified += status == TIME_CERTIFIED;
	count->assumed += status == TIME_ASSUMED;
	count->outliers += status == TIME_OUTLIER;
}

int derive_discard(struct derive *derive, enum loss_cause cause, const struct loss_place *place,
                   enum record_class class, int64_t host_ns)
{
	derive->ledger->discarded[class][cause]++;
	return ledger_lose(derive->ledger, cause, place, 1, host_ns);
}

/* -- the stage ------------------------------------------------------------------------------ */

int derive_device(struct derive *derive, struct unwrap_output *unwrapped)
{
	uint32_t n_reports;

	clocks_report(derive->out.clocks, &n_reports);
	FLEXTRACE_TRY(ARRAY_NEW(derive->nears, derive->identity->n_counters + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(derive->out.counts.clocks, n_reports + 1ull));
	derive->out.sync_points = &unwrapped->sync_points;
	FLEXTRACE_TRY(host_take_collectives(derive, &unwrapped->sync_points));
	FLEXTRACE_TRY(zones_take_runs(derive, unwrapped));
	FLEXTRACE_TRY(device_take_ops(derive, &unwrapped->ops, unwrapped->restored.n_rows));
	FLEXTRACE_TRY(zones_take_marks(derive, unwrapped));
	FLEXTRACE_TRY(restored_take(derive, &unwrapped->restored));
	restored_take_counts(derive, &unwrapped->told_clocks);
	return flows_init(derive);
}

/* Stores whose record it is and notes that the process was alive then. 1: a record of ours, 0:
 * booked. */
static int find_owner(struct derive *derive, struct host_input *input)
{
	const struct record *record = input->record;
	struct derive_process *process;

	FLEXTRACE_TRY(
		ARRAY_RESERVE(derive->memos, derive->n_memos_allocated, input->stream_id + 1ull));
	FLEXTRACE_TRY(identity_thread_again(derive->identity, input->stream, record,
	                                    &derive->memos[input->stream_id], &input->thread));
	input->process = derive->identity->threads[input->thread].process;
	if (derive->identity->processes[input->process].is_excluded)
		return host_discard(derive, input, LOSS_FOREIGN_PROCESS);
	process = derive_process(derive, input->process);
	if (!process || !derive_thread(derive, input->thread))
		return FLEXTRACE_E_MEMORY;
	if ((int64_t)record->clock_ns > process->last_host_ns)
		process->last_host_ns = (int64_t)record->clock_ns;
	return 1;
}

int derive_push(struct derive *derive, const struct stream *stream, uint32_t stream_id,
                const struct record *record)
{
	struct host_input input = {.record = record, .stream = stream, .stream_id = stream_id};
	int is_ours = find_owner(derive, &input);

	if (is_ours <= 0)
		return is_ours;
	switch (record->class) {
	case RECORD_SCOPE:
	case RECORD_SPAN:
	case RECORD_ASYNC_SPAN:
		return host_push_scope(derive, &input);
	case RECORD_SCOPE_ARGS:
		return host_push_args(derive, &input);
	case RECORD_BEGIN:
		return pairs_push_begin(derive, &input);
	case RECORD_END:
		return pairs_push_end(derive, &input);
	case RECORD_ASYNC_BEGIN:
	case RECORD_ASYNC_END:
		return pairs_push_async(derive, &input);
	case RECORD_STEP:
		return host_push_step(derive, &input);
	case RECORD_WINDOW:
		return pairs_push_window(derive, &input);
	case RECORD_INSTANT:
	case RECORD_ANNOTATION:
		return points_push_instant(derive, &input);
	case RECORD_FLOW:
		return told_flows_push(derive, &input);
	case RECORD_COUNTER:
		return points_push_counter(derive, &input);
	case RECORD_MEMORY:
		return points_push_memory(derive, &input);
	case RECORD_OP:
	case RECORD_TENSOR:
	case RECORD_OP_INFO:
		return attributes_push(derive, &input);
	default:
		return host_discard(derive, &input, LOSS_UNUSED);
	}
}

static int merge_all(struct derive *derive)
{
	FLEXTRACE_TRY(host_end_open(derive));
	FLEXTRACE_TRY(told_flows_end(derive));
	FLEXTRACE_TRY(device_merge(derive));
	FLEXTRACE_TRY(host_merge(derive));
	FLEXTRACE_TRY(attributes_finish(derive));
	FLEXTRACE_TRY(points_merge(derive));
	return flows_finish(derive);
}

/* The work of processes of which no clock placed any. */
static uint64_t count_without_clock(const struct derive *derive)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < derive->n_processes_allocated; i++)
		n += derive->processes[i].has_clock ? 0 : derive->processes[i].n_without_clock;
	return n;
}

int derive_finish(struct derive *derive, struct timeline *out, struct flextrace_error *error)
{
	if (merge_all(derive) < 0)
		return error_set(error, FLEXTRACE_E_MEMORY,
		                 "Cannot derive the timeline: no memory");
	derive->ledger->warnings[WARNING_CROSSING] += derive->out.counts.n_crossing;
	derive->ledger->warnings[WARNING_NO_DEVICE_CLOCK] += count_without_clock(derive);
	if (derive->out.first_time_ns > derive->out.last_time_ns)
		derive->out.first_time_ns = derive->out.last_time_ns = 0;
	*out = derive->out;
	derive->out = (struct timeline){0};
	return FLEXTRACE_OK;
}

void timeline_release(struct timeline *timeline)
{
	table_release(&timeline->host_rows);
	table_release(&timeline->device_rows);
	table_release(&timeline->instants);
	table_release(&timeline->counters);
	table_release(&timeline->memory);
	table_release(&timeline->flows_from);
	free(timeline->op_calls.calls);
	free(timeline->op_calls.tensors);
	free(timeline->tracks);
	blocks_free(timeline->ops);
	blocks_free(timeline->launch_of_op);
	blocks_free(timeline->marks.zones);
	blocks_free(timeline->marks.runs);
	free(timeline->marks.loose_stamps);
	free(timeline->markers);
	free(timeline->counts.clocks);
	*timeline = (struct timeline){0};
}
