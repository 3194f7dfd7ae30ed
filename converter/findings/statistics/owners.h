/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.h: whose lines come first: processes by rank, those without one last; devices by process,
 * then by the runtime's number.
 */
#ifndef FLEXTRACE_OWNERS_H
#define FLEXTRACE_OWNERS_H

#include "model/identity/identity.h"

struct owners {
	const struct identity *identity; /* weak */
	uint32_t *processes;             /* owned: indexes of struct process, in order */
	uint32_t *positions;             /* owned: where each process stands in it */
	uint32_t *devices;               /* owned: indexes of struct device, in order */
	uint32_t *device_positions;      /* owned: where each device stands in it */
};

/* FLEXTRACE_E_MEMORY or 0; owners_release() in any case. */
int owners_init(struct owners *owners, const struct identity *identity);
void owners_release(struct owners *owners);

#endif
