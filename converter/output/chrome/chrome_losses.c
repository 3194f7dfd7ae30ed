// SPDX-License-Identifier: Apache-2.0
/*
 * chrome_losses.c: the lines of what was lost and of what was left out, one for each cause and
 * place.
 *
 * What was lost at a time that nobody knows is one interval over everything, around those whose
 * time is known. A cause with very many places has a single line.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "chrome.h"

#define MAX_PLACES 64u /* of a cause, with a line of its own each */

uint32_t chrome_loss_pid(enum loss_cause cause)
{
	return ledger_is_loss(cause) ? CHROME_LOSSES_PID : CHROME_LEFT_OUT_PID;
}

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

static int add_lines(struct losses *lines, const struct view *view)
{
	const struct losses *losses = &view->timeline->ledger->losses;
	uint32_t n_places[LOSS_CAUSE_COUNT] = {0};

	for (uint32_t i = 0; i < losses->n; i++)
		n_places[losses->all[i].cause]++;
	for (uint32_t i = 0; i < losses->n; i++) {
		const struct loss *loss = &losses->all[i];
		bool is_many = n_places[loss->cause] > MAX_PLACES;

		FLEXTRACE_TRY(add_line(lines, view, loss, is_many ? &LOSS_NOWHERE : &loss->place));
	}
	return 0;
}

/* -- intervals --------------------------------------------------------------------------------- */

static int add_interval(struct chrome *chrome, uint32_t line, const struct loss_span *span,
                        bool is_timed)
{
	return ARRAY_PUSH(
		chrome->losses.intervals, chrome->losses.n,
		(struct chrome_loss){span->first_ns, span->last_ns, span->count, line, is_timed});
}

/* Intervals of a line are apart, within the one over everything. */
static int add_intervals(struct chrome *chrome, uint32_t line, const struct loss_span *everything)
{
	const struct loss *loss = &chrome->losses.lines.all[line];
	struct loss_span unknown = {everything->first_ns, everything->last_ns, loss->all.count};

	for (uint32_t i = 0; i < loss->n_spans; i++) {
		struct loss_span span = loss->spans[i];

		if (i + 1 < loss->n_spans && span.last_ns > loss->spans[i + 1].first_ns)
			span.last_ns = loss->spans[i + 1].first_ns;
		unknown.count -= span.count;
		FLEXTRACE_TRY(add_interval(chrome, line, &span, true));
	}
	return unknown.count ? add_interval(chrome, line, &unknown, false) : 0;
}

/* Of all rows and losses; 0, 0 where none has a time. */
static struct loss_span find_extent(const struct chrome *chrome)
{
	const struct timeline *timeline = chrome->view.timeline;
	struct loss_span all = {timeline->first_time_ns, timeline->last_time_ns, 0};
	bool is_empty = !all.first_ns && !all.last_ns;

	for (uint32_t i = 0; i < chrome->losses.lines.n; i++) {
		const struct loss_span *line = &chrome->losses.lines.all[i].all;

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
static int compare_losses(const void *left, const void *right)
{
	const struct chrome_loss *a = left, *b = right;

	return ORDER(a->first_time_ns, b->first_time_ns) ?: ORDER(a->line, b->line) ?:
	       ORDER(a->is_timed, b->is_timed);
}

int chrome_losses_init(struct chrome *chrome)
{
	struct loss_span everything;

	FLEXTRACE_TRY(add_lines(&chrome->losses.lines, &chrome->view));
	if (!chrome->losses.lines.n)
		return 0;
	everything = find_extent(chrome);
	for (uint32_t i = 0; i < chrome->losses.lines.n; i++)
		FLEXTRACE_TRY(add_intervals(chrome, i, &everything));
	qsort(chrome->losses.intervals, chrome->losses.n, sizeof(chrome->losses.intervals[0]),
	      compare_losses);
	return 0;
}

void chrome_losses_release(struct chrome *chrome)
{
	losses_release(&chrome->losses.lines);
	free(chrome->losses.intervals);
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

void chrome_append_loss_place(const struct chrome *chrome, struct writer *text,
                              const struct loss_place *place, const char *separator)
{
	if (place->process != FLEXTRACE_NONE) {
		writer_raw(text, separator);
		chrome_append_process(text, &chrome->view.identity->processes[place->process]);
		separator = ", ";
	}
	append_number(text, &separator, "device ", place->device);
	append_number(text, &separator, "core ", place->core);
	if (place->stream != FLEXTRACE_NONE) {
		writer_format(text, "%sstream ", separator);
		view_write_stream(&chrome->view, text, place->stream);
	}
}

void chrome_write_loss(struct chrome *chrome, const struct chrome_loss *loss)
{
	const struct loss *line = &chrome->losses.lines.all[loss->line];
	struct writer *writer = &chrome->writer;

	chrome_next(chrome);
	writer_format(writer, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\"",
	              ledger_is_loss(line->cause) ? "loss" : "left_out",
	              ledger_cause_id(line->cause));
	chrome_write_ids(writer, chrome_loss_pid(line->cause), loss->line + 1);
	chrome_write_times(chrome, loss->first_time_ns, loss->last_time_ns);
	writer_literal(writer, ",\"args\":{\"count\":");
	chrome_write_exact(writer, loss->count);
	writer_literal(writer, ",\"place\":\"");
	chrome_append_loss_place(chrome, writer, &line->place, "");
	writer_raw(writer, loss->is_timed ? "\"}}" : "\",\"time\":\"unknown\"}}");
}
