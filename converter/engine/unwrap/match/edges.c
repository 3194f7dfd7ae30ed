/* SPDX-License-Identifier: Apache-2.0 */
/* Submit, complete and host_estimate records in order of time. They come nearly sorted. */
#include <stdlib.h>

#include "base/blocks.h"
#include "matches.h"

#define MOVES_PER_EDGE 16u

static int compare_edges(const void *left, const void *right)
{
	const struct loose_edge *a = *(const struct loose_edge *const *)left;
	const struct loose_edge *b = *(const struct loose_edge *const *)right;
	int64_t a_ns = edge_time(a), b_ns = edge_time(b);

	if (a_ns != b_ns)
		return (a_ns > b_ns) - (a_ns < b_ns);
	if ((a->class == RECORD_SUBMIT) != (b->class == RECORD_SUBMIT))
		return a->class == RECORD_SUBMIT ? 1 : -1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void sort_edges(const struct loose_edge **edges, uint32_t n)
{
	uint64_t moves = 0;

	for (uint32_t i = 1; i < n; i++) {
		const struct loose_edge *edge = edges[i];
		uint32_t to = i;

		if (edge_time(edges[i - 1]) < edge_time(edge))
			continue;
		for (; to > 0 && compare_edges(&edges[to - 1], &edge) > 0; to--)
			edges[to] = edges[to - 1];
		edges[to] = edge;
		moves += i - to;
		if (moves > (uint64_t)MOVES_PER_EDGE * (n + 64u)) {
			qsort(edges, n, sizeof(*edges), compare_edges);
			return;
		}
	}
}

int edges_list(struct table *edges, const struct loose_edge ***ret_edges, uint32_t *ret_n)
{
	struct table_cursor cursor;
	const struct loose_edge *edge;

	*ret_edges = blocks_allocate(edges->n_rows + 1, sizeof(**ret_edges));
	if (!*ret_edges)
		return FLEXTRACE_E_MEMORY;
	*ret_n = 0;
	table_read(&cursor, edges, false);
	while ((edge = table_next(&cursor, sizeof(*edge))))
		(*ret_edges)[(*ret_n)++] = edge;
	sort_edges(*ret_edges, *ret_n);
	return FLEXTRACE_OK;
}
