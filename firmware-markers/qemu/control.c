/* SPDX-License-Identifier: Apache-2.0 */
/* Control blocks: into the mailbox, out of it. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "counter.h"
#include "qemu_impl.h"

uint64_t deadline_of(const struct flextrace_qemu *qemu)
{
	return counter_host_ns() + qemu->timeout_ns;
}

static uint8_t *stage_of(const struct flextrace_qemu *qemu, const struct core *core, uint32_t slot)
{
	return core->window + qemu->layout.stage + slot * qemu->config.local_bytes;
}

/* What the firmware's DMA will read. */
static void fill_stage(uint8_t *stage, const struct flextrace_emulator_job *job)
{
	size_t matrix_bytes = (size_t)job->n * job->n * sizeof(uint32_t);

	if (job_has_operands(job))
		memcpy(stage, job->a, matrix_bytes);
	if (job_has_operands(job) && job->op != FLEXTRACE_EMULATOR_REDUCE)
		memcpy(stage + matrix_bytes, job->b, matrix_bytes);
	if (job->op == FLEXTRACE_EMULATOR_COPY && job->bytes)
		memcpy(stage, job->source, job->bytes);
}

/* What it has written. */
static void read_stage(const uint8_t *stage, const struct flextrace_emulator_job *job)
{
	size_t matrix_bytes = (size_t)job->n * job->n * sizeof(uint32_t);

	if (job_has_operands(job))
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
	int ret = job_check(job, &qemu->config);

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

/* -- the counter ----------------------------------------------------------------------------- */

#define MAX_PROBING_NS UINT64_C(6000000)
#define MAX_PROBE_NS   UINT64_C(40000) /* for an answer, if both have a processor */
#define GOOD_READ_NS   1500u           /* as narrow as it gets */
#define PAUSE_NS       100000

static uint64_t width_ns(const struct flextrace_qemu_reading *reading)
{
	return reading->after_ns - reading->before_ns;
}

/* Returns 0: no answer in time. */
static int probe(struct core *core, struct flextrace_qemu_reading *ret_reading)
{
	struct qemu_mailbox *mailbox = core->mailbox;
	uint32_t number = (load(&mailbox->probe) + 1) & ~QEMU_PROBE_END;

	ret_reading->before_ns = counter_host_ns();
	store(&mailbox->probe, number);
	do {
		if (load(&mailbox->probed) == number) {
			ret_reading->after_ns = counter_host_ns();
			ret_reading->ticks = load64(&mailbox->ticks_lo, &mailbox->ticks_hi);
			return 1;
		}
	} while (counter_host_ns() - ret_reading->before_ns < MAX_PROBE_NS);
	return 0;
}

/* A core sleeps for as long as its doorbell is silent, so that reading it by the mailbox takes as
 * long. Once it is awake, host and core exchange words, each in a loop. Where the core has no
 * processor, a pause gives it this one. Leaves the narrowest reading, `after_ns` 0: none. */
static void probe_often(struct core *core, struct flextrace_qemu_reading *best)
{
	const uint64_t end_ns = counter_host_ns() + MAX_PROBING_NS;
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct flextrace_qemu_reading reading;

	do {
		if (!probe(core, &reading)) {
			(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
			continue;
		}
		if (!best->after_ns || width_ns(&reading) < width_ns(best))
			*best = reading;
		if (width_ns(best) <= GOOD_READ_NS)
			return;
	} while (counter_host_ns() < end_ns);
}

int read_counter(struct flextrace_qemu *qemu, uint32_t core_index, int probes,
                 struct flextrace_qemu_reading *ret_reading, uint64_t *ret_cycles)
{
	const struct flextrace_emulator_job job = {.core = core_index, .op = QEMU_OP_CLOCK};
	struct core *core = &qemu->cores[core_index];
	struct flextrace_qemu_reading probed = {.after_ns = 0};
	const struct qemu_block *block;
	uint64_t ticket;
	int ret;

	(void)pthread_mutex_lock(&core->probe_lock);
	store(&core->mailbox->probe, probes ? load(&core->mailbox->probed) : QEMU_PROBE_END);
	ret_reading->before_ns = counter_host_ns();
	ret = ring(qemu, &job, &ticket);
	if (ret == 0 && probes) {
		probe_often(core, &probed);
		store(&core->mailbox->probe, QEMU_PROBE_END | load(&core->mailbox->probed));
	}
	if (ret == 0)
		ret = wait_for(qemu, core, ticket);
	(void)pthread_mutex_unlock(&core->probe_lock);
	if (ret < 0)
		return ret;
	ret_reading->after_ns = counter_host_ns();
	block = &core->mailbox->blocks[ticket % QEMU_MAILBOX_DEPTH];
	ret_reading->ticks = load64(&block->ticks_lo, &block->ticks_hi);
	*ret_cycles = load64(&block->cycles_lo, &block->cycles_hi);
	free_slot(core, ticket);
	if (probed.after_ns && width_ns(&probed) < width_ns(ret_reading))
		*ret_reading = probed;
	return 0;
}

int flextrace_qemu_read(struct flextrace_qemu *qemu, uint32_t core,
                        struct flextrace_qemu_reading *ret_reading)
{
	uint64_t cycles;

	if (core >= qemu->config.n_cores)
		return -EINVAL;
	return read_counter(qemu, core, 1, ret_reading, &cycles);
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
