/* SPDX-License-Identifier: Apache-2.0 */
/* The ground truth: what the cores say of each stamp they took, and when that was on the host. */
#include <errno.h>
#include <stdlib.h>

#include "qemu_impl.h"

static int is_known(const struct truth_row *row)
{
	if (row->kind == FLEXTRACE_WIRE_SLOT_STAMP)
		return row->id < FLEXTRACE_WIRE_N_STAMPS;
	return row->kind >= FLEXTRACE_WIRE_MARK && row->kind <= FLEXTRACE_WIRE_VALUE;
}

static void take_truth_row(struct flextrace_qemu *qemu, struct core *core,
                           const struct qemu_truth *from)
{
	uint64_t cycles = load64(&from->cycles_lo, &from->cycles_hi);
	const struct truth_row row = {
		.kind = load(&from->kind),
		.id = load(&from->id),
		.run = load(&from->run),
		.job = load64(&from->job_lo, &from->job_hi),
		.ticks = load64(&from->ticks_lo, &from->ticks_hi),
		.host_ns = host_clock_ns(&qemu->clock, cycles),
	};

	if (is_known(&row) && cycles >= qemu->start_cycles && cycles <= host_cycles())
		truth_add(&qemu->truth, core->truth, &row);
	else
		qemu->truth.failed = 1;
}

void stamps_take(struct flextrace_qemu *qemu, struct core *core)
{
	const struct qemu_truth *rows = (const void *)(core->window + qemu->layout.truth);
	uint32_t end;

	if (!core->truth)
		return;
	(void)pthread_mutex_lock(&qemu->truth_lock);
	end = load(&core->mailbox->truth_written);
	if (load(&core->mailbox->truth_lost) || host_clock_read(&qemu->clock) < 0)
		qemu->truth.failed = 1;
	if (end - core->truth_taken > QEMU_TRUTH_ROWS) {
		qemu->truth.failed = 1;
		core->truth_taken = end;
	}
	for (; core->truth_taken != end; core->truth_taken++)
		take_truth_row(qemu, core, &rows[core->truth_taken % QEMU_TRUTH_ROWS]);
	store(&core->mailbox->truth_taken, end);
	(void)pthread_mutex_unlock(&qemu->truth_lock);
}

int stamps_open(struct flextrace_qemu *qemu)
{
	uint32_t i;
	int ret = truth_open(&qemu->truth, qemu->config.truth_path, qemu->config.device);

	for (i = 0; qemu->truth.stream && i < qemu->config.n_cores; i++) {
		struct core *core = &qemu->cores[i];

		core->truth = truth_buffer_new(i, load(&core->mailbox->domain));
		if (!core->truth)
			return -ENOMEM;
	}
	return ret;
}

int stamps_close(struct flextrace_qemu *qemu)
{
	uint32_t i;

	for (i = 0; i < FLEXTRACE_QEMU_MAX_CORES; i++) {
		if (qemu->cores[i].truth)
			truth_flush(&qemu->truth, qemu->cores[i].truth);
		free(qemu->cores[i].truth);
	}
	host_clock_release(&qemu->clock);
	return truth_close(&qemu->truth);
}
