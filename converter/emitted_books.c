/* SPDX-License-Identifier: Apache-2.0 */
/* What processes emitted against what was read of them. */
#include <stdlib.h>

#include "emitted.h"
#include "ledger.h"
#include "map.h"

static uint64_t rise(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static int compare_pids(const void *left, const void *right)
{
	const struct emitted_process *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct emitted_process *find(const struct emitted *emitted, int32_t pid)
{
	const struct emitted_process key = {.pid = pid};

	return emitted->n ? bsearch(&key, emitted->processes, emitted->n,
	                            sizeof(*emitted->processes), compare_pids)
	                  : NULL;
}

/* Several recordings may have the same pid. */
static void merge_pids(struct emitted *emitted)
{
	uint32_t n = 0;

	if (emitted->n)
		qsort(emitted->processes, emitted->n, sizeof(*emitted->processes), compare_pids);
	for (uint32_t i = 0; i < emitted->n; i++) {
		const struct emitted_process *from = &emitted->processes[i];
		struct emitted_process *to = &emitted->processes[n];

		if (!n || to[-1].pid != from->pid) {
			*to = *from;
			n++;
			continue;
		}
		to[-1].is_own |= from->is_own;
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
			to[-1].least[class] += from->least[class];
			to[-1].most[class] += from->most[class];
			to[-1].late[class] += from->late[class];
		}
	}
	emitted->n = n;
}

static uint64_t sum(const uint64_t n[RECORD_CLASS_COUNT])
{
	uint64_t total = 0;

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		total += n[class];
	return total;
}

static void drop_others(struct emitted *emitted)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < emitted->n; i++) {
		const struct emitted_process *process = &emitted->processes[i];

		if ((process->is_own && sum(process->most)) || sum(process->read))
			emitted->processes[n++] = *process;
	}
	emitted->n = n;
}

int emitted_compare(struct emitted *emitted, const struct stream_set *set)
{
	struct map uncounted = {NULL};
	int code = FLEXTRACE_OK;

	merge_pids(emitted);
	for (uint32_t i = 0; i < set->n_streams; i++)
		for (uint32_t k = 0; k < set->streams[i]->n_processes && code == 0; k++) {
			const struct stream_process *from = &set->streams[i]->processes[k];
			struct emitted_process *to = find(emitted, from->vpid);

			if (!to)
				code = map_put(&uncounted, (uint32_t)from->vpid, 0, 0);
			for (int class = 0; to && class < RECORD_CLASS_COUNT; class ++)
				to->read[class] += from->n_read[class];
		}
	emitted->n_uncounted = (uint32_t)uncounted.n_used;
	map_release(&uncounted);
	drop_others(emitted);
	return code;
}

/* Of processes with the same pid the one that is not left out. */
void emitted_identify(struct emitted *emitted, const struct identity *identity)
{
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		const struct process *process = &identity->processes[i];
		struct emitted_process *of = find(emitted, process->vpid);

		if (!of || (of->process != FLEXTRACE_NONE && !of->is_excluded))
			continue;
		of->process = i;
		of->is_excluded = process->is_excluded;
	}
}

bool emitted_has(const struct emitted_process *process, int class)
{
	return !process->is_excluded && (process->most[class] || process->read[class]);
}

uint64_t emitted_rows(const struct emitted *emitted)
{
	uint64_t n = 0;

	for (uint32_t i = 0; emitted && i < emitted->n; i++)
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
			n += emitted_has(&emitted->processes[i], class);
	return n;
}

uint64_t emitted_missing(const struct emitted_process *process, int class)
{
	return rise(process->read[class], process->least[class]);
}

uint64_t emitted_late(const struct emitted_process *process)
{
	return sum(process->late);
}

uint64_t emitted_unaccounted(const struct emitted *emitted, uint64_t n_accounted)
{
	uint64_t all = 0, own = 0;

	for (uint32_t i = 0; emitted->is_known && i < emitted->n; i++) {
		const struct emitted_process *process = &emitted->processes[i];
		uint64_t missing = 0;

		for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
			missing += emitted_missing(process, class);
		missing = rise(emitted_late(process), missing);
		all += missing;
		own += process->is_excluded ? 0 : missing;
	}
	all = rise(n_accounted, all);
	return all < own ? all : own;
}

/* -- books ------------------------------------------------------------------------------------- */

/* Who began before LTTng answered. */
static int book_late(struct ledger *ledger, const struct emitted *emitted)
{
	for (uint32_t i = 0; i < emitted->n; i++) {
		const struct emitted_process *process = &emitted->processes[i];
		struct loss_place place = LOSS_NOWHERE;
		uint64_t n = process->is_excluded ? 0 : emitted_late(process);

		place.process = process->process;
		if (n)
			FLEXTRACE_TRY(ledger_lose(ledger, LOSS_BEGAN_LATE, &place, n, INT64_MIN));
		ledger->warnings[WARNING_BEGAN_LATE] += n != 0;
	}
	return FLEXTRACE_OK;
}

int emitted_book(const struct emitted *emitted, struct ledger *ledger, uint64_t n_nameless)
{
	uint64_t n_accounted = ledger_total(ledger, LOSS_DISCARDED_EVENTS) + n_nameless, n;
	struct loss_place nowhere = LOSS_NOWHERE;

	FLEXTRACE_TRY(book_late(ledger, emitted));
	/* Packets that were overwritten held nobody knows how many records. */
	if (ledger_total(ledger, LOSS_DISCARDED_PACKETS) || ledger_total(ledger, LOSS_OVERWRITTEN))
		return FLEXTRACE_OK;
	n = emitted_unaccounted(emitted, n_accounted);
	return n ? ledger_lose(ledger, LOSS_UNACCOUNTED, &nowhere, n, INT64_MIN) : FLEXTRACE_OK;
}
