/* SPDX-License-Identifier: Apache-2.0 */
#include "marker_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tracer/src/area/elf_names.h"

static int add(struct marker_names *names, const struct flextrace_elf_name *found)
{
	size_t n_name = strlen(found->name) + 1, n_file = strlen(found->file) + 1;
	char *text;

	FLEXTRACE_TRY(ARRAY_RESERVE(names->names, names->n_allocated, names->n + 1ull));
	FLEXTRACE_TRY(map_put(&names->by_id, found->id, 0, names->n));
	text = malloc(n_name + n_file);
	if (!text)
		return FLEXTRACE_E_MEMORY;
	memcpy(text, found->name, n_name);
	memcpy(text + n_name, found->file, n_file);
	names->names[names->n++] = (struct marker_name){text, text + n_name, found->line};
	return FLEXTRACE_OK;
}

static void take(void *context, const struct flextrace_elf_name *found)
{
	struct marker_names *names = context;

	if (names->code >= 0)
		names->code = add(names, found);
}

int marker_names_add(struct marker_names *names, const char *path, struct flextrace_error *error)
{
	int n = flextrace_elf_names_read(path, take, names);

	if (n < 0)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "Cannot read marker names: path=%s, reason=%s", path,
		                 strerror(-n));
	if (names->code < 0)
		return error_set(error, names->code, "Out of memory");
	return FLEXTRACE_OK;
}

const struct marker_name *marker_names_find(const struct marker_names *names, uint32_t id)
{
	uint32_t found = map_find(&names->by_id, id, 0);

	return found == MAP_NONE ? NULL : &names->names[found];
}

void marker_names_release(struct marker_names *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free(names->names[i].name);
	free(names->names);
	map_release(&names->by_id);
	*names = (struct marker_names){.n = 0};
}
