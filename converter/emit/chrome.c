// SPDX-License-Identifier: Apache-2.0
/*
 * chrome.c: one merge over everything that has a time, so that the file is sorted by ts.
 *
 * Where times are equal, intervals come before what must find them open (arrows, instants), and an
 * arrow leaves before it arrives. Arrows leave in the order of their table; those on their way wait
 * in a heap for the time at which they arrive, so that memory grows with what is in flight only.
 */
#include "emit/chrome.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_S 1000000000

/* Where the next event may come from; the first wins among equal times. */
enum source {
	FROM_LOSSES,
	FROM_HOST,
	FROM_DEVICE,
	FROM_FLOWS, /* arrows that leave */
	FROM_ARRIVALS,
	FROM_INSTANTS,
	FROM_COUNTERS,
	FROM_MEMORY,
	N_SOURCES
};

#define NO_TIME INT64_MAX

struct arrow {
	int64_t to_time_ns;
	uint64_t id;
	uint32_t to_track;
};

struct merge {
	struct chrome *chrome;           /* weak */
	int64_t next_time_ns[N_SOURCES]; /* NO_TIME = at its end */
	struct table_cursor cursors[N_SOURCES];
	struct arrow *arrows; /* owned: a heap, the first to arrive on top */
	uint64_t n_arrows, n_allocated;
	uint64_t n_flows;  /* read */
	uint32_t n_losses; /* written */
};

/* -- arrows on their way ----------------------------------------------------------------------- */

static bool arrives_before(const struct arrow *a, const struct arrow *b)
{
	return a->to_time_ns < b->to_time_ns || (a->to_time_ns == b->to_time_ns && a->id < b->id);
}

static int push_arrow(struct merge *merge, const struct arrow *arrow)
{
	uint64_t i = merge->n_arrows;

	if (i == merge->n_allocated) {
		uint64_t n = i ? 2 * i : 256;
		struct arrow *arrows = realloc(merge->arrows, n * sizeof(*arrows));

		if (!arrows)
			return FLEXTRACE_E_MEMORY;
		merge->arrows = arrows;
		merge->n_allocated = n;
	}
	for (; i > 0 && arrives_before(arrow, &merge->arrows[(i - 1) / 2]); i = (i - 1) / 2)
		merge->arrows[i] = merge->arrows[(i - 1) / 2];
	merge->arrows[i] = *arrow;
	merge->n_arrows++;
	return 0;
}

static struct arrow pop_arrow(struct merge *merge)
{
	struct arrow *arrows = merge->arrows;
	struct arrow top = arrows[0], last = arrows[--merge->n_arrows];
	uint64_t i = 0, child;

	for (; (child = 2 * i + 1) < merge->n_arrows; i = child) {
		if (child + 1 < merge->n_arrows &&
		    arrives_before(&arrows[child + 1], &arrows[child]))
			child++;
		if (!arrives_before(&arrows[child], &last))
			break;
		arrows[i] = arrows[child];
	}
	arrows[i] = last;
	return top;
}

/* -- the merge --------------------------------------------------------------------------------- */

static const struct table *table_of(const struct timeline *timeline, enum source source)
{
	switch (source) {
	case FROM_HOST:
		return &timeline->host_rows;
	case FROM_DEVICE:
		return &timeline->device_rows;
	case FROM_FLOWS:
		return &timeline->flows_from;
	case FROM_INSTANTS:
		return &timeline->instants;
	case FROM_COUNTERS:
		return &timeline->counters;
	case FROM_MEMORY:
		return &timeline->memory;
	default:
		return NULL;
	}
}

/* Every row that has a time starts with it. */
_Static_assert(offsetof(struct host_row, start_time_ns) == 0, "time first");
_Static_assert(offsetof(struct device_row, start_time_ns) == 0, "time first");
_Static_assert(offsetof(struct instant_row, time_ns) == 0, "time first");
_Static_assert(offsetof(struct counter_row, time_ns) == 0, "time first");
_Static_assert(offsetof(struct memory_row, time_ns) == 0, "time first");
_Static_assert(offsetof(struct flow, from_time_ns) == 0, "time first");

static void look_ahead(struct merge *merge, enum source source)
{
	const int64_t *time_ns = table_peek(&merge->cursors[source]);

	merge->next_time_ns[source] = time_ns ? *time_ns : NO_TIME;
}

static void look_at_arrows(struct merge *merge)
{
	merge->next_time_ns[FROM_ARRIVALS] = merge->n_arrows ? merge->arrows[0].to_time_ns
	                                                     : NO_TIME;
}

static void look_at_losses(struct merge *merge)
{
	const struct chrome *chrome = merge->chrome;

	merge->next_time_ns[FROM_LOSSES] = merge->n_losses < chrome->n_losses
	                                           ? chrome->losses[merge->n_losses].first_time_ns
	                                           : NO_TIME;
}

static void merge_init(struct merge *merge, struct chrome *chrome)
{
	*merge = (struct merge){.chrome = chrome};
	for (int source = 0; source < N_SOURCES; source++) {
		const struct table *table = table_of(chrome->view.timeline, source);

		merge->next_time_ns[source] = NO_TIME;
		if (!table)
			continue;
		view_read(&merge->cursors[source], table);
		look_ahead(merge, source);
	}
	look_at_losses(merge);
}

static int write_departure(struct merge *merge)
{
	const struct flow *flow = table_next(&merge->cursors[FROM_FLOWS], sizeof(*flow));
	struct arrow arrow = {.id = ++merge->n_flows};
	int code;

	arrow.to_time_ns = flow->to_time_ns;
	arrow.to_track = flow->to_track;
	/* An arrow back in time, to a row whose place is a guess, would be no valid pair. */
	if (flow->to_time_ns < flow->from_time_ns)
		return 0;
	chrome_write_flow(merge->chrome, 's', arrow.id, flow->from_track, flow->from_time_ns);
	merge->chrome->count->arrows++;
	code = push_arrow(merge, &arrow);
	look_at_arrows(merge);
	return code;
}

static void write_arrival(struct merge *merge)
{
	struct arrow arrow = pop_arrow(merge);

	chrome_write_flow(merge->chrome, 'f', arrow.id, arrow.to_track, arrow.to_time_ns);
	look_at_arrows(merge);
}

/* A row is written, or left out because JSON cannot hold it. */
static void count_row(struct merge *merge, enum record_class class, bool is_written)
{
	struct emit_file_count *count = merge->chrome->count;

	count->rows += is_written;
	count->left_out += !is_written;
	count->by_class[class] += is_written;
}

static void write_host(struct merge *merge)
{
	const struct host_row *row = table_next(&merge->cursors[FROM_HOST], sizeof(*row));

	chrome_write_host(merge->chrome, row);
	count_row(merge, row->class, true);
}

static void write_device(struct merge *merge)
{
	const struct device_row *row = table_next(&merge->cursors[FROM_DEVICE], sizeof(*row));

	chrome_write_device(merge->chrome, row);
	count_row(merge, view_device_class(&merge->chrome->view, row), true);
}

static void write_instant(struct merge *merge)
{
	const struct instant_row *row = table_next(&merge->cursors[FROM_INSTANTS], sizeof(*row));

	chrome_write_instant(merge->chrome, row);
	count_row(merge, row->class, true);
}

static void write_counter(struct merge *merge)
{
	const struct counter_row *row = table_next(&merge->cursors[FROM_COUNTERS], sizeof(*row));

	if (isfinite(row->value))
		chrome_write_counter(merge->chrome, row);
	count_row(merge, row->class, isfinite(row->value));
}

static void write_memory(struct merge *merge)
{
	const struct memory_row *row = table_next(&merge->cursors[FROM_MEMORY], sizeof(*row));

	chrome_write_memory(merge->chrome, row);
	count_row(merge, RECORD_MEMORY, true);
}

static int write_next(struct merge *merge, enum source source)
{
	int code = 0;

	switch (source) {
	case FROM_LOSSES:
		chrome_write_loss(merge->chrome, &merge->chrome->losses[merge->n_losses++]);
		look_at_losses(merge);
		return 0;
	case FROM_ARRIVALS:
		write_arrival(merge);
		return 0;
	case FROM_HOST:
		write_host(merge);
		break;
	case FROM_DEVICE:
		write_device(merge);
		break;
	case FROM_FLOWS:
		code = write_departure(merge);
		break;
	case FROM_INSTANTS:
		write_instant(merge);
		break;
	case FROM_COUNTERS:
		write_counter(merge);
		break;
	default:
		write_memory(merge);
		break;
	}
	look_ahead(merge, source);
	return code;
}

static enum source earliest(const struct merge *merge)
{
	enum source best = 0;

	for (int source = 1; source < N_SOURCES; source++) {
		if (merge->next_time_ns[source] < merge->next_time_ns[best])
			best = source;
	}
	return best;
}

static int write_rows(struct chrome *chrome)
{
	struct merge merge;
	int code = 0;

	merge_init(&merge, chrome);
	while (code == 0 && !writer_failed(&chrome->writer)) {
		enum source source = earliest(&merge);

		if (merge.next_time_ns[source] == NO_TIME)
			break;
		code = write_next(&merge, source);
	}
	free(merge.arrows);
	return code;
}

/* -- the emitter ------------------------------------------------------------------------------- */

static int compare_losses(const void *left, const void *right)
{
	const struct chrome_loss *a = left, *b = right;
	int order = (a->first_time_ns > b->first_time_ns) - (a->first_time_ns < b->first_time_ns);

	return order ? order : (int)a->cause - (int)b->cause;
}

/* One interval per cause, over all places, so that they never cross. */
static void collect_losses(struct chrome *chrome)
{
	const struct ledger *ledger = chrome->view.timeline->ledger;

	for (int cause = 0; cause < LOSS_CAUSE_COUNT; cause++) {
		struct chrome_loss *sum = &chrome->losses[chrome->n_losses];

		*sum = (struct chrome_loss){INT64_MAX, INT64_MIN, 0, cause};
		for (uint32_t i = 0; i < ledger->n_losses && ledger_is_loss(cause); i++) {
			const struct loss *loss = &ledger->losses[i];
			int64_t first, last;

			if (loss->cause != (enum loss_cause)cause ||
			    !view_loss_times(&chrome->view, loss, &first, &last))
				continue;
			sum->first_time_ns = first < sum->first_time_ns ? first
			                                                : sum->first_time_ns;
			sum->last_time_ns = last > sum->last_time_ns ? last : sum->last_time_ns;
			sum->count += loss->count;
		}
		if (sum->count > 0)
			chrome->n_losses++;
	}
	qsort(chrome->losses, chrome->n_losses, sizeof(chrome->losses[0]), compare_losses);
}

/* ts 0: the last whole second before everything, so that ts are small and doubles hold every ns. */
static void choose_base(struct chrome *chrome)
{
	int64_t epoch_offset_ns = chrome->view.epoch_offset_ns;
	struct merge merge;
	int64_t first_ns;

	merge_init(&merge, chrome);
	first_ns = merge.next_time_ns[earliest(&merge)];
	if (first_ns == NO_TIME)
		return;
	first_ns += epoch_offset_ns;
	first_ns -= (first_ns % NS_PER_S + NS_PER_S) % NS_PER_S;
	chrome->base_time_ns = first_ns - epoch_offset_ns;
}

static uint64_t n_expected(const struct timeline *timeline)
{
	return timeline->host_rows.n_rows + timeline->device_rows.n_rows +
	       timeline->instants.n_rows + timeline->counters.n_rows + timeline->memory.n_rows;
}

static int write_file(struct chrome *chrome)
{
	collect_losses(chrome);
	choose_base(chrome);
	FLEXTRACE_TRY(chrome_ids_init(&chrome->ids, &chrome->view));
	FLEXTRACE_TRY(chrome_rows_init(chrome));
	chrome_write_head(chrome);
	FLEXTRACE_TRY(write_rows(chrome));
	chrome_write_tail(chrome);
	chrome->count->replaced_bytes = chrome->writer.replaced_bytes;
	return 0;
}

static int chrome_write(const struct timeline *timeline, const struct emit_options *options,
                        struct emit_file_count *counts, uint32_t *n, struct flextrace_error *error)
{
	const char *name = options->gzip ? "trace.json.gz" : "trace.json";
	struct chrome chrome = {.n_losses = 0};
	int code;

	chrome.count = &counts[(*n)++];
	*chrome.count = (struct emit_file_count){
		.file = name, .expected = n_expected(timeline), .has_classes = true};
	FLEXTRACE_TRY(writer_open(&chrome.writer, options->output_dir, name, options->gzip, error));
	code = view_init(&chrome.view, timeline);
	if (code == 0)
		code = write_file(&chrome);
	if (code < 0) {
		error_set(error, code, "Cannot write output file: name=%s, cause=no memory", name);
		writer_abandon(&chrome.writer);
	} else {
		code = writer_close(&chrome.writer, error);
	}
	chrome_rows_release(&chrome);
	chrome_ids_release(&chrome.ids);
	view_release(&chrome.view);
	return code;
}

const struct emitter emit_chrome = {.format = "chrome", .write = chrome_write};
