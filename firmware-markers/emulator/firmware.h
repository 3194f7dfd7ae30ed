/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firmware.h: what runs on a core of the emulated device for one control block. It sees a core's
 * local memory and the host's memory (through "DMA") and is instrumented with marker.h only.
 */
#ifndef EMULATOR_FIRMWARE_H
#define EMULATOR_FIRMWARE_H

#include <flextrace/emulator.h>

struct firmware_core {
	uint8_t *local;         /* owned: local memory, 64-byte aligned */
	uint64_t random;        /* state of the pauses, 0 = no pauses */
	uint32_t *device_power; /* weak: power counter that all cores add to, atomic */
};

/* Sets up the marker area of the calling core. */
void firmware_boot(uint32_t core, uint32_t domain, uint32_t capacity, uint32_t policy);

/* Works on one control block and fills its completion. */
void firmware_serve(struct firmware_core *core, const struct flextrace_emulator_job *job,
                    struct flextrace_emulator_completion *ret_completion);

#endif
