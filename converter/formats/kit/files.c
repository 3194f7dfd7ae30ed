/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

int import_files_add(struct import_files *files, const char *tool, const char *path)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(files->texts, files->n_allocated, files->n + 1ull));
	if (asprintf(&files->texts[files->n], "%s %s", tool, path) < 0)
		return FLEXTRACE_E_MEMORY;
	files->n++;
	return FLEXTRACE_OK;
}

int import_files_take(struct import_files *to, struct import_files *from)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(to->texts, to->n_allocated, (uint64_t)to->n + from->n));
	for (uint32_t i = 0; i < from->n; i++)
		to->texts[to->n++] = from->texts[i];
	from->n = 0;
	return FLEXTRACE_OK;
}

void import_files_release(struct import_files *files)
{
	for (uint32_t i = 0; i < files->n; i++)
		free(files->texts[i]);
	free(files->texts);
	*files = (struct import_files){0};
}
