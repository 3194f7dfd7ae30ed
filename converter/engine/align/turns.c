/* SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <math.h>
#include <stdlib.h>

#include "align_impl.h"

#define TIMES       4       /* better than with any other shift */
#define APART       200e-6  /* how differently two clocks may run */
#define LEAST_NS    1000.0  /* lengths agree no better than this */
#define MOST        0.8     /* of all turns agree with the right shift */
#define HALF        0.5     /* of them do not with any other */
#define ENOUGH      2u      /* turns that agree by chance no more */
#define LAST        0xffffu /* turns, of which so many may differ: */
#define MOST_DIFFER 8
#define BESIDE      2   /* turns on either side of a use that is sure */
#define CHANCE      6   /* times nearer than half of the turns of another shift */
#define LOOK        24u /* receives that are looked at together */
#define N_LOOKS     8u
#define MAX_SHIFTS  65536

/* Receives [from, to): so few that often none of them, nor of their sends, was lost. */
struct look {
	uint32_t from, to;
};

/* How far the lengths of a turn, which ends with a receive, are from each other. */
static double apart_ns(const struct turns *turns, int64_t shift, uint32_t receive)
{
	const struct message_use *to = &turns->receives[receive];
	const struct message_use *from = &turns->sends[(int64_t)receive + shift];
	double a_ns = (double)(to->host_ns - to[-1].host_ns);
	double b_ns = (double)(from->host_ns - from[-1].host_ns);

	return fabs(a_ns - b_ns) - APART * fmin(a_ns, b_ns);
}

static bool has_send(const struct turns *turns, int64_t shift, int64_t receive)
{
	return receive + shift >= 0 && receive + shift < turns->n_sends;
}

/* Lists how far turns are apart with a shift; returns how many both sides have. */
static uint32_t list_apart(const struct turns *turns, const struct look *look, int64_t shift,
                           double apart[LOOK])
{
	uint32_t n = 0;

	for (uint32_t i = look->from + 1; i < look->to; i++) {
		if (has_send(turns, shift, (int64_t)i - 1) && has_send(turns, shift, i))
			apart[n++] = apart_ns(turns, shift, i);
	}
	return n;
}

/* How far most turns are apart, and half of them; INFINITY: they are too few. */
static void measure(const struct turns *turns, const struct look *look, int64_t shift,
                    double *ret_most_ns, double *ret_half_ns)
{
	double apart[LOOK];
	uint32_t n = list_apart(turns, look, shift, apart);

	*ret_half_ns = n > 0 ? select_quantile(apart, n, HALF) : 0;
	*ret_most_ns = n < ENOUGH ? INFINITY : fmax(LEAST_NS, select_quantile(apart, n, MOST));
}

/* Finds the shift from a look; false: others can be, too. */
static bool prove(struct turns *turns, const struct look *look)
{
	int64_t half = (look->to - look->from + 1) / 2 > 2 ? (look->to - look->from + 1) / 2 : 2;
	int64_t first = half - (int64_t)look->to, end = (int64_t)turns->n_sends - look->from - half;
	double half_ns = INFINITY; /* the least of any other shift */

	turns->agrees_ns = INFINITY;
	turns->differs_ns = INFINITY;
	for (int64_t shift = first; shift <= end; shift++) {
		double most_ns, this_ns;

		measure(turns, look, shift, &most_ns, &this_ns);
		if (most_ns < turns->agrees_ns) {
			turns->differs_ns = fmin(turns->differs_ns, half_ns);
			turns->agrees_ns = most_ns;
			turns->shift = shift;
			half_ns = this_ns;
		} else {
			turns->differs_ns = fmin(turns->differs_ns, this_ns);
		}
	}
	return turns->agrees_ns < INFINITY && TIMES * turns->agrees_ns < turns->differs_ns;
}

bool turns_prove(struct turns *turns)
{
	uint32_t n = turns->n_receives, most = n < LOOK ? n : LOOK;
	uint32_t n_looks = n / LOOK < N_LOOKS ? n / LOOK : N_LOOKS;

	if ((uint64_t)turns->n_sends + LOOK > MAX_SHIFTS)
		return false;
	for (uint32_t i = 0; i < n_looks || i == 0; i++) {
		uint32_t from = (uint32_t)((uint64_t)(n - most) * (2 * i + 1) /
		                           (2 * (n_looks ? n_looks : 1)));
		struct look look = {from, from + most};

		if (prove(turns, &look))
			return true;
	}
	return false;
}

/* Whether both sides have the turn that ends with a receive. */
static bool has_turn(const struct turns *turns, int64_t receive)
{
	return receive > 0 && receive < turns->n_receives &&
	       has_send(turns, turns->shift, receive - 1) && has_send(turns, turns->shift, receive);
}

bool turns_agree(const struct turns *turns, uint32_t receive)
{
	double limit_ns = fmin(TIMES * turns->agrees_ns, turns->differs_ns / CHANCE);
	uint32_t n = 0;

	for (int64_t i = (int64_t)receive - BESIDE + 1; i <= (int64_t)receive + BESIDE; i++) {
		if (!has_turn(turns, i))
			continue;
		if (apart_ns(turns, turns->shift, (uint32_t)i) > limit_ns)
			return false;
		n++;
	}
	return n >= ENOUGH && has_send(turns, turns->shift, receive);
}

/* After a missing use on one side, turns differ until one is missing on the other side. */
bool turns_agree_throughout(const struct turns *turns)
{
	double limit_ns = fmax(TIMES * turns->agrees_ns, turns->differs_ns / 2);
	uint32_t n_differ = 0, differ = 0; /* one bit for each of the last turns */

	if (turns->shift || turns->n_sends != turns->n_receives)
		return false;
	for (uint32_t i = 1; i < turns->n_receives; i++) {
		bool is_apart = apart_ns(turns, 0, i) > limit_ns;

		n_differ += is_apart;
		differ = (differ << 1 | is_apart) & LAST;
		if (__builtin_popcount(differ) > MOST_DIFFER)
			return false;
	}
	return (double)n_differ <= (1 - MOST) * (turns->n_receives - 1);
}
