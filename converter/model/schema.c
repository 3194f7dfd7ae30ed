/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"

#include <string.h>

#define PROVIDER "flextrace:"

/* F: may be missing (0 or ""); R: the record says nothing without it. */
#define F(payload, member, type)                                                            \
	{                                                                                   \
#member, SCHEMA_##type, offsetof(struct flextrace_##payload, member), false \
	}
#define R(payload, member, type)                                                           \
	{                                                                                  \
#member, SCHEMA_##type, offsetof(struct flextrace_##payload, member), true \
	}

/* clang-format off */
static const struct schema_field process_fields[] = {
	F(process, rank, I32),
	F(process, world_size, I32),
	F(process, pid, U32),
	R(process, start_ns, U64),
	F(process, time_ns, U64),
	F(process, boot_id, STRING),
	F(process, time_namespace, U64),
	F(process, host, STRING),
	F(process, program, STRING),
	F(process, runtime, STRING),
	F(process, version, STRING),
	F(process, session, STRING),
	F(process, real_ns, U64),
};
static const struct schema_field device_fields[] = {
	R(device, device, U32),
	F(device, uuid, STRING),
	F(device, n_cores, U32),
	F(device, core_hz, U64),
	F(device, name, STRING),
	F(device, power_unit, STRING),
	F(device, processors, STRING),
};
static const struct schema_field clock_domain_fields[] = {
	R(clock_domain, device, U32),
	R(clock_domain, domain, U32),
	F(clock_domain, counter_bits, U32),
	F(clock_domain, nominal_hz, U64),
	F(clock_domain, rate_group, U32),
};
static const struct schema_field name_fields[] = {
	F(name, device, U32),
	R(name, id, U32),
	R(name, name, STRING),
	F(name, file, STRING),
	F(name, line, U32),
};
static const struct schema_field scope_fields[] = {
	R(scope, begin_ns, U64),
	F(scope, kind, U32),
	F(scope, name, STRING),
	F(scope, correlation, U64),
	F(scope, file, STRING),
	F(scope, line, U32),
};
static const struct schema_field scope_args_fields[] = {
	F(scope_args, correlation, U64),
	R(scope_args, args, STRING),
};
static const struct schema_field edge_fields[] = {
	F(span_edge, kind, U32),
	F(span_edge, name, STRING),
	F(span_edge, correlation, U64),
};
static const struct schema_field instant_fields[] = {
	R(instant, name, STRING),
	F(instant, correlation, U64),
};
static const struct schema_field counter_fields[] = {
	F(counter, name, STRING),
	R(counter, value, DOUBLE),
};
static const struct schema_field annotation_fields[] = {
	R(annotation, key, STRING),
	F(annotation, value, STRING),
};
static const struct schema_field step_fields[] = {
	R(step, number, U64),
};
static const struct schema_field window_fields[] = {
	R(window, edge, U32),
	F(window, name, STRING),
};
static const struct schema_field memory_fields[] = {
	F(memory, device, U32),
	R(memory, address, U64),
	F(memory, bytes, U64),
	R(memory, op, U32),
};
static const struct schema_field op_fields[] = {
	R(op, correlation, U64),
	F(op, type, STRING),
	F(op, attributes, STRING),
	F(op, n_cores, U32),
	F(op, depth, U32),
};
static const struct schema_field tensor_fields[] = {
	R(tensor, correlation, U64),
	F(tensor, is_output, U32),
	F(tensor, dims, STRING),
	F(tensor, layout, STRING),
	F(tensor, dtype, STRING),
	F(tensor, memory, STRING),
};
static const struct schema_field op_info_fields[] = {
	R(op_info, correlation, U64),
	F(op_info, module, STRING),
	F(op_info, opcode, STRING),
	F(op_info, op_name, STRING),
	F(op_info, frames, STRING),
};
static const struct schema_field device_op_fields[] = {
	R(device_op, device, U32),
	F(device_op, domain, U32),
	F(device_op, queue, U32),
	F(device_op, job, U64),
	F(device_op, correlation, U64),
	R(device_op, kind, U32),
	F(device_op, name, STRING),
	F(device_op, submit_ns, U64),
	F(device_op, complete_ns, U64),
	F(device_op, ts, TS),
	F(device_op, power, U32),
	F(device_op, bytes, U64),
	F(device_op, peer, I32),
	F(device_op, group, STRING),
	F(device_op, type, STRING),
};
static const struct schema_field bracket_fields[] = {
	R(bracket, device, U32),
	F(bracket, queue, U32),
	R(bracket, job, U64),
	F(bracket, correlation, U64),
	F(bracket, name, STRING),
	R(bracket, host_ns, U64),
};
static const struct schema_field host_estimate_fields[] = {
	R(host_estimate, device, U32),
	F(host_estimate, queue, U32),
	R(host_estimate, job, U64),
	F(host_estimate, kind, U32),
	R(host_estimate, begin_ns, U64),
	R(host_estimate, end_ns, U64),
	F(host_estimate, source, STRING),
};
static const struct schema_field marker_batch_fields[] = {
	R(marker_batch, device, U32),
	F(marker_batch, core, U32),
	F(marker_batch, processor, U32),
	F(marker_batch, domain, U32),
	R(marker_batch, first_index, U64),
	F(marker_batch, dropped, U64),
	R(marker_batch, words, WORDS),
};
static const struct schema_field clock_sync_fields[] = {
	R(clock_sync, device, U32),
	F(clock_sync, domain, U32),
	R(clock_sync, host_before_ns, U64),
	R(clock_sync, ticks, U64),
	R(clock_sync, host_after_ns, U64),
};
static const struct schema_field collective_fields[] = {
	R(collective, group, STRING),
	R(collective, seq, U64),
	F(collective, op, STRING),
	F(collective, bytes, U64),
	F(collective, peers, STRING),
	R(collective, phase, U32),
};

/* clang-format on */

static const struct schema_class classes[RECORD_CLASS_COUNT] = {
#define SCHEMA_CLASS(id, event, payload, member, place)          \
	[RECORD_##id] = {#event, TABLE_##place, member##_fields, \
	                 sizeof(member##_fields) / sizeof(member##_fields[0])},
	FLEXTRACE_RECORD_CLASSES(SCHEMA_CLASS)
#undef SCHEMA_CLASS
};

const struct schema_class *schema_of(enum record_class class)
{
	return &classes[class];
}

int schema_find(const char *event_name)
{
	if (strncmp(event_name, PROVIDER, strlen(PROVIDER)))
		return -1;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		if (!strcmp(event_name + strlen(PROVIDER), classes[class].name))
			return class;
	return -2;
}
