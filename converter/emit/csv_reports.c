// SPDX-License-Identifier: Apache-2.0
/*
 * csv_reports.c: the tables about the conversion itself: how good the clocks are, what was lost.
 */
#include <stdlib.h>

#include "emit/csv.h"

#define MHZ_DECIMALS 6
#define PPM_DECIMALS 6
#define NS_DECIMALS  3

/* A field and its comma; NAN is empty. */
static void write_real(struct writer *writer, double value, int n_decimals)
{
	writer_fixed(writer, value, n_decimals);
	writer_char(writer, ',');
}

static void write_count(struct writer *writer, uint64_t value)
{
	writer_u64(writer, value);
	writer_char(writer, ',');
}

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

	csv_write_owner(csv, writer, device->process);
	csv_write_id(writer, device->device);
	csv_write_id(writer, counter->domain);
	write_count(writer, clock->segment);
	write_count(writer, clock->events);
	write_count(writer, clock->certified);
	write_count(writer, clock->assumed);
	write_count(writer, clock->outliers);
	write_count(writer, clock->resets);
	write_real(writer, clock->freq_mhz, MHZ_DECIMALS);
	write_real(writer, clock->ppm_vs_nominal, PPM_DECIMALS);
	write_real(writer, clock->ci_ppm, PPM_DECIMALS);
	write_real(writer, clock->offset_ns, NS_DECIMALS);
	write_real(writer, clock->half_width_ns_p50, NS_DECIMALS);
	write_real(writer, clock->half_width_ns_p99, NS_DECIMALS);
	write_real(writer, clock->half_width_ns_max, NS_DECIMALS);
	write_real(writer, clock->residual_ns_p50, NS_DECIMALS);
	write_real(writer, clock->residual_ns_p99, NS_DECIMALS);
	write_real(writer, clock->residual_ns_max, NS_DECIMALS);
	write_count(writer, clock->violations_before);
	write_count(writer, clock->violations_after);
	write_count(writer, clock->inversions_before);
	write_count(writer, clock->inversions_after);
	write_real(writer, clock->rho_ppm, PPM_DECIMALS);
	writer_raw(writer, clock->rho_source);
	writer_char(writer, '\n');
}

/* The rank that a clock's line tells; unknown ones are the largest. */
static uint32_t rank_of(const struct identity *identity, const struct clock_report *clock)
{
	uint32_t process = identity->devices[identity->counters[clock->counter].device].process;

	return (uint32_t)identity->processes[process].rank;
}

/* By rank, else in the order of the clocks. */
static int compare_clocks(const void *left, const void *right, void *identity)
{
	const struct clock_report *a = *(const struct clock_report *const *)left;
	const struct clock_report *b = *(const struct clock_report *const *)right;
	uint32_t rank_a = rank_of(identity, a), rank_b = rank_of(identity, b);

	return rank_a != rank_b ? (rank_a > rank_b) - (rank_a < rank_b) : (a > b) - (a < b);
}

/* Owned; NULL = out of memory. */
static const struct clock_report **sort_clocks(const struct csv *csv, uint32_t *ret_n)
{
	const struct clock_report *clocks = clocks_report(csv->view.timeline->clocks, ret_n);
	const struct clock_report **sorted = malloc((*ret_n + 1ull) * sizeof(const void *));

	if (!sorted)
		return NULL;
	for (uint32_t i = 0; i < *ret_n; i++)
		sorted[i] = &clocks[i];
	qsort_r(sorted, *ret_n, sizeof(const void *), compare_clocks, (void *)csv->view.identity);
	return sorted;
}

int csv_write_clocks(struct csv *csv, struct flextrace_error *error)
{
	uint32_t n;
	const struct clock_report **clocks = sort_clocks(csv, &n);
	struct emit_file_count *count = csv_count(csv, "clocks.csv", n);
	struct writer writer;
	int code;

	if (!clocks)
		return FLEXTRACE_E_MEMORY;
	code = writer_open(&writer, csv->options->output_dir, count->file, false, error);
	if (code < 0) {
		free(clocks);
		return code;
	}
	writer_literal(
		&writer,
		"rank,host,pid,device,domain,segment,events,certified,assumed,outliers,resets,"
		"freq_mhz,ppm_vs_nominal,ci_ppm,offset_ns,half_width_ns_p50,half_width_ns_p99,"
		"half_width_ns_max,residual_ns_p50,residual_ns_p99,residual_ns_max,"
		"violations_before,violations_after,inversions_before,inversions_after,"
		"rho_ppm,rho_source\n");
	for (; count->rows < n; count->rows++)
		write_clock(csv, &writer, clocks[count->rows]);
	free(clocks);
	return close_file(&writer, count, error);
}

static void write_alignment(struct csv *csv, struct writer *writer,
                            const struct alignment_report *line)
{
	csv_write_owner(csv, writer, line->process);
	write_real(writer, line->offset_ns, NS_DECIMALS);
	write_real(writer, line->drift_ppm, PPM_DECIMALS);
	write_real(writer, line->half_width_ns_p50, NS_DECIMALS);
	write_real(writer, line->half_width_ns_p99, NS_DECIMALS);
	write_real(writer, line->half_width_ns_max, NS_DECIMALS);
	write_count(writer, line->sync_points_used);
	write_count(writer, line->sync_points_dropped);
	write_real(writer, line->residual_ns_p50, NS_DECIMALS);
	write_real(writer, line->residual_ns_p90, NS_DECIMALS);
	write_real(writer, line->residual_ns_p99, NS_DECIMALS);
	write_real(writer, line->residual_ns_max, NS_DECIMALS);
	write_count(writer, line->component);
	writer_u64(writer, line->one_sided);
	writer_char(writer, '\n');
}

int csv_write_alignment(struct csv *csv, struct flextrace_error *error)
{
	uint32_t n;
	const struct alignment_report *lines = alignment_report(csv->view.timeline->alignment, &n);
	struct emit_file_count *count = csv_count(csv, "alignment.csv", n);
	struct writer writer;

	FLEXTRACE_TRY(writer_open(&writer, csv->options->output_dir, count->file, false, error));
	writer_literal(&writer,
	               "rank,host,pid,offset_ns,drift_ppm,half_width_ns_p50,half_width_ns_p99,"
	               "half_width_ns_max,sync_points_used,sync_points_dropped,residual_ns_p50,"
	               "residual_ns_p90,residual_ns_p99,residual_ns_max,component,one_sided\n");
	for (; count->rows < n; count->rows++)
		write_alignment(csv, &writer, &lines[count->rows]);
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
	int64_t first_time_ns, last_time_ns;

	write_owner_of_loss(csv, writer, &loss->place);
	writer_raw(writer, ledger_cause_id(loss->cause));
	writer_char(writer, ',');
	csv_write_id(writer, loss->place.device);
	csv_write_id(writer, loss->place.core);
	if (loss->place.stream != FLEXTRACE_NONE)
		texts_write(&csv->view.sources, loss->place.stream, writer);
	writer_char(writer, ',');
	write_count(writer, loss->count);
	if (view_loss_times(&csv->view, loss, &first_time_ns, &last_time_ns)) {
		csv_write_time(csv, writer, first_time_ns);
		writer_i64(writer, last_time_ns + csv->view.epoch_offset_ns);
	} else {
		writer_char(writer, ',');
	}
	writer_char(writer, '\n');
}

int csv_write_losses(struct csv *csv, struct flextrace_error *error)
{
	const struct ledger *ledger = csv->view.timeline->ledger;
	struct emit_file_count *count = csv_count(csv, "losses.csv", ledger->n_losses);
	struct writer writer;

	FLEXTRACE_TRY(writer_open(&writer, csv->options->output_dir, count->file, false, error));
	writer_literal(&writer, "rank,host,pid,cause,device,core,stream,count,first_ns,last_ns\n");
	for (; count->rows < ledger->n_losses; count->rows++)
		write_loss(csv, &writer, &ledger->losses[count->rows]);
	return close_file(&writer, count, error);
}
