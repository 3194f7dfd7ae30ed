/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts are ranges of evidence that one rate explains. A range of blocks is split in halves as long
 * as that widens the margin of its line much, because then there was more than one rate. The halves
 * do not end where the rate changed. So neighbours are joined again if one line fits both as well
 * as each.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/calibrate/calibrate_impl.h"

#define MAX_DEPTH   24
#define WORTH       0.5  /* a split is worth it when the margin is less than this of its halves' */
#define LOCAL_RANGE 5e-3 /* how far a part's slope may be off the whole line's */
#define FINE_BLOCKS 4    /* a range of no more is split only if no line fits */

static int add_part(struct parts *parts, const struct part *part)
{
	return ARRAY_PUSH(parts->parts, parts->n, *part);
}

int part_fit(const struct parts *parts, uint32_t from, uint32_t to, struct line *line)
{
	const struct line *whole = parts->whole;

	*line = (struct line){
		.slope = whole->slope,
		.slope_lo = whole->slope * (1 - LOCAL_RANGE),
		.slope_hi = whole->slope * (1 + LOCAL_RANGE),
	};
	return line_fit(parts->hulls, from, to, line);
}

static int split(struct parts *parts, const struct part *part, int depth)
{
	uint32_t middle = (part->from + part->to) / 2;
	struct part left = {.from = part->from, .to = middle};
	struct part right = {.from = middle, .to = part->to};
	double margin_ns = part->line.margin_ns;

	if (part->to - part->from < 2 || depth == MAX_DEPTH ||
	    (part->to - part->from <= FINE_BLOCKS && margin_ns >= 0))
		return add_part(parts, part);
	FLEXTRACE_TRY(part_fit(parts, left.from, left.to, &left.line));
	FLEXTRACE_TRY(part_fit(parts, right.from, right.to, &right.line));
	if (margin_ns >= 0 && margin_ns >= WORTH * fmin(left.line.margin_ns, right.line.margin_ns))
		return add_part(parts, part);
	FLEXTRACE_TRY(split(parts, &left, depth + 1));
	return split(parts, &right, depth + 1);
}

/* Joins `right` to `left` if one line fits both. 1: joined, 0: not. */
static int join(const struct parts *parts, struct part *left, const struct part *right)
{
	double least_ns = fmin(left->least_margin_ns, right->least_margin_ns);
	struct line line;

	if (left->line.margin_ns < 0 || right->line.margin_ns < 0)
		return 0;
	FLEXTRACE_TRY(part_fit(parts, left->from, right->to, &line));
	if (line.margin_ns < 0 || line.margin_ns < WORTH * least_ns)
		return 0;
	left->to = right->to;
	left->line = line;
	left->least_margin_ns = least_ns;
	return 1;
}

/* Each part that is added may join those before it, the last one first. */
static int join_all(struct parts *parts)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < parts->n; i++) {
		int joined = 1;

		parts->parts[n++] = parts->parts[i];
		while (n > 1 && joined) {
			joined = join(parts, &parts->parts[n - 2], &parts->parts[n - 1]);
			FLEXTRACE_TRY(joined);
			n -= (uint32_t)joined;
		}
	}
	parts->n = n;
	return FLEXTRACE_OK;
}

int parts_init(struct parts *parts, const struct hulls *hulls, const struct line *whole, double rho)
{
	const struct part part = {.to = hulls->n_blocks, .line = *whole};

	*parts = (struct parts){.hulls = hulls, .whole = whole, .rho = rho};
	FLEXTRACE_TRY(split(parts, &part, 0));
	for (uint32_t i = 0; i < parts->n; i++)
		parts->parts[i].least_margin_ns = parts->parts[i].line.margin_ns;
	FLEXTRACE_TRY(join_all(parts));
	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *at = &parts->parts[i];

		at->has_rate = at->line.margin_ns >= 0 && isfinite(at->line.margin_ns);
	}
	return FLEXTRACE_OK;
}

void parts_release(struct parts *parts)
{
	free(parts->parts);
	*parts = (struct parts){.hulls = NULL};
}

const struct part *part_near(const struct parts *parts, uint32_t at, int direction)
{
	for (uint32_t i = at + (uint32_t)direction; i < parts->n; i += (uint32_t)direction) {
		if (parts->parts[i].has_rate)
			return &parts->parts[i];
	}
	return NULL;
}

uint64_t block_x(const struct hulls *hulls, uint32_t block)
{
	if (block == 0)
		return 0;
	return block < hulls->n_blocks ? (uint64_t)hulls->blocks[block].x : UINT64_MAX;
}
