/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterations.csv: each iteration; loops.csv: how regular those of a rank are.
 */
#include "findings/iterations.h"
#include "model/alignment.h"
#include "analysis_impl.h"

/* -- iterations.csv ------------------------------------------------------------------------- */

struct iteration_row {
	struct iteration of;
	struct owner_cells owner;
	const char *name;
	int64_t start_ns, end_ns;
	uint64_t dur_ns, period_ns;
};

static const struct column iteration_columns[] = {
	COLUMNS_OWNER(struct iteration_row),
	COLUMN_AS("iteration", struct iteration_row, of.number),
	COLUMN(struct iteration_row, name),
	COLUMN(struct iteration_row, start_ns),
	COLUMN(struct iteration_row, end_ns),
	COLUMN(struct iteration_row, dur_ns),
	COLUMN_OPTIONAL(struct iteration_row, period_ns),
	COLUMN_AS("kernels", struct iteration_row, of.n_kernels),
};

static int fill_iterations(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	int64_t epoch_offset_ns = alignment_epoch_offset_ns(timeline->alignment);
	const struct iterations *iterations = findings->iterations;

	for (uint32_t i = 0; i < iterations->n; i++) {
		const struct iteration *of = &iterations->all[i];

		row_put(sink,
		        &(struct iteration_row){
				.of = *of,
				.owner = identity_owner(timeline->identity, of->process),
				.name = string_get(timeline->strings, of->name),
				.start_ns = of->start_time_ns + epoch_offset_ns,
				.end_ns = of->end_time_ns + epoch_offset_ns,
				.dur_ns = interval_ns(of->start_time_ns, of->end_time_ns),
				.period_ns = of->is_followed ? of->period_ns : COLUMN_NONE_U64,
			});
	}
	return FLEXTRACE_OK;
}

const struct analysis analysis_iterations = ANALYSIS_CSV("iterations", iteration_columns,
                                                         fill_iterations);

/* -- loops.csv ------------------------------------------------------------------------------ */

static const char *source_name(enum iteration_source source)
{
	static const char *const names[] = {
		[ITERATIONS_NONE] = "none",
		[ITERATIONS_STEPS] = "steps",
		[ITERATIONS_KERNELS] = "kernels",
	};

	return names[source];
}

struct loop_row {
	struct iteration_summary of;
	struct owner_cells owner;
	const char *source;
	uint32_t turn_kernels;
	double coverage_percent;
};

static const struct column loop_columns[] = {
	COLUMNS_OWNER(struct loop_row),
	COLUMN(struct loop_row, source),
	COLUMN_AS("iterations", struct loop_row, of.n_iterations),
	COLUMN_OPTIONAL(struct loop_row, turn_kernels),
	COLUMN_AS("kernels", struct loop_row, of.n_kernels),
	COLUMN_AS("covered_kernels", struct loop_row, of.n_covered),
	COLUMN_FIXED(struct loop_row, coverage_percent, 2),
	COLUMNS_SPREAD(struct loop_row, of.periods, "_ns"),
};

static void put_loop(const struct iterations *iterations, uint32_t process, struct row_sink *sink)
{
	const struct iteration_summary *of = &iterations->summaries[process];
	struct loop_row row = {
		.of = *of,
		.owner = identity_owner(iterations->timeline->identity, process),
		.source = source_name(of->source),
		.turn_kernels = of->turn_kernels ? of->turn_kernels : COLUMN_NONE_U32,
		.coverage_percent = 100.0 * (double)of->n_covered / (double)of->n_kernels,
	};

	if (!of->has_periods)
		row.of.periods = SPREAD_NONE;
	if (of->n_kernels || of->n_iterations)
		row_put(sink, &row);
}

static int fill_loops(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	const struct iterations *iterations = findings->iterations;

	for (uint32_t i = 0; i < timeline->identity->n_processes; i++)
		put_loop(iterations, iterations->owners.processes[i], sink);
	return FLEXTRACE_OK;
}

const struct analysis analysis_loops = ANALYSIS_CSV("loops", loop_columns, fill_loops);
