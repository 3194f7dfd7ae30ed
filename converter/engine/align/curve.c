/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line by Theil and Sen through medians of blocks, and on top of it the running median of the
 * residuals. Up to half of the observations may be false without moving it far.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align_impl.h"
#include "base/blocks.h"

#define N_BLOCKS 32u /* at most: pairs grow with its square */
#define STRIDE   8u  /* observations between two of them */

/* Beyond this, a difference is no observation of a clock. */
#define MAX_NS 1e15

/* -- the line ---------------------------------------------------------------------------------- */

static void fill_blocks(const struct curve_point *points, uint32_t n, uint32_t n_blocks,
                        struct curve_point *blocks, double *spare)
{
	for (uint32_t i = 0; i < n_blocks; i++) {
		uint32_t from = (uint32_t)((uint64_t)i * n / n_blocks);
		uint32_t to = (uint32_t)((uint64_t)(i + 1) * n / n_blocks);

		for (uint32_t j = from; j < to; j++)
			spare[j - from] = points[j].y;
		blocks[i].y = select_median(spare, to - from);
		blocks[i].x = (points[(from + to - 1) / 2].x + points[(from + to) / 2].x) / 2;
	}
}

double curve_slope(const struct curve_point *blocks, uint32_t n, double *spare)
{
	uint32_t n_slopes = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = i + 1; j < n; j++) {
			double dx = blocks[j].x - blocks[i].x;

			if (dx > 0)
				spare[n_slopes++] = (blocks[j].y - blocks[i].y) / dx;
		}
	}
	return n_slopes ? select_median(spare, n_slopes) : 0;
}

/* Makes y what is left above a robust line; returns its slope and stores its height at 0. */
static int remove_line(struct curve_point *points, uint32_t n, double *ret_slope, double *ret_y)
{
	uint32_t n_blocks = n < N_BLOCKS ? n : N_BLOCKS;
	double length = points[n - 1].x - points[0].x;
	uint32_t n_spare = n;
	struct curve_point blocks[N_BLOCKS];
	double *spare;

	if (n_spare < N_BLOCKS * N_BLOCKS / 2)
		n_spare = N_BLOCKS * N_BLOCKS / 2;
	FLEXTRACE_TRY(BLOCKS_NEW(spare, n_spare));
	fill_blocks(points, n, n_blocks, blocks, spare);
	*ret_slope = 0; /* in a short time chance makes any slope */
	if (length * LIKELY_RATE > 2 * ROUGH_NS)
		*ret_slope = fmax(-0.1, fmin(0.1, curve_slope(blocks, n_blocks, spare)));
	for (uint32_t i = 0; i < n; i++) {
		points[i].y -= *ret_slope * points[i].x;
		spare[i] = points[i].y;
	}
	*ret_y = select_median(spare, n);
	for (uint32_t i = 0; i < n; i++)
		points[i].y -= *ret_y;
	blocks_free(spare);
	return FLEXTRACE_OK;
}

/* -- running median ---------------------------------------------------------------------------- */

struct window {
	double sorted[CURVE_WINDOW];
	uint32_t n;
};

/* Copies heights, in order. */
static void sort_heights(const struct curve_point *points, uint32_t n, double *sorted)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = i;

		for (; to > 0 && sorted[to - 1] > points[i].y; to--)
			sorted[to] = sorted[to - 1];
		sorted[to] = points[i].y;
	}
}

/* Takes the heights of observations out of the window, and others in. */
static void window_change(struct window *window, const struct curve_point *gone, uint32_t n_gone,
                          const struct curve_point *more, uint32_t n_more)
{
	struct window before = *window;
	double leaving[CURVE_WINDOW], coming[CURVE_WINDOW];
	uint32_t leave = 0, come = 0;

	sort_heights(gone, n_gone, leaving);
	sort_heights(more, n_more, coming);
	window->n = 0;
	for (uint32_t i = 0; i < before.n; i++) {
		if (leave < n_gone && before.sorted[i] == leaving[leave]) {
			leave++;
			continue;
		}
		while (come < n_more && coming[come] < before.sorted[i])
			window->sorted[window->n++] = coming[come++];
		window->sorted[window->n++] = before.sorted[i];
	}
	while (come < n_more)
		window->sorted[window->n++] = coming[come++];
}

static double window_median(const struct window *window)
{
	return (window->sorted[(window->n - 1) / 2] + window->sorted[window->n / 2]) / 2;
}

/* Keeps the running median at every STRIDE-th observation, and at the last. */
static int keep_medians(struct curve *curve, const struct curve_point *points, uint32_t n)
{
	struct window window = {.n = 0};
	uint32_t from = 0, to = 0;

	FLEXTRACE_TRY(ARRAY_NEW(curve->points, n / STRIDE + 2ull));
	for (uint32_t at = 0; at < n; at = at + STRIDE < n || at == n - 1 ? at + STRIDE : n - 1) {
		uint32_t first = at > CURVE_WINDOW / 2 ? at - CURVE_WINDOW / 2 : 0;
		uint32_t end = at + CURVE_WINDOW / 2 + 1 < n ? at + CURVE_WINDOW / 2 + 1 : n;

		window_change(&window, &points[from], first - from, &points[to], end - to);
		from = first;
		to = end;
		curve->points[curve->n_points++] = (struct curve_point){points[at].x,
		                                                        window_median(&window)};
	}
	return FLEXTRACE_OK;
}

static uint64_t key_of(const struct curve *curve, double x)
{
	return (uint64_t)(x - curve->points[0].x);
}

static int index_points(struct curve *curve)
{
	FLEXTRACE_TRY(grid_init(&curve->grid, key_of(curve, curve->points[curve->n_points - 1].x),
	                        curve->n_points));
	for (uint32_t i = 0; i < curve->n_points; i++) {
		grid_count(&curve->grid, key_of(curve, curve->points[i].x));
		curve->most_ns = fmax(curve->most_ns, fabs(curve->points[i].y));
	}
	grid_sum(&curve->grid);
	return FLEXTRACE_OK;
}

/* The last point that is not behind x. */
static uint32_t find_point(const struct curve *curve, double x)
{
	const struct curve_point *points = curve->points;
	uint32_t lo, n;

	grid_find(&curve->grid, key_of(curve, x), &lo, &n);
	for (n -= lo; n > 1;) {
		uint32_t half = n / 2;

		lo += points[lo + half].x <= x ? half : 0;
		n -= half;
	}
	return lo;
}

/* Straight between points, flat outside. `near` is where the last one that was asked for stands. */
static double height_at(const struct curve *curve, double x, uint32_t *near)
{
	const struct curve_point *points = curve->points, *point;
	uint32_t n = curve->n_points;

	if (x <= points[0].x)
		return points[0].y;
	if (x >= points[n - 1].x)
		return points[n - 1].y;
	point = &points[*near];
	if (point->x > x || point[1].x <= x) {
		*near = find_point(curve, x);
		point = &points[*near];
	}
	return point->y + (point[1].y - point->y) * (x - point->x) / (point[1].x - point->x);
}

/* -- fit --------------------------------------------------------------------------------------- */

static int64_t middle_theta(const struct sighting *sightings, uint32_t n, double *spare)
{
	int64_t theta0 = sightings[n / 2].theta_ns;

	for (uint32_t i = 0; i < n; i++)
		spare[i] = (double)sightings[i].theta_ns - (double)theta0;
	return theta0 + (int64_t)fmax(-MAX_NS, fmin(MAX_NS, select_median(spare, n)));
}

/* Nine of ten observations are this near. */
static double find_noise(const struct curve *curve, const struct curve_point *points, uint32_t n,
                         double *spare)
{
	uint32_t near = 0;

	for (uint32_t i = 0; i < n; i++)
		spare[i] = fabs(points[i].y - height_at(curve, points[i].x, &near));
	return select_quantile(spare, n, 0.9);
}

static int fit_points(struct curve *curve, struct curve_point *points, uint32_t n)
{
	double rate, y;

	FLEXTRACE_TRY(remove_line(points, n, &rate, &y));
	curve->rate = rate;
	curve->offset_ns += (int64_t)floor(y);
	for (uint32_t i = 0; i < n; i++)
		points[i].y += y - floor(y);
	FLEXTRACE_TRY(keep_medians(curve, points, n));
	FLEXTRACE_TRY(index_points(curve));
	curve->is_known = true;
	return FLEXTRACE_OK;
}

double curve_blur_ns(const struct curve *curve)
{
	return 2 * fmax(ROUGH_NS, 2 * curve->noise_ns);
}

bool curve_tells_rate(const struct curve *curve)
{
	double length;

	if (!curve->is_known || curve->is_rough || curve->n_points < 2)
		return false;
	length = curve->points[curve->n_points - 1].x - curve->points[0].x;
	return length * LIKELY_RATE > curve_blur_ns(curve);
}

int curve_fit(struct curve *curve, const struct sighting *sightings, uint32_t n, bool is_last)
{
	struct curve_point *points = blocks_allocate(n, sizeof(*points));
	double *spare = blocks_allocate(n, sizeof(*spare));
	uint32_t n_points = 0;
	int code = FLEXTRACE_E_MEMORY;

	curve_release(curve);
	if (!points || !spare)
		goto out;
	curve->origin_ns = sightings[n / 2].t_ns;
	curve->offset_ns = middle_theta(sightings, n, spare);
	for (uint32_t i = 0; i < n; i++) {
		double x = (double)sightings[i].t_ns - (double)curve->origin_ns;
		double y = (double)sightings[i].theta_ns - (double)curve->offset_ns;

		/* Exact where both are near, which is where it matters. */
		if (fabs(x) < MAX_NS)
			x = (double)(sightings[i].t_ns - curve->origin_ns);
		if (fabs(y) < MAX_NS)
			y = (double)(sightings[i].theta_ns - curve->offset_ns);
		if (fabs(x) <= MAX_NS && fabs(y) <= MAX_NS)
			points[n_points++] = (struct curve_point){x, y};
	}
	code = n_points ? fit_points(curve, points, n_points) : FLEXTRACE_OK;
	if (code == FLEXTRACE_OK && n_points && is_last)
		curve->noise_ns = find_noise(curve, points, n_points, spare);
out:
	blocks_free(points);
	blocks_free(spare);
	return code;
}

void curve_release(struct curve *curve)
{
	free(curve->points);
	grid_release(&curve->grid);
	*curve = (struct curve){0};
}

/* -- asking ------------------------------------------------------------------------------------ */

int64_t curve_at_near(const struct curve *curve, int64_t host_ns, uint32_t *near)
{
	int64_t dt, more, root;
	double x, line;
	wide_int sum;

	if (!curve->is_known)
		return host_ns;
	x = __builtin_sub_overflow(host_ns, curve->origin_ns, &dt)
	            ? (double)((wide_int)host_ns - curve->origin_ns)
	            : (double)dt;
	line = curve->rate * x;
	line = line > MAX_NS ? MAX_NS : line < -MAX_NS ? -MAX_NS : line;
	more = (int64_t)llrint(line + height_at(curve, x, near));
	if (!__builtin_add_overflow(host_ns, curve->offset_ns, &root) &&
	    !__builtin_add_overflow(root, more, &root))
		return root;
	sum = (wide_int)host_ns + curve->offset_ns + more;
	if (sum > INT64_MAX)
		return INT64_MAX;
	return sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

int64_t curve_at(const struct curve *curve, int64_t host_ns)
{
	uint32_t near = 0;

	return curve_at_near(curve, host_ns, &near);
}
