/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis_impl.h"
#include "base/text/writer.h"
#include "base/text/printable.h"

const struct analysis *const analysis_all[] = {
#define ANALYSIS_POINTER(name) &analysis_##name,
	ANALYSES(ANALYSIS_POINTER)
#undef ANALYSIS_POINTER
		NULL,
};

void analysis_write_shown(struct writer *writer, const char *name)
{
	char *shown = strdup(name);

	if (!shown) {
		writer->failure = ENOMEM;
		return;
	}
	printable_make(shown);
	writer_csv(writer, shown, strlen(shown));
	free(shown);
}

/* -- tables by name ------------------------------------------------------------------------- */

int analysis_fill_names(const struct analysis_table *table, const struct timeline *timeline,
                        struct row_sink *sink)
{
	struct analysis_names names = {.timeline = timeline};
	int code;

	stats_init(&names.stats, table->label,
	           timeline->host_rows.n_rows + timeline->device_rows.n_rows);
	code = owners_init(&names.owners, timeline->identity);
	if (code == FLEXTRACE_OK)
		code = table->count(&names);
	if (code == FLEXTRACE_OK)
		table->put(&names, sink);
	stats_release(&names.stats);
	free(names.children_ns);
	owners_release(&names.owners);
	return code;
}
