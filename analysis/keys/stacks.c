/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.csv: own time of host calls, and time of device work, by the stack of calls: as flame
 * graphs want it. Of compiled programs also by what the framework calls their parts.
 */
#include <stdlib.h>

#include "analysis/analysis_impl.h"
#include "analysis/hlo/hlo.h"
#include "base/array.h"
#include "base/blocks.h"
#include "base/order.h"
#include "base/text/json_value.h"
#include "name_trie.h"

struct stack_times {
	uint64_t host_self_ns, device_ns;
};

struct process_stacks {
	struct name_trie trie;
	struct stack_times *times; /* owned: by node */
	uint32_t n_times;          /* that there is room for */
};

struct stack_place {
	uint32_t node;
	uint32_t around; /* place; FLEXTRACE_NONE: none */
};

struct stacks {
	const struct timeline *timeline; /* weak, both */
	const struct call *calls;
	struct stack_place *places;       /* owned, all: by place in the host rows */
	uint32_t *innermost;              /* by thread, its latest row that may be open */
	struct process_stacks *processes; /* by process */
};

struct stack_row {
	const char *kind;
	const char *stack;
	uint64_t host_self_ns, device_ns;
	uint32_t process;
};

static const struct column columns[] = {
	COLUMN_TYPED("kind", WORD, const char *, false, struct stack_row, kind),
	COLUMN(struct stack_row, stack),
	COLUMN_OPTIONAL(struct stack_row, host_self_ns),
	COLUMN_OPTIONAL(struct stack_row, device_ns),
	COLUMNS_PROCESS(struct stack_row, process),
};

/* -- counting ---------------------------------------------------------------------------------- */

static int step(struct process_stacks *of, uint32_t around, uint32_t name, uint32_t *ret_node)
{
	int is_new = name_trie_step(&of->trie, around, name, ret_node);

	return is_new < 0 ? is_new : ARRAY_RESERVE(of->times, of->n_times, of->trie.n);
}

static uint32_t node_at(const struct stacks *stacks, uint32_t place)
{
	return place == FLEXTRACE_NONE ? 0 : stacks->places[place].node;
}

/*
 * Closes what a row of a thread crosses, as torch does: the frames in which Python opens and closes
 * a scope end behind its begin. The time from there on is the scope's, and no longer theirs, so
 * that no time of a thread is in two stacks.
 */
static void close_crossed(struct stacks *stacks, struct stack_times *times,
                          const struct host_row *row, uint32_t *innermost)
{
	while (*innermost != FLEXTRACE_NONE) {
		const struct host_row *open = stacks->calls[*innermost].row;
		uint32_t around = stacks->places[*innermost].around;
		bool has_ended = call_has_ended(open, row);
		uint64_t both_ns = has_ended ? 0
		                             : interval_ns(row->start_time_ns, open->end_time_ns);

		if (!has_ended && open->end_time_ns >= row->end_time_ns)
			return;
		times[node_at(stacks, *innermost)].host_self_ns -= both_ns;
		times[node_at(stacks, around)].host_self_ns += both_ns;
		*innermost = around;
	}
}

/* Steps and windows are marks on the time: they have the stack of what is open when they begin. */
static int count_call(struct stacks *stacks, uint32_t place)
{
	const struct call *call = &stacks->calls[place];
	struct stack_place *at = &stacks->places[place];
	const struct track *track = &stacks->timeline->tracks[call->row->track];
	struct process_stacks *of = &stacks->processes[call->process];
	uint64_t time_ns = interval_ns(call->row->start_time_ns, call->row->end_time_ns);
	uint32_t none = FLEXTRACE_NONE, around;
	uint32_t *innermost = track->kind == TRACK_THREAD ? &stacks->innermost[track->owner]
	                                                  : &none;

	if (call_is_mark(call->row)) {
		at->node = node_at(stacks, *innermost);
		return FLEXTRACE_OK;
	}
	close_crossed(stacks, of->times, call->row, innermost);
	at->around = *innermost;
	*innermost = place;
	around = node_at(stacks, at->around);
	FLEXTRACE_TRY(step(of, around, call->row->name, &at->node));
	of->times[at->node].host_self_ns += time_ns;
	of->times[around].host_self_ns -= time_ns;
	return FLEXTRACE_OK;
}

static int count_piece(struct stacks *stacks, const struct work *work)
{
	uint32_t around = node_at(stacks, work->launch), leaf;
	struct process_stacks *of = &stacks->processes[work->process];

	FLEXTRACE_TRY(step(of, around, work->name, &leaf));
	of->times[leaf].device_ns += interval_ns(work->row->start_time_ns, work->row->end_time_ns);
	return FLEXTRACE_OK;
}

static int count(struct stacks *stacks, const struct findings *findings)
{
	const struct timeline *timeline = stacks->timeline;
	struct work_reader reader;
	struct call_tree tree;
	struct work work;
	int code;

	FLEXTRACE_TRY(call_tree_borrow(&tree, findings));
	stacks->calls = tree.calls;
	FLEXTRACE_TRY(BLOCKS_NEW(stacks->places, tree.n + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(stacks->processes, timeline->identity->n_processes + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(stacks->innermost, timeline->identity->n_threads + 1ull));
	for (uint32_t i = 0; i < timeline->identity->n_threads; i++)
		stacks->innermost[i] = FLEXTRACE_NONE;
	for (uint32_t i = 0; i < tree.n; i++) {
		blocks_pass(i, CALL_PASS_BYTES + sizeof(*stacks->places));
		FLEXTRACE_TRY(count_call(stacks, i));
	}
	code = work_read(&reader, timeline);
	while (code == FLEXTRACE_OK && (code = work_next(&reader, &work)) > 0)
		code = count_piece(stacks, &work);
	work_release(&reader);
	return code;
}

/* -- lines ------------------------------------------------------------------------------------- */

enum stack_kind { STACK_HOST, STACK_DEVICE, STACK_OP_NAME };

struct stack_order {
	const struct process_stacks *of; /* weak, both */
	const struct string_pool *strings;
	enum stack_kind kind;
	uint32_t process;
};

static uint64_t time_of(const struct stack_order *order, uint32_t node)
{
	const struct stack_times *times = &order->of->times[node];

	return order->kind == STACK_HOST ? times->host_self_ns : times->device_ns;
}

/* The largest first; nodes are in order of first rows. */
static int compare_nodes(const void *left, const void *right, void *context)
{
	const uint32_t *a = left, *b = right;

	return ORDER(time_of(context, *b), time_of(context, *a)) ?: ORDER(*a, *b);
}

static int put_stack(const struct stack_order *order, uint32_t node, struct writer *text,
                     struct row_sink *sink)
{
	static const char *const kinds[] = {"host", "device", "op_name"};
	struct stack_row row = {
		.kind = kinds[order->kind],
		.host_self_ns = COLUMN_NONE_U64,
		.device_ns = COLUMN_NONE_U64,
		.process = order->process,
	};

	*(order->kind == STACK_HOST ? &row.host_self_ns : &row.device_ns) = time_of(order, node);
	text->at = text->buffer;
	FLEXTRACE_TRY(name_trie_write(&order->of->trie, order->strings, node, text));
	writer_char(text, '\0');
	if (writer_failed(text))
		return FLEXTRACE_E_MEMORY;
	row.stack = text->buffer;
	row_put(sink, &row);
	return FLEXTRACE_OK;
}

/* Puts the stacks that took time. */
static int put_stacks(struct stack_order order, struct row_sink *sink)
{
	uint32_t *nodes = malloc((order.of->trie.n + 1ull) * sizeof(*nodes)), n = 0;
	int code = nodes ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	struct writer text;

	for (uint32_t i = 1; nodes && i < order.of->trie.n; i++) {
		if (time_of(&order, i))
			nodes[n++] = i;
	}
	if (n)
		qsort_r(nodes, n, sizeof(*nodes), compare_nodes, &order);
	writer_open_memory(&text);
	for (uint32_t i = 0; i < n && code == FLEXTRACE_OK; i++)
		code = put_stack(&order, nodes[i], &text, sink);
	writer_abandon(&text);
	free(nodes);
	return code;
}

/* -- names of the framework -------------------------------------------------------------------- */

/* "jit(f)/jit(main)/dot_general": a frame for each part, below the module. */
static int step_path(struct hlo *hlo, struct process_stacks *of, const char *path, uint32_t *node)
{
	char *copy = strdup(path), *rest = copy, *part;
	int code = copy ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
	uint32_t name;

	while (code == FLEXTRACE_OK && (part = strsep(&rest, "/"))) {
		code = *part ? string_intern(&hlo->cache, part, &name) : FLEXTRACE_OK;
		if (code == FLEXTRACE_OK && *part)
			code = step(of, *node, name, node);
	}
	free(copy);
	return code;
}

/* The stacks of an instruction of a process: several of a fusion of several things. */
struct op_paths {
	uint32_t *nodes; /* owned */
	uint32_t n;
};

static int add_path(struct hlo *hlo, struct process_stacks *of, const struct hlo_op *op,
                    const char *path, struct op_paths *paths)
{
	uint32_t node;

	FLEXTRACE_TRY(step(of, 0, hlo->modules[op->module].name, &node));
	FLEXTRACE_TRY(step_path(hlo, of, path, &node));
	FLEXTRACE_TRY(step(of, node, op->name, &node));
	return ARRAY_PUSH(paths->nodes, paths->n, node);
}

static int find_paths(struct hlo *hlo, struct process_stacks *of, const struct hlo_op *op,
                      struct op_paths *paths)
{
	const char *fused = string_get(hlo->pool, op->fused);
	struct trace_text rest = {fused, strlen(fused)};
	struct trace_value name;
	int code = FLEXTRACE_OK;

	while (op->fused && code == FLEXTRACE_OK && trace_array_next(&rest, &name)) {
		char *path = strndup(name.text.bytes, name.text.length);

		code = path ? add_path(hlo, of, op, path, paths) : FLEXTRACE_E_MEMORY;
		free(path);
	}
	FLEXTRACE_TRY(code);
	return paths->n ? FLEXTRACE_OK
	                : add_path(hlo, of, op, string_get(hlo->pool, op->op_name), paths);
}

/* Splits the time of a piece evenly; what is left over goes to the first ones. */
static void split(struct process_stacks *of, const struct op_paths *paths, uint64_t time_ns)
{
	for (uint32_t i = 0; i < paths->n; i++)
		of->times[paths->nodes[i]].device_ns += time_ns / paths->n +
		                                        (i < time_ns % paths->n);
}

static int add_root(struct hlo *hlo, struct process_stacks *of, const char *name, uint64_t time_ns)
{
	uint32_t string, node;

	FLEXTRACE_TRY(string_intern(&hlo->cache, name, &string));
	FLEXTRACE_TRY(step(of, 0, string, &node));
	of->times[node].device_ns += time_ns;
	return FLEXTRACE_OK;
}

static int add_idle(struct hlo *hlo, struct process_stacks *processes, const uint64_t *between_ns)
{
	const struct identity *identity = hlo->timeline->identity;

	for (uint32_t i = 0; i < hlo->n_runs; i++) {
		const struct hlo_run *run = &hlo->runs[i];

		FLEXTRACE_TRY(add_root(hlo, &processes[identity->devices[run->device].process],
		                       "idle in modules",
		                       interval_ns(run->start_time_ns, run->end_time_ns) -
		                               cover_total_ns(&run->active)));
	}
	for (uint32_t i = 0; i < identity->n_processes; i++) {
		if (between_ns[i])
			FLEXTRACE_TRY(add_root(hlo, &processes[i], "idle between modules",
			                       between_ns[i]));
	}
	return FLEXTRACE_OK;
}

struct all_paths {
	struct map index; /* (instruction; process) */
	struct op_paths *paths;
	uint32_t n;
};

static int count_path(struct hlo *hlo, struct process_stacks *of, struct all_paths *all,
                      const struct hlo_piece *piece)
{
	uint32_t place;
	int is_new;

	if (piece->op == FLEXTRACE_NONE)
		return FLEXTRACE_OK;
	is_new = MAP_PLACE(&all->index, piece->op, piece->process, all->paths, all->n, &place);
	if (is_new < 0)
		return is_new;
	if (is_new)
		FLEXTRACE_TRY(find_paths(hlo, of, &hlo->ops[piece->op], &all->paths[place]));
	split(of, &all->paths[place], piece->time_ns);
	return FLEXTRACE_OK;
}

static int count_paths(struct hlo *hlo, struct process_stacks *processes, uint64_t *between_ns)
{
	struct all_paths all = {.n = 0};
	int code = FLEXTRACE_OK;

	for (uint32_t i = 0; i < hlo->n_pieces && code == FLEXTRACE_OK; i++)
		code = count_path(hlo, &processes[hlo->pieces[i].process], &all, &hlo->pieces[i]);
	for (uint32_t i = 0; i < all.n; i++)
		free(all.paths[i].nodes);
	free(all.paths);
	map_release(&all.index);
	FLEXTRACE_TRY(code);
	FLEXTRACE_TRY(hlo_find_between(hlo, between_ns));
	return add_idle(hlo, processes, between_ns);
}

/* -- the table --------------------------------------------------------------------------------- */

static void release_processes(struct process_stacks *processes, uint32_t n)
{
	for (uint32_t i = 0; processes && i < n; i++) {
		name_trie_release(&processes[i].trie);
		free(processes[i].times);
	}
	free(processes);
}

static int put_paths(const struct findings *findings, struct row_sink *sink)
{
	uint32_t n = findings->timeline->identity->n_processes;
	struct process_stacks *processes = calloc(n + 1ull, sizeof(*processes));
	uint64_t *between_ns = calloc(n + 1ull, sizeof(*between_ns));
	struct hlo hlo;
	int code = hlo_init(&hlo, findings);

	if (!processes || !between_ns)
		code = FLEXTRACE_E_MEMORY;
	if (code == FLEXTRACE_OK)
		code = count_paths(&hlo, processes, between_ns);
	for (uint32_t i = 0; i < n && code == FLEXTRACE_OK; i++) {
		uint32_t process = findings->owners->processes[i];

		code = put_stacks(
			(struct stack_order){&processes[process], hlo.pool, STACK_OP_NAME, process},
			sink);
	}
	release_processes(processes, n);
	free(between_ns);
	hlo_release(&hlo);
	return code;
}

static int put_process(const struct stacks *stacks, uint32_t process, struct row_sink *sink)
{
	struct stack_order order = {&stacks->processes[process], stacks->timeline->strings,
	                            STACK_HOST, process};

	FLEXTRACE_TRY(put_stacks(order, sink));
	order.kind = STACK_DEVICE;
	return put_stacks(order, sink);
}

static int fill(const struct findings *findings, struct row_sink *sink)
{
	uint32_t n = findings->timeline->identity->n_processes;
	struct stacks stacks = {.timeline = findings->timeline};
	int code = count(&stacks, findings);

	for (uint32_t i = 0; i < n && code == FLEXTRACE_OK; i++)
		code = put_process(&stacks, findings->owners->processes[i], sink);
	if (code == FLEXTRACE_OK && hlo_is_in(findings->timeline))
		code = put_paths(findings, sink);
	release_processes(stacks.processes, n);
	blocks_free(stacks.places);
	free(stacks.innermost);
	return code;
}

const struct analysis analysis_stacks =
	ANALYSIS_CSV("stacks", columns, fill, .title = "Stacks",
                     .what = "Time by stack of calls, folded into one text, as flame "
                             "graphs take it: of the host, and of the device by the stack "
                             "that launched it.");
