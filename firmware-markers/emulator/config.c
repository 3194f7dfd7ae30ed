/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "config.h"

#define DEFAULT_RING_CAPACITY 4096u
#define DEFAULT_LOCAL_BYTES   ((size_t)1 << 20)

int config_is_power_of_two(uint32_t value)
{
	return value && (value & (value - 1)) == 0;
}

int config_fill(struct flextrace_emulator_config *config, uint32_t max_cores)
{
	if (!config->ring_capacity)
		config->ring_capacity = DEFAULT_RING_CAPACITY;
	if (!config->local_bytes)
		config->local_bytes = DEFAULT_LOCAL_BYTES;
	if (config->n_cores == 0 || config->n_cores > max_cores ||
	    !config_is_power_of_two(config->ring_capacity) || config->ring_capacity < 4 ||
	    config->ring_capacity > FLEXTRACE_WIRE_MAX_CAPACITY ||
	    config->policy > FLEXTRACE_WIRE_BLOCK)
		return -EINVAL;
	return 0;
}

struct flextrace_emulator_clock config_clock(const struct flextrace_emulator_config *config,
                                             uint32_t core)
{
	if (config->core_clocks)
		return config->core_clocks[core];
	return (struct flextrace_emulator_clock){.offset_ticks = config->offset_ticks,
	                                         .drift_ppb = config->drift_ppb,
	                                         .steps = config->steps,
	                                         .n_steps = config->n_steps};
}

int job_has_operands(const struct flextrace_emulator_job *job)
{
	return job->op == FLEXTRACE_EMULATOR_MATMUL || job->op == FLEXTRACE_EMULATOR_ADD ||
	       job->op == FLEXTRACE_EMULATOR_REDUCE;
}

int job_check(const struct flextrace_emulator_job *job,
              const struct flextrace_emulator_config *config)
{
	size_t words = config->local_bytes / sizeof(uint32_t);

	if (job->core >= config->n_cores || job->op > FLEXTRACE_EMULATOR_HANG)
		return -EINVAL;
	if (job_has_operands(job)) {
		if (job->n == 0 || !job->a || !job->c ||
		    (!job->b && job->op != FLEXTRACE_EMULATOR_REDUCE))
			return -EINVAL;
		return (uint64_t)job->n * job->n <= words / 3 ? 0 : -EINVAL;
	}
	if (job->op != FLEXTRACE_EMULATOR_COPY && job->op != FLEXTRACE_EMULATOR_FILL)
		return 0;
	if (job->bytes > config->local_bytes || (job->bytes && !job->target) ||
	    (job->bytes && !job->source && job->op == FLEXTRACE_EMULATOR_COPY))
		return -EINVAL;
	return 0;
}
