/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line per process; what its host clock is known to be, and how its own exits stand to those
 * of the others.
 */
#include <math.h>
#include <stdlib.h>

#include "align_impl.h"
#include "base/blocks.h"
#include "base/order.h"

static int compare_reports(const void *left, const void *right, void *context)
{
	const struct alignment_report *a = left, *b = right;
	const struct process *processes = ((const struct identity *)context)->processes;

	if (process_is_ranked_before(&processes[a->process], &processes[b->process]))
		return -1;
	if (process_is_ranked_before(&processes[b->process], &processes[a->process]))
		return 1;
	return ORDER(a->process, b->process);
}

/* -- of clocks --------------------------------------------------------------------------------- */

static void describe_widths(const struct host_map *map, double *spare,
                            struct alignment_report *line)
{
	uint32_t n = map->n_knots;

	for (uint32_t i = 0; i < n; i++)
		spare[i] = map->knots[i].err_ns == UINT32_MAX ? HUGE_VAL
		                                              : (double)map->knots[i].err_ns;
	line->half_width_ns_p50 = select_quantile(spare, n, 0.5);
	line->half_width_ns_p99 = select_quantile(spare, n, 0.99);
	line->half_width_ns_max = select_quantile(spare, n, 1);
	if (isinf(line->half_width_ns_p50))
		line->half_width_ns_p50 = NAN;
	if (isinf(line->half_width_ns_p99))
		line->half_width_ns_p99 = NAN;
	if (isinf(line->half_width_ns_max))
		line->half_width_ns_max = NAN;
}

static double offset_of(const struct alignment *alignment, uint32_t process, uint32_t clock)
{
	const struct host_map *map = &alignment->maps[clock];
	int64_t host_ns = map->n_knots ? map->knots[map->n_knots / 2].host_ns : 0;
	struct aligned aligned = alignment_place(alignment, process, host_ns);

	return (double)((wide_int)aligned.time_ns - host_ns);
}

static struct alignment_report line_of(const struct alignment *alignment, uint32_t process)
{
	uint32_t clock = alignment->identity->processes[process].host_clock;
	uint32_t component = alignment_component(alignment, clock);
	bool is_exact = clock == alignment->reference;

	return (struct alignment_report){
		.process = process,
		.offset_ns = is_exact ? 0 : offset_of(alignment, process, clock),
		.drift_ppm = is_exact ? 0 : NAN,
		.half_width_ns_p50 = is_exact ? 0 : NAN,
		.half_width_ns_p99 = is_exact ? 0 : NAN,
		.half_width_ns_max = is_exact ? 0 : NAN,
		.residual_ns_p50 = NAN,
		.residual_ns_p90 = NAN,
		.residual_ns_p99 = NAN,
		.residual_ns_max = NAN,
		.component = component,
	};
}

/* -- of processes ------------------------------------------------------------------------------ */

struct residuals {
	double *ns;      /* owned: of each part; NAN: has none */
	double *spare;   /* owned, as many */
	uint32_t *first; /* owned: where each process' residuals begin; one more than processes */
	double *grouped; /* owned: residuals by process */
};

/* Distances of exits from the median exit of an event, on the aligned clock. */
static void measure_event(const struct alignment *alignment, const struct graph *graph,
                          uint32_t event, struct residuals *residuals)
{
	const struct part *parts = &graph->parts[graph->first_part[event]];
	uint32_t n_parts = graph->first_part[event + 1] - graph->first_part[event], n = 0;
	double *ns = &residuals->ns[graph->first_part[event]], median;
	int64_t origin_ns = 0;

	for (uint32_t i = 0; i < n_parts; i++) {
		int64_t exit_ns;

		ns[i] = NAN;
		if (parts[i].fate != PART_KEPT || parts[i].role != PART_BOTH)
			continue;
		exit_ns = alignment_place(alignment, parts[i].process, parts[i].exit_ns).time_ns;
		origin_ns = n == 0 ? exit_ns : origin_ns;
		ns[i] = (double)((wide_int)exit_ns - origin_ns);
		residuals->spare[n++] = ns[i];
	}
	if (n < 2) {
		for (uint32_t i = 0; i < n_parts; i++)
			ns[i] = NAN;
		return;
	}
	median = select_median(residuals->spare, n);
	for (uint32_t i = 0; i < n_parts; i++)
		ns[i] = fabs(ns[i] - median);
}

static void group_residuals(const struct graph *graph, uint32_t n_processes,
                            struct residuals *residuals)
{
	for (uint32_t i = 0; i < graph->n_parts; i++)
		residuals->first[graph->parts[i].process + 2] += !isnan(residuals->ns[i]);
	for (uint32_t i = 2; i <= n_processes + 1; i++)
		residuals->first[i] += residuals->first[i - 1];
	for (uint32_t i = 0; i < graph->n_parts; i++) {
		if (!isnan(residuals->ns[i]))
			residuals->grouped[residuals->first[graph->parts[i].process + 1]++] =
				residuals->ns[i];
	}
}

static void describe_residuals(const struct residuals *residuals, struct alignment_report *line)
{
	double *ns = &residuals->grouped[residuals->first[line->process]];
	uint32_t n = residuals->first[line->process + 1] - residuals->first[line->process];

	if (n == 0)
		return;
	line->residual_ns_p50 = select_quantile(ns, n, 0.5);
	line->residual_ns_p90 = select_quantile(ns, n, 0.9);
	line->residual_ns_p99 = select_quantile(ns, n, 0.99);
	line->residual_ns_max = select_quantile(ns, n, 1);
}

static int residuals_init(struct residuals *residuals, const struct alignment *alignment,
                          const struct graph *graph)
{
	uint32_t n_processes = alignment->identity->n_processes;

	FLEXTRACE_TRY(BLOCKS_NEW(residuals->ns, graph->n_parts));
	FLEXTRACE_TRY(BLOCKS_NEW(residuals->spare, 2ull * graph->n_most));
	FLEXTRACE_TRY(BLOCKS_NEW(residuals->grouped, graph->n_parts));
	FLEXTRACE_TRY(ARRAY_NEW(residuals->first, n_processes + 2ull));
	for (uint32_t event = 0; event < graph->n_events; event++)
		measure_event(alignment, graph, event, residuals);
	group_residuals(graph, n_processes, residuals);
	return FLEXTRACE_OK;
}

static void residuals_release(struct residuals *residuals)
{
	blocks_free(residuals->ns);
	blocks_free(residuals->spare);
	blocks_free(residuals->grouped);
	free(residuals->first);
}

/* -- lines ------------------------------------------------------------------------------------- */

static void count_points(const struct graph *graph, struct alignment_report **lines)
{
	for (uint32_t i = 0; i < graph->n_parts; i++) {
		const struct part *part = &graph->parts[i];

		if (part->fate == PART_KEPT)
			lines[part->process]->sync_points_used++;
		else
			lines[part->process]->sync_points_dropped++;
	}
}

static void add_lines(struct alignment *alignment, struct alignment_report **lines)
{
	const struct identity *identity = alignment->identity;

	for (uint32_t i = 0; i < identity->n_processes; i++) {
		if (identity->processes[i].is_excluded)
			continue;
		alignment->reports[alignment->n_reports] = line_of(alignment, i);
		lines[i] = &alignment->reports[alignment->n_reports++];
	}
}

static void describe_clock(const struct alignment *alignment, const struct curve *curves,
                           const bool *is_one_sided, double *spare, struct alignment_report *line)
{
	uint32_t clock = alignment->identity->processes[line->process].host_clock;

	if (clock == alignment->reference || line->component != 0)
		return;
	if (alignment->maps[clock].n_knots)
		describe_widths(&alignment->maps[clock], spare, line);
	line->one_sided = is_one_sided[clock];
	if (curve_tells_rate(&curves[clock]))
		line->drift_ppm = curves[clock].rate * 1e6;
}

static void describe_all(struct alignment *alignment, const struct graph *graph,
                         const struct curve *curves, const bool *is_one_sided,
                         const struct residuals *residuals)
{
	for (uint32_t i = 0; i < alignment->n_reports; i++) {
		struct alignment_report *line = &alignment->reports[i];

		describe_clock(alignment, curves, is_one_sided, residuals->spare, line);
		describe_residuals(residuals, line);
		line->sync_points_dropped += graph->unmatched[line->process];
	}
}

int report_run(struct alignment *alignment, const struct graph *graph, const struct curve *curves,
               const bool *is_one_sided)
{
	const struct identity *identity = alignment->identity;
	struct alignment_report **lines = calloc(identity->n_processes + 1ull, sizeof(*lines));
	struct residuals residuals = {0};
	int code = FLEXTRACE_E_MEMORY;

	alignment->reports = calloc(identity->n_processes + 1ull, sizeof(*alignment->reports));
	if (lines && alignment->reports)
		code = residuals_init(&residuals, alignment, graph);
	if (code == FLEXTRACE_OK) {
		add_lines(alignment, lines);
		count_points(graph, lines);
		describe_all(alignment, graph, curves, is_one_sided, &residuals);
		qsort_r(alignment->reports, alignment->n_reports, sizeof(*alignment->reports),
		        compare_reports, (void *)(uintptr_t)identity);
	}
	residuals_release(&residuals);
	free(lines);
	return code;
}

int alignment_take_told(struct alignment *alignment, const struct table *told)
{
	uint32_t n = alignment->identity->n_processes;
	const struct alignment_report **reports = calloc(n + 1ull, sizeof(*reports));

	alignment->is_told = calloc(n + 1ull, sizeof(*alignment->is_told));
	if (!reports || !alignment->is_told) {
		free(reports);
		return FLEXTRACE_E_MEMORY;
	}
	alignment->n_told = n;
	TABLE_EACH(struct alignment_report, report, told)
		reports[report->process] = report;
	for (uint32_t i = 0; i < alignment->n_reports; i++) {
		struct alignment_report *line = &alignment->reports[i];

		if (!reports[line->process] || !alignment_is_reference(alignment, line->process))
			continue;
		*line = *reports[line->process];
		alignment->is_told[line->process] = line->half_width_ns_max != 0;
	}
	free(reports);
	return FLEXTRACE_OK;
}
