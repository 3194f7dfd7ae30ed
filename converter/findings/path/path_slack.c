/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The total float of device work (J. E. Kelley, M. R. Walker: Critical-Path Planning and
 * Scheduling, 1959): the walk of path.c along all edges instead of the last ones. Times are gone
 * through backwards, so that all that waits for something comes before it.
 *
 * What waits begins a fixed time after the last of what it waits for: a piece that waits has a
 * deadline, when it must wait no more at the latest, and what it waits for has to end by then.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "findings/work/work.h"
#include "path.h"
#include "path_graph.h"
#include "path_steps.h"

#define UNBOUND INT64_MAX /* nothing that the step waits for depends on it */

enum event_kind { /* of one time, backwards; the last bit is of those of one work */
	          WAIT_BEGINS = 0,
	          IDLE_ENDS = 2,     /* work that takes no time */
	          JOINED = 3,        /* work waited no more for all that had ended */
	          STEP_ENDS = 4,     /* of the host */
	          LAUNCHED = 6,      /* work */
	          THREAD_BEGINS = 8, /* on behalf of the thread of the step */
	          WAIT_ENDS = 10,
	          WORK_ENDS = 12,
};

struct slack_event {
	int64_t time_ns;
	uint32_t index; /* of a work, a wait or a track */
	uint32_t kind;
};

struct slack_wait {
	int64_t deadline_ns;
	uint32_t place;
	bool is_for_all; /* of its process that was launched before */
};

struct slack_thread { /* how much later it may go on from now */
	int64_t slack_ns;
	int64_t end_time_ns, slack_at_end_ns; /* when its last wait ended */
};

struct latest {
	int64_t end_ns;   /* of a work; once that is told, its deadline */
	int64_t ready_ns; /* when it waited no more */
};

struct slacks {
	struct path_graph graph;
	const struct path_step *step; /* weak */
	struct latest *latest;        /* owned, all: by work */
	struct slack_thread *threads; /* by track */
	struct slack_event *events;
	struct slack_wait *waits;
	uint32_t n_events, n_waits;
	int64_t all_latest_ns; /* of what ends until now */
	uint64_t at, row_at;   /* where works and rows were found last */
	path_slack_taker *take;
	void *context; /* weak */
};

/* -- what happens ------------------------------------------------------------------------------ */

static int add_event(struct slacks *slacks, int64_t time_ns, enum event_kind kind, uint32_t index)
{
	const struct slack_event event = {time_ns, index, kind};

	if (time_ns < slacks->step->start_time_ns || time_ns > slacks->step->end_time_ns)
		return FLEXTRACE_OK;
	return ARRAY_PUSH(slacks->events, slacks->n_events, event);
}

static int add_work(struct slacks *slacks, uint32_t index)
{
	const struct path_work *work = &slacks->graph.works[index];
	struct path_bound bound = path_bound_of(&slacks->graph, index);

	slacks->latest[index] = (struct latest){UNBOUND, bound.time_ns};
	FLEXTRACE_TRY(add_event(slacks, bound.since_ns, LAUNCHED, index));
	if (bound.is_of_all)
		FLEXTRACE_TRY(add_event(slacks, bound.time_ns, JOINED, index));
	return add_event(slacks, work->end_time_ns,
	                 work->start_time_ns < work->end_time_ns ? WORK_ENDS : IDLE_ENDS, index);
}

static int add_works(struct slacks *slacks)
{
	const struct path_step *step = slacks->step;
	uint64_t at = UINT64_MAX;
	uint64_t end = path_ended_until(&slacks->graph, step->process, step->end_time_ns, &at);

	for (uint64_t i = path_ended_until(&slacks->graph, step->process, step->start_time_ns, &at);
	     i < end; i++)
		FLEXTRACE_TRY(add_work(slacks, slacks->graph.ended[i]));
	return FLEXTRACE_OK;
}

/* A call that waited for another rank, or that may wait for devices. */
static int add_call(struct slacks *slacks, uint32_t place)
{
	const struct path_graph *graph = &slacks->graph;
	const struct host_row *row = graph->calls.calls[place].row;
	struct slack_wait wait = {UNBOUND, place, graph->row_bits[place] & PATH_WAITS};

	if (row->start_time_ns >= row->end_time_ns)
		return FLEXTRACE_OK;
	if (!wait.is_for_all && row->kind != HOST_COLLECTIVE &&
	    path_waited_for(graph, place, &slacks->at) == FLEXTRACE_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(add_event(slacks, row->end_time_ns, WAIT_ENDS, slacks->n_waits));
	FLEXTRACE_TRY(add_event(slacks, row->start_time_ns, WAIT_BEGINS, slacks->n_waits));
	return ARRAY_PUSH(slacks->waits, slacks->n_waits, wait);
}

static int add_thread(struct slacks *slacks, uint32_t track)
{
	const struct path_graph *graph = &slacks->graph;
	const struct path_step *step = slacks->step;
	const struct call *calls = graph->calls.calls;
	uint64_t i = graph->rows_of_track[track], end = graph->rows_of_track[track + 1];
	uint32_t place;

	slacks->threads[track] = (struct slack_thread){UNBOUND, UNBOUND, UNBOUND};
	if (i == end || calls[graph->rows[i]].process != step->process)
		return FLEXTRACE_OK;
	if (track != step->track)
		FLEXTRACE_TRY(add_event(slacks, calls[graph->rows[i]].row->start_time_ns,
		                        THREAD_BEGINS, track));
	place = path_row_before(graph, track, step->start_time_ns, &slacks->row_at);
	i = place == FLEXTRACE_NONE ? i : slacks->row_at;
	for (; place != FLEXTRACE_NONE; place = calls[place].parent)
		FLEXTRACE_TRY(add_call(slacks, place));
	for (; i < end && calls[graph->rows[i]].row->start_time_ns < step->end_time_ns; i++)
		FLEXTRACE_TRY(add_call(slacks, graph->rows[i]));
	return FLEXTRACE_OK;
}

static int add_threads(struct slacks *slacks)
{
	const struct path_step *step = slacks->step;
	int64_t end_ns = slacks->graph.processes[step->process].end_time_ns;

	for (uint32_t i = 0; i < slacks->graph.timeline->n_tracks; i++)
		FLEXTRACE_TRY(add_thread(slacks, i));
	if (step->track == FLEXTRACE_NONE)
		return FLEXTRACE_OK;
	return add_event(slacks, step->host_end_time_ns < end_ns ? step->host_end_time_ns : end_ns,
	                 STEP_ENDS, step->track);
}

/* -- what it means ----------------------------------------------------------------------------- */

static int64_t later(int64_t time_ns, int64_t slack_ns)
{
	return slack_ns == UNBOUND ? UNBOUND : time_ns + slack_ns;
}

static int64_t slack_until(int64_t deadline_ns, int64_t time_ns)
{
	return deadline_ns == UNBOUND ? UNBOUND : deadline_ns - time_ns;
}

static void bound(int64_t *value, int64_t by)
{
	*value = by < *value ? by : *value;
}

static bool is_of_step(const struct slacks *slacks, const struct path_work *work)
{
	int64_t since_ns = path_since_ns(&slacks->graph, work);

	return since_ns >= slacks->step->start_time_ns && since_ns < slacks->step->host_end_time_ns;
}

static void end_work(struct slacks *slacks, uint32_t index)
{
	const struct path_work *work = &slacks->graph.works[index];
	struct latest *latest = &slacks->latest[index];
	const struct path_part *part = NULL;

	bound(&latest->end_ns, slacks->all_latest_ns);
	if (is_of_step(slacks, work)) {
		bound(&latest->end_ns, slacks->step->end_time_ns);
		slacks->take(slacks->context,
		             &(struct path_slack){work->start_time_ns, work->end_time_ns,
		                                  (uint64_t)(latest->end_ns - work->end_time_ns),
		                                  work->device, work->name, work->class});
	}
	if (work->class == WORK_COMMUNICATION)
		part = path_part_at(&slacks->graph, work->start_time_ns, work->end_time_ns,
		                    work->process, work->device);
	latest->end_ns =
		later(latest->ready_ns + (part ? part->ready_time_ns - work->start_time_ns : 0),
	              slack_until(latest->end_ns, work->end_time_ns));
	if (work->before != FLEXTRACE_NONE)
		bound(&slacks->latest[work->before].end_ns, latest->end_ns);
}

/* Where a thread has done nothing yet, it is that of the step. */
static void bound_thread(struct slacks *slacks, uint32_t track, int64_t time_ns, int64_t slack_ns)
{
	if (track == FLEXTRACE_NONE ||
	    path_row_before(&slacks->graph, track, time_ns, &slacks->row_at) == FLEXTRACE_NONE)
		track = slacks->step->track;
	if (track != FLEXTRACE_NONE)
		bound(&slacks->threads[track].slack_ns, slack_ns);
}

static void pass_launch(struct slacks *slacks, const struct slack_event *event)
{
	uint32_t launch = slacks->graph.works[event->index].launch;

	bound_thread(slacks,
	             launch == FLEXTRACE_NONE ? FLEXTRACE_NONE
	                                      : slacks->graph.calls.calls[launch].row->track,
	             event->time_ns,
	             slack_until(slacks->latest[event->index].end_ns, event->time_ns));
}

static void end_wait(struct slacks *slacks, struct slack_wait *wait)
{
	const struct path_graph *graph = &slacks->graph;
	const struct call *call = &graph->calls.calls[wait->place];
	const struct host_row *row = call->row;
	struct slack_thread *thread = &slacks->threads[row->track];
	const struct path_part *part = NULL;
	int64_t ready_ns = row->start_time_ns;
	uint64_t i;

	if (thread->end_time_ns != row->end_time_ns) {
		thread->end_time_ns = row->end_time_ns;
		thread->slack_at_end_ns = thread->slack_ns;
	}
	if (row->kind == HOST_COLLECTIVE)
		part = path_part_at(graph, row->start_time_ns, row->end_time_ns, call->process,
		                    FLEXTRACE_NONE);
	if (part)
		ready_ns = part->ready_time_ns;
	i = path_ended_until(graph, call->process, row->end_time_ns, &slacks->at);
	for (; !part && i > graph->ended_of[call->process]; i--) {
		uint32_t index = graph->ended[i - 1];
		int64_t end_ns = graph->works[index].end_time_ns;

		if (end_ns <= row->start_time_ns)
			break;
		if (!path_is_waited_for(graph, wait->place, index))
			continue;
		ready_ns = end_ns > ready_ns ? end_ns : ready_ns;
		bound(&slacks->latest[index].end_ns, later(ready_ns, thread->slack_at_end_ns));
	}
	wait->deadline_ns = later(ready_ns, thread->slack_at_end_ns);
	if (ready_ns > row->start_time_ns)
		thread->slack_ns = UNBOUND;
}

static void begin_wait(struct slacks *slacks, const struct slack_wait *wait)
{
	const struct host_row *row = slacks->graph.calls.calls[wait->place].row;

	bound(&slacks->threads[row->track].slack_ns,
	      slack_until(wait->deadline_ns, row->start_time_ns));
	if (wait->is_for_all)
		bound(&slacks->all_latest_ns, wait->deadline_ns);
}

static void pass_event(struct slacks *slacks, const struct slack_event *event)
{
	switch ((enum event_kind)event->kind) {
	case WAIT_BEGINS:
		begin_wait(slacks, &slacks->waits[event->index]);
		break;
	case WAIT_ENDS:
		end_wait(slacks, &slacks->waits[event->index]);
		break;
	case JOINED:
		bound(&slacks->all_latest_ns, slacks->latest[event->index].end_ns);
		break;
	case LAUNCHED:
		pass_launch(slacks, event);
		break;
	case STEP_ENDS:
		bound(&slacks->threads[event->index].slack_ns,
		      slacks->step->end_time_ns - event->time_ns);
		break;
	case THREAD_BEGINS:
		bound_thread(slacks, FLEXTRACE_NONE, event->time_ns,
		             slacks->threads[event->index].slack_ns);
		break;
	case IDLE_ENDS:
	case WORK_ENDS:
		end_work(slacks, event->index);
		break;
	}
}

/* -- steps ------------------------------------------------------------------------------------- */

static int compare_events(const void *left, const void *right)
{
	const struct slack_event *a = left, *b = right;

	return ORDER(b->time_ns, a->time_ns)
	               ?: ORDER(a->kind / 2, b->kind / 2)
	               ?: ORDER(b->index, a->index) ?: ORDER(a->kind, b->kind);
}

static int find_slacks(void *context, const struct path_step *step)
{
	struct slacks *slacks = context;

	if (step->is_of_all)
		return FLEXTRACE_OK;
	slacks->step = step;
	slacks->n_events = slacks->n_waits = 0;
	slacks->all_latest_ns = UNBOUND;
	FLEXTRACE_TRY(add_works(slacks));
	FLEXTRACE_TRY(add_threads(slacks));
	ORDER_ARRAY(slacks->events, slacks->n_events, compare_events);
	for (uint32_t i = 0; i < slacks->n_events; i++)
		pass_event(slacks, &slacks->events[i]);
	return FLEXTRACE_OK;
}

static int find_all(struct slacks *slacks, const struct findings *findings)
{
	FLEXTRACE_TRY(path_graph_init(&slacks->graph, findings));
	FLEXTRACE_TRY(ARRAY_NEW(slacks->latest, slacks->graph.n_works + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(slacks->threads, findings->timeline->n_tracks + 1ull));
	return path_steps_each(&slacks->graph, findings->owners, find_slacks, slacks);
}

int path_slacks_find(const struct findings *findings, path_slack_taker *take, void *context)
{
	struct slacks slacks = {.take = take, .context = context};
	int code = find_all(&slacks, findings);

	free(slacks.latest);
	free(slacks.threads);
	free(slacks.events);
	free(slacks.waits);
	path_graph_release(&slacks.graph);
	return code;
}
