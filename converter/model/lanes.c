/* SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/heap.h"

void lanes_init(struct lanes *lanes, bool nests)
{
	*lanes = (struct lanes){.nests = nests, .n_lanes = nests};
}

void lanes_release(struct lanes *lanes)
{
	free(lanes->open);
	free(lanes->busy);
	free(lanes->free_lanes);
	lanes_init(lanes, lanes->nests);
}

/* -- the two heaps -------------------------------------------------------------------------- */

static bool ends_before(const struct busy_lane *left, const struct busy_lane *right)
{
	return left->end != right->end ? left->end < right->end : left->lane < right->lane;
}

static bool is_lower(const uint32_t *left, const uint32_t *right)
{
	return *left < *right;
}

HEAP_DEFINE(busy, struct busy_lane, ends_before);
HEAP_DEFINE(free_lanes, uint32_t, is_lower);

static int push_busy(struct lanes *lanes, struct busy_lane lane)
{
	FLEXTRACE_TRY(ARRAY_RESERVE(lanes->busy, lanes->n_busy_allocated, lanes->n_busy + 1ull));
	lanes->busy[lanes->n_busy] = lane;
	busy_rise(lanes->busy, lanes->n_busy++);
	return 0;
}

static struct busy_lane pop_busy(struct lanes *lanes)
{
	return busy_pop(lanes->busy, lanes->n_busy--);
}

static int push_free(struct lanes *lanes, uint32_t lane)
{
	FLEXTRACE_TRY(
		ARRAY_RESERVE(lanes->free_lanes, lanes->n_free_allocated, lanes->n_free + 1ull));
	lanes->free_lanes[lanes->n_free] = lane;
	free_lanes_rise(lanes->free_lanes, lanes->n_free++);
	return 0;
}

static uint32_t pop_free(struct lanes *lanes)
{
	return free_lanes_pop(lanes->free_lanes, lanes->n_free--);
}

/* -- placing -------------------------------------------------------------------------------- */

/* True if the row lies inside, or behind, what is open on lane 0; then it is open there, too. */
static int nest(struct lanes *lanes, int64_t start, int64_t end, uint32_t *ret_depth)
{
	uint32_t n = 0, high;

	while (lanes->n_open && lanes->open[lanes->n_open - 1] <= start)
		lanes->n_open--;
	/* Nearly always it lies inside the innermost one. */
	if (lanes->n_open && lanes->open[lanes->n_open - 1] >= end)
		n = lanes->n_open;
	for (high = lanes->n_open; n < high;) {
		uint32_t middle = high - (high - n) / 2;

		if (lanes->open[middle - 1] >= end)
			n = middle;
		else
			high = middle - 1;
	}
	*ret_depth = n;
	if (n < lanes->n_open)
		return 0;
	FLEXTRACE_TRY(ARRAY_RESERVE(lanes->open, lanes->n_open_allocated, n + 1ull));
	lanes->open[lanes->n_open++] = end;
	return 1;
}

/* Apart, so that the rows that nest, which are most, do without its registers. */
static __attribute__((noinline)) int take_lane(struct lanes *lanes, int64_t start, int64_t end,
                                               uint32_t *ret_lane)
{
	struct busy_lane busy = {end, 0};

	while (lanes->n_busy && lanes->busy[0].end <= start)
		FLEXTRACE_TRY(push_free(lanes, pop_busy(lanes).lane));
	busy.lane = lanes->n_free ? pop_free(lanes) : lanes->n_lanes++;
	*ret_lane = busy.lane;
	return push_busy(lanes, busy);
}

int lanes_place(struct lanes *lanes, int64_t start, int64_t end, uint32_t *ret_lane,
                uint32_t *ret_depth)
{
	int is_nested = 0;

	*ret_lane = 0;
	*ret_depth = 0;
	if (lanes->nests)
		is_nested = nest(lanes, start, end, ret_depth);
	if (is_nested)
		return is_nested < 0 ? is_nested : 0;
	return take_lane(lanes, start, end, ret_lane);
}
