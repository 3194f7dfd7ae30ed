/* SPDX-License-Identifier: Apache-2.0 */
#include "losses.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/error.h"

#define FREE_SLOT UINT32_MAX

void losses_release(struct losses *losses)
{
	for (uint32_t i = 0; i < losses->n; i++)
		free(losses->all[i].spans);
	free(losses->all);
	free(losses->slots);
	*losses = (struct losses){.all = NULL};
}

/* -- by cause and place ------------------------------------------------------------------------ */

static uint64_t hash_loss(const struct hash_secret *secret, enum loss_cause cause,
                          const struct loss_place *place)
{
	uint64_t hash = hash_mix(secret->a ^ ((uint64_t)cause << 32 | place->process),
	                         secret->b ^ ((uint64_t)place->device << 32 | place->core));

	return hash_mix(secret->a ^ place->stream, secret->b ^ hash);
}

static bool is_same_place(const struct loss_place *a, const struct loss_place *b)
{
	return a->process == b->process && a->device == b->device && a->core == b->core &&
	       a->stream == b->stream;
}

static uint32_t *find_slot(const struct losses *losses, enum loss_cause cause,
                           const struct loss_place *place)
{
	uint32_t mask = losses->n_slots - 1;
	uint32_t i = (uint32_t)hash_loss(&losses->secret, cause, place) & mask;

	for (;; i = (i + 1) & mask) {
		const struct loss *loss;

		if (losses->slots[i] == FREE_SLOT)
			return &losses->slots[i];
		loss = &losses->all[losses->slots[i]];
		if (loss->cause == cause && is_same_place(&loss->place, place))
			return &losses->slots[i];
	}
}

static void fill_slots(struct losses *losses)
{
	for (uint32_t i = 0; i < losses->n_slots; i++)
		losses->slots[i] = FREE_SLOT;
	for (uint32_t i = 0; i < losses->n; i++)
		*find_slot(losses, losses->all[i].cause, &losses->all[i].place) = i;
}

/* Twice as many slots as there may be losses. */
static int grow(struct losses *losses)
{
	uint32_t *slots;

	if (losses->n > UINT32_MAX / 8)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(ARRAY_RESERVE(losses->all, losses->n_allocated, losses->n + 1ull));
	if (losses->n_slots >= 2ull * losses->n_allocated)
		return FLEXTRACE_OK;
	slots = realloc(losses->slots, 2ull * losses->n_allocated * sizeof(*slots));
	if (!slots)
		return FLEXTRACE_E_MEMORY;
	losses->slots = slots;
	losses->n_slots = 2 * losses->n_allocated;
	losses->secret = hash_get_secret();
	fill_slots(losses);
	return FLEXTRACE_OK;
}

static int find_loss(struct losses *losses, enum loss_cause cause, const struct loss_place *place,
                     struct loss **ret_loss)
{
	uint32_t *slot;

	FLEXTRACE_TRY(grow(losses));
	slot = find_slot(losses, cause, place);
	if (*slot == FREE_SLOT) {
		*slot = losses->n++;
		losses->all[*slot] = (struct loss){
			.cause = cause, .place = *place, .all = {INT64_MIN, INT64_MIN, 0}};
	}
	*ret_loss = &losses->all[*slot];
	return FLEXTRACE_OK;
}

/* -- by time ----------------------------------------------------------------------------------- */

static void join(struct loss_span *to, const struct loss_span *span)
{
	to->count += span->count;
	if (span->first_ns == INT64_MIN)
		return;
	if (to->first_ns == INT64_MIN || span->first_ns < to->first_ns)
		to->first_ns = span->first_ns;
	if (span->last_ns > to->last_ns)
		to->last_ns = span->last_ns;
}

static bool is_one(const struct loss *loss, const struct loss_span *a, const struct loss_span *b)
{
	return a->first_ns >> loss->shift == b->first_ns >> loss->shift;
}

static void coarsen(struct loss *loss)
{
	uint32_t n = 0;

	loss->shift++;
	for (uint32_t i = 1; i < loss->n_spans; i++) {
		if (is_one(loss, &loss->spans[n], &loss->spans[i]))
			join(&loss->spans[n], &loss->spans[i]);
		else
			loss->spans[++n] = loss->spans[i];
	}
	loss->n_spans = n + 1;
}

/* The first span that does not end before this one begins to count. */
static uint32_t find_span(const struct loss *loss, const struct loss_span *span)
{
	uint32_t i = 0;

	while (i < loss->n_spans && loss->spans[i].first_ns < span->first_ns &&
	       !is_one(loss, &loss->spans[i], span))
		i++;
	return i;
}

static int insert_span(struct loss *loss, uint32_t at, const struct loss_span *span)
{
	FLEXTRACE_TRY(ARRAY_PUSH(loss->spans, loss->n_spans, *span));
	memmove(&loss->spans[at + 1], &loss->spans[at], (loss->n_spans - 1 - at) * sizeof(*span));
	loss->spans[at] = *span;
	return FLEXTRACE_OK;
}

static int add_span(struct loss *loss, const struct loss_span *span)
{
	for (;;) {
		uint32_t at = find_span(loss, span);

		if (at < loss->n_spans && is_one(loss, &loss->spans[at], span)) {
			join(&loss->spans[at], span);
			return FLEXTRACE_OK;
		}
		if (loss->n_spans < LOSS_MAX_SPANS)
			return insert_span(loss, at, span);
		coarsen(loss);
	}
}

int losses_add(struct losses *losses, enum loss_cause cause, const struct loss_place *place,
               const struct loss_span *span)
{
	struct loss *loss;

	if (!span->count)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_loss(losses, cause, place, &loss));
	if (span->first_ns != INT64_MIN)
		FLEXTRACE_TRY(add_span(loss, span));
	join(&loss->all, span);
	return FLEXTRACE_OK;
}

/* -- sets -------------------------------------------------------------------------------------- */

static int merge_loss(struct losses *to, const struct loss *from, const struct loss_place *place)
{
	struct loss_span unknown = {INT64_MIN, INT64_MIN, from->all.count};
	struct loss *loss;

	FLEXTRACE_TRY(find_loss(to, from->cause, place, &loss));
	while (loss->shift < from->shift && loss->n_spans)
		coarsen(loss);
	loss->shift = loss->shift > from->shift ? loss->shift : from->shift;
	for (uint32_t i = 0; i < from->n_spans; i++) {
		FLEXTRACE_TRY(losses_add(to, from->cause, place, &from->spans[i]));
		unknown.count -= from->spans[i].count;
	}
	return losses_add(to, from->cause, place, &unknown);
}

int losses_merge(struct losses *to, const struct losses *from, uint32_t stream)
{
	for (uint32_t i = 0; i < from->n; i++) {
		struct loss_place place = from->all[i].place;

		if (stream != UINT32_MAX)
			place.stream = stream;
		FLEXTRACE_TRY(merge_loss(to, &from->all[i], &place));
	}
	return FLEXTRACE_OK;
}

ORDER_BY(compare_losses, struct loss, cause, place.process, place.device, place.core, place.stream);

void losses_sort(struct losses *losses)
{
	if (!losses->n)
		return;
	ORDER_ARRAY(losses->all, losses->n, compare_losses);
	fill_slots(losses);
}

uint64_t losses_total(const struct losses *losses, enum loss_cause cause)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < losses->n; i++)
		if (losses->all[i].cause == cause)
			total += losses->all[i].all.count;
	return total;
}
