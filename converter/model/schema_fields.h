/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_fields.h: the one list of the fields of every payload: what a trace calls them, and where
 * they stand in the record that is made of it. A payload `x` has `x_fields`, and records of it have
 * x_RECORD_BYTES.
 *
 * Others ask schema_of(). Here the lists are visible to the compiler, so that decode can be made of
 * them without a loop for each event.
 */
#ifndef FLEXTRACE_SCHEMA_FIELDS_H
#define FLEXTRACE_SCHEMA_FIELDS_H

#include "schema.h"

/* clang-format off */
#define FIELDS(payload, record)                                                \
	enum { payload##_RECORD_BYTES = sizeof(struct record_##record) };      \
	static const struct schema_field payload##_fields[]
#define FIELD(payload, member, type, record, to)                               \
	#member, SCHEMA_##type, offsetof(struct flextrace_##payload, member),  \
	offsetof(struct record_##record, to)

/* R: the record says nothing without it; F: may be missing (0 or ""). */
#define R(payload, member, type, record, to) \
	{FIELD(payload, member, type, record, to), .is_required = true}
#define F(payload, member, type, record, to) \
	{FIELD(payload, member, type, record, to), .is_required = false}
#define REPEATED(payload, member, record, to) \
	{FIELD(payload, member, STRING, record, to), .is_repeated = true}
#define ARGS(payload, record) \
	{FIELD(payload, args, STRING, record, args), .is_args = true}
/* The same of kinds, and of times of the host. */
#define R_KIND(payload, member, n) \
	{FIELD(payload, member, U32, scope, head.kind), .is_required = true, .n_kinds = (n)}
#define F_KIND(payload, member, n) {FIELD(payload, member, U32, scope, head.kind), .n_kinds = (n)}
/* Those that may be of a newer version. */
#define R_NEW_KIND(payload, member, n)                                         \
	{FIELD(payload, member, U32, scope, head.kind), .is_required = true,   \
	 .n_kinds = (n), .may_be_newer = true}
#define F_NEW_KIND(payload, member, n)                                         \
	{FIELD(payload, member, U32, scope, head.kind), .n_kinds = (n), .may_be_newer = true}
#define R_TIME(payload, member, record) \
	{FIELD(payload, member, U64, record, member), .is_required = true, .is_host_time = true}
#define F_TIME(payload, member, record) \
	{FIELD(payload, member, U64, record, member), .is_host_time = true}

FIELDS(process, process) = {
	F(process, rank, I32, process, rank),
	F(process, world_size, I32, process, world_size),
	F(process, pid, U32, process, pid),
	R_TIME(process, start_ns, process),
	F(process, time_ns, U64, process, time_ns),
	F(process, boot_id, STRING, process, boot_id),
	F(process, time_namespace, U64, process, time_namespace),
	F(process, host, STRING, process, host),
	F(process, program, STRING, process, head.name),
	F(process, runtime, STRING, process, runtime),
	F(process, version, STRING, process, version),
	F(process, session, STRING, process, session),
	F(process, real_ns, U64, process, real_ns),
	F(process, dialect, STRING, process, dialect),
};
FIELDS(device, device) = {
	R(device, device, U32, device, device),
	F(device, uuid, STRING, device, uuid),
	F(device, n_cores, U32, device, n_cores),
	F(device, core_hz, U64, device, core_hz),
	F(device, name, STRING, device, head.name),
	F(device, power_unit, STRING, device, power_unit),
	F(device, processors, STRING, device, processors),
};
FIELDS(clock_domain, clock_domain) = {
	R(clock_domain, device, U32, clock_domain, device),
	R(clock_domain, domain, U32, clock_domain, domain),
	F(clock_domain, counter_bits, U32, clock_domain, counter_bits),
	F(clock_domain, nominal_hz, U64, clock_domain, nominal_hz),
	F(clock_domain, rate_group, U32, clock_domain, rate_group),
};
FIELDS(name, name) = {
	F(name, device, U32, name, device),
	R(name, id, U32, name, id),
	R(name, name, STRING, name, head.name),
	F(name, file, STRING, name, file),
	F(name, line, U32, name, line),
};
FIELDS(scope, scope) = {
	F_NEW_KIND(scope, kind, FLEXTRACE_RUNTIME_KIND_COUNT),
	R_TIME(scope, begin_ns, scope),
	F(scope, name, STRING, scope, head.name),
	F(scope, correlation, U64, scope, correlation),
	ARGS(scope, scope),
	REPEATED(scope, file, scope, file),
	F(scope, line, U32, scope, line),
};
FIELDS(span, span) = {
	F_NEW_KIND(span, kind, FLEXTRACE_RUNTIME_KIND_COUNT),
	R_TIME(span, begin_ns, span),
	R_TIME(span, end_ns, span),
	F(span, name, STRING, span, head.name),
	F(span, correlation, U64, span, correlation),
	ARGS(span, span),
	REPEATED(span, file, span, file),
	F(span, line, U32, span, line),
};
FIELDS(scope_args, text) = {
	F(scope_args, correlation, U64, text, correlation),
	R(scope_args, args, STRING, text, text),
};
FIELDS(edge, edge) = {
	F_NEW_KIND(span_edge, kind, FLEXTRACE_RUNTIME_KIND_COUNT),
	F(span_edge, name, STRING, edge, head.name),
	F(span_edge, correlation, U64, edge, correlation),
};
FIELDS(instant, value) = {
	R(instant, name, STRING, value, head.name),
	F(instant, correlation, U64, value, u.correlation),
};
FIELDS(counter, counter) = {
	F(counter, name, STRING, counter, head.name),
	R(counter, value, DOUBLE, counter, value),
	F(counter, unit, STRING, counter, unit),
	F(counter, device, I32, counter, device),
};
FIELDS(flow, flow) = {
	R_NEW_KIND(flow, phase, FLEXTRACE_FLOW_PHASE_COUNT),
	F(flow, device, U32, flow, device),
	F(flow, queue, U32, flow, queue),
	F(flow, name, STRING, flow, head.name),
	R(flow, id, U64, flow, id),
};
FIELDS(annotation, text) = {
	R(annotation, key, STRING, text, head.name),
	F(annotation, value, STRING, text, text),
};
FIELDS(step, value) = {
	R(step, number, U64, value, u.number),
};
FIELDS(window, value) = {
	R_KIND(window, edge, FLEXTRACE_EDGE_END + 1),
	F(window, name, STRING, value, head.name),
};
FIELDS(memory, memory) = {
	F(memory, device, U32, memory, device),
	R(memory, address, U64, memory, address),
	F(memory, bytes, U64, memory, bytes),
	R_KIND(memory, op, FLEXTRACE_MEMORY_RESIZE + 1),
};
FIELDS(op, op) = {
	R(op, correlation, U64, op, correlation),
	F(op, type, STRING, op, head.name),
	F(op, attributes, STRING, op, text[0]),
	F(op, n_cores, U32, op, n_cores),
	F(op, depth, U32, op, depth),
};
FIELDS(tensor, op) = {
	R(tensor, correlation, U64, op, correlation),
	F(tensor, is_output, U32, op, n_cores),
	F(tensor, dims, STRING, op, head.name),
	F(tensor, layout, STRING, op, text[0]),
	F(tensor, dtype, STRING, op, text[1]),
	F(tensor, memory, STRING, op, text[2]),
};
FIELDS(op_info, op) = {
	R(op_info, correlation, U64, op, correlation),
	F(op_info, module, STRING, op, text[0]),
	F(op_info, opcode, STRING, op, text[1]),
	F(op_info, op_name, STRING, op, head.name),
	F(op_info, frames, STRING, op, text[2]),
};
FIELDS(device_op, device_op) = {
	R(device_op, device, U32, device_op, device),
	F(device_op, domain, U32, device_op, domain),
	F(device_op, queue, U32, device_op, queue),
	F(device_op, job, U64, device_op, job),
	F(device_op, correlation, U64, device_op, correlation),
	R_NEW_KIND(device_op, kind, FLEXTRACE_DEVICE_KIND_COUNT_FULL),
	F(device_op, name, STRING, device_op, head.name),
	F_TIME(device_op, submit_ns, device_op),
	F_TIME(device_op, complete_ns, device_op),
	F(device_op, ts, TS, device_op, ticks32),
	F(device_op, power, U32, device_op, power),
	F(device_op, bytes, U64, device_op, bytes),
	F(device_op, peer, I32, device_op, peer),
	F(device_op, group, STRING, device_op, group),
	F(device_op, type, STRING, device_op, type),
	F(device_op, ts64, TS64, device_op, ticks64),
	ARGS(device_op, device_op),
};
FIELDS(bracket, bracket) = {
	R(bracket, device, U32, bracket, device),
	F(bracket, queue, U32, bracket, queue),
	R(bracket, job, U64, bracket, job),
	F(bracket, correlation, U64, bracket, correlation),
	F(bracket, name, STRING, bracket, head.name),
	R_TIME(bracket, host_ns, bracket),
};
FIELDS(host_estimate, host_estimate) = {
	R(host_estimate, device, U32, host_estimate, device),
	F(host_estimate, queue, U32, host_estimate, queue),
	R(host_estimate, job, U64, host_estimate, job),
	F_KIND(host_estimate, kind, FLEXTRACE_ESTIMATE_COUNT),
	R_TIME(host_estimate, begin_ns, host_estimate),
	R_TIME(host_estimate, end_ns, host_estimate),
	REPEATED(host_estimate, source, host_estimate, head.name),
};
FIELDS(marker_batch, marker_batch) = {
	R(marker_batch, device, U32, marker_batch, device),
	F(marker_batch, core, U32, marker_batch, core),
	F(marker_batch, processor, U32, marker_batch, processor),
	F(marker_batch, domain, U32, marker_batch, domain),
	R(marker_batch, first_index, U64, marker_batch, first_index),
	F(marker_batch, dropped, U64, marker_batch, dropped),
	R(marker_batch, words, WORDS, marker_batch, words),
};
FIELDS(clock_sync, clock_sync) = {
	R(clock_sync, device, U32, clock_sync, device),
	F(clock_sync, domain, U32, clock_sync, domain),
	R_TIME(clock_sync, host_before_ns, clock_sync),
	R(clock_sync, ticks, U64, clock_sync, ticks),
	R_TIME(clock_sync, host_after_ns, clock_sync),
};
FIELDS(collective, collective) = {
	R(collective, group, STRING, collective, group),
	R(collective, seq, U64, collective, seq),
	F(collective, op, STRING, collective, head.name),
	F(collective, bytes, U64, collective, bytes),
	F(collective, peers, STRING, collective, peers),
	R_KIND(collective, phase, FLEXTRACE_PHASE_EXIT + 1),
};
FIELDS(restored, restored) = {
	R(restored, device, U32, restored, device),
	F(restored, queue, U32, restored, queue),
	R_KIND(restored, kind, RESTORED_KIND_COUNT),
	F(restored, is_part, U32, restored, is_part),
	F(restored, op_kind, U32, restored, op_kind),
	R_TIME(restored, begin_ns, restored),
	R_TIME(restored, end_ns, restored),
	F(restored, err_ns, U32, restored, err_ns),
	F(restored, power, U32, restored, power),
	F(restored, job, U64, restored, job),
	F(restored, correlation, U64, restored, correlation),
	F(restored, name, STRING, restored, head.name),
	F(restored, ticks1, U64, restored, ticks[0]),
	F(restored, ticks2, U64, restored, ticks[1]),
	F(restored, ticks3, U64, restored, ticks[2]),
	F(restored, ticks4, U64, restored, ticks[3]),
	F(restored, ticks5, U64, restored, ticks[4]),
	F(restored, bytes, U64, restored, bytes),
	F(restored, peer, I32, restored, peer),
	F(restored, group, STRING, restored, group),
	F(restored, type, STRING, restored, type),
	F(restored, core, U32, restored, core),
	F(restored, processor, U32, restored, processor),
	F(restored, run, U64, restored, run),
	F(restored, value, DOUBLE, restored, value),
	F(restored, file, STRING, restored, file),
	F(restored, line, U32, restored, line),
	F(restored, domain, U32, restored, domain),
	F(restored, segment, U32, restored, segment),
	F(restored, sample_before_ns, U32, restored, sample_before_ns),
};

#undef FIELDS
#undef FIELD
#undef R
#undef F
#undef REPEATED
#undef ARGS
#undef R_KIND
#undef F_KIND
#undef R_NEW_KIND
#undef F_NEW_KIND
#undef R_TIME
#undef F_TIME
/* clang-format on */

#endif
