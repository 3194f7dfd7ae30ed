/* SPDX-License-Identifier: Apache-2.0 */
/* Critical paths as arrows. */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "findings/transfers.h"
#include "path.h"

struct arrows {
	struct flow *all; /* owned */
	uint32_t n;
	bool is_of_all; /* they are of paths over all ranks */
	int code;
};

/* From the last moment of one row to the first one of the next. */
static struct flow arrow_of(const struct path_piece *from, const struct path_piece *to)
{
	return (struct flow){.from_time_ns = from->end_time_ns - 1,
	                     .to_time_ns = to->start_time_ns,
	                     .from_track = from->track & INT32_MAX,
	                     .to_track = to->track & INT32_MAX,
	                     .is_critical = 1};
}

/* Paths over all ranks come last: those of single ranks go then. */
static void draw_path(void *context, const struct path *path)
{
	struct arrows *arrows = context;
	const struct path_piece *last = NULL;

	if (path->process == FLEXTRACE_NONE && !arrows->is_of_all) {
		arrows->is_of_all = true;
		arrows->n = 0;
	}
	for (uint32_t i = 0; i < path->n_pieces && arrows->code == FLEXTRACE_OK; i++) {
		const struct path_piece *piece = &path->pieces[i];

		if (piece->track == FLEXTRACE_NONE)
			continue;
		if (last && last->track != piece->track)
			arrows->code = ARRAY_PUSH(arrows->all, arrows->n, arrow_of(last, piece));
		last = piece;
	}
}

ORDER_BY(compare_arrows, struct flow, from_time_ns, to_time_ns, from_track, to_track);

int paths_draw(const struct findings *findings, struct table *ret_flows)
{
	struct arrows arrows = {.n = 0};
	int code = paths_find(findings, UINT32_MAX, draw_path, &arrows);

	if (code == FLEXTRACE_OK)
		code = arrows.code;
	ORDER_ARRAY(arrows.all, arrows.n, compare_arrows);
	if (code == FLEXTRACE_OK)
		code = transfers_merge(ret_flows, findings->flows, arrows.all, arrows.n);
	free(arrows.all);
	return code;
}
