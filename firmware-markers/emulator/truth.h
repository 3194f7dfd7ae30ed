/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.h: the ground-truth file of an emulated device, one row per stamp that a core took:
 *
 *   device,core,kind,id,run,job,ticks,host_ns,domain
 *
 * `kind` is fw_start, kernel_start, kernel_end, fw_end, ts1..ts5 (id 0), or mark, zone_begin,
 * zone_end, value (id = marker id). `ticks` are all 64 bits of the counter, `host_ns` the
 * CLOCK_MONOTONIC time they were made from, `domain` the clock domain of the counter. Rows of one
 * core are in time order.
 *
 * Each core collects rows of its own; a full buffer is written under the file's lock.
 */
#ifndef EMULATOR_TRUTH_H
#define EMULATOR_TRUTH_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

struct truth_row {
	uint32_t kind; /* enum flextrace_wire_kind */
	uint32_t id;   /* SLOT_STAMP: enum flextrace_wire_stamp */
	uint32_t run;
	uint64_t job, ticks, host_ns;
};

struct truth_file {
	FILE *stream; /* owned; NULL = no truth is kept */
	pthread_mutex_t lock;
	uint32_t device;
	int failed; /* a row could not be written */
};

#define TRUTH_ROWS 1024u

struct truth_buffer { /* of one core */
	uint32_t core, domain;
	uint32_t n_rows;
	struct truth_row rows[TRUTH_ROWS];
};

/* Creates the file; `path` NULL keeps no truth. Negative errno if it cannot be made. */
int truth_open(struct truth_file *file, const char *path, uint32_t device);

/* Closes it; -EIO if a row is missing in it. */
int truth_close(struct truth_file *file);

/* Of a core; free(). NULL: no memory. */
struct truth_buffer *truth_buffer_new(uint32_t core, uint32_t domain);

/* Adds a row. A second fw_start of a run replaces the first: the core read its counter again. */
void truth_add(struct truth_file *file, struct truth_buffer *buffer, const struct truth_row *row);
void truth_flush(struct truth_file *file, struct truth_buffer *buffer);

#endif
