/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area_read.h: takes runs and ring records out of a marker area, as batches of words.
 *
 * The one reader of the wire format: flextrace_drain() reads areas of a device with it,
 * `flextrace decode` the copies of a dump. Needs nothing of the tracer. What a reader has taken it
 * says in the area itself (`limit`, `read_run`), so the memory must be writable.
 */
#ifndef FLEXTRACE_AREA_READ_H
#define FLEXTRACE_AREA_READ_H

#include <stdint.h>

#include <flextrace/drain.h>
#include <flextrace/events.h>

#include "flextrace/wire.h"

/* What stands in the header and the host's words, in host order. */
struct flextrace_area_header {
	uint32_t core, processor, domain, counter_bits, capacity;
	uint32_t resets, run, head, dropped; /* as firmware counts them */
	uint32_t policy, read_run, strict_from;
	uint32_t is_mixed; /* marker.c was compiled for another clock or place than the markers */
	uint32_t n_read;   /* ring records that a host has read, modulo 2^32 */
	uint64_t n_bytes;  /* of the whole area; 0: it contradicts itself */
};

/* Reads the header of an area, FLEXTRACE_WIRE_RING_OFFSET bytes at least. 0: there is none. */
int flextrace_area_header_read(const void *memory, struct flextrace_area_header *ret_header);

/* Records of the ring that were written since the area was set up and are still there. */
uint32_t flextrace_area_n_there(const struct flextrace_area_header *header);

/* Makes all that is still in an area unread, whatever a host has read of it. Without `has_ring`
 * nothing of its ring waits, which may be missing then. */
void flextrace_area_rewind(void *memory, int has_ring);

#define FLEXTRACE_SLOT_WORDS (4u + FLEXTRACE_WIRE_N_STAMPS)

/* Copies a slot; 0 if it holds another run or changes meanwhile. */
int flextrace_slot_copy(const struct flextrace_wire_slot *slot, uint32_t run,
                        struct flextrace_wire_slot *ret_slot);

/* The words of a slot in a batch, FLEXTRACE_SLOT_WORDS at most; returns how many. */
uint32_t flextrace_slot_words(const struct flextrace_wire_slot *slot, uint64_t *words);

struct flextrace_area_reader {
	/* Gets batches; weak. NULL: what is there is taken and counts as unrecorded. */
	void (*emit)(void *context, const struct flextrace_marker_batch *batch);
	void *context;
	int is_last;          /* the device has stopped: take the run that never ended, too */
	uint32_t max_records; /* of the ring; 0 = all that are there */
};

/* Takes all that is there out of an area; returns the number of words. */
uint64_t flextrace_area_read(struct flextrace_drain_area *area,
                             const struct flextrace_area_reader *reader);

/* Looks whether there is something in an area that nobody has read, and of which nobody knows
 * when it came there. */
void flextrace_area_look(struct flextrace_drain_area *area);

/* Takes what is there as unrecorded, and makes the area one that the firmware has not set up. */
void flextrace_area_forget(struct flextrace_drain_area *area);

/* Has the firmware keep to `policy` (enum flextrace_wire_policy) from now on, also once it sets the
 * area up (again). */
void flextrace_area_set_policy(struct flextrace_drain_area *area, uint32_t policy);

#endif
