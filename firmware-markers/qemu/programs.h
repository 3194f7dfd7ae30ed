/* SPDX-License-Identifier: Apache-2.0 */
/* programs.h: which QEMU and which firmware image go with a set of cores, and where they are. */
#ifndef QEMU_PROGRAMS_H
#define QEMU_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

/* Path of QEMU for these cores, looked for in PATH; -ENOENT. */
int programs_find(uint32_t isa, char *ret_path, size_t bytes);

/* -cpu of QEMU; NULL = its default. */
const char *programs_cpu(uint32_t isa);

#endif
