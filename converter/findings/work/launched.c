/* SPDX-License-Identifier: Apache-2.0 */
#include "launched.h"

#include <stdlib.h>

#include "base/blocks.h"
#include "base/map.h"
#include "call_tree.h"

struct launched_reader {
	struct work_reader works;
	struct call_tree calls; /* weak */
	uint8_t *seen;          /* owned: a bit for each control block */
	bool *has_work;         /* owned: by host row */
	bool *launches;         /* owned: by name of the tree: one of it launched work */
	struct map names;       /* owned: those */
	launched_taker *take;
	void *context; /* weak */
};

static bool is_seen(struct launched_reader *reader, uint32_t op)
{
	uint8_t bit = (uint8_t)(1 << op % 8);
	bool was = reader->seen[op / 8] & bit;

	reader->seen[op / 8] |= bit;
	return was;
}

static int take_work(struct launched_reader *reader, const struct work *work)
{
	struct launched launched = {.work = work, .process = work->process};
	const struct call *call;

	if (!work->op || is_seen(reader, work->row->source))
		return FLEXTRACE_OK;
	if (work->launch == FLEXTRACE_NONE)
		return reader->take(reader->context, &launched);
	call = &reader->calls.calls[work->launch];
	launched.call = call->row;
	launched.is_first = !reader->has_work[work->launch];
	blocks_visit();
	reader->has_work[work->launch] = true;
	if (!reader->launches[call->name])
		FLEXTRACE_TRY(map_put(&reader->names, call->row->name, 0, 0));
	reader->launches[call->name] = true;
	return reader->take(reader->context, &launched);
}

/* Likewise those whose name is that of another kind or process that did. */
static int take_calls(struct launched_reader *reader)
{
	const struct call_tree *calls = &reader->calls;

	for (uint32_t i = 0; i < calls->names.n; i++)
		reader->launches[i] = map_find(&reader->names, call_name_at(calls, i)->key.name,
		                               0) != MAP_NONE;
	for (uint32_t i = 0; i < calls->n; i++) {
		const struct call *call = &calls->calls[i];
		const struct launched launched = {.call = call->row, .process = call->process};

		blocks_pass(i, sizeof(*call));
		if (!reader->has_work[i] && reader->launches[call->name])
			FLEXTRACE_TRY(reader->take(reader->context, &launched));
	}
	return FLEXTRACE_OK;
}

static int read_all(struct launched_reader *reader, const struct findings *findings)
{
	struct work work;
	int code;

	FLEXTRACE_TRY(call_tree_borrow(&reader->calls, findings));
	FLEXTRACE_TRY(ARRAY_NEW(reader->seen, findings->timeline->n_ops / 8 + 1));
	FLEXTRACE_TRY(ARRAY_NEW(reader->has_work, reader->calls.n + 1ull));
	FLEXTRACE_TRY(ARRAY_NEW(reader->launches, reader->calls.names.n + 1ull));
	FLEXTRACE_TRY(work_read(&reader->works, findings->timeline));
	while ((code = work_next(&reader->works, &work)) > 0)
		FLEXTRACE_TRY(take_work(reader, &work));
	return code;
}

int launched_read(const struct findings *findings, bool with_calls, launched_taker *take,
                  void *context)
{
	struct launched_reader reader = {.take = take, .context = context};
	int code = read_all(&reader, findings);

	if (code == FLEXTRACE_OK && with_calls)
		code = take_calls(&reader);
	work_release(&reader.works);
	free(reader.seen);
	free(reader.has_work);
	free(reader.launches);
	map_release(&reader.names);
	return code;
}
