/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_length.csv: how many control blocks waited in each queue of a device: one more at the begin
 * of the call that launched it, one less when its work began, as in Holistic Trace Analysis
 * (get_queue_length_time_series()). Memory: 16 bytes per control block.
 */
#include <stdlib.h>

#include "../analysis_impl.h"
#include "base/array.h"
#include "base/map.h"
#include "base/order.h"
#include "findings/work/launched.h"

#define FULL_LENGTH 1024 /* what a stream of CUDA holds; the next launch waits */

struct queue {
	uint32_t device; /* index */
	uint32_t queue;
	uint32_t n, n_started;
	int64_t *launched_ns, *started_ns; /* owned */
	/* from here: of all of it */
	int64_t first_time_ns, last_time_ns;
	int64_t length, min_length, max_length;
	uint64_t wall_ns, empty_ns, full_ns;
	double mean_length;
};

struct queues {
	struct map index;  /* (device; queue) -> place */
	struct queue *all; /* owned */
	uint32_t n;
};

static int take(void *context, const struct launched *launched)
{
	const struct work *work = launched->work;
	struct queues *queues = context;
	struct queue *queue;
	uint32_t place;

	if (!launched->work || !launched->call)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(MAP_PLACE(&queues->index, work->device, work->queue, queues->all, queues->n,
	                        &place));
	queue = &queues->all[place];
	queue->device = work->device;
	queue->queue = work->queue;
	FLEXTRACE_TRY(ARRAY_PUSH(queue->launched_ns, queue->n, launched->call->start_time_ns));
	return ARRAY_PUSH(queue->started_ns, queue->n_started, work->row->start_time_ns);
}

/* -- lengths ----------------------------------------------------------------------------------- */

static void step(struct queue *queue, int64_t time_ns, int by)
{
	uint64_t ns = interval_ns(queue->last_time_ns, time_ns);

	queue->empty_ns += queue->length <= 0 ? ns : 0;
	queue->full_ns += queue->length >= FULL_LENGTH ? ns : 0;
	queue->mean_length += (double)queue->length * (double)ns;
	queue->length += by;
	queue->last_time_ns = time_ns;
	if (queue->length > queue->max_length)
		queue->max_length = queue->length;
	if (queue->length < queue->min_length)
		queue->min_length = queue->length;
}

static void measure(struct queue *queue)
{
	uint32_t i = 0, j = 0;

	order_numbers(queue->launched_ns, queue->n);
	queue->first_time_ns = queue->launched_ns[0] < queue->started_ns[0] ? queue->launched_ns[0]
	                                                                    : queue->started_ns[0];
	queue->last_time_ns = queue->first_time_ns;
	while (j < queue->n) {
		if (i < queue->n && queue->launched_ns[i] <= queue->started_ns[j])
			step(queue, queue->launched_ns[i++], 1);
		else
			step(queue, queue->started_ns[j++], -1);
	}
	while (i < queue->n)
		step(queue, queue->launched_ns[i++], 1);
	queue->wall_ns = interval_ns(queue->first_time_ns, queue->last_time_ns);
	queue->mean_length /= (double)queue->wall_ns;
}

/* -- rows -------------------------------------------------------------------------------------- */

static const struct column columns[] = {
	COLUMNS_DEVICE(struct queue, device),
	COLUMN(struct queue, queue),
	COLUMN_AS("works", struct queue, n),
	COLUMN(struct queue, wall_ns),
	COLUMN_FIXED(struct queue, mean_length, 3),
	COLUMN(struct queue, max_length),
	COLUMN(struct queue, min_length),
	COLUMN(struct queue, empty_ns),
	COLUMN(struct queue, full_ns),
	COLUMN_TIME("first_ns", struct queue, first_time_ns),
	COLUMN_TIME("last_ns", struct queue, last_time_ns),
};

static int compare_queues(const void *left, const void *right, void *context)
{
	const uint32_t *positions = ((const struct owners *)context)->device_positions;
	const struct queue *a = left, *b = right;

	return ORDER(positions[a->device], positions[b->device]) ?: ORDER(a->queue, b->queue);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct queues queues = {.n = 0};
	int code = FLEXTRACE_OK;

	if (findings->timeline->launch_of_op)
		code = launched_read(findings, false, take, &queues);

	if (queues.n)
		qsort_r(queues.all, queues.n, sizeof(*queues.all), compare_queues,
		        (void *)(uintptr_t)findings->owners);
	for (uint32_t i = 0; i < queues.n; i++) {
		if (code == FLEXTRACE_OK) {
			measure(&queues.all[i]);
			row_put(sink, &queues.all[i]);
		}
		free(queues.all[i].launched_ns);
		free(queues.all[i].started_ns);
	}
	map_release(&queues.index);
	free(queues.all);
	return code;
}

const struct analysis analysis_queue_length =
	ANALYSIS_CSV("queue_length", columns, fill, .title = "Length of queues",
                     .what = "How many control blocks of a queue were launched and had not "
                             "begun. The mean is over time.");
