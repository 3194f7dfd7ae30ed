/* SPDX-License-Identifier: Apache-2.0 */
#include "path_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/blocks.h"
#include "base/order.h"
#include "findings/work/work.h"
#include "model/words/kinds.h"

/* -- threads ----------------------------------------------------------------------------------- */

bool path_is_of_thread(const struct path_graph *graph, uint32_t index)
{
	const struct track *track = &graph->timeline->tracks[index];

	return track->kind == TRACK_THREAD && track->lane == 0;
}

struct name_look { /* what rows of a name are */
	bool waits, makes_queue_wait, is_step, is_annotation;
};

static struct name_look look_at(const struct path_graph *graph, const struct call_name *name)
{
	const char *text = string_get(graph->timeline->strings, name->key.name);

	return (struct name_look){
		.waits = call_waits(name->key.kind, text),
		.makes_queue_wait = strstr(text, "StreamWaitEvent") || strstr(text, "waitOnEvent"),
		.is_step = name->key.kind == HOST_STEP || name->key.kind == HOST_WINDOW,
		.is_annotation =
			strcmp(kind_of_host(DIALECT_NEUTRAL, (uint8_t)name->key.kind)->category,
	                       "user_annotation") == 0};
}

static void set_bit(struct path_graph *graph, uint32_t place, enum path_row_bit bit)
{
	graph->row_bits[place] |= (uint8_t)bit;
	graph->uses_devices[graph->calls.calls[place].track] = true;
}

static void note_row(struct path_graph *graph, const struct call *call)
{
	struct path_process *process = &graph->processes[call->process];
	const struct host_row *row = call->row;

	if (row->kind == HOST_STEP || (row->kind == HOST_WINDOW && !process->step_kind))
		process->step_kind = row->kind;
	if (row->start_time_ns < process->start_time_ns)
		process->start_time_ns = row->start_time_ns;
	if (path_is_of_thread(graph, row->track)) {
		graph->rows_of_track[row->track + 2]++;
		if (process->home == FLEXTRACE_NONE)
			process->home = row->track;
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
		                                            .home = FLEXTRACE_NONE,
		                                            .last = FLEXTRACE_NONE};
	return graph->processes != NULL;
}

/* Notes what each row is, and counts those of each track. */
static int note_rows(struct path_graph *graph, struct name_look *looks)
{
	const struct call_tree *calls = &graph->calls;

	for (uint32_t i = 0; i < calls->names.n; i++)
		looks[i] = look_at(graph, call_name_at(calls, i));
	for (uint32_t i = 0; i < calls->n; i++) {
		const struct name_look *look = &looks[calls->calls[i].name];

		blocks_pass(i, CALL_PASS_BYTES);
		if (look->waits)
			set_bit(graph, i, PATH_WAITS);
		if (!look->is_annotation || (calls->calls[i].parent != FLEXTRACE_NONE &&
		                             graph->row_bits[calls->calls[i].parent] & PATH_INSIDE))
			graph->row_bits[i] |= PATH_INSIDE;
		if (look->makes_queue_wait)
			FLEXTRACE_TRY(ARRAY_PUSH(graph->event_waits, graph->n_event_waits, i));
		if (look->is_step)
			FLEXTRACE_TRY(ARRAY_PUSH(graph->step_rows, graph->n_step_rows, i));
		note_row(graph, &calls->calls[i]);
	}
	return FLEXTRACE_OK;
}

/* Sorts places by track: counts, then puts. */
static int index_rows(struct path_graph *graph)
{
	uint64_t *of_track = calloc(graph->timeline->n_tracks + 2ull, sizeof(*of_track));
	struct name_look *looks = malloc((graph->calls.names.n + 1ull) * sizeof(*looks));
	const struct call *calls = graph->calls.calls;
	int code = FLEXTRACE_E_MEMORY;

	graph->rows_of_track = of_track;
	graph->rows = blocks_allocate(graph->calls.n + 1ull, sizeof(*graph->rows));
	graph->row_bits = calloc(graph->calls.n + 1ull, 1);
	graph->uses_devices = calloc(graph->timeline->n_tracks + 1ull, 1);
	if (of_track && looks && graph->rows && graph->row_bits && graph->uses_devices &&
	    make_processes(graph))
		code = note_rows(graph, looks);
	free(looks);
	FLEXTRACE_TRY(code);
	for (uint32_t i = 2; i < graph->timeline->n_tracks + 2; i++)
		of_track[i] += of_track[i - 1];
	for (uint32_t i = 0; i < graph->calls.n; i++) {
		blocks_pass(i, sizeof(*calls));
		if (path_is_of_thread(graph, calls[i].track))
			graph->rows[of_track[calls[i].track + 1]++] = i;
	}
	return FLEXTRACE_OK;
}

typedef bool is_before(const struct path_graph *graph, uint64_t at, int64_t time_ns);

/* Where elements of [first, end), which are in order, come before a time no more. `*at` is where
 * that was last: mostly it is a few places before it. */
static inline uint64_t find_end(const struct path_graph *graph, is_before *comes_before,
                                uint64_t first, uint64_t end, int64_t time_ns, uint64_t *at)
{
	if (*at >= first && *at < end && !comes_before(graph, *at, time_ns))
		end = *at;
	for (uint64_t step = 1; end > first; step *= 2) {
		uint64_t low = end - first > step ? end - step : first;

		if (comes_before(graph, low, time_ns)) {
			first = low + 1;
			break;
		}
		end = low;
	}
	while (first < end) {
		uint64_t middle = (first + end) / 2;

		if (comes_before(graph, middle, time_ns))
			first = middle + 1;
		else
			end = middle;
	}
	return *at = end;
}

static bool row_begins_before(const struct path_graph *graph, uint64_t at, int64_t time_ns)
{
	return graph->calls.calls[graph->rows[at]].row->start_time_ns < time_ns;
}

uint32_t path_row_before(const struct path_graph *graph, uint32_t track, int64_t time_ns,
                         uint64_t *at)
{
	uint64_t first = graph->rows_of_track[track];

	return find_end(graph, row_begins_before, first, graph->rows_of_track[track + 1], time_ns,
	                at) == first
	               ? FLEXTRACE_NONE
	               : graph->rows[*at - 1];
}

static bool wait_is_before(const struct path_graph *graph, uint64_t at, int64_t place)
{
	return graph->event_waits[at] < place;
}

/* Whether the host made a queue wait between two places of host rows. */
static bool waits_between(const struct path_graph *graph, uint32_t after, uint32_t before)
{
	uint64_t at = 0, n = graph->n_event_waits;

	return n && find_end(graph, wait_is_before, 0, n, before, &at) &&
	       (after == FLEXTRACE_NONE || graph->event_waits[at - 1] > after);
}

/* -- devices ----------------------------------------------------------------------------------- */

struct end {
	int64_t time_ns;
	uint32_t work, queue;
};

ORDER_BY(compare_ends, struct end, time_ns, work);
ORDER_NEARLY_DEFINE(sort_ends, struct end, compare_ends);

struct queues {
	struct map index;                 /* (device, queue) -> queue */
	uint32_t of_device, of_queue, at; /* what was found last, if `n` */
	uint32_t *last;                   /* owned: by queue, what ended last; FLEXTRACE_NONE */
	uint32_t n;
	struct end *ends; /* owned: as `ended` */
};

static int find_queue(struct queues *queues, const struct work *work)
{
	int code = 0;

	if (!queues->n || work->device != queues->of_device || work->queue != queues->of_queue)
		code = MAP_PLACE(&queues->index, work->device, work->queue, queues->last, queues->n,
		                 &queues->at);
	FLEXTRACE_TRY(code);
	if (code)
		queues->last[queues->at] = FLEXTRACE_NONE;
	queues->of_device = work->device;
	queues->of_queue = work->queue;
	return FLEXTRACE_OK;
}

static int add_work(struct path_graph *graph, struct queues *queues, const struct work *work)
{
	struct path_process *process = &graph->processes[work->process];
	const struct device_row *row = work->row;

	FLEXTRACE_TRY(find_queue(queues, work));
	if (row->start_time_ns < process->start_time_ns)
		process->start_time_ns = row->start_time_ns;
	graph->works[graph->n_works] = (struct path_work){
		.start_time_ns = row->start_time_ns,
		.end_time_ns = row->end_time_ns,
		.name = work->name,
		.process = work->process,
		.device = work->device,
		.track = row->track,
		.launch = work->launch,
		.before = queues->at, /* until all are read */
		.class = (uint8_t)work->class,
	};
	blocks_pass(graph->n_works++, sizeof(*graph->works));
	graph->ended_of[work->process + 2]++;
	if (work->launch != FLEXTRACE_NONE)
		set_bit(graph, work->launch, PATH_LAUNCHED);
	return FLEXTRACE_OK;
}

static int read_works(struct path_graph *graph, struct queues *queues, struct work_reader *reader)
{
	uint32_t n_processes = graph->timeline->identity->n_processes;
	struct work work;
	int code;

	FLEXTRACE_TRY(BLOCKS_NEW(graph->works, graph->timeline->device_rows.n_rows + 1));
	FLEXTRACE_TRY(ARRAY_NEW(graph->ended_of, n_processes + 2ull));
	while ((code = work_next(reader, &work)) > 0)
		FLEXTRACE_TRY(add_work(graph, queues, &work));
	for (uint32_t i = 2; i < n_processes + 2; i++)
		graph->ended_of[i] += graph->ended_of[i - 1];
	return code;
}

/* Puts the works of each process in the order of their ends. */
static int sort_works(struct path_graph *graph, struct queues *queues)
{
	uint64_t *of = graph->ended_of;

	FLEXTRACE_TRY(BLOCKS_NEW(queues->ends, graph->n_works + 1ull));
	FLEXTRACE_TRY(BLOCKS_NEW(graph->ended, graph->n_works + 1ull));
	for (uint32_t i = 0; i < graph->n_works; i++) {
		const struct path_work *work = &graph->works[i];

		blocks_pass(i, sizeof(*work) + sizeof(*queues->ends));
		queues->ends[of[work->process + 1]++] = (struct end){work->end_time_ns, i,
		                                                     work->before};
	}
	for (uint32_t i = 0; i < graph->timeline->identity->n_processes; i++) {
		graph->processes[i].n_ended = of[i];
		sort_ends(queues->ends + of[i], (uint32_t)(of[i + 1] - of[i]));
	}
	for (uint32_t i = 0; i < graph->n_works; i++)
		graph->ended[i] = queues->ends[i].work;
	return FLEXTRACE_OK;
}

/* Finds what had ended when each work began. */
static void link_works(struct path_graph *graph, struct queues *queues)
{
	for (uint32_t i = 0; i < graph->n_works; i++) {
		struct path_work *work = &graph->works[i];
		uint64_t *of = &graph->ended_of[work->process];
		uint64_t *at = &graph->processes[work->process].n_ended;

		blocks_pass(i, sizeof(*work) + sizeof(*queues->ends));
		for (; *at < of[1] && queues->ends[*at].work < i &&
		       queues->ends[*at].time_ns <= work->start_time_ns;
		     ++*at)
			queues->last[queues->ends[*at].queue] = queues->ends[*at].work;
		work->before = queues->last[work->before];
		work->last = *at > of[0] ? queues->ends[*at - 1].work : FLEXTRACE_NONE;
	}
}

static int index_works(struct path_graph *graph)
{
	struct queues queues = {.n = 0};
	struct work_reader reader;
	int code = work_read(&reader, graph->timeline);

	if (code == FLEXTRACE_OK)
		code = read_works(graph, &queues, &reader);
	if (code == FLEXTRACE_OK)
		code = sort_works(graph, &queues);
	if (code == FLEXTRACE_OK)
		link_works(graph, &queues);
	work_release(&reader);
	map_release(&queues.index);
	free(queues.last);
	blocks_free(queues.ends);
	return code;
}

static bool ends_until(const struct path_graph *graph, uint64_t at, int64_t time_ns)
{
	return graph->works[graph->ended[at]].end_time_ns <= time_ns;
}

uint64_t path_ended_until(const struct path_graph *graph, uint32_t process, int64_t time_ns,
                          uint64_t *at)
{
	return find_end(graph, ends_until, graph->ended_of[process], graph->ended_of[process + 1],
	                time_ns, at);
}

/* Whether work of any queue of its process may be what it waited for. */
static bool may_wait_for_all(const struct path_graph *graph, const struct path_work *work)
{
	uint32_t before = work->before;

	return work->launch == FLEXTRACE_NONE ||
	       waits_between(graph, before == FLEXTRACE_NONE ? before : graph->works[before].launch,
	                     work->launch);
}

struct path_bound path_bound_of(const struct path_graph *graph, uint32_t index)
{
	const struct path_work *works = graph->works, *work = &works[index];
	struct path_bound bound = {.time_ns = INT64_MIN,
	                           .launch_ns = work->start_time_ns,
	                           .work = work->before,
	                           .is_of_all = may_wait_for_all(graph, work)};
	const struct host_row *call = work->launch == FLEXTRACE_NONE
	                                      ? NULL
	                                      : graph->calls.calls[work->launch].row;

	if (call && call->end_time_ns <= work->start_time_ns)
		bound.launch_ns = bound.time_ns = call->end_time_ns;
	else if (call)
		bound.time_ns = call->start_time_ns < work->start_time_ns ? call->start_time_ns
		                                                          : work->start_time_ns;
	bound.since_ns = bound.time_ns;
	if (bound.work != FLEXTRACE_NONE && works[bound.work].end_time_ns > bound.time_ns)
		bound.time_ns = works[bound.work].end_time_ns;
	else
		bound.work = FLEXTRACE_NONE;
	if (bound.is_of_all && work->last != FLEXTRACE_NONE &&
	    works[work->last].end_time_ns > bound.time_ns) {
		bound.work = work->last;
		bound.time_ns = works[work->last].end_time_ns;
	}
	if (!call && bound.work == FLEXTRACE_NONE)
		bound.time_ns = bound.since_ns = work->start_time_ns;
	return bound;
}

bool path_is_waited_for(const struct path_graph *graph, uint32_t place, uint32_t work_index)
{
	const struct path_work *work = &graph->works[work_index];
	const struct call *calls = graph->calls.calls;

	if (work->start_time_ns >= work->end_time_ns)
		return false;
	if (!(graph->row_bits[place] & PATH_WAITS))
		return work->launch == place;
	return work->launch == FLEXTRACE_NONE ||
	       calls[work->launch].row->start_time_ns <= calls[place].row->start_time_ns;
}

uint32_t path_waited_for(const struct path_graph *graph, uint32_t place, uint64_t *at)
{
	const struct call *call = &graph->calls.calls[place];

	if (!(graph->row_bits[place] & (PATH_LAUNCHED | PATH_WAITS)))
		return FLEXTRACE_NONE;
	for (uint64_t i = path_ended_until(graph, call->process, call->row->end_time_ns, at);
	     i > graph->ended_of[call->process]; i--) {
		uint32_t work = graph->ended[i - 1];

		if (graph->works[work].end_time_ns <= call->row->start_time_ns)
			break;
		if (path_is_waited_for(graph, place, work))
			return work;
	}
	return FLEXTRACE_NONE;
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

static struct path_part *find_part(const struct path_graph *graph, int64_t start_time_ns,
                                   uint32_t process, uint32_t device)
{
	uint32_t found = map_find(&graph->part_index, (uint64_t)start_time_ns,
	                          (uint64_t)process << 32 | device);

	return found == MAP_NONE ? NULL : &graph->parts[found];
}

const struct path_part *path_part_at(const struct path_graph *graph, int64_t start_time_ns,
                                     int64_t end_time_ns, uint32_t process, uint32_t device)
{
	const struct path_part *part = find_part(graph, start_time_ns, process, device);

	return part && part->ready_time_ns > start_time_ns && part->ready_time_ns < end_time_ns
	               ? part
	               : NULL;
}

static int add_part(struct path_graph *graph, const struct collective_part *part)
{
	if (!part->is_known || part->is_alone || part->ranks < 2 || !is_of_all(graph, part))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(map_put(&graph->part_index, (uint64_t)part->start_time_ns,
	                      (uint64_t)part->process << 32 | part->device, graph->n_parts));
	if (part->start_time_ns == part->ready_time_ns)
		graph->last_of[part->collective] = graph->n_parts;
	return ARRAY_PUSH(graph->parts, graph->n_parts,
	                  ((struct path_part){.start_time_ns = part->start_time_ns,
	                                      .ready_time_ns = part->ready_time_ns,
	                                      .at = FLEXTRACE_NONE,
	                                      .collective = part->collective}));
}

/* Finds the rows of parts. */
static void place_parts(struct path_graph *graph)
{
	for (uint32_t i = 0; i < graph->calls.n; i++) {
		const struct call *call = &graph->calls.calls[i];
		struct path_part *part = NULL;

		blocks_pass(i, CALL_PASS_BYTES);
		if (call->row->kind == HOST_COLLECTIVE)
			part = find_part(graph, call->row->start_time_ns, call->process,
			                 FLEXTRACE_NONE);
		if (part)
			part->at = i;
	}
	for (uint32_t i = 0; i < graph->n_works; i++) {
		const struct path_work *work = &graph->works[i];
		struct path_part *part = NULL;

		blocks_pass(i, sizeof(*work));
		if (work->class == WORK_COMMUNICATION)
			part = find_part(graph, work->start_time_ns, work->process, work->device);
		if (part) {
			part->at = i;
			part->is_work = true;
		}
	}
}

static int index_parts(struct path_graph *graph, const struct findings *findings)
{
	struct collectives collectives;
	int code = collectives_find(&collectives, findings);

	graph->last_of = malloc((collectives.n_collectives + 1ull) * sizeof(*graph->last_of));
	if (code == FLEXTRACE_OK && !graph->last_of)
		code = FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < collectives.n_collectives && code == FLEXTRACE_OK; i++)
		graph->last_of[i] = FLEXTRACE_NONE;
	for (uint32_t i = 0; i < collectives.n_parts && code == FLEXTRACE_OK; i++)
		code = add_part(graph, &collectives.parts[i]);
	if (code == FLEXTRACE_OK && graph->n_parts)
		place_parts(graph);
	collectives_release(&collectives);
	return code;
}

/* -- whole runs -------------------------------------------------------------------------------- */

/* Which thread of each process ends last: of those that use devices, if there are such. */
static void find_last_threads(struct path_graph *graph)
{
	for (uint32_t i = 0; i < graph->timeline->n_tracks; i++) {
		uint64_t end = graph->rows_of_track[i + 1];
		const struct call *call;
		struct path_process *process;

		if (end == graph->rows_of_track[i])
			continue;
		call = &graph->calls.calls[graph->rows[end - 1]];
		while (call->parent != FLEXTRACE_NONE)
			call = &graph->calls.calls[call->parent];
		process = &graph->processes[call->process];
		if (process->last != FLEXTRACE_NONE &&
		    (graph->uses_devices[process->last] != graph->uses_devices[i]
		             ? graph->uses_devices[process->last]
		             : process->last_time_ns >= call->row->end_time_ns))
			continue;
		process->last = i;
		process->last_time_ns = call->row->end_time_ns;
	}
}

/* -- all --------------------------------------------------------------------------------------- */

int path_graph_init(struct path_graph *graph, const struct findings *findings)
{
	*graph = (struct path_graph){.timeline = findings->timeline};
	FLEXTRACE_TRY(call_tree_borrow(&graph->calls, findings));
	FLEXTRACE_TRY(index_rows(graph));
	FLEXTRACE_TRY(index_works(graph));
	find_last_threads(graph);
	return index_parts(graph, findings);
}

void path_graph_release(struct path_graph *graph)
{
	blocks_free(graph->rows);
	free(graph->rows_of_track);
	free(graph->processes);
	free(graph->row_bits);
	free(graph->uses_devices);
	free(graph->event_waits);
	free(graph->step_rows);
	blocks_free(graph->works);
	blocks_free(graph->ended);
	free(graph->ended_of);
	free(graph->parts);
	free(graph->last_of);
	map_release(&graph->part_index);
}
