/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.h: a computed counter of devices: each interval raises it from its start to its end, what
 * lies side by side adds up, and all that happens at one time is one sample.
 *
 * Order: levels_init(), levels_add() in any order, levels_finish(); release in any case.
 */
#ifndef FLEXTRACE_LEVELS_H
#define FLEXTRACE_LEVELS_H

#include "model/timeline.h"
#include "base/row_sorter.h"
#include "base/text/strings.h"

struct levels {
	struct timeline *timeline; /* weak */
	struct level_unit *units;  /* owned: per device */
	struct row_sorter edges, rows;
	uint32_t name; /* string */
};

/* FLEXTRACE_E_MEMORY or 0; likewise below. */
int levels_init(struct levels *levels, struct timeline *timeline, struct string_cache *strings,
                const char *name);

/* Raises the counter of a device by `value` > 0 while a row of a control block lasts; one without
 * length does nothing. */
int levels_add(struct levels *levels, uint32_t device, const struct device_row *row, double value);

/* Puts the samples among the other counters of the timeline. */
int levels_finish(struct levels *levels);

void levels_release(struct levels *levels);

/* Makes a counter of what `add` adds. */
int levels_make(struct timeline *timeline, struct string_cache *strings, const char *name,
                int (*add)(struct levels *levels, void *context), void *context);

/* Puts rows (emptied) among the other counters of the timeline. */
int levels_merge_rows(struct timeline *timeline, struct row_sorter *rows);

#endif
