/* SPDX-License-Identifier: Apache-2.0 */
/* Boots of a device: what one left is never placed by the counter of another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unwrap_fixture.h"

#define MS UINT64_C(1000000)

/* Operations, a millisecond apart, of a counter of 1 GHz that showed `ticks` at `host_ns`; stamps
 * are 3 us behind each submit. */
static void add_ops(char *text, size_t bytes, uint64_t host_ns, uint64_t ticks)
{
	for (uint32_t i = 0; i < 20; i++)
		add_op(text, bytes, host_ns + i * MS, ticks + i * MS, 100 + i);
}

/* The counter was read between two host times. */
static void add_sync(char *text, size_t bytes, uint64_t host_ns, uint64_t ticks)
{
	size_t used = strlen(text);

	snprintf(text + used, bytes - used,
	         "%llu 1 1 clock_sync device=0 domain=0 host_before_ns=%llu ticks=%llu "
	         "host_after_ns=%llu\n",
	         (unsigned long long)host_ns + 1000, (unsigned long long)host_ns - 1000,
	         (unsigned long long)ticks, (unsigned long long)host_ns + 1000);
}

/* A closed run of a job that no operation is of. */
static void add_run(char *text, size_t bytes, uint64_t drained_ns, uint32_t run, uint64_t ticks)
{
	size_t used = strlen(text);

	snprintf(text + used, bytes - used,
	         "%llu 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=%u "
	         "dropped=0 words=slot:%u:7,queue:1:0,anchor_lo:0:%u,anchor_hi:0:%u,stamp:0:%u,"
	         "stamp:3:%u\n",
	         (unsigned long long)drained_ns, run, run, (uint32_t)ticks, (uint32_t)(ticks >> 32),
	         (uint32_t)ticks, (uint32_t)ticks + 5000);
}

static void add_words(char *text, size_t bytes, uint64_t drained_ns, uint32_t first,
                      const char *words)
{
	size_t used = strlen(text);

	snprintf(text + used, bytes - used,
	         "%llu 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=%u "
	         "dropped=0 words=%s\n",
	         (unsigned long long)drained_ns, first, words);
}

/* As ever: an area that was watched from its beginning. */
static void test_unwrap_boots__certifies_runs_of_the_only_boot(void **state)
{
	char text[16384] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000 * MS, 500 * MS);
	add_sync(text, sizeof(text), 1030 * MS, 530 * MS);
	add_run(text, sizeof(text), 1040 * MS, 1, 525 * MS);
	fixture = unwrap_text(state, text);
	assert_int_equal(run_of_mark_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_false(run_of_mark_at(fixture, 0)->is_unbounded);
	assert_int_equal(run_of_mark_at(fixture, 0)->drained_ns, 1040 * MS);
}

/* The area of an earlier boot, whose counter showed times of this one. */
static void test_unwrap_boots__doubts_what_stood_in_the_area_before(void **state)
{
	char text[16384] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000 * MS, 500 * MS);
	add_sync(text, sizeof(text), 1030 * MS, 530 * MS);
	add_words(text, sizeof(text), 1039 * MS, 0, "boot:1:64");
	add_run(text, sizeof(text), 1040 * MS, 1, 212 * MS);
	add_words(text, sizeof(text), 1041 * MS, 0, "run:1:212000000,mark:3:212001000");
	fixture = unwrap_text(state, text);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(run_of_mark_at(fixture, i)->status, TIME_ASSUMED);
		assert_true(run_of_mark_at(fixture, i)->is_unbounded);
	}
	assert_int_equal(fixture->ledger->warnings[WARNING_UNKNOWN_BOOT], 1);
}

/* A program that came to a device at work: its operations tell of which boot the area is. */
static void test_unwrap_boots__takes_the_word_of_an_operation(void **state)
{
	char text[16384] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000 * MS, 500 * MS);
	add_sync(text, sizeof(text), 1030 * MS, 530 * MS);
	add_words(text, sizeof(text), 1039 * MS, 0, "boot:1:64");
	add_run(text, sizeof(text), 1040 * MS, 1, 499 * MS);
	add_words(text, sizeof(text), 1041 * MS, 2,
	          "slot:2:100,queue:1:0,anchor_lo:0:500002000,anchor_hi:0:0,stamp:0:500002000,"
	          "stamp:4:500003000,stamp:8:500007000,stamp:3:500008000");
	fixture = unwrap_text(state, text);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(run_of_mark_at(fixture, i)->status, TIME_CERTIFIED);
		assert_false(run_of_mark_at(fixture, i)->is_unbounded);
	}
	assert_int_equal(fixture->ledger->warnings[WARNING_UNKNOWN_BOOT], 0);
}

/* The program drained before the area began anew. What it saw of the counter before the next drain
 * may be of either boot, or of one in between. */
static void test_unwrap_boots__doubts_what_was_read_before_the_area_began_anew(void **state)
{
	static const char *const anew[] = {"boot:2:64", NULL}; /* recordings of 0.1 do not tell */

	for (uint32_t i = 0; i < 4; i++) {
		char text[16384] = "";
		struct fixture *fixture;
		bool is_seen = i >= 2;

		if (i)
			assert_int_equal(fixture_start(state), 0);
		add_ops(text, sizeof(text), 1000 * MS, 500 * MS);
		add_sync(text, sizeof(text), 1030 * MS, 530 * MS);
		add_run(text, sizeof(text), 990 * MS, 4, 212 * MS);
		if (anew[i % 2])
			add_words(text, sizeof(text), 1049 * MS, 0, anew[i % 2]);
		add_run(text, sizeof(text), 1050 * MS, 1, 532 * MS);
		if (is_seen) {
			add_sync(text, sizeof(text), 1060 * MS, 560 * MS);
			add_run(text, sizeof(text), 1070 * MS, 2, 565 * MS);
		}
		fixture = unwrap_text(state, text);
		assert_int_equal(run_of_mark_at(fixture, 0)->status, TIME_ASSUMED);
		assert_true(run_of_mark_at(fixture, 0)->is_unbounded);
		assert_int_equal(run_of_mark_at(fixture, 2)->status,
		                 is_seen ? TIME_CERTIFIED : TIME_ASSUMED);
		assert_int_equal(fixture->ledger->warnings[WARNING_RESTARTED], 1);
		if (i < 3)
			fixture_stop(state);
	}
}

/* Ring records in front of the first readable run of a boot go on from nothing of the boot before;
 * its first run is on its segment, not on the one that ended last. */
static void test_unwrap_boots__keeps_two_boots_apart(void **state)
{
	char text[32768] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000 * MS, 3000 * MS);
	add_sync(text, sizeof(text), 1030 * MS, 3030 * MS);
	add_words(text, sizeof(text), 1031 * MS, 1,
	          "slot:1:100,queue:1:0,anchor_lo:0:3000002000,anchor_hi:0:0,stamp:0:3000002000,"
	          "stamp:4:3000003000,stamp:8:3000007000,stamp:3:3000008000");
	add_words(text, sizeof(text), 1032 * MS, 0, "run:1:3000002000,mark:3:3000004000");
	/* Anew at 1100 ms. */
	add_words(text, sizeof(text), 1110 * MS, 0, "boot:2:64");
	add_run(text, sizeof(text), 1110 * MS + 1, 1, 5 * MS);
	add_words(text, sizeof(text), 1110 * MS + 2, 0,
	          "mark:3:6000000,run:1:5000000,mark:3:7000000");
	add_ops(text, sizeof(text), 1120 * MS, 20 * MS);
	add_sync(text, sizeof(text), 1145 * MS, 45 * MS);
	add_words(text, sizeof(text), 1146 * MS, 2,
	          "slot:2:100,queue:1:0,anchor_lo:0:20002000,anchor_hi:0:0,stamp:0:20002000,"
	          "stamp:4:20003000,stamp:8:20007000,stamp:3:20008000");
	fixture = unwrap_text(state, text);
	assert_int_equal(run_of_mark_at(fixture, 0)->segment, 0);
	assert_int_equal(run_of_mark_at(fixture, 2)->segment, 0); /* the ring's mark */
	assert_int_equal(mark_at(fixture, 2)->ticks, 3000004000);
	for (uint32_t i = 3; i < 9; i++)
		assert_int_equal(run_of_mark_at(fixture, i)->segment, 1);
	assert_int_equal(mark_at(fixture, 3)->ticks, 5 * MS);
	assert_int_equal(mark_at(fixture, 6)->ticks, 7 * MS);
}

/* Nobody saw the counter between the restart and the drain. */
static void test_unwrap_boots__bounds_nothing_across_a_restart(void **state)
{
	char text[32768] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000 * MS, 3000 * MS);
	add_sync(text, sizeof(text), 1030 * MS, 3030 * MS);
	add_words(text, sizeof(text), 1110 * MS, 0, "boot:2:64");
	add_run(text, sizeof(text), 1110 * MS + 1, 1, 5 * MS);
	add_ops(text, sizeof(text), 1120 * MS, 20 * MS);
	add_sync(text, sizeof(text), 1145 * MS, 45 * MS);
	fixture = unwrap_text(state, text);
	assert_int_equal(run_of_mark_at(fixture, 0)->status, TIME_ASSUMED);
	assert_true(run_of_mark_at(fixture, 0)->is_unbounded);
}

/* The counter was read once in each boot, right behind the reset, and in between in the first: the
 * last read looks like a lie, and the runs of the last boot like some of the first. */
static void test_unwrap_boots__never_takes_the_counter_of_the_boot_before(void **state)
{
	char text[32768] = "";
	struct fixture *fixture;

	add_sync(text, sizeof(text), 1002 * MS, 2 * MS);
	add_words(text, sizeof(text), 1010 * MS, 0, "boot:2:64");
	add_run(text, sizeof(text), 2000 * MS, 1, 900 * MS);
	add_sync(text, sizeof(text), 6000 * MS, 5000 * MS);
	add_run(text, sizeof(text), 6100 * MS, 2, 5050 * MS);
	/* Anew at 7000 ms. */
	add_sync(text, sizeof(text), 7002 * MS, 2 * MS);
	add_words(text, sizeof(text), 7010 * MS, 0, "boot:2:64");
	add_run(text, sizeof(text), 14000 * MS, 1, 6500 * MS);
	fixture = unwrap_text(state, text);
	assert_int_equal(run_of_mark_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_int_equal(run_of_mark_at(fixture, 2)->status, TIME_CERTIFIED);
	assert_int_equal(run_of_mark_at(fixture, 4)->status, TIME_ASSUMED);
	assert_true(run_of_mark_at(fixture, 4)->is_unbounded);
}

/* Two boots of a device, whose counter stood still so long between them, and was read so often
 * in each. Stores whether runs in the first and the second one, far from any read, have bounds. */
static void certify_beside_stop(void **state, uint64_t stop_ns, uint32_t n_reads,
                                bool ret_has_bound[2])
{
	char text[32768] = "";
	struct fixture *fixture;

	add_sync(text, sizeof(text), 500 * MS, 500 * MS);
	add_run(text, sizeof(text), 510 * MS, 1, 505 * MS);
	for (uint32_t i = 0; i < n_reads; i++)
		add_sync(text, sizeof(text), (1000 + 137 * i) * MS, (1000 + 137 * i) * MS);
	add_run(text, sizeof(text), 4000 * MS, 2, 3990 * MS);
	/* Anew between 5000 and 6000 ms. */
	add_words(text, sizeof(text), 6000 * MS, 0, "boot:2:64");
	add_run(text, sizeof(text), 6010 * MS, 1, 6005 * MS - stop_ns);
	for (uint32_t i = 0; i < n_reads; i++)
		add_sync(text, sizeof(text), (9000 + 137 * i) * MS,
		         (9000 + 137 * i) * MS - stop_ns);
	add_run(text, sizeof(text), 14000 * MS, 2, 13990 * MS - stop_ns);
	fixture = unwrap_text(state, text);
	for (uint32_t i = 0; i < 2; i++) {
		const struct mark_run *run = run_of_mark_at(fixture, i ? 4 : 2);

		ret_has_bound[i] = run->status == TIME_CERTIFIED && !run->is_unbounded;
	}
}

/* A counter that stands still while its device is reset contradicts nothing if it was read only
 * twice or so: its rate explains that as well. */
static void test_unwrap_boots__doubts_boots_that_few_samples_tell_apart(void **state)
{
	bool has_bound[2];

	certify_beside_stop(state, 0, 1, has_bound);
	assert_false(has_bound[0] || has_bound[1]);
	fixture_stop(state);
	assert_int_equal(fixture_start(state), 0);
	certify_beside_stop(state, 20 * MS, 1, has_bound);
	assert_false(has_bound[0] || has_bound[1]);
}

/* More reads show whether it did. */
static void test_unwrap_boots__believes_a_clock_that_goes_on_over_a_reset(void **state)
{
	bool has_bound[2];

	certify_beside_stop(state, 0, 5, has_bound);
	assert_true(has_bound[0] && has_bound[1]);
	fixture_stop(state);
	assert_int_equal(fixture_start(state), 0);
	certify_beside_stop(state, MS, 5, has_bound);
	assert_false(has_bound[0] || has_bound[1]);
}

/* A counter that began anew has a segment of its own: a few reads tell of it, also where one came
 * before the first drain. */
static void test_unwrap_boots__asks_few_samples_of_a_counter_that_began_anew(void **state)
{
	char text[32768] = "";
	struct fixture *fixture;

	for (uint32_t i = 0; i < 8; i++) {
		add_sync(text, sizeof(text), (1000 + 537 * i) * MS, (6000 + 537 * i) * MS);
		add_run(text, sizeof(text), (1010 + 537 * i) * MS, i + 1, (6005 + 537 * i) * MS);
	}
	/* Anew at 8000 ms. */
	add_sync(text, sizeof(text), 8002 * MS, 2 * MS);
	add_words(text, sizeof(text), 8010 * MS, 0, "boot:2:64");
	add_run(text, sizeof(text), 8011 * MS, 1, 5 * MS);
	for (uint32_t i = 0; i < 3; i++)
		add_sync(text, sizeof(text), (8100 + 537 * i) * MS, (100 + 537 * i) * MS);
	add_run(text, sizeof(text), 10000 * MS, 2, 1990 * MS);
	fixture = unwrap_text(state, text);
	assert_int_equal(run_of_mark_at(fixture, 18)->status, TIME_CERTIFIED);
	assert_false(run_of_mark_at(fixture, 18)->is_unbounded);
}

/* The only operation of the last boot fits the counter of the boot before by its low 32 bits. All
 * bits of the run with its stamps do not. */
static void test_unwrap_boots__takes_no_operation_whose_run_contradicts(void **state)
{
	const uint64_t wrap = UINT64_C(1) << 32;
	char text[32768] = "";
	struct fixture *fixture;
	uint64_t ticks = 20000 * MS % wrap; /* anew; by chance in step */

	add_run(text, sizeof(text), 990 * MS, 1, 985 * MS + wrap);
	for (uint32_t i = 0; i < 9; i++)
		add_sync(text, sizeof(text), (1000 + 500 * i) * MS, (1000 + 500 * i) * MS + wrap);
	add_run(text, sizeof(text), 6000 * MS, 2, 5990 * MS + wrap);
	add_words(text, sizeof(text), 19000 * MS, 0, "boot:2:64");
	add_run(text, sizeof(text), 19010 * MS, 1, ticks - 990 * MS);
	add_op(text, sizeof(text), 20000 * MS, ticks, 300);
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
	         "%llu 1 1 marker_batch device=0 core=0 processor=0 domain=0 first_index=2 "
	         "dropped=0 words=slot:2:300,queue:1:0,anchor_lo:0:%llu,anchor_hi:0:0,"
	         "stamp:0:%llu,stamp:4:%llu,stamp:8:%llu,stamp:3:%llu\n",
	         20020 * 1000000ull, (unsigned long long)ticks + 2000,
	         (unsigned long long)ticks + 2000, (unsigned long long)ticks + 3000,
	         (unsigned long long)ticks + 7000, (unsigned long long)ticks + 8000);
	add_run(text, sizeof(text), 21000 * MS, 3, ticks + 900 * MS);
	fixture = unwrap_text(state, text);
	assert_int_equal(run_of_mark_at(fixture, 0)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 0)->status, TIME_OUTLIER);
	assert_int_equal(run_of_mark_at(fixture, 8)->status, TIME_ASSUMED);
	assert_true(run_of_mark_at(fixture, 8)->is_unbounded);
}

/* What was seen between the first and the last drain of a boot is of its counter. */
static void test_unwrap_boots__certifies_runs_beside_what_was_seen_of_their_boot(void **state)
{
	char text[32768] = "";
	struct fixture *fixture;

	for (uint32_t boot = 0; boot < 3; boot++) {
		uint64_t at = 1000 * MS + (1700 + 300 * boot) * boot * MS;

		if (boot)
			add_words(text, sizeof(text), at, 0, "boot:2:64");
		add_run(text, sizeof(text), at + 20 * MS, 1, 15 * MS);
		for (uint64_t ms = 100; ms < 600; ms += 50 + 10 * boot)
			add_sync(text, sizeof(text), at + ms * MS, ms * MS);
		add_run(text, sizeof(text), at + 600 * MS, 2, 550 * MS);
	}
	fixture = unwrap_text(state, text);
	for (uint32_t i = 0; i < 12; i++) {
		assert_int_equal(run_of_mark_at(fixture, i)->status, TIME_CERTIFIED);
		assert_int_equal(run_of_mark_at(fixture, i)->segment, i / 4);
	}
}

/* A program of another time namespace wrote into the same stream in between: what is merged by time
 * is not in the order of this one's clock. */
static void test_unwrap_boots__reads_an_area_by_the_clock_of_its_process(void **state)
{
	char text[16384] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000 * MS, 500 * MS);
	add_sync(text, sizeof(text), 1030 * MS, 530 * MS);
	add_run(text, sizeof(text), 1050 * MS, 2, 535 * MS);
	add_run(text, sizeof(text), 1040 * MS, 1, 525 * MS);
	add_run(text, sizeof(text), 1060 * MS, 3, 545 * MS);
	fixture = unwrap_text(state, text);
	assert_int_equal(fixture->ledger->warnings[WARNING_RESTARTED], 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(run_of_mark_at(fixture, 2 * i)->run, i + 1);
		assert_int_equal(run_of_mark_at(fixture, 2 * i)->status, TIME_CERTIFIED);
	}
}

/* Firmware of 0.1 on a counter of 24 bits. */
static void test_unwrap_boots__unwraps_by_the_width_that_the_area_tells(void **state)
{
	char text[16384] = "";
	struct fixture *fixture;

	for (uint32_t i = 0; i < 20; i++) {
		uint64_t ticks = 50 * MS + i * MS;

		snprintf(text + strlen(text), sizeof(text) - strlen(text),
		         "%llu 1 1 device_op device=0 domain=0 queue=0 job=%u correlation=0 kind=1 "
		         "name=k submit_ns=%llu complete_ns=%llu ts=%u,%u,%u,%u,%u\n",
		         (unsigned long long)(1000 * MS + i * MS + 10000), 100 + i,
		         (unsigned long long)(1000 * MS + i * MS),
		         (unsigned long long)(1000 * MS + i * MS + 9000),
		         (uint32_t)(ticks + 3000) & 0xffffff, (uint32_t)(ticks + 4000) & 0xffffff,
		         (uint32_t)(ticks + 5000) & 0xffffff, (uint32_t)(ticks + 6000) & 0xffffff,
		         (uint32_t)(ticks + 7000) & 0xffffff);
	}
	add_words(text, sizeof(text), 1019 * MS, 0, "boot:0:24");
	/* 2^24 - 16, then 48: 64 cycles. */
	add_words(text, sizeof(text), 1021 * MS, 0, "begin:16:16777200,end:32:48");
	fixture = unwrap_text(state, text);
	assert_int_equal(op_at(fixture, 19)->status, TIME_CERTIFIED);
	assert_int_equal(op_at(fixture, 19)->ticks[0] - op_at(fixture, 0)->ticks[0], 19 * MS);
	assert_int_equal(mark_at(fixture, 1)->ticks - mark_at(fixture, 0)->ticks, 64);
}

/* Markers that were compiled for another clock: one record tells, nothing is placed. */
static void test_unwrap_boots__tells_of_an_area_that_was_refused(void **state)
{
	char text[16384] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000 * MS, 500 * MS);
	add_words(text, sizeof(text), 1031 * MS, 0, "boot:4:64");
	fixture = unwrap_text(state, text);
	assert_int_equal(fixture->ledger->warnings[WARNING_MARKER_CONFIG], 1);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_MALFORMED), 1);
	assert_int_equal(fixture->out.marks.n_rows, 0);
}

/* Two drains, two writers: told, and no other boot for it. */
static void test_unwrap_boots__tells_of_areas_with_two_drains_or_writers(void **state)
{
	char text[16384] = "";
	struct fixture *fixture;

	add_ops(text, sizeof(text), 1000 * MS, 500 * MS);
	add_words(text, sizeof(text), 1031 * MS, 0, "boot:16:64");
	add_words(text, sizeof(text), 1032 * MS, 0, "boot:32:64");
	fixture = unwrap_text(state, text);
	assert_int_equal(fixture->ledger->warnings[WARNING_SHARED_AREA], 1);
	assert_int_equal(fixture->ledger->warnings[WARNING_CONTESTED_AREA], 1);
	assert_int_equal(fixture->ledger->warnings[WARNING_RESTARTED], 0);
	assert_int_equal(ledger_total(fixture->ledger, LOSS_MALFORMED), 0);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_unwrap_boots__##name, fixture_start, fixture_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(certifies_runs_of_the_only_boot),
		TEST(doubts_what_stood_in_the_area_before),
		TEST(takes_the_word_of_an_operation),
		TEST(doubts_what_was_read_before_the_area_began_anew),
		TEST(keeps_two_boots_apart),
		TEST(bounds_nothing_across_a_restart),
		TEST(never_takes_the_counter_of_the_boot_before),
		TEST(doubts_boots_that_few_samples_tell_apart),
		TEST(believes_a_clock_that_goes_on_over_a_reset),
		TEST(asks_few_samples_of_a_counter_that_began_anew),
		TEST(takes_no_operation_whose_run_contradicts),
		TEST(certifies_runs_beside_what_was_seen_of_their_boot),
		TEST(reads_an_area_by_the_clock_of_its_process),
		TEST(unwraps_by_the_width_that_the_area_tells),
		TEST(tells_of_an_area_that_was_refused),
		TEST(tells_of_areas_with_two_drains_or_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
