/* SPDX-License-Identifier: Apache-2.0 */
/* Two lists of the same work: who is whose, and how far the clocks are apart. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "formats/pairing/pair_align.h"

#define N_KERNELS 12

/* A loop that two tools saw. Tags are the same for the same work. */
struct scene {
	uint32_t n_turns;
	uint32_t from_first, from_last, to_first, to_last; /* turns that each one saw */
	int64_t offset_ns;
	double slope;
	double jitter_ns; /* of the turns and of all kernels */
	double noise_ns;  /* of what is told of the same work */
	double lead_ns;   /* how much earlier one of them lets it begin, at most */
	double loss;      /* share of the work that either does not tell */
	bool has_correlation, has_lies, has_stamps;
};

static uint64_t random_state;

static double draw(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (double)(random_state >> 11) / 0x1p53;
}

static void add(struct pair_list *list, struct pair_event event, const struct scene *scene,
                uint32_t id)
{
	if (draw() < scene->loss)
		return;
	event.begin_ns += (int64_t)(scene->noise_ns * (draw() - 0.5));
	event.end_ns += (int64_t)(scene->noise_ns * (draw() - 0.5));
	event.correlation = scene->has_correlation ? id + 1 : 0;
	event.stamps = scene->has_stamps ? id * UINT64_C(0x9e3779b97f4a7c15) + 1 : 0;
	if (scene->has_lies)
		event.correlation = list->n + 1;
	list->events[list->n++] = event;
}

static struct pair_event moved(struct pair_event event, const struct scene *scene)
{
	const struct pair_fit fit = {INT64_C(2000000000000), scene->offset_ns, scene->slope};

	event.begin_ns = pair_move(&fit, event.begin_ns);
	event.end_ns = pair_move(&fit, event.end_ns);
	event.begin_ns -= (int64_t)(scene->lead_ns * draw());
	return event;
}

static void make(const struct scene *scene, struct pair_list *from, struct pair_list *to)
{
	int64_t time_ns = INT64_C(2000000000000);
	uint32_t id = 0;

	random_state = 7;
	*from = (struct pair_list){calloc(scene->n_turns * N_KERNELS, sizeof(struct pair_event)),
	                           0};
	*to = (struct pair_list){calloc(scene->n_turns * N_KERNELS, sizeof(struct pair_event)), 0};
	for (uint32_t turn = 0; turn < scene->n_turns; turn++) {
		time_ns += 3000000 + (int64_t)(scene->jitter_ns * draw());
		for (uint32_t kernel = 0; kernel < N_KERNELS; kernel++, id++) {
			int64_t length_ns = 40000 + (int64_t)(scene->jitter_ns * draw() / 10);
			struct pair_event event = {time_ns, time_ns + length_ns, 1 + kernel % 5,
			                           .tag = id};

			time_ns += length_ns + 5000;
			if (turn >= scene->from_first && turn < scene->from_last)
				add(from, event, scene, id);
			if (turn >= scene->to_first && turn < scene->to_last)
				add(to, moved(event, scene), scene, id);
		}
	}
}

static void check(const struct scene *scene, double share)
{
	const struct pair_fit truth = {INT64_C(2000000000000), scene->offset_ns, scene->slope};
	struct pair_result result;
	struct pair_list from, to;
	uint32_t n_both = 0;

	make(scene, &from, &to);
	for (uint32_t i = 0; i < from.n; i++) {
		for (uint32_t j = 0; j < to.n; j++)
			n_both += from.events[i].tag == to.events[j].tag;
	}
	assert_int_equal(pair_align(&from, &to, &result), 0);
	assert_true(result.n_pairs <= n_both);
	assert_true(result.n_pairs >= share * n_both);
	for (uint32_t i = 0; i < from.n; i++) {
		const struct pair_event *event = &from.events[i];

		assert_true(llabs(pair_move(&result.fit, event->begin_ns) -
		                  pair_move(&truth, event->begin_ns)) <= scene->noise_ns / 2 + 2);
		if (event->partner == PAIR_NONE)
			continue;
		assert_int_equal(to.events[event->partner].tag, event->tag);
		assert_int_equal(to.events[event->partner].partner, i);
	}
	assert_true(result.residual_ns_max <= 1.5 * scene->noise_ns + 2);
	assert_false(result.is_uncertain);
	free(from.events);
	free(to.events);
}

#define OFFSET INT64_C(1698000000123456789)

static const struct scene whole = {.n_turns = 20,
                                   .from_last = 20,
                                   .to_last = 20,
                                   .offset_ns = OFFSET,
                                   .jitter_ns = 200000,
                                   .noise_ns = 2000};

static void test_pair_align__finds_the_offset_and_all_pairs(void **state)
{
	(void)state;
	check(&whole, 1);
}

static void test_pair_align__matches_unequal_counts_as_far_as_they_go(void **state)
{
	static const uint32_t turns[][4] = {
		{0, 20, 5, 8}, {5, 8, 0, 20}, {0, 12, 9, 20}, {9, 20, 0, 12}, {3, 4, 0, 20},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		struct scene scene = whole;

		scene.from_first = turns[i][0];
		scene.from_last = turns[i][1];
		scene.to_first = turns[i][2];
		scene.to_last = turns[i][3];
		check(&scene, 1);
	}
}

static void test_pair_align__bears_lost_events(void **state)
{
	struct scene scene = whole;

	(void)state;
	scene.loss = 0.2;
	check(&scene, 0.95);
}

static void test_pair_align__bears_work_that_one_lets_begin_earlier(void **state)
{
	struct scene scene = whole;

	(void)state;
	scene.from_first = 4;
	scene.to_last = 16;
	scene.lead_ns = 30000;
	check(&scene, 0.98);
	scene.n_turns = scene.to_last = 400;
	scene.from_last = 300;
	scene.lead_ns = 150000;
	check(&scene, 0.98);
}

static void test_pair_align__bears_clocks_of_other_rates(void **state)
{
	static const double slopes[] = {5e-6, -5e-6, 1e-4, -1e-4};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct scene scene = whole;

		scene.n_turns = scene.from_last = scene.to_last = 300;
		scene.noise_ns = 500;
		scene.slope = slopes[i];
		scene.offset_ns = -1000000000;
		check(&scene, 1);
	}
}

/* Told so inexactly that the nearest one is another. */
static void test_pair_align__is_told_by_ids_what_is_whose(void **state)
{
	struct pair_event one[200], other[200];
	struct pair_list from = {one, 200}, to = {other, 200};
	struct pair_result result;

	(void)state;
	random_state = 3;
	for (uint32_t i = 0; i < 200; i++) {
		int64_t begin_ns = 1000000 + 400 * (int64_t)i;
		int64_t noise_ns = (int64_t)(2000 * (draw() - 0.5));

		one[i] = (struct pair_event){begin_ns, begin_ns + 300, 1, i + 1, .tag = i};
		begin_ns += OFFSET + noise_ns;
		other[i] = (struct pair_event){begin_ns, begin_ns + 300, 1, i + 1, .tag = i};
	}
	assert_int_equal(pair_align(&from, &to, &result), 0);
	assert_true(result.n_pairs >= 195);
	for (uint32_t i = 0; i < 200; i++) {
		if (one[i].partner != PAIR_NONE)
			assert_int_equal(other[one[i].partner].tag, one[i].tag);
	}
}

/* Turns that are all alike fit anywhere: only what names them tells. */
static void test_pair_align__is_told_by_ids_where_nothing_else_tells(void **state)
{
	struct scene scene = whole;

	(void)state;
	scene.jitter_ns = 0;
	scene.from_first = 8;
	scene.to_last = 12;
	scene.has_correlation = true;
	check(&scene, 1);
	/* More places than can be tried. */
	scene.n_turns = scene.to_last = 1500;
	scene.from_first = 1400;
	scene.from_last = 1408;
	check(&scene, 1);
	scene.has_correlation = false;
	scene.has_stamps = true;
	check(&scene, 1);
}

static void test_pair_align__does_not_believe_ids_of_something_else(void **state)
{
	struct scene scene = whole;

	(void)state;
	scene.from_first = 3;
	scene.to_last = 17;
	scene.has_lies = true;
	check(&scene, 1);
}

static void test_pair_align__says_where_it_is_not_sure(void **state)
{
	struct scene scene = whole;
	struct pair_result result;
	struct pair_list from, to;

	(void)state;
	scene.jitter_ns = 0;
	scene.from_first = 8;
	scene.to_last = 12;
	make(&scene, &from, &to);
	assert_int_equal(pair_align(&from, &to, &result), 0);
	assert_true(result.is_uncertain);
	free(from.events);
	free(to.events);
}

static void test_pair_align__finds_nothing_where_nothing_is_common(void **state)
{
	struct pair_event one[] = {{10, 20, 1, .tag = 0}}, other[] = {{10, 20, 2, .tag = 0}};
	struct pair_list from = {one, 1}, to = {other, 1}, none = {NULL, 0};
	struct pair_result result;

	(void)state;
	assert_int_equal(pair_align(&from, &to, &result), 0);
	assert_int_equal(result.n_pairs, 0);
	assert_int_equal(from.n, 0);
	assert_int_equal(pair_align(&none, &to, &result), 0);
	assert_int_equal(result.n_pairs, 0);
}

static void test_pair_align__survives_all_at_one_time(void **state)
{
	static struct pair_event one[3000], other[2000];
	struct pair_list from = {one, 3000}, to = {other, 2000};
	struct pair_result result;

	(void)state;
	for (uint32_t i = 0; i < 3000; i++)
		one[i] = (struct pair_event){5, 5, 1, .tag = i};
	for (uint32_t i = 0; i < 2000; i++)
		other[i] = (struct pair_event){(int64_t)1 << 61, (int64_t)1 << 61, 1, 1, 1,
		                               .tag = i};
	assert_int_equal(pair_align(&from, &to, &result), 0);
	assert_true(result.n_pairs <= 2000);
	for (uint32_t i = 0; i < 3000; i++) {
		if (one[i].partner != PAIR_NONE)
			assert_int_equal(other[one[i].partner].partner, i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pair_align__finds_the_offset_and_all_pairs),
		cmocka_unit_test(test_pair_align__matches_unequal_counts_as_far_as_they_go),
		cmocka_unit_test(test_pair_align__bears_lost_events),
		cmocka_unit_test(test_pair_align__bears_work_that_one_lets_begin_earlier),
		cmocka_unit_test(test_pair_align__bears_clocks_of_other_rates),
		cmocka_unit_test(test_pair_align__is_told_by_ids_where_nothing_else_tells),
		cmocka_unit_test(test_pair_align__is_told_by_ids_what_is_whose),
		cmocka_unit_test(test_pair_align__does_not_believe_ids_of_something_else),
		cmocka_unit_test(test_pair_align__says_where_it_is_not_sure),
		cmocka_unit_test(test_pair_align__finds_nothing_where_nothing_is_common),
		cmocka_unit_test(test_pair_align__survives_all_at_one_time),
	};

	return cmocka_run_group_tests_name("pair_align", tests, NULL, NULL);
}
