/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aie_fixture.h: AIE traces from a few letters, and what became of them.
 */
#ifndef AIE_FIXTURE_H
#define AIE_FIXTURE_H

#include "flex_fixture.h"

/* JSON of the core of tile 2,1 (pid 0), owned. `edges`: words of slot, phase and cycle, "7B1 7E20":
 * slots 0 and 1 are INSTR_EVENT_0 and _1, 2 is INSTR_VECTOR, 7 LOCK_STALL. */
char *aie_json(const char *edges);

/* `edges` with those of another core (tile 3,1, pid 1) behind them. */
char *aie_json_of_two(const char *edges, const char *others);

/* One line for all rows of a device, owned: "kernel 10-83; LOCK_STALL 1-9 open; ". In order of
 * time. */
char *aie_rows(const struct flex_run *run, const char *device);

/* What was lost of that; what of anything. */
uint64_t aie_lost(const struct flex_run *run, enum loss_cause cause);

#endif
