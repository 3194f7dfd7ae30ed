/* SPDX-License-Identifier: Apache-2.0 */
#include "path.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/blocks.h"
#include "findings/work/work.h"
#include "path_graph.h"
#include "path_steps.h"

const char *path_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[PATH_HOST] = "host",
		[PATH_LAUNCH_DELAY] = "launch_delay",
		[PATH_QUEUE_DELAY] = "queue_delay",
		[PATH_WAIT] = "wait",
	};

	return kind < WORK_CLASS_COUNT ? work_class_name(kind) : names[path_whole_kind(kind)];
}

/* Where the walk is: it has told all behind `now_ns`. */
struct walk {
	const struct path_graph *graph; /* weak, both */
	const struct path_step *step;
	path_taker *take;
	void *context; /* weak */
	int64_t start_time_ns, now_ns;
	uint32_t process;
	uint32_t home; /* track of the step's thread; FLEXTRACE_NONE: the process has none */
	uint64_t at, ended_at;     /* where rows and ended works were found last */
	uint32_t track;            /* on a thread; FLEXTRACE_NONE: nowhere, if not in a work */
	uint32_t work;             /* in device work, or FLEXTRACE_NONE */
	bool crosses;              /* to the rank that was waited for */
	uint64_t n_passed;         /* pieces, of all paths */
	struct path_piece *pieces; /* owned: the last one first */
	uint32_t n_pieces, most;
};

/* -- pieces ------------------------------------------------------------------------------------ */

static void reverse(struct path_piece *pieces, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		struct path_piece piece = pieces[i];

		pieces[i] = pieces[n - 1 - i];
		pieces[n - 1 - i] = piece;
	}
}

static void tell_pieces(struct walk *walk, bool goes_on)
{
	const struct path_step *step = walk->step;
	struct path path = {.start_time_ns = step->start_time_ns,
	                    .end_time_ns = step->end_time_ns,
	                    .process = step->is_of_all ? FLEXTRACE_NONE : step->process,
	                    .name = step->name,
	                    .pieces = walk->pieces,
	                    .n_pieces = walk->n_pieces,
	                    .goes_on = goes_on};

	reverse(walk->pieces, walk->n_pieces);
	if (path.n_pieces)
		walk->take(walk->context, &path);
	walk->n_pieces = 0;
}

/* Tells what was from a time until now. */
static int tell(struct walk *walk, int64_t from_ns, enum path_kind kind, uint32_t name,
                uint32_t track)
{
	struct path_piece *last = walk->pieces + walk->n_pieces - (walk->n_pieces > 0);
	int64_t end_ns = walk->now_ns;

	if (from_ns >= end_ns || end_ns <= walk->start_time_ns)
		return FLEXTRACE_OK;
	walk->now_ns = from_ns > walk->start_time_ns ? from_ns : walk->start_time_ns;
	blocks_pass(walk->n_passed++, CALL_PASS_BYTES);
	if (walk->n_pieces && last->name == name && last->kind == kind && last->track == track &&
	    last->process == walk->process) {
		last->start_time_ns = walk->now_ns;
		return FLEXTRACE_OK;
	}
	if (walk->n_pieces == walk->most)
		tell_pieces(walk, true);
	return ARRAY_PUSH(walk->pieces, walk->n_pieces,
	                  ((struct path_piece){walk->now_ns, end_ns, walk->process, name, track,
	                                       (uint8_t)kind}));
}

static void go_to_thread(struct walk *walk, uint32_t track)
{
	walk->work = FLEXTRACE_NONE;
	walk->track = track;
}

/* To what ended last, until now. */
static int go_to_work(struct walk *walk, uint32_t work, enum path_kind delay, uint32_t name)
{
	FLEXTRACE_TRY(tell(walk, walk->graph->works[work].end_time_ns, delay, name,
	                   delay == PATH_QUEUE_DELAY ? FLEXTRACE_NONE : walk->track));
	walk->work = work;
	return FLEXTRACE_OK;
}

/* -- device work ------------------------------------------------------------------------------- */

/* Goes to what the work at `index` had to wait for, from its start. */
static int leave_work(struct walk *walk, uint32_t index)
{
	const struct path_graph *graph = walk->graph;
	const struct path_work *work = &graph->works[index];
	struct path_bound bound = path_bound_of(graph, index);

	if (bound.work != FLEXTRACE_NONE)
		return go_to_work(walk, bound.work, PATH_QUEUE_DELAY, work->name);
	FLEXTRACE_TRY(tell(walk, bound.launch_ns, PATH_LAUNCH_DELAY, work->name, FLEXTRACE_NONE));
	go_to_thread(walk, work->launch == FLEXTRACE_NONE
	                           ? walk->home
	                           : graph->calls.calls[work->launch].row->track);
	return FLEXTRACE_OK;
}

/* -- collectives ------------------------------------------------------------------------------- */

/* To the rank that came last. */
static int cross(struct walk *walk, const struct path_part *last)
{
	const struct path_graph *graph = walk->graph;

	walk->process = last->is_work ? graph->works[last->at].process
	                              : graph->calls.calls[last->at].process;
	walk->home = graph->processes[walk->process].home;
	if (last->is_work)
		return leave_work(walk, last->at);
	go_to_thread(walk, graph->calls.calls[last->at].row->track);
	return FLEXTRACE_OK;
}

/* What a part of a collective that ends now had to wait for. 0: nobody came later; 1: it is at the
 * last rank now; 2: at the start of the part. */
static int pass_collective(struct walk *walk, int64_t start_time_ns, uint32_t device, uint32_t name,
                           uint32_t track)
{
	const struct path_graph *graph = walk->graph;
	const struct path_part *part = path_part_at(graph, start_time_ns, walk->now_ns,
	                                            walk->process, device);
	uint32_t last = part ? graph->last_of[part->collective] : FLEXTRACE_NONE;

	if (!part)
		return 0;
	FLEXTRACE_TRY(tell(walk, part->ready_time_ns, PATH_COMMUNICATION, name, track));
	if (walk->crosses && last != FLEXTRACE_NONE && graph->parts[last].at != FLEXTRACE_NONE) {
		FLEXTRACE_TRY(cross(walk, &graph->parts[last]));
		return 1;
	}
	FLEXTRACE_TRY(tell(walk, part->start_time_ns, PATH_WAIT, name, track));
	return 2;
}

static int pass_work(struct walk *walk)
{
	uint32_t index = walk->work;
	const struct path_work *work = &walk->graph->works[index];
	int code = 0;

	if (work->class == WORK_COMMUNICATION)
		code = pass_collective(walk, work->start_time_ns, work->device, work->name,
		                       work->track);
	if (code == 1 || code < 0)
		return code;
	FLEXTRACE_TRY(tell(walk, work->start_time_ns, (enum path_kind)work->class, work->name,
	                   work->track));
	return leave_work(walk, index);
}

/* -- host calls -------------------------------------------------------------------------------- */

/* Goes to what calls that return now waited for, the innermost first. 0: they did not wait. */
static int leave_waits(struct walk *walk, uint32_t place)
{
	const struct path_graph *graph = walk->graph;
	const struct call *calls = graph->calls.calls;

	for (; place != FLEXTRACE_NONE && calls[place].row->end_time_ns == walk->now_ns;
	     place = calls[place].parent) {
		const struct host_row *row = calls[place].row;
		uint32_t work;
		int code;

		if (row->kind == HOST_COLLECTIVE) {
			code = pass_collective(walk, row->start_time_ns, FLEXTRACE_NONE, row->name,
			                       walk->track);
			if (code)
				return code < 0 ? code : 1;
		}
		work = path_waited_for(graph, place, &walk->ended_at);
		if (work == FLEXTRACE_NONE)
			continue;
		FLEXTRACE_TRY(go_to_work(
			walk, work, graph->row_bits[place] & PATH_WAITS ? PATH_RETURN : PATH_WAIT,
			row->name));
		return 1;
	}
	return 0;
}

static bool is_call(const struct host_row *row)
{
	return row->kind != HOST_STEP && row->kind != HOST_WINDOW;
}

/* The innermost call around now; `*ret_since_ns`: since when there is no other. */
static uint32_t innermost(const struct walk *walk, uint32_t place, int64_t *ret_since_ns)
{
	const struct call *calls = walk->graph->calls.calls;

	*ret_since_ns = INT64_MIN;
	if (place != FLEXTRACE_NONE && calls[place].row->end_time_ns >= walk->now_ns)
		*ret_since_ns = calls[place].row->start_time_ns;
	while (place != FLEXTRACE_NONE && calls[place].row->end_time_ns < walk->now_ns) {
		*ret_since_ns = calls[place].row->end_time_ns;
		place = calls[place].parent;
	}
	return place;
}

/* One call, or what is between two, on a thread. */
static int pass_thread(struct walk *walk)
{
	const struct path_graph *graph = walk->graph;
	uint32_t place = path_row_before(graph, walk->track, walk->now_ns, &walk->at);
	int64_t since_ns;
	bool is_inside;
	int code;

	place = innermost(walk, place, &since_ns);
	code = place == FLEXTRACE_NONE ? 0 : leave_waits(walk, place);
	if (code)
		return code < 0 ? code : FLEXTRACE_OK;
	if (place == FLEXTRACE_NONE && walk->track != walk->home && walk->home != FLEXTRACE_NONE) {
		walk->track = walk->home;
		return FLEXTRACE_OK;
	}
	is_inside = place != FLEXTRACE_NONE &&
	            (graph->row_bits[place] & (PATH_INSIDE | PATH_WAITS)) == PATH_INSIDE;
	return tell(walk, since_ns, is_inside ? PATH_HOST : PATH_OUTSIDE,
	            place != FLEXTRACE_NONE && is_call(graph->calls.calls[place].row)
	                    ? graph->calls.calls[place].row->name
	                    : 0,
	            place == FLEXTRACE_NONE ? FLEXTRACE_NONE : walk->track);
}

/* -- the walk ---------------------------------------------------------------------------------- */

static int walk_back(struct walk *walk)
{
	while (walk->now_ns > walk->start_time_ns) {
		if (walk->work != FLEXTRACE_NONE)
			FLEXTRACE_TRY(pass_work(walk));
		else if (walk->track != FLEXTRACE_NONE)
			FLEXTRACE_TRY(pass_thread(walk));
		else
			FLEXTRACE_TRY(
				tell(walk, walk->start_time_ns, PATH_WAIT, 0, FLEXTRACE_NONE));
	}
	return FLEXTRACE_OK;
}

static int find_path(void *context, const struct path_step *step)
{
	struct walk *walk = context;

	walk->step = step;
	walk->start_time_ns = step->start_time_ns;
	walk->now_ns = step->end_time_ns;
	walk->process = step->process;
	walk->home = step->track;
	walk->track = step->track;
	walk->work = step->last_work;
	walk->crosses = step->is_of_all;
	FLEXTRACE_TRY(walk_back(walk));
	tell_pieces(walk, false);
	return FLEXTRACE_OK;
}

int paths_find(const struct findings *findings, uint32_t most, path_taker *take, void *context)
{
	struct path_graph graph;
	struct walk walk = {.graph = &graph, .take = take, .context = context, .most = most};
	int code = path_graph_init(&graph, findings);

	if (code == FLEXTRACE_OK)
		code = path_steps_each(&graph, findings->owners, find_path, &walk);
	free(walk.pieces);
	path_graph_release(&graph);
	return code;
}
