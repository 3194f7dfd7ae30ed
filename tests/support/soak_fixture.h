/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soak_fixture.h: four cores write markers as fast as they can while the host drains them. Each
 * record must be the one that was written there, and all must be accounted for. The test says
 * which device it is.
 */
#ifndef SOAK_FIXTURE_H
#define SOAK_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <flextrace/emulator.h>
#include <flextrace/flextrace.h>

#include "area_words.h"

#define N_CORES 4u
#define N_JOBS  4u

static uint32_t n_markers = 100000; /* of a core */
static uint32_t n_rounds;           /* of a job, four markers each */

/* -- what a core writes ------------------------------------------------------------------------ */

/* Records of one job: RUN, two zones, the rounds of five records, a zone and a mark. */
static const uint32_t head_kinds[] = {FLEXTRACE_WIRE_RUN, FLEXTRACE_WIRE_ZONE_BEGIN,
                                      FLEXTRACE_WIRE_ZONE_END, FLEXTRACE_WIRE_ZONE_BEGIN,
                                      FLEXTRACE_WIRE_ZONE_END};
static const uint32_t round_kinds[] = {FLEXTRACE_WIRE_ZONE_BEGIN, FLEXTRACE_WIRE_MARK,
                                       FLEXTRACE_WIRE_VALUE, FLEXTRACE_WIRE_VALUE_DATA,
                                       FLEXTRACE_WIRE_ZONE_END};
static const uint32_t tail_kinds[] = {FLEXTRACE_WIRE_ZONE_BEGIN, FLEXTRACE_WIRE_ZONE_END,
                                      FLEXTRACE_WIRE_MARK};

static uint64_t job_records(void)
{
	return 5 + 5 * (uint64_t)n_rounds + 3;
}

/* The kind of a core's record number `index`, where none was dropped, and its round. */
static uint32_t kind_at(uint64_t index, uint64_t *ret_round)
{
	uint64_t at = (index - 1) % job_records(); /* "ready" came first */

	*ret_round = UINT64_MAX;
	if (index == 0)
		return FLEXTRACE_WIRE_MARK;
	if (at < 5)
		return head_kinds[at];
	if (at >= 5 + 5 * (uint64_t)n_rounds)
		return tail_kinds[at - 5 - 5 * (uint64_t)n_rounds];
	*ret_round = (at - 5) / 5;
	return round_kinds[at % 5];
}

/* -- the tracer, as far as drain.c needs it: it looks at every word ---------------------------- */

struct seen { /* of a core */
	uint64_t n_words, n_slots, next_index, last_run;
	uint32_t last_kind;
	uint64_t last_ticks, last_round;
	uint32_t n_restarts; /* of the rounds: a job each */
	int has_gap;         /* since the last record */
	enum { OUTSIDE, INSIDE, UNKNOWN } zone;
};

static int is_on = 1;
const int *flextrace_i_state[flextrace_i_n_events] = {
	[flextrace_i_event_marker_batch] = &is_on,
};
static struct seen seen[N_CORES];
static int is_whole; /* none is dropped, so that the index tells the record */
static uint64_t n_wrong;

enum flextrace_device_mode flextrace_device_mode(void)
{
	return FLEXTRACE_DEVICE_MODE_DRAIN;
}

void flextrace_marker_name(const struct flextrace_name *marker)
{
	(void)marker;
}

static void check_by_index(uint64_t index, uint32_t kind, uint32_t value)
{
	uint64_t round;

	n_wrong += kind_at(index, &round) != kind;
	if (kind == FLEXTRACE_WIRE_VALUE_DATA)
		n_wrong += value != round;
}

/* With drops: values are whole, zones are whole, rounds come in order. */
static void check_by_order(struct seen *core, uint32_t kind, uint32_t value)
{
	n_wrong += (kind == FLEXTRACE_WIRE_VALUE_DATA) != (core->last_kind == FLEXTRACE_WIRE_VALUE);
	if (kind == FLEXTRACE_WIRE_ZONE_BEGIN) {
		n_wrong += core->zone == INSIDE;
		core->zone = INSIDE;
	} else if (kind == FLEXTRACE_WIRE_ZONE_END) {
		n_wrong += core->zone == OUTSIDE;
		core->zone = OUTSIDE;
	} else if (kind == FLEXTRACE_WIRE_VALUE_DATA) {
		n_wrong += value >= n_rounds;
		core->n_restarts += value < core->last_round;
		core->last_round = value;
	}
}

static void take_record(struct seen *core, uint64_t index, uint64_t word)
{
	uint32_t kind = (uint32_t)(word >> 60);

	/* What was overwritten may have been a begin, or a value. */
	if (core->has_gap || index != core->next_index) {
		core->last_kind = kind == FLEXTRACE_WIRE_VALUE_DATA ? FLEXTRACE_WIRE_VALUE : 0;
		core->zone = UNKNOWN;
		core->has_gap = 0;
	}
	if (is_whole)
		check_by_index(index, kind, (uint32_t)word);
	else
		check_by_order(core, kind, (uint32_t)word);
	core->last_kind = kind;
	core->next_index = index + 1;
	if (kind == FLEXTRACE_WIRE_VALUE_DATA)
		return;
	n_wrong += (int32_t)((uint32_t)word - core->last_ticks) < 0;
	core->last_ticks = (uint32_t)word;
}

static void take_slots(struct seen *core, const struct flextrace_marker_batch *batch)
{
	uint32_t i;

	for (i = 0; i < batch->n_words; i++) {
		uint32_t kind = (uint32_t)(batch->words[i] >> 60);

		if (kind != FLEXTRACE_WIRE_SLOT_RUN)
			continue;
		core->n_slots++;
		core->last_run = batch->words[i] >> 32 & FLEXTRACE_WIRE_ID_MASK;
		n_wrong += (uint32_t)batch->words[i] != core->last_run; /* job = run */
	}
}

void flextrace_emit_marker_batch(const struct flextrace_marker_batch *batch)
{
	struct seen *core = &seen[batch->core];
	uint32_t i;

	if (batch->n_words && batch->words[0] >> 60 >= FLEXTRACE_WIRE_SLOT_RUN) {
		take_slots(core, batch);
		return;
	}
	n_wrong += batch->first_index < core->next_index;
	core->has_gap |= batch->first_index > core->next_index;
	core->n_words += batch->n_words;
	for (i = 0; i < batch->n_words; i++)
		take_record(core, batch->first_index + i, batch->words[i]);
	core->next_index = batch->first_index + batch->n_words;
}

/* -- which device ------------------------------------------------------------------------------ */

static void *soak_create(const struct flextrace_emulator_config *config);
static int soak_destroy(void *device);
static int soak_submit(void *device, const struct flextrace_emulator_job *job,
                       uint64_t *ret_ticket);
static int soak_wait(void *device, uint32_t core, uint64_t ticket,
                     struct flextrace_emulator_completion *ret_completion);
static void *soak_area(void *device, uint32_t core, size_t *ret_bytes);

/* -- at work ----------------------------------------------------------------------------------- */

struct device {
	void *it;
	uint64_t tickets[N_CORES][N_JOBS];
	struct flextrace_drain_area areas[N_CORES];
	uint32_t n_failed;
	int is_done;
};

static void start(struct device *device, uint32_t policy)
{
	const struct flextrace_emulator_config config = {
		.n_cores = N_CORES,
		.counter_hz = 1000000, /* a blocked core waits longer than tests may take */
		.ring_capacity = 2048,
		.policy = policy,
	};
	uint32_t core, job;

	memset(seen, 0, sizeof(seen));
	n_wrong = 0;
	n_rounds = n_markers / 4 / N_JOBS;
	*device = (struct device){.is_done = 0};
	device->it = soak_create(&config);
	assert_non_null(device->it);
	for (core = 0; core < N_CORES; core++) {
		size_t bytes;
		void *memory = soak_area(device->it, core, &bytes);

		flextrace_drain_area_init(&device->areas[core], 0, memory, bytes);
	}
	for (job = 0; job < N_JOBS; job++) {
		for (core = 0; core < N_CORES; core++) {
			const struct flextrace_emulator_job markers = {
				.core = core,
				.op = FLEXTRACE_EMULATOR_EMIT,
				.job = job + 1,
				.n = n_rounds,
				.kinds = 1u << FLEXTRACE_WIRE_MARK |
			                 1u << FLEXTRACE_WIRE_ZONE_BEGIN |
			                 1u << FLEXTRACE_WIRE_VALUE,
			};

			assert_int_equal(
				soak_submit(device->it, &markers, &device->tickets[core][job]), 0);
		}
	}
}

static void *wait_for_all(void *context)
{
	struct device *device = context;
	struct flextrace_emulator_completion completion;
	uint32_t core, job;

	for (core = 0; core < N_CORES; core++) {
		for (job = 0; job < N_JOBS; job++)
			device->n_failed += soak_wait(device->it, core, device->tickets[core][job],
			                              &completion) < 0;
	}
	__atomic_store_n(&device->is_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Sent = drained + dropped + overwritten, of each core. */
static void check_account(const struct device *device, uint32_t core)
{
	const struct flextrace_drain_stats *stats = &device->areas[core].stats;
	const struct flextrace_wire_area *wire = device->areas[core].memory;
	uint64_t sent = 1 + N_JOBS * job_records();

	sent -= GET(wire->own.ring_run) != GET(wire->run); /* its RUN record never found room */
	assert_int_equal(sent, stats->recorded + stats->dropped + stats->overwritten);
	assert_int_equal(N_JOBS, stats->recorded_runs + stats->overwritten_runs);
	assert_int_equal(stats->refused + stats->resets + stats->unrecorded, 0);
	assert_int_equal(seen[core].n_words, stats->recorded);
	assert_true(seen[core].n_restarts < N_JOBS);
	assert_int_equal(seen[core].n_slots, stats->recorded_runs);
	assert_int_equal(seen[core].next_index, stats->recorded + stats->overwritten);
}

static void report(const struct device *device, const char *what)
{
	struct flextrace_drain_stats sum = {0};
	uint32_t core;

	for (core = 0; core < N_CORES; core++) {
		sum.recorded += device->areas[core].stats.recorded;
		sum.dropped += device->areas[core].stats.dropped;
		sum.overwritten += device->areas[core].stats.overwritten;
	}
	print_message("%s: %u cores, %llu drained, %llu dropped, %llu overwritten\n", what, N_CORES,
	              (unsigned long long)sum.recorded, (unsigned long long)sum.dropped,
	              (unsigned long long)sum.overwritten);
}

static void soak(const char *what, uint32_t policy, void (*host)(struct device *device))
{
	struct device device;
	pthread_t thread;
	uint32_t core;

	start(&device, policy);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_all, &device), 0);
	while (!__atomic_load_n(&device.is_done, __ATOMIC_ACQUIRE))
		host(&device);
	assert_int_equal(pthread_join(thread, NULL), 0);
	flextrace_drain(device.areas, N_CORES, FLEXTRACE_DRAIN_LAST);
	report(&device, what);
	assert_int_equal(device.n_failed, 0);
	assert_int_equal(n_wrong, 0);
	for (core = 0; core < N_CORES; core++)
		check_account(&device, core);
	assert_int_equal(soak_destroy(device.it), 0);
}

static void drain_all(struct device *device)
{
	flextrace_drain(device->areas, N_CORES, 0);
}

static void drain_in_turns(struct device *device)
{
	static struct flextrace_drain_set set = {.n_areas = N_CORES};

	set.areas = device->areas;
	flextrace_drain_some(&set, 3000);
}

static void drain_and_change_policy(struct device *device)
{
	static uint32_t n_calls;
	uint32_t call = n_calls++;

	flextrace_drain_set_policy(&device->areas[call % N_CORES],
	                           (enum flextrace_policy)(call / N_CORES % 3));
	flextrace_drain(device->areas, N_CORES, 0);
}

static void test_soak__stop(void **state)
{
	(void)state;
	is_whole = 0;
	soak("stop", FLEXTRACE_WIRE_STOP, drain_all);
}

static void test_soak__overwrite(void **state)
{
	(void)state;
	is_whole = 1;
	soak("overwrite", FLEXTRACE_WIRE_OVERWRITE, drain_all);
}

static void test_soak__block_loses_nothing(void **state)
{
	(void)state;
	is_whole = 1;
	soak("block, in turns", FLEXTRACE_WIRE_BLOCK, drain_in_turns);
}

static void test_soak__policy_changes_all_the_time(void **state)
{
	(void)state;
	is_whole = 0;
	soak("changing", FLEXTRACE_WIRE_STOP, drain_and_change_policy);
}

static int soak_main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_soak__stop),
		cmocka_unit_test(test_soak__overwrite),
		cmocka_unit_test(test_soak__block_loses_nothing),
		cmocka_unit_test(test_soak__policy_changes_all_the_time),
	};

	if (argc > 1)
		n_markers = (uint32_t)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
