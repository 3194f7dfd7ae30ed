/* SPDX-License-Identifier: Apache-2.0 */
#include "launched.h"

#include <stdlib.h>

#include "base/blocks.h"
#include "base/map.h"
#include "table_places.h"

struct launched_reader {
	struct work_reader works;
	struct table_places host_rows;
	uint8_t *seen;       /* owned: a bit for each control block */
	bool *has_work;      /* owned: by host row */
	struct map launches; /* owned: names of calls that launch work */
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

	if (!work->op || is_seen(reader, work->row->source))
		return FLEXTRACE_OK;
	if (work->launch == FLEXTRACE_NONE)
		return reader->take(reader->context, &launched);
	launched.call = table_at(&reader->host_rows, work->launch);
	launched.is_first = !reader->has_work[work->launch];
	blocks_visit();
	reader->has_work[work->launch] = true;
	FLEXTRACE_TRY(map_put(&reader->launches, launched.call->name, 0, 0));
	return reader->take(reader->context, &launched);
}

static int take_calls(struct launched_reader *reader)
{
	const struct timeline *timeline = reader->works.timeline;
	uint64_t place = 0;

	TABLE_EACH(struct host_row, row, &timeline->host_rows) {
		uint32_t thread = timeline->tracks[row->track].owner;
		struct launched launched = {
			.call = row,
			.process = timeline->identity->threads[thread].process,
		};

		if (!reader->has_work[place++] &&
		    map_find(&reader->launches, row->name, 0) != MAP_NONE)
			FLEXTRACE_TRY(reader->take(reader->context, &launched));
	}
	return FLEXTRACE_OK;
}

static int read_all(struct launched_reader *reader, const struct timeline *timeline)
{
	struct work work;
	int code;

	reader->seen = calloc(timeline->n_ops / 8 + 1, 1);
	reader->has_work = calloc(timeline->host_rows.n_rows + 1, 1);
	if (!reader->seen || !reader->has_work)
		return FLEXTRACE_E_MEMORY;
	FLEXTRACE_TRY(work_read(&reader->works, timeline));
	FLEXTRACE_TRY(table_places_init(&reader->host_rows, &timeline->host_rows,
	                                sizeof(struct host_row)));
	while ((code = work_next(&reader->works, &work)) > 0)
		FLEXTRACE_TRY(take_work(reader, &work));
	return code < 0 ? code : take_calls(reader);
}

int launched_read(const struct timeline *timeline, launched_taker *take, void *context)
{
	struct launched_reader reader = {.take = take, .context = context};
	int code = read_all(&reader, timeline);

	work_release(&reader.works);
	table_places_release(&reader.host_rows);
	free(reader.seen);
	free(reader.has_work);
	map_release(&reader.launches);
	return code;
}
