/* SPDX-License-Identifier: Apache-2.0 */
/*
 * categories.csv, categories.txt: kernels by the compiler's category, per rank and phase; empty
 * without compiler information.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis_impl.h"
#include "base/order.h"
#include "categories_impl.h"
#include "base/map.h"

/* -- lines ------------------------------------------------------------------------------------- */

static int add_line(struct categories *categories, struct map *line_index,
                    const struct category_line *key, uint32_t *ret_place)
{
	uint64_t group = (uint64_t)(uint32_t)key->rank << 16 | (uint64_t)key->phase << 8 |
	                 key->order;
	int is_new = MAP_PLACE(line_index, group, key->category, categories->lines,
	                       categories->n_lines, ret_place);

	if (is_new > 0)
		categories->lines[*ret_place] = *key;
	return is_new;
}

static void add_to(struct category_line *line, const struct category_line *kernel)
{
	line->calls++;
	line->kernel_ns += kernel->kernel_ns;
	line->cycles += kernel->cycles;
	line->ideal_cycles += kernel->ideal_cycles;
	line->cycles_core += kernel->cycles_core;
	line->ideal_ns += kernel->ideal_ns;
}

/* The kernel's category, or `other`, and the total; both of these are always there. */
static int count_kernel(struct categories *categories, struct map *line_index,
                        const struct category_line *kernel)
{
	struct category_line key = {.rank = kernel->rank, .phase = kernel->phase};
	uint32_t lines_of[3];

	for (key.order = CATEGORY_OTHER; key.order <= CATEGORY_TOTAL; key.order++)
		FLEXTRACE_TRY(add_line(categories, line_index, &key, &lines_of[key.order]));
	if (kernel->category) {
		key.order = CATEGORY_NAMED;
		key.category = kernel->category;
		FLEXTRACE_TRY(add_line(categories, line_index, &key, &lines_of[CATEGORY_NAMED]));
	}
	add_to(&categories->lines[lines_of[CATEGORY_TOTAL]], kernel);
	add_to(&categories->lines[lines_of[kernel->category ? CATEGORY_NAMED : CATEGORY_OTHER]],
	       kernel);
	return FLEXTRACE_OK;
}

static struct category_line look_at(const struct findings *findings, const struct device_row *row)
{
	const struct timeline *timeline = findings->timeline;
	const struct kernel_costs *costs = findings->costs;
	const struct kernel_cost *cost = kernel_cost_of(costs, row);
	const uint64_t *ticks = timeline->ops[row->source].ticks;
	uint32_t device = timeline->tracks[row->track].owner;
	const struct identity *identity = timeline->identity;
	struct category_line line = {
		.rank = identity->processes[identity->devices[device].process].rank,
		.kernel_ns = kernel_time_ns(costs, row),
	};

	line.cycles_core = (double)line.kernel_ns * costs->core_hz[device] / 1e9;
	if (ticks[2] && ticks[3] > ticks[2])
		line.cycles = ticks[3] - ticks[2];
	if (!cost)
		return line;
	line.phase = cost->phase;
	line.category = cost->category;
	line.ideal_cycles = cost->ideal_cycles;
	line.ideal_ns = kernel_ideal_ns(costs, device, cost->ideal_cycles);
	return line;
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct category_line *a = left, *b = right;
	const struct string_pool *strings = context;

	return ORDER((uint32_t)a->rank, (uint32_t)b->rank) ?: ORDER(a->phase, b->phase) ?:
	       ORDER(a->order, b->order) ?: ORDER(b->kernel_ns, a->kernel_ns) ?:
	       string_compare(strings, a->category, b->category);
}

int categories_count(struct categories *categories, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;
	struct map line_index = {0};
	int code = FLEXTRACE_OK;

	*categories = (struct categories){.strings = timeline->strings};
	if (!findings->costs)
		return FLEXTRACE_OK;
	TABLE_EACH(struct device_row, row, &timeline->device_rows) {
		struct category_line kernel;

		if (row->kind != ROW_EXEC || code < 0)
			continue;
		kernel = look_at(findings, row);
		code = count_kernel(categories, &line_index, &kernel);
	}
	map_release(&line_index);
	if (categories->n_lines)
		qsort_r(categories->lines, categories->n_lines, sizeof(categories->lines[0]),
		        compare_lines, (void *)timeline->strings);
	return code;
}

void categories_release(struct categories *categories)
{
	free(categories->lines);
}

const struct category_line *category_total(const struct category_line *line)
{
	while (line->order != CATEGORY_TOTAL)
		line++;
	return line;
}

/* -- rows ------------------------------------------------------------------------------------ */

struct category_row {
	struct category_line of;
	int64_t rank;
	const char *phase, *category;
	uint64_t cycles_core, ideal_ns;
	double frac_time, frac_cycles, frac_ideal, pt_util;
};

static const struct column columns[] = {
	COLUMN_OPTIONAL(struct category_row, rank),
	COLUMN(struct category_row, phase),
	COLUMN(struct category_row, category),
	COLUMN_AS("calls", struct category_row, of.calls),
	COLUMN_AS("kernel_ns", struct category_row, of.kernel_ns),
	COLUMN_FIXED(struct category_row, frac_time, 4),
	COLUMN_AS("cycles", struct category_row, of.cycles),
	COLUMN_FIXED(struct category_row, frac_cycles, 4),
	COLUMN(struct category_row, cycles_core),
	COLUMN_AS("ideal_cycles", struct category_row, of.ideal_cycles),
	COLUMN(struct category_row, ideal_ns),
	COLUMN_FIXED(struct category_row, frac_ideal, 4),
	COLUMN_FIXED(struct category_row, pt_util, 4),
};

static double share(double part, double all)
{
	return all > 0 ? part / all : (double)NAN;
}

static void put_line(const struct categories *categories, const struct category_line *line,
                     struct row_sink *sink)
{
	const struct category_line *total = category_total(line);

	row_put(sink, &(struct category_row){
			      .of = *line,
			      .rank = line->rank >= 0 ? line->rank : COLUMN_NONE_I64,
			      .phase = kernel_phase_name(line->phase),
			      .category = category_name(categories, line),
			      .cycles_core = (uint64_t)(line->cycles_core + 0.5),
			      .ideal_ns = (uint64_t)(line->ideal_ns + 0.5),
			      .frac_time = share((double)line->kernel_ns, (double)total->kernel_ns),
			      .frac_cycles = share((double)line->cycles, (double)total->cycles),
			      .frac_ideal = share((double)line->ideal_cycles,
	                                          (double)total->ideal_cycles),
			      .pt_util = share(line->ideal_ns, (double)line->kernel_ns),
		      });
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct categories categories;
	int code = categories_count(&categories, findings);

	for (uint32_t i = 0; code == FLEXTRACE_OK && i < categories.n_lines; i++)
		put_line(&categories, &categories.lines[i], sink);
	categories_release(&categories);
	return code;
}

const struct analysis analysis_categories =
	ANALYSIS_CSV("categories", columns, fill, .title = "Compiler categories",
                     .what = "Kernels by the compiler's category: calls, time, and how "
                             "busy the matrix unit was, which is ideal cycles divided by "
                             "measured cycles.");
