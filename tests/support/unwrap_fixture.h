/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwrap_fixture.h: from the text of some events to what unwrap makes of them.
 *
 * Process 1 belongs to the recording, process 2 to another. Device 0 of process 1 has a 32-bit
 * counter (domain 0) and a 64-bit one (domain 7).
 */
#ifndef UNWRAP_FIXTURE_H
#define UNWRAP_FIXTURE_H

#include "text_source.h"
#include "engine/unwrap/unwrap.h"

#define WRAP (UINT64_C(1) << 32)

struct fixture {
	struct text_source source;
	struct identity identity;
	struct ledger *ledger; /* weak: the decoder's */
	struct unwrap_output out;
};

/* cmocka's set-up and tear-down. */
int fixture_start(void **state);
int fixture_stop(void **state);

/* Reads lines of text_source.h; call once. */
struct fixture *unwrap_text(void **state, const char *text);

/* The n-th of each; it must be there. */
const struct tick_op *op_at(struct fixture *fixture, uint32_t at);
const struct tick_mark *mark_at(struct fixture *fixture, uint32_t at);
const struct mark_run *run_of_mark_at(struct fixture *fixture, uint32_t at);
const struct bracket *bracket_at(struct fixture *fixture, uint32_t at);
const struct sync_point *point_at(struct fixture *fixture, uint32_t at);

/* Appends a device_op at 1 GHz: the first stamp at `ticks` + 3000, in a bracket of 9 us. */
void add_op(char *text, size_t bytes, uint64_t host_ns, uint64_t ticks, uint32_t job);

#endif
