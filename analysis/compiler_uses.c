/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiler.csv: how well runs of kernels were matched to the compiler's tables.
 */
#include "analysis_impl.h"

struct compiler_row {
	struct kernel_table_use of;
	int64_t rank;
	const char *phase;
	double score_mean;
};

static const struct column columns[] = {
	COLUMN_OPTIONAL(struct compiler_row, rank),
	COLUMN_AS("source", struct compiler_row, of.source),
	COLUMN_AS("table", struct compiler_row, of.table),
	COLUMN(struct compiler_row, phase),
	COLUMN_AS("autopilot", struct compiler_row, of.is_autopilot),
	COLUMN_AS("rows", struct compiler_row, of.n_rows),
	COLUMN_AS("ideal_cycles", struct compiler_row, of.ideal_cycles),
	COLUMN_AS("runs", struct compiler_row, of.runs),
	COLUMN_AS("kernels", struct compiler_row, of.kernels),
	COLUMN_AS("times_taken", struct compiler_row, of.kernels_taken),
	COLUMN_FIXED(struct compiler_row, score_mean, 3),
	COLUMN_FIXED_AS("score_min", struct compiler_row, of.score_min, 3),
	COLUMN_AS("uncertain", struct compiler_row, of.uncertain),
};

static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct kernel_costs *costs = findings->costs;

	for (uint32_t i = 0; costs && i < costs->n_uses; i++) {
		const struct kernel_table_use *use = &costs->uses[i];

		row_put(sink, &(struct compiler_row){
				      .of = *use,
				      .rank = use->rank >= 0 ? use->rank : COLUMN_NONE_I64,
				      .phase = kernel_phase_name(use->phase),
				      .score_mean = use->score_sum / (double)use->runs,
			      });
	}
	return FLEXTRACE_OK;
}

const struct analysis analysis_compiler =
	ANALYSIS_CSV("compiler", columns, fill, .title = "Tables of the compiler",
                     .what = "Which of the compiler's tables was taken for how many runs "
                             "of kernels, and how well it fits them.");
