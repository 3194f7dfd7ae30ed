/* SPDX-License-Identifier: Apache-2.0 */
#include "key_details.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/blocks.h"

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
	const struct timeline *timeline = details->costs->timeline;
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

static int find_shapes(struct key_details *details)
{
	const struct timeline *timeline = details->costs->timeline;
	const struct op_calls *told = &timeline->op_calls;
	uint32_t n = 0; /* calls in front of a row, which stand in the order of rows */

	for (uint32_t i = 0; i < details->costs->tree.n; i++) {
		const struct host_row *row = details->costs->tree.calls[i].row;
		const struct op_call *call = n < told->n_calls ? &told->calls[n] : NULL;
		uint32_t *shapes = &details->of_row[i];

		blocks_pass(i, CALL_PASS_BYTES);
		if (call && call->stream == row->stream && call->index == row->index) {
			n++;
			FLEXTRACE_TRY(find_recorded(details, call, shapes));
		} else if (row->kind == FLEXTRACE_RUNTIME_OP && row->args) {
			FLEXTRACE_TRY(find_told(details, string_get(timeline->strings, row->args),
			                        shapes));
		}
	}
	return FLEXTRACE_OK;
}

/* -- stacks ------------------------------------------------------------------------------------ */

/* Of a scope that tells where it stands in its source: "file(line): name", as Python's profilers
 * write it. */
static int make_frame(struct key_details *details, const struct host_row *row, bool has_place,
                      uint32_t *ret_frame)
{
	const struct string_pool *strings = details->costs->timeline->strings;

	clear(&details->text);
	if (has_place)
		writer_format(&details->text, "%s(%u): ", string_get(strings, row->file),
		              row->line);
	writer_raw(&details->text, string_get(strings, row->name));
	return intern(details, ret_frame);
}

/* Stores the frame of a row, 0: it is none. */
static int find_frame(struct key_details *details, const struct host_row *row, uint32_t *ret_frame)
{
	int is_frame = call_costs_is_frame(details->costs, row);
	bool has_place = !is_frame && row->file;
	uint64_t place = has_place ? (uint64_t)row->file << 32 | row->line : 0;

	*ret_frame = 0;
	if (is_frame < 0 || (!is_frame && !has_place))
		return is_frame;
	*ret_frame = map_find(&details->frames, row->name, place);
	if (*ret_frame != MAP_NONE)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(make_frame(details, row, has_place, ret_frame));
	return map_put(&details->frames, row->name, place, *ret_frame);
}

/* Of a new stack: its innermost frames. */
static int find_shown(struct key_details *details, uint32_t node)
{
	const struct name_node *nodes = details->whole.nodes;
	uint32_t shown = 0;

	FLEXTRACE_TRY(ARRAY_RESERVE(details->shown_of, details->n_shown_of, node + 1ull));
	for (uint32_t at = node, i = 0; at && i < STACK_FRAMES; at = nodes[at].around, i++) {
		int code = name_trie_step(&details->shown, shown, nodes[at].name, &shown);

		if (code < 0)
			return code;
	}
	details->shown_of[node] = shown;
	return FLEXTRACE_OK;
}

static int find_stacks(struct key_details *details)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(details->shown_of, details->n_shown_of, 1));
	for (uint32_t i = 0; i < details->costs->tree.n; i++) {
		const struct call *call = &details->costs->tree.calls[i];
		uint32_t frame, *stack = &details->of_row[i];

		blocks_pass(i, CALL_PASS_BYTES);
		FLEXTRACE_TRY(find_frame(details, call->row, &frame));
		*stack = call->parent == FLEXTRACE_NONE ? 0 : details->of_row[call->parent];
		if (frame) {
			int is_new = name_trie_step(&details->whole, *stack, frame, stack);

			FLEXTRACE_TRY(is_new > 0 ? find_shown(details, *stack) : is_new);
		}
	}
	return FLEXTRACE_OK;
}

/* -- whether there are any --------------------------------------------------------------------- */

static bool tells(const struct timeline *timeline, enum key_detail of, const struct host_row *row)
{
	if (of == DETAIL_STACK)
		return call_names_frame(timeline, row);
	return strstr(string_get(timeline->strings, row->args), SHAPES) != NULL;
}

/* Of a name the first row is looked at. */
static int is_telling(struct map *seen, const struct timeline *timeline, enum key_detail of,
                      const struct host_row *row)
{
	uint8_t kind = of == DETAIL_STACK ? FLEXTRACE_RUNTIME_USER : FLEXTRACE_RUNTIME_OP;
	uint32_t *is_seen;

	if (of == DETAIL_STACK && row->file)
		return 1;
	if (row->kind != kind)
		return 0;
	FLEXTRACE_TRY(map_enter(seen, row->name, 0, &is_seen));
	if (*is_seen != MAP_NONE)
		return 0;
	*is_seen = 1;
	return tells(timeline, of, row);
}

int key_details_are_told(const struct timeline *timeline, enum key_detail of)
{
	int code = of == DETAIL_SHAPES && timeline->op_calls.n_tensors;
	struct map seen = {.n_slots = 0};

	TABLE_EACH(struct host_row, row, &timeline->host_rows) {
		if (code == 0)
			code = is_telling(&seen, timeline, of, row);
	}
	map_release(&seen);
	return code;
}

/* -- all --------------------------------------------------------------------------------------- */

int key_details_init(struct key_details *details, enum key_detail of, struct call_costs *costs)
{
	uint64_t n = costs->tree.n + 1ull;

	*details = (struct key_details){.of = of, .costs = costs};
	writer_open_memory(&details->text);
	if (of == DETAIL_NONE)
		return FLEXTRACE_OK;
	details->pool = string_pool_new();
	details->of_row = blocks_allocate(n, sizeof(*details->of_row));
	if (!details->pool || !details->of_row)
		return FLEXTRACE_E_MEMORY;
	string_cache_init(&details->cache, details->pool);
	memset(details->of_row, 0, n * sizeof(*details->of_row));
	return of == DETAIL_STACK ? find_stacks(details) : find_shapes(details);
}

void key_details_release(struct key_details *details)
{
	string_cache_release(&details->cache);
	if (details->pool)
		string_pool_free(details->pool);
	blocks_free(details->of_row);
	name_trie_release(&details->whole);
	name_trie_release(&details->shown);
	free(details->shown_of);
	map_release(&details->frames);
	writer_abandon(&details->text);
}

const char *key_details_text(struct key_details *details, uint32_t detail)
{
	if (details->of == DETAIL_SHAPES)
		return string_get(details->pool, detail);
	clear(&details->text);
	if (name_trie_write(&details->shown, details->pool, detail, &details->text) < 0)
		return NULL;
	writer_char(&details->text, '\0');
	return writer_failed(&details->text) ? NULL : details->text.buffer;
}
