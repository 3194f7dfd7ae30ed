/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.h: payloads of programs that are older or newer than who takes them.
 *
 * A payload begins with its size (events.h). Who takes one copies what both know into a whole one
 * of its own; what the program does not know is 0.
 */
#ifndef FLEXTRACE_TRACER_PAYLOAD_H
#define FLEXTRACE_TRACER_PAYLOAD_H

#include <stdint.h>
#include <string.h>

#include <flextrace/events.h>

/* Sizes in format 2.0, of payloads that say none. They never change. */
enum {
	PAYLOAD_FIRST_flextrace_process = 104,
	PAYLOAD_FIRST_flextrace_device = 56,
	PAYLOAD_FIRST_flextrace_clock_domain = 32,
	PAYLOAD_FIRST_flextrace_name = 40,
	PAYLOAD_FIRST_flextrace_scope = 56,
	PAYLOAD_FIRST_flextrace_scope_args = 24,
	PAYLOAD_FIRST_flextrace_span = 64,
	PAYLOAD_FIRST_flextrace_span_edge = 24,
	PAYLOAD_FIRST_flextrace_instant = 24,
	PAYLOAD_FIRST_flextrace_counter = 40,
	PAYLOAD_FIRST_flextrace_flow = 32,
	PAYLOAD_FIRST_flextrace_annotation = 24,
	PAYLOAD_FIRST_flextrace_step = 16,
	PAYLOAD_FIRST_flextrace_window = 16,
	PAYLOAD_FIRST_flextrace_collective = 56,
	PAYLOAD_FIRST_flextrace_memory = 32,
	PAYLOAD_FIRST_flextrace_op = 40,
	PAYLOAD_FIRST_flextrace_tensor = 56,
	PAYLOAD_FIRST_flextrace_op_info = 48,
	PAYLOAD_FIRST_flextrace_device_op = 168,
	PAYLOAD_FIRST_flextrace_bracket = 48,
	PAYLOAD_FIRST_flextrace_host_estimate = 56,
	PAYLOAD_FIRST_flextrace_marker_batch = 56,
	PAYLOAD_FIRST_flextrace_clock_sync = 40
};

static inline void payload_copy(void *to, uint32_t to_bytes, const void *from, uint32_t first_bytes)
{
	uint32_t bytes;

	memcpy(&bytes, from, sizeof(bytes));
	bytes = bytes ? bytes : first_bytes;
	memset(to, 0, to_bytes);
	memcpy(to, from, bytes < to_bytes ? bytes : to_bytes);
	memcpy(to, &to_bytes, sizeof(to_bytes));
}

/* Copies `from` into the struct at `to`. */
#define PAYLOAD_COPY(payload, to, from) \
	payload_copy(to, sizeof(struct payload), from, PAYLOAD_FIRST_##payload)

/* How many of its 64-bit stamps an operation has recorded: where it has none, none. */
static inline uint32_t payload_n_wide_stamps(const struct flextrace_device_op *op)
{
	uint64_t any = 0;

	for (int i = 0; i < FLEXTRACE_N_STAMPS; i++)
		any |= op->ts64[i];
	return any ? FLEXTRACE_N_STAMPS : 0;
}

#endif
