/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_compile.csv: what the time that XLA compiled went to, by range. Threads that work for a range
 * share the time that they worked in, so that all adds up to the time of compilations.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis_impl.h"
#include "base/blocks.h"
#include "base/order.h"
#include "findings/work/call_tree.h"

enum { SAYS_COMPILE = 1, SAYS_WORKER = 2 };

struct compile_row {     /* by place in the host rows */
	uint32_t around; /* place: the range that a worker's is for; FLEXTRACE_NONE: no worker's */
	bool is_in;      /* of a compilation */
	uint64_t below_ns; /* of the rows directly within */
	/* Of what workers are for it: */
	int64_t first_ns, last_ns;
	uint64_t work_ns;  /* own times */
	uint64_t given_ns; /* of the time from the first start to the last end, what they got */
};

struct compile_group {
	struct group_key key;
	uint64_t ranges, worker_ranges, total_ns;
	int64_t self_ns;
	uint32_t process;
	double share_percent;
};

struct compile {
	const struct findings *findings; /* weak */
	struct call_tree tree;           /* weak */
	struct compile_row *rows;        /* owned */
	uint8_t *classes;                /* owned: by name of the tree, what it says */
	uint32_t *latest; /* owned: by process, the newest range of a compiling thread */
	struct name_groups groups;
	uint64_t total_ns; /* of outermost ranges */
};

static const struct column columns[] = {
	COLUMN_STRING("name", struct compile_group, key.name),
	COLUMN(struct compile_group, ranges),
	COLUMN(struct compile_group, worker_ranges),
	COLUMN(struct compile_group, total_ns),
	COLUMN(struct compile_group, self_ns),
	COLUMN_FIXED(struct compile_group, share_percent, 2),
	COLUMNS_PROCESS(struct compile_group, process),
};

/* -- which rows -------------------------------------------------------------------------------- */

static uint8_t class_of(const char *name)
{
	static const char *const workers[] = {"Xla", "Hlo", "LLVM", "Compil", "Autotun"};

	if (strstr(name, "XlaCompile") || strstr(name, "backend_compile"))
		return SAYS_COMPILE | SAYS_WORKER;
	for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++) {
		if (strstr(name, workers[i]))
			return SAYS_WORKER;
	}
	return 0;
}

static uint64_t duration_of(const struct call *call)
{
	return interval_ns(call->row->start_time_ns, call->row->end_time_ns);
}

/* The innermost range of a compiling thread that a row is within in time. */
static uint32_t find_around(const struct compile *compile, const struct call *call)
{
	const struct call *calls = compile->tree.calls;
	uint32_t at = compile->latest[call->process];

	while (at != FLEXTRACE_NONE && calls[at].row->end_time_ns < call->row->end_time_ns)
		at = calls[at].parent;
	return at != FLEXTRACE_NONE && compile->rows[at].is_in &&
	                       calls[at].row->track != call->row->track
	               ? at
	               : FLEXTRACE_NONE;
}

/* Finds whether a row is of a compilation; parents were asked before. */
static void look(struct compile *compile, uint32_t place)
{
	const struct call *call = &compile->tree.calls[place];
	struct compile_row *row = &compile->rows[place];
	uint32_t parent = call->parent;

	*row = (struct compile_row){.around = FLEXTRACE_NONE};
	if (parent != FLEXTRACE_NONE && compile->rows[parent].is_in) {
		row->is_in = true;
		row->around = compile->rows[parent].around;
		compile->rows[parent].below_ns += duration_of(call);
	} else {
		uint8_t class = compile->classes[call->name];

		if (class & SAYS_WORKER)
			row->around = find_around(compile, call);
		row->is_in = row->around != FLEXTRACE_NONE || class & SAYS_COMPILE;
		if (row->is_in && row->around == FLEXTRACE_NONE)
			compile->total_ns += duration_of(call);
	}
	if (row->is_in && row->around == FLEXTRACE_NONE)
		compile->latest[call->process] = place;
}

/* -- what they took ---------------------------------------------------------------------------- */

/* Own times of workers' ranges, by the range that they are for. */
static void gather(struct compile *compile, uint32_t place)
{
	const struct call *call = &compile->tree.calls[place];
	const struct compile_row *row = &compile->rows[place];
	struct compile_row *around;

	if (row->around == FLEXTRACE_NONE)
		return;
	around = &compile->rows[row->around];
	if (!around->last_ns || call->row->start_time_ns < around->first_ns)
		around->first_ns = call->row->start_time_ns;
	if (!around->last_ns || call->row->end_time_ns > around->last_ns)
		around->last_ns = call->row->end_time_ns;
	around->work_ns += duration_of(call) - row->below_ns;
}

/* The share of a worker's range of the time that workers were there for the same range. */
static uint64_t share_of(struct compile *compile, uint32_t place)
{
	const struct compile_row *row = &compile->rows[place];
	struct compile_row *around = &compile->rows[row->around];
	uint64_t own_ns = duration_of(&compile->tree.calls[place]) - row->below_ns, share_ns;

	if (!around->work_ns)
		return 0;
	share_ns = (uint64_t)((unsigned __int128)interval_ns(around->first_ns, around->last_ns) *
	                      own_ns / around->work_ns);
	around->given_ns += share_ns;
	return share_ns;
}

static int count(struct compile *compile, uint32_t place, int64_t self_ns)
{
	const struct call *call = &compile->tree.calls[place];
	struct group_key key = {.name = call->row->name};
	struct compile_group *group;
	uint32_t found;

	key.owner = compile->findings->owners->positions[call->process];
	FLEXTRACE_TRY(name_groups_find(&compile->groups, &key, &found));
	group = name_groups_at(&compile->groups, found);
	group->process = call->process;
	group->ranges++;
	group->worker_ranges += compile->rows[place].around != FLEXTRACE_NONE;
	group->total_ns += duration_of(call);
	group->self_ns += self_ns;
	return FLEXTRACE_OK;
}

/* A range itself has what its workers did not get of the time without ranges within it. Workers
 * stand behind the range that they are for. */
static int count_all(struct compile *compile)
{
	for (uint32_t i = compile->tree.n; i-- > 0;) {
		const struct compile_row *row = &compile->rows[i];
		uint64_t own_ns = duration_of(&compile->tree.calls[i]) - row->below_ns;

		if (!row->is_in)
			continue;
		FLEXTRACE_TRY(count(compile, i,
		                    row->around != FLEXTRACE_NONE
		                            ? (int64_t)share_of(compile, i)
		                            : (int64_t)(own_ns - row->given_ns)));
	}
	return FLEXTRACE_OK;
}

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct compile *compile = context;
	const uint32_t *places[2] = {left, right};
	const struct compile_group *a = name_groups_at(&compile->groups, *places[0]);
	const struct compile_group *b = name_groups_at(&compile->groups, *places[1]);

	return ORDER(a->key.owner, b->key.owner) ?: ORDER(b->self_ns, a->self_ns) ?:
	       string_compare(compile->findings->timeline->strings, a->key.name, b->key.name);
}

/* Whether any name is that of a compilation. */
static bool read_names(struct compile *compile)
{
	const struct string_pool *strings = compile->findings->timeline->strings;
	bool is_told = false;

	for (uint32_t i = 0; i < compile->tree.names.n; i++) {
		uint32_t name = call_name_at(&compile->tree, i)->key.name;

		compile->classes[i] = class_of(string_get(strings, name));
		is_told |= (compile->classes[i] & SAYS_COMPILE) != 0;
	}
	return is_told;
}

static int run(struct compile *compile)
{
	uint64_t n_processes = compile->findings->timeline->identity->n_processes + 1ull;

	FLEXTRACE_TRY(call_tree_borrow(&compile->tree, compile->findings));
	compile->classes = malloc(compile->tree.names.n + 1ull);
	if (!compile->classes)
		return FLEXTRACE_E_MEMORY;
	if (!read_names(compile))
		return FLEXTRACE_OK;
	name_groups_init(&compile->groups, sizeof(struct compile_group), compile->tree.n + 1ull);
	FLEXTRACE_TRY(BLOCKS_NEW(compile->rows, compile->tree.n + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(compile->latest, n_processes));
	memset(compile->latest, 0xff, n_processes * sizeof(*compile->latest));
	for (uint32_t i = 0; i < compile->tree.n; i++)
		look(compile, i);
	for (uint32_t i = 0; i < compile->tree.n; i++)
		gather(compile, i);
	FLEXTRACE_TRY(count_all(compile));
	return name_groups_sort(&compile->groups, compare_groups, compile);
}

/* -- the table --------------------------------------------------------------------------------- */

static int fill(const struct findings *findings, struct row_sink *sink)
{
	struct compile compile = {.findings = findings};
	int code = run(&compile);

	for (uint32_t i = 0; i < compile.groups.n && code == FLEXTRACE_OK; i++) {
		struct compile_group *group = name_groups_line(&compile.groups, i);

		group->share_percent = compile.total_ns ? 100.0 * (double)group->self_ns /
		                                                  (double)compile.total_ns
		                                        : NAN;
		row_put(sink, group);
	}
	name_groups_release(&compile.groups);
	free(compile.classes);
	blocks_free(compile.rows);
	free(compile.latest);
	return code;
}

const struct analysis analysis_hlo_compile =
	ANALYSIS_CSV("hlo_compile", columns, fill, .title = "Compilation by XLA",
                     .what = "What the time of compilations went to, by range. Threads "
                             "that worked at once share the time that they were there.");
