/* SPDX-License-Identifier: Apache-2.0 */
#include "call_costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "findings/work/work.h"

/* What is known of a row. */
struct settled {
	uint32_t cost;         /* place in `calls`; FLEXTRACE_NONE: it is no call */
	uint32_t around;       /* place of the call around it; FLEXTRACE_NONE: none */
	uint32_t stack;        /* node of whole stacks */
	uint64_t device_ns;    /* that it launched; in the end with what is within it, as below */
	uint64_t memory_bytes; /* of its own */
};

struct settling {
	const struct timeline *timeline; /* weak, both */
	struct call_costs *costs;
	struct settled *rows;  /* owned, all: by place in the host rows */
	uint32_t *innermost;   /* by thread, its latest call that may be open */
	uint32_t *call_of;     /* by record of memory; NULL: there are none */
	uint64_t *total_bytes; /* by device */
};

static struct call_cost *cost_of(const struct settling *of, uint32_t place)
{
	return name_groups_at(&of->costs->calls, of->rows[place].cost);
}

/* -- calls ------------------------------------------------------------------------------------- */

/*
 * The innermost call around a row, which is one itself if `is_call`, among the calls of its thread:
 * what is no call may cross them, as the frames in which Python opens and closes a scope do, so
 * that the parents of the tree do not tell.
 */
static uint32_t find_around(struct settling *of, uint32_t place, bool is_call)
{
	const struct call *calls = of->costs->tree.calls;
	const struct host_row *row = calls[place].row;
	const struct track *track = &of->timeline->tracks[row->track];
	uint32_t *innermost = &of->innermost[track->owner], around;

	if (track->kind != TRACK_THREAD)
		return FLEXTRACE_NONE;
	while (*innermost != FLEXTRACE_NONE && call_has_ended(calls[*innermost].row, row))
		*innermost = of->rows[*innermost].around;
	around = *innermost;
	while (around != FLEXTRACE_NONE && calls[around].row->end_time_ns < row->end_time_ns) {
		if (is_call)
			return FLEXTRACE_NONE; /* it crosses */
		around = of->rows[around].around;
	}
	if (is_call)
		*innermost = place;
	return around;
}

static int count_call(struct settling *of, uint32_t place, uint32_t shapes)
{
	struct call_costs *costs = of->costs;
	const struct call *call = &costs->tree.calls[place];
	struct settled *row = &of->rows[place];
	uint64_t time_ns = interval_ns(call->row->start_time_ns, call->row->end_time_ns);
	const struct group_key key = {
		.owner = call->name,
		.name = costs->details.shown_of[row->stack],
		.kind = windows_at(&costs->windows, call->process, call->row->start_time_ns),
		.detail = shapes,
	};
	struct call_cost *cost;

	FLEXTRACE_TRY(name_groups_find(&costs->calls, &key, &row->cost));
	cost = cost_of(of, place);
	cost->calls++;
	cost->host_total_ns += time_ns;
	cost->host_self_ns += time_ns;
	if (row->around != FLEXTRACE_NONE)
		cost_of(of, row->around)->host_self_ns -= time_ns;
	return FLEXTRACE_OK;
}

static int settle_row(struct settling *of, uint32_t place)
{
	struct key_details *details = &of->costs->details;
	const struct call *call = &of->costs->tree.calls[place];
	struct settled *row = &of->rows[place];
	bool is_call = details->facts[call->name].is_call;
	uint32_t shapes;

	blocks_pass(place, CALL_PASS_BYTES + sizeof(*row));
	*row = (struct settled){
		.cost = FLEXTRACE_NONE,
		.stack = call->parent == FLEXTRACE_NONE ? 0 : of->rows[call->parent].stack,
		.around = find_around(of, place, is_call),
	};
	FLEXTRACE_TRY(key_details_step(details, call, &row->stack));
	FLEXTRACE_TRY(key_details_find_shapes(details, call->row, &shapes));
	return is_call ? count_call(of, place, shapes) : FLEXTRACE_OK;
}

/* A row, if it is a call, else the one around it; FLEXTRACE_NONE: none. */
static uint32_t call_at(const struct settling *of, uint32_t place)
{
	if (place == FLEXTRACE_NONE || of->rows[place].cost != FLEXTRACE_NONE)
		return place;
	return of->rows[place].around;
}

/* -- memory ------------------------------------------------------------------------------------ */

/* What is open on threads, as far as time has gone on. */
struct threads {
	const struct call_tree *tree; /* weak */
	uint32_t *latest;             /* owned: by thread, its last row */
	struct table_cursor cursor;   /* of records of memory */
	uint32_t *call_of;            /* of the next one */
};

static void find_until(struct threads *threads, int64_t time_ns)
{
	const struct call *calls = threads->tree->calls;
	const struct memory_row *row;

	while ((row = table_peek(&threads->cursor)) && row->time_ns < time_ns) {
		uint32_t at = threads->latest[row->thread];

		while (at != FLEXTRACE_NONE && calls[at].row->end_time_ns <= row->time_ns)
			at = calls[at].parent;
		*threads->call_of++ = at;
		table_next(&threads->cursor, sizeof(*row));
	}
}

int call_find_memory(const struct call_tree *tree, const struct timeline *timeline,
                     uint32_t **ret_call_of)
{
	uint64_t n_threads = timeline->identity->n_threads + 1ull;
	struct threads threads = {
		.tree = tree,
		.latest = malloc(n_threads * sizeof(*threads.latest)),
		.cursor = table_begin(&timeline->memory),
		.call_of = malloc((timeline->memory.n_rows + 1) * sizeof(*threads.call_of)),
	};

	*ret_call_of = threads.call_of;
	if (!threads.latest || !threads.call_of) {
		free(threads.latest);
		return FLEXTRACE_E_MEMORY;
	}
	memset(threads.latest, 0xff, n_threads * sizeof(*threads.latest));
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct host_row *row = tree->calls[i].row;
		const struct track *track = &timeline->tracks[row->track];

		if (track->kind != TRACK_THREAD || track->lane)
			continue;
		find_until(&threads, row->start_time_ns);
		threads.latest[track->owner] = i;
	}
	find_until(&threads, INT64_MAX);
	free(threads.latest);
	return FLEXTRACE_OK;
}

/* Of records whose size changes something, what they add to what is allocated. */
static int settle_memory(struct settling *of)
{
	const struct timeline *timeline = of->timeline;
	uint64_t i = 0;

	if (!timeline->memory.n_rows)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_NEW(of->total_bytes, timeline->identity->n_devices + 1ull));
	FLEXTRACE_TRY(call_find_memory(&of->costs->tree, timeline, &of->call_of));
	TABLE_EACH(struct memory_row, row, &timeline->memory) {
		uint32_t call = call_at(of, of->call_of[i++]);
		uint64_t bytes = row->bytes;

		if (row->op == FLEXTRACE_MEMORY_FREE)
			bytes = -bytes;
		else if (row->op == FLEXTRACE_MEMORY_RESIZE)
			bytes = row->total_bytes - of->total_bytes[row->device];
		of->total_bytes[row->device] = row->total_bytes;
		if (call == FLEXTRACE_NONE)
			continue;
		of->rows[call].memory_bytes += bytes;
		cost_of(of, call)->memory_self_bytes += bytes;
	}
	return FLEXTRACE_OK;
}

/* -- devices ----------------------------------------------------------------------------------- */

/* The call whose own work is that a call launched: scopes within an operation are not asked, as in
 * torch, whose files name the operation with each piece of work (`External id`). */
static uint32_t operation_of(const struct settling *of, uint32_t launch)
{
	for (uint32_t at = launch; at != FLEXTRACE_NONE; at = of->rows[at].around) {
		if (of->costs->tree.calls[at].row->kind == FLEXTRACE_RUNTIME_OP)
			return at;
	}
	return launch;
}

static int add_work(struct call_costs *costs, struct group_key key, uint64_t time_ns)
{
	struct call_cost *cost;
	uint32_t place;

	FLEXTRACE_TRY(name_groups_find(&costs->works, &key, &place));
	cost = name_groups_at(&costs->works, place);
	cost->calls++;
	cost->device_self_ns += time_ns;
	cost->device_total_ns += time_ns;
	return FLEXTRACE_OK;
}

/* Of work that was launched, the windows are those of the call whose own it is. */
static int count_work(struct settling *of, const struct work *work)
{
	uint64_t time_ns = interval_ns(work->row->start_time_ns, work->row->end_time_ns);
	uint32_t launch = call_at(of, work->launch), first = work->process * N_SIDES, windows;

	if (launch == FLEXTRACE_NONE) {
		windows = windows_at(&of->costs->windows, work->process, work->row->start_time_ns);
		FLEXTRACE_TRY(add_work(of->costs,
		                       (struct group_key){first + SIDE_NO_LAUNCH, 0, 0, windows},
		                       time_ns));
	} else {
		struct call_cost *own = cost_of(of, operation_of(of, launch));

		blocks_visit();
		windows = own->key.kind;
		own->device_self_ns += time_ns;
		of->rows[launch].device_ns += time_ns;
	}
	return add_work(
		of->costs,
		(struct group_key){first + SIDE_DEVICE, work->name, work->row->kind, windows},
		time_ns);
}

static int count_works(struct settling *of)
{
	struct work_reader reader;
	struct work work;
	int code = work_read(&reader, of->timeline);

	while (code == FLEXTRACE_OK && (code = work_next(&reader, &work)) > 0)
		code = count_work(of, &work);
	work_release(&reader);
	return code;
}

/* -- all --------------------------------------------------------------------------------------- */

/* Adds to each call what is within it: the innermost ones come last. */
static void add_totals(struct settling *of)
{
	for (uint32_t i = of->costs->tree.n; i-- > 0;) {
		const struct settled *row = &of->rows[i];

		blocks_pass(i, sizeof(*row));
		if (row->cost == FLEXTRACE_NONE || !(row->device_ns | row->memory_bytes))
			continue;
		cost_of(of, i)->device_total_ns += row->device_ns;
		cost_of(of, i)->memory_total_bytes += row->memory_bytes;
		if (row->around == FLEXTRACE_NONE)
			continue;
		of->rows[row->around].device_ns += row->device_ns;
		of->rows[row->around].memory_bytes += row->memory_bytes;
	}
}

static int settle(struct settling *of)
{
	const struct timeline *timeline = of->timeline;
	const struct call_tree *tree = &of->costs->tree;
	uint64_t n_threads = timeline->identity->n_threads + 1ull;

	name_groups_init(&of->costs->calls, sizeof(struct call_cost), tree->n);
	name_groups_init(&of->costs->works, sizeof(struct call_cost),
	                 2 * timeline->device_rows.n_rows);
	FLEXTRACE_TRY(key_details_init(&of->costs->details, timeline, tree));
	FLEXTRACE_TRY(windows_init(&of->costs->windows, tree, timeline->identity->n_processes));
	FLEXTRACE_TRY(BLOCKS_NEW(of->rows, tree->n + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(of->innermost, n_threads));
	memset(of->innermost, 0xff, n_threads * sizeof(*of->innermost)); /* FLEXTRACE_NONE */
	for (uint32_t i = 0; i < tree->n; i++)
		FLEXTRACE_TRY(settle_row(of, i));
	FLEXTRACE_TRY(settle_memory(of));
	FLEXTRACE_TRY(count_works(of));
	add_totals(of);
	return FLEXTRACE_OK;
}

static void release(void *value)
{
	struct call_costs *costs = value;

	name_groups_release(&costs->calls);
	name_groups_release(&costs->works);
	windows_release(&costs->windows);
	key_details_release(&costs->details);
	free(costs);
}

int call_costs_borrow(struct call_costs **ret, const struct findings *findings)
{
	struct call_costs *costs = findings->memo->value;
	struct settling settling = {.timeline = findings->timeline};
	int code;

	*ret = costs;
	if (costs)
		return FLEXTRACE_OK;
	costs = calloc(1, sizeof(*costs));
	if (!costs)
		return FLEXTRACE_E_MEMORY;
	*findings->memo = (struct findings_memo){costs, release};
	settling.costs = *ret = costs;
	code = call_tree_borrow(&costs->tree, findings);
	if (code == FLEXTRACE_OK)
		code = settle(&settling);
	blocks_free(settling.rows);
	free(settling.innermost);
	free(settling.call_of);
	free(settling.total_bytes);
	key_details_end(&costs->details);
	if (code < 0)
		findings_memo_release(findings->memo);
	return code;
}
