/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of an era is where no other era reaches. An era of which others leave no core is known
 * from all of its part.
 *
 * Few knots do not tell where an era stands. Such an era is not held anywhere, so what it reaches
 * is left to the eras beside it: else all that both reach would be in doubt, though these explain
 * it.
 */
#include "base/array.h"
#include "calibrate_impl.h"

#define MIN_CORE (2 * MIN_BLOCK) /* knots: fewer do not tell where an era stands */

static bool is_knot_before(const void *row, const void *key)
{
	return ((const struct knot *)row)->x < *(const uint64_t *)key;
}

uint32_t knots_find(const struct attempt *attempt, uint64_t x)
{
	return array_count_before(attempt->knots, attempt->n_knots, sizeof(*attempt->knots),
	                          is_knot_before, &x);
}

uint32_t era_core(const struct attempt *attempt, const struct era *era, uint32_t *ret_from)
{
	uint32_t from = knots_find(attempt, era->core_from);
	uint32_t to = era->core_to == UINT64_MAX ? attempt->n_knots
	                                         : knots_find(attempt, era->core_to);

	*ret_from = from;
	return to >= from + MIN_CORE ? to - from : 0;
}

static bool stands(const struct attempt *attempt, const struct era *era)
{
	uint32_t from;

	return era_core(attempt, era, &from) > 0;
}

/* Leaves all in front of an era and behind it to those beside it, as far as they reach. */
static void leave(const struct reference *reference, uint32_t at)
{
	struct era *era = &reference->eras[at];

	if (at > 0 && era[-1].core_to < era->core_from)
		era[-1].core_to = era[-1].reach_to < era->core_from ? era[-1].reach_to
		                                                    : era->core_from;
	if (at + 1 < reference->n_eras && era[1].core_from > era->core_to)
		era[1].core_from = era[1].reach_from > era->core_to ? era[1].reach_from
		                                                    : era->core_to;
}

void eras_find_cores(struct attempt *attempt)
{
	struct reference *reference = &attempt->reference;
	uint64_t end = 0;

	if (reference->n_uncut > 0)
		return;
	for (uint32_t i = 0; i < reference->n_eras; i++) {
		struct era *era = &reference->eras[i];

		if (!stands(attempt, era)) {
			era->core_from = era->own_from;
			era->core_to = era->own_to;
		}
		if (era->core_from < end)
			era->core_from = end;
		if (era->core_to > end)
			end = era->core_to;
	}
	for (uint32_t i = 0; i < reference->n_eras; i++) {
		if (!stands(attempt, &reference->eras[i]))
			leave(reference, i);
	}
}
