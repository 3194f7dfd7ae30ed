/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of macros.c with scopes of flextrace.hpp. */
#include <flextrace/flextrace.hpp>

#include "macros_hpp.h"

#define TURN() __asm__ volatile("" ::: "memory")

extern "C" void hpp_turns(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		flextrace::scope scope{"matmul_kernel_16"};
		TURN();
	}
}
