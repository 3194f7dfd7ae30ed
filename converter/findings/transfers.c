/* SPDX-License-Identifier: Apache-2.0 */
#include "transfers.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/blocks.h"
#include "base/map.h"

/* What a name says: the same for all control blocks that have it. */
struct known_name {
	struct message_name name; /* of role MESSAGE_NONE: it is no message's */
	uint32_t sync, sequence;  /* strings */
};

struct finder {
	struct transfers *transfers; /* weak, all three */
	const struct timeline *timeline;
	struct string_cache *strings;
	struct map names;         /* string -> place in `known` */
	struct known_name *known; /* owned */
	uint32_t n_known;
};

/* -- names ------------------------------------------------------------------------------------- */

static int intern(struct finder *finder, const char *text, uint32_t n, uint32_t *ret_string)
{
	char *copy = strndup(text, n);
	int code = copy ? string_intern(finder->strings, copy, ret_string) : FLEXTRACE_E_MEMORY;

	free(copy);
	return code;
}

static int find_name(struct finder *finder, uint32_t name, const struct known_name **ret)
{
	const char *text = string_get(finder->timeline->strings, name);
	struct known_name *known;
	uint32_t place;
	int is_new = MAP_PLACE(&finder->names, name, 0, finder->known, finder->n_known, &place);

	FLEXTRACE_TRY(is_new);
	*ret = known = &finder->known[place];
	if (!is_new || message_name_read(text, &known->name) == MESSAGE_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(intern(finder, known->name.sync, known->name.n_sync, &known->sync));
	return intern(finder, text, known->name.n_sequence, &known->sequence);
}

static int take_row(struct finder *finder, const struct device_row *row)
{
	struct transfers *transfers = finder->transfers;
	const struct known_name *known;

	if (row->kind < ROW_MEMCPY_HTOD || row->kind > ROW_MEMCPY_PTOP)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_name(finder, finder->timeline->ops[row->source].name, &known));
	if (known->name.role == MESSAGE_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_ROOM(transfers->ends, transfers->n_ends));
	transfers->ends[transfers->n_ends++] = (struct transfer_end){
		.start_time_ns = row->start_time_ns,
		.end_time_ns = row->end_time_ns,
		.source = row->source,
		.track = row->track,
		.sync = known->sync,
		.sequence = known->sequence,
		.send = FLEXTRACE_NONE,
		.step = known->name.step,
		.err_ns = row->err_ns,
		.role = known->name.role,
		.status = row->status,
		.is_multicast = known->name.is_multicast,
	};
	return FLEXTRACE_OK;
}

static int take_rows(struct finder *finder)
{
	TABLE_EACH(struct device_row, row, &finder->timeline->device_rows)
		FLEXTRACE_TRY(take_row(finder, row));
	return FLEXTRACE_OK;
}

/* -- who receives what ------------------------------------------------------------------------- */

/* One end on its way to the other: ends of one message are neighbours, sendings first. */
struct candidate {
	uint32_t end; /* place */
	uint32_t sync;
	int32_t from, to; /* ranks; of a multicast -1 */
	int32_t by;       /* the rank that receives; -1: sends */
	int64_t end_time_ns;
};

static bool make_candidate(const struct timeline *timeline, const struct transfers *transfers,
                           uint32_t end, struct candidate *ret)
{
	const struct transfer_end *of = &transfers->ends[end];
	const struct tick_op *op = &timeline->ops[of->source];
	const struct identity *identity = timeline->identity;
	int32_t self = identity->processes[identity->devices[op->device].process].rank;
	bool is_send = of->role == MESSAGE_SEND;

	*ret = (struct candidate){end, of->sync, self, op->peer, -1, of->end_time_ns};
	if (!is_send) {
		ret->from = op->peer;
		ret->to = self;
		ret->by = self;
	}
	if (of->is_multicast)
		ret->to = -1;
	return of->role >= MESSAGE_SEND && self >= 0 && ret->from >= 0 &&
	       (of->is_multicast || ret->to >= 0);
}

ORDER_BY(compare_candidates, struct candidate, sync, from, to, by, end_time_ns, end);

static bool is_same_message(const struct candidate *a, const struct candidate *b)
{
	return a->sync == b->sync && a->from == b->from && a->to == b->to;
}

static void pair(struct transfers *transfers, const struct candidate *sends, uint32_t n_sends,
                 const struct candidate *receives, uint32_t n_receives)
{
	uint32_t next = 0; /* first sending that is not taken */

	for (uint32_t i = 0; i < n_receives && n_sends; i++) {
		uint32_t place = i;

		if (n_sends != n_receives) {
			for (place = next; place + 1 < n_sends &&
			                   sends[place + 1].end_time_ns <= receives[i].end_time_ns;)
				place++;
			if (place >= n_sends || sends[place].end_time_ns > receives[i].end_time_ns)
				continue;
		}
		transfers->ends[receives[i].end].send = sends[place].end;
		next = place + 1;
	}
}

/* Pairs the sendings of one message with the receives of each rank. */
static void pair_message(struct transfers *transfers, const struct candidate *all, uint32_t n)
{
	uint32_t n_sends = 0, first, end;

	while (n_sends < n && all[n_sends].by < 0)
		n_sends++;
	for (first = n_sends; first < n; first = end) {
		for (end = first + 1; end < n && all[end].by == all[first].by;)
			end++;
		pair(transfers, all, n_sends, &all[first], end - first);
	}
}

static int pair_all(struct transfers *transfers, const struct timeline *timeline)
{
	struct candidate *all;
	uint32_t n = 0, first, end;

	FLEXTRACE_TRY(BLOCKS_NEW(all, transfers->n_ends + 1ull));
	for (uint32_t i = 0; i < transfers->n_ends; i++)
		n += make_candidate(timeline, transfers, i, &all[n]);
	qsort(all, n, sizeof(*all), compare_candidates);
	for (first = 0; first < n; first = end) {
		for (end = first + 1; end < n && is_same_message(&all[first], &all[end]);)
			end++;
		pair_message(transfers, &all[first], end - first);
	}
	blocks_free(all);
	return FLEXTRACE_OK;
}

int transfers_find(struct transfers *transfers, const struct timeline *timeline,
                   struct string_cache *strings)
{
	struct finder finder = {transfers, timeline, strings, {0}, NULL, 0};
	int code;

	*transfers = (struct transfers){.n_ends = 0};
	if (!timeline->has.groups)
		return FLEXTRACE_OK;
	code = take_rows(&finder);
	map_release(&finder.names);
	free(finder.known);
	FLEXTRACE_TRY(code);
	return pair_all(transfers, timeline);
}

void transfers_release(struct transfers *transfers)
{
	free(transfers->ends);
	*transfers = (struct transfers){.n_ends = 0};
}

/* -- arrows ------------------------------------------------------------------------------------ */

/* It ends within the receive, whose end another row may share. */
static struct flow flow_of(const struct transfers *transfers, const struct timeline *timeline,
                           const struct transfer_end *receive)
{
	const struct transfer_end *send = &transfers->ends[receive->send];
	int64_t to_ns = receive->end_time_ns - (receive->end_time_ns > receive->start_time_ns);

	return (struct flow){
		.from_time_ns = send->start_time_ns,
		.to_time_ns = to_ns,
		.from_track = send->track & INT32_MAX,
		.to_track = receive->track,
		.message = {receive->sync, timeline->ops[receive->source].group},
	};
}

ORDER_BY(compare_flows, struct flow, from_time_ns, to_time_ns, from_track, to_track);

int transfers_merge(struct table *flows, const struct table *launches, const struct flow *messages,
                    uint32_t n)
{
	uint32_t next = 0;

	TABLE_EACH(struct flow, launch, launches) {
		while (next < n && messages[next].from_time_ns < launch->from_time_ns)
			FLEXTRACE_TRY(table_put(flows, &messages[next++], sizeof(*messages)));
		FLEXTRACE_TRY(table_put(flows, launch, sizeof(*launch)));
	}
	while (next < n)
		FLEXTRACE_TRY(table_put(flows, &messages[next++], sizeof(*messages)));
	return FLEXTRACE_OK;
}

int transfers_draw(const struct transfers *transfers, const struct timeline *timeline,
                   struct table *flows)
{
	struct flow *messages;
	uint32_t n = 0;
	int code;

	if (!transfers->n_ends)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(BLOCKS_NEW(messages, transfers->n_ends));
	for (uint32_t i = 0; i < transfers->n_ends; i++) {
		if (transfers->ends[i].send != FLEXTRACE_NONE)
			messages[n++] = flow_of(transfers, timeline, &transfers->ends[i]);
	}
	qsort(messages, n, sizeof(*messages), compare_flows);
	code = n ? transfers_merge(flows, &timeline->flows_from, messages, n) : FLEXTRACE_OK;
	blocks_free(messages);
	return code;
}
