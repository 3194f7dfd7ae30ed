/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_peaks.csv: of each device the most memory that was allocated at once, and when;
 * memory_left.csv: what was never freed, and which call had allocated it.
 */
#include <stdlib.h>

#include "analysis/analysis_impl.h"
#include "base/array.h"
#include "base/map.h"
#include "base/order.h"
#include "call_costs.h"

struct peak {
	uint32_t device;
	uint64_t peak_bytes;
	int64_t peak_time_ns;
	uint64_t end_bytes, allocations, frees;
	uint64_t left, left_bytes; /* what was never freed */
};

struct left {
	uint32_t device, thread;
	uint32_t call; /* string: of the innermost call that was open */
	uint64_t address, bytes;
	int64_t time_ns;
	bool is_freed;
};

struct memory {
	const struct findings *findings; /* weak */
	struct peak *peaks;              /* owned: by device */
	struct left *blocks;             /* owned: allocations */
	uint32_t n_blocks;
	struct map open; /* (address; device) -> its block */
};

static const struct column peaks_columns[] = {
	COLUMNS_DEVICE(struct peak, device),
	COLUMN(struct peak, peak_bytes),
	COLUMN_TIME("peak_ns", struct peak, peak_time_ns),
	COLUMN(struct peak, end_bytes),
	COLUMN(struct peak, allocations),
	COLUMN(struct peak, frees),
	COLUMN(struct peak, left),
	COLUMN(struct peak, left_bytes),
};

static const struct column left_columns[] = {
	COLUMNS_DEVICE(struct left, device), COLUMN(struct left, address),
	COLUMN(struct left, bytes),          COLUMN_TIME("time_ns", struct left, time_ns),
	COLUMNS_THREAD(struct left, thread), COLUMN_STRING("call", struct left, call),
};

static void count(struct peak *peak, const struct memory_row *row)
{
	peak->device = row->device;
	peak->allocations += row->op == FLEXTRACE_MEMORY_ALLOC;
	peak->frees += row->op == FLEXTRACE_MEMORY_FREE;
	peak->end_bytes = row->total_bytes;
	if (row->total_bytes <= peak->peak_bytes)
		return;
	peak->peak_bytes = row->total_bytes;
	peak->peak_time_ns = row->time_ns;
}

/* Opens, closes or resizes the block at an address; `call`: who does. */
static int follow(struct memory *memory, const struct memory_row *row, uint32_t call)
{
	struct left block = {
		.device = row->device,
		.thread = row->thread,
		.call = call,
		.address = row->address,
		.bytes = row->bytes,
		.time_ns = row->time_ns,
	};
	uint32_t *open;

	FLEXTRACE_TRY(map_enter(&memory->open, row->address, row->device, &open));
	if (*open != MAP_NONE)
		memory->blocks[*open].is_freed = true;
	*open = memory->n_blocks;
	block.is_freed = row->op == FLEXTRACE_MEMORY_FREE;
	return ARRAY_PUSH(memory->blocks, memory->n_blocks, block);
}

static int follow_all(struct memory *memory, const struct timeline *timeline)
{
	struct call_tree tree;
	uint32_t *call_of = NULL, i = 0;
	int code = call_tree_borrow(&tree, memory->findings);

	if (code == FLEXTRACE_OK)
		code = call_find_memory(&tree, timeline, &call_of);
	TABLE_EACH(struct memory_row, row, &timeline->memory) {
		uint32_t call = code < 0 ? FLEXTRACE_NONE : call_of[i++];

		if (code == FLEXTRACE_OK)
			count(&memory->peaks[row->device], row);
		if (code == FLEXTRACE_OK)
			code = follow(memory, row,
			              call == FLEXTRACE_NONE ? 0 : tree.calls[call].row->name);
	}
	free(call_of);
	return code;
}

static int start(struct memory *memory, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;

	*memory = (struct memory){.findings = findings};
	if (!timeline->memory.n_rows)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_NEW(memory->peaks, timeline->identity->n_devices + 1ull));
	FLEXTRACE_TRY(follow_all(memory, timeline));
	for (uint32_t i = 0; i < memory->n_blocks; i++) {
		struct peak *peak = &memory->peaks[memory->blocks[i].device];

		if (memory->blocks[i].is_freed)
			continue;
		peak->left++;
		peak->left_bytes += memory->blocks[i].bytes;
	}
	return FLEXTRACE_OK;
}

static void release(struct memory *memory)
{
	free(memory->peaks);
	free(memory->blocks);
	map_release(&memory->open);
}

static int fill_peaks(const struct findings *findings, struct row_sink *sink)
{
	struct memory memory;
	int code = start(&memory, findings);

	for (uint32_t i = 0; memory.n_blocks && i < findings->timeline->identity->n_devices; i++) {
		const struct peak *peak = &memory.peaks[findings->owners->devices[i]];

		if (code == FLEXTRACE_OK && peak->allocations + peak->frees)
			row_put(sink, peak);
	}
	release(&memory);
	return code;
}

/* By device, the largest first. */
static int compare_left(const void *left, const void *right, void *context)
{
	const struct left *a = left, *b = right;
	const struct owners *owners = context;

	return ORDER(owners->device_positions[a->device], owners->device_positions[b->device]) ?:
	       ORDER(b->bytes, a->bytes) ?: ORDER(a->time_ns, b->time_ns) ?:
	       ORDER(a->address, b->address);
}

static int fill_left(const struct findings *findings, struct row_sink *sink)
{
	struct memory memory;
	int code = start(&memory, findings);

	if (memory.n_blocks)
		qsort_r(memory.blocks, memory.n_blocks, sizeof(*memory.blocks), compare_left,
		        (void *)(uintptr_t)findings->owners);
	for (uint32_t i = 0; i < memory.n_blocks && code == FLEXTRACE_OK; i++) {
		if (!memory.blocks[i].is_freed)
			row_put(sink, &memory.blocks[i]);
	}
	release(&memory);
	return code;
}

const struct analysis analysis_memory_peaks =
	ANALYSIS_CSV("memory_peaks", peaks_columns, fill_peaks, .title = "Peaks of memory",
                     .what = "The most memory of each device that was allocated at once, "
                             "and when.");
const struct analysis analysis_memory_left =
	ANALYSIS_CSV("memory_left", left_columns, fill_left, .title = "Memory never freed",
                     .what = "Allocations that were not freed until the end.");
