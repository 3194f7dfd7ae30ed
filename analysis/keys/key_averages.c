/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_averages.csv: calls and device work by name, as torch's table of this name has them, whole
 * and by step and window; key_averages_shapes.csv: calls by the shapes of their inputs besides,
 * key_averages_stack.csv: by who called.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis_impl.h"
#include "base/order.h"
#include "call_costs.h"
#include "model/words/kinds.h"

#define N_WINDOWS (WINDOWS_MAX + 1) /* the first one is all */

enum key_detail { DETAIL_NONE, DETAIL_SHAPES, DETAIL_STACK };

struct key_averages {
	const struct findings *findings; /* weak, both */
	struct call_costs *costs;
	enum key_detail of;
	/* struct call_cost; owner: (process by rank, window, side); detail: shapes or stack */
	struct name_groups lines;
};

/* -- rows -------------------------------------------------------------------------------------- */

struct key_row {
	const char *side, *kind, *name, *detail;
	struct call_cost of;
	uint64_t host_mean_ns, device_mean_ns;
	double host_self_percent, host_total_percent, device_self_percent, device_total_percent;
	int64_t memory_self_bytes, memory_total_bytes;
	uint32_t window, process;
};

#define KEY_COST(member)    COLUMN_OPTIONAL_AS(#member, struct key_row, of.member)
#define KEY_COUNT(member)   COLUMN_AS(#member, struct key_row, of.member)
#define KEY_PERCENT(member) COLUMN_FIXED(struct key_row, member, 2)
#define KEY_NAMES                                                                      \
	COLUMN_TYPED("side", WORD, const char *, false, struct key_row, side),         \
		COLUMN_TYPED("kind", WORD, const char *, false, struct key_row, kind), \
		COLUMN(struct key_row, name)
#define KEY_FIGURES                                                                        \
	KEY_COUNT(calls), KEY_COST(host_self_ns), KEY_PERCENT(host_self_percent),          \
		KEY_COST(host_total_ns), KEY_PERCENT(host_total_percent),                  \
		COLUMN_OPTIONAL(struct key_row, host_mean_ns), KEY_COUNT(device_self_ns),  \
		KEY_PERCENT(device_self_percent), KEY_COUNT(device_total_ns),              \
		KEY_PERCENT(device_total_percent), COLUMN(struct key_row, device_mean_ns), \
		COLUMN_OPTIONAL(struct key_row, memory_self_bytes),                        \
		COLUMN_OPTIONAL(struct key_row, memory_total_bytes),                       \
		COLUMN_STRING("window", struct key_row, window),                           \
		COLUMNS_PROCESS(struct key_row, process)

static const struct column columns[] = {KEY_NAMES, KEY_FIGURES};
static const struct column shapes_columns[] = {
	KEY_NAMES, COLUMN_AS("input_shapes", struct key_row, detail), KEY_FIGURES};
static const struct column stack_columns[] = {KEY_NAMES, COLUMN_AS("stack", struct key_row, detail),
                                              KEY_FIGURES};

/* -- counting ---------------------------------------------------------------------------------- */

static uint32_t owner_of(uint32_t position, uint32_t window, enum side side)
{
	return (position * N_WINDOWS + window) * N_SIDES + side;
}

static int add(struct key_averages *keys, const struct group_key *key, const struct call_cost *more)
{
	struct call_cost *line;
	uint32_t place;

	FLEXTRACE_TRY(name_groups_find(&keys->lines, key, &place));
	line = name_groups_at(&keys->lines, place);
	line->calls += more->calls;
	line->host_self_ns += more->host_self_ns;
	line->host_total_ns += more->host_total_ns;
	line->device_self_ns += more->device_self_ns;
	line->device_total_ns += more->device_total_ns;
	line->memory_self_bytes += more->memory_self_bytes;
	line->memory_total_bytes += more->memory_total_bytes;
	return FLEXTRACE_OK;
}

struct where {
	uint32_t process, windows; /* the latter a set */
	enum side side;
};

/* Adds costs to the line over all windows, and to those of the windows that they are in. */
static int count(struct key_averages *keys, struct where where, struct group_key key,
                 const struct call_cost *more)
{
	const struct name_node *sets = keys->costs->windows.sets.nodes;
	uint32_t position = keys->findings->owners->positions[where.process];
	uint8_t dialect = keys->findings->timeline->identity->processes[where.process].dialect;

	key.kind = KIND_KEY(dialect, key.kind);
	key.owner = owner_of(position, 0, where.side);
	FLEXTRACE_TRY(add(keys, &key, more));
	for (uint32_t at = where.windows; at; at = sets[at].around) {
		key.owner = owner_of(position, sets[at].name, where.side);
		FLEXTRACE_TRY(add(keys, &key, more));
	}
	return FLEXTRACE_OK;
}

static int count_calls(struct key_averages *keys)
{
	const struct call_costs *costs = keys->costs;

	for (uint32_t i = 0; i < costs->calls.n; i++) {
		const struct call_cost *cost = name_groups_at(&costs->calls, i);
		const struct call_name *name = call_name_at(&costs->tree, cost->key.owner);
		struct group_key key = {0, name->key.name, name->key.kind, 0};

		if (keys->of != DETAIL_NONE)
			key.detail = keys->of == DETAIL_STACK ? cost->key.name : cost->key.detail;
		FLEXTRACE_TRY(count(keys,
		                    (struct where){name->key.owner, cost->key.kind, SIDE_HOST}, key,
		                    cost));
	}
	return FLEXTRACE_OK;
}

static int count_works(struct key_averages *keys)
{
	for (uint32_t i = 0; i < keys->costs->works.n; i++) {
		const struct call_cost *cost = name_groups_at(&keys->costs->works, i);
		struct where where = {cost->key.owner / N_SIDES, cost->key.detail,
		                      cost->key.owner % N_SIDES};

		if (where.side == SIDE_NO_LAUNCH || keys->of == DETAIL_NONE)
			FLEXTRACE_TRY(count(
				keys, where,
				(struct group_key){0, cost->key.name, cost->key.kind, 0}, cost));
	}
	return FLEXTRACE_OK;
}

/* Adds those of each process to those over all, where there are several. */
static int count_all(struct key_averages *keys)
{
	uint32_t n = keys->lines.n, n_processes = keys->findings->timeline->identity->n_processes;
	bool is_of_many = false;

	for (uint32_t i = 1; i < n; i++) {
		const struct call_cost *group = name_groups_at(&keys->lines, i);
		const struct call_cost *first = name_groups_at(&keys->lines, 0);

		is_of_many |= group->key.owner / (N_WINDOWS * N_SIDES) !=
		              first->key.owner / (N_WINDOWS * N_SIDES);
	}
	for (uint32_t i = 0; i < n && is_of_many; i++) {
		const struct call_cost more = *(struct call_cost *)name_groups_at(&keys->lines, i);
		struct group_key key = more.key;

		key.owner = owner_of(n_processes, 0, 0) + key.owner % (N_WINDOWS * N_SIDES);
		FLEXTRACE_TRY(add(keys, &key, &more));
	}
	return FLEXTRACE_OK;
}

/* -- lines ------------------------------------------------------------------------------------- */

static const char *kind_label(const struct call_cost *group)
{
	switch (group->key.owner % N_SIDES) {
	case SIDE_HOST:
		return kind_host_label(group->key.kind);
	case SIDE_DEVICE:
		return kind_device_label(group->key.kind);
	default:
		return "No launch";
	}
}

/* The largest first; places are in order of first rows. */
static int compare_groups(const void *left, const void *right, void *context)
{
	const struct key_averages *keys = context;
	const uint32_t *places[2] = {left, right};
	const struct call_cost *a = name_groups_at(&keys->lines, *places[0]);
	const struct call_cost *b = name_groups_at(&keys->lines, *places[1]);

	return ORDER(a->key.owner, b->key.owner) ?: ORDER(b->host_self_ns, a->host_self_ns) ?:
	       ORDER(b->device_self_ns, a->device_self_ns) ?:
	       ORDER(b->device_total_ns, a->device_total_ns) ?:
	       string_compare(keys->findings->timeline->strings, a->key.name, b->key.name) ?:
	       strcmp(kind_label(a), kind_label(b)) ?: ORDER(*places[0], *places[1]);
}

struct key_sums {
	uint32_t lines; /* whose they are: owner / N_SIDES */
	uint64_t host_ns, device_ns;
};

/* Own times of the lines from one on that are of the same process and window. */
static struct key_sums sum_of(const struct key_averages *keys, uint32_t line)
{
	const struct call_cost *group = name_groups_line(&keys->lines, line);
	struct key_sums sums = {.lines = group->key.owner / N_SIDES};

	for (; line < keys->lines.n; line++) {
		group = name_groups_line(&keys->lines, line);
		if (group->key.owner / N_SIDES != sums.lines)
			break;
		sums.host_ns += group->host_self_ns;
		if (group->key.owner % N_SIDES != SIDE_DEVICE)
			sums.device_ns += group->device_self_ns;
	}
	return sums;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : NAN;
}

static const char *detail_of(const struct key_averages *keys, uint32_t detail)
{
	if (!detail)
		return "";
	return keys->of == DETAIL_STACK ? key_details_stack(&keys->costs->details, detail)
	                                : key_details_shapes(&keys->costs->details, detail);
}

static struct key_row row_of(struct key_averages *keys, const struct call_cost *group,
                             const struct key_sums *sums)
{
	const struct timeline *timeline = keys->findings->timeline;
	uint32_t position = sums->lines / N_WINDOWS, window = sums->lines % N_WINDOWS;
	bool is_host = group->key.owner % N_SIDES == SIDE_HOST;
	struct key_row row = {
		.side = group->key.owner % N_SIDES == SIDE_DEVICE ? "device" : "host",
		.kind = kind_label(group),
		.name = string_get(timeline->strings, group->key.name),
		.detail = detail_of(keys, group->key.detail),
		.of = *group,
		.host_mean_ns = (uint64_t)spread_mean(group->host_total_ns, group->calls),
		.host_self_percent = percent(group->host_self_ns, sums->host_ns),
		.host_total_percent = percent(group->host_total_ns, sums->host_ns),
		.device_mean_ns = (uint64_t)spread_mean(group->device_total_ns, group->calls),
		.device_self_percent = percent(group->device_self_ns, sums->device_ns),
		.device_total_percent = percent(group->device_total_ns, sums->device_ns),
		.memory_self_bytes = (int64_t)group->memory_self_bytes,
		.memory_total_bytes = (int64_t)group->memory_total_bytes,
		.window = window ? keys->costs->windows.names[window] : 0,
		.process = position < timeline->identity->n_processes
	                           ? keys->findings->owners->processes[position]
	                           : FLEXTRACE_NONE,
	};

	if (!is_host) {
		row.of.host_self_ns = row.of.host_total_ns = COLUMN_NONE_U64;
		row.host_mean_ns = COLUMN_NONE_U64;
		row.host_self_percent = row.host_total_percent = NAN;
	}
	if (!is_host || !timeline->memory.n_rows)
		row.memory_self_bytes = row.memory_total_bytes = COLUMN_NONE_I64;
	return row;
}

static int put_lines(struct key_averages *keys, struct row_sink *sink)
{
	struct key_sums sums = {0};

	for (uint32_t i = 0; i < keys->lines.n; i++) {
		const struct call_cost *group = name_groups_line(&keys->lines, i);
		struct key_row row;

		if (i == 0 || sums.lines != group->key.owner / N_SIDES)
			sums = sum_of(keys, i);
		row = row_of(keys, group, &sums);
		if (!row.detail)
			return FLEXTRACE_E_MEMORY;
		row_put(sink, &row);
	}
	return FLEXTRACE_OK;
}

/* -- tables ------------------------------------------------------------------------------------ */

/* Whether the table has anything to tell its lines apart by. */
static bool is_told(const struct key_averages *keys)
{
	const struct key_details *details = &keys->costs->details;

	switch (keys->of) {
	case DETAIL_SHAPES:
		return details->has_shapes;
	case DETAIL_STACK:
		return details->shown.n > 0;
	default:
		return true;
	}
}

static int fill_of(const struct findings *findings, enum key_detail of, struct row_sink *sink)
{
	struct key_averages keys = {.findings = findings, .of = of};
	uint64_t max;
	int code;

	FLEXTRACE_TRY(call_costs_borrow(&keys.costs, findings));
	if (!is_told(&keys))
		return FLEXTRACE_OK;
	max = (keys.costs->calls.n + (uint64_t)keys.costs->works.n) *
	      (keys.costs->windows.n_most_open + 1);
	name_groups_init(&keys.lines, sizeof(struct call_cost), 2 * max);
	code = count_works(&keys);
	if (code == FLEXTRACE_OK)
		code = count_calls(&keys);
	if (code == FLEXTRACE_OK)
		code = count_all(&keys);
	if (code == FLEXTRACE_OK)
		code = name_groups_sort(&keys.lines, compare_groups, &keys);
	if (code == FLEXTRACE_OK)
		code = put_lines(&keys, sink);
	name_groups_release(&keys.lines);
	return code;
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	return fill_of(findings, DETAIL_NONE, sink);
}

static int fill_shapes(const struct findings *findings, struct row_sink *sink)
{
	return fill_of(findings, DETAIL_SHAPES, sink);
}

static int fill_stack(const struct findings *findings, struct row_sink *sink)
{
	return fill_of(findings, DETAIL_STACK, sink);
}

const struct analysis analysis_key_averages =
	ANALYSIS_CSV("key_averages", columns, fill, .title = "Averages by name",
                     .what = "Self and total time of each name on host and device, as "
                             "torch's table has them. Device time counts for the operation "
                             "that launched it.");
const struct analysis analysis_key_averages_shapes = ANALYSIS_CSV(
	"key_averages_shapes", shapes_columns, fill_shapes, .title = "Averages by name and shapes",
	.what = "The same by name and shapes of inputs.");
const struct analysis analysis_key_averages_stack = ANALYSIS_CSV(
	"key_averages_stack", stack_columns, fill_stack, .title = "Averages by name and stack",
	.what = "The same by name and Python stack.");
