/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever takes a wrong number of wraps of a counter estimates times that are whole wraps off, and
 * the stamps fit there, too. The tool itself doubts some, as they lie outside all of its other
 * times (FLEXTRACE_ESTIMATE_DOUBTED). What facts put elsewhere is moved, what they leave open stays
 * doubted (chains.c).
 */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "unwrap_impl.h"

static double middle_of(const struct fact *fact)
{
	return (double)fact->before_ns + (double)(fact->after_ns - fact->before_ns) / 2;
}

static double wrap_of(const struct axis *axis)
{
	return ldexp(1, (int)axis->narrow_bits);
}

/* An estimate that nobody doubts. */
static bool is_anchor(const struct fact *fact)
{
	return fact->kind == FACT_OP && !fact->source.op->is_doubted && fact_is_bounded(fact);
}

static double middle_ticks(const struct fact *fact)
{
	uint64_t middle = fact->first + fact->span / 2;

	return (double)middle;
}

/* From the first to the last that nobody doubts: what is known of the rate tells the wraps from one
 * to the next. */
static double mean_rate(const struct axis *axis)
{
	double rate = (axis->rate.lo + axis->rate.hi) / 2, wrap = wrap_of(axis);
	const struct fact *first = NULL, *last = NULL;
	double ticks = 0, ns;

	for (uint32_t i = 0; i < axis->n_facts; i++) {
		const struct fact *fact = &axis->facts[i];

		if (!is_anchor(fact))
			continue;
		first = first ? first : fact;
		if (last) {
			double more = middle_ticks(fact) - middle_ticks(last);

			ns = middle_of(fact) - middle_of(last);
			ticks += more + wrap * round((ns * rate - more) / wrap);
		}
		last = fact;
	}
	ns = first ? middle_of(last) - middle_of(first) : 0;
	return ns > 0 && ticks > 0 ? ticks / ns : rate;
}

/* -- a counter ------------------------------------------------------------------------------- */

/* Counts what is still doubted; where no work is missing at all, the tool left such times out and
 * the work stands where it says. */
static uint64_t settle(struct axis *axis, bool is_marked)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < axis->n_facts; i++) {
		if (axis->facts[i].kind != FACT_OP || !axis->facts[i].source.op->is_doubted)
			continue;
		axis->facts[i].source.op->is_doubted = is_marked;
		n++;
	}
	return n;
}

static bool has_idle(const struct unwrap *unwrap, uint32_t counter)
{
	for (uint32_t i = 0; i < unwrap->n_idles; i++) {
		if (unwrap->idles[i].counter == counter)
			return true;
	}
	return false;
}

static int mend_counter(struct unwrap *unwrap, uint32_t counter)
{
	struct axis *axis = &unwrap->axes[counter];
	uint64_t *warnings = unwrap->ledger->warnings;
	bool is_mendable = axis->is_soft && axis->rate.is_known;
	struct chains_outcome outcome = {0};

	if (is_mendable)
		FLEXTRACE_TRY(chains_mend(unwrap, counter, mean_rate(axis), &outcome));
	warnings[WARNING_WRONG_EPOCHS] += outcome.n_mended;
	warnings[WARNING_OUTSIDE_TRIP] += outcome.n_believed;
	if (unwrap->n_doubted || is_mendable)
		warnings[WARNING_OUTSIDE_TRIP] +=
			settle(axis, is_mendable || (axis->is_soft && has_idle(unwrap, counter)));
	return FLEXTRACE_OK;
}

int epochs_mend(struct unwrap *unwrap)
{
	for (uint32_t i = 0; i < unwrap->n_axes; i++)
		FLEXTRACE_TRY(mend_counter(unwrap, i));
	return FLEXTRACE_OK;
}
