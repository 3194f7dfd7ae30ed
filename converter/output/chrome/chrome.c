// SPDX-License-Identifier: Apache-2.0
/*
 * chrome.c: one merge over everything that has a time, so that the file is sorted by ts.
 *
 * Where times are equal, intervals come before what must find them open (arrows, instants), and an
 * arrow leaves before it arrives. Arrows leave in the order of their table; those on their way, and
 * ends of async intervals, wait in a heap for their time, so that memory grows with what is in
 * flight only.
 */
#include "chrome_shown.h"

#include <stdlib.h>

#define NS_PER_S 1000000000

/* Ids of async intervals stand apart from those of arrows. */
#define ASYNC_ID ((uint64_t)1 << 48)

#define NO_TIME INT64_MAX

struct merge {
	struct chrome *chrome;           /* weak */
	int64_t next_time_ns[N_SOURCES]; /* NO_TIME = at its end */
	struct table_cursor cursors[N_SOURCES];
	struct chrome_heap later;
	uint64_t n_flows; /* read */
	uint64_t n_async; /* begun */
	uint32_t n_few;   /* losses or rows of a rank that are written */
};

/* -- the merge --------------------------------------------------------------------------------- */

/* Rows of other processes are passed over. */
static void look_ahead(struct merge *merge, enum chrome_source source)
{
	struct table_cursor *cursor = &merge->cursors[source];
	const int64_t *time_ns = table_peek(cursor);

	if (merge->chrome->process != FLEXTRACE_NONE) {
		while (time_ns && !chrome_is_of_process(merge->chrome, source, time_ns)) {
			table_next(cursor, chrome_row_bytes(source));
			time_ns = table_peek(cursor);
		}
	}
	merge->next_time_ns[source] = time_ns ? *time_ns : NO_TIME;
}

static void look_at_later(struct merge *merge)
{
	const struct chrome_heap *heap = &merge->later;

	merge->next_time_ns[FROM_LATER] = heap->n ? heap->later[0].time_ns : NO_TIME;
}

static int push_later(struct merge *merge, const struct chrome_later *later)
{
	int code = chrome_heap_push(&merge->later, later);

	look_at_later(merge);
	return code;
}

static void look_at_losses(struct merge *merge)
{
	const struct chrome *chrome = merge->chrome;

	merge->next_time_ns[FROM_EXTRA] =
		merge->n_few < chrome->losses.n
			? chrome->losses.intervals[merge->n_few].first_time_ns
			: NO_TIME;
}

/* The file of a single rank has rows of its own, and no losses. */
static void look_at_few(struct merge *merge)
{
	const struct chrome *chrome = merge->chrome;
	const struct rank_rows *rank = chrome->rank_rows;

	if (!rank) {
		look_at_losses(merge);
		return;
	}
	while (merge->n_few < rank->n && !chrome_shows(chrome, rank->rows[merge->n_few].process))
		merge->n_few++;
	merge->next_time_ns[FROM_EXTRA] = merge->n_few < rank->n
	                                          ? rank->rows[merge->n_few].start_time_ns
	                                          : NO_TIME;
}

static void write_few(struct merge *merge)
{
	struct chrome *chrome = merge->chrome;
	uint32_t i = merge->n_few++;

	if (chrome->rank_rows)
		chrome_write_rank_row(chrome, &chrome->rank_rows->rows[i]);
	else
		chrome_write_loss(chrome, &chrome->losses.intervals[i]);
	look_at_few(merge);
}

static void merge_init(struct merge *merge, struct chrome *chrome)
{
	*merge = (struct merge){.chrome = chrome};
	for (int source = 0; source < N_SOURCES; source++) {
		const struct table *table = chrome_table(chrome->view.findings, source);

		merge->next_time_ns[source] = NO_TIME;
		if (!table || !chrome_is_shown(chrome, source))
			continue;
		merge->cursors[source] = table_begin(table);
		look_ahead(merge, source);
	}
	look_at_few(merge);
}

/* An arrow can only end at an interval that is shown as one. */
static bool has_interval(const struct chrome *chrome, uint32_t track)
{
	return chrome->views.overlap == OVERLAP_LANES || chrome->views.overlap == OVERLAP_WARN ||
	       !chrome_is_lane(chrome, track);
}

static int write_departure(struct merge *merge)
{
	const struct flow *flow = table_next(&merge->cursors[FROM_FLOWS], sizeof(*flow));
	const struct chrome_later arrow = {
		.time_ns = flow->to_time_ns, .id = ++merge->n_flows, .flow = flow};

	/* An arrow back in time, to a row whose place is a guess, would be no valid pair. */
	if (flow->to_time_ns < flow->from_time_ns)
		return 0;
	if (!has_interval(merge->chrome, flow->from_track) ||
	    !has_interval(merge->chrome, flow->to_track))
		return 0;
	chrome_write_flow(merge->chrome, 's', arrow.id, flow);
	merge->chrome->count->arrows++;
	return push_later(merge, &arrow);
}

static void write_later(struct merge *merge)
{
	const struct chrome_later later = chrome_heap_pop(&merge->later);

	if (later.what == LATER_ARROW)
		chrome_write_flow(merge->chrome, 'f', later.id, later.flow);
	else
		chrome_write_end(merge->chrome, &later);
	look_at_later(merge);
}

static void count_row(struct merge *merge, enum record_class class)
{
	file_count_row(merge->chrome->count, class);
}

/* A row that crosses others of its line, as it was asked for. */
static int write_crossing(struct merge *merge, const void *row, enum record_class class,
                          struct chrome_later end)
{
	end.id = ASYNC_ID + merge->n_async++;
	if (merge->chrome->views.overlap != OVERLAP_ASYNC) {
		chrome_leave_out(merge->chrome->count, class);
		return 0;
	}
	count_row(merge, class);
	if (end.what == LATER_HOST_END)
		chrome_write_host(merge->chrome, row, &end);
	else
		chrome_write_device(merge->chrome, row, &end);
	return push_later(merge, &end);
}

static int write_host(struct merge *merge)
{
	const struct host_row *row = table_next(&merge->cursors[FROM_HOST], sizeof(*row));

	if (!has_interval(merge->chrome, row->track))
		return write_crossing(merge, row, row->class,
		                      (struct chrome_later){.time_ns = row->end_time_ns,
		                                            .track = row->track,
		                                            .name = row->name,
		                                            .kind = row->kind,
		                                            .what = LATER_HOST_END});
	if (row->kind == HOST_COLLECTIVE && merge->chrome->process != FLEXTRACE_NONE)
		chrome_write_collective(merge->chrome, row);
	else
		chrome_write_host(merge->chrome, row, NULL);
	count_row(merge, row->class);
	return 0;
}

static int write_device(struct merge *merge)
{
	const struct device_row *row = table_next(&merge->cursors[FROM_DEVICE], sizeof(*row));
	const struct view *view = &merge->chrome->view;

	if (!has_interval(merge->chrome, row->track))
		return write_crossing(merge, row, view_device_class(view, row),
		                      (struct chrome_later){.time_ns = row->end_time_ns,
		                                            .track = row->track,
		                                            .name = view_device_name(view, row),
		                                            .kind = row->kind,
		                                            .what = LATER_DEVICE_END});
	chrome_write_device(merge->chrome, row, NULL);
	count_row(merge, view_device_class(view, row));
	return 0;
}

static void write_instant(struct merge *merge)
{
	const struct instant_row *row = table_next(&merge->cursors[FROM_INSTANTS], sizeof(*row));

	chrome_write_instant(merge->chrome, row);
	count_row(merge, row->class);
}

static int write_counter(struct merge *merge)
{
	const struct counter_row *row = table_next(&merge->cursors[FROM_COUNTERS], sizeof(*row));
	int changes = chrome_changes_counter(&merge->chrome->counters, row);

	FLEXTRACE_TRY(changes);
	if (!changes) {
		chrome_leave_out(merge->chrome->count, row->class);
		return 0;
	}
	chrome_write_counter(merge->chrome, row);
	count_row(merge, row->class);
	return 0;
}

static void write_memory(struct merge *merge)
{
	const struct memory_row *row = table_next(&merge->cursors[FROM_MEMORY], sizeof(*row));

	chrome_write_memory(merge->chrome, row);
	count_row(merge, RECORD_MEMORY);
}

static int write_next(struct merge *merge, enum chrome_source source)
{
	int code = 0;

	switch (source) {
	case FROM_EXTRA:
		write_few(merge);
		return 0;
	case FROM_LATER:
		write_later(merge);
		return 0;
	case FROM_HOST:
		code = write_host(merge);
		break;
	case FROM_DEVICE:
		code = write_device(merge);
		break;
	case FROM_FLOWS:
		code = write_departure(merge);
		break;
	case FROM_INSTANTS:
		write_instant(merge);
		break;
	case FROM_COUNTERS:
		code = write_counter(merge);
		break;
	default:
		write_memory(merge);
		break;
	}
	look_ahead(merge, source);
	return code;
}

/* Stores when the next event of another source comes. */
static enum chrome_source earliest(const struct merge *merge, int64_t *ret_until_ns)
{
	enum chrome_source best = 0;

	*ret_until_ns = NO_TIME;
	for (int source = 1; source < N_SOURCES; source++) {
		int64_t time_ns = merge->next_time_ns[source];

		if (time_ns < merge->next_time_ns[best]) {
			*ret_until_ns = merge->next_time_ns[best];
			best = source;
		} else if (time_ns < *ret_until_ns) {
			*ret_until_ns = time_ns;
		}
	}
	return best;
}

/* Writes what one source has before all others; it may send something behind itself. */
static int write_until(struct merge *merge, enum chrome_source source, int64_t until_ns)
{
	int code;

	do
		code = write_next(merge, source);
	while (code == 0 && merge->next_time_ns[source] < until_ns &&
	       merge->next_time_ns[FROM_LATER] >= until_ns &&
	       !writer_failed(&merge->chrome->writer));
	return code;
}

static int write_rows(struct chrome *chrome)
{
	struct merge merge;
	int code = 0;

	merge_init(&merge, chrome);
	while (code == 0 && !writer_failed(&chrome->writer)) {
		int64_t until_ns;
		enum chrome_source source = earliest(&merge, &until_ns);

		if (merge.next_time_ns[source] == NO_TIME)
			break;
		code = write_until(&merge, source, until_ns);
	}
	free(merge.later.later);
	return code;
}

/* -- the emitter ------------------------------------------------------------------------------- */

/* ts 0: the last whole second before everything, so that ts are small and doubles hold every ns.
 * The files of single ranks have one for all, as some readers look at ts alone, and earlier. */
static void choose_base(struct chrome *chrome)
{
	int64_t epoch_offset_ns = chrome->view.epoch_offset_ns;
	uint32_t process = chrome->process;
	struct merge merge;
	int64_t first_ns, until_ns;

	chrome->process = FLEXTRACE_NONE;
	merge_init(&merge, chrome);
	chrome->process = process;
	first_ns = merge.next_time_ns[earliest(&merge, &until_ns)];
	if (first_ns == NO_TIME)
		return;
	if (process != FLEXTRACE_NONE)
		first_ns -= chrome_rank_lead_ns(first_ns, chrome->view.timeline->last_time_ns);
	first_ns += epoch_offset_ns;
	first_ns -= (first_ns % NS_PER_S + NS_PER_S) % NS_PER_S;
	chrome->base_time_ns = first_ns - epoch_offset_ns;
}

static int write_file(struct chrome *chrome)
{
	if (chrome->process == FLEXTRACE_NONE)
		FLEXTRACE_TRY(chrome_losses_init(chrome));
	choose_base(chrome);
	FLEXTRACE_TRY(chrome_ids_init(&chrome->ids, &chrome->view, chrome->process));
	FLEXTRACE_TRY(chrome_fragments_init(chrome));
	chrome_write_head(chrome);
	FLEXTRACE_TRY(write_rows(chrome));
	chrome_count_hidden(chrome);
	chrome_write_tail(chrome);
	chrome->count->replaced_bytes = chrome->writer.replaced_bytes;
	return 0;
}

static void set_views(struct chrome *chrome, const struct emit_options *options)
{
	const struct timeline *timeline = chrome->view.timeline;

	chrome->views = options->views;
	if (chrome->process == FLEXTRACE_NONE) {
		chrome->count->expected = timeline_n_rows(timeline);
		chrome->count->has_classes = true;
		return;
	}
	chrome->rank_rows = chrome->view.findings->rank_rows;
	chrome_expect(chrome);
	chrome->is_without_ops = !chrome_has_ops(chrome);
	/* What crosses in the file of another tool crosses again, on its line. */
	if (chrome->views.overlap == OVERLAP_LANES &&
	    identity_is_torch_file(timeline->identity, timeline->strings, chrome->process))
		chrome->views.overlap = OVERLAP_WARN;
}

int emit_chrome(const struct findings *findings, const struct emit_options *options,
                uint32_t process, const char *name, struct file_count *ret_count,
                struct flextrace_error *error)
{
	bool gzip = options->gzip || process != FLEXTRACE_NONE;
	struct chrome chrome = {.process = process, .count = ret_count};
	int code;

	*ret_count = (struct file_count){.file = name};
	FLEXTRACE_TRY(writer_open(&chrome.writer, options->output_dir, name, gzip, error));
	code = view_init(&chrome.view, findings);
	if (code == 0) {
		set_views(&chrome, options);
		code = write_file(&chrome);
	}
	if (code < 0) {
		error_set(error, code, "Cannot write output file: name=%s, cause=no memory", name);
		writer_abandon(&chrome.writer);
	} else {
		code = writer_close(&chrome.writer, error);
	}
	chrome_fragments_release(&chrome);
	chrome_counters_release(&chrome.counters);
	chrome_ids_release(&chrome.ids);
	chrome_losses_release(&chrome);
	view_release(&chrome.view);
	return code;
}
