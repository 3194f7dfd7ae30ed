/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run is tied to its operation by the job it worked on. Job numbers may come again; then only
 * equal stamps can tell, and without any the run stays untied.
 */
#include <stdlib.h>

#include "array.h"
#include "unwrap_impl.h"

#define MANY_OPS (MAP_NONE - 1) /* a job number that several operations have */

/* -- batches ---------------------------------------------------------------------------------- */

/* A core and processor of a device. */
struct batch_area {
	uint32_t device, core, processor;
	uint32_t number; /* in the order they came */
	uint64_t n_batches;
};

struct areas {
	struct batch_area *areas; /* owned */
	uint32_t n, n_allocated;
	struct map numbers;
};

static int compare_areas(const void *left, const void *right)
{
	const struct batch_area *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->core != b->core)
		return a->core < b->core ? -1 : 1;
	return (a->processor > b->processor) - (a->processor < b->processor);
}

static int number_batch(struct areas *areas, struct batch *batch)
{
	uint64_t core = (uint64_t)batch->device << 32 | batch->core;

	batch->area = map_find(&areas->numbers, core, batch->processor);
	if (batch->area == MAP_NONE) {
		batch->area = areas->n;
		FLEXTRACE_TRY(ARRAY_RESERVE(areas->areas, areas->n_allocated, areas->n + 1ull));
		areas->areas[areas->n++] = (struct batch_area){batch->device, batch->core,
		                                               batch->processor, batch->area, 0};
		FLEXTRACE_TRY(map_put(&areas->numbers, core, batch->processor, batch->area));
	}
	areas->areas[batch->area].n_batches++;
	return FLEXTRACE_OK;
}

static struct batch *next_batch(struct table_cursor *cursor)
{
	struct batch *batch = table_peek(cursor);

	if (batch)
		table_next(cursor, sizeof(*batch) + batch->n_words * sizeof(*batch->words));
	return batch;
}

/* Puts all batches in order of their areas; those of one stay in gather order. */
static int order_batches(struct unwrap *unwrap, struct areas *areas)
{
	uint64_t *next = malloc((areas->n + 1ull) * sizeof(*next)), from = 0;
	struct table_cursor cursor;
	const struct batch *batch;

	if (!next)
		return FLEXTRACE_E_MEMORY;
	qsort(areas->areas, areas->n, sizeof(*areas->areas), compare_areas);
	for (uint32_t i = 0; i < areas->n; i++) {
		next[areas->areas[i].number] = from;
		from += areas->areas[i].n_batches;
	}
	table_read(&cursor, &unwrap->batches, false);
	while ((batch = next_batch(&cursor)))
		unwrap->sorted_batches[next[batch->area]++] = batch;
	free(next);
	return FLEXTRACE_OK;
}

static int sort_batches(struct unwrap *unwrap)
{
	struct areas areas = {.n = 0};
	struct table_cursor cursor;
	struct batch *batch;
	int code = FLEXTRACE_OK;

	unwrap->sorted_batches = malloc((unwrap->n_batches + 1) * sizeof(*unwrap->sorted_batches));
	if (!unwrap->sorted_batches)
		return FLEXTRACE_E_MEMORY;
	table_read(&cursor, &unwrap->batches, false);
	while (code >= 0 && (batch = next_batch(&cursor)))
		code = number_batch(&areas, batch);
	if (code >= 0 && areas.n)
		code = order_batches(unwrap, &areas);
	free(areas.areas);
	map_release(&areas.numbers);
	return code;
}

/* -- slots ----------------------------------------------------------------------------------- */

static uint32_t kind_of(uint64_t word)
{
	return (uint32_t)(word >> (32 + FLEXTRACE_WIRE_ID_BITS));
}

static uint32_t id_of(uint64_t word)
{
	return (uint32_t)(word >> 32) & FLEXTRACE_WIRE_ID_MASK;
}

/* Takes one word into the run; false: it does not belong there. */
static bool take_word(struct run *run, uint64_t word)
{
	switch (kind_of(word)) {
	case FLEXTRACE_WIRE_SLOT_QUEUE:
		run->queue = (uint32_t)word;
		run->is_open = id_of(word) == 0;
		return true;
	case FLEXTRACE_WIRE_SLOT_ANCHOR_LO:
		run->anchor |= (uint32_t)word;
		return true;
	case FLEXTRACE_WIRE_SLOT_ANCHOR_HI:
		run->anchor |= word << 32;
		return true;
	case FLEXTRACE_WIRE_SLOT_STAMP:
		if (id_of(word) >= FLEXTRACE_WIRE_N_STAMPS)
			return false;
		run->ticks32[id_of(word)] = (uint32_t)word;
		return true;
	case FLEXTRACE_WIRE_SLOT_HIGH:
		run->has_high = true;
		return true;
	default:
		return false;
	}
}

static struct run *add_run(struct unwrap *unwrap)
{
	if (array_make_room(&unwrap->runs, unwrap->n_runs, sizeof(*unwrap->runs)) < 0)
		return NULL;
	unwrap->runs[unwrap->n_runs] = (struct run){.status = TIME_UNMATCHED};
	return &unwrap->runs[unwrap->n_runs++];
}

/* Reads the slots of a batch. A run without an anchor is none; its words are counted where marks
 * are made. */
static int read_slots(struct unwrap *unwrap, const struct batch *batch)
{
	uint64_t number = batch->first_index;
	uint32_t i = 0;

	while (i < batch->n_words) {
		uint64_t word = batch->words[i];
		struct run *run;
		uint32_t from = i++;

		if (kind_of(word) != FLEXTRACE_WIRE_SLOT_RUN)
			continue;
		run = add_run(unwrap);
		if (!run)
			return FLEXTRACE_E_MEMORY;
		number += (id_of(word) - number) & FLEXTRACE_WIRE_ID_MASK;
		run->number = number;
		run->job = (uint32_t)word;
		run->batch = batch;
		run->clock_ns = batch->clock_ns;
		run->device = batch->device;
		run->counter = batch->counter;
		run->core = batch->core;
		run->processor = batch->processor;
		run->first_word = from;
		while (i < batch->n_words && kind_of(batch->words[i]) != FLEXTRACE_WIRE_SLOT_RUN)
			take_word(run, batch->words[i++]);
		run->n_words = i - from;
		if (run->anchor == 0)
			unwrap->n_runs--;
	}
	return FLEXTRACE_OK;
}

/* The next run of the same area begins later: if less than a wrap later, no wrap hides in this
 * one. */
static void find_short_runs(struct unwrap *unwrap)
{
	for (uint64_t i = 0; i + 1 < unwrap->n_runs; i++) {
		struct run *run = &unwrap->runs[i];
		const struct run *next = run + 1;

		run->is_short = run->device == next->device && run->core == next->core &&
		                run->processor == next->processor && next->anchor > run->anchor &&
		                next->anchor - run->anchor <= UINT32_MAX;
	}
}

/* -- ties ------------------------------------------------------------------------------------ */

struct ties {
	struct map by_job;    /* (device, queue), low word of job -> op, or MANY_OPS */
	struct map by_stamps; /* (device, queue), low word of job and first stamp -> op */
	struct tick_op **ops; /* owned; weak rows */
	uint32_t n_ops;
};

static uint32_t first_stamp(const struct tick_op *op)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		if (op->ticks[i])
			return (uint32_t)op->ticks[i];
	}
	return 0;
}

static int take_ops(struct ties *ties, struct table *ops)
{
	struct table_cursor cursor;
	struct tick_op *op;

	ties->ops = malloc((ops->n_rows + 1) * sizeof(struct tick_op *));
	if (!ties->ops)
		return FLEXTRACE_E_MEMORY;
	table_read(&cursor, ops, false);
	while ((op = table_next(&cursor, sizeof(*op)))) {
		uint64_t owner = (uint64_t)op->device << 32 | op->queue;
		uint32_t job = (uint32_t)op->job, known = map_find(&ties->by_job, owner, job);

		ties->ops[ties->n_ops] = op;
		FLEXTRACE_TRY(map_put(&ties->by_job, owner, job,
		                      known == MAP_NONE ? ties->n_ops : MANY_OPS));
		FLEXTRACE_TRY(map_put(&ties->by_stamps, owner,
		                      (uint64_t)job << 32 | first_stamp(op), ties->n_ops));
		ties->n_ops++;
	}
	return FLEXTRACE_OK;
}

/* Whether the TS stamps of a run are those of the operation, as far as both have them. */
static bool has_stamps_of(const struct run *run, const struct tick_op *op)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		uint32_t stamp = run->ticks32[FLEXTRACE_WIRE_TS1 + i];

		if (stamp && op->ticks[i] && stamp != op->ticks[i])
			return false;
	}
	return true;
}

static int tie_run(struct unwrap *unwrap, const struct ties *ties, uint32_t index)
{
	struct run *run = &unwrap->runs[index];
	uint64_t owner = (uint64_t)run->device << 32 | run->queue;
	uint32_t first = 0, found;

	for (int i = FLEXTRACE_N_STAMPS; i-- > 0;) {
		if (run->ticks32[FLEXTRACE_WIRE_TS1 + i])
			first = run->ticks32[FLEXTRACE_WIRE_TS1 + i];
	}
	found = first ? map_find(&ties->by_stamps, owner, (uint64_t)run->job << 32 | first)
	              : MAP_NONE;
	if (found != MAP_NONE && ties->ops[found]->counter == run->counter &&
	    has_stamps_of(run, ties->ops[found])) {
		run->op = ties->ops[found];
		run->has_op_ticks = true;
		return map_put(&unwrap->op_runs, (uintptr_t)run->op, 0, index);
	}
	found = map_find(&ties->by_job, owner, run->job);
	if (found < MANY_OPS &&
	    (ties->ops[found]->counter != run->counter || has_stamps_of(run, ties->ops[found])))
		run->op = ties->ops[found];
	return FLEXTRACE_OK;
}

int runs_read(struct unwrap *unwrap)
{
	struct ties ties = {.ops = NULL};
	int code = FLEXTRACE_OK;

	FLEXTRACE_TRY(sort_batches(unwrap));
	for (uint64_t i = 0; i < unwrap->n_batches; i++) {
		const struct batch *batch = unwrap->sorted_batches[i];

		if (batch->n_words && kind_of(batch->words[0]) >= FLEXTRACE_WIRE_SLOT_RUN)
			FLEXTRACE_TRY(read_slots(unwrap, batch));
	}
	if (unwrap->n_runs == 0)
		return FLEXTRACE_OK;
	find_short_runs(unwrap);
	code = take_ops(&ties, &unwrap->ops);
	for (uint64_t i = 0; i < unwrap->n_runs && code >= 0; i++)
		code = tie_run(unwrap, &ties, (uint32_t)i);
	map_release(&ties.by_job);
	map_release(&ties.by_stamps);
	free(ties.ops);
	return code;
}
