// SPDX-License-Identifier: Apache-2.0
#include "pieces.h"

#include <stdlib.h>

int pieces_init(struct pieces *pieces)
{
	*pieces = (struct pieces){0};
	pieces->pieces = calloc((size_t)1 << PIECES_BITS, sizeof(*pieces->pieces));
	if (!pieces->pieces)
		return FLEXTRACE_E_MEMORY;
	writer_open_memory(&pieces->scratch);
	return 0;
}

void pieces_release(struct pieces *pieces)
{
	if (pieces->pieces)
		writer_abandon(&pieces->scratch);
	free(pieces->pieces);
	*pieces = (struct pieces){0};
}

struct writer *pieces_start(struct pieces *pieces)
{
	pieces->scratch.at = pieces->scratch.buffer;
	pieces->scratch.replaced_bytes = 0;
	return &pieces->scratch;
}

void pieces_end(struct pieces *pieces, uint64_t key)
{
	const struct writer *scratch = &pieces->scratch;
	size_t n = (size_t)(scratch->at - scratch->buffer);
	struct piece *piece = pieces_place(pieces, key);

	if (n == 0 || n > PIECE_BYTES || scratch->replaced_bytes || writer_failed(scratch))
		return;
	piece->key = key;
	piece->n = (uint32_t)n;
	memcpy(piece->bytes, scratch->buffer, n);
}
