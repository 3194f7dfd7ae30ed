/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is open stands in a pool; a key leads to the innermost of its kind, which chains to those
 * below it. So an end finds its begin at once, however much is open.
 */
#include <string.h>

#include "derive_impl.h"

struct open_key {
	uint64_t a, b;
};

/* No kind has this value, so that keys of threads and of processes never meet. */
#define OPEN_KEY_OF_THREAD ((uint64_t)UINT8_MAX << 56)

/* begin and end are paired on their thread by kind and name, all others in their process, also
 * by id. */
static struct open_key key_of(const struct derive *derive, const struct host_span *span)
{
	uint64_t process = derive->identity->threads[span->thread].process;

	if (span->class == RECORD_BEGIN || span->class == RECORD_END)
		return (struct open_key){(uint64_t)span->thread << 32 | span->name,
		                         OPEN_KEY_OF_THREAD | span->kind};
	return (struct open_key){span->correlation,
	                         (uint64_t)span->kind << 56 ^ process << 32 ^ span->name};
}

static int add_open(struct derive *derive, const struct host_span *span, uint32_t *ret_place)
{
	uint32_t place = derive->open.free;

	if (place) {
		place--;
		derive->open.free = derive->open.spans[place].next;
	} else {
		FLEXTRACE_TRY(ARRAY_ROOM(derive->open.spans, derive->open.n));
		place = derive->open.n++;
	}
	derive->open.spans[place] = *span;
	derive->open.spans[place].is_open = true;
	derive->open.spans[place].next = 0;
	*ret_place = place;
	return FLEXTRACE_OK;
}

static int open_pair(struct derive *derive, const struct host_span *span, uint32_t *ret_place)
{
	struct open_key key = key_of(derive, span);
	uint32_t below = map_find(&derive->open.keys, key.a, key.b);

	FLEXTRACE_TRY(add_open(derive, span, ret_place));
	if (below != MAP_NONE)
		derive->open.spans[*ret_place].next = below + 1;
	return map_put(&derive->open.keys, key.a, key.b, *ret_place);
}

/* Takes the innermost span of `like`'s key out. 1: stored, 0: there is none. */
static int close_pair(struct derive *derive, const struct host_span *like,
                      struct host_span *ret_span)
{
	struct open_key key = key_of(derive, like);
	uint32_t place = map_find(&derive->open.keys, key.a, key.b);

	if (place == MAP_NONE)
		return 0;
	*ret_span = derive->open.spans[place];
	derive->open.spans[place].is_open = false;
	derive->open.spans[place].next = derive->open.free;
	derive->open.free = place + 1;
	if (!ret_span->next) {
		map_remove(&derive->open.keys, key.a, key.b);
		return 1;
	}
	FLEXTRACE_TRY(map_put(&derive->open.keys, key.a, key.b, ret_span->next - 1));
	return 1;
}

static struct host_span span_of_edge(const struct host_input *input)
{
	const struct record_edge *edge = (const struct record_edge *)input->record;
	struct host_span span = host_span_of(input);

	span.correlation = edge->correlation;
	return span;
}

/* -- begin, end ----------------------------------------------------------------------------- */

int pairs_push_begin(struct derive *derive, const struct host_input *input)
{
	struct derive_thread *thread = &derive->threads[input->thread];
	struct host_span span = span_of_edge(input);
	uint32_t place;

	FLEXTRACE_TRY(ARRAY_RESERVE(thread->open, thread->n_open_allocated, thread->n_open + 1ull));
	FLEXTRACE_TRY(open_pair(derive, &span, &place));
	thread->open[thread->n_open++] = place;
	derive->ledger->rows[RECORD_BEGIN]++;
	return FLEXTRACE_OK;
}

/* What an end leaves open above its begin was left without an end of its own: it is over now. */
static int end_above(struct derive *derive, struct derive_thread *thread, uint32_t place,
                     int64_t end_host_ns)
{
	while (thread->open[thread->n_open - 1] != place) {
		uint32_t above = thread->open[--thread->n_open];
		struct host_span span = derive->open.spans[above];

		FLEXTRACE_TRY(close_pair(derive, &span, &span));
		FLEXTRACE_TRY(host_add_open_row(derive, &span, end_host_ns));
	}
	thread->n_open--;
	return FLEXTRACE_OK;
}

int pairs_push_end(struct derive *derive, const struct host_input *input)
{
	struct derive_thread *thread = &derive->threads[input->thread];
	struct host_span end = span_of_edge(input), begin;
	struct open_key key = key_of(derive, &end);
	uint32_t place = map_find(&derive->open.keys, key.a, key.b);

	if (place == MAP_NONE)
		return host_discard(derive, input, LOSS_UNMATCHED_END);
	FLEXTRACE_TRY(end_above(derive, thread, place, end.begin_host_ns));
	if (close_pair(derive, &end, &begin) <= 0)
		return FLEXTRACE_E_MEMORY;
	if (!begin.correlation)
		begin.correlation = end.correlation;
	derive->ledger->evidence[RECORD_END]++;
	return host_add_row(derive, &begin, end.begin_host_ns, TIME_CERTIFIED);
}

/* -- async, windows ------------------------------------------------------------------------- */

static int push_edge(struct derive *derive, const struct host_input *input,
                     const struct host_span *edge, bool is_begin)
{
	enum record_class class = input->record->class;
	struct host_span begin;
	uint32_t place;
	int is_paired;

	if (is_begin) {
		derive->ledger->rows[class]++;
		return open_pair(derive, edge, &place);
	}
	is_paired = close_pair(derive, edge, &begin);
	if (is_paired < 0)
		return is_paired;
	if (!is_paired)
		return host_discard(derive, input, LOSS_UNMATCHED_END);
	derive->ledger->evidence[class]++;
	return host_add_row(derive, &begin, edge->begin_host_ns, TIME_CERTIFIED);
}

/* Importers tell the arrows of the torch profiler as what leads from one row to another. */
static bool is_arrow(const struct derive *derive, const struct host_span *span)
{
	uint32_t process = derive->identity->threads[span->thread].process;

	return strcmp(string_get(derive->out.strings, span->name), "fwdbwd") == 0 &&
	       (identity_is_torch_file(derive->identity, derive->out.strings, process) ||
	        identity_is_file_of(derive->identity, derive->out.strings, process,
	                            IDENTITY_PERFETTO_FILE));
}

static int push_arrow(struct derive *derive, const struct host_input *input, struct host_span *edge)
{
	struct host_span begin;
	uint32_t place;
	int is_paired;

	edge->kind = HOST_ARROW;
	if (input->record->class == RECORD_ASYNC_BEGIN)
		return open_pair(derive, edge, &place);
	is_paired = close_pair(derive, edge, &begin);
	if (is_paired <= 0)
		return is_paired < 0 ? is_paired : host_discard(derive, input, LOSS_UNUSED);
	derive->ledger->evidence[RECORD_ASYNC_BEGIN]++;
	derive->ledger->evidence[RECORD_ASYNC_END]++;
	return arrows_add(derive, &begin, edge, FLEXTRACE_NONE);
}

int pairs_push_async(struct derive *derive, const struct host_input *input)
{
	struct host_span span = span_of_edge(input);

	if (is_arrow(derive, &span))
		return push_arrow(derive, input, &span);
	if (span.kind == FLEXTRACE_RUNTIME_USER)
		span.kind = HOST_ASYNC;
	return push_edge(derive, input, &span, input->record->class == RECORD_ASYNC_BEGIN);
}

int pairs_push_window(struct derive *derive, const struct host_input *input)
{
	struct host_span span = host_span_of(input);

	span.kind = HOST_WINDOW;
	return push_edge(derive, input, &span, input->record->kind == FLEXTRACE_EDGE_BEGIN);
}

/* -- the end -------------------------------------------------------------------------------- */

int pairs_keep_open(struct derive *derive, const struct host_span *span)
{
	uint32_t place;

	return add_open(derive, span, &place);
}

/* It leads nowhere. */
static int discard_arrow(struct derive *derive, const struct host_span *span)
{
	struct loss_place place = loss_place_of(derive->identity->threads[span->thread].process,
	                                        span->stream);

	return derive_discard(derive, LOSS_UNUSED, &place, RECORD_ASYNC_BEGIN, span->begin_host_ns);
}

int pairs_finish(struct derive *derive)
{
	for (uint32_t i = 0; i < derive->open.n; i++) {
		const struct host_span *span = &derive->open.spans[i];
		uint32_t process = derive->identity->threads[span->thread].process;

		if (span->is_open && span->kind == HOST_ARROW)
			FLEXTRACE_TRY(discard_arrow(derive, span));
		else if (span->is_open)
			FLEXTRACE_TRY(host_add_open_row(derive, span,
			                                derive->processes[process].last_host_ns));
	}
	return FLEXTRACE_OK;
}

void pairs_release(struct open_spans *open)
{
	map_release(&open->keys);
	free(open->spans);
}
