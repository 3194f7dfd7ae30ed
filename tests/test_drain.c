/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <flextrace/flextrace.h>
#include <flextrace/marker.h>

#include "tracer/src/drain_words.h"

#define MAX_CAPACITY 2048u

/* -- the tracer, as far as drain.c needs it: it collects batches ------------------------------------ */

static int is_on;
const int *flextrace_i_state[flextrace_i_n_events] = {
	[flextrace_i_event_marker_batch] = &is_on,
};
static enum flextrace_device_mode mode;

struct collected {
	uint64_t n_batches, n_words;
	uint64_t next_index; /* of the ring */
	uint64_t gaps;       /* ring records that no batch brought */
	uint64_t dropped;    /* newest, ring */
	uint64_t n_slots;
	uint64_t last_run, lost_runs;
	uint32_t largest;
	uint64_t hash; /* of all ring words with their indices */
	uint32_t device, core, processor, domain;
	uint64_t first[64]; /* the first words, ring or slot */
	uint32_t n_first;
	struct flextrace_name name;
};
static struct collected got;

enum flextrace_device_mode flextrace_device_mode(void)
{
	return mode;
}

void flextrace_marker_name(const struct flextrace_name *marker)
{
	got.name = *marker;
}

static void take_slots(const struct flextrace_marker_batch *batch)
{
	uint32_t i;

	for (i = 0; i < batch->n_words; i++)
		got.n_slots += batch->words[i] >> 60 == FLEXTRACE_WIRE_SLOT_RUN;
	assert_true(batch->first_index > got.last_run);
	got.last_run = batch->first_index;
	got.lost_runs = batch->dropped;
}

static void take_ring(const struct flextrace_marker_batch *batch)
{
	uint32_t i;

	assert_true(batch->first_index >= got.next_index);
	assert_true(batch->dropped >= got.dropped);
	if (batch->n_words == 0)
		assert_true(batch->dropped > got.dropped);
	got.gaps += batch->first_index - got.next_index;
	got.next_index = batch->first_index + batch->n_words;
	got.dropped = batch->dropped;
	got.n_words += batch->n_words;
	for (i = 0; i < batch->n_words; i++)
		got.hash = (got.hash ^ batch->words[i] ^ (batch->first_index + i)) *
		           UINT64_C(0x9e3779b97f4a7c15);
}

void flextrace_emit_marker_batch(const struct flextrace_marker_batch *batch)
{
	uint32_t i;

	assert_true(is_on);
	got.device = batch->device;
	got.core = batch->core;
	got.processor = batch->processor;
	got.domain = batch->domain;
	got.n_batches++;
	if (batch->n_words > got.largest)
		got.largest = batch->n_words;
	for (i = 0; i < batch->n_words && got.n_first < 64; i++)
		got.first[got.n_first++] = batch->words[i];
	if (batch->n_words && batch->words[0] >> 60 >= FLEXTRACE_WIRE_SLOT_RUN)
		take_slots(batch);
	else
		take_ring(batch);
}

/* -- a device ---------------------------------------------------------------------------------------- */

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(MAX_CAPACITY)];
} memory;
static struct flextrace_wire_area *const wire = &memory.wire;
static struct flextrace_drain_area area;
static uint64_t now;

static uint64_t fake_clock(void *context)
{
	(void)context;
	return now += 16;
}

static void boot(uint32_t capacity, uint32_t policy)
{
	memset(&memory, 0, sizeof(memory));
	memset(&got, 0, sizeof(got));
	now = 0;
	is_on = 1;
	mode = FLEXTRACE_DEVICE_MODE_DRAIN;
	flextrace_posix_core = (struct flextrace_posix_core){.area = wire, .clock = fake_clock};
	FLEXTRACE_FW_INIT(2, 1, 9, capacity, policy);
	flextrace_drain_area_init(&area, 4, wire, FLEXTRACE_WIRE_AREA_BYTES((size_t)capacity));
}

static void marks(uint32_t n)
{
	while (n--)
		FLEXTRACE_MARK("mark");
}

static uint64_t drain(unsigned int flags)
{
	return flextrace_drain(&area, 1, flags);
}

static uint32_t kind_at(uint32_t i)
{
	return (uint32_t)(got.first[i] >> 60);
}

static void one_run(uint32_t job)
{
	FLEXTRACE_FW_START(job, 3);
	FLEXTRACE_TS(1);
	FLEXTRACE_TS(5);
	FLEXTRACE_FW_END();
}

/* -- the ring ------------------------------------------------------------------------------------------ */

static void test_drain__records_words_and_makes_room(void **state)
{
	(void)state;
	boot(4, FLEXTRACE_WIRE_STOP);
	marks(3);
	assert_int_equal(drain(0), 3);
	assert_int_equal(wire->limit, 7);
	assert_int_equal(got.device, 4);
	assert_int_equal(got.core, 2);
	assert_int_equal(got.processor, 1);
	assert_int_equal(got.domain, 9);
	assert_int_equal(got.n_batches, 1);
	assert_int_equal(got.first[0], FLEXTRACE_WIRE_WORD(wire->ring[0].kind_id, 16));
	assert_int_equal(got.first[2], FLEXTRACE_WIRE_WORD(wire->ring[0].kind_id, 0) + 48);
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
	wire->dropped += 2; /* between reading the count and making room */
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
		/* The firmware sends and drops 2^32 - 8 records that the host was quick enough for. */
		area.next += 0xfffffff8u;
		area.dropped += 0xfffffff8u;
		wire->head += 0xfffffff8u;
		wire->limit += 0xfffffff8u;
		wire->dropped += 0xfffffff8u;
		wire->own.seen = wire->own.stop = wire->limit;
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
	assert_int_equal((uint32_t)got.first[25], wire->ring[109 % 16].ticks);
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

/* -- slots ------------------------------------------------------------------------------------------------ */

static void test_slot__becomes_words(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	now = UINT64_C(0x700000000);
	one_run(1234);
	drain(0);
	assert_int_equal(got.n_first, 9); /* eight of the slot, one RUN of the ring */
	assert_int_equal(got.first[0], UINT64_C(0x80000001000004d2));
	assert_int_equal(got.first[1], UINT64_C(0x9000000100000003));
	assert_int_equal(got.first[2], UINT64_C(0xa000000000000020));
	assert_int_equal(got.first[3], UINT64_C(0xb000000000000007));
	assert_int_equal(got.first[4], UINT64_C(0xc000000000000020)); /* FW start */
	assert_int_equal(got.first[5], UINT64_C(0xc000000300000060)); /* FW end */
	assert_int_equal(got.first[6], UINT64_C(0xc000000400000040)); /* TS1 */
	assert_int_equal(got.first[7], UINT64_C(0xc000000800000050)); /* TS5 */
	assert_int_equal(got.first[8], UINT64_C(0x6000000100000020));
	assert_int_equal(got.last_run, 1);
	assert_int_equal(wire->read_run, 1);
}

static void test_slot__two_finished_runs_go_together(void **state)
{
	uint32_t first;

	(void)state;
	for (first = 1; first < 4; first++) { /* either parity first */
		boot(64, FLEXTRACE_WIRE_STOP);
		for (uint32_t i = 1; i < first; i++) {
			one_run(i);
			drain(0);
		}
		one_run(10);
		one_run(11);
		drain(0);
		assert_int_equal(got.n_slots, first + 1);
		assert_int_equal(got.lost_runs, 0);
		assert_int_equal(got.last_run, first);
	}
}

static void test_slot__overwritten_runs_are_counted(void **state)
{
	uint32_t n;

	(void)state;
	for (n = 1; n < 9; n++) {
		boot(64, FLEXTRACE_WIRE_STOP);
		one_run(1);
		drain(0);
		for (uint32_t i = 0; i < n; i++)
			one_run(i);
		drain(0);
		assert_int_equal(got.n_slots, 1 + (n < 2 ? n : 2));
		assert_int_equal(got.lost_runs, n < 2 ? 0 : n - 2);
		assert_int_equal(area.stats.recorded_runs + area.stats.overwritten_runs, n + 1);
	}
}

static void test_slot__open_run_waits_for_its_end(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	one_run(1);
	FLEXTRACE_FW_START(2, 0);
	drain(0);
	assert_int_equal(got.n_slots, 1);
	drain(0);
	assert_int_equal(got.n_slots, 1);
	FLEXTRACE_FW_END();
	drain(0);
	assert_int_equal(got.n_slots, 2);
	assert_int_equal(got.lost_runs, 0);
}

static void test_slot__open_run_is_taken_at_the_end(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_START(1, 0);
	FLEXTRACE_TS(1);
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.n_slots, 1);
	assert_int_equal(kind_at(1), FLEXTRACE_WIRE_SLOT_QUEUE);
	assert_int_equal(got.first[1] >> 32 & FLEXTRACE_WIRE_ID_MASK, 0);
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.n_slots, 1);
}

static void test_slot__run_that_never_ended_is_taken_once_another_follows(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_START(1, 0);
	one_run(2);
	drain(0);
	assert_int_equal(got.n_slots, 2);
	assert_int_equal(got.lost_runs, 0);
	assert_int_equal(got.first[1] >> 32 & FLEXTRACE_WIRE_ID_MASK, 0);
}

/* Between the store of the area's run and that of the slot's. */
static void test_slot__in_the_making_is_left_alone(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	one_run(1);
	wire->run = 2;
	wire->slot[0].done = 1;
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.n_slots, 1);
	wire->slot[0].run = 2;
	wire->slot[0].done = 2;
	drain(0);
	assert_int_equal(got.n_slots, 2);
	assert_int_equal(got.last_run, 2);
}

static void test_slot__run_numbers_count_on_over_a_wrap(void **state)
{
	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	wire->run = wire->own.ring_run = wire->read_run = 0xfffffffeu;
	one_run(1);
	drain(0);
	one_run(2);
	one_run(3);
	drain(0);
	assert_int_equal(got.n_slots, 3);
	assert_int_equal(got.last_run, UINT64_C(0x100000000));
	assert_int_equal(area.stats.overwritten_runs, 0);
}

/* -- who listens ---------------------------------------------------------------------------------------- */

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
	assert_int_equal(got.gaps, 6);
	assert_int_equal(got.n_words, 8);
	assert_int_equal(got.last_run, 2);
	assert_int_equal(got.lost_runs, 0);
	/* RUN of run 2 and one mark found no room; RUN still waits. */
	assert_int_equal(area.stats.dropped, 1);
}

static void test_device_off__does_not_touch_the_area(void **state)
{
	struct flextrace_drain_stats none = {0};

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	mode = FLEXTRACE_DEVICE_MODE_OFF;
	marks(3);
	assert_int_equal(drain(0), 0);
	assert_int_equal(wire->limit, 8);
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
}

/* -- hostile areas ---------------------------------------------------------------------------------------- */

static void test_hostile__bad_headers_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} cases[] = {
		{offsetof(struct flextrace_wire_area, magic), 0},
		{offsetof(struct flextrace_wire_area, magic), 0x46585431},
		{offsetof(struct flextrace_wire_area, version), 2},
		{offsetof(struct flextrace_wire_area, capacity), 0},
		{offsetof(struct flextrace_wire_area, capacity), 2},
		{offsetof(struct flextrace_wire_area, capacity), 7},
		{offsetof(struct flextrace_wire_area, capacity), 16}, /* larger than the mapping */
		{offsetof(struct flextrace_wire_area, capacity), 0x80000000u},
		{offsetof(struct flextrace_wire_area, head), 9},
		{offsetof(struct flextrace_wire_area, head), 0xffffffffu},
		{offsetof(struct flextrace_wire_area, run), 0x90000000u},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		boot(8, FLEXTRACE_WIRE_STOP);
		memcpy(memory.bytes + cases[i].offset, &cases[i].value, 4);
		assert_int_equal(drain(0), 0);
		assert_int_equal(drain(0), 0);
		assert_int_equal(area.stats.refused, 2);
		assert_int_equal(got.n_batches, 0);
		FLEXTRACE_FW_INIT(2, 1, 9, 8, FLEXTRACE_WIRE_STOP);
		marks(2);
		assert_int_equal(drain(0), 2);
	}
}

static void test_hostile__short_or_crooked_mappings_are_refused(void **state)
{
	size_t bytes;

	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	marks(2);
	for (bytes = 0; bytes < FLEXTRACE_WIRE_AREA_BYTES(8); bytes += 4) {
		/* An exact copy on the heap, so that a sanitizer sees any byte read too far. */
		void *copy = malloc(bytes + 1);

		memcpy(copy, wire, bytes);
		flextrace_drain_area_init(&area, 4, copy, bytes);
		assert_int_equal(drain(0), 0);
		assert_int_equal(area.stats.refused, 1);
		free(copy);
	}
	flextrace_drain_area_init(&area, 4, memory.bytes + 4, sizeof(memory) - 4);
	assert_int_equal(drain(0), 0);
	flextrace_drain_area_init(&area, 4, NULL, sizeof(memory));
	assert_int_equal(drain(0), 0);
}

/* Any words at all: nothing is read out of bounds, no batch is larger than the ring. */
static void test_hostile__random_areas_do_no_harm(void **state)
{
	size_t bytes = FLEXTRACE_WIRE_AREA_BYTES(8);
	struct flextrace_wire_area *copy = malloc(bytes);
	uint64_t random = 12345;
	uint32_t round, i;

	(void)state;
	for (round = 0; round < 20000; round++) {
		boot(8, round % 2 ? FLEXTRACE_WIRE_OVERWRITE : FLEXTRACE_WIRE_STOP);
		memcpy(copy, wire, bytes);
		flextrace_drain_area_init(&area, 4, copy, bytes);
		for (i = 0; i < 6; i++) {
			uint32_t at, value;

			random = random * 6364136223846793005u + 1442695040888963407u;
			at = (uint32_t)(random >> 33) % (uint32_t)(bytes / 4);
			value = (uint32_t)(random >> 20) >> (random >> 59);
			memcpy((uint8_t *)copy + (size_t)at * 4, &value, 4);
			memset(&got, 0, sizeof(got));
			drain(round % 3 ? 0 : FLEXTRACE_DRAIN_LAST);
			assert_true(got.n_words <= 8);
		}
	}
	free(copy);
}

/* -- byte order ------------------------------------------------------------------------------------------- */

static void test_words__are_swapped_on_a_big_endian_host(void **state)
{
	(void)state;
	/* The bytes 2a 00 00 10 44 33 22 11 as such a host loads them. */
	assert_int_equal(drain_join(0x2a000010u, 0x44332211u, 1), UINT64_C(0x1000002a11223344));
	assert_int_equal(drain_join(0x1000002au, 0x11223344u, 0), UINT64_C(0x1000002a11223344));
	assert_int_equal(drain_swap(0x01020304u, 1), 0x04030201u);
	assert_int_equal(drain_swap(0x01020304u, 0), 0x01020304u);
}

/* -- everything at once ------------------------------------------------------------------------------------ */

static void check_account(uint64_t sent)
{
	uint64_t waiting = wire->head - (uint32_t)area.next;
	uint64_t pending = wire->own.ring_run != wire->run;

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
		cmocka_unit_test(test_slot__becomes_words),
		cmocka_unit_test(test_slot__two_finished_runs_go_together),
		cmocka_unit_test(test_slot__overwritten_runs_are_counted),
		cmocka_unit_test(test_slot__open_run_waits_for_its_end),
		cmocka_unit_test(test_slot__open_run_is_taken_at_the_end),
		cmocka_unit_test(test_slot__run_that_never_ended_is_taken_once_another_follows),
		cmocka_unit_test(test_slot__in_the_making_is_left_alone),
		cmocka_unit_test(test_slot__run_numbers_count_on_over_a_wrap),
		cmocka_unit_test(test_event_off__takes_records_out_and_counts_them),
		cmocka_unit_test(test_device_off__does_not_touch_the_area),
		cmocka_unit_test(test_attach__goes_on_where_another_process_stopped),
		cmocka_unit_test(test_reset__starts_all_counts_anew),
		cmocka_unit_test(test_hostile__bad_headers_are_refused),
		cmocka_unit_test(test_hostile__short_or_crooked_mappings_are_refused),
		cmocka_unit_test(test_hostile__random_areas_do_no_harm),
		cmocka_unit_test(test_words__are_swapped_on_a_big_endian_host),
		cmocka_unit_test(test_drain__accounts_for_every_record_in_any_interleaving),
		cmocka_unit_test(test_names__of_this_program_are_defined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
