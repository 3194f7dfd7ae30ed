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

/* Has the firmware keep to `policy` (enum flextrace_wire_policy) from now on, also once it sets the
 * area up (again). */
void flextrace_area_set_policy(struct flextrace_drain_area *area, uint32_t policy);

#endif
