/* SPDX-License-Identifier: Apache-2.0 */
#include "iterations.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "base/blocks.h"
#include "findings/statistics/repeats.h"

struct interval { /* a kernel or a step */
	int64_t start_time_ns, end_time_ns;
};

struct intervals {             /* in order of their starts */
	struct interval *list; /* owned; of kernels only where iterations are made of them */
	uint32_t *names;       /* owned */
	uint32_t n, n_allocated;
};

/* What a process did. */
struct process_work {
	struct intervals kernels, steps;
	struct repeat loop; /* of its kernels, where it has no steps */
};

static int add_step(struct intervals *steps, const struct host_row *row)
{
	FLEXTRACE_TRY(ARRAY_ROOM(steps->list, steps->n));
	FLEXTRACE_TRY(ARRAY_ROOM(steps->names, steps->n));
	steps->names[steps->n] = row->name;
	steps->list[steps->n++] = (struct interval){row->start_time_ns, row->end_time_ns};
	return FLEXTRACE_OK;
}

static uint32_t process_of(const struct timeline *timeline, const struct device_row *row)
{
	return timeline->identity->devices[timeline->tracks[row->track].owner].process;
}

/* Kernels are many: counted first, they need no room to grow. */
static int make_room(const struct timeline *timeline, struct process_work *work)
{
	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		if (row->kind == ROW_EXEC)
			work[process_of(timeline, row)].kernels.n_allocated++;
	}
	for (uint32_t i = 0; i < timeline->identity->n_processes; i++) {
		struct intervals *kernels = &work[i].kernels;

		FLEXTRACE_TRY(BLOCKS_NEW(kernels->names, kernels->n_allocated));
	}
	return FLEXTRACE_OK;
}

static void read_kernels(const struct timeline *timeline, struct process_work *work)
{
	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		struct intervals *kernels = &work[process_of(timeline, row)].kernels;

		if (row->kind != ROW_EXEC)
			continue;
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) make_room() has counted it */
		kernels->names[kernels->n++] = timeline->ops[row->source].name;
	}
}

/* Where kernels are, of those processes whose iterations ask for it. */
static int place_kernels(const struct timeline *timeline, struct process_work *work)
{
	bool has_any = false;

	for (uint32_t i = 0; i < timeline->identity->n_processes; i++) {
		struct intervals *kernels = &work[i].kernels;

		if (!work[i].steps.n && !work[i].loop.period)
			continue;
		has_any = true;
		FLEXTRACE_TRY(BLOCKS_NEW(kernels->list, kernels->n));
		kernels->n = 0;
	}
	if (!has_any)
		return FLEXTRACE_OK;
	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		struct intervals *kernels = &work[process_of(timeline, row)].kernels;

		if (row->kind == ROW_EXEC && kernels->list)
			kernels->list[kernels->n++] = (struct interval){row->start_time_ns,
			                                                row->end_time_ns};
	}
	return FLEXTRACE_OK;
}

static int read_steps(const struct timeline *timeline, struct process_work *work)
{
	const struct identity *identity = timeline->identity;

	if (!timeline->has.steps)
		return FLEXTRACE_OK;
	TABLE_EACH(struct host_row, host, &timeline->host_rows) {
		uint32_t thread = timeline->tracks[host->track].owner;

		if (host->kind == HOST_STEP)
			FLEXTRACE_TRY(
				add_step(&work[identity->threads[thread].process].steps, host));
	}
	return FLEXTRACE_OK;
}

static int read_rows(const struct timeline *timeline, struct process_work *work)
{
	FLEXTRACE_TRY(make_room(timeline, work));
	read_kernels(timeline, work);
	return read_steps(timeline, work);
}

/* -- one iteration -------------------------------------------------------------------------- */

static int add_iteration(struct iterations *iterations, struct iteration iteration)
{
	struct iteration_summary *summary = &iterations->summaries[iteration.process];

	FLEXTRACE_TRY(ARRAY_ROOM(iterations->all, iterations->n));
	iteration.number = summary->n_iterations++;
	iteration.period_ns = COLUMN_NONE_U64;
	summary->n_covered += iteration.n_kernels;
	iterations->all[iterations->n++] = iteration;
	return FLEXTRACE_OK;
}

/* Tells the last iteration that the next one begins right behind it. */
static void follow_last(struct iterations *iterations, int64_t start_time_ns)
{
	struct iteration *last = &iterations->all[iterations->n - 1];

	last->period_ns = interval_ns(last->start_time_ns, start_time_ns);
}

/* -- steps ---------------------------------------------------------------------------------- */

static bool is_before(const void *interval, const void *time_ns)
{
	return ((const struct interval *)interval)->start_time_ns < *(const int64_t *)time_ns;
}

/* How many start before `time_ns`. */
static uint32_t count_before(const struct intervals *kernels, int64_t time_ns)
{
	return array_count_before(kernels->list, kernels->n, sizeof(*kernels->list), is_before,
	                          &time_ns);
}

static int take_steps(struct iterations *iterations, uint32_t process,
                      const struct process_work *work)
{
	iterations->summaries[process].source = ITERATIONS_STEPS;
	for (uint32_t i = 0; i < work->steps.n; i++) {
		const struct interval *step = &work->steps.list[i];

		if (i > 0)
			follow_last(iterations, step->start_time_ns);
		FLEXTRACE_TRY(add_iteration(
			iterations,
			(struct iteration){
				.start_time_ns = step->start_time_ns,
				.end_time_ns = step->end_time_ns,
				.process = process,
				.name = work->steps.names[i],
				.n_kernels = count_before(&work->kernels, step->end_time_ns) -
		                             count_before(&work->kernels, step->start_time_ns),
			}));
	}
	return FLEXTRACE_OK;
}

/* -- turns ---------------------------------------------------------------------------------- */

struct turns {
	struct iterations *iterations; /* weak, all */
	const struct intervals *kernels;
	uint32_t process;
	uint32_t n_names; /* of a turn */
	uint32_t end;     /* behind the last turn; 0 = none yet */
};

/* Adds the turn that begins with a kernel. */
static int add_turn(struct turns *turns, uint32_t first)
{
	const struct interval *kernels = turns->kernels->list + first;
	struct iteration turn = {.start_time_ns = kernels[0].start_time_ns,
	                         .end_time_ns = kernels[0].end_time_ns,
	                         .process = turns->process,
	                         .n_kernels = turns->n_names};

	for (uint32_t i = 1; i < turns->n_names; i++) {
		if (kernels[i].end_time_ns > turn.end_time_ns)
			turn.end_time_ns = kernels[i].end_time_ns;
	}
	if (turns->end && turns->end == first)
		follow_last(turns->iterations, turn.start_time_ns);
	turns->end = first + turns->n_names;
	return add_iteration(turns->iterations, turn);
}

/* Adds the turns of names [from, to). */
static int match_turns(struct turns *turns, struct turn_matcher *matcher, uint32_t from,
                       uint32_t to)
{
	matcher->n_matched = 0;
	for (uint32_t i = from; i < to; i++) {
		if (turn_matcher_push(matcher, turns->kernels->names[i]))
			FLEXTRACE_TRY(add_turn(turns, i + 1 - turns->n_names));
	}
	return FLEXTRACE_OK;
}

/* How long the device paused before a kernel. */
static double pause_before(const struct intervals *kernels, uint32_t i)
{
	int64_t start = kernels->list[i].start_time_ns, end = kernels->list[i - 1].end_time_ns;

	return start > end ? (double)interval_ns(end, start) : 0;
}

/* Returns how many kernels of the loop stand before its first whole turn. Each place in a turn is
 * asked for equally many pauses. */
static uint32_t find_cut(const struct intervals *kernels, const struct repeat *loop)
{
	uint32_t n_turns = (loop->n - 1) / loop->period, best = 0;
	double longest = -1;

	for (uint32_t cut = 0; cut <= loop->n % loop->period; cut++) {
		double pauses = 0;

		for (uint32_t turn = 0; turn < n_turns; turn++) {
			uint32_t place = (cut ? cut : loop->period) + turn * loop->period;

			pauses += pause_before(kernels, loop->first + place);
		}
		if (pauses > longest) {
			best = cut;
			longest = pauses;
		}
	}
	return best;
}

static int add_turns(struct turns *turns, const struct repeat *loop)
{
	uint32_t first = loop->first + find_cut(turns->kernels, loop);
	uint32_t n_turns = (loop->first + loop->n - first) / loop->period;
	struct turn_matcher matcher;
	int code = turn_matcher_init(&matcher, turns->kernels->names + first, loop->period);

	if (code == 0)
		code = match_turns(turns, &matcher, 0, first);
	for (uint32_t i = 0; code == 0 && i < n_turns; i++)
		code = add_turn(turns, first + i * loop->period);
	if (code == 0)
		code = match_turns(turns, &matcher, first + n_turns * loop->period,
		                   turns->kernels->n);
	turn_matcher_release(&matcher);
	return code;
}

static int take_turns(struct iterations *iterations, uint32_t process,
                      const struct process_work *work)
{
	struct turns turns = {.iterations = iterations,
	                      .kernels = &work->kernels,
	                      .process = process,
	                      .n_names = work->loop.period};

	iterations->summaries[process].source = ITERATIONS_KERNELS;
	iterations->summaries[process].turn_kernels = work->loop.period;
	return add_turns(&turns, &work->loop);
}

/* -- all ------------------------------------------------------------------------------------ */

/* Sums up the iterations from `first` on, which are of one process. */
static int sum_up(struct iterations *iterations, uint32_t first, struct iteration_summary *summary)
{
	uint64_t *periods;
	uint32_t n = 0;

	FLEXTRACE_TRY(BLOCKS_NEW(periods, iterations->n - first));
	for (uint32_t i = first; i < iterations->n; i++) {
		if (iterations->all[i].period_ns != COLUMN_NONE_U64)
			periods[n++] = iterations->all[i].period_ns;
	}
	summary->periods = SPREAD_NONE;
	if (n)
		spread_of(periods, n, &summary->periods);
	blocks_free(periods);
	return FLEXTRACE_OK;
}

static int take_process(struct iterations *iterations, uint32_t process,
                        const struct process_work *work)
{
	struct iteration_summary *summary = &iterations->summaries[process];
	uint32_t first = iterations->n;

	summary->process = process;
	summary->n_kernels = work->kernels.n;
	if (work->steps.n)
		FLEXTRACE_TRY(take_steps(iterations, process, work));
	else if (work->loop.period)
		FLEXTRACE_TRY(take_turns(iterations, process, work));
	summary->coverage_percent = 100.0 * (double)summary->n_covered / (double)summary->n_kernels;
	return sum_up(iterations, first, summary);
}

static int compare_iterations(const void *left, const void *right, void *context)
{
	const struct iteration *a = left, *b = right;
	const struct owners *owners = context;

	return ORDER(a->start_time_ns, b->start_time_ns) ?:
	       ORDER(owners->positions[a->process], owners->positions[b->process]) ?:
	       ORDER(a->number, b->number);
}

static int find_loops(struct process_work *work, uint32_t n_processes)
{
	for (uint32_t i = 0; i < n_processes; i++) {
		const struct intervals *kernels = &work[i].kernels;

		if (!work[i].steps.n && kernels->n)
			FLEXTRACE_TRY(repeats_find(kernels->names, kernels->n, &work[i].loop));
	}
	return FLEXTRACE_OK;
}

static int find_all(struct iterations *iterations, struct process_work *work,
                    const struct owners *owners)
{
	uint32_t n_processes = iterations->timeline->identity->n_processes;

	FLEXTRACE_TRY(read_rows(iterations->timeline, work));
	FLEXTRACE_TRY(find_loops(work, n_processes));
	FLEXTRACE_TRY(place_kernels(iterations->timeline, work));
	for (uint32_t i = 0; i < n_processes; i++)
		FLEXTRACE_TRY(take_process(iterations, i, &work[i]));
	if (iterations->n)
		qsort_r(iterations->all, iterations->n, sizeof(*iterations->all),
		        compare_iterations, (void *)(uintptr_t)owners);
	return FLEXTRACE_OK;
}

int iterations_find(struct iterations *iterations, const struct timeline *timeline,
                    const struct owners *owners)
{
	uint32_t n_processes = timeline->identity->n_processes;
	struct process_work *work = calloc(n_processes + 1ull, sizeof(*work));
	int code = FLEXTRACE_E_MEMORY;

	*iterations = (struct iterations){.timeline = timeline};
	iterations->summaries = calloc(n_processes + 1ull, sizeof(*iterations->summaries));
	if (iterations->summaries && work)
		code = find_all(iterations, work, owners);
	for (uint32_t i = 0; work && i < n_processes; i++) {
		blocks_free(work[i].kernels.list);
		blocks_free(work[i].kernels.names);
		free(work[i].steps.list);
		free(work[i].steps.names);
	}
	free(work);
	return code;
}

void iterations_release(struct iterations *iterations)
{
	free(iterations->summaries);
	free(iterations->all);
	*iterations = (struct iterations){0};
}
