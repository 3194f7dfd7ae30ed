/* SPDX-License-Identifier: Apache-2.0 */
/* What cores did, as JSON: what is not known is null. */
#include <math.h>
#include <stdio.h>

#include "aie_describe.h"
#include "base/text/json_item.h"

const char *const aie_phase_names[] = {"warmup", "perf", "extra"};

/* -- values ----------------------------------------------------------------------------------- */

void aie_add_number(cJSON *object, const char *key, double value)
{
	if (isfinite(value))
		json_item_add(object, key, cJSON_CreateNumber(value));
	else
		json_item_add(object, key, cJSON_CreateNull());
}

/* Of an option: `unsaid` is what it is where nobody said it. */
void aie_add_option(cJSON *object, const char *key, int64_t value, int64_t unsaid)
{
	aie_add_number(object, key, value == unsaid ? (double)NAN : (double)value);
}

/* 10^9 multiplications and additions a second; what is not known is null. */
static void add_gmacs(cJSON *object, double macs, double ghz, double cycles)
{
	aie_add_number(object, "gmacs_per_second",
	               macs > 0 && ghz > 0 ? aie_gmacs(macs, ghz, cycles) : (double)NAN);
}

/* A list of [begin, end). */
static void add_range(cJSON *object, const char *key, uint32_t begin, uint32_t end)
{
	cJSON *list = json_item_add_list(object, key);

	for (; begin < end; begin++)
		json_item_append(list, cJSON_CreateNumber(begin));
}

static double known(double value)
{
	return value > 0 ? value : (double)NAN;
}

/* -- a core ----------------------------------------------------------------------------------- */

/* What a kernel multiplies, and what an iteration does on one core; NAN: not known. */
static double macs_of_kernel(const struct aie_run *run)
{
	return known((double)run->options.m * (double)run->options.k * (double)run->options.n);
}

double aie_macs_of_core(const struct aie_run *run)
{
	return known(aie_macs(run)) / aie_sharers(run);
}

static cJSON *describe_iteration(const struct aie_run *run, const struct aie_core *core, uint32_t i)
{
	const struct aie_iteration *of = &core->iterations[i];
	double span = (double)(of->end - of->begin), mean = (double)of->sum / of->n;
	cJSON *json = cJSON_CreateObject();

	aie_add_number(json, "num_kernels", of->n);
	aie_add_number(json, "avg_duration_cycles", mean);
	aie_add_number(json, "min_duration_cycles", (double)of->min);
	aie_add_number(json, "max_duration_cycles", (double)of->max);
	aie_add_number(json, "total_span_cycles", span);
	aie_add_number(json, "first_start", (double)of->begin);
	aie_add_number(json, "last_end", (double)of->end);
	add_gmacs(json, aie_macs_of_core(run), core->ghz, span);
	aie_add_number(json, "iteration_index", i);
	json_item_add(json, "phase", cJSON_CreateString(aie_phase_names[of->phase]));
	aie_add_number(json, "outlier_kernels", of->n_outliers);
	aie_add_number(json, "stall_cycles", (double)of->stalled);
	aie_add_number(json, "stall_share", aie_part((double)of->stalled, span));
	aie_add_number(json, "mac_utilization",
	               aie_part(aie_macs_of_core(run), span * run->options.peak_macs));
	aie_add_number(json, "kernel_mac_utilization",
	               aie_part(macs_of_kernel(run), mean * run->options.peak_macs));
	return json;
}

static cJSON *describe_outliers(const struct aie_run *run, const struct aie_core *core)
{
	cJSON *list = cJSON_CreateArray();

	for (uint32_t i = 0; i < core->kernels.n; i++) {
		const struct aie_span *kernel = &core->kernels.all[i];
		cJSON *json;

		if (!aie_is_outlier(run, core, kernel))
			continue;
		json = cJSON_CreateObject();
		aie_add_number(json, "start", (double)kernel->begin);
		aie_add_number(json, "end", (double)kernel->end);
		aie_add_number(json, "duration_cycles", (double)(kernel->end - kernel->begin));
		json_item_append(list, json);
	}
	return list;
}

static cJSON *describe_states(const struct aie_run *run, const struct aie_core *core)
{
	cJSON *list = cJSON_CreateArray();

	for (uint32_t i = 0; i < core->n_states; i++) {
		const struct aie_state *state = &core->states[i];
		const char *name = string_get(run->timeline->strings, state->name);
		cJSON *of = cJSON_CreateObject();

		json_item_add_text(of, "name", name);
		aie_add_number(of, "closed", (double)state->n);
		aie_add_number(of, "sum_cycles", (double)state->cycles);
		aie_add_number(of, "open_since",
		               state->is_open ? (double)state->open_since : (double)NAN);
		json_item_append(list, of);
	}
	return list;
}

/* Iterations that a user expects; -1: he does not say. */
static int64_t expected_of(const struct aie_run *run)
{
	return run->options.iterations < 0 ? -1 : run->options.warmup + run->options.iterations;
}

/* Kernels that the size of the work asks of each core, each iteration; NAN: not known. */
static double kernels_expected(const struct aie_run *run)
{
	return aie_part(aie_macs_of_core(run), macs_of_kernel(run));
}

/* How much of the run the trace has, and what of that the core stalled or worked. */
static cJSON *describe_coverage(const struct aie_run *run, const struct aie_core *core)
{
	double traced = (double)(core->last - core->first);
	double stalled = (double)core->stalls.cycles;
	double expected = expected_of(run) < 0 ? (double)NAN : (double)expected_of(run);
	cJSON *json = cJSON_CreateObject();

	if (core->stalls.is_open)
		stalled += (double)(core->last - core->stalls.open_since);
	aie_add_number(json, "first_cycle", (double)core->first);
	aie_add_number(json, "last_cycle", (double)core->last);
	aie_add_number(json, "captured_cycles", traced);
	aie_add_number(json, "kernel_cycles", (double)core->kernels.cycles);
	aie_add_number(json, "kernel_share", aie_part((double)core->kernels.cycles, traced));
	aie_add_number(json, "stall_cycles", stalled);
	aie_add_number(json, "stall_share", aie_part(stalled, traced));
	aie_add_number(json, "leading_wait_cycles", (double)core->leading_wait);
	aie_add_number(json, "iterations_share", aie_part(core->n_iterations, expected));
	aie_add_number(json, "kernels_per_iteration_expected", kernels_expected(run));
	aie_add_number(json, "kernels_share",
	               aie_part(core->kernels.n, kernels_expected(run) * expected));
	return json;
}

bool aie_note(const struct aie_run *run, const struct aie_core *core, char note[AIE_NOTE_BYTES])
{
	int64_t expected = expected_of(run);
	const char *what = "Proceeding with available iterations.";
	char first[64];

	if (!core->kernels.n) {
		snprintf(note, AIE_NOTE_BYTES, "No kernel has both of its ends.");
		return true;
	}
	if (expected < 0 || core->n_iterations == expected)
		return false;
	if (core->n_iterations > expected) {
		snprintf(first, sizeof(first),
		         "Truncating to first %lld iterations for phase labeling.",
		         (long long)expected);
		what = first;
	}
	snprintf(note, AIE_NOTE_BYTES, "Detected %u iterations but expected %lld. %s",
	         core->n_iterations, (long long)expected, what);
	return true;
}

cJSON *aie_describe_core(const struct aie_run *run, const struct aie_core *core)
{
	cJSON *json = cJSON_CreateObject(), *list;
	char note[AIE_NOTE_BYTES];
	bool has_note = aie_note(run, core, note);

	aie_add_number(json, "pid", run->timeline->identity->devices[core->device].device);
	json_item_add_text(json, "tile_name", aie_tile_name(run, core));
	if (core->kernels.n) {
		aie_add_number(json, "median_kernel_duration_cycles", core->median);
		aie_add_number(json, "lock_stall_boundary_count", core->n_boundaries);
	}
	aie_add_number(json, "detected_total_iterations", core->n_iterations);
	aie_add_option(json, "expected_total_iterations", expected_of(run), -1);
	json_item_add(json, "mismatch_note",
	              has_note ? cJSON_CreateString(note) : cJSON_CreateNull());
	list = json_item_add_list(json, "iterations");
	for (uint32_t i = 0; i < core->n_iterations; i++)
		json_item_append(list, describe_iteration(run, core, i));
	add_range(json, "performance_window", core->perf_begin, core->perf_end);
	json_item_add(json, "outliers", describe_outliers(run, core));
	aie_add_number(json, "open_kernel_since",
	               core->kernels.is_open ? (double)core->kernels.open_since : (double)NAN);
	json_item_add(json, "coverage", describe_coverage(run, core));
	json_item_add(json, "states", describe_states(run, core));
	return json;
}

/* -- all cores -------------------------------------------------------------------------------- */

struct aie_common aie_common(const struct aie_run *run)
{
	struct aie_common common = {0, run->n_cores ? UINT32_MAX : 0};

	for (uint32_t i = 0; i < run->n_cores; i++) {
		const struct aie_core *core = &run->cores[i];

		common.begin = core->perf_begin > common.begin ? core->perf_begin : common.begin;
		common.end = core->perf_end < common.end ? core->perf_end : common.end;
	}
	return common;
}

/* What the slowest core took. */
static uint64_t runtime_of(const struct aie_run *run, uint32_t iteration)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < run->n_cores; i++) {
		const struct aie_iteration *of = &run->cores[i].iterations[iteration];

		longest = of->end - of->begin > longest ? of->end - of->begin : longest;
	}
	return longest;
}

static cJSON *describe_runtime(const struct aie_run *run, uint32_t iteration)
{
	double cycles = (double)runtime_of(run, iteration), macs = aie_macs(run);
	cJSON *json = cJSON_CreateObject();

	aie_add_number(json, "iteration_index", iteration);
	aie_add_number(json, "runtime_cycles", cycles);
	add_gmacs(json, macs, run->cores[0].ghz, cycles);
	aie_add_number(json, "mac_utilization",
	               aie_part(known(macs), cycles * run->options.peak_macs * aie_sharers(run)));
	return json;
}

/* Fills what is said of all of them, and which were the best and the worst. */
static void describe_runtimes(const struct aie_run *run, const struct aie_common *common,
                              cJSON *json)
{
	cJSON *average = json_item_add_object(json, "average");
	double sum = 0, inverse = 0, n = common->end - common->begin;
	uint32_t best = common->begin, worst = best;

	for (uint32_t i = common->begin; i < common->end; i++) {
		sum += (double)runtime_of(run, i);
		inverse += 1 / (double)runtime_of(run, i);
		best = runtime_of(run, i) < runtime_of(run, best) ? i : best;
		worst = runtime_of(run, i) > runtime_of(run, worst) ? i : worst;
	}
	aie_add_number(average, "runtime_cycles", sum / n);
	add_gmacs(average, aie_macs(run), run->cores[0].ghz, n / inverse);
	json_item_add(json, "best", describe_runtime(run, best));
	json_item_add(json, "worst", describe_runtime(run, worst));
}

cJSON *aie_describe_aggregate(const struct aie_run *run)
{
	const struct aie_common common = aie_common(run);
	cJSON *json = cJSON_CreateObject(), *list;

	if (common.begin >= common.end) {
		json_item_add(json, "note",
		              cJSON_CreateString("No common perf iterations across all cores."));
		return json;
	}
	add_range(json, "iterations_considered", common.begin, common.end);
	aie_add_number(json, "count", common.end - common.begin);
	describe_runtimes(run, &common, json);
	list = json_item_add_list(json, "per_iteration");
	for (uint32_t i = common.begin; i < common.end; i++)
		json_item_append(list, describe_runtime(run, i));
	json_item_add(json, "note",
	              cJSON_CreateString("Only iterations present on all cores are considered."));
	return json;
}
