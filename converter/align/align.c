/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One clock is known to be one by its identity (boot id and time namespace): processes on it need
 * no evidence. Every other clock is shifted by the difference of the two hosts' Unix-epoch
 * offsets, as each host's own system clock said it, which is an assumption without bound, and is
 * reported as one.
 *
 * A process that is first met after align_run() (in host records, without a definition) is placed
 * all the same: what is kept is the reference, not a list of processes.
 */
#include "align.h"

#include <math.h>
#include <stdlib.h>

struct alignment {
	const struct identity *identity;  /* weak */
	struct alignment_report *reports; /* owned, one of each process that is not left out */
	uint32_t n_reports;
	uint32_t reference; /* host clock; 0 while there is no process */
};

/* -- the reference --------------------------------------------------------------------------- */

/* Known ranks first, then as they came. */
static bool is_ranked_before(const struct process *left, const struct process *right)
{
	if ((left->rank >= 0) != (right->rank >= 0))
		return left->rank >= 0;
	return left->rank >= 0 && left->rank < right->rank;
}

/* The clock that all others are put on: that of the lowest rank, else of the first process. */
static uint32_t find_reference(const struct identity *identity)
{
	const struct process *best = NULL;

	for (uint32_t i = 0; i < identity->n_processes; i++) {
		const struct process *process = &identity->processes[i];

		if (!process->is_excluded && (!best || is_ranked_before(process, best)))
			best = process;
	}
	return best ? best->host_clock : 0;
}

/* What to add to a clock's time to have the reference's. An offset that cannot be a time counts
 * as none. */
static int64_t shift_ns(const struct alignment *alignment, uint32_t host_clock)
{
	const struct host_clock *clocks = alignment->identity->host_clocks;
	int64_t shift;

	if (host_clock == alignment->reference)
		return 0;
	if (__builtin_sub_overflow(clocks[host_clock].epoch_offset_ns,
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

/* -- the report ------------------------------------------------------------------------------ */

static int compare_reports(const void *left, const void *right, void *context)
{
	const struct alignment_report *a = left, *b = right;
	const struct process *processes = ((const struct identity *)context)->processes;

	if (is_ranked_before(&processes[a->process], &processes[b->process]))
		return -1;
	if (is_ranked_before(&processes[b->process], &processes[a->process]))
		return 1;
	return (a->process > b->process) - (a->process < b->process);
}

static struct alignment_report report_of(const struct alignment *alignment, uint32_t process,
                                         uint32_t component)
{
	bool is_exact = component == 0;

	return (struct alignment_report){
		.process = process,
		.offset_ns = (double)shift_ns(alignment,
	                                      alignment->identity->processes[process].host_clock),
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

/* Reports every process and counts the clocks that no evidence ties to the reference. */
static int report_all(struct alignment *alignment, uint32_t *ret_n_components)
{
	const struct identity *identity = alignment->identity;
	uint32_t *components = malloc((identity->n_host_clocks + 1ull) * sizeof(*components));

	alignment->reports = calloc(identity->n_processes + 1ull, sizeof(*alignment->reports));
	*ret_n_components = 1;
	if (!components || !alignment->reports) {
		free(components);
		return FLEXTRACE_E_MEMORY;
	}
	for (uint32_t i = 0; i < identity->n_host_clocks; i++)
		components[i] = i == alignment->reference ? 0 : FLEXTRACE_NONE;
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		const struct process *process = &identity->processes[i];

		if (process->is_excluded)
			continue;
		if (components[process->host_clock] == FLEXTRACE_NONE)
			components[process->host_clock] = (*ret_n_components)++;
		alignment->reports[alignment->n_reports++] =
			report_of(alignment, i, components[process->host_clock]);
	}
	qsort_r(alignment->reports, alignment->n_reports, sizeof(*alignment->reports),
	        compare_reports, (void *)(uintptr_t)identity);
	free(components);
	return FLEXTRACE_OK;
}

int align_run(const struct identity *identity, struct table *sync_points, struct ledger *ledger,
              struct alignment **ret_alignment, struct flextrace_error *error)
{
	struct alignment *alignment = calloc(1, sizeof(*alignment));
	int code = alignment ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	uint32_t n_components = 1;

	(void)sync_points; /* processes on one clock need none, and others are not tied by them */
	if (code >= 0) {
		alignment->identity = identity;
		alignment->reference = find_reference(identity);
		code = report_all(alignment, &n_components);
	}
	if (code < 0) {
		alignment_free(alignment);
		return error_set(error, code, "Cannot align the processes: processes=%u",
		                 identity->n_processes);
	}
	ledger->warnings[WARNING_UNALIGNED] += n_components - 1;
	*ret_alignment = alignment;
	return FLEXTRACE_OK;
}

void alignment_free(struct alignment *alignment)
{
	if (!alignment)
		return;
	free(alignment->reports);
	free(alignment);
}

/* -- asking ---------------------------------------------------------------------------------- */

struct aligned alignment_place(const struct alignment *alignment, uint32_t process, int64_t host_ns)
{
	uint32_t host_clock = alignment->identity->processes[process].host_clock;

	if (host_clock == alignment->reference)
		return (struct aligned){host_ns, 0, TIME_CERTIFIED};
	return (struct aligned){add_clamped(host_ns, shift_ns(alignment, host_clock)), UINT32_MAX,
	                        TIME_ASSUMED};
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
