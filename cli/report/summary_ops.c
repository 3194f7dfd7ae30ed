/* SPDX-License-Identifier: Apache-2.0 */
#include "summary_ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli.h"
#include "rows.h"
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

static bool read_device_op(const struct rows *rows, struct op_row *row)
{
	const char *name = rows_field(rows, "name"), *notes = rows_field(rows, "notes");

	if (*name && strcmp(name, "kernel") != 0)
		snprintf(row->name, sizeof(row->name), "%s", name);
	else
		snprintf(row->name, sizeof(row->name), "job %s", rows_field(rows, "job"));
	row->bound = rows_field(rows, "bound");
	row->kernel_ns = rows_number(rows, "kernel_ns");
	row->gap_ns = rows_number(rows, "op_to_op_ns");
	row->is_late = strstr(notes, "late_cores");
	row->has_few_cores = strstr(notes, "few_cores");
	return row->kernel_ns > 0;
}

static bool read_op(const struct rows *rows, struct op_row *row)
{
	double n_cores = rows_number(rows, "CORE COUNT");

	snprintf(row->name, sizeof(row->name), "%s", rows_field(rows, "OP CODE"));
	row->kernel_ns = rows_number(rows, "DEVICE KERNEL DURATION [ns]");
	row->gap_ns = rows_number(rows, "OP TO OP LATENCY [ns]");
	row->bound = row->gap_ns > row->kernel_ns ? "gap" : "";
	row->is_late = false;
	row->has_few_cores = n_cores > 0 && n_cores < FEW_CORES;
	return row->kernel_ns > 0;
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

static void read_table(struct ops *ops, const char *dir, const char *file,
                       bool (*read)(const struct rows *rows, struct op_row *row))
{
	struct rows rows;
	struct op_row row;

	if (ops->n_ops || !rows_open(&rows, dir, file))
		return;
	while (csv_reader_next(&rows.reader, NULL) > 0) {
		if (read(&rows, &row))
			count_row(ops, &row);
	}
	rows_close(&rows);
}

static int compare_names(const void *left, const void *right)
{
	const struct op_name *a = left, *b = right;

	if (a->kernel_ns != b->kernel_ns)
		return a->kernel_ns > b->kernel_ns ? -1 : 1;
	return strcmp(a->name, b->name);
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

	fputs("    ", to);
	summary_cell(to, name->name, NAME_COLUMNS);
	fprintf(to, " %7" PRIu64 " %7.3f ms %5.1f%%  ", name->n, name->kernel_ns / 1e6,
	        100 * name->kernel_ns / ops->kernel_ns);
	if (bound) {
		fputs(cli_style(to, is_gap ? CLI_RED : CLI_PLAIN), to);
		summary_cell(to, bound->text, (int)strlen(bound->text));
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
		summary_cell(to, ops->behind_gap, (int)strlen(ops->behind_gap));
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

	read_table(&ops, dir, "device_ops.csv", read_device_op);
	read_table(&ops, dir, "ops.csv", read_op);
	if (ops.n) {
		qsort(ops.names, ops.n, sizeof(*ops.names), compare_names);
		fputs("  ", to);
		summary_cell(to, "operations of devices", NAME_COLUMNS + 2);
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
