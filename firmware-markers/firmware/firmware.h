/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firmware.h: what runs on a core for one control block, the same source on the cores of the
 * emulator and on those of QEMU. It sees a core's local memory and the host's memory (through
 * "DMA"), is instrumented with marker.h only, and is freestanding: no C library, no libgcc.
 */
#ifndef FIRMWARE_FIRMWARE_H
#define FIRMWARE_FIRMWARE_H

#include <flextrace/emulator.h>

struct firmware_core {
	uint8_t *local; /* owned by the platform: local memory, 64-byte aligned */
	void *platform; /* weak, for the functions that the platform provides */
};

/* Sets up the marker area of the calling core. */
void firmware_boot(uint32_t core, uint32_t domain, uint32_t capacity, uint32_t policy);

/* Works on one control block and fills its completion. HANG never returns. */
void firmware_serve(struct firmware_core *core, const struct flextrace_emulator_job *job,
                    struct flextrace_emulator_completion *ret_completion);

/* -- what the platform provides ---------------------------------------------------------------- */

/* Copies between host memory and local memory. */
void firmware_dma(struct firmware_core *core, void *to, const void *from, size_t bytes);

/* Prints a line on the device's console, which has nothing to do with markers. Lines do not
 * mix. */
void firmware_print(struct firmware_core *core, const char *text);

/* Adds to the power counter that all cores of the device share, and returns what it shows. */
uint32_t firmware_spend_power(struct firmware_core *core, uint32_t units);

#endif
