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

bool analysis_is_usual(const struct analysis *analysis, const struct timeline *timeline)
{
	const struct identity *identity = timeline->identity;

	if (analysis->is_on_demand || !analysis->shape_of)
		return !analysis->is_on_demand;
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		if (identity_is_file_of(identity, timeline->strings, i, analysis->shape_of))
			return true;
	}
	return false;
}

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
