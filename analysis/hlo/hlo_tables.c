/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_modules.csv, hlo_ops.csv, hlo_opcodes.csv: device work of programs that XLA compiled, by
 * module, by instruction and by opcode, warm-up and autotuning apart.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/analysis_impl.h"
#include "base/array.h"
#include "hlo.h"

struct hlo_row {
	const char *part, *phase;
	const char *module_name, *name, *opcode, *op_name, *source;
	uint64_t program, ops, executions, kernels;
	int64_t total_ns;
	struct spread time, each;
	uint64_t active_ns, idle_ns;
	double share_percent, variation_percent;
	uint32_t process;
};

struct hlo_tables {
	const struct findings *findings; /* weak */
	struct hlo hlo;
	struct stats times;   /* names are strings of the pool of hlo; kinds are phases */
	struct stats kernels; /* of each of their executions */
	uint64_t *active_ns;  /* owned: by group of `times` */
	uint32_t n_active;
	struct map label_of; /* place of an instruction or module -> its label */
	struct map place_of; /* label -> place */
};

static int start(struct hlo_tables *tables, const struct findings *findings)
{
	*tables = (struct hlo_tables){.findings = findings};
	FLEXTRACE_TRY(hlo_init(&tables->hlo, findings));
	stats_init(&tables->times, tables->hlo.pool, hlo_phase_name, tables->hlo.n_pieces + 1ull);
	stats_init(&tables->kernels, tables->hlo.pool, hlo_phase_name, tables->hlo.n_runs + 1ull);
	return FLEXTRACE_OK;
}

static void release(struct hlo_tables *tables)
{
	stats_release(&tables->times);
	stats_release(&tables->kernels);
	map_release(&tables->label_of);
	map_release(&tables->place_of);
	free(tables->active_ns);
	hlo_release(&tables->hlo);
}

/* Stores a string that stands for one thing only and sorts as its texts do. */
static int label(struct hlo_tables *tables, uint32_t place, const char *of, uint32_t module,
                 uint32_t *ret_label)
{
	const struct hlo_module *at = &tables->hlo.modules[module];
	char *text;
	int code;

	*ret_label = map_find(&tables->label_of, place, 0);
	if (*ret_label != MAP_NONE)
		return FLEXTRACE_OK;
	if (asprintf(&text, "%s\x01%s\x01%020llu", string_get(tables->hlo.pool, at->name), of,
	             (unsigned long long)at->program) < 0)
		return FLEXTRACE_E_MEMORY;
	code = string_intern(&tables->hlo.cache, text, ret_label);
	free(text);
	FLEXTRACE_TRY(code);
	FLEXTRACE_TRY(map_put(&tables->place_of, *ret_label, 0, place));
	return map_put(&tables->label_of, place, 0, *ret_label);
}

/* The part of a row that all three tables have: of a line of `times`. */
static struct hlo_row row_of(struct hlo_tables *tables, uint32_t line)
{
	const struct stats_group *group = stats_line(&tables->times, line);
	struct hlo_row row = {.total_ns = (int64_t)group->total_ns, .kernels = group->calls};

	stats_spread(&tables->times, group, &row.time);
	row.share_percent = stats_share_percent(&tables->times, line);
	row.variation_percent = 100.0 * (double)row.time.deviation * group->calls /
	                        (double)group->total_ns;
	row.process = tables->findings->owners->processes[group->key.owner];
	row.phase = hlo_phase_name(group->key.kind);
	return row;
}

static struct hlo_row of_module(const struct hlo_tables *tables, struct hlo_row row,
                                uint32_t module)
{
	row.module_name = string_get(tables->hlo.pool, tables->hlo.modules[module].name);
	row.program = tables->hlo.modules[module].program;
	return row;
}

#define TEXT(member) COLUMN(struct hlo_row, member)
#define PHASE        COLUMN_TYPED("phase", WORD, const char *, false, struct hlo_row, phase)
#define MODULE                                            \
	COLUMN_AS("module", struct hlo_row, module_name), \
		COLUMN_NONZERO("program_id", struct hlo_row, program)
#define SPREAD(name, member)                                             \
	COLUMN_INIT("mean_" name, struct hlo_row, member.mean, true, 0), \
		COLUMN_INIT("stddev_" name, struct hlo_row, member.deviation, true, 0)

/* -- modules ----------------------------------------------------------------------------------- */

static int count_run(struct hlo_tables *tables, const struct hlo_run *run)
{
	const struct identity *identity = tables->findings->timeline->identity;
	struct group_key key = {.kind = run->phase};
	uint32_t place;

	key.owner = tables->findings->owners->positions[identity->devices[run->device].process];
	FLEXTRACE_TRY(label(tables, run->module, "", run->module, &key.name));
	FLEXTRACE_TRY(stats_count(&tables->times, &key,
	                          interval_ns(run->start_time_ns, run->end_time_ns), &place));
	FLEXTRACE_TRY(ARRAY_RESERVE(tables->active_ns, tables->n_active, place + 1ull));
	tables->active_ns[place] += cover_total_ns(&run->active);
	return stats_count(&tables->kernels, &key, run->n_kernels, &place);
}

static const struct column modules_columns[] = {
	COLUMN_TYPED("part", WORD, const char *, false, struct hlo_row, part),
	MODULE,
	PHASE,
	COLUMN_OPTIONAL(struct hlo_row, executions),
	SPREAD("kernels", each),
	TEXT(total_ns),
	SPREAD("ns", time),
	COLUMN_FIXED(struct hlo_row, share_percent, 2),
	COLUMN_OPTIONAL(struct hlo_row, active_ns),
	TEXT(idle_ns),
	COLUMNS_PROCESS(struct hlo_row, process),
};

static void put_between(uint32_t process, uint64_t idle_ns, struct row_sink *sink)
{
	row_put(sink, &(struct hlo_row){
			      .part = "between",
			      .phase = "",
			      .time = SPREAD_NONE,
			      .each = SPREAD_NONE,
			      .executions = COLUMN_NONE_U64,
			      .share_percent = NAN,
			      .active_ns = COLUMN_NONE_U64,
			      .total_ns = (int64_t)idle_ns,
			      .idle_ns = idle_ns,
			      .process = process,
		      });
}

static void put_modules(struct hlo_tables *tables, const uint64_t *between_ns,
                        struct row_sink *sink)
{
	uint32_t n = tables->times.groups.n;

	for (uint32_t i = 0; i < n; i++) {
		const struct stats_group *group = stats_line(&tables->times, i);
		uint32_t place = tables->times.groups.order[i];
		struct hlo_row row = row_of(tables, i);

		row = of_module(tables, row, map_find(&tables->place_of, group->key.name, 0));
		row.part = "module";
		row.executions = group->calls;
		stats_spread(&tables->kernels, name_groups_at(&tables->kernels.groups, place),
		             &row.each);
		row.active_ns = tables->active_ns[place];
		row.idle_ns = group->total_ns - row.active_ns;
		row_put(sink, &row);
		if (i + 1 == n || stats_line(&tables->times, i + 1)->key.owner != group->key.owner)
			put_between(row.process, between_ns[row.process], sink);
	}
}

static int fill_modules(const struct findings *findings, struct row_sink *sink)
{
	uint64_t *between_ns = calloc(findings->timeline->identity->n_processes + 1ull,
	                              sizeof(*between_ns));
	struct hlo_tables tables;
	int code = start(&tables, findings);

	if (!between_ns)
		code = FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < tables.hlo.n_runs && code == FLEXTRACE_OK; i++)
		code = count_run(&tables, &tables.hlo.runs[i]);
	if (code == FLEXTRACE_OK)
		code = hlo_find_between(&tables.hlo, between_ns);
	if (code == FLEXTRACE_OK)
		code = stats_finish(&tables.times);
	if (code == FLEXTRACE_OK)
		code = stats_finish(&tables.kernels);
	if (code == FLEXTRACE_OK)
		put_modules(&tables, between_ns, sink);
	release(&tables);
	free(between_ns);
	return code;
}

/* -- instructions, opcodes ------------------------------------------------------------------- */

static int count_piece(struct hlo_tables *tables, const struct hlo_piece *piece, bool by_opcode)
{
	const struct hlo *hlo = &tables->hlo;
	struct group_key key = {.kind = HLO_AUTOTUNING};
	uint32_t group;

	key.owner = tables->findings->owners->positions[piece->process];
	if (piece->op != FLEXTRACE_NONE) {
		const struct hlo_op *op = &hlo->ops[piece->op];

		key.kind = hlo->runs[piece->run].phase;
		key.name = op->opcode;
		if (!by_opcode)
			FLEXTRACE_TRY(label(tables, piece->op, string_get(hlo->pool, op->name),
			                    op->module, &key.name));
	}
	return stats_count(&tables->times, &key, piece->time_ns, &group);
}

static const struct column ops_columns[] = {
	TEXT(name),
	TEXT(opcode),
	MODULE,
	PHASE,
	TEXT(kernels),
	TEXT(total_ns),
	SPREAD("ns", time),
	COLUMN_FIXED(struct hlo_row, variation_percent, 2),
	COLUMN_FIXED(struct hlo_row, share_percent, 2),
	TEXT(op_name),
	COLUMN_AS("source_line", struct hlo_row, source),
	COLUMNS_PROCESS(struct hlo_row, process),
};

static const struct column opcodes_columns[] = {
	TEXT(opcode),
	PHASE,
	TEXT(kernels),
	TEXT(total_ns),
	SPREAD("ns", time),
	COLUMN_FIXED(struct hlo_row, share_percent, 2),
	COLUMNS_PROCESS(struct hlo_row, process),
};

static struct hlo_row of_op(const struct hlo_tables *tables, struct hlo_row row, uint32_t place)
{
	const struct hlo_op *op = &tables->hlo.ops[place];

	row = of_module(tables, row, op->module);
	row.name = string_get(tables->hlo.pool, op->name);
	row.opcode = string_get(tables->hlo.pool, op->opcode);
	row.op_name = string_get(tables->hlo.pool, op->op_name);
	row.source = string_get(tables->hlo.pool, op->source);
	return row;
}

static int fill_pieces(const struct findings *findings, bool by_opcode, struct row_sink *sink)
{
	struct hlo_tables tables;
	int code = start(&tables, findings);

	for (uint32_t i = 0; i < tables.hlo.n_pieces && code == FLEXTRACE_OK; i++)
		code = count_piece(&tables, &tables.hlo.pieces[i], by_opcode);
	if (code == FLEXTRACE_OK)
		code = stats_finish(&tables.times);
	for (uint32_t i = 0; i < tables.times.groups.n && code == FLEXTRACE_OK; i++) {
		uint32_t name = stats_line(&tables.times, i)->key.name;
		uint32_t place = map_find(&tables.place_of, name, 0);
		struct hlo_row row = row_of(&tables, i);

		if (by_opcode)
			row.opcode = string_get(tables.hlo.pool, name);
		else if (place != MAP_NONE)
			row = of_op(&tables, row, place);
		row_put(sink, &row);
	}
	release(&tables);
	return code;
}

static int fill_ops(const struct findings *findings, struct row_sink *sink)
{
	return fill_pieces(findings, false, sink);
}

static int fill_opcodes(const struct findings *findings, struct row_sink *sink)
{
	return fill_pieces(findings, true, sink);
}

const struct analysis analysis_hlo_modules =
	ANALYSIS_CSV("hlo_modules", modules_columns, fill_modules, .title = "Modules of XLA",
                     .what = "Modules that XLA compiled: how often each was executed, its "
                             "kernels, and how long an execution took, with mean and "
                             "standard deviation.");
const struct analysis analysis_hlo_ops =
	ANALYSIS_CSV("hlo_ops", ops_columns, fill_ops, .title = "Operations of XLA",
                     .what = "Operations of XLA's modules by name: executions and "
                             "durations, with mean and standard deviation.");
const struct analysis analysis_hlo_opcodes = ANALYSIS_CSV("hlo_opcodes", opcodes_columns,
                                                          fill_opcodes, .title = "Opcodes of XLA",
                                                          .what = "The same summed up by opcode.");
