/* SPDX-License-Identifier: Apache-2.0 */
/*
 * posts.h: what upper bounds at places leave where one mean slope, which nobody knows, holds for
 * all of them.
 */
#ifndef FLEXTRACE_POSTS_H
#define FLEXTRACE_POSTS_H

#include <stdint.h>

/* An upper bound at a place. Lower ones stand negated. */
struct post {
	double x;
	double u_left, u_right; /* as it leans on the left of others, and on their right */
	uint32_t left, right;   /* where the tangents from here meet the hulls of those there */
};

/* Stores the bound `u` as post `i`; those before it are there. The slope is off its mean by up to
 * `lean` anywhere. */
void posts_add(struct post *posts, uint32_t i, double x, double u, double lean);

/* How far the least that any pair of the others leaves at one of n posts is below its own bound; to
 * be asked of the last one first, and then of each. */
double posts_gain(struct post *posts, uint32_t i, uint32_t n, double lean);

#endif
