/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound at x that a pair of others leaves is the chord between them and what the slope may be
 * off it,
 *
 *   (e u + d v) / (d + e)  +  2 lean d e / (d + e)
 *
 * at the distances d and e from bounds u and v. That is the height at x of the chord between two
 * points of which the left one is raised by `lean` for each unit from x, and the right one as well.
 * So the least is where the common tangent of two lower hulls passes x: that of the points on the
 * left, which lean to one side, and of those on the right, which lean to the other. The point at x
 * itself has a tangent to each. If it is not above the chord between these two, no chord passes
 * below it; if it is, the search goes on from there, outward. Any pair bounds; where the search
 * ends too soon the bound is only wider.
 */
#include "posts.h"

#include <stdbool.h>

#define NONE      UINT32_MAX
#define MAX_MOVES 256

/* Whether b is not below the chord from a to c, which rises by `ac` on the way, and `ab` to b. */
static inline bool is_above(const struct post *a, const struct post *b, const struct post *c,
                            double ab, double ac)
{
	return ab * (c->x - a->x) >= ac * (b->x - a->x);
}

static void find_left(struct post *posts, uint32_t i)
{
	uint32_t at = i ? i - 1 : NONE;

	while (at != NONE && posts[at].left != NONE) {
		const struct post *a = &posts[posts[at].left], *b = &posts[at], *c = &posts[i];

		if (!is_above(a, b, c, b->u_left - a->u_left, c->u_left - a->u_left))
			break;
		at = posts[at].left;
	}
	posts[i].left = at;
}

static void find_right(struct post *posts, uint32_t i, uint32_t n)
{
	uint32_t at = i + 1 < n ? i + 1 : NONE;

	while (at != NONE && posts[at].right != NONE) {
		const struct post *a = &posts[i], *b = &posts[at], *c = &posts[posts[at].right];

		if (!is_above(a, b, c, b->u_right - a->u_right, c->u_right - a->u_right))
			break;
		at = posts[at].right;
	}
	posts[i].right = at;
}

/* The chord between two posts, raised, on both sides of a place. */
struct chord {
	const struct post *left, *right;
	double rise, length;
};

static inline struct chord chord_of(const struct post *left, const struct post *right,
                                    double raised)
{
	return (struct chord){left, right, right->u_right - left->u_left - 2 * raised,
	                      right->x - left->x};
}

/* Steps outward to the next post on the left, or on the right, if the chord falls by that. */
static bool move_left(const struct post *posts, struct chord *chord, double raised)
{
	const struct post *left = chord->left, *next;

	if (left->left == NONE)
		return false;
	next = &posts[left->left];
	if ((next->u_left - left->u_left) * chord->length >= chord->rise * (next->x - left->x))
		return false;
	*chord = chord_of(next, chord->right, raised);
	return true;
}

static bool move_right(const struct post *posts, struct chord *chord, double raised)
{
	const struct post *right = chord->right, *next;

	if (right->right == NONE)
		return false;
	next = &posts[right->right];
	if ((next->u_right - right->u_right) * chord->length >= chord->rise * (next->x - right->x))
		return false;
	*chord = chord_of(chord->left, next, raised);
	return true;
}

void posts_add(struct post *posts, uint32_t i, double x, double u, double lean)
{
	posts[i] = (struct post){x, u - lean * x, u + lean * x, 0, 0};
	find_left(posts, i);
}

double posts_gain(struct post *posts, uint32_t i, uint32_t n, double lean)
{
	const struct post *post = &posts[i];
	double raised = lean * post->x;
	struct chord chord;

	find_right(posts, i, n);
	if (post->left == NONE || post->right == NONE)
		return 0;
	chord = chord_of(&posts[post->left], &posts[post->right], raised);
	if ((post->u_left - chord.left->u_left) * chord.length <=
	    chord.rise * (post->x - chord.left->x))
		return 0;
	for (uint32_t moves = 0; moves < MAX_MOVES; moves++) {
		bool has_moved = move_left(posts, &chord, raised);

		if (!move_right(posts, &chord, raised) && !has_moved)
			break;
	}
	return post->u_left - chord.left->u_left -
	       chord.rise * ((post->x - chord.left->x) / chord.length);
}
