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

struct launch_sums { /* of a group of `delays` */
	uint64_t calls, launches, works, without_launch, before_return, early, beyond_error;
	int64_t delay_ns, queue_ns;
};

enum { ONE_NAME, ALL_NAMES }; /* kinds of groups */

struct launches {
	const struct findings *findings; /* weak */
	struct stats delays;             /* as they are, but for their sign: see to_unsigned() */
	struct launch_sums *sums;        /* owned: by place in `delays` */
	uint32_t n_sums;
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

static int add(struct launches *launches, const struct group_key *key,
               const struct launch_sums *one)
{
	struct launch_sums *sums;
	uint32_t place;

	FLEXTRACE_TRY(name_groups_find(&launches->delays.groups, key, &place));
	if (one->works)
		FLEXTRACE_TRY(
			stats_count(&launches->delays, key, to_unsigned(one->delay_ns), &place));
	FLEXTRACE_TRY(ARRAY_RESERVE(launches->sums, launches->n_sums, place + 1ull));
	sums = &launches->sums[place];
	sums->calls += one->calls;
	sums->launches += one->launches;
	sums->works += one->works;
	sums->without_launch += one->without_launch;
	sums->before_return += one->before_return;
	sums->early += one->early;
	sums->beyond_error += one->beyond_error;
	sums->delay_ns += one->delay_ns;
	sums->queue_ns += one->queue_ns;
	return FLEXTRACE_OK;
}

static int take(void *context, const struct launched *launched)
{
	struct launches *launches = context;
	const struct host_row *call = launched->call;
	const struct owners *owners = launches->findings->owners;
	uint32_t n = owners->identity->n_processes;
	struct launch_sums one = {.without_launch = !call};

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
	/* of the process, and of all where there are several */
	for (int i = 0; i < (n > 1 ? 2 : 1); i++) {
		uint32_t owner = i ? n : owners->positions[launched->process];

		FLEXTRACE_TRY(add(launches, &(struct group_key){owner, 0, ALL_NAMES}, &one));
		if (call)
			FLEXTRACE_TRY(add(launches,
			                  &(struct group_key){owner, call->name, ONE_NAME}, &one));
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

/* The nearest integer, as all means are. */
static int64_t mean_of(int64_t total, uint64_t calls)
{
	int64_t n = (int64_t)calls, raised = total + n / 2;

	return raised / n - (raised % n < 0);
}

static void put(struct launches *launches, const struct stats_group *group, uint32_t place,
                struct row_sink *sink)
{
	const struct owners *owners = launches->findings->owners;
	struct launch_row row = {
		.process = FLEXTRACE_NONE, .name = group->key.name, .of = launches->sums[place]};
	struct spread spread;

	if (group->key.owner < owners->identity->n_processes)
		row.process = owners->processes[group->key.owner];
	row.without_work = row.of.calls - row.of.launches;
	row.mean_ns = row.median_ns = row.min_ns = row.max_ns = row.mean_queue_ns = COLUMN_NONE_I64;
	if (row.of.works) {
		stats_spread(&launches->delays, group, &spread);
		row.mean_ns = mean_of(row.of.delay_ns, row.of.works);
		row.median_ns = to_signed(spread.median);
		row.min_ns = to_signed(spread.min);
		row.max_ns = to_signed(spread.max);
		row.mean_queue_ns = mean_of(row.of.queue_ns, row.of.works);
	}
	row_put(sink, &row);
}

static const char *group_label(uint8_t kind)
{
	return kind == ALL_NAMES ? "" : "name";
}

/* All of an owner first, then the largest total; places are in order of first rows. */
static int compare_groups(const void *left, const void *right, void *context)
{
	struct launches *launches = context;
	const uint32_t *places[2] = {left, right};
	const struct group_key *a = name_groups_at(&launches->delays.groups, *places[0]);
	const struct group_key *b = name_groups_at(&launches->delays.groups, *places[1]);

	return ORDER(a->owner, b->owner) ?: ORDER(b->kind, a->kind) ?:
	       ORDER(launches->sums[*places[1]].delay_ns, launches->sums[*places[0]].delay_ns) ?:
	       string_compare(launches->delays.strings, a->name, b->name) ?:
	       ORDER(*places[0], *places[1]);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	const struct timeline *timeline = findings->timeline;
	struct launches launches = {.findings = findings};
	struct stats *delays = &launches.delays;
	int code;

	stats_init(delays, timeline->strings, group_label,
	           4 * (timeline->host_rows.n_rows + timeline->n_ops));
	code = launched_read(timeline, take, &launches);
	if (code == FLEXTRACE_OK)
		code = stats_finish(delays);
	if (code == FLEXTRACE_OK)
		qsort_r(delays->groups.order, delays->groups.n, sizeof(*delays->groups.order),
		        compare_groups, &launches);
	for (uint32_t i = 0; code == FLEXTRACE_OK && i < delays->groups.n; i++)
		put(&launches, stats_line(delays, i), delays->groups.order[i], sink);
	stats_release(delays);
	free(launches.sums);
	return code;
}

const struct analysis analysis_launches =
	ANALYSIS_CSV("launches", columns, fill, .title = "Launches",
                     .what = "From the begin of the host call to the start of what it launched, "
                             "by name. Below 0 a clock is wrong.");
