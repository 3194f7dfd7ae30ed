/* SPDX-License-Identifier: Apache-2.0 */
#include "work_stats.h"

#include <stdlib.h>

#include "base/map.h"
#include "model/timeline/timeline_read.h"
#include "model/words/kinds.h"

static bool is_whole(const struct device_row *row)
{
	return row->kind == ROW_EXEC || (row->kind >= ROW_MEMCPY_HTOD && row->kind <= ROW_RELEASE);
}

/* Stores the place of a control block's queue, which mostly is that of the last one. */
static int find_queue(struct work_stats *all, struct map *index, const struct identity *identity,
                      const struct tick_op *op, uint32_t *place)
{
	struct work_queue *queue;

	if (all->n_queues && all->queues[*place].device == op->device &&
	    all->queues[*place].queue == op->queue)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(MAP_PLACE(index, op->device, op->queue, all->queues, all->n_queues, place));
	queue = &all->queues[*place];
	*queue = (struct work_queue){identity->devices[op->device].process, op->device, op->queue};
	all->is_of_many |= queue->process != all->queues[0].process;
	return FLEXTRACE_OK;
}

static int count_all(struct work_stats *all, struct map *index, const struct timeline *timeline)
{
	uint32_t queue = 0, group;

	TABLE_EACH(struct device_row, row, timeline_op_rows(timeline)) {
		const struct tick_op *op = &timeline->ops[row->source];

		if (!is_whole(row))
			continue;
		FLEXTRACE_TRY(find_queue(all, index, timeline->identity, op, &queue));
		FLEXTRACE_TRY(stats_count(
			&all->stats,
			&(struct group_key){
				.owner = queue,
				.name = op->name,
				.kind = KIND_KEY(timeline->tracks[row->track].dialect, row->kind)},
			interval_ns(row->start_time_ns, row->end_time_ns), &group));
	}
	return stats_finish(&all->stats);
}

int work_stats_borrow(struct work_stats **ret, const struct findings *findings)
{
	const struct timeline *timeline = findings->timeline;
	struct work_stats *all = findings->work_stats;
	struct map index = {0};
	int code;

	*ret = all;
	if (all->is_made)
		return FLEXTRACE_OK;
	stats_init(&all->stats, timeline->strings, kind_device_label, timeline->device_rows.n_rows);
	code = count_all(all, &index, timeline);
	map_release(&index);
	if (code < 0)
		work_stats_release(all);
	all->is_made = code == FLEXTRACE_OK;
	return code;
}

void work_stats_release(struct work_stats *all)
{
	stats_release(&all->stats);
	free(all->queues);
	*all = (struct work_stats){0};
}
