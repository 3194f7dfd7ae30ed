// SPDX-License-Identifier: Apache-2.0
#include "view.h"

#include <stdlib.h>

#include "model/alignment.h"

static int make_sources(struct view *view)
{
	const struct stream_set *set = view->timeline->streams;
	char text[SOURCE_BYTES];

	FLEXTRACE_TRY(inputs_init(&view->inputs, set, view->strings));
	FLEXTRACE_TRY(fragments_init(&view->sources, view->inputs.n_numbers));
	for (uint32_t i = 0; i < set->n_streams; i++) {
		uint32_t end = i + 1 < set->n_streams ? view->inputs.first[i + 1]
		                                      : view->inputs.n_numbers;

		for (uint32_t place = view->inputs.first[i]; place < end; place++) {
			inputs_write_place(text, &view->inputs, set->streams[i], place);
			writer_raw(&view->sources.bytes, text);
			fragments_end(&view->sources);
		}
	}
	return fragments_check(&view->sources);
}

static int find_exact_clocks(struct view *view)
{
	uint32_t n_processes = view->identity->n_processes, n_lines;
	const struct alignment_report *lines = alignment_report(view->timeline->alignment,
	                                                        &n_lines);

	FLEXTRACE_TRY(ARRAY_NEW(view->is_exact, n_processes + 1));
	for (uint32_t i = 0; i < n_lines; i++)
		view->is_exact[lines[i].process] = lines[i].half_width_ns_max == 0;
	return 0;
}

int view_init(struct view *view, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;
	int code;

	*view = (struct view){
		.findings = findings,
		.timeline = timeline,
		.identity = timeline->identity,
		.strings = timeline->strings,
		.epoch_offset_ns = alignment_epoch_offset_ns(timeline->alignment),
	};
	code = make_sources(view);
	if (code == 0)
		code = find_exact_clocks(view);
	if (code < 0)
		view_release(view);
	return code;
}

void view_release(struct view *view)
{
	fragments_release(&view->sources);
	inputs_release(&view->inputs);
	free(view->is_exact);
	*view = (struct view){.timeline = NULL};
}

bool view_is_device_track(const struct track *track)
{
	return track->kind == TRACK_QUEUE || track->kind == TRACK_CORE;
}

uint32_t view_track_process(const struct view *view, uint32_t track)
{
	const struct track *of = &view->timeline->tracks[track];

	if (view_is_device_track(of))
		return view->identity->devices[of->owner].process;
	return view->identity->threads[of->owner].process;
}

uint32_t view_stream(const struct view *view, const struct track *track)
{
	uint32_t process = view->identity->devices[track->owner].process;

	return track->id + !identity_is_torch_file(view->identity, view->strings, process);
}

uint32_t view_device_name(const struct view *view, const struct device_row *row)
{
	if (view_is_zone(row))
		return view_marker(view, &view->timeline->marks.zones[row->source])->name;
	return view->timeline->ops[row->source].name;
}

void view_device_source(const struct view *view, const struct device_row *row, uint32_t *ret_stream,
                        uint32_t *ret_index)
{
	if (view_is_zone(row)) {
		const struct zone *zone = &view->timeline->marks.zones[row->source];

		*ret_stream = view_run(view, zone)->stream;
		*ret_index = view_run_source(view, row, view_run(view, zone));
	} else {
		const struct tick_op *op = &view->timeline->ops[row->source];

		*ret_stream = op->stream;
		*ret_index = inputs_part(view->timeline->streams->streams[op->stream], op->index,
		                         row->kind);
	}
}

enum record_class view_device_class(const struct view *view, const struct device_row *row)
{
	if (view_is_zone(row))
		return RECORD_MARKER_BATCH;
	return view->timeline->ops[row->source].class;
}

/* Whether a row begins with what the estimate of its control block is about. */
static bool is_estimated(const struct device_row *row, const struct tick_op *op)
{
	uint8_t part = op->estimate - 1;

	if (row->kind > ROW_DMA_OUT || (op->status > TIME_ASSUMED && !op->is_doubted))
		return true;
	if (part != FLEXTRACE_ESTIMATE_WHOLE)
		return row->kind - ROW_DMA_IN == part - FLEXTRACE_ESTIMATE_DMA_IN;
	return op->ticks[row->kind - ROW_DMA_IN] == tick_op_first(op);
}

bool view_moved(const struct view *view, const struct device_row *row, const struct tick_op *op,
                int64_t *ret_moved_ns)
{
	const struct identity *identity = view->identity;
	const struct process *process = &identity->processes[identity->devices[op->device].process];

	if (!op->estimate || !op->submit_host_ns || !is_estimated(row, op))
		return false;
	*ret_moved_ns = row->start_time_ns + view->epoch_offset_ns - op->submit_host_ns -
	                identity->host_clocks[process->host_clock].epoch_offset_ns;
	return true;
}

/* A process on whose clock the times of a loss are; FLEXTRACE_NONE when nothing tells. */
static uint32_t clock_of_loss(const struct view *view, const struct loss_place *place)
{
	const struct identity *identity = view->identity;
	uint32_t trace;

	if (place->process != FLEXTRACE_NONE)
		return place->process;
	if (place->stream == FLEXTRACE_NONE)
		return FLEXTRACE_NONE;
	trace = view->timeline->streams->streams[place->stream]->trace;
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		if (identity->processes[i].trace == trace)
			return i;
	}
	return FLEXTRACE_NONE;
}

bool view_loss_times(const struct view *view, const struct loss_place *place,
                     const struct loss_span *span, struct loss_span *ret_shown)
{
	const struct alignment *alignment = view->timeline->alignment;
	uint32_t process = clock_of_loss(view, place);

	if (process == FLEXTRACE_NONE || span->first_ns == INT64_MIN)
		return false;
	*ret_shown = (struct loss_span){
		.first_ns = alignment_place(alignment, process, span->first_ns).time_ns,
		.last_ns = alignment_place(alignment, process, span->last_ns).time_ns,
		.count = span->count,
	};
	return true;
}
