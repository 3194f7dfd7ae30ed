/* SPDX-License-Identifier: Apache-2.0 */
#include "window.h"

/* How far the mean rate over a gap may be from the rate's interval. Narrow ones only hold for a
 * steady rate. */
static const double pads[] = {1e-2, 1e-3, 1e-4, 2e-5};
#define N_PADS          4
#define N_UNSTEADY_PADS 2
#define EXACT           6e-3 /* of the rate, that it may be off: twice what steps are followed */

void sample_tell_run(const struct sample *sample)
{
	struct run *run = sample->source.run;

	if (sample->kind != SAMPLE_RUN)
		return;
	run->is_placed = true;
	run->status = sample->status;
	run->segment = sample->segment;
	run->ticks = sample->first;
}

struct anchor anchor_of(const struct sample *sample)
{
	return (struct anchor){(int64_t)sample->first, (int64_t)(sample->first + sample->span),
	                       sample->before_ns, sample->after_ns};
}

/* Rounds down. */
static place_t clamp_place(double ticks)
{
	int64_t place;

	if (ticks > 0x1p62)
		return MAX_PLACE;
	if (ticks < -0x1p62)
		return -MAX_PLACE;
	place = (int64_t)ticks;
	return place - ((double)place > ticks);
}

struct window window_all(void)
{
	return (struct window){-2 * MAX_PLACE, 2 * MAX_PLACE};
}

/* No counter gets through half of so many bits between two samples. */
static struct window first_window(const struct phase *phase, const struct anchor *const *anchors,
                                  uint32_t n)
{
	place_t half = (place_t)1 << (UNWRAP_WIDE_BITS - 1);

	if (phase->bits < UNWRAP_WIDE_BITS || n == 0)
		return window_all();
	return (struct window){anchors[0]->first - half, anchors[0]->first + half - 1};
}

/* The least ticks in `span_ns`, and the most. */
static place_t least_ticks(const struct rate *rate, double pad, int64_t span_ns)
{
	double f = span_ns >= 0 ? rate->lo * (1 - pad) : rate->hi * (1 + pad);

	return clamp_place(f * (double)span_ns);
}

static place_t most_ticks(const struct rate *rate, double pad, int64_t span_ns)
{
	double f = span_ns >= 0 ? rate->hi * (1 + pad) : rate->lo * (1 - pad);

	return -clamp_place(-(f * (double)span_ns));
}

static void narrow(const struct axis *axis, const struct anchor *anchor, double pad,
                   const struct sample *sample, struct window *window)
{
	const struct rate *rate = &axis->rate;
	int64_t tolerance = (int64_t)axis->tolerance;

	if (sample->before_ns != UNWRAP_NO_BEFORE && anchor->after_ns != UNWRAP_NO_AFTER) {
		place_t lo = (place_t)anchor->last - tolerance +
		             least_ticks(rate, pad, sample->before_ns - anchor->after_ns);

		window->lo = lo > window->lo ? lo : window->lo;
	}
	if (sample->after_ns != UNWRAP_NO_AFTER && anchor->before_ns != UNWRAP_NO_BEFORE) {
		place_t hi = (place_t)anchor->first + tolerance +
		             most_ticks(rate, pad, sample->after_ns - anchor->before_ns);

		window->hi = hi < window->hi ? hi : window->hi;
	}
}

struct phase phase_of(const struct axis *axis, const struct sample *sample, uint16_t segment)
{
	if (sample->kind == SAMPLE_OP || !axis->segments[segment].has_wide)
		return (struct phase){low_bits(sample->first, axis->narrow_bits),
		                      axis->narrow_bits};
	return (struct phase){
		low_bits(sample->first - axis->segments[segment].origin, axis->wide_bits),
		axis->wide_bits};
}

static enum verdict judge(const struct phase *phase, const struct window *window, uint64_t span,
                          place_t *ret_place)
{
	place_t wrap = (place_t)1 << phase->bits;
	place_t k_min = (window->lo - phase->at + wrap - 1) >> phase->bits;
	place_t k_max = (window->hi - phase->at - (place_t)span) >> phase->bits;

	*ret_place = phase->at + k_min * wrap;
	if (k_min > k_max)
		return CONTRADICTS;
	return k_min == k_max ? FITS : IS_OPEN;
}

static uint32_t n_pads(const struct axis *axis)
{
	return axis->rate.is_steady ? N_PADS : N_UNSTEADY_PADS;
}

enum verdict window_place(const struct axis *axis, const struct sample *sample,
                          const struct phase *phase, const struct anchor *const *anchors,
                          uint32_t n, place_t *ret_place)
{
	for (uint32_t i = 0; i < n_pads(axis); i++) {
		struct window window = first_window(phase, anchors, n);
		enum verdict verdict = IS_OPEN;

		for (uint32_t j = 0; j < n && verdict == IS_OPEN; j++) {
			narrow(axis, anchors[j], pads[i], sample, &window);
			verdict = judge(phase, &window, sample->span, ret_place);
		}
		if (verdict == FITS)
			return FITS;
		if (verdict == CONTRADICTS)
			return i == 0 ? CONTRADICTS : IS_OPEN;
	}
	return IS_OPEN;
}

/* Whether a sample may be at a place, with so much of the rate in doubt and so many ticks
 * besides. */
static inline bool is_within(const struct axis *axis, const struct anchor *anchor,
                             const struct sample *sample, uint64_t place, const double room[2])
{
	double lo = axis->rate.lo * (1 - room[0]), hi = axis->rate.hi * (1 + room[0]);
	double least_ns = (double)(sample->before_ns - anchor->after_ns);
	double most_ns = (double)(sample->after_ns - anchor->before_ns);
	double least = (double)(int64_t)(place - (uint64_t)anchor->last);
	double most = (double)(int64_t)(place + sample->span - (uint64_t)anchor->first);

	return least + room[1] >= least_ns * (least_ns >= 0 ? lo : hi) &&
	       most - room[1] <= most_ns * (most_ns >= 0 ? hi : lo);
}

bool window_is_exact(const struct axis *axis, const struct anchor *anchor,
                     const struct sample *sample)
{
	static const double room[] = {EXACT, 1};

	return !axis->rate.is_known || axis->is_soft ||
	       is_within(axis, anchor, sample, sample->first, room);
}

bool window_is_near(const struct axis *axis, const struct anchor *anchor,
                    const struct sample *sample, place_t place)
{
	const double room[] = {pads[0], axis->tolerance};

	return is_within(axis, anchor, sample, (uint64_t)place, room);
}

void window_narrow(const struct axis *axis, const struct anchor *anchor,
                   const struct sample *sample, struct window *window)
{
	narrow(axis, anchor, pads[0], sample, window);
}

place_t window_most_ticks(const struct axis *axis, int64_t span_ns)
{
	return most_ticks(&axis->rate, pads[0], span_ns);
}

double window_unknown_ticks(const struct axis *axis, double gap_ns)
{
	double pad = pads[n_pads(axis) - 1];

	return (axis->rate.hi * (1 + pad) - axis->rate.lo * (1 - pad)) * gap_ns;
}
