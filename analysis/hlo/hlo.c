/* SPDX-License-Identifier: Apache-2.0 */
#include "hlo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "model/words/told.h"

const char *hlo_phase_name(uint32_t phase)
{
	static const char *const names[] = {"steady", "warm_up", "autotuning"};

	return names[phase];
}

bool hlo_is_in(const struct timeline *timeline)
{
	const struct identity *identity = timeline->identity;

	for (uint32_t i = 0; i < identity->n_processes; i++) {
		if (strcmp(string_get(timeline->strings, identity->processes[i].runtime), "XLA") ==
		    0)
			return true;
	}
	for (uint32_t i = 0; i < timeline->op_calls.n_calls; i++) {
		if (timeline->op_calls.calls[i].module)
			return true;
	}
	return false;
}

/* -- what host rows say ------------------------------------------------------------------------ */

enum { SAYS_MODULE = 1, SAYS_TUNING = 2 };

static const char *name_at(const struct hlo *hlo, uint32_t place)
{
	return string_get(hlo->timeline->strings, call_name_at(&hlo->tree, place)->key.name);
}

/* Ranges of modules, by their names in profiles of XLA and in those of nsys. */
static uint8_t class_of(const char *name)
{
	static const char end[] = ":XLA GPU module";
	size_t n = strlen(name);
	uint8_t class = strstr(name, "utotun") ? SAYS_TUNING : 0;

	if (n >= strlen(end) && strcmp(name + n - strlen(end), end) == 0)
		class |= SAYS_MODULE;
	return strstr(name, "XlaModule:#") ? class | SAYS_MODULE : class;
}

static void read_row(struct hlo *hlo, uint32_t place, uint8_t class)
{
	uint32_t parent = hlo->tree.calls[place].parent;
	bool has_parent = parent != FLEXTRACE_NONE;

	hlo->range_of[place] = has_parent ? hlo->range_of[parent] : FLEXTRACE_NONE;
	hlo->is_tuning[place] = has_parent && hlo->is_tuning[parent];
	hlo->told_of[place] = has_parent ? hlo->told_of[parent] : FLEXTRACE_NONE;
	if (class & SAYS_MODULE)
		hlo->range_of[place] = place;
	if (class & SAYS_TUNING)
		hlo->is_tuning[place] = 1;
}

/* `classes`: by name of the tree. */
static void read_rows(struct hlo *hlo, uint8_t *classes)
{
	const struct op_calls *told = &hlo->timeline->op_calls;
	uint32_t next = 0;

	for (uint32_t i = 0; i < hlo->tree.names.n; i++)
		classes[i] = class_of(name_at(hlo, i));
	for (uint32_t i = 0; i < hlo->tree.n; i++) {
		const struct host_row *row = hlo->tree.calls[i].row;
		const struct op_call *call = next < told->n_calls ? &told->calls[next] : NULL;

		read_row(hlo, i, classes[hlo->tree.calls[i].name]);
		if (!call || call->stream != row->stream || call->index != row->index)
			continue;
		if (call->module)
			hlo->told_of[i] = next;
		next++;
	}
}

static int find_ranges(struct hlo *hlo, const struct findings *findings)
{
	uint64_t n = hlo->timeline->host_rows.n_rows + 1;
	uint8_t *classes;

	FLEXTRACE_TRY(call_tree_borrow(&hlo->tree, findings));
	classes = malloc(hlo->tree.names.n + 1ull);
	hlo->range_of = blocks_allocate(n, sizeof(*hlo->range_of));
	hlo->told_of = blocks_allocate(n, sizeof(*hlo->told_of));
	hlo->is_tuning = blocks_allocate(n, sizeof(*hlo->is_tuning));
	if (classes && hlo->range_of && hlo->told_of && hlo->is_tuning)
		read_rows(hlo, classes);
	free(classes);
	return classes && hlo->range_of && hlo->told_of && hlo->is_tuning ? FLEXTRACE_OK
	                                                                  : FLEXTRACE_E_MEMORY;
}

/* -- modules and instructions ------------------------------------------------------------------ */

/* Interns a text of the timeline, or a part of one. */
static int intern(struct hlo *hlo, struct trace_text text, uint32_t *ret_string)
{
	char *copy = strndup(text.bytes ? text.bytes : "", text.length);
	int code = copy ? string_intern(&hlo->cache, copy, ret_string) : FLEXTRACE_E_MEMORY;

	free(copy);
	return code;
}

static struct trace_text text_of(const struct hlo *hlo, uint32_t string)
{
	return (struct trace_text){string_get(hlo->timeline->strings, string),
	                           string_length(hlo->timeline->strings, string)};
}

struct hlo_told {
	struct trace_text module, op, opcode, op_name, file, fused;
	uint64_t program, line;
};

/* "source.py:12" */
static int intern_source(struct hlo *hlo, const struct hlo_told *told, uint32_t *ret_source)
{
	char *text;
	int code;

	*ret_source = 0;
	if (!told->file.length)
		return FLEXTRACE_OK;
	if (asprintf(&text, "%.*s:%llu", (int)told->file.length, told->file.bytes,
	             (unsigned long long)told->line) < 0)
		return FLEXTRACE_E_MEMORY;
	code = string_intern(&hlo->cache, text, ret_source);
	free(text);
	return code;
}

static int find_op(struct hlo *hlo, const struct hlo_told *told, uint32_t *ret_op)
{
	uint32_t module_name, name, module;
	struct hlo_op *op;
	int is_new;

	FLEXTRACE_TRY(intern(hlo, told->module, &module_name));
	FLEXTRACE_TRY(intern(hlo, told->op, &name));
	is_new = MAP_PLACE(&hlo->module_index, told->program, module_name, hlo->modules,
	                   hlo->n_modules, &module);
	if (is_new < 0)
		return is_new;
	if (is_new)
		hlo->modules[module] = (struct hlo_module){module_name, told->program, false};
	is_new = MAP_PLACE(&hlo->op_index, module, name, hlo->ops, hlo->n_ops, ret_op);
	if (is_new <= 0)
		return is_new;
	op = &hlo->ops[*ret_op];
	*op = (struct hlo_op){.module = module, .name = name};
	FLEXTRACE_TRY(intern(hlo, told->opcode, &op->opcode));
	FLEXTRACE_TRY(intern(hlo, told->op_name, &op->op_name));
	FLEXTRACE_TRY(intern(hlo, told->fused, &op->fused));
	return intern_source(hlo, told, &op->source);
}

/* What a file of XLA tells of a control block. False: of no module. */
static bool read_told(const char *text, size_t n, struct hlo_told *ret)
{
	static const char *const keys[] = {"hlo_module", "hlo_op", "opcode", "op_name",
	                                   "source_file"};
	struct trace_text *const texts[] = {&ret->module, &ret->op, &ret->opcode, &ret->op_name,
	                                    &ret->file};
	struct trace_value value;
	struct told told;

	*ret = (struct hlo_told){.program = 0};
	if (!strstr(text, "\"hlo_module\":") || !told_read(text, n, &told))
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (told_find(&told, keys[i], &value) && value.kind == TRACE_TEXT)
			*texts[i] = value.text;
	}
	if (told_find(&told, "op_names", &value) && value.kind == TRACE_JSON)
		ret->fused = value.text;
	told_find_u64(&told, "program_id", &ret->program);
	told_find_u64(&told, "source_line", &ret->line);
	return ret->module.length != 0;
}

/* Finds what tells an instruction from all others of its process without a look at the rest: its
 * name and its program. 1: stored where its place is; 0: this one is to be read whole. */
static int find_known(struct hlo *hlo, const struct work *work, const char *text,
                      uint32_t **ret_place)
{
	static const char name_key[] = "\"hlo_op\":\"", program_key[] = "\"program_id\":";
	const char *at = strstr(text, name_key), *number = strstr(text, program_key);
	char name[256];
	uint32_t string;
	size_t n;

	if (!at || !number)
		return 0;
	at += strlen(name_key);
	n = strcspn(at, "\"\\");
	if (at[n] != '"' || n >= sizeof(name))
		return 0;
	memcpy(name, at, n);
	name[n] = '\0';
	FLEXTRACE_TRY(string_intern(&hlo->cache, name, &string));
	FLEXTRACE_TRY(map_enter(&hlo->known, strtoull(number + strlen(program_key), NULL, 10),
	                        (uint64_t)work->process << 32 | string, ret_place));
	return 1;
}

/* Stores the instruction of a piece of a profile. 1: it has one. */
static int find_profiled(struct hlo *hlo, const struct work *work, uint32_t *ret_op)
{
	const char *text = string_get(hlo->timeline->strings, work->op->type);
	uint32_t *place = NULL;
	struct hlo_told told;
	int is_known = find_known(hlo, work, text, &place);

	if (is_known < 0)
		return is_known;
	if (is_known && *place != MAP_NONE) {
		*ret_op = *place;
		return 1;
	}
	if (!read_told(text, string_length(hlo->timeline->strings, work->op->type), &told))
		return 0;
	FLEXTRACE_TRY(find_op(hlo, &told, ret_op));
	if (is_known)
		*place = *ret_op;
	return 1;
}

/* Stores the instruction of a piece. 1: it has one. */
static int find_told(struct hlo *hlo, const struct work *work, uint32_t *ret_op)
{
	int is_told = work->op && work->op->type ? find_profiled(hlo, work, ret_op) : 0;
	uint32_t place = FLEXTRACE_NONE;
	const struct op_call *call;
	struct hlo_told told;

	if (is_told)
		return is_told;
	if (work->launch != FLEXTRACE_NONE)
		place = hlo->told_of[work->launch];
	if (place == FLEXTRACE_NONE)
		return 0;
	call = &hlo->timeline->op_calls.calls[place];
	told = (struct hlo_told){
		.module = text_of(hlo, call->module),
		.op = text_of(hlo, work->name),
		.opcode = text_of(hlo, call->opcode),
		.op_name = text_of(hlo, call->op_name),
	};
	FLEXTRACE_TRY(find_op(hlo, &told, ret_op));
	return 1;
}

/* -- executions -------------------------------------------------------------------------------- */

static int add_run(struct hlo *hlo, const struct work *work, uint32_t module, uint32_t *ret_run)
{
	const struct hlo_run run = {
		.module = module,
		.device = work->device,
		.start_time_ns = work->row->start_time_ns,
		.end_time_ns = work->row->end_time_ns,
	};

	*ret_run = hlo->n_runs;
	return ARRAY_PUSH(hlo->runs, hlo->n_runs, run);
}

/* Stores the execution that a piece belongs to. */
static int find_run(struct hlo *hlo, const struct work *work, uint32_t op, uint32_t *ret_run)
{
	uint32_t module = hlo->ops[op].module, *run, *again = NULL;
	uint32_t range = work->launch == FLEXTRACE_NONE ? FLEXTRACE_NONE
	                                                : hlo->range_of[work->launch];
	uint64_t where = (uint64_t)work->device << 32 | module;

	FLEXTRACE_TRY(map_enter(&hlo->run_index, where, range, &run));
	if (range == FLEXTRACE_NONE) {
		FLEXTRACE_TRY(map_enter(&hlo->again, (uint64_t)work->device << 32 | op, work->name,
		                        &again));
		if (*again == *run && *run != MAP_NONE)
			*run = MAP_NONE;
	}
	if (*run == MAP_NONE)
		FLEXTRACE_TRY(add_run(hlo, work, module, run));
	if (again)
		*again = *run;
	*ret_run = *run;
	return FLEXTRACE_OK;
}

static int add_to_run(struct hlo_run *run, const struct work *work)
{
	if (run->end_time_ns < work->row->end_time_ns)
		run->end_time_ns = work->row->end_time_ns;
	run->n_kernels++;
	return cover_add(&run->active, work->row->start_time_ns, work->row->end_time_ns);
}

static int add_piece(struct hlo *hlo, const struct work *work)
{
	struct hlo_piece piece = {
		.op = FLEXTRACE_NONE,
		.run = FLEXTRACE_NONE,
		.process = work->process,
		.name = work->name,
		.time_ns = interval_ns(work->row->start_time_ns, work->row->end_time_ns),
	};
	int is_told = 0;

	if (work->launch == FLEXTRACE_NONE || !hlo->is_tuning[work->launch])
		is_told = find_told(hlo, work, &piece.op);
	else
		return ARRAY_PUSH(hlo->pieces, hlo->n_pieces, piece);
	if (is_told <= 0)
		return is_told;
	hlo->has_collective |= work->class == WORK_COMMUNICATION;
	FLEXTRACE_TRY(find_run(hlo, work, piece.op, &piece.run));
	FLEXTRACE_TRY(add_to_run(&hlo->runs[piece.run], work));
	return ARRAY_PUSH(hlo->pieces, hlo->n_pieces, piece);
}

/* -- warm-up ----------------------------------------------------------------------------------- */

/* A module was compiled while this was recorded, if a range of a compilation has its name. */
static void find_compiled(struct hlo *hlo)
{
	for (uint32_t i = 0; i < hlo->tree.names.n; i++) {
		const char *name = name_at(hlo, i);

		for (uint32_t m = 0; m < hlo->n_modules && strstr(name, "Compile"); m++)
			hlo->modules[m].is_compiled |=
				strstr(name, string_get(hlo->pool, hlo->modules[m].name)) != NULL;
	}
}

/* The first execution of a module that was compiled here is warm-up, and one more where there are
 * collectives, unless nothing else would be left of any module. */
static int find_phases(struct hlo *hlo)
{
	struct map counts = {.n_slots = 0};
	bool is_steady = false;
	int code = FLEXTRACE_OK;

	find_compiled(hlo);
	for (uint32_t i = 0; i < hlo->n_runs && code == FLEXTRACE_OK; i++) {
		struct hlo_run *run = &hlo->runs[i];
		uint32_t n_warm = (uint32_t)hlo->modules[run->module].is_compiled +
		                  (uint32_t)hlo->has_collective;
		uint32_t *count;

		code = map_enter(&counts, run->device, run->module, &count);
		if (code < 0)
			break;
		*count = *count == MAP_NONE ? 0 : *count + 1;
		run->number = *count;
		run->phase = run->number < n_warm ? HLO_WARM_UP : HLO_STEADY;
		is_steady |= run->phase == HLO_STEADY;
	}
	for (uint32_t i = 0; i < hlo->n_runs && !is_steady; i++)
		hlo->runs[i].phase = HLO_STEADY;
	map_release(&counts);
	return code;
}

/* Executions are in order of their starts. */
int hlo_find_between(const struct hlo *hlo, uint64_t *between_ns)
{
	const struct identity *identity = hlo->timeline->identity;
	struct cover *busy = calloc(identity->n_devices + 1ull, sizeof(*busy));
	int code = busy ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;

	for (uint32_t i = 0; i < hlo->n_runs && code == FLEXTRACE_OK; i++) {
		const struct hlo_run *run = &hlo->runs[i];

		code = cover_add(&busy[run->device], run->start_time_ns, run->end_time_ns);
	}
	for (uint32_t i = 0; busy && i < identity->n_devices; i++) {
		const struct cover *of = &busy[i];

		if (of->n && code == FLEXTRACE_OK)
			between_ns[identity->devices[i].process] +=
				interval_ns(of->stretches[0].start_ns,
			                    of->stretches[of->n - 1].end_ns) -
				cover_total_ns(of);
		cover_release(&busy[i]);
	}
	free(busy);
	return code;
}

int hlo_init(struct hlo *hlo, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;
	struct work_reader reader;
	struct work work;
	int code;

	*hlo = (struct hlo){.timeline = timeline, .pool = string_pool_new()};
	if (!hlo->pool)
		return FLEXTRACE_E_MEMORY;
	string_cache_init(&hlo->cache, hlo->pool);
	if (!hlo_is_in(timeline))
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_ranges(hlo, findings));
	code = work_read(&reader, timeline);
	while (code == FLEXTRACE_OK && (code = work_next(&reader, &work)) > 0)
		code = add_piece(hlo, &work);
	work_release(&reader);
	return code < 0 ? code : find_phases(hlo);
}

void hlo_release(struct hlo *hlo)
{
	for (uint32_t i = 0; i < hlo->n_runs; i++)
		cover_release(&hlo->runs[i].active);
	free(hlo->modules);
	free(hlo->ops);
	free(hlo->runs);
	free(hlo->pieces);
	map_release(&hlo->module_index);
	map_release(&hlo->op_index);
	map_release(&hlo->known);
	map_release(&hlo->run_index);
	map_release(&hlo->again);
	blocks_free(hlo->range_of);
	blocks_free(hlo->told_of);
	blocks_free(hlo->is_tuning);
	string_cache_release(&hlo->cache);
	if (hlo->pool)
		string_pool_free(hlo->pool);
}
