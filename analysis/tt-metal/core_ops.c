/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of one job on many cores -> operations of the device. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "core_stats.h"

struct processor {             /* of a core, while its stamps are read */
	uint64_t kernel_start; /* 0: no kernel is open */
	uint32_t job, op;      /* of the firmware that is open; job 0: none is */
};

struct finder {
	struct core_stats *stats;     /* weak */
	struct map times;             /* (core, processor), job -> times it was run there */
	struct map ops;               /* (device, job), time -> op */
	struct map runs;              /* run -> op */
	struct processor *processors; /* owned */
	uint32_t n_processors_allocated;
};

static int add_op(struct finder *finder, const struct core_stamp *stamp, uint32_t job,
                  uint32_t *ret_op)
{
	struct core_stats *stats = finder->stats;

	FLEXTRACE_TRY(ARRAY_ROOM(stats->ops, stats->n_ops));
	stats->ops[stats->n_ops] = (struct core_op){
		.device = stamp->device,
		.job = job,
		.run = stamp->run,
		.core = FLEXTRACE_NONE,
		.to_op = UINT64_MAX,
	};
	*ret_op = stats->n_ops++;
	return FLEXTRACE_OK;
}

/* Whether a run that begins there is one more kernel in firmware that runs already: a device log
 * has several kernels within one firmware interval. */
static bool is_inside(const struct processor *processor, const struct core_stamp *stamp,
                      uint32_t job)
{
	return stamp->stamp != FLEXTRACE_WIRE_FW_START && processor->job == job;
}

/* Stores the operation of a run that was not seen before. */
static int enter_run(struct finder *finder, const struct core_stamp *stamp, uint32_t core,
                     uint32_t job, uint32_t *ret_op)
{
	const struct processor *processor = &finder->processors[stamp->processor];
	uint64_t place = (uint64_t)core << 32 | stamp->processor;
	uint64_t owner = (uint64_t)stamp->device << 32 | job;
	uint32_t time = map_find(&finder->times, place, job);

	*ret_op = processor->op;
	if (is_inside(processor, stamp, job))
		return map_put(&finder->runs, stamp->run, 0, *ret_op);
	time = time == MAP_NONE ? 0 : time + 1;
	FLEXTRACE_TRY(map_put(&finder->times, place, job, time));
	*ret_op = map_find(&finder->ops, owner, time);
	if (*ret_op == MAP_NONE) {
		FLEXTRACE_TRY(add_op(finder, stamp, job, ret_op));
		FLEXTRACE_TRY(map_put(&finder->ops, owner, time, *ret_op));
	}
	return map_put(&finder->runs, stamp->run, 0, *ret_op);
}

static void take(uint64_t *first, uint64_t ticks, bool is_first)
{
	if (!*first || (is_first ? ticks < *first : ticks > *first))
		*first = ticks;
}

static void take_kernel(struct processor *processor, struct core_op *op,
                        const struct core_stamp *stamp)
{
	bool is_start = stamp->stamp == FLEXTRACE_WIRE_KERNEL_START;
	uint64_t began = processor->kernel_start, lasted;

	processor->kernel_start = is_start ? stamp->ticks : 0;
	if (stamp->name)
		op->name = stamp->name;
	if (is_start || !began)
		return;
	lasted = stamp->ticks - began;
	if (lasted > op->longest ||
	    (lasted == op->longest && stamp->processor < op->longest_processor)) {
		op->longest = lasted;
		op->longest_processor = stamp->processor;
	}
}

/* Stamps come in order of time on each core. */
static void take_stamp(struct core_op *op, const struct core_stamp *stamp, uint32_t core)
{
	switch (stamp->stamp) {
	case FLEXTRACE_WIRE_FW_START:
		take(&op->first_fw, stamp->ticks, true);
		break;
	case FLEXTRACE_WIRE_FW_END:
		take(&op->last_fw, stamp->ticks, false);
		break;
	case FLEXTRACE_WIRE_KERNEL_START:
		take(&op->first_kernel, stamp->ticks, true);
		if (op->core != core) {
			take(&op->last_start, stamp->ticks, false);
			op->n_cores++;
		}
		op->core = core;
		break;
	default:
		take(&op->last_kernel, stamp->ticks, false);
		break;
	}
}

static int take_job(struct finder *finder, uint32_t core, const struct core_stamp *stamp,
                    uint32_t job)
{
	struct processor *processor = &finder->processors[stamp->processor];
	uint32_t op = map_find(&finder->runs, stamp->run, 0);

	if (op == MAP_NONE)
		FLEXTRACE_TRY(enter_run(finder, stamp, core, job, &op));
	take_stamp(&finder->stats->ops[op], stamp, core);
	if (stamp->stamp == FLEXTRACE_WIRE_FW_START) {
		processor->job = job;
		processor->op = op;
	} else if (stamp->stamp == FLEXTRACE_WIRE_FW_END) {
		processor->job = 0;
	} else {
		take_kernel(processor, &finder->stats->ops[op], stamp);
	}
	return FLEXTRACE_OK;
}

static int take_core(struct finder *finder, uint32_t index)
{
	const struct core_stats *stats = finder->stats;
	const struct core *core = &stats->all.cores[index];

	if (finder->processors)
		memset(finder->processors, 0,
		       finder->n_processors_allocated * sizeof(*finder->processors));
	for (uint64_t i = core->first; i < core->first + core->n; i++) {
		const struct core_stamp *stamp = &stats->all.stamps[i];
		uint32_t job = (uint32_t)stats->all.timeline->marks.runs[stamp->run].job;

		if (!job)
			continue;
		FLEXTRACE_TRY(ARRAY_RESERVE(finder->processors, finder->n_processors_allocated,
		                            stamp->processor + 1ull));
		FLEXTRACE_TRY(take_job(finder, index, stamp, job));
	}
	return FLEXTRACE_OK;
}

ORDER_BY(compare_ops, struct core_op, device, first_kernel, job);

/* (device, job) -> name of its control block. */
static int list_blocks(const struct timeline *timeline, struct map *names)
{
	for (uint64_t i = 0; i < timeline->n_ops; i++) {
		const struct tick_op *op = &timeline->ops[i];

		FLEXTRACE_TRY(map_put(names, op->device, (uint32_t)op->job, op->name));
	}
	return FLEXTRACE_OK;
}

/* (process, correlation) -> name of a host operation. */
static int list_calls(const struct timeline *timeline, struct map *names)
{
	TABLE_EACH(struct host_row, row, &timeline->host_rows) {
		const struct track *track = &timeline->tracks[row->track];

		if (row->kind != FLEXTRACE_RUNTIME_OP || !row->correlation)
			continue;
		FLEXTRACE_TRY(map_put(names, timeline->identity->threads[track->owner].process,
		                      row->correlation, row->name));
	}
	return FLEXTRACE_OK;
}

/* A job is a control block, whose kernel may have a name of its own; where there are none, it is
 * the correlation of a host operation. */
static int name_ops(struct core_stats *stats)
{
	const struct timeline *timeline = stats->all.timeline;
	bool has_blocks = timeline->n_ops;
	struct map names = {0};
	int code;

	if (!stats->n_ops)
		return FLEXTRACE_OK;
	code = has_blocks ? list_blocks(timeline, &names) : list_calls(timeline, &names);
	for (uint32_t i = 0; i < stats->n_ops && code >= 0; i++) {
		struct core_op *op = &stats->ops[i];
		uint32_t owner = has_blocks ? stats->all.owners->devices[op->device]
		                            : core_device(&stats->all, op->device)->process;
		uint32_t found = map_find(&names, owner, op->job);

		if (found != MAP_NONE && !(has_blocks && op->name))
			op->name = found;
	}
	map_release(&names);
	return code;
}

/* From the latest end before it; 0 where it began sooner. */
static void measure_gaps(struct core_stats *stats)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < stats->n_ops; i++) {
		struct core_op *op = &stats->ops[i];

		if (i && op[-1].device != op->device)
			last = 0;
		if (last && op->first_kernel)
			op->to_op = op->first_kernel > last ? op->first_kernel - last : 0;
		last = op->last_kernel > last ? op->last_kernel : last;
	}
}

int core_ops_find(struct core_stats *stats)
{
	struct finder finder = {.stats = stats};
	int code = FLEXTRACE_OK;

	for (uint32_t i = 0; i < stats->all.n_cores && code >= 0; i++)
		code = take_core(&finder, i);
	map_release(&finder.times);
	map_release(&finder.ops);
	map_release(&finder.runs);
	free(finder.processors);
	ORDER_ARRAY(stats->ops, stats->n_ops, compare_ops);
	measure_gaps(stats);
	return code < 0 ? code : name_ops(stats);
}
