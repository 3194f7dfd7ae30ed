/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoints.h: the events of the trace model as LTTng tracepoints. Event, field and struct member
 * names are the same everywhere; each event takes its payload struct by pointer.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER flextrace

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "provider/tracepoints.h"

#if !defined(FLEXTRACE_TRACEPOINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FLEXTRACE_TRACEPOINTS_H

#include <lttng/tracepoint.h>
#include <lttng/ust-version.h>

#include <flextrace/flextrace_impl.h>

#include "payload.h"
#include "provider/real_clock.h"

/* clang-format off */
#define U32(member)    lttng_ust_field_integer(uint32_t, member, p->member)
#define I32(member)    lttng_ust_field_integer(int32_t, member, p->member)
#define U64(member)    lttng_ust_field_integer(uint64_t, member, p->member)
#define STRING(member) lttng_ust_field_string(member, p->member ? p->member : "")

/* The same of a string that nobody changes meanwhile: where LTTng writes, all of it at once and not
 * byte by byte. That is the one pass of this file for which LTTng defines how lengths are taken.
 * The names are LTTng's own, and known to be so in 2.13. */
#undef TEXT
#if defined(lttng_ust__get_dynamic_len) && LTTNG_UST_MAJOR_VERSION == 2 && \
	LTTNG_UST_MINOR_VERSION == 13
#define TEXT(member) \
	__chan->ops->event_write(&__ctx, p->member ? p->member : "", \
				 lttng_ust__get_dynamic_len(member), 1);
#else
#define TEXT(member) STRING(member)
#endif

#define FIELDS_flextrace_process I32(rank) I32(world_size) U32(pid) U64(start_ns) U64(time_ns) \
	STRING(boot_id) U64(time_namespace) STRING(host) STRING(program) STRING(runtime) \
	STRING(version) STRING(session) \
	lttng_ust_field_integer(uint64_t, real_ns, real_now_ns()) STRING(dialect)
#define FIELDS_flextrace_device U32(device) STRING(uuid) U32(n_cores) U64(core_hz) STRING(name) \
	STRING(power_unit) STRING(processors)
#define FIELDS_flextrace_clock_domain U32(device) U32(domain) U32(counter_bits) U64(nominal_hz) \
	U32(rate_group)
#define FIELDS_flextrace_name U32(device) U32(id) STRING(name) STRING(file) U32(line)
#define FIELDS_flextrace_scope U32(kind) U64(begin_ns) STRING(name) U64(correlation) \
	TEXT(args) TEXT(file) U32(line)
#define FIELDS_flextrace_span U32(kind) U64(begin_ns) U64(end_ns) STRING(name) U64(correlation) \
	TEXT(args) TEXT(file) U32(line)
#define FIELDS_flextrace_scope_args U64(correlation) STRING(args)
#define FIELDS_flextrace_span_edge U32(kind) STRING(name) U64(correlation)
#define FIELDS_flextrace_instant STRING(name) U64(correlation)
#define FIELDS_flextrace_counter STRING(name) lttng_ust_field_float(double, value, p->value) \
	STRING(unit) I32(device)
#define FIELDS_flextrace_flow U32(phase) U32(device) U32(queue) STRING(name) U64(id)
#define FIELDS_flextrace_annotation STRING(key) STRING(value)
#define FIELDS_flextrace_step U64(number)
#define FIELDS_flextrace_window U32(edge) STRING(name)
#define FIELDS_flextrace_collective STRING(group) U64(seq) STRING(op) U64(bytes) STRING(peers) \
	U32(phase)
#define FIELDS_flextrace_memory U32(device) U64(address) U64(bytes) U32(op)
#define FIELDS_flextrace_op U64(correlation) STRING(type) STRING(attributes) U32(n_cores) \
	U32(depth)
#define FIELDS_flextrace_tensor U64(correlation) U32(is_output) STRING(dims) STRING(layout) \
	STRING(dtype) STRING(memory)
#define FIELDS_flextrace_op_info U64(correlation) STRING(module) STRING(opcode) STRING(op_name) \
	STRING(frames)
#define FIELDS_flextrace_device_op U32(device) U32(domain) U32(queue) U64(job) U64(correlation) \
	U32(kind) STRING(name) U64(submit_ns) U64(complete_ns) \
	lttng_ust_field_array(uint32_t, ts, p->ts, FLEXTRACE_N_STAMPS) U32(power) U64(bytes) \
	I32(peer) STRING(group) STRING(type) \
	lttng_ust_field_sequence(uint64_t, ts64, p->ts64, uint32_t, payload_n_wide_stamps(p)) \
	STRING(args)
#define FIELDS_flextrace_bracket U32(device) U32(queue) U64(job) U64(correlation) \
	STRING(name) U64(host_ns)
#define FIELDS_flextrace_host_estimate U32(device) U32(queue) U64(job) U32(kind) U64(begin_ns) \
	U64(end_ns) STRING(source)
#define FIELDS_flextrace_marker_batch U32(device) U32(core) U32(processor) U32(domain) \
	U64(first_index) U64(dropped) \
	lttng_ust_field_sequence(uint64_t, words, p->words, uint32_t, p->n_words)
#define FIELDS_flextrace_clock_sync U32(device) U32(domain) U64(host_before_ns) U64(ticks) \
	U64(host_after_ns)

#define EVENT(event, payload) \
	LTTNG_UST_TRACEPOINT_EVENT(flextrace, event, LTTNG_UST_TP_ARGS(const struct payload *, p), \
		LTTNG_UST_TP_FIELDS(FIELDS_##payload))
FLEXTRACE_I_EVENTS(EVENT)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
