/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rate of a clock that broke its promise is no fact, from literal eras and knots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/calibrate/calibrate_impl.h"

#define N_KNOTS 6000u
#define SPACING UINT64_C(1000) /* ticks */
#define X(knot) ((knot)*SPACING)

struct scene {
	struct knot knots[N_KNOTS];
	struct era eras[4];
	struct attempt attempt;
};

/* A clock of 1 GHz whose eras begin at these knots. */
static void scene_init(struct scene *scene, const uint32_t *begins, uint32_t n_eras)
{
	struct reference *reference = &scene->attempt.reference;

	*scene = (struct scene){.attempt = {.knots = scene->knots, .n_knots = N_KNOTS}};
	for (uint32_t i = 0; i < N_KNOTS; i++)
		scene->knots[i].x = X(i);
	for (uint32_t i = 0; i < n_eras; i++) {
		uint64_t to = i + 1 < n_eras ? X(begins[i + 1]) : UINT64_MAX;

		scene->eras[i] = (struct era){.core_from = X(begins[i]), .core_to = to};
	}
	assert_int_equal(reference_init_straight(reference, 1.0, 1e-5), FLEXTRACE_OK);
	reference->eras = scene->eras;
	reference->n_eras = n_eras;
	reference->n_uncut = 1; /* it jumped */
	assert_int_equal(reference_loosen(&scene->attempt), FLEXTRACE_OK);
}

static void scene_release(struct scene *scene)
{
	scene->attempt.reference.eras = NULL;
	reference_release(&scene->attempt.reference);
}

static bool is_loose(const struct scene *scene, uint32_t knot)
{
	const struct piece *piece = reference_piece(&scene->attempt.reference, X(knot));

	return piece->rise > 100 * (UINT64_C(1) << WANDER_BITS) / 1000000;
}

static void test_loose__is_what_is_near_a_break(void **state)
{
	static struct scene scene;
	const uint32_t begins[] = {0, 3000};

	(void)state;
	scene_init(&scene, begins, 2);
	assert_false(is_loose(&scene, 2980));
	assert_true(is_loose(&scene, 2990));
	assert_true(is_loose(&scene, 3010));
	assert_false(is_loose(&scene, 3020));
	scene_release(&scene);
}

/* Nothing behind the last operations shows that the clock broke its promise in them. */
static void test_loose__is_what_is_near_an_end(void **state)
{
	static struct scene scene;
	const uint32_t begins[] = {0, 3000};

	(void)state;
	scene_init(&scene, begins, 2);
	assert_true(is_loose(&scene, 0));
	assert_true(is_loose(&scene, 10));
	assert_false(is_loose(&scene, 20));
	assert_false(is_loose(&scene, N_KNOTS - 20));
	assert_true(is_loose(&scene, N_KNOTS - 10));
	assert_true(is_loose(&scene, N_KNOTS - 1));
	scene_release(&scene);
}

static void test_loose__is_all_between_breaks_that_follow_each_other(void **state)
{
	static struct scene scene;
	const uint32_t begins[] = {0, 2000, 2900, 4800};

	(void)state;
	scene_init(&scene, begins, 4);
	assert_false(is_loose(&scene, 1900));
	assert_true(is_loose(&scene, 2500));
	assert_false(is_loose(&scene, 3500)); /* far from the next one */
	assert_true(is_loose(&scene, 4800));
	assert_false(is_loose(&scene, 5900)); /* the last break stands alone */
	scene_release(&scene);
}

static void test_loose__reaches_the_ends_of_evidence_full_of_breaks(void **state)
{
	static struct scene scene;
	const uint32_t begins[] = {0, 900, 1800};

	(void)state;
	scene_init(&scene, begins, 3);
	assert_true(is_loose(&scene, 1));
	assert_false(is_loose(&scene, 1900));
	scene_release(&scene);
}

static void test_loose__leaves_the_reference_where_it_is(void **state)
{
	static struct scene scene;
	const uint32_t begins[] = {0, 1000, 3000};
	struct reference *reference = &scene.attempt.reference;

	(void)state;
	scene_init(&scene, begins, 3);
	for (uint32_t i = 0; i < N_KNOTS; i++)
		assert_true(reference_at(reference, X(i)) == (wide_int)X(i) << PHI_BITS);
	assert_int_equal(reference_told(reference).n_pieces, 1);
	reference_tighten(reference);
	assert_int_equal(reference->n_pieces, 1);
	for (uint32_t i = 0; i < N_KNOTS; i++)
		assert_false(is_loose(&scene, i));
	assert_int_equal(reference_loosen(&scene.attempt), FLEXTRACE_OK); /* not more than once */
	assert_true(is_loose(&scene, 1000));
	scene_release(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loose__is_what_is_near_a_break),
		cmocka_unit_test(test_loose__is_what_is_near_an_end),
		cmocka_unit_test(test_loose__is_all_between_breaks_that_follow_each_other),
		cmocka_unit_test(test_loose__reaches_the_ends_of_evidence_full_of_breaks),
		cmocka_unit_test(test_loose__leaves_the_reference_where_it_is),
	};

	return cmocka_run_group_tests_name("loose", tests, NULL, NULL);
}
