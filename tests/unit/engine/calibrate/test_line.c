/* SPDX-License-Identifier: Apache-2.0 */
/* The line through a range of blocks is that of their evidence, however their hulls are joined. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/calibrate/calibrate_impl.h"
#include "clock_model.h"

#define N_BLOCKS 600u /* more than two levels of spans */
#define N        (N_BLOCKS * MIN_BLOCK)
#define RANGES   300

static struct claim claims[N];
static uint8_t is_false[N];

/* A clock whose rate drifts, read with long latencies; some reads overtake others, some lie. */
static void make(uint64_t *state)
{
	for (uint32_t i = 0; i < N; i++) {
		double x = i * 1e6 + model_exponential(state, 3e5), bend = x * 1e-17 * x;

		claims[i] = (struct claim){
			.first = (uint64_t)(x - model_exponential(state, 2e6) + 1e8),
			.last = (uint64_t)(x + 1e8),
			.before = (int64_t)(x + bend - model_exponential(state, 1e5) - 4e6),
			.after = (int64_t)(x + bend + model_exponential(state, 1e5) + 4e6),
		};
		is_false[i] = model_uniform(state) < 0.02;
	}
}

static struct line fit(uint32_t from, uint32_t to, const struct hulls *hulls)
{
	struct line line = {.slope = 1, .slope_lo = 0.99, .slope_hi = 1.01};

	assert_int_equal(line_fit(hulls, from, to, &line), 0);
	return line;
}

static void test_line__through_blocks_is_that_of_their_evidence(void **state)
{
	const struct evidence all = {claims, is_false, N, 0, 0};
	struct hulls hulls, alone;
	uint64_t seed = 7;

	(void)state;
	make(&seed);
	assert_int_equal(hulls_init(&hulls, &all), 0);
	assert_int_equal(hulls.n_blocks, N_BLOCKS);
	for (int i = 0; i < RANGES; i++) {
		uint32_t from = (uint32_t)(model_uniform(&seed) * N_BLOCKS);
		uint32_t n = 1 + (uint32_t)(model_uniform(&seed) * (N_BLOCKS - from));
		struct evidence part = {claims + from * MIN_BLOCK, is_false + from * MIN_BLOCK,
		                        n * MIN_BLOCK, 0, 0};
		struct line line = fit(from, from + n, &hulls), other;

		assert_int_equal(hulls_init(&alone, &part), 0);
		other = fit(0, n, &alone);
		assert_memory_equal(&line, &other, sizeof(line));
		hulls_release(&alone);
	}
	hulls_release(&hulls);
}

/* So many spans, and so many blocks beside them, are all of a range. */
static void test_line__knows_few_spans_of_a_range(void **state)
{
	const struct evidence all = {claims, is_false, N, 0, 0};
	uint32_t n_spans = 0, n = 0;
	struct hulls hulls;
	uint64_t seed = 8;

	(void)state;
	make(&seed);
	assert_int_equal(hulls_init(&hulls, &all), 0);
	for (uint32_t at = 3; at < N_BLOCKS - 3; at += n, n_spans++)
		hulls_span(&hulls, at, N_BLOCKS - 3, &n);
	assert_true(n_spans <= 40);
	hulls_release(&hulls);
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_line__##name)
	const struct CMUnitTest tests[] = {
		TEST(through_blocks_is_that_of_their_evidence),
		TEST(knows_few_spans_of_a_range),
	};

	return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
