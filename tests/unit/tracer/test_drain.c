/* SPDX-License-Identifier: Apache-2.0 */
#include "drain_fixture.h"

/* -- the ring ---------------------------------------------------------------------------------- */

static void test_drain__records_words_and_makes_room(void **state)
{
	(void)state;
	boot(4, FLEXTRACE_WIRE_STOP);
	marks(3);
	assert_int_equal(drain(0), 3);
	assert_int_equal(GET(wire->limit), 7);
	assert_int_equal(got.device, 4);
	assert_int_equal(got.core, 2);
	assert_int_equal(got.processor, 1);
	assert_int_equal(got.domain, 9);
	assert_int_equal(got.n_batches, 1);
	assert_int_equal(got.first[0], FLEXTRACE_WIRE_WORD(GET(wire->ring[0].kind_id), 16));
	assert_int_equal(got.first[2], FLEXTRACE_WIRE_WORD(GET(wire->ring[0].kind_id), 0) + 48);
	marks(4);
	assert_int_equal(drain(0), 4);
	assert_int_equal(got.next_index, 7);
	assert_int_equal(got.dropped, 0);
}

static void test_drain__finds_nothing_in_an_idle_area(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	assert_int_equal(drain(0), 0);
	assert_int_equal(drain(FLEXTRACE_DRAIN_LAST), 0);
	assert_int_equal(got.n_batches, 0);
	assert_int_equal(area.stats.refused, 0);
	assert_int_equal(flextrace_drain(NULL, 0, 0), 0);
}

static void test_drain__tells_drops_even_when_no_words_follow(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	marks(11);
	drain(0);
	assert_int_equal(got.dropped, 3);
	SET(wire->dropped, GET(wire->dropped) + 2); /* between reading the count and making room */
	drain(0);
	assert_int_equal(got.dropped, 5);
	assert_int_equal(got.n_words, 8);
	assert_int_equal(got.n_batches, 2);
	drain(0);
	assert_int_equal(got.n_batches, 2);
	assert_int_equal(area.stats.dropped, 5);
}

static void test_drain__counts_in_64_bits_over_wraps(void **state)
{
	int i;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	drain(0);
	for (i = 0; i < 3; i++) {
		/* As if 2^32 - 8 records had been read, and as many dropped. */
		area.next += 0xfffffff8u;
		area.told_next = area.next;
		area.dropped += 0xfffffff8u;
		SET(wire->head, GET(wire->head) + 0xfffffff8u);
		SET(wire->limit, GET(wire->limit) + 0xfffffff8u);
		SET(wire->dropped, GET(wire->dropped) + 0xfffffff8u);
		SET(wire->own.seen, GET(wire->limit));
		SET(wire->own.stop, GET(wire->limit));
		got.next_index = area.next;
		marks(20);
		assert_int_equal(drain(0), 8);
	}
	assert_int_equal(got.next_index, 3 * UINT64_C(0x100000000));
	assert_int_equal(got.dropped, 3 * (UINT64_C(0xfffffff8) + 12));
}

/* However often the host reads, the words are the same. */
static void test_drain__is_invariant_to_splitting(void **state)
{
	uint64_t hash = 0;
	uint32_t every, i;

	(void)state;
	for (every = 1; every <= 2000; every = every * 3 + 1) {
		boot(2048, FLEXTRACE_WIRE_STOP);
		for (i = 1; i <= 2000; i++) {
			FLEXTRACE_MARK("mark");
			if (i % every == 0)
				drain(0);
		}
		drain(0);
		assert_int_equal(got.n_words, 2000);
		assert_int_equal(got.gaps, 0);
		assert_true(got.largest <= 1024);
		assert_true(hash == 0 || hash == got.hash);
		hash = got.hash;
	}
}

static void test_overwrite__counts_what_it_missed(void **state)
{
	struct flextrace_wire_record last;

	(void)state;
	boot(16, FLEXTRACE_WIRE_OVERWRITE);
	marks(10);
	assert_int_equal(drain(0), 10);
	marks(100);
	assert_int_equal(drain(FLEXTRACE_DRAIN_LAST), 16);
	assert_int_equal(got.gaps, 84);
	assert_int_equal(area.stats.overwritten, 84);
	assert_int_equal(area.stats.recorded, 26);
	assert_int_equal(got.dropped, 0);
	assert_int_equal(got.next_index, 110);
	memcpy(&last, (const char *)wire->ring + 109 % 16 * sizeof(last), sizeof(last));
	assert_int_equal((uint32_t)got.first[25], GET(last.ticks));
}

/* While the firmware may be writing, the oldest records of a full ring are not trusted. */
static void test_overwrite__leaves_out_records_in_the_making(void **state)
{
	(void)state;
	boot(16, FLEXTRACE_WIRE_OVERWRITE);
	marks(16);
	assert_int_equal(drain(0), 12);
	assert_int_equal(area.stats.overwritten, 4);
	assert_int_equal(got.gaps, 4);
}

/* -- who listens ------------------------------------------------------------------------------- */

static void test_event_off__takes_records_out_and_counts_them(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	is_on = 0;
	one_run(1);
	marks(5);
	assert_int_equal(drain(0), 0);
	assert_int_equal(area.stats.unrecorded, 6);
	assert_int_equal(area.stats.unrecorded_runs, 1);
	is_on = 1;
	marks(8);
	one_run(2);
	marks(1);
	drain(0);
	assert_int_equal(got.boot, FLEXTRACE_WIRE_BOOT_UNRECORDED);
	assert_int_equal(got.unrecorded, 6);
	assert_int_equal(got.gaps, 0);
	assert_int_equal(got.n_words, 8);
	assert_int_equal(got.last_run, 2);
	assert_int_equal(got.lost_runs, 0);
	/* RUN of run 2 and one mark found no room; RUN still waits. */
	assert_int_equal(area.stats.dropped, 1);
}

/* Steps of a schedule that are left out: what the ring had no room for, and runs without a slot. */
static void test_event_off__loses_nothing_of_what_nobody_wanted(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	marks(3);
	drain(0);
	is_on = 0;
	marks(20);
	drain(0);
	for (uint32_t run = 1; run <= 5; run++)
		one_run(run);
	drain(0);
	is_on = 1;
	marks(2);
	drain(0);
	assert_int_equal(got.gaps, 0);
	assert_int_equal(got.unrecorded + got.n_words + got.dropped, 3 + 20 + 5 + 2);
	assert_int_equal(got.dropped, 12); /* told with what was left out */
	assert_int_equal(area.stats.unrecorded_runs, 5);
	assert_int_equal(area.stats.overwritten_runs, 0);
	one_run(6);
	drain(0);
	assert_int_equal(got.last_run, 6);
	assert_int_equal(got.lost_runs, 0);
	assert_int_equal(got.n_boots, 1);
}

static void test_device_off__does_not_touch_the_area(void **state)
{
	struct flextrace_drain_stats none = {0};

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	mode = FLEXTRACE_DEVICE_MODE_OFF;
	marks(3);
	assert_int_equal(drain(0), 0);
	assert_int_equal(GET(wire->limit), 8);
	assert_memory_equal(&area.stats, &none, sizeof(none));
}

static void test_attach__goes_on_where_another_process_stopped(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	one_run(1);
	marks(4);
	drain(0);
	memset(&got, 0, sizeof(got));
	flextrace_drain_area_init(&area, 4, wire, FLEXTRACE_WIRE_AREA_BYTES(8));
	got.next_index = 5;
	marks(6);
	assert_int_equal(drain(0), 6);
	assert_int_equal(got.gaps, 0);
	assert_int_equal(got.n_slots, 0);
}

static void test_reset__starts_all_counts_anew(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	one_run(1);
	marks(20);
	drain(0);
	FLEXTRACE_FW_INIT(2, 1, 9, 4, FLEXTRACE_WIRE_STOP);
	memset(&got, 0, sizeof(got));
	one_run(5);
	marks(4);
	drain(0);
	assert_int_equal(area.stats.resets, 1);
	assert_int_equal(got.n_words, 4);
	assert_int_equal(got.next_index, 4);
	assert_int_equal(got.dropped, 1);
	assert_int_equal(got.last_run, 1);
	assert_int_equal(got.boot, FLEXTRACE_WIRE_BOOT_ANEW);
	assert_int_equal(got.n_boots, 1);
	assert_int_equal(drain(0), 0);
	assert_int_equal(got.n_boots, 1);
}

/* -- boots ------------------------------------------------------------------------------------ */

/* All counts begin where they were at the boot before, `resets` too. */
static void boot_cleared(uint32_t capacity)
{
	memset(&memory, 0, sizeof(memory));
	FLEXTRACE_FW_INIT(2, 1, 9, capacity, FLEXTRACE_WIRE_STOP);
}

static void test_reset__that_clears_the_memory_is_seen(void **state)
{
	(void)state;
	boot(16, FLEXTRACE_WIRE_STOP);
	one_run(1);
	marks(5);
	drain(0);
	boot_cleared(16);
	one_run(7);
	marks(6);
	memset(&got, 0, sizeof(got));
	drain(0);
	assert_int_equal(area.stats.resets, 1);
	assert_int_equal(got.n_boots, 1);
	assert_int_equal(got.boot, FLEXTRACE_WIRE_BOOT_ANEW);
	assert_int_equal(got.n_words, 7);
	assert_int_equal(got.last_run, 1);
	/* One that got less far than the one before. */
	boot_cleared(16);
	marks(1);
	memset(&got, 0, sizeof(got));
	assert_int_equal(drain(0), 1);
	assert_int_equal(area.stats.resets, 2);
	assert_int_equal(area.stats.refused, 0);
	/* Nothing was read in between. */
	boot_cleared(16);
	boot_cleared(16);
	marks(2);
	memset(&got, 0, sizeof(got));
	assert_int_equal(drain(0), 2);
	assert_int_equal(area.stats.resets, 3);
}

/* An area that holds what nobody has read when a process comes to it. */
static void test_found__is_told_before_what_was_there(void **state)
{
	(void)state;
	boot(16, FLEXTRACE_WIRE_STOP);
	one_run(1);
	marks(3);
	flextrace_drain_area_init(&area, 4, wire, FLEXTRACE_WIRE_AREA_BYTES(16));
	drain(0);
	assert_int_equal(got.n_boots, 1);
	assert_int_equal(got.boot, FLEXTRACE_WIRE_BOOT_FOUND);
	assert_int_equal(got.counter_bits, 64);
	assert_int_equal(got.n_words, 4);
	/* All was read: nothing to tell. */
	memset(&got, 0, sizeof(got));
	got.next_index = 4;
	flextrace_drain_area_init(&area, 4, wire, FLEXTRACE_WIRE_AREA_BYTES(16));
	marks(1);
	drain(0);
	assert_int_equal(got.n_boots, 0);
}

/* It was another boot's: the firmware sets the area up before it is read, with its memory kept or
 * cleared. */
static void test_found__is_forgotten_when_the_firmware_starts_anew(void **state)
{
	int is_cleared;

	(void)state;
	for (is_cleared = 0; is_cleared < 2; is_cleared++) {
		boot(16, FLEXTRACE_WIRE_STOP);
		marks(3);
		flextrace_drain_area_init(&area, 4, wire, FLEXTRACE_WIRE_AREA_BYTES(16));
		if (is_cleared)
			boot_cleared(16);
		else
			FLEXTRACE_FW_INIT(2, 1, 9, 16, FLEXTRACE_WIRE_STOP);
		marks(2);
		assert_int_equal(drain(0), 2);
		assert_int_equal(got.n_boots, 0);
	}
}

static void test_forget__leaves_a_stale_area_alone_until_it_is_set_up(void **state)
{
	(void)state;
	boot(16, FLEXTRACE_WIRE_STOP);
	one_run(1);
	marks(3);
	flextrace_drain_area_init(&area, 4, wire, FLEXTRACE_WIRE_AREA_BYTES(16));
	flextrace_drain_forget(&area, 1);
	assert_int_equal(area.stats.unrecorded, 4);
	assert_int_equal(area.stats.unrecorded_runs, 1);
	assert_int_equal(drain(0), 0);
	assert_int_equal(area.stats.refused, 1);
	FLEXTRACE_FW_INIT(2, 1, 9, 16, FLEXTRACE_WIRE_STOP);
	marks(2);
	assert_int_equal(drain(0), 2);
	assert_int_equal(got.n_words, 2);
	assert_int_equal(got.n_boots, 0); /* nothing is there of another boot */
	flextrace_drain_forget(&area, 1);
	FLEXTRACE_FW_INIT(2, 1, 9, 16, FLEXTRACE_WIRE_STOP);
	memset(&got, 0, sizeof(got));
	marks(3);
	assert_int_equal(drain(0), 3);
	assert_int_equal(got.boot, FLEXTRACE_WIRE_BOOT_ANEW);
	flextrace_drain_forget(NULL, 0);
	mode = FLEXTRACE_DEVICE_MODE_OFF;
	flextrace_drain_forget(&area, 1);
	assert_int_equal(GET(wire->magic), FLEXTRACE_WIRE_MAGIC);
}

/* The caller of FW_INIT was compiled for another clock than marker.c. */
static void test_config__of_another_clock_is_refused_and_told(void **state)
{
	(void)state;
	boot(16, FLEXTRACE_WIRE_STOP);
	assert_int_equal(GET(wire->config), GET(wire->init_config));
	assert_int_not_equal(GET(wire->config), 0);
	flextrace_fw_set_up(2, 1, 9, 16, FLEXTRACE_WIRE_STOP,
	                    flextrace_i_sum("other_clock()", sizeof("other_clock()")));
	one_run(1);
	marks(3);
	assert_int_equal(drain(0), 0);
	assert_int_equal(drain(FLEXTRACE_DRAIN_LAST), 0);
	assert_int_equal(area.stats.refused, 2);
	assert_int_equal(got.n_boots, 1);
	assert_int_equal(got.boot & FLEXTRACE_WIRE_BOOT_REFUSED, FLEXTRACE_WIRE_BOOT_REFUSED);
	assert_int_equal(got.n_batches, 0);
}

static void test_narrow__counter_of_an_older_firmware_is_told(void **state)
{
	(void)state;
	boot(16, FLEXTRACE_WIRE_STOP);
	SET(wire->counter_bits, 24);
	marks(1);
	drain(0);
	marks(1);
	drain(0);
	assert_int_equal(got.n_boots, 1);
	assert_int_equal(got.boot, 0);
	assert_int_equal(got.counter_bits, 24);
}

/* -- everything at once ------------------------------------------------------------------------ */

static void check_account(uint64_t sent)
{
	uint64_t waiting = GET(wire->head) - (uint32_t)area.next;
	uint64_t pending = GET(wire->own.ring_run) != GET(wire->run);

	assert_int_equal(sent, area.stats.recorded + area.stats.dropped + area.stats.overwritten +
	                               area.stats.unrecorded + waiting + pending);
}

static void test_drain__accounts_for_every_record_in_any_interleaving(void **state)
{
	uint64_t seed, random, sent, runs;
	uint32_t step, dice;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		boot(4u << seed % 6, seed % 2 ? FLEXTRACE_WIRE_STOP : FLEXTRACE_WIRE_OVERWRITE);
		random = seed;
		sent = runs = 0;
		for (step = 0; step < 1500; step++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			dice = (uint32_t)(random >> 33) % 100;
			if (dice < 60) {
				FLEXTRACE_MARK("mark");
				sent++;
			} else if (dice < 75) {
				FLEXTRACE_VALUE("value", dice);
				sent += 2;
			} else if (dice < 85) {
				one_run(step);
				sent++;
				runs++;
			} else if (dice < 87) {
				is_on = !is_on;
			} else {
				drain(0);
				check_account(sent);
			}
		}
		is_on = 1;
		drain(FLEXTRACE_DRAIN_LAST);
		check_account(sent);
		assert_int_equal(got.n_words, area.stats.recorded);
		assert_int_equal(got.dropped, area.stats.dropped);
		assert_int_equal(runs, area.stats.recorded_runs + area.stats.overwritten_runs +
		                               area.stats.unrecorded_runs);
		assert_int_equal(got.n_slots, area.stats.recorded_runs);
	}
}

static void test_names__of_this_program_are_defined(void **state)
{
	int n;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	n = flextrace_device_names(6, "/proc/self/exe");
	assert_in_range(n, 4, 100);
	assert_int_equal(got.name.device, 6);
	assert_true(got.name.id > 0);
	assert_true(flextrace_device_names(6, "/nowhere") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drain__records_words_and_makes_room),
		cmocka_unit_test(test_drain__finds_nothing_in_an_idle_area),
		cmocka_unit_test(test_drain__tells_drops_even_when_no_words_follow),
		cmocka_unit_test(test_drain__counts_in_64_bits_over_wraps),
		cmocka_unit_test(test_drain__is_invariant_to_splitting),
		cmocka_unit_test(test_overwrite__counts_what_it_missed),
		cmocka_unit_test(test_overwrite__leaves_out_records_in_the_making),
		cmocka_unit_test(test_event_off__takes_records_out_and_counts_them),
		cmocka_unit_test(test_event_off__loses_nothing_of_what_nobody_wanted),
		cmocka_unit_test(test_device_off__does_not_touch_the_area),
		cmocka_unit_test(test_attach__goes_on_where_another_process_stopped),
		cmocka_unit_test(test_reset__starts_all_counts_anew),
		cmocka_unit_test(test_reset__that_clears_the_memory_is_seen),
		cmocka_unit_test(test_found__is_told_before_what_was_there),
		cmocka_unit_test(test_found__is_forgotten_when_the_firmware_starts_anew),
		cmocka_unit_test(test_forget__leaves_a_stale_area_alone_until_it_is_set_up),
		cmocka_unit_test(test_config__of_another_clock_is_refused_and_told),
		cmocka_unit_test(test_narrow__counter_of_an_older_firmware_is_told),
		cmocka_unit_test(test_drain__accounts_for_every_record_in_any_interleaving),
		cmocka_unit_test(test_names__of_this_program_are_defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
