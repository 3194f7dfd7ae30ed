/* SPDX-License-Identifier: Apache-2.0 */
/* What processes emitted against what was read of them. */
#include <stdlib.h>

#include "emitted.h"
#include "model/ledger/ledger.h"
#include "base/map.h"
#include "base/order.h"

ORDER_BY(compare_pids, struct emitted_process, pid);

static struct emitted_process *find(const struct emitted *emitted, int32_t pid)
{
	const struct emitted_process key = {.pid = pid};

	return emitted->n ? bsearch(&key, emitted->processes, emitted->n,
	                            sizeof(*emitted->processes), compare_pids)
	                  : NULL;
}

/* Several recordings may have the same pid. What one of them counts of a program that is another's
 * is that program's count once more. */
static void merge_pids(struct emitted *emitted)
{
	uint32_t n = 0;

	ORDER_ARRAY(emitted->processes, emitted->n, compare_pids);
	for (uint32_t i = 0; i < emitted->n; i++) {
		const struct emitted_process *from = &emitted->processes[i];
		struct emitted_process *to = &emitted->processes[n];

		if (!n || to[-1].pid != from->pid) {
			*to = *from;
			n++;
			continue;
		}
		if (to[-1].is_own != from->is_own) {
			to[-1] = from->is_own ? *from : to[-1];
			continue;
		}
		to[-1].n_threads += from->n_threads;
		to[-1].n_unrecorded += from->n_unrecorded;
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

		if ((process->is_own && (sum(process->most) || process->n_unrecorded)) ||
		    sum(process->read))
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

uint64_t emitted_missing(const struct emitted_process *process, int class)
{
	return emitted_rise(process->read[class], process->least[class]);
}

/* -- books ------------------------------------------------------------------------------------- */

/* Who began before LTTng answered. */
static int book_late(struct ledger *ledger, const struct emitted *emitted)
{
	for (uint32_t i = 0; i < emitted->n; i++) {
		const struct emitted_process *process = &emitted->processes[i];
		struct loss_place place = LOSS_NOWHERE;
		uint64_t n = process->is_excluded ? 0 : sum(process->late);

		place.process = process->process;
		if (n)
			FLEXTRACE_TRY(ledger_lose(ledger, LOSS_BEGAN_LATE, &place, n, INT64_MIN));
		ledger->warnings[WARNING_BEGAN_LATE] += n != 0;
		if (!process->is_excluded)
			ledger->warnings[WARNING_UNRECORDED] += process->n_unrecorded;
	}
	return FLEXTRACE_OK;
}

const char *emitted_channel_name(enum emitted_channel channel)
{
	static const char *const names[] = {
		[EMITTED_DEFINITIONS] = "definitions", [EMITTED_EVENTS] = "events"};

	return names[channel];
}

static enum emitted_channel channel_of_class(int class)
{
	return class <= RECORD_MARKER_NAME ? EMITTED_DEFINITIONS : EMITTED_EVENTS;
}

/* By what was read of it. */
static enum emitted_channel channel_of_stream(const struct stream *stream)
{
	for (uint32_t i = 0; i < stream->n_processes; i++)
		for (int class = RECORD_PROCESS; class <= RECORD_MARKER_NAME; class ++)
			if (stream->processes[i].n_read[class])
				return EMITTED_DEFINITIONS;
	return EMITTED_EVENTS;
}

static void sum_discarded(struct emitted *emitted, const struct stream_set *set,
                          const struct losses *losses)
{
	for (uint32_t i = 0; i < losses->n; i++) {
		const struct loss *loss = &losses->all[i];
		enum emitted_channel channel = EMITTED_EVENTS;

		if (loss->cause != LOSS_DISCARDED_EVENTS)
			continue;
		if (loss->place.stream < set->n_streams)
			channel = channel_of_stream(set->streams[loss->place.stream]);
		emitted->balances[channel].discarded += loss->all.count;
	}
}

/* Stores what is missing of processes that are left out apart: whose the discarded records are,
 * LTTng does not tell. */
static void sum_missing(struct emitted *emitted, uint64_t others[EMITTED_CHANNEL_COUNT])
{
	for (uint32_t i = 0; i < emitted->n * RECORD_CLASS_COUNT; i++) {
		const struct emitted_process *process = &emitted->processes[i / RECORD_CLASS_COUNT];
		int class = (int)(i % RECORD_CLASS_COUNT);
		enum emitted_channel channel = channel_of_class(class);
		uint64_t missing = emitted_missing(process, class), late = process->late[class];

		late = late < missing ? late : missing;
		if (process->is_excluded) {
			others[channel] += missing - late;
			continue;
		}
		emitted->balances[channel].missing += missing;
		emitted->balances[channel].late += late;
	}
}

/* What packets tell of may be others' records, but not what is missing above that. */
static uint64_t find_unaccounted(const struct emitted_balance *balance, uint64_t n_others,
                                 uint64_t n_nameless)
{
	uint64_t own = emitted_rise(balance->late, balance->missing);
	uint64_t all = emitted_rise(balance->discarded + n_nameless, own + n_others);

	return all < own ? all : own;
}

/* What LTTng says it discarded, and no packet does: behind the last one. */
static int book_discarded(struct emitted *emitted, struct ledger *ledger)
{
	const struct loss_place nowhere = LOSS_NOWHERE;
	uint64_t rest = emitted_rise(ledger_total(ledger, LOSS_DISCARDED_EVENTS),
	                             emitted->n_discarded);

	for (int channel = EMITTED_EVENTS; channel >= 0; channel--) {
		struct emitted_balance *balance = &emitted->balances[channel];
		uint64_t n = balance->unaccounted < rest ? balance->unaccounted : rest;

		balance->unaccounted -= n;
		balance->discarded += n;
		rest -= n;
		if (n)
			FLEXTRACE_TRY(
				ledger_lose(ledger, LOSS_DISCARDED_EVENTS, &nowhere, n, INT64_MIN));
	}
	return FLEXTRACE_OK;
}

static void take_under_way(struct emitted *emitted)
{
	uint64_t rest = 0;

	for (uint32_t i = 0; i < emitted->n; i++)
		rest += emitted->processes[i].is_excluded ? 0 : emitted->processes[i].n_threads;
	for (int channel = EMITTED_EVENTS; channel >= 0; channel--) {
		struct emitted_balance *balance = &emitted->balances[channel];

		balance->under_way = balance->unaccounted < rest ? balance->unaccounted : rest;
		balance->unaccounted -= balance->under_way;
		rest -= balance->under_way;
	}
}

int emitted_book(struct emitted *emitted, const struct stream_set *set, struct ledger *ledger,
                 uint64_t n_nameless)
{
	const struct loss_place nowhere = LOSS_NOWHERE;
	uint64_t others[EMITTED_CHANNEL_COUNT] = {0}, n = 0;

	FLEXTRACE_TRY(book_late(ledger, emitted));
	sum_discarded(emitted, set, &ledger->losses);
	sum_missing(emitted, others);
	/* Packets that were overwritten held nobody knows how many records. */
	if (ledger_total(ledger, LOSS_DISCARDED_PACKETS) || ledger_total(ledger, LOSS_OVERWRITTEN))
		return FLEXTRACE_OK;
	for (int channel = 0; channel < EMITTED_CHANNEL_COUNT; channel++)
		emitted->balances[channel].unaccounted =
			find_unaccounted(&emitted->balances[channel], others[channel], n_nameless);
	FLEXTRACE_TRY(book_discarded(emitted, ledger));
	take_under_way(emitted);
	for (int channel = 0; channel < EMITTED_CHANNEL_COUNT; channel++)
		n += emitted->balances[channel].unaccounted;
	return n ? ledger_lose(ledger, LOSS_UNACCOUNTED, &nowhere, n, INT64_MIN) : FLEXTRACE_OK;
}
