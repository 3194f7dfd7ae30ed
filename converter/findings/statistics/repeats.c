/* SPDX-License-Identifier: Apache-2.0 */
#include "repeats.h"

#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/error.h"

#define N_LEVELS      3
#define LEAST_PART    4          /* of all names: a quarter */
#define NO_NAME       UINT32_MAX /* matches nothing but itself */
#define N_ARRAYS      3
#define ARRAY_SIZE(n) ((n) + ((n) + 1) / 2 + 2ull) /* of the larger half twice, the other once */

/* -- the Z-function ------------------------------------------------------------------------- */

/* Stores for each place how many names from there on equal the first ones. */
static void match_start(const uint32_t *names, uint32_t n, uint32_t *lengths)
{
	uint32_t left = 0, right = 0; /* the match that reaches farthest: [left, right) */

	lengths[0] = n;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t length = 0;

		if (i < right) {
			length = lengths[i - left];
			length = length < right - i ? length : right - i;
		}
		while (i + length < n && names[length] == names[i + length])
			length++;
		lengths[i] = length;
		if (i + length > right) {
			left = i;
			right = i + length;
		}
	}
}

/* -- what crosses a place ------------------------------------------------------------------- */

struct search {
	const uint32_t *names;  /* weak */
	uint32_t *text;         /* owned, all: before and behind the place, joined */
	uint32_t *ahead, *back; /* how far names match there */
	struct repeat best;
};

/* Joins what is behind (nv names) and before (nu) the middle: behind, NO_NAME, before, behind. */
static void join(struct search *search, const uint32_t *middle, uint32_t nu, uint32_t nv)
{
	uint32_t *text = search->text;

	memcpy(text, middle, nv * sizeof(*text));
	text[nv] = NO_NAME;
	memcpy(text + nv + 1, middle - nu, ((size_t)nu + nv) * sizeof(*text));
}

/* The same from the middle to the left: before, NO_NAME, behind, before, all reversed. */
static void join_reversed(struct search *search, const uint32_t *middle, uint32_t nu, uint32_t nv)
{
	uint32_t *text = search->text;

	for (uint32_t i = 0; i < nu; i++)
		text[i] = *(middle - 1 - i);
	text[nu] = NO_NAME;
	for (uint32_t i = 0; i < nu + nv; i++)
		text[nu + 1 + i] = middle[(int64_t)nv - 1 - i];
}

static void offer(struct search *search, struct repeat repeat)
{
	const struct repeat *best = &search->best;

	if (repeat.n < 2ull * repeat.period || repeat.n < best->n)
		return;
	if (repeat.n == best->n && (repeat.period > best->period ||
	                            (repeat.period == best->period && repeat.first >= best->first)))
		return;
	search->best = repeat;
}

/* Offers all parts that repeat in [low, high) and touch the middle. One of period p has p names
 * on one side of it, with which it can be found from the other side's matches. */
static void cross(struct search *search, uint32_t low, uint32_t middle, uint32_t high)
{
	uint32_t nu = middle - low, nv = high - middle;

	join(search, search->names + middle, nu, nv);
	match_start(search->text, nu + 2 * nv + 1, search->ahead);
	join_reversed(search, search->names + middle, nu, nv);
	match_start(search->text, 2 * nu + nv + 1, search->back);
	for (uint32_t p = 1; p <= nv; p++) {
		uint32_t ahead = search->ahead[p], back = search->back[nu + 1 + nv - p];

		offer(search, (struct repeat){middle - back, back + p + ahead, p});
	}
	for (uint32_t p = 1; p <= nu; p++) {
		uint32_t ahead = search->ahead[nv + 1 + nu - p], back = search->back[p];

		offer(search, (struct repeat){middle - p - back, back + p + ahead, p});
	}
}

static void search_levels(struct search *search, uint32_t n)
{
	for (uint32_t level = 0; level < N_LEVELS; level++) {
		uint64_t n_parts = 1ull << level;

		for (uint64_t i = 0; i < n_parts; i++) {
			uint32_t low = (uint32_t)(n * i / n_parts);
			uint32_t high = (uint32_t)(n * (i + 1) / n_parts);
			uint32_t middle = (uint32_t)(n * (2 * i + 1) / (2 * n_parts));

			/* a part of it is at most as long as it */
			if (high - low > 1 && high - low >= search->best.n)
				cross(search, low, middle, high);
		}
	}
}

int repeats_find(const uint32_t *names, uint32_t n, struct repeat *ret)
{
	struct search search = {.names = names};
	uint32_t *arrays;

	*ret = (struct repeat){0};
	if (n > UINT32_MAX / 2)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(BLOCKS_NEW(arrays, N_ARRAYS * ARRAY_SIZE(n)));
	search.text = arrays;
	search.ahead = arrays + ARRAY_SIZE(n);
	search.back = arrays + 2 * ARRAY_SIZE(n);
	search_levels(&search, n);
	blocks_free(arrays);
	if ((uint64_t)search.best.n * LEAST_PART >= n)
		*ret = search.best;
	return FLEXTRACE_OK;
}

/* -- turns ---------------------------------------------------------------------------------- */

int turn_matcher_init(struct turn_matcher *matcher, const uint32_t *turn, uint32_t n)
{
	uint32_t matched = 0;

	*matcher = (struct turn_matcher){
		.turn = turn, .failure = blocks_allocate(n, sizeof(*matcher->failure)), .n = n};
	if (!matcher->failure)
		return FLEXTRACE_E_MEMORY;
	matcher->failure[0] = 0;
	for (uint32_t i = 1; i < n; i++) {
		while (matched && turn[matched] != turn[i])
			matched = matcher->failure[matched - 1];
		matched += turn[matched] == turn[i];
		matcher->failure[i] = matched;
	}
	return FLEXTRACE_OK;
}

void turn_matcher_release(struct turn_matcher *matcher)
{
	blocks_free(matcher->failure);
	*matcher = (struct turn_matcher){0};
}

bool turn_matcher_push(struct turn_matcher *matcher, uint32_t name)
{
	while (matcher->n_matched && matcher->turn[matcher->n_matched] != name)
		matcher->n_matched = matcher->failure[matcher->n_matched - 1];
	matcher->n_matched += matcher->turn[matcher->n_matched] == name;
	if (matcher->n_matched < matcher->n)
		return false;
	matcher->n_matched = 0;
	return true;
}
