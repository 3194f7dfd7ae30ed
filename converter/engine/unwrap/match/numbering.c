/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the programs of a device number their work, as its records show it.
 *
 * - If each number has as many completions as submissions, and the tracer lost nothing, none was
 *   lost, however late they were seen.
 * - Two submissions of a number in a row show a lost completion, or that the number was used again
 *   before its work was complete. In the second case two completions in a row follow. These also
 *   come where a submission was lost, but then behind one submission as often as behind two. A
 *   record of an operation between two submissions speaks for a lost completion, where records are
 *   written soon.
 *
 * Where numbers are used again early and records were lost, counting proves nothing: each
 * completion may be of the use before.
 */
#include <math.h>
#include <stdlib.h>

#include "matches.h"

#define SIGMAS 6.0 /* that chance does not reach ... */
#define TIMES  4.0 /* ... nor half of them, if it is also so many times what is expected */

static struct numbering *numbering_of(const struct matcher *matcher, const struct job *job)
{
	return &matcher->numberings[matcher->queues[job->queue].device];
}

/* -- lost ones -------------------------------------------------------------------------------- */

/* A completion and a submission, of another use, may be lost: then their numbers are equal. */
int numbering_init(struct matcher *matcher)
{
	const struct ledger *ledger = matcher->unwrap->ledger;
	uint32_t n = matcher->unwrap->identity->n_devices;

	FLEXTRACE_TRY(ARRAY_NEW(matcher->numberings, n + 1ull));
	for (uint32_t i = 0; i < n; i++)
		matcher->numberings[i].is_lossy = ledger_total(ledger, LOSS_DISCARDED_EVENTS) ||
		                                  ledger_total(ledger, LOSS_DISCARDED_PACKETS) ||
		                                  ledger_total(ledger, LOSS_OVERWRITTEN);
	return FLEXTRACE_OK;
}

void numbering_count(struct matcher *matcher, struct job *job, const struct loose_edge *edge)
{
	if (edge->class == RECORD_SUBMIT) {
		job->n_lacking++;
		job->is_known = true;
	} else if (edge->class == RECORD_COMPLETE && job->n_lacking > 0) {
		job->n_lacking--;
	} else if (edge->class == RECORD_COMPLETE && job->is_known) {
		numbering_of(matcher, job)->is_lossy = true;
	}
}

/* The last submissions of a number may lack completions that were not seen any more. Of those in
 * front of work that had been complete for long, the completions were lost. */
void numbering_count_end(struct matcher *matcher)
{
	uint64_t n_lacking = 0;

	for (uint32_t i = 0; i < matcher->matches->n_jobs; i++)
		n_lacking += matcher->matches->jobs[i].n_lacking;
	for (uint32_t i = matcher->n_edges; i-- > 0 && n_lacking > 0;) {
		const struct loose_edge *edge = matcher->edges[i];
		uint64_t owner = map_pair(edge->device, edge->queue);
		struct job *job =
			&matcher->matches->jobs[map_find(&matcher->jobs, owner, edge->job)];
		int64_t done_ns = matcher->queues[job->queue].done_ns;

		if (edge->class != RECORD_SUBMIT || job->n_lacking == 0)
			continue;
		job->n_lacking--;
		n_lacking--;
		if (edge_time(edge) < done_ns - matcher->most_lag_ns)
			numbering_of(matcher, job)->is_lossy = true;
	}
}

/* -- numbers used early ------------------------------------------------------------------------ */

static void take_submit(struct job *job)
{
	enum submit_run longer = job->has_op ? RUN_WITH_OP : RUN_BARE;

	if (job->n_completes || !job->is_in_run)
		job->run = RUN_SINGLE;
	else if (longer > job->run)
		job->run = longer;
	job->is_in_run = true;
	job->has_op = false;
	job->n_completes = 0;
}

void numbering_take(struct matcher *matcher, struct job *job, const struct loose_edge *edge)
{
	struct numbering *numbering = numbering_of(matcher, job);

	if (edge->class == RECORD_SUBMIT) {
		take_submit(job);
	} else if (edge->class == RECORD_COMPLETE && job->is_in_run) {
		job->n_completes++;
		numbering->n_runs[job->run] += job->n_completes == 1;
		numbering->n_again[job->run] += job->n_completes == 2;
	}
}

/* Whether more than one completion came more often than chance explains. */
static bool is_beyond_chance(const struct numbering *numbering, uint32_t n_runs, uint32_t n_again)
{
	double n_single = fmax(numbering->n_runs[RUN_SINGLE], 1);
	double expected = n_runs * (numbering->n_again[RUN_SINGLE] / n_single);
	double sigmas = n_again > TIMES * expected ? SIGMAS / 2 : SIGMAS;

	return n_again > expected + sigmas * sqrt(expected) + 1;
}

static bool is_early(const struct numbering *numbering)
{
	const uint32_t *runs = numbering->n_runs, *again = numbering->n_again;

	return is_beyond_chance(numbering, runs[RUN_BARE], again[RUN_BARE]) ||
	       is_beyond_chance(numbering, runs[RUN_BARE] + runs[RUN_WITH_OP],
	                        again[RUN_BARE] + again[RUN_WITH_OP]);
}

void numbering_finish(struct matcher *matcher)
{
	for (uint32_t i = 0; i < matcher->unwrap->identity->n_devices; i++)
		matcher->numberings[i].is_early = is_early(&matcher->numberings[i]);
}

bool numbering_is_lossy(const struct matcher *matcher, const struct job *job)
{
	return numbering_of(matcher, job)->is_lossy;
}

bool numbering_is_ambiguous(const struct matcher *matcher, const struct job *job)
{
	const struct numbering *numbering = numbering_of(matcher, job);

	return numbering->is_lossy && numbering->is_early;
}
