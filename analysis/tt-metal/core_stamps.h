/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_stamps.h: when firmware and kernels began and ended on each core, in cycles.
 *
 * Of devices whose processors are named (`processors` of the device): only there a processor is
 * more than a number. Other traces cost one look at their devices.
 */
#ifndef FLEXTRACE_ANALYSIS_CORE_STAMPS_H
#define FLEXTRACE_ANALYSIS_CORE_STAMPS_H

#include "analysis/analysis_impl.h"

struct core_stamp {
	uint64_t ticks;
	uint32_t device; /* place in owners.devices */
	uint32_t x, y;   /* of its core */
	uint32_t run;    /* index of struct mark_run */
	uint32_t name;   /* string: of a kernel in a row; else 0 */
	uint32_t processor : 29;
	uint32_t stamp : 3; /* enum flextrace_wire_stamp, up to FW_END */
};

struct core { /* one that anything was recorded of */
	uint32_t device, x, y;
	uint64_t first, n; /* its stamps */
};

struct core_stamps {
	const struct timeline *timeline; /* weak */
	const struct owners *owners;     /* weak; NULL: no device's processors are named */
	struct core_stamp *stamps;       /* owned: by device, y, x, ticks, processor, stamp */
	uint64_t n;
	struct core *cores; /* owned: by device, y, x */
	uint32_t n_cores;
};

/* Whether a device's processors are named. */
bool core_is_named(const struct timeline *timeline, uint32_t device);

/* Only numbers the devices. */
void core_places_init(struct core_stamps *all, const struct findings *findings);

/* Collects and sorts. FLEXTRACE_E_MEMORY or 0; release in any case. */
int core_stamps_init(struct core_stamps *all, const struct findings *findings);
void core_stamps_release(struct core_stamps *all);

/* The device at a place. */
const struct device *core_device(const struct core_stamps *all, uint32_t place);

/* Its nominal rate in Hz, else the one that was fitted; 0 = not known. */
uint64_t core_hz(const struct core_stamps *all, uint32_t place);

/* Stores the name of a processor, or its number's text. */
void core_processor_name(const struct core_stamps *all, uint32_t place, uint32_t processor,
                         char *ret_name, size_t n_bytes);

#endif
