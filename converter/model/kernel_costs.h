/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_costs.h: what the compiler says a kernel ideally takes, by control block.
 *
 * Made by findings/utilization.c from compiler information, read by output and analysis as const. A
 * timeline without compiler information has none (NULL).
 */
#ifndef FLEXTRACE_KERNEL_COSTS_H
#define FLEXTRACE_KERNEL_COSTS_H

#include "model.h"

/* Of the model's run that a kernel was compiled for. */
enum kernel_phase { PHASE_UNKNOWN, PHASE_PREFILL, PHASE_DECODING };

struct kernel_cost {
	uint64_t ideal_cycles;   /* of the compute clock */
	uint32_t name, category; /* strings; both 0: a kernel that the compiler does not name */
	uint8_t phase;           /* enum kernel_phase */
	uint8_t unused[7];
};

/* How a rank's runs of a graph were matched to one of the compiler's tables: compiler.csv. */
struct kernel_table_use {
	int32_t rank;
	uint32_t source, table; /* in the order given; the table counts in its source */
	uint32_t n_rows;        /* kernels that the table names */
	uint64_t ideal_cycles;  /* of all of them */
	uint64_t runs, kernels;
	uint64_t kernels_taken; /* that took the time of another run */
	uint64_t uncertain;     /* runs */
	double score_sum, score_min;
	uint8_t phase; /* enum kernel_phase */
	bool is_autopilot;
	uint8_t unused[6];
};

struct kernel_costs {
	const struct kernel_cost *costs; /* weak */
	uint32_t *of_op;                 /* owned: place in `costs`; FLEXTRACE_NONE = none */
	double *core_hz;                 /* owned: compute clock, per device, never 0 */
	uint64_t *taken_ns; /* owned: per op, from another run; 0 = as measured; NULL: all */
	struct kernel_table_use *uses; /* owned: by rank, source, table */
	uint32_t n_uses;
};

/* The cost of a row, NULL where none is known: only kernels have one. */
static inline const struct kernel_cost *kernel_cost_of(const struct kernel_costs *costs,
                                                       const struct device_row *row)
{
	if (!costs || row->kind != ROW_EXEC || costs->of_op[row->source] == FLEXTRACE_NONE)
		return NULL;
	return &costs->costs[costs->of_op[row->source]];
}

/* How long a kernel of this many cycles ideally takes on a device. */
static inline double kernel_ideal_ns(const struct kernel_costs *costs, uint32_t device,
                                     uint64_t ideal_cycles)
{
	return (double)ideal_cycles * 1e9 / costs->core_hz[device];
}

/* How long a kernel took: as measured, or in another run where the autopilot was on in this one. */
static inline uint64_t kernel_time_ns(const struct kernel_costs *costs,
                                      const struct device_row *row)
{
	if (costs->taken_ns && costs->taken_ns[row->source])
		return costs->taken_ns[row->source];
	return (uint64_t)row->end_time_ns - (uint64_t)row->start_time_ns;
}

/* The part of a row's time that its kernel, of this cost, ideally takes, not finite for a kernel
 * without time. `device`: that of its track. */
static inline double kernel_utilization(const struct kernel_costs *costs,
                                        const struct kernel_cost *cost, uint32_t device,
                                        const struct device_row *row)
{
	return kernel_ideal_ns(costs, device, cost->ideal_cycles) /
	       (double)kernel_time_ns(costs, row);
}

/* "prefill", "decoding", or nothing. */
static inline const char *kernel_phase_name(uint8_t phase)
{
	static const char *const names[] = {"", "prefill", "decoding"};

	return names[phase];
}

#endif
