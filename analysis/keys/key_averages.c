/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_averages.csv: calls and device work by name, as torch's table of this name has them, whole
 * and by step and window; key_averages_shapes.csv: calls by the shapes of their inputs besides,
 * key_averages_stack.csv: by who called.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis_impl.h"
#include "base/blocks.h"
#include "base/order.h"
#include "key_details.h"
#include "model/words/kinds.h"
#include "windows.h"

/* Lines of calls, of work that no call launched, and of work itself: the device time of the first
 * two is that of the third. */
enum side { SIDE_HOST, SIDE_NO_LAUNCH, SIDE_DEVICE, N_SIDES };

#define N_WINDOWS (WINDOWS_MAX + 1) /* the first one is all */

struct key_group {
	struct group_key key; /* owner: (process by rank, window, side); name: place of a key */
	uint64_t calls, host_self_ns, host_total_ns, device_self_ns, device_total_ns;
	uint64_t memory_self_bytes, memory_total_bytes; /* may be negative */
};

struct key_name {
	uint32_t name; /* string */
	uint32_t detail;
};

struct key_averages {
	const struct findings *findings; /* weak */
	struct call_costs costs;
	struct key_details details;
	struct windows windows;
	struct name_groups groups; /* struct key_group */
	struct key_name *names;    /* owned */
	uint32_t n_names;
	struct map name_index; /* (name; detail) -> place in `names` */
};

/* -- rows -------------------------------------------------------------------------------------- */

struct key_row {
	const char *side, *kind, *name, *detail;
	uint64_t calls;
	uint64_t host_self_ns, host_total_ns, host_mean_ns;
	uint64_t device_self_ns, device_total_ns, device_mean_ns;
	double host_self_percent, host_total_percent, device_self_percent, device_total_percent;
	int64_t memory_self_bytes, memory_total_bytes;
	uint32_t window, process;
};

#define KEY(member)          COLUMN(struct key_row, member)
#define KEY_OPTIONAL(member) COLUMN_OPTIONAL(struct key_row, member)
#define KEY_PERCENT(member)  COLUMN_FIXED(struct key_row, member, 2)
#define KEY_NAMES                                                              \
	COLUMN_TYPED("side", WORD, const char *, false, struct key_row, side), \
		COLUMN_TYPED("kind", WORD, const char *, false, struct key_row, kind), KEY(name)
#define KEY_FIGURES                                                                                \
	KEY(calls), KEY_OPTIONAL(host_self_ns), KEY_PERCENT(host_self_percent),                    \
		KEY_OPTIONAL(host_total_ns), KEY_PERCENT(host_total_percent),                      \
		KEY_OPTIONAL(host_mean_ns), KEY(device_self_ns), KEY_PERCENT(device_self_percent), \
		KEY(device_total_ns), KEY_PERCENT(device_total_percent), KEY(device_mean_ns),      \
		KEY_OPTIONAL(memory_self_bytes), KEY_OPTIONAL(memory_total_bytes),                 \
		COLUMN_STRING("window", struct key_row, window),                                   \
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

static int add(struct key_averages *keys, uint32_t owner, const struct key_group *more)
{
	struct group_key key = more->key;
	struct key_group *group;
	uint32_t place;

	key.owner = owner;
	FLEXTRACE_TRY(name_groups_find(&keys->groups, &key, &place));
	group = name_groups_at(&keys->groups, place);
	group->calls += more->calls;
	group->host_self_ns += more->host_self_ns;
	group->host_total_ns += more->host_total_ns;
	group->device_self_ns += more->device_self_ns;
	group->device_total_ns += more->device_total_ns;
	group->memory_self_bytes += more->memory_self_bytes;
	group->memory_total_bytes += more->memory_total_bytes;
	return FLEXTRACE_OK;
}

struct where {
	uint32_t process;
	int64_t time_ns; /* tells the windows */
	enum side side;
};

/* Adds what is of a name to all, and to the windows that it is in. */
static int count(struct key_averages *keys, struct where where, struct key_name name,
                 struct key_group *more)
{
	uint32_t position = keys->findings->owners->positions[where.process], n;
	const uint8_t *numbers;
	int is_new = MAP_PLACE(&keys->name_index, name.name, name.detail, keys->names,
	                       keys->n_names, &more->key.name);

	if (is_new < 0)
		return is_new;
	keys->names[more->key.name] = name;
	FLEXTRACE_TRY(add(keys, owner_of(position, 0, where.side), more));
	n = windows_at(&keys->windows, where.process, where.time_ns, &numbers);
	for (uint32_t i = 0; i < n; i++)
		FLEXTRACE_TRY(add(keys, owner_of(position, numbers[i], where.side), more));
	return FLEXTRACE_OK;
}

static int count_calls(struct key_averages *keys)
{
	for (uint32_t i = 0; i < keys->costs.tree.n; i++) {
		const struct call *call = &keys->costs.tree.calls[i];
		const struct call_cost *cost = &keys->costs.costs[i];
		struct key_group more = {.calls = 1};

		blocks_pass(i, CALL_PASS_BYTES + sizeof(*cost));
		if (!call->row)
			continue;
		more.key.kind = call->row->kind;
		more.host_total_ns = host_row_ns(call->row);
		more.host_self_ns = more.host_total_ns - cost->below_ns;
		more.device_self_ns = cost->device_self_ns;
		more.device_total_ns = cost->device_total_ns;
		more.memory_self_bytes = cost->memory_self_bytes;
		more.memory_total_bytes = cost->memory_total_bytes;
		FLEXTRACE_TRY(count(
			keys, (struct where){call->process, call->row->start_time_ns, SIDE_HOST},
			(struct key_name){call->row->name, key_details_at(&keys->details, i)},
			&more));
	}
	return FLEXTRACE_OK;
}

/* Of work that was launched, the windows are those of the call whose own it is. */
static int count_piece(struct key_averages *keys, const struct work *work)
{
	uint32_t call = call_costs_add(&keys->costs, work);
	uint64_t time_ns = interval_ns(work->row->start_time_ns, work->row->end_time_ns);
	struct where where = {work->process, work->row->start_time_ns, SIDE_DEVICE};
	struct key_group more = {.calls = 1, .device_self_ns = time_ns, .device_total_ns = time_ns};

	more.key.kind = work->row->kind;
	if (call != FLEXTRACE_NONE)
		where.time_ns = keys->costs.tree.calls[call].row->start_time_ns;
	if (keys->details.of == DETAIL_NONE)
		FLEXTRACE_TRY(count(keys, where, (struct key_name){work->name, 0}, &more));
	where.side = SIDE_NO_LAUNCH;
	more.key.kind = 0;
	return call == FLEXTRACE_NONE ? count(keys, where, (struct key_name){0, 0}, &more)
	                              : FLEXTRACE_OK;
}

static int count_work(struct key_averages *keys)
{
	struct work_reader reader;
	struct work work;
	int code = work_read(&reader, keys->findings->timeline);

	while (code == FLEXTRACE_OK && (code = work_next(&reader, &work)) > 0)
		code = count_piece(keys, &work);
	work_release(&reader);
	call_costs_finish(&keys->costs);
	return code;
}

/* Adds those of each process to those over all, where there are several. */
static int count_all(struct key_averages *keys)
{
	uint32_t n = keys->groups.n, n_processes = keys->findings->timeline->identity->n_processes;
	bool is_of_many = false;

	for (uint32_t i = 1; i < n; i++) {
		const struct key_group *group = name_groups_at(&keys->groups, i);
		const struct key_group *first = name_groups_at(&keys->groups, 0);

		is_of_many |= group->key.owner / (N_WINDOWS * N_SIDES) !=
		              first->key.owner / (N_WINDOWS * N_SIDES);
	}
	for (uint32_t i = 0; i < n && is_of_many; i++) {
		const struct key_group more = *(struct key_group *)name_groups_at(&keys->groups, i);
		uint32_t window_side = more.key.owner % (N_WINDOWS * N_SIDES);

		FLEXTRACE_TRY(add(keys, owner_of(n_processes, 0, 0) + window_side, &more));
	}
	return FLEXTRACE_OK;
}

/* -- lines ------------------------------------------------------------------------------------- */

static const char *kind_label(const struct key_group *group)
{
	switch (group->key.owner % N_SIDES) {
	case SIDE_HOST:
		return kind_of_host(group->key.kind)->label;
	case SIDE_DEVICE:
		return kind_of_device(group->key.kind)->label;
	default:
		return "No launch";
	}
}

/* The largest first; places are in order of first rows. */
static int compare_groups(const void *left, const void *right, void *context)
{
	const struct key_averages *keys = context;
	const uint32_t *places[2] = {left, right};
	const struct key_group *a = name_groups_at(&keys->groups, *places[0]);
	const struct key_group *b = name_groups_at(&keys->groups, *places[1]);

	return ORDER(a->key.owner, b->key.owner) ?: ORDER(b->host_self_ns, a->host_self_ns) ?:
	       ORDER(b->device_self_ns, a->device_self_ns) ?:
	       ORDER(b->device_total_ns, a->device_total_ns) ?:
	       string_compare(keys->findings->timeline->strings, keys->names[a->key.name].name,
	                      keys->names[b->key.name].name) ?:
	       strcmp(kind_label(a), kind_label(b)) ?: ORDER(*places[0], *places[1]);
}

struct key_sums {
	uint32_t lines; /* whose they are: owner / N_SIDES */
	uint64_t host_ns, device_ns;
};

/* Own times of the lines from one on that are of the same process and window. */
static struct key_sums sum_of(const struct key_averages *keys, uint32_t line)
{
	const struct key_group *group = name_groups_line(&keys->groups, line);
	struct key_sums sums = {.lines = group->key.owner / N_SIDES};

	for (; line < keys->groups.n; line++) {
		group = name_groups_line(&keys->groups, line);
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

static struct key_row row_of(struct key_averages *keys, const struct key_group *group,
                             const struct key_sums *sums)
{
	const struct timeline *timeline = keys->findings->timeline;
	const struct key_name *name = &keys->names[group->key.name];
	uint32_t position = sums->lines / N_WINDOWS, window = sums->lines % N_WINDOWS;
	bool is_host = group->key.owner % N_SIDES == SIDE_HOST;
	bool has_memory = is_host && timeline->memory.n_rows;

	return (struct key_row){
		.side = group->key.owner % N_SIDES == SIDE_DEVICE ? "device" : "host",
		.kind = kind_label(group),
		.name = string_get(timeline->strings, name->name),
		.detail = name->detail ? key_details_text(&keys->details, name->detail) : "",
		.calls = group->calls,
		.host_self_ns = is_host ? group->host_self_ns : COLUMN_NONE_U64,
		.host_self_percent = is_host ? percent(group->host_self_ns, sums->host_ns) : NAN,
		.host_total_ns = is_host ? group->host_total_ns : COLUMN_NONE_U64,
		.host_total_percent = is_host ? percent(group->host_total_ns, sums->host_ns) : NAN,
		.host_mean_ns = is_host ? (uint64_t)spread_mean(group->host_total_ns, group->calls)
	                                : COLUMN_NONE_U64,
		.device_self_ns = group->device_self_ns,
		.device_self_percent = percent(group->device_self_ns, sums->device_ns),
		.device_total_ns = group->device_total_ns,
		.device_total_percent = percent(group->device_total_ns, sums->device_ns),
		.device_mean_ns = (uint64_t)spread_mean(group->device_total_ns, group->calls),
		.memory_self_bytes = has_memory ? (int64_t)group->memory_self_bytes
	                                        : COLUMN_NONE_I64,
		.memory_total_bytes = has_memory ? (int64_t)group->memory_total_bytes
	                                         : COLUMN_NONE_I64,
		.window = window ? keys->windows.names[window] : 0,
		.process = position < timeline->identity->n_processes
	                           ? keys->findings->owners->processes[position]
	                           : FLEXTRACE_NONE,
	};
}

static int put_lines(struct key_averages *keys, struct row_sink *sink)
{
	struct key_sums sums = {0};

	for (uint32_t i = 0; i < keys->groups.n; i++) {
		const struct key_group *group = name_groups_line(&keys->groups, i);
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

static int start(struct key_averages *keys, enum key_detail of)
{
	const struct timeline *timeline = keys->findings->timeline;
	uint64_t n = timeline->host_rows.n_rows + 2 * timeline->device_rows.n_rows;

	writer_open_memory(&keys->details.text);
	FLEXTRACE_TRY(windows_init(&keys->windows, timeline));
	name_groups_init(&keys->groups, sizeof(struct key_group),
	                 2 * n * (1 + keys->windows.n_most_open));
	FLEXTRACE_TRY(call_costs_init(&keys->costs, keys->findings));
	FLEXTRACE_TRY(key_details_init(&keys->details, of, &keys->costs));
	return call_costs_settle(&keys->costs);
}

static int fill_of(const struct findings *findings, enum key_detail of, struct row_sink *sink)
{
	struct key_averages keys = {.findings = findings};
	int code = start(&keys, of);

	if (code == FLEXTRACE_OK)
		code = count_work(&keys);
	if (code == FLEXTRACE_OK)
		code = count_calls(&keys);
	if (code == FLEXTRACE_OK)
		code = count_all(&keys);
	if (code == FLEXTRACE_OK)
		code = name_groups_sort(&keys.groups, compare_groups, &keys);
	if (code == FLEXTRACE_OK)
		code = put_lines(&keys, sink);
	call_costs_release(&keys.costs);
	key_details_release(&keys.details);
	windows_release(&keys.windows);
	name_groups_release(&keys.groups);
	map_release(&keys.name_index);
	free(keys.names);
	return code;
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	return fill_of(findings, DETAIL_NONE, sink);
}

static int fill_detail(const struct findings *findings, enum key_detail of, struct row_sink *sink)
{
	int is_told = key_details_are_told(findings->timeline, of);

	return is_told > 0 ? fill_of(findings, of, sink) : is_told;
}

static int fill_shapes(const struct findings *findings, struct row_sink *sink)
{
	return fill_detail(findings, DETAIL_SHAPES, sink);
}

static int fill_stack(const struct findings *findings, struct row_sink *sink)
{
	return fill_detail(findings, DETAIL_STACK, sink);
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
