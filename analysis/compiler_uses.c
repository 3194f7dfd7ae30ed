/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler.csv: how well runs of kernels were matched to the compiler's tables.
 */
#include "analysis_impl.h"

static void write_use(const struct kernel_table_use *use, struct writer *writer)
{
	const uint64_t counts[] = {use->source,  use->table,        use->is_autopilot,
	                           use->n_rows,  use->ideal_cycles, use->runs,
	                           use->kernels, use->kernels_taken};

	if (use->rank >= 0)
		writer_i64(writer, use->rank);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		writer_char(writer, ',');
		writer_u64(writer, counts[i]);
		if (i == 1) {
			writer_char(writer, ',');
			writer_raw(writer, kernel_phase_name(use->phase));
		}
	}
	writer_char(writer, ',');
	writer_fixed(writer, use->score_sum / (double)use->runs, 3);
	writer_char(writer, ',');
	writer_fixed(writer, use->score_min, 3);
	writer_char(writer, ',');
	writer_u64(writer, use->uncertain);
	writer_char(writer, '\n');
}

static int write_compiler(const struct timeline *timeline, const char *output_dir,
                          uint64_t *ret_rows, struct flextrace_error *error)
{
	const struct kernel_costs *costs = timeline->costs;
	struct writer writer;

	*ret_rows = costs ? costs->n_uses : 0;
	FLEXTRACE_TRY(writer_open(&writer, output_dir, "compiler.csv", false, error));
	writer_literal(&writer, "rank,source,table,phase,autopilot,rows,ideal_cycles,runs,kernels,"
	                        "times_taken,score_mean,score_min,uncertain\n");
	for (uint32_t i = 0; i < *ret_rows; i++)
		write_use(&costs->uses[i], &writer);
	return writer_close(&writer, error);
}

const struct analysis analysis_compiler = {.name = "compiler", .write = write_compiler};
