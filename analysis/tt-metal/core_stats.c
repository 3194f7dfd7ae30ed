/* SPDX-License-Identifier: Apache-2.0 */
#include "core_stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

/* -- one device ------------------------------------------------------------------------------ */

struct series {
	uint64_t *values; /* owned */
	uint32_t n;
	uint32_t n_reported; /* of cores that are over */
};

struct counting {
	struct core_stats *stats; /* weak */
	struct series *series;    /* owned: see series_of() */
	uint64_t *kernel_starts;  /* owned: by processor, of one core; 0: none */
	uint32_t n_processors;
	uint32_t device;
	uint64_t t0;
	uint64_t first_start, last_end; /* over all cores; 0: none */
	uint64_t *scratch;              /* owned */
	uint32_t n_scratch;
};

/* Kernels of each processor stand behind all others. */
static struct series *series_of(const struct counting *counting, uint32_t analysis,
                                uint32_t processor)
{
	return &counting->series[analysis == CORE_KERNEL ? CORE_ANALYSIS_COUNT + processor
	                                                 : analysis];
}

static int count(struct counting *counting, uint32_t analysis, uint32_t processor, uint64_t value)
{
	struct series *series = series_of(counting, analysis, processor);

	return ARRAY_PUSH(series->values, series->n, value);
}

/* One core while its stamps are read; 0: none yet. */
struct core_state {
	uint64_t first_start, last_end;
	uint64_t launch;     /* FW start of the open one */
	uint64_t launch_end; /* last FW end in it */
};

static int end_launch(struct counting *counting, const struct core_state *state)
{
	if (!state->launch || !state->launch_end)
		return FLEXTRACE_OK;
	return count(counting, CORE_FIRMWARE, 0, state->launch_end - state->launch);
}

static int begin_launch(struct counting *counting, struct core_state *state, uint64_t ticks,
                        bool *has_started)
{
	FLEXTRACE_TRY(end_launch(counting, state));
	if (state->last_end)
		FLEXTRACE_TRY(count(counting, CORE_GAP, 0, ticks - state->last_end));
	if (!*has_started)
		FLEXTRACE_TRY(count(counting, CORE_T0_TO_START, 0, ticks - counting->t0));
	*has_started = true;
	state->launch = ticks;
	state->launch_end = 0;
	return FLEXTRACE_OK;
}

static int take_kernel(struct counting *counting, const struct core_stamp *stamp)
{
	uint64_t *start = &counting->kernel_starts[stamp->processor];
	uint64_t began = *start;

	*start = stamp->stamp == FLEXTRACE_WIRE_KERNEL_START ? stamp->ticks : 0;
	if (stamp->stamp == FLEXTRACE_WIRE_KERNEL_START || !began)
		return FLEXTRACE_OK;
	return count(counting, CORE_KERNEL, stamp->processor, stamp->ticks - began);
}

static int end_core(struct counting *counting, const struct core_state *state)
{
	FLEXTRACE_TRY(end_launch(counting, state));
	if (state->last_end)
		FLEXTRACE_TRY(count(counting, CORE_T0_TO_END, 0, state->last_end - counting->t0));
	if (state->first_start && state->last_end > state->first_start)
		FLEXTRACE_TRY(
			count(counting, CORE_SESSION, 0, state->last_end - state->first_start));
	if (state->first_start &&
	    (!counting->first_start || state->first_start < counting->first_start))
		counting->first_start = state->first_start;
	if (state->last_end > counting->last_end)
		counting->last_end = state->last_end;
	return FLEXTRACE_OK;
}

static int take_core(struct counting *counting, const struct core *core)
{
	struct core_state state = {0};
	bool has_started = false;

	memset(counting->kernel_starts, 0,
	       counting->n_processors * sizeof(*counting->kernel_starts));
	for (uint64_t i = core->first; i < core->first + core->n; i++) {
		const struct core_stamp *stamp = &counting->stats->all.stamps[i];

		if (stamp->stamp == FLEXTRACE_WIRE_FW_START) {
			if (!state.first_start)
				state.first_start = stamp->ticks;
			if (stamp->processor == 0)
				FLEXTRACE_TRY(
					begin_launch(counting, &state, stamp->ticks, &has_started));
		} else if (stamp->stamp == FLEXTRACE_WIRE_FW_END) {
			state.last_end = state.launch_end = stamp->ticks;
		} else {
			FLEXTRACE_TRY(take_kernel(counting, stamp));
		}
	}
	return end_core(counting, &state);
}

/* -- lines ----------------------------------------------------------------------------------- */

static int add_line(struct counting *counting, const struct core_line *line, uint64_t *values,
                    uint64_t n)
{
	struct core_stats *stats = counting->stats;
	struct core_line *added;

	FLEXTRACE_TRY(ARRAY_RESERVE(counting->scratch, counting->n_scratch, n));
	memcpy(counting->scratch, values, n * sizeof(*values));
	FLEXTRACE_TRY(ARRAY_ROOM(stats->lines, stats->n_lines));
	added = &stats->lines[stats->n_lines++];
	*added = *line;
	added->n = n;
	added->first = values[0];
	spread_of(counting->scratch, n, &added->spread);
	return FLEXTRACE_OK;
}

/* Adds the lines of one core, or of all (FLEXTRACE_NONE). */
static int report(struct counting *counting, uint32_t core)
{
	for (uint32_t i = 0; i < CORE_ANALYSIS_COUNT + counting->n_processors; i++) {
		struct series *series = &counting->series[i];
		uint32_t from = core == FLEXTRACE_NONE ? 0 : series->n_reported;
		bool is_kernel = i >= CORE_ANALYSIS_COUNT;
		const struct core_line line = {
			.device = counting->device,
			.core = core,
			.processor = is_kernel ? i - CORE_ANALYSIS_COUNT : 0,
			.analysis = is_kernel ? CORE_KERNEL : i,
		};

		if (series->n > from)
			FLEXTRACE_TRY(
				add_line(counting, &line, series->values + from, series->n - from));
		series->n_reported = series->n;
	}
	return FLEXTRACE_OK;
}

static int count_ops(struct counting *counting)
{
	const struct core_stats *stats = counting->stats;

	for (uint32_t i = 0; i < stats->n_ops; i++) {
		const struct core_op *op = &stats->ops[i];

		if (op->device != counting->device)
			continue;
		if (op->first_fw && op->last_fw > op->first_fw)
			FLEXTRACE_TRY(
				count(counting, CORE_OP_FIRMWARE, 0, op->last_fw - op->first_fw));
		if (op->first_kernel && op->last_kernel > op->first_kernel)
			FLEXTRACE_TRY(count(counting, CORE_OP_KERNEL, 0,
			                    op->last_kernel - op->first_kernel));
		if (op->first_kernel)
			FLEXTRACE_TRY(count(counting, CORE_OP_SPREAD, 0,
			                    op->last_start - op->first_kernel));
		if (op->to_op != UINT64_MAX)
			FLEXTRACE_TRY(count(counting, CORE_OP_TO_OP, 0, op->to_op));
	}
	return FLEXTRACE_OK;
}

static int count_device(struct counting *counting, uint32_t first, uint32_t end)
{
	const struct core_stats *stats = counting->stats;

	for (uint32_t i = first; i < end; i++) {
		FLEXTRACE_TRY(take_core(counting, &stats->all.cores[i]));
		FLEXTRACE_TRY(report(counting, i));
	}
	if (counting->first_start && counting->last_end > counting->first_start)
		FLEXTRACE_TRY(
			count(counting, CORE_ALL, 0, counting->last_end - counting->first_start));
	FLEXTRACE_TRY(count_ops(counting));
	return report(counting, FLEXTRACE_NONE);
}

static void release(struct counting *counting)
{
	for (uint32_t i = 0; counting->series && i < CORE_ANALYSIS_COUNT + counting->n_processors;
	     i++)
		free(counting->series[i].values);
	free(counting->series);
	free(counting->kernel_starts);
	free(counting->scratch);
}

/* T0 is the first stamp of firmware or kernel on the device. */
static int measure(struct core_stats *stats, uint32_t first, uint32_t end)
{
	const struct core *last = &stats->all.cores[end - 1];
	struct counting counting = {.stats = stats,
	                            .device = stats->all.cores[first].device,
	                            .n_processors = 1,
	                            .t0 = UINT64_MAX};
	int code = FLEXTRACE_E_MEMORY;

	for (uint64_t i = stats->all.cores[first].first; i < last->first + last->n; i++) {
		const struct core_stamp *stamp = &stats->all.stamps[i];

		if (stamp->processor >= counting.n_processors)
			counting.n_processors = stamp->processor + 1u;
		counting.t0 = stamp->ticks < counting.t0 ? stamp->ticks : counting.t0;
	}
	counting.series = calloc(CORE_ANALYSIS_COUNT + counting.n_processors,
	                         sizeof(*counting.series));
	counting.kernel_starts = calloc(counting.n_processors, sizeof(*counting.kernel_starts));
	if (counting.series && counting.kernel_starts)
		code = count_device(&counting, first, end);
	release(&counting);
	return code;
}

/* -- all ------------------------------------------------------------------------------------- */

ORDER_BY(compare_lines, struct core_line, device, analysis, processor, core);

int core_stats_init(struct core_stats *stats, const struct findings *findings)
{
	*stats = (struct core_stats){.n_lines = 0};
	FLEXTRACE_TRY(core_stamps_init(&stats->all, findings));
	FLEXTRACE_TRY(core_ops_find(stats));
	for (uint32_t first = 0, end; first < stats->all.n_cores; first = end) {
		for (end = first + 1;
		     end < stats->all.n_cores &&
		     stats->all.cores[end].device == stats->all.cores[first].device;)
			end++;
		FLEXTRACE_TRY(measure(stats, first, end));
	}
	ORDER_ARRAY(stats->lines, stats->n_lines, compare_lines);
	return FLEXTRACE_OK;
}

void core_stats_release(struct core_stats *stats)
{
	core_stamps_release(&stats->all);
	free(stats->lines);
	free(stats->ops);
}

/* -- labels ---------------------------------------------------------------------------------- */

/* TRISC_0 is called TRISC0 there. */
static void plain_name(const struct core_stats *stats, const struct core_line *line,
                       uint32_t processor, char *name, size_t n_bytes)
{
	char *to = name;

	core_processor_name(&stats->all, line->device, processor, name, n_bytes);
	for (const char *from = name; *from; from++) {
		if (*from != '_')
			*to++ = *from;
	}
	*to = '\0';
}

void core_label(const struct core_stats *stats, const struct core_line *line,
                char ret_label[CORE_LABEL_BYTES])
{
	static const char *const texts[CORE_ANALYSIS_COUNT] = {
		[CORE_T0_TO_START] = "T0 -> %s FW start",
		[CORE_KERNEL] = "%s kernel start -> %s kernel end",
		[CORE_FIRMWARE] = "ANY RISC FW start -> ANY RISC FW end",
		[CORE_GAP] = "ANY RISC FW end -> %s FW start",
		[CORE_T0_TO_END] = "T0 -> ANY RISC FW end",
		[CORE_SESSION] = "%s FW start -> ANY RISC FW end",
		[CORE_ALL] = "T0 -> ANY CORE ANY RISC FW end",
		[CORE_OP_FIRMWARE] = "DEVICE FW DURATION",
		[CORE_OP_KERNEL] = "DEVICE KERNEL DURATION",
		[CORE_OP_SPREAD] = "DEVICE KERNEL FIRST TO LAST START",
		[CORE_OP_TO_OP] = "OP TO OP LATENCY",
	};
	const char *at = texts[line->analysis];
	char name[64];
	size_t n = 0;

	plain_name(stats, line, line->processor, name, sizeof(name));
	for (; *at && n + sizeof(name) < CORE_LABEL_BYTES; at++) {
		if (*at == '%')
			n += (size_t)snprintf(ret_label + n, CORE_LABEL_BYTES - n, "%s", name);
		else
			ret_label[n++] = *at;
		at += *at == '%';
	}
	ret_label[n] = '\0';
}
