/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between devices as evidence. A counter here ticks once per ns of its host's clock, from
 * 0 on; the host of rank r is r seconds behind.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/align/messages.h"
#include "align_fixture.h"

#define SECOND INT64_C(1000000000)

struct clocks {
	enum time_status status;
	uint32_t err_ns;
};

static struct clocks clocks;

struct placed clocks_place(const struct clocks *of, uint32_t counter, uint16_t segment,
                           uint64_t ticks)
{
	(void)counter;
	(void)segment;
	return (struct placed){(int64_t)ticks, of->err_ns, of->status};
}

bool clocks_refuse(const struct clocks *of, uint64_t op)
{
	(void)of;
	(void)op;
	return false;
}

struct messages_test {
	struct scene scene;
	struct device devices[SCENE_CLOCKS];
	struct string_cache cache;
	struct table ops;
};

static int start(void **state)
{
	struct messages_test *test = calloc(1, sizeof(*test));

	*state = test;
	clocks = (struct clocks){TIME_ASSUMED, UINT32_MAX};
	scene_init(&test->scene, SCENE_CLOCKS);
	string_cache_init(&test->cache, test->scene.strings);
	for (uint32_t i = 0; i < SCENE_CLOCKS; i++)
		test->devices[i].process = i;
	test->scene.identity.devices = test->devices;
	test->scene.identity.n_devices = SCENE_CLOCKS;
	return 0;
}

static int stop(void **state)
{
	struct messages_test *test = *state;

	table_release(&test->ops);
	string_cache_release(&test->cache);
	scene_release(&test->scene);
	free(test);
	return 0;
}

/* A control block that ends at a true time, all its stamps there. */
static struct tick_op *add(struct messages_test *test, uint32_t rank, const char *name,
                           int32_t peer, int64_t true_ns)
{
	struct tick_op *op = table_append(&test->ops, sizeof(*op));

	assert_non_null(op);
	*op = (struct tick_op){.device = rank,
	                       .peer = peer,
	                       .kind = FLEXTRACE_DEVICE_MEMCPY_HTOD,
	                       .status = TIME_ASSUMED};
	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		op->ticks[i] = (uint64_t)(true_ns + (10 - (int64_t)rank) * SECOND);
	assert_int_equal(string_intern(&test->cache, name, &op->name), 0);
	return op;
}

static uint64_t find(struct messages_test *test, bool with_assumed)
{
	const struct messages_input input = {&test->scene.identity, &clocks, &test->ops,
	                                     &test->cache, with_assumed};

	assert_int_equal(messages_find(&input, &test->scene.points), 0);
	return test->scene.points.n_rows;
}

/* How far a rank stands from where it should, and what is said of that. */
static int64_t off_ns(const struct messages_test *test, uint32_t rank, struct aligned *ret)
{
	*ret = alignment_place(test->scene.alignment, rank, (10 - (int64_t)rank) * SECOND + 5000);
	return ret->time_ns - 10 * SECOND - 5000;
}

static void test_messages__bound_a_rank_from_both_sides(void **state)
{
	struct messages_test *test = *state;
	struct aligned aligned;
	int64_t off;

	add(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, 1000);
	add(test, 1, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0, 1600);
	add(test, 1, "SenRdmaSend_2 [sync=g_s1_r0_1]", 0, 5000);
	add(test, 0, "SenRdmaReceive_2 [sync=g_s1_r0_1]", 1, 5200);
	assert_int_equal(find(test, true), 4);
	scene_align(&test->scene);
	off = off_ns(test, 1, &aligned);
	assert_in_range(off + 600, 0, 800);
	assert_int_equal(aligned.status, TIME_ASSUMED);
	assert_in_range(aligned.err_ns, 399, 410);
	off_ns(test, 0, &aligned);
	assert_int_equal(aligned.status, TIME_CERTIFIED); /* the reference is its own clock */
}

static void test_messages__have_several_receivers(void **state)
{
	struct messages_test *test = *state;
	struct aligned aligned;

	add(test, 0, "SenRdmaSend_1 Data [sync=g_s0_r0xe_0]", -1, 1000);
	add(test, 0, "SenRdmaSend_1 - Xseg to rank 1 [sync=g_s0_r0xe_0]", 1, 900);
	for (uint32_t rank = 1; rank < 4; rank++)
		add(test, rank, "SenRdmaReceive_1 [sync=g_s0_r0xe_0]", 0, 1100);
	for (uint32_t rank = 1; rank < 4; rank++) {
		static const char *const names[][2] = {
			{"SenRdmaSend_2 [sync=g_s1_r0_1]", "SenRdmaReceive_2 [sync=g_s1_r0_1]"},
			{"SenRdmaSend_2 [sync=g_s1_r0_2]", "SenRdmaReceive_2 [sync=g_s1_r0_2]"},
			{"SenRdmaSend_2 [sync=g_s1_r0_3]", "SenRdmaReceive_2 [sync=g_s1_r0_3]"}};

		add(test, rank, names[rank - 1][0], 0, 2000);
		add(test, 0, names[rank - 1][1], (int32_t)rank, 2100);
	}
	assert_int_equal(find(test, true), 4 + 6);
	scene_align(&test->scene);
	for (uint32_t rank = 1; rank < 4; rank++) {
		assert_in_range(off_ns(test, rank, &aligned) + 102, 0, 204);
		assert_int_equal(scene_line(&test->scene, rank).component, 0);
		assert_int_equal(scene_line(&test->scene, rank).sync_points_used, 2);
	}
}

static void test_messages__stay_certain_where_the_counters_are(void **state)
{
	struct messages_test *test = *state;
	struct aligned aligned;

	clocks = (struct clocks){TIME_CERTIFIED, 300};
	add(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, 1000)->status = TIME_CERTIFIED;
	add(test, 1, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0, 1600)->status = TIME_CERTIFIED;
	add(test, 1, "SenRdmaSend_2 [sync=g_s1_r0_1]", 0, 5000)->status = TIME_CERTIFIED;
	add(test, 0, "SenRdmaReceive_2 [sync=g_s1_r0_1]", 1, 5200)->status = TIME_CERTIFIED;
	assert_int_equal(find(test, false), 4);
	scene_align(&test->scene);
	off_ns(test, 1, &aligned);
	assert_int_equal(aligned.status, TIME_CERTIFIED);
	assert_in_range(aligned.err_ns, 999, 1010); /* 800 / 2 + 300 + 300 */
}

static void test_messages__leave_out_what_says_nothing(void **state)
{
	struct messages_test *test = *state;
	struct tick_op *op;

	add(test, 0, "SenRdmaSend_1 - Set BcList [sync=g_s0_r0x2_0]", -1, 1000);
	add(test, 0, "add_11", -1, 1000);
	add(test, 1, "SenRdmaReceive_1 [sync=g_s0_r0x2_0]", -1, 1000); /* of nobody */
	add(test, 0, "SenRdmaSend_1 [sync=a]", 1, 1000)->status = TIME_OUTLIER;
	add(test, 0, "SenRdmaSend_1 [sync=b]", 1, 1000)->kind = FLEXTRACE_DEVICE_KERNEL;
	op = add(test, 0, "SenRdmaSend_1 [sync=c]", 1, 1000);
	memset(op->ticks, 0, sizeof(op->ticks));
	assert_int_equal(find(test, true), 0);
	add(test, 0, "SenRdmaSend_1 [sync=a]", 1, 1000);
	assert_int_equal(find(test, false), 0);
	assert_int_equal(find(test, true), 1);
	table_release(&test->scene.points);
	test->scene.identity.n_host_clocks = 1;
	assert_int_equal(find(test, true), 0);
}

/* A receive without TS2 is over at TS5. */
static void test_messages__end_where_their_stamps_say(void **state)
{
	struct messages_test *test = *state;
	struct tick_op *op = add(test, 1, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0, 1600);
	struct table_cursor cursor;
	const struct sync_point *point;

	op->ticks[1] = 0;
	op->ticks[4] = 777;
	add(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, 1000)->ticks[4] = 555;
	assert_int_equal(find(test, true), 2);
	table_read(&cursor, &test->scene.points, false);
	point = table_next(&cursor, sizeof(*point));
	assert_true(point->exit_host_ns == 777 && point->enter_host_ns == INT64_MIN);
	point = table_next(&cursor, sizeof(*point));
	assert_true(point->exit_host_ns == INT64_MAX && point->enter_host_ns == 555);
}

/* Each case gives one rank too little to be tied, and counts what it cannot match. */
static void test_messages__tie_nobody_who_cannot_be_matched(void **state)
{
	struct messages_test *test = *state;

	add(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, 1000); /* whose receive is missing */
	add(test, 0, "SenRdmaSend_1 [sync=h_s0_r2_0]", 2, 1000); /* used twice by the one */
	add(test, 0, "SenRdmaSend_1 [sync=h_s0_r2_0]", 2, 2000);
	add(test, 2, "SenRdmaReceive_1 [sync=h_s0_r2_0]", 0, 2100); /* once by the other */
	add(test, 0, "SenRdmaSend_1 [sync=i_s0_r3_0]", 3, 1000);
	add(test, 3, "SenRdmaReceive_1 [sync=i_s0_r3_0]", -1, 1100); /* of nobody */
	find(test, true);
	scene_align(&test->scene);
	for (uint32_t rank = 1; rank < 4; rank++)
		assert_int_not_equal(scene_line(&test->scene, rank).component, 0);
	assert_int_equal(scene_line(&test->scene, 2).sync_points_dropped, 1);
	assert_int_equal(test->scene.ledger.warnings[WARNING_UNALIGNED], 3);
}

/* The same compiled graph again: first with first. */
static void test_messages__are_told_apart_by_how_often_they_came(void **state)
{
	struct messages_test *test = *state;
	struct aligned aligned;

	for (int64_t i = 0; i < 50; i++) {
		add(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, 1000 + i * 1000000);
		add(test, 1, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0, 1600 + i * 1000000);
		add(test, 1, "SenRdmaSend_2 [sync=g_s1_r0_1]", 0, 5000 + i * 1000000);
		add(test, 0, "SenRdmaReceive_2 [sync=g_s1_r0_1]", 1, 5200 + i * 1000000);
	}
	assert_int_equal(find(test, true), 200);
	scene_align(&test->scene);
	assert_in_range(off_ns(test, 1, &aligned) + 600, 0, 800);
	assert_int_equal(scene_line(&test->scene, 1).sync_points_used, 100);
	assert_int_equal(scene_line(&test->scene, 1).sync_points_dropped, 0);
}

/* A turn of a loop of both ranks, from `at` on; bits of `lost`: of its four ends. */
static void add_turn(struct messages_test *test, int64_t at, unsigned lost)
{
	if (!(lost & 1))
		add(test, 0, "SenRdmaSend_1 [sync=g_s0_r1_0]", 1, at + 1000);
	if (!(lost & 2))
		add(test, 1, "SenRdmaReceive_1 [sync=g_s0_r1_0]", 0, at + 1600);
	if (!(lost & 4))
		add(test, 1, "SenRdmaSend_2 [sync=g_s1_r0_1]", 0, at + 5000);
	if (!(lost & 8))
		add(test, 0, "SenRdmaReceive_2 [sync=g_s1_r0_1]", 1, at + 5200);
}

/* What is left of a message's uses is tied by those of the message that lacks none. */
static void test_messages__of_which_some_are_lost_tie_all_the_same(void **state)
{
	struct messages_test *test = *state;
	struct aligned aligned;

	for (int64_t i = 0; i < 50; i++)
		add_turn(test, i * 1000000, i % 10 == 3 ? 2 : i % 10 == 7 && i < 40 ? 1 : 0);
	find(test, true);
	scene_align(&test->scene);
	assert_in_range(off_ns(test, 1, &aligned) + 600, 0, 800);
	assert_int_equal(scene_line(&test->scene, 1).sync_points_used, 50 + 50 - 9);
}

/* Who lacks a use of what one sends to several costs the others nothing. */
static void test_messages__to_several_do_without_who_lacks_some(void **state)
{
	struct messages_test *test = *state;

	for (int64_t i = 0; i < 4; i++) {
		add(test, 0, "SenRdmaSend_1 Data [sync=g_s0_r0x6_0]", -1, 1000 + i * 1000000);
		add(test, 1, "SenRdmaReceive_1 [sync=g_s0_r0x6_0]", 0, 1600 + i * 1000000);
		if (i != 2)
			add(test, 2, "SenRdmaReceive_1 [sync=g_s0_r0x6_0]", 0, 1600 + i * 1000000);
	}
	find(test, true);
	scene_align(&test->scene);
	assert_int_equal(scene_line(&test->scene, 1).component, 0);
	assert_int_equal(scene_line(&test->scene, 1).sync_points_used, 4);
	assert_int_equal(scene_line(&test->scene, 2).sync_points_dropped, 3);
	assert_int_not_equal(scene_line(&test->scene, 2).component, 0);
}

/* A rank that was recorded later lacks the begin of all: the distances tell which. */
static void test_messages__of_a_rank_that_came_late_tie(void **state)
{
	struct messages_test *test = *state;
	struct aligned aligned;
	int64_t at = 0;

	for (int64_t i = 0; i < 50; i++) {
		at += 1000000 + i * i % 7 * 3000;
		add_turn(test, at, i < 5 ? 2 | 4 : 0);
	}
	find(test, true);
	scene_align(&test->scene);
	assert_in_range(off_ns(test, 1, &aligned) + 600, 0, 800);
	assert_int_equal(scene_line(&test->scene, 1).sync_points_used, 90);
}

/* Where every turn is like the next one, nobody can tell which are missing. */
static void test_messages__of_a_regular_loop_are_not_guessed(void **state)
{
	struct messages_test *test = *state;

	for (int64_t i = 0; i < 50; i++)
		add_turn(test, i * 1000000, i < 5 ? 2 | 4 : 0);
	find(test, true);
	scene_align(&test->scene);
	assert_int_not_equal(scene_line(&test->scene, 1).component, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_messages__##name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bound_a_rank_from_both_sides),
		TEST(have_several_receivers),
		TEST(stay_certain_where_the_counters_are),
		TEST(leave_out_what_says_nothing),
		TEST(end_where_their_stamps_say),
		TEST(tie_nobody_who_cannot_be_matched),
		TEST(are_told_apart_by_how_often_they_came),
		TEST(of_which_some_are_lost_tie_all_the_same),
		TEST(to_several_do_without_who_lacks_some),
		TEST(of_a_rank_that_came_late_tie),
		TEST(of_a_regular_loop_are_not_guessed),
	};

	return cmocka_run_group_tests_name("messages", tests, NULL, NULL);
}
