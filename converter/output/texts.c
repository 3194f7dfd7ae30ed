// SPDX-License-Identifier: Apache-2.0
#include "texts.h"

#include <stdlib.h>

int texts_init(struct texts *texts, uint32_t n)
{
	*texts = (struct texts){.n = 0};
	writer_open_memory(&texts->bytes);
	writer_literal(&texts->bytes, "\n"); /* a buffer, even if all pieces are empty */
	texts->starts = calloc((size_t)n + 1, sizeof(*texts->starts));
	if (!texts->starts) {
		writer_abandon(&texts->bytes);
		return FLEXTRACE_E_MEMORY;
	}
	texts->starts[0] = 1;
	return 0;
}

void texts_release(struct texts *texts)
{
	if (texts->starts)
		writer_abandon(&texts->bytes);
	free(texts->starts);
	*texts = (struct texts){.n = 0};
}

void texts_end(struct texts *texts)
{
	size_t end = (size_t)(texts->bytes.at - texts->bytes.buffer);
	size_t n = end - texts->starts[texts->n];

	texts->longest = n > texts->longest ? n : texts->longest;
	texts->starts[++texts->n] = end;
}

int texts_check(const struct texts *texts)
{
	return writer_failed(&texts->bytes) ? FLEXTRACE_E_MEMORY : 0;
}
