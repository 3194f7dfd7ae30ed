/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marker words of one area come in order. Stamps of a slot follow its whole 64-bit anchor, each
 * less than a wrap later if the run is known to be short. Words of the ring follow the FW start
 * of their run, which the ring repeats; where a run has no slot, they follow each other, which is
 * assumed.
 */
#include <stdlib.h>

#include "base/array.h"
#include "engine/unwrap/unwrap_impl.h"

#define MAX_RUNS_TRIED 1024u /* so that a ring without slots costs no search each */

/* Marks that have no epoch yet: they only follow each other. */
struct afloat {
	struct tick_mark **marks; /* owned arrays; weak rows */
	uint32_t n, n_allocated;
	struct mark_run **runs;
	uint32_t n_runs, n_runs_allocated;
};

/* One area (device, core, processor) while its batches are read. */
struct area {
	struct unwrap *unwrap;
	struct unwrap_output *out;
	const struct batch *batch; /* weak: the one that is read */
	uint64_t clock_ns;         /* of the last one */
	const struct axis *axis;
	uint64_t next_run;       /* index of the first run behind the slot batches read so far */
	uint64_t end_run;        /* of all runs of the area */
	const struct boot *boot; /* of the batch; NULL: none was read */
	struct afloat afloat;

	/* accounts */
	bool has_ring;
	uint64_t next_index, dropped, dropped_runs;
	uint64_t ring_told_ns, runs_told_ns; /* clocks of the last batches; 0 = none yet */

	/* where the ring stands */
	const struct run *run; /* NULL: not known */
	uint64_t run_number;   /* as far as the ring says it: low bits */
	uint64_t ticks;        /* of the last word */
	uint16_t segment;
	bool has_ticks, is_certain;
	struct tick_mark *value; /* waits for its VALUE_DATA */
	struct mark_run *marks;  /* of this batch and run; NULL = none yet */
	bool has_marks;          /* the batch */
};

/* Counts what was lost between the last batch of its kind, if there was one, and this one. */
static int lose_since(const struct area *area, enum loss_cause cause, uint64_t n, uint64_t since_ns)
{
	const struct batch *batch = area->batch;
	bool has_since = since_ns && since_ns < batch->clock_ns;
	const struct loss_span span = {(int64_t)(has_since ? since_ns : batch->clock_ns),
	                               (int64_t)batch->clock_ns, n};
	struct loss_place place;

	if (n == 0)
		return FLEXTRACE_OK;
	place = identity_place(area->unwrap->identity, batch->device, batch->core, batch->stream);
	return losses_add(&area->unwrap->ledger->losses, cause, &place, &span);
}

static int lose(const struct area *area, enum loss_cause cause, uint64_t n)
{
	return lose_since(area, cause, n, 0);
}

/* Starts the marks of a run. One that is a sample itself rests on no other of its boot. */
static int add_run(struct area *area, const struct run *of, const struct mark_run *run)
{
	const struct batch *batch = area->batch;
	struct mark_run *marks = table_append(&area->out->mark_runs, sizeof(*marks));

	if (!marks)
		return FLEXTRACE_E_MEMORY;
	*marks = *run;
	marks->device = batch->device;
	marks->counter = batch->counter;
	marks->core = batch->core;
	marks->processor = batch->processor;
	marks->stream = batch->stream;
	marks->index = batch->index;
	marks->drained_ns = (int64_t)batch->clock_ns;
	marks->boot = of && of->is_placed ? FLEXTRACE_NONE : area->boot->told;
	area->marks = marks;
	area->has_marks = true;
	return FLEXTRACE_OK;
}

static bool is_end(uint32_t kind, uint32_t id)
{
	return kind == FLEXTRACE_WIRE_ZONE_END ||
	       (kind == FLEXTRACE_WIRE_SLOT_STAMP &&
	        (id == FLEXTRACE_WIRE_KERNEL_END || id == FLEXTRACE_WIRE_FW_END));
}

static struct tick_mark *add_mark(struct area *area, uint32_t kind, uint32_t id, uint64_t ticks)
{
	struct tick_mark *mark = table_append(&area->out->marks, sizeof(*mark));

	if (!mark)
		return NULL;
	*mark = (struct tick_mark){.ticks = ticks, .id = id, .kind = kind};
	area->marks->n_marks++;
	area->marks->n_ends += is_end(kind, id);
	return mark;
}

/* -- slots ----------------------------------------------------------------------------------- */

static uint64_t after(const struct area *area, uint64_t ticks, uint32_t ticks32)
{
	return ticks + low_bits(ticks32 - ticks, area->axis->narrow_bits);
}

/* Ticks of the whole counter that is not before the run's anchor. */
static uint64_t whole_after(const struct area *area, const struct run *run, uint64_t whole,
                            unsigned n_bits)
{
	if (n_bits > area->axis->wide_bits)
		n_bits = area->axis->wide_bits;
	return run->ticks + low_bits(whole - run->anchor, n_bits);
}

/* Stores the ticks of a slot's stamp; false: it was not taken. */
static bool stamp_ticks(const struct area *area, const struct run *run, uint32_t stamp,
                        uint64_t *ret_ticks)
{
	const uint64_t *words = run->batch->words + run->first_word;

	for (uint32_t i = 0; run->has_high && i < run->n_words; i++) {
		if (word_kind(words[i]) != FLEXTRACE_WIRE_SLOT_HIGH || word_id(words[i]) != stamp)
			continue;
		*ret_ticks = whole_after(area, run, words[i] << 32 | run->ticks32[stamp], 64);
		return true;
	}
	*ret_ticks = after(area, run->ticks, run->ticks32[stamp]);
	return run->ticks32[stamp] != 0;
}

/* TS1..TS5 are the control block's: its own record has them. */
static int write_run(struct area *area, const struct run *run)
{
	const struct mark_run marks = {
		.run = run->number,
		.job = run->op ? run->op->job : run->job,
		.queue = run->queue,
		.segment = run->segment,
		.is_open = run->is_open,
		.is_unbounded = run->is_unbounded,
		.status = run->status == TIME_CERTIFIED && !run->is_short ? TIME_ASSUMED
	                                                                  : run->status,
	};

	area->marks = NULL;
	for (uint32_t i = 0; i < FLEXTRACE_WIRE_TS1; i++) {
		uint64_t ticks;

		if (!stamp_ticks(area, run, i, &ticks))
			continue;
		if (!area->marks)
			FLEXTRACE_TRY(add_run(area, run, &marks));
		if (!add_mark(area, FLEXTRACE_WIRE_SLOT_STAMP, i, ticks))
			return FLEXTRACE_E_MEMORY;
	}
	return FLEXTRACE_OK;
}

static bool is_slot_word(uint64_t word)
{
	if (word_kind(word) == FLEXTRACE_WIRE_SLOT_STAMP ||
	    word_kind(word) == FLEXTRACE_WIRE_SLOT_HIGH)
		return word_id(word) < FLEXTRACE_WIRE_N_STAMPS;
	return word_kind(word) >= FLEXTRACE_WIRE_SLOT_RUN &&
	       word_kind(word) < FLEXTRACE_WIRE_SLOT_STAMP;
}

/* Writes the runs of a slot batch; counts the words that belong to none. */
static int write_slots(struct area *area)
{
	const struct batch *batch = area->batch;
	uint32_t n_bad = 0, n_in_runs = 0;

	for (uint32_t i = 0; i < batch->n_words; i++)
		n_bad += !is_slot_word(batch->words[i]);
	while (area->next_run < area->end_run &&
	       area->unwrap->marks.runs[area->next_run].batch == batch) {
		const struct run *run = &area->unwrap->marks.runs[area->next_run++];

		n_in_runs += run->n_words;
		FLEXTRACE_TRY(write_run(area, run));
	}
	if (batch->n_words - n_in_runs > n_bad)
		n_bad = batch->n_words - n_in_runs;
	FLEXTRACE_TRY(lose(area, LOSS_MALFORMED, n_bad));
	FLEXTRACE_TRY(lose_since(area, LOSS_RUN_OVERWRITTEN,
	                         batch->dropped >= area->dropped_runs
	                                 ? batch->dropped - area->dropped_runs
	                                 : batch->dropped,
	                         area->runs_told_ns));
	area->runs_told_ns = batch->clock_ns;
	area->dropped_runs = batch->dropped;
	return FLEXTRACE_OK;
}

/* -- marks without an epoch ------------------------------------------------------------------ */

static int float_run(struct area *area)
{
	struct afloat *afloat = &area->afloat;

	FLEXTRACE_TRY(ARRAY_RESERVE(afloat->runs, afloat->n_runs_allocated, afloat->n_runs + 1ull));
	afloat->runs[afloat->n_runs++] = area->marks;
	return FLEXTRACE_OK;
}

static int float_mark(struct area *area, struct tick_mark *mark)
{
	struct afloat *afloat = &area->afloat;

	FLEXTRACE_TRY(ARRAY_RESERVE(afloat->marks, afloat->n_allocated, afloat->n + 1ull));
	afloat->marks[afloat->n++] = mark;
	return FLEXTRACE_OK;
}

/* Moves all marks that have no place yet, so that the one at `from` is at `to`. */
static void settle(struct area *area, uint64_t from, uint64_t to, uint16_t segment)
{
	for (uint32_t i = 0; i < area->afloat.n; i++)
		area->afloat.marks[i]->ticks += to - from;
	for (uint32_t i = 0; i < area->afloat.n_runs; i++)
		area->afloat.runs[i]->segment = segment;
	area->afloat.n = 0;
	area->afloat.n_runs = 0;
}

/* No run came: the last word was written not long before its batch was. */
static void settle_by_clock(struct area *area)
{
	uint64_t latest, earlier;
	uint16_t segment;

	if (area->afloat.n == 0 ||
	    !axis_latest(area->axis, (int64_t)area->clock_ns, &segment, &latest))
		return;
	earlier = low_bits(latest - area->ticks, area->axis->narrow_bits);
	if (earlier <= latest)
		settle(area, area->ticks, latest - earlier, segment);
}

/* -- the ring -------------------------------------------------------------------------------- */

/* The next run of the boot with these low bits whose FW start has these ticks. */
static const struct run *find_run(const struct area *area, uint32_t low, uint32_t ticks32)
{
	const struct run *runs = area->unwrap->marks.runs;
	uint64_t first = area->boot->first_run, n = area->boot->end_run - first;
	uint64_t from = area->run ? (uint64_t)(area->run - runs) : first;

	/* Runs come in order, so it is nearly always the next one. */
	for (uint64_t i = 0; i < n && i < MAX_RUNS_TRIED; i++) {
		uint64_t at = first + (from - first + i) % n;
		uint32_t start = runs[at].ticks32[FLEXTRACE_WIRE_FW_START];

		if ((runs[at].number & FLEXTRACE_WIRE_ID_MASK) == low &&
		    (!start || start == ticks32))
			return &runs[at];
	}
	return NULL;
}

/* Takes a RUN record: everything behind it belongs to that run. */
static void enter_run(struct area *area, uint64_t word)
{
	const struct run *run = find_run(area, word_id(word), (uint32_t)word);
	uint64_t floating = area->has_ticks ? after(area, area->ticks, (uint32_t)word)
	                                    : (uint32_t)word;

	area->run_number = run ? run->number : word_id(word);
	area->run = run ? run : area->run;
	area->is_certain = run && run->status == TIME_CERTIFIED && run->is_short;
	area->has_ticks = true;
	area->marks = NULL;
	if (!run) {
		area->ticks = floating;
		return;
	}
	area->ticks = after(area, run->ticks, (uint32_t)word);
	area->segment = run->segment;
	settle(area, floating, area->ticks, run->segment);
}

static int add_ring_run(struct area *area)
{
	struct mark_run marks = {
		.run = area->run_number,
		.segment = area->segment,
		.status = area->is_certain ? TIME_CERTIFIED : TIME_ASSUMED,
		.is_unbounded = area->run ? area->run->is_unbounded
	                                  : boot_is_unbounded(area->axis, area->boot),
	};

	if (area->run && area->run->number == area->run_number) {
		marks.job = area->run->op ? area->run->op->job : area->run->job;
		marks.is_open = area->run->is_open;
	}
	FLEXTRACE_TRY(add_run(area, area->run, &marks));
	return area->run ? FLEXTRACE_OK : float_run(area);
}

static int write_ring_mark(struct area *area, uint64_t word)
{
	struct tick_mark *mark;

	if (!area->marks)
		FLEXTRACE_TRY(add_ring_run(area));
	area->ticks = area->has_ticks ? after(area, area->ticks, (uint32_t)word) : (uint32_t)word;
	area->has_ticks = true;
	mark = add_mark(area, word_kind(word), word_id(word), area->ticks);
	if (!mark)
		return FLEXTRACE_E_MEMORY;
	if (word_kind(word) == FLEXTRACE_WIRE_VALUE)
		area->value = mark;
	return area->run ? FLEXTRACE_OK : float_mark(area, mark);
}

static int read_ring_word(struct area *area, uint64_t word)
{
	uint32_t kind = word_kind(word);
	struct tick_mark *value = area->value;

	area->value = NULL;
	switch (kind) {
	case FLEXTRACE_WIRE_RUN:
		enter_run(area, word);
		return FLEXTRACE_OK;
	case FLEXTRACE_WIRE_TIME:
		if (area->run)
			area->ticks = whole_after(area, area->run, (word << 4) >> 4,
			                          32 + FLEXTRACE_WIRE_ID_BITS);
		return FLEXTRACE_OK;
	case FLEXTRACE_WIRE_MARK:
	case FLEXTRACE_WIRE_ZONE_BEGIN:
	case FLEXTRACE_WIRE_ZONE_END:
	case FLEXTRACE_WIRE_VALUE:
		return write_ring_mark(area, word);
	case FLEXTRACE_WIRE_VALUE_DATA:
		if (!value)
			return lose(area, LOSS_MALFORMED, 1);
		value->value = (uint32_t)word;
		return FLEXTRACE_OK;
	default:
		return lose(area, LOSS_MALFORMED, 1);
	}
}

/* How many records found a full ring since the batch before. */
static uint64_t take_dropped(struct area *area)
{
	const struct batch *batch = area->batch;
	uint64_t dropped = batch->dropped >= area->dropped ? batch->dropped - area->dropped
	                                                   : batch->dropped;

	area->dropped = batch->dropped;
	area->ring_told_ns = batch->clock_ns;
	return dropped;
}

/* What the program let pass while it recorded nothing. */
static int count_unrecorded(struct area *area, bool is_anew)
{
	const struct batch *batch = area->batch;
	uint64_t told_ns = area->ring_told_ns, n = take_dropped(area);

	if (area->has_ring && !is_anew && batch->first_index > area->next_index)
		n += batch->first_index - area->next_index;
	area->is_certain = false;
	area->value = NULL;
	area->has_ring = true;
	area->next_index = batch->first_index;
	return lose_since(area, LOSS_UNRECORDED, n, told_ns);
}

/* Records that were lost: dropped at a full ring, or with indices that are in no batch. */
static int count_ring(struct area *area)
{
	const struct batch *batch = area->batch;
	uint64_t told_ns = area->ring_told_ns, dropped = take_dropped(area);

	if (batch->n_words == 0 && area->has_ring && batch->first_index <= area->next_index)
		return lose_since(area, LOSS_RING_DROPPED, dropped, told_ns);
	if (area->has_ring && batch->first_index > area->next_index)
		dropped += batch->first_index - area->next_index;
	if (area->has_ring && batch->first_index != area->next_index) {
		area->is_certain = false; /* a RUN record may be among what is missing */
		area->value = NULL;
	}
	area->has_ring = true;
	area->next_index = batch->first_index + batch->n_words;
	return lose_since(area, LOSS_RING_DROPPED, dropped, told_ns);
}

static int write_ring(struct area *area)
{
	FLEXTRACE_TRY(count_ring(area));
	for (uint32_t i = 0; i < area->batch->n_words; i++)
		FLEXTRACE_TRY(read_ring_word(area, area->batch->words[i]));
	return FLEXTRACE_OK;
}

/* -- areas ----------------------------------------------------------------------------------- */

/* Nothing that the ring said before goes on. */
static void enter_boot(struct area *area, const struct boot *boot)
{
	if (area->boot)
		settle_by_clock(area);
	area->afloat.n = area->afloat.n_runs = 0;
	area->boot = boot;
	area->run = NULL;
	area->value = NULL;
	area->has_ticks = area->is_certain = false;
}

static int write_words(struct area *area, const struct batch *batch)
{
	uint32_t flags;

	if (!batch_is_boot(batch))
		return batch_has_slots(batch) ? write_slots(area) : write_ring(area);
	flags = word_id(batch->words[0]);
	FLEXTRACE_TRY(lose(area, LOSS_MALFORMED, (flags & FLEXTRACE_WIRE_BOOT_REFUSED) != 0));
	if (flags & FLEXTRACE_WIRE_BOOT_UNRECORDED)
		return count_unrecorded(area, (flags & FLEXTRACE_WIRE_BOOT_ANEW) != 0);
	return FLEXTRACE_OK;
}

static int write_batch(struct area *area, const struct batch *batch)
{
	if (area->boot != &area->unwrap->marks.boots[batch->boot])
		enter_boot(area, &area->unwrap->marks.boots[batch->boot]);
	area->batch = batch;
	area->clock_ns = batch->clock_ns;
	area->axis = &area->unwrap->axes[batch->counter];
	area->marks = NULL;
	area->has_marks = false;
	FLEXTRACE_TRY(write_words(area, batch));
	if (!area->has_marks)
		area->unwrap->ledger->evidence[RECORD_MARKER_BATCH]++;
	return FLEXTRACE_OK;
}

/* Batches are gone behind the marks that are made of them. */
static int write_area(struct unwrap *unwrap, struct batch_area *of, struct unwrap_output *out)
{
	struct area area = {
		.unwrap = unwrap, .out = out, .next_run = of->first_run, .end_run = of->end_run};
	struct table_cursor cursor;
	const struct batch *batch;
	int code = boots_place_runs(unwrap, of, out);

	table_read(&cursor, &of->batches, true);
	while (code >= 0 && (batch = batch_next(&cursor)))
		code = write_batch(&area, batch);
	settle_by_clock(&area);
	free(area.afloat.marks);
	free(area.afloat.runs);
	return code;
}

int marks_write(struct unwrap *unwrap, struct unwrap_output *out)
{
	for (uint32_t i = 0; i < unwrap->marks.n_areas; i++)
		FLEXTRACE_TRY(write_area(unwrap, &unwrap->marks.areas[i], out));
	return FLEXTRACE_OK;
}
