/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

void sweep_begin(struct sweep *sweep, int64_t time_ns, sweep_taker *take, void *context)
{
	*sweep = (struct sweep){.take = take, .context = context, .now_ns = time_ns};
	for (int class = 0; class < SWEEP_MAX_CLASSES; class ++)
		sweep->until_ns[class] = time_ns;
}

/* Drops the classes that have ended from those under way; stores until when these and no others
 * are, at most `time_ns`. */
static uint32_t mask_now(struct sweep *sweep, int64_t time_ns, int64_t *ret_until_ns)
{
	*ret_until_ns = time_ns;
	for (uint32_t left = sweep->mask; left; left &= left - 1) {
		int64_t until_ns = sweep->until_ns[__builtin_ctz(left)];

		if (until_ns <= sweep->now_ns)
			sweep->mask &= ~(left & -left);
		else if (until_ns < *ret_until_ns)
			*ret_until_ns = until_ns;
	}
	return sweep->mask;
}

void sweep_end(struct sweep *sweep, int64_t time_ns)
{
	while (sweep->now_ns < time_ns) {
		int64_t until_ns;
		uint32_t mask = mask_now(sweep, time_ns, &until_ns);

		sweep->take(sweep->context, sweep->now_ns, until_ns, mask);
		sweep->now_ns = until_ns;
	}
}

void sweep_add(struct sweep *sweep, int64_t start_ns, int64_t end_ns, uint32_t class)
{
	sweep_end(sweep, start_ns);
	sweep->mask |= 1u << class;
	if (end_ns > sweep->until_ns[class])
		sweep->until_ns[class] = end_ns;
}
