/* SPDX-License-Identifier: Apache-2.0 */
#include "align_outcome.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "align_oracle.h"

static void print_outcome(const struct align_scene *scene, const struct align_outcome *outcome)
{
	const struct align_verdict *v = &outcome->verdict;

	print_message("%s, seed %" PRIu64 ": error p50 %.2f p99 %.2f max %.2f us; %" PRIu64
	              " of %" PRIu64 " certified, +- %.1f us, %" PRIu64
	              " outside by up to %.1f us; %" PRIu64 " violations, %" PRIu64
	              " inversions; %" PRIu64 " dropped, %" PRIu64 " lies\n",
	              scene->name, scene->seed, v->p50_ns / 1e3, v->p99_ns / 1e3, v->max_ns / 1e3,
	              v->n_certified, v->n, v->width_ns / 1e3, v->n_outside, v->worst_ns / 1e3,
	              v->n_violations, v->n_inversions, outcome->n_dropped, outcome->n_lies);
}

/* Whether the evidence shows a break at all, which the oracle says of scenes like these only. */
static double miss_of(const struct align_truth *truth, double rho_ppm)
{
	const struct align_scene *scene = &truth->scene;

	if (scene->shape != TRUTH_ALL || scene->n_jumps + scene->n_slews == 0 ||
	    scene->wander_ppm > 0 || scene->false_share > 0 || scene->ranks_per_host > 1)
		return INFINITY;
	return align_oracle_miss_ns(truth, rho_ppm * 1e-6);
}

static double nearest_to_end(const struct align_truth *truth)
{
	double nearest = INFINITY;

	for (uint32_t i = 0; i < truth->n_upsets; i++) {
		const struct upset *upset = &truth->upsets[i];

		nearest = fmin(nearest, upset->from_ns);
		nearest = fmin(nearest, truth->end_ns - fmax(upset->from_ns, upset->to_ns));
	}
	return nearest;
}

struct align_outcome align_outcome_of(const struct align_scene *scene)
{
	struct align_options options = ALIGN_OPTIONS_INIT;
	const struct alignment_report *lines;
	struct table points = TABLE_INIT;
	struct alignment *alignment = NULL;
	struct flextrace_error error;
	struct align_outcome outcome = {.n_lies = 0};
	struct align_truth truth;
	struct ledger ledger;

	align_truth_init(&truth, scene);
	align_truth_points(&truth, &points);
	ledger_init(&ledger);
	assert_int_equal(align_run(&options, &truth.identity, &points, &ledger, &alignment, &error),
	                 0);
	align_truth_judge(&truth, alignment, &outcome.verdict);
	lines = alignment_report(alignment, &outcome.n_lines);
	for (uint32_t i = 0; i < outcome.n_lines; i++) {
		outcome.n_one_sided += lines[i].one_sided;
		outcome.n_dropped += lines[i].sync_points_dropped;
	}
	for (uint32_t i = 0; i < truth.n_points; i++)
		outcome.n_lies += truth.points[i].is_lie;
	outcome.n_points = truth.n_points;
	outcome.n_unaligned = ledger.warnings[WARNING_UNALIGNED];
	outcome.n_wandering = ledger.warnings[WARNING_HOST_WANDERS];
	outcome.miss_ns = outcome.verdict.n_outside > 0 ? miss_of(&truth, options.rho_host_ppm) : 0;
	outcome.from_end_ns = nearest_to_end(&truth);
	alignment_free(alignment);
	ledger_release(&ledger);
	table_release(&points);
	align_truth_release(&truth);
	print_outcome(scene, &outcome);
	if (outcome.verdict.n_outside > 0)
		print_message("the evidence misses all clocks of the promise by %.2f us: %s\n",
		              outcome.miss_ns / 1e3, outcome.miss_ns > 0 ? "shown" : "hidden");
	return outcome;
}
