/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "counter.h"
#include "host_clock.h"

#define TRIES       8
#define MIN_STEP_NS UINT64_C(2000000)

/* As cpu_get_host_ticks() of QEMU; where that is a clock, so is this. */
uint64_t host_cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return counter_host_ns();
#endif
}

/* The narrowest of some brackets. */
static struct host_clock_point read_both(void)
{
	struct host_clock_point best = {0};
	uint64_t best_width = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = host_cycles();
		uint64_t ns = counter_host_ns();
		uint64_t width = host_cycles() - before;

		if (width < best_width) {
			best_width = width;
			best.cycles = before + width / 2;
			best.ns = ns;
		}
	}
	return best;
}

int host_clock_read(struct host_clock *clock)
{
	struct host_clock_point point = read_both();

	if (clock->n_points && point.ns - clock->points[clock->n_points - 1].ns < MIN_STEP_NS)
		return 0;
	if (clock->n_points == clock->n_allocated) {
		size_t n = clock->n_allocated * 2 + 256;
		struct host_clock_point *points = realloc(clock->points, n * sizeof(*points));

		if (!points)
			return -ENOMEM;
		clock->points = points;
		clock->n_allocated = n;
	}
	clock->points[clock->n_points++] = point;
	return 0;
}

void host_clock_release(struct host_clock *clock)
{
	free(clock->points);
	*clock = (struct host_clock){0};
}

static double slope(const struct host_clock_point *a, const struct host_clock_point *b)
{
	return (double)(b->ns - a->ns) / (double)(b->cycles - a->cycles);
}

double host_clock_hz(const struct host_clock *clock)
{
	if (clock->n_points < 2)
		return 0;
	return 1e9 / slope(&clock->points[0], &clock->points[clock->n_points - 1]);
}

uint64_t host_clock_ns(const struct host_clock *clock, uint64_t cycles)
{
	const struct host_clock_point *point = &clock->points[clock->n_points - 2];
	double elapsed;

	while (point > clock->points && cycles < point->cycles)
		point--;
	elapsed = (double)(int64_t)(cycles - point->cycles) * slope(point, point + 1);
	return point->ns + (uint64_t)(int64_t)(elapsed + (elapsed < 0 ? -0.5 : 0.5));
}
