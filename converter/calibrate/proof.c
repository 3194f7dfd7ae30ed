/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter that restarts with each job, or runs only while one runs, can look like one of quite
 * another rate: if jobs come once a second, each stamp is where a counter of 2^32 ticks a second
 * would be. Such a rate shows over whole wraps only. So where the nominal rate is stated and the
 * evidence says another, that needs pairs of brackets within half a wrap: what passed between them
 * was counted, not guessed.
 */
#include <math.h>

#include "calibrate_impl.h"

#define NEAR           0.02 /* that a rate may be off the nominal one without proof */
#define HALF_WRAP      (UINT64_C(1) << 31) /* ticks, of the narrowest stamps */
#define MIN_PROOFS     3u
#define MAX_STRIDE     256u
#define MAX_PER_STRIDE 1024u

struct proofs {
	uint32_t n_for, n_against; /* pairs that leave only the one, or only the nominal rate */
};

static void judge_pair(struct proofs *proofs, const struct claim *from, const struct claim *to,
                       double slope, double nominal)
{
	double ticks, least_ns, most_ns;
	bool meets, meets_nominal;

	if (from->before == INT64_MIN || from->after == INT64_MAX || to->before == INT64_MIN ||
	    to->after == INT64_MAX || to->first <= from->last || to->before <= from->after ||
	    to->first - from->last >= HALF_WRAP)
		return;
	ticks = (double)(to->first - from->last);
	least_ns = (double)(to->before - from->after);
	most_ns = (double)(to->after - from->before);
	meets = ticks * slope * (1 + NEAR) >= least_ns && ticks * slope * (1 - NEAR) <= most_ns;
	meets_nominal = ticks * nominal * (1 + NEAR / 2) >= least_ns &&
	                ticks * nominal * (1 - NEAR / 2) <= most_ns;
	proofs->n_for += meets && !meets_nominal;
	proofs->n_against += !meets;
}

bool proof_is_missing(const struct evidence *evidence, double nominal, double slope)
{
	struct proofs proofs = {0, 0};

	if (nominal <= 0 || fabs(slope - nominal) <= NEAR * nominal)
		return false;
	for (uint32_t stride = 1; stride < evidence->n && stride <= MAX_STRIDE; stride *= 2) {
		uint32_t n = evidence->n - stride, step = (n - 1) / MAX_PER_STRIDE + 1;

		for (uint32_t i = 0; i < n; i += step)
			judge_pair(&proofs, &evidence->claims[i], &evidence->claims[i + stride],
			           slope, nominal);
	}
	return proofs.n_for < MIN_PROOFS || proofs.n_for < proofs.n_against;
}
