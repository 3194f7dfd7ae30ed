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

#include <flextrace/events.h>

#include "provider/real_clock.h"

/* clang-format off */
#define U32(member)    lttng_ust_field_integer(uint32_t, member, p->member)
#define I32(member)    lttng_ust_field_integer(int32_t, member, p->member)
#define U64(member)    lttng_ust_field_integer(uint64_t, member, p->member)
#define STRING(member) lttng_ust_field_string(member, p->member ? p->member : "")

/* -- definitions -- */

LTTNG_UST_TRACEPOINT_EVENT(flextrace, process,
	LTTNG_UST_TP_ARGS(const struct flextrace_process *, p),
	LTTNG_UST_TP_FIELDS(I32(rank) I32(world_size) U32(pid) U64(start_ns) U64(time_ns)
		STRING(boot_id) U64(time_namespace) STRING(host) STRING(program) STRING(runtime)
		STRING(version) STRING(session)
		lttng_ust_field_integer(uint64_t, real_ns, real_now_ns())))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, device,
	LTTNG_UST_TP_ARGS(const struct flextrace_device *, p),
	LTTNG_UST_TP_FIELDS(U32(device) STRING(uuid) U32(n_cores) U64(core_hz) STRING(name)
		STRING(power_unit) STRING(processors)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, clock_domain,
	LTTNG_UST_TP_ARGS(const struct flextrace_clock_domain *, p),
	LTTNG_UST_TP_FIELDS(U32(device) U32(domain) U32(counter_bits) U64(nominal_hz)
		U32(rate_group)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(flextrace, name,
	LTTNG_UST_TP_ARGS(const struct flextrace_name *, p),
	LTTNG_UST_TP_FIELDS(U32(device) U32(id) STRING(name) STRING(file) U32(line)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(flextrace, name, flextrace, thread_name,
	LTTNG_UST_TP_ARGS(const struct flextrace_name *, p))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(flextrace, name, flextrace, queue_name,
	LTTNG_UST_TP_ARGS(const struct flextrace_name *, p))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(flextrace, name, flextrace, marker_name,
	LTTNG_UST_TP_ARGS(const struct flextrace_name *, p))

/* -- host records -- */

LTTNG_UST_TRACEPOINT_EVENT(flextrace, scope,
	LTTNG_UST_TP_ARGS(const struct flextrace_scope *, p),
	LTTNG_UST_TP_FIELDS(U64(begin_ns) U32(kind) STRING(name) U64(correlation) STRING(file)
		U32(line)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, scope_args,
	LTTNG_UST_TP_ARGS(const struct flextrace_scope_args *, p),
	LTTNG_UST_TP_FIELDS(U64(correlation) STRING(args)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(flextrace, span_edge,
	LTTNG_UST_TP_ARGS(const struct flextrace_span_edge *, p),
	LTTNG_UST_TP_FIELDS(U32(kind) STRING(name) U64(correlation)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(flextrace, span_edge, flextrace, begin,
	LTTNG_UST_TP_ARGS(const struct flextrace_span_edge *, p))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(flextrace, span_edge, flextrace, end,
	LTTNG_UST_TP_ARGS(const struct flextrace_span_edge *, p))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(flextrace, span_edge, flextrace, async_begin,
	LTTNG_UST_TP_ARGS(const struct flextrace_span_edge *, p))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(flextrace, span_edge, flextrace, async_end,
	LTTNG_UST_TP_ARGS(const struct flextrace_span_edge *, p))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, instant,
	LTTNG_UST_TP_ARGS(const struct flextrace_instant *, p),
	LTTNG_UST_TP_FIELDS(STRING(name) U64(correlation)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, counter,
	LTTNG_UST_TP_ARGS(const struct flextrace_counter *, p),
	LTTNG_UST_TP_FIELDS(STRING(name) lttng_ust_field_float(double, value, p->value)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, annotation,
	LTTNG_UST_TP_ARGS(const struct flextrace_annotation *, p),
	LTTNG_UST_TP_FIELDS(STRING(key) STRING(value)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, step,
	LTTNG_UST_TP_ARGS(const struct flextrace_step *, p),
	LTTNG_UST_TP_FIELDS(U64(number)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, window,
	LTTNG_UST_TP_ARGS(const struct flextrace_window *, p),
	LTTNG_UST_TP_FIELDS(U32(edge) STRING(name)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, collective,
	LTTNG_UST_TP_ARGS(const struct flextrace_collective *, p),
	LTTNG_UST_TP_FIELDS(STRING(group) U64(seq) STRING(op) U64(bytes) STRING(peers) U32(phase)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, memory,
	LTTNG_UST_TP_ARGS(const struct flextrace_memory *, p),
	LTTNG_UST_TP_FIELDS(U32(device) U64(address) U64(bytes) U32(op)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, op,
	LTTNG_UST_TP_ARGS(const struct flextrace_op *, p),
	LTTNG_UST_TP_FIELDS(U64(correlation) STRING(type) STRING(attributes) U32(n_cores)
		U32(depth)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, tensor,
	LTTNG_UST_TP_ARGS(const struct flextrace_tensor *, p),
	LTTNG_UST_TP_FIELDS(U64(correlation) U32(is_output) STRING(dims) STRING(layout)
		STRING(dtype) STRING(memory)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, op_info,
	LTTNG_UST_TP_ARGS(const struct flextrace_op_info *, p),
	LTTNG_UST_TP_FIELDS(U64(correlation) STRING(module) STRING(opcode) STRING(op_name)
		STRING(frames)))

/* -- device records -- */

LTTNG_UST_TRACEPOINT_EVENT(flextrace, device_op,
	LTTNG_UST_TP_ARGS(const struct flextrace_device_op *, p),
	LTTNG_UST_TP_FIELDS(U32(device) U32(domain) U32(queue) U64(job) U64(correlation) U32(kind)
		STRING(name) U64(submit_ns) U64(complete_ns)
		lttng_ust_field_array(uint32_t, ts, p->ts, FLEXTRACE_N_STAMPS)
		U32(power) U64(bytes) I32(peer) STRING(group) STRING(type)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(flextrace, bracket,
	LTTNG_UST_TP_ARGS(const struct flextrace_bracket *, p),
	LTTNG_UST_TP_FIELDS(U32(device) U32(queue) U64(job) U64(correlation) STRING(name)
		U64(host_ns)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(flextrace, bracket, flextrace, submit,
	LTTNG_UST_TP_ARGS(const struct flextrace_bracket *, p))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(flextrace, bracket, flextrace, complete,
	LTTNG_UST_TP_ARGS(const struct flextrace_bracket *, p))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, host_estimate,
	LTTNG_UST_TP_ARGS(const struct flextrace_host_estimate *, p),
	LTTNG_UST_TP_FIELDS(U32(device) U32(queue) U64(job) U32(kind) U64(begin_ns) U64(end_ns)
		STRING(source)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, marker_batch,
	LTTNG_UST_TP_ARGS(const struct flextrace_marker_batch *, p),
	LTTNG_UST_TP_FIELDS(U32(device) U32(core) U32(processor) U32(domain) U64(first_index)
		U64(dropped)
		lttng_ust_field_sequence(uint64_t, words, p->words, uint32_t, p->n_words)))

LTTNG_UST_TRACEPOINT_EVENT(flextrace, clock_sync,
	LTTNG_UST_TP_ARGS(const struct flextrace_clock_sync *, p),
	LTTNG_UST_TP_FIELDS(U32(device) U32(domain) U64(host_before_ns) U64(ticks)
		U64(host_after_ns)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
