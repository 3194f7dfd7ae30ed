/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what is not believed of the instances of jobs. If records were lost, counting may give an
 * operation to a use of its number that is another one's. The counter then decides for it, as for
 * any choice (choices.c). If even that would prove nothing, the operation gets no bracket.
 */
#include "matches.h"

#define MAX_BAD 8u /* that count, of those in front of an operation that found none */
#define MANY    3u /* of so many one is doubtful, or found none */

/* How long after its completion the stamps of an operation were recorded; 0: not known. */
static int64_t late_ns(const struct instance *instance)
{
	if (!instance->op || instance->op->unused != OP_AFTER_IS_CLOCK || !instance->complete)
		return 0;
	return instance->op->complete_host_ns - edge_time(instance->complete);
}

/* How long after its submission the completion of an instance was seen; 0: not known. */
static int64_t taken_ns(const struct instance *instance)
{
	return instance->submit && instance->complete
	               ? edge_time(instance->complete) - edge_time(instance->submit)
	               : 0;
}

/* How late the stamps of operations are, and how long work takes until they are there. */
static void find_lateness(struct matches *matches)
{
	struct lates lates = {.n_all = 0}, taken = {.n_all = 0};
	int64_t latest_ns = 0, slowest_ns = 0;

	for (uint32_t i = 0; i < matches->n; i++) {
		int64_t late = late_ns(&matches->instances[i]);
		int64_t took = taken_ns(&matches->instances[i]);

		if (late > 0)
			lates_add(&lates, late);
		if (took > 0)
			lates_add(&taken, took);
		latest_ns = late > latest_ns ? late : latest_ns;
		slowest_ns = took > slowest_ns ? took : slowest_ns;
	}
	matches->most_late_ns = lates_most(&lates, INT64_MAX);
	matches->most_taken_ns = lates_most(&taken, INT64_MAX);
	matches->longest_ns = slowest_ns + latest_ns;
}

static bool is_alone(const struct instance *instance)
{
	return instance->op && !instance_has_bracket(instance);
}

/* Whether the record of an instance's operation was written so long after an edge that it is of no
 * work that was complete by then. Where the operation is not known, it came behind the submit. */
static bool is_long_after(const struct matches *matches, const struct instance *instance,
                          const struct loose_edge *by)
{
	int64_t ns;

	if (!by)
		return false;
	if (instance->op)
		ns = instance->op->complete_host_ns;
	else if (instance->submit)
		ns = edge_time(instance->submit);
	else
		return false;
	return ns - edge_time(by) > matches->most_late_ns;
}

/* An operation that found no instance, though its number has some, may have found its own taken: by
 * an operation whose records were lost, or by one that found its own taken. Marks all in front of
 * it that may have done so, whatever choices are in between, back to another one that found none.
 * Returns how many of them are right in front of it, at most MAX_BAD. */
static uint32_t doubt_before(const struct matches *matches, const struct instance *alone)
{
	uint32_t at = alone->before, n = 0, n_seen = 0;

	while (at != NO_INSTANCE) {
		struct instance *instance = &matches->instances[at];
		const struct instance *before;

		if (is_alone(instance))
			break;
		if (instance->is_counted) {
			if (is_long_after(matches, instance, instance->submit))
				break;
			n += n == n_seen && n < MAX_BAD;
			instance->is_doubtful = true;
		}
		n_seen++;
		at = instance->before;
		before = at == NO_INSTANCE ? NULL : &matches->instances[at];
		if (before && is_long_after(matches, instance, before->complete))
			break;
	}
	return n;
}

/* Leaves an operation to the counter. It may be of any use of its number until then. */
static int make_choice(struct matches *matches, struct instance *instance)
{
	struct tick_op *op = instance->op;

	FLEXTRACE_TRY(match_put_choice(matches, op, instance->job, instance->number,
	                               instance->number, instance->number + 1));
	instance->op = NULL;
	instance->is_counted = instance->is_doubtful = false;
	return FLEXTRACE_OK;
}

static bool is_late(const struct matches *matches, const struct instance *instance)
{
	return instance->is_counted && late_ns(instance) > matches->most_late_ns;
}

/* Whether counting proves nothing of an operation. */
static bool is_of_doubtful_job(const struct matches *matches, const struct instance *instance)
{
	return instance->is_counted && matches->jobs[instance->job].is_doubtful;
}

/* Marks operations that were matched by counting alone and may belong elsewhere. If these are
 * many, counting proves nothing. The counter decides for the others. */
static int doubt_counted(struct matches *matches)
{
	uint32_t n_counted = 0, n_bad = 0;

	for (uint32_t i = 0; i < matches->n; i++) {
		struct instance *instance = &matches->instances[i];

		if (is_alone(instance))
			n_bad += 1 + doubt_before(matches, instance);
		if (is_late(matches, instance)) {
			n_bad++;
			instance->is_doubtful = true;
		}
		n_counted += instance->is_counted;
	}
	for (uint32_t i = 0; i < matches->n; i++) {
		struct instance *instance = &matches->instances[i];

		instance->is_doubtful |= is_of_doubtful_job(matches, instance);
		if (n_bad > n_counted / MANY)
			instance->is_doubtful = instance->is_counted;
		else if (instance->is_doubtful && instance_can_choose(instance, instance->op) &&
		         !is_late(matches, instance))
			FLEXTRACE_TRY(make_choice(matches, instance));
	}
	return FLEXTRACE_OK;
}

/* What shows that records were lost. */
struct lacks {
	bool submit, complete, op;
	bool is_in_use; /* completions may have the place of lost ones */
};

/* Work that is under way at the end has no completion yet. */
static void note_lacks(const struct matches *matches, const struct instance *instance,
                       struct lacks *lacks)
{
	const struct instance *after = instance->after == NO_INSTANCE
	                                       ? NULL
	                                       : &matches->instances[instance->after];

	if (!instance->submit && (instance->complete || instance->op))
		lacks->submit = true;
	if (!instance->complete && (instance->op || (after && after->complete)))
		lacks->complete = true;
}

static struct lacks find_lacks(const struct matches *matches)
{
	struct lacks lacks = {false, false, false, false};

	for (uint32_t i = 0; i < matches->n; i++) {
		const struct instance *instance = &matches->instances[i];

		note_lacks(matches, instance, &lacks);
		matches->jobs[instance->job].n_whole += instance->submit && instance->complete;
		matches->jobs[instance->job].n_ops += instance->op != NULL;
	}
	for (uint32_t i = 0; i < matches->n_choices; i++)
		matches->jobs[matches->choices[i].job].n_ops++;
	for (uint32_t i = 0; i < matches->n_jobs; i++) {
		const struct job *job = &matches->jobs[i];

		lacks.op |= job->n_ops > 0 && job->n_ops < job->n_whole;
		lacks.is_in_use |= job->is_in_use;
	}
	return lacks;
}

/* Whether both edges of a use may be lost. The only sign is that other uses lack edges of both
 * kinds; where completions hide that, any missing record is the sign. */
static bool is_lossy(const struct matches *matches)
{
	struct lacks lacks = find_lacks(matches);

	return (lacks.submit && lacks.complete) ||
	       (lacks.is_in_use && (lacks.submit || lacks.complete || lacks.op));
}

static void doubt_jobs(struct matcher *matcher)
{
	for (uint32_t i = 0; i < matcher->matches->n_jobs; i++) {
		struct job *job = &matcher->matches->jobs[i];

		job->is_in_use |= numbering_is_ambiguous(matcher, job);
		job->is_doubtful = numbering_is_ambiguous(matcher, job) ||
		                   (job->is_in_use && matcher->queues[job->queue].n_spare > 0);
	}
}

/* Where the records of some uses were lost, counting tells of no use that it has its operation. */
static void widen_choices(struct matches *matches)
{
	for (uint32_t i = 0; i < matches->n_choices && matches->is_lossy; i++)
		matches->choices[i].first = 0;
}

int miscounts_find(struct matcher *matcher)
{
	struct matches *matches = matcher->matches;

	numbering_finish(matcher);
	doubt_jobs(matcher);
	matches->is_lossy = is_lossy(matches);
	find_lateness(matches);
	FLEXTRACE_TRY(doubt_counted(matches));
	widen_choices(matches);
	return FLEXTRACE_OK;
}
