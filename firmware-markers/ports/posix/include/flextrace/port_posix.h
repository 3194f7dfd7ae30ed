/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_posix.h: markers in a thread of a Linux process, for emulators and for tests of firmware.
 *
 * A thread becomes a core by filling `flextrace_posix_core`: its area, and, where the default does
 * not serve, a clock, a wait and a note. The default clock is CLOCK_MONOTONIC in ns.
 *
 * The host reads the area from another thread of the process, so words are accessed as relaxed
 * atomics, which any 32-bit host does in one plain instruction.
 *
 * A position-independent program has no constant addresses: names live in the loaded section
 * `flextrace_names` and an id is the distance from the section's start, within the program or
 * shared library that holds the marker.
 */
#ifndef FLEXTRACE_PORT_POSIX_H
#define FLEXTRACE_PORT_POSIX_H

#ifdef __cplusplus
extern "C" {
#endif

struct flextrace_posix_core {
	struct flextrace_wire_area *area;                        /* weak */
	uint64_t (*clock)(void *context);                        /* NULL = CLOCK_MONOTONIC in ns */
	void (*wait)(void *context);                             /* NULL = sleep a little */
	void (*note)(void *context, uint32_t kind, uint32_t id); /* NULL = nothing */
	void *context;                                           /* weak */
};

extern __thread struct flextrace_posix_core flextrace_posix_core;

/* The counter, a wait, a note of the calling thread's core. */
uint64_t flextrace_posix_clock(void);
void flextrace_posix_wait(void);
void flextrace_posix_note(uint32_t kind, uint32_t id);

extern const char flextrace_posix_names[] __asm__("__start_flextrace_names")
	__attribute__((visibility("hidden")));

#ifdef __cplusplus
}
#endif

#ifndef FLEXTRACE_AREA
#define FLEXTRACE_AREA() (flextrace_posix_core.area)
#endif
#ifndef FLEXTRACE_CLOCK_LO
#define FLEXTRACE_CLOCK_LO() ((uint32_t)flextrace_posix_clock())
#define FLEXTRACE_CLOCK_HI() ((uint32_t)(flextrace_posix_clock() >> 32))
#endif

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
/* The words of an area are little-endian on any host; the pointer in it is the core's own. */
static inline void flextrace_posix_order(void *value, uint32_t n)
{
	uint32_t word;

	if (n != sizeof(word))
		return;
	__builtin_memcpy(&word, value, sizeof(word));
	word = __builtin_bswap32(word);
	__builtin_memcpy(value, &word, sizeof(word));
}

/* clang-format off */
#define FLEXTRACE_I_POSIX_LOAD(word, order)                                            \
	__extension__({                                                                \
		__typeof__(__atomic_load_n(&(word), order)) flextrace_i_loaded =       \
			__atomic_load_n(&(word), order);                               \
		flextrace_posix_order(&flextrace_i_loaded, sizeof(flextrace_i_loaded)); \
		flextrace_i_loaded;                                                    \
	})
#define FLEXTRACE_PORT_STORE(word, value)                                              \
	__extension__({                                                                \
		__typeof__(word) flextrace_i_stored = (value);                         \
		flextrace_posix_order(&flextrace_i_stored, sizeof(flextrace_i_stored)); \
		__atomic_store_n(&(word), flextrace_i_stored, __ATOMIC_RELAXED);       \
	})
/* clang-format on */
#else
#define FLEXTRACE_I_POSIX_LOAD(word, order) __atomic_load_n(&(word), order)
#define FLEXTRACE_PORT_STORE(word, value)   __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#endif

#define FLEXTRACE_PORT_LOAD(word)     FLEXTRACE_I_POSIX_LOAD(word, __ATOMIC_RELAXED)
#define FLEXTRACE_PORT_LIMIT(word)    FLEXTRACE_I_POSIX_LOAD(word, __ATOMIC_ACQUIRE)
#define FLEXTRACE_PORT_FENCE()        __atomic_thread_fence(__ATOMIC_RELEASE)
#define FLEXTRACE_PORT_WAIT()         flextrace_posix_wait()
#define FLEXTRACE_PORT_NOTE(kind, id) flextrace_posix_note(kind, id)

/* A fence, as on a device: a release store would let later records pass it. */
#define FLEXTRACE_PORT_PUBLISH(word, value)        \
	do {                                       \
		FLEXTRACE_PORT_FENCE();            \
		FLEXTRACE_PORT_STORE(word, value); \
	} while (0)

#ifndef __cplusplus
/* clang-format off */
#define FLEXTRACE_PORT_KIND_ID(kind, name)                                                         \
	__extension__({                                                                            \
		static const char flextrace_i_entry[]                                              \
			__attribute__((section("flextrace_names"), aligned(1))) =                  \
				name "\0" __FILE__ "\0" FLEXTRACE_I_TEXT(__LINE__);                \
		FLEXTRACE_WIRE_KIND_ID(kind, (uintptr_t)flextrace_i_entry -                        \
						     (uintptr_t)flextrace_posix_names);            \
	})
/* clang-format on */
#else
/*
 * Problem: in inline functions and templates, g++ takes such a variable for an error or leaves it
 * in another section, and a shared library may find the program's. So the assembler makes the
 * entry: in a statement without operands, where no character means anything, and with a label of
 * its own number, so that no two places share the code behind their names.
 */
#if defined(__x86_64__)
#define FLEXTRACE_I_POSIX_ADDRESS(label) "{leaq " label "b(%%rip), %0|lea %0, [rip + " label "b]}"
#elif defined(__aarch64__)
#define FLEXTRACE_I_POSIX_ADDRESS(label) \
	"adrp %0, " label "b\n"          \
	"add %0, %0, :lo12:" label "b"
#elif defined(__s390x__)
#define FLEXTRACE_I_POSIX_ADDRESS(label) "larl %0, " label "b"
#elif defined(__powerpc64__)
#define FLEXTRACE_I_POSIX_ADDRESS(label)       \
	"bcl 20, 31, 1f\n"                     \
	"1: mflr %0\n"                         \
	"addis %0, %0, (" label "b - 1b)@ha\n" \
	"addi %0, %0, (" label "b - 1b)@l"
#else
#error "port_posix.h: markers in C++ need this processor's way to load an address"
#endif
#ifdef __powerpc64__
#define FLEXTRACE_I_POSIX_REGISTER "=b"
#define FLEXTRACE_I_POSIX_CLOBBERS : "lr"
#else
#define FLEXTRACE_I_POSIX_REGISTER "=r"
#define FLEXTRACE_I_POSIX_CLOBBERS
#endif

/* clang-format off */
#define FLEXTRACE_I_POSIX_ENTRY(label, name)              \
	".pushsection flextrace_names,\"a\",@progbits\n" \
	".balign 2\n"                                    \
	label ": .asciz \"" name "\"\n"                  \
	".asciz \"" __FILE__ "\"\n"                      \
	".asciz \"" FLEXTRACE_I_TEXT(__LINE__) "\"\n"    \
	".popsection"
#define FLEXTRACE_I_POSIX_KIND_ID(kind, name, label)                                  \
	__extension__({                                                               \
		uintptr_t flextrace_i_entry;                                          \
		__asm__ volatile(FLEXTRACE_I_POSIX_ENTRY(label, name));               \
		__asm__ volatile(FLEXTRACE_I_POSIX_ADDRESS(label)                     \
				 : FLEXTRACE_I_POSIX_REGISTER(flextrace_i_entry)      \
				 : FLEXTRACE_I_POSIX_CLOBBERS);                       \
		FLEXTRACE_WIRE_KIND_ID(                                               \
			kind, flextrace_i_entry - (uintptr_t)flextrace_posix_names);  \
	})
#define FLEXTRACE_PORT_KIND_ID(kind, name) \
	FLEXTRACE_I_POSIX_KIND_ID(kind, name, "771" FLEXTRACE_I_TEXT(__COUNTER__))
/* clang-format on */
#endif

#endif
