/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo.h: the device work of programs that XLA compiled: of which instruction of which module each
 * piece is, and of which execution of the module.
 *
 * What a piece is of, the profiler told with it (hlo_module, program_id, hlo_op, opcode, op_name,
 * source), or the program with the operation that launched it (FLEXTRACE_OP_INFO). Pieces of one
 * execution of a module on a device are those that were launched within one range of it ("NAME:XLA
 * GPU module"); without such a range an execution ends where an instruction's kernel comes again.
 */
#ifndef FLEXTRACE_HLO_H
#define FLEXTRACE_HLO_H

#include "base/intervals/cover.h"
#include "base/map.h"
#include "base/text/strings.h"
#include "findings/work/call_tree.h"
#include "findings/work/work.h"
#include "model/timeline/findings.h"

enum hlo_phase { HLO_STEADY, HLO_WARM_UP, HLO_AUTOTUNING };

struct hlo_module {
	uint32_t name; /* string of the pool, as all below */
	uint64_t program;
	bool is_compiled; /* here, so that its first execution is another one */
};

struct hlo_op {
	uint32_t module; /* place */
	uint32_t name, opcode, op_name, source;
	uint32_t fused; /* a JSON array of names: what a fusion was made of; 0: not told */
};

struct hlo_run { /* an execution of a module on a device */
	uint32_t module, device;
	uint32_t number; /* of the module on the device, from 0 */
	int64_t start_time_ns, end_time_ns;
	uint64_t n_kernels;
	struct cover active; /* the union of its pieces */
	uint8_t phase;
};

struct hlo_piece {
	uint32_t op, run; /* places; FLEXTRACE_NONE: of autotuning */
	uint32_t process, name;
	uint64_t time_ns;
};

struct hlo {
	const struct timeline *timeline; /* weak */
	struct string_pool *pool;        /* owned, as all below */
	struct string_cache cache;
	struct hlo_module *modules;
	struct hlo_op *ops;
	struct hlo_run *runs;
	struct hlo_piece *pieces;
	uint32_t n_modules, n_ops, n_runs, n_pieces;
	struct map module_index; /* (program; name) */
	struct map op_index;     /* (module; name) */
	struct map known;        /* (program; process, name) -> instruction */
	struct map run_index;    /* (device, module; range) */
	struct map again;        /* (device, op; kernel) -> its newest run */
	struct call_tree tree;   /* weak */
	uint32_t *range_of;      /* by host row: the range of a module around it, or itself */
	uint32_t *told_of;       /* by host row: place of an op_call around it, or its own */
	uint8_t *is_tuning;      /* by host row */
	bool has_collective;
};

/* Whether a timeline may have such work. */
bool hlo_is_in(const struct timeline *timeline);

/* FLEXTRACE_E_MEMORY or 0; release in any case. */
int hlo_init(struct hlo *hlo, const struct findings *findings);
void hlo_release(struct hlo *hlo);

/* Adds for each process the time of its devices between modules: the span of each, from its first
 * execution to the end of its last, without the union of all. FLEXTRACE_E_MEMORY or 0. */
int hlo_find_between(const struct hlo *hlo, uint64_t *between_ns);

/* "steady", "warm_up" or "autotuning". */
const char *hlo_phase_name(uint32_t phase);

#endif
