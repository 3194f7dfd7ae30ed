// SPDX-License-Identifier: Apache-2.0
#include "chrome.h"

#include <stdlib.h>

static bool is_before(const struct chrome_later *a, const struct chrome_later *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->id < b->id);
}

int chrome_heap_push(struct chrome_heap *heap, const struct chrome_later *later)
{
	uint64_t i = heap->n;

	if (i == heap->n_allocated) {
		uint64_t n = i ? 2 * i : 256;
		struct chrome_later *grown = realloc(heap->later, n * sizeof(*grown));

		if (!grown)
			return FLEXTRACE_E_MEMORY;
		heap->later = grown;
		heap->n_allocated = n;
	}
	for (; i > 0 && is_before(later, &heap->later[(i - 1) / 2]); i = (i - 1) / 2)
		heap->later[i] = heap->later[(i - 1) / 2];
	heap->later[i] = *later;
	heap->n++;
	return 0;
}

struct chrome_later chrome_heap_pop(struct chrome_heap *heap)
{
	struct chrome_later *later = heap->later;
	struct chrome_later top = later[0], last = later[--heap->n];
	uint64_t i = 0, child;

	for (; (child = 2 * i + 1) < heap->n; i = child) {
		if (child + 1 < heap->n && is_before(&later[child + 1], &later[child]))
			child++;
		if (!is_before(&later[child], &last))
			break;
		later[i] = later[child];
	}
	later[i] = last;
	return top;
}
