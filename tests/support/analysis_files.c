/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "findings/statistics/owners.h"
#include "findings/work/call_tree.h"
#include "findings/work/device_time.h"
#include "findings/work/work_stats.h"
#include "output/column_text.h"
#include "scratch.h"

static const struct result_file *find(const char *file)
{
	for (size_t i = 0; analysis_all[i]; i++) {
		if (strcmp(analysis_all[i]->file.name, file) == 0)
			return &analysis_all[i]->file;
	}
	fail_msg("No such file: %s", file);
	return NULL;
}

int analysis_files_save(const struct findings *findings, const char *file, const char *dir,
                        uint64_t *ret_rows, struct flextrace_error *error)
{
	struct findings with_all = *findings;
	struct call_tree call_tree = {0};
	struct work_stats work_stats = {.n_queues = 0};
	struct device_times device_times = {.devices = NULL};
	struct findings_memo memo = {0};
	struct file_count count;
	struct owners owners;
	int code;

	with_all.owners = &owners;
	with_all.call_tree = &call_tree;
	with_all.work_stats = &work_stats;
	with_all.device_times = &device_times;
	with_all.memo = &memo;
	assert_int_equal(owners_init(&owners, findings->timeline->identity), 0);
	code = column_save(find(file), &with_all, &(struct save_place){.dir = dir, .has_csv = true},
	                   &count, error);
	findings_memo_release(&memo);
	call_tree_release(&call_tree);
	work_stats_release(&work_stats);
	device_times_release(&device_times);
	owners_release(&owners);
	*ret_rows = count.rows;
	if (code >= 0)
		assert_int_equal(scratch_has(dir, file), count.rows > 0);
	free(count.columns);
	return code;
}

char *analysis_files_read(const char *file, const char *dir)
{
	const struct column_table *table = &find(file)->table;
	char *text = scratch_read(dir, file, NULL);
	struct writer writer;

	if (text || !table->columns)
		return text;
	writer_open_memory(&writer);
	column_write_names(&writer, table->columns, table->n_columns);
	writer_char(&writer, '\0');
	text = strdup(writer.buffer);
	writer_abandon(&writer);
	return text;
}
