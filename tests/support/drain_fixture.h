/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain_fixture.h: a device with one marker area, and a tracer that collects the batches which
 * drain.c emits and checks their order. For tests that link drain.c without the tracer.
 */
#ifndef DRAIN_FIXTURE_H
#define DRAIN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <flextrace/flextrace.h>
#include <flextrace/marker.h>

#include "area_words.h"

#define MAX_CAPACITY 2048u

/* -- the tracer, as far as drain.c needs it: it collects batches ------------------------------- */

static int is_on;
const int *flextrace_i_state[flextrace_i_n_events] = {
	[flextrace_i_event_marker_batch] = &is_on,
};
static enum flextrace_device_mode mode;

struct collected {
	uint64_t n_batches, n_words;
	uint64_t next_index; /* of the ring */
	uint64_t gaps;       /* ring records that no batch brought */
	uint64_t unrecorded; /* that were said to be left out */
	uint64_t dropped;    /* newest, ring */
	uint64_t n_slots;
	uint64_t last_run, lost_runs;
	uint32_t n_boots, boot, counter_bits; /* BOOT words; the newest */
	uint32_t largest;
	uint64_t hash; /* of all ring words with their indices */
	uint32_t device, core, processor, domain;
	uint64_t first[64]; /* the first words, ring or slot */
	uint32_t n_first;
	struct flextrace_name name;
};
static struct collected got;
static uint32_t n_areas_of_test;                         /* order is checked where there is one */
static void (*on_record)(uint64_t index, uint64_t word); /* of the ring; NULL = nothing */
static void (*on_slots)(const struct flextrace_marker_batch *batch);

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
	if (on_slots)
		on_slots(batch);
	assert_true(batch->first_index > got.last_run);
	got.last_run = batch->first_index;
	got.lost_runs = batch->dropped;
}

static void take_ring(const struct flextrace_marker_batch *batch)
{
	uint32_t i;

	if (n_areas_of_test > 1) {
		got.n_words += batch->n_words;
		return;
	}
	assert_true(batch->first_index >= got.next_index);
	assert_true(batch->dropped >= got.dropped);
	got.gaps += batch->first_index - got.next_index;
	got.next_index = batch->first_index + batch->n_words;
	got.dropped = batch->dropped;
	got.n_words += batch->n_words;
	for (i = 0; on_record && i < batch->n_words; i++)
		on_record(batch->first_index + i, batch->words[i]);
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
	if (batch->n_words && batch->words[0] >> 60 == FLEXTRACE_WIRE_BOOT) {
		assert_int_equal(batch->n_words, 1);
		got.n_boots++;
		got.boot = (uint32_t)(batch->words[0] >> 32) & FLEXTRACE_WIRE_ID_MASK;
		got.counter_bits = (uint32_t)batch->words[0];
		if (got.boot & FLEXTRACE_WIRE_BOOT_UNRECORDED) {
			assert_true(batch->first_index >= got.next_index);
			assert_true(batch->dropped >= got.dropped);
			got.unrecorded += batch->first_index - got.next_index;
			got.next_index = batch->first_index;
			got.dropped = batch->dropped;
		}
		return;
	}
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

/* -- a device ---------------------------------------------------------------------------------- */

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
	on_record = NULL;
	on_slots = NULL;
	n_areas_of_test = 1;
	now = 0;
	is_on = 1;
	mode = FLEXTRACE_DEVICE_MODE_DRAIN;
	flextrace_posix_core = (struct flextrace_posix_core){.area = wire, .clock = fake_clock};
	FLEXTRACE_FW_INIT(2, 1, 9, capacity, policy);
	flextrace_drain_area_init(&area, 4, wire, FLEXTRACE_WIRE_AREA_BYTES((size_t)capacity));
}

static inline void marks(uint32_t n)
{
	while (n--)
		FLEXTRACE_MARK("mark");
}

static inline uint64_t drain(unsigned int flags)
{
	return flextrace_drain(&area, 1, flags);
}

static inline void one_run(uint32_t job)
{
	FLEXTRACE_FW_START(job, 3);
	FLEXTRACE_TS(1);
	FLEXTRACE_TS(5);
	FLEXTRACE_FW_END();
}

#endif
