// SPDX-License-Identifier: Apache-2.0
/*
 * event_losses.c: the lines of what was lost and of what was left out, one for each cause and
 * place.
 *
 * The file of a single rank has what was lost of it, and what no record tells the rank of.
 *
 * What was lost at a time that nobody knows is one interval over everything, around those whose
 * time is known. A cause with very many places has a single line.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "events.h"

#define MAX_PLACES 64u /* of a cause, with a line of its own each */

/* -- lines ------------------------------------------------------------------------------------- */

/* Whether spans say when all of the count was lost that they say. LTTng's counts may fall. */
static bool adds_up(const struct loss *loss)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < loss->n_spans; i++)
		sum += loss->spans[i].count;
	return sum <= loss->all.count;
}

static int add_line(struct losses *lines, const struct view *view, const struct loss *loss,
                    const struct loss_place *place)
{
	struct loss_span unknown = {INT64_MIN, INT64_MIN, loss->all.count}, shown;
	bool has_spans = adds_up(loss);
	const struct loss_span *spans = has_spans ? loss->spans : &loss->all;

	for (uint32_t i = 0; i < (has_spans ? loss->n_spans : 1); i++) {
		if (!view_loss_times(view, &loss->place, &spans[i], &shown))
			continue;
		if (shown.last_ns < shown.first_ns)
			shown.last_ns = shown.first_ns;
		FLEXTRACE_TRY(losses_add(lines, loss->cause, place, &shown));
		unknown.count -= shown.count;
	}
	return losses_add(lines, loss->cause, place, &unknown);
}

static bool may_be_of(const struct events *events, const struct loss_place *place)
{
	const struct timeline *timeline = events->view.timeline;
	const struct process *process;

	if (!events_are_of_rank(events) || place->process != FLEXTRACE_NONE)
		return events_show(events, place->process);
	process = &timeline->identity->processes[events->process];
	return place->stream == FLEXTRACE_NONE || process->is_shared ||
	       timeline->streams->streams[place->stream]->trace == process->trace;
}

static int add_lines(struct events *events)
{
	const struct losses *losses = &events->view.timeline->ledger->losses;
	uint32_t n_places[LOSS_CAUSE_COUNT] = {0};

	for (uint32_t i = 0; i < losses->n; i++)
		n_places[losses->all[i].cause] += may_be_of(events, &losses->all[i].place);
	for (uint32_t i = 0; i < losses->n; i++) {
		const struct loss *loss = &losses->all[i];
		bool is_many = n_places[loss->cause] > MAX_PLACES;

		if (may_be_of(events, &loss->place))
			FLEXTRACE_TRY(add_line(&events->losses.lines, &events->view, loss,
			                       is_many ? &LOSS_NOWHERE : &loss->place));
	}
	return 0;
}

/* -- intervals --------------------------------------------------------------------------------- */

static int add_interval(struct events *events, uint32_t line, const struct loss_span *span,
                        bool is_timed)
{
	return ARRAY_PUSH(
		events->losses.intervals, events->losses.n,
		(struct event_loss){span->first_ns, span->last_ns, span->count, line, is_timed});
}

/* Intervals of a line are apart, within the one over everything. */
static int add_intervals(struct events *events, uint32_t line, const struct loss_span *everything)
{
	const struct loss *loss = &events->losses.lines.all[line];
	struct loss_span unknown = {everything->first_ns, everything->last_ns, loss->all.count};

	for (uint32_t i = 0; i < loss->n_spans; i++) {
		struct loss_span span = loss->spans[i];

		if (i + 1 < loss->n_spans && span.last_ns > loss->spans[i + 1].first_ns)
			span.last_ns = loss->spans[i + 1].first_ns;
		unknown.count -= span.count;
		FLEXTRACE_TRY(add_interval(events, line, &span, true));
	}
	return unknown.count ? add_interval(events, line, &unknown, false) : 0;
}

/* Of all rows and losses; 0, 0 where none has a time. */
static struct loss_span find_extent(const struct events *events)
{
	const struct timeline *timeline = events->view.timeline;
	struct loss_span all = {timeline->first_time_ns, timeline->last_time_ns, 0};
	bool is_empty = !all.first_ns && !all.last_ns;

	for (uint32_t i = 0; i < events->losses.lines.n; i++) {
		const struct loss_span *line = &events->losses.lines.all[i].all;

		if (line->first_ns == INT64_MIN)
			continue;
		if (is_empty || line->first_ns < all.first_ns)
			all.first_ns = line->first_ns;
		if (is_empty || line->last_ns > all.last_ns)
			all.last_ns = line->last_ns;
		is_empty = false;
	}
	return all;
}

/* What begins at one time is in order of its lines, and what holds others before them. */
ORDER_BY(compare_losses, struct event_loss, first_time_ns, line, is_timed);

int event_losses_init(struct events *events)
{
	struct loss_span everything;

	FLEXTRACE_TRY(add_lines(events));
	if (!events->losses.lines.n)
		return 0;
	everything = find_extent(events);
	for (uint32_t i = 0; i < events->losses.lines.n; i++)
		FLEXTRACE_TRY(add_intervals(events, i, &everything));
	qsort(events->losses.intervals, events->losses.n, sizeof(events->losses.intervals[0]),
	      compare_losses);
	return 0;
}

void event_losses_release(struct events *events)
{
	losses_release(&events->losses.lines);
	free(events->losses.intervals);
	writer_abandon(&events->losses.text);
}

/* -- an event ---------------------------------------------------------------------------------- */

/* Appends a number behind a separator, if there is one, and makes that of what is not the first. */
static void append_number(struct writer *text, const char **separator, const char *key,
                          uint32_t number)
{
	if (number == FLEXTRACE_NONE)
		return;
	writer_format(text, "%s%s%u", *separator, key, number);
	*separator = ", ";
}

static void append_place(const struct events *events, struct writer *text,
                         const struct loss_place *place, const char *separator)
{
	if (place->process != FLEXTRACE_NONE) {
		writer_raw(text, separator);
		line_append_rank(text, &events->view.identity->processes[place->process]);
		separator = ", ";
	}
	append_number(text, &separator, "device ", place->device);
	append_number(text, &separator, "core ", place->core);
	if (place->stream != FLEXTRACE_NONE) {
		writer_format(text, "%sstream ", separator);
		view_write_stream(&events->view, text, place->stream);
	}
}

void event_append_loss_line(const struct events *events, struct writer *text, uint32_t line)
{
	const struct loss *loss = &events->losses.lines.all[line];

	writer_format(text, "%s: %" PRIu64, ledger_cause_id(loss->cause), loss->all.count);
	append_place(events, text, &loss->place, ", ");
}

int event_of_loss(struct events *events, const struct event_loss *loss, struct file_event *event)
{
	const struct loss *line = &events->losses.lines.all[loss->line];
	const char *cause = ledger_cause_id(line->cause);
	struct writer *text = &events->losses.text;

	event_begin(event, EVENT_INTERVAL, ON_LOSSES, loss->line);
	event->start_time_ns = loss->first_time_ns;
	event->end_time_ns = loss->last_time_ns;
	event->label = (struct trace_text){cause, strlen(cause)};
	event->category = ledger_is_loss(line->cause) ? EVENT_TEXT("loss") : EVENT_TEXT("left_out");
	event_add_u64(event, EVENT_KEY_COUNT, loss->count);
	text->at = text->buffer;
	append_place(events, text, &line->place, "");
	event_add_text(event, EVENT_KEY_PLACE, ARG_WORD, text->buffer ? text->buffer : "",
	               (size_t)(text->at - text->buffer));
	if (!loss->is_timed)
		event_add_word(event, EVENT_KEY_TIME, "unknown");
	return writer_failed(text) ? FLEXTRACE_E_MEMORY : 1;
}
