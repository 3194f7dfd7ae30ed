/* SPDX-License-Identifier: Apache-2.0 */
/* The drain while the firmware writes: at the worst moments, under changing policies, in turns. */
#include "drain_fixture.h"

#define N_ROUNDS 400u

static void round_of_markers(uint32_t i)
{
	FLEXTRACE_ZONE_BEGIN("round");
	FLEXTRACE_VALUE("number", i);
	FLEXTRACE_MARK("mark");
	FLEXTRACE_ZONE_END("round");
}

/* Every record that arrives is the one that was written under its index. */
static void check_record(uint64_t index, uint64_t word)
{
	static const uint32_t kinds[] = {FLEXTRACE_WIRE_ZONE_BEGIN, FLEXTRACE_WIRE_VALUE,
	                                 FLEXTRACE_WIRE_VALUE_DATA, FLEXTRACE_WIRE_MARK,
	                                 FLEXTRACE_WIRE_ZONE_END};
	static uint64_t last_index, last_ticks;

	assert_int_equal(word >> 60, kinds[index % 5]);
	if (index % 5 == 2) {
		assert_int_equal((uint32_t)word, index / 5);
		return;
	}
	if (index > last_index)
		assert_true((uint32_t)word > last_ticks);
	last_index = index;
	last_ticks = (uint32_t)word;
}

/* -- at the worst moment ----------------------------------------------------------------------- */

static uint32_t n_notes, drain_every;

/* Called when the counter is read: a record is written, or not yet, and `head` not at all. */
static void drain_within_marker(void *context, uint32_t kind, uint32_t id)
{
	(void)context, (void)kind, (void)id;
	if (++n_notes % drain_every == 0)
		drain(0);
}

static void test_drain__within_a_marker_takes_no_torn_record(void **state)
{
	static const uint32_t policies[] = {FLEXTRACE_WIRE_OVERWRITE, FLEXTRACE_WIRE_BLOCK};
	uint32_t capacity, i;

	(void)state;
	for (drain_every = 1; drain_every <= 40; drain_every++) {
		for (capacity = 4; capacity <= 64; capacity *= 2) {
			uint32_t policy = policies[drain_every * 5 / 4 + 4 >= capacity ? 0 : 1];

			boot(capacity, policy);
			on_record = check_record;
			flextrace_posix_core.note = drain_within_marker;
			for (i = 0; i < N_ROUNDS; i++)
				round_of_markers(i);
			drain(FLEXTRACE_DRAIN_LAST);
			assert_int_equal(area.stats.recorded + area.stats.overwritten,
			                 5 * N_ROUNDS);
			assert_int_equal(got.n_words, area.stats.recorded);
			assert_true(got.n_words > 0);
			if (policy == FLEXTRACE_WIRE_BLOCK)
				assert_int_equal(area.stats.overwritten, 0);
		}
	}
}

static void drain_within_run(void *context, uint32_t kind, uint32_t id)
{
	(void)context, (void)id;
	if (kind == FLEXTRACE_WIRE_SLOT_STAMP)
		drain(0);
}

static void test_drain__within_a_run_takes_each_run_whole_and_once(void **state)
{
	uint32_t i;

	(void)state;
	boot(64, FLEXTRACE_WIRE_STOP);
	flextrace_posix_core.note = drain_within_run;
	for (i = 1; i <= 100; i++) {
		got.n_first = 0;
		one_run(i);
		drain(0);
		assert_int_equal(got.n_slots, i);
		assert_int_equal(got.first[0] >> 60, FLEXTRACE_WIRE_RUN);
		assert_int_equal((uint32_t)got.first[1], i);
		assert_int_equal(got.n_first, 9);
	}
	assert_int_equal(got.lost_runs, 0);
}

/* A gap needs a batch in front of it. */
static void test_drain__tells_what_was_overwritten_before_its_first_batch(void **state)
{
	(void)state;
	boot(16, FLEXTRACE_WIRE_OVERWRITE);
	marks(100);
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.n_batches, 2);
	assert_int_equal(got.gaps, 84);
	marks(20);
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.n_batches, 3);
	assert_int_equal(got.gaps, 88);
	is_on = 0;
	marks(10);
	drain(0); /* nobody wanted those */
	is_on = 1;
	marks(20);
	drain(FLEXTRACE_DRAIN_LAST);
	assert_int_equal(got.n_batches, 5);
	assert_int_equal(got.gaps, 88 + 4);
	assert_int_equal(got.unrecorded, 10);
	assert_int_equal(area.stats.overwritten, 92);
}

/* -- policies ---------------------------------------------------------------------------------- */

static void test_policy__is_the_hosts_also_after_a_reset(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	SET(wire->magic, 0); /* not booted yet */
	flextrace_drain_set_policy(&area, FLEXTRACE_POLICY_OVERWRITE);
	assert_int_equal(GET(wire->policy), FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_INIT(2, 1, 9, 8, FLEXTRACE_WIRE_STOP);
	drain(0);
	assert_int_equal(GET(wire->policy), FLEXTRACE_WIRE_OVERWRITE);
	FLEXTRACE_FW_INIT(2, 1, 9, 8, FLEXTRACE_WIRE_STOP);
	drain(0);
	assert_int_equal(GET(wire->policy), FLEXTRACE_WIRE_OVERWRITE);
	flextrace_drain_set_policy(&area, FLEXTRACE_POLICY_BLOCK);
	assert_int_equal(GET(wire->policy), FLEXTRACE_WIRE_BLOCK);
	mode = FLEXTRACE_DEVICE_MODE_OFF;
	flextrace_drain_set_policy(&area, FLEXTRACE_POLICY_STOP);
	assert_int_equal(GET(wire->policy), FLEXTRACE_WIRE_BLOCK);
}

/* The firmware may fill the ring once more before it looks at the policy again. */
static void test_policy__leave_to_overwrite_ends_late_and_all_is_counted(void **state)
{
	uint32_t before, after, rounds, i;

	(void)state;
	for (before = 0; before < 12; before++) {
		for (after = 0; after < 12; after++) {
			boot(16, FLEXTRACE_WIRE_OVERWRITE);
			for (rounds = 0; rounds < before; rounds++)
				round_of_markers(rounds);
			flextrace_drain_set_policy(&area, FLEXTRACE_POLICY_STOP);
			for (; rounds < before + after; rounds++)
				round_of_markers(rounds);
			/* Another process goes on: it finds in the area what to trust. */
			if (after % 2) {
				struct flextrace_drain_stats kept = area.stats;

				flextrace_drain_area_init(&area, 4, wire,
				                          FLEXTRACE_WIRE_AREA_BYTES(16));
				area.stats = kept;
			}
			drain(0);
			assert_int_equal(area.stats.refused, 0);
			assert_int_equal(area.stats.recorded + area.stats.overwritten +
			                         area.stats.dropped,
			                 5 * rounds);
			marks(100);
			drain(0);
			for (i = 0; i < 20; i++) {
				marks(16);
				drain(0);
			}
			assert_int_equal(area.stats.refused, 0);
			marks(16);
			assert_int_equal(drain(0), 16); /* strict again: the oldest are trusted */
			assert_int_equal(area.stats.recorded + area.stats.overwritten +
			                         area.stats.dropped,
			                 5 * rounds + 100 + 21 * 16);
		}
	}
}

static void free_by_policy(void *context)
{
	(void)context;
	flextrace_drain_set_policy(&area, FLEXTRACE_POLICY_STOP);
}

static void test_policy__frees_a_core_that_waits(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_BLOCK);
	drain(0);
	flextrace_posix_core.wait = free_by_policy;
	marks(10);
	assert_int_equal(drain(0), 8);
	assert_int_equal(area.stats.dropped, 2);
}

static void test_policy__may_change_at_any_time(void **state)
{
	uint64_t seed, random;
	uint32_t i, capacity;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		capacity = 4u << seed % 5;
		boot(capacity, (uint32_t)(seed % 2)); /* nobody would make room for a third */
		random = seed;
		for (i = 0; i < 1000; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			round_of_markers(i);
			if (random >> 33 & 1)
				drain(0);
			if ((random >> 34) % 16 == 0)
				flextrace_drain_set_policy(
					&area, (enum flextrace_policy)(random >> 40 & 1));
		}
		drain(FLEXTRACE_DRAIN_LAST);
		assert_int_equal(area.stats.refused, 0);
		assert_int_equal(area.stats.recorded + area.stats.overwritten + area.stats.dropped,
		                 5000);
		assert_int_equal(got.gaps, area.stats.overwritten);
		assert_int_equal(got.dropped, area.stats.dropped);
	}
}

/* -- resets ------------------------------------------------------------------------------------ */

/* A drain that the reset overtook wrote its counts into the new area. */
static void test_reset__is_survived_in_the_middle_of_a_drain(void **state)
{
	(void)state;
	boot(8, FLEXTRACE_WIRE_STOP);
	one_run(1);
	marks(30);
	drain(0);
	FLEXTRACE_FW_INIT(2, 1, 9, 8, FLEXTRACE_WIRE_STOP);
	SET(wire->limit, 1000);
	SET(wire->read_run, 77);
	memset(&got, 0, sizeof(got));
	marks(1);
	area.stats = (struct flextrace_drain_stats){0};
	marks(20); /* the firmware saw the wrong limit only now */
	drain(0);
	assert_int_equal(area.stats.refused, 0);
	assert_int_equal(area.stats.resets, 1);
	assert_int_equal(area.stats.recorded + area.stats.overwritten + area.stats.dropped, 21);
	assert_int_equal(got.dropped, 0);
	one_run(2);
	drain(0);
	assert_int_equal(got.last_run, 1);
	assert_int_equal(area.stats.overwritten_runs, 0);
}

/* -- turns ------------------------------------------------------------------------------------- */

#define N_AREAS 3u

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(MAX_CAPACITY)];
} others[N_AREAS];

static void boot_all(struct flextrace_drain_area *areas)
{
	uint32_t i;

	boot(8, FLEXTRACE_WIRE_STOP);
	n_areas_of_test = N_AREAS;
	for (i = 0; i < N_AREAS; i++) {
		flextrace_posix_core.area = &others[i].wire;
		FLEXTRACE_FW_INIT(i, 0, 0, MAX_CAPACITY, FLEXTRACE_WIRE_STOP);
		flextrace_drain_area_init(&areas[i], 0, &others[i], sizeof(others[i]));
	}
}

static void mark_on(uint32_t core, uint32_t n)
{
	flextrace_posix_core.area = &others[core].wire;
	marks(n);
}

static void test_some__takes_turns_and_keeps_to_its_bound(void **state)
{
	struct flextrace_drain_area areas[N_AREAS];
	struct flextrace_drain_set set = {.areas = areas, .n_areas = N_AREAS};
	uint32_t i;

	(void)state;
	boot_all(areas);
	for (i = 0; i < N_AREAS; i++)
		mark_on(i, 100 * (i + 1));
	assert_int_equal(flextrace_drain_some(&set, 0), 0);
	assert_int_equal(flextrace_drain_some(&set, 60), 60);
	assert_int_equal(areas[0].stats.recorded, 60);
	assert_int_equal(flextrace_drain_some(&set, 60), 60);
	assert_int_equal(areas[1].stats.recorded, 60);
	assert_int_equal(flextrace_drain_some(&set, 60), 60);
	assert_int_equal(areas[2].stats.recorded, 60);
	assert_int_equal(flextrace_drain_some(&set, 41), 41);
	assert_int_equal(areas[0].stats.recorded, 100);
	assert_int_equal(areas[1].stats.recorded, 61);
}

/* A core that never rests does not keep the others' records waiting. */
static void test_some__lets_no_busy_area_starve_the_others(void **state)
{
	struct flextrace_drain_area areas[N_AREAS];
	struct flextrace_drain_set set = {.areas = areas, .n_areas = N_AREAS};
	uint32_t i;

	(void)state;
	boot_all(areas);
	for (i = 0; i < 100; i++) {
		mark_on(0, MAX_CAPACITY);
		mark_on(1, 10);
		mark_on(2, 10);
		assert_int_equal(flextrace_drain_some(&set, 1044), 1044);
	}
	assert_int_equal(areas[1].stats.recorded, 1000);
	assert_int_equal(areas[2].stats.recorded, 1000);
	assert_int_equal(areas[0].stats.recorded, 100 * 1024);
	mark_on(0, 0);
	flextrace_drain_some(&set, UINT64_MAX);
	assert_int_equal(areas[0].stats.recorded + areas[0].stats.dropped, 100 * MAX_CAPACITY);
	assert_int_equal(flextrace_drain_some(&set, UINT64_MAX), 0);
}

static void test_some__does_nothing_where_nobody_listens(void **state)
{
	struct flextrace_drain_area areas[N_AREAS];
	struct flextrace_drain_set set = {.areas = areas, .n_areas = N_AREAS};
	struct flextrace_drain_set none = {.areas = NULL};

	(void)state;
	boot_all(areas);
	assert_int_equal(flextrace_drain_some(&none, 100), 0);
	mark_on(1, 10);
	is_on = 0;
	assert_int_equal(flextrace_drain_some(&set, 100), 0);
	assert_int_equal(areas[1].stats.unrecorded, 10);
	mark_on(1, 10);
	is_on = 1;
	mode = FLEXTRACE_DEVICE_MODE_OFF;
	assert_int_equal(flextrace_drain_some(&set, 100), 0);
	assert_int_equal(areas[1].stats.unrecorded, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drain__within_a_marker_takes_no_torn_record),
		cmocka_unit_test(test_drain__within_a_run_takes_each_run_whole_and_once),
		cmocka_unit_test(test_drain__tells_what_was_overwritten_before_its_first_batch),
		cmocka_unit_test(test_policy__is_the_hosts_also_after_a_reset),
		cmocka_unit_test(test_policy__leave_to_overwrite_ends_late_and_all_is_counted),
		cmocka_unit_test(test_policy__frees_a_core_that_waits),
		cmocka_unit_test(test_policy__may_change_at_any_time),
		cmocka_unit_test(test_reset__is_survived_in_the_middle_of_a_drain),
		cmocka_unit_test(test_some__takes_turns_and_keeps_to_its_bound),
		cmocka_unit_test(test_some__lets_no_busy_area_starve_the_others),
		cmocka_unit_test(test_some__does_nothing_where_nobody_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
