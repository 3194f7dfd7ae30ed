/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis_impl.h"

const struct analysis *const analysis_all[] = {&analysis_kernels, &analysis_runtime, NULL};

static int write_file(const struct analysis_table *table, const struct timeline *timeline,
                      struct stats *stats, const char *output_dir, struct flextrace_error *error)
{
	struct writer writer;

	if (table->count(timeline, stats) < 0)
		return error_set(error, FLEXTRACE_E_MEMORY, "Cannot write %s: no memory",
		                 table->file);
	FLEXTRACE_TRY(writer_open(&writer, output_dir, table->file, false, error));
	table->write(timeline, stats, &writer);
	return writer_close(&writer, error);
}

int analysis_write(const struct analysis_table *table, const struct timeline *timeline,
                   const char *output_dir, uint64_t *ret_rows, struct flextrace_error *error)
{
	struct stats stats;
	int code;

	stats_init(&stats, table->label);
	code = write_file(table, timeline, &stats, output_dir, error);
	*ret_rows = stats.n_groups;
	stats_release(&stats);
	return code;
}
