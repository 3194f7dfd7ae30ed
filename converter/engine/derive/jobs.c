/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"

static int compare_keys(const struct job *left, const struct job *right)
{
	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	if (left->queue != right->queue)
		return left->queue < right->queue ? -1 : 1;
	if (left->job != right->job)
		return left->job < right->job ? -1 : 1;
	return 0;
}

static int compare_times(const struct job *left, const struct job *right)
{
	int order = compare_keys(left, right);

	if (order || left->first_time_ns == right->first_time_ns)
		return order;
	return left->first_time_ns < right->first_time_ns ? -1 : 1;
}

static int compare_jobs(const void *left_job, const void *right_job)
{
	const struct job *left = left_job, *right = right_job;
	int order = compare_times(left, right);

	return order ? order : (left->op < right->op ? -1 : left->op > right->op);
}

static int64_t first_time_of(const struct derive *derive, const struct tick_op *op)
{
	uint32_t process = derive->identity->devices[op->device].process;
	struct place place;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		if (place_ticks(derive, process, op->counter, op->segment, op->ticks[i], &place))
			return place.time_ns;
	}
	return op->submit_host_ns ? place_host(derive, process, op->submit_host_ns).time_ns
	                          : INT64_MIN;
}

static int make(struct job_names *names)
{
	const struct derive *derive = names->derive;

	names->is_made = true;
	if (!derive->out.n_ops)
		return FLEXTRACE_OK;
	names->jobs = malloc(derive->out.n_ops * sizeof(*names->jobs));
	if (!names->jobs)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < derive->out.n_ops; i++) {
		const struct tick_op *op = &derive->out.ops[i];

		names->jobs[names->n_jobs++] = (struct job){
			.device = op->device,
			.queue = op->queue,
			.job = (uint32_t)op->job,
			.op = i,
			.first_time_ns = first_time_of(derive, op),
		};
	}
	qsort(names->jobs, names->n_jobs, sizeof(*names->jobs), compare_jobs);
	return FLEXTRACE_OK;
}

/* The first job that is not before `key`, or with `skips_equal` the first behind it. */
static uint32_t find(const struct job_names *names, const struct job *key, bool skips_equal)
{
	uint32_t low = 0, high = names->n_jobs;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = compare_times(&names->jobs[middle], key);

		if (order < 0 || (order == 0 && skips_equal))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int job_name(struct job_names *names, const struct mark_run *run, int64_t time_ns,
             uint32_t *ret_name)
{
	struct job key = {run->device, run->queue, (uint32_t)run->job, 0, time_ns};
	uint32_t place;

	if (!run->job)
		return FLEXTRACE_OK;
	if (!names->is_made)
		FLEXTRACE_TRY(make(names));
	place = find(names, &key, true);
	if (place > 0 && !compare_keys(&names->jobs[place - 1], &key))
		place--;
	else if (place == names->n_jobs || compare_keys(&names->jobs[place], &key))
		return FLEXTRACE_OK;
	*ret_name = names->derive->out.ops[names->jobs[place].op].name;
	return FLEXTRACE_OK;
}
