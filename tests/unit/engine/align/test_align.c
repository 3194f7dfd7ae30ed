/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "align_fixture.h"

#define UNKNOWN FLEXTRACE_RANK_UNKNOWN

/* -- without evidence ----------------------------------------------------------------------- */

static void test_align__keeps_one_host_clock_as_it_is(void **state)
{
	struct scene scene;
	const struct alignment_report *report;
	struct aligned aligned;
	uint32_t n;

	(void)state;
	scene_init(&scene, 2);
	scene.processes[0] = (struct process){.rank = 1, .host_clock = 0};
	scene.processes[1] = (struct process){.rank = 0, .host_clock = 0};
	scene.clocks[0].epoch_offset_ns = 1700;
	scene_stamp(&scene, 0, 0, 100, 200); /* contradicts the other: but it is one clock */
	scene_stamp(&scene, 1, 0, 300, 400);
	scene_align(&scene);
	for (uint32_t process = 0; process < 2; process++) {
		aligned = alignment_place(scene.alignment, process, 12345);
		assert_int_equal(aligned.time_ns, 12345);
		assert_int_equal(aligned.err_ns, 0);
		assert_int_equal(aligned.status, TIME_CERTIFIED);
		assert_int_equal(scene_line(&scene, process).sync_points_used, 0);
		assert_int_equal(scene_line(&scene, process).sync_points_dropped, 0);
	}
	assert_int_equal(alignment_epoch_offset_ns(scene.alignment), 1700);
	assert_int_equal(scene.ledger.warnings[WARNING_UNALIGNED], 0);
	report = alignment_report(scene.alignment, &n);
	assert_int_equal(n, 2);
	assert_int_equal(report[0].process, 1); /* by rank */
	assert_int_equal(report[1].process, 0);
	assert_true(report[0].half_width_ns_max == 0);
	assert_int_equal(report[0].component, 0);
	scene_release(&scene);
}

static void test_align__shifts_other_clocks_by_their_epoch_and_says_so(void **state)
{
	struct scene scene;
	const struct alignment_report *report;
	struct aligned aligned;
	uint32_t n;

	(void)state;
	scene_init(&scene, 3);
	scene.processes[0] = (struct process){.rank = 2, .host_clock = 1};
	scene.processes[1] = (struct process){.rank = 0, .host_clock = 2};
	scene.processes[2] = (struct process){.rank = 1, .host_clock = 1};
	scene.clocks[1].epoch_offset_ns = 5000;
	scene.clocks[2].epoch_offset_ns = 3000;
	scene_align(&scene);
	aligned = alignment_place(scene.alignment, 0, 100);
	assert_int_equal(aligned.time_ns, 100 + 5000 - 3000);
	assert_int_equal(aligned.err_ns, UINT32_MAX);
	assert_int_equal(aligned.status, TIME_ASSUMED);
	assert_int_equal(alignment_place(scene.alignment, 1, 100).time_ns, 100);
	assert_int_equal(alignment_epoch_offset_ns(scene.alignment), 3000);
	assert_int_equal(scene.ledger.warnings[WARNING_UNALIGNED], 1);
	report = alignment_report(scene.alignment, &n);
	assert_int_equal(report[0].process, 1);
	assert_int_equal(report[0].component, 0);
	assert_int_equal(report[1].component, 1);
	assert_int_equal(report[2].component, 1);
	assert_true(isnan(report[1].half_width_ns_p50));
	scene_release(&scene);
}

static void test_align__takes_the_first_process_where_no_rank_is_known(void **state)
{
	struct scene scene;
	uint32_t n;

	(void)state;
	scene_init(&scene, 3);
	scene.processes[0] = (struct process){.rank = UNKNOWN, .is_excluded = true};
	scene.processes[1] = (struct process){.rank = UNKNOWN, .host_clock = 1};
	scene.processes[2] = (struct process){.rank = UNKNOWN, .host_clock = 0};
	scene.clocks[0].epoch_offset_ns = 7;
	scene.clocks[1].epoch_offset_ns = 9;
	scene_align(&scene);
	assert_int_equal(alignment_place(scene.alignment, 1, 50).err_ns, 0);
	assert_int_equal(alignment_place(scene.alignment, 2, 50).time_ns, 48);
	alignment_report(scene.alignment, &n);
	assert_int_equal(n, 2); /* not the one that was left out */
	scene_release(&scene);
}

static void test_align__prefers_a_known_rank(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 2);
	scene.processes[0].rank = UNKNOWN;
	scene.processes[1].rank = 5;
	scene_align(&scene);
	assert_int_equal(alignment_place(scene.alignment, 1, 50).err_ns, 0);
	assert_int_equal(alignment_place(scene.alignment, 0, 50).err_ns, UINT32_MAX);
	scene_release(&scene);
}

static void test_align__places_processes_met_later(void **state)
{
	struct scene scene;
	uint32_t n;

	(void)state;
	scene_init(&scene, 0);
	scene.identity.n_host_clocks = 1;
	scene.clocks[0].epoch_offset_ns = 11;
	scene.clocks[1].epoch_offset_ns = 14;
	scene_align(&scene);
	alignment_report(scene.alignment, &n);
	assert_int_equal(n, 0);
	scene.identity.n_processes = 2;
	scene.processes[0] = (struct process){.rank = UNKNOWN, .host_clock = 0};
	scene.processes[1] = (struct process){.rank = UNKNOWN, .host_clock = 1};
	assert_int_equal(alignment_place(scene.alignment, 0, 50).time_ns, 50);
	assert_int_equal(alignment_place(scene.alignment, 1, 50).time_ns, 53);
	assert_int_equal(alignment_place(scene.alignment, 1, 50).status, TIME_ASSUMED);
	assert_int_equal(alignment_epoch_offset_ns(scene.alignment), 11);
	scene_release(&scene);
}

static void test_align__survives_no_clock_at_all(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 0);
	scene.identity.n_host_clocks = 0;
	scene_align(&scene);
	assert_int_equal(alignment_epoch_offset_ns(scene.alignment), 0);
	scene_release(&scene);
}

static void test_align__survives_epochs_at_both_ends_of_time(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 2);
	scene.clocks[0].epoch_offset_ns = INT64_MIN;
	scene.clocks[1].epoch_offset_ns = INT64_MAX;
	scene_align(&scene);
	assert_int_equal(alignment_place(scene.alignment, 1, 5).time_ns, 5);
	scene.clocks[0].epoch_offset_ns = 0;
	scene_align(&scene);
	assert_int_equal(alignment_place(scene.alignment, 1, 5).time_ns, INT64_MAX);
	scene_release(&scene);
}

/* -- options -------------------------------------------------------------------------------- */

static void test_align__takes_the_reference_it_is_told(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 2);
	scene_stamp(&scene, 0, 0, 1000, 1100);
	scene_stamp(&scene, 1, 0, 5010, 5090);
	scene.options.reference_rank = 1;
	scene_align(&scene);
	assert_int_equal(alignment_place(scene.alignment, 1, 5000).time_ns, 5000);
	assert_in_range(alignment_place(scene.alignment, 0, 1000).time_ns, 4990, 5010);
	scene.options.reference_rank = 9;
	assert_int_equal(scene_try(&scene), FLEXTRACE_E_USAGE);
	assert_non_null(strstr(scene.error.message, "rank=9"));
	scene_release(&scene);
}

static void test_align__uses_no_evidence_when_it_is_off(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 2);
	scene_stamp(&scene, 0, 0, 1000, 1100);
	scene_stamp(&scene, 1, 0, 5010, 5090);
	scene.options.is_off = true;
	scene_align(&scene);
	assert_int_equal(alignment_place(scene.alignment, 1, 5000).time_ns, 5000);
	assert_int_equal(alignment_place(scene.alignment, 1, 5000).status, TIME_ASSUMED);
	assert_int_equal(alignment_bound(scene.alignment, 1, 5000), UINT32_MAX);
	assert_int_equal(scene_line(&scene, 1).component, 1);
	assert_int_equal(scene.ledger.warnings[WARNING_UNALIGNED], 1);
	scene_release(&scene);
}

/* -- evidence ------------------------------------------------------------------------------- */

static void test_align__takes_the_middle_of_what_a_barrier_allows(void **state)
{
	struct scene scene;
	struct alignment_report line;
	struct aligned aligned;

	(void)state;
	scene_init(&scene, 2);
	scene_stamp(&scene, 0, 0, 1000, 1100);
	scene_stamp(&scene, 1, 0, 5010, 5090);
	scene_align(&scene);
	/* 5010 + x <= 1100 and 1000 <= 5090 + x: x is from -4090 to -3910. */
	aligned = alignment_place(scene.alignment, 1, 5050);
	assert_in_range(aligned.time_ns, 1049, 1051);
	assert_in_range(aligned.err_ns, 90, 94);
	assert_int_equal(aligned.status, TIME_CERTIFIED);
	assert_in_range(alignment_bound(scene.alignment, 1, 1050), 90, 95);
	assert_in_range(alignment_bound(scene.alignment, 1, 1001050), 290, 300);
	assert_int_equal(alignment_bound(scene.alignment, 0, 1050), 0);
	line = scene_line(&scene, 1);
	assert_in_range(-line.offset_ns, 3999, 4001);
	assert_in_range(line.half_width_ns_max, 90, 94);
	assert_int_equal(line.sync_points_used, 1);
	assert_int_equal(line.component, 0);
	assert_false(line.one_sided);
	/* A ms away, a clock may be off by another 200 ns: two clocks hardly run faster apart. */
	assert_in_range(alignment_place(scene.alignment, 1, 1005050).err_ns, 290, 300);
	assert_int_equal(scene.ledger.warnings[WARNING_UNALIGNED], 0);
	scene_release(&scene);
}

static void test_align__ties_the_ranks_of_one_host_exactly(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 3);
	scene.processes[2].host_clock = 1;
	scene_stamp(&scene, 0, 0, 1000, 1100);
	scene_stamp(&scene, 1, 0, 5010, 5090);
	scene_align(&scene);
	for (int64_t ns = 4000; ns < 7000; ns += 7) {
		struct aligned one = alignment_place(scene.alignment, 1, ns);
		struct aligned two = alignment_place(scene.alignment, 2, ns);

		assert_int_equal(one.time_ns, two.time_ns);
		assert_int_equal(one.err_ns, two.err_ns);
	}
	assert_int_equal(scene_line(&scene, 2).sync_points_used, 0);
	assert_int_equal(scene_line(&scene, 2).component, 0);
	scene_release(&scene);
}

static void test_align__follows_evidence_over_a_third_clock(void **state)
{
	struct scene scene;
	struct aligned aligned;

	(void)state;
	scene_init(&scene, 3);
	scene_add(&scene, 0, "barrier", "1", 7)->enter_host_ns = 1000;
	scene_add(&scene, 0, "barrier", "1", 8)->exit_host_ns = 1200;
	scene_stamp(&scene, 0, 1, 1000, 1100);
	scene_stamp(&scene, 1, 1, 2000, 2100);
	scene_stamp(&scene, 1, 2, 2110, 2210);
	scene_stamp(&scene, 2, 2, 9110, 9210);
	scene_align(&scene);
	aligned = alignment_place(scene.alignment, 2, 9160);
	assert_in_range(aligned.time_ns, 1159, 1161);
	assert_in_range(aligned.err_ns, 199, 205); /* the sum of both */
	assert_int_equal(aligned.status, TIME_CERTIFIED);
	scene_release(&scene);
}

static void test_align__bounds_by_messages_both_ways(void **state)
{
	struct scene scene;
	struct aligned aligned;

	(void)state;
	scene_init(&scene, 2);
	scene_add(&scene, 0, "send", "1", 0)->enter_host_ns = 1000;
	scene_add(&scene, 1, "recv", "0", 0)->exit_host_ns = 5040;
	scene_add(&scene, 1, "MPI_Isend", "0", 0)->enter_host_ns = 5060;
	scene_add(&scene, 0, "MPI_Recv", "1", 0)->exit_host_ns = 1140;
	scene_align(&scene);
	/* 1000 <= 5040 + x and 5060 + x <= 1140: x is from -4040 to -3920. */
	aligned = alignment_place(scene.alignment, 1, 5050);
	assert_in_range(aligned.time_ns, 1069, 1071);
	assert_in_range(aligned.err_ns, 60, 64);
	assert_int_equal(scene_line(&scene, 1).sync_points_used, 2);
	scene_release(&scene);
}

static void test_align__has_no_bound_from_messages_one_way(void **state)
{
	struct scene scene;
	struct aligned aligned;

	(void)state;
	scene_init(&scene, 2);
	scene_add(&scene, 0, "send", "1", 0)->enter_host_ns = 1000;
	scene_add(&scene, 1, "recv", "0", 0)->exit_host_ns = 5040;
	scene_align(&scene);
	aligned = alignment_place(scene.alignment, 1, 5040);
	assert_int_equal(aligned.time_ns, 1000); /* as soon as it could be */
	assert_int_equal(aligned.err_ns, UINT32_MAX);
	assert_int_equal(aligned.status, TIME_ASSUMED);
	assert_true(scene_line(&scene, 1).one_sided);
	assert_true(isnan(scene_line(&scene, 1).half_width_ns_p50));
	scene_release(&scene);
}

static void test_align__matches_a_lonely_message_without_ranks(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 3);
	for (int i = 0; i < 3; i++)
		scene.processes[i].rank = UNKNOWN;
	scene_add(&scene, 0, "send", "", 0)->enter_host_ns = 1000;
	scene_add(&scene, 1, "recv", "", 0)->exit_host_ns = 5040;
	scene_add(&scene, 0, "send", "", 1)->enter_host_ns = 2000;
	scene_add(&scene, 1, "recv", "", 1)->exit_host_ns = 6040;
	scene_add(&scene, 2, "recv", "", 1)->exit_host_ns = 1; /* whose? */
	scene_align(&scene);
	assert_int_equal(scene_line(&scene, 0).sync_points_used, 1);
	assert_int_equal(scene_line(&scene, 0).sync_points_dropped, 1);
	assert_int_equal(scene_line(&scene, 1).sync_points_used, 1);
	assert_int_equal(scene_line(&scene, 2).sync_points_dropped, 1);
	scene_release(&scene);
}

/* A broadcast: rank 0 leaves late and rank 1 early, which only rank 0's enter says something of. */
static void test_align__believes_a_root_only_where_it_is_named(void **state)
{
	static const struct {
		const char *op, *peers;
		uint64_t n_used;
		bool has_lower; /* from the root's enter */
	} cases[] = {
		{"broadcast", "0", 1, true}, {"scatter", "0", 1, true},   {"reduce", "0", 1, false},
		{"gather", "0", 1, false},   {"broadcast", "", 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene;
		struct sync_point *point;

		scene_init(&scene, 2);
		point = scene_add(&scene, 0, cases[i].op, "", 0);
		point->enter_host_ns = 1000;
		point->exit_host_ns = 1900;
		point = scene_add(&scene, 1, cases[i].op, cases[i].peers, 0);
		point->enter_host_ns = 5000;
		point->exit_host_ns = 5400;
		scene_align(&scene);
		assert_int_equal(scene_line(&scene, 1).sync_points_used, cases[i].n_used);
		assert_int_equal(scene_line(&scene, 1).component, cases[i].n_used ? 0 : 1);
		if (cases[i].n_used)
			assert_int_equal(alignment_place(scene.alignment, 1, 5400).time_ns,
			                 cases[i].has_lower ? 1000 : 2300);
		scene_release(&scene);
	}
}

static void test_align__tells_groups_of_one_name_apart_by_their_peers(void **state)
{
	static const char *const peers[] = {"1", "0", "3", "2"};
	struct scene scene;

	(void)state;
	scene_init(&scene, 4);
	for (uint32_t i = 0; i < 4; i++) {
		struct sync_point *point = scene_add(&scene, i, "all_reduce", peers[i], 0);

		point->enter_host_ns = 1000 * (i + 1);
		point->exit_host_ns = point->enter_host_ns + 100;
	}
	scene_align(&scene);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(scene_line(&scene, i).sync_points_used, 1);
		assert_int_equal(scene_line(&scene, i).component, i / 2);
	}
	/* Clocks of another component keep together, but nothing of them is certified. */
	assert_in_range(alignment_place(scene.alignment, 3, 4000).time_ns,
	                alignment_place(scene.alignment, 2, 3000).time_ns - 1,
	                alignment_place(scene.alignment, 2, 3000).time_ns + 1);
	assert_int_equal(alignment_place(scene.alignment, 3, 4000).status, TIME_ASSUMED);
	assert_int_equal(scene.ledger.warnings[WARNING_UNALIGNED], 1);
	scene_release(&scene);
}

static void test_align__matches_a_number_used_twice_in_order(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 2);
	scene_stamp(&scene, 0, 0, 9000, 9100);
	scene_stamp(&scene, 0, 0, 1000, 1100);
	scene_stamp(&scene, 1, 0, 5000, 5100);
	scene_stamp(&scene, 1, 0, 13000, 13100);
	scene_align(&scene);
	assert_int_equal(scene_line(&scene, 1).sync_points_used, 2);
	assert_in_range(alignment_place(scene.alignment, 1, 13050).time_ns, 9048, 9052);
	scene_release(&scene);
	/* Used twice by one, once by the other: nobody knows which it is. */
	scene_init(&scene, 2);
	scene_stamp(&scene, 0, 0, 1000, 1100);
	scene_stamp(&scene, 0, 0, 9000, 9100);
	scene_stamp(&scene, 1, 0, 13000, 13100);
	scene_align(&scene);
	assert_int_equal(scene_line(&scene, 0).sync_points_dropped, 2);
	assert_int_equal(scene_line(&scene, 1).sync_points_dropped, 1);
	assert_int_equal(scene_line(&scene, 1).sync_points_used, 0);
	assert_int_equal(alignment_place(scene.alignment, 1, 13050).status, TIME_ASSUMED);
	scene_release(&scene);
}

static void test_align__counts_points_that_end_before_they_begin(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 2);
	scene_stamp(&scene, 0, 0, 1000, 1100);
	scene_stamp(&scene, 1, 0, 5000, 4000);
	scene_align(&scene);
	assert_int_equal(scene_line(&scene, 1).sync_points_dropped, 1);
	assert_int_equal(scene_line(&scene, 0).sync_points_used, 0);
	assert_int_equal(scene.ledger.warnings[WARNING_UNALIGNED], 1);
	scene_release(&scene);
}

static void test_align__drops_a_false_match(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 2);
	for (int64_t i = 0; i < 9; i++) {
		/* Messages both ways, once a ms; one sender was somewhere else. */
		int64_t lie = i == 4 ? 300000 : 0;

		scene_add(&scene, 0, "send", "1", i)->enter_host_ns = 1000000 * i;
		scene_add(&scene, 1, "recv", "0", i)->exit_host_ns = 1000000 * i + 60000;
		scene_add(&scene, 1, "send", "0", i)->enter_host_ns = 1000000 * i + 70000 + lie;
		scene_add(&scene, 0, "recv", "1", i)->exit_host_ns = 1000000 * i + 90000;
	}
	scene_align(&scene);
	assert_int_equal(scene_line(&scene, 0).sync_points_dropped, 1);
	assert_int_equal(scene_line(&scene, 1).sync_points_dropped, 1);
	assert_int_equal(scene_line(&scene, 1).sync_points_used, 17);
	assert_int_equal(alignment_place(scene.alignment, 1, 4000000).status, TIME_CERTIFIED);
	assert_in_range(alignment_place(scene.alignment, 1, 4000000).err_ns, 39000, 42000);
	scene_release(&scene);
}

/* Too small to be seen beside a curve, but no map passes it and its neighbours. */
static void test_align__votes_out_a_small_lie(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene, 3);
	for (int64_t i = 0; i < 9; i++) {
		for (uint32_t process = 0; process < 3; process++) {
			int64_t ns = 1000000 * i + (i == 4 && process == 2 ? 5000 : 0);

			scene_stamp(&scene, process, (uint64_t)i, ns, ns + 1000);
		}
	}
	scene_align(&scene);
	assert_int_equal(scene_line(&scene, 2).sync_points_dropped, 1);
	assert_int_equal(scene_line(&scene, 2).sync_points_used, 8);
	assert_int_equal(scene_line(&scene, 0).sync_points_dropped, 0);
	assert_int_equal(scene_line(&scene, 1).sync_points_dropped, 0);
	assert_in_range(alignment_place(scene.alignment, 2, 4000000).time_ns, 3999000, 4001000);
	assert_int_equal(alignment_place(scene.alignment, 2, 4000000).status, TIME_CERTIFIED);
	scene_release(&scene);
}

/* -- hostile -------------------------------------------------------------------------------- */

static void test_align__survives_stamps_at_both_ends_of_time(void **state)
{
	static const int64_t stamps[] = {INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1};
	struct scene scene;
	struct aligned aligned;

	(void)state;
	scene_init(&scene, 3);
	for (uint32_t i = 0; i < 75; i++) {
		int64_t a = stamps[i % 5], b = stamps[i / 5 % 5];

		scene_stamp(&scene, i % 3, i / 3, a < b ? a : b, a < b ? b : a);
	}
	scene_align(&scene);
	for (uint32_t process = 0; process < 3; process++) {
		int64_t last = INT64_MIN;

		for (size_t i = 0; i < 5; i++) {
			aligned = alignment_place(scene.alignment, process, stamps[i]);
			assert_true(aligned.time_ns >= last);
			last = aligned.time_ns;
		}
	}
	scene_release(&scene);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Points without any sense to them: whatever comes out, time goes forward. */
static void test_align__survives_nonsense(void **state)
{
	static const char *const ops[] = {"barrier", "send", "recv", "broadcast", "reduce", "what"};
	static const char *const peers[] = {"", "0", "1", "1,2", "x", "99999999999999999999"};

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint64_t random = seed;
		struct scene scene;

		scene_init(&scene, 4);
		for (uint32_t i = 0; i < 60; i++) {
			struct sync_point *point =
				scene_add(&scene, next_random(&random) % 4,
			                  ops[next_random(&random) % (seed % 2 ? 6 : 3)],
			                  peers[next_random(&random) % (seed % 3 ? 6 : 1)],
			                  next_random(&random) % 20);

			point->enter_host_ns = (int64_t)(next_random(&random) % 100000);
			point->exit_host_ns = point->enter_host_ns +
			                      (int64_t)(next_random(&random) % 9000);
		}
		scene_align(&scene);
		for (uint32_t process = 0; process < 4; process++) {
			int64_t last = INT64_MIN;

			for (int64_t ns = -5000; ns < 130000; ns += 311) {
				int64_t time_ns =
					alignment_place(scene.alignment, process, ns).time_ns;

				assert_true(time_ns >= last);
				last = time_ns;
			}
		}
		scene_release(&scene);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test(test_align__##name)
	const struct CMUnitTest tests[] = {
		TEST(keeps_one_host_clock_as_it_is),
		TEST(shifts_other_clocks_by_their_epoch_and_says_so),
		TEST(takes_the_first_process_where_no_rank_is_known),
		TEST(prefers_a_known_rank),
		TEST(places_processes_met_later),
		TEST(survives_no_clock_at_all),
		TEST(survives_epochs_at_both_ends_of_time),
		TEST(takes_the_reference_it_is_told),
		TEST(uses_no_evidence_when_it_is_off),
		TEST(takes_the_middle_of_what_a_barrier_allows),
		TEST(ties_the_ranks_of_one_host_exactly),
		TEST(follows_evidence_over_a_third_clock),
		TEST(bounds_by_messages_both_ways),
		TEST(has_no_bound_from_messages_one_way),
		TEST(matches_a_lonely_message_without_ranks),
		TEST(believes_a_root_only_where_it_is_named),
		TEST(tells_groups_of_one_name_apart_by_their_peers),
		TEST(matches_a_number_used_twice_in_order),
		TEST(counts_points_that_end_before_they_begin),
		TEST(drops_a_false_match),
		TEST(votes_out_a_small_lie),
		TEST(survives_stamps_at_both_ends_of_time),
		TEST(survives_nonsense),
	};

	return cmocka_run_group_tests_name("align", tests, NULL, NULL);
}
