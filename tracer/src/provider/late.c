/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "late.h"

#include <stdio.h>
#include <time.h>

#include "admit.h"
#include "emit_counts.h"
#include "recording.h"
#include "wanted.h"

#define MS_NS    UINT64_C(1000000)
#define PAUSE_NS 1000000
#define N_ON     100   /* pauses */
#define N_ASKED  4096u /* records between two questions whether the process is still wanted */

static struct wanted wanted;
static const int *is_on; /* LTTng's word of an event that is on in every recording */
static int is_known;     /* LTTng has dumped its state: from then on it records */
static int is_late;
static int was_on; /* in the parent, when it forked */
static uint32_t n_counted;

void late_init(const int *state, char *(*get)(const char *name))
{
	is_on = state;
	flextrace_i_wanted_init(&wanted, get);
	emit_counts_init(&wanted);
}

static int load(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Until LTTng's other threads have registered the process, so long at most. Events are on a little
 * before they are recorded; its state may have been dumped before we listened. */
static int wait_on(uint64_t ns)
{
	const struct timespec pause = {0, PAUSE_NS};
	uint64_t end_ns = flextrace_now_ns() + ns;
	int n_on = 0;

	while (!load(&is_known) && n_on < N_ON && flextrace_now_ns() < end_ns &&
	       (load(is_on) || flextrace_i_is_wanted(&wanted))) {
		nanosleep(&pause, NULL);
		n_on += load(is_on);
	}
	return load(&is_known) || load(is_on);
}

static void be_late(int may_tell)
{
	if (may_tell)
		fputs("flextrace: LTTng's session daemon does not answer; records are not recorded "
		      "but counted until it does\n",
		      stderr);
	__atomic_store_n(&is_late, 1, __ATOMIC_RELAXED);
	emit_counts_be_late();
	admit_set(ADMIT_LATE);
	recording_set_late(1, 1);
	if (load(&is_known)) /* meanwhile */
		late_end();
}

void late_begin(uint64_t waited_ns, uint64_t limit_ns, int may_wait, int may_tell)
{
	uint64_t begun_ns = flextrace_now_ns(), rest_ns = 0;
	int is_recorded;

	if (waited_ns < limit_ns && was_on && !load(is_on) && !load(&is_known))
		be_late(0); /* LTTng could not reach its daemon: no descriptor, another root */
	if (waited_ns < limit_ns || load(&is_known) || !flextrace_i_is_wanted(&wanted))
		return;
	if (may_wait && waited_ns < LATE_LIMIT_MS * MS_NS)
		rest_ns = LATE_LIMIT_MS * MS_NS - waited_ns;
	if (rest_ns && may_tell && !load(is_on))
		fprintf(stderr,
		        "flextrace: LTTng's session daemon has not answered for %.1f s; waiting up "
		        "to %d s, as a recording wants this program\n",
		        (double)waited_ns / 1e9, LATE_LIMIT_MS / 1000);
	is_recorded = wait_on(load(is_on) ? N_ON * MS_NS : rest_ns);
	emit_counts_note_wait((waited_ns + flextrace_now_ns() - begun_ns) / MS_NS);
	if (!is_recorded && flextrace_i_is_wanted(&wanted))
		be_late(may_tell);
}

static void end(int may_wait)
{
	if (!load(&is_late) || !recording_set_late(0, may_wait))
		return;
	__atomic_store_n(&is_late, 0, __ATOMIC_RELAXED);
	admit_set(ADMIT_ALL);
}

void late_end(void)
{
	__atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
	end(1);
}

void late_forked(void)
{
	__atomic_store_n(&is_known, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&is_late, 0, __ATOMIC_RELAXED);
	was_on = load(is_on);
}

void late_count(enum flextrace_i_event event)
{
	emit_counts_add_late(event);
	__atomic_add_fetch(&n_counted, 1, __ATOMIC_RELAXED);
}

void late_check(void)
{
	if (__atomic_load_n(&n_counted, __ATOMIC_RELAXED) % N_ASKED == 0 &&
	    !flextrace_i_is_wanted(&wanted))
		end(0);
}
