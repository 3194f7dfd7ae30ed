/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operations did on devices. Device rows come in order of time, and so do the control blocks
 * of a job number that is used again: the marks of a run are those of the first of them that is
 * not over when the run begins.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "ops.h"

struct job { /* a control block whose operation is known */
	int64_t end_time_ns;
	uint32_t op, line;
	uint32_t next; /* of the same device and number; FLEXTRACE_NONE: the last */
};

struct job_list {
	uint32_t first, last;
};

struct jobs {
	const struct map *launches; /* weak */
	struct job *jobs;           /* owned, all */
	uint32_t n_jobs;
	struct job_list *lists;
	uint32_t n_lists;
	struct map index; /* (device, low word of the job) -> list */
};

/* -- spans ----------------------------------------------------------------------------------- */

static void cover(struct ops_span *span, const struct device_row *row, uint64_t first_ticks,
                  uint64_t last_ticks)
{
	if (span->n == 0 || row->start_time_ns < span->start_time_ns) {
		span->start_time_ns = row->start_time_ns;
		span->first_ticks = first_ticks;
	}
	if (span->n == 0 || row->end_time_ns > span->end_time_ns) {
		span->end_time_ns = row->end_time_ns;
		span->last_ticks = last_ticks;
	}
	span->n++;
}

/* In order of devices. */
static void link_work(struct ops *ops, uint32_t index)
{
	struct ops_work *work = &ops->works[index];
	uint32_t *link = &ops->lines[work->line].first_work;

	while (*link != FLEXTRACE_NONE && ops->works[*link].device < work->device)
		link = &ops->works[*link].next;
	work->next = *link;
	*link = index;
}

static int find_work(struct ops *ops, uint32_t line, uint32_t device, struct ops_work **ret_work)
{
	uint32_t found;
	int is_new = MAP_PLACE(&ops->work_index, line, device, ops->works, ops->n_works, &found);

	FLEXTRACE_TRY(is_new);
	if (is_new) {
		ops->works[found] = (struct ops_work){
			.line = line, .device = device, .first_core = FLEXTRACE_NONE};
		link_work(ops, found);
	}
	*ret_work = &ops->works[found];
	return FLEXTRACE_OK;
}

/* -- control blocks -------------------------------------------------------------------------- */

static int learn_job(struct jobs *jobs, const struct timeline *timeline,
                     const struct device_row *row, uint32_t line)
{
	const struct tick_op *op = &timeline->ops[row->source];
	uint32_t list;
	int is_new = MAP_PLACE(&jobs->index, op->device, (uint32_t)op->job, jobs->lists,
	                       jobs->n_lists, &list);
	struct job_list *of;

	FLEXTRACE_TRY(is_new);
	FLEXTRACE_TRY(ARRAY_ROOM(jobs->jobs, jobs->n_jobs));
	if (is_new)
		jobs->lists[list] = (struct job_list){FLEXTRACE_NONE, FLEXTRACE_NONE};
	of = &jobs->lists[list];
	if (of->last != FLEXTRACE_NONE && jobs->jobs[of->last].op == row->source) {
		if (row->end_time_ns > jobs->jobs[of->last].end_time_ns)
			jobs->jobs[of->last].end_time_ns = row->end_time_ns;
		return FLEXTRACE_OK;
	}
	jobs->jobs[jobs->n_jobs] = (struct job){row->end_time_ns, row->source, line,
	                                        FLEXTRACE_NONE};
	if (of->last == FLEXTRACE_NONE)
		of->first = jobs->n_jobs;
	else
		jobs->jobs[of->last].next = jobs->n_jobs;
	of->last = jobs->n_jobs++;
	return FLEXTRACE_OK;
}

static int take_block(struct ops *ops, struct jobs *jobs, const struct device_row *row)
{
	const struct timeline *timeline = ops->timeline;
	const struct tick_op *op = &timeline->ops[row->source];
	uint32_t process = timeline->identity->devices[op->device].process;
	uint32_t line = op->correlation ? map_find(jobs->launches, op->correlation, process)
	                                : MAP_NONE;
	const struct kernel_cost *cost;
	struct ops_work *work;

	if (line == MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_work(ops, line, op->device, &work));
	FLEXTRACE_TRY(learn_job(jobs, timeline, row, line));
	cover(&work->blocks, row, tick_op_first(op), tick_op_last(op));
	if (row->kind == ROW_EXEC)
		cover(&work->exec, row, op->ticks[2], op->ticks[3]);
	cost = kernel_cost_of(ops->costs, row);
	if (cost)
		work->ideal_ns += kernel_ideal_ns(ops->costs, op->device, cost->ideal_cycles);
	if (row->status > work->status)
		work->status = row->status;
	return FLEXTRACE_OK;
}

/* -- marks of the firmware ------------------------------------------------------------------- */

/* The operation that a run worked for; MAP_NONE: not known. */
static uint32_t line_of_run(struct jobs *jobs, const struct timeline *timeline,
                            const struct mark_run *run, int64_t start_time_ns)
{
	uint32_t list = map_find(&jobs->index, run->device, (uint32_t)run->job);
	uint32_t process = timeline->identity->devices[run->device].process;
	struct job_list *of;

	if (!run->job)
		return MAP_NONE;
	if (list == MAP_NONE)
		return map_find(jobs->launches, run->job, process);
	of = &jobs->lists[list];
	while (jobs->jobs[of->first].end_time_ns <= start_time_ns &&
	       jobs->jobs[of->first].next != FLEXTRACE_NONE)
		of->first = jobs->jobs[of->first].next;
	return jobs->jobs[of->first].line;
}

static int cover_core(struct ops *ops, struct ops_work *work, uint32_t core,
                      const struct device_row *row)
{
	uint32_t index = (uint32_t)(work - ops->works);
	uint32_t found;
	int is_new = MAP_PLACE(&ops->core_index, index, core, ops->cores, ops->n_cores, &found);

	FLEXTRACE_TRY(is_new);
	if (is_new) {
		ops->cores[found].next = work->first_core;
		work->first_core = found;
		work->n_cores++;
	}
	cover(&ops->cores[found].span, row, 0, 0);
	return FLEXTRACE_OK;
}

static int take_mark(struct ops *ops, struct jobs *jobs, const struct device_row *row)
{
	const struct timeline *timeline = ops->timeline;
	const struct zone *zone = &timeline->marks.zones[row->source];
	const struct mark_run *run = &timeline->marks.runs[zone->run];
	uint32_t line;
	struct ops_work *work;

	if (row->kind == ROW_ZONE)
		return FLEXTRACE_OK;
	line = line_of_run(jobs, timeline, run, row->start_time_ns);
	if (line == MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_work(ops, line, run->device, &work));
	if (row->status > work->status)
		work->status = row->status;
	if (row->kind == ROW_FIRMWARE) {
		cover(&work->firmware, row, zone->first_ticks, zone->last_ticks);
		return FLEXTRACE_OK;
	}
	cover(&work->kernels, row, zone->first_ticks, zone->last_ticks);
	if (run->processor < OPS_N_RISCS)
		cover(&work->riscs[run->processor], row, zone->first_ticks, zone->last_ticks);
	return cover_core(ops, work, run->core, row);
}

/* Control blocks before marks: a run begins before its block's first stamp. */
static int take_rows(struct ops *ops, struct jobs *jobs, bool are_marks)
{
	TABLE_EACH(struct device_row, row, &ops->timeline->device_rows) {
		if ((row->kind >= ROW_FIRMWARE) != are_marks)
			continue;
		FLEXTRACE_TRY((are_marks ? take_mark : take_block)(ops, jobs, row));
	}
	return FLEXTRACE_OK;
}

/* -- from one to the next -------------------------------------------------------------------- */

struct ops_span ops_moved_kernels(const struct ops_work *work)
{
	struct ops_span moved = *ops_kernels(work);

	if (!work->riscs[0].n && !work->riscs[1].n)
		return (struct ops_span){.n = 0};
	moved.start_time_ns = work->riscs[work->riscs[0].n ? 0 : 1].start_time_ns;
	if (work->riscs[1].n && work->riscs[1].start_time_ns < moved.start_time_ns)
		moved.start_time_ns = work->riscs[1].start_time_ns;
	return moved;
}

static int compare_works(const void *left, const void *right)
{
	const struct ops_work *a = *(struct ops_work *const *)left;
	const struct ops_work *b = *(struct ops_work *const *)right;
	int64_t a_start = ops_kernels(a)->start_time_ns, b_start = ops_kernels(b)->start_time_ns;

	return ORDER(a->device, b->device) ?: ORDER(a_start, b_start) ?: ORDER(a->line, b->line);
}

static void find_latencies(struct ops_work **works, uint32_t n)
{
	const struct ops_work *before = NULL;

	for (uint32_t i = 0; i < n; i++) {
		struct ops_work *work = works[i];
		struct ops_span moved = ops_moved_kernels(work);
		int64_t end_time_ns;

		work->is_first = !before || before->device != work->device;
		if (!work->is_first) {
			end_time_ns = ops_kernels(before)->end_time_ns;
			work->latency_ns = ops_kernels(work)->start_time_ns - end_time_ns;
			work->dm_latency_ns = moved.start_time_ns - end_time_ns;
		}
		before = work;
	}
}

/* Only of works that have kernels. */
static int find_all_latencies(struct ops *ops)
{
	struct ops_work **works;
	uint32_t n = 0;

	FLEXTRACE_TRY(ARRAY_NEW(works, ops->n_works + 1ull));
	for (uint32_t i = 0; i < ops->n_works; i++) {
		ops->works[i].is_first = true;
		if (ops_kernels(&ops->works[i])->n)
			works[n++] = &ops->works[i];
	}
	qsort(works, n, sizeof(*works), compare_works);
	find_latencies(works, n);
	free(works);
	return FLEXTRACE_OK;
}

int ops_add_device(struct ops *ops, const struct map *launches)
{
	struct jobs jobs = {.launches = launches};
	int code = take_rows(ops, &jobs, false);

	if (code >= 0)
		code = take_rows(ops, &jobs, true);
	if (code >= 0)
		code = find_all_latencies(ops);
	free(jobs.jobs);
	free(jobs.lists);
	map_release(&jobs.index);
	return code;
}
