/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of align, and what holds without evidence: processes have the same clock if its
 * identity is the same (boot id and time namespace). A clock that nothing ties to others is shifted
 * by the difference of the two hosts' Unix-epoch offsets, as each host's own system clock gave it.
 *
 * A process that first appears after align_run() (in host records, without a definition) is placed
 * all the same, because maps are kept by clock and not by process.
 */
#include "align_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- the reference ----------------------------------------------------------------------------- */

bool process_is_ranked_before(const struct process *left, const struct process *right)
{
	if ((left->rank >= 0) != (right->rank >= 0))
		return left->rank >= 0;
	return left->rank >= 0 && left->rank < right->rank;
}

/* The clock that all others are put on: of the rank that was asked for, of the lowest rank, else
 * of the first process. */
static int find_reference(const struct align_options *options, const struct identity *identity,
                          uint32_t *ret_clock, struct flextrace_error *error)
{
	const struct process *best = NULL;

	for (uint32_t i = 0; i < identity->n_processes; i++) {
		const struct process *process = &identity->processes[i];

		if (process->is_excluded ||
		    (options->reference_rank >= 0 && process->rank != options->reference_rank))
			continue;
		if (!best || process_is_ranked_before(process, best))
			best = process;
	}
	if (!best && options->reference_rank >= 0)
		return error_set(error, FLEXTRACE_E_USAGE,
		                 "No process has the reference rank: rank=%" PRId64,
		                 options->reference_rank);
	*ret_clock = best ? best->host_clock : 0;
	return FLEXTRACE_OK;
}

uint32_t alignment_component(const struct alignment *alignment, uint32_t clock)
{
	if (clock < alignment->n_clocks)
		return alignment->component[clock];
	return clock == alignment->reference ? 0 : alignment->n_components;
}

/* What to add to the time of a clock's root to have the reference's. An offset that cannot be a
 * time counts as none. */
static int64_t shift_ns(const struct alignment *alignment, uint32_t clock)
{
	const struct host_clock *clocks = alignment->identity->host_clocks;
	int64_t shift;

	if (clock < alignment->n_clocks)
		clock = alignment->root[alignment->component[clock]];
	if (clock == alignment->reference)
		return 0;
	if (__builtin_sub_overflow(clocks[clock].epoch_offset_ns,
	                           clocks[alignment->reference].epoch_offset_ns, &shift))
		return 0;
	return shift;
}

static int64_t add_clamped(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

/* -- the sentence ------------------------------------------------------------------------------ */

struct aligning {
	struct graph graph;   /* owned, all */
	struct curve *curves; /* of each clock */
	bool *is_lost;        /* likewise */
	bool *is_one_sided;   /* likewise */
	struct mesh mesh;
	uint32_t n_slack;     /* clocks that wander more than they should */
	uint32_t n_unaligned; /* components beside the reference's */
};

static int start(struct aligning *aligning, struct alignment *alignment)
{
	uint32_t n = alignment->n_clocks;

	FLEXTRACE_TRY(ARRAY_NEW(aligning->curves, n + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(aligning->is_lost, n + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(aligning->is_one_sided, n + 1ull));
	return ARRAY_NEW(alignment->maps, n + 1ull);
}

static void end(struct aligning *aligning)
{
	mesh_release(&aligning->mesh);
	for (uint32_t clock = 0; aligning->curves && clock < aligning->graph.n_clocks; clock++)
		curve_release(&aligning->curves[clock]);
	free(aligning->curves);
	free(aligning->is_lost);
	free(aligning->is_one_sided);
	graph_release(&aligning->graph);
}

/* A clock whose whole evidence was dropped is a component of its own. */
static void keep_components(struct aligning *aligning, struct alignment *alignment)
{
	struct graph *graph = &aligning->graph;

	aligning->n_unaligned = graph->n_peopled > 0 ? graph->n_peopled - 1 : 0;
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++) {
		if (clock_is_root(graph, clock) || alignment->maps[clock].n_knots)
			continue;
		graph->component[clock] = graph->n_components;
		graph->root[graph->n_components++] = clock;
		aligning->n_unaligned++;
	}
	alignment->component = graph->component;
	alignment->root = graph->root;
	alignment->n_components = graph->n_components;
	graph->component = NULL;
	graph->root = NULL;
}

static int solve(struct aligning *aligning, struct alignment *alignment, double rho)
{
	struct graph *graph = &aligning->graph;

	for (uint32_t clock = 0; clock < graph->n_clocks; clock++)
		alignment->maps[clock].rho = rho;
	if (graph->n_parts == 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(seed_run(graph, rho, aligning->curves));
	FLEXTRACE_TRY(mesh_init(&aligning->mesh, graph, aligning->curves));
	FLEXTRACE_TRY(vote_close(&aligning->mesh, aligning->curves, rho, aligning->is_lost,
	                         &aligning->n_slack));
	return estimate_run(&aligning->mesh, aligning->curves, aligning->is_lost, alignment->maps,
	                    aligning->is_one_sided);
}

static int align(struct aligning *aligning, struct alignment *alignment,
                 const struct align_options *options, struct table *sync_points)
{
	struct table nothing = TABLE_INIT;

	FLEXTRACE_TRY(start(aligning, alignment));
	FLEXTRACE_TRY(graph_init(&aligning->graph, alignment->identity,
	                         options->is_off ? &nothing : sync_points, alignment->reference));
	FLEXTRACE_TRY(solve(aligning, alignment, options->rho_host_ppm * 1e-6));
	keep_components(aligning, alignment);
	alignment->is_assumed = aligning->graph.has_assumed;
	return report_run(alignment, &aligning->graph, aligning->curves, aligning->is_one_sided);
}

int align_run(const struct align_options *options, const struct identity *identity,
              struct table *sync_points, struct ledger *ledger, struct alignment **ret_alignment,
              struct flextrace_error *error)
{
	struct alignment *alignment = calloc(1, sizeof(*alignment));
	struct aligning aligning = {.n_slack = 0};
	int code = alignment ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	if (code == FLEXTRACE_OK) {
		alignment->identity = identity;
		alignment->n_clocks = identity->n_host_clocks;
		code = find_reference(options, identity, &alignment->reference, error);
	}
	if (code == FLEXTRACE_OK)
		code = align(&aligning, alignment, options, sync_points);
	if (code < 0 && code != FLEXTRACE_E_USAGE)
		error_set(error, code, "Cannot align the processes: processes=%" PRIu32,
		          identity->n_processes);
	end(&aligning);
	if (code < 0) {
		alignment_free(alignment);
		return code;
	}
	ledger->warnings[WARNING_UNALIGNED] += aligning.n_unaligned;
	ledger->warnings[WARNING_HOST_WANDERS] += aligning.n_slack;
	*ret_alignment = alignment;
	return FLEXTRACE_OK;
}

void alignment_free(struct alignment *alignment)
{
	if (!alignment)
		return;
	for (uint32_t clock = 0; alignment->maps && clock < alignment->n_clocks; clock++)
		host_map_release(&alignment->maps[clock]);
	free(alignment->maps);
	free(alignment->component);
	free(alignment->root);
	free(alignment->reports);
	free(alignment->is_told);
	free(alignment);
}

/* -- asking ------------------------------------------------------------------------------------ */

static bool is_told(const struct alignment *alignment, uint32_t process)
{
	return process < alignment->n_told && alignment->is_told[process];
}

struct aligned alignment_place(const struct alignment *alignment, uint32_t process, int64_t host_ns)
{
	uint32_t clock = alignment->identity->processes[process].host_clock;
	struct aligned aligned = {host_ns, UINT32_MAX, TIME_ASSUMED};

	if (is_told(alignment, process))
		return aligned;
	if (clock == alignment->reference)
		return (struct aligned){host_ns, 0, TIME_CERTIFIED};
	if (clock < alignment->n_clocks && alignment->maps[clock].n_knots)
		aligned = host_map_place(&alignment->maps[clock], host_ns);
	if (alignment->is_assumed)
		aligned.status = TIME_ASSUMED;
	if (alignment_component(alignment, clock) == 0)
		return aligned;
	aligned.time_ns = add_clamped(aligned.time_ns, shift_ns(alignment, clock));
	aligned.err_ns = UINT32_MAX;
	aligned.status = TIME_ASSUMED;
	return aligned;
}

bool alignment_is_reference(const struct alignment *alignment, uint32_t process)
{
	return alignment->identity->processes[process].host_clock == alignment->reference;
}

uint32_t alignment_bound(const struct alignment *alignment, uint32_t process, int64_t time_ns)
{
	uint32_t clock = alignment->identity->processes[process].host_clock;

	if (is_told(alignment, process))
		return UINT32_MAX;
	if (clock == alignment->reference)
		return 0;
	if (alignment_component(alignment, clock) != 0 || !alignment->maps[clock].n_knots)
		return UINT32_MAX;
	return host_map_bound(&alignment->maps[clock], time_ns);
}

int64_t alignment_epoch_offset_ns(const struct alignment *alignment)
{
	const struct identity *identity = alignment->identity;

	return identity->n_host_clocks ? identity->host_clocks[alignment->reference].epoch_offset_ns
	                               : 0;
}

const struct alignment_report *alignment_report(const struct alignment *alignment, uint32_t *ret_n)
{
	*ret_n = alignment->n_reports;
	return alignment->reports;
}
