/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_riscv.h: markers on RISC-V, RV32 or RV64, with or without the A extension.
 *
 * A name costs no loaded byte: the assembler puts it into a section without SHF_ALLOC, which the
 * linker places at address 0, so that the address of an entry is its offset. lui/addi take it
 * together with the kind in the upper four bits, two instructions for both, whatever the code
 * model. Names and file names must not hold `"` or `\`. clang refuses most that hold `%`.
 */
#ifndef FLEXTRACE_PORT_RISCV_H
#define FLEXTRACE_PORT_RISCV_H

#ifndef FLEXTRACE_AREA
#ifdef __cplusplus
extern "C" struct flextrace_wire_area flextrace_area;
#else
extern struct flextrace_wire_area flextrace_area;
#endif
#define FLEXTRACE_AREA() (&flextrace_area)
#endif

#define FLEXTRACE_PORT_LOAD(word)         (*(volatile __typeof__(word) *)&(word))
#define FLEXTRACE_PORT_STORE(word, value) ((void)(*(volatile __typeof__(word) *)&(word) = (value)))
#define FLEXTRACE_PORT_FENCE()            __asm__ volatile("fence w, w" ::: "memory")

/* config.h may know better: a timed wfi leaves the machine to others while the ring is full. */
#ifndef FLEXTRACE_PORT_WAIT
#define FLEXTRACE_PORT_WAIT() __asm__ volatile("nop" ::: "memory")
#endif
#ifndef FLEXTRACE_PORT_NOTE
#define FLEXTRACE_PORT_NOTE(kind, id) ((void)0)
#endif

#define FLEXTRACE_PORT_PUBLISH(word, value)        \
	do {                                       \
		FLEXTRACE_PORT_FENCE();            \
		FLEXTRACE_PORT_STORE(word, value); \
	} while (0)

FLEXTRACE_I_INLINE uint32_t flextrace_i_limit(const uint32_t *word)
{
	uint32_t value = FLEXTRACE_PORT_LOAD(*word);

	__asm__ volatile("fence r, rw" ::: "memory");
	return value;
}
#define FLEXTRACE_PORT_LIMIT(word) flextrace_i_limit(&(word))

#ifndef FLEXTRACE_CLOCK_LO
FLEXTRACE_I_INLINE unsigned long flextrace_i_cycle(void)
{
	unsigned long value;

	__asm__ volatile("csrr %0, cycle" : "=r"(value));
	return value;
}
#define FLEXTRACE_CLOCK_LO() ((uint32_t)flextrace_i_cycle())
#if __riscv_xlen == 32
FLEXTRACE_I_INLINE uint32_t flextrace_i_cycleh(void)
{
	uint32_t value;

	__asm__ volatile("csrr %0, cycleh" : "=r"(value));
	return value;
}
#define FLEXTRACE_CLOCK_HI() flextrace_i_cycleh()
#else
#define FLEXTRACE_CLOCK_HI() ((uint32_t)(flextrace_i_cycle() >> 32))
#endif
#endif

/* clang-format off */
#define FLEXTRACE_I_RISCV_ENTRY(label, name)                                                       \
	".pushsection .flextrace.names,\"\",@progbits\n"                                          \
	label ": .asciz \"" name "\"\n"                                                            \
	".asciz \"" __FILE__ "\"\n"                                                               \
	".asciz \"" FLEXTRACE_I_TEXT(__LINE__) "\"\n"                                             \
	".popsection\n"
#define FLEXTRACE_I_RISCV_LOAD(label)                                                              \
	"lui %0, %%hi(" label "b + (%c1 << 28))\n"                                                 \
	"addi %0, %0, %%lo(" label "b + (%c1 << 28))"

/*
 * Problem: clang takes {a|b} for two dialects of the assembler, and any compiler a `%` for an
 * operand, but not in an asm without operands. So such a name has a statement of its own. Its label
 * has a number of its own, too: else two places could share the code behind their names. The usual
 * form is one statement, which the compiler may move out of a loop.
 */
#define FLEXTRACE_I_RISCV_KIND_ID(kind, name, label)                                               \
	__extension__({                                                                            \
		unsigned long flextrace_i_kind_id;                                                 \
		if (FLEXTRACE_I_IS_PLAIN(name __FILE__)) {                                         \
			__asm__(FLEXTRACE_I_RISCV_ENTRY("771", name) FLEXTRACE_I_RISCV_LOAD("771") \
				: "=r"(flextrace_i_kind_id)                                        \
				: "i"(kind));                                                      \
		} else {                                                                           \
			__asm__ volatile(FLEXTRACE_I_RISCV_ENTRY(label, name));                    \
			__asm__ volatile(FLEXTRACE_I_RISCV_LOAD(label)                             \
					 : "=r"(flextrace_i_kind_id)                               \
					 : "i"(kind));                                             \
		}                                                                                  \
		(uint32_t)flextrace_i_kind_id;                                                     \
	})
#define FLEXTRACE_PORT_KIND_ID(kind, name) \
	FLEXTRACE_I_RISCV_KIND_ID(kind, name, "771" FLEXTRACE_I_TEXT(__COUNTER__))
/* clang-format on */

#endif
