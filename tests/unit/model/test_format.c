/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event format, as recordings and programs of version 2.0 have it. A line of this list is never
 * changed and none is taken out: members are added behind the last one of a payload, events behind
 * the last event, and kinds with numbers that none had.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <flextrace/flextrace.h>

#include "model/schema.h"

static const char *const frozen[] = {
	"event 0 process",
	"process.rank at 4 i32",
	"process.world_size at 8 i32",
	"process.pid at 12 u32",
	"process.start_ns at 16 u64",
	"process.time_ns at 24 u64",
	"process.boot_id at 32 string",
	"process.time_namespace at 40 u64",
	"process.host at 48 string",
	"process.program at 56 string",
	"process.runtime at 64 string",
	"process.version at 72 string",
	"process.session at 80 string",
	"process.real_ns at 88 u64",
	"process.dialect at 96 string",
	"event 1 device",
	"device.device at 4 u32",
	"device.uuid at 8 string",
	"device.n_cores at 16 u32",
	"device.core_hz at 24 u64",
	"device.name at 32 string",
	"device.power_unit at 40 string",
	"device.processors at 48 string",
	"event 2 clock_domain",
	"clock_domain.device at 4 u32",
	"clock_domain.domain at 8 u32",
	"clock_domain.counter_bits at 12 u32",
	"clock_domain.nominal_hz at 16 u64",
	"clock_domain.rate_group at 24 u32",
	"event 3 thread_name",
	"thread_name.device at 4 u32",
	"thread_name.id at 8 u32",
	"thread_name.name at 16 string",
	"thread_name.file at 24 string",
	"thread_name.line at 32 u32",
	"event 4 queue_name",
	"queue_name.device at 4 u32",
	"queue_name.id at 8 u32",
	"queue_name.name at 16 string",
	"queue_name.file at 24 string",
	"queue_name.line at 32 u32",
	"event 5 marker_name",
	"marker_name.device at 4 u32",
	"marker_name.id at 8 u32",
	"marker_name.name at 16 string",
	"marker_name.file at 24 string",
	"marker_name.line at 32 u32",
	"event 6 scope",
	"scope.kind at 4 u32",
	"scope.begin_ns at 8 u64",
	"scope.name at 16 string",
	"scope.correlation at 24 u64",
	"scope.args at 32 string",
	"scope.file at 40 string",
	"scope.line at 48 u32",
	"event 7 scope_args",
	"scope_args.correlation at 8 u64",
	"scope_args.args at 16 string",
	"event 8 begin",
	"begin.kind at 4 u32",
	"begin.name at 8 string",
	"begin.correlation at 16 u64",
	"event 9 end",
	"end.kind at 4 u32",
	"end.name at 8 string",
	"end.correlation at 16 u64",
	"event 10 async_begin",
	"async_begin.kind at 4 u32",
	"async_begin.name at 8 string",
	"async_begin.correlation at 16 u64",
	"event 11 async_end",
	"async_end.kind at 4 u32",
	"async_end.name at 8 string",
	"async_end.correlation at 16 u64",
	"event 12 instant",
	"instant.name at 8 string",
	"instant.correlation at 16 u64",
	"event 13 counter",
	"counter.name at 8 string",
	"counter.value at 16 double",
	"counter.unit at 24 string",
	"counter.device at 32 i32",
	"event 14 annotation",
	"annotation.key at 8 string",
	"annotation.value at 16 string",
	"event 15 device_op",
	"device_op.device at 4 u32",
	"device_op.domain at 8 u32",
	"device_op.queue at 12 u32",
	"device_op.job at 16 u64",
	"device_op.correlation at 24 u64",
	"device_op.kind at 32 u32",
	"device_op.name at 40 string",
	"device_op.submit_ns at 48 u64",
	"device_op.complete_ns at 56 u64",
	"device_op.ts at 64 u32[5]",
	"device_op.power at 84 u32",
	"device_op.bytes at 88 u64",
	"device_op.peer at 96 i32",
	"device_op.group at 104 string",
	"device_op.type at 112 string",
	"device_op.ts64 at 120 u64[0 or 5]",
	"device_op.args at 160 string",
	"event 16 submit",
	"submit.device at 4 u32",
	"submit.queue at 8 u32",
	"submit.job at 16 u64",
	"submit.correlation at 24 u64",
	"submit.name at 32 string",
	"submit.host_ns at 40 u64",
	"event 17 complete",
	"complete.device at 4 u32",
	"complete.queue at 8 u32",
	"complete.job at 16 u64",
	"complete.correlation at 24 u64",
	"complete.name at 32 string",
	"complete.host_ns at 40 u64",
	"event 18 host_estimate",
	"host_estimate.device at 4 u32",
	"host_estimate.queue at 8 u32",
	"host_estimate.job at 16 u64",
	"host_estimate.kind at 24 u32",
	"host_estimate.begin_ns at 32 u64",
	"host_estimate.end_ns at 40 u64",
	"host_estimate.source at 48 string",
	"event 19 marker_batch",
	"marker_batch.device at 4 u32",
	"marker_batch.core at 8 u32",
	"marker_batch.processor at 12 u32",
	"marker_batch.domain at 16 u32",
	"marker_batch.first_index at 24 u64",
	"marker_batch.dropped at 32 u64",
	"marker_batch.words at 48 u64[]",
	"event 20 clock_sync",
	"clock_sync.device at 4 u32",
	"clock_sync.domain at 8 u32",
	"clock_sync.host_before_ns at 16 u64",
	"clock_sync.ticks at 24 u64",
	"clock_sync.host_after_ns at 32 u64",
	"event 21 collective",
	"collective.group at 8 string",
	"collective.seq at 16 u64",
	"collective.op at 24 string",
	"collective.bytes at 32 u64",
	"collective.peers at 40 string",
	"collective.phase at 48 u32",
	"event 22 memory",
	"memory.device at 4 u32",
	"memory.address at 8 u64",
	"memory.bytes at 16 u64",
	"memory.op at 24 u32",
	"event 23 step",
	"step.number at 8 u64",
	"event 24 window",
	"window.edge at 4 u32",
	"window.name at 8 string",
	"event 25 op",
	"op.correlation at 8 u64",
	"op.type at 16 string",
	"op.attributes at 24 string",
	"op.n_cores at 32 u32",
	"op.depth at 36 u32",
	"event 26 tensor",
	"tensor.correlation at 8 u64",
	"tensor.is_output at 16 u32",
	"tensor.dims at 24 string",
	"tensor.layout at 32 string",
	"tensor.dtype at 40 string",
	"tensor.memory at 48 string",
	"event 27 op_info",
	"op_info.correlation at 8 u64",
	"op_info.module at 16 string",
	"op_info.opcode at 24 string",
	"op_info.op_name at 32 string",
	"op_info.frames at 40 string",
	"event 28 span",
	"span.kind at 4 u32",
	"span.begin_ns at 8 u64",
	"span.end_ns at 16 u64",
	"span.name at 24 string",
	"span.correlation at 32 u64",
	"span.args at 40 string",
	"span.file at 48 string",
	"span.line at 56 u32",
	"event 29 async_span",
	"async_span.kind at 4 u32",
	"async_span.begin_ns at 8 u64",
	"async_span.end_ns at 16 u64",
	"async_span.name at 24 string",
	"async_span.correlation at 32 u64",
	"async_span.args at 40 string",
	"async_span.file at 48 string",
	"async_span.line at 56 u32",
	"event 30 flow",
	"flow.phase at 4 u32",
	"flow.device at 8 u32",
	"flow.queue at 12 u32",
	"flow.name at 16 string",
	"flow.id at 24 u64",
};

static const char *type_name(enum schema_type type)
{
	static const char *const names[] = {
		[SCHEMA_U32] = "u32",          [SCHEMA_I32] = "i32",       [SCHEMA_U64] = "u64",
		[SCHEMA_DOUBLE] = "double",    [SCHEMA_STRING] = "string", [SCHEMA_TS] = "u32[5]",
		[SCHEMA_TS64] = "u64[0 or 5]", [SCHEMA_WORDS] = "u64[]",
	};

	return names[type];
}

static size_t tell_event(char *at, size_t room, const char *event, int number)
{
	char name[64];
	const struct schema_class *schema;
	size_t n = (size_t)snprintf(at, room, "event %d %s\n", number, event);
	int class;

	snprintf(name, sizeof(name), "flextrace:%s", event);
	class = schema_find(name);
	assert_true(class >= 0);
	schema = schema_of((enum record_class) class);
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct schema_field *field = &schema->fields[i];

		assert_true(n < room);
		n += (size_t)snprintf(at + n, room - n, "%s.%s at %u %s\n", event, field->name,
		                      field->offset, type_name(field->type));
	}
	return n;
}

static void test_format__is_what_it_was(void **state)
{
	static char text[32768] = "\n";
	size_t n = 1;

	(void)state;
#define TELL(event, payload) \
	n += tell_event(text + n, sizeof(text) - n, #event, flextrace_i_event_##event);
	FLEXTRACE_I_EVENTS(TELL)
#undef TELL
	for (size_t i = 0; i < sizeof(frozen) / sizeof(frozen[0]); i++) {
		char line[128];

		snprintf(line, sizeof(line), "\n%s\n", frozen[i]);
		if (!strstr(text, line))
			fail_msg("the format lacks: %s", frozen[i]);
	}
}

/* Kinds are part of recordings: the first and the last of each list, and those in between rise by
 * one. */
static void test_format__kinds_have_the_numbers_that_they_had(void **state)
{
	static const int runtime[] = {
#define KIND(id, value, ...) FLEXTRACE_RUNTIME_##id,
		FLEXTRACE_RUNTIME_KINDS(KIND)
#undef KIND
	};
	static const int calls[] = {
#define KIND(id, value, ...) FLEXTRACE_RUNTIME_##id,
		FLEXTRACE_CALL_KINDS(KIND)
#undef KIND
	};
	static const int device[] = {
#define KIND(id, value, ...) FLEXTRACE_DEVICE_##id,
		FLEXTRACE_DEVICE_KINDS(KIND)
#undef KIND
	};

	(void)state;
	for (int i = 0; i < 33; i++)
		assert_int_equal(runtime[i], 1 + i);
	for (int i = 0; i < 13; i++)
		assert_int_equal(calls[i], 37 + i);
	for (int i = 0; i < 7; i++)
		assert_int_equal(device[i], 1 + i);
	assert_int_equal(FLEXTRACE_RUNTIME_LAUNCH_CONTROL_BLOCKS, 1);
	assert_int_equal(FLEXTRACE_RUNTIME_COMPILE_GRAPH, 33);
	assert_int_equal(FLEXTRACE_RUNTIME_OP, 34);
	assert_int_equal(FLEXTRACE_RUNTIME_CALL, 35);
	assert_int_equal(FLEXTRACE_RUNTIME_STEP, 36);
	assert_int_equal(FLEXTRACE_RUNTIME_INIT, 37);
	assert_int_equal(FLEXTRACE_RUNTIME_COLLECTIVE, 49);
	assert_int_equal(FLEXTRACE_DEVICE_KERNEL, 1);
	assert_int_equal(FLEXTRACE_DEVICE_RELEASE, 7);
	assert_int_equal(FLEXTRACE_DEVICE_PARTS(FLEXTRACE_PART_ALL), 22);
	assert_int_equal(FLEXTRACE_DEVICE_STATE, 23);
	assert_int_equal(FLEXTRACE_FLOW_PHASE_WAIT, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format__is_what_it_was),
		cmocka_unit_test(test_format__kinds_have_the_numbers_that_they_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
