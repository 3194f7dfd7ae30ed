/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preps.c: counter ConcurrentPreps: how many Prep intervals of a device are open. Rows come in
 * order of their starts; their ends wait in a heap. Per device it holds what is open.
 */
#include "base/heap.h"
#include "derive_impl.h"

#define COUNTER_NAME "ConcurrentPreps"

/* An end to come. */
struct open_prep {
	int64_t end_time_ns;
	uint32_t source; /* index of struct tick_op */
	uint32_t err_ns;
	uint8_t status;
};

struct prep_counter {
	struct open_prep *open; /* owned: a heap, the first end on top */
	uint32_t n_open, n_allocated;
	uint32_t told;           /* the value of the last row */
	struct open_prep sample; /* what happened last, at its end_time_ns; no row yet */
	bool has_sample;
};

static bool is_before(const struct open_prep *left, const struct open_prep *right)
{
	if (left->end_time_ns != right->end_time_ns)
		return left->end_time_ns < right->end_time_ns;
	return left->source < right->source;
}

HEAP_DEFINE(preps, struct open_prep, is_before);

static int push_open(struct prep_counter *counter, struct open_prep prep)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(counter->open, counter->n_allocated, counter->n_open + 1ull));
	counter->open[counter->n_open] = prep;
	preps_rise(counter->open, counter->n_open++);
	return FLEXTRACE_OK;
}

static struct open_prep pop_open(struct prep_counter *counter)
{
	return preps_pop(counter->open, counter->n_open--);
}

/* Adds the row of the sample, unless it tells nothing new. All that happens at one time is one
 * sample. */
static int tell_sample(struct derive *derive, struct prep_counter *counter, uint32_t device)
{
	const struct open_prep *sample = &counter->sample;
	const struct tick_op *op = &derive->ops[sample->source];
	struct counter_row *row;
	uint32_t name;

	counter->has_sample = false;
	if (counter->told == counter->n_open)
		return FLEXTRACE_OK;
	counter->told = counter->n_open;
	FLEXTRACE_TRY(string_intern(&derive->strings, COUNTER_NAME, &name));
	row = row_sorter_append(&derive->counters);
	if (!row)
		return FLEXTRACE_E_MEMORY;
	*row = (struct counter_row){
		.time_ns = sample->end_time_ns,
		.value = counter->n_open,
		.err_ns = sample->err_ns,
		.owner = device,
		.core = FLEXTRACE_NONE,
		.name = name,
		.stream = op->stream,
		.index = op->index,
		.is_device = 1,
		.status = sample->status,
		.class = op->class,
	};
	return FLEXTRACE_OK;
}

/* Ends what is open up to `time_ns` and tells all that happened before it. */
static int advance(struct derive *derive, struct prep_counter *counter, uint32_t device,
                   int64_t time_ns)
{
	for (;;) {
		const struct open_prep *first = counter->n_open ? counter->open : NULL;

		if (counter->has_sample && first &&
		    first->end_time_ns == counter->sample.end_time_ns) {
			pop_open(counter);
			continue;
		}
		if (counter->has_sample && counter->sample.end_time_ns < time_ns)
			FLEXTRACE_TRY(tell_sample(derive, counter, device));
		if (!first || first->end_time_ns > time_ns)
			return FLEXTRACE_OK;
		counter->sample = pop_open(counter);
		counter->has_sample = true;
	}
}

int preps_push(struct derive *derive, const struct device_row *row)
{
	uint32_t device = derive->ops[row->source].device;
	struct prep_counter *counter;
	struct open_prep prep = {row->end_time_ns, row->source, row->err_ns, row->status};

	FLEXTRACE_TRY(ARRAY_RESERVE(derive->preps, derive->n_preps, device + 1ull));
	counter = &derive->preps[device];
	FLEXTRACE_TRY(advance(derive, counter, device, row->start_time_ns));
	FLEXTRACE_TRY(push_open(counter, prep));
	counter->sample = prep;
	counter->sample.end_time_ns = row->start_time_ns;
	counter->has_sample = true;
	return FLEXTRACE_OK;
}

int preps_finish(struct derive *derive)
{
	for (uint32_t i = 0; i < derive->n_preps; i++) {
		struct prep_counter *counter = &derive->preps[i];

		FLEXTRACE_TRY(advance(derive, counter, i, INT64_MAX));
		if (counter->has_sample)
			FLEXTRACE_TRY(tell_sample(derive, counter, i));
	}
	return FLEXTRACE_OK;
}

void preps_free(struct derive *derive)
{
	for (uint32_t i = 0; i < derive->n_preps; i++)
		free(derive->preps[i].open);
	free(derive->preps);
}
