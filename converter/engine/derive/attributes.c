/* SPDX-License-Identifier: Apache-2.0 */
#include "derive_impl.h"
#include "model/words/told.h"
#include "base/text/json_text.h"

struct attribute {
	struct attribute *next; /* weak: of the same operation, the one pushed before */
	uint64_t clock_ns;
	uint32_t list; /* its place in attribute_lists */
	uint32_t stream;
	uint32_t name, text[3];
	uint32_t n_cores, depth;
	uint32_t class;
	uint32_t unused;
};

struct attribute_list {         /* of one operation */
	struct attribute *last; /* weak */
	uint32_t process;
	bool is_used; /* a row has taken them */
};

static int find_list(struct derive *derive, uint32_t process, uint64_t correlation,
                     uint32_t *ret_list)
{
	struct attributes *all = &derive->attributes;

	FLEXTRACE_TRY(
		MAP_PLACE(&all->keys, correlation, process, all->lists, all->n_lists, ret_list));
	all->lists[*ret_list].process = process;
	return FLEXTRACE_OK;
}

int attributes_push(struct derive *derive, const struct host_input *input)
{
	const struct record_op *op = (const struct record_op *)input->record;
	struct attribute *attribute;
	uint32_t list;

	if (!op->correlation)
		return host_discard(derive, input, LOSS_UNMATCHED_ARGS);
	FLEXTRACE_TRY(find_list(derive, input->process, op->correlation, &list));
	attribute = table_append(&derive->attributes.rows, sizeof(*attribute));
	if (!attribute)
		return FLEXTRACE_E_MEMORY;
	*attribute = (struct attribute){
		.next = derive->attributes.lists[list].last,
		.clock_ns = op->head.clock_ns,
		.list = list,
		.stream = input->stream_id,
		.name = op->head.name,
		.text = {op->text[0], op->text[1], op->text[2]},
		.n_cores = op->n_cores,
		.depth = op->depth,
		.class = op->head.class,
	};
	derive->attributes.lists[list].last = attribute;
	return FLEXTRACE_OK;
}

/* -- what an operation's row says ----------------------------------------------------------- */

static void add_member(const struct derive *derive, struct json_text *text, const char *name,
                       uint32_t string)
{
	if (string)
		json_text_string(text, name, string_get(derive->out.strings, string));
}

/* Args that are an object stay one. */
static void add_args(const struct derive *derive, struct json_text *text, uint32_t args)
{
	const char *bytes = string_get(derive->out.strings, args);

	if (args && *bytes == '{' && told_is_json(bytes))
		json_text_raw(text, "args", bytes);
	else
		add_member(derive, text, "args", args);
}

static void add_op(const struct derive *derive, struct json_text *text,
                   const struct attribute *attribute)
{
	if (attribute->class == RECORD_OP) {
		add_member(derive, text, "type", attribute->name);
		add_member(derive, text, "attributes", attribute->text[0]);
		json_text_number(text, "cores", attribute->n_cores);
		json_text_number(text, "depth", attribute->depth);
	} else if (attribute->class == RECORD_OP_INFO) {
		add_member(derive, text, "op_name", attribute->name);
		add_member(derive, text, "module", attribute->text[0]);
		add_member(derive, text, "opcode", attribute->text[1]);
		add_member(derive, text, "frames", attribute->text[2]);
	}
}

static void add_tensors(const struct derive *derive, struct json_text *text, const char *name,
                        const struct attribute *first, bool is_output)
{
	json_text_member(text, name);
	json_text_open(text, '[');
	for (; first; first = first->next) {
		if (first->class != RECORD_TENSOR || (first->n_cores != 0) != is_output)
			continue;
		json_text_open(text, '{');
		add_member(derive, text, "dims", first->name);
		add_member(derive, text, "layout", first->text[0]);
		add_member(derive, text, "dtype", first->text[1]);
		add_member(derive, text, "memory", first->text[2]);
		json_text_close(text, '}');
	}
	json_text_close(text, ']');
}

/* Turns the chain around: first what was pushed first. */
static struct attribute *reversed(struct attribute *last)
{
	struct attribute *first = NULL;

	while (last) {
		struct attribute *before = last->next;

		last->next = first;
		first = last;
		last = before;
	}
	return first;
}

/* -- the same for analyses ------------------------------------------------------------------- */

static int keep_tensor(struct op_calls *out, const struct attribute *attribute)
{
	FLEXTRACE_TRY(ARRAY_ROOM(out->tensors, out->n_tensors));
	out->tensors[out->n_tensors++] = (struct op_tensor){
		.dims = attribute->name,
		.layout = attribute->text[0],
		.dtype = attribute->text[1],
		.memory = attribute->text[2],
		.is_output = attribute->n_cores != 0,
	};
	return FLEXTRACE_OK;
}

static int keep_call(struct op_calls *out, const struct host_row *row, uint32_t args,
                     const struct attribute *first)
{
	struct op_call *call;

	FLEXTRACE_TRY(ARRAY_ROOM(out->calls, out->n_calls));
	call = &out->calls[out->n_calls++];
	*call = (struct op_call){
		.stream = row->stream,
		.index = row->index,
		.args = args,
		.first_tensor = out->n_tensors,
	};
	for (; first; first = first->next) {
		if (first->class == RECORD_TENSOR) {
			FLEXTRACE_TRY(keep_tensor(out, first));
		} else if (first->class == RECORD_OP) {
			call->type = first->name;
			call->attributes = first->text[0];
			call->n_cores = first->n_cores;
			call->depth = first->depth;
		} else {
			call->op_name = first->name;
			call->module = first->text[0];
			call->opcode = first->text[1];
			call->frames = first->text[2];
		}
	}
	call->n_tensors = out->n_tensors - call->first_tensor;
	return FLEXTRACE_OK;
}

int attributes_find(struct derive *derive, uint32_t process, struct host_row *row)
{
	uint32_t place = map_find(&derive->attributes.keys, row->correlation, process);
	struct json_text text = JSON_TEXT_INIT;
	struct attribute_list *list;
	struct attribute *first;
	unsigned int seen = 0;
	uint32_t args = row->args;

	if (place == MAP_NONE || derive->attributes.lists[place].is_used)
		return FLEXTRACE_OK;
	list = &derive->attributes.lists[place];
	list->is_used = true;
	first = reversed(list->last);
	json_text_open(&text, '{');
	for (const struct attribute *i = first; i; i = i->next) {
		if (!(seen & 1u << i->class)) /* an object has each member once */
			add_op(derive, &text, i);
		seen |= 1u << i->class;
	}
	add_tensors(derive, &text, "inputs", first, false);
	add_tensors(derive, &text, "outputs", first, true);
	add_args(derive, &text, args);
	json_text_close(&text, '}');
	FLEXTRACE_TRY(json_text_intern(&text, &derive->strings, &row->args));
	return keep_call(&derive->out.op_calls, row, args, first);
}

int attributes_finish(struct derive *derive)
{
	TABLE_CONSUME(struct attribute, attribute, &derive->attributes.rows)
	{
		const struct attribute_list *list = &derive->attributes.lists[attribute->list];
		struct loss_place place = loss_place_of(list->process, attribute->stream);

		if (list->is_used)
			derive->ledger->evidence[attribute->class]++;
		else
			FLEXTRACE_TRY(derive_discard(derive, LOSS_UNMATCHED_ARGS, &place,
			                             attribute->class,
			                             (int64_t)attribute->clock_ns));
	}
	return FLEXTRACE_OK;
}

void attributes_release(struct attributes *attributes)
{
	map_release(&attributes->keys);
	free(attributes->lists);
	table_release(&attributes->rows);
}
