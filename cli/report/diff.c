/* SPDX-License-Identifier: Apache-2.0 */
#include "diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "base/order.h"
#include "base/text/json_item.h"
#include "model/timeline/rows.h"
#include "summary_impl.h"

#define MAX_ITEMS 64 /* of a list of run.json */

struct diff_totals {
	struct sample calls; /* their durations */
	double total_ns;
};

struct diff_entry {
	uint32_t kind, name; /* strings */
	enum diff_table table;
	struct diff_totals run; /* of the run that is read */
	struct side {
		struct diff_totals all;
		struct sample runs; /* the mean of each */
	} sides[2];
};

int diff_init(struct diff *diff, struct flextrace_error *error)
{
	diff->strings = string_pool_new();
	if (!diff->strings)
		return error_memory(error);
	string_cache_init(&diff->cache, diff->strings);
	diff->runs[DIFF_A] = cJSON_CreateArray();
	diff->runs[DIFF_B] = cJSON_CreateArray();
	return FLEXTRACE_OK;
}

void diff_release(struct diff *diff)
{
	if (diff->strings)
		string_cache_release(&diff->cache);
	map_release(&diff->index);
	free(diff->entries);
	free(diff->rows);
	string_pool_free(diff->strings);
	cJSON_Delete(diff->runs[DIFF_A]);
	cJSON_Delete(diff->runs[DIFF_B]);
}

/* -- in -------------------------------------------------------------------------------------- */

static int find_entry(struct diff *diff, enum diff_table table, const struct stats_cells *of,
                      struct diff_entry **ret_entry)
{
	uint32_t kind, name, found;

	FLEXTRACE_TRY(string_intern(&diff->cache, of->kind, &kind));
	FLEXTRACE_TRY(string_intern(&diff->cache, of->name, &name));
	FLEXTRACE_TRY(MAP_PLACE(&diff->index, map_pair(table, kind), name, diff->entries,
	                        diff->n_entries, &found));
	*ret_entry = &diff->entries[found];
	(*ret_entry)->table = table;
	(*ret_entry)->kind = kind;
	(*ret_entry)->name = name;
	return FLEXTRACE_OK;
}

/* Adds what a row tells of a kind and name of a rank. */
static int add_calls(struct diff *diff, enum diff_table table, const struct stats_cells *of)
{
	bool has_deviation = of->spread.deviation != UINT64_MAX;
	struct diff_entry *entry;
	struct sample calls;

	if (!of->calls || of->total == COLUMN_NONE_U64)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_entry(diff, table, of, &entry));
	calls = sample_of(of->calls, (double)of->total / of->calls,
	                  has_deviation ? (double)of->spread.deviation : (double)NAN);
	sample_merge(&entry->run.calls, &calls);
	entry->run.total_ns += (double)of->total;
	return FLEXTRACE_OK;
}

static bool is_wanted(const struct diff *diff, const struct owner_cells *owner)
{
	char rank[24] = "";

	if (!diff->rank)
		return true;
	if (owner->rank != COLUMN_NONE_I64)
		snprintf(rank, sizeof(rank), "%" PRId64, owner->rank);
	return strcmp(rank, diff->rank) == 0;
}

static const struct column period_columns[] = {
	/* of iterations.csv */
	COLUMN_INIT("rank", struct calls_row, owner.rank, true, 0),
	COLUMN_INIT("period_ns", struct calls_row, of.total, true, 0),
};

/* A table without a row may not be there. An iteration is from its start to that of the next. */
static int read_table(struct diff *diff, enum diff_table table, const char *dir, uint32_t *n_tables,
                      struct flextrace_error *error)
{
	static const struct {
		const char *name;
		const struct column *columns;
		uint32_t n;
	} sources[] = {
		[DIFF_RUN] = {"iterations.csv", period_columns, N_COLUMNS(period_columns)},
		[DIFF_DEVICE] = {"kernels.csv", kernel_columns, KERNEL_COLUMNS},
		[DIFF_HOST] = {"runtime.csv", runtime_columns, RUNTIME_COLUMNS},
	};
	struct calls_row row = {.of = {.kind = "", .name = "iteration", .calls = 1}};
	struct rows rows;

	if (!rows_open(&rows, dir, sources[table].name, sources[table].columns, sources[table].n,
	               error))
		return rows.is_absent ? FLEXTRACE_OK : rows.code;
	*n_tables += table != DIFF_RUN;
	while (rows_next(&rows, &row, error)) {
		if (is_wanted(diff, &row.owner))
			rows.code = add_calls(diff, table, &row.of);
	}
	rows_close(&rows);
	return rows.code;
}

/* Of long lists the first items, of which a page tells. */
static void shorten(cJSON *list)
{
	for (int n = cJSON_GetArraySize(list); n > MAX_ITEMS; n--)
		cJSON_DeleteItemFromArray(list, MAX_ITEMS);
}

/* Keeps of run.json what tells one run from another. */
static void keep_run(cJSON *runs, const char *name, cJSON *run)
{
	static const char *const members[] = {"versions",  "inputs", "options",
	                                      "processes", "totals", "warnings"};
	cJSON *kept = cJSON_CreateObject();

	json_item_add(kept, "path", cJSON_CreateString(name));
	json_item_add_u64(
		kept, "n_processes",
		(uint64_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(run, "processes")));
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(run, members[i]);

		shorten(item);
		if (item)
			json_item_add(kept, members[i], item);
	}
	json_item_append(runs, kept);
	cJSON_Delete(run);
}

/* From the first time to the last. */
static int read_run(struct diff *diff, enum diff_side side, const char *name, const char *dir,
                    struct flextrace_error *error)
{
	struct stats_cells of = {.kind = "", .name = "whole run", .calls = 1};
	cJSON *run = summary_json(dir, "run.json");
	const cJSON *totals = cJSON_GetObjectItemCaseSensitive(run, "totals");
	double length_ns = summary_number(totals, "length_ns");

	if (!run)
		return error_set(error, FLEXTRACE_E_INPUT, "Nothing was converted there: path=%s",
		                 dir);
	keep_run(diff->runs[side], name, run);
	if (!(length_ns > 0) || !(length_ns < 9e18))
		return FLEXTRACE_OK;
	of.total = (uint64_t)length_ns;
	return add_calls(diff, DIFF_RUN, &of) < 0 ? error_memory(error) : FLEXTRACE_OK;
}

/* Puts what was read of a run to its side. */
static void end_run(struct diff *diff, enum diff_side side)
{
	diff->n_runs[side]++;
	for (uint32_t i = 0; i < diff->n_entries; i++) {
		struct diff_entry *entry = &diff->entries[i];
		struct side *to = &entry->sides[side];

		if (!(entry->run.calls.n > 0))
			continue;
		sample_merge(&to->all.calls, &entry->run.calls);
		to->all.total_ns += entry->run.total_ns;
		sample_add(&to->runs, entry->run.calls.mean);
		entry->run = (struct diff_totals){.total_ns = 0};
	}
}

int diff_add(struct diff *diff, enum diff_side side, const char *name, const char *dir,
             struct flextrace_error *error)
{
	uint32_t n_tables = 0;

	FLEXTRACE_TRY(read_run(diff, side, name, dir, error));
	for (enum diff_table table = DIFF_RUN; table < N_DIFF_TABLES; table++)
		FLEXTRACE_TRY(read_table(diff, table, dir, &n_tables, error));
	if (!n_tables)
		return error_set(error, FLEXTRACE_E_INPUT,
		                 "There is neither kernels.csv nor runtime.csv: path=%s", dir);
	end_run(diff, side);
	return FLEXTRACE_OK;
}

/* -- compared -------------------------------------------------------------------------------- */

static double mean_of(const struct side *side, bool are_runs)
{
	return sample_mean(are_runs ? &side->runs : &side->all.calls);
}

static enum diff_verdict judge(const struct diff *diff, const struct diff_row *row)
{
	if (!(row->a_calls > 0))
		return DIFF_ADDED;
	if (!(row->b_calls > 0))
		return DIFF_REMOVED;
	if (isnan(row->error_ns))
		return DIFF_UNKNOWN;
	if (fabs(row->change_ns) <= row->error_ns ||
	    fabs(row->change_percent) < diff->min_change_percent)
		return DIFF_UNCHANGED;
	return row->change_ns > 0 ? DIFF_SLOWER : DIFF_FASTER;
}

static double largest_percent(double part_a, double of_a, double part_b, double of_b)
{
	return 100 * fmax(of_a > 0 ? part_a / of_a : 0, of_b > 0 ? part_b / of_b : 0);
}

static void compare(const struct diff *diff, const struct diff_entry *entry, struct diff_row *row)
{
	static const char *const tables[] = {"run", "device", "host"};
	static const char *const verdicts[] = {"slower",  "faster", "unchanged",
	                                       "unknown", "added",  "removed"};
	bool are_runs = diff_is_of_runs(diff);
	const struct side *a = &entry->sides[DIFF_A], *b = &entry->sides[DIFF_B];
	const struct sample *of_a = are_runs ? &a->runs : &a->all.calls;
	const struct sample *of_b = are_runs ? &b->runs : &b->all.calls;
	struct difference change = difference_of(of_a, of_b);

	*row = (struct diff_row){
		.table = entry->table,
		.of = tables[entry->table],
		.kind = string_get(diff->strings, entry->kind),
		.name = string_get(diff->strings, entry->name),
		.a_calls = a->all.calls.n / diff->n_runs[DIFF_A],
		.b_calls = b->all.calls.n / diff->n_runs[DIFF_B],
		.a_total_ns = a->all.total_ns / diff->n_runs[DIFF_A],
		.b_total_ns = b->all.total_ns / diff->n_runs[DIFF_B],
		.a_mean_ns = mean_of(a, are_runs),
		.b_mean_ns = mean_of(b, are_runs),
		.change_ns = change.value,
		.error_ns = change.error,
		.a_repeats = of_a->n,
		.b_repeats = of_b->n,
	};
	row->difference_ns = row->b_total_ns - row->a_total_ns;
	row->change_percent = 100 * row->change_ns / row->a_mean_ns;
	row->error_percent = 100 * row->error_ns / row->a_mean_ns;
	row->is = judge(diff, row);
	row->verdict = verdicts[row->is];
}

static int compare_rows(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;

	return ORDER(a->table, b->table) ?:
	       ORDER(fabs(b->difference_ns), fabs(a->difference_ns)) ?:
	       strcmp(a->name, b->name) ?: strcmp(a->kind, b->kind);
}

static void add_shares(struct diff *diff)
{
	double a_ns[N_DIFF_TABLES] = {0}, b_ns[N_DIFF_TABLES] = {0};

	for (uint32_t i = 0; i < diff->n_rows; i++) {
		a_ns[diff->rows[i].table] += diff->rows[i].a_total_ns;
		b_ns[diff->rows[i].table] += diff->rows[i].b_total_ns;
	}
	for (uint32_t i = 0; i < diff->n_rows; i++) {
		struct diff_row *row = &diff->rows[i];

		row->share_percent = row->table == DIFF_RUN
		                             ? 100
		                             : largest_percent(row->a_total_ns, a_ns[row->table],
		                                               row->b_total_ns, b_ns[row->table]);
	}
}

int diff_finish(struct diff *diff, struct flextrace_error *error)
{
	diff->rows = calloc(diff->n_entries + 1ull, sizeof(*diff->rows));
	if (!diff->rows)
		return error_memory(error);
	for (uint32_t i = 0; i < diff->n_entries; i++) {
		struct diff_row *row = &diff->rows[diff->n_rows++];

		compare(diff, &diff->entries[i], row);
		diff->n_verdicts[row->is]++;
	}
	qsort(diff->rows, diff->n_rows, sizeof(*diff->rows), compare_rows);
	add_shares(diff);
	return FLEXTRACE_OK;
}
