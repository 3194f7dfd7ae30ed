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

#define FLEXTRACE_I_TEXT_OF(token) #token
#define FLEXTRACE_I_TEXT(token)    FLEXTRACE_I_TEXT_OF(token)
#define FLEXTRACE_I_INLINE         static inline __attribute__((always_inline, unused))

/* 0, and an error if `name` is not a string literal with something in it. */
#define FLEXTRACE_I_CHECK_NAME(name) (0u * (uint32_t)sizeof(char[sizeof("" name) > 1 ? 1 : -1]))

#if defined(FLEXTRACE_PORT_HEADER)
#include FLEXTRACE_PORT_HEADER
#elif defined(__riscv)
#include <flextrace/port_riscv.h>
#else
#include <flextrace/port_posix.h>
#endif

#endif
