/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells are as many as keys or up to twice that, so that evenly spread keys take a step or two to
 * find. However they are spread, a search within one cell is never longer than one over all.
 */
#include <stdlib.h>

#include "align_impl.h"

int grid_init(struct grid *grid, uint64_t last_key, uint32_t n)
{
	*grid = (struct grid){.shift = 0};
	while (grid->shift < 63 && last_key >> grid->shift >= n)
		grid->shift++;
	grid->n_cells = (uint32_t)(last_key >> grid->shift) + 1;
	grid->first = calloc(grid->n_cells + 1ull, sizeof(*grid->first));
	return grid->first ? FLEXTRACE_OK : FLEXTRACE_E_MEMORY;
}

void grid_sum(struct grid *grid)
{
	for (uint32_t i = 0; i < grid->n_cells; i++)
		grid->first[i + 1] += grid->first[i];
}

void grid_release(struct grid *grid)
{
	free(grid->first);
	*grid = (struct grid){0};
}
