/* SPDX-License-Identifier: Apache-2.0 */
/* Submit, complete and host_estimate records in order of time. They come nearly sorted. */
#include <stdlib.h>

#include "base/blocks.h"
#include "base/order.h"
#include "matches.h"

static int compare_edges(const void *left, const void *right)
{
	const struct loose_edge *a = *(const struct loose_edge *const *)left;
	const struct loose_edge *b = *(const struct loose_edge *const *)right;
	int64_t a_ns = edge_time(a), b_ns = edge_time(b);

	if (a_ns != b_ns)
		return (a_ns > b_ns) - (a_ns < b_ns);
	if ((a->class == RECORD_SUBMIT) != (b->class == RECORD_SUBMIT))
		return a->class == RECORD_SUBMIT ? 1 : -1;
	return ORDER(a->stream, b->stream) ?: ORDER(a->index, b->index);
}

ORDER_NEARLY_DEFINE(sort_edges, const struct loose_edge *, compare_edges);

int edges_list(struct table *edges, const struct loose_edge ***ret_edges, uint32_t *ret_n)
{
	FLEXTRACE_TRY(BLOCKS_NEW(*ret_edges, edges->n_rows + 1));
	*ret_n = 0;
	TABLE_EACH(struct loose_edge, edge, edges)
		(*ret_edges)[(*ret_n)++] = edge;
	sort_edges(*ret_edges, *ret_n);
	return FLEXTRACE_OK;
}
