/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "derive_fixture.h"

#define PROCESS "1 1 7 process start_ns=1 rank=0\n"
#define STAMPS(...)         \
	(const uint64_t[])  \
	{                   \
		__VA_ARGS__ \
	}

static void slot_stamp(struct derive_fixture *fixture, uint32_t id, uint64_t ticks, uint64_t run,
                       uint64_t job)
{
	struct mark_run *marks = fixture_marks(fixture, 1);

	if (marks->n_marks && marks->run != run)
		marks = fixture_new_marks(fixture, 1);
	marks->run = run;
	marks->job = job;
	fixture_mark(fixture, 1, FLEXTRACE_WIRE_SLOT_STAMP, id, ticks);
}

static void test_derive__nests_firmware_kernel_and_user_zones(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS "1 1 7 marker_name id=1 name=load file=k.c line=3\n"
	                               "1 1 7 marker_name id=2 name=load\n"
	                               "1 1 7 marker_name id=3 name=mul\n"
	                               "1 1 7 marker_name id=4 name=mul\n");
	fixture_op(&fixture, "matmul", FLEXTRACE_DEVICE_KERNEL, STAMPS(12, 14, 20, 80, 90))->job =
		9;
	slot_stamp(&fixture, FLEXTRACE_WIRE_FW_START, 10, 1, 9);
	slot_stamp(&fixture, FLEXTRACE_WIRE_KERNEL_START, 20, 1, 9);
	slot_stamp(&fixture, FLEXTRACE_WIRE_KERNEL_END, 80, 1, 9);
	slot_stamp(&fixture, FLEXTRACE_WIRE_FW_END, 100, 1, 9);
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 20);
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_BEGIN, 3, 30);
	fixture_mark(&fixture, 3, FLEXTRACE_WIRE_ZONE_END, 4, 40);
	fixture_mark(&fixture, 3, FLEXTRACE_WIRE_ZONE_END, 2, 80);
	fixture.ledger.read[RECORD_MARKER_BATCH] += 3;
	fixture_run(&fixture);
	expect_device(&fixture, "10-100 fw firmware c0/0 certified +-0\n"
	                        "12-14 dma_in matmul q0/dma_in certified +-0\n"
	                        "14-20 prep matmul q0/prep certified +-0\n"
	                        "20-80 exec matmul q0/exec certified +-0\n"
	                        "20-80 kernel matmul c0/0 certified +-0\n"
	                        "20-80 zone load c0/0 certified +-0\n"
	                        "30-40 zone mul c0/0 certified +-0\n"
	                        "80-90 dma_out matmul q0/dma_out certified +-0\n");
	assert_int_equal(fixture.ledger.rows[RECORD_MARKER_BATCH], 3);
	fixture_close(&fixture);
}

/* The counts of a clock are those of the rows that stand on it, whoever is to blame for their
 * status. */
static void test_derive__counts_for_a_clock_what_its_rows_say(void **state)
{
	static const struct {
		enum time_status of_clock, of_run;
		bool has_op;
		uint64_t events, certified, assumed;
	} cases[] = {
		{TIME_CERTIFIED, TIME_CERTIFIED, true, 2, 2, 0},
		{TIME_CERTIFIED, TIME_CERTIFIED, false, 1, 1, 0}, /* markers alone */
		{TIME_CERTIFIED, TIME_ASSUMED, true, 2, 1, 1},
		{TIME_ASSUMED, TIME_CERTIFIED, true, 2, 0, 2}, /* its rho was raised */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct derive_fixture fixture;
		const struct clock_count *count;

		fixture_open(&fixture, PROCESS);
		fake_clocks.status = cases[i].of_clock;
		if (cases[i].has_op)
			fixture_op(&fixture, "matmul", FLEXTRACE_DEVICE_KERNEL,
			           STAMPS(12, 14, 20, 80, 90));
		slot_stamp(&fixture, FLEXTRACE_WIRE_FW_START, 10, 1, 9);
		slot_stamp(&fixture, FLEXTRACE_WIRE_FW_END, 100, 1, 9);
		fixture_marks(&fixture, 1)->status = (uint8_t)cases[i].of_run;
		fixture.ledger.read[RECORD_MARKER_BATCH]++;
		fixture_run(&fixture);
		count = &fixture.timeline.counts.clocks[0];
		assert_int_equal(count->events, cases[i].events);
		assert_int_equal(count->certified, cases[i].certified);
		assert_int_equal(count->assumed, cases[i].assumed);
		fixture_close(&fixture);
	}
}

static void test_derive__names_a_kernel_after_the_latest_job_of_its_number(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS);
	fixture_op(&fixture, "second", FLEXTRACE_DEVICE_MEMSET, STAMPS(100, 0, 0, 0, 200))->job = 9;
	fixture_op(&fixture, "first", FLEXTRACE_DEVICE_MEMSET, STAMPS(10, 0, 0, 0, 90))->job =
		0x100000009;
	fixture_op(&fixture, "other", FLEXTRACE_DEVICE_MEMSET, STAMPS(110, 0, 0, 0, 200))->job = 8;
	for (uint64_t run = 1; run <= 2; run++) {
		slot_stamp(&fixture, FLEXTRACE_WIRE_KERNEL_START, run * 100 - 80, run, 9);
		slot_stamp(&fixture, FLEXTRACE_WIRE_KERNEL_END, run * 100 - 40, run, 9);
	}
	slot_stamp(&fixture, FLEXTRACE_WIRE_KERNEL_START, 300, 3, 7);
	slot_stamp(&fixture, FLEXTRACE_WIRE_KERNEL_END, 310, 3, 7);
	fixture.ledger.read[RECORD_MARKER_BATCH]++;
	fixture_run(&fixture);
	expect_device(&fixture, "10-90 memset first q0/exec certified +-0\n"
	                        "20-60 kernel first c0/0 certified +-0\n"
	                        "100-200 memset second q0/exec certified +-0\n"
	                        "110-200 memset other q0/exec.1 certified +-0\n"
	                        "120-160 kernel second c0/0 certified +-0\n"
	                        "300-310 kernel kernel c0/0 certified +-0\n");
	fixture_close(&fixture);
}

static void test_derive__never_shows_a_marker_as_a_bare_number(void **state)
{
	struct derive_fixture fixture;
	const struct counter_row *counter;
	const struct instant_row *instant;
	struct table_cursor cursor;

	(void)state;
	fixture_open(&fixture, PROCESS "1 1 7 marker_name id=5 name=tick\n");
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 0x1a4, 10);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 0x1a8, 20);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_MARK, 5, 21);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_VALUE, 6, 22)->value = 4000000000;
	fixture.ledger.read[RECORD_MARKER_BATCH]++;
	fixture_run(&fixture);
	expect_device(&fixture, "10-20 zone marker 0x1a4 c0/0 certified +-0\n");
	assert_int_equal(fixture.ledger.warnings[WARNING_UNNAMED_MARKER], 2);
	table_read(&cursor, &fixture.timeline.instants, false);
	instant = table_next(&cursor, sizeof(*instant));
	assert_string_equal(string_get(fixture.source.strings, instant->name), "tick");
	assert_int_equal(instant->class, RECORD_MARKER_BATCH);
	assert_int_equal(fixture.timeline.tracks[instant->track].kind, TRACK_CORE);
	table_read(&cursor, &fixture.timeline.counters, false);
	counter = table_next(&cursor, sizeof(*counter));
	assert_string_equal(string_get(fixture.source.strings, counter->name), "marker 0x6");
	assert_true(counter->value == 4000000000.0);
	assert_true(counter->is_device);
	fixture_close(&fixture);
}

static void test_derive__shows_a_marker_of_run_time_by_name_or_number(void **state)
{
	struct derive_fixture fixture;
	char line[96];

	(void)state;
	snprintf(line, sizeof(line), PROCESS "1 1 7 marker_name id=%u name=layer\n",
	         FLEXTRACE_MARKER_ID(12));
	fixture_open(&fixture, line);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, FLEXTRACE_MARKER_ID(12), 10);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, FLEXTRACE_MARKER_ID(13), 12);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, FLEXTRACE_MARKER_ID(13), 18);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, FLEXTRACE_MARKER_ID(12), 20);
	fixture.ledger.read[RECORD_MARKER_BATCH]++;
	fixture_run(&fixture);
	expect_device(&fixture, "10-20 zone layer c0/0 certified +-0\n"
	                        "12-18 zone marker 13 c0/0 certified +-0\n");
	fixture_close(&fixture);
}

/* How many zones of a name never ended, as run.json tells it. */
static void expect_endless(const struct derive_fixture *fixture, const char *name, uint32_t n)
{
	const struct timeline *timeline = &fixture->timeline;
	uint32_t n_found = 0;

	for (uint32_t i = 0; i < timeline->n_markers; i++)
		if (!strcmp(string_get(timeline->strings, timeline->markers[i].name), name))
			n_found += timeline->markers[i].n_endless;
	assert_int_equal(n_found, n);
}

static void test_derive__counts_zones_that_lost_an_end(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS "1 1 7 marker_name id=1 name=a\n"
	                               "1 1 7 marker_name id=2 name=b\n");
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 1, 5);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 10);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 2, 15);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 1, 20); /* b's end is lost */
	fixture_new_marks(&fixture, 1)->run = 1;
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 30);
	fixture_new_marks(&fixture, 1)->run = 2; /* not of that run */
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 1, 40);
	fixture_new_marks(&fixture, 1);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 50);
	fixture_new_marks(&fixture, 1)->segment = 1; /* after a reset */
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 1, 60);
	fixture_new_marks(&fixture, 1);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 70);
	fixture_marks(&fixture, 2)->core = 1; /* another one */
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_END, 1, 80);
	slot_stamp(&fixture, FLEXTRACE_WIRE_FW_START, 90, 3, 0);
	fixture.ledger.read[RECORD_MARKER_BATCH] += 3;
	fixture_run(&fixture);
	expect_device(&fixture, "10-20 zone a c0/0 certified +-0\n");
	expect_lost(&fixture, LOSS_UNMATCHED_BEGIN, 5);
	expect_endless(&fixture, "a", 3);
	expect_endless(&fixture, "b", 1);
	expect_lost(&fixture, LOSS_UNMATCHED_END, 4);
	fixture_close(&fixture);
}

/* Marks of a run that never ended: it hangs in the kernel. */
static void hang(struct derive_fixture *fixture, uint64_t run, uint64_t ticks)
{
	fixture_new_marks(fixture, 1)->is_open = true;
	slot_stamp(fixture, FLEXTRACE_WIRE_FW_START, ticks, run, 0);
	slot_stamp(fixture, FLEXTRACE_WIRE_KERNEL_START, ticks + 20, run, 0);
}

static void hang_in_zone(struct derive_fixture *fixture, uint64_t run, uint64_t ticks)
{
	struct mark_run *marks = fixture_new_marks(fixture, 2);

	marks->run = run;
	marks->is_open = true;
	fixture_mark(fixture, 2, FLEXTRACE_WIRE_ZONE_BEGIN, 1, ticks + 5);
	fixture_mark(fixture, 2, FLEXTRACE_WIRE_ZONE_END, 1, ticks + 10);
	fixture_mark(fixture, 2, FLEXTRACE_WIRE_ZONE_BEGIN, 1, ticks + 25);
	fixture_mark(fixture, 2, FLEXTRACE_WIRE_ZONE_BEGIN, 2, ticks + 30);
	fixture_mark(fixture, 2, FLEXTRACE_WIRE_MARK, 1, ticks + 40);
}

#define STUCK                                \
	PROCESS                              \
	"1 1 7 marker_name id=1 name=load\n" \
	"1 1 7 marker_name id=2 name=stuck\n"

/* A core that hangs: where it was is known, and since when. */
static void test_derive__shows_where_a_run_hung(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, STUCK);
	hang(&fixture, 3, 100);
	hang_in_zone(&fixture, 3, 100);
	fixture.ledger.read[RECORD_MARKER_BATCH] += 2;
	fixture_run(&fixture);
	expect_device(&fixture, "100-140 fw firmware c0/0 assumed +-0\n"
	                        "105-110 zone load c0/0 certified +-0\n"
	                        "120-140 kernel kernel c0/0 assumed +-0\n"
	                        "125-140 zone load c0/0 assumed +-0\n"
	                        "130-140 zone stuck c0/0 assumed +-0\n");
	expect_lost(&fixture, LOSS_UNMATCHED_BEGIN, 4);
	fixture_close(&fixture);
}

/* The watchdog starts the next run: that is when the one before was over at the latest. */
static void test_derive__shows_a_run_that_hung_before_another(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, STUCK);
	hang(&fixture, 3, 100);
	fixture_new_marks(&fixture, 1);
	slot_stamp(&fixture, FLEXTRACE_WIRE_FW_START, 200, 4, 0);
	slot_stamp(&fixture, FLEXTRACE_WIRE_KERNEL_START, 210, 4, 0);
	slot_stamp(&fixture, FLEXTRACE_WIRE_KERNEL_END, 220, 4, 0);
	slot_stamp(&fixture, FLEXTRACE_WIRE_FW_END, 230, 4, 0);
	hang_in_zone(&fixture, 3, 100);
	fixture_new_marks(&fixture, 2)->run = 4;
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 212);
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_MARK, 1, 215);
	fixture.ledger.read[RECORD_MARKER_BATCH] += 2;
	fixture_run(&fixture);
	expect_device(&fixture, "100-200 fw firmware c0/0 assumed +-0\n"
	                        "105-110 zone load c0/0 certified +-0\n"
	                        "120-200 kernel kernel c0/0 assumed +-0\n"
	                        "125-140 zone load c0/0 assumed +-0\n"
	                        "130-140 zone stuck c0/0 assumed +-0\n"
	                        "200-230 fw firmware c0/0 certified +-0\n"
	                        "210-220 kernel kernel c0/0 certified +-0\n");
	expect_lost(&fixture, LOSS_UNMATCHED_BEGIN, 5); /* the zone of run 4 lost its end */
	fixture_close(&fixture);
}

/* What was read had happened by then; and before its process, nothing had. */
static void test_derive__certifies_no_mark_behind_its_drain_or_before_its_process(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, "1 1 1 process rank=0 world_size=1 pid=1 start_ns=15 time_ns=20 "
	                       "boot_id=b host=h program=p runtime=r version=1 session=mine\n");
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 10);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 2, 20);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 30);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 2, 50);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 60);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 2, 70);
	fixture_marks(&fixture, 1)->drained_ns = 50;
	fixture.ledger.read[RECORD_MARKER_BATCH]++;
	fixture_run(&fixture);
	expect_device(&fixture, "15-20 zone marker 0x1 c0/0 outlier\n"
	                        "30-50 zone marker 0x1 c0/0 certified +-0\n"
	                        "50-50 zone marker 0x1 c0/0 outlier\n");
	assert_int_equal(fixture.ledger.warnings[WARNING_OUTSIDE_LIFE], 3);
	assert_int_equal(ledger_total(&fixture.ledger, LOSS_OUTLIER), 3);
	fixture_close(&fixture);
}

/* What is in front of a mark had happened when that was read, whoever stamped it and whenever it
 * was read itself; and nothing behind a mark was before the process of that mark. */
static void test_derive__keeps_the_order_of_stamps_where_a_drain_or_start_limits_one(void **state)
{
	struct derive_fixture fixture;
	struct mark_run *late;

	(void)state;
	fixture_open(&fixture, "1 1 1 process rank=0 world_size=1 pid=1 start_ns=15 time_ns=20 "
	                       "boot_id=b host=h program=p runtime=r version=1 session=mine\n");
	fake_clocks.err_ns = 20;
	fixture_op(&fixture, "matmul", FLEXTRACE_DEVICE_KERNEL, STAMPS(12, 14, 20, 58, 70));
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 10);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 2, 60);
	fixture_marks(&fixture, 1)->drained_ns = 52;
	late = fixture_new_marks(&fixture, 2);
	late->drained_ns = 1000;
	late->core = 1;
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 40);
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_END, 2, 55);
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 57);
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_END, 2, 61);
	fixture.ledger.read[RECORD_MARKER_BATCH] += 2;
	fixture_run(&fixture);
	expect_device(&fixture, "15-52 zone marker 0x1 c0/0 certified +-20\n"
	                        "15-20 prep matmul q0/prep certified +-20\n"
	                        "15-15 dma_in matmul q0/dma_in certified +-20\n"
	                        "20-52 exec matmul q0/exec certified +-20\n"
	                        "40-52 zone marker 0x1 c1/0 certified +-20\n"
	                        "52-70 dma_out matmul q0/dma_out certified +-20\n"
	                        "52-61 zone marker 0x1 c1/0 certified +-20\n");
	fixture_close(&fixture);
}

/* A mark that contradicts its drain, or of which little is known, says nothing of others. */
static void test_derive__lets_no_doubtful_mark_limit_others(void **state)
{
	struct derive_fixture fixture;
	struct mark_run *run;

	(void)state;
	fixture_open(&fixture, "1 1 1 process rank=0 world_size=1 pid=1 start_ns=15 time_ns=20 "
	                       "boot_id=b host=h program=p runtime=r version=1 session=mine\n");
	fake_clocks.err_ns = 20;
	fixture_op(&fixture, "matmul", FLEXTRACE_DEVICE_KERNEL, STAMPS(30, 30, 30, 58, 58));
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 30);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 2, 90);
	fixture_marks(&fixture, 1)->drained_ns = 50;
	run = fixture_new_marks(&fixture, 2);
	run->drained_ns = 50;
	run->status = TIME_ASSUMED;
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 40);
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_ZONE_END, 2, 60);
	fixture.ledger.read[RECORD_MARKER_BATCH] += 2;
	fixture_run(&fixture);
	expect_device(&fixture, "30-58 exec matmul q0/exec certified +-20\n"
	                        "30-50 zone marker 0x1 c0/0 outlier\n"
	                        "40-50 zone marker 0x1 c0/0 assumed +-20\n");
	fixture_close(&fixture);
}

#define ALIVE                                                                             \
	"1 1 1 process rank=0 world_size=1 pid=1 start_ns=5 time_ns=20 boot_id=b host=h " \
	"program=p runtime=r version=1 session=mine\n"

static void add_boot(struct derive_fixture *fixture, int64_t begin_ns, uint32_t n_brackets,
                     const struct bracket *brackets)
{
	struct area_boot *boot = table_append(&fixture->unwrapped.boots, sizeof(*boot));

	assert_non_null(boot);
	*boot = (struct area_boot){.begin_ns = begin_ns, .n_brackets = n_brackets};
	for (uint32_t i = 0; i < n_brackets; i++) {
		struct bracket *bracket = table_append(&fixture->unwrapped.boot_brackets,
		                                       sizeof(*bracket));

		assert_non_null(bracket);
		*bracket = brackets[i];
	}
}

static void add_zone(struct derive_fixture *fixture, uint32_t boot, uint64_t begin, uint64_t end)
{
	struct mark_run *marks = fixture_new_marks(fixture, boot + 1);

	marks->boot = boot;
	marks->drained_ns = 1000;
	fixture_mark(fixture, boot + 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, begin);
	fixture_mark(fixture, boot + 1, FLEXTRACE_WIRE_ZONE_END, 2, end);
	fixture->ledger.read[RECORD_MARKER_BATCH]++;
}

/* The clock that all brackets make misses those of one boot: it is not that one's. */
static void test_derive__bounds_no_boot_whose_brackets_its_clock_misses(void **state)
{
	const struct bracket met[] = {{50, 60, 45, 65, 0, 0, 0, 0}, {70, 70, 65, 75, 0, 0, 0, 0}};
	const struct bracket missed[] = {{250, 260, 345, 365, 0, 0, 0, 0},
	                                 {270, 270, 265, 275, 0, 0, 0, 0}};
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, ALIVE);
	add_boot(&fixture, INT64_MIN, 2, met);
	add_boot(&fixture, 100, 2, missed);
	add_zone(&fixture, 0, 30, 40);
	add_zone(&fixture, 1, 230, 240);
	fixture_run(&fixture);
	expect_device(&fixture, "30-40 zone marker 0x1 c0/0 certified +-0\n"
	                        "230-240 zone marker 0x1 c0/0 assumed\n");
	assert_int_equal(fixture.ledger.warnings[WARNING_UNKNOWN_BOOT], 1);
	fixture_close(&fixture);
}

/* Runs of one boot are not in the one before, which was still drained then. */
static void test_derive__certifies_no_mark_before_its_boot(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, ALIVE);
	add_boot(&fixture, INT64_MIN, 0, NULL);
	add_boot(&fixture, 300, 0, NULL);
	add_zone(&fixture, 0, 30, 40);
	add_zone(&fixture, 1, 230, 240);
	fixture_run(&fixture);
	expect_device(&fixture, "30-40 zone marker 0x1 c0/0 certified +-0\n"
	                        "300-300 zone marker 0x1 c0/0 outlier\n");
	fixture_close(&fixture);
}

static void test_derive__books_marker_batches_by_what_became_of_them(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS);
	slot_stamp(&fixture, FLEXTRACE_WIRE_FW_START, 90, 3, 0); /* batch 1 */
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_MARK, 1, 0);
	fixture_mark(&fixture, 2, FLEXTRACE_WIRE_MARK, 1, 0);
	fixture_mark(&fixture, 3, FLEXTRACE_WIRE_MARK, 1, 0);
	fixture_mark(&fixture, 3, FLEXTRACE_WIRE_MARK, 1, 10);
	fixture.ledger.read[RECORD_MARKER_BATCH] += 3;
	fixture_run(&fixture);
	assert_int_equal(fixture.ledger.discarded[RECORD_MARKER_BATCH][LOSS_NO_CLOCK], 1);
	assert_int_equal(fixture.ledger.rows[RECORD_MARKER_BATCH], 2);
	expect_lost(&fixture, LOSS_NO_CLOCK, 3);
	expect_lost(&fixture, LOSS_UNMATCHED_BEGIN, 1);
	assert_int_equal(fixture.timeline.instants.n_rows, 1);
	fixture_close(&fixture);
}

static void test_derive__books_a_batch_of_many_runs_once(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS "1 1 7 marker_name id=1 name=a\n");
	for (uint32_t run = 1; run <= 3; run++) {
		fixture_new_marks(&fixture, 1)->run = run;
		fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, run * 100);
		fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 1, run * 100 + 10);
	}
	fixture.ledger.read[RECORD_MARKER_BATCH]++;
	fixture_run(&fixture);
	expect_device(&fixture, "100-110 zone a c0/0 certified +-0\n"
	                        "200-210 zone a c0/0 certified +-0\n"
	                        "300-310 zone a c0/0 certified +-0\n");
	assert_int_equal(fixture.ledger.rows[RECORD_MARKER_BATCH], 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			fixture.timeline.marks.runs[fixture.timeline.marks.zones[i].run].run,
			i + 1);
	fixture_close(&fixture);
}

/* Ids are a device's own; a run may be called as a zone is. */
static void test_derive__tells_markers_apart_by_device_and_kind(void **state)
{
	struct derive_fixture fixture;
	const struct marker *markers;
	const struct zone *zones;

	(void)state;
	fixture_open(&fixture, PROCESS "1 1 7 marker_name id=1 name=firmware file=k.c line=3\n"
	                               "1 1 7 marker_name device=1 id=1 name=other\n"
	                               "1 1 7 marker_name device=1 id=65537 name=far\n");
	for (uint32_t device = 0; device < 2; device++) {
		fixture_marks(&fixture, device)->device = device;
		fixture_mark(&fixture, device, FLEXTRACE_WIRE_ZONE_BEGIN, 1, 20);
		fixture_mark(&fixture, device, FLEXTRACE_WIRE_ZONE_END, 1, 30);
		fixture_mark(&fixture, device, FLEXTRACE_WIRE_SLOT_STAMP, FLEXTRACE_WIRE_FW_START,
		             10);
		fixture_mark(&fixture, device, FLEXTRACE_WIRE_SLOT_STAMP, FLEXTRACE_WIRE_FW_END,
		             40);
	}
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 65537, 50);
	fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 65537, 60);
	fixture.ledger.read[RECORD_MARKER_BATCH] += 2;
	fixture_run(&fixture);
	markers = fixture.timeline.markers;
	zones = fixture.timeline.marks.zones;
	assert_int_equal(fixture.timeline.marks.n_zones, 5);
	assert_int_equal(fixture.timeline.n_markers, 4);
	assert_int_equal(markers[zones[0].marker].kind, ROW_ZONE);
	assert_int_equal(markers[zones[0].marker].line, 3);
	assert_int_equal(markers[zones[1].marker].kind, ROW_FIRMWARE);
	assert_int_equal(markers[zones[1].marker].name, markers[zones[0].marker].name);
	assert_int_equal(markers[zones[1].marker].file, 0);
	assert_string_equal(string_get(fixture.source.strings, markers[zones[2].marker].name),
	                    "other");
	assert_int_equal(zones[3].marker, zones[1].marker);
	assert_string_equal(string_get(fixture.source.strings, markers[zones[4].marker].name),
	                    "far");
	fixture_close(&fixture);
}

static void test_derive__is_not_slowed_by_zones_that_never_end(void **state)
{
	struct derive_fixture fixture;

	(void)state;
	fixture_open(&fixture, PROCESS "1 1 7 marker_name id=1 name=a\n"
	                               "1 1 7 marker_name id=2 name=b\n");
	for (uint64_t i = 1; i <= 100000; i++)
		fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_BEGIN, 1, i);
	for (uint64_t i = 1; i <= 100000; i++)
		fixture_mark(&fixture, 1, FLEXTRACE_WIRE_ZONE_END, 2, 200000 + i);
	fixture.ledger.read[RECORD_MARKER_BATCH]++;
	fixture_run(&fixture);
	expect_lost(&fixture, LOSS_UNMATCHED_BEGIN, 100000);
	expect_lost(&fixture, LOSS_UNMATCHED_END, 100000);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derive__nests_firmware_kernel_and_user_zones),
		cmocka_unit_test(test_derive__names_a_kernel_after_the_latest_job_of_its_number),
		cmocka_unit_test(test_derive__never_shows_a_marker_as_a_bare_number),
		cmocka_unit_test(test_derive__shows_a_marker_of_run_time_by_name_or_number),
		cmocka_unit_test(test_derive__counts_zones_that_lost_an_end),
		cmocka_unit_test(test_derive__shows_where_a_run_hung),
		cmocka_unit_test(test_derive__shows_a_run_that_hung_before_another),
		cmocka_unit_test(test_derive__counts_for_a_clock_what_its_rows_say),
		cmocka_unit_test(
			test_derive__certifies_no_mark_behind_its_drain_or_before_its_process),
		cmocka_unit_test(
			test_derive__keeps_the_order_of_stamps_where_a_drain_or_start_limits_one),
		cmocka_unit_test(test_derive__lets_no_doubtful_mark_limit_others),
		cmocka_unit_test(test_derive__bounds_no_boot_whose_brackets_its_clock_misses),
		cmocka_unit_test(test_derive__certifies_no_mark_before_its_boot),
		cmocka_unit_test(test_derive__books_marker_batches_by_what_became_of_them),
		cmocka_unit_test(test_derive__books_a_batch_of_many_runs_once),
		cmocka_unit_test(test_derive__tells_markers_apart_by_device_and_kind),
		cmocka_unit_test(test_derive__is_not_slowed_by_zones_that_never_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
