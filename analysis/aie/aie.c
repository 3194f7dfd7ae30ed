/* SPDX-License-Identifier: Apache-2.0 */
#include "aie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

#define CORE_NAME  "core_trace"
#define OPEN_TYPE  "open"
#define TILE_AFTER " for "

static const char *device_name(const struct timeline *timeline, uint32_t device)
{
	return string_get(timeline->strings, timeline->identity->devices[device].name);
}

/* Today's name, and that of older parsers. */
static bool is_stall(const char *name)
{
	return strcmp(name, "LOCK_STALL") == 0 || strcmp(name, "LockStall") == 0;
}

static bool is_core(const struct timeline *timeline, uint32_t device)
{
	return strstr(device_name(timeline, device), CORE_NAME) != NULL;
}

const char *aie_tile_name(const struct aie_run *run, const struct aie_core *core)
{
	const char *name = device_name(run->timeline, core->device);
	const char *tile = strstr(name, TILE_AFTER);

	return tile ? tile + strlen(TILE_AFTER) : name;
}

/* -- figures ---------------------------------------------------------------------------------- */

double aie_sharers(const struct aie_run *run)
{
	if (run->options.row > 0 && run->options.col > 0)
		return (double)run->options.row * (double)run->options.col;
	return run->n_cores;
}

double aie_macs(const struct aie_run *run)
{
	return (double)run->options.M * (double)run->options.K * (double)run->options.N;
}

double aie_gmacs(double macs, double ghz, double cycles)
{
	return cycles > 0 ? macs * ghz / cycles : 0;
}

double aie_part(double part, double whole)
{
	return whole > 0 ? part / whole : (double)NAN;
}

bool aie_is_outlier(const struct aie_run *run, const struct aie_core *core,
                    const struct aie_span *kernel)
{
	double cycles = (double)(kernel->end - kernel->begin);

	return cycles * run->options.outlier_window < core->median ||
	       cycles > core->median * run->options.outlier_window;
}

/* -- rows ------------------------------------------------------------------------------------- */

static int add_span(struct aie_spans *spans, const struct aie_span *span, bool is_open)
{
	if (is_open) {
		spans->is_open = true;
		spans->open_since = span->begin;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(ARRAY_PUSH(spans->all, spans->n, *span));
	spans->cycles += span->end - span->begin;
	return FLEXTRACE_OK;
}

static int add_state(struct aie_core *core, uint32_t name, const struct aie_span *span,
                     bool is_open)
{
	uint32_t i;
	int is_new = MAP_PLACE(&core->state_index, name, 0, core->states, core->n_states, &i);

	FLEXTRACE_TRY(is_new);
	if (is_new)
		core->states[i].name = name;
	if (is_open) {
		core->states[i].is_open = true;
		core->states[i].open_since = span->begin;
		return FLEXTRACE_OK;
	}
	core->states[i].n++;
	core->states[i].cycles += span->end - span->begin;
	return FLEXTRACE_OK;
}

static int take_row(const struct aie_run *run, struct aie_core *core, const struct device_row *row)
{
	const struct tick_op *op = &run->timeline->ops[row->source];
	const struct string_pool *strings = run->timeline->strings;
	bool is_kernel = row->kind == ROW_EXEC;
	const struct aie_span span = {op->ticks[is_kernel ? 2 : 0], op->ticks[is_kernel ? 3 : 4]};
	bool is_open = strcmp(string_get(strings, op->type), OPEN_TYPE) == 0;

	if (span.end < span.begin)
		return FLEXTRACE_OK;
	if (!core->last || span.begin < core->first)
		core->first = span.begin;
	core->last = span.end > core->last ? span.end : core->last;
	if (is_kernel)
		return add_span(&core->kernels, &span, is_open);
	if (is_stall(string_get(strings, op->name)))
		FLEXTRACE_TRY(add_span(&core->stalls, &span, is_open));
	return add_state(core, op->name, &span, is_open);
}

static int take_rows(const struct aie_run *run, struct aie_core *const *core_of)
{
	const struct timeline *timeline = run->timeline;

	TABLE_EACH(struct device_row, row, &timeline->device_rows) {
		struct aie_core *core;

		if (row->kind != ROW_EXEC && row->kind != ROW_STATE)
			continue;
		core = core_of[timeline->ops[row->source].device];
		if (core)
			FLEXTRACE_TRY(take_row(run, core, row));
	}
	return FLEXTRACE_OK;
}

static double ghz_of(const struct identity *identity, uint32_t device)
{
	for (uint32_t i = 0; i < identity->n_counters; i++) {
		if (identity->counters[i].device == device && identity->counters[i].nominal_hz)
			return (double)identity->counters[i].nominal_hz / 1e9;
	}
	return (double)identity->devices[device].core_hz / 1e9;
}

/* Makes the cores, in order of their devices' numbers, and fills them. */
static int take_cores(struct aie_run *run, const struct owners *owners)
{
	const struct identity *identity = run->timeline->identity;
	struct aie_core **core_of = calloc(identity->n_devices + 1ull, sizeof(*core_of));
	int code = FLEXTRACE_OK;

	run->cores = calloc(identity->n_devices + 1ull, sizeof(*run->cores));
	if (!core_of || !run->cores)
		code = FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < identity->n_devices && code >= 0; i++) {
		uint32_t device = owners->devices[i];

		if (!is_core(run->timeline, device))
			continue;
		core_of[device] = &run->cores[run->n_cores++];
		*core_of[device] = (struct aie_core){.device = device,
		                                     .ghz = ghz_of(identity, device)};
	}
	if (code >= 0)
		code = take_rows(run, core_of);
	free(core_of);
	return code;
}

/* -- kernels ---------------------------------------------------------------------------------- */

ORDER_BY(compare_spans, struct aie_span, begin, end);

static int find_median(struct aie_core *core)
{
	uint32_t n = core->kernels.n;
	uint64_t *cycles;
	struct spread spread;

	FLEXTRACE_TRY(ARRAY_NEW(cycles, n + 1ull));
	for (uint32_t i = 0; i < n; i++)
		cycles[i] = core->kernels.all[i].end - core->kernels.all[i].begin;
	if (n) {
		spread_of(cycles, n, &spread);
		core->median = spread_median(&spread);
	}
	free(cycles);
	return FLEXTRACE_OK;
}

/* -- iterations ------------------------------------------------------------------------------- */

/* Stalls while kernels are walked along: where the next long one ends. */
struct boundaries {
	const struct aie_spans *stalls; /* weak */
	double least;                   /* cycles of a long one */
	uint32_t next;
};

/* Whether a long stall ends before a cycle; all that do are passed. */
static bool pass(struct boundaries *boundaries, struct aie_core *core, uint64_t cycle)
{
	bool is_passed = false;

	for (; boundaries->next < boundaries->stalls->n; boundaries->next++) {
		const struct aie_span *stall = &boundaries->stalls->all[boundaries->next];

		if (stall->end >= cycle)
			break;
		if ((double)(stall->end - stall->begin) < boundaries->least)
			continue;
		core->n_boundaries++;
		is_passed = true;
		if (!core->n_iterations)
			core->leading_wait = stall->end - stall->begin;
	}
	return is_passed;
}

static int add_kernel(const struct aie_run *run, struct aie_core *core, uint32_t index, bool is_new)
{
	const struct aie_span *kernel = &core->kernels.all[index];
	uint64_t cycles = kernel->end - kernel->begin;
	bool is_outlier = aie_is_outlier(run, core, kernel);
	struct aie_iteration *iteration;

	if (is_new) {
		FLEXTRACE_TRY(ARRAY_ROOM(core->iterations, core->n_iterations));
		core->iterations[core->n_iterations++] = (struct aie_iteration){
			.first = index, .min = cycles, .begin = kernel->begin};
	}
	iteration = &core->iterations[core->n_iterations - 1];
	iteration->n++;
	iteration->n_outliers += is_outlier;
	core->n_outliers += is_outlier;
	iteration->sum += cycles;
	iteration->min = cycles < iteration->min ? cycles : iteration->min;
	iteration->max = cycles > iteration->max ? cycles : iteration->max;
	iteration->end = kernel->end > iteration->end ? kernel->end : iteration->end;
	return FLEXTRACE_OK;
}

static int split_iterations(const struct aie_run *run, struct aie_core *core)
{
	struct boundaries boundaries = {&core->stalls, run->options.stall_factor * core->median, 0};

	for (uint32_t i = 0; i < core->kernels.n; i++) {
		bool is_new = pass(&boundaries, core, core->kernels.all[i].begin);

		FLEXTRACE_TRY(add_kernel(run, core, i, is_new || i == 0));
	}
	pass(&boundaries, core, UINT64_MAX);
	return FLEXTRACE_OK;
}

/* What of the stalls lies between the ends of each iteration; both are in order. */
static void share_stalls(struct aie_core *core)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < core->n_iterations; i++) {
		struct aie_iteration *of = &core->iterations[i];

		for (; next < core->stalls.n && core->stalls.all[next].begin < of->end; next++) {
			const struct aie_span *stall = &core->stalls.all[next];
			uint64_t begin = stall->begin > of->begin ? stall->begin : of->begin;
			uint64_t end = stall->end < of->end ? stall->end : of->end;

			of->stalled += end > begin ? end - begin : 0;
		}
	}
}

static void name_phases(const struct aie_run *run, struct aie_core *core)
{
	uint64_t n = core->n_iterations, begin = (uint64_t)run->options.warmup, end = n;

	begin = begin < n ? begin : n;
	if (run->options.iterations >= 0 && begin + (uint64_t)run->options.iterations < n)
		end = begin + (uint64_t)run->options.iterations;
	core->perf_begin = (uint32_t)begin;
	core->perf_end = (uint32_t)end;
	for (uint32_t i = 0; i < n; i++)
		core->iterations[i].phase = i < begin ? AIE_WARMUP : i < end ? AIE_PERF : AIE_EXTRA;
}

static int judge(const struct aie_run *run, struct aie_core *core)
{
	ORDER_ARRAY(core->kernels.all, core->kernels.n, compare_spans);
	ORDER_ARRAY(core->stalls.all, core->stalls.n, compare_spans);
	FLEXTRACE_TRY(find_median(core));
	if (core->kernels.n)
		FLEXTRACE_TRY(split_iterations(run, core));
	share_stalls(core);
	name_phases(run, core);
	return FLEXTRACE_OK;
}

static void take_path(struct aie_run *run)
{
	const struct identity *identity = run->timeline->identity;
	uint32_t process = identity->devices[run->cores[0].device].process;

	run->path = string_get(run->timeline->strings, identity->processes[process].session);
	aie_read_path(&run->options, run->path, run->hwid);
}

int aie_find(struct aie_run *run, const struct findings *findings)
{
	const struct aie_options defaults = AIE_OPTIONS_INIT;

	*run = (struct aie_run){.timeline = findings->timeline,
	                        .options = findings->aie ? *findings->aie : defaults};
	FLEXTRACE_TRY(take_cores(run, findings->owners));
	FLEXTRACE_TRY(aie_name_files(run));
	if (run->n_cores)
		take_path(run);
	for (uint32_t i = 0; i < run->n_cores; i++)
		FLEXTRACE_TRY(judge(run, &run->cores[i]));
	return FLEXTRACE_OK;
}

void aie_release(struct aie_run *run)
{
	for (uint32_t i = 0; i < run->n_cores; i++) {
		free(run->cores[i].kernels.all);
		free(run->cores[i].stalls.all);
		free(run->cores[i].states);
		map_release(&run->cores[i].state_index);
		free(run->cores[i].iterations);
	}
	free(run->cores);
	*run = (struct aie_run){.timeline = NULL};
}
