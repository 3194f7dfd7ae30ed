/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points belong to one event when group, sequence number, operation and, where peers are named, the
 * set of ranks agree. If somebody used a number twice, each use is an event, first with first, of
 * those processes who used it as often as most. For the others it is not known which uses belong
 * together: they are left out, and counted. (Uses of messages are numbered before, see uses.h.)
 *
 * An event whose points are all on one clock ties nothing, and is neither used nor dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "align_impl.h"
#include "base/array.h"
#include "base/blocks.h"
#include "base/map.h"
#include "base/order.h"
#include "base/text/strings.h"

#define MAX_INSERTED 16u /* parts */
#define MAX_MOVES    16u /* of a part, on average, until it is nearly in order no more */

/* -- keys -------------------------------------------------------------------------------------- */

struct matcher {
	struct graph *graph;
	const struct identity *identity;
	struct map families; /* op string -> family */
	struct map sets;     /* (group, family; ranks) -> set */
	struct map events;   /* (set, number) -> event */
	uint32_t n_sets;
	struct { /* most points are of the event of the one before */
		uint64_t a, who, seq;
		uint32_t event;
		bool is_known;
	} last;
};

struct sync_key {
	uint64_t who; /* which ranks; 0 = the whole group */
	enum op_family family;
	enum part_role role;
};

static int find_family(struct matcher *matcher, uint32_t op, enum op_family *ret_family)
{
	uint32_t family = map_find(&matcher->families, op, 0);

	if (family == MAP_NONE) {
		family = sync_op_family(string_get(matcher->identity->strings, op));
		FLEXTRACE_TRY(map_put(&matcher->families, op, 0, family));
	}
	*ret_family = (enum op_family)family;
	return FLEXTRACE_OK;
}

static struct sync_key key_of_rooted(enum op_family family, int32_t self, int32_t named)
{
	bool is_root = named < 0, is_outward = family == OP_BROADCAST || family == OP_SCATTER;
	int32_t root = is_root ? self : named;

	if (root < 0)
		return (struct sync_key){.family = OP_OTHER};
	return (struct sync_key){(uint64_t)root + 1, family,
	                         is_root == is_outward ? PART_BEFORE : PART_AFTER};
}

static struct sync_key key_of_message(enum op_family family, int32_t self, int32_t named)
{
	bool is_send = family == OP_SEND;
	uint64_t from = (uint32_t)(is_send ? self : named), to = (uint32_t)(is_send ? named : self);

	/* Without both ranks, only a message alone in its group and number can be matched. */
	return (struct sync_key){self < 0 || named < 0 ? UINT64_MAX : from << 32 | to, OP_SEND,
	                         is_send ? PART_BEFORE : PART_AFTER};
}

static struct sync_key key_of(const struct matcher *matcher, const struct sync_point *point,
                              enum op_family family)
{
	int32_t self = matcher->identity->processes[point->process].rank, only = -1;
	uint64_t sum = 0;

	if (point->peers && family != OP_OTHER)
		sync_op_peers(string_get(matcher->identity->strings, point->peers), self, &only,
		              &sum);
	if (family >= OP_SEND)
		return key_of_message(family, self, only);
	if (family >= OP_BROADCAST)
		return key_of_rooted(family, self, only);
	return (struct sync_key){self < 0 ? 0 : sum, family, PART_BOTH};
}

static int find_event(struct matcher *matcher, const struct sync_point *point,
                      const struct sync_key *key, uint32_t *ret_event)
{
	uint64_t a = (uint64_t)point->group << 32 | key->family;
	uint32_t set;

	*ret_event = matcher->last.event;
	if (matcher->last.is_known && matcher->last.a == a && matcher->last.who == key->who &&
	    matcher->last.seq == point->seq)
		return FLEXTRACE_OK;
	set = map_find(&matcher->sets, a, key->who);
	if (set == MAP_NONE) {
		set = matcher->n_sets++;
		FLEXTRACE_TRY(map_put(&matcher->sets, a, key->who, set));
	}
	*ret_event = map_find(&matcher->events, set, point->seq);
	if (*ret_event == MAP_NONE) {
		*ret_event = matcher->graph->n_events++;
		FLEXTRACE_TRY(map_put(&matcher->events, set, point->seq, *ret_event));
	}
	matcher->last.a = a;
	matcher->last.who = key->who;
	matcher->last.seq = point->seq;
	matcher->last.event = *ret_event;
	matcher->last.is_known = true;
	return FLEXTRACE_OK;
}

/* -- parts ------------------------------------------------------------------------------------- */

/* A part needs the stamps of its role, in order; one that has only one of two keeps that role. */
static bool make_part(const struct sync_point *point, enum part_role role, struct part *ret_part)
{
	bool has_enter = point->enter_host_ns != INT64_MIN;
	bool has_exit = point->exit_host_ns != INT64_MAX;

	if (has_enter && has_exit && point->exit_host_ns < point->enter_host_ns)
		return false;
	if (!has_enter)
		role &= PART_AFTER;
	if (!has_exit)
		role &= PART_BEFORE;
	*ret_part = (struct part){
		.enter_ns = point->enter_host_ns,
		.exit_ns = point->exit_host_ns,
		.process = point->process,
		.enter_knot = FLEXTRACE_NONE,
		.exit_knot = FLEXTRACE_NONE,
		.role = (uint8_t)role,
	};
	return role != 0;
}

static int take_point(struct matcher *matcher, const struct sync_point *point)
{
	struct graph *graph = matcher->graph;
	const struct process *process = &matcher->identity->processes[point->process];
	enum op_family family;
	struct sync_key key;
	struct part part;

	if (process->is_excluded)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_family(matcher, point->op, &family));
	key = key_of(matcher, point, family);
	if (key.family == OP_OTHER)
		return FLEXTRACE_OK;
	if (!make_part(point, key.role, &part)) {
		graph->unmatched[point->process]++;
		return FLEXTRACE_OK;
	}
	part.clock = process->host_clock;
	part.is_message = family >= OP_SEND;
	graph->has_assumed = graph->has_assumed || point->is_assumed;
	FLEXTRACE_TRY(find_event(matcher, point, &key, &part.event));
	graph->parts[graph->n_parts++] = part;
	return FLEXTRACE_OK;
}

/* -- grouping ---------------------------------------------------------------------------------- */

/* A process that was started again takes part as the same rank. */
static uint64_t participant(const struct identity *identity, const struct part *part)
{
	int32_t rank = identity->processes[part->process].rank;

	return rank >= 0 ? (uint64_t)rank : UINT64_C(1) << 32 | part->process;
}

static int compare_parts(const void *left, const void *right, void *context)
{
	const struct identity *identity = context;
	const struct part *a = left, *b = right;
	uint64_t who_a = participant(identity, a), who_b = participant(identity, b);

	return ORDER(who_a, who_b) ?: ORDER(part_ns(a), part_ns(b)) ?:
	       ORDER(a->process, b->process);
}

static bool is_sorted(const struct part *parts, uint32_t n, void *context)
{
	for (uint32_t i = 1; i < n; i++) {
		if (compare_parts(&parts[i - 1], &parts[i], context) > 0)
			return false;
	}
	return true;
}

static void sort_parts(struct part *parts, uint32_t n, const struct identity *identity)
{
	void *context = (void *)(uintptr_t)identity;

	if (n > MAX_INSERTED) {
		if (is_sorted(parts, n, context))
			return;
		qsort_r(parts, n, sizeof(*parts), compare_parts, context);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct part part = parts[i];
		uint32_t to = i;

		for (; to > 0 && compare_parts(&parts[to - 1], &part, context) > 0; to--)
			parts[to] = parts[to - 1];
		parts[to] = part;
	}
}

/* Sorts parts by event; stores where each begins. */
static int group_parts(struct graph *graph)
{
	uint32_t *first = calloc(graph->n_events + 2ull, sizeof(*first));
	struct part *sorted = blocks_allocate(graph->n_parts, sizeof(*sorted));

	if (!first || !sorted) {
		free(first);
		blocks_free(sorted);
		return FLEXTRACE_E_MEMORY;
	}
	for (uint32_t i = 0; i < graph->n_parts; i++)
		first[graph->parts[i].event + 2]++;
	for (uint32_t i = 2; i <= graph->n_events + 1; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < graph->n_parts; i++)
		sorted[first[graph->parts[i].event + 1]++] = graph->parts[i];
	blocks_free(graph->parts);
	graph->parts = sorted;
	graph->first_part = first;
	return FLEXTRACE_OK;
}

/* How many of the first parts are of one participant; 0: they are on several clocks. */
static uint32_t count_uses(const struct identity *identity, const struct part *parts, uint32_t n,
                           uint32_t *ret_rounds)
{
	uint32_t end = 1;
	bool is_one_clock = true;

	for (; end < n && participant(identity, &parts[end]) == participant(identity, parts); end++)
		is_one_clock = is_one_clock && parts[end].clock == parts->clock;
	*ret_rounds = is_one_clock ? end : 0;
	return end;
}

static int compare_numbers(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return ORDER(*a, *b);
}

/* How often most participants took part; of equally frequent numbers the largest. Participants
 * that lack some uses are left out, and the others stay. */
static int choose_rounds(const struct identity *identity, const struct part *parts, uint32_t n,
                         uint32_t *ret_rounds)
{
	uint32_t *rounds = NULL, n_rounds = 0, n_best = 0;

	for (uint32_t at = 0; at < n; n_rounds++) {
		if (array_make_room(&rounds, n_rounds, sizeof(*rounds)) < 0) {
			free(rounds);
			return FLEXTRACE_E_MEMORY;
		}
		at += count_uses(identity, parts + at, n - at, &rounds[n_rounds]);
	}
	ORDER_ARRAY(rounds, n_rounds, compare_numbers);
	for (uint32_t first = 0, end; first < n_rounds; first = end) {
		for (end = first + 1; end < n_rounds && rounds[end] == rounds[first];)
			end++;
		if (end - first < n_best || !rounds[first])
			continue;
		*ret_rounds = rounds[first];
		n_best = end - first;
	}
	free(rounds);
	return FLEXTRACE_OK;
}

/* Whether all took part equally often; stores how often. */
static bool is_even(const struct identity *identity, const struct part *parts, uint32_t n,
                    uint32_t *ret_rounds)
{
	uint32_t rounds;

	count_uses(identity, parts, n, ret_rounds);
	for (uint32_t at = 0; at < n;) {
		at += count_uses(identity, parts + at, n - at, &rounds);
		if (rounds != *ret_rounds || !rounds)
			return false;
	}
	return true;
}

/* Whether parts say something about two clocks. */
static bool ties_clocks(const struct part *parts, uint32_t n)
{
	uint32_t before = FLEXTRACE_NONE, after = FLEXTRACE_NONE;
	bool has_two = false;

	for (uint32_t i = 0; i < n; i++) {
		has_two = has_two || parts[i].clock != parts[0].clock;
		if (parts[i].role & PART_BEFORE)
			before = i;
		if (parts[i].role & PART_AFTER)
			after = i;
	}
	return has_two && before != FLEXTRACE_NONE && after != FLEXTRACE_NONE;
}

static void leave_out(struct graph *graph, const struct part *parts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		graph->unmatched[parts[i].process]++;
}

/* Removes participants that took part another number of times than most. Stores that number of
 * times, and how many parts are left. */
static int even_out(struct graph *graph, const struct identity *identity, struct part *parts,
                    uint32_t *n_parts, uint32_t *ret_rounds)
{
	uint32_t n = *n_parts, n_left = 0, rounds, n_uses;

	if (is_even(identity, parts, n, ret_rounds))
		return FLEXTRACE_OK;
	*ret_rounds = 0;
	FLEXTRACE_TRY(choose_rounds(identity, parts, n, ret_rounds));
	for (uint32_t at = 0; at < n; at += n_uses) {
		n_uses = count_uses(identity, parts + at, n - at, &rounds);
		if (rounds != *ret_rounds || !rounds) {
			leave_out(graph, parts + at, n_uses);
			continue;
		}
		memmove(parts + n_left, parts + at, n_uses * sizeof(*parts));
		n_left += n_uses;
	}
	*n_parts = n_left;
	return FLEXTRACE_OK;
}

struct keeping {
	struct graph *graph; /* weak, both */
	const struct identity *identity;
	struct part *kept; /* owned until it is the graph's, both */
	uint32_t *first;
	uint32_t n_kept, n; /* parts, events */
};

/* A message has one sender and one receiver, which a whole rank set or number that was used twice
 * may not give. */
static int keep_event(struct keeping *keeping, struct part *parts, uint32_t n_parts)
{
	uint32_t n_rounds;

	sort_parts(parts, n_parts, keeping->identity);
	if (!ties_clocks(parts, n_parts))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(even_out(keeping->graph, keeping->identity, parts, &n_parts, &n_rounds));
	if (!ties_clocks(parts, n_parts) || (parts->is_message && n_parts != 2 * n_rounds))
		n_rounds = 0;
	if (n_rounds == 0)
		leave_out(keeping->graph, parts, n_parts);
	for (uint32_t round = 0; round < n_rounds; round++) {
		keeping->first[keeping->n] = keeping->n_kept;
		for (uint32_t i = round; i < n_parts; i += n_rounds) {
			keeping->kept[keeping->n_kept] = parts[i];
			keeping->kept[keeping->n_kept++].event = keeping->n;
		}
		keeping->n++;
	}
	return FLEXTRACE_OK;
}

/* Keeps what ties clocks: events are renumbered in place. */
static int keep_events(struct graph *graph, const struct identity *identity, uint32_t n_events)
{
	struct keeping keeping = {
		.graph = graph,
		.identity = identity,
		.kept = blocks_allocate(graph->n_parts, sizeof(struct part)),
		.first = malloc((graph->n_parts + 2ull) * sizeof(uint32_t)),
	};
	int code = keeping.kept && keeping.first ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	for (uint32_t event = 0; event < n_events && code >= 0; event++) {
		uint32_t first = graph->first_part[event];

		code = keep_event(&keeping, &graph->parts[first],
		                  graph->first_part[event + 1] - first);
	}
	if (code < 0) {
		blocks_free(keeping.kept);
		free(keeping.first);
		return code;
	}
	keeping.first[keeping.n] = keeping.n_kept;
	blocks_free(graph->parts);
	free(graph->first_part);
	graph->parts = keeping.kept;
	graph->first_part = keeping.first;
	graph->n_parts = keeping.n_kept;
	graph->n_events = keeping.n;
	return FLEXTRACE_OK;
}

/* -- by clock ---------------------------------------------------------------------------------- */

static int compare_times(const void *left, const void *right, void *context)
{
	const struct part *parts = context;
	const struct part *a = &parts[*(const uint32_t *)left],
			  *b = &parts[*(const uint32_t *)right];

	return ORDER(part_ns(a), part_ns(b)) ?: ORDER(a, b);
}

/* Most are in order already, or nearly. */
static void sort_clock(struct graph *graph, uint32_t clock)
{
	uint32_t *parts = &graph->by_clock[graph->first_of[clock]];
	uint32_t n = graph->first_of[clock + 1] - graph->first_of[clock];
	uint64_t n_moves = 0;

	for (uint32_t i = 1; i < n; i++) {
		uint32_t part = parts[i], to = i;

		for (; to > 0 && compare_times(&parts[to - 1], &part, graph->parts) > 0; to--)
			parts[to] = parts[to - 1];
		parts[to] = part;
		n_moves += i - to;
		if (n_moves > MAX_MOVES * (uint64_t)n) {
			qsort_r(parts, n, sizeof(*parts), compare_times, graph->parts);
			return;
		}
	}
}

static int sort_by_clock(struct graph *graph)
{
	FLEXTRACE_TRY(BLOCKS_NEW(graph->by_clock, graph->n_parts));
	FLEXTRACE_TRY(ARRAY_NEW(graph->first_of, graph->n_clocks + 2ull));
	for (uint32_t i = 0; i < graph->n_parts; i++)
		graph->first_of[graph->parts[i].clock + 2]++;
	for (uint32_t clock = 1; clock <= graph->n_clocks; clock++)
		graph->first_of[clock + 1] += graph->first_of[clock];
	for (uint32_t i = 0; i < graph->n_parts; i++)
		graph->by_clock[graph->first_of[graph->parts[i].clock + 1]++] = i;
	for (uint32_t clock = 0; clock < graph->n_clocks; clock++)
		sort_clock(graph, clock);
	return FLEXTRACE_OK;
}

static void count_most(struct graph *graph)
{
	graph->n_most = 0;
	for (uint32_t i = 0; i < graph->n_events; i++) {
		uint32_t n = graph->first_part[i + 1] - graph->first_part[i];

		graph->n_most = n > graph->n_most ? n : graph->n_most;
	}
	for (uint32_t i = 0; i < graph->n_clocks; i++) {
		uint32_t n = graph->first_of[i + 1] - graph->first_of[i];

		graph->n_most = n > graph->n_most ? n : graph->n_most;
	}
}

/* -- the sentence ------------------------------------------------------------------------------ */

static int match(struct matcher *matcher, struct table *sync_points)
{
	TABLE_EACH(struct sync_point, point, sync_points)
		FLEXTRACE_TRY(take_point(matcher, point));
	return FLEXTRACE_OK;
}

int graph_init(struct graph *graph, const struct identity *identity, struct table *sync_points,
               uint32_t reference)
{
	struct matcher matcher = {.graph = graph, .identity = identity};
	int code;

	*graph = (struct graph){.n_clocks = identity->n_host_clocks};
	FLEXTRACE_TRY(ARRAY_NEW(graph->unmatched, identity->n_processes + 1ull));
	FLEXTRACE_TRY(BLOCKS_NEW(graph->parts, sync_points->n_rows));
	code = match(&matcher, sync_points);
	map_release(&matcher.families);
	map_release(&matcher.sets);
	map_release(&matcher.events);
	FLEXTRACE_TRY(code);
	FLEXTRACE_TRY(group_parts(graph));
	FLEXTRACE_TRY(keep_events(graph, identity, graph->n_events));
	FLEXTRACE_TRY(sort_by_clock(graph));
	count_most(graph);
	return graph_find_components(graph, identity, reference);
}

void graph_release(struct graph *graph)
{
	blocks_free(graph->parts);
	free(graph->first_part);
	blocks_free(graph->by_clock);
	free(graph->first_of);
	free(graph->unmatched);
	free(graph->component);
	free(graph->root);
	free(graph->order);
	*graph = (struct graph){0};
}
