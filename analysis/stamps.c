/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamps.csv: how long the parts of a kernel's control block take by the device's own counter:
 * TS2 - TS1 and so on. Cycles are those of the stamps; ns are cycles at the rate of their counter
 * and segment in clocks.csv, each rounded, so that neither drift of a clock nor the joint of two
 * segments is in them. Memory: 8 bytes per control block, 56 per call of the most called kernel,
 * 20 per kernel and 8 to 16 more to find and to sort them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis_impl.h"
#include "base/array.h"
#include "base/order.h"
#include "base/blocks.h"
#include "findings/statistics/name_groups.h"
#include "model/clocks.h"

#define N_DIFFERENCES (FLEXTRACE_N_STAMPS - 1)
#define AHEAD         8u /* calls */
#define NO_CYCLES     UINT64_MAX

struct stamp_group {          /* the calls of a kernel on a device */
	struct group_key key; /* owner: index of struct device */
	uint32_t first;       /* of its calls */
	uint32_t n_calls;
};

struct stamp_call {
	uint64_t cycles[N_DIFFERENCES]; /* NO_CYCLES = it has none */
	double rate_mhz;                /* NAN = not known */
};

struct stamps {
	const struct timeline *timeline; /* weak, both */
	const struct owners *owners;
	struct name_groups groups; /* struct stamp_group */
	uint32_t *group_of;        /* owned, by op: place + 1 of its group; 0 = none */
	uint32_t *ops;             /* owned: the calls of each group together, the last one first */
	struct stamp_call *calls;  /* owned: of one group */
	uint64_t *cycles, *times_ns; /* owned: a difference of these */
};

/* -- collecting ----------------------------------------------------------------------------- */

static struct stamp_group *group_at(const struct stamps *stamps, uint32_t place)
{
	return name_groups_at(&stamps->groups, place);
}

static bool is_part(const struct device_row *row)
{
	return row->kind <= ROW_DMA_OUT;
}

/* Each call once, whichever of its rows there are. */
static int count_calls(struct stamps *stamps)
{
	const struct timeline *timeline = stamps->timeline;
	uint32_t place;

	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		const struct tick_op *op = &timeline->ops[row->source];

		if (!is_part(row) || stamps->group_of[row->source])
			continue;
		FLEXTRACE_TRY(name_groups_find(
			&stamps->groups, &(struct group_key){op->device, op->name, 0, 0}, &place));
		stamps->group_of[row->source] = place + 1;
		group_at(stamps, place)->n_calls++;
	}
	return FLEXTRACE_OK;
}

/* The same once more: now it is known where those of a group go. */
static void list_calls(struct stamps *stamps)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < stamps->groups.n; i++) {
		end += group_at(stamps, i)->n_calls;
		group_at(stamps, i)->first = end;
	}
	TABLE_EACH(struct device_row, row, timeline_op_rows(stamps->timeline)) {
		uint32_t place = is_part(row) ? stamps->group_of[row->source] : 0;

		if (!place)
			continue;
		stamps->group_of[row->source] = 0;
		stamps->ops[--group_at(stamps, place - 1)->first] = row->source;
	}
	blocks_free(stamps->group_of);
	stamps->group_of = NULL;
}

static int collect(struct stamps *stamps)
{
	uint64_t n = stamps->timeline->n_ops;

	name_groups_init(&stamps->groups, sizeof(struct stamp_group), n);
	FLEXTRACE_TRY(BLOCKS_NEW(stamps->group_of, n));
	memset(stamps->group_of, 0, n * sizeof(*stamps->group_of));
	FLEXTRACE_TRY(count_calls(stamps));
	FLEXTRACE_TRY(BLOCKS_NEW(stamps->ops, n));
	list_calls(stamps);
	return FLEXTRACE_OK;
}

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct stamps *stamps = context;
	const struct group_key *a = name_groups_at(&stamps->groups, *(const uint32_t *)left);
	const struct group_key *b = name_groups_at(&stamps->groups, *(const uint32_t *)right);
	const struct string_pool *strings = stamps->timeline->strings;
	const uint32_t *positions = stamps->owners->device_positions;

	return ORDER(positions[a->owner], positions[b->owner])
	               ?: string_compare(strings, a->name, b->name);
}

static int sort_groups(struct stamps *stamps)
{
	uint64_t most = 0;

	FLEXTRACE_TRY(name_groups_sort(&stamps->groups, compare_groups, stamps));
	for (uint32_t i = 0; i < stamps->groups.n; i++)
		most = group_at(stamps, i)->n_calls > most ? group_at(stamps, i)->n_calls : most;
	stamps->calls = blocks_allocate(most, sizeof(*stamps->calls));
	stamps->cycles = blocks_allocate(most, sizeof(*stamps->cycles));
	stamps->times_ns = blocks_allocate(most, sizeof(*stamps->times_ns));
	return stamps->calls && stamps->cycles && stamps->times_ns ? FLEXTRACE_OK
	                                                           : FLEXTRACE_E_MEMORY;
}

static void release(struct stamps *stamps)
{
	name_groups_release(&stamps->groups);
	blocks_free(stamps->group_of);
	blocks_free(stamps->ops);
	blocks_free(stamps->calls);
	blocks_free(stamps->cycles);
	blocks_free(stamps->times_ns);
}

/* -- differences ---------------------------------------------------------------------------- */

struct difference {
	uint64_t n, n_timed; /* calls that have it; of these, with a known rate */
};

static bool is_before(const void *report, const void *op)
{
	const struct clock_report *a = report;
	const struct tick_op *b = op;

	return a->counter != b->counter ? a->counter < b->counter : a->segment < b->segment;
}

/* Returns the rate that clocks.csv tells, NAN: not known. Its lines are sorted by counter and
 * segment. */
static double rate_of(const struct timeline *timeline, const struct tick_op *op)
{
	uint32_t n;
	const struct clock_report *reports = clocks_report(timeline->clocks, &n);
	uint32_t at = array_count_before(reports, n, sizeof(*reports), is_before, op);

	if (at == n || reports[at].counter != op->counter || reports[at].segment != op->segment)
		return NAN;
	return reports[at].freq_mhz;
}

/* A stamp that was not taken or runs backwards says nothing, and nobody knows what one of an
 * outlier says. */
static bool has_difference(const struct tick_op *op, int from)
{
	return op->status != TIME_OUTLIER && op->ticks[from] && op->ticks[from + 1] &&
	       op->ticks[from] <= op->ticks[from + 1];
}

/* Asks for a call that is to be looked at soon. */
static void ask_for(const struct stamps *stamps, const struct stamp_group *group, uint32_t at)
{
	const struct tick_op *op;

	if (at >= group->n_calls)
		return;
	op = &stamps->timeline->ops[stamps->ops[group->first + at]];
	__builtin_prefetch(op->ticks);
	__builtin_prefetch(&op->segment);
}

/* Looks at each call once: they lie far from each other. */
static void gather_calls(struct stamps *stamps, const struct stamp_group *group)
{
	const struct tick_op *last = NULL;
	double rate_mhz = NAN;

	for (uint32_t at = 0; at < group->n_calls; at++) {
		const struct tick_op *op = &stamps->timeline->ops[stamps->ops[group->first + at]];
		struct stamp_call *call = &stamps->calls[at];

		ask_for(stamps, group, at + AHEAD);
		if (!last || op->counter != last->counter || op->segment != last->segment)
			rate_mhz = rate_of(stamps->timeline, op);
		last = op;
		call->rate_mhz = rate_mhz;
		for (int i = 0; i < N_DIFFERENCES; i++)
			call->cycles[i] = has_difference(op, i) ? op->ticks[i + 1] - op->ticks[i]
			                                        : NO_CYCLES;
	}
}

static struct difference gather_difference(struct stamps *stamps, const struct stamp_group *group,
                                           int from)
{
	struct difference difference = {0, 0};

	for (uint64_t i = 0; i < group->n_calls; i++) {
		uint64_t cycles = stamps->calls[i].cycles[from];
		double rate_mhz = stamps->calls[i].rate_mhz;
		double time_ns = (double)cycles * 1000.0 / rate_mhz;

		if (cycles == NO_CYCLES)
			continue;
		stamps->cycles[difference.n++] = cycles;
		if (rate_mhz > 0 && time_ns < (double)INT64_MAX)
			stamps->times_ns[difference.n_timed++] = (uint64_t)(time_ns + 0.5);
	}
	return difference;
}

/* -- rows ----------------------------------------------------------------------------------- */

struct stamps_row {
	uint32_t device, name;
	const char *difference;
	uint64_t calls, missing;
	struct spread cycles, ns;
};

static const struct column columns[] = {
	COLUMNS_DEVICE(struct stamps_row, device),
	COLUMN_STRING("name", struct stamps_row, name),
	COLUMN(struct stamps_row, difference),
	COLUMN(struct stamps_row, calls),
	COLUMN(struct stamps_row, missing),
	COLUMNS_SPREAD(struct stamps_row, cycles, "_cycles"),
	COLUMNS_SPREAD(struct stamps_row, ns, "_ns"),
};

static struct spread spread_or_none(uint64_t *values, uint64_t n)
{
	struct spread spread = SPREAD_NONE;

	if (n)
		spread_of(values, n, &spread);
	return spread;
}

static void put_difference(struct stamps *stamps, const struct stamp_group *group, int from,
                           struct row_sink *sink)
{
	static const char *const names[] = {"TS2-TS1", "TS3-TS2", "TS4-TS3", "TS5-TS4"};
	struct difference difference = gather_difference(stamps, group, from);
	/* the spread of a part of the calls would be of other calls than that of their cycles */
	bool has_times = difference.n_timed == difference.n;

	row_put(sink, &(struct stamps_row){
			      .device = group->key.owner,
			      .name = group->key.name,
			      .difference = names[from],
			      .calls = difference.n,
			      .missing = group->n_calls - difference.n,
			      .cycles = spread_or_none(stamps->cycles, difference.n),
			      .ns = spread_or_none(stamps->times_ns, has_times ? difference.n : 0),
		      });
}

static void put_groups(struct stamps *stamps, struct row_sink *sink)
{
	for (uint32_t i = 0; i < stamps->groups.n; i++) {
		const struct stamp_group *group = name_groups_line(&stamps->groups, i);

		gather_calls(stamps, group);
		for (int from = 0; from < N_DIFFERENCES; from++)
			put_difference(stamps, group, from, sink);
	}
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct stamps stamps = {.timeline = findings->timeline, .owners = findings->owners};
	int code = collect(&stamps);

	if (code == FLEXTRACE_OK)
		code = sort_groups(&stamps);
	if (code == FLEXTRACE_OK)
		put_groups(&stamps, sink);
	release(&stamps);
	return code;
}

const struct analysis analysis_stamps =
	ANALYSIS_CSV("stamps", columns, fill, .title = "Parts of kernels",
                     .what = "How long it took from each stamp of a control block to the "
                             "next, by kernel, in cycles of the counter and in ns by its "
                             "rate.");
