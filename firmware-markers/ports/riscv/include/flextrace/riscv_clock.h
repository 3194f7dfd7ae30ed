/* SPDX-License-Identifier: Apache-2.0 */
/*
 * riscv_clock.h: whole counters of a RISC-V core, and a counter made of one by a rate and an
 * origin, for cores whose clock is not the one that the host is to see (simulators, prescalers).
 * Such a clock becomes the markers' through config.h:
 *
 *	#define FLEXTRACE_CLOCK_LO() ((uint32_t)core_clock())
 *	#define FLEXTRACE_CLOCK_HI() ((uint32_t)(core_clock() >> 32))
 *
 * Freestanding; needs the M extension, no libgcc.
 */
#ifndef FLEXTRACE_RISCV_CLOCK_H
#define FLEXTRACE_RISCV_CLOCK_H

#include <stdint.h>

#if __riscv_xlen == 32
/* The high word is read again, in case the low one wrapped in between. */
#define FLEXTRACE_I_RISCV_READ64(low, high)                                           \
	__extension__({                                                               \
		uint32_t flextrace_i_lo, flextrace_i_hi, flextrace_i_again;           \
		do {                                                                  \
			__asm__ volatile("csrr %0, " high : "=r"(flextrace_i_hi));    \
			__asm__ volatile("csrr %0, " low : "=r"(flextrace_i_lo));     \
			__asm__ volatile("csrr %0, " high : "=r"(flextrace_i_again)); \
		} while (flextrace_i_hi != flextrace_i_again);                        \
		(flextrace_i_hi + 0ull) << 32 | flextrace_i_lo;                       \
	})
#else
#define FLEXTRACE_I_RISCV_READ64(low, high)                                  \
	__extension__({                                                      \
		uint64_t flextrace_i_value;                                  \
		__asm__ volatile("csrr %0, " low : "=r"(flextrace_i_value)); \
		flextrace_i_value;                                           \
	})
#endif

/* All 64 bits of the cycle counter. */
static inline uint64_t flextrace_riscv_cycles(void)
{
	return FLEXTRACE_I_RISCV_READ64("cycle", "cycleh");
}

/* All 64 bits of the platform's timer. */
static inline uint64_t flextrace_riscv_time(void)
{
	return FLEXTRACE_I_RISCV_READ64("time", "timeh");
}

/* floor(ticks * ratio / 2^32). */
static inline uint64_t flextrace_riscv_scale(uint64_t ticks, uint32_t ratio)
{
	return (ticks >> 32) * ratio + ((ticks & 0xffffffffu) * ratio >> 32);
}

#endif
