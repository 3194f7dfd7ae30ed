/* SPDX-License-Identifier: Apache-2.0 */
/*
 * macros_loops.h: the loops that macros.c measures: a macro, or what it is measured against, in
 * each turn.
 */
#ifndef BENCH_MACROS_LOOPS_H
#define BENCH_MACROS_LOOPS_H

#include <stdint.h>

/* Keeps the compiler from merging or dropping the loop's turns. */
#define TURN() __asm__ volatile("" ::: "memory")

#ifdef __cplusplus
extern "C" {
#endif

typedef void macros_turns(uint32_t n);

struct macros_loop {
	const char *label;
	macros_turns *turns;   /* NULL ends a list */
	macros_turns *against; /* where it is not the same for the list */
	uint32_t n_parts;
};

macros_turns macros_scope, macros_scope_with;
extern const struct macros_loop macros_off[];     /* nobody records */
extern const struct macros_loop macros_with[];    /* arguments by type */
extern const struct macros_loop macros_hpp[];     /* C++ against C */
extern const struct macros_loop macros_hpp_off[]; /* C++ that nobody records */

/* Values of arguments, which the compiler does not know. */
extern struct macros_values {
	uint64_t number;
	double real;
	const char *text;
	const void *pointer;
	unsigned char bytes[16];
} macros_values;

#ifdef __cplusplus
}
#endif

#endif
