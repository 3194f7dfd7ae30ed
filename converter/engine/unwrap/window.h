/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h: which epochs of a sample do samples whose place is known leave?
 *
 * With f in [f-, f+] ticks per ns, widened by a pad p, an anchor a bounds any other sample i of its
 * segment:
 *   first_i >= last_a + f * (before_i - after_a) - tolerance   (f- for a positive span, else f+)
 *   last_i <= first_a + f * (after_i - before_a) + tolerance   (f+ for a positive span, else f-)
 * so that its number of wraps k has to lie in
 *   ceil((lo - bits) / M) <= k <= floor((hi - bits - span) / M).
 */
#ifndef FLEXTRACE_UNWRAP_WINDOW_H
#define FLEXTRACE_UNWRAP_WINDOW_H

#include "unwrap_impl.h"

#define MAX_PLACE ((place_t)1 << 62)

typedef __int128 place_t; /* holds the sum of any two places, and any wrap */

struct anchor {
	int64_t first, last, before_ns, after_ns;
};

struct window {
	place_t lo, hi; /* beyond MAX_PLACE: not bounded */
};

/* The bits of a sample as a place, and after how many bits that repeats. */
struct phase {
	place_t at;
	unsigned bits;
};

enum verdict {
	FITS,       /* one epoch */
	IS_OPEN,    /* several */
	CONTRADICTS /* none, however much the rate is doubted */
};

struct anchor anchor_of(const struct sample *sample);
struct phase phase_of(const struct axis *axis, const struct sample *sample, uint16_t segment);

struct window window_all(void);

/* Narrows a window by one anchor, with the rate widened as far as can be. */
void window_narrow(const struct axis *axis, const struct anchor *anchor,
                   const struct sample *sample, struct window *window);

/* Looks for the one epoch that the anchors leave, and stores the place it has. */
enum verdict window_place(const struct axis *axis, const struct sample *sample,
                          const struct phase *phase, const struct anchor *const *anchors,
                          uint32_t n, place_t *ret_place);

/* Whether a placed sample is where the rate takes an anchor, without any tolerance. Both have both
 * bounds. If the rate is not known, or these are estimates, it is. */
bool window_is_exact(const struct axis *axis, const struct anchor *anchor,
                     const struct sample *sample);

/* Whether it can be at a place by the tolerance and the rate widened as far as can be. Both have
 * both bounds. */
bool window_is_near(const struct axis *axis, const struct anchor *anchor,
                    const struct sample *sample, place_t place);

/* The most ticks there can be in `span_ns`. */
place_t window_most_ticks(const struct axis *axis, int64_t span_ns);

/* How many ticks the rate leaves unknown over `gap_ns`, at its narrowest. */
double window_unknown_ticks(const struct axis *axis, double gap_ns);

/* Lets a run know its place, until the axis has its origin. For other samples, nothing. */
void sample_tell_run(const struct sample *sample);

#endif
