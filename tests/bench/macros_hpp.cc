/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of macros.c with scopes of flextrace.hpp. */
#include <flextrace/flextrace.hpp>

#include "macros_loops.h"

static void scope_turns(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		flextrace::scope scope{"matmul_kernel_16"};
		TURN();
	}
}

static void scope_with_turns(uint32_t n)
{
	const struct macros_values values = ::macros_values;

	for (uint32_t i = 0; i < n; i++) {
		flextrace::scope scope{"matmul_kernel_16",
		                       {{"bytes", values.number},
		                        {"tensor", values.text},
		                        {"ratio", values.real},
		                        {"at", values.pointer}}};
		TURN();
	}
}

extern "C" const macros_loop macros_hpp[] = {
	{"flextrace::scope / FLEXTRACE_SCOPE", scope_turns, macros_scope, 0},
	{"the same with 4 arguments", scope_with_turns, macros_scope_with, 4},
	{nullptr, nullptr, nullptr, 0},
};

extern "C" const macros_loop macros_hpp_off[] = {
	{"flextrace::scope, off", scope_turns, nullptr, 0},
	{"flextrace::scope with 4 arguments, off", scope_with_turns, nullptr, 0},
	{nullptr, nullptr, nullptr, 0},
};
