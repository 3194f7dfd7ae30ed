/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stddef.h>
#include <time.h>

#include "device.h"

static struct device_program firmware;
static struct device_block *first, **last = &first;
static struct device_block stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t rings = PTHREAD_COND_INITIALIZER;
static pthread_t thread;

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The counter: 560 MHz from some moment on. 0 is not a stamp. */
static uint32_t counter(void)
{
	const uint32_t ticks = (uint32_t)(now_ns() * 14 / 25 + 123456789);

	return ticks ? ticks : 1;
}

void device_spend(uint32_t us)
{
	const uint64_t end_ns = now_ns() + us * UINT64_C(1000);

	while (now_ns() < end_ns)
		;
}

static void run_block(struct device_block *block)
{
	block->ts[0] = counter();
	device_spend(block->input_us);
	block->ts[1] = block->ts[2] = counter();
	device_spend(block->work_us);
	block->ts[3] = counter();
	device_spend(block->output_us);
	block->ts[4] = counter();
}

static struct device_block *take_block(void)
{
	struct device_block *block;

	(void)pthread_mutex_lock(&lock);
	while (!first)
		(void)pthread_cond_wait(&rings, &lock);
	block = first;
	first = block->next;
	if (!first)
		last = &first;
	(void)pthread_mutex_unlock(&lock);
	return block;
}

static void *run_device(void *context)
{
	struct device_block *block;

	(void)context;
	if (firmware.boot)
		firmware.boot();
	while ((block = take_block()) != &stop) {
		firmware.run(block);
		(void)sem_post(&block->is_done);
	}
	return NULL;
}

void device_open(const struct device_program *program)
{
	firmware = program ? *program : (struct device_program){.run = run_block};
	(void)pthread_create(&thread, NULL, run_device, NULL);
}

void device_ring(struct device_block *block)
{
	(void)sem_init(&block->is_done, 0, 0);
	(void)pthread_mutex_lock(&lock);
	block->next = NULL;
	*last = block;
	last = &block->next;
	(void)pthread_cond_signal(&rings);
	(void)pthread_mutex_unlock(&lock);
}

void device_wait(struct device_block *block)
{
	while (sem_wait(&block->is_done) != 0)
		;
	(void)sem_destroy(&block->is_done);
}

void device_close(void)
{
	device_ring(&stop);
	(void)pthread_join(thread, NULL);
}
