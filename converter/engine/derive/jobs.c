/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"

#include "base/order.h"

static int compare_keys(const struct job *left, const struct job *right)
{
	return ORDER(left->device, right->device) ?: ORDER(left->queue, right->queue) ?:
	       ORDER(left->job, right->job);
}

static int compare_times(const struct job *left, const struct job *right)
{
	int order = compare_keys(left, right);

	return order ? order : ORDER(left->first_time_ns, right->first_time_ns);
}

static int compare_jobs(const void *left, const void *right)
{
	int order = compare_times(left, right);

	return order ? order
	             : ORDER(((const struct job *)left)->op, ((const struct job *)right)->op);
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
	FLEXTRACE_TRY(ARRAY_NEW(names->jobs, derive->out.n_ops));
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
	ORDER_ARRAY(names->jobs, names->n_jobs, compare_jobs);
	return FLEXTRACE_OK;
}

static bool is_not_behind(const void *job, const void *key)
{
	return compare_times(job, key) <= 0;
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
	place = array_count_before(names->jobs, names->n_jobs, sizeof(*names->jobs), is_not_behind,
	                           &key);
	if (place > 0 && !compare_keys(&names->jobs[place - 1], &key))
		place--;
	else if (place == names->n_jobs || compare_keys(&names->jobs[place], &key))
		return FLEXTRACE_OK;
	*ret_name = names->derive->out.ops[names->jobs[place].op].name;
	return FLEXTRACE_OK;
}
