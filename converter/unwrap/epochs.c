/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever takes a wrong number of wraps of a counter estimates times that are whole wraps off, and
 * the stamps fit there, too. Two things tell where the work was: the tool doubts it, as it lies
 * outside all of its other times (FLEXTRACE_ESTIMATE_DOUBTED), and somewhere work is missing
 * (FLEXTRACE_ESTIMATE_IDLE). Estimates near such an interval that nobody doubts say what the
 * counter must have shown in it. Work whose stamps say just that, that fits into the interval and
 * takes at least half of it, is moved there, if no other interval would do. What stays doubted is
 * marked where work is missing at all.
 */
#include <math.h>
#include <stdlib.h>

#include "unwrap_impl.h"

#define SLACK_NS 1e6   /* that an estimate may be off besides */
#define MAX_LOOK 1024u /* facts each way that are looked at for one that nobody doubts */
#define WHOLE    0.02  /* that a number of wraps may be off a whole one */

/* An interval without work, by what its counter showed when it began. */
struct gap {
	double phase; /* low bits, ticks */
	double ticks; /* it lasted */
	struct idle *idle;
};

struct mender {
	struct axis *axis;
	double rate;      /* ticks per ns, over the whole axis */
	struct gap *gaps; /* owned, by phase */
	uint32_t n_gaps;
	double slack;     /* ticks */
	double max_ticks; /* of the longest gap */
	uint64_t n_mended;
};

/* Control blocks in a row that one gap has room for. */
struct group {
	struct gap *gap;
	uint32_t n;      /* facts from the first on, those that nobody doubts among them */
	double shift_ns; /* from where they seem to be */
	bool is_good;
};

static bool is_doubted(const struct fact *fact)
{
	return fact->kind == FACT_OP && fact->source.op->is_doubted && fact_is_bounded(fact);
}

static double middle_of(const struct fact *fact)
{
	return (double)fact->before_ns + (double)(fact->after_ns - fact->before_ns) / 2;
}

static double wrap_of(const struct axis *axis)
{
	return ldexp(1, (int)axis->narrow_bits);
}

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

/* -- gaps ------------------------------------------------------------------------------------ */

/* The first fact that was over by then or later. */
static uint32_t first_after(const struct axis *axis, int64_t ns)
{
	uint32_t lo = 0, n = axis->n_facts;

	while (n > 0) {
		uint32_t half = n / 2;

		if (axis->facts[lo + half].after_ns < ns) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

/* The fact nearest to a time that nobody doubts, NULL: there is none. */
static const struct fact *anchor_near(const struct axis *axis, int64_t ns)
{
	uint32_t at = first_after(axis, ns), end = at;
	const struct fact *before = NULL, *after = NULL;

	for (uint32_t i = 0; i < MAX_LOOK && at > 0 && !before; i++)
		before = is_anchor(&axis->facts[--at]) ? &axis->facts[at] : NULL;
	for (uint32_t i = 0; i < MAX_LOOK && end < axis->n_facts && !after; i++, end++)
		after = is_anchor(&axis->facts[end]) ? &axis->facts[end] : NULL;
	if (!before || !after)
		return before ? before : after;
	return after->before_ns - ns < ns - before->after_ns ? after : before;
}

static void add_gap(struct mender *mender, struct idle *idle)
{
	const struct axis *axis = mender->axis;
	const struct fact *anchor = anchor_near(axis, idle->begin_ns);
	struct gap gap = {.idle = idle};
	double ticks;

	if (!anchor)
		return;
	ticks = mender->rate * ((double)idle->begin_ns - middle_of(anchor));
	gap.phase = fmod(middle_ticks(anchor) + ticks, wrap_of(axis));
	gap.phase += gap.phase < 0 ? wrap_of(axis) : 0;
	gap.ticks = mender->rate * (double)(idle->end_ns - idle->begin_ns);
	mender->max_ticks = fmax(mender->max_ticks, gap.ticks);
	mender->gaps[mender->n_gaps++] = gap;
}

static int by_phase(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;

	if (a->phase != b->phase)
		return (a->phase > b->phase) - (a->phase < b->phase);
	return (a->idle > b->idle) - (a->idle < b->idle);
}

static int list_gaps(struct mender *mender, struct unwrap *unwrap, uint32_t counter)
{
	mender->gaps = calloc(unwrap->n_idles + 1ull, sizeof(*mender->gaps));
	if (!mender->gaps)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < unwrap->n_idles; i++) {
		if (unwrap->idles[i].counter == counter)
			add_gap(mender, &unwrap->idles[i]);
	}
	qsort(mender->gaps, mender->n_gaps, sizeof(*mender->gaps), by_phase);
	return FLEXTRACE_OK;
}

/* -- work ------------------------------------------------------------------------------------ */

/* How far behind the begin of a gap the counter showed these bits, the nearest way round. */
static double ticks_into(const struct mender *mender, const struct gap *gap, uint64_t bits)
{
	double wrap = wrap_of(mender->axis);
	double ticks = (double)low_bits(bits, mender->axis->narrow_bits) - gap->phase;

	if (ticks >= wrap / 2)
		return ticks - wrap;
	return ticks < -wrap / 2 ? ticks + wrap : ticks;
}

static bool has_room(const struct mender *mender, const struct gap *gap, const struct fact *fact,
                     double *ret_begin, double *ret_end)
{
	*ret_begin = ticks_into(mender, gap, fact->first);
	*ret_end = *ret_begin + (double)fact->span;
	return *ret_begin >= -mender->slack && *ret_end <= gap->ticks + mender->slack;
}

/* Fills a gap with what follows from a fact on. */
static struct group fill(const struct mender *mender, struct gap *gap, uint32_t first)
{
	const struct axis *axis = mender->axis;
	double least = INFINITY, most = -INFINITY, begin, end, n_wraps;
	const struct fact *of = &axis->facts[first];
	struct group group = {.gap = gap};
	double last_ns = middle_of(of);

	for (uint32_t i = first; i < axis->n_facts; i++) {
		const struct fact *fact = &axis->facts[i];

		if (middle_of(fact) - last_ns > mender->max_ticks / mender->rate)
			break;
		if (!is_doubted(fact))
			continue;
		if (!has_room(mender, gap, fact, &begin, &end))
			break;
		least = fmin(least, begin);
		most = fmax(most, end);
		last_ns = middle_of(fact);
		group.n = i + 1 - first;
	}
	if (!group.n)
		return group;
	begin = ticks_into(mender, gap, of->first) + (double)of->span / 2;
	group.shift_ns = (double)gap->idle->begin_ns + begin / mender->rate - middle_of(of);
	n_wraps = group.shift_ns * mender->rate / wrap_of(axis);
	group.is_good = !gap->idle->is_filled && most - least >= gap->ticks / 2 &&
	                fabs(n_wraps) > 0.5 &&
	                fabs(n_wraps - round(n_wraps)) <= WHOLE * fabs(n_wraps);
	return group;
}

/* The first gap whose phase is not before `phase`. */
static uint32_t first_gap(const struct mender *mender, double phase)
{
	uint32_t lo = 0, n = mender->n_gaps;

	while (n > 0) {
		uint32_t half = n / 2;

		if (mender->gaps[lo + half].phase < phase) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

/* Finds the one gap for the work from a fact on; false: there is none, or several. */
static bool find_group(const struct mender *mender, uint32_t first, struct group *ret_group)
{
	const struct axis *axis = mender->axis;
	double bits = (double)low_bits(axis->facts[first].first, axis->narrow_bits);
	double reach = mender->max_ticks + 2 * mender->slack;
	uint32_t at = first_gap(mender, fmod(bits - reach + wrap_of(axis), wrap_of(axis)));
	uint32_t n_good = 0;

	for (uint32_t i = 0; i < mender->n_gaps; i++) {
		struct gap *gap = &mender->gaps[(at + i) % mender->n_gaps];
		double into = ticks_into(mender, gap, axis->facts[first].first);
		struct group group;

		if (into < -mender->slack || into > reach)
			break;
		group = fill(mender, gap, first);
		if (!group.is_good)
			continue;
		*ret_group = group;
		n_good++;
	}
	return n_good == 1;
}

static void move(struct mender *mender, uint32_t first, const struct group *group)
{
	int64_t shift_ns = llround(group->shift_ns);

	group->gap->idle->is_filled = true;
	for (uint32_t i = first; i < first + group->n; i++) {
		struct fact *fact = &mender->axis->facts[i];

		if (!is_doubted(fact))
			continue;
		fact->before_ns += shift_ns;
		fact->after_ns += shift_ns;
		fact->source.op->is_doubted = false;
		mender->n_mended++;
	}
}

static void mend(struct mender *mender)
{
	struct axis *axis = mender->axis;

	for (uint32_t i = 0; i < axis->n_facts && mender->n_gaps; i++) {
		struct group group;

		if (!is_doubted(&axis->facts[i]) || !find_group(mender, i, &group))
			continue;
		move(mender, i, &group);
		i += group.n - 1;
	}
}

/* -- a counter ------------------------------------------------------------------------------- */

/* Counts what is doubted; where no work is missing at all, the tool left such times out and the
 * work stands where it says. */
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

static int mend_counter(struct unwrap *unwrap, uint32_t counter)
{
	struct axis *axis = &unwrap->axes[counter];
	struct mender mender = {.axis = axis};
	int code = FLEXTRACE_OK;
	bool is_missing = false;

	for (uint32_t i = 0; i < unwrap->n_idles; i++)
		is_missing |= unwrap->idles[i].counter == counter;
	if (is_missing && axis->is_soft && axis->rate.is_known) {
		mender.rate = mean_rate(axis);
		mender.slack = SLACK_NS * mender.rate;
		code = list_gaps(&mender, unwrap, counter);
		if (code >= 0)
			mend(&mender);
	}
	free(mender.gaps);
	if (code >= 0 && mender.n_mended)
		code = axis_prepare(axis);
	unwrap->ledger->warnings[WARNING_WRONG_EPOCHS] += mender.n_mended;
	unwrap->ledger->warnings[WARNING_OUTSIDE_TRIP] += settle(axis, is_missing && axis->is_soft);
	return code;
}

int epochs_mend(struct unwrap *unwrap)
{
	for (uint32_t i = 0; i < unwrap->n_axes && unwrap->n_doubted; i++)
		FLEXTRACE_TRY(mend_counter(unwrap, i));
	return FLEXTRACE_OK;
}
