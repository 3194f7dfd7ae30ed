/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host record is one row and is booked as that row is left out. A control block has up to four
 * rows and a batch of markers any number: such a record is left out when all of its rows are.
 * Counters that we made ourselves are nobody's record.
 */
#include "select_impl.h"

int select_books_init(struct select_books *books, const struct timeline *timeline)
{
	*books = (struct select_books){.ops = calloc(timeline->n_ops + 1, 1)};
	return books->ops ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

void select_books_release(struct select_books *books)
{
	free(books->ops);
	map_release(&books->batches);
	*books = (struct select_books){.ops = NULL};
}

static int discard(struct ledger *ledger, enum record_class class, const struct loss_place *place)
{
	ledger->rows[class]--;
	ledger->discarded[class][LOSS_FILTERED]++;
	return ledger_lose(ledger, LOSS_FILTERED, place, 1, INT64_MIN);
}

static int note_batch(struct select_books *books, const struct any_row *row, uint32_t what)
{
	uint32_t before = map_find(&books->batches, row->stream, row->index);

	return map_put(&books->batches, row->stream, row->index,
	               what | (before == MAP_NONE ? 0 : before));
}

int select_books_note(struct select_books *books, struct ledger *ledger, const struct any_row *row,
                      const struct timeline *timeline, bool is_kept)
{
	uint8_t what = is_kept ? BOOK_KEPT : BOOK_LEFT_OUT;
	struct loss_place place = {row->process, FLEXTRACE_NONE, FLEXTRACE_NONE, row->stream};

	if (row->op) {
		if (row->table == OF_DEVICE)
			books->ops[row->op - timeline->ops] |= what;
		return FLEXTRACE_OK;
	}
	if (row->class == RECORD_MARKER_BATCH)
		return note_batch(books, row, what);
	if (is_kept || (row->table == OF_COUNTERS && row->class != RECORD_COUNTER))
		return FLEXTRACE_OK;
	return discard(ledger, row->class, &place);
}

static int close_ops(struct select_books *books, struct ledger *ledger,
                     const struct timeline *timeline)
{
	for (uint64_t i = 0; i < timeline->n_ops; i++) {
		const struct tick_op *op = &timeline->ops[i];
		const struct device *device = &timeline->identity->devices[op->device];
		struct loss_place place = {device->process, device->device, FLEXTRACE_NONE,
		                           op->stream};

		if (books->ops[i] == BOOK_LEFT_OUT)
			FLEXTRACE_TRY(discard(ledger, op->class, &place));
	}
	return FLEXTRACE_OK;
}

/* What marks of a stream were recorded as: each of a file of ours is a record of its own. */
static enum record_class class_of_marks(const struct stream *stream)
{
	for (uint32_t i = 0; i < stream->n_processes; i++) {
		if (stream->processes[i].n_read[RECORD_RESTORED])
			return RECORD_RESTORED;
	}
	return RECORD_MARKER_BATCH;
}

int select_books_close(struct select_books *books, struct ledger *ledger,
                       const struct timeline *timeline)
{
	for (uint64_t i = 0; i < books->batches.n_slots; i++) {
		const struct map_slot *slot = &books->batches.slots[i];
		struct loss_place place = LOSS_NOWHERE;

		place.stream = (uint32_t)slot->a;
		if (slot->value == BOOK_LEFT_OUT)
			FLEXTRACE_TRY(discard(ledger,
			                      class_of_marks(timeline->streams->streams[slot->a]),
			                      &place));
	}
	return close_ops(books, ledger, timeline);
}
