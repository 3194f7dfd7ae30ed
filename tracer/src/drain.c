/* SPDX-License-Identifier: Apache-2.0 */
#include <flextrace/drain.h>
#include <flextrace/flextrace.h>

#include "area_read.h"
#include "elf_names.h"

void flextrace_drain_area_init(struct flextrace_drain_area *area, uint32_t device, void *memory,
                               size_t bytes)
{
	*area = (struct flextrace_drain_area){
		.device = device,
		.memory = memory,
		.bytes = bytes,
	};
}

static void emit(void *context, const struct flextrace_marker_batch *batch)
{
	(void)context;
	flextrace_emit_marker_batch(batch);
}

uint64_t flextrace_drain(struct flextrace_drain_area *areas, size_t n_areas, unsigned int flags)
{
	const struct flextrace_area_reader reader = {
		.emit = FLEXTRACE_ENABLED(marker_batch) ? emit : NULL,
		.is_last = (flags & FLEXTRACE_DRAIN_LAST) != 0,
	};
	uint64_t n_words = 0;
	size_t i;

	if (flextrace_device_mode() == FLEXTRACE_DEVICE_MODE_OFF)
		return 0;
	for (i = 0; i < n_areas; i++)
		n_words += flextrace_area_read(&areas[i], &reader);
	return n_words;
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
