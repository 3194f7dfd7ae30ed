/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of stamps inside an operation. A device takes them one behind the other, so a stamp
 * with fewer cycles than the one before is either behind a wrap or false, and it takes a sample to
 * tell which:
 *
 * - Between two stamps there are no more ticks than the fastest counter makes in the bracket. If
 *   leaving out one or two stamps makes the others obey, those are false. At least three remain:
 *   that so many fit by chance happens once in millions.
 * - Where several parts of the stamps obey, what is not in all of them is left out, too: of two
 *   stamps that changed places either one may be false, or both.
 * - A stamp up to SLIP_TICKS before the one in front of it may be nearly a whole wrap behind it.
 *   It is left out as false. Where the bracket has room for the wrap, that is not proven, so
 *   the operation is no evidence and never certified.
 *
 * Every other step is believed: work that is long, but shorter than a wrap.
 */
#include "unwrap_impl.h"

#define SLIP_TICKS   (UINT64_C(1) << 16)
#define SLIP_BITS    8u  /* a slip is at most 2^-8 of a narrow counter's range */
#define MIN_TO_MEND  3   /* stamps that remain */
#define NOISE_TICKS  64u /* that stamps of different cores differ by */
#define DOUBT        1.01
#define LONGEST_BITS 44u /* of the ticks from a stamp to the next: hours */

/* The most ticks from a stamp to the next one, if no stamp slipped. */
static uint64_t most_without_slip(unsigned n_bits)
{
	uint64_t share;

	if (n_bits > LONGEST_BITS)
		return UINT64_C(1) << LONGEST_BITS;
	share = UINT64_C(1) << (n_bits > SLIP_BITS ? n_bits - SLIP_BITS : 0);

	return low_bits(UINT64_MAX, n_bits) - (share < SLIP_TICKS ? share : SLIP_TICKS);
}

/* What is, or may be, from one stamp to the next, and in all. */
struct limits {
	unsigned n_bits;
	uint64_t step, sum;
};

static struct limits limits_of(const struct tick_op *op, unsigned set, unsigned n_bits)
{
	struct limits limits = {n_bits, 0, 0};
	uint64_t last = 0;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		uint64_t step;

		if (!(set >> i & 1) || !op->ticks[i])
			continue;
		step = last ? low_bits(op->ticks[i] - last, n_bits) : 0;
		limits.step = step > limits.step ? step : limits.step;
		limits.sum += step;
		last = op->ticks[i];
	}
	return limits;
}

static bool is_in_order(const struct tick_op *op, unsigned set, const struct limits *most)
{
	struct limits limits = limits_of(op, set, most->n_bits);

	return limits.step <= most->step && limits.sum <= most->sum;
}

/* How far back the farthest stamp is that is before the one in front of it. */
static uint64_t longest_slip(const struct tick_op *op, unsigned all, const struct limits *limits)
{
	uint64_t last = 0, longest = 0;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		if (!(all >> i & 1))
			continue;
		if (last && low_bits(op->ticks[i] - last, limits->n_bits) > limits->step) {
			uint64_t slip = low_bits(last - op->ticks[i], limits->n_bits);

			longest = slip > longest ? slip : longest;
		}
		last = op->ticks[i];
	}
	return longest;
}

/* The stamps that every part of this size has which is in order. */
static unsigned always_in_order(const struct tick_op *op, unsigned all, unsigned n,
                                const struct limits *limits)
{
	unsigned common = all;

	for (unsigned part = all; part; part = (part - 1) & all) {
		if ((unsigned)__builtin_popcount(part) == n && is_in_order(op, part, limits))
			common &= part;
	}
	return common;
}

/* The largest part of some stamps that is in order; of equal ones that with the earlier stamps. */
static unsigned largest_in_order(const struct tick_op *op, unsigned all,
                                 const struct limits *limits)
{
	unsigned best = 0;

	if (is_in_order(op, all, limits))
		return all;
	for (unsigned part = all; part; part = (part - 1) & all) {
		unsigned differ = part ^ best;
		int more = __builtin_popcount(part) - __builtin_popcount(best);

		if (more >= 0 && (more > 0 || part & differ & -differ) &&
		    is_in_order(op, part, limits))
			best = part;
	}
	return best;
}

static unsigned leave_out(struct tick_op *op, unsigned all, unsigned kept)
{
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++) {
		if ((all & ~kept) >> i & 1)
			op->ticks[i] = 0;
	}
	return (unsigned)__builtin_popcount(all & ~kept);
}

static unsigned stamps_of(const struct tick_op *op)
{
	unsigned all = 0;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		all |= (unsigned)(op->ticks[i] != 0) << i;
	return all;
}

/* Of two stamps that changed places, or if one is far out of order, it is not known which are
 * true: neither is kept. A stamp that slipped by a few ticks is true all the same. */
static unsigned leave_out_doubted(struct tick_op *op, unsigned all, unsigned kept,
                                  const struct limits *limits)
{
	unsigned common = kept;

	if (kept != all && longest_slip(op, all, limits) > NOISE_TICKS)
		common = always_in_order(op, all, (unsigned)__builtin_popcount(kept), limits);
	return leave_out(op, all, common ? common : kept);
}

/* Whether the bracket has less room at a rate. */
static bool is_shorter(const struct sample *sample, double rate, uint64_t ticks)
{
	return sample->before_ns != UNWRAP_NO_BEFORE && sample->after_ns != UNWRAP_NO_AFTER &&
	       (double)(sample->after_ns - sample->before_ns) * rate < (double)ticks;
}

/* The most ticks that the bracket has room for; UINT64_MAX: as many as stamps can show. */
static uint64_t room_of(const struct sample *sample, uint64_t most)
{
	if (sample->bounds != BOUNDS_HARD || !is_shorter(sample, UNWRAP_MAX_RATE, most))
		return UINT64_MAX;
	return (uint64_t)((double)(sample->after_ns - sample->before_ns) * UNWRAP_MAX_RATE);
}

/* Leaves out what takes longer than the bracket. */
static unsigned mend_within(struct tick_op *op, unsigned n_bits, uint64_t room)
{
	const struct limits limits = {n_bits, room, room};
	unsigned all = stamps_of(op), kept = largest_in_order(op, all, &limits);

	if (__builtin_popcount(kept) < MIN_TO_MEND)
		return 0;
	return leave_out_doubted(op, all, kept, &limits);
}

unsigned order_mend(struct sample *sample, unsigned n_bits, uint64_t longest)
{
	struct limits most = {n_bits, most_without_slip(n_bits), UINT64_MAX};
	struct tick_op *op = sample->source.op;
	uint64_t room = room_of(sample, most.step);
	unsigned n_left_out, n_slipped, all;

	if (sample->bounds == BOUNDS_ESTIMATE || (longest <= most.step && sample->span <= room))
		return 0; /* as nearly always */
	n_left_out = mend_within(op, n_bits, room);
	all = stamps_of(op);
	n_slipped = leave_out_doubted(op, all, largest_in_order(op, all, &most), &most);
	if (n_slipped && sample->bounds == BOUNDS_HARD && room == UINT64_MAX)
		sample->bounds = BOUNDS_SLIPPED;
	return n_left_out + n_slipped;
}

void order_judge_slip(const struct axis *axis, struct sample *sample)
{
	if (sample->bounds == BOUNDS_SLIPPED)
		sample->bounds = is_shorter(sample, axis->rate.hi * DOUBT,
		                            most_without_slip(axis->narrow_bits))
		                         ? BOUNDS_HARD
		                         : BOUNDS_CLOCK;
}
