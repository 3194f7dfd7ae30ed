/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "trips.h"

ORDER_BY(compare_trips, struct idle, begin_ns, end_ns);

static int add_trip(struct trips *trips, int64_t begin_ns, int64_t end_ns)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(trips->trips, trips->n_allocated, trips->n + 1));
	trips->trips[trips->n++] = (struct idle){.begin_ns = begin_ns, .end_ns = end_ns};
	trips->longest_ns = fmax(trips->longest_ns, (double)(end_ns - begin_ns));
	return FLEXTRACE_OK;
}

/* Sorts them, leaves out those that are there twice, and lists their ends. */
static int index_trips(struct trips *trips)
{
	struct idle *all = trips->trips;
	uint32_t n = 0;

	ORDER_ARRAY(all, trips->n, compare_trips);
	FLEXTRACE_TRY(ARRAY_NEW(trips->latest, trips->n));
	FLEXTRACE_TRY(ARRAY_NEW(trips->ends_ns, trips->n));
	for (uint32_t i = 0; i < trips->n; i++) {
		if (n > 0 && compare_trips(&all[n - 1], &all[i]) == 0)
			continue;
		all[n] = all[i];
		trips->latest[n] = n > 0 && all[trips->latest[n - 1]].end_ns > all[n].end_ns
		                           ? trips->latest[n - 1]
		                           : n;
		trips->ends_ns[n] = all[n].end_ns;
		n++;
	}
	trips->n = n;
	order_numbers(trips->ends_ns, n);
	return FLEXTRACE_OK;
}

int trips_list(struct trips *trips, const struct unwrap *unwrap, uint32_t counter)
{
	const struct axis *axis = &unwrap->axes[counter];

	for (uint32_t i = 0; i < axis->n_samples; i++) {
		const struct sample *sample = &axis->samples[i];

		if (sample->kind == SAMPLE_SYNC && sample_is_bounded(sample))
			FLEXTRACE_TRY(add_trip(trips, sample->before_ns, sample->after_ns));
	}
	for (uint32_t i = 0; i < unwrap->estimates.n_idles && trips->n; i++) {
		const struct idle *idle = &unwrap->estimates.idles[i];

		if (idle->counter == counter)
			FLEXTRACE_TRY(add_trip(trips, idle->begin_ns, idle->end_ns));
	}
	return trips->n ? index_trips(trips) : FLEXTRACE_OK;
}

void trips_move(struct trips *trips, int64_t (*move)(const void *to, int64_t ns), const void *to)
{
	for (uint32_t i = 0; i < trips->n; i++) {
		trips->trips[i].begin_ns = move(to, trips->trips[i].begin_ns);
		trips->trips[i].end_ns = move(to, trips->trips[i].end_ns);
		trips->ends_ns[i] = move(to, trips->ends_ns[i]);
	}
}

void trips_release(struct trips *trips)
{
	free(trips->trips);
	free(trips->latest);
	free(trips->ends_ns);
}

static bool has_begun(const void *row, const void *key)
{
	return (double)((const struct idle *)row)->begin_ns <= *(const double *)key;
}

uint32_t trips_count_begun(const struct trips *trips, double ns)
{
	return array_count_before(trips->trips, trips->n, sizeof(*trips->trips), has_begun, &ns);
}

static bool has_ended(const void *row, const void *key)
{
	return (double)*(const int64_t *)row <= *(const double *)key;
}

bool trips_hold(const struct trips *trips, double begin_ns, double end_ns, double slack_ns)
{
	uint32_t n = trips_count_begun(trips, begin_ns + slack_ns);

	return n > 0 && trips_latest_ns(trips, n) >= end_ns - slack_ns;
}

bool trips_have_edge(const struct trips *trips, double ns, double near_ns, bool is_begin)
{
	double last_ns = ns + near_ns;
	uint32_t n = is_begin ? trips_count_begun(trips, last_ns)
	                      : array_count_before(trips->ends_ns, trips->n,
	                                           sizeof(*trips->ends_ns), has_ended, &last_ns);

	return n > 0 && (double)(is_begin ? trips->trips[n - 1].begin_ns : trips->ends_ns[n - 1]) >=
	                        ns - near_ns;
}
