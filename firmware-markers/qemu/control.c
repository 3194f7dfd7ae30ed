/* SPDX-License-Identifier: Apache-2.0 */
/* Control blocks: into the mailbox, out of it. */
#include <errno.h>
#include <string.h>

#include "counter.h"
#include "qemu_impl.h"

uint64_t deadline_of(const struct flextrace_qemu *qemu)
{
	return counter_host_ns() + qemu->timeout_ns;
}

static int has_operands(const struct flextrace_emulator_job *job)
{
	return job->op == FLEXTRACE_EMULATOR_MATMUL || job->op == FLEXTRACE_EMULATOR_ADD ||
	       job->op == FLEXTRACE_EMULATOR_REDUCE;
}

static int check_job(const struct flextrace_qemu *qemu, const struct flextrace_emulator_job *job)
{
	size_t words = qemu->config.local_bytes / sizeof(uint32_t);

	if (job->core >= qemu->config.n_cores || job->op > FLEXTRACE_EMULATOR_HANG)
		return -EINVAL;
	if (has_operands(job)) {
		if (job->n == 0 || !job->a || !job->c ||
		    (!job->b && job->op != FLEXTRACE_EMULATOR_REDUCE))
			return -EINVAL;
		return (uint64_t)job->n * job->n <= words / 3 ? 0 : -EINVAL;
	}
	if (job->op != FLEXTRACE_EMULATOR_COPY && job->op != FLEXTRACE_EMULATOR_FILL)
		return 0;
	if (job->bytes > qemu->config.local_bytes || (job->bytes && !job->target) ||
	    (job->bytes && !job->source && job->op == FLEXTRACE_EMULATOR_COPY))
		return -EINVAL;
	return 0;
}

static uint8_t *stage_of(const struct flextrace_qemu *qemu, const struct core *core, uint32_t slot)
{
	return core->window + qemu->layout.stage + slot * qemu->config.local_bytes;
}

/* What the firmware's DMA will read. */
static void fill_stage(uint8_t *stage, const struct flextrace_emulator_job *job)
{
	size_t matrix_bytes = (size_t)job->n * job->n * sizeof(uint32_t);

	if (has_operands(job))
		memcpy(stage, job->a, matrix_bytes);
	if (has_operands(job) && job->op != FLEXTRACE_EMULATOR_REDUCE)
		memcpy(stage + matrix_bytes, job->b, matrix_bytes);
	if (job->op == FLEXTRACE_EMULATOR_COPY && job->bytes)
		memcpy(stage, job->source, job->bytes);
}

/* What it has written. */
static void read_stage(const uint8_t *stage, const struct flextrace_emulator_job *job)
{
	size_t matrix_bytes = (size_t)job->n * job->n * sizeof(uint32_t);

	if (has_operands(job))
		memcpy(job->c, stage + 2 * matrix_bytes,
		       job->op == FLEXTRACE_EMULATOR_REDUCE ? sizeof(uint32_t) : matrix_bytes);
	else if (job->op <= FLEXTRACE_EMULATOR_FILL && job->bytes)
		memcpy(job->target, stage, job->bytes);
}

static void fill_block(struct qemu_block *block, const struct flextrace_emulator_job *job)
{
	store(&block->op, job->op);
	store(&block->n, job->n);
	store(&block->repeat, job->repeat);
	store(&block->kinds, job->kinds);
	store(&block->bytes, (uint32_t)job->bytes);
	store(&block->fill, job->fill);
	store(&block->queue, job->queue);
	store(&block->job_lo, (uint32_t)job->job);
	store(&block->job_hi, (uint32_t)(job->job >> 32));
}

static int ring(struct flextrace_qemu *qemu, const struct flextrace_emulator_job *job,
                uint64_t *ret_ticket)
{
	struct core *core = &qemu->cores[job->core];
	uint32_t slot;

	(void)pthread_mutex_lock(&core->lock);
	slot = (uint32_t)(core->submitted % QEMU_MAILBOX_DEPTH);
	if (core->is_taken[slot]) {
		(void)pthread_mutex_unlock(&core->lock);
		return -EAGAIN;
	}
	core->is_taken[slot] = 1;
	core->tickets[slot] = core->submitted;
	core->jobs[slot] = *job;
	fill_stage(stage_of(qemu, core, slot), job);
	fill_block(&core->mailbox->blocks[slot], job);
	*ret_ticket = core->submitted++;
	store(&core->mailbox->doorbell, (uint32_t)core->submitted);
	(void)pthread_mutex_unlock(&core->lock);
	return 0;
}

int flextrace_qemu_submit(struct flextrace_qemu *qemu, const struct flextrace_emulator_job *job,
                          uint64_t *ret_ticket)
{
	int ret = check_job(qemu, job);

	return ret < 0 ? ret : ring(qemu, job, ret_ticket);
}

static int wait_for(struct flextrace_qemu *qemu, struct core *core, uint64_t ticket)
{
	uint32_t slot = (uint32_t)(ticket % QEMU_MAILBOX_DEPTH);
	int is_outstanding;
	int ret;

	(void)pthread_mutex_lock(&core->lock);
	is_outstanding = core->is_taken[slot] && core->tickets[slot] == ticket;
	(void)pthread_mutex_unlock(&core->lock);
	if (!is_outstanding)
		return -EINVAL;
	ret = machine_wait(&qemu->machine, &core->mailbox->done, (uint32_t)ticket + 1,
	                   deadline_of(qemu));
	if (ret < 0) {
		(void)pthread_mutex_lock(&core->lock);
		core->is_stuck = 1;
		(void)pthread_mutex_unlock(&core->lock);
	}
	return ret;
}

static void free_slot(struct core *core, uint64_t ticket)
{
	(void)pthread_mutex_lock(&core->lock);
	core->is_taken[ticket % QEMU_MAILBOX_DEPTH] = 0;
	(void)pthread_mutex_unlock(&core->lock);
}

int flextrace_qemu_wait(struct flextrace_qemu *qemu, uint32_t core_index, uint64_t ticket,
                        struct flextrace_emulator_completion *ret_completion)
{
	uint32_t slot = (uint32_t)(ticket % QEMU_MAILBOX_DEPTH);
	const struct qemu_block *block;
	struct core *core;
	uint32_t i;
	int ret;

	if (core_index >= qemu->config.n_cores)
		return -EINVAL;
	core = &qemu->cores[core_index];
	ret = wait_for(qemu, core, ticket);
	if (ret < 0)
		return ret;
	block = &core->mailbox->blocks[slot];
	ret_completion->status = 0;
	ret_completion->run = load(&block->run);
	ret_completion->power = load(&block->power);
	for (i = 0; i < FLEXTRACE_EMULATOR_N_STAMPS; i++)
		ret_completion->ts[i] = load(&block->ts[i]);
	read_stage(stage_of(qemu, core, slot), &core->jobs[slot]);
	stamps_take(qemu, core);
	free_slot(core, ticket);
	return 0;
}

int read_counter(struct flextrace_qemu *qemu, uint32_t core_index, uint64_t *ret_ticks,
                 uint64_t *ret_cycles)
{
	const struct flextrace_emulator_job job = {.core = core_index, .op = QEMU_OP_CLOCK};
	struct core *core = &qemu->cores[core_index];
	const struct qemu_block *block;
	uint64_t ticket;
	int ret = ring(qemu, &job, &ticket);

	if (ret == 0)
		ret = wait_for(qemu, core, ticket);
	if (ret < 0)
		return ret;
	block = &core->mailbox->blocks[ticket % QEMU_MAILBOX_DEPTH];
	*ret_ticks = load64(&block->ticks_lo, &block->ticks_hi);
	*ret_cycles = load64(&block->cycles_lo, &block->cycles_hi);
	free_slot(core, ticket);
	return 0;
}

int flextrace_qemu_counter(struct flextrace_qemu *qemu, uint32_t core, uint64_t *ret_ticks)
{
	uint64_t cycles;

	return core < qemu->config.n_cores ? read_counter(qemu, core, ret_ticks, &cycles) : -EINVAL;
}

struct flextrace_wire_area *flextrace_qemu_area(struct flextrace_qemu *qemu, uint32_t core,
                                                size_t *ret_bytes)
{
	*ret_bytes = qemu->area_bytes;
	return (void *)(qemu->cores[core].window + QEMU_AREA_OFFSET);
}

int flextrace_qemu_pid(const struct flextrace_qemu *qemu)
{
	return qemu->machine.pid;
}
