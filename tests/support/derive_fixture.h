/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_fixture.h: a timeline from text and literals, with clocks that the test sets.
 *
 * The fixture stands in for calibrate and align at link time: a stamp of counter c is at host time
 * (ticks >> fake_clocks.shift) + fake_clocks.offset_ns, host times of process p are at time
 * host_ns + fake_clocks.process_ns[p].
 */
#ifndef FLEXTRACE_DERIVE_FIXTURE_H
#define FLEXTRACE_DERIVE_FIXTURE_H

#include "engine/derive/derive.h"
#include "text_source.h"

struct fake_clocks {
	int64_t offset_ns;
	uint32_t shift; /* 2^shift cycles are one ns */
	uint32_t err_ns;
	enum time_status status; /* UNMATCHED: no stamp can be placed */
	int64_t process_ns[8];
	uint32_t process_err_ns;
	enum time_status process_status;
	uint64_t refused; /* number of an operation, from 1 on; 0: none */
};
extern struct fake_clocks fake_clocks;

struct derive_fixture {
	struct text_source source;
	struct identity identity;
	struct ledger ledger;
	struct unwrap_output unwrapped; /* filled by the test between _open and _run */
	struct string_cache strings;
	struct derive *derive;
	struct timeline timeline;
	struct mark_run *marks; /* weak: the last ones */
};

/* Reads text and learns its definitions. Every step asserts that it worked. */
void fixture_open(struct derive_fixture *fixture, const char *text);

/* Adds a control block of device 0 of process 0 with these stamps; the caller refines it until
 * the next call. */
struct tick_op *fixture_op(struct derive_fixture *fixture, const char *name, uint8_t kind,
                           const uint64_t ticks[FLEXTRACE_N_STAMPS]);

/* Starts marks of a run of device 0 of process 0, core 0; index: the record of their batch. */
struct mark_run *fixture_new_marks(struct derive_fixture *fixture, uint32_t index);

/* The last marks that were started, or new ones where those are of another batch. */
struct mark_run *fixture_marks(struct derive_fixture *fixture, uint32_t index);

/* Adds a marker word to these. */
struct tick_mark *fixture_mark(struct derive_fixture *fixture, uint32_t batch, uint8_t kind,
                               uint32_t id, uint64_t ticks);

uint32_t fixture_string(struct derive_fixture *fixture, const char *text);

/* Derives. */
void fixture_run(struct derive_fixture *fixture);

/* Releases, after it checked that the books balance, that tracks nest and that rows are in
 * output order. */
void fixture_close(struct derive_fixture *fixture);

/*
 * The rows as text, one a line; owned by the caller.
 *   host:    "START-END NAME TRACK dDEPTH STATUS [ARGS]", TRACK is t<vtid> or a<vtid> (async)
 *   device:  "START-END KIND NAME TRACK STATUS +-ERR", TRACK is q<queue>/<kind> or c<core>/<cpu>
 *   flows:   "FROM@TRACK>TO@TRACK CORRELATION", or the name of one that a program tells
 * A track that is not lane 0 has ".<lane>" behind it.
 */
char *fixture_host_text(const struct derive_fixture *fixture);
char *fixture_device_text(const struct derive_fixture *fixture);
char *fixture_flow_text(const struct derive_fixture *fixture);

/* Asserts on one of the texts. */
void expect_host(const struct derive_fixture *fixture, const char *expected);
void expect_device(const struct derive_fixture *fixture, const char *expected);
void expect_flows(const struct derive_fixture *fixture, const char *expected);

/* Asserts on how much was lost by this cause. */
void expect_lost(const struct derive_fixture *fixture, enum loss_cause cause, uint64_t count);

#endif
