// SPDX-License-Identifier: Apache-2.0
/*
 * csv_reports.c: the tables about the conversion itself: how good the clocks are, what was lost,
 * what programs emitted.
 */
#include <stdlib.h>
#include <string.h>

#include "emitted.h"
#include "emit/csv.h"
#include "emit/report_fields.h"

static int close_file(struct writer *writer, struct emit_file_count *count,
                      struct flextrace_error *error)
{
	count->replaced_bytes = writer->replaced_bytes;
	return writer_close(writer, error);
}

static void write_clock(struct csv *csv, struct writer *writer, const struct clock_report *clock)
{
	const struct counter *counter = &csv->view.identity->counters[clock->counter];
	const struct device *device = &csv->view.identity->devices[counter->device];
	struct report_field fields[REPORT_CLOCK_FIELDS];

	report_clock_fields(csv->view.timeline, clock, fields);
	csv_write_owner(csv, writer, device->process);
	csv_write_id(writer, device->device);
	csv_write_id(writer, counter->domain);
	report_write_csv(writer, fields, REPORT_CLOCK_FIELDS);
}

int csv_write_clocks(struct csv *csv, struct flextrace_error *error)
{
	uint32_t n;
	const struct clock_report **clocks = report_sort_clocks(csv->view.timeline->clocks,
	                                                        csv->view.identity, &n);
	struct emit_file_count *count = csv_count(csv, "clocks.csv", n);
	struct report_field names[REPORT_CLOCK_FIELDS];
	struct writer writer;
	int code;

	if (!clocks)
		return FLEXTRACE_E_MEMORY;
	code = writer_open(&writer, csv->options->output_dir, count->file, false, error);
	if (code < 0) {
		free(clocks);
		return code;
	}
	report_clock_fields(NULL, NULL, names);
	writer_literal(&writer, "rank,host,pid,device,domain,");
	report_write_csv_names(&writer, names, REPORT_CLOCK_FIELDS);
	for (; count->rows < n; count->rows++)
		write_clock(csv, &writer, clocks[count->rows]);
	free(clocks);
	return close_file(&writer, count, error);
}

int csv_write_alignment(struct csv *csv, struct flextrace_error *error)
{
	uint32_t n;
	const struct alignment_report *lines = alignment_report(csv->view.timeline->alignment, &n);
	struct emit_file_count *count = csv_count(csv, "alignment.csv", n);
	struct report_field fields[REPORT_ALIGNMENT_FIELDS];
	struct writer writer;

	FLEXTRACE_TRY(writer_open(&writer, csv->options->output_dir, count->file, false, error));
	report_alignment_fields(&(struct alignment_report){.process = 0}, fields);
	writer_literal(&writer, "rank,host,pid,");
	report_write_csv_names(&writer, fields, REPORT_ALIGNMENT_FIELDS);
	for (; count->rows < n; count->rows++) {
		report_alignment_fields(&lines[count->rows], fields);
		csv_write_owner(csv, &writer, lines[count->rows].process);
		report_write_csv(&writer, fields, REPORT_ALIGNMENT_FIELDS);
	}
	return close_file(&writer, count, error);
}

/* rank,host,pid, where only the stream is known: its host. */
static void write_owner_of_loss(struct csv *csv, struct writer *writer,
                                const struct loss_place *place)
{
	const struct stream_set *streams = csv->view.timeline->streams;

	if (place->process != FLEXTRACE_NONE || place->stream == FLEXTRACE_NONE) {
		csv_write_owner(csv, writer, place->process);
		return;
	}
	writer_char(writer, ',');
	view_write_csv(&csv->view, writer, streams->streams[place->stream]->host);
	writer_literal(writer, ",,");
}

static void write_loss(struct csv *csv, struct writer *writer, const struct loss *loss)
{
	struct loss_span shown;

	write_owner_of_loss(csv, writer, &loss->place);
	writer_raw(writer, ledger_cause_id(loss->cause));
	writer_char(writer, ',');
	csv_write_id(writer, loss->place.device);
	csv_write_id(writer, loss->place.core);
	if (loss->place.stream != FLEXTRACE_NONE)
		view_write_stream(&csv->view, writer, loss->place.stream);
	writer_char(writer, ',');
	writer_u64(writer, loss->all.count);
	writer_char(writer, ',');
	if (view_loss_times(&csv->view, &loss->place, &loss->all, &shown)) {
		csv_write_time(csv, writer, shown.first_ns);
		writer_i64(writer, shown.last_ns + csv->view.epoch_offset_ns);
	} else {
		writer_char(writer, ',');
	}
	writer_char(writer, '\n');
}

int csv_write_losses(struct csv *csv, struct flextrace_error *error)
{
	const struct ledger *ledger = csv->view.timeline->ledger;
	struct emit_file_count *count = csv_count(csv, "losses.csv", ledger->losses.n);
	struct writer writer;

	FLEXTRACE_TRY(writer_open(&writer, csv->options->output_dir, count->file, false, error));
	writer_literal(&writer, "rank,host,pid,cause,device,core,stream,count,first_ns,last_ns\n");
	for (; count->rows < ledger->losses.n; count->rows++)
		write_loss(csv, &writer, &ledger->losses.all[count->rows]);
	return close_file(&writer, count, error);
}

static void write_emitter(struct csv *csv, struct writer *writer,
                          const struct emitted_process *process)
{
	if (process->process != FLEXTRACE_NONE) {
		csv_write_owner(csv, writer, process->process);
	} else {
		writer_literal(writer, ",,");
		writer_i64(writer, process->pid);
		writer_char(writer, ',');
	}
	writer_csv(writer, process->program, strlen(process->program));
	writer_char(writer, ',');
}

static void write_emitted(struct csv *csv, struct writer *writer,
                          const struct emitted_process *process, int class)
{
	const uint64_t counts[] = {process->least[class], process->most[class],
	                           process->read[class], process->late[class]};

	write_emitter(csv, writer, process);
	writer_raw(writer, record_class_name((enum record_class) class));
	writer_char(writer, ',');
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		writer_u64(writer, counts[i]);
		writer_char(writer, ',');
	}
	writer_u64(writer, emitted_missing(process, class));
	writer_char(writer, '\n');
}

int csv_write_emitted(struct csv *csv, struct flextrace_error *error)
{
	const struct emitted *emitted = csv->view.timeline->emitted;
	uint32_t n = emitted ? emitted->n : 0;
	struct emit_file_count *count = csv_count(csv, "emitted.csv", emitted_rows(emitted));
	struct writer writer;

	FLEXTRACE_TRY(writer_open(&writer, csv->options->output_dir, count->file, false, error));
	writer_literal(&writer,
	               "rank,host,pid,program,class,emitted,emitted_at_most,read,late,missing\n");
	for (uint32_t i = 0; i < n; i++)
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
			if (!emitted_has(&emitted->processes[i], class))
				continue;
			write_emitted(csv, &writer, &emitted->processes[i], class);
			count->rows++;
		}
	return close_file(&writer, count, error);
}
