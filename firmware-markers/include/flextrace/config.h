/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h: what a firmware decides about its markers. Define these on the command line, or in a
 * header of yours named by -DFLEXTRACE_CONFIG_HEADER='"my_markers.h"'; marker.c and every file that
 * includes marker.h must see the same definitions.
 *
 *   FLEXTRACE_DISABLE         markers leave no code behind
 *   FLEXTRACE_AREA()          struct flextrace_wire_area * of the calling core. A constant address
 *                             gives the shortest code; a core number times a stride, or a register,
 *                             works too. Default: the port's (RISC-V: the symbol flextrace_area).
 *   FLEXTRACE_CLOCK_LO()      low 32 bits of the counter, uint32_t
 *   FLEXTRACE_CLOCK_HI()      high 32 bits, uint32_t
 *                             Default: the port's (RISC-V: the cycle CSR). For a counter in
 *                             memory: (*(volatile uint32_t *)0xffb121f0), and so on.
 *   FLEXTRACE_COUNTER_BITS    bits of the whole counter that are valid, 32..64, default 64: a
 *                             narrower one must be extended, see docs/guides/porting.md
 *   FLEXTRACE_BLOCK_TICKS     policy block: ticks that a marker waits for a host that does not move
 *                             the limit before it is dropped; below 2^32, default 2^30
 *   FLEXTRACE_PORT_WAIT()     RISC-V: what a blocked marker does before it looks again, default nop
 *   FLEXTRACE_PORT_HEADER     a port of your own instead of the one port.h chooses
 *
 * C99, C++11 and freestanding.
 */
#ifndef FLEXTRACE_CONFIG_H
#define FLEXTRACE_CONFIG_H

#ifdef FLEXTRACE_CONFIG_HEADER
#include FLEXTRACE_CONFIG_HEADER
#endif

#ifndef FLEXTRACE_COUNTER_BITS
#define FLEXTRACE_COUNTER_BITS 64
#endif

#if FLEXTRACE_COUNTER_BITS < 32 || FLEXTRACE_COUNTER_BITS > 64
#error "FLEXTRACE_COUNTER_BITS must be 32..64: a stamp has 32 bits, extend a narrower counter"
#endif

#ifndef FLEXTRACE_BLOCK_TICKS
#define FLEXTRACE_BLOCK_TICKS (UINT32_C(1) << 30)
#endif

#endif
