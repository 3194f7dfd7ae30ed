/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lie that lies between the true bounds contradicts nobody, and yet the band must not follow
 * it. It can be seen all the same: every bracket leaves room for the least latency of both sides,
 * so the band is nowhere narrower than that room, unless a lie pinches it. What is narrower by
 * far than the narrow tenth of the band loses both bounds that pinch it, and gets back those that
 * leave enough room to what remains. A true bound lost only widens the band.
 */
#include <stdlib.h>
#include <string.h>

#include "calibrate_impl.h"
#include "step.h"

#define MAX_PASSES  6
#define MAX_SAMPLES 4096u
#define MIN_KNOTS   128u /* fewer do not tell how narrow is narrow */
#define ROOM        0.75 /* of the narrow tenth */

/* The constraints that bind at a place. */
struct binding {
	uint32_t lo, hi;
};

struct dropped {
	uint32_t knot;
	bool is_upper;
	int64_t bound;
};

struct pinching {
	struct knot *knots; /* weak */
	uint32_t n;
	const struct reference *reference;
	struct knot *closed;      /* owned */
	struct binding *bindings; /* owned */
	struct dropped *dropped;  /* owned, room for 2n */
	uint32_t n_dropped;
	int64_t room;
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Takes from a neighbour whatever binds more than what is known here. */
static void pass_on(struct pinching *pinching, uint32_t from, uint32_t to, const struct step *step)
{
	const struct knot *source = &pinching->closed[from];
	struct knot *target = &pinching->closed[to];
	int64_t down = from < to ? step->fall : step->rise;
	int64_t up = from < to ? step->rise : step->fall;

	if (source->lo > -PHI_UNBOUNDED + down && source->lo - down > target->lo) {
		target->lo = source->lo - down;
		pinching->bindings[to].lo = pinching->bindings[from].lo;
	}
	if (source->hi < PHI_UNBOUNDED - up && source->hi + up < target->hi) {
		target->hi = source->hi + up;
		pinching->bindings[to].hi = pinching->bindings[from].hi;
	}
}

static void close_band(struct pinching *pinching)
{
	struct walk walk = {.reference = pinching->reference};
	struct knot *closed = pinching->closed;
	struct step step;

	memcpy(closed, pinching->knots, pinching->n * sizeof(*closed));
	for (uint32_t i = 0; i < pinching->n; i++)
		pinching->bindings[i] = (struct binding){i, i};
	for (uint32_t i = 1; i < pinching->n; i++) {
		step = band_step(&walk, closed[i - 1].x, closed[i].x);
		pass_on(pinching, i - 1, i, &step);
	}
	for (uint32_t i = pinching->n; i-- > 1;) {
		step = band_step(&walk, closed[i - 1].x, closed[i].x);
		pass_on(pinching, i, i - 1, &step);
	}
}

static bool is_bounded(const struct knot *knot)
{
	return knot->lo > -PHI_UNBOUNDED && knot->hi < PHI_UNBOUNDED;
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* How narrow the band may be; 0: too little is known to tell. */
static int find_room(struct pinching *pinching)
{
	int64_t *widths = malloc(MAX_SAMPLES * sizeof(*widths));
	uint32_t stride = pinching->n / MAX_SAMPLES + 1, n = 0, tenth;

	if (!widths)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < pinching->n; i += stride) {
		const struct knot *knot = &pinching->closed[i];

		if (is_bounded(knot))
			widths[n++] = knot->hi - knot->lo;
	}
	qsort(widths, n, sizeof(*widths), compare);
	tenth = n / 10;
	pinching->room = n ? (int64_t)(ROOM * (double)widths[tenth]) : 0;
	free(widths);
	return FLEXTRACE_OK;
}

static void drop(struct pinching *pinching, uint32_t index, bool is_upper)
{
	struct knot *knot = &pinching->knots[index];
	int64_t *bound = is_upper ? &knot->hi : &knot->lo;
	int64_t unbounded = is_upper ? PHI_UNBOUNDED : -PHI_UNBOUNDED;

	if (*bound == unbounded)
		return;
	pinching->dropped[pinching->n_dropped++] = (struct dropped){index, is_upper, *bound};
	*bound = unbounded;
}

static void drop_pinches(struct pinching *pinching)
{
	for (uint32_t i = 0; i < pinching->n; i++) {
		const struct knot *knot = &pinching->closed[i];

		if (!is_bounded(knot) || knot->hi - knot->lo >= pinching->room)
			continue;
		drop(pinching, pinching->bindings[i].lo, false);
		drop(pinching, pinching->bindings[i].hi, true);
	}
}

/* Gives back what leaves room; returns how many stay dropped. */
static uint32_t give_back(struct pinching *pinching)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pinching->n_dropped; i++) {
		const struct dropped *dropped = &pinching->dropped[i];
		const struct knot *closed = &pinching->closed[dropped->knot];
		struct knot *knot = &pinching->knots[dropped->knot];

		if (dropped->is_upper ? dropped->bound - closed->lo < pinching->room
		                      : closed->hi - dropped->bound < pinching->room)
			n++;
		else if (dropped->is_upper)
			knot->hi = least(knot->hi, dropped->bound);
		else
			knot->lo = -least(-knot->lo, -dropped->bound);
	}
	pinching->n_dropped = 0;
	return n;
}

static int release(struct pinching *pinching, int code)
{
	free(pinching->closed);
	free(pinching->bindings);
	free(pinching->dropped);
	return code;
}

int band_drop_pinches(struct knot *knots, uint32_t n, const struct reference *reference)
{
	struct pinching pinching = {.knots = knots, .n = n, .reference = reference};
	uint32_t n_more = 1;

	if (n < MIN_KNOTS)
		return FLEXTRACE_OK;
	pinching.closed = malloc(n * sizeof(*pinching.closed));
	pinching.bindings = malloc(n * sizeof(*pinching.bindings));
	pinching.dropped = malloc(2 * (size_t)n * sizeof(*pinching.dropped));
	if (!pinching.closed || !pinching.bindings || !pinching.dropped)
		return release(&pinching, FLEXTRACE_E_MEMORY);
	close_band(&pinching);
	if (find_room(&pinching) < 0)
		return release(&pinching, FLEXTRACE_E_MEMORY);
	for (int pass = 0; pass < MAX_PASSES && n_more > 0; pass++) {
		drop_pinches(&pinching);
		if (pinching.n_dropped == 0)
			break;
		close_band(&pinching);
		n_more = give_back(&pinching);
		close_band(&pinching);
	}
	return release(&pinching, FLEXTRACE_OK);
}
