/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "calibrate_impl.h"

static uint64_t fixed(double value, int bits)
{
	return value > 0 ? (uint64_t)ceil(ldexp(value, bits)) : 0;
}

int reference_init(struct reference *reference, const struct line *line, double rho)
{
	struct piece *piece = calloc(1, sizeof(*piece));
	double slope;

	if (!piece)
		return FLEXTRACE_E_MEMORY;
	piece->slope = fixed(line->slope, SLOPE_BITS);
	slope = ldexp((double)piece->slope, -SLOPE_BITS);
	piece->at = (wide_int)llround(line->offset_ns) * (1 << PHI_BITS);
	piece->rise = fixed(line->slope_hi * (1 + rho) - slope, WANDER_BITS) + 1;
	piece->fall = fixed(slope - line->slope_lo * (1 - rho), WANDER_BITS) + 1;
	*reference = (struct reference){piece, 1};
	return FLEXTRACE_OK;
}

void reference_release(struct reference *reference)
{
	free(reference->pieces);
	*reference = (struct reference){0};
}

wide_int reference_at(const struct reference *reference, uint64_t x)
{
	uint32_t lo = 0, hi = reference->n_pieces;
	const struct piece *piece;

	while (hi - lo > 1) {
		uint32_t middle = (lo + hi) / 2;

		if (reference->pieces[middle].x <= x)
			lo = middle;
		else
			hi = middle;
	}
	piece = &reference->pieces[lo];
	return piece->at + (((wide_int)(x - piece->x) * piece->slope) >> (SLOPE_BITS - PHI_BITS));
}
