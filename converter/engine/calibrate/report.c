/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at every operation once through the finished maps. An operation whose time is outside its
 * own bracket had a false bracket or false stamps. It becomes an outlier, so that every certified
 * operation lies inside its bracket.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/select_kth.h"
#include "calibrate_impl.h"
#include "model/stamps.h"

#define MAX_SAMPLES     4096u /* even: thinned to half when full */
#define OFF_NOMINAL_PPM 500   /* good clocks are nearer to what they should be */
#define OPEN            0.01  /* of the slope: not known */

/* A distribution; beyond MAX_SAMPLES values its percentiles come from evenly spaced ones. */
struct sampler {
	double *values; /* owned */
	uint32_t n;
	uint64_t n_seen, next, stride; /* the one to keep next, and how far the next is from it */
	double max;
};

/* What is being counted of one map. */
struct tally {
	struct sampler half_widths, residuals;
	bool has_anchor, has_last;
	uint64_t anchor_ticks, last_ticks;
	int64_t anchor_ns, last_complete_ns, last_placed_ns;
	double slope;  /* nominal, else the mean */
	uint32_t knot; /* where the last stamp was placed */
};

struct judge {
	struct clocks *clocks;
	const struct calibrate_input *input;
	struct tally *tallies; /* owned, one of each map */
	uint64_t n_ops;        /* that were looked at */
};

static int sample(struct sampler *sampler, double value)
{
	uint64_t at = sampler->n_seen++;

	if (at == 0 || value > sampler->max)
		sampler->max = value;
	if (at != sampler->next)
		return FLEXTRACE_OK;
	if (sampler->n == MAX_SAMPLES) {
		for (uint32_t i = 0; i < MAX_SAMPLES / 2; i++)
			sampler->values[i] = sampler->values[2 * (size_t)i];
		sampler->n = MAX_SAMPLES / 2;
		sampler->stride *= 2;
	} else if (at == 0) {
		sampler->stride = 1;
	}
	sampler->next = at + sampler->stride;
	return ARRAY_PUSH(sampler->values, sampler->n, value);
}

static void distribute(struct sampler *sampler, double *ret_p50, double *ret_p99, double *ret_max)
{
	*ret_p50 = *ret_p99 = *ret_max = NAN;
	if (sampler->n == 0)
		return;
	*ret_p50 = select_kth(sampler->values, sampler->n, (sampler->n - 1) / 2);
	*ret_p99 = select_kth(sampler->values, sampler->n, (uint32_t)((sampler->n - 1) * 0.99));
	*ret_max = sampler->max;
}

/* Whether the evidence says next to nothing about the rate. */
bool map_has_open_rate(const struct clock_map *map)
{
	return map->slope_hi - map->slope_lo > OPEN * map->slope_hi;
}

/* -- one operation --------------------------------------------------------------------------- */

/* What its first stamp marks comes up to a tick behind it. */
static bool is_inside(const struct tick_op *op, int64_t first_ns, int64_t last_ns, uint32_t tick_ns)
{
	return (!op->submit_host_ns || first_ns + tick_ns >= op->submit_host_ns) &&
	       (!op->complete_host_ns || last_ns <= op->complete_host_ns);
}

/* How it would be at the nominal or mean rate from the first completion on. */
static bool is_inside_straight(const struct tally *tally, const struct tick_op *op, uint64_t first,
                               uint64_t last)
{
	double first_ns = (double)(int64_t)(first - tally->anchor_ticks) * tally->slope;
	double last_ns = (double)(int64_t)(last - tally->anchor_ticks) * tally->slope;

	return (!op->submit_host_ns ||
	        first_ns >= (double)(op->submit_host_ns - tally->anchor_ns)) &&
	       (!op->complete_host_ns ||
	        last_ns <= (double)(op->complete_host_ns - tally->anchor_ns));
}

static void count_before(struct tally *tally, struct clock_report *report, const struct tick_op *op,
                         uint64_t first, uint64_t last)
{
	if (!tally->has_anchor && op->complete_host_ns) {
		tally->has_anchor = true;
		tally->anchor_ticks = last;
		tally->anchor_ns = op->complete_host_ns;
	}
	if (tally->has_anchor)
		report->violations_before += !is_inside_straight(tally, op, first, last);
}

static void count_order(struct tally *tally, struct clock_report *report, const struct tick_op *op,
                        uint64_t last, int64_t placed_ns)
{
	if (tally->has_last && last != tally->last_ticks) {
		bool is_later = last > tally->last_ticks;

		if (op->complete_host_ns && tally->last_complete_ns)
			report->inversions_before +=
				is_later ? op->complete_host_ns < tally->last_complete_ns
					 : op->complete_host_ns > tally->last_complete_ns;
		report->inversions_after += is_later ? placed_ns < tally->last_placed_ns
		                                     : placed_ns > tally->last_placed_ns;
	}
	tally->has_last = true;
	tally->last_ticks = last;
	tally->last_complete_ns = op->complete_host_ns;
	tally->last_placed_ns = placed_ns;
}

static int refuse(struct judge *judge, const struct tick_op *op)
{
	struct loss_place place = identity_place(judge->input->identity, op->device, FLEXTRACE_NONE,
	                                         op->stream);
	struct clocks *clocks = judge->clocks;

	FLEXTRACE_TRY(ARRAY_PUSH(clocks->refused, clocks->n_refused, judge->n_ops - 1));
	return ledger_lose(judge->input->ledger, LOSS_OUTLIER, &place, 1,
	                   op->complete_host_ns ? op->complete_host_ns : INT64_MIN);
}

/* Nothing happens on a device of a process before the process does. */
static bool is_before_its_process(const struct judge *judge, const struct tick_op *op,
                                  int64_t first_ns, uint32_t err_ns)
{
	const struct identity *identity = judge->input->identity;
	uint64_t start_ns = identity->processes[identity->devices[op->device].process].start_ns;

	return err_ns != UINT32_MAX && start_ns <= INT64_MAX &&
	       first_ns + err_ns < (int64_t)start_ns;
}

/* Whether an operation was under way when the segment in front of its own ended: the counter began
 * anew, and its first stamps are not of its own segment. */
static bool is_across(const struct judge *judge, const struct tick_op *op, uint32_t index,
                      const struct placed *first, const struct placed *last)
{
	const struct clock_map *map = &judge->clocks->maps[index], *front = map - 1;
	const struct map_knot *end;

	if (op->segment == 0 || map->is_after_gap || front->n_knots == 0 ||
	    first->err_ns == UINT32_MAX)
		return false;
	end = &front->knots[front->n_knots - 1];
	return first->host_ns + first->err_ns < end->host_ns - (int64_t)end->half_ns &&
	       last->host_ns > end->host_ns;
}

static bool has_certified_stamp(const struct clock_map *map, const struct tick_op *op)
{
	uint32_t knot = 0;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		if (op->ticks[i] &&
		    clock_map_place_near(map, op->ticks[i], &knot).status == TIME_CERTIFIED)
			return true;
	}
	return false;
}

static int judge_certified(struct judge *judge, const struct tick_op *op, uint32_t index)
{
	struct tally *tally = &judge->tallies[index];
	struct clock_report *report = &judge->clocks->reports[index];
	const struct clock_map *map = &judge->clocks->maps[index];
	struct placed placed_first, placed_last;
	uint64_t first = op->ticks[tick_op_first(op)], last = op->ticks[tick_op_last(op)];
	int64_t first_ns;

	if (map->n_knots == 0 || !first)
		return FLEXTRACE_OK;
	placed_first = clock_map_place_near(map, first, &tally->knot);
	first_ns = placed_first.host_ns;
	placed_last = clock_map_place_near(map, last, &tally->knot);
	if (!is_inside(op, first_ns, placed_last.host_ns, map->quality.tick_ns)) {
		if (has_certified_stamp(map, op))
			return refuse(judge, op);
		report->violations_after++;
	}
	if (is_before_its_process(judge, op, first_ns, placed_last.err_ns)) {
		judge->input->ledger->warnings[WARNING_OUTSIDE_LIFE]++;
		return refuse(judge, op);
	}
	if (is_across(judge, op, index, &placed_first, &placed_last))
		return refuse(judge, op);
	count_before(tally, report, op, first, last);
	count_order(tally, report, op, last, placed_last.host_ns);
	if (placed_last.err_ns != UINT32_MAX)
		FLEXTRACE_TRY(sample(&tally->half_widths, placed_last.err_ns));
	if (!op->submit_host_ns || !op->complete_host_ns)
		return FLEXTRACE_OK;
	return sample(&tally->residuals,
	              fabs((double)(first_ns - op->submit_host_ns) / 2 -
	                   (double)(op->complete_host_ns - placed_last.host_ns) / 2));
}

static int judge_ops(struct judge *judge, const struct table *ops)
{
	TABLE_EACH(struct tick_op, op, ops) {
		uint32_t index;

		judge->n_ops++;
		/* A last segment without evidence has no map. */
		if (op->class != RECORD_DEVICE_OP || op->status == TIME_GIVEN ||
		    !clocks_find_report(judge->clocks, op->counter, op->segment, &index))
			continue;
		if (op->status == TIME_CERTIFIED)
			FLEXTRACE_TRY(judge_certified(judge, op, index));
		judge->clocks->reports[index].events++;
	}
	return FLEXTRACE_OK;
}

/* -- one map --------------------------------------------------------------------------------- */

static double nominal_of(const struct clock_settings *settings, const struct counter *counter)
{
	if (settings->nominal_mhz > 0)
		return settings->nominal_mhz;
	return counter->nominal_hz ? (double)counter->nominal_hz / 1e6 : NAN;
}

/* If the evidence leaves the rate open, the report has the nominal one, without an interval. */
static void describe(const struct clock_map *map, double nominal_mhz, struct clock_report *report)
{
	const struct map_knot *first = map->knots, *last = &map->knots[map->n_knots - 1];
	double ticks = (double)(last->ticks - first->ticks), slope = 1e3 / nominal_mhz;
	double ns = (double)(last->host_ns - first->host_ns);

	report->freq_mhz = nominal_mhz;
	if (!map_has_open_rate(map) && ticks > 0 && ns > 0) {
		report->freq_mhz = ticks / ns * 1e3;
		report->ppm_vs_nominal = (report->freq_mhz / nominal_mhz - 1) * 1e6;
		slope = ns / ticks;
		if (first->half_ns != UINT32_MAX && last->half_ns != UINT32_MAX)
			report->ci_ppm = ((double)first->half_ns + last->half_ns) / ns * 1e6;
	}
	report->offset_ns = (double)first->host_ns - (double)first->ticks * slope;
}

static void start_report(const struct judge *judge, uint32_t counter, uint32_t index)
{
	struct clock_settings settings = clock_options_of(judge->input->options,
	                                                  judge->input->identity, counter);
	const struct clock_map *map = &judge->clocks->maps[index];
	struct clock_report *report = &judge->clocks->reports[index];
	double nominal = nominal_of(&settings, &judge->input->identity->counters[counter]);
	uint32_t segment = index - judge->clocks->first_map[counter];

	*report = (struct clock_report){
		.counter = counter,
		.segment = (uint16_t)segment,
		.resets = segment > 0 && !map->is_after_gap,
		.freq_mhz = NAN,
		.ppm_vs_nominal = NAN,
		.ci_ppm = NAN,
		.offset_ns = NAN,
		.rho_ppm = map->n_knots ? map->rho * 1e6 : settings.rho_ppm,
		.rho_source = map->is_wandering                     ? "raised"
	                      : settings.rho_ppm != DEFAULT_RHO_PPM ? "user"
	                                                            : "default",
	};
	if (map->n_knots)
		describe(map, nominal, report);
	judge->tallies[index].slope = 1e3 / (isnan(nominal) ? report->freq_mhz : nominal);
}

static void start_reports(const struct judge *judge)
{
	const struct clocks *clocks = judge->clocks;

	for (uint32_t i = 0; i < clocks->n_counters; i++) {
		for (uint32_t j = clocks->first_map[i]; j < clocks->first_map[i + 1]; j++)
			start_report(judge, i, j);
	}
}

/* Whether the rate is far from the nominal one, and not only as far as it is unknown. */
static bool is_off_nominal(const struct clock_map *map, const struct clock_report *report)
{
	double nominal = 1e3 / report->freq_mhz * (1 + report->ppm_vs_nominal * 1e-6);

	return nominal < map->slope_lo * (1 - OFF_NOMINAL_PPM * 1e-6) ||
	       nominal > map->slope_hi * (1 + OFF_NOMINAL_PPM * 1e-6);
}

static void warn(const struct judge *judge, uint32_t index)
{
	const struct clock_report *report = &judge->clocks->reports[index];
	const struct clock_map *map = &judge->clocks->maps[index];
	uint64_t *warnings = judge->input->ledger->warnings;

	warnings[WARNING_RESETS] += report->resets;
	if (map->n_knots == 0) {
		warnings[WARNING_UNCALIBRATED] += report->events > 0;
		return;
	}
	warnings[WARNING_INFEASIBLE] += map->is_wandering;
	warnings[WARNING_ONE_SIDED] += map->is_one_sided;
	warnings[WARNING_RATE_STEP] += map->n_steps;
	warnings[WARNING_RATE_UNPROVEN] += map->proof == PROOF_IS_MISSING;
	warnings[WARNING_COUNTER_RESTARTS] += map->proof == PROOF_RESTARTS;
	warnings[WARNING_COUNTER_GATED] += map->proof == PROOF_IS_GATED;
	warnings[WARNING_RATE_UNKNOWN] += map_has_open_rate(map);
	warnings[WARNING_OFF_NOMINAL] += is_off_nominal(map, report);
}

/* Where there is no operation, the evidence is reads of the counter: knots stand there. */
static int sample_knots(const struct clock_map *map, struct tally *tally)
{
	for (uint32_t i = 0; i < map->n_knots; i++) {
		struct placed placed = clock_map_place_near(map, map->knots[i].ticks, &tally->knot);

		if (placed.status == TIME_CERTIFIED)
			FLEXTRACE_TRY(sample(&tally->half_widths, placed.err_ns));
	}
	return FLEXTRACE_OK;
}

static int sample_reads(const struct judge *judge)
{
	for (uint32_t i = 0; i < judge->clocks->n_maps; i++) {
		if (!judge->clocks->reports[i].events)
			FLEXTRACE_TRY(sample_knots(&judge->clocks->maps[i], &judge->tallies[i]));
	}
	return FLEXTRACE_OK;
}

/* Of a clock that has no evidence here. */
static void take_told(const struct judge *judge)
{
	const struct clocks *clocks = judge->clocks;

	TABLE_EACH(struct clock_row, row, judge->input->told) {
		uint32_t index = clocks->first_map[row->of.counter] + row->of.segment;

		if (!clocks->maps[index].n_knots)
			clocks->reports[index] = row->of;
	}
}

static void finish_reports(const struct judge *judge)
{
	for (uint32_t i = 0; i < judge->clocks->n_maps; i++) {
		struct clock_report *report = &judge->clocks->reports[i];
		struct tally *tally = &judge->tallies[i];

		distribute(&tally->half_widths, &report->half_width_ns_p50,
		           &report->half_width_ns_p99, &report->half_width_ns_max);
		distribute(&tally->residuals, &report->residual_ns_p50, &report->residual_ns_p99,
		           &report->residual_ns_max);
		warn(judge, i);
		free(tally->half_widths.values);
		free(tally->residuals.values);
	}
}

int report_judge(struct clocks *clocks, const struct calibrate_input *input)
{
	struct judge judge = {clocks, input, NULL, 0};
	int code;

	FLEXTRACE_TRY(ARRAY_NEW(judge.tallies, clocks->n_maps + 1ull));
	start_reports(&judge);
	code = judge_ops(&judge, input->ops);
	if (code >= 0)
		code = sample_reads(&judge);
	finish_reports(&judge);
	take_told(&judge);
	free(judge.tallies);
	return code;
}
