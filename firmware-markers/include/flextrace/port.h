/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.h: the few things markers need from the machine they run on. A port is one header:
 *
 *   FLEXTRACE_PORT_LOAD(word)             read a word of the area, once, now
 *   FLEXTRACE_PORT_STORE(word, value)     write it, once, now
 *   FLEXTRACE_PORT_LIMIT(word)            read a host word; later stores stay behind the read
 *   FLEXTRACE_PORT_PUBLISH(word, value)   write it behind all earlier stores
 *   FLEXTRACE_PORT_FENCE()                earlier stores become visible before later ones
 *   FLEXTRACE_PORT_WAIT()                 let some time pass (policy block)
 *   FLEXTRACE_PORT_KIND_ID(kind, name)    kind << 28 | id of a marker, a constant at link time
 *   FLEXTRACE_PORT_NOTE(kind, id)         called behind each stamp; nothing on real firmware
 *   FLEXTRACE_AREA(), FLEXTRACE_CLOCK_LO(), FLEXTRACE_CLOCK_HI()   unless config.h has them
 *
 * FLEXTRACE_PORT_KIND_ID puts "name\0file\0line\0" into the section of names and yields its offset
 * there; bytes of 0 between entries are padding. The reader takes either section name:
 * `.flextrace.names` (not loaded) or `flextrace_names` (loaded, where nothing else gives a
 * position-independent program a constant).
 *
 * No port may need C11 atomics, a C library or libgcc on the firmware's side.
 */
#ifndef FLEXTRACE_PORT_H
#define FLEXTRACE_PORT_H

#include <flextrace/config.h>
#include <flextrace/wire.h>

#define FLEXTRACE_I_TEXT_OF(...) #__VA_ARGS__
#define FLEXTRACE_I_TEXT(...)    FLEXTRACE_I_TEXT_OF(__VA_ARGS__)
#define FLEXTRACE_I_INLINE       static inline __attribute__((always_inline, unused))

/* For a port that puts names through the assembler: 1 if neither the name nor the file's has a
 * character that a compiler takes for its own in an asm statement with operands. A constant. */
#define FLEXTRACE_I_HAS(text, character) (__builtin_strchr(text, character) != 0)
#define FLEXTRACE_I_IS_PLAIN(text)                                     \
	(!FLEXTRACE_I_HAS(text, '{') && !FLEXTRACE_I_HAS(text, '|') && \
	 !FLEXTRACE_I_HAS(text, '}') && !FLEXTRACE_I_HAS(text, '%'))

/* 0, and an error if `name` is not a string literal with something in it. */
#define FLEXTRACE_I_CHECK_NAME(name) (0u * (uint32_t)sizeof(char[sizeof("" name) > 1 ? 1 : -1]))

#if defined(FLEXTRACE_PORT_HEADER)
#include FLEXTRACE_PORT_HEADER
#elif defined(__riscv)
#include <flextrace/port_riscv.h>
#else
#include <flextrace/port_posix.h>
#endif

/*
 * A sum over the configuration's text: marker.c and the markers around it must have been compiled
 * with the same one, or they read different clocks into one area. Without a loop and without
 * arithmetic on 64 bits, so that any compiler that optimizes makes a constant of it.
 */
#define FLEXTRACE_I_TERM(at) \
	((at) < size ? (uint32_t)(unsigned char)text[(at)] * ((uint32_t)(at)*0x9e3779b2u + 1u) : 0u)
#define FLEXTRACE_I_TERMS4(at)                                                              \
	(FLEXTRACE_I_TERM(at) + FLEXTRACE_I_TERM((at) + 1u) + FLEXTRACE_I_TERM((at) + 2u) + \
	 FLEXTRACE_I_TERM((at) + 3u))
#define FLEXTRACE_I_TERMS16(at)                                                                   \
	(FLEXTRACE_I_TERMS4(at) + FLEXTRACE_I_TERMS4((at) + 4u) + FLEXTRACE_I_TERMS4((at) + 8u) + \
	 FLEXTRACE_I_TERMS4((at) + 12u))
#define FLEXTRACE_I_TERMS64(at)                                      \
	(FLEXTRACE_I_TERMS16(at) + FLEXTRACE_I_TERMS16((at) + 16u) + \
	 FLEXTRACE_I_TERMS16((at) + 32u) + FLEXTRACE_I_TERMS16((at) + 48u))

FLEXTRACE_I_INLINE uint32_t flextrace_i_sum(const char *text, uint32_t size)
{
	return size + FLEXTRACE_I_TERMS64(0u) + FLEXTRACE_I_TERMS64(64u) +
	       FLEXTRACE_I_TERMS64(128u) + FLEXTRACE_I_TERMS64(192u);
}

#define FLEXTRACE_I_CONFIG_TEXT                                                              \
	FLEXTRACE_I_TEXT(FLEXTRACE_CLOCK_LO(), FLEXTRACE_CLOCK_HI(), FLEXTRACE_COUNTER_BITS, \
	                 FLEXTRACE_AREA())
#define FLEXTRACE_I_CONFIG \
	flextrace_i_sum(FLEXTRACE_I_CONFIG_TEXT, (uint32_t)sizeof(FLEXTRACE_I_CONFIG_TEXT))

#endif
