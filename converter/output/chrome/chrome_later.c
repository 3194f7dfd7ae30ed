/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome.h"

#include <stdlib.h>

#include "base/heap.h"

static bool is_before(const struct chrome_later *a, const struct chrome_later *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->id < b->id);
}

HEAP_DEFINE(laters, struct chrome_later, is_before);

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
	heap->later[i] = *later;
	laters_rise(heap->later, heap->n++);
	return 0;
}

struct chrome_later chrome_heap_pop(struct chrome_heap *heap)
{
	return laters_pop(heap->later, heap->n--);
}
