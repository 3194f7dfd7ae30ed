/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrumentation.h: what an ELF file says of its instrumentation: a program, a library or a
 * firmware image, stripped or not.
 *
 * Programs carry a note (tracer/src/area/elf_note.h) that no stripping removes. Firmware has
 * sections that are not loaded, `.flextrace.markers` and `.flextrace.names`, which --strip-all
 * removes.
 */
#ifndef FLEXTRACE_INSTRUMENTATION_H
#define FLEXTRACE_INSTRUMENTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define INSTRUMENTATION_VERSION_SIZE 32

struct instrumentation {
	bool is_of_this_machine;
	/* Versions of flextrace; "" = it is not in it. */
	char program[INSTRUMENTATION_VERSION_SIZE], provider[INSTRUMENTATION_VERSION_SIZE];
	bool has_markers;
	uint32_t wire_version, counter_bits; /* 0 = it does not tell */
	uint32_t n_names;                    /* of markers */
	uint64_t area_bytes;                 /* of the symbol flextrace_area; 0 = there is none */
};

/* FLEXTRACE_E_INPUT: it cannot be read, or is no ELF file. */
int instrumentation_read(const char *path, struct instrumentation *ret_found,
                         struct flextrace_error *error);

#endif
