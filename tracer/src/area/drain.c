/* SPDX-License-Identifier: Apache-2.0 */
#include <flextrace/drain.h>
#include <flextrace/flextrace.h>

#include "area_read.h"
#include "elf_names.h"

#define PORTION 1024u /* records of an area in one turn: a batch */

void flextrace_drain_area_init(struct flextrace_drain_area *area, uint32_t device, void *memory,
                               size_t bytes)
{
	*area = (struct flextrace_drain_area){
		.device = device,
		.memory = memory,
		.bytes = bytes,
	};
	if (flextrace_device_mode() != FLEXTRACE_DEVICE_MODE_OFF)
		flextrace_area_look(area);
}

void flextrace_drain_forget(struct flextrace_drain_area *areas, size_t n_areas)
{
	size_t i;

	for (i = 0; i < n_areas && flextrace_device_mode() != FLEXTRACE_DEVICE_MODE_OFF; i++)
		flextrace_area_forget(&areas[i]);
}

static void emit(void *context, const struct flextrace_marker_batch *batch)
{
	(void)context;
	flextrace_emit_marker_batch(batch);
}

static struct flextrace_area_reader new_reader(void)
{
	return (struct flextrace_area_reader){
		.emit = FLEXTRACE_ENABLED(marker_batch) ? emit : NULL,
	};
}

uint64_t flextrace_drain(struct flextrace_drain_area *areas, size_t n_areas, unsigned int flags)
{
	struct flextrace_area_reader reader = new_reader();
	uint64_t n_words = 0;
	size_t i;

	if (flextrace_device_mode() == FLEXTRACE_DEVICE_MODE_OFF)
		return 0;
	reader.is_last = (flags & FLEXTRACE_DRAIN_LAST) != 0;
	for (i = 0; i < n_areas; i++)
		n_words += flextrace_area_read(&areas[i], &reader);
	return n_words;
}

uint64_t flextrace_drain_some(struct flextrace_drain_set *set, uint64_t max_words)
{
	struct flextrace_area_reader reader = new_reader();
	uint64_t n_words = 0;
	size_t n_idle = 0; /* areas in a row that had nothing */

	if (flextrace_device_mode() == FLEXTRACE_DEVICE_MODE_OFF)
		return 0;
	while (n_idle < set->n_areas && n_words < max_words) {
		uint64_t left = max_words - n_words, taken;

		reader.max_records = left < PORTION ? (uint32_t)left : PORTION;
		taken = flextrace_area_read(&set->areas[set->next], &reader);
		set->next = (set->next + 1) % set->n_areas;
		n_words += taken;
		n_idle = taken ? 0 : n_idle + 1;
	}
	return n_words;
}

void flextrace_drain_set_policy(struct flextrace_drain_area *area, enum flextrace_policy policy)
{
	if (flextrace_device_mode() != FLEXTRACE_DEVICE_MODE_OFF)
		flextrace_area_set_policy(area, policy);
}

static void add_name(void *context, const struct flextrace_elf_name *found)
{
	const uint32_t *device = context;
	const struct flextrace_name name = {
		.device = *device,
		.id = found->id,
		.name = found->name,
		.file = found->file,
		.line = found->line,
	};

	flextrace_marker_name(&name);
}

int flextrace_device_names(uint32_t device, const char *elf_path)
{
	return flextrace_elf_names_read(elf_path, add_name, &device);
}
