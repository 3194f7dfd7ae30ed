/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preps.c: counter ConcurrentPreps: how many Prep intervals of a device are open. Rows come in
 * order of their starts; their ends wait in a heap. Per device it holds what is open.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"
#include "counters_impl.h"

struct prep_counter {
	struct counter_sample *open; /* owned: ends to come, a heap, the first one on top */
	uint32_t n_open, n_allocated;
	uint32_t last_value;          /* the value of the last row */
	struct counter_sample sample; /* what happened last; no row yet */
	bool has_sample;
};

static bool is_before(const struct counter_sample *left, const struct counter_sample *right)
{
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns;
	return left->source < right->source;
}

HEAP_DEFINE(preps, struct counter_sample, is_before);

static int push_open(struct prep_counter *counter, struct counter_sample prep)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(counter->open, counter->n_allocated, counter->n_open + 1ull));
	counter->open[counter->n_open] = prep;
	preps_rise(counter->open, counter->n_open++);
	return FLEXTRACE_OK;
}

static struct counter_sample pop_open(struct prep_counter *counter)
{
	return preps_pop(counter->open, counter->n_open--);
}

/* Adds the row of the sample, unless it tells nothing new. All that happens at one time is one
 * sample. */
static int add_sample(struct counter_maker *maker, struct prep_counter *counter)
{
	counter->has_sample = false;
	if (counter->last_value == counter->n_open)
		return FLEXTRACE_OK;
	counter->last_value = counter->n_open;
	return counter_add_row(maker, &counter->sample, counter->n_open);
}

/* Ends what is open up to `time_ns` and adds all that happened before it. */
static int advance(struct counter_maker *maker, struct prep_counter *counter, int64_t time_ns)
{
	for (;;) {
		const struct counter_sample *first = counter->n_open ? counter->open : NULL;

		if (counter->has_sample && first && first->time_ns == counter->sample.time_ns) {
			pop_open(counter);
			continue;
		}
		if (counter->has_sample && counter->sample.time_ns < time_ns)
			FLEXTRACE_TRY(add_sample(maker, counter));
		if (!first || first->time_ns > time_ns)
			return FLEXTRACE_OK;
		counter->sample = pop_open(counter);
		counter->has_sample = true;
	}
}

static int open_prep(struct counter_maker *maker, struct prep_counter *counter, uint32_t device,
                     const struct device_row *row)
{
	struct counter_sample sample = {row->end_time_ns, device, row->source, row->err_ns,
	                                row->status};

	FLEXTRACE_TRY(advance(maker, counter, row->start_time_ns));
	FLEXTRACE_TRY(push_open(counter, sample));
	counter->sample = sample;
	counter->sample.time_ns = row->start_time_ns;
	counter->has_sample = true;
	return FLEXTRACE_OK;
}

static int add_preps(struct counter_maker *maker, struct prep_counter *counters)
{
	const struct timeline *timeline = maker->input->timeline;

	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		uint32_t device;

		if (row->kind != ROW_PREP)
			continue;
		device = timeline->ops[row->source].device;
		FLEXTRACE_TRY(open_prep(maker, &counters[device], device, row));
	}
	for (uint32_t i = 0; i < timeline->identity->n_devices; i++) {
		FLEXTRACE_TRY(advance(maker, &counters[i], INT64_MAX));
		if (counters[i].has_sample)
			FLEXTRACE_TRY(add_sample(maker, &counters[i]));
	}
	return FLEXTRACE_OK;
}

int preps_add(struct counter_maker *maker)
{
	uint32_t n = maker->input->timeline->identity->n_devices;
	struct prep_counter *counters = calloc(n + 1ull, sizeof(*counters));
	int code = counters ? add_preps(maker, counters) : FLEXTRACE_E_MEMORY;

	for (uint32_t i = 0; counters && i < n; i++)
		free(counters[i].open);
	free(counters);
	return code;
}
