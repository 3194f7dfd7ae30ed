/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/align/align_impl.h"

#define N_KNOTS 400
#define STEP_NS INT64_C(1000)
#define LAST_NS ((N_KNOTS - 1) * STEP_NS)
#define JUMP_NS 5e3
#define RATE    10e-6
#define SLACK   2e-6

/* A clock with evidence each STEP_NS. */
static void make_knots(struct knot *knots)
{
	for (int64_t i = 0; i < N_KNOTS; i++)
		knots[i] = (struct knot){.host_ns = i * STEP_NS, .is_kept = true};
}

/* Two stretches with a break between. */
static void make_broken(struct paces *paces, int64_t from_ns, int64_t to_ns)
{
	assert_int_equal(paces_reserve(paces, 3), 0);
	paces_add(paces, 0, RATE, SLACK);
	paces_add_break(paces, from_ns, to_ns, JUMP_NS);
	paces_add(paces, to_ns, RATE, SLACK);
}

/* Combines proofs of a break each: [from_ns, to_ns) and [other_ns, LAST_NS / 2). */
static void combine(int64_t from_ns, int64_t to_ns, int64_t other_ns, struct paces *ret)
{
	struct knot knots[N_KNOTS];
	struct paces other;

	make_knots(knots);
	make_broken(ret, from_ns, to_ns);
	make_broken(&other, other_ns, LAST_NS / 2);
	assert_int_equal(paces_combine(ret, &other, knots, N_KNOTS), 0);
	paces_release(&other);
}

static uint32_t count_breaks(const struct paces *paces)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < paces->n_paces; i++)
		n += paces->paces[i].is_doubtful;
	return n;
}

static void test_breaks_stay_apart_with_evidence_between(void **state)
{
	struct paces paces;

	(void)state;
	combine(10 * STEP_NS, 50 * STEP_NS, 100 * STEP_NS, &paces);
	assert_int_equal(count_breaks(&paces), 2);
	assert_false(paces_are_doubtful(&paces, 75 * STEP_NS));
	paces_release(&paces);
}

static void test_breaks_are_one_with_next_to_no_evidence_between(void **state)
{
	static const int64_t lengths_ns[] = {1, STEP_NS, 5 * STEP_NS};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths_ns) / sizeof(lengths_ns[0]); i++) {
		struct paces paces;
		const struct pace *at;

		combine(10 * STEP_NS, 50 * STEP_NS, 50 * STEP_NS + lengths_ns[i], &paces);
		assert_int_equal(count_breaks(&paces), 1);
		at = paces_find(&paces, 50 * STEP_NS);
		assert_true(at->is_doubtful);
		assert_int_equal(at->host_ns, 10 * STEP_NS);
		assert_int_equal(at[1].host_ns, LAST_NS / 2);
		assert_true(at->jump_ns >= 2 * JUMP_NS); /* one in either */
		assert_false(paces_are_doubtful(&paces, 10 * STEP_NS - 1));
		paces_release(&paces);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breaks_stay_apart_with_evidence_between),
		cmocka_unit_test(test_breaks_are_one_with_next_to_no_evidence_between),
	};

	return cmocka_run_group_tests_name("paces", tests, NULL, NULL);
}
