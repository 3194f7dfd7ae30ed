/* SPDX-License-Identifier: Apache-2.0 */
#include "path_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/blocks.h"
#include "base/heap.h"
#include "findings/work/work.h"

#define NEAR 4 /* places */

/* -- threads ----------------------------------------------------------------------------------- */

bool path_is_of_thread(const struct path_graph *graph, const struct host_row *row)
{
	const struct track *track = &graph->timeline->tracks[row->track];

	return track->kind == TRACK_THREAD && track->lane == 0;
}

static enum path_call call_of(const char *name)
{
	if (strstr(name, "Synchronize"))
		return PATH_CALL_WAITS;
	return strstr(name, "StreamWaitEvent") ? PATH_CALL_QUEUE_WAITS : PATH_CALL;
}

/* Each name is looked at once. */
static int look_at(struct path_graph *graph, uint32_t place)
{
	uint32_t name = graph->calls.calls[place].row->name, *call;

	FLEXTRACE_TRY(map_enter(&graph->call_of_name, name, 0, &call));
	if (*call == MAP_NONE)
		*call = call_of(string_get(graph->timeline->strings, name));
	if (*call == PATH_CALL_QUEUE_WAITS)
		return ARRAY_PUSH(graph->event_waits, graph->n_event_waits, place);
	return FLEXTRACE_OK;
}

enum path_call path_call_of(const struct path_graph *graph, const struct host_row *row)
{
	if (row->kind == FLEXTRACE_RUNTIME_SCHEDULE_WAIT)
		return PATH_CALL_WAITS;
	return map_find(&graph->call_of_name, row->name, 0);
}

static void note_row(struct path_graph *graph, const struct call *call)
{
	struct path_process *process = &graph->processes[call->process];
	const struct host_row *row = call->row;

	if (row->kind == HOST_STEP || (row->kind == HOST_WINDOW && !process->step_kind))
		process->step_kind = row->kind;
	if (row->start_time_ns < process->start_time_ns)
		process->start_time_ns = row->start_time_ns;
	if (path_is_of_thread(graph, row)) {
		graph->rows_of_track[row->track + 2]++;
		if (process->home == FLEXTRACE_NONE)
			process->home = row->track;
		if (row->end_time_ns > process->last_time_ns) {
			process->last_time_ns = row->end_time_ns;
			process->last = row->track;
		}
	}
	if (row->end_time_ns > process->end_time_ns)
		process->end_time_ns = row->end_time_ns;
}

static bool make_processes(struct path_graph *graph)
{
	uint32_t n = graph->timeline->identity->n_processes;

	graph->processes = malloc((n + 1ull) * sizeof(*graph->processes));
	for (uint32_t i = 0; graph->processes && i < n; i++)
		graph->processes[i] = (struct path_process){.start_time_ns = INT64_MAX,
		                                            .end_time_ns = INT64_MIN,
		                                            .last_time_ns = INT64_MIN,
		                                            .home = FLEXTRACE_NONE,
		                                            .last = FLEXTRACE_NONE};
	return graph->processes != NULL;
}

/* Sorts places by track: counts, then puts. */
static int index_rows(struct path_graph *graph)
{
	uint64_t *of_track = calloc(graph->timeline->n_tracks + 2ull, sizeof(*of_track));
	const struct call *calls = graph->calls.calls;

	graph->rows_of_track = of_track;
	graph->rows = blocks_allocate(graph->calls.n + 1ull, sizeof(*graph->rows));
	if (!of_track || !graph->rows || !make_processes(graph))
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < graph->calls.n; i++) {
		blocks_pass(i, CALL_PASS_BYTES);
		FLEXTRACE_TRY(look_at(graph, i));
		note_row(graph, &calls[i]);
	}
	for (uint32_t i = 2; i < graph->timeline->n_tracks + 2; i++)
		of_track[i] += of_track[i - 1];
	for (uint32_t i = 0; i < graph->calls.n; i++) {
		blocks_pass(i, CALL_PASS_BYTES);
		if (path_is_of_thread(graph, calls[i].row))
			graph->rows[of_track[calls[i].row->track + 1]++] = i;
	}
	return FLEXTRACE_OK;
}

static bool begins_before(const struct path_graph *graph, uint64_t at, int64_t time_ns)
{
	return graph->calls.calls[graph->rows[at]].row->start_time_ns < time_ns;
}

uint32_t path_row_before(const struct path_graph *graph, uint32_t track, int64_t time_ns,
                         uint64_t *at)
{
	uint64_t first = graph->rows_of_track[track], end = graph->rows_of_track[track + 1];
	uint64_t low = first, high = end;

	/* Mostly it is a few places before the last answer. */
	if (*at >= first && *at < end && !begins_before(graph, *at, time_ns)) {
		high = *at;
		low = high - first > NEAR ? high - NEAR : first;
		if (low > first && !begins_before(graph, low, time_ns))
			low = first;
	} else if (*at >= first && *at + 1 < end && !begins_before(graph, *at + 1, time_ns)) {
		low = high = *at + 1;
	}
	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (begins_before(graph, middle, time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return FLEXTRACE_NONE;
	*at = low - 1;
	return graph->rows[low - 1];
}

bool path_waits_between(const struct path_graph *graph, uint32_t after, uint32_t before)
{
	uint32_t low = 0, high = graph->n_event_waits;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (graph->event_waits[middle] < before)
			low = middle + 1;
		else
			high = middle;
	}
	return low && (after == FLEXTRACE_NONE || graph->event_waits[low - 1] > after);
}

/* -- devices ----------------------------------------------------------------------------------- */

struct running { /* work that has not ended yet */
	int64_t end_time_ns;
	uint32_t work, queue;
};

static bool ends_before(const struct running *left, const struct running *right)
{
	return left->end_time_ns < right->end_time_ns ||
	       (left->end_time_ns == right->end_time_ns && left->work < right->work);
}

HEAP_DEFINE(running, struct running, ends_before);

struct queues {
	struct map index; /* (device, queue) -> queue */
	uint32_t *last;   /* owned: by queue, what ended last; FLEXTRACE_NONE */
	uint32_t n;
	struct running *heap; /* owned */
	uint32_t n_running, n_allocated;
	uint32_t *ended; /* owned: works in order of ends */
	uint32_t n_ended;
};

/* Takes what ends until a time out of the heap. */
static void end_works(struct queues *queues, int64_t time_ns)
{
	while (queues->n_running && queues->heap[0].end_time_ns <= time_ns) {
		struct running ended = running_pop(queues->heap, queues->n_running--);

		queues->last[ended.queue] = ended.work;
		queues->ended[queues->n_ended++] = ended.work;
	}
}

static int add_work(struct path_graph *graph, struct queues *queues, const struct work *work)
{
	const struct device_row *row = work->row;
	uint32_t queue;
	int code = MAP_PLACE(&queues->index, work->device, work->queue, queues->last, queues->n,
	                     &queue);

	FLEXTRACE_TRY(code);
	if (code)
		queues->last[queue] = FLEXTRACE_NONE;
	FLEXTRACE_TRY(ARRAY_RESERVE(queues->heap, queues->n_allocated, queues->n_running + 1ull));
	end_works(queues, row->start_time_ns);
	graph->works[graph->n_works] = (struct path_work){
		.start_time_ns = row->start_time_ns,
		.end_time_ns = row->end_time_ns,
		.name = work->name,
		.process = work->process,
		.device = work->device,
		.track = row->track,
		.launch = work->launch,
		.before = queues->last[queue],
		.class = (uint8_t)work->class,
	};
	blocks_pass(graph->n_works, 2 * sizeof(*graph->works));
	if (work->launch != FLEXTRACE_NONE)
		graph->has_launched[work->launch] = true;
	queues->heap[queues->n_running] = (struct running){row->end_time_ns, graph->n_works++,
	                                                   queue};
	running_rise(queues->heap, queues->n_running++);
	return FLEXTRACE_OK;
}

/* From the order of ends of all, those of each process. */
static int sort_ended(struct path_graph *graph, const struct queues *queues)
{
	uint32_t n_processes = graph->timeline->identity->n_processes;
	uint64_t *of = calloc(n_processes + 2ull, sizeof(*of));

	graph->ended_of = of;
	graph->ended = blocks_allocate(graph->n_works + 1ull, sizeof(*graph->ended));
	if (!of || !graph->ended)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < graph->n_works; i++) {
		blocks_pass(i, sizeof(*graph->works));
		of[graph->works[i].process + 2]++;
	}
	for (uint32_t i = 2; i < n_processes + 2; i++)
		of[i] += of[i - 1];
	for (uint32_t i = 0; i < queues->n_ended; i++) {
		blocks_pass(i, 2 * sizeof(*graph->works));
		graph->ended[of[graph->works[queues->ended[i]].process + 1]++] = queues->ended[i];
	}
	return FLEXTRACE_OK;
}

static int read_works(struct path_graph *graph, struct queues *queues, struct work_reader *reader)
{
	uint64_t n = graph->timeline->device_rows.n_rows + 1;
	struct work work;
	int code;

	graph->works = blocks_allocate(n, sizeof(*graph->works));
	queues->ended = blocks_allocate(n, sizeof(*queues->ended));
	graph->has_launched = calloc(graph->calls.n + 1ull, 1);
	if (!graph->works || !queues->ended || !graph->has_launched)
		return FLEXTRACE_E_MEMORY;
	while ((code = work_next(reader, &work)) > 0)
		FLEXTRACE_TRY(add_work(graph, queues, &work));
	FLEXTRACE_TRY(code);
	end_works(queues, INT64_MAX);
	return sort_ended(graph, queues);
}

static int index_works(struct path_graph *graph)
{
	struct queues queues = {.n = 0};
	struct work_reader reader;
	int code = work_read(&reader, graph->timeline);

	if (code == FLEXTRACE_OK)
		code = read_works(graph, &queues, &reader);
	work_release(&reader);
	map_release(&queues.index);
	free(queues.last);
	free(queues.heap);
	blocks_free(queues.ended);
	return code;
}

uint64_t path_count_ended(const struct path_graph *graph, uint32_t process, int64_t time_ns,
                          const uint32_t **ret_first)
{
	uint64_t low = graph->ended_of[process], first = low, high = graph->ended_of[process + 1];

	*ret_first = graph->ended + first;
	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (graph->works[graph->ended[middle]].end_time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - first;
}

/* -- collectives ------------------------------------------------------------------------------- */

/* Whether all ranks wait for all: not so where one rank is the root. */
static bool is_of_all(const struct path_graph *graph, const struct collective_part *part)
{
	double size, bus;
	const char *op = collective_op(
		part->told_op ? part->told_op : string_get(graph->timeline->strings, part->op), 2,
		&size, &bus);

	return op && (strncmp(op, "all", 3) == 0 || strcmp(op, "reduce_scatter") == 0 ||
	              strcmp(op, "barrier") == 0);
}

static int add_part(struct path_graph *graph, const struct collective_part *part,
                    struct map *collectives)
{
	uint32_t collective, *at;
	struct path_part *added;

	if (!part->is_known || part->is_alone || part->ranks < 2 || !is_of_all(graph, part))
		return FLEXTRACE_OK;
	/* Those of one collective have one ready time: that tells it apart in its group. */
	FLEXTRACE_TRY(map_enter(collectives, (uint64_t)part->group << 32 | part->op,
	                        (uint64_t)part->ready_time_ns, &at));
	if (*at == MAP_NONE)
		*at = graph->n_parts;
	collective = *at;
	FLEXTRACE_TRY(map_put(&graph->part_index, (uint64_t)part->start_time_ns,
	                      (uint64_t)part->process << 32 | part->device, graph->n_parts));
	FLEXTRACE_TRY(ARRAY_ROOM(graph->parts, graph->n_parts));
	added = &graph->parts[graph->n_parts];
	*added = (struct path_part){.start_time_ns = part->start_time_ns,
	                            .ready_time_ns = part->ready_time_ns,
	                            .last = FLEXTRACE_NONE,
	                            .at = FLEXTRACE_NONE,
	                            .collective = collective};
	if (part->start_time_ns == part->ready_time_ns)
		graph->parts[collective].last = graph->n_parts;
	graph->n_parts++;
	return FLEXTRACE_OK;
}

const struct path_part *path_part_at(const struct path_graph *graph, int64_t start_time_ns,
                                     uint32_t process, uint32_t device)
{
	uint32_t found = map_find(&graph->part_index, (uint64_t)start_time_ns,
	                          (uint64_t)process << 32 | device);

	return found == MAP_NONE ? NULL : &graph->parts[found];
}

/* Finds the rows of parts. */
static void place_parts(struct path_graph *graph)
{
	for (uint32_t i = 0; i < graph->calls.n; i++) {
		const struct call *call = &graph->calls.calls[i];
		struct path_part *part = NULL;

		blocks_pass(i, CALL_PASS_BYTES);
		if (call->row->kind == HOST_COLLECTIVE)
			part = (struct path_part *)path_part_at(graph, call->row->start_time_ns,
			                                        call->process, FLEXTRACE_NONE);
		if (part)
			part->at = i;
	}
	for (uint32_t i = 0; i < graph->n_works; i++) {
		const struct path_work *work = &graph->works[i];
		struct path_part *part = NULL;

		blocks_pass(i, sizeof(*work));
		if (work->class == WORK_COMMUNICATION)
			part = (struct path_part *)path_part_at(graph, work->start_time_ns,
			                                        work->process, work->device);
		if (part)
			*part = (struct path_part){part->start_time_ns, part->ready_time_ns,
			                           part->last,          i,
			                           part->collective,    true};
	}
	for (uint32_t i = 0; i < graph->n_parts; i++)
		graph->parts[i].last = graph->parts[graph->parts[i].collective].last;
}

static int index_parts(struct path_graph *graph, const struct findings *findings)
{
	struct collectives collectives;
	struct map index = {0};
	int code = collectives_find(&collectives, findings);

	for (uint32_t i = 0; i < collectives.n_parts && code == FLEXTRACE_OK; i++)
		code = add_part(graph, &collectives.parts[i], &index);
	if (code == FLEXTRACE_OK && graph->n_parts)
		place_parts(graph);
	collectives_release(&collectives);
	map_release(&index);
	return code;
}

/* -- all --------------------------------------------------------------------------------------- */

int path_graph_init(struct path_graph *graph, const struct findings *findings)
{
	*graph = (struct path_graph){.timeline = findings->timeline};
	FLEXTRACE_TRY(call_tree_borrow(&graph->calls, findings));
	FLEXTRACE_TRY(index_rows(graph));
	FLEXTRACE_TRY(index_works(graph));
	return index_parts(graph, findings);
}

void path_graph_release(struct path_graph *graph)
{
	blocks_free(graph->rows);
	free(graph->rows_of_track);
	free(graph->processes);
	free(graph->has_launched);
	free(graph->event_waits);
	map_release(&graph->call_of_name);
	blocks_free(graph->works);
	blocks_free(graph->ended);
	free(graph->ended_of);
	free(graph->parts);
	map_release(&graph->part_index);
}
