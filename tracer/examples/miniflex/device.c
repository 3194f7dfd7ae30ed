/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control blocks and their completion. The thread that launches takes the submit time before the
 * doorbell; a completion thread per core takes the complete time as soon as the completion is
 * visible and records the whole control block as one event. Queue = core: a core works its mailbox
 * off in order.
 *
 * The completion thread also takes the core's markers. The marker area holds the stamps of two
 * runs, so no more than two control blocks of a core are in flight until the older one's markers
 * are taken.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

#define QUEUE_DEPTH 2u

struct pending {
	struct launch launch;
	uint64_t submit_ns;
	uint64_t ticket;
};

struct core {
	struct device *device; /* weak */
	pthread_t thread;
	bool has_thread;
	uint32_t index;
	struct pending fifo[QUEUE_DEPTH];
	uint32_t head, tail; /* launched, completed */
	struct flextrace_drain_area markers;
};

struct device {
	struct backend backend;
	struct core cores[FLEXTRACE_EMULATOR_MAX_CORES];
	uint32_t n_cores;
	uint32_t n_domains; /* 1, or one per core */
	uint64_t next_job;
	pthread_mutex_t lock; /* all below, and the FIFOs */
	pthread_cond_t changed;
	int first_error;
	bool is_closing;
};

/* The clock domain that a core stamps in. */
static uint32_t domain_of(const struct device *device, uint32_t core)
{
	return device->n_domains > 1 ? core : 0;
}

static void record_op(const struct device *device, const struct pending *pending,
                      const struct flextrace_emulator_completion *done, uint64_t complete_ns)
{
	const struct launch *launch = &pending->launch;
	if (!FLEXTRACE_ENABLED(device_op))
		return;
	struct flextrace_device_op op = {
		.domain = domain_of(device, launch->job.core),
		.queue = launch->job.queue,
		.job = launch->job.job,
		.correlation = launch->correlation,
		.kind = (uint32_t)launch->kind,
		.name = launch->name,
		.submit_ns = pending->submit_ns,
		.complete_ns = complete_ns,
		.power = done->power,
		.bytes = launch->bytes,
		.peer = -1,
	};
	memcpy(op.ts, done->ts, sizeof(op.ts));
	FLEXTRACE_DEVICE_OP(&op);
}

static void complete(struct core *core, const struct pending *pending)
{
	const struct flextrace_emulator_job *job = &pending->launch.job;
	struct flextrace_emulator_completion done;
	struct device *device = core->device;
	int status = backend_wait(&device->backend, core->index, pending->ticket, &done);
	uint64_t complete_ns = flextrace_now_ns();
	if (!status) {
		FLEXTRACE_COMPLETE_AT(0, job->queue, job->job, pending->launch.correlation,
		                      pending->launch.name, complete_ns);
		record_op(device, pending, &done, complete_ns);
		status = done.status;
	}
	flextrace_drain(&core->markers, 1, 0);
	pthread_mutex_lock(&core->device->lock);
	if (status && !core->device->first_error) {
		fprintf(stderr, "miniflex: core %u failed: %s\n", core->index, strerror(-status));
		core->device->first_error = status;
	}
	core->tail++;
	pthread_cond_broadcast(&core->device->changed);
	pthread_mutex_unlock(&core->device->lock);
}

static void *complete_all(void *argument)
{
	struct core *core = argument;
	struct device *device = core->device;
	char name[32];
	snprintf(name, sizeof(name), "completion %u", core->index);
	FLEXTRACE_THREAD_NAME(name);
	pthread_mutex_lock(&device->lock);
	for (;;) {
		while (core->head == core->tail && !device->is_closing)
			pthread_cond_wait(&device->changed, &device->lock);
		if (core->head == core->tail)
			break;
		const struct pending *pending = &core->fifo[core->tail % QUEUE_DEPTH];
		pthread_mutex_unlock(&device->lock);
		complete(core, pending);
		pthread_mutex_lock(&device->lock);
	}
	pthread_mutex_unlock(&device->lock);
	flextrace_drain(&core->markers, 1, FLEXTRACE_DRAIN_LAST);
	return NULL;
}

/* Domains of one rate group share a slope, not an origin. */
static void define_clocks(const struct device *device, uint64_t counter_hz)
{
	struct flextrace_clock_domain domain = {.counter_bits = 32, .nominal_hz = counter_hz};
	for (; domain.domain < device->n_domains; domain.domain++)
		flextrace_clock_domain(&domain);
}

static void define(const struct device *device, const struct options *options, uint32_t rank)
{
	char uuid[32];
	snprintf(uuid, sizeof(uuid), "0000:%02x:00.0", rank + 1);
	const struct flextrace_device description = {
		.uuid = uuid,
		.n_cores = device->n_cores,
		.core_hz = options->counter_hz[rank],
		.name = device->backend.name,
		.power_unit = "uJ",
		.processors = "control",
	};
	flextrace_device(&description);

	define_clocks(device, options->counter_hz[rank]);
	for (uint32_t i = 0; i < device->n_cores; i++) {
		char name[32];
		snprintf(name, sizeof(name), "core %u", i);
		FLEXTRACE_QUEUE_NAME(0, i, name);
	}
	flextrace_device_names(0, device->backend.elf_path);
}

/* The counter of a core, or of the device; no two ranks' are the same. Each core's wraps an eighth
 * later than the one before. */
static struct flextrace_emulator_clock clock_of(const struct options *options, uint32_t rank,
                                                uint32_t core)
{
	const uint64_t wrap = UINT64_C(1) << 32;
	const uint64_t before_wrap = options->counter_hz[rank] / 8000 * options->wrap_after_ms *
	                             (core + 8);
	return (struct flextrace_emulator_clock){
		.offset_ticks = wrap * (before_wrap / wrap + 1 + core) - before_wrap +
	                        rank * 1000003,
		.drift_ppb = options->drift_ppb + (int32_t)rank * 3000,
		.steps = options->steps,
		.n_steps = options->n_steps,
	};
}

static int start(struct device *device, const struct options *options, uint32_t rank,
                 const char **ret_why)
{
	char truth[4096];
	struct flextrace_emulator_clock clocks[FLEXTRACE_EMULATOR_MAX_CORES] = {
		clock_of(options, rank, 0)};
	struct flextrace_emulator_config config = {
		.n_cores = options->n_cores,
		.counter_hz = options->counter_hz[rank],
		.offset_ticks = clocks[0].offset_ticks,
		.drift_ppb = clocks[0].drift_ppb,
		.steps = clocks[0].steps,
		.n_steps = clocks[0].n_steps,
		.core_clocks = options->has_core_clocks ? clocks : NULL,
		.ring_capacity = options->ring_capacity,
		.seed = options->seed + rank,
	};
	for (uint32_t i = 1; i < device->n_cores; i++)
		clocks[i] = clock_of(options, rank, i);
	if (options->truth_dir) {
		snprintf(truth, sizeof(truth), "%s/rank%u.csv", options->truth_dir, rank);
		config.truth_path = truth;
	}
	return backend_open(&device->backend, options, &config, ret_why) ? 0 : -1;
}

struct device *device_open(const struct options *options, uint32_t rank)
{
	struct device *device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	pthread_mutex_init(&device->lock, NULL);
	pthread_cond_init(&device->changed, NULL);
	device->n_cores = options->n_cores;
	device->n_domains = options->has_core_clocks ? options->n_cores : 1;
	const char *why = NULL;
	if (start(device, options, rank, &why)) {
		fprintf(stderr, "miniflex: cannot start the device: %s\n", why);
		device_close(device);
		return NULL;
	}
	define(device, options, rank);
	for (uint32_t i = 0; i < device->n_cores; i++) {
		struct core *core = &device->cores[i];
		core->device = device;
		core->index = i;
		size_t bytes;
		void *area = backend_area(&device->backend, i, &bytes);
		flextrace_drain_area_init(&core->markers, 0, area, bytes);
		core->has_thread = !pthread_create(&core->thread, NULL, complete_all, core);
		if (!core->has_thread) {
			fputs("miniflex: cannot start a completion thread\n", stderr);
			device_close(device);
			return NULL;
		}
	}
	return device;
}

void device_close(struct device *device)
{
	if (!device)
		return;
	pthread_mutex_lock(&device->lock);
	device->is_closing = true;
	pthread_cond_broadcast(&device->changed);
	pthread_mutex_unlock(&device->lock);
	for (uint32_t i = 0; i < device->n_cores; i++)
		if (device->cores[i].has_thread)
			pthread_join(device->cores[i].thread, NULL);
	if (backend_close(&device->backend))
		fputs("miniflex: the truth of the device's stamps is incomplete\n", stderr);
	free(device);
}

int device_launch(struct device *device, struct launch *launch)
{
	struct core *core = &device->cores[launch->job.core];
	pthread_mutex_lock(&device->lock);
	while (core->head - core->tail == QUEUE_DEPTH)
		pthread_cond_wait(&device->changed, &device->lock);
	struct pending *pending = &core->fifo[core->head % QUEUE_DEPTH];
	launch->job.queue = launch->job.core;
	launch->job.job = ++device->next_job;
	pending->launch = *launch;
	pending->submit_ns = flextrace_now_ns();
	FLEXTRACE_SUBMIT_AT(0, launch->job.queue, launch->job.job, launch->correlation,
	                    launch->name, pending->submit_ns);
	int status = backend_submit(&device->backend, &launch->job, &pending->ticket);
	if (!status)
		core->head++;
	pthread_cond_broadcast(&device->changed);
	pthread_mutex_unlock(&device->lock);
	return status;
}

static bool is_busy(const struct device *device)
{
	for (uint32_t i = 0; i < device->n_cores; i++)
		if (device->cores[i].head != device->cores[i].tail)
			return true;
	return false;
}

int device_synchronize(struct device *device)
{
	pthread_mutex_lock(&device->lock);
	while (is_busy(device))
		pthread_cond_wait(&device->changed, &device->lock);
	int status = device->first_error;
	pthread_mutex_unlock(&device->lock);
	return status;
}

void device_calibrate(struct device *device)
{
	for (uint32_t i = 0; i < 5 * device->n_domains; i++) {
		const uint32_t domain = i % device->n_domains;
		struct flextrace_qemu_reading now;
		if (backend_read(&device->backend, domain, &now))
			continue;
		FLEXTRACE_CLOCK_SYNC(0, domain, now.before_ns, now.ticks, now.after_ns);
	}
}
