/* SPDX-License-Identifier: Apache-2.0 */
#include "owners.h"

#include <stdlib.h>

#include "base/blocks.h"
#include "base/order.h"

static int compare_processes(const void *left, const void *right, void *context)
{
	const struct process *processes = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	/* as unsigned, an unknown rank (-1) comes last */
	return ORDER((uint32_t)processes[a].rank, (uint32_t)processes[b].rank) ?: ORDER(a, b);
}

static int compare_devices(const void *left, const void *right, void *context)
{
	const struct owners *owners = context;
	const struct device *devices = owners->identity->devices;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return ORDER(owners->positions[devices[a].process], owners->positions[devices[b].process])
	               ?: ORDER(devices[a].device, devices[b].device);
}

/* Returns 0..n-1, or NULL: no memory. Owned by the caller. */
static uint32_t *first_numbers(uint32_t n)
{
	uint32_t *numbers = blocks_allocate(n, sizeof(*numbers));

	for (uint32_t i = 0; numbers && i < n; i++)
		numbers[i] = i;
	return numbers;
}

int owners_init(struct owners *owners, const struct identity *identity)
{
	uint32_t n = identity->n_processes;

	*owners = (struct owners){
		.identity = identity,
		.processes = first_numbers(n),
		.positions = first_numbers(n),
		.devices = first_numbers(identity->n_devices),
		.device_positions = first_numbers(identity->n_devices),
	};
	if (!owners->processes || !owners->positions || !owners->devices ||
	    !owners->device_positions)
		return FLEXTRACE_E_MEMORY;
	qsort_r(owners->processes, n, sizeof(uint32_t), compare_processes, identity->processes);
	for (uint32_t i = 0; i < n; i++)
		owners->positions[owners->processes[i]] = i;
	qsort_r(owners->devices, identity->n_devices, sizeof(uint32_t), compare_devices, owners);
	for (uint32_t i = 0; i < identity->n_devices; i++)
		owners->device_positions[owners->devices[i]] = i;
	return FLEXTRACE_OK;
}

void owners_release(struct owners *owners)
{
	blocks_free(owners->processes);
	blocks_free(owners->positions);
	blocks_free(owners->devices);
	blocks_free(owners->device_positions);
	*owners = (struct owners){0};
}
