/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h: stands for your hardware in these examples: a thread that takes control blocks from a
 * queue, one after the other, and stamps them with a 32-bit counter of its own.
 */
#ifndef EXAMPLE_DEVICE_H
#define EXAMPLE_DEVICE_H

#include <semaphore.h>
#include <stdint.h>

#define DEVICE_HZ 560000000

#ifdef __cplusplus
extern "C" {
#endif

struct device_block {
	uint32_t job, layer;
	uint32_t input_us, work_us, output_us; /* how long each takes */
	uint32_t ts[5];                        /* the device writes them: TS1 to TS5 */
	sem_t is_done;                         /* the device's interrupt */
	struct device_block *next;
};

/* What the device executes: NULL = nothing at boot; for a block its three times, with stamps. */
struct device_program {
	void (*boot)(void);
	void (*run)(struct device_block *block);
};

void device_open(const struct device_program *program);
void device_ring(struct device_block *block); /* the doorbell */
void device_wait(struct device_block *block); /* until the block is done */
void device_close(void);
void device_spend(uint32_t us); /* on the device */

#ifdef __cplusplus
}
#endif

#endif
