/* SPDX-License-Identifier: Apache-2.0 */
#include "key_details.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SHAPES "\"Input Dims\":"

/* Begins a text anew. */
static void clear(struct writer *text)
{
	text->at = text->buffer;
}

/* Interns the text, which ends here. */
static int intern(struct key_details *details, uint32_t *ret_string)
{
	writer_char(&details->text, '\0');
	if (writer_failed(&details->text))
		return FLEXTRACE_E_MEMORY;
	return string_intern(&details->cache, details->text.buffer, ret_string);
}

/* -- shapes ------------------------------------------------------------------------------------ */

/* Appends an array of JSON without its spaces; what is behind it does not matter. */
static void write_array(struct writer *text, const char *at)
{
	int depth = 0;

	do {
		depth += (*at == '[') - (*at == ']');
		if (*at && !strchr(" \n\r\t", *at))
			writer_char(text, *at);
	} while (*at++ && depth > 0);
}

/* "Input Dims":[[8,128],[]] among what a file of torch tells of an operation. */
static int find_told(struct key_details *details, const char *args, uint32_t *ret_shapes)
{
	const char *at = strstr(args, SHAPES);

	if (!at)
		return FLEXTRACE_OK;
	at += strlen(SHAPES);
	at += strspn(at, " \n\r\t");
	clear(&details->text);
	write_array(&details->text, at);
	return *at == '[' ? intern(details, ret_shapes) : FLEXTRACE_OK;
}

/* The same of a recorded operation. */
static int find_recorded(struct key_details *details, const struct op_call *call,
                         uint32_t *ret_shapes)
{
	const struct timeline *timeline = details->timeline;
	char before = '[';

	clear(&details->text);
	for (uint32_t i = 0; i < call->n_tensors; i++) {
		const struct op_tensor *tensor =
			&timeline->op_calls.tensors[call->first_tensor + i];

		if (tensor->is_output)
			continue;
		writer_char(&details->text, before);
		writer_raw(&details->text, string_get(timeline->strings, tensor->dims));
		before = ',';
	}
	if (before == '[')
		return FLEXTRACE_OK;
	writer_char(&details->text, ']');
	return intern(details, ret_shapes);
}

int key_details_find_shapes(struct key_details *details, const struct host_row *row,
                            uint32_t *ret_shapes)
{
	const struct timeline *timeline = details->timeline;
	const struct op_calls *told = &timeline->op_calls; /* in the order of rows */
	const struct op_call *next = NULL;

	*ret_shapes = 0;
	if (!details->has_shapes)
		return FLEXTRACE_OK;
	if (details->n_op_calls < told->n_calls)
		next = &told->calls[details->n_op_calls];
	if (next && next->stream == row->stream && next->index == row->index) {
		details->n_op_calls++;
		return find_recorded(details, next, ret_shapes);
	}
	if (row->kind != FLEXTRACE_RUNTIME_OP || !row->args)
		return FLEXTRACE_OK;
	return find_told(details, string_get(timeline->strings, row->args), ret_shapes);
}

/* -- stacks ------------------------------------------------------------------------------------ */

/* Of a scope that tells where it stands in its source: "file(line): name", as Python's profilers
 * write it. */
static int make_frame(struct key_details *details, const struct host_row *row, bool has_place,
                      uint32_t *ret_frame)
{
	const struct string_pool *strings = details->timeline->strings;

	clear(&details->text);
	if (has_place)
		writer_format(&details->text, "%s(%u): ", string_get(strings, row->file),
		              row->line);
	writer_raw(&details->text, string_get(strings, row->name));
	return intern(details, ret_frame);
}

/* Stores the frame of a row. */
static int find_frame(struct key_details *details, struct call_facts *facts,
                      const struct host_row *row)
{
	bool has_place = !facts->is_frame;
	uint64_t place = has_place ? (uint64_t)row->file << 32 | row->line : 0;

	if (facts->frame && facts->told_at == place)
		return FLEXTRACE_OK;
	facts->told_at = place;
	facts->frame = map_find(&details->frames, row->name, place);
	if (facts->frame != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(make_frame(details, row, has_place, &facts->frame));
	return map_put(&details->frames, row->name, place, facts->frame);
}

/* Of a new stack: its innermost frames. */
static int find_shown(struct key_details *details, uint32_t node)
{
	const struct name_node *nodes = details->whole.nodes;
	uint32_t shown = 0;

	FLEXTRACE_TRY(ARRAY_RESERVE(details->shown_of, details->n_shown_of, node + 1ull));
	for (uint32_t at = node, i = 0; at && i < STACK_FRAMES; at = nodes[at].around, i++) {
		int code = name_trie_step(&details->shown, shown, nodes[at].name, &shown);

		FLEXTRACE_TRY(code);
	}
	details->shown_of[node] = shown;
	return FLEXTRACE_OK;
}

int key_details_step(struct key_details *details, const struct call *call, uint32_t *stack)
{
	struct call_facts *facts = &details->facts[call->name];
	int is_new;

	if (!facts->is_frame && !call->row->file)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(find_frame(details, facts, call->row));
	if (!facts->frame)
		return FLEXTRACE_OK;
	is_new = name_trie_step(&details->whole, *stack, facts->frame, stack);
	return is_new > 0 ? find_shown(details, *stack) : is_new;
}

/* -- all --------------------------------------------------------------------------------------- */

/* "$file.py:12 function" of XLA's profiler, or what a file of torch calls so. */
static bool names_frame(const struct timeline *timeline, const struct host_row *row)
{
	static const char told[] = "{\"cat\":\"python_function\"";
	const char *name = string_get(timeline->strings, row->name);

	return row->kind == FLEXTRACE_RUNTIME_USER &&
	       ((*name == '$' && strchr(name, ' ')) ||
	        strncmp(string_get(timeline->strings, row->args), told, sizeof(told) - 1) == 0);
}

/* The first row of each name tells what all of them are, and whether any tells shapes. */
static void find_facts(struct key_details *details, const struct call_tree *tree)
{
	const struct timeline *timeline = details->timeline;

	details->has_shapes = timeline->op_calls.n_tensors;
	for (uint32_t i = 0; i < tree->names.n; i++) {
		const struct host_row *row = tree->calls[call_name_at(tree, i)->first].row;
		bool is_frame = names_frame(timeline, row);

		details->facts[i] = (struct call_facts){
			.is_frame = is_frame,
			.is_call = !is_frame && !call_is_mark(row),
		};
		if (!details->has_shapes && row->kind == FLEXTRACE_RUNTIME_OP)
			details->has_shapes = strstr(string_get(timeline->strings, row->args),
			                             SHAPES) != NULL;
	}
}

int key_details_init(struct key_details *details, const struct timeline *timeline,
                     const struct call_tree *tree)
{
	*details = (struct key_details){
		.timeline = timeline,
		.pool = string_pool_new(),
		.facts = malloc((tree->names.n + 1ull) * sizeof(*details->facts)),
	};
	writer_open_memory(&details->text);
	if (!details->pool || !details->facts)
		return FLEXTRACE_E_MEMORY;
	string_cache_init(&details->cache, details->pool);
	find_facts(details, tree);
	return ARRAY_RESERVE(details->shown_of, details->n_shown_of, 1);
}

void key_details_end(struct key_details *details)
{
	string_cache_release(&details->cache);
	name_trie_release(&details->whole);
	map_release(&details->shown.index);
	map_release(&details->frames);
	free(details->shown_of);
	free(details->facts);
	details->shown_of = NULL;
	details->facts = NULL;
}

void key_details_release(struct key_details *details)
{
	key_details_end(details);
	if (details->pool)
		string_pool_free(details->pool);
	name_trie_release(&details->shown);
	writer_abandon(&details->text);
}

const char *key_details_shapes(struct key_details *details, uint32_t shapes)
{
	return string_get(details->pool, shapes);
}

const char *key_details_stack(struct key_details *details, uint32_t stack)
{
	clear(&details->text);
	if (name_trie_write(&details->shown, details->pool, stack, &details->text) < 0)
		return NULL;
	writer_char(&details->text, '\0');
	return writer_failed(&details->text) ? NULL : details->text.buffer;
}
