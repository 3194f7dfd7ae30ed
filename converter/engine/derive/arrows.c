/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrows between host rows that a program or a file draws itself: between the points of a flow, and
 * in a file of the torch profiler from an operation to the one that computes its gradient. Each
 * end is a thread and a time; the row that begins there has it, found as rows are merged.
 */
#include "derive_impl.h"

struct arrow_end {
	uint32_t track; /* of the row; FLEXTRACE_NONE: none was met */
};

struct arrow {
	int64_t from_time_ns, to_time_ns;
	uint32_t from, to; /* places of struct arrow_end */
	uint32_t name;     /* string: of a flow; FLEXTRACE_NONE: a gradient */
};

static int find_end(struct derive *derive, const struct host_span *span, int64_t *ret_time_ns,
                    uint32_t *ret_end)
{
	uint32_t process = derive->identity->threads[span->thread].process;
	int is_new;

	*ret_time_ns = place_host(derive, process, span->begin_host_ns).time_ns;
	is_new = MAP_PLACE(&derive->arrows.keys, (uint64_t)*ret_time_ns, span->thread,
	                   derive->arrows.ends, derive->arrows.n_ends, ret_end);
	if (is_new > 0)
		derive->arrows.ends[*ret_end].track = FLEXTRACE_NONE;
	return is_new;
}

int arrows_add(struct derive *derive, const struct host_span *from, const struct host_span *to,
               uint32_t name)
{
	struct arrow arrow = {.name = name};

	FLEXTRACE_TRY(find_end(derive, from, &arrow.from_time_ns, &arrow.from));
	FLEXTRACE_TRY(find_end(derive, to, &arrow.to_time_ns, &arrow.to));
	return ARRAY_PUSH(derive->arrows.arrows, derive->arrows.n, arrow);
}

void arrows_see_row(struct derive *derive, uint32_t thread, const struct host_row *row)
{
	uint32_t end;

	if (!derive->arrows.n)
		return;
	end = map_find(&derive->arrows.keys, (uint64_t)row->start_time_ns, thread);
	if (end != MAP_NONE && derive->arrows.ends[end].track == FLEXTRACE_NONE)
		derive->arrows.ends[end].track = row->track;
}

uint64_t arrows_link(const struct derive *derive, struct flow *links)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < derive->arrows.n; i++) {
		const struct arrow *arrow = &derive->arrows.arrows[i];
		bool is_told = arrow->name != FLEXTRACE_NONE;
		uint32_t from = derive->arrows.ends[arrow->from].track;
		uint32_t to = derive->arrows.ends[arrow->to].track;

		if (from != FLEXTRACE_NONE && to != FLEXTRACE_NONE)
			links[n++] = (struct flow){
				.from_time_ns = arrow->from_time_ns,
				.to_time_ns = arrow->to_time_ns,
				.from_track = from & INT32_MAX,
				.to_track = to & INT32_MAX,
				.is_told = is_told,
				.message.sync = is_told ? arrow->name : 0,
			};
	}
	return n;
}

void arrows_release(struct arrows *arrows)
{
	free(arrows->arrows);
	free(arrows->ends);
	map_release(&arrows->keys);
}
