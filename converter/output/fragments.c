// SPDX-License-Identifier: Apache-2.0
#include "fragments.h"

#include <stdlib.h>

int fragments_init(struct fragments *fragments, uint32_t n)
{
	*fragments = (struct fragments){.n = 0};
	writer_open_memory(&fragments->bytes);
	writer_literal(&fragments->bytes, "\n"); /* a buffer, even if all fragments are empty */
	fragments->starts = calloc((size_t)n + 1, sizeof(*fragments->starts));
	if (!fragments->starts) {
		writer_abandon(&fragments->bytes);
		return FLEXTRACE_E_MEMORY;
	}
	fragments->starts[0] = 1;
	return 0;
}

void fragments_release(struct fragments *fragments)
{
	if (fragments->starts)
		writer_abandon(&fragments->bytes);
	free(fragments->starts);
	*fragments = (struct fragments){.n = 0};
}

void fragments_end(struct fragments *fragments)
{
	size_t end = (size_t)(fragments->bytes.at - fragments->bytes.buffer);
	size_t n = end - fragments->starts[fragments->n];

	fragments->longest = n > fragments->longest ? n : fragments->longest;
	fragments->starts[++fragments->n] = end;
}

int fragments_check(const struct fragments *fragments)
{
	return writer_failed(&fragments->bytes) ? FLEXTRACE_E_MEMORY : 0;
}
