/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrows between host rows that a file of the torch profiler draws itself: from an operation to
 * the one that computes its gradient. Each end is a thread and a time; the row that begins there
 * has it, found as rows are merged.
 */
#include "derive_impl.h"

struct arrow_end {
	uint32_t track; /* of the row; FLEXTRACE_NONE: none was met */
};

struct arrow {
	int64_t from_time_ns, to_time_ns;
	uint32_t from, to; /* places of struct arrow_end */
};

static int find_end(struct derive *derive, const struct host_span *span, int64_t *ret_time_ns,
                    uint32_t *ret_end)
{
	uint32_t process = derive->identity->threads[span->thread].process;
	int is_new;

	*ret_time_ns = place_host(derive, process, span->begin_host_ns).time_ns;
	is_new = MAP_PLACE(&derive->arrow_keys, (uint64_t)*ret_time_ns, span->thread,
	                   derive->arrow_ends, derive->n_arrow_ends, ret_end);
	if (is_new > 0)
		derive->arrow_ends[*ret_end].track = FLEXTRACE_NONE;
	return is_new;
}

int arrows_add(struct derive *derive, const struct host_span *from, const struct host_span *to)
{
	struct arrow arrow;

	FLEXTRACE_TRY(find_end(derive, from, &arrow.from_time_ns, &arrow.from));
	FLEXTRACE_TRY(find_end(derive, to, &arrow.to_time_ns, &arrow.to));
	FLEXTRACE_TRY(ARRAY_PUSH(derive->arrows, derive->n_arrows, arrow));
	return FLEXTRACE_OK;
}

void arrows_see_row(struct derive *derive, uint32_t thread, const struct host_row *row)
{
	uint32_t end;

	if (!derive->n_arrows)
		return;
	end = map_find(&derive->arrow_keys, (uint64_t)row->start_time_ns, thread);
	if (end != MAP_NONE && derive->arrow_ends[end].track == FLEXTRACE_NONE)
		derive->arrow_ends[end].track = row->track;
}

uint64_t arrows_link(const struct derive *derive, struct flow *links)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < derive->n_arrows; i++) {
		const struct arrow *arrow = &derive->arrows[i];
		uint32_t from = derive->arrow_ends[arrow->from].track;
		uint32_t to = derive->arrow_ends[arrow->to].track;

		if (from != FLEXTRACE_NONE && to != FLEXTRACE_NONE)
			links[n++] = (struct flow){
				arrow->from_time_ns, arrow->to_time_ns, from, to, {0}};
	}
	return n;
}
