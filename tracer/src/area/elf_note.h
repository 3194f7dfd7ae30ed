/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_note.h: what tells from outside that a program or library has flextrace in it, and which
 * version: a note of its ELF file. It stays when symbols are stripped, and nothing refers to it.
 *
 *	ELF_NOTE(ELF_NOTE_PROGRAM)      in one source file, without a semicolon
 */
#ifndef FLEXTRACE_TRACER_ELF_NOTE_H
#define FLEXTRACE_TRACER_ELF_NOTE_H

#include <flextrace/version.h>

#define ELF_NOTE_SECTION ".note.flextrace"
#define ELF_NOTE_OWNER   "flextrace"

/* Types of notes; all of them hold a version as text. */
#define ELF_NOTE_PROGRAM  1 /* libflextrace.a */
#define ELF_NOTE_PROVIDER 2 /* libflextrace-lttng.so */

/* Words of the assembler: a sanitizer would put a red zone behind a variable. */
#define ELF_NOTE_TEXT_OF(token) #token
#define ELF_NOTE_TEXT(token)    ELF_NOTE_TEXT_OF(token)
/* clang-format off */
#define ELF_NOTE(type)                                         \
	__asm__(".pushsection " ELF_NOTE_SECTION ",\"a\",%note\n" \
		".balign 4\n"                                  \
		".long 2f - 1f, 4f - 3f, " ELF_NOTE_TEXT(type) "\n" \
		"1: .asciz \"" ELF_NOTE_OWNER "\"\n"           \
		"2: .balign 4\n"                               \
		"3: .asciz \"" FLEXTRACE_VERSION "\"\n"        \
		"4: .balign 4\n"                               \
		".popsection");
/* clang-format on */

#endif
