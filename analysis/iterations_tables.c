/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterations.csv: each iteration; loops.csv: how regular those of a rank are.
 */
#include "findings/iterations.h"
#include "analysis_impl.h"

/* -- iterations.csv ------------------------------------------------------------------------- */

static const struct column iteration_columns[] = {
	COLUMNS_PROCESS(struct iteration, process),
	COLUMN_AS("iteration", struct iteration, number),
	COLUMN_STRING("name", struct iteration, name),
	COLUMN_TIME("start_ns", struct iteration, start_time_ns),
	COLUMN_TIME("end_ns", struct iteration, end_time_ns),
	COLUMN_LENGTH("dur_ns", struct iteration, start_time_ns),
	COLUMN_OPTIONAL(struct iteration, period_ns),
	COLUMN_AS("kernels", struct iteration, n_kernels),
};

static int fill_iterations(const struct findings *findings, struct row_sink *sink)
{
	for (uint32_t i = 0; i < findings->iterations->n; i++)
		row_put(sink, &findings->iterations->all[i]);
	return FLEXTRACE_OK;
}

const struct analysis analysis_iterations =
	ANALYSIS_CSV("iterations", iteration_columns, fill_iterations, .title = "Iterations",
                     .what = "Each repetition of what a rank does: its steps, or the turns "
                             "of the loop that was found in its kernels. A duration lasts "
                             "from the begin of one to its end.");

/* -- loops.csv ------------------------------------------------------------------------------ */

static const char *source_name(uint8_t source)
{
	static const char *const names[] = {
		[ITERATIONS_NONE] = "none",
		[ITERATIONS_STEPS] = "steps",
		[ITERATIONS_KERNELS] = "kernels",
	};

	return names[source];
}

static const struct column loop_columns[] = {
	COLUMNS_PROCESS(struct iteration_summary, process),
	COLUMN_NAMED("source", struct iteration_summary, source, source_name),
	COLUMN_AS("iterations", struct iteration_summary, n_iterations),
	COLUMN_NONZERO("turn_kernels", struct iteration_summary, turn_kernels),
	COLUMN_AS("kernels", struct iteration_summary, n_kernels),
	COLUMN_AS("covered_kernels", struct iteration_summary, n_covered),
	COLUMN_FIXED(struct iteration_summary, coverage_percent, 2),
	COLUMNS_SPREAD(struct iteration_summary, periods, "_ns"),
};

static int fill_loops(const struct findings *findings, struct row_sink *sink)
{
	const struct iterations *iterations = findings->iterations;

	for (uint32_t i = 0; i < findings->timeline->identity->n_processes; i++) {
		uint32_t process = findings->owners->processes[i];
		const struct iteration_summary *loop = &iterations->summaries[process];

		if (loop->n_kernels || loop->n_iterations)
			row_put(sink, loop);
	}
	return FLEXTRACE_OK;
}

const struct analysis analysis_loops =
	ANALYSIS_CSV("loops", loop_columns, fill_loops, .title = "Loops",
                     .what = "How regular the iterations of each rank are: period from "
                             "begin to begin, its median, spread and outliers.");
