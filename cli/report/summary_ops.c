/* SPDX-License-Identifier: Apache-2.0 */
#include "summary_ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tt-metal/device_ops.h"
#include "analysis/tt-metal/ops_columns.h"
#include "base/array.h"
#include "base/order.h"
#include "terminal/cli.h"
#include "model/timeline/rows.h"
#include "summary_impl.h"

#define N_TOP        5
#define MAX_NAMES    1024 /* that are told apart */
#define NAME_COLUMNS 36
#define GAP_NS       6500.0 /* as in device_ops.csv */
#define FEW_CORES    10

#define N_BOUNDS 8 /* of one name that are told apart */

struct op_bound {
	char text[24];
	uint64_t n;
};

/* Operations of one name. */
struct op_name {
	char *name; /* owned */
	struct op_bound bounds[N_BOUNDS];
	uint64_t n;
	double kernel_ns;
};

struct ops {
	struct op_name *names; /* owned */
	uint32_t n, n_allocated;
	double kernel_ns, gap_ns, longest_gap_ns;
	uint64_t n_ops, n_gaps, n_late, n_few;
	char behind_gap[1024]; /* what the longest pause is before */
};

/* What a row of either table says. */
struct op_row {
	char name[1024];
	const char *bound; /* weak */
	double kernel_ns, gap_ns;
	bool is_late, has_few_cores;
};

static struct op_row read_device_op(const struct device_op_row *of)
{
	struct op_row row = {
		.bound = of->bound,
		.kernel_ns = of->kernel_ns > 0 ? of->kernel_ns : 0,
		.gap_ns = of->op_to_op_ns > 0 ? of->op_to_op_ns : 0,
		.is_late = strstr(of->notes, "late_cores"),
		.has_few_cores = strstr(of->notes, "few_cores"),
	};

	if (*of->name && strcmp(of->name, "kernel") != 0)
		snprintf(row.name, sizeof(row.name), "%s", of->name);
	else
		snprintf(row.name, sizeof(row.name), "job %" PRIu32, of->job);
	return row;
}

static struct op_row read_op(const struct ops_row *of)
{
	struct op_row row = {
		.kernel_ns = of->work.kernel_ns != COLUMN_NONE_U64 ? (double)of->work.kernel_ns : 0,
		.gap_ns = of->work.latency_ns != COLUMN_NONE_I64 ? (double)of->work.latency_ns : 0,
		.has_few_cores = of->n_cores > 0 && of->n_cores < FEW_CORES,
	};

	snprintf(row.name, sizeof(row.name), "%s", of->code);
	row.bound = row.gap_ns > row.kernel_ns ? "gap" : "";
	return row;
}

/* Bounds beyond N_BOUNDS are not told. */
static void count_bound(struct op_name *name, const char *bound)
{
	for (uint32_t i = 0; i < N_BOUNDS; i++) {
		struct op_bound *at = &name->bounds[i];

		if (at->n && strcmp(at->text, bound) != 0)
			continue;
		snprintf(at->text, sizeof(at->text), "%s", bound);
		at->n++;
		return;
	}
}

/* Those beyond MAX_NAMES count in the sums only. */
static void count_name(struct ops *ops, const struct op_row *row)
{
	uint32_t i = 0;

	while (i < ops->n && strcmp(ops->names[i].name, row->name) != 0)
		i++;
	if (i == MAX_NAMES || ARRAY_RESERVE(ops->names, ops->n_allocated, i + 1ull) < 0)
		return;
	if (i == ops->n) {
		ops->names[i] = (struct op_name){.name = strdup(row->name)};
		if (!ops->names[i].name)
			return;
		ops->n++;
	}
	ops->names[i].n++;
	ops->names[i].kernel_ns += row->kernel_ns;
	count_bound(&ops->names[i], row->bound);
}

static void count_row(struct ops *ops, const struct op_row *row)
{
	if (!(row->kernel_ns > 0))
		return;
	count_name(ops, row);
	ops->n_ops++;
	ops->kernel_ns += row->kernel_ns;
	ops->n_late += row->is_late;
	ops->n_few += row->has_few_cores;
	if (row->gap_ns <= GAP_NS)
		return;
	ops->n_gaps++;
	ops->gap_ns += row->gap_ns;
	if (row->gap_ns <= ops->longest_gap_ns)
		return;
	ops->longest_gap_ns = row->gap_ns;
	memcpy(ops->behind_gap, row->name, sizeof(ops->behind_gap));
}

static void read_device_ops(struct ops *ops, const char *dir)
{
	struct device_op_row of = {0};
	struct op_row row;
	struct rows rows;

	if (!rows_open(&rows, dir, "device_ops.csv", device_op_columns, DEVICE_OP_COLUMNS, NULL))
		return;
	while (rows_next(&rows, &of, NULL)) {
		row = read_device_op(&of);
		count_row(ops, &row);
	}
	rows_close(&rows);
}

/* Where there are no others. */
static void read_ops(struct ops *ops, const char *dir)
{
	struct ops_row of = {0};
	struct op_row row;
	struct rows rows;

	if (ops->n_ops ||
	    !rows_open(&rows, dir, "ops.csv", ops_groups[0].columns, ops_groups[0].n, NULL))
		return;
	while (rows_next(&rows, &of, NULL)) {
		row = read_op(&of);
		count_row(ops, &row);
	}
	rows_close(&rows);
}

static int compare_names(const void *left, const void *right)
{
	const struct op_name *a = left, *b = right;

	return ORDER(b->kernel_ns, a->kernel_ns) ?: strcmp(a->name, b->name);
}

/* What bounds most of them; NULL: nothing does. */
static const struct op_bound *main_bound(const struct op_name *name)
{
	const struct op_bound *most = NULL;

	for (uint32_t i = 0; i < N_BOUNDS; i++) {
		const struct op_bound *bound = &name->bounds[i];

		if (bound->n && bound->text[0] && (!most || bound->n > most->n))
			most = bound;
	}
	return most;
}

static void print_name(FILE *to, const struct ops *ops, const struct op_name *name)
{
	const struct op_bound *bound = main_bound(name);
	bool is_gap = bound && strcmp(bound->text, "gap") == 0;

	summary_cell(to, "    ", name->name, NAME_COLUMNS);
	fprintf(to, " %7" PRIu64 " %7.3f ms %5.1f%%  ", name->n, name->kernel_ns / 1e6,
	        100 * name->kernel_ns / ops->kernel_ns);
	if (bound) {
		summary_cell(to, cli_style(to, is_gap ? CLI_RED : CLI_PLAIN), bound->text,
		             (int)strlen(bound->text));
		fputs(cli_style(to, CLI_PLAIN), to);
	}
	if (bound && bound->n < name->n)
		fprintf(to, " (%" PRIu64 ")", bound->n);
	fputc('\n', to);
}

static void print_advice(FILE *to, const struct ops *ops)
{
	double busy_ns = ops->kernel_ns + ops->gap_ns;

	if (ops->n_gaps) {
		fprintf(to,
		        "  %sgaps%s: %" PRIu64
		        " pauses of more than 6.5 us, %.3f ms or %.1f%% of the "
		        "time; the longest, %.3f ms, before ",
		        cli_style(to, CLI_RED), cli_style(to, CLI_PLAIN), ops->n_gaps,
		        ops->gap_ns / 1e6, 100 * ops->gap_ns / busy_ns, ops->longest_gap_ns / 1e6);
		summary_cell(to, "", ops->behind_gap, (int)strlen(ops->behind_gap));
		fputs(". Let the host run ahead, or replay a captured trace\n", to);
	}
	if (ops->n_late)
		fprintf(to,
		        "  late cores: %" PRIu64
		        " operations whose last core began in their second "
		        "half. Look at how they are dispatched\n",
		        ops->n_late);
	if (ops->n_few)
		fprintf(to,
		        "  few cores: %" PRIu64
		        " operations on less than %d cores. Spread them over "
		        "the grid\n",
		        ops->n_few, FEW_CORES);
}

void summary_print_ops(FILE *to, const char *dir)
{
	struct ops ops = {0};

	read_device_ops(&ops, dir);
	read_ops(&ops, dir);
	if (ops.n) {
		qsort(ops.names, ops.n, sizeof(*ops.names), compare_names);
		summary_cell(to, "  ", "operations of devices", NAME_COLUMNS + 2);
		fputs("   calls      total  share  bound\n", to);
	}
	for (uint32_t i = 0; i < ops.n && i < N_TOP; i++)
		print_name(to, &ops, &ops.names[i]);
	if (ops.n)
		print_advice(to, &ops);
	for (uint32_t i = 0; i < ops.n; i++)
		free(ops.names[i].name);
	free(ops.names);
}
