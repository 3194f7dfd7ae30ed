/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "trips.h"

#define MAX_TRIPS 3u /* that are looked at for one that holds an interval */

static int compare_trips(const void *left, const void *right)
{
	const struct idle *a = left, *b = right;

	return ORDER(a->begin_ns, b->begin_ns) ?: ORDER(a->end_ns, b->end_ns);
}

static int add_trip(struct trips *trips, int64_t begin_ns, int64_t end_ns)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(trips->trips, trips->n_allocated, trips->n + 1));
	trips->trips[trips->n++] = (struct idle){.begin_ns = begin_ns, .end_ns = end_ns};
	trips->longest_ns = fmax(trips->longest_ns, (double)(end_ns - begin_ns));
	return FLEXTRACE_OK;
}

int trips_list(struct trips *trips, const struct unwrap *unwrap, uint32_t counter)
{
	const struct axis *axis = &unwrap->axes[counter];

	for (uint32_t i = 0; i < axis->n_facts; i++) {
		const struct fact *fact = &axis->facts[i];

		if (fact->kind == FACT_SYNC && fact_is_bounded(fact))
			FLEXTRACE_TRY(add_trip(trips, fact->before_ns, fact->after_ns));
	}
	for (uint32_t i = 0; i < unwrap->n_idles && trips->n; i++) {
		const struct idle *idle = &unwrap->idles[i];

		if (idle->counter == counter)
			FLEXTRACE_TRY(add_trip(trips, idle->begin_ns, idle->end_ns));
	}
	if (trips->n)
		qsort(trips->trips, trips->n, sizeof(*trips->trips), compare_trips);
	return FLEXTRACE_OK;
}

void trips_release(struct trips *trips)
{
	free(trips->trips);
}

const struct idle *trips_find(const struct trips *trips, double begin_ns, double end_ns,
                              double slack_ns)
{
	uint32_t lo = 0, n = trips->n;

	while (n > 0) {
		uint32_t half = n / 2;

		if ((double)trips->trips[lo + half].begin_ns <= begin_ns + slack_ns) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	for (uint32_t i = 0; i < MAX_TRIPS && lo > 0; i++) {
		if ((double)trips->trips[--lo].end_ns >= end_ns - slack_ns)
			return &trips->trips[lo];
	}
	return NULL;
}
