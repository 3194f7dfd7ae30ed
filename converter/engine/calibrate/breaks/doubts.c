/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches of one counter's time of which nothing is certified; the rest of its map stands. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/calibrate/calibrate_impl.h"

/* The first stretch that ends at `x` or behind it. Most are added in order. */
static uint32_t find(const struct doubts *doubts, uint64_t x)
{
	uint32_t at = doubts->n;

	while (at > 0 && doubts->stretches[at - 1].to >= x)
		at--;
	return at;
}

int doubts_add(struct doubts *doubts, uint64_t from, uint64_t to)
{
	struct stretch added = {from, to};
	struct stretch *stretches;
	uint32_t at = find(doubts, from), end = at;

	for (; end < doubts->n && doubts->stretches[end].from <= added.to; end++) {
		const struct stretch *met = &doubts->stretches[end];

		added.from = met->from < added.from ? met->from : added.from;
		added.to = met->to > added.to ? met->to : added.to;
	}
	FLEXTRACE_TRY(ARRAY_RESERVE(doubts->stretches, doubts->n_allocated, doubts->n + 1ull));
	stretches = doubts->stretches;
	memmove(stretches + at + 1, stretches + end, (doubts->n - end) * sizeof(*stretches));
	stretches[at] = added;
	doubts->n -= end - at;
	doubts->n++;
	return FLEXTRACE_OK;
}

void doubts_release(struct doubts *doubts)
{
	free(doubts->stretches);
	*doubts = (struct doubts){.stretches = NULL};
}

bool doubts_meet(const struct doubts *doubts, uint64_t from, uint64_t to, uint32_t *next)
{
	while (*next < doubts->n && doubts->stretches[*next].to <= from)
		++*next;
	return *next < doubts->n && doubts->stretches[*next].from < to;
}
