/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.csv: how long device work took to begin after the host calls that launched it, by name
 * of the call. A delay below zero is an error of the clocks and is shown as it is.
 */
#include <stdlib.h>

#include "../analysis_impl.h"
#include "base/array.h"
#include "base/order.h"
#include "findings/work/launched.h"

struct launch_sums { /* of a group */
	uint64_t calls, launches, works, without_launch, before_return, early, beyond_error;
	int64_t delay_ns, queue_ns;
};

enum { ONE_NAME, ALL_NAMES }; /* kinds of groups */

struct launch_groups {
	struct stats delays;      /* as they are, but for their sign: see to_unsigned() */
	struct launch_sums *sums; /* owned: by place in `delays` */
	uint32_t n_sums;
};

struct launches {
	const struct owners *owners;  /* weak */
	struct launch_groups counted; /* by process and name, each call and work once */
	struct launch_groups shown;   /* and what these are in all */
};

/* -- calls and works --------------------------------------------------------------------------- */

/* In the same order, and back: `delays` are of what is not below zero. */
static uint64_t to_unsigned(int64_t delay_ns)
{
	return (uint64_t)delay_ns ^ 1ull << 63;
}

static int64_t to_signed(uint64_t delay)
{
	return (int64_t)(delay ^ 1ull << 63);
}

static int add(struct launch_groups *groups, uint32_t place, const struct launch_sums *by)
{
	struct launch_sums *sums;

	FLEXTRACE_TRY(ARRAY_RESERVE(groups->sums, groups->n_sums, place + 1ull));
	sums = &groups->sums[place];
	sums->calls += by->calls;
	sums->launches += by->launches;
	sums->works += by->works;
	sums->without_launch += by->without_launch;
	sums->before_return += by->before_return;
	sums->early += by->early;
	sums->beyond_error += by->beyond_error;
	sums->delay_ns += by->delay_ns;
	sums->queue_ns += by->queue_ns;
	return FLEXTRACE_OK;
}

static int take(void *context, const struct launched *launched)
{
	struct launches *launches = context;
	const struct host_row *call = launched->call;
	struct group_key key = {.owner = launches->owners->positions[launched->process],
	                        .name = call ? call->name : 0,
	                        .kind = call ? ONE_NAME : ALL_NAMES};
	struct launch_sums one = {.without_launch = !call};
	uint32_t place;

	one.calls = call && (launched->is_first || !launched->work);
	if (call && launched->work) {
		one.works = 1;
		one.launches = launched->is_first;
		one.delay_ns = launched_delay_ns(launched);
		one.queue_ns = one.delay_ns -
		               (int64_t)interval_ns(call->start_time_ns, call->end_time_ns);
		one.before_return = one.queue_ns < 0;
		one.early = one.delay_ns < 0;
		one.beyond_error = one.early && launched->work->row->err_ns < -one.delay_ns;
	}
	FLEXTRACE_TRY(name_groups_find(&launches->counted.delays.groups, &key, &place));
	if (one.works)
		FLEXTRACE_TRY(stats_count_at(&launches->counted.delays, place,
		                             to_unsigned(one.delay_ns)));
	return add(&launches->counted, place, &one);
}

/* Adds a counted group to one that is shown. */
static int show(struct launches *launches, uint32_t from, uint32_t owner, uint8_t kind)
{
	struct stats *counted = &launches->counted.delays;
	const struct stats_group *group = name_groups_at(&counted->groups, from);
	struct group_key key = {.owner = owner, .kind = kind};
	uint32_t place;

	key.name = kind == ONE_NAME ? group->key.name : 0;
	FLEXTRACE_TRY(stats_join(&launches->shown.delays, &key, counted, group, &place));
	return add(&launches->shown, place, &launches->counted.sums[from]);
}

/* Of each process, and of all where there are several. */
static int show_all(struct launches *launches)
{
	const struct name_groups *groups = &launches->counted.delays.groups;
	uint32_t n_processes = launches->owners->identity->n_processes;
	bool is_of_many = false;

	for (uint32_t i = 1; i < groups->n; i++)
		is_of_many |= ((struct group_key *)name_groups_at(groups, i))->owner !=
		              ((struct group_key *)name_groups_at(groups, 0))->owner;
	for (uint32_t i = 0; i < groups->n; i++) {
		const struct group_key *key = name_groups_at(groups, i);

		for (int all = 0; all < (is_of_many ? 2 : 1); all++) {
			uint32_t owner = all ? n_processes : key->owner;

			FLEXTRACE_TRY(show(launches, i, owner, ALL_NAMES));
			if (key->kind == ONE_NAME)
				FLEXTRACE_TRY(show(launches, i, owner, ONE_NAME));
		}
	}
	return FLEXTRACE_OK;
}

/* -- rows -------------------------------------------------------------------------------------- */

struct launch_row {
	uint32_t process, name; /* the latter a string */
	struct launch_sums of;
	uint64_t without_work;
	int64_t mean_ns, median_ns, min_ns, max_ns, mean_queue_ns; /* or COLUMN_NONE_I64 */
};

#define SUM(member) COLUMN_AS(#member, struct launch_row, of.member)

static const struct column columns[] = {
	COLUMNS_PROCESS(struct launch_row, process),
	COLUMN_STRING("name", struct launch_row, name),
	SUM(calls),
	SUM(launches),
	COLUMN(struct launch_row, without_work),
	SUM(works),
	SUM(without_launch),
	COLUMN_AS("total_ns", struct launch_row, of.delay_ns),
	COLUMN_OPTIONAL(struct launch_row, mean_ns),
	COLUMN_OPTIONAL(struct launch_row, median_ns),
	COLUMN_OPTIONAL(struct launch_row, min_ns),
	COLUMN_OPTIONAL(struct launch_row, max_ns),
	COLUMN_OPTIONAL(struct launch_row, mean_queue_ns),
	SUM(before_return),
	SUM(early),
	COLUMN_AS("early_beyond_err", struct launch_row, of.beyond_error),
};

static void put(struct launches *launches, uint32_t place, struct row_sink *sink)
{
	const struct owners *owners = launches->owners;
	struct stats *delays = &launches->shown.delays;
	const struct stats_group *group = name_groups_at(&delays->groups, place);
	struct launch_row row = {.process = FLEXTRACE_NONE,
	                         .name = group->key.name,
	                         .of = launches->shown.sums[place]};
	struct spread spread;

	if (group->key.owner < owners->identity->n_processes)
		row.process = owners->processes[group->key.owner];
	row.without_work = row.of.calls - row.of.launches;
	row.mean_ns = row.median_ns = row.min_ns = row.max_ns = row.mean_queue_ns = COLUMN_NONE_I64;
	if (row.of.works) {
		stats_spread(delays, group, &spread);
		row.mean_ns = spread_mean(row.of.delay_ns, row.of.works);
		row.median_ns = to_signed(spread.median);
		row.min_ns = to_signed(spread.min);
		row.max_ns = to_signed(spread.max);
		row.mean_queue_ns = spread_mean(row.of.queue_ns, row.of.works);
	}
	row_put(sink, &row);
}

static const char *group_label(uint32_t kind)
{
	return kind == ALL_NAMES ? "" : "name";
}

/* All of an owner first, then the largest total; places are in order of first rows. */
static int compare_groups(const void *left, const void *right, void *context)
{
	const struct launch_groups *shown = context;
	const uint32_t *places[2] = {left, right};
	const struct group_key *a = name_groups_at(&shown->delays.groups, *places[0]);
	const struct group_key *b = name_groups_at(&shown->delays.groups, *places[1]);

	return ORDER(a->owner, b->owner) ?: ORDER(b->kind, a->kind) ?:
	       ORDER(shown->sums[*places[1]].delay_ns, shown->sums[*places[0]].delay_ns) ?:
	       string_compare(shown->delays.strings, a->name, b->name) ?:
	       ORDER(*places[0], *places[1]);
}

static int make(struct launches *launches, const struct findings *findings)
{
	struct name_groups *groups = &launches->shown.delays.groups;

	FLEXTRACE_TRY(launched_read(findings, true, take, launches));
	FLEXTRACE_TRY(stats_finish(&launches->counted.delays));
	FLEXTRACE_TRY(show_all(launches));
	FLEXTRACE_TRY(stats_finish(&launches->shown.delays));
	qsort_r(groups->order, groups->n, sizeof(*groups->order), compare_groups, &launches->shown);
	return FLEXTRACE_OK;
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	struct launches launches = {.owners = findings->owners};
	struct launch_groups *counted = &launches.counted, *shown = &launches.shown;
	uint64_t most = timeline->host_rows.n_rows + timeline->n_ops;
	int code;

	stats_init(&counted->delays, timeline->strings, group_label, most);
	stats_init(&shown->delays, timeline->strings, group_label, 4 * most);
	code = make(&launches, findings);
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < shown->delays.groups.n; i++)
		put(&launches, shown->delays.groups.order[i], sink);
	stats_release(&counted->delays);
	stats_release(&shown->delays);
	free(counted->sums);
	free(shown->sums);
	return code;
}

const struct analysis analysis_launches =
	ANALYSIS_CSV("launches", columns, fill, .title = "Launches",
                     .what = "From the begin of the host call to the start of what it launched, "
                             "by name. Below 0 a clock is wrong.");
