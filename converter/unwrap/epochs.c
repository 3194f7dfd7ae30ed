/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever takes a wrong number of wraps of a counter estimates times that are whole wraps off, and
 * the stamps fit there, too. Two things tell where the work was: the tool doubts it, as it lies
 * outside all of its other times (FLEXTRACE_ESTIMATE_DOUBTED), and somewhere work is missing: in
 * all of an interval (FLEXTRACE_ESTIMATE_IDLE), or in a good part of one that reads of the counter
 * bound, as where only half of what was launched together is off. Estimates near such an interval
 * that nobody doubts say what the counter must have shown in it. Work whose stamps say just that,
 * that fits into the interval and takes at least half of it, is moved there, if no other interval
 * would do. What stays doubted is marked where a whole interval lacks its work, where it would fit
 * into a part of one, or where the order on the device tells that it is astray (chains.c).
 */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "unwrap_impl.h"

#define SLACK_NS 1e6   /* that an estimate may be off besides */
#define LEAST_NS 50000 /* of a part without work: hosts take some of each interval */
#define MAX_LOOK 1024u /* facts each way that are looked at for one that nobody doubts */
#define WHOLE    0.02  /* that a number of wraps may be off a whole one */
#define PART     4     /* of an interval, one of so many is a good part */

/* An interval without work, by what its counter showed when it began. */
struct gap {
	double phase; /* low bits, ticks */
	double ticks; /* it lasted */
	struct idle *idle;
};

/* An estimate before it was widened. */
static int64_t begin_of(const struct fact *fact)
{
	return fact->before_ns + UNWRAP_ESTIMATE_SLACK_NS;
}

static int64_t end_of(const struct fact *fact)
{
	return fact->after_ns - UNWRAP_ESTIMATE_SLACK_NS;
}

struct mender {
	struct axis *axis;
	double rate;      /* ticks per ns, over the whole axis */
	struct gap *gaps; /* owned, by phase */
	uint32_t n_gaps;
	struct idle *parts; /* owned: of intervals, without work */
	uint32_t n_parts, n_parts_allocated;
	bool has_idle;    /* a whole interval has no work */
	double slack;     /* ticks */
	double max_ticks; /* of the longest gap */
	uint64_t n_mended;
	uint64_t n_believed; /* doubted, but nothing says that they are elsewhere */
};

/* Control blocks in a row that one gap has room for. */
struct group {
	struct gap *gap;
	uint32_t n;       /* facts from the first on, those that nobody doubts among them */
	double shift_ns;  /* from where they seem to be */
	bool is_possible; /* that is whole wraps */
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

static bool is_fact_before(const void *row, const void *key)
{
	return ((const struct fact *)row)->after_ns < *(const int64_t *)key;
}

/* The first fact that was over by then or later. */
static uint32_t first_after(const struct axis *axis, int64_t ns)
{
	return array_count_before(axis->facts, axis->n_facts, sizeof(*axis->facts), is_fact_before,
	                          &ns);
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

/* Notes a part of an interval if it is a good one. */
static int add_part(struct mender *mender, const struct fact *read, int64_t begin_ns,
                    int64_t end_ns)
{
	if (end_ns - begin_ns < (read->after_ns - read->before_ns) / PART ||
	    end_ns - begin_ns < LEAST_NS)
		return FLEXTRACE_OK;
	FLEXTRACE_TRY(ARRAY_RESERVE(mender->parts, mender->n_parts_allocated, mender->n_parts + 1));
	mender->parts[mender->n_parts++] = (struct idle){.begin_ns = begin_ns, .end_ns = end_ns};
	return FLEXTRACE_OK;
}

/* Finds the parts of what bounds a read that nobody's work is in, if there is work at all. */
static int look_into(struct mender *mender, const struct fact *read)
{
	const struct axis *axis = mender->axis;
	int64_t reach_ns = read->before_ns;
	bool has_work = false;

	for (uint32_t i = first_after(axis, read->before_ns); i < axis->n_facts; i++) {
		const struct fact *fact = &axis->facts[i];

		if (!is_anchor(fact))
			continue;
		if (begin_of(fact) > read->after_ns)
			break;
		if (end_of(fact) < read->before_ns)
			continue;
		FLEXTRACE_TRY(add_part(mender, read, reach_ns, begin_of(fact)));
		reach_ns = end_of(fact) > reach_ns ? end_of(fact) : reach_ns;
		has_work = true;
	}
	return has_work ? add_part(mender, read, reach_ns, read->after_ns) : FLEXTRACE_OK;
}

/* Of intervals that overlap, the first one is looked into. */
static int list_parts(struct mender *mender)
{
	const struct axis *axis = mender->axis;
	int64_t last_ns = INT64_MIN;

	for (uint32_t i = 0; i < axis->n_facts; i++) {
		const struct fact *fact = &axis->facts[i];

		if (fact->kind != FACT_SYNC || !fact_is_bounded(fact) || fact->before_ns < last_ns)
			continue;
		FLEXTRACE_TRY(look_into(mender, fact));
		last_ns = fact->after_ns;
	}
	return FLEXTRACE_OK;
}

static int list_gaps(struct mender *mender, struct unwrap *unwrap, uint32_t counter)
{
	FLEXTRACE_TRY(list_parts(mender));
	mender->gaps = calloc((uint64_t)unwrap->n_idles + mender->n_parts + 1,
	                      sizeof(*mender->gaps));
	if (!mender->gaps)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < unwrap->n_idles; i++) {
		if (unwrap->idles[i].counter == counter)
			add_gap(mender, &unwrap->idles[i]);
	}
	for (uint32_t i = 0; i < mender->n_parts; i++)
		add_gap(mender, &mender->parts[i]);
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
	group.is_possible = !gap->idle->is_filled && fabs(n_wraps) > 0.5 &&
	                    fabs(n_wraps - round(n_wraps)) <= WHOLE * fabs(n_wraps);
	group.is_good = group.is_possible && most - least >= gap->ticks / 2;
	return group;
}

static bool is_gap_before(const void *row, const void *key)
{
	return ((const struct gap *)row)->phase < *(const double *)key;
}

/* The first gap whose phase is not before `phase`. */
static uint32_t first_gap(const struct mender *mender, double phase)
{
	return array_count_before(mender->gaps, mender->n_gaps, sizeof(*mender->gaps),
	                          is_gap_before, &phase);
}

enum fit { FITS_NOWHERE, FITS_SOMEWHERE, FITS_ONE };

/* Finds the one gap for the work from a fact on. */
static enum fit find_group(const struct mender *mender, uint32_t first, struct group *ret_group)
{
	const struct axis *axis = mender->axis;
	double bits = (double)low_bits(axis->facts[first].first, axis->narrow_bits);
	double reach = mender->max_ticks + 2 * mender->slack;
	uint32_t at = first_gap(mender, fmod(bits - reach + wrap_of(axis), wrap_of(axis)));
	uint32_t n_good = 0, n_possible = 0;

	for (uint32_t i = 0; i < mender->n_gaps; i++) {
		struct gap *gap = &mender->gaps[(at + i) % mender->n_gaps];
		double into = ticks_into(mender, gap, axis->facts[first].first);
		struct group group;

		if (into < -mender->slack || into > reach)
			break;
		group = fill(mender, gap, first);
		n_possible += group.is_possible;
		if (!group.is_good)
			continue;
		*ret_group = group;
		n_good++;
	}
	return n_good == 1 ? FITS_ONE : n_possible ? FITS_SOMEWHERE : FITS_NOWHERE;
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

	for (uint32_t i = 0; i < axis->n_facts; i++) {
		struct group group;
		enum fit fit;

		if (!is_doubted(&axis->facts[i]))
			continue;
		fit = find_group(mender, i, &group);
		if (fit == FITS_ONE) {
			move(mender, i, &group);
			i += group.n - 1;
		} else if (fit == FITS_NOWHERE && !mender->has_idle && !axis->facts[i].is_astray) {
			axis->facts[i].source.op->is_doubted = false;
			mender->n_believed++;
		}
	}
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

static bool has_doubted(const struct axis *axis)
{
	for (uint32_t i = 0; i < axis->n_facts; i++) {
		if (is_doubted(&axis->facts[i]))
			return true;
	}
	return false;
}

static int mend_counter(struct unwrap *unwrap, uint32_t counter)
{
	struct axis *axis = &unwrap->axes[counter];
	struct mender mender = {.axis = axis};
	int code = FLEXTRACE_OK;
	uint64_t n_followed = 0;
	bool is_mendable;

	if (axis->is_soft && axis->rate.is_known) {
		FLEXTRACE_TRY(chains_mend(unwrap, counter, mean_rate(axis), &n_followed));
		unwrap->ledger->warnings[WARNING_WRONG_EPOCHS] += n_followed;
	}
	if (unwrap->n_doubted == 0)
		return FLEXTRACE_OK;
	is_mendable = axis->is_soft && axis->rate.is_known && has_doubted(axis);
	for (uint32_t i = 0; i < unwrap->n_idles; i++)
		mender.has_idle |= unwrap->idles[i].counter == counter;
	if (is_mendable) {
		mender.rate = mean_rate(axis);
		mender.slack = SLACK_NS * mender.rate;
		code = list_gaps(&mender, unwrap, counter);
		if (code >= 0)
			mend(&mender);
	}
	free(mender.gaps);
	free(mender.parts);
	if (code >= 0 && mender.n_mended)
		code = axis_prepare(axis);
	unwrap->ledger->warnings[WARNING_WRONG_EPOCHS] += mender.n_mended;
	unwrap->ledger->warnings[WARNING_OUTSIDE_TRIP] +=
		mender.n_believed + settle(axis, axis->is_soft && (mender.has_idle || is_mendable));
	return code;
}

int epochs_mend(struct unwrap *unwrap)
{
	for (uint32_t i = 0; i < unwrap->n_axes; i++)
		FLEXTRACE_TRY(mend_counter(unwrap, i));
	return FLEXTRACE_OK;
}
