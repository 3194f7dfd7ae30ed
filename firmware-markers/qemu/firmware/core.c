/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.c: a core of the device on QEMU's "virt" machine. It boots, waits for its doorbell, works
 * control blocks off (firmware.c) and interrupts the host. Machine mode, no interrupt is ever
 * taken: the timer only ends wfi.
 */
#include <flextrace/marker.h>
#include <flextrace/riscv_clock.h>

#include "firmware.h"
#include "mailbox.h"

#define MTIMECMP 0x02004000u
#define UART     0x10000000u
#define BOOT     ((const struct qemu_boot *)(QEMU_RAM_ADDRESS + QEMU_BOOT_OFFSET))

#define LOAD(word)         FLEXTRACE_PORT_LOAD(word)
#define STORE(word, value) FLEXTRACE_PORT_STORE(word, value)

struct core {
	struct firmware_core firmware; /* local memory */
	struct qemu_mailbox *mailbox;
	uint8_t *window;
};

void core_main(uint32_t hart);

static struct qemu_mailbox *own_mailbox(void)
{
	return (struct qemu_mailbox *)((uintptr_t)__builtin_thread_pointer() - QEMU_AREA_OFFSET);
}

static struct qemu_mailbox *mailbox_of(uint32_t core)
{
	uintptr_t windows = QEMU_RAM_ADDRESS + QEMU_CORES_OFFSET;

	return (struct qemu_mailbox *)(windows + core * LOAD(BOOT->window_bytes));
}

static unsigned long own_hart(void)
{
	unsigned long hart;

	__asm__("csrr %0, mhartid" : "=r"(hart));
	return hart;
}

/* Sleeps until the timer has moved on by `idle_ticks`. */
void core_idle(void)
{
	volatile uint32_t *compare = (volatile uint32_t *)(uintptr_t)(MTIMECMP + 8 * own_hart());
	uint64_t time = flextrace_riscv_time() + LOAD(BOOT->idle_ticks);

	compare[1] = 0xffffffffu; /* so that no value in between is in the past */
	compare[0] = (uint32_t)time;
	compare[1] = (uint32_t)(time >> 32);
	__asm__ volatile("wfi" ::: "memory");
}

uint64_t core_clock(void)
{
	struct qemu_mailbox *mailbox = own_mailbox();
	uint64_t cycles = flextrace_riscv_cycles();
	uint64_t offset = (uint64_t)LOAD(mailbox->offset_hi) << 32 | LOAD(mailbox->offset_lo);
	uint64_t ticks = flextrace_riscv_scale(cycles, LOAD(mailbox->ratio)) + offset;

	STORE(mailbox->cycles_lo, (uint32_t)cycles);
	STORE(mailbox->cycles_hi, (uint32_t)(cycles >> 32));
	STORE(mailbox->ticks_lo, (uint32_t)ticks);
	STORE(mailbox->ticks_hi, (uint32_t)(ticks >> 32));
	return ticks;
}

/* A stamp was taken: its truth is the last reading of the counter. */
void core_note(uint32_t kind, uint32_t id)
{
	struct qemu_mailbox *mailbox = own_mailbox();
	const struct qemu_block *block = &mailbox->blocks[mailbox->done % QEMU_MAILBOX_DEPTH];
	uint32_t written = LOAD(mailbox->truth_written);
	struct qemu_truth *row;

	if (!LOAD(BOOT->has_truth))
		return;
	if (written - LOAD(mailbox->truth_taken) == QEMU_TRUTH_ROWS) {
		STORE(mailbox->truth_lost, LOAD(mailbox->truth_lost) + 1);
		return;
	}
	row = (struct qemu_truth *)((uintptr_t)mailbox + LOAD(BOOT->truth_offset));
	row += written % QEMU_TRUTH_ROWS;
	STORE(row->kind, kind);
	STORE(row->id, id & FLEXTRACE_WIRE_ID_MASK);
	STORE(row->run, LOAD(FLEXTRACE_AREA()->run));
	STORE(row->job_lo, LOAD(block->job_lo));
	STORE(row->job_hi, LOAD(block->job_hi));
	STORE(row->ticks_lo, LOAD(mailbox->ticks_lo));
	STORE(row->ticks_hi, LOAD(mailbox->ticks_hi));
	STORE(row->cycles_lo, LOAD(mailbox->cycles_lo));
	STORE(row->cycles_hi, LOAD(mailbox->cycles_hi));
	FLEXTRACE_PORT_PUBLISH(mailbox->truth_written, written + 1);
}

void firmware_dma(struct firmware_core *core, void *to, const void *from, size_t bytes)
{
	(void)core;
	__builtin_memcpy(to, from, bytes);
}

/* Without atomics each core counts for itself. */
uint32_t firmware_spend_power(struct firmware_core *firmware, uint32_t units)
{
	struct qemu_mailbox *mailbox = ((struct core *)firmware->platform)->mailbox;
	uint32_t sum = 0;
	uint32_t i;

	STORE(mailbox->power, LOAD(mailbox->power) + units);
	for (i = 0; i < LOAD(BOOT->n_cores); i++)
		sum += LOAD(mailbox_of(i)->power);
	return sum;
}

/* Reads the counter whenever the host asks, without sleeping in between. */
static void answer_probes(struct qemu_mailbox *mailbox)
{
	uint64_t until = flextrace_riscv_time() + QEMU_PROBE_TICKS;
	uint32_t probed = LOAD(mailbox->probed);

	while ((int64_t)(until - flextrace_riscv_time()) > 0) {
		uint32_t probe = FLEXTRACE_PORT_LIMIT(mailbox->probe);

		if (probe & QEMU_PROBE_END)
			return;
		if (probe == probed)
			continue;
		(void)core_clock();
		FLEXTRACE_PORT_PUBLISH(mailbox->probed, probe);
		probed = probe;
		until = flextrace_riscv_time() + QEMU_PROBE_TICKS;
	}
}

static void tell_time(struct qemu_block *block)
{
	struct qemu_mailbox *mailbox = own_mailbox();

	answer_probes(mailbox);
	(void)core_clock();
	STORE(block->ticks_lo, LOAD(mailbox->ticks_lo));
	STORE(block->ticks_hi, LOAD(mailbox->ticks_hi));
	STORE(block->cycles_lo, LOAD(mailbox->cycles_lo));
	STORE(block->cycles_hi, LOAD(mailbox->cycles_hi));
}

/* The stage of a control block holds its operands and its result as local memory does. */
static void take_job(const struct core *core, uint32_t index, const struct qemu_block *block,
                     struct flextrace_emulator_job *ret_job)
{
	uint8_t *stage = core->window + LOAD(BOOT->stage_offset) + index * LOAD(BOOT->stage_bytes);
	uint32_t n = LOAD(block->n);

	ret_job->queue = LOAD(block->queue);
	ret_job->job = (uint64_t)LOAD(block->job_hi) << 32 | LOAD(block->job_lo);
	ret_job->op = LOAD(block->op);
	ret_job->n = n;
	ret_job->repeat = LOAD(block->repeat);
	ret_job->kinds = LOAD(block->kinds);
	ret_job->a = (const int32_t *)(void *)stage;
	ret_job->b = ret_job->a + n * n;
	ret_job->c = (int32_t *)(void *)stage + 2 * n * n;
	ret_job->source = ret_job->target = stage;
	ret_job->bytes = LOAD(block->bytes);
	ret_job->fill = (uint8_t)LOAD(block->fill);
}

static void serve(struct core *core, uint32_t index)
{
	struct qemu_block *block = &core->mailbox->blocks[index];
	struct flextrace_emulator_completion completion;
	struct flextrace_emulator_job job;
	uint32_t i;

	if (LOAD(block->op) == QEMU_OP_CLOCK) {
		tell_time(block);
		return;
	}
	take_job(core, index, block, &job);
	firmware_serve(&core->firmware, &job, &completion);
	STORE(block->run, completion.run);
	STORE(block->power, completion.power);
	for (i = 0; i < FLEXTRACE_EMULATOR_N_STAMPS; i++)
		STORE(block->ts[i], completion.ts[i]);
}

/* -- the UART ---------------------------------------------------------------------------------- */

static void barrier(void)
{
	__asm__ volatile("fence rw, rw" ::: "memory");
}

/*
 * A byte that comes before the UART has taken the last one replaces it, so one core sends at a
 * time. Mutual exclusion without atomics, by Burns and Lamport: a core yields to those below it and
 * waits for those above.
 */
static uint32_t wants_uart[QEMU_MAX_CORES];

static int has_rival(uint32_t from, uint32_t end)
{
	while (from < end && !LOAD(wants_uart[from]))
		from++;
	return from < end;
}

static void lock_uart(void)
{
	uint32_t own = (uint32_t)own_hart();

	do {
		STORE(wants_uart[own], 0);
		while (has_rival(0, own))
			FLEXTRACE_PORT_WAIT();
		STORE(wants_uart[own], 1);
		barrier();
	} while (has_rival(0, own));
	while (has_rival(own + 1, LOAD(BOOT->n_cores)))
		FLEXTRACE_PORT_WAIT();
	barrier();
}

static void unlock_uart(void)
{
	barrier();
	STORE(wants_uart[own_hart()], 0);
}

static void send(uint8_t byte)
{
	const volatile uint8_t *status = (const volatile uint8_t *)(uintptr_t)(UART + 5);

	while ((*status & 0x20) == 0)
		;
	*(volatile uint8_t *)(uintptr_t)UART = byte;
}

static void interrupt_host(void)
{
	lock_uart();
	send(0);
	unlock_uart();
}

static void print(const char *text)
{
	lock_uart();
	while (*text)
		send((uint8_t)*text++);
	unlock_uart();
}

void firmware_print(struct firmware_core *core, const char *text)
{
	(void)core;
	print(text);
}

/* -- control blocks, one after the other ------------------------------------------------------- */

static void work_off(struct core *core)
{
	struct qemu_mailbox *mailbox = core->mailbox;
	uint32_t done = 0;

	for (;;) {
		while (FLEXTRACE_PORT_LIMIT(mailbox->doorbell) == done)
			core_idle();
		serve(core, done % QEMU_MAILBOX_DEPTH);
		FLEXTRACE_PORT_PUBLISH(mailbox->done, ++done);
		interrupt_host();
	}
}

static void tell(struct qemu_mailbox *mailbox, uint32_t state)
{
	FLEXTRACE_PORT_PUBLISH(mailbox->state, state);
	interrupt_host();
}

__attribute__((used)) void core_main(uint32_t hart)
{
	struct core core;

	__asm__ volatile("csrs mie, %0" : : "r"(1u << 7)); /* the timer ends wfi */
	if (hart >= LOAD(BOOT->n_cores))
		return;
	core.mailbox = mailbox_of(hart);
	tell(core.mailbox, QEMU_ALIVE);
	while (!FLEXTRACE_PORT_LIMIT(BOOT->go))
		core_idle();
	core.window = (uint8_t *)core.mailbox;
	core.firmware.local = core.window + LOAD(BOOT->local_offset);
	core.firmware.platform = &core;
	__asm__ volatile("mv tp, %0" : : "r"(core.window + QEMU_AREA_OFFSET) : "memory");
	firmware_boot(hart, LOAD(core.mailbox->domain), LOAD(BOOT->ring_capacity),
	              LOAD(BOOT->policy));
	if (hart == 0)
		print("flextrace: ready\n");
	tell(core.mailbox, QEMU_READY);
	work_off(&core);
}
