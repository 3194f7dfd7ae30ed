/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h: what device.c needs of a device, whatever it is: the functions of the emulator, with
 * QEMU's behind the same signatures. Negative errno is a failure.
 */
#ifndef MINIFLEX_BACKEND_H
#define MINIFLEX_BACKEND_H

#include <flextrace/qemu.h>

#include "miniflex.h"

struct backend {
	const char *name;

	/* NULL: `*ret_why` says why not. */
	void *(*open)(const struct options *options, const struct flextrace_emulator_config *config,
	              const char **ret_why);
	int (*close)(void *self);
	int (*submit)(void *self, const struct flextrace_emulator_job *job, uint64_t *ret_ticket);
	int (*wait)(void *self, uint32_t core, uint64_t ticket,
	            struct flextrace_emulator_completion *ret_completion);
	struct flextrace_wire_area *(*area)(void *self, uint32_t core, size_t *ret_bytes);
	int (*read)(void *self, uint32_t core, struct flextrace_qemu_reading *ret_reading);
	const char *(*elf)(const struct options *options);
};

extern const struct backend emulator_backend, qemu_backend;

/* The one that the options ask for. */
const struct backend *backend_of(const struct options *options);

#endif
