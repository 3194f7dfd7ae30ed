/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "utilization_impl.h"

#define MIN_SCORE 0.8
#define NEAR      0.2
#define ALL_OF    ((uint64_t)1 << 32) /* with a source: key of names in any of its tables */

struct matched_row {
	uint64_t walk;      /* the last one that took it or its like, for the first of its name */
	uint32_t next_same; /* row of the same name in the table; FLEXTRACE_NONE ends */
	uint32_t next_free; /* in this walk, likewise */
};

/* A table along the kernels from some place on. */
struct walk {
	uint32_t table;
	uint64_t end;             /* first kernel behind it */
	uint64_t kernels, others; /* that the table names, and not */
	uint64_t times_taken;     /* of kernels that the table names, from the other run */
	uint64_t rows, in_order;  /* taken; of them, behind the one before */
	double ideal_ns, measured_ns;
	double score;
};

/* -- tables ------------------------------------------------------------------------------------ */

static int learn_table(struct matching *matching, uint32_t index)
{
	const struct compiler_table *table = &matching->info->tables[index];

	for (uint32_t i = table->n_rows; i-- > 0;) { /* so that the first one stands in the map */
		uint32_t row = table->first_row + i, name = matching->info->rows[row].name;

		matching->rows[row].next_same = map_find(&matching->row_index, index, name);
		FLEXTRACE_TRY(map_put(&matching->row_index, index, name, row));
		FLEXTRACE_TRY(map_put(&matching->row_index, ALL_OF + table->source, name, 0));
	}
	return FLEXTRACE_OK;
}

int matching_init(struct matching *matching)
{
	FLEXTRACE_TRY(ARRAY_NEW(matching->rows, matching->info->n_rows + 1ull));
	for (uint32_t i = 0; i < matching->info->n_tables; i++)
		FLEXTRACE_TRY(learn_table(matching, i));
	return FLEXTRACE_OK;
}

void matching_release(struct matching *matching)
{
	free(matching->rows);
	map_release(&matching->row_index);
}

/* -- a walk ------------------------------------------------------------------------------------ */

/* The next row of a name in this walk: one that was not taken, or the last one once more;
 * FLEXTRACE_NONE is none. */
static uint32_t take_row(struct matching *matching, uint32_t first, uint32_t last)
{
	struct matched_row *head = &matching->rows[first];
	const struct kernel_cost *rows = matching->info->rows;
	uint32_t row;

	if (head->walk != matching->n_walks) {
		head->walk = matching->n_walks;
		head->next_free = first;
	}
	row = head->next_free;
	if (row != FLEXTRACE_NONE)
		head->next_free = matching->rows[row].next_same;
	else if (last != FLEXTRACE_NONE && rows[last].name == rows[first].name)
		row = last;
	return row;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 1.0;
}

static double score_of(const struct compiler_table *table, const struct walk *walk)
{
	double named = share(walk->kernels, walk->kernels + walk->others);

	if (!table->is_ordered)
		return named;
	return (named + share(walk->rows, table->n_rows) +
	        share(walk->in_order, walk->rows ? walk->rows - 1 : 0)) /
	       3;
}

/* Of a kernel of the table. */
static uint64_t time_in(const struct compiler_table *table, const struct matched_kernel *kernel)
{
	return table->is_autopilot && kernel->taken_ns ? kernel->taken_ns : kernel->duration_ns;
}

static void count_kernel(const struct matching *matching, struct walk *walk, uint32_t row,
                         uint32_t last, const struct matched_kernel *kernel)
{
	const struct compiler_table *table = &matching->info->tables[walk->table];

	walk->kernels++;
	walk->times_taken += table->is_autopilot && kernel->taken_ns;
	walk->rows += row != last;
	walk->in_order += last != FLEXTRACE_NONE && row > last;
	walk->measured_ns += (double)time_in(table, kernel);
	walk->ideal_ns += (double)matching->info->rows[row].ideal_cycles * 1e9 / matching->core_hz;
}

static void assign_row(struct matching *matching, const struct compiler_table *table,
                       const struct matched_kernel *kernel, uint32_t row)
{
	struct kernel_costs *costs = matching->costs;

	costs->of_op[kernel->op] = row;
	if (!costs->taken_ns || !table->is_autopilot)
		return;
	costs->taken_ns[kernel->op] = kernel->taken_ns;
	matching->ledger->warnings[WARNING_KERNEL_TIMES_MISSING] += !kernel->taken_ns;
}

/* Walks a table along the kernels from `begin` on; with `assigns`, gives them its rows. */
static struct walk walk_table(struct matching *matching, uint32_t index, uint64_t begin,
                              bool assigns)
{
	const struct compiler_table *table = &matching->info->tables[index];
	struct walk walk = {.table = index};
	uint32_t last = FLEXTRACE_NONE;

	matching->n_walks++;
	for (walk.end = begin; walk.end < matching->n_kernels; walk.end++) {
		const struct matched_kernel *kernel = &matching->kernels[walk.end];
		uint32_t row = map_find(&matching->row_index, index, kernel->name);

		if (row != MAP_NONE) {
			row = take_row(matching, row, last);
			if (row == FLEXTRACE_NONE)
				break;
			count_kernel(matching, &walk, row, last, kernel);
			last = row;
		} else if (map_find(&matching->row_index, ALL_OF + table->source, kernel->name) !=
		           MAP_NONE) {
			break;
		} else {
			row = table->first_row + table->n_rows;
			walk.others++;
		}
		if (assigns)
			assign_row(matching, table, kernel, row);
	}
	walk.score = score_of(table, &walk);
	return walk;
}

/* -- the best of them -------------------------------------------------------------------------- */

static bool fits(const struct walk *walk)
{
	return walk->ideal_ns <= walk->measured_ns;
}

static bool is_better(const struct walk *a, const struct walk *b)
{
	if (a->end != b->end)
		return a->end > b->end;
	if (fits(a) != fits(b))
		return fits(a);
	if (a->score < b->score || a->score > b->score)
		return a->score > b->score;
	return a->ideal_ns > b->ideal_ns;
}

/* The more of the measured time a table explains, the less can another one. */
static double certainty_of(const struct walk *walk)
{
	return walk->score + (walk->measured_ns > 0 ? walk->ideal_ns / walk->measured_ns / 2 : 0);
}

static bool is_rival(const struct walk *walk, const struct walk *best)
{
	return walk->end == best->end && fits(walk) &&
	       certainty_of(best) - certainty_of(walk) <= NEAR &&
	       (walk->ideal_ns < best->ideal_ns || walk->ideal_ns > best->ideal_ns);
}

/* Both are stored, the second where its `end` is not 0. */
static void choose(struct matching *matching, uint64_t begin, struct walk *ret_best,
                   struct walk *ret_second)
{
	*ret_best = *ret_second = (struct walk){0};
	for (uint32_t i = 0; i < matching->info->n_tables; i++) {
		struct walk walk;

		if (matching->info->tables[i].source != matching->source)
			continue;
		walk = walk_table(matching, i, begin, false);
		if (is_better(&walk, ret_best)) {
			*ret_second = *ret_best;
			*ret_best = walk;
		} else if (is_better(&walk, ret_second)) {
			*ret_second = walk;
		}
	}
}

/* -- counting ---------------------------------------------------------------------------------- */

/* The place of a table among those of its source. */
static uint32_t number_of(const struct compiler_info *info, uint32_t table)
{
	uint32_t first = table;

	while (first > 0 && info->tables[first - 1].source == info->tables[table].source)
		first--;
	return table - first;
}

static int find_use(struct matching *matching, uint32_t index, struct kernel_table_use **ret_use)
{
	const struct compiler_table *table = &matching->info->tables[index];
	struct kernel_costs *costs = matching->costs;
	uint32_t number = number_of(matching->info, index);

	for (uint32_t i = 0; i < costs->n_uses; i++) {
		*ret_use = &costs->uses[i];
		if ((*ret_use)->rank == matching->rank && (*ret_use)->source == table->source &&
		    (*ret_use)->table == number)
			return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(ARRAY_ROOM(costs->uses, costs->n_uses));
	*ret_use = &costs->uses[costs->n_uses++];
	**ret_use = (struct kernel_table_use){
		.rank = matching->rank,
		.source = table->source,
		.table = number,
		.n_rows = table->n_rows,
		.ideal_cycles = table->ideal_cycles,
		.score_min = 1.0,
		.phase = table->phase,
		.is_autopilot = table->is_autopilot,
	};
	return FLEXTRACE_OK;
}

static int count_run(struct matching *matching, const struct walk *best, const struct walk *second)
{
	bool is_uncertain = best->score < MIN_SCORE || (second->end && is_rival(second, best));
	struct kernel_table_use *use;

	matching->ledger->warnings[WARNING_COMPILER_UNCERTAIN] += is_uncertain;
	FLEXTRACE_TRY(find_use(matching, best->table, &use));
	use->runs++;
	use->kernels += best->kernels;
	use->kernels_taken += best->times_taken;
	use->uncertain += is_uncertain;
	use->score_sum += best->score;
	use->score_min = best->score < use->score_min ? best->score : use->score_min;
	return FLEXTRACE_OK;
}

/* Kernels faster than they can be, and those without a table. */
static void count_doubts(struct matching *matching)
{
	const struct kernel_costs *costs = matching->costs;
	uint64_t *warnings = matching->ledger->warnings;

	for (uint64_t i = 0; i < matching->n_kernels; i++) {
		const struct matched_kernel *kernel = &matching->kernels[i];
		uint32_t row = costs->of_op[kernel->op];
		uint64_t taken_ns = costs->taken_ns ? costs->taken_ns[kernel->op] : 0;
		double ideal_ns;

		if (row == FLEXTRACE_NONE || !costs->costs[row].category) {
			warnings[WARNING_COMPILER_UNNAMED]++;
			continue;
		}
		ideal_ns = (double)costs->costs[row].ideal_cycles * 1e9 / matching->core_hz;
		warnings[WARNING_COMPILER_OVER] +=
			ideal_ns > (double)(taken_ns ? taken_ns : kernel->duration_ns);
	}
}

int matching_run(struct matching *matching)
{
	struct walk best, second;

	for (uint64_t at = 0; at < matching->n_kernels; at = best.end) {
		choose(matching, at, &best, &second);
		if (!best.kernels)
			break; /* only names that no table has */
		walk_table(matching, best.table, at, true);
		FLEXTRACE_TRY(count_run(matching, &best, &second));
	}
	count_doubts(matching);
	return FLEXTRACE_OK;
}
