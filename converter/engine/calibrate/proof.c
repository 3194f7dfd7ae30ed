/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates that are not believed without a proof.
 *
 * A counter that restarts with each job, or runs only during one, can look like a counter of
 * another rate: if jobs come once a second, each stamp is where a counter of 2^32 ticks a second
 * would be. Such a rate shows over whole wraps only. So if the nominal rate is stated and the
 * evidence says another one, that rate needs pairs of brackets within half a wrap of each other:
 * between these, ticks were counted and not guessed.
 *
 * If nobody states a rate, such a counter still shows in the stamps behind long pauses: as far as
 * the counter's bits tell, they are all those of the first job again (it restarts), or those from
 * before the pause (it is gated). Work whose rhythm is a multiple of the counter's wrap looks the
 * same, so that a rate needs the same proof then. Any other rhythm comes that near with a chance of
 * one in a thousand.
 *
 * A rate nearer to the nominal one may hide a few jumps, of the counter or of the host's clock,
 * where brackets are loose. It needs evidence for which a clock of the nominal rate would have to
 * jump again and again.
 */
#include <math.h>

#include "calibrate_impl.h"

#define HALF_WRAP      (UINT64_C(1) << 31) /* ticks, of the narrowest stamps */
#define MIN_PROOFS     3u
#define MAX_STRIDE     256u
#define MAX_PER_STRIDE 1024u

#define NOMINAL_NEAR 5e-4 /* that a good clock is off its nominal rate */
#define MOST_JUMPS   5u   /* of a clock that hide in loose evidence */
#define FEW          4u   /* claims for each of them */

#define MIN_PAUSES  8u
#define MOST_PAUSES 0.9        /* share of pauses that show the same */
#define SAME_TICKS  (1u << 21) /* that stamps are apart which are the same */
#define N_STARTS    4u

struct proofs {
	uint32_t n_for, n_against; /* pairs that leave only the one, or only the nominal rate */
	uint32_t n_apart;          /* those for it that do not overlap, of one stride */
};

/* The slopes that a pair leaves, if it is less than `reach` ticks apart. */
static bool bound_by_pair(const struct claim *from, const struct claim *to, double reach,
                          struct slopes *ret)
{
	if (from->before == INT64_MIN || from->after == INT64_MAX || to->before == INT64_MIN ||
	    to->after == INT64_MAX || to->first <= from->last || to->before <= from->after ||
	    (double)(to->first - from->last) >= reach)
		return false;
	ret->lo = (double)(to->before - from->after) / (double)(to->first - from->last);
	ret->hi = (double)(to->after - from->before) / (double)(to->last - from->first);
	return true;
}

static bool meets(const struct slopes *slopes, double lo, double hi, double near)
{
	return hi * (1 + near) >= slopes->lo && lo * (1 - near) <= slopes->hi;
}

/* Returns whether the pair proves the rate. */
static bool judge_pair(struct proofs *proofs, const struct claim *from, const struct claim *to,
                       double slope, double nominal)
{
	struct slopes slopes;
	bool is_met, is_nominal_met;

	if (!bound_by_pair(from, to, HALF_WRAP, &slopes))
		return false;
	is_met = meets(&slopes, slope, slope, PROOF_NEAR);
	/* Where none is stated, a pair has to tell the rate by itself. */
	is_nominal_met = nominal > 0 ? meets(&slopes, nominal, nominal, PROOF_NEAR / 2)
	                             : slopes.hi - slopes.lo > PROOF_NEAR * slope;
	proofs->n_against += !is_met;
	return is_met && !is_nominal_met;
}

/* Pairs on either side of one event, as of a jump of the host's clock, are one proof. */
static void judge_stride(struct proofs *proofs, const struct evidence *evidence, uint32_t stride,
                         double slope, double nominal)
{
	uint32_t n = evidence->n - stride, step = (n - 1) / MAX_PER_STRIDE + 1;
	uint32_t n_apart = 0, end = 0;

	for (uint32_t i = 0; i < n; i += step) {
		if (!judge_pair(proofs, &evidence->claims[i], &evidence->claims[i + stride], slope,
		                nominal))
			continue;
		proofs->n_for++;
		if (i < end)
			continue;
		n_apart++;
		end = i + stride;
	}
	if (n_apart > proofs->n_apart)
		proofs->n_apart = n_apart;
}

static bool is_proven(const struct evidence *evidence, double nominal, double slope)
{
	struct proofs proofs = {0};

	for (uint32_t stride = 1; stride < evidence->n && stride <= MAX_STRIDE; stride *= 2)
		judge_stride(&proofs, evidence, stride, slope, nominal);
	return proofs.n_apart >= MIN_PROOFS && proofs.n_for >= proofs.n_against;
}

/* How often a clock of the nominal rate would have had to jump. */
static uint32_t count_jumps(const struct evidence *evidence, double nominal)
{
	double lo = -INFINITY, hi = INFINITY, from = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < evidence->n; i++) {
		const struct claim *claim = &evidence->claims[i];
		double before = claim->before == INT64_MIN ? -INFINITY : (double)claim->before;
		double after = claim->after == INT64_MAX ? INFINITY : (double)claim->after;

		if (evidence->is_false[i])
			continue;
		before -= nominal * (double)claim->first;
		after -= nominal * (double)claim->last;
		if (fmax(lo, before) - fmin(hi, after) >
		    nominal * NOMINAL_NEAR * ((double)claim->last - from)) {
			n++;
			lo = -INFINITY;
			hi = INFINITY;
			from = (double)claim->first;
		}
		lo = fmax(lo, before);
		hi = fmin(hi, after);
	}
	return n;
}

/* Whether evidence that excludes the nominal rate does so all the time, and not only beside a few
 * jumps. */
static bool is_spread(const struct evidence *evidence, double nominal)
{
	uint32_t few = evidence->n / FEW < MOST_JUMPS ? evidence->n / FEW : MOST_JUMPS;

	return count_jumps(evidence, nominal) >= few;
}

static bool is_same(uint64_t x, uint64_t other)
{
	return (uint32_t)(x - other) + SAME_TICKS < 2 * SAME_TICKS;
}

/* First stamps behind pauses, with which others are compared. There are several, as the first
 * stamp of all may have come late. */
struct starts {
	uint64_t first[N_STARTS];
	uint32_t n_same[N_STARTS], n;
};

static void add_start(struct starts *starts, uint64_t first)
{
	for (uint32_t i = 0; i < starts->n; i++)
		starts->n_same[i] += is_same(first, starts->first[i]);
	if (starts->n < N_STARTS)
		starts->first[starts->n++] = first;
}

/* How many are the same as one of them, at most. */
static uint32_t most_same(const struct starts *starts)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < starts->n; i++) {
		uint32_t n = starts->n_same[i] + i; /* as if those before it had been asked */

		most = n > most ? n : most;
	}
	return most;
}

/* Looks at the first stamps behind pauses, by the bits that all counters have. */
static enum proof judge_pauses(const struct evidence *evidence)
{
	uint64_t last = evidence->n ? evidence->claims[0].first : 0;
	uint32_t n_pauses = 0, n_gated = 0;
	struct starts starts = {.n = 0};

	if (evidence->n)
		add_start(&starts, last);
	for (uint32_t i = 0; i < evidence->n; i++) {
		const struct claim *claim = &evidence->claims[i];

		if (claim->first > last && claim->first - last >= HALF_WRAP) {
			n_pauses++;
			add_start(&starts, claim->first);
			n_gated += is_same(claim->first, last);
		}
		last = claim->last > last ? claim->last : last;
	}
	if (n_pauses < MIN_PAUSES)
		return PROOF_NOT_NEEDED;
	if (most_same(&starts) >= MOST_PAUSES * n_pauses)
		return PROOF_RESTARTS;
	return n_gated >= MOST_PAUSES * n_pauses ? PROOF_IS_GATED : PROOF_NOT_NEEDED;
}

enum proof proof_of(const struct evidence *evidence, double nominal, const struct slopes *slopes)
{
	double slope = (slopes->lo + slopes->hi) / 2;
	enum proof looks_like;

	if (nominal > 0 && meets(slopes, nominal, nominal, PROOF_NEAR))
		return meets(slopes, nominal, nominal, NOMINAL_NEAR) || is_spread(evidence, nominal)
		               ? PROOF_NOT_NEEDED
		               : PROOF_IS_MISSING;
	looks_like = judge_pauses(evidence);
	if ((nominal <= 0 && looks_like == PROOF_NOT_NEEDED) || is_proven(evidence, nominal, slope))
		return PROOF_NOT_NEEDED;
	return looks_like == PROOF_NOT_NEEDED ? PROOF_IS_MISSING : looks_like;
}
