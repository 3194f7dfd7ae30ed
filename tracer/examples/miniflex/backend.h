/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h: what device.c needs of a device, which is an emulator in this process or cores under
 * QEMU. Negative errno is a failure.
 */
#ifndef MINIFLEX_BACKEND_H
#define MINIFLEX_BACKEND_H

#include <flextrace/qemu.h>

#include "miniflex.h"

struct backend {
	struct flextrace_emulator *emulator; /* owned: one of the two; NULL: not opened */
	struct flextrace_qemu *qemu;
	const char *name, *elf_path; /* weak */
};

/* False: `*ret_why` says why not. */
bool backend_open(struct backend *backend, const struct options *options,
                  const struct flextrace_emulator_config *config, const char **ret_why);
int backend_close(struct backend *backend);
int backend_submit(struct backend *backend, const struct flextrace_emulator_job *job,
                   uint64_t *ret_ticket);
int backend_wait(struct backend *backend, uint32_t core, uint64_t ticket,
                 struct flextrace_emulator_completion *ret_completion);
struct flextrace_wire_area *backend_area(struct backend *backend, uint32_t core, size_t *ret_bytes);
int backend_read(struct backend *backend, uint32_t core,
                 struct flextrace_qemu_reading *ret_reading);

#endif
