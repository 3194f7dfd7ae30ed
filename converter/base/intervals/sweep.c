/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

void sweep_begin(struct sweep *sweep, int64_t time_ns, sweep_taker *take, void *context)
{
	*sweep = (struct sweep){.take = take, .context = context, .now_ns = time_ns};
	for (int class = 0; class < SWEEP_MAX_CLASSES; class ++)
		sweep->until_ns[class] = time_ns;
}

/* The classes under way now; stores until when these and no others are, at most `time_ns`. */
static uint32_t mask_now(const struct sweep *sweep, int64_t time_ns, int64_t *ret_until_ns)
{
	uint32_t mask = 0;

	*ret_until_ns = time_ns;
	for (int class = 0; class < SWEEP_MAX_CLASSES; class ++) {
		if (sweep->until_ns[class] <= sweep->now_ns)
			continue;
		mask |= 1u << class;
		if (sweep->until_ns[class] < *ret_until_ns)
			*ret_until_ns = sweep->until_ns[class];
	}
	return mask;
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
	if (end_ns > sweep->until_ns[class])
		sweep->until_ns[class] = end_ns;
}
