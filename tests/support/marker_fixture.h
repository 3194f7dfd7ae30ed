/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marker_fixture.h: a core with a marker area whose clock counts its readings in steps of 16, for
 * tests that look into the ring with their own eyes.
 */
#ifndef MARKER_FIXTURE_H
#define MARKER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <flextrace/marker.h>

#include "area_words.h"

#define MAX_CAPACITY 64u

static union {
	struct flextrace_wire_area wire;
	uint8_t bytes[FLEXTRACE_WIRE_AREA_BYTES(MAX_CAPACITY) + 8];
} memory;
static struct flextrace_wire_area *const area = &memory.wire;

static uint64_t now;
static uint32_t n_waits;

static uint64_t fake_clock(void *context)
{
	(void)context;
	now += 16;
	return now;
}

/* A host that makes room for one record while a blocked core waits. */
static void make_room(void *context)
{
	(void)context;
	n_waits++;
	SET(area->limit, GET(area->limit) + 1);
}

static void boot(uint32_t capacity, uint32_t policy)
{
	memset(&memory, 0xa5, sizeof(memory));
	now = 0;
	n_waits = 0;
	flextrace_posix_core = (struct flextrace_posix_core){
		.area = area,
		.clock = fake_clock,
		.wait = make_room,
	};
	FLEXTRACE_FW_INIT(3, 1, 7, capacity, policy);
}

static inline const struct flextrace_wire_record *record_at(uint32_t index)
{
	return &area->ring[index & (GET(area->capacity) - 1)];
}

static inline uint32_t kind_of(uint32_t index)
{
	return GET(record_at(index)->kind_id) >> FLEXTRACE_WIRE_ID_BITS;
}

static inline uint32_t id_of(uint32_t index)
{
	return GET(record_at(index)->kind_id) & FLEXTRACE_WIRE_ID_MASK;
}

static inline uint32_t ticks_of(uint32_t index)
{
	return GET(record_at(index)->ticks);
}

static inline void marks(uint32_t n)
{
	while (n--)
		FLEXTRACE_MARK("mark");
}

#endif
