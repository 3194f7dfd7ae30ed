/* SPDX-License-Identifier: Apache-2.0 */
#include "events.h"

#include <stdlib.h>

#include "base/heap.h"

static bool is_before(const struct event_later *a, const struct event_later *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->id < b->id);
}

HEAP_DEFINE(laters, struct event_later, is_before);

int event_heap_push(struct event_heap *heap, const struct event_later *later)
{
	uint64_t i = heap->n;

	if (i == heap->n_allocated) {
		uint64_t n = i ? 2 * i : 256;
		struct event_later *grown = realloc(heap->later, n * sizeof(*grown));

		if (!grown)
			return FLEXTRACE_E_MEMORY;
		heap->later = grown;
		heap->n_allocated = n;
	}
	heap->later[i] = *later;
	laters_rise(heap->later, heap->n++);
	return 0;
}

struct event_later event_heap_pop(struct event_heap *heap)
{
	return laters_pop(heap->later, heap->n--);
}
