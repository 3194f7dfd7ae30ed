/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_rearranged_timestamps.txt: a line for each core, with the cycles at which firmware and
 * kernel of each processor began and ended; those of several launches stand behind each other. The
 * first two processors have columns always, others where they have stamps.
 */
#include <stdlib.h>

#include "core_stamps.h"
#include "base/text/writer.h"

#define N_ALWAYS   2
#define NAME_BYTES 64

struct rearranged {
	struct core_stamps all;
	bool *is_used; /* owned: by processor, of the device that is written */
	uint32_t n_processors;
};

static const char *const columns[] = {"Firmware Start", "Kernel start", "Kernel End",
                                      "Firmware End"};

static void write_core(const struct rearranged *to, const struct core *core, uint32_t processor,
                       struct writer *writer)
{
	for (uint32_t stamp = FLEXTRACE_WIRE_FW_START; stamp <= FLEXTRACE_WIRE_FW_END; stamp++) {
		char separator = ',';

		for (uint64_t i = core->first; i < core->first + core->n; i++) {
			const struct core_stamp *at = &to->all.stamps[i];

			if (at->processor != processor || at->stamp != stamp)
				continue;
			writer_char(writer, separator);
			writer_u64(writer, at->ticks);
			separator = ' ';
		}
		if (separator == ',')
			writer_char(writer, ',');
	}
}

/* Notes which processors of a device have stamps; `core` is its first. FLEXTRACE_E_MEMORY
 * or 0. */
static int note_processors(struct rearranged *to, const struct core *core)
{
	uint64_t end = core->first;

	to->n_processors = N_ALWAYS;
	for (; end < to->all.n && to->all.stamps[end].device == core->device; end++) {
		if (to->all.stamps[end].processor >= to->n_processors)
			to->n_processors = to->all.stamps[end].processor + 1u;
	}
	free(to->is_used);
	FLEXTRACE_TRY(ARRAY_NEW(to->is_used, to->n_processors));
	to->is_used[0] = to->is_used[1] = true;
	for (uint64_t i = core->first; i < end; i++)
		to->is_used[to->all.stamps[i].processor] = true;
	return FLEXTRACE_OK;
}

static void write_head(const struct rearranged *to, uint32_t device, struct writer *writer)
{
	char name[NAME_BYTES];

	writer_literal(writer, "Clock Frequency [MHz],");
	writer_double(writer, (double)core_hz(&to->all, device) / 1e6);
	writer_format(writer, "\nPCIe slot,%u\ncore x,core y",
	              core_device(&to->all, device)->device);
	for (uint32_t i = 0; i < to->n_processors; i++) {
		core_processor_name(&to->all, device, i, name, sizeof(name));
		for (size_t j = 0; j < 4 && to->is_used[i]; j++)
			writer_format(writer, ",%s %s", name, columns[j]);
	}
	writer_char(writer, '\n');
}

static int write_lines(struct rearranged *to, struct text_sink *sink)
{
	struct writer *writer = &sink->writer;

	if (!to->all.n_cores)
		writer_literal(writer, "core x,core y\n");
	for (uint32_t i = 0; i < to->all.n_cores; i++) {
		const struct core *core = &to->all.cores[i];

		if (!i || core[-1].device != core->device) {
			FLEXTRACE_TRY(note_processors(to, core));
			write_head(to, core->device, writer);
		}
		writer_format(writer, "%u,%u", core->x, core->y);
		for (uint32_t j = 0; j < to->n_processors; j++) {
			if (to->is_used[j])
				write_core(to, core, j, writer);
		}
		writer_char(writer, '\n');
		sink->count->rows++;
	}
	return FLEXTRACE_OK;
}

static int write(const struct findings *findings, struct text_sink *sink)
{
	struct rearranged to = {.is_used = NULL};
	int code = core_stamps_init(&to.all, findings);

	if (code == FLEXTRACE_OK)
		code = write_lines(&to, sink);
	free(to.is_used);
	core_stamps_release(&to.all);
	return code;
}

const struct analysis analysis_rearranged = {
	.name = "rearranged",
	.file = ANALYSIS_TEXT("device_rearranged_timestamps.txt", write),
	.shape_of = IDENTITY_TT_METAL_FILE,
};
