/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iterations.csv: each iteration; loops.csv: how regular those of a rank are.
 */
#include "iterations.h"

/* -- iterations.csv ------------------------------------------------------------------------- */

static void write_iteration(const struct iterations *iterations, const struct iteration *iteration,
                            struct writer *writer)
{
	const struct string_pool *strings = iterations->timeline->strings;
	int64_t epoch_offset_ns = alignment_epoch_offset_ns(iterations->timeline->alignment);

	owners_write(&iterations->owners, iteration->process, writer);
	writer_char(writer, ',');
	writer_u64(writer, iteration->number);
	writer_char(writer, ',');
	writer_csv(writer, string_get(strings, iteration->name),
	           string_length(strings, iteration->name));
	writer_char(writer, ',');
	writer_i64(writer, iteration->start_time_ns + epoch_offset_ns);
	writer_char(writer, ',');
	writer_i64(writer, iteration->end_time_ns + epoch_offset_ns);
	writer_char(writer, ',');
	writer_u64(writer, analysis_duration(iteration->start_time_ns, iteration->end_time_ns));
	writer_char(writer, ',');
	if (iteration->is_followed)
		writer_u64(writer, iteration->period_ns);
	writer_char(writer, ',');
	writer_u64(writer, iteration->n_kernels);
	writer_char(writer, '\n');
}

static void write_iterations(void *context, struct writer *writer)
{
	const struct iterations *iterations = context;

	writer_literal(writer, "rank,host,pid,iteration,name,start_ns,end_ns,dur_ns,period_ns,"
	                       "kernels\n");
	for (uint32_t i = 0; i < iterations->n; i++)
		write_iteration(iterations, &iterations->all[i], writer);
}

static int write_file(const struct timeline *timeline, const char *output_dir, uint64_t *ret_rows,
                      struct flextrace_error *error)
{
	struct iterations own;
	const struct iterations *iterations = iterations_of(timeline, &own);
	int code;

	if (!iterations)
		code = analysis_no_memory("iterations.csv", error);
	else
		code = analysis_save(output_dir, "iterations.csv", write_iterations,
		                     (void *)(uintptr_t)iterations, error);
	*ret_rows = iterations ? iterations->n : 0;
	iterations_release(&own);
	return code;
}

const struct analysis analysis_iterations = {.name = "iterations", .write = write_file};

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

static bool has_line(const struct iteration_summary *summary)
{
	return summary->n_kernels || summary->n_iterations;
}

static void write_loop(const struct iterations *iterations, uint32_t process, struct writer *writer)
{
	const struct iteration_summary *summary = &iterations->summaries[process];

	owners_write(&iterations->owners, process, writer);
	writer_char(writer, ',');
	writer_raw(writer, source_name(summary->source));
	writer_char(writer, ',');
	writer_u64(writer, summary->n_iterations);
	writer_char(writer, ',');
	if (summary->turn_kernels)
		writer_u64(writer, summary->turn_kernels);
	writer_char(writer, ',');
	writer_u64(writer, summary->n_kernels);
	writer_char(writer, ',');
	writer_u64(writer, summary->n_covered);
	writer_char(writer, ',');
	if (summary->n_kernels)
		writer_fixed(writer,
		             100.0 * (double)summary->n_covered / (double)summary->n_kernels, 2);
	if (summary->has_periods)
		spread_write(&summary->periods, writer);
	else
		writer_literal(writer, ",,,,,");
	writer_char(writer, '\n');
}

static void write_loops(void *context, struct writer *writer)
{
	const struct iterations *iterations = context;
	uint32_t n_processes = iterations->timeline->identity->n_processes;

	writer_literal(writer, "rank,host,pid,source,iterations,turn_kernels,kernels,"
	                       "covered_kernels,coverage_percent,mean_ns,median_ns,min_ns,max_ns,"
	                       "stddev_ns\n");
	for (uint32_t i = 0; i < n_processes; i++) {
		uint32_t process = iterations->owners.processes[i];

		if (has_line(&iterations->summaries[process]))
			write_loop(iterations, process, writer);
	}
}

static uint64_t count_lines(const struct iterations *iterations)
{
	uint64_t n = 0;

	for (uint32_t i = 0;
	     iterations->summaries && i < iterations->timeline->identity->n_processes; i++)
		n += has_line(&iterations->summaries[i]);
	return n;
}

static int write_loops_file(const struct timeline *timeline, const char *output_dir,
                            uint64_t *ret_rows, struct flextrace_error *error)
{
	struct iterations own;
	const struct iterations *iterations = iterations_of(timeline, &own);
	int code;

	if (!iterations)
		code = analysis_no_memory("loops.csv", error);
	else
		code = analysis_save(output_dir, "loops.csv", write_loops,
		                     (void *)(uintptr_t)iterations, error);
	*ret_rows = iterations ? count_lines(iterations) : 0;
	iterations_release(&own);
	return code;
}

const struct analysis analysis_loops = {.name = "loops", .write = write_loops_file};
