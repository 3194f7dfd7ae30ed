/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulator.c: cores as threads, mailboxes, doorbells and completion words. What a core does with a
 * control block is firmware.c; here is only what hardware and driver would do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <flextrace/emulator.h>
#include <flextrace/port_posix.h>

#include "config.h"
#include "counter.h"
#include "firmware.h"
#include "truth.h"

#define DEFAULT_MAILBOX_DEPTH 16u
#define MAX_MAILBOX_DEPTH     4096u
#define LINE_BYTES            64u
#define MAX_PAUSE_NS          20000u

enum block_state { BLOCK_FREE, BLOCK_QUEUED, BLOCK_DONE };

struct block {          /* a control block in a mailbox */
	uint32_t state; /* enum block_state: the completion word, a futex */
	uint64_t ticket;
	struct flextrace_emulator_job job;
	struct flextrace_emulator_completion completion;
};

struct core {
	struct flextrace_emulator *emulator; /* weak */
	struct flextrace_wire_area *area;    /* owned */
	struct block *blocks;                /* owned */
	struct truth_buffer *truth;          /* owned; NULL = no truth is kept */
	const struct counter *counter;       /* weak */
	struct firmware_core firmware;
	uint64_t random; /* state of the pauses, 0 = no pauses */
	pthread_t thread;
	pthread_mutex_t lock; /* of submitters and waiters */
	int started;
	uint32_t index;
	uint32_t domain;         /* of its counter */
	uint32_t doorbell;       /* a futex; every change of `submitted` or `stopping` rings it */
	uint32_t ready;          /* a futex; 1 once the firmware has booted */
	uint64_t submitted;      /* tickets given out */
	uint64_t job;            /* the host's number of the block being served */
	uint64_t ticks, host_ns; /* last reading of the counter by this core */
};

struct flextrace_emulator {
	struct counter *counters; /* owned; one of the device, or one per core */
	uint32_t n_counters;
	struct truth_file truth;
	struct core *cores;                      /* owned */
	struct flextrace_emulator_config config; /* defaults filled in; weak texts and arrays say
	                                            nothing */
	uint32_t power;
	uint32_t stopping;
	pthread_mutex_t console_lock;
};

/* -- futexes ----------------------------------------------------------------------------------- */

static void futex_wait(uint32_t *word, uint32_t seen)
{
	(void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* -- a core ------------------------------------------------------------------------------------ */

static uint64_t core_clock(void *context)
{
	struct core *core = context;

	core->host_ns = counter_host_ns();
	core->ticks = counter_at(core->counter, core->host_ns);
	return core->ticks;
}

static void core_note(void *context, uint32_t kind, uint32_t id)
{
	struct core *core = context;
	struct truth_row row = {
		.kind = kind,
		.id = id & FLEXTRACE_WIRE_ID_MASK,
		.run = FLEXTRACE_PORT_LOAD(core->area->run),
		.job = core->job,
		.ticks = core->ticks,
		.host_ns = core->host_ns,
	};

	if (core->truth)
		truth_add(&core->emulator->truth, core->truth, &row);
}

/* Stands for the latency of a bus; xorshift64. */
static void pause_a_little(struct core *core)
{
	struct timespec time = {0};

	if (core->random == 0)
		return;
	core->random ^= core->random << 13;
	core->random ^= core->random >> 7;
	core->random ^= core->random << 17;
	time.tv_nsec = (long)(core->random % MAX_PAUSE_NS);
	(void)nanosleep(&time, NULL);
}

void firmware_dma(struct firmware_core *firmware, void *to, const void *from, size_t bytes)
{
	pause_a_little(firmware->platform);
	if (bytes)
		memcpy(to, from, bytes);
}

uint32_t firmware_spend_power(struct firmware_core *firmware, uint32_t units)
{
	struct core *core = firmware->platform;

	return __atomic_add_fetch(&core->emulator->power, units, __ATOMIC_RELAXED);
}

void firmware_print(struct firmware_core *firmware, const char *text)
{
	struct flextrace_emulator *emulator = ((struct core *)firmware->platform)->emulator;

	if (!emulator->config.console)
		return;
	(void)pthread_mutex_lock(&emulator->console_lock);
	emulator->config.console(emulator->config.console_context, text, strlen(text));
	(void)pthread_mutex_unlock(&emulator->console_lock);
}

static void core_ring(struct core *core)
{
	(void)__atomic_add_fetch(&core->doorbell, 1, __ATOMIC_RELEASE);
	futex_wake(&core->doorbell);
}

/* Sleeps until there is a block to serve; NULL when the device stops and nothing is left. */
static struct block *core_next(struct core *core, uint64_t served)
{
	struct flextrace_emulator *emulator = core->emulator;

	for (;;) {
		uint32_t rung = __atomic_load_n(&core->doorbell, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&core->submitted, __ATOMIC_ACQUIRE) != served)
			return &core->blocks[served & (emulator->config.mailbox_depth - 1)];
		if (__atomic_load_n(&emulator->stopping, __ATOMIC_ACQUIRE))
			return NULL;
		futex_wait(&core->doorbell, rung);
	}
}

static void *core_main(void *context)
{
	struct core *core = context;
	struct flextrace_emulator *emulator = core->emulator;
	struct block *block;
	uint64_t served = 0;

	flextrace_posix_core = (struct flextrace_posix_core){
		.area = core->area,
		.clock = core_clock,
		.note = core_note,
		.context = core,
	};
	firmware_boot(core->index, core->domain, emulator->config.ring_capacity,
	              emulator->config.policy);
	__atomic_store_n(&core->ready, 1, __ATOMIC_RELEASE);
	futex_wake(&core->ready);

	while ((block = core_next(core, served++))) {
		core->job = block->job.job;
		firmware_serve(&core->firmware, &block->job, &block->completion);
		__atomic_store_n(&block->state, BLOCK_DONE, __ATOMIC_RELEASE);
		futex_wake(&block->state);
	}
	if (core->truth)
		truth_flush(&emulator->truth, core->truth);
	return NULL;
}

static void *zeroed_lines(size_t bytes)
{
	size_t rounded = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	void *memory = aligned_alloc(LINE_BYTES, rounded);

	return memory ? memset(memory, 0, rounded) : NULL;
}

static int core_start(struct core *core, uint64_t seed)
{
	struct flextrace_emulator *emulator = core->emulator;

	core->area =
		zeroed_lines(FLEXTRACE_WIRE_AREA_BYTES((size_t)emulator->config.ring_capacity));
	core->blocks = calloc(emulator->config.mailbox_depth, sizeof(*core->blocks));
	core->firmware.local = zeroed_lines(emulator->config.local_bytes);
	core->firmware.platform = core;
	core->random = seed ? seed * UINT64_C(0x9e3779b97f4a7c15) + core->index + 1 : 0;
	if (emulator->truth.stream)
		core->truth = truth_buffer_new(core->index, core->domain);
	if (!core->area || !core->blocks || !core->firmware.local ||
	    (emulator->truth.stream && !core->truth))
		return -ENOMEM;
	(void)pthread_mutex_init(&core->lock, NULL);
	if (pthread_create(&core->thread, NULL, core_main, core) != 0)
		return -EAGAIN;
	core->started = 1;
	while (!__atomic_load_n(&core->ready, __ATOMIC_ACQUIRE))
		futex_wait(&core->ready, 0);
	return 0;
}

static void core_release(struct core *core)
{
	if (core->started) {
		core_ring(core);
		(void)pthread_join(core->thread, NULL);
		(void)pthread_mutex_destroy(&core->lock);
	}
	free(core->area);
	free(core->blocks);
	free(core->firmware.local);
	free(core->truth);
}

/* -- the device -------------------------------------------------------------------------------- */

static int take_config(struct flextrace_emulator *emulator,
                       const struct flextrace_emulator_config *config)
{
	struct flextrace_emulator_config *own = &emulator->config;

	*own = *config;
	if (!own->mailbox_depth)
		own->mailbox_depth = DEFAULT_MAILBOX_DEPTH;
	if (config_fill(own, FLEXTRACE_EMULATOR_MAX_CORES) < 0 ||
	    !config_is_power_of_two(own->mailbox_depth) || own->mailbox_depth > MAX_MAILBOX_DEPTH)
		return -EINVAL;
	return 0;
}

/* All counters are created at one instant. */
static int start_counters(struct flextrace_emulator *emulator,
                          const struct flextrace_emulator_config *config)
{
	uint64_t created_ns = counter_host_ns();
	uint32_t n = config->core_clocks ? config->n_cores : 1, i;
	int ret = 0;

	emulator->counters = calloc(n, sizeof(*emulator->counters));
	if (!emulator->counters)
		return -ENOMEM;
	emulator->n_counters = n;
	for (i = 0; i < n && ret == 0; i++) {
		const struct flextrace_emulator_clock clock = config_clock(config, i);

		ret = counter_init(&emulator->counters[i], config->counter_hz, &clock, created_ns);
	}
	return ret;
}

static int start_cores(struct flextrace_emulator *emulator, uint64_t seed)
{
	uint32_t i;
	int ret;

	emulator->cores = calloc(emulator->config.n_cores, sizeof(*emulator->cores));
	if (!emulator->cores)
		return -ENOMEM;
	for (i = 0; i < emulator->config.n_cores; i++) {
		struct core *core = &emulator->cores[i];
		uint32_t counter = emulator->n_counters > 1 ? i : 0;

		core->emulator = emulator;
		core->index = i;
		core->counter = &emulator->counters[counter];
		core->domain = emulator->config.domain + counter;
		ret = core_start(core, seed);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int flextrace_emulator_create(const struct flextrace_emulator_config *config,
                              struct flextrace_emulator **ret_emulator)
{
	struct flextrace_emulator *emulator = calloc(1, sizeof(*emulator));
	int ret;

	if (!emulator)
		return -ENOMEM;
	(void)pthread_mutex_init(&emulator->console_lock, NULL);
	ret = take_config(emulator, config);
	if (ret == 0)
		ret = start_counters(emulator, config);
	if (ret == 0)
		ret = truth_open(&emulator->truth, config->truth_path, config->device);
	if (ret == 0)
		ret = start_cores(emulator, config->seed);
	if (ret < 0) {
		flextrace_emulator_destroy(emulator);
		return ret;
	}
	*ret_emulator = emulator;
	return 0;
}

int flextrace_emulator_destroy(struct flextrace_emulator *emulator)
{
	uint32_t i;
	int ret;

	if (!emulator)
		return 0;
	__atomic_store_n(&emulator->stopping, 1, __ATOMIC_RELEASE);
	for (i = 0; emulator->cores && i < emulator->config.n_cores; i++)
		core_release(&emulator->cores[i]);
	free(emulator->cores);
	ret = truth_close(&emulator->truth);
	for (i = 0; i < emulator->n_counters; i++)
		counter_release(&emulator->counters[i]);
	free(emulator->counters);
	(void)pthread_mutex_destroy(&emulator->console_lock);
	free(emulator);
	return ret;
}

/* -- the driver's side ------------------------------------------------------------------------- */

int flextrace_emulator_submit(struct flextrace_emulator *emulator,
                              const struct flextrace_emulator_job *job, uint64_t *ret_ticket)
{
	struct core *core;
	struct block *block;
	uint64_t ticket;

	if (job_check(job, &emulator->config) < 0 || job->op == FLEXTRACE_EMULATOR_HANG)
		return -EINVAL;
	core = &emulator->cores[job->core];
	(void)pthread_mutex_lock(&core->lock);
	ticket = core->submitted;
	block = &core->blocks[ticket & (emulator->config.mailbox_depth - 1)];
	if (__atomic_load_n(&block->state, __ATOMIC_ACQUIRE) != BLOCK_FREE) {
		(void)pthread_mutex_unlock(&core->lock);
		return -EAGAIN;
	}
	block->ticket = ticket;
	block->job = *job;
	__atomic_store_n(&block->state, BLOCK_QUEUED, __ATOMIC_RELEASE);
	__atomic_store_n(&core->submitted, ticket + 1, __ATOMIC_RELEASE);
	core_ring(core);
	(void)pthread_mutex_unlock(&core->lock);
	*ret_ticket = ticket;
	return 0;
}

int flextrace_emulator_wait(struct flextrace_emulator *emulator, uint32_t core_index,
                            uint64_t ticket, struct flextrace_emulator_completion *ret_completion)
{
	struct core *core;
	struct block *block;
	int is_outstanding;

	if (core_index >= emulator->config.n_cores)
		return -EINVAL;
	core = &emulator->cores[core_index];
	block = &core->blocks[ticket & (emulator->config.mailbox_depth - 1)];
	(void)pthread_mutex_lock(&core->lock);
	is_outstanding = block->ticket == ticket &&
	                 __atomic_load_n(&block->state, __ATOMIC_ACQUIRE) != BLOCK_FREE;
	(void)pthread_mutex_unlock(&core->lock);
	if (!is_outstanding)
		return -EINVAL;
	while (__atomic_load_n(&block->state, __ATOMIC_ACQUIRE) != BLOCK_DONE)
		futex_wait(&block->state, BLOCK_QUEUED);
	*ret_completion = block->completion;
	__atomic_store_n(&block->state, BLOCK_FREE, __ATOMIC_RELEASE);
	return 0;
}

struct flextrace_wire_area *flextrace_emulator_area(struct flextrace_emulator *emulator,
                                                    uint32_t core, size_t *ret_bytes)
{
	*ret_bytes = FLEXTRACE_WIRE_AREA_BYTES((size_t)emulator->config.ring_capacity);
	return emulator->cores[core].area;
}

uint64_t flextrace_emulator_counter(const struct flextrace_emulator *emulator, uint32_t core)
{
	return counter_at(emulator->cores[core].counter, counter_host_ns());
}

uint64_t flextrace_emulator_ticks_at(const struct flextrace_emulator *emulator, uint32_t core,
                                     uint64_t host_ns)
{
	return counter_at(emulator->cores[core].counter, host_ns);
}

const char *flextrace_emulator_elf(void)
{
	uintptr_t program = (uintptr_t)getauxval(AT_PHDR);
	Dl_info info;

	/* The program's headers stand in the first page of the program itself. */
	if (!dladdr((void *)(uintptr_t)firmware_serve, &info) ||
	    program - (uintptr_t)info.dli_fbase < 4096)
		return "/proc/self/exe";
	return info.dli_fname;
}
