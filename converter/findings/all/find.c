/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <stdlib.h>
#include <string.h>

#include "findings/collectives/collective_rates.h"
#include "findings/path/path.h"
#include "findings/found_rows.h"
#include "findings/transfers.h"
#include "findings/utilization.h"

/* -- what a row is ----------------------------------------------------------------------------- */

/* What the compiler knows of kernels: ideal cycles. */
static int rate_kernels(struct findings_owner *all, const struct findings_input *input,
                        struct flextrace_error *error)
{
	const struct findings_options *asked = input->options;
	const struct utilization_options options = {
		.core_hz = input->core_hz,
		.times = asked->kernels_from ? &all->kernel_times : NULL,
	};

	if (!asked->compiler_info.n)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(compiler_info_read(&all->compiler_info,
	                                 (const char *const *)asked->compiler_info.texts,
	                                 asked->compiler_info.n, input->strings, error));
	if (asked->kernels_from)
		FLEXTRACE_TRY(kernel_times_read(&all->kernel_times, asked->kernels_from,
		                                input->strings, error));
	all->findings.costs = &all->costs;
	return utilization_run(&all->costs, &all->compiler_info, &options, input->timeline,
	                       input->strings, input->ledger);
}

static int find_counters(struct findings_owner *all, const struct findings_input *input)
{
	struct counters_input counters = {
		.timeline = input->timeline,
		.costs = all->findings.costs,
		.power = &all->power,
		.samples = all->samples,
		.strings = input->strings,
	};

	memcpy(counters.is_off, input->counter_is_off, sizeof(counters.is_off));
	return counters_find(&all->counters, &counters);
}

int findings_place(struct findings_owner *all, const struct findings_input *input)
{
	enum power_unit unit = POWER_AUTO;

	if (input->options->power_unit)
		power_unit_read(input->options->power_unit, &unit);
	return power_find(&all->power, &all->samples, input->timeline, unit);
}

int findings_find_rows(struct findings_owner *all, const struct findings_input *input,
                       struct flextrace_error *error)
{
	all->findings = (struct findings){
		.owners = &all->owners,
		.classes = &all->classes,
		.power = &all->power,
		.emitted = input->emitted,
		.aie = &input->options->aie,
	};
	FLEXTRACE_TRY(owners_init(&all->owners, input->timeline->identity));
	FLEXTRACE_TRY(rate_kernels(all, input, error));
	FLEXTRACE_TRY(find_counters(all, input));
	return event_classes_init(&all->classes, input->timeline);
}

/* -- what rows did together -------------------------------------------------------------------- */

/* Who sent what to whom; drawn as arrows. */
static int find_transfers(struct findings_owner *all, const struct findings_input *input)
{
	const struct timeline *timeline = all->findings.timeline;

	all->findings.transfers = &all->transfers;
	FLEXTRACE_TRY(transfers_find(&all->transfers, timeline, input->strings));
	if (input->draws_no_flows)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(transfers_draw(&all->transfers, timeline, &all->flows));
	if (all->flows.n_rows)
		all->findings.flows = &all->flows;
	return FLEXTRACE_OK;
}

/* What each rank did again and again: for two tables and a column. */
static int find_iterations(struct findings_owner *all, const struct findings_input *input)
{
	all->findings.iterations = &all->iterations;
	FLEXTRACE_TRY(iterations_find(&all->iterations, all->findings.timeline, &all->owners));
	if (input->marks_no_iterations)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(iterations_mark(&all->iterations, &all->iteration_of_op));
	all->findings.iteration_of_op = all->iteration_of_op;
	return FLEXTRACE_OK;
}

/* Over all that is drawn besides. */
static int draw_paths(struct findings_owner *all, const struct findings_input *input)
{
	if (!input->draws_paths || input->draws_no_flows)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(paths_draw(&all->findings, &all->paths));
	all->findings.flows = &all->paths;
	return FLEXTRACE_OK;
}

/* What ranks did together, as traces show it. */
static int find_collectives(struct findings_owner *all, const struct findings_input *input)
{
	const struct iterations *steps = input->options->per_rank ? &all->iterations : NULL;
	struct collectives collectives;
	int code = collectives_find(&collectives, &all->findings);

	all->findings.collective_rates = &all->collective_rates;
	all->findings.found_rows = &all->found_rows;
	if (code >= 0)
		code = collective_rates_find(&all->collective_rates, &collectives);
	if (code >= 0)
		code = found_rows_find(&all->found_rows, &collectives, steps);
	collectives_release(&collectives);
	return code;
}

int findings_find(struct findings_owner *all, const struct findings_input *input,
                  const struct timeline *shown)
{
	all->findings.timeline = shown;
	all->findings.call_tree = &all->call_tree;
	all->findings.work_stats = &all->work_stats;
	all->findings.device_times = &all->device_times;
	all->findings.memo = &all->memo;
	all->findings.flows = &shown->flows_from;
	FLEXTRACE_TRY(find_transfers(all, input));
	FLEXTRACE_TRY(find_iterations(all, input));
	FLEXTRACE_TRY(draw_paths(all, input));
	return find_collectives(all, input);
}

void findings_release(struct findings_owner *all)
{
	findings_memo_release(&all->memo);
	call_tree_release(&all->call_tree);
	work_stats_release(&all->work_stats);
	device_times_release(&all->device_times);
	found_rows_release(&all->found_rows);
	collective_rates_release(&all->collective_rates);
	free(all->iteration_of_op);
	iterations_release(&all->iterations);
	table_release(&all->flows);
	table_release(&all->paths);
	transfers_release(&all->transfers);
	event_classes_release(&all->classes);
	table_release(&all->counters);
	power_samples_free(all->samples, all->power.n_devices);
	power_release(&all->power);
	utilization_release(&all->costs);
	kernel_times_release(&all->kernel_times);
	compiler_info_release(&all->compiler_info);
	owners_release(&all->owners);
}
