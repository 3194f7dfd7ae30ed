/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When marks of the firmware can have been made. What was read had happened, and nothing happened
 * on a device of a process before the process did, nor in a boot before the area was seen in the
 * one before.
 *
 * A boot is placed on the clock that brackets seen meanwhile are of. Whether the clock that is made
 * of all brackets goes through these shows only now: a counter that stood still during a reset, or
 * came back where it had been, leaves a few brackets behind it that look like lies. Then nobody
 * knows when the runs of that boot were.
 */
#include <stdlib.h>

#include "derive_impl.h"

#define MET_PER_MISSED 8u /* brackets of a boot for each that may be a lie */

static bool has_bound(const struct placed *placed)
{
	return placed->status == TIME_CERTIFIED && placed->err_ns != UINT32_MAX;
}

/* Whether a clock goes through a bracket; false: it does not, or nobody knows. */
static bool goes_through(const struct derive *derive, uint32_t counter,
                         const struct bracket *bracket)
{
	struct placed first, last;

	return find_host_ns(derive, counter, bracket->segment, bracket->first_ticks, &first) &&
	       find_host_ns(derive, counter, bracket->segment, bracket->last_ticks, &last) &&
	       has_bound(&first) && has_bound(&last) &&
	       first.host_ns + first.err_ns >= bracket->before_host_ns &&
	       last.host_ns - last.err_ns <= bracket->after_host_ns;
}

static void ask_brackets(const struct derive *derive, const struct area_boot *boot,
                         struct table_cursor *brackets, struct boot_life *life)
{
	uint32_t n_met = 0, n_missed = boot->n_denying;

	for (uint32_t n = boot->n_brackets; n > 0; n--) {
		const struct bracket *bracket = table_next(brackets, sizeof(*bracket));
		bool is_met = goes_through(derive, bracket->counter, bracket);

		n_met += is_met;
		n_missed += !is_met;
	}
	*life = (struct boot_life){
		.begin_ns = boot->begin_ns,
		.is_denied = MET_PER_MISSED * n_missed > n_met,
	};
}

int64_t life_limit_ns(const struct derive *derive, const struct mark_run *run, int64_t host_ns)
{
	uint32_t process = derive->identity->devices[run->device].process;
	int64_t start_ns = (int64_t)derive->identity->processes[process].start_ns;

	if (start_ns == 0) /* nobody recorded it: a file, a memory's copy */
		return host_ns;
	if (run->boot < derive->boots.n && derive->boots.lives[run->boot].begin_ns > start_ns)
		start_ns = derive->boots.lives[run->boot].begin_ns;
	if (host_ns > run->drained_ns)
		return run->drained_ns;
	return host_ns < start_ns ? start_ns : host_ns;
}

/* Notes whether a run is where its boot cannot have been. (Before the process it can.) */
static void ask_run(const struct derive *derive, const struct mark_run *run,
                    const struct tick_mark *mark)
{
	struct boot_life *life;
	struct placed placed;

	if (run->boot >= derive->boots.n || run->status != TIME_CERTIFIED ||
	    !find_host_ns(derive, run->counter, run->segment, mark->ticks, &placed) ||
	    !has_bound(&placed))
		return;
	life = &derive->boots.lives[run->boot];
	life->n_runs++;
	life->n_beyond += placed.host_ns - placed.err_ns > run->drained_ns ||
	                  placed.host_ns + placed.err_ns < life->begin_ns;
}

static void ask_runs(struct derive *derive, struct table *marks)
{
	struct table_cursor cursor;

	table_read(&cursor, marks, false);
	for (uint64_t i = 0; i < derive->out.marks.n_runs; i++) {
		for (uint32_t n = 0; n < derive->out.marks.runs[i].n_marks; n++) {
			const struct tick_mark *mark = table_next(&cursor, sizeof(*mark));

			if (n == 0)
				ask_run(derive, &derive->out.marks.runs[i], mark);
		}
	}
	for (uint64_t i = 0; i < derive->boots.n; i++) {
		struct boot_life *life = &derive->boots.lives[i];

		life->is_denied |= life->n_beyond > 1 || 2 * life->n_beyond > life->n_runs;
		if (life->is_denied)
			derive->ledger->warnings[WARNING_UNKNOWN_BOOT] += life->n_runs;
	}
}

int life_judge_boots(struct derive *derive, struct unwrap_output *unwrapped)
{
	struct table_cursor boots, brackets;
	const struct area_boot *boot;

	if (unwrapped->boots.n_rows == 0)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_NEW(derive->boots.lives, unwrapped->boots.n_rows));
	table_read(&boots, &unwrapped->boots, false);
	table_read(&brackets, &unwrapped->boot_brackets, false);
	while ((boot = table_next(&boots, sizeof(*boot))))
		ask_brackets(derive, boot, &brackets, &derive->boots.lives[derive->boots.n++]);
	ask_runs(derive, &unwrapped->marks);
	return FLEXTRACE_OK;
}

bool life_is_open(const struct derive *derive, const struct mark_run *run)
{
	return run->is_unbounded ||
	       (run->boot < derive->boots.n && derive->boots.lives[run->boot].is_denied);
}

void life_release(struct boot_lives *boots)
{
	free(boots->lives);
}
