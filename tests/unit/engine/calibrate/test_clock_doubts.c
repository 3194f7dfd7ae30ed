/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches of a map that are in doubt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/blocks.h"
#include "engine/calibrate/calibrate_impl.h"

#define N       200u
#define TICKS0  1000
#define TICKS   1000 /* from operation to operation */
#define HALF_NS 100

struct made {
	struct claim claims[N];
	uint8_t is_false[N];
	struct clock_map map;
	struct clocks clocks;
	uint32_t first_map[2];
};

static uint64_t ticks_of(uint32_t op)
{
	return TICKS0 + (uint64_t)op * TICKS;
}

/* A counter of 1 GHz, in doubt between two operations. */
static void make(struct made *made, uint32_t n_stretches, const struct stretch *stretches)
{
	const struct prior prior = {.hint = 1, .rho = 10e-6};
	struct evidence evidence = {.claims = made->claims, .is_false = made->is_false, .n = N};
	struct attempt band;

	memset(made, 0, sizeof(*made));
	for (uint32_t i = 0; i < N; i++)
		made->claims[i] = (struct claim){ticks_of(i), ticks_of(i),
		                                 (int64_t)ticks_of(i) - HALF_NS,
		                                 (int64_t)ticks_of(i) + HALF_NS};
	assert_int_equal(fit_band(&evidence, &prior, &band), 0);
	for (uint32_t i = 0; i < n_stretches; i++)
		assert_int_equal(doubts_add(&band.doubts, stretches[i].from, stretches[i].to), 0);
	assert_int_equal(fit_map(&band, &evidence, &prior, &made->map), 0);
	fit_release(&band);
	made->first_map[1] = 1;
	made->clocks = (struct clocks){
		.first_map = made->first_map, .n_counters = 1, .maps = &made->map, .n_maps = 1};
}

static enum time_status status_at(const struct made *made, uint64_t ticks)
{
	struct placed far = clocks_place(&made->clocks, 0, 0, ticks);
	struct clock_near near = {0};

	for (int i = 0; i < 2; i++) { /* the first call learns what the second one uses */
		struct placed placed = clocks_place_near(&made->clocks, 0, 0, ticks, &near);

		assert_int_equal(placed.status, far.status);
		assert_int_equal(placed.err_ns, far.err_ns);
		assert_int_equal(placed.host_ns, far.host_ns);
	}
	assert_int_equal(far.err_ns == UINT32_MAX, far.status == TIME_ASSUMED);
	return far.status;
}

static void test_clock_doubts__certify_beside_a_stretch(void **state)
{
	const struct stretch stretch = {50 * TICKS, 60 * TICKS};
	struct made made;

	(void)state;
	make(&made, 1, &stretch);
	for (uint64_t ticks = ticks_of(0); ticks < ticks_of(N - 1); ticks += TICKS / 4) {
		bool is_doubtful = ticks >= ticks_of(50) && ticks < ticks_of(60);

		assert_int_equal(status_at(&made, ticks),
		                 is_doubtful ? TIME_ASSUMED : TIME_CERTIFIED);
	}
	assert_int_equal(status_at(&made, ticks_of(0) - 1), TIME_CERTIFIED);
	assert_int_equal(status_at(&made, ticks_of(N)), TIME_CERTIFIED);
	blocks_free(made.map.knots);
}

static void test_clock_doubts__reach_to_the_ends_of_time(void **state)
{
	const struct stretch stretches[] = {{0, 10 * TICKS}, {150 * TICKS, UINT64_MAX}};
	struct made made;

	(void)state;
	make(&made, 2, stretches);
	assert_int_equal(status_at(&made, ticks_of(0) - 1), TIME_ASSUMED);
	assert_int_equal(status_at(&made, ticks_of(9)), TIME_ASSUMED);
	assert_int_equal(status_at(&made, ticks_of(10)), TIME_CERTIFIED);
	assert_int_equal(status_at(&made, ticks_of(150) - 1), TIME_CERTIFIED);
	assert_int_equal(status_at(&made, ticks_of(150)), TIME_ASSUMED);
	assert_int_equal(status_at(&made, ticks_of(N)), TIME_ASSUMED);
	blocks_free(made.map.knots);
}

static void test_clock_doubts__join_what_meets(void **state)
{
	static const struct stretch added[] = {{50, 60}, {10, 20}, {80, 90}, {60, 70}, {15, 40}};
	static const struct stretch joined[] = {{10, 40}, {50, 70}, {80, 90}};
	struct doubts doubts = {.stretches = NULL};
	uint32_t next = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
		assert_int_equal(doubts_add(&doubts, added[i].from, added[i].to), 0);
	assert_int_equal(doubts.n, 3);
	assert_memory_equal(doubts.stretches, joined, sizeof(joined));
	assert_false(doubts_meet(&doubts, 0, 10, &next));
	assert_true(doubts_meet(&doubts, 0, 11, &next));
	assert_false(doubts_meet(&doubts, 40, 50, &next));
	assert_true(doubts_meet(&doubts, 69, 80, &next));
	assert_false(doubts_meet(&doubts, 90, UINT64_MAX, &next));
	assert_int_equal(doubts_add(&doubts, 0, UINT64_MAX), 0);
	assert_int_equal(doubts.n, 1);
	doubts_release(&doubts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_doubts__certify_beside_a_stretch),
		cmocka_unit_test(test_clock_doubts__reach_to_the_ends_of_time),
		cmocka_unit_test(test_clock_doubts__join_what_meets),
	};

	return cmocka_run_group_tests_name("clock_doubts", tests, NULL, NULL);
}
