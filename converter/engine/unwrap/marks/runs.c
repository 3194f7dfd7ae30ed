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
#include "model/stamps.h"

#define MANY_OPS (MAP_NONE - 1) /* a job number that several operations have */

/* -- areas ------------------------------------------------------------------------------------ */

ORDER_BY(compare_areas, struct batch_area, device, core, processor);

/* The area of a batch; NULL: no memory. */
static struct batch_area *area_of(struct unwrap_marks *marks, const struct batch *batch)
{
	uint64_t core = (uint64_t)batch->device << 32 | batch->core;
	struct batch_area *area;
	uint32_t number;
	int is_new = MAP_PLACE(&marks->area_numbers, core, batch->processor, marks->areas,
	                       marks->n_areas, &number);

	if (is_new < 0)
		return NULL;
	area = &marks->areas[number];
	if (is_new > 0) {
		area->device = batch->device;
		area->core = batch->core;
		area->processor = batch->processor;
		area->batches.is_of_many = true;
	}
	return area;
}

int runs_add_batch(struct unwrap_marks *marks, const struct batch *head, const uint64_t *words)
{
	struct batch_area *area = area_of(marks, head);
	size_t bytes = head->n_words * sizeof(*words);
	struct batch *batch = area ? table_append(&area->batches, sizeof(*batch) + bytes) : NULL;

	if (!batch)
		return FLEXTRACE_E_MEMORY;
	*batch = *head;
	memcpy(batch->words, words, bytes);
	area->is_mixed |= head->clock_ns < area->last_ns;
	area->last_ns = head->clock_ns;
	marks->n_slot_words += batch_has_slots(batch) ? batch->n_words : 0;
	return FLEXTRACE_OK;
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
		ORDER_ARRAY(batches, n, compare_batches);
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

void runs_release(struct unwrap_marks *marks)
{
	for (uint32_t i = 0; i < marks->n_areas; i++)
		table_release(&marks->areas[i].batches);
	free(marks->areas);
	free(marks->boots);
	map_release(&marks->area_bits);
	map_release(&marks->area_numbers);
	map_release(&marks->op_runs);
	blocks_free(marks->runs);
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

static struct run *add_run(struct unwrap_marks *marks)
{
	if (blocks_fill_next(marks->runs, marks->n_runs, sizeof(*marks->runs)) < 0)
		return NULL;
	marks->runs[marks->n_runs] = (struct run){.status = TIME_UNMATCHED};
	return &marks->runs[marks->n_runs++];
}

/* The next run of the same boot begins later: if less than a wrap later, no wrap hides in this
 * one. */
static void judge_run(const struct unwrap_marks *marks, struct run *run, const struct run *next)
{
	run->is_short = next->anchor > run->anchor && next->anchor - run->anchor <= UINT32_MAX &&
	                map_find(&marks->area_bits, run->counter, 0) == MAP_NONE;
}

/* Reads the slots of a batch. A run without an anchor is none; its words are counted where marks
 * are made. */
static int read_slots(struct unwrap_marks *marks, const struct batch *batch)
{
	uint64_t first_run = marks->boots[batch->boot].first_run;
	uint64_t number = batch->first_index;
	uint32_t i = 0;

	while (i < batch->n_words) {
		uint64_t word = batch->words[i];
		struct run *run;
		uint32_t from = i++;

		if (word_kind(word) != FLEXTRACE_WIRE_SLOT_RUN)
			continue;
		run = add_run(marks);
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
			marks->n_runs--;
		else if (marks->n_runs - 1 > first_run)
			judge_run(marks, run - 1, run);
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
	struct unwrap_marks *marks = &booting->unwrap->marks;

	booting->has_ring = booting->has_slots = false;
	return ARRAY_PUSH(marks->boots, marks->n_boots,
	                  (struct boot){.first_run = marks->n_runs,
	                                .end_run = marks->n_runs,
	                                .from_ns = INT64_MAX,
	                                .to_ns = INT64_MIN,
	                                .begin_ns = INT64_MIN,
	                                .last_ns = {INT64_MIN, INT64_MIN, INT64_MIN},
	                                .told = FLEXTRACE_NONE});
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
	struct unwrap_marks *marks = &booting->unwrap->marks;
	uint32_t flags = word_id(batch->words[0]), bits = (uint32_t)batch->words[0];
	uint64_t *warnings = booting->unwrap->ledger->warnings;

	warnings[WARNING_RESTARTED] += (flags & FLEXTRACE_WIRE_BOOT_ANEW) != 0;
	warnings[WARNING_MARKER_CONFIG] += (flags & FLEXTRACE_WIRE_BOOT_REFUSED) != 0;
	warnings[WARNING_SHARED_AREA] += (flags & FLEXTRACE_WIRE_BOOT_SHARED) != 0;
	warnings[WARNING_CONTESTED_AREA] += (flags & FLEXTRACE_WIRE_BOOT_CONTESTED) != 0;
	if (flags & FLEXTRACE_WIRE_BOOT_ANEW)
		FLEXTRACE_TRY(begin_boot(booting));
	marks->boots[marks->n_boots - 1].is_found |= (flags & FLEXTRACE_WIRE_BOOT_FOUND) != 0;
	return bits && bits < 32 ? map_put(&marks->area_bits, batch->counter, 0, bits)
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
	struct unwrap_marks *marks = &booting->unwrap->marks;

	if (batch_is_boot(batch)) {
		FLEXTRACE_TRY(read_boot(booting, batch));
	} else if (goes_back(booting, batch)) {
		booting->unwrap->ledger->warnings[WARNING_RESTARTED]++;
		FLEXTRACE_TRY(begin_boot(booting));
	}
	batch->boot = marks->n_boots - 1;
	note_drain(&marks->boots[batch->boot], batch);
	if (batch_is_boot(batch))
		return FLEXTRACE_OK;
	if (!batch_has_slots(batch)) {
		booting->has_ring = true;
		booting->next_index = batch->first_index + batch->n_words;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(read_slots(marks, batch));
	if (marks->n_runs > marks->boots[batch->boot].first_run) {
		booting->has_slots = true;
		booting->next_run = marks->runs[marks->n_runs - 1].number + 1;
	}
	marks->boots[batch->boot].end_run = marks->n_runs;
	return FLEXTRACE_OK;
}

static int read_area(struct unwrap *unwrap, struct batch_area *area)
{
	struct unwrap_marks *marks = &unwrap->marks;
	struct booting booting = {.unwrap = unwrap};
	struct table_cursor cursor;
	struct batch *batch;

	area->first_run = marks->n_runs;
	area->first_boot = marks->n_boots;
	if (area->is_mixed)
		FLEXTRACE_TRY(sort_batches(area));
	FLEXTRACE_TRY(begin_boot(&booting));
	table_read(&cursor, &area->batches, false);
	while ((batch = batch_next(&cursor)))
		FLEXTRACE_TRY(read_batch(&booting, batch));
	area->end_run = marks->n_runs;
	area->end_boot = marks->n_boots;
	for (uint32_t i = area->first_boot; i + 1 < area->end_boot; i++)
		tie_boots(&marks->boots[i], &marks->boots[i + 1]);
	return FLEXTRACE_OK;
}

/* -- ties ------------------------------------------------------------------------------------ */

struct ties {
	struct map by_job;    /* (device, queue), low word of job -> op, or MANY_OPS */
	struct map by_stamps; /* (device, queue), low word of job and first stamp -> op */
	struct tick_op **ops; /* owned; weak rows */
	uint32_t n_ops;
};

static int take_ops(struct ties *ties, struct table *ops)
{
	FLEXTRACE_TRY(ARRAY_NEW(ties->ops, ops->n_rows + 1));
	TABLE_CHANGE(struct tick_op, op, ops)
	{
		uint64_t owner = (uint64_t)op->device << 32 | op->queue;
		uint32_t job = (uint32_t)op->job, known = map_find(&ties->by_job, owner, job);

		ties->ops[ties->n_ops] = op;
		FLEXTRACE_TRY(map_put(&ties->by_job, owner, job,
		                      known == MAP_NONE ? ties->n_ops : MANY_OPS));
		FLEXTRACE_TRY(map_put(&ties->by_stamps, owner,
		                      (uint64_t)job << 32 | (uint32_t)op->ticks[tick_op_first(op)],
		                      ties->n_ops));
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
	struct run *run = &unwrap->marks.runs[index];
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
		return map_put(&unwrap->marks.op_runs, (uintptr_t)run->op, 0, index);
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

	for (uint64_t i = 0; i < unwrap->marks.n_runs && code >= 0; i++)
		code = tie_run(unwrap, &ties, (uint32_t)i);
	map_release(&ties.by_job);
	map_release(&ties.by_stamps);
	free(ties.ops);
	return code;
}

int runs_read(struct unwrap *unwrap)
{
	struct unwrap_marks *marks = &unwrap->marks;

	/* A run has at least two words, but for the last one that is looked at. */
	if (marks->n_slot_words / 2 < UINT32_MAX)
		marks->runs = blocks_reserve(marks->n_slot_words / 2 + 1, sizeof(*marks->runs));
	if (!marks->runs)
		return FLEXTRACE_E_MEMORY;
	ORDER_ARRAY(marks->areas, marks->n_areas, compare_areas);
	for (uint32_t i = 0; i < marks->n_areas; i++)
		FLEXTRACE_TRY(read_area(unwrap, &marks->areas[i]));
	return marks->n_runs && unwrap->ops.n_rows ? tie_runs(unwrap) : FLEXTRACE_OK;
}
