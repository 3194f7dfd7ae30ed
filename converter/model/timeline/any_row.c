/* SPDX-License-Identifier: Apache-2.0 */
#include "any_row.h"

#include "model/ledger/inputs.h"

const size_t any_row_bytes[N_ROW_TABLES] = {
	sizeof(struct host_row),    sizeof(struct device_row), sizeof(struct instant_row),
	sizeof(struct counter_row), sizeof(struct memory_row),
};

const struct table *timeline_table(const struct timeline *timeline, enum row_table table)
{
	const struct table *const tables[N_ROW_TABLES] = {
		&timeline->host_rows, &timeline->device_rows, &timeline->instants,
		&timeline->counters,  &timeline->memory,
	};

	return tables[table];
}

uint64_t timeline_n_rows(const struct timeline *timeline)
{
	uint64_t n = 0;

	for (int table = 0; table < N_ROW_TABLES; table++)
		n += timeline_table(timeline, table)->n_rows;
	return n;
}

static void describe_track(const struct timeline *timeline, uint32_t track, struct any_row *out)
{
	const struct track *of = &timeline->tracks[track];

	out->track = track;
	if (of->kind == TRACK_THREAD || of->kind == TRACK_ASYNC) {
		out->thread = of->owner;
		out->process = timeline->identity->threads[of->owner].process;
		return;
	}
	out->device = of->owner;
	out->process = timeline->identity->devices[of->owner].process;
	if (of->kind == TRACK_CORE)
		out->core = of->id;
}

static void describe_host(const struct timeline *timeline, const struct host_row *row,
                          struct any_row *out)
{
	out->end_time_ns = row->end_time_ns;
	out->stream = row->stream;
	out->index = row->index;
	out->name = row->name;
	out->args = row->args;
	out->correlation = row->correlation;
	out->kind = row->kind;
	out->class = row->class;
	out->status = row->status;
	describe_track(timeline, row->track, out);
}

static void describe_op(const struct tick_op *op, struct any_row *out)
{
	out->op = op;
	out->stream = op->stream;
	out->index = op->index;
	out->name = op->name;
	out->group = op->group;
	out->type = op->type;
	out->args = op->args;
	out->queue = op->queue;
	out->job = op->job;
	out->bytes = op->bytes;
	out->peer = op->peer >= 0 ? op->peer : INT64_MIN;
	out->correlation = op->correlation;
	out->class = op->class;
}

static void describe_device(const struct timeline *timeline, const struct device_row *row,
                            struct any_row *out)
{
	out->end_time_ns = row->end_time_ns;
	out->err_ns = row->err_ns;
	out->kind = row->kind;
	out->status = row->status;
	describe_track(timeline, row->track, out);
	if (row->kind >= ROW_FIRMWARE) {
		const struct zone *zone = &timeline->marks.zones[row->source];

		out->run = &timeline->marks.runs[zone->run];
		out->stream = out->run->stream;
		out->index = out->run->index;
		out->job = out->run->job ? out->run->job : UINT64_MAX;
		out->name = timeline->markers[zone->marker].name;
		out->class = RECORD_MARKER_BATCH;
		return;
	}
	describe_op(&timeline->ops[row->source], out);
}

static void describe_instant(const struct timeline *timeline, const struct instant_row *row,
                             struct any_row *out)
{
	out->stream = row->stream;
	out->index = row->index;
	out->name = row->name;
	out->args = row->value;
	out->err_ns = row->err_ns;
	out->correlation = instant_correlation(row);
	out->class = row->class;
	out->status = row->status;
	describe_track(timeline, row->track, out);
}

static void describe_counter(const struct timeline *timeline, const struct counter_row *row,
                             struct any_row *out)
{
	out->stream = row->stream;
	out->index = row->index;
	out->name = row->name;
	out->core = row->core;
	out->err_ns = row->err_ns;
	out->class = row->class;
	out->status = row->status;
	out->process = row->owner;
	if (!row->is_device)
		return;
	out->device = row->owner;
	out->process = timeline->identity->devices[row->owner].process;
}

static void describe_memory(const struct timeline *timeline, const struct memory_row *row,
                            struct any_row *out)
{
	out->stream = row->stream;
	out->index = row->index;
	out->class = RECORD_MEMORY;
	out->thread = row->thread;
	out->device = row->device;
	out->process = timeline->identity->devices[row->device].process;
}

static void begin_row(struct any_row *out)
{
	*out = (struct any_row){
		.thread = FLEXTRACE_NONE,
		.device = FLEXTRACE_NONE,
		.track = FLEXTRACE_NONE,
		.core = FLEXTRACE_NONE,
		.queue = FLEXTRACE_NONE,
		.err_ns = UINT32_MAX,
		.job = UINT64_MAX,
		.peer = INT64_MIN,
	};
}

struct any_row any_row_of_track(const struct timeline *timeline, uint32_t track)
{
	struct any_row out;

	begin_row(&out);
	describe_track(timeline, track, &out);
	if (timeline->tracks[track].kind == TRACK_QUEUE)
		out.queue = timeline->tracks[track].id;
	return out;
}

void any_row_read(const struct timeline *timeline, enum row_table table, const void *row,
                  struct any_row *ret)
{
	begin_row(ret);
	ret->table = table;
	ret->row = row;
	ret->start_time_ns = ret->end_time_ns =
		*(const int64_t *)row; /* every row starts with it */
	if (table == OF_HOST)
		describe_host(timeline, row, ret);
	else if (table == OF_DEVICE)
		describe_device(timeline, row, ret);
	else if (table == OF_INSTANTS)
		describe_instant(timeline, row, ret);
	else if (table == OF_COUNTERS)
		describe_counter(timeline, row, ret);
	else
		describe_memory(timeline, row, ret);
	ret->source = ret->index;
	if (ret->op || ret->run)
		ret->source = inputs_part(timeline->streams->streams[ret->stream], ret->index,
		                          ret->kind);
}
