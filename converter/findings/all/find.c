/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <stdlib.h>
#include <string.h>

#include "findings/rank_rows.h"
#include "findings/transfers.h"
#include "findings/utilization.h"

/* -- what a row is ----------------------------------------------------------------------------- */

/* What the compiler knows of kernels: ideal cycles. */
static int rate_kernels(struct found *found, const struct findings_input *input,
                        struct flextrace_error *error)
{
	const struct utilization_options options = {
		.core_hz = input->core_hz,
		.times = input->kernels_from ? &found->kernel_times : NULL,
	};

	if (!input->n_compiler_info)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(compiler_info_read(&found->compiler_info, input->compiler_info,
	                                 input->n_compiler_info, input->strings, error));
	if (input->kernels_from)
		FLEXTRACE_TRY(kernel_times_read(&found->kernel_times, input->kernels_from,
		                                input->strings, error));
	found->all.costs = &found->costs;
	return utilization_run(&found->costs, &found->compiler_info, &options, input->timeline,
	                       input->strings, input->ledger);
}

static int find_counters(struct found *found, const struct findings_input *input)
{
	struct counters_input counters = {
		.timeline = input->timeline,
		.costs = found->all.costs,
		.power = &found->power,
		.samples = found->samples,
		.strings = input->strings,
	};

	memcpy(counters.is_off, input->counter_is_off, sizeof(counters.is_off));
	return counters_find(&found->counters, &counters);
}

int findings_place(struct found *found, const struct findings_input *input)
{
	enum power_unit unit = POWER_AUTO;

	if (input->power_unit)
		power_unit_read(input->power_unit, &unit);
	return power_find(&found->power, &found->samples, input->timeline, unit);
}

int findings_find(struct found *found, const struct findings_input *input,
                  struct flextrace_error *error)
{
	found->all = (struct findings){
		.timeline = input->timeline,
		.owners = &found->owners,
		.flows = &input->timeline->flows_from,
		.classes = &found->classes,
		.power = &found->power,
		.emitted = input->emitted,
		.aie = input->aie,
	};
	FLEXTRACE_TRY(owners_init(&found->owners, input->timeline->identity));
	FLEXTRACE_TRY(rate_kernels(found, input, error));
	FLEXTRACE_TRY(find_counters(found, input));
	return event_classes_init(&found->classes, input->timeline);
}

/* -- what rows did together -------------------------------------------------------------------- */

/* Who sent what to whom; drawn as arrows. */
static int find_transfers(struct found *found, const struct findings_input *input)
{
	const struct timeline *timeline = found->shown.timeline;

	found->shown.transfers = &found->transfers;
	FLEXTRACE_TRY(transfers_find(&found->transfers, timeline, input->strings));
	if (input->draws_no_flows)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(transfers_draw(&found->transfers, timeline, &found->flows));
	if (found->flows.n_rows)
		found->shown.flows = &found->flows;
	return FLEXTRACE_OK;
}

/* What each rank did again and again: for two tables and a column. */
static int find_iterations(struct found *found, const struct findings_input *input)
{
	found->shown.iterations = &found->iterations;
	FLEXTRACE_TRY(iterations_find(&found->iterations, found->shown.timeline, &found->owners));
	if (input->marks_no_iterations)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(iterations_mark(&found->iterations, &found->iteration_of_op));
	found->shown.iteration_of_op = found->iteration_of_op;
	return FLEXTRACE_OK;
}

int findings_find_shown(struct found *found, const struct findings_input *input,
                        const struct timeline *shown)
{
	found->shown = found->all;
	found->shown.timeline = shown;
	found->shown.flows = &shown->flows_from;
	FLEXTRACE_TRY(find_transfers(found, input));
	FLEXTRACE_TRY(find_iterations(found, input));
	if (!input->has_rank_rows)
		return FLEXTRACE_OK;
	found->shown.rank_rows = &found->rank_rows;
	return rank_rows_find(&found->rank_rows, &found->shown);
}

void findings_release(struct found *found)
{
	rank_rows_release(&found->rank_rows);
	free(found->iteration_of_op);
	iterations_release(&found->iterations);
	table_release(&found->flows);
	transfers_release(&found->transfers);
	event_classes_release(&found->classes);
	table_release(&found->counters);
	power_samples_free(found->samples, found->power.n_devices);
	power_release(&found->power);
	utilization_release(&found->costs);
	kernel_times_release(&found->kernel_times);
	compiler_info_release(&found->compiler_info);
	owners_release(&found->owners);
}
