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
