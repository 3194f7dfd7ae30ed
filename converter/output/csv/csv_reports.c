// SPDX-License-Identifier: Apache-2.0
/*
 * csv_reports.c: the tables about the conversion itself: how good the clocks are, what was lost,
 * what programs emitted.
 */
#include <stdlib.h>
#include <string.h>

#include "model/timeline/clock_columns.h"
#include "output/column_text.h"
#include "csv.h"
#include "model/emitted/emitted.h"
#include "model/alignment.h"
#include "model/clocks.h"

/* -- clocks.csv, alignment.csv --------------------------------------------------------------- */

static int fill_clocks(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	uint32_t n;
	const struct clock_report **clocks = clock_columns_sort(timeline->clocks,
	                                                        timeline->identity, &n);

	if (!clocks)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < n; i++) {
		const struct clock_row row = clock_columns_row(timeline, clocks[i]);

		row_put(sink, &row);
	}
	free(clocks);
	return FLEXTRACE_OK;
}

static int fill_alignment(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	uint32_t n;
	const struct alignment_report *lines = alignment_report(timeline->alignment, &n);

	for (uint32_t i = 0; i < n; i++)
		row_put(sink, &(struct alignment_row){
				      .owner = identity_owner(timeline->identity, lines[i].process),
				      .of = lines[i],
			      });
	return FLEXTRACE_OK;
}

/* -- losses.csv ------------------------------------------------------------------------------ */

struct loss_row {
	struct owner_cells owner;
	const char *cause, *stream;
	uint32_t device, core;
	uint64_t count;
	int64_t first_ns, last_ns;
};

static const struct column loss_columns[] = {
	COLUMNS_OWNER(struct loss_row),
	COLUMN(struct loss_row, cause),
	COLUMN_OPTIONAL(struct loss_row, device),
	COLUMN_OPTIONAL(struct loss_row, core),
	COLUMN(struct loss_row, stream),
	COLUMN(struct loss_row, count),
	COLUMN_OPTIONAL(struct loss_row, first_ns),
	COLUMN_OPTIONAL(struct loss_row, last_ns),
};

/* Where only the stream is known: its host. */
static struct owner_cells owner_of_loss(const struct timeline *timeline,
                                        const struct loss_place *place)
{
	struct owner_cells owner = identity_owner(timeline->identity, place->process);

	if (place->process == FLEXTRACE_NONE && place->stream != FLEXTRACE_NONE)
		owner.host = string_get(timeline->strings,
		                        timeline->streams->streams[place->stream]->host);
	return owner;
}

/* False: no memory. */
static bool put_loss(const struct view *view, const struct loss *loss, struct writer *stream,
                     struct row_sink *sink)
{
	struct loss_row row = {
		.owner = owner_of_loss(view->timeline, &loss->place),
		.cause = ledger_cause_id(loss->cause),
		.device = loss->place.device,
		.core = loss->place.core,
		.count = loss->all.count,
		.first_ns = COLUMN_NONE_I64,
		.last_ns = COLUMN_NONE_I64,
	};
	struct loss_span shown;

	stream->at = stream->buffer;
	if (loss->place.stream != FLEXTRACE_NONE)
		view_write_stream(view, stream, loss->place.stream);
	writer_char(stream, '\0');
	row.stream = stream->buffer;
	if (view_loss_times(view, &loss->place, &loss->all, &shown)) {
		row.first_ns = shown.first_ns + view->epoch_offset_ns;
		row.last_ns = shown.last_ns + view->epoch_offset_ns;
	}
	if (!writer_failed(stream))
		row_put(sink, &row);
	return !writer_failed(stream);
}

static int fill_losses(const struct findings *findings, struct row_sink *sink)
{
	const struct losses *losses = &findings->timeline->ledger->losses;
	struct writer stream;
	struct view view;
	int code = view_init(&view, findings);

	writer_open_memory(&stream);
	for (uint32_t i = 0; code >= 0 && i < losses->n; i++)
		code = put_loss(&view, &losses->all[i], &stream, sink) ? code : FLEXTRACE_E_MEMORY;
	writer_abandon(&stream);
	view_release(&view);
	return code;
}

/* -- emitted.csv ----------------------------------------------------------------------------- */

struct emitted_row {
	struct owner_cells owner;
	const char *program, *class;
	uint64_t emitted, emitted_at_most, read, late, missing;
};

static const struct column emitted_columns[] = {
	COLUMNS_OWNER(struct emitted_row),
	COLUMN(struct emitted_row, program),
	COLUMN(struct emitted_row, class),
	COLUMN(struct emitted_row, emitted),
	COLUMN(struct emitted_row, emitted_at_most),
	COLUMN(struct emitted_row, read),
	COLUMN(struct emitted_row, late),
	COLUMN(struct emitted_row, missing),
};

static void put_emitted(const struct identity *identity, const struct emitted_process *process,
                        struct row_sink *sink)
{
	struct emitted_row row = {
		.owner = identity_owner(identity, process->process),
		.program = process->program,
	};

	if (process->process == FLEXTRACE_NONE)
		row.owner.pid = process->pid;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		if (!emitted_has(process, class))
			continue;
		row.class = record_class_name((enum record_class) class);
		row.emitted = process->least[class];
		row.emitted_at_most = process->most[class];
		row.read = process->read[class];
		row.late = process->late[class];
		row.missing = emitted_missing(process, class);
		row_put(sink, &row);
	}
}

static int fill_emitted(const struct findings *findings, struct row_sink *sink)
{
	const struct emitted *emitted = findings->emitted;

	for (uint32_t i = 0; emitted && i < emitted->n; i++)
		put_emitted(findings->timeline->identity, &emitted->processes[i], sink);
	return FLEXTRACE_OK;
}

/* -- files ----------------------------------------------------------------------------------- */

const struct result_file csv_reports[CSV_N_REPORTS] = {
	{.name = "clocks.csv",
         .title = "Device clocks",
         .what = "How well each device clock is known: its rate, half the "
                 "width of its error bars, and violations of causality before "
                 "and after calibration.",
         .table = {clock_columns, CLOCK_COLUMNS, fill_clocks}},
	{.name = "alignment.csv",
         .title = "Host clocks",
         .what = "How far the clock of each process's host is off that of the "
                 "reference, and within which bounds.",
         .table = {alignment_columns, ALIGNMENT_COLUMNS, fill_alignment}},
	{.name = "losses.csv",
         .title = "Losses",
         .what = "What is missing or was left out, by cause and place.",
         .table = COLUMN_TABLE(loss_columns, fill_losses)},
	{.name = "emitted.csv",
         .title = "Records by program",
         .what = "What each program emitted, and what of it was read: emitted "
                 "= read + late + missing.",
         .table = COLUMN_TABLE(emitted_columns, fill_emitted)},
};
