/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_builder.h: traces of Perfetto, packet by packet, and what becomes of them. They begin
 * with a snapshot of clocks and the tracks below, all of a process.
 */
#ifndef PERFETTO_BUILDER_H
#define PERFETTO_BUILDER_H

#include <stdbool.h>

#include "base/protobuf/perfetto_fields.h"
#include "flex_fixture.h"
#include "protobuf_builder.h"

#define REAL_NS UINT64_C(1700000000000000000)
#define BOOT_NS UINT64_C(5000000000)

enum { PROCESS_UUID = 10, THREAD_UUID = 11, NAMED_UUID = 12, COUNTER_UUID = 13 };
enum { PID = 77, TID = 78 };

typedef struct protobuf_builder trace;

trace *start(void); /* weak; one at a time */

void begin_packet(trace *to, uint64_t flags);
void put_clock(trace *to, uint64_t id, uint64_t time);

/* A descriptor, open. */
void begin_track(trace *to, uint64_t uuid, uint64_t parent);
void end_track(trace *to);

/* An event of a track, open, at a time on the trace's clock since the snapshot. */
void begin_event(trace *to, uint64_t ns, uint64_t type, uint64_t track);
void end_event(trace *to);
void put_begin(trace *to, uint64_t ns, uint64_t track, const char *name);
void put_end(trace *to, uint64_t ns, uint64_t track);
void put_arg(trace *to, const char *key, uint32_t field, uint64_t value);

/* A begin whose texts are interned in its packet, or were. */
void put_interned_begin(trace *to, uint64_t ns, uint64_t flags, bool has_data);

/* One of Chrome's older events; 0: no id, no duration. */
void put_legacy(trace *to, uint64_t ns, uint64_t phase, uint64_t id, uint64_t dur_us);

/* Converts it, with cmocka's state. */
struct flex_run *convert(void **state, const trace *of);
struct flex_run *convert_bytes(void **state, const char *name, const void *bytes, size_t n);
uint64_t lost(const struct flex_run *run, enum loss_cause cause);

#endif
