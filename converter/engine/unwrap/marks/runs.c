/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run is tied to its operation by the job it worked on. If job numbers come again, only equal
 * stamps can tie them; without equal stamps the run stays untied.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/blocks.h"
#include "base/order.h"
#include "engine/unwrap/unwrap_impl.h"

#define MANY_OPS (MAP_NONE - 1) /* a job number that several operations have */

/* -- areas ------------------------------------------------------------------------------------ */

static int compare_areas(const void *left, const void *right)
{
	const struct batch_area *a = left, *b = right;

	return ORDER(a->device, b->device) ?: ORDER(a->core, b->core) ?:
	       ORDER(a->processor, b->processor);
}

/* The area of a batch; NULL: no memory. */
static struct batch_area *area_of(struct unwrap *unwrap, const struct batch *batch)
{
	uint64_t core = (uint64_t)batch->device << 32 | batch->core;
	uint32_t number = map_find(&unwrap->area_numbers, core, batch->processor);

	if (number != MAP_NONE)
		return &unwrap->areas[number];
	number = unwrap->n_areas;
	if (array_make_room(&unwrap->areas, number, sizeof(*unwrap->areas)) < 0 ||
	    map_put(&unwrap->area_numbers, core, batch->processor, number) < 0)
		return NULL;
	unwrap->areas[number] = (struct batch_area){
		.device = batch->device, .core = batch->core, .processor = batch->processor};
	unwrap->areas[number].batches.is_of_many = true;
	unwrap->n_areas++;
	return &unwrap->areas[number];
}

struct batch *runs_add_batch(struct unwrap *unwrap, const struct batch *head)
{
	struct batch_area *area = area_of(unwrap, head);
	struct batch *batch = NULL;

	if (area)
		batch = table_append(&area->batches,
		                     sizeof(*batch) + head->n_words * sizeof(*batch->words));
	if (!batch)
		return NULL;
	*batch = *head;
	area->is_mixed |= head->clock_ns < area->last_ns;
	area->last_ns = head->clock_ns;
	return batch;
}

static int compare_batches(const void *left, const void *right)
{
	const struct batch *const *a = left, *const *b = right;

	return ORDER((*a)->clock_ns, (*b)->clock_ns) ?: ORDER((*a)->stream, (*b)->stream) ?:
	       ORDER((*a)->index, (*b)->index);
}

/* Programs of several time namespaces write into the streams of one recording. The order of the
 * recording is then not that of each program; that follows from the program's own clock. */
static int sort_batches(struct batch_area *area)
{
	struct table sorted = {.is_of_many = true};
	const struct batch **batches = malloc(area->batches.n_rows * sizeof(*batches));
	int code = batches ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	uint64_t n = area->batches.n_rows;
	struct table_cursor cursor;

	table_read(&cursor, &area->batches, false);
	for (uint64_t i = 0; i < n && code >= 0; i++)
		batches[i] = batch_next(&cursor);
	if (code >= 0)
		qsort(batches, n, sizeof(*batches), compare_batches);
	for (uint64_t i = 0; i < n && code >= 0; i++) {
		size_t bytes = sizeof(**batches) + batches[i]->n_words * sizeof(uint64_t);
		struct batch *batch = table_append(&sorted, bytes);

		if (batch)
			memcpy(batch, batches[i], bytes);
		else
			code = FLEXTRACE_E_MEMORY;
	}
	free(batches);
	table_release(code < 0 ? &sorted : &area->batches);
	if (code >= 0)
		area->batches = sorted;
	return code;
}

void runs_release(struct unwrap *unwrap)
{
	for (uint32_t i = 0; i < unwrap->n_areas; i++)
		table_release(&unwrap->areas[i].batches);
	free(unwrap->areas);
	free(unwrap->boots);
	map_release(&unwrap->area_bits);
	map_release(&unwrap->area_numbers);
	blocks_free(unwrap->runs);
}

/* -- slots ----------------------------------------------------------------------------------- */

/* Takes one word into the run; false: it does not belong there. */
static bool take_word(struct run *run, uint64_t word)
{
	switch (word_kind(word)) {
	case FLEXTRACE_WIRE_SLOT_QUEUE:
		run->queue = (uint32_t)word;
		run->is_open = word_id(word) == 0;
		return true;
	case FLEXTRACE_WIRE_SLOT_ANCHOR_LO:
		run->anchor |= (uint32_t)word;
		return true;
	case FLEXTRACE_WIRE_SLOT_ANCHOR_HI:
		run->anchor |= word << 32;
		return true;
	case FLEXTRACE_WIRE_SLOT_STAMP:
		if (word_id(word) >= FLEXTRACE_WIRE_N_STAMPS)
			return false;
		run->ticks32[word_id(word)] = (uint32_t)word;
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
	if (blocks_fill_next(unwrap->runs, unwrap->n_runs, sizeof(*unwrap->runs)) < 0)
		return NULL;
	unwrap->runs[unwrap->n_runs] = (struct run){.status = TIME_UNMATCHED};
	return &unwrap->runs[unwrap->n_runs++];
}

/* The next run of the same boot begins later: if less than a wrap later, no wrap hides in this
 * one. */
static void judge_run(const struct unwrap *unwrap, struct run *run, const struct run *next)
{
	run->is_short = next->anchor > run->anchor && next->anchor - run->anchor <= UINT32_MAX &&
	                map_find(&unwrap->area_bits, run->counter, 0) == MAP_NONE;
}

/* Reads the slots of a batch. A run without an anchor is none; its words are counted where marks
 * are made. */
static int read_slots(struct unwrap *unwrap, const struct batch *batch)
{
	uint64_t first_run = unwrap->boots[batch->boot].first_run;
	uint64_t number = batch->first_index;
	uint32_t i = 0;

	while (i < batch->n_words) {
		uint64_t word = batch->words[i];
		struct run *run;
		uint32_t from = i++;

		if (word_kind(word) != FLEXTRACE_WIRE_SLOT_RUN)
			continue;
		run = add_run(unwrap);
		if (!run)
			return FLEXTRACE_E_MEMORY;
		number += (word_id(word) - number) & FLEXTRACE_WIRE_ID_MASK;
		run->number = number;
		run->job = (uint32_t)word;
		run->batch = batch;
		run->clock_ns = batch->clock_ns;
		run->device = batch->device;
		run->counter = batch->counter;
		run->core = batch->core;
		run->processor = batch->processor;
		run->first_word = from;
		while (i < batch->n_words && word_kind(batch->words[i]) != FLEXTRACE_WIRE_SLOT_RUN)
			take_word(run, batch->words[i++]);
		run->n_words = i - from;
		if (run->anchor == 0)
			unwrap->n_runs--;
		else if (unwrap->n_runs - 1 > first_run)
			judge_run(unwrap, run - 1, run);
	}
	return FLEXTRACE_OK;
}

/* -- boots ----------------------------------------------------------------------------------- */

/* The boots of an area, batch by batch. */
struct booting {
	struct unwrap *unwrap;
	bool has_ring, has_slots; /* of this boot */
	uint64_t next_index, next_run;
};

static int begin_boot(struct booting *booting)
{
	struct unwrap *unwrap = booting->unwrap;
	struct boot *boots;

	FLEXTRACE_TRY(array_make_room(&unwrap->boots, unwrap->n_boots, sizeof(*unwrap->boots)));
	boots = unwrap->boots;
	boots[unwrap->n_boots] = (struct boot){.first_run = unwrap->n_runs,
	                                       .end_run = unwrap->n_runs,
	                                       .from_ns = INT64_MAX,
	                                       .to_ns = INT64_MIN,
	                                       .begin_ns = INT64_MIN,
	                                       .last_ns = {INT64_MIN, INT64_MIN, INT64_MIN},
	                                       .told = FLEXTRACE_NONE};
	unwrap->n_boots++;
	booting->has_ring = booting->has_slots = false;
	return FLEXTRACE_OK;
}

/* Counts of an area begin anew with each boot and do not go back within one. Recordings of 0.1 have
 * nothing else to tell it by. */
static bool goes_back(const struct booting *booting, const struct batch *batch)
{
	if (batch_has_slots(batch))
		return booting->has_slots && batch->first_index < booting->next_run;
	return booting->has_ring && batch->first_index < booting->next_index;
}

static int read_boot(struct booting *booting, const struct batch *batch)
{
	struct unwrap *unwrap = booting->unwrap;
	uint32_t flags = word_id(batch->words[0]), bits = (uint32_t)batch->words[0];
	uint64_t *warnings = unwrap->ledger->warnings;

	warnings[WARNING_RESTARTED] += (flags & FLEXTRACE_WIRE_BOOT_ANEW) != 0;
	warnings[WARNING_MARKER_CONFIG] += (flags & FLEXTRACE_WIRE_BOOT_REFUSED) != 0;
	warnings[WARNING_SHARED_AREA] += (flags & FLEXTRACE_WIRE_BOOT_SHARED) != 0;
	warnings[WARNING_CONTESTED_AREA] += (flags & FLEXTRACE_WIRE_BOOT_CONTESTED) != 0;
	if (flags & FLEXTRACE_WIRE_BOOT_ANEW)
		FLEXTRACE_TRY(begin_boot(booting));
	unwrap->boots[unwrap->n_boots - 1].is_found |= (flags & FLEXTRACE_WIRE_BOOT_FOUND) != 0;
	return bits && bits < 32 ? map_put(&unwrap->area_bits, batch->counter, 0, bits)
	                         : FLEXTRACE_OK;
}

static void note_drain(struct boot *boot, const struct batch *batch)
{
	if (boot->from_ns > (int64_t)batch->clock_ns)
		boot->from_ns = (int64_t)batch->clock_ns;
	if (boot->to_ns < (int64_t)batch->clock_ns)
		boot->to_ns = (int64_t)batch->clock_ns;
	boot->last_ns[2] = boot->last_ns[1];
	boot->last_ns[1] = boot->last_ns[0];
	boot->last_ns[0] = (int64_t)batch->clock_ns;
	boot->counter = batch->counter;
}

/* Tells two boots in a row of each other. The area was of the first one when the last batch of it
 * was read. One reading makes two batches at most, so that was behind the one before these. */
static void tie_boots(struct boot *boot, struct boot *next)
{
	boot->is_over = true;
	next->is_anew = true;
	next->begin_ns = boot->last_ns[2] != INT64_MIN ? boot->last_ns[2] : boot->begin_ns;
}

static int read_batch(struct booting *booting, struct batch *batch)
{
	struct unwrap *unwrap = booting->unwrap;

	if (batch_is_boot(batch)) {
		FLEXTRACE_TRY(read_boot(booting, batch));
	} else if (goes_back(booting, batch)) {
		unwrap->ledger->warnings[WARNING_RESTARTED]++;
		FLEXTRACE_TRY(begin_boot(booting));
	}
	batch->boot = unwrap->n_boots - 1;
	note_drain(&unwrap->boots[batch->boot], batch);
	if (batch_is_boot(batch))
		return FLEXTRACE_OK;
	if (!batch_has_slots(batch)) {
		booting->has_ring = true;
		booting->next_index = batch->first_index + batch->n_words;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(read_slots(unwrap, batch));
	if (unwrap->n_runs > unwrap->boots[batch->boot].first_run) {
		booting->has_slots = true;
		booting->next_run = unwrap->runs[unwrap->n_runs - 1].number + 1;
	}
	unwrap->boots[batch->boot].end_run = unwrap->n_runs;
	return FLEXTRACE_OK;
}

static int read_area(struct unwrap *unwrap, struct batch_area *area)
{
	struct booting booting = {.unwrap = unwrap};
	struct table_cursor cursor;
	struct batch *batch;

	area->first_run = unwrap->n_runs;
	area->first_boot = unwrap->n_boots;
	if (area->is_mixed)
		FLEXTRACE_TRY(sort_batches(area));
	FLEXTRACE_TRY(begin_boot(&booting));
	table_read(&cursor, &area->batches, false);
	while ((batch = batch_next(&cursor)))
		FLEXTRACE_TRY(read_batch(&booting, batch));
	area->end_run = unwrap->n_runs;
	area->end_boot = unwrap->n_boots;
	for (uint32_t i = area->first_boot; i + 1 < area->end_boot; i++)
		tie_boots(&unwrap->boots[i], &unwrap->boots[i + 1]);
	return FLEXTRACE_OK;
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

static int tie_runs(struct unwrap *unwrap)
{
	struct ties ties = {.ops = NULL};
	int code = take_ops(&ties, &unwrap->ops);

	for (uint64_t i = 0; i < unwrap->n_runs && code >= 0; i++)
		code = tie_run(unwrap, &ties, (uint32_t)i);
	map_release(&ties.by_job);
	map_release(&ties.by_stamps);
	free(ties.ops);
	return code;
}

int runs_read(struct unwrap *unwrap)
{
	/* A run has at least two words, but for the last one that is looked at. */
	if (unwrap->n_slot_words / 2 < UINT32_MAX)
		unwrap->runs = blocks_reserve(unwrap->n_slot_words / 2 + 1, sizeof(*unwrap->runs));
	if (!unwrap->runs)
		return FLEXTRACE_E_MEMORY;
	if (unwrap->n_areas)
		qsort(unwrap->areas, unwrap->n_areas, sizeof(*unwrap->areas), compare_areas);
	for (uint32_t i = 0; i < unwrap->n_areas; i++)
		FLEXTRACE_TRY(read_area(unwrap, &unwrap->areas[i]));
	return unwrap->n_runs && unwrap->ops.n_rows ? tie_runs(unwrap) : FLEXTRACE_OK;
}
