/* SPDX-License-Identifier: Apache-2.0 */
#include "clock_reuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock_model.h"

#define MAX_JOBS 4096

struct entry { /* a record */
	int64_t clock_ns;
	uint32_t op;
	uint8_t class; /* enum record_class */
};

struct recorder {
	struct clock_truth *truth;
	const struct clock_reuse *reuse;
	uint64_t state;
	uint64_t *jobs;        /* owned: of each operation */
	struct entry *entries; /* owned */
	uint32_t n_entries, n_lost;
};

static const struct truth_op *sorted; /* what by_submit() looks at */

static int by_submit(const void *left, const void *right)
{
	const struct truth_op *a = &sorted[*(const uint32_t *)left];
	const struct truth_op *b = &sorted[*(const uint32_t *)right];

	return (a->submit_ns > b->submit_ns) - (a->submit_ns < b->submit_ns);
}

static void see_late(struct recorder *recorder)
{
	const struct clock_reuse *reuse = recorder->reuse;

	for (uint32_t i = 0; i < recorder->truth->n_ops && reuse->late_share > 0; i++) {
		bool is_late = model_uniform(&recorder->state) < reuse->late_share;
		double late_ns = -reuse->late_ns * log(model_uniform(&recorder->state));

		recorder->truth->ops[i].complete_ns += is_late ? (int64_t)late_ns : 0;
	}
}

/* Each operation takes the number that has been free for longest, or just the next one. */
static void number_jobs(struct recorder *recorder)
{
	const struct clock_truth *truth = recorder->truth;
	uint32_t *order = malloc((truth->n_ops + 1ull) * sizeof(*order));
	int64_t free_ns[MAX_JOBS] = {0};
	uint32_t n_jobs = recorder->reuse->n_jobs;

	for (uint32_t i = 0; i < truth->n_ops; i++)
		order[i] = i;
	sorted = truth->ops;
	qsort(order, truth->n_ops, sizeof(*order), by_submit);
	for (uint32_t i = 0; i < truth->n_ops; i++) {
		const struct truth_op *op = &truth->ops[order[i]];
		uint32_t job = 0;

		for (uint32_t k = 1; k < n_jobs; k++)
			job = free_ns[k] < free_ns[job] ? k : job;
		if (recorder->reuse->is_in_use)
			job = i % n_jobs;
		else if (free_ns[job] >= op->submit_ns && n_jobs < MAX_JOBS)
			job = n_jobs++;
		free_ns[job] = op->complete_ns + 1;
		recorder->jobs[order[i]] = job;
	}
	free(order);
}

static void keep(struct recorder *recorder, uint32_t op, enum record_class class, double clock_ns)
{
	const struct clock_reuse *reuse = recorder->reuse;

	bool is_lost = model_uniform(&recorder->state) < reuse->lost_share ||
	               (reuse->burst_s[0] > 0 &&
	                fmod(clock_ns * 1e-9, reuse->burst_s[0]) < reuse->burst_s[1]);

	recorder->n_lost += is_lost;
	if (is_lost || clock_ns < (double)recorder->truth->scene.origin_ns + reuse->cut_s * 1e9)
		return;
	recorder->entries[recorder->n_entries++] = (struct entry){(int64_t)clock_ns, op,
	                                                          (uint8_t) class};
}

static int by_clock(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->clock_ns != b->clock_ns)
		return a->clock_ns < b->clock_ns ? -1 : 1;
	return a->op != b->op ? (a->op > b->op) - (a->op < b->op) : a->class - b->class;
}

static void record(struct recorder *recorder)
{
	const struct clock_reuse *reuse = recorder->reuse;
	double drained_ns = 0;

	for (uint32_t i = 0; i < recorder->truth->n_ops; i++) {
		const struct truth_op *op = &recorder->truth->ops[i];
		double late_ns = reuse->shuffle_ns * model_uniform(&recorder->state);
		double ns = (double)op->complete_ns + reuse->drain_ns[0] +
		            (reuse->drain_ns[1] - reuse->drain_ns[0]) *
		                    model_uniform(&recorder->state);

		keep(recorder, i, RECORD_SUBMIT, (double)op->submit_ns + late_ns);
		keep(recorder, i, RECORD_COMPLETE,
		     (double)op->complete_ns + reuse->shuffle_ns * model_uniform(&recorder->state));
		drained_ns = reuse->is_in_turn ? fmax(drained_ns + 1, ns) : ns;
		keep(recorder, i, RECORD_DEVICE_OP, drained_ns);
	}
	qsort(recorder->entries, recorder->n_entries, sizeof(*recorder->entries), by_clock);
}

static void push_entry(struct clock_run *run, const struct recorder *recorder,
                       const struct entry *entry)
{
	const struct truth_op *op = &recorder->truth->ops[entry->op];
	uint64_t job = recorder->jobs[entry->op];
	uint64_t correlation = recorder->reuse->has_correlation ? 1 + entry->op : 0;
	struct record_device_op work = {
		.head.kind = FLEXTRACE_DEVICE_KERNEL,
		.job = job,
		.correlation = correlation,
		.domain = run->domain,
		.queue = op->queue,
		.peer = -1,
	};
	struct record_bracket edge = {
		.job = job,
		.correlation = correlation,
		.host_ns = (uint64_t)(entry->class == RECORD_SUBMIT ? op->submit_ns
	                                                            : op->complete_ns),
		.queue = op->queue,
	};

	if (entry->class != RECORD_DEVICE_OP) {
		clock_run_push(run, &edge.head, entry->class, (uint64_t)entry->clock_ns,
		               sizeof(edge));
		return;
	}
	memcpy(work.ticks32, op->ticks32, sizeof(work.ticks32));
	clock_run_push(run, &work.head, RECORD_DEVICE_OP, (uint64_t)entry->clock_ns, sizeof(work));
}

void clock_reuse_push(struct clock_run *run, struct clock_truth *truth,
                      const struct clock_reuse *reuse)
{
	struct recorder recorder = {.truth = truth, .reuse = reuse, .state = reuse->seed};
	const struct loss_place nowhere = LOSS_NOWHERE;
	struct truth_op *ops = malloc((truth->n_ops + 1ull) * sizeof(*ops));
	uint32_t n = 0;

	recorder.jobs = malloc((truth->n_ops + 1ull) * sizeof(*recorder.jobs));
	recorder.entries = malloc((3ull * truth->n_ops + 1) * sizeof(*recorder.entries));
	see_late(&recorder);
	number_jobs(&recorder);
	record(&recorder);
	ledger_lose(&run->ledger, LOSS_DISCARDED_EVENTS, &nowhere, recorder.n_lost, INT64_MIN);
	for (uint32_t i = 0; i < recorder.n_entries; i++) {
		push_entry(run, &recorder, &recorder.entries[i]);
		if (recorder.entries[i].class == RECORD_DEVICE_OP)
			ops[n++] = truth->ops[recorder.entries[i].op];
	}
	free(recorder.jobs);
	free(recorder.entries);
	free(truth->ops);
	truth->ops = ops;
	truth->n_ops = n;
}
