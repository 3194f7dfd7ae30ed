/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that lasts longer than a wrap. Its stamps do not show the wraps between them. If another
 * tool estimated when it began and when it ended, the length tells how many there are, because
 * estimates are off by far less than a wrap. The same is done for the wait in front of it.
 */
#include <math.h>

#include "engine/unwrap/unwrap_impl.h"

#define CLOSE     0.2 /* of a wrap, that a length may be beside whole ones */
#define MAX_WAITS 255

/* How many wraps a length leaves behind the ticks that stamps show; 0: none, or no telling. */
static double hidden_wraps(const struct axis *axis, double ns, uint64_t shown)
{
	double rate = (axis->rate.lo + axis->rate.hi) / 2, wrap = ldexp(1, (int)axis->narrow_bits);
	double wraps = (ns * rate - (double)shown) / wrap;

	return fabs(wraps - round(wraps)) <= CLOSE && wraps > 0 && wraps * wrap < 0x1p62
	               ? round(wraps)
	               : 0;
}

static void settle_axis(struct axis *axis)
{
	for (uint32_t i = 0; i < axis->n_samples; i++) {
		struct sample *sample = &axis->samples[i];
		double ns;

		if (sample->kind != SAMPLE_OP || !sample_is_bounded(sample) ||
		    sample->from == sample->to)
			continue;
		ns = (double)(sample->after_ns - sample->before_ns) -
		     2.0 * UNWRAP_ESTIMATE_SLACK_NS;
		sample->span += (uint64_t)hidden_wraps(axis, ns, sample->span) << axis->narrow_bits;
	}
}

static void settle_wait(struct unwrap *unwrap, const struct wait *wait)
{
	const struct axis *axis = &unwrap->axes[wait->op->counter];
	struct tick_op *op = wait->op;
	double wraps;

	if (!axis->is_soft || !axis->rate.is_known || !op->ticks[1] || !op->ticks[2])
		return;
	wraps = hidden_wraps(axis, (double)wait->ns,
	                     low_bits(op->ticks[2] - op->ticks[1], axis->narrow_bits));
	op->unused = (uint8_t)fmin(wraps, MAX_WAITS);
}

void spans_settle(struct unwrap *unwrap)
{
	for (uint32_t i = 0; i < unwrap->n_axes; i++) {
		if (unwrap->axes[i].is_soft && unwrap->axes[i].rate.is_known)
			settle_axis(&unwrap->axes[i]);
	}
	for (uint32_t i = 0; i < unwrap->estimates.n_waits; i++)
		settle_wait(unwrap, &unwrap->estimates.waits[i]);
}
