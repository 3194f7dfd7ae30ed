/* SPDX-License-Identifier: Apache-2.0 */
/* Lies and jumps of the clock, from literal constraints: who is wrong where they contradict. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/calibrate/calibrate_impl.h"

#define N       400u
#define SPACING UINT64_C(10000000)
#define ROOM    6000 /* ns: of every true bracket */
#define PHI_NS  (INT64_C(1) << PHI_BITS)

/* A clock of 1 GHz, a bracket each 10 ms, its two sides in turns; the truth is phi = 0. */
struct tracked {
	struct knot knots[N];
	struct piece piece;
	struct attempt attempt;
	struct doubts jumps;
	uint32_t n_lies;
};

static void tracked_init(struct tracked *tracked)
{
	memset(tracked, 0, sizeof(*tracked));
	/* 1 ns per tick, 10 ppm of wander */
	tracked->piece = (struct piece){.slope = UINT64_C(1) << SLOPE_BITS,
	                                .rise = (UINT64_C(1) << WANDER_BITS) / 100000,
	                                .fall = (UINT64_C(1) << WANDER_BITS) / 100000};
	tracked->attempt = (struct attempt){.reference = {.pieces = &tracked->piece, .n_pieces = 1},
	                                    .knots = tracked->knots,
	                                    .n_knots = N,
	                                    .room = (int64_t)(0.7 * ROOM) * PHI_NS};
	for (unsigned i = 0; i < N; i++) {
		/* latencies from the floor up, now and then a long one */
		int64_t late = ROOM / 2 + (i * 7919 % 100) * 5 + (i % 17 == 0 ? 1000000 : 0);

		tracked->knots[i] = (struct knot){SPACING * i, -PHI_UNBOUNDED, PHI_UNBOUNDED};
		if (i % 2)
			tracked->knots[i].hi = late * PHI_NS;
		else
			tracked->knots[i].lo = -late * PHI_NS;
	}
}

/* Shifts the brackets [from, to) by so much. */
static void shift(struct tracked *tracked, unsigned from, unsigned to, int64_t ns)
{
	for (unsigned i = from; i < to; i++) {
		if (i % 2)
			tracked->knots[i].hi += ns * PHI_NS;
		else
			tracked->knots[i].lo += ns * PHI_NS;
	}
}

static void run(struct tracked *tracked)
{
	assert_int_equal(track_run(&tracked->attempt, &tracked->jumps, &tracked->n_lies), 0);
}

static bool is_doubted(const struct tracked *tracked, unsigned at)
{
	uint32_t next = 0;
	uint64_t x = tracked->knots[at].x;

	return doubts_meet(&tracked->attempt.doubts, x, x + 1, &next);
}

static bool is_dropped(const struct tracked *tracked, unsigned at)
{
	return tracked->knots[at].lo == -PHI_UNBOUNDED && tracked->knots[at].hi == PHI_UNBOUNDED;
}

static void release(struct tracked *tracked)
{
	doubts_release(&tracked->jumps);
	doubts_release(&tracked->attempt.doubts);
}

static void test_track__drops_nothing_of_a_true_clock(void **state)
{
	struct tracked tracked, honest;

	(void)state;
	tracked_init(&tracked);
	tracked_init(&honest);
	run(&tracked);
	assert_memory_equal(tracked.knots, honest.knots, sizeof(honest.knots));
	assert_int_equal(tracked.n_lies + tracked.jumps.n + tracked.attempt.doubts.n, 0);
}

/* 1 ms off, and so little that it contradicts nobody: 2.5 us on the wrong side of the truth. */
static void test_track__drops_a_lie_and_doubts_nothing(void **state)
{
	static const int64_t lies_ns[] = {1000000, 5500, -1000000, -5500};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		unsigned at = lies_ns[i] > 0 ? 200 : 201;
		struct tracked tracked;

		tracked_init(&tracked);
		shift(&tracked, at, at + 1, lies_ns[i]);
		run(&tracked);
		assert_true(is_dropped(&tracked, at));
		assert_in_range(tracked.n_lies, 1, 2);
		assert_int_equal(tracked.jumps.n + tracked.attempt.doubts.n, 0);
		release(&tracked);
	}
}

static void test_track__finds_a_jump_and_drops_neither_side(void **state)
{
	static const int64_t jumps_ns[] = {5000, -5000, 100000, -1000000};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct tracked tracked, honest;

		tracked_init(&tracked);
		tracked_init(&honest);
		shift(&tracked, 201, N, jumps_ns[i]);
		shift(&honest, 201, N, jumps_ns[i]);
		run(&tracked);
		assert_memory_equal(tracked.knots, honest.knots, sizeof(honest.knots));
		assert_int_equal(tracked.jumps.n, 1);
		assert_in_range(tracked.jumps.stretches[0].from, 199 * SPACING, 204 * SPACING);
		assert_in_range(tracked.jumps.stretches[0].to, 199 * SPACING, 206 * SPACING);
		release(&tracked);
	}
}

/* Of the lower bounds behind the place where the queue is full, only that at `at` is tight. */
static void fill_queue(struct tracked *tracked, unsigned from, unsigned at)
{
	for (unsigned i = from; i < N; i++) {
		if (i % 2 == 0 && i != at)
			tracked->knots[i].lo = -PHI_UNBOUNDED;
	}
}

/* The upper bounds behind it fit the clock in front of the jump as well. */
static void test_track__finds_a_jump_that_one_constraint_shows(void **state)
{
	static const unsigned at[] = {210, N - 4};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct tracked tracked;

		tracked_init(&tracked);
		shift(&tracked, at[i] - 10, N, 8000);
		fill_queue(&tracked, at[i] - 20, at[i]);
		run(&tracked);
		assert_int_equal(tracked.jumps.n, 1);
		assert_int_equal(tracked.jumps.stretches[0].from, at[i] * SPACING);
		assert_false(is_dropped(&tracked, at[i]));
		release(&tracked);
	}
}

/* The clock, or its host's, was elsewhere and came back; or all of these are lies. */
static void test_track__doubts_where_some_in_a_row_object(void **state)
{
	struct tracked tracked;

	(void)state;
	tracked_init(&tracked);
	for (unsigned i = 0; i < 12; i++)
		shift(&tracked, 200 + i, 201 + i, (i % 3 ? 1 : -1) * (int64_t)(i + 1) * 100000);
	run(&tracked);
	assert_int_equal(tracked.jumps.n, 0);
	assert_int_equal(tracked.attempt.doubts.n, 1);
	assert_in_range(tracked.attempt.doubts.stretches[0].from, 198 * SPACING, 203 * SPACING);
	assert_in_range(tracked.attempt.doubts.stretches[0].to, 209 * SPACING, 216 * SPACING);
	release(&tracked);
}

static void test_track__divides_the_time_where_the_clock_jumped(void **state)
{
	const struct stretch jumps[] = {{100, 120}, {500, 500}};
	const struct doubts cuts = {.stretches = (struct stretch *)jumps, .n = 2};
	struct reference reference;

	(void)state;
	assert_int_equal(reference_init_straight(&reference, 1, 10e-6), 0);
	assert_int_equal(reference_cut(&reference, &cuts), 0);
	assert_int_equal(reference.n_eras, 3);
	assert_int_equal(reference.eras[0].core_to, 100);
	assert_int_equal(reference.eras[1].core_from, 120);
	assert_int_equal(reference.eras[1].core_to, 500);
	assert_int_equal(reference.eras[2].core_from, 500);
	assert_true(reference.eras[1].is_jump[0] && reference.eras[1].is_jump[1]);
	/* What was cut is whole again. */
	assert_int_equal(reference_cut(&reference, &(struct doubts){.n = 0}), 0);
	assert_int_equal(reference.n_eras, 1);
	reference_release(&reference);
}

/* As where operations have the evidence of the next ones: most contradicts, some does by so little
 * that it does not show. */
static void test_track__believes_nothing_among_many_lies(void **state)
{
	struct tracked tracked;

	(void)state;
	tracked_init(&tracked);
	for (unsigned i = 100; i < 140; i++)
		shift(&tracked, i, i + 1, i % 5 == 0 ? 1500 : 10000 + 4096000 * (i * 31 % 17));
	run(&tracked);
	assert_true(tracked.n_lies > 0);
	assert_int_equal(tracked.jumps.n, 0);
	for (unsigned i = 105; i < 135; i++) {
		assert_true(is_doubted(&tracked, i));
		assert_true(is_dropped(&tracked, i));
	}
	assert_false(is_doubted(&tracked, 80));
	assert_false(is_doubted(&tracked, 160));
	release(&tracked);
}

/* One loose side, one that is false: a queue whose operations have the completions of others. */
static void test_track__is_back_where_the_clock_was(void **state)
{
	struct tracked tracked;

	(void)state;
	tracked_init(&tracked);
	for (unsigned i = 100; i < 130; i++)
		shift(&tracked, i, i + 1, i % 2 ? -100000 : -5000000);
	run(&tracked);
	assert_true(tracked.n_lies > 0);
	assert_int_equal(tracked.jumps.n, 0);
	for (unsigned i = 102; i < 130; i++) {
		assert_true(is_doubted(&tracked, i));
		assert_true(is_dropped(&tracked, i));
	}
	assert_false(is_doubted(&tracked, 80));
	assert_false(is_doubted(&tracked, 160));
	assert_false(is_dropped(&tracked, 140));
	release(&tracked);
}

/* The host's clock jumps, and back: on both sides of it, and between, it is known as well. */
static void test_track__believes_a_clock_that_jumps_to_and_fro(void **state)
{
	struct tracked tracked;

	(void)state;
	tracked_init(&tracked);
	shift(&tracked, 100, 170, 1000000);
	run(&tracked);
	assert_int_equal(tracked.jumps.n, 2);
	assert_int_equal(tracked.attempt.doubts.n, 0);
	for (unsigned i = 0; i < N; i++)
		assert_false(is_dropped(&tracked, i));
	release(&tracked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_track__drops_nothing_of_a_true_clock),
		cmocka_unit_test(test_track__drops_a_lie_and_doubts_nothing),
		cmocka_unit_test(test_track__finds_a_jump_and_drops_neither_side),
		cmocka_unit_test(test_track__finds_a_jump_that_one_constraint_shows),
		cmocka_unit_test(test_track__doubts_where_some_in_a_row_object),
		cmocka_unit_test(test_track__divides_the_time_where_the_clock_jumped),
		cmocka_unit_test(test_track__believes_nothing_among_many_lies),
		cmocka_unit_test(test_track__is_back_where_the_clock_was),
		cmocka_unit_test(test_track__believes_a_clock_that_jumps_to_and_fro),
	};

	return cmocka_run_group_tests_name("track", tests, NULL, NULL);
}
