/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference follows the rate piece by piece, so that rho has to cover only how the rate
 * wanders within one. A range of blocks is split in halves as long as that widens the margin of
 * its line much: then the rate was not one. Where the rate steps, the halves close in on it; near
 * the boundary that is found, the whole step is added to how far the rate may wander.
 */
#include <math.h>
#include <stdlib.h>

#include "calibrate_impl.h"

#define MAX_DEPTH    24
#define WORTH        0.5  /* a split is worth it when the margin is less than this of its halves' */
#define LOCAL_RANGE  5e-3 /* how far a piece's slope may be off the whole line's */
#define STEP         20e-6 /* a change of the rate that is told as one */
#define STEP_MARGINS 4     /* how many margins a step may be off its boundary by */

/* A piece on its way: a range of blocks and its line. */
struct part {
	uint32_t from, to;
	struct line line;
	bool is_poor; /* too small to split, and one line does not fit */
};

struct splitter {
	const struct hulls *hulls;
	const struct line *whole;
	struct part *parts; /* owned */
	uint32_t n, n_allocated;
};

/* -- splitting ------------------------------------------------------------------------------- */

static int add_part(struct splitter *splitter, const struct part *part)
{
	if (splitter->n == splitter->n_allocated) {
		uint32_t n_more = splitter->n ? 2 * splitter->n : 4;
		struct part *more = realloc(splitter->parts, n_more * sizeof(*more));

		if (!more)
			return FLEXTRACE_E_MEMORY;
		splitter->parts = more;
		splitter->n_allocated = n_more;
	}
	splitter->parts[splitter->n++] = *part;
	return FLEXTRACE_OK;
}

static int fit_part(const struct splitter *splitter, uint32_t from, uint32_t to, struct part *part)
{
	const struct line *whole = splitter->whole;

	*part = (struct part){.from = from, .to = to};
	part->line.slope = whole->slope;
	part->line.slope_lo = whole->slope * (1 - LOCAL_RANGE);
	part->line.slope_hi = whole->slope * (1 + LOCAL_RANGE);
	return line_fit(splitter->hulls, from, to, &part->line);
}

static int split(struct splitter *splitter, struct part *part, int depth)
{
	uint32_t middle = (part->from + part->to) / 2;
	struct part left, right;

	if (part->to - part->from < 2 || depth == MAX_DEPTH) {
		part->is_poor = part->line.margin_ns < 0;
		return add_part(splitter, part);
	}
	FLEXTRACE_TRY(fit_part(splitter, part->from, middle, &left));
	FLEXTRACE_TRY(fit_part(splitter, middle, part->to, &right));
	if (part->line.margin_ns >= 0 &&
	    part->line.margin_ns >= WORTH * fmin(left.line.margin_ns, right.line.margin_ns))
		return add_part(splitter, part);
	FLEXTRACE_TRY(split(splitter, &left, depth + 1));
	return split(splitter, &right, depth + 1);
}

/* -- pieces ---------------------------------------------------------------------------------- */

static uint64_t fixed(double value, int bits)
{
	return value > 0 ? (uint64_t)ceil(ldexp(value, bits)) : 0;
}

/* The nearest part in a direction that one line fits; `at` itself if there is none. */
static const struct part *nearest_fit(const struct splitter *splitter, uint32_t at, int direction)
{
	for (uint32_t i = at + (uint32_t)direction; i < splitter->n; i += (uint32_t)direction) {
		if (!splitter->parts[i].is_poor)
			return &splitter->parts[i];
	}
	return &splitter->parts[at];
}

/* A part that no line fits has a lie in it, or the rate stepped there. Its neighbours know which:
 * between them lies the rate. Stores how far they are apart. */
static void bridge(const struct splitter *splitter, uint32_t at, struct line *line,
                   double *ret_step)
{
	const struct part *left = nearest_fit(splitter, at, -1);
	const struct part *right = nearest_fit(splitter, at, 1);

	*line = splitter->parts[at].line;
	*ret_step = 0;
	if (!splitter->parts[at].is_poor)
		return;
	left = left->is_poor ? right : left;
	right = right->is_poor ? left : right;
	line->slope = (left->line.slope + right->line.slope) / 2;
	line->slope_lo = fmin(left->line.slope_lo, right->line.slope_lo);
	line->slope_hi = fmax(left->line.slope_hi, right->line.slope_hi);
	*ret_step = fabs(left->line.slope - right->line.slope);
}

static double step_at(const struct splitter *splitter, uint32_t at, double rho)
{
	const struct part *left, *right;
	double step;

	if (at == 0 || at == splitter->n)
		return 0;
	left = &splitter->parts[at - 1];
	right = &splitter->parts[at];
	step = fabs(left->line.slope - right->line.slope);
	return left->is_poor || right->is_poor || step < 2 * rho * left->line.slope ? 0 : step;
}

/* How far from a boundary a step can really be: it eats up the margin of the part that it is in. */
static uint64_t zone_at(const struct splitter *splitter, uint32_t at, double step)
{
	double margin_ns;

	if (step == 0)
		return 0;
	margin_ns = fmax(splitter->parts[at - 1].line.margin_ns,
	                 splitter->parts[at].line.margin_ns);
	return (uint64_t)fmin(STEP_MARGINS * margin_ns / step, 0x1p60);
}

struct maker {
	const struct splitter *splitter;
	struct piece *pieces;
	uint32_t n;
	double rho;
};

/* Adds a piece from `x` on, where the one before ends. */
static void add_piece(struct maker *maker, uint64_t x, const struct line *line, double step)
{
	struct piece *piece = &maker->pieces[maker->n], *before = piece - 1;
	double slope;

	piece->x = x;
	if (maker->n > 0)
		piece->at = before->at + (((wide_int)(x - before->x) * before->slope) >>
		                          (SLOPE_BITS - PHI_BITS));
	else
		piece->at = (wide_int)llround(maker->splitter->whole->offset_ns) * (1 << PHI_BITS);
	piece->slope = fixed(line->slope, SLOPE_BITS);
	slope = ldexp((double)piece->slope, -SLOPE_BITS);
	piece->rise = fixed(line->slope_hi * (1 + maker->rho) - slope + step, WANDER_BITS) + 1;
	piece->fall = fixed(slope - line->slope_lo * (1 - maker->rho) + step, WANDER_BITS) + 1;
	piece->is_bridge = step > 0;
	maker->n++;
}

/* Adds the pieces of a part: near a step at either end the rate may already, or still, be the
 * other one. */
static void add_pieces(struct maker *maker, uint32_t at)
{
	const struct splitter *splitter = maker->splitter;
	uint64_t from = at ? (uint64_t)splitter->hulls->blocks[splitter->parts[at].from].x : 0;
	double left = step_at(splitter, at, maker->rho);
	double right = step_at(splitter, at + 1, maker->rho), inside;
	uint64_t left_zone = zone_at(splitter, at, left);
	uint64_t right_zone = zone_at(splitter, at + 1, right), to;
	struct line line;

	bridge(splitter, at, &line, &inside);
	to = at + 1 < splitter->n
	             ? (uint64_t)splitter->hulls->blocks[splitter->parts[at + 1].from].x
	             : UINT64_MAX;
	if (to - from <= left_zone + right_zone) {
		add_piece(maker, from, &line, fmax(inside, left + right));
		return;
	}
	if (left_zone)
		add_piece(maker, from, &line, inside + left);
	add_piece(maker, from + left_zone, &line, inside);
	if (right_zone)
		add_piece(maker, to - right_zone, &line, inside + right);
}

static int make_pieces(const struct splitter *splitter, double rho, struct reference *reference)
{
	struct maker maker = {splitter, NULL, 0, rho};

	maker.pieces = calloc(3ull * splitter->n, sizeof(*maker.pieces));
	if (!maker.pieces)
		return FLEXTRACE_E_MEMORY;
	for (uint32_t i = 0; i < splitter->n; i++)
		add_pieces(&maker, i);
	*reference = (struct reference){maker.pieces, maker.n};
	return FLEXTRACE_OK;
}

int reference_init(struct reference *reference, const struct hulls *hulls, const struct line *whole,
                   double rho)
{
	struct splitter splitter = {.hulls = hulls, .whole = whole};
	struct part part = {0, hulls->n_blocks, *whole, false};
	int code = split(&splitter, &part, 0);

	if (code >= 0)
		code = make_pieces(&splitter, rho, reference);
	free(splitter.parts);
	return code;
}

int reference_init_straight(struct reference *reference, double slope, double slack)
{
	struct piece *piece = calloc(1, sizeof(*piece));

	*reference = (struct reference){piece, 1};
	if (!piece)
		return FLEXTRACE_E_MEMORY;
	piece->slope = fixed(slope, SLOPE_BITS);
	piece->rise = piece->fall = fixed(slope * slack, WANDER_BITS);
	return FLEXTRACE_OK;
}

void reference_release(struct reference *reference)
{
	free(reference->pieces);
	*reference = (struct reference){0};
}

uint32_t reference_steps(const struct reference *reference)
{
	double before = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < reference->n_pieces; i++) {
		double slope = (double)reference->pieces[i].slope;

		if (reference->pieces[i].is_bridge)
			continue;
		n += before > 0 && fabs(slope - before) > STEP * before;
		before = slope;
	}
	return n;
}

const struct piece *reference_piece(const struct reference *reference, uint64_t x)
{
	uint32_t lo = 0, n = reference->n_pieces;

	while (n > 1) {
		uint32_t half = n / 2;

		lo += reference->pieces[lo + half].x <= x ? half : 0;
		n -= half;
	}
	return &reference->pieces[lo];
}

wide_int reference_at(const struct reference *reference, uint64_t x)
{
	return piece_value(reference_piece(reference, x), x);
}
