/* SPDX-License-Identifier: Apache-2.0 */
/* Lies that contradict nobody, and show only by leaving too little room. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "calibrate/calibrate_impl.h"

#define N      400u
#define ROOM   6000 /* ns: of every true bracket */
#define PHI_NS (INT64_C(1) << PHI_BITS)

/* A steady clock of 1 GHz, a bracket each 10 ms, its two sides in turns; the truth is phi = 0. */
struct pinched {
	struct knot knots[N];
	struct piece piece;
	struct reference reference;
};

static void pinched_init(struct pinched *pinched)
{
	/* 1 ns per tick, 10 ppm of wander */
	pinched->piece = (struct piece){.slope = UINT64_C(1) << SLOPE_BITS,
	                                .rise = (UINT64_C(1) << WANDER_BITS) / 100000,
	                                .fall = (UINT64_C(1) << WANDER_BITS) / 100000};
	pinched->reference = (struct reference){.pieces = &pinched->piece, .n_pieces = 1};
	for (unsigned i = 0; i < N; i++) {
		/* latencies from the floor up, now and then a long one */
		int64_t late = ROOM / 2 + (i * 7919 % 100) * 50 + (i % 17 == 0 ? 1000000 : 0);

		pinched->knots[i] = (struct knot){UINT64_C(10000000) * i, -PHI_UNBOUNDED,
		                                  PHI_UNBOUNDED};
		if (i % 2)
			pinched->knots[i].hi = late * PHI_NS;
		else
			pinched->knots[i].lo = -late * PHI_NS;
	}
}

static unsigned count_changed(const struct knot *knots, const struct knot *honest)
{
	unsigned n = 0;

	for (unsigned i = 0; i < N; i++)
		n += knots[i].lo != honest[i].lo || knots[i].hi != honest[i].hi;
	return n;
}

static void test_pinch__keeps_what_leaves_room(void **state)
{
	struct pinched pinched, honest;

	(void)state;
	pinched_init(&pinched);
	pinched_init(&honest);
	assert_int_equal(band_drop_pinches(pinched.knots, N, &pinched.reference), 0);
	assert_int_equal(count_changed(pinched.knots, honest.knots), 0);
}

static void test_pinch__drops_a_lie_inside_the_band(void **state)
{
	(void)state;
	for (unsigned is_upper = 0; is_upper < 2; is_upper++) {
		struct pinched pinched, honest;
		unsigned at = 200 + is_upper;

		pinched_init(&honest);
		pinched_init(&pinched);
		/* 2.5 us on the wrong side of the truth: 0.5 us less than what contradicts. */
		if (is_upper)
			pinched.knots[at].hi = -2500 * PHI_NS;
		else
			pinched.knots[at].lo = 2500 * PHI_NS;
		assert_int_equal(band_drop_conflicts(pinched.knots, N, &pinched.reference, 0), 0);
		assert_int_equal(band_drop_pinches(pinched.knots, N, &pinched.reference), 0);
		assert_true(pinched.knots[at].lo == -PHI_UNBOUNDED);
		assert_true(pinched.knots[at].hi == PHI_UNBOUNDED);
		assert_in_range(count_changed(pinched.knots, honest.knots), 1, 5);
		band_close(pinched.knots, N, &pinched.reference);
		for (unsigned i = 0; i < N; i++) {
			assert_true(pinched.knots[i].lo <= 0 && pinched.knots[i].hi >= 0);
			assert_true(pinched.knots[i].hi - pinched.knots[i].lo < 3 * ROOM * PHI_NS);
		}
	}
}

static void test_pinch__judges_nothing_by_few(void **state)
{
	struct pinched pinched, honest;

	(void)state;
	pinched_init(&honest);
	honest.knots[60].lo = 2500 * PHI_NS;
	pinched_init(&pinched);
	pinched.knots[60].lo = 2500 * PHI_NS;
	assert_int_equal(band_drop_pinches(pinched.knots, 127, &pinched.reference), 0);
	assert_int_equal(band_drop_pinches(pinched.knots, 0, &pinched.reference), 0);
	assert_int_equal(count_changed(pinched.knots, honest.knots), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pinch__keeps_what_leaves_room),
		cmocka_unit_test(test_pinch__drops_a_lie_inside_the_band),
		cmocka_unit_test(test_pinch__judges_nothing_by_few),
	};

	return cmocka_run_group_tests_name("pinch", tests, NULL, NULL);
}
