/* SPDX-License-Identifier: Apache-2.0 */
/* port_armv7m.h */
#define FLEXTRACE_PORT_LOAD(word)         (*(volatile __typeof__(word) *)&(word))
#define FLEXTRACE_PORT_STORE(word, value) ((void)(*(volatile __typeof__(word) *)&(word) = (value)))
#define FLEXTRACE_PORT_FENCE()            __asm__ volatile("dmb" ::: "memory")
#define FLEXTRACE_PORT_WAIT()             __asm__ volatile("nop" ::: "memory")
#define FLEXTRACE_PORT_NOTE(kind, id)     ((void)0)
#define FLEXTRACE_PORT_PUBLISH(word, value)        \
	do {                                       \
		FLEXTRACE_PORT_FENCE();            \
		FLEXTRACE_PORT_STORE(word, value); \
	} while (0)
#define FLEXTRACE_PORT_LIMIT(word)                                      \
	__extension__({                                                 \
		uint32_t flextrace_i_limit = FLEXTRACE_PORT_LOAD(word); \
		FLEXTRACE_PORT_FENCE();                                 \
		flextrace_i_limit;                                      \
	})
/* clang-format off */
#define FLEXTRACE_PORT_KIND_ID(kind, name)                                        \
	__extension__({                                                           \
		uint32_t flextrace_i_kind_id;                                     \
		__asm__(".pushsection .flextrace.names,\"\",%%progbits\n"         \
		        "771: .asciz \"" name "\"\n"                              \
		        ".asciz \"" __FILE__ "\"\n"                               \
		        ".asciz \"" FLEXTRACE_I_TEXT(__LINE__) "\"\n"             \
		        ".popsection\n"                                           \
		        "movw %0, #:lower16:771b\n"                               \
		        "movt %0, #:upper16:771b\n"                               \
		        : "=r"(flextrace_i_kind_id));                             \
		FLEXTRACE_WIRE_KIND_ID(kind, flextrace_i_kind_id);                \
	})
/* clang-format on */
