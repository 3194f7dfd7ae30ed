/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of macros.c in C. */
#include "macros_loops.h"

#include <flextrace/flextrace.h>

struct macros_values macros_values = {
	40960, 0.3, "weights.17", &macros_values, {"0123456789abcde"}};

#define V macros_values

/* A function `name`, and in each turn `body`. */
#define LOOP(name, body)                           \
	static void name(uint32_t n)               \
	{                                          \
		for (uint32_t i = 0; i < n; i++) { \
			body;                      \
			TURN();                    \
		}                                  \
	}
#define WITH(name, ...) LOOP(name, FLEXTRACE_SCOPE_WITH("matmul_kernel_16", __VA_ARGS__))
#define ARG             FLEXTRACE_ARG
#define RAW(key)        FLEXTRACE_ARG_BYTES(key, V.bytes, sizeof(V.bytes))

void macros_scope(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		FLEXTRACE_SCOPE("matmul_kernel_16");
		TURN();
	}
}

void macros_scope_with(uint32_t n)
{
	const struct macros_values values = V;

	for (uint32_t i = 0; i < n; i++) {
		FLEXTRACE_SCOPE_WITH("matmul_kernel_16", ARG("bytes", values.number),
		                     ARG("tensor", values.text), ARG("ratio", values.real),
		                     ARG("at", values.pointer));
		TURN();
	}
}

/* clang-format off */
WITH(with_integers, ARG("bytes", V.number), ARG("rows", V.number), ARG("columns", V.number),
     ARG("depth", V.number))
WITH(with_strings, ARG("tensor", V.text), ARG("of", V.text), ARG("layer", V.text),
     ARG("type", V.text))
WITH(with_doubles, ARG("ratio", V.real), ARG("loss", V.real), ARG("rate", V.real),
     ARG("scale", V.real))
WITH(with_pointers, ARG("at", V.pointer), ARG("from", V.pointer), ARG("to", V.pointer),
     ARG("stream", V.pointer))
WITH(with_bytes, RAW("id"), RAW("from"), RAW("to"), RAW("key"))
WITH(with_one, ARG("bytes", V.number))

LOOP(off_scope_if, FLEXTRACE_SCOPE_IF(V.number, "off"))
LOOP(off_scope_args, FLEXTRACE_SCOPE_ARGS("off", "%u", i))
LOOP(off_scope_at, FLEXTRACE_SCOPE_AT(i, V.number, "off"))
LOOP(off_scope_at_with, FLEXTRACE_SCOPE_AT_WITH(i, V.number, "off", ARG("bytes", V.number),
     ARG("tensor", V.text)))
LOOP(off_op_scope, FLEXTRACE_OP_SCOPE("off", "mm", "", 1, 1, V.number))
LOOP(off_begin, FLEXTRACE_BEGIN(FLEXTRACE_RUNTIME_USER, "off", i))
LOOP(off_instant, FLEXTRACE_INSTANT("off"))
LOOP(off_handler_instant, FLEXTRACE_HANDLER_INSTANT("off"))
LOOP(off_counter, FLEXTRACE_COUNTER("off", i))
LOOP(off_flow, FLEXTRACE_FLOW_STEP("off", i))
LOOP(off_annotate, FLEXTRACE_ANNOTATE("off", "off"))
LOOP(off_submit, FLEXTRACE_SUBMIT(0, 0, i, 0, "off"))
LOOP(off_memory, FLEXTRACE_MEMORY_ALLOC(0, V.number, i))
/* clang-format on */

/* Held in a variable, as a program holds it. */
static void off_handle(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct flextrace_open_scope handle = FLEXTRACE_SCOPE_BEGIN("off");

		TURN();
		FLEXTRACE_SCOPE_END_WITH(&handle, ARG("bytes", V.number));
	}
}

const struct macros_loop macros_with[] = {
	{"4 arguments: an integer, string, double, pointer", macros_scope_with, 0, 4},
	{"an integer, of 4", with_integers, 0, 4},
	{"an integer, alone", with_one, 0, 1},
	{"a string of 10 bytes, of 4", with_strings, 0, 4},
	{"a double, of 4", with_doubles, 0, 4},
	{"a pointer, of 4", with_pointers, 0, 4},
	{"16 bytes, of 4", with_bytes, 0, 4},
	{0, 0, 0, 0},
};

const struct macros_loop macros_off[] = {
	{"FLEXTRACE_SCOPE, off", macros_scope, 0, 0},
	{"FLEXTRACE_SCOPE_WITH 4 arguments, off", macros_scope_with, 0, 0},
	{"FLEXTRACE_SCOPE_IF, off", off_scope_if, 0, 0},
	{"FLEXTRACE_SCOPE_ARGS, off", off_scope_args, 0, 0},
	{"FLEXTRACE_SCOPE_AT, off", off_scope_at, 0, 0},
	{"FLEXTRACE_SCOPE_AT_WITH 2 arguments, off", off_scope_at_with, 0, 0},
	{"FLEXTRACE_SCOPE_BEGIN and _END_WITH, off", off_handle, 0, 2},
	{"FLEXTRACE_OP_SCOPE, off", off_op_scope, 0, 0},
	{"FLEXTRACE_BEGIN, off", off_begin, 0, 0},
	{"FLEXTRACE_INSTANT, off", off_instant, 0, 0},
	{"FLEXTRACE_HANDLER_INSTANT, off", off_handler_instant, 0, 0},
	{"FLEXTRACE_COUNTER, off", off_counter, 0, 0},
	{"FLEXTRACE_FLOW_STEP, off", off_flow, 0, 0},
	{"FLEXTRACE_ANNOTATE, off", off_annotate, 0, 0},
	{"FLEXTRACE_SUBMIT, off", off_submit, 0, 0},
	{"FLEXTRACE_MEMORY_ALLOC, off", off_memory, 0, 0},
	{0, 0, 0, 0},
};
