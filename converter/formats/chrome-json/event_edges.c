/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An end finds its begin as they come while those of its thread come in order of time, as they do
 * in most files. Where they do not, they wait in a spool of their own until the file is read: in
 * order of time each end finds its begin, in whatever order they stood. Of one time, the file's
 * order holds. The first of each thread wait in any case, until there is no doubt about its order.
 *
 * Intervals of one name that overlap are told by their places: where most ends of a thread stand
 * right behind a begin of their name, as Flex writes them, the two are one interval. Only in files
 * of other forms does an end find the innermost begin by time. In both, what is nested or apart
 * comes out the same.
 *
 * An interval that runs backwards looks like two events that were shuffled. It is one if its end
 * stands right behind its begin and finds no other.
 */
#include <string.h>

#include "event_reader.h"

#define SPOOL_BYTES ((size_t)1 << 20)
#define N_DOUBTED   32u /* edges of a thread that wait: chance does not put so many in order */

enum { EDGE_NAME, EDGE_ARGS, EDGE_GROUP, EDGE_TYPE, EDGE_N_TEXTS };

struct edge { /* its texts follow */
	struct event_call call;
	uint64_t begin;        /* place + 1 of the later begin right before this end; 0: none */
	int64_t other_ns;      /* of the begin, or the end, right beside it */
	uint32_t begin_record; /* of the begin right before this end */
	uint32_t thread;
	uint8_t begin_kind; /* of the begin right before this end */
	bool is_end;
	bool is_window; /* likewise */
	bool is_beside; /* its other one stands right beside it */
	bool is_whole;  /* likewise: it tells the interval, the other one does not */
};

static void list_texts(struct event_call *call, struct trace_text *texts[EDGE_N_TEXTS])
{
	texts[EDGE_NAME] = &call->full_name;
	texts[EDGE_ARGS] = &call->args;
	texts[EDGE_GROUP] = &call->group;
	texts[EDGE_TYPE] = &call->type;
}

/* The begin's attributes hold, where it has any. */
static bool has_attributes(const struct event_call *begin)
{
	return begin->has_stamps || begin->is_device || begin->args.length;
}

/* Ties an end to the begin right before it in the file, if they are of one interval. That begin is
 * no longer to be changed if it is not given. */
static void tie(const struct event_thread *thread, struct edge *begin, struct edge *end)
{
	const struct trace_text *name = &end->call.full_name;

	if (!thread->last_begin ||
	    (name->length && block_hash_text(name, end->thread) != thread->last_hash))
		return;
	if (thread->last_begin_ns > end->call.begin_ns) {
		end->begin = thread->last_begin;
		return;
	}
	if (!begin)
		return;
	if (!name->length && !has_attributes(&begin->call) && has_attributes(&end->call))
		return; /* neither tells it all */
	begin->is_beside = end->is_beside = true;
	begin->other_ns = end->call.begin_ns;
	begin->is_whole = has_attributes(&begin->call) || !name->length;
	end->other_ns = begin->call.begin_ns;
	end->begin_kind = begin->call.kind;
	end->begin_record = begin->call.record;
	end->is_window = begin->call.is_window;
	end->is_whole = !begin->is_whole;
}

/* Lets a begin or an end wait. */
static int put_edge(struct event_import *events, struct edge *edge)
{
	struct trace_text *texts[EDGE_N_TEXTS];
	size_t n_bytes = sizeof(*edge);
	void *item;
	char *at;

	if (!events->edges.spool)
		events->edges.spool = spool_new(SPOOL_BYTES);
	if (!events->edges.spool)
		return FLEXTRACE_E_MEMORY;
	list_texts(&edge->call, texts);
	for (int i = 0; i < EDGE_N_TEXTS; i++)
		n_bytes += item_text_bytes(texts[i]);
	FLEXTRACE_TRY(
		spool_add(events->edges.spool, (uint64_t)edge->call.begin_ns, n_bytes, &item));
	memcpy(item, edge, sizeof(*edge));
	at = (char *)item + sizeof(*edge);
	for (int i = 0; i < EDGE_N_TEXTS; i++)
		FLEXTRACE_TRY(item_put_text(events->edges.spool, &at, texts[i]));
	return FLEXTRACE_OK;
}

/* Lets an end wait, and the begin right before it, which may be its own. */
static int keep_end(struct event_import *events, uint32_t thread, const struct event_call *call)
{
	struct event_thread *of = &events->threads[thread];
	struct edge end = {.call = *call, .thread = thread, .is_end = true};
	struct edge begin = {.thread = thread};
	bool has_begin = of->is_last_held && event_close(events, thread, NULL, &begin.call);

	of->is_last_held = false;
	tie(of, has_begin ? &begin : NULL, &end);
	of->n_ends++;
	of->n_beside += end.is_beside;
	if (has_begin)
		FLEXTRACE_TRY(put_edge(events, &begin));
	return put_edge(events, &end);
}

/* Lets what is begun wait. */
static int keep_open(struct event_import *events, uint32_t thread)
{
	struct edge edge = {.thread = thread};

	events->threads[thread].is_last_held = false;
	while (event_close(events, thread, NULL, &edge.call))
		FLEXTRACE_TRY(put_edge(events, &edge));
	return FLEXTRACE_OK;
}

/* Holds a begin until something of its thread comes behind it. */
static int hold_begin(struct event_import *events, uint32_t thread, const struct event_call *begin)
{
	struct event_thread *of = &events->threads[thread];

	of->last_begin = begin->offset_bytes + 1;
	of->last_hash = block_hash_text(&begin->full_name, thread);
	of->last_begin_ns = begin->begin_ns;
	return event_open(events, thread, begin);
}

static void take_attributes(struct event_call *call, const struct event_call *end)
{
	const struct event_call begin = *call;

	*call = *end;
	call->begin_ns = begin.begin_ns;
	call->full_name = call->name = begin.full_name;
	call->kind = begin.kind;
	call->record = begin.record;
	call->is_device = false;
	call->is_window = begin.is_window;
	if (call->has_stamps)
		block_cut_name(call);
}

/* -- as they come ---------------------------------------------------------------------------- */

/* Whether a begin or an end has to wait. */
static int look_at_order(struct event_import *events, uint32_t thread, int64_t ns, bool *ret_waits)
{
	struct event_thread *of = &events->threads[thread];

	if (!of->is_shuffled && ns < of->last_edge_ns) {
		of->is_shuffled = true;
		FLEXTRACE_TRY(keep_open(events, thread));
	}
	of->last_edge_ns = ns;
	*ret_waits = of->is_shuffled || of->n_in_order < N_DOUBTED;
	of->n_in_order += of->n_in_order < N_DOUBTED;
	return FLEXTRACE_OK;
}

/* An end whose stamps make no sense ends its begin all the same. */
static int read_end(struct event_import *events, const struct trace_event *event,
                    struct event_call *ret_end)
{
	const char *fault;

	FLEXTRACE_TRY(events->reader->read_call(events, event, ret_end, &fault));
	ret_end->has_stamps &= !fault;
	return FLEXTRACE_OK;
}

static int take_end(struct event_import *events, uint32_t thread, const struct trace_event *event,
                    const char **ret_fault)
{
	struct event_thread *of = &events->threads[thread];
	struct event_call call, end;
	bool waits;

	FLEXTRACE_TRY(look_at_order(events, thread, event->ts_ns, &waits));
	if (waits || !event_close(events, thread, &event->name, &call)) {
		FLEXTRACE_TRY(read_end(events, event, &end));
		return keep_end(events, thread, &end);
	}
	of->is_last_held = false;
	if (!has_attributes(&call)) {
		FLEXTRACE_TRY(read_end(events, event, &end));
		take_attributes(&call, &end);
	}
	call.end_ns = event->ts_ns;
	return event_take_call(events, thread, &call, ret_fault);
}

int event_edge_take(struct event_import *events, const struct trace_event *event,
                    const char **ret_fault)
{
	struct event_call call;
	uint32_t thread;
	bool waits;

	if (event->ph == 'E') {
		FLEXTRACE_TRY(event_find_thread(events, event, &thread));
		FLEXTRACE_TRY(take_end(events, thread, event, ret_fault));
		events->threads[thread].last_begin = 0;
		return FLEXTRACE_OK;
	}
	FLEXTRACE_TRY(events->reader->read_call(events, event, &call, ret_fault));
	if (*ret_fault)
		return event_reject(events, LOSS_MALFORMED, *ret_fault, ret_fault);
	FLEXTRACE_TRY(event_find_thread(events, event, &thread));
	FLEXTRACE_TRY(look_at_order(events, thread, event->ts_ns, &waits));
	if (events->threads[thread].is_last_held && waits)
		FLEXTRACE_TRY(keep_open(events, thread));
	events->threads[thread].is_last_held = waits;
	return hold_begin(events, thread, &call);
}

/* -- at the end of the file ------------------------------------------------------------------ */

/* Texts are weak, until the next one is read. */
static int read_edge(struct event_import *events, const struct spool_item *item,
                     struct edge *ret_edge)
{
	struct item_text read[EDGE_N_TEXTS];
	struct trace_text *texts[EDGE_N_TEXTS];
	const char *at = (const char *)item->bytes + sizeof(*ret_edge);

	memcpy(ret_edge, item->bytes, sizeof(*ret_edge));
	for (int i = 0; i < EDGE_N_TEXTS; i++)
		read[i] = item_get_text(&at);
	FLEXTRACE_TRY(
		item_fetch_texts(events->edges.spool, &events->import.texts, read, EDGE_N_TEXTS));
	list_texts(&ret_edge->call, texts);
	for (int i = 0; i < EDGE_N_TEXTS; i++)
		*texts[i] = read[i].text;
	ret_edge->call.name.bytes = ret_edge->call.full_name.bytes;
	return FLEXTRACE_OK;
}

static int take_begin(struct event_import *events, const struct edge *edge)
{
	struct map *backwards = &events->edges.backwards;

	if (map_find(backwards, edge->call.offset_bytes + 1, 0) == MAP_NONE)
		return event_open(events, edge->thread, &edge->call);
	map_remove(backwards, edge->call.offset_bytes + 1, 0);
	return FLEXTRACE_OK;
}

static int reject_end(struct event_import *events, const struct edge *edge, const char **ret_fault)
{
	if (!edge->begin)
		return event_reject(events, LOSS_UNMATCHED_END, "it ends what has not begun",
		                    ret_fault);
	FLEXTRACE_TRY(map_put(&events->edges.backwards, edge->begin, 0, 0));
	return event_reject(events, LOSS_BACKWARDS, "its end is before its begin", ret_fault);
}

/* Takes an interval whose begin and end stand beside each other, with the one that tells it. */
static int take_beside(struct event_import *events, struct edge *edge, const char **ret_fault)
{
	struct event_call call = edge->call;

	if (!edge->is_whole)
		return FLEXTRACE_OK;
	call.end_ns = edge->other_ns;
	if (edge->is_end) {
		call.begin_ns = edge->other_ns;
		call.kind = edge->begin_kind;
		call.record = edge->begin_record;
		call.is_window = edge->is_window;
		take_attributes(&call, &edge->call);
		call.end_ns = edge->call.begin_ns;
	}
	return event_take_call(events, edge->thread, &call, ret_fault);
}

static int take_waiting(struct event_import *events, struct edge *edge, const char **ret_fault)
{
	const struct event_thread *thread = &events->threads[edge->thread];
	bool are_beside = thread->n_beside > thread->n_ends / 2;
	struct event_call call;

	*ret_fault = NULL;
	if (are_beside && edge->is_beside)
		return take_beside(events, edge, ret_fault);
	if (!edge->is_end)
		return take_begin(events, edge);
	if ((are_beside && edge->begin) ||
	    !event_close(events, edge->thread, &edge->call.full_name, &call))
		return reject_end(events, edge, ret_fault);
	if (!has_attributes(&call))
		take_attributes(&call, &edge->call);
	call.end_ns = edge->call.begin_ns;
	return event_take_call(events, edge->thread, &call, ret_fault);
}

int event_edges_join(struct event_import *events)
{
	struct spool_item item;
	struct edge edge;
	const char *fault;
	int code = FLEXTRACE_OK;

	for (uint32_t i = 0; i < events->n_threads && code >= 0; i++) {
		struct event_thread *thread = &events->threads[i];

		if (thread->n_in_order || thread->is_shuffled)
			code = keep_open(events, i);
		thread->last_edge_ns = 0;
		thread->last_begin = 0;
		thread->n_in_order = 0;
		thread->is_shuffled = false;
	}
	while (events->edges.spool && code >= 0 &&
	       (code = spool_next(events->edges.spool, &item)) > 0) {
		code = read_edge(events, &item, &edge);
		if (code >= 0)
			code = take_waiting(events, &edge, &fault);
		if (code >= 0 && fault)
			import_note_fault(&events->import, fault, edge.call.offset_bytes);
	}
	for (uint32_t i = 0; i < events->n_threads; i++)
		events->threads[i].n_ends = events->threads[i].n_beside = 0;
	event_edges_release(&events->edges);
	return code;
}

void event_edges_release(struct event_edges *edges)
{
	spool_free(edges->spool);
	map_release(&edges->backwards);
	*edges = (struct event_edges){.spool = NULL};
}
