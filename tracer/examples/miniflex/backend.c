/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "backend.h"

bool backend_open(struct backend *backend, const struct options *options,
                  const struct flextrace_emulator_config *config, const char **ret_why)
{
	const struct flextrace_qemu_options cores = {.isa = options->isa};
	*backend = (struct backend){.name = options->is_qemu ? "RISC-V cores on QEMU"
	                                                     : "emulated AIU",
	                            .elf_path = options->is_qemu ? flextrace_qemu_elf(&cores)
	                                                         : flextrace_emulator_elf()};
	if (options->is_qemu && flextrace_qemu_check(&cores, ret_why))
		return false;
	int status = options->is_qemu ? flextrace_qemu_create(config, &cores, &backend->qemu)
	                              : flextrace_emulator_create(config, &backend->emulator);
	if (status)
		*ret_why = options->is_qemu && status == -EOPNOTSUPP
		                   ? "QEMU's cycle counter is not the host's here"
		                   : strerror(-status);
	return !status;
}

int backend_close(struct backend *backend)
{
	return backend->qemu ? flextrace_qemu_destroy(backend->qemu)
	                     : flextrace_emulator_destroy(backend->emulator);
}

int backend_submit(struct backend *backend, const struct flextrace_emulator_job *job,
                   uint64_t *ret_ticket)
{
	return backend->qemu ? flextrace_qemu_submit(backend->qemu, job, ret_ticket)
	                     : flextrace_emulator_submit(backend->emulator, job, ret_ticket);
}

int backend_wait(struct backend *backend, uint32_t core, uint64_t ticket,
                 struct flextrace_emulator_completion *ret_completion)
{
	return backend->qemu
	               ? flextrace_qemu_wait(backend->qemu, core, ticket, ret_completion)
	               : flextrace_emulator_wait(backend->emulator, core, ticket, ret_completion);
}

struct flextrace_wire_area *backend_area(struct backend *backend, uint32_t core, size_t *ret_bytes)
{
	return backend->qemu ? flextrace_qemu_area(backend->qemu, core, ret_bytes)
	                     : flextrace_emulator_area(backend->emulator, core, ret_bytes);
}

int backend_read(struct backend *backend, uint32_t core, struct flextrace_qemu_reading *ret_reading)
{
	if (backend->qemu)
		return flextrace_qemu_read(backend->qemu, core, ret_reading);
	ret_reading->before_ns = flextrace_now_ns();
	ret_reading->ticks = flextrace_emulator_counter(backend->emulator, core);
	ret_reading->after_ns = flextrace_now_ns();
	return 0;
}
