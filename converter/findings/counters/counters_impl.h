/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters_impl.h: what the computed counters share. Each is one function of counters_input, called
 * where the counter is on, which appends its rows.
 *
 *   levels.c       what intervals of a device add up to at each time
 *   preps.c        ConcurrentPreps
 *   power_watts.c  Power
 *   rates.c        TransferBW and PT Active, by levels
 */
#ifndef FLEXTRACE_COUNTERS_IMPL_H
#define FLEXTRACE_COUNTERS_IMPL_H

#include "base/row_sorter.h"
#include "base/text/strings.h"
#include "counters.h"
#include "model/timeline/timeline_read.h"

/* One of the computed counters in the making. */
struct counter_maker {
	const struct counters_input *input; /* weak, both */
	struct row_sorter *rows;            /* struct counter_row, of all counters */
	uint32_t name;                      /* string */
};

/* Where on a device a value begins. */
struct counter_sample {
	int64_t time_ns;
	uint32_t device;
	uint32_t source; /* index of struct tick_op: the control block that is the cause */
	uint32_t err_ns;
	uint8_t status; /* enum time_status */
};

/* FLEXTRACE_E_MEMORY or 0, all below. */
int counter_add_row(struct counter_maker *maker, const struct counter_sample *sample, double value);

int power_watts_add(struct counter_maker *maker);
int transfer_bw_add(struct counter_maker *maker);
int pt_active_add(struct counter_maker *maker);
int preps_add(struct counter_maker *maker);

/* -- levels.c ------------------------------------------------------------------------------- */

/* Each interval raises the counter from its start to its end; what lies side by side adds up, and
 * all that happens on a device at one time is one sample. */
struct levels {
	struct counter_maker *maker; /* weak */
	struct level_unit *units;    /* owned: per device */
	struct row_sorter edges;
};

int levels_init(struct levels *levels, struct counter_maker *maker);

/* Raises the counter of a device by `value` > 0 while a row of a control block lasts; one without
 * length does nothing. */
int levels_add(struct levels *levels, uint32_t device, const struct device_row *row, double value);

/* Makes the rows, if `code` is not negative, and frees all. Returns `code` or an error. */
int levels_finish(struct levels *levels, int code);

#endif
